/* SPDX-License-Identifier: Apache-2.0 */
#include "api/free_txn.h"

#include "unit/api/pair_store.h"

static const char here[] = "memory:free";

static struct {
    OBX_store *store;
    OBX_box *box;
    boxwood_failure failure;
} open;

static void begin_test(void)
{
    open.store = pair_open(here);
    open.box = obx_box(open.store, PAIR);
    for (int64_t i = 1; i <= 3; i++) CHECK_EQ(pair_put(open.box, i), (obx_id)i);
}

static void end_test(void) { pair_end(open.store, here); }

static boxwood_txn *begin(uint32_t flags)
{
    boxwood_txn *txn = NULL;
    CHECK_OK(boxwood_txn_begin(open.store, flags, -1, &txn, &open.failure));
    return txn;
}

static uint64_t count_in(boxwood_txn *txn)
{
    uint64_t count = 0;
    CHECK_OK(boxwood_box_count(open.box, txn, 0, &count, &open.failure));
    return count;
}

static void commit_elsewhere(void *argument)
{
    boxwood_txn **txn = argument;
    if (boxwood_txn_commit(*txn, NULL) == 0) *txn = NULL;
}

static void a_handle_may_wander_between_threads(void)
{
    begin_test();
    boxwood_txn *txn = begin(BOXWOOD_TXN_WRITE);
    CHECK_OK(boxwood_box_remove_packed(open.box, txn, (const obx_id[]){1, 99, 1}, 3, NULL, NULL));
    CHECK_EQ(count_in(txn), 2u);
    CHECK_EQ(count_in(NULL), 3u);
    boxwood_txn *wandering = txn;
    struct thread thread;
    CHECK_OK(bw_thread_start(&thread, commit_elsewhere, &wandering));
    bw_thread_join(&thread);
    CHECK(!wandering);
    CHECK_EQ(count_in(NULL), 2u);
    CHECK_ERR(boxwood_txn_commit(txn, &open.failure), OBX_ERROR_ILLEGAL_ARGUMENT);
    end_test();
}

static void two_calls_at_once_are_refused(void)
{
    begin_test();
    boxwood_txn *txn = begin(BOXWOOD_TXN_READ);
    CHECK_OK(ENTER(txn, SLOT_FREE_TXN)); // as another thread would
    uint64_t count = 0;
    CHECK_ERR(boxwood_box_count(open.box, txn, 0, &count, &open.failure), OBX_ERROR_ILLEGAL_STATE);
    CHECK_TEXT(open.failure.message + strlen("Argument \"txn\" is being used by another call"),
               strchr(open.failure.message, '(') - 1);
    CHECK_ERR(boxwood_txn_commit(txn, NULL), OBX_ERROR_ILLEGAL_STATE);
    LEAVE(txn);
    CHECK_EQ(count_in(txn), 3u);
    boxwood_txn_abort(txn);
    boxwood_txn_abort(NULL);
    end_test();
}

static void writers_wait_as_long_as_asked(void)
{
    begin_test();
    boxwood_txn *first = begin(BOXWOOD_TXN_WRITE), *second = NULL;
    obx_last_error_clear();
    open.failure.code = 77;
    CHECK_ERR(boxwood_txn_begin(open.store, BOXWOOD_TXN_WRITE, 0, &second, &open.failure),
              OBX_TIMEOUT);
    CHECK_ERR(boxwood_txn_begin(open.store, BOXWOOD_TXN_WRITE, 60, &second, &open.failure),
              OBX_TIMEOUT);
    CHECK_EQ(open.failure.code, 77); // an answer, not a failure
    CHECK_EQ(obx_last_error_code(), 0);
    boxwood_txn_abort(first);
    CHECK_OK(boxwood_txn_begin(open.store, BOXWOOD_TXN_WRITE, 0, &second, &open.failure));
    CHECK_OK(boxwood_txn_commit(second, NULL));
    end_test();
}

static void a_thread_does_not_wait_for_itself(void)
{
    begin_test();
    OBX_txn *mine = obx_txn_write(open.store);
    boxwood_txn *txn = NULL;
    CHECK_ERR(boxwood_txn_begin(open.store, BOXWOOD_TXN_WRITE, -1, &txn, &open.failure),
              OBX_ERROR_ILLEGAL_STATE);
    CHECK_ERR(boxwood_box_remove_all(open.box, NULL, NULL, &open.failure), OBX_ERROR_ILLEGAL_STATE);
    txn = begin(BOXWOOD_TXN_READ);
    boxwood_txn_abort(txn);
    CHECK_OK(obx_txn_close(mine));
    end_test();
}

static void a_reading_transaction_does_not_write(void)
{
    begin_test();
    boxwood_txn *txn = begin(BOXWOOD_TXN_READ);
    CHECK_ERR(boxwood_box_remove_all(open.box, txn, NULL, &open.failure), OBX_ERROR_ILLEGAL_STATE);
    CHECK_TEXT(open.failure.message, "The transaction only reads");
    CHECK_OK(boxwood_txn_commit(txn, NULL));
    end_test();
}

static void a_failure_after_the_first_write_dooms(void)
{
    begin_test();
    boxwood_txn *txn = begin(BOXWOOD_TXN_WRITE);
    struct place place = {0};
    CHECK_OK(PLACE_OF_BOX(open.box, &place));
    struct access access;
    CHECK_OK(bw_free_txn_access(txn, &place, true, &access));
    CHECK_ERR(bw_free_txn_leave(&access, bw_fail(BW_ERR_DB_FULL, "Could not put"), true),
              BW_ERR_DB_FULL);
    uint64_t count = 0;
    CHECK_ERR(boxwood_box_count(open.box, txn, 0, &count, &open.failure), OBX_ERROR_ILLEGAL_STATE);
    CHECK_TEXT(open.failure.message, "transaction failed before: Could not put");
    CHECK_ERR(bw_free_txn_use(txn, false), BW_ERR_ILLEGAL_STATE);
    CHECK(pair_put(open.box, 9) != 0); // the writer's place is free already
    CHECK_ERR(boxwood_txn_commit(txn, &open.failure), OBX_ERROR_DB_FULL);
    CHECK_TEXT(open.failure.message, "Could not put");
    CHECK_EQ(count_in(NULL), 4u);
    end_test();
}

static void objects_are_put_packed(void)
{
    begin_test();
    uint64_t words[8] = {0}; // two objects, aligned to 8
    uint8_t *data = (uint8_t *)words;
    pair_write(data, 0, 70);
    pair_write(data + PAIR_SIZE, 0, 80);
    const uint32_t ends[] = {PAIR_SIZE, 2 * PAIR_SIZE};
    obx_id ids[] = {0, OBX_ID_NEW};
    CHECK_OK(boxwood_box_put_packed(open.box, NULL, data, sizeof(words), ends, 2, ids, BOXWOOD_PUT,
                                    &open.failure));
    CHECK_EQ(ids[0], 4u);
    CHECK_EQ(ids[1], 5u);

    // A failure found before the first write names its object and leaves everything as it was.
    boxwood_txn *txn = begin(BOXWOOD_TXN_WRITE);
    obx_id same[] = {0, 5};
    CHECK_ERR(boxwood_box_put_packed(open.box, txn, data, sizeof(words), ends, 2, same,
                                     BOXWOOD_INSERT, &open.failure),
              OBX_ERROR_ID_ALREADY_EXISTS);
    CHECK_EQ(open.failure.index, 1u);
    CHECK_EQ(open.failure.id, 5u);
    CHECK_EQ(same[0], 0u);
    CHECK_EQ(count_in(txn), 5u);
    obx_last_error_clear();
    CHECK_ERR(boxwood_box_put_packed(open.box, txn, data, sizeof(words), ends, 2, same,
                                     BOXWOOD_INSERT | BOXWOOD_SKIP_FAILED, &open.failure),
              OBX_NO_SUCCESS);
    CHECK(same[0] != 0);
    CHECK_EQ(same[1], 0u);
    CHECK_EQ(open.failure.index, 1u);
    CHECK_OK(boxwood_txn_commit(txn, &open.failure));
    CHECK_EQ(count_in(NULL), 6u);

    CHECK_ERR(boxwood_box_put_packed(open.box, NULL, NULL, 8, ends, 2, ids, 0, &open.failure),
              OBX_ERROR_ILLEGAL_ARGUMENT);
    end_test();
}

static void one_object_is_copied_in_one_call(void)
{
    begin_test();
    uint8_t buffer[64];
    size_t size = 8;
    CHECK_ERR(boxwood_box_copy(open.box, NULL, 2, buffer, &size, &open.failure), OBX_NO_SUCCESS);
    CHECK_EQ(size, (size_t)PAIR_SIZE);
    size = sizeof(buffer);
    CHECK_OK(boxwood_box_copy(open.box, NULL, 2, buffer, &size, &open.failure));
    CHECK_EQ(pair_value(buffer), 2);
    CHECK_ERR(boxwood_box_copy(open.box, NULL, 99, buffer, &size, &open.failure), OBX_NOT_FOUND);
    bool is_there = false;
    CHECK_OK(boxwood_box_contains(open.box, NULL, 3, &is_there, &open.failure));
    CHECK(is_there);
    end_test();
}

static void a_scan_goes_in_chunks_and_over_writes(void)
{
    begin_test();
    boxwood_txn *txn = begin(BOXWOOD_TXN_WRITE);
    boxwood_scan *scan = NULL;
    boxwood_object objects[2];
    size_t count = 0;
    CHECK_OK(boxwood_box_scan(open.box, txn, 2, &scan, &open.failure));
    CHECK_OK(boxwood_scan_next(scan, objects, 1, &count, &open.failure));
    CHECK_EQ(count, 1u);
    CHECK_EQ(objects[0].id, 2u);
    CHECK_OK(boxwood_box_remove_packed(open.box, txn, (const obx_id[]){2, 3}, 2, NULL, NULL));
    uint64_t word[4];
    pair_write((uint8_t *)word, 0, 5);
    obx_id id = 0;
    const uint32_t end = PAIR_SIZE;
    CHECK_OK(boxwood_box_put_packed(open.box, txn, word, PAIR_SIZE, &end, 1, &id, 0, NULL));
    CHECK_OK(boxwood_scan_next(scan, objects, 2, &count, &open.failure));
    CHECK_EQ(count, 1u);
    CHECK_EQ(objects[0].id, id);
    CHECK_OK(boxwood_scan_next(scan, objects, 2, &count, &open.failure));
    CHECK_EQ(count, 0u);
    boxwood_txn_abort(txn);
    CHECK_ERR(boxwood_scan_next(scan, objects, 2, &count, &open.failure), OBX_ERROR_ILLEGAL_STATE);
    boxwood_scan_end(scan);
    boxwood_scan_end(scan); // closed: nothing happens
    end_test();
}

static void a_scan_of_its_own_keeps_its_snapshot(void)
{
    begin_test();
    boxwood_scan *scan = NULL, *by_id = NULL;
    boxwood_object objects[4];
    size_t count = 0;
    CHECK_OK(boxwood_box_scan(open.box, NULL, 0, &scan, &open.failure));
    obx_id ids[] = {3, 99, 1};
    CHECK_OK(boxwood_box_scan_ids(open.box, NULL, ids, 3, &by_id, &open.failure));
    ids[0] = 2; // copied
    CHECK_OK(obx_box_remove_all(open.box, NULL));
    CHECK_OK(boxwood_scan_next(scan, objects, 4, &count, &open.failure));
    CHECK_EQ(count, 3u);
    CHECK_OK(boxwood_scan_next(by_id, objects, 4, &count, &open.failure));
    CHECK_EQ(count, 3u);
    CHECK_EQ(objects[0].id, 3u);
    CHECK_EQ(pair_value(objects[0].data), 3);
    CHECK(!objects[1].data);
    CHECK_EQ(pair_value(objects[2].data), 1);
    CHECK_ERR(boxwood_scan_next(scan, objects, 0, &count, &open.failure),
              OBX_ERROR_ILLEGAL_ARGUMENT);
    boxwood_scan_end(scan);
    boxwood_scan_end(by_id);
    end_test();
}

static void closing_refuses_or_dooms(void)
{
    begin_test();
    boxwood_txn *txn = begin(BOXWOOD_TXN_WRITE);
    CHECK_ERR(boxwood_store_close(open.store, 0, &open.failure), OBX_ERROR_ILLEGAL_STATE);
    CHECK_TEXT(open.failure.message, "store has 1 open transaction");
    CHECK_EQ(count_in(txn), 3u);
    CHECK_OK(boxwood_store_close(open.store, BOXWOOD_CLOSE_FORCE, &open.failure));
    CHECK_ERR(bw_free_txn_use(txn, false), BW_ERR_ILLEGAL_STATE);
    CHECK_ERR(boxwood_txn_commit(txn, &open.failure), OBX_ERROR_ILLEGAL_STATE);
    CHECK_OK(boxwood_store_close(NULL, 0, NULL));
    CHECK_OK(obx_remove_db_files(here));
}

static void a_box_of_another_store_is_refused(void)
{
    begin_test();
    OBX_store *second = pair_open("memory:free2");
    boxwood_txn *txn = begin(BOXWOOD_TXN_READ);
    uint64_t count = 0;
    CHECK_ERR(boxwood_box_count(obx_box(second, PAIR), txn, 0, &count, &open.failure),
              OBX_ERROR_ILLEGAL_ARGUMENT);
    CHECK_TEXT(open.failure.message, "Box and transaction are of different stores");
    boxwood_txn_abort(txn);
    pair_end(second, "memory:free2");
    end_test();
}

static void statistics_tell_of_the_file(void)
{
    begin_test();
    boxwood_store_stats_t stats = {.size = sizeof(stats)};
    CHECK_OK(boxwood_store_stats(open.store, &stats, &open.failure));
    CHECK(stats.file_size >= stats.used_size && stats.used_size > 0);
    CHECK(stats.txn_id > 0);
    stats.size = 1;
    CHECK_ERR(boxwood_store_stats(open.store, &stats, &open.failure), OBX_ERROR_ILLEGAL_ARGUMENT);
    end_test();
}

static void a_flush_waits_for_the_writer_but_not_for_itself(void)
{
    begin_test();
    CHECK_OK(boxwood_store_flush(open.store, &open.failure));
    OBX_txn *txn = obx_txn_write(open.store);
    CHECK_ERR(boxwood_store_flush(open.store, &open.failure), OBX_ERROR_ILLEGAL_STATE);
    CHECK_OK(obx_txn_close(txn));
    CHECK_OK(boxwood_store_flush(open.store, NULL));
    CHECK_ERR(boxwood_store_flush(NULL, &open.failure), OBX_ERROR_ILLEGAL_ARGUMENT);
    end_test();
}

RUN_TESTS(TEST(a_handle_may_wander_between_threads), TEST(two_calls_at_once_are_refused),
          TEST(writers_wait_as_long_as_asked), TEST(a_thread_does_not_wait_for_itself),
          TEST(a_reading_transaction_does_not_write), TEST(a_failure_after_the_first_write_dooms),
          TEST(objects_are_put_packed), TEST(one_object_is_copied_in_one_call),
          TEST(a_scan_goes_in_chunks_and_over_writes), TEST(a_scan_of_its_own_keeps_its_snapshot),
          TEST(closing_refuses_or_dooms), TEST(a_box_of_another_store_is_refused),
          TEST(statistics_tell_of_the_file), TEST(a_flush_waits_for_the_writer_but_not_for_itself))
