/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits of the file's size that nobody should ask for, and address space that somebody took away:
 * never a crash, always either a store that works or an error that says why.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases/note_store.h"

static char directory[256];

enum { OBJECTS = 100, BYTES = 2000 };

static void put_all(OBX_store *store, int64_t count, size_t bytes)
{
    OBX_box *box = note_box(store, NOTE);
    OBX_txn *txn = obx_txn_write(store);
    for (int64_t i = 1; i <= count; i++) CHECK_OK(note_put(box, (obx_id)i, i, bytes));
    CHECK_OK(obx_txn_success(txn));
}

static void expect_all(OBX_store *store, int64_t count, size_t bytes)
{
    OBX_box *box = note_box(store, NOTE);
    OBX_txn *txn = obx_txn_read(store);
    for (int64_t i = 1; i <= count; i++) note_expect(box, (obx_id)i, i, bytes);
    CHECK_EQ(note_count(box), count);
    CHECK_OK(obx_txn_close(txn));
}

/* What the file takes on the disk. */
static uint64_t blocks_size(void)
{
    char path[300];
    struct stat info;
    (void)snprintf(path, sizeof(path), "%s/data.mdb", directory);
    CHECK(stat(path, &info) == 0);
    return (uint64_t)info.st_blocks * 512;
}

static void a_huge_limit_costs_nothing(void)
{
    static const uint64_t limits_kb[] = {
        16ull << 20,                  // 16 GB
        10ull << 30,                  // 10 TB
        (1ull << 54) - 1,             // the last that is a number of bytes
        1ull << 63,       UINT64_MAX, // and what is none
    };
    for (size_t i = 0; i < sizeof(limits_kb) / sizeof(limits_kb[0]); i++) {
        bw_scratch_make(directory, sizeof(directory));
        OBX_store *store = note_open(directory, limits_kb[i], BoxwoodDurability_None);
        put_all(store, OBJECTS, BYTES);
        expect_all(store, OBJECTS, BYTES);
        CHECK(blocks_size() < 1 << 20);
        CHECK_OK(obx_store_close(store));
        note_prove(directory);
        bw_scratch_remove(directory);
    }
}

static void a_limit_below_the_least_is_refused(void)
{
    bw_scratch_make(directory, sizeof(directory));
    for (uint64_t limit_kb = 1; limit_kb < 12; limit_kb++) {
        CHECK(!obx_store_open(note_options(directory, limit_kb)));
        CHECK_EQ(obx_last_error_code(), OBX_ERROR_DB_FULL);
        CHECK(strstr(obx_last_error_message(), "a store needs at least 12 KB") != NULL);
    }
    bw_scratch_remove(directory);
}

static void a_limit_need_not_be_a_number_of_pages(void)
{
    static const uint64_t limits_kb[] = {101, 102, 103, 1021, 1023};
    for (size_t i = 0; i < sizeof(limits_kb) / sizeof(limits_kb[0]); i++) {
        bw_scratch_make(directory, sizeof(directory));
        OBX_store *store = note_open(directory, limits_kb[i], BoxwoodDurability_None);
        OBX_box *box = note_box(store, NOTE);
        obx_err err = OBX_SUCCESS;
        int64_t count = 0;
        while (!err) {
            err = note_put(box, (obx_id)count + 1, count + 1, BYTES);
            if (!err) count++;
        }
        CHECK_EQ(err, OBX_ERROR_DB_FULL);
        CHECK(count > 10);
        CHECK(obx_db_file_size(directory) <= limits_kb[i] * 1024);
        expect_all(store, count, BYTES);
        CHECK_OK(obx_store_close(store));
        note_prove(directory);
        bw_scratch_remove(directory);
    }
}

static void a_limit_below_the_file_allows_reading_and_removing(void)
{
    enum { COUNT = 10000, LIMIT_KB = 1024 };
    bw_scratch_make_in_memory(directory, sizeof(directory));
    OBX_store *store = note_open(directory, 0, BoxwoodDurability_None);
    put_all(store, COUNT, BYTES);
    CHECK_OK(obx_store_close(store));
    CHECK(obx_db_file_size(directory) > 20 << 20);

    store = note_open(directory, LIMIT_KB, BoxwoodDurability_None);
    OBX_box *box = note_box(store, NOTE);
    expect_all(store, COUNT, BYTES);
    CHECK_ERR(note_put(box, COUNT + 1, 1, BYTES), OBX_ERROR_DB_FULL);
    expect_all(store, COUNT, BYTES);
    uint64_t removed = 0;
    CHECK_OK(obx_box_remove_all(box, &removed)); // no leaf is copied for this
    CHECK_EQ(removed, COUNT);
    CHECK_OK(note_put(box, 1, 1, BYTES));
    CHECK_OK(note_put(box, 1, 2, BYTES));
    CHECK_OK(note_put(box, 1, 1, BYTES));
    expect_all(store, 1, BYTES);
    CHECK_OK(obx_store_close(store));
    note_prove(directory);
    bw_scratch_remove(directory);
}

// ---- address space ----

static uint64_t address_space(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%lu", &pages) != 1) pages = 0;
    if (file) fclose(file);
    return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void run_short_of_addresses(void *argument)
{
    enum { ROOM = 150 << 20, PIECE = 40 << 20, PIECES = 6 };
    (void)argument;
    OBX_store *store = note_open(directory, 0, BoxwoodDurability_None);
    OBX_box *box = note_box(store, NOTE);
    const uint64_t limit = address_space() + ROOM;
    const struct rlimit limits = {.rlim_cur = (rlim_t)limit, .rlim_max = (rlim_t)limit};
    const uint8_t *data = NULL;
    size_t size = 0;
    int got = 0, refused = 0;
    CHECK(setrlimit(RLIMIT_AS, &limits) == 0);
    OBX_txn *txn = obx_txn_read(store);
    for (int64_t i = 1; i <= PIECES; i++) {
        const obx_err err = obx_box_get(box, (obx_id)i, &data, &size);
        if (!err) {
            CHECK_EQ(note_number(data), i);
            got++;
            continue;
        }
        CHECK_EQ(err, OBX_ERROR_STORAGE_GENERAL);
        CHECK_EQ(obx_last_error_secondary(), 12);
        CHECK(strstr(obx_last_error_message(), "address space") != NULL);
        refused++;
    }
    CHECK(got >= 1 && refused >= 1); // the first windows stay readable
    CHECK_OK(obx_box_get(box, 1, &data, &size));
    CHECK(note_is(data, size, 1, PIECE));
    CHECK_OK(obx_txn_close(txn));
    const obx_err err = note_put(box, 1, 1, 10); // room for a small change there is
    CHECK(err == OBX_SUCCESS || err == OBX_ERROR_STORAGE_GENERAL);
    CHECK_OK(obx_store_close(store));
}

static void a_file_larger_than_the_address_space_gives_an_error_that_says_so(void)
{
    bw_scratch_make_in_memory(directory, sizeof(directory));
    OBX_store *store = note_open(directory, 0, BoxwoodDurability_None);
    for (int64_t i = 1; i <= 6; i++)
        CHECK_OK(note_put(note_box(store, NOTE), (obx_id)i, i, 40 << 20));
    CHECK_OK(obx_store_close(store));
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) { // on a thread, where a check that does not hold ends the process
        struct thread thread;
        if (bw_thread_start(&thread, run_short_of_addresses, NULL)) _exit(2);
        bw_thread_join(&thread);
        _exit(0);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_EQ(status, 0);
    note_prove(directory);
    bw_scratch_remove(directory);
}

RUN_TESTS(TEST(a_huge_limit_costs_nothing), TEST(a_limit_below_the_least_is_refused),
          TEST(a_limit_need_not_be_a_number_of_pages),
          TEST(a_limit_below_the_file_allows_reading_and_removing),
          TEST(a_file_larger_than_the_address_space_gives_an_error_that_says_so))
