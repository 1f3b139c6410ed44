/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How large a file gets, counted in its bytes: a bounded amount of data stays in a bounded file,
 * a full store can be emptied, and an idle reader costs what it can see and no more.
 */
#include "cases/note_store.h"

#ifndef ROUNDS
#define ROUNDS 500
#endif

static char directory[256];
static OBX_store *store;
static OBX_box *notes;

static void begin(uint64_t size_max_kb)
{
    bw_scratch_make_in_memory(directory, sizeof(directory));
    store = note_open(directory, size_max_kb, BoxwoodDurability_None);
    notes = note_box(store, NOTE);
}

static void end(void)
{
    CHECK_OK(obx_store_close(store));
    note_prove(directory);
    bw_scratch_remove(directory);
}

static uint64_t file_size(void) { return obx_db_file_size(directory); }

/* So many puts of one transaction each under ids that follow from the number. */
static void put_all(int64_t first, int64_t count, size_t bytes)
{
    OBX_txn *txn = obx_txn_write(store);
    for (int64_t i = first; i < first + count; i++) CHECK_OK(note_put(notes, (obx_id)i, i, bytes));
    CHECK_OK(obx_txn_success(txn));
}

static void expect_from(int64_t first, int64_t count, size_t bytes)
{
    OBX_txn *txn = obx_txn_read(store);
    for (int64_t i = first; i < first + count; i++) note_expect(notes, (obx_id)i, i, bytes);
    CHECK_OK(obx_txn_close(txn));
}

// ---- full ----

enum { FULL_KB = 8 * 1024, FULL_BYTES = 4096 };

/* The reserve that removals may use: the pages that one left there stay where they are. */
enum { RESERVE_KB = FULL_KB / 8 };

/* One transaction each, from this number on, until the store is full. The count put. */
static int64_t fill_up(int64_t first, int64_t most_kb)
{
    for (int64_t i = first;; i++) {
        const obx_err err = note_put(notes, (obx_id)i, i, FULL_BYTES);
        if (!err) continue;
        CHECK_EQ(err, OBX_ERROR_DB_FULL);
        CHECK(file_size() <= (uint64_t)most_kb * 1024);
        return i - first;
    }
}

static void a_full_store_can_be_emptied_and_filled_again(void)
{
    begin(FULL_KB);
    const int64_t count = fill_up(1, FULL_KB);
    CHECK(count > 500);
    CHECK_EQ(note_count(notes), count);
    for (int i = 0; i < 20; i++) CHECK_ERR(note_put(notes, 9999, 1, FULL_BYTES), OBX_ERROR_DB_FULL);

    CHECK_OK(obx_box_remove(notes, 1));
    CHECK_EQ(note_count(notes), count - 1);

    obx_id ids[1000];
    const int64_t oldest = count / 5;
    uint64_t removed = 0;
    for (int64_t i = 0; i < oldest; i++) ids[i] = (obx_id)i + 2;
    CHECK_OK(boxwood_box_remove_packed(notes, NULL, ids, (size_t)oldest, &removed, NULL));
    CHECK_EQ(removed, oldest);
    CHECK_EQ(note_count(notes), count - 1 - oldest);
    CHECK(file_size() <= (FULL_KB + RESERVE_KB) * 1024u);

    const int64_t again = fill_up(count + 1, FULL_KB + RESERVE_KB);
    CHECK(again >= count * 15 / 100);
    expect_from(oldest + 2, count - 1 - oldest, FULL_BYTES);
    expect_from(count + 1, again, FULL_BYTES);
    end();
}

static void a_full_store_can_be_emptied_one_by_one(void)
{
    begin(FULL_KB);
    const int64_t count = fill_up(1, FULL_KB);
    for (int64_t i = 1; i <= count; i++) {
        CHECK_OK(obx_box_remove(notes, (obx_id)i));
        if (i % 100 == 0) expect_from(i + 1, count - i, FULL_BYTES);
    }
    CHECK_EQ(note_count(notes), 0);
    CHECK_EQ(fill_up(1, FULL_KB), count);
    end();
}

static void a_full_store_takes_objects_again_after_all_were_removed(void)
{
    begin(FULL_KB);
    for (int round = 0; round < 5; round++) {
        const int64_t count = fill_up(1, FULL_KB);
        CHECK(count > 500);
        CHECK_OK(obx_box_remove_all(notes, NULL));
        CHECK_OK(note_put(notes, 1, 1, FULL_BYTES)); // at once
        CHECK_OK(obx_box_remove_all(notes, NULL));
    }
    end();
}

// ---- bounded ----

enum { LIVE = 200, LIVE_BYTES = 75 * 1024, LIVE_KB = 32 * 1024 };

static void expect_within_a_tenth(uint64_t before, uint64_t after)
{
    CHECK(after <= before + before / 10);
    CHECK(after >= before - before / 10);
}

static void a_bounded_live_set_stays_in_a_bounded_file(void)
{
    begin(LIVE_KB);
    put_all(1, LIVE, LIVE_BYTES);
    uint64_t early = 0;
    for (int64_t i = 1; i <= ROUNDS; i++) {
        OBX_txn *txn = obx_txn_write(store);
        CHECK_OK(note_put(notes, (obx_id)(i + LIVE), i + LIVE, LIVE_BYTES));
        CHECK_OK(obx_box_remove(notes, (obx_id)i));
        CHECK_OK(obx_txn_success(txn));
        if (i == ROUNDS / 10) early = file_size();
    }
    CHECK_EQ(note_count(notes), LIVE);
    expect_from(ROUNDS + 1, LIVE, LIVE_BYTES);
    for (int64_t i = 0; i < ROUNDS / 4; i++) {
        const int64_t id = ROUNDS + 1 + i % LIVE; // each time other bytes of the same size
        CHECK_OK(note_put(notes, (obx_id)id, i + LIVE < ROUNDS / 4 ? -i : id, LIVE_BYTES));
    }
    expect_from(ROUNDS + 1, LIVE, LIVE_BYTES);
    printf("%d rounds of %d objects: %llu bytes early, %llu at the end\n", ROUNDS, LIVE,
           (unsigned long long)early, (unsigned long long)file_size());
    expect_within_a_tenth(early, file_size());
    end();
}

// ---- readers ----

enum { SEEN = 1000, SEEN_BYTES = 300, OVERWRITES = 10000, AFTERWARDS = 2000 };

static void overwrite(int64_t count, int64_t number)
{
    for (int64_t i = 0; i < count; i++) {
        CHECK_OK(note_put(notes, (obx_id)(1 + (i * 7) % SEEN), number + i, SEEN_BYTES));
    }
}

/* All objects, as a transaction that began before they were changed sees them. */
static void expect_old(boxwood_txn *reader)
{
    boxwood_scan *scan = NULL;
    boxwood_object objects[100];
    size_t count = 1, seen = 0;
    CHECK_OK(boxwood_box_scan(notes, reader, 0, &scan, NULL));
    while (count) {
        CHECK_OK(boxwood_scan_next(scan, objects, 100, &count, NULL));
        for (size_t i = 0; i < count; i++) {
            CHECK_EQ(objects[i].id, ++seen);
            CHECK(note_is(objects[i].data, objects[i].size, (int64_t)seen, SEEN_BYTES));
        }
    }
    CHECK_EQ(seen, SEEN);
    boxwood_scan_end(scan);
}

static void a_long_reader_sees_the_old_bytes_and_the_file_stops_growing_after_it(void)
{
    boxwood_txn *reader = NULL;
    begin(0);
    put_all(1, SEEN, SEEN_BYTES);
    CHECK_OK(boxwood_txn_begin(store, BOXWOOD_TXN_READ, 0, &reader, NULL));
    expect_old(reader);
    for (int i = 0; i < 20; i++) {
        overwrite(OVERWRITES / 20, 1000000 + i);
        expect_old(reader);
    }
    const uint64_t under_reader = file_size();
    boxwood_txn_abort(reader);
    overwrite(100, 1);
    const uint64_t before = file_size();
    overwrite(AFTERWARDS, 1);
    printf("%d commits under a reader: %llu bytes; after it %llu, %d commits later %llu\n",
           OVERWRITES, (unsigned long long)under_reader, (unsigned long long)before, AFTERWARDS,
           (unsigned long long)file_size());
    CHECK(file_size() <= before + before / 100);
    end();
}

static void twelve_megabytes_stay_below_forty_in_500_commits_beside_an_idle_reader(void)
{
    enum { COUNT = 12 * 1024, BYTES = 900, LIMIT = 40 << 20 };
    boxwood_txn *reader = NULL;
    begin(0);
    put_all(1, COUNT, BYTES);
    CHECK(file_size() > 11u << 20 && file_size() < 14u << 20);
    CHECK_OK(boxwood_txn_begin(store, BOXWOOD_TXN_READ, 0, &reader, NULL));
    static int64_t numbers[COUNT + 1];
    uint64_t largest = 0;
    for (int64_t id = 1; id <= COUNT; id++) numbers[id] = id;
    for (int64_t i = 0; i < 500; i++) {
        OBX_txn *txn = obx_txn_write(store);
        for (int64_t k = 0; k < 10; k++) {
            const int64_t id = 1 + (i * 7919 + k * 1231) % COUNT;
            numbers[id] = (i + 1) * 100000 + k;
            CHECK_OK(note_put(notes, (obx_id)id, numbers[id], BYTES));
        }
        CHECK_OK(obx_txn_success(txn));
        if (file_size() > largest) largest = file_size();
    }
    printf("500 commits of 10 objects each under an idle reader: %llu bytes at most\n",
           (unsigned long long)largest);
    CHECK(largest < LIMIT);
    boxwood_txn_abort(reader);
    OBX_txn *txn = obx_txn_read(store);
    for (int64_t id = 1; id <= COUNT; id++) note_expect(notes, (obx_id)id, numbers[id], BYTES);
    CHECK_OK(obx_txn_close(txn));
    end();
}

RUN_TESTS(TEST(a_full_store_can_be_emptied_and_filled_again),
          TEST(a_full_store_can_be_emptied_one_by_one),
          TEST(a_full_store_takes_objects_again_after_all_were_removed),
          TEST(a_bounded_live_set_stays_in_a_bounded_file),
          TEST(a_long_reader_sees_the_old_bytes_and_the_file_stops_growing_after_it),
          TEST(twelve_megabytes_stay_below_forty_in_500_commits_beside_an_idle_reader))
