/* SPDX-License-Identifier: Apache-2.0 */
#include "api/reading.h"

bw_err bw_reading_count(struct box *box, struct txn *txn, uint64_t offset, uint64_t limit,
                        uint64_t *out_count)
{
    const uint64_t end = limit > 0 && limit < UINT64_MAX - offset ? offset + limit : 0;
    uint64_t count = 0;
    bw_err err = bw_box_count(box, txn, end, &count);
    if (err) return err;
    *out_count = count > offset ? count - offset : 0;
    return BW_OK;
}

/* Up to `count` objects from the `offset`th on, into one of the arrays; the other is NULL. */
static bw_err fill(struct box *box, struct txn *txn, uint64_t offset, uint64_t count,
                   OBX_bytes *objects, obx_id *ids)
{
    struct cursor cursor;
    bw_box_cursor(box, txn, &cursor);
    uint64_t end = count ? offset + count : 0;
    for (uint64_t i = 0; i < end; i++) {
        bool is_found = false;
        bw_err err = bw_cursor_next(&cursor, &is_found);
        if (err || !is_found) return err;
        if (i < offset) continue;
        if (ids) ids[i - offset] = cursor.key;
        if (objects)
            objects[i - offset] = (OBX_bytes){.data = cursor.value.data, .size = cursor.value.size};
    }
    return BW_OK;
}

bw_err bw_reading_objects(struct box *box, struct txn *txn, uint64_t offset, uint64_t limit,
                          OBX_bytes_array **out_array)
{
    uint64_t count = 0;
    bw_err err = bw_reading_count(box, txn, offset, limit, &count);
    if (err) return err;
    OBX_bytes_array *array = bw_array_bytes(count);
    if (!array) return BW_ERR_NO_MEMORY;
    err = fill(box, txn, offset, count, array->bytes, NULL);
    if (err) {
        obx_bytes_array_free(array);
        return err;
    }
    *out_array = array;
    return BW_OK;
}

bw_err bw_reading_ids(struct box *box, struct txn *txn, uint64_t offset, uint64_t limit,
                      OBX_id_array **out_array)
{
    uint64_t count = 0;
    bw_err err = bw_reading_count(box, txn, offset, limit, &count);
    if (err) return err;
    OBX_id_array *array = bw_array_ids(count);
    if (!array) return BW_ERR_NO_MEMORY;
    err = fill(box, txn, offset, count, NULL, array->ids);
    if (err) {
        obx_id_array_free(array);
        return err;
    }
    *out_array = array;
    return BW_OK;
}
