/* SPDX-License-Identifier: Apache-2.0 */
#include "api/reading.h"

#include "api/access.h"

#include "unit/api/pair_store.h"

static const char here[] = "memory:reading";

static OBX_query *query_of(OBX_store *store)
{
    OBX_query_builder *builder = obx_query_builder(store, PAIR);
    OBX_query *query = obx_query(builder);
    CHECK(query != NULL);
    CHECK_OK(obx_qb_close(builder));
    return query;
}

static OBX_store *five_pairs(void)
{
    OBX_store *store = pair_open(here);
    for (int64_t i = 1; i <= 5; i++) CHECK_EQ(pair_put(obx_box(store, PAIR), 10 * i), (obx_id)i);
    return store;
}

static void check_ids(OBX_query *query, const obx_id *ids, size_t count)
{
    OBX_id_array *found = obx_query_find_ids(query);
    CHECK(found != NULL);
    CHECK_EQ(found->count, count);
    for (size_t i = 0; i < count; i++) CHECK_EQ(found->ids[i], ids[i]);
    obx_id_array_free(found);
}

static void offset_and_limit_cut_a_stretch(void)
{
    OBX_store *store = five_pairs();
    OBX_query *query = query_of(store);
    check_ids(query, (const obx_id[]){1, 2, 3, 4, 5}, 5);
    CHECK_OK(obx_query_offset_limit(query, 1, 2));
    check_ids(query, (const obx_id[]){2, 3}, 2);
    CHECK_OK(obx_query_limit(query, 0));
    check_ids(query, (const obx_id[]){2, 3, 4, 5}, 4);
    CHECK_OK(obx_query_offset(query, 9));
    check_ids(query, NULL, 0);
    CHECK_OK(obx_query_offset_limit(query, 3, SIZE_MAX));
    check_ids(query, (const obx_id[]){4, 5}, 2);
    CHECK_OK(obx_query_close(query));
    pair_end(store, here);
}

static void objects_come_by_ascending_id(void)
{
    OBX_store *store = five_pairs();
    OBX_query *query = query_of(store);
    CHECK(!obx_query_find(query));
    CHECK_REASON("An existing transaction is required");
    OBX_txn *txn = obx_txn_read(store);
    OBX_bytes_array *found = obx_query_find(query);
    CHECK_EQ(found->count, 5u);
    for (size_t i = 0; i < 5; i++)
        CHECK_EQ(pair_value(found->bytes[i].data), 10 * (int64_t)(i + 1));
    const uint8_t *kept = found->bytes[4].data;
    obx_bytes_array_free(found);
    CHECK_EQ(pair_value(kept), 50); // bytes outlive their array
    found = obx_box_get_all(obx_box(store, PAIR));
    CHECK_EQ(found->count, 5u);
    obx_bytes_array_free(found);
    CHECK_OK(obx_txn_close(txn));
    CHECK_OK(obx_query_close(query));
    pair_end(store, here);
}

static void counting_and_removing_refuse_what_they_do_not_know(void)
{
    OBX_store *store = five_pairs();
    OBX_query *query = query_of(store);
    uint64_t count = 0;
    CHECK_OK(obx_query_count(query, &count));
    CHECK_EQ(count, 5u);
    CHECK_OK(obx_query_limit(query, 3));
    CHECK_OK(obx_query_count(query, &count));
    CHECK_EQ(count, 3u);
    CHECK_ERR(obx_query_remove(query, &count), OBX_ERROR_ILLEGAL_STATE);
    CHECK_REASON("Query limit/offset are not supported by remove() at this moment.");
    CHECK_OK(obx_query_offset_limit(query, 1, 0));
    CHECK_ERR(obx_query_count(query, &count), OBX_ERROR_GENERAL);
    CHECK_REASON("Query offset is not supported by count() at this moment.");
    CHECK_OK(obx_query_offset(query, 0));
    CHECK_OK(obx_query_remove(query, &count));
    CHECK_EQ(count, 5u);
    CHECK_OK(obx_query_remove(query, NULL));
    CHECK_OK(obx_query_close(query));
    pair_end(store, here);
}

static void first_and_unique_ignore_offset_and_limit(void)
{
    OBX_store *store = five_pairs();
    OBX_query *query = query_of(store);
    CHECK_OK(obx_query_offset_limit(query, 2, 1));
    OBX_txn *txn = obx_txn_write(store);
    const uint8_t *data = NULL;
    size_t size = 0;
    CHECK_OK(obx_query_find_first(query, &data, &size));
    CHECK_EQ(pair_value(data), 10);
    CHECK_ERR(obx_query_find_unique(query, &data, &size), OBX_ERROR_NON_UNIQUE_RESULT);
    CHECK_REASON("Query does not have a unique result (more than one result): 5");
    CHECK_OK(obx_box_remove_all(obx_box(store, PAIR), NULL));
    CHECK_ERR(obx_query_find_first(query, &data, &size), OBX_NOT_FOUND);
    CHECK_ERR(obx_query_find_unique(query, &data, &size), OBX_NOT_FOUND);
    CHECK(pair_put(obx_box(store, PAIR), 7) != 0);
    CHECK_OK(obx_query_find_unique(query, &data, &size));
    CHECK_EQ(pair_value(data), 7);
    CHECK_OK(obx_txn_close(txn));
    CHECK_OK(obx_query_close(query));
    pair_end(store, here);
}

static void queries_describe_and_clone_themselves(void)
{
    OBX_store *store = five_pairs();
    OBX_query *query = query_of(store);
    CHECK_OK(obx_query_offset_limit(query, 4, 0));
    OBX_query *clone = obx_query_clone(query);
    CHECK_OK(obx_query_offset(query, 0));
    check_ids(clone, (const obx_id[]){5}, 1);
    CHECK_TEXT(obx_query_describe(clone), "Query for entity Pair with 1 conditions");
    CHECK_TEXT(obx_query_describe(clone), "Query for entity Pair with 1 conditions");
    CHECK_TEXT(obx_query_describe_params(clone), "TRUE");
    OBX_id_array *by_score = obx_query_find_ids_by_score(clone);
    CHECK_EQ(by_score->count, 0u);
    obx_id_array_free(by_score);
    CHECK_OK(obx_query_close(clone));
    CHECK_OK(obx_query_close(query));
    pair_end(store, here);
}

static void the_count_of_a_stretch_never_goes_below_nothing(void)
{
    OBX_store *store = five_pairs();
    struct txn *txn = NULL;
    struct box *box = NULL;
    OBX_txn *top = obx_txn_read(store);
    struct place place = {0};
    CHECK_OK(PLACE_OF_BOX(obx_box(store, PAIR), &place));
    box = place.box;
    txn = top->txn;
    uint64_t count = 9;
    CHECK_OK(bw_reading_count(box, txn, UINT64_MAX, UINT64_MAX, &count));
    CHECK_EQ(count, 0u);
    CHECK_OK(bw_reading_count(box, txn, 4, 2, &count));
    CHECK_EQ(count, 1u);
    OBX_id_array *ids = NULL;
    bw_memory_fail_after(0);
    CHECK_ERR(bw_reading_ids(box, txn, 0, 0, &ids), BW_ERR_NO_MEMORY);
    bw_memory_fail_after(-1);
    OBX_bytes_array *objects = NULL;
    CHECK_OK(bw_reading_objects(box, txn, 3, 1, &objects));
    CHECK_EQ(pair_value(objects->bytes[0].data), 40);
    obx_bytes_array_free(objects);
    CHECK_OK(obx_txn_close(top));
    pair_end(store, here);
}

RUN_TESTS(TEST(offset_and_limit_cut_a_stretch), TEST(objects_come_by_ascending_id),
          TEST(counting_and_removing_refuse_what_they_do_not_know),
          TEST(first_and_unique_ignore_offset_and_limit),
          TEST(queries_describe_and_clone_themselves),
          TEST(the_count_of_a_stretch_never_goes_below_nothing))
