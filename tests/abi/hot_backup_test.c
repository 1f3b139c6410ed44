/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Backups, restoring and copies as programs meet them, on real files: while a writer commits pairs
 * (x, -x) without a pause, each backup holds one state that was committed.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "harness/scratch.h"
#include "os/os.h"
#include "unit/api/pair_store.h"

enum { BACKUPS = 20, PATH_ROOM = 300 };

static char root[200];

static const char *path_of(const char *name)
{
    static char paths[4][PATH_ROOM];
    static unsigned next;
    char *path = paths[next++ % 4];
    (void)snprintf(path, PATH_ROOM, "%s/%s", root, name);
    return path;
}

static void begin(void) { bw_scratch_make(root, sizeof(root)); }
static void end(void) { bw_scratch_remove(root); }

static bool has(const char *name)
{
    struct file_info info;
    bool found = false;
    CHECK_OK(bw_disk_posix()->look_up(bw_disk_posix(), path_of(name), &info, NULL, &found));
    return found;
}

/* Open with a check of everything; 0: an error, which stays. */
static OBX_store *open_checked(const char *directory, const char *backup, uint32_t flags)
{
    OBX_store_options *opt = pair_options(directory);
    obx_opt_validate_on_open_pages(opt, 1, OBXValidateOnOpenPagesFlags_VisitLeafPages);
    if (backup) obx_opt_backup_restore(opt, backup, flags);
    return obx_store_open(opt);
}

/* ---- pairs ---- */

static void put_pair(OBX_store *store, OBX_box *box, int64_t x)
{
    OBX_txn *txn = obx_txn_write(store);
    CHECK(txn != NULL);
    CHECK_EQ(pair_put(box, x), (obx_id)(2 * x - 1));
    CHECK_EQ(pair_put(box, -x), (obx_id)(2 * x));
    CHECK_OK(obx_txn_success(txn));
}

/* The number of pairs; each of them is whole, and they are the first ones. */
static uint64_t check_pairs(OBX_store *store)
{
    OBX_box *box = obx_box(store, PAIR);
    const uint64_t count = pair_count(box);
    OBX_txn *txn = obx_txn_read(store);
    int64_t sum = 0;
    CHECK_EQ(count % 2, 0);
    for (obx_id id = 1; id <= count; id++) {
        const uint8_t *data = NULL;
        size_t size = 0;
        CHECK_OK(obx_box_get(box, id, &data, &size));
        const int64_t x = (int64_t)(id + 1) / 2;
        CHECK_EQ(pair_value(data), id % 2 ? x : -x);
        sum += pair_value(data);
    }
    CHECK_EQ(sum, 0);
    CHECK_OK(obx_txn_close(txn));
    return count / 2;
}

static OBX_store *make_pairs(const char *directory, int64_t count)
{
    OBX_store *store = pair_open(directory);
    for (int64_t x = 1; x <= count; x++) put_pair(store, obx_box(store, PAIR), x);
    return store;
}

static void expect_pairs(const char *directory, uint64_t count)
{
    OBX_store *store = open_checked(directory, NULL, 0);
    CHECK(store != NULL);
    CHECK_EQ(check_pairs(store), count);
    CHECK_OK(obx_store_close(store));
}

/* ---- a writer beside it ---- */

static struct {
    OBX_store *store;
    atomic_bool is_over;
    _Atomic int64_t began, done; /* pairs */
} writer;

static void write_pairs(void *unused)
{
    (void)unused;
    OBX_box *box = obx_box(writer.store, PAIR);
    for (int64_t x = 1; !atomic_load(&writer.is_over); x++) {
        atomic_store(&writer.began, x);
        put_pair(writer.store, box, x);
        atomic_store(&writer.done, x);
    }
}

static void pause_shortly(void)
{
    struct mutex mutex = {0};
    struct condition nobody_signals = {0};
    bw_mutex_lock(&mutex);
    (void)bw_condition_wait_for(&nobody_signals, &mutex, 1);
    bw_mutex_unlock(&mutex);
}

/* Until the writer has committed once more: a backup that held it up would wait for ever. */
static bool wait_for_commits(void *user_data, uint64_t done, uint64_t total)
{
    unsigned *calls = user_data;
    const int64_t before = atomic_load(&writer.done);
    CHECK(done <= total);
    (*calls)++;
    while (atomic_load(&writer.done) == before) pause_shortly();
    return true;
}

static OBX_store *open_for_writer(void)
{
    OBX_store_options *opt = pair_options(path_of("live"));
    OBX_store *store = NULL;
    CHECK_OK(boxwood_opt_durability(opt, BoxwoodDurability_None)); // more commits beside a backup
    CHECK_OK(boxwood_store_open(opt, &store, NULL));
    return store;
}

static void backups_beside_a_writer_are_committed_states(void)
{
    struct thread thread;
    begin();
    writer.store = open_for_writer();
    atomic_store(&writer.is_over, false);
    CHECK_OK(bw_thread_start(&thread, write_pairs, NULL));
    while (!atomic_load(&writer.done)) pause_shortly();
    for (int i = 0; i < BACKUPS; i++) {
        unsigned calls = 0;
        const int64_t before = atomic_load(&writer.done);
        if (i % 2) {
            CHECK_OK(obx_store_back_up_to_file(writer.store, path_of("pairs.bak"), 0));
        } else {
            CHECK_OK(boxwood_store_backup(writer.store, path_of("pairs.bak"), 0, wait_for_commits,
                                          &calls, NULL));
            CHECK(calls >= 2);
        }
        const int64_t after = atomic_load(&writer.began);
        char name[20];
        (void)snprintf(name, sizeof(name), "restored%d", i);
        OBX_store *store = open_checked(path_of(name), path_of("pairs.bak"), 0);
        CHECK(store != NULL);
        const int64_t pairs = (int64_t)check_pairs(store);
        CHECK(pairs >= before && pairs <= after);
        put_pair(store, obx_box(store, PAIR), pairs + 1); // ids go on behind those backed up
        CHECK_OK(obx_store_close(store));
    }
    atomic_store(&writer.is_over, true);
    bw_thread_join(&thread);
    CHECK_EQ(check_pairs(writer.store), (uint64_t)atomic_load(&writer.done));
    CHECK_OK(obx_store_close(writer.store));
    end();
}

/* ---- what is there already ---- */

static void existing_data_is_replaced_only_with_the_flag(void)
{
    begin();
    OBX_store *store = make_pairs(path_of("a"), 5);
    CHECK_OK(obx_store_back_up_to_file(store, path_of("a.bak"), 0));
    CHECK_OK(obx_store_close(store));
    CHECK_OK(obx_store_close(make_pairs(path_of("b"), 2)));

    store = open_checked(path_of("b"), path_of("a.bak"), 0); // is left as it is
    CHECK(store != NULL);
    CHECK_EQ(check_pairs(store), 2);
    CHECK_OK(obx_store_close(store));
    CHECK_ERR(boxwood_restore(path_of("a.bak"), path_of("b"), 0, NULL, NULL, NULL),
              OBX_ERROR_ILLEGAL_STATE);
    expect_pairs(path_of("b"), 2);

    const uint32_t flag = OBXBackupRestoreFlags_OverwriteExistingData;
    store = open_checked(path_of("b"), path_of("a.bak"), flag);
    CHECK(store != NULL);
    CHECK_EQ(check_pairs(store), 5);
    CHECK_ERR(boxwood_restore(path_of("a.bak"), path_of("b"), flag, NULL, NULL, NULL),
              OBX_ERROR_ILLEGAL_STATE); // while it is open
    CHECK_OK(obx_store_close(store));
    CHECK_OK(boxwood_restore(path_of("a.bak"), path_of("c"), 0, NULL, NULL, NULL));
    expect_pairs(path_of("c"), 5);
    end();
}

/* ---- damage ---- */

static void write_file(const char *name, const char *bytes, size_t size)
{
    FILE *file = fopen(path_of(name), "wb");
    CHECK(file != NULL);
    CHECK_EQ(fwrite(bytes, 1, size, file), size);
    CHECK_EQ(fclose(file), 0);
}

static void expect_invalid(const char *target, uint64_t pairs)
{
    const uint32_t flag = OBXBackupRestoreFlags_OverwriteExistingData;
    boxwood_failure failure = {0};
    CHECK(!open_checked(path_of(target), path_of("bad.bak"), flag));
    CHECK_EQ(obx_last_error_code(), OBX_ERROR_BACKUP_FILE_INVALID);
    CHECK_ERR(boxwood_restore(path_of("bad.bak"), path_of(target), flag, NULL, NULL, &failure),
              OBX_ERROR_BACKUP_FILE_INVALID);
    CHECK_EQ(failure.code, OBX_ERROR_BACKUP_FILE_INVALID);
    if (pairs) expect_pairs(path_of(target), pairs);
    else CHECK(!has(target) || (!has("new/data.mdb") && !has("new/data.mdb.part")));
}

static void a_damaged_backup_restores_nothing(void)
{
    enum { SIZE_MAX_HERE = 1 << 20 };
    static char bytes[SIZE_MAX_HERE];
    begin();
    OBX_store *store = make_pairs(path_of("a"), 5);
    CHECK_OK(obx_store_back_up_to_file(store, path_of("a.bak"), 0));
    CHECK_OK(obx_store_close(store));
    CHECK_OK(obx_store_close(make_pairs(path_of("old"), 2)));
    FILE *file = fopen(path_of("a.bak"), "rb");
    CHECK(file != NULL);
    const size_t size = fread(bytes, 1, sizeof(bytes), file);
    CHECK_EQ(fclose(file), 0);
    CHECK(size > 4000 && size < sizeof(bytes));
    for (size_t at = 3; at < size; at += size / 13) {
        write_file("bad.bak", bytes, at);
        expect_invalid("new", 0);
        bytes[at] ^= 32;
        write_file("bad.bak", bytes, size);
        expect_invalid("new", 0);
        expect_invalid("old", 2);
        bytes[at] ^= 32;
    }
    write_file("bad.bak", bytes, size);
    CHECK_OK(boxwood_restore(path_of("bad.bak"), path_of("new"), 0, NULL, NULL, NULL));
    expect_pairs(path_of("new"), 5);
    end();
}

/* ---- the rest of the interface ---- */

static void it_is_a_feature(void) { CHECK(obx_has_feature(OBXFeature_Backup)); }

static void a_copy_has_no_free_space(void)
{
    begin();
    OBX_store *store = make_pairs(path_of("a"), 200), *copy = NULL;
    CHECK_OK(obx_box_remove_all(obx_box(store, OTHER), NULL));
    for (int i = 0; i < 600; i++) CHECK(pair_put(obx_box(store, OTHER), i) != 0);
    CHECK_OK(obx_box_remove_all(obx_box(store, OTHER), NULL));
    boxwood_store_stats_t stats = {.size = sizeof(stats)}, of_copy = {.size = sizeof(of_copy)};
    CHECK_OK(boxwood_store_stats(store, &stats, NULL));
    CHECK_OK(boxwood_store_copy(store, path_of("b"), NULL, NULL, NULL));
    CHECK_ERR(boxwood_store_copy(store, path_of("b"), NULL, NULL, NULL), OBX_ERROR_ILLEGAL_STATE);
    CHECK_ERR(boxwood_store_copy(store, path_of("a"), NULL, NULL, NULL), OBX_ERROR_ILLEGAL_STATE);
    CHECK_OK(obx_store_close(store));
    expect_pairs(path_of("b"), 200);
    copy = pair_open(path_of("b"));
    CHECK_OK(boxwood_store_stats(copy, &of_copy, NULL));
    CHECK_EQ(of_copy.file_size, of_copy.used_size);
    CHECK(of_copy.file_size < stats.file_size);
    CHECK_OK(obx_store_close(copy));
    end();
}

static void stores_in_memory_go_to_files_and_back(void)
{
    begin();
    OBX_store *store = make_pairs("memory:pairs", 4);
    CHECK_OK(obx_store_back_up_to_file(store, path_of("memory.bak"), 0));
    CHECK_OK(boxwood_store_copy(store, path_of("copy"), NULL, NULL, NULL));
    CHECK_OK(obx_store_back_up_to_file(store, "memory:backup", 0));
    CHECK(!has("memory:backup"));
    pair_end(store, "memory:pairs");
    expect_pairs(path_of("copy"), 4);
    store = open_checked("memory:again", path_of("memory.bak"), 0);
    CHECK(store != NULL);
    CHECK_EQ(check_pairs(store), 4);
    pair_end(store, "memory:again");
    CHECK_OK(boxwood_restore("memory:backup", path_of("file"), 0, NULL, NULL, NULL));
    expect_pairs(path_of("file"), 4);
    bool found = false;
    CHECK_OK(bw_disk_memory()->remove(bw_disk_memory(), "memory:backup", &found));
    CHECK(found);
    end();
}

static bool stop_at_once(void *user_data, uint64_t done, uint64_t total)
{
    (void)user_data;
    CHECK(done <= total);
    return false;
}

static void a_listener_may_stop_it(void)
{
    begin();
    OBX_store *store = make_pairs(path_of("a"), 3);
    CHECK_OK(obx_store_back_up_to_file(store, path_of("a.bak"), 0));
    boxwood_failure failure = {0};
    CHECK_ERR(boxwood_store_backup(store, path_of("b.bak"), 0, stop_at_once, NULL, &failure),
              BOXWOOD_ERROR_CANCELLED);
    CHECK_EQ(failure.code, BOXWOOD_ERROR_CANCELLED);
    CHECK_ERR(boxwood_store_copy(store, path_of("b"), stop_at_once, NULL, NULL),
              BOXWOOD_ERROR_CANCELLED);
    CHECK_ERR(boxwood_restore(path_of("a.bak"), path_of("b"), 0, stop_at_once, NULL, NULL),
              BOXWOOD_ERROR_CANCELLED);
    CHECK(!has("b.bak") && !has("b.bak.part") && !has("b/data.mdb"));
    CHECK_OK(obx_store_close(store));
    end();
}

static void wrong_arguments_are_refused(void)
{
    begin();
    OBX_store *store = make_pairs("memory:pairs", 1);
    const obx_err wrong = OBX_ERROR_ILLEGAL_ARGUMENT;
    CHECK_ERR(obx_store_back_up_to_file(NULL, path_of("x"), 0), wrong);
    CHECK_ERR(obx_store_back_up_to_file(store, NULL, 0), wrong);
    CHECK_REASON("Argument \"backup_file\" must not be null");
    CHECK_ERR(obx_store_back_up_to_file(store, path_of("x"), 4), wrong);
    CHECK_REASON("Unknown backup flags: 4");
    CHECK_ERR(boxwood_store_backup(NULL, path_of("x"), 0, NULL, NULL, NULL), wrong);
    CHECK_ERR(boxwood_store_copy(NULL, path_of("x"), NULL, NULL, NULL), wrong);
    CHECK_ERR(boxwood_store_copy(store, NULL, NULL, NULL, NULL), wrong);
    CHECK_ERR(boxwood_restore(NULL, path_of("x"), 0, NULL, NULL, NULL), wrong);
    CHECK_ERR(boxwood_restore(path_of("x"), NULL, 0, NULL, NULL, NULL), wrong);
    CHECK_ERR(boxwood_restore(path_of("x"), path_of("y"), 2, NULL, NULL, NULL), wrong);
    CHECK_REASON("Unknown backup restore flags: 2");
    CHECK_ERR(boxwood_restore(path_of("x"), path_of("y"), 0, NULL, NULL, NULL), OBX_ERROR_IO);
    CHECK(!open_checked(path_of("y"), path_of("x"), 2));
    CHECK_REASON("An error had occurred before during setting options");
    CHECK(!open_checked(path_of("y"), path_of("x"), 0));
    CHECK_REASON("There is no such backup file");
    CHECK(!has("x") && !has("y"));
    obx_opt_backup_restore(NULL, "x", 0);
    pair_end(store, "memory:pairs");
    CHECK_ERR(obx_store_back_up_to_file(store, path_of("x"), 0), OBX_ERROR_SHUTTING_DOWN);
    end();
}

RUN_TESTS(TEST(backups_beside_a_writer_are_committed_states),
          TEST(existing_data_is_replaced_only_with_the_flag),
          TEST(a_damaged_backup_restores_nothing), TEST(it_is_a_feature),
          TEST(a_copy_has_no_free_space), TEST(stores_in_memory_go_to_files_and_back),
          TEST(a_listener_may_stop_it), TEST(wrong_arguments_are_refused))
