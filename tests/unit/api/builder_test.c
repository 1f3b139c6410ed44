/* SPDX-License-Identifier: Apache-2.0 */
#include "api/builder.h"

#include "unit/api/pair_store.h"

static void the_first_error_stays_and_is_reported(void)
{
    OBX_store *store = pair_open("memory:builder");
    OBX_query_builder *builder = obx_query_builder(store, PAIR);
    CHECK_OK(obx_qb_error_code(builder));
    CHECK_TEXT(obx_qb_error_message(builder), "");
    CHECK_OK(bw_builder_stuck(builder));
    CHECK_ERR(bw_builder_fail(builder, bw_fail(BW_ERR_IO, "first")), BW_ERR_IO);
    CHECK_ERR(bw_builder_fail(builder, bw_fail(BW_ERR_DB_FULL, "second")), BW_ERR_IO);
    bw_reason_clear();
    CHECK_ERR(bw_builder_stuck(builder), BW_ERR_IO);
    CHECK_REASON("first");
    CHECK_TEXT(obx_qb_error_message(builder), "first");
    CHECK_EQ(obx_qb_type_id(builder), (uint32_t)PAIR);
    CHECK_OK(obx_qb_close(builder));
    pair_end(store, "memory:builder");
}

static void an_unknown_entity_has_no_builder(void)
{
    OBX_store *store = pair_open("memory:builder");
    CHECK(!obx_query_builder(store, 77));
    CHECK_REASON("Entity type ID not found in schema: 77");
    CHECK(!obx_query_builder(NULL, 1));
    CHECK_REASON("Argument \"store\" must not be null");
    pair_end(store, "memory:builder");
}

static void builders_and_queries_outlive_their_store(void)
{
    OBX_store *store = pair_open("memory:builder");
    OBX_query_builder *builder = obx_query_builder(store, PAIR);
    OBX_query *query = obx_query(builder);
    pair_end(store, "memory:builder");
    uint64_t count = 0;
    CHECK_ERR(obx_query_count(query, &count), OBX_ERROR_SHUTTING_DOWN);
    CHECK(!obx_query_find_ids(query));
    CHECK(!obx_query_describe(query));
    CHECK_REASON("Illegal Store instance detected!");
    CHECK_EQ(obx_qb_type_id(builder), 0u);
    CHECK_OK(obx_query_close(query));
    CHECK_OK(obx_qb_close(builder));
}

RUN_TESTS(TEST(the_first_error_stays_and_is_reported), TEST(an_unknown_entity_has_no_builder),
          TEST(builders_and_queries_outlive_their_store))
