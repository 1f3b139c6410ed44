/* SPDX-License-Identifier: Apache-2.0 */
#include "api/array.h"

#include "unit/api/pair_store.h"

static void arrays_are_one_zeroed_block_each(void)
{
    const int64_t before = bw_memory_blocks();
    OBX_bytes_array *bytes = obx_bytes_array(3);
    OBX_bytes_array *none = obx_bytes_array(0);
    OBX_id_score_array *scores = bw_array_id_scores(2);
    OBX_bytes_score_array *bytes_scores = bw_array_bytes_scores(2);
    CHECK_EQ(bytes->count, 3u);
    CHECK(!bytes->bytes[2].data);
    CHECK_EQ(none->count, 0u);
    CHECK_EQ(scores->ids_scores[1].id, 0u);
    CHECK_EQ(bytes_scores->bytes_scores[1].size, 0u);
    obx_bytes_array_free(bytes);
    obx_bytes_array_free(none);
    obx_id_score_array_free(scores);
    obx_bytes_score_array_free(bytes_scores);
    CHECK_EQ(bw_memory_blocks(), before);
}

static void ids_are_copied(void)
{
    obx_id ids[] = {3, 1, 2};
    OBX_id_array *array = obx_id_array(ids, 3);
    ids[0] = 9;
    CHECK_EQ(array->count, 3u);
    CHECK_EQ(array->ids[0], 3u);
    CHECK_EQ(array->ids[2], 2u);
    obx_id_array_free(array);
    array = obx_id_array(NULL, 0);
    CHECK(array != NULL);
    obx_id_array_free(array);
    CHECK(!obx_id_array(NULL, 2));
    CHECK_REASON("Argument \"ids\" must not be null");
}

static void bytes_are_set_within_the_array_only(void)
{
    static const uint8_t data[] = {1, 2};
    OBX_bytes_array *array = obx_bytes_array(1);
    CHECK_OK(obx_bytes_array_set(array, 0, data, 2));
    CHECK_EQ(array->bytes[0].data, (const void *)data);
    CHECK_ERR(obx_bytes_array_set(array, 1, data, 2), OBX_ERROR_ILLEGAL_ARGUMENT);
    CHECK_REASON("Argument condition \"index < array->count\" not met");
    CHECK_ERR(obx_bytes_array_set(NULL, 0, data, 2), OBX_ERROR_ILLEGAL_ARGUMENT);
    obx_bytes_array_free(array);
}

static void freeing_nothing_is_harmless(void)
{
    obx_bytes_free(NULL);
    obx_bytes_array_free(NULL);
    obx_bytes_score_array_free(NULL);
    obx_id_array_free(NULL);
    obx_id_score_array_free(NULL);
    obx_string_array_free(NULL);
    obx_int64_array_free(NULL);
    obx_int32_array_free(NULL);
    obx_int16_array_free(NULL);
    obx_int8_array_free(NULL);
    obx_double_array_free(NULL);
    obx_float_array_free(NULL);
}

static void no_memory_and_absurd_sizes_are_refused(void)
{
    CHECK(!obx_bytes_array(SIZE_MAX / 8));
    CHECK_EQ(obx_last_error_code(), OBX_ERROR_ALLOCATION);
    bw_memory_fail_after(0);
    CHECK(!obx_bytes_array(1) && !bw_array_ids(1));
    bw_memory_fail_after(-1);
}

RUN_TESTS(TEST(arrays_are_one_zeroed_block_each), TEST(ids_are_copied),
          TEST(bytes_are_set_within_the_array_only), TEST(freeing_nothing_is_harmless),
          TEST(no_memory_and_absurd_sizes_are_refused))
