/* SPDX-License-Identifier: Apache-2.0 */
/* Salvage through the API; what it finds is tested below. */
#include "unit/api/pair_store.h"

static const char here[] = "memory:hurt", there[] = "memory:healed";

static void begin(void)
{
    OBX_store *store = pair_open(here);
    for (int64_t i = 1; i <= 5; i++) CHECK_EQ(pair_put(obx_box(store, PAIR), i), (obx_id)i);
    CHECK_OK(obx_store_close(store));
}

static void end(void)
{
    CHECK_OK(obx_remove_db_files(here));
    CHECK_OK(obx_remove_db_files(there));
}

static bool count_calls(void *user_data, uint64_t done, uint64_t total)
{
    uint64_t *calls = user_data;
    CHECK(done <= total);
    return ++*calls < 1000;
}

static void a_store_is_salvaged_and_opened(void)
{
    begin();
    boxwood_salvage_report report = {.size = sizeof(report)};
    uint64_t calls = 0;
    CHECK_OK(boxwood_salvage(here, there, &report, count_calls, &calls, NULL));
    CHECK(calls > 0);
    CHECK_EQ(report.size, sizeof(report));
    CHECK_EQ(report.txn_id, 5u);
    CHECK_EQ(report.certain, 5u);
    CHECK(report.guessed + report.lost + report.refused == 0u);
    CHECK(report.has_schema && report.has_checksums && report.has_all_roots);
    CHECK(!report.has_later_commit);
    CHECK_EQ(report.type_count, 1u);
    CHECK_EQ(report.types[0].entity_id, PAIR);
    CHECK_TEXT(report.types[0].name, "Pair");
    CHECK_EQ(report.types[0].certain, 5u);
    OBX_store *store = pair_open(there);
    CHECK_EQ(pair_count(obx_box(store, PAIR)), 5u);
    CHECK_EQ(pair_put(obx_box(store, PAIR), 6), 6u);
    CHECK_OK(obx_store_close(store));
    end();
}

static bool refuse(void *user_data, uint64_t done, uint64_t total)
{
    (void)user_data, (void)done, (void)total;
    return false;
}

static void arguments_are_checked(void)
{
    begin();
    boxwood_salvage_report report = {.size = sizeof(report)};
    boxwood_failure failure;
    const obx_err bad = OBX_ERROR_ILLEGAL_ARGUMENT;
    CHECK_ERR(boxwood_salvage(NULL, there, &report, NULL, NULL, &failure), bad);
    CHECK_ERR(boxwood_salvage(here, NULL, &report, NULL, NULL, &failure), bad);
    CHECK_ERR(boxwood_salvage(here, there, NULL, NULL, NULL, &failure), bad);
    CHECK_ERR(boxwood_salvage(here, "elsewhere", &report, NULL, NULL, &failure), bad);
    report.size--;
    CHECK_ERR(boxwood_salvage(here, there, &report, NULL, NULL, &failure), bad);
    report.size++;
    CHECK_ERR(boxwood_salvage(here, here, &report, NULL, NULL, &failure), OBX_ERROR_ILLEGAL_STATE);
    CHECK_ERR(boxwood_salvage(here, there, &report, refuse, NULL, &failure),
              BOXWOOD_ERROR_CANCELLED);
    CHECK_EQ(failure.code, BOXWOOD_ERROR_CANCELLED);
    OBX_store *store = pair_open(here);
    CHECK_ERR(boxwood_salvage(here, there, &report, NULL, NULL, &failure), OBX_ERROR_ILLEGAL_STATE);
    CHECK(strstr(failure.message, "is open") != NULL);
    CHECK_OK(obx_store_close(store));
    CHECK(!obx_store_is_open(there));
    end();
}

RUN_TESTS(TEST(a_store_is_salvaged_and_opened), TEST(arguments_are_checked))
