/* SPDX-License-Identifier: Apache-2.0 */
#include "api/store_handle.h"

#include "unit/api/pair_store.h"

static void a_box_is_the_same_each_time(void)
{
    OBX_store *store = pair_open("memory:boxes");
    OBX_box *pairs = obx_box(store, PAIR), *others = obx_box(store, OTHER);
    CHECK(pairs && others && pairs != others);
    CHECK_EQ(obx_box(store, PAIR), pairs);
    CHECK_EQ(obx_box(store, OTHER), others);
    CHECK_EQ(obx_box_store(pairs), store);
    OBX_box *found = NULL;
    CHECK_OK(bw_store_handle_box(store, OTHER, &found));
    CHECK_EQ(found, others);
    CHECK(!obx_box(store, 77));
    CHECK_REASON("Entity type ID not found in schema: 77");
    CHECK(!obx_box(store, 0));
    pair_end(store, "memory:boxes");
}

static void boxes_end_with_their_handle_and_not_with_the_store(void)
{
    OBX_store *first = pair_open("memory:boxes");
    OBX_store *second = obx_store_clone(first);
    OBX_box *of_first = obx_box(first, PAIR), *other_of_first = obx_box(first, OTHER);
    OBX_box *of_second = obx_box(second, PAIR);
    CHECK(of_first != of_second);
    CHECK_OK(obx_store_close(first));
    uint64_t count = 0;
    CHECK_ERR(obx_box_count(of_first, 0, &count), OBX_ERROR_SHUTTING_DOWN);
    CHECK_ERR(obx_box_count(other_of_first, 0, &count), OBX_ERROR_SHUTTING_DOWN);
    CHECK_REASON("Illegal Store instance detected!");
    CHECK_OK(obx_box_count(of_second, 0, &count));
    CHECK_ERR(obx_store_close(first), OBX_ERROR_SHUTTING_DOWN);
    pair_end(second, "memory:boxes");
    CHECK_ERR(obx_box_count(of_second, 0, &count), OBX_ERROR_SHUTTING_DOWN);
}

static void opening_and_closing_gives_all_memory_back(void)
{
    OBX_store *store = pair_open("memory:boxes"); // the pools have their first chunks
    pair_end(store, "memory:boxes");
    const int64_t before = bw_memory_blocks();
    store = pair_open("memory:boxes");
    for (int i = 0; i < 3; i++) {
        OBX_store *clone = obx_store_clone(store);
        CHECK(obx_box(clone, PAIR) && obx_box(clone, OTHER));
        CHECK_OK(obx_store_close(clone));
    }
    pair_end(store, "memory:boxes");
    CHECK_EQ(bw_memory_blocks(), before);
}

static void names_lead_to_ids(void)
{
    OBX_store *store = pair_open("memory:boxes");
    CHECK_EQ(obx_store_entity_id(store, "Pair"), (uint32_t)PAIR);
    CHECK_EQ(obx_store_entity_id(store, "Nope"), 0u);
    CHECK_EQ(obx_last_error_code(), OBX_ERROR_SCHEMA_OBJECT_NOT_FOUND);
    CHECK_REASON("Entity 'Nope' not found");
    CHECK_EQ(obx_store_entity_property_id(store, PAIR, "value"), 2u);
    CHECK_EQ(obx_store_entity_property_id(store, PAIR, "zz"), 0u);
    CHECK_REASON("Property 'zz' not found in the given entity ID 1");
    CHECK_EQ(obx_store_entity_property_id(store, 9, "zz"), 0u);
    CHECK_REASON("Entity type ID not found in schema: 9");
    pair_end(store, "memory:boxes");
}

static void a_handle_is_made_of_a_core_only(void)
{
    CHECK(!bw_store_handle_new(NULL));
    bw_store_handle_after_fork();
    const struct options nothing = {.has_failed = true};
    OBX_store *store = NULL;
    CHECK_ERR(bw_store_handle_open(&nothing, &store), BW_ERR_ILLEGAL_ARGUMENT);
    CHECK_ERR(bw_store_handle_close(NULL, "store", 1), BW_ERR_ILLEGAL_ARGUMENT);
    CHECK_REASON("Argument \"store\" must not be null (L1)");
}

RUN_TESTS(TEST(a_box_is_the_same_each_time),
          TEST(boxes_end_with_their_handle_and_not_with_the_store),
          TEST(opening_and_closing_gives_all_memory_back), TEST(names_lead_to_ids),
          TEST(a_handle_is_made_of_a_core_only))
