/* SPDX-License-Identifier: Apache-2.0 */
#include "api/cursor_handle.h"

#include "unit/api/pair_store.h"

static const char here[] = "memory:cursor";

static OBX_store *three_pairs(void)
{
    OBX_store *store = pair_open(here);
    for (int64_t i = 1; i <= 3; i++) CHECK_EQ(pair_put(obx_box(store, PAIR), i), (obx_id)i);
    return store;
}

static obx_id id_of(OBX_cursor *cursor)
{
    obx_id id = 77;
    CHECK_OK(obx_cursor_current_id(cursor, &id));
    return id;
}

static void a_cursor_walks_and_knows_where_it_is(void)
{
    OBX_store *store = three_pairs();
    OBX_txn *txn = obx_txn_read(store);
    OBX_cursor *cursor = obx_cursor(txn, PAIR);
    const uint8_t *data = NULL;
    size_t size = 0;
    CHECK_EQ(id_of(cursor), 0u);
    CHECK_ERR(obx_cursor_current(cursor, &data, &size), OBX_NOT_FOUND);
    CHECK_OK(obx_cursor_first(cursor, &data, &size));
    CHECK_EQ(pair_value(data), 1);
    CHECK_OK(obx_cursor_next(cursor, &data, &size));
    CHECK_EQ(id_of(cursor), 2u);
    CHECK_OK(obx_cursor_current(cursor, &data, &size));
    CHECK_EQ(pair_value(data), 2);
    CHECK_OK(obx_cursor_next(cursor, &data, &size));
    CHECK_ERR(obx_cursor_next(cursor, &data, &size), OBX_NOT_FOUND);
    CHECK_EQ(id_of(cursor), UINT64_MAX);
    obx_id id = 0;
    CHECK_OK(obx_cursor_seek_first_id(cursor, &id));
    CHECK_OK(obx_cursor_seek_next_id(cursor, &id));
    CHECK_EQ(id, 2u);
    CHECK_OK(obx_cursor_seek(cursor, 3));
    CHECK_ERR(obx_cursor_seek_next_id(cursor, &id), OBX_NOT_FOUND);
    CHECK_EQ(id, 0u);
    CHECK_ERR(obx_cursor_seek(cursor, 9), OBX_NOT_FOUND);
    CHECK_EQ(id_of(cursor), UINT64_MAX);
    CHECK_OK(obx_cursor_close(cursor));
    CHECK_OK(obx_txn_close(txn));
    pair_end(store, here);
}

static void a_cursor_changes_objects(void)
{
    OBX_store *store = three_pairs();
    OBX_txn *txn = obx_txn_write(store);
    OBX_cursor *cursor = obx_cursor(txn, PAIR);
    uint8_t object[PAIR_SIZE];
    const uint8_t *data = NULL;
    size_t size = 0;
    uint64_t count = 0;
    bool is_empty = true;
    CHECK_EQ(obx_cursor_id_for_put(cursor, 0), 4u);
    pair_write(object, 4, 40);
    CHECK_OK(obx_cursor_put(cursor, 4, object, sizeof(object)));
    CHECK_ERR(obx_cursor_insert(cursor, 4, object, sizeof(object)), OBX_ERROR_ID_ALREADY_EXISTS);
    CHECK_ERR(obx_cursor_update(cursor, 9, object, sizeof(object)), OBX_ERROR_ID_NOT_FOUND);
    CHECK_ERR(obx_cursor_put4(cursor, 1, object, sizeof(object), (OBXPutMode)9),
              OBX_ERROR_ILLEGAL_ARGUMENT);
    CHECK_REASON("Illegal put mode: 9");
    CHECK_OK(obx_cursor_put_new(cursor, 4, object, sizeof(object)));
    pair_write(object, OBX_ID_NEW, 50);
    CHECK_EQ(obx_cursor_put_object(cursor, object, sizeof(object)), 5u);
    CHECK_OK(obx_cursor_count(cursor, &count));
    CHECK_EQ(count, 5u);
    CHECK_OK(obx_cursor_count_max(cursor, 2, &count));
    CHECK_EQ(count, 2u);
    CHECK_OK(obx_cursor_first(cursor, &data, &size));
    CHECK_OK(obx_cursor_remove(cursor, 1));
    CHECK_ERR(obx_cursor_current(cursor, &data, &size), OBX_NOT_FOUND);
    CHECK_OK(obx_cursor_next(cursor, &data, &size)); // goes on behind what was removed
    CHECK_EQ(pair_value(data), 2);
    CHECK_ERR(obx_cursor_remove(cursor, 77), OBX_NOT_FOUND);
    CHECK_OK(obx_cursor_remove_all(cursor));
    CHECK_OK(obx_cursor_is_empty(cursor, &is_empty));
    CHECK(is_empty);
    CHECK_OK(obx_cursor_close(cursor));
    CHECK_OK(obx_txn_success(txn));
    CHECK_EQ(pair_count(obx_box(store, PAIR)), 0u);
    pair_end(store, here);
}

static void a_reading_cursor_does_not_write(void)
{
    OBX_store *store = three_pairs();
    OBX_txn *txn = obx_txn_read(store);
    OBX_cursor *cursor = obx_cursor(txn, PAIR);
    struct access access;
    CHECK_OK(bw_cursor_handle_use(cursor, 1, &access, false));
    CHECK_ERR(bw_cursor_handle_use(cursor, 1, &access, true), BW_ERR_STORAGE_GENERAL);
    CHECK_REASON("Cannot put in a read-only transaction (13)");
    CHECK_OK(obx_cursor_close(cursor));
    CHECK_OK(obx_txn_close(txn));
    pair_end(store, here);
}

static void a_cursor_does_not_outlive_its_transaction(void)
{
    OBX_store *store = three_pairs();
    OBX_txn *txn = obx_txn_read(store);
    OBX_cursor *cursor = obx_cursor(txn, PAIR);
    CHECK(!obx_cursor(txn, 77));
    CHECK_REASON("Entity type ID not found in schema: 77");
    CHECK_OK(obx_txn_close(txn));
    uint64_t count = 0;
    CHECK_ERR(obx_cursor_count(cursor, &count), OBX_ERROR_ILLEGAL_STATE);
    for (int i = 0; i < 40; i++) { // also when the transaction's slot is another's
        OBX_txn *later = obx_txn_read(store);
        CHECK_ERR(obx_cursor_count(cursor, &count), OBX_ERROR_ILLEGAL_STATE);
        CHECK_OK(obx_txn_close(later));
    }
    CHECK_OK(obx_cursor_close(cursor));
    CHECK_ERR(obx_cursor_close(cursor), OBX_ERROR_ILLEGAL_ARGUMENT);
    CHECK_OK(obx_cursor_close(NULL));
    pair_end(store, here);
}

static void queries_run_in_a_cursors_transaction(void)
{
    OBX_store *store = three_pairs();
    OBX_query_builder *builder = obx_query_builder(store, PAIR);
    OBX_query *query = obx_query(builder);
    OBX_txn *txn = obx_txn_write(store);
    OBX_cursor *cursor = obx_cursor(txn, PAIR), *other = obx_cursor(txn, OTHER);
    uint64_t count = 0;
    CHECK_OK(obx_query_cursor_count(query, cursor, &count));
    CHECK_EQ(count, 3u);
    CHECK_ERR(obx_query_cursor_count(query, other, &count), OBX_ERROR_ILLEGAL_ARGUMENT);
    OBX_bytes_array *found = obx_query_cursor_find(query, cursor);
    CHECK_EQ(found->count, 3u);
    obx_bytes_array_free(found);
    CHECK_OK(obx_query_cursor_remove(query, cursor, &count));
    OBX_id_array *ids = obx_query_cursor_find_ids(query, cursor);
    CHECK_EQ(ids->count, 0u);
    obx_id_array_free(ids);
    CHECK_OK(obx_cursor_close(cursor));
    CHECK_OK(obx_cursor_close(other));
    CHECK_OK(obx_txn_success(txn));
    CHECK_OK(obx_query_close(query));
    CHECK_OK(obx_qb_close(builder));
    pair_end(store, here);
}

RUN_TESTS(TEST(a_cursor_walks_and_knows_where_it_is), TEST(a_cursor_changes_objects),
          TEST(a_reading_cursor_does_not_write), TEST(a_cursor_does_not_outlive_its_transaction),
          TEST(queries_run_in_a_cursors_transaction))
