/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory runs out at every allocation in turn. Each call then says so or succeeds, nothing crashes,
 * and nothing is lost: neither memory nor what was committed.
 */
#include "unit/api/pair_store.h"

static const char here[] = "memory:scarce";

static obx_err strange; // a code that nobody should see

/* Whether a call succeeded; what else may happen is that there was no memory. */
static bool ok(bool success)
{
    if (success) return true;
    const obx_err code = obx_last_error_code();
    const bool is_doomed = code == OBX_ERROR_ILLEGAL_STATE;   // after a failure before
    const bool is_unset = code == OBX_ERROR_ILLEGAL_ARGUMENT; // options, after a failure before
    const bool is_full = code == OBX_ERROR_DB_FULL;           // a file in memory that cannot grow
    if (code != OBX_ERROR_ALLOCATION && !is_full && !is_doomed && !is_unset) strange = code;
    return false;
}

static OBX_store *try_open(void)
{
    OBX_model *model = obx_model();
    if (!ok(model != NULL)) return NULL;
    (void)obx_model_entity(model, "Pair", PAIR, 100);
    (void)obx_model_property(model, "id", OBXPropertyType_Long, 1, 101);
    (void)obx_model_property_flags(model, OBXPropertyFlags_ID);
    (void)obx_model_property(model, "value", OBXPropertyType_Long, 2, 102);
    (void)obx_model_entity_last_property_id(model, 2, 102);
    obx_model_last_entity_id(model, PAIR, 100);
    OBX_store_options *opt = obx_opt();
    if (!ok(opt != NULL)) {
        CHECK_EQ(obx_model_free(model), 0);
        return NULL;
    }
    (void)obx_opt_directory(opt, here);
    (void)obx_opt_model(opt, model);
    OBX_store *store = obx_store_open(opt);
    return ok(store != NULL) ? store : NULL;
}

static bool try_to_read(OBX_store *store, OBX_box *box)
{
    OBX_txn *txn = obx_txn_read(store);
    if (!ok(txn != NULL)) return false;
    const uint8_t *data = NULL;
    size_t size = 0;
    bool all = ok(obx_box_get(box, 1, &data, &size) == 0);
    OBX_cursor *cursor = obx_cursor(txn, PAIR);
    all &= ok(cursor != NULL);
    if (cursor) all &= ok(obx_cursor_first(cursor, &data, &size) == 0);
    OBX_query_builder *builder = obx_query_builder(store, PAIR);
    all &= ok(builder != NULL);
    OBX_query *query = builder ? obx_query(builder) : NULL;
    if (builder) all &= ok(query != NULL);
    if (query) {
        OBX_bytes_array *found = obx_query_find(query);
        OBX_id_array *ids = obx_query_find_ids(query);
        all &= ok(found && ids && obx_query_describe(query));
        obx_bytes_array_free(found);
        obx_id_array_free(ids);
    }
    (void)obx_query_close(query);
    (void)obx_qb_close(builder);
    (void)obx_cursor_close(cursor);
    return ok(obx_txn_close(txn) == 0) && all;
}

static bool try_to_write(OBX_store *store, OBX_box *box)
{
    OBX_txn *txn = obx_txn_write(store);
    if (!ok(txn != NULL)) return false;
    const bool put = ok(pair_put(box, 8) != 0);
    return ok(obx_txn_success(txn) == 0) && put;
}

static bool try_scan(OBX_box *box)
{
    boxwood_scan *scan = NULL;
    boxwood_object objects[4];
    size_t count = 0;
    if (!ok(boxwood_box_scan(box, NULL, 0, &scan, NULL) == 0)) return false;
    const bool got = ok(boxwood_scan_next(scan, objects, 4, &count, NULL) == 0);
    boxwood_scan_end(scan);
    return got;
}

static bool scenario(void)
{
    obx_last_error_clear();
    OBX_store *store = try_open();
    if (!store) return false;
    OBX_box *box = obx_box(store, PAIR);
    bool all = ok(box != NULL);
    all = all && ok(pair_put(box, 7) != 0);
    all = all && try_to_write(store, box) && try_to_read(store, box) && try_scan(box);
    CHECK_EQ(obx_store_close(store), 0);
    return all;
}

static void every_allocation_may_fail(void)
{
    for (int i = 0; i < 3; i++) { // the pools and shared tables have what they need
        CHECK(scenario());
        CHECK_OK(obx_remove_db_files(here));
    }
    const int64_t before = bw_memory_blocks();
    int64_t allowed = 0;
    for (bool done = false; !done; allowed++) {
        bw_memory_fail_after(allowed);
        done = scenario();
        bw_memory_fail_after(-1);
        CHECK_EQ(strange, 0);
        CHECK_OK(obx_remove_db_files(here));
        if (bw_memory_blocks() != before) CHECK_EQ(allowed, -1);
    }
    CHECK(allowed > 20);
}

RUN_TESTS(TEST(every_allocation_may_fail))
