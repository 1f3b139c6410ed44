/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays. All are one block, so that freeing them is freeing a pointer, whatever happened to what
 * they carry: bytes of objects belong to their transaction.
 */
#include "api/array.h"

#include "api/argument.h"

/* A frame of frame_size bytes, zeroed, and room for the items behind it. */
static void *new_block(size_t frame_size, size_t item_size, size_t count)
{
    void *block = NULL;
    if (count <= (SIZE_MAX - frame_size) / item_size) {
        block = bw_new(frame_size + count * item_size);
    }
    if (!block) bw_reason_set(BW_ERR_NO_MEMORY, 0, "No memory for an array");
    return block;
}

OBX_bytes_array *bw_array_bytes(size_t count)
{
    OBX_bytes_array *array = new_block(sizeof(*array), sizeof(*array->bytes), count);
    if (!array) return NULL;
    array->bytes = (OBX_bytes *)(array + 1);
    array->count = count;
    return array;
}

OBX_id_array *bw_array_ids(size_t count)
{
    OBX_id_array *array = new_block(sizeof(*array), sizeof(*array->ids), count);
    if (!array) return NULL;
    array->ids = (obx_id *)(array + 1);
    array->count = count;
    return array;
}

OBX_bytes_score_array *bw_array_bytes_scores(size_t count)
{
    OBX_bytes_score_array *array = new_block(sizeof(*array), sizeof(*array->bytes_scores), count);
    if (!array) return NULL;
    array->bytes_scores = (OBX_bytes_score *)(array + 1);
    array->count = count;
    return array;
}

OBX_id_score_array *bw_array_id_scores(size_t count)
{
    OBX_id_score_array *array = new_block(sizeof(*array), sizeof(*array->ids_scores), count);
    if (!array) return NULL;
    array->ids_scores = (OBX_id_score *)(array + 1);
    array->count = count;
    return array;
}

OBX_bytes_array *obx_bytes_array(size_t count) { return bw_array_bytes(count); }

obx_err obx_bytes_array_set(OBX_bytes_array *array, size_t index, const uint8_t *data, size_t size)
{
    if (!array) return ARGUMENT_NULL(array);
    if (index >= array->count) return ARGUMENT_CONDITION(index < array->count);
    array->bytes[index] = (OBX_bytes){.data = data, .size = size};
    return OBX_SUCCESS;
}

OBX_id_array *obx_id_array(const obx_id *ids, size_t count)
{
    if (!ids && count > 0) return bw_argument_no_pointer(ARGUMENT_NULL(ids));
    OBX_id_array *array = bw_array_ids(count);
    if (array && count > 0) memcpy(array->ids, ids, count * sizeof(*ids));
    return array;
}

void obx_bytes_free(OBX_bytes *bytes) { bw_free(bytes); }
void obx_bytes_array_free(OBX_bytes_array *array) { bw_free(array); }
void obx_bytes_score_array_free(OBX_bytes_score_array *array) { bw_free(array); }
void obx_id_array_free(OBX_id_array *array) { bw_free(array); }
void obx_id_score_array_free(OBX_id_score_array *array) { bw_free(array); }
void obx_string_array_free(OBX_string_array *array) { bw_free(array); }
void obx_int64_array_free(OBX_int64_array *array) { bw_free(array); }
void obx_int32_array_free(OBX_int32_array *array) { bw_free(array); }
void obx_int16_array_free(OBX_int16_array *array) { bw_free(array); }
void obx_int8_array_free(OBX_int8_array *array) { bw_free(array); }
void obx_double_array_free(OBX_double_array *array) { bw_free(array); }
void obx_float_array_free(OBX_float_array *array) { bw_free(array); }
