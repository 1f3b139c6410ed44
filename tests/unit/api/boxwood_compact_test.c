/* SPDX-License-Identifier: Apache-2.0 */
/* Compacting through the API. */
#include "unit/api/pair_store.h"

static const char directory[] = "memory:compact";

enum { PAIRS = 30000 };

static OBX_store *begin(void)
{
    OBX_store *store = pair_open(directory);
    OBX_txn *txn = obx_txn_write(store);
    for (int64_t i = 1; i <= PAIRS; i++) CHECK_EQ(pair_put(obx_box(store, PAIR), i), (obx_id)i);
    CHECK_OK(obx_txn_success(txn));
    txn = obx_txn_write(store);
    for (obx_id id = 1; id <= PAIRS; id++)
        if (id % 10) CHECK_OK(obx_box_remove(obx_box(store, PAIR), id));
    CHECK_OK(obx_txn_success(txn));
    return store;
}

static void an_open_store_gets_small(void)
{
    OBX_store *store = begin();
    boxwood_compact_report report = {.size = sizeof(report)};
    CHECK_OK(boxwood_store_compact(store, &report, NULL, NULL, NULL));
    CHECK(report.file_size_after < report.file_size_before / 2);
    CHECK(report.moved_pages > 0 && report.steps > 0);
    uint64_t count = 0;
    CHECK_OK(obx_box_count(obx_box(store, PAIR), 0, &count));
    CHECK_EQ(count, PAIRS / 10);
    boxwood_check_report check = {.size = sizeof(check)};
    CHECK_OK(boxwood_store_check(store, 0, &check, NULL, NULL, NULL));
    CHECK_EQ(check.problems, 0);
    pair_end(store, directory);
}

static bool cancel(void *user_data, uint64_t done, uint64_t total)
{
    CHECK(done <= total);
    ++*(int *)user_data;
    return false;
}

static void a_listener_may_cancel(void)
{
    OBX_store *store = begin();
    boxwood_compact_report report = {.size = sizeof(report)};
    boxwood_failure failure = {0};
    int calls = 0;
    CHECK_ERR(boxwood_store_compact(store, &report, cancel, &calls, &failure),
              BOXWOOD_ERROR_CANCELLED);
    CHECK_EQ(failure.code, BOXWOOD_ERROR_CANCELLED);
    CHECK_EQ(calls, 1);
    pair_end(store, directory);
}

static void wrong_arguments_are_refused(void)
{
    OBX_store *store = pair_open(directory);
    boxwood_compact_report report = {.size = sizeof(report)};
    boxwood_failure failure = {0};
    CHECK_ERR(boxwood_store_compact(NULL, &report, NULL, NULL, &failure),
              OBX_ERROR_ILLEGAL_ARGUMENT);
    CHECK_ERR(boxwood_store_compact(store, NULL, NULL, NULL, &failure), OBX_ERROR_ILLEGAL_ARGUMENT);
    report.size = 8;
    CHECK_ERR(boxwood_store_compact(store, &report, NULL, NULL, &failure),
              OBX_ERROR_ILLEGAL_ARGUMENT);
    report.size = sizeof(report);
    OBX_txn *txn = obx_txn_write(store);
    CHECK_ERR(boxwood_store_compact(store, &report, NULL, NULL, &failure), OBX_ERROR_ILLEGAL_STATE);
    CHECK_OK(obx_txn_close(txn));
    pair_end(store, directory);
}

RUN_TESTS(TEST(an_open_store_gets_small), TEST(a_listener_may_cancel),
          TEST(wrong_arguments_are_refused))
