/* SPDX-License-Identifier: Apache-2.0 */
#include "api/missing.h"

#include "unit/api/pair_store.h"

static void null_is_told_before_what_is_missing(void)
{
    CHECK_ERR(bw_missing_refuse(NULL, "tree", 1, "text"), BW_ERR_ILLEGAL_ARGUMENT);
    CHECK_REASON("Argument \"tree\" must not be null (L1)");
    CHECK_ERR(bw_missing_refuse("", "tree", 1, "text"), BW_ERR_FEATURE_NOT_AVAILABLE);
    CHECK_REASON("text");
}

static void functions_that_are_missing_answer_by_their_type(void)
{
    OBX_store *store = pair_open("memory:missing");
    OBX_box *box = obx_box(store, PAIR);
    CHECK(!obx_async(box));
    CHECK_EQ(obx_last_error_code(), OBX_ERROR_FEATURE_NOT_AVAILABLE);
    CHECK_ERR(obx_box_rel_put(box, 1, 1, 1), OBX_ERROR_FEATURE_NOT_AVAILABLE);
    CHECK(!obx_observe(store, NULL, NULL));
    CHECK_REASON("Argument \"callback\" must not be null");
    CHECK(!obx_admin_opt());
    CHECK_REASON("The admin feature is not available in the loaded ObjectBox runtime library.");
    CHECK(!obx_sync(store, "ws://127.0.0.1"));
    CHECK_REASON("Sync is not available in the loaded ObjectBox runtime library.");
    CHECK_EQ((int)obx_sync_state(NULL), 0);
    CHECK(!obx_sync_server(pair_options("memory:missing"), "ws://127.0.0.1"));
    CHECK_EQ(obx_last_error_code(), OBX_ERROR_FEATURE_NOT_AVAILABLE);
    pair_end(store, "memory:missing");
}

static void without_sync_its_version_is_0_and_no_error(void)
{
    obx_last_error_clear();
    CHECK_EQ(obx_sync_protocol_version(), 0u);
    CHECK_EQ(obx_last_error_code(), 0);
}

static void closing_nothing_is_a_success(void)
{
    obx_last_error_clear();
    CHECK_OK(obx_observer_close(NULL));
    CHECK_OK(obx_async_close(NULL));
    CHECK_OK(obx_query_prop_close(NULL));
    CHECK_OK(obx_admin_close(NULL));
    CHECK_OK(obx_sync_close(NULL));
    CHECK_OK(obx_dart_sync_listener_close(NULL));
    obx_tree_close(NULL);
    obx_bytes_lazy_free(NULL);
    CHECK_EQ(obx_last_error_code(), 0);
}

static void a_condition_spoils_its_builder_and_nothing_else(void)
{
    OBX_store *store = pair_open("memory:missing");
    OBX_query_builder *builder = obx_query_builder(store, PAIR);
    CHECK_EQ(obx_qb_equals_int(builder, 2, 5), 0);
    CHECK_EQ(obx_qb_error_code(builder), OBX_ERROR_FEATURE_NOT_AVAILABLE);
    CHECK_TEXT(obx_qb_error_message(builder), MISSING_CONDITIONS);
    CHECK(!obx_query(builder));
    CHECK_EQ(obx_last_error_code(), OBX_ERROR_FEATURE_NOT_AVAILABLE);
    CHECK_OK(obx_qb_close(builder));
    CHECK_EQ(obx_qb_equals_int(NULL, 2, 5), 0);
    CHECK_REASON("Argument \"builder\" must not be null");
    CHECK_ERR(bw_missing_condition(builder, 1), BW_ERR_ILLEGAL_ARGUMENT);
    pair_end(store, "memory:missing");
}

RUN_TESTS(TEST(null_is_told_before_what_is_missing),
          TEST(functions_that_are_missing_answer_by_their_type),
          TEST(without_sync_its_version_is_0_and_no_error), TEST(closing_nothing_is_a_success),
          TEST(a_condition_spoils_its_builder_and_nothing_else))
