/* SPDX-License-Identifier: Apache-2.0 */
/* Opening and closing: what it costs, who excludes whom, and what is left behind. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
size_t __sanitizer_get_current_allocated_bytes(void); // gcc has no header for it
#elif defined(__GLIBC__)
#include <malloc.h>
#endif

#include "harness/check.h"
#include "harness/relay.h"
#include "harness/sample.h"
#include "harness/scratch.h"
#include "harness/sim_disk.h"

enum { KB = 1024, PAGE = 4096 };

static struct sim_disk sim;
static struct relay relay;
static char scratch[256], directory[300]; /* of tests with real files */

static void begin(void)
{
    sim_disk_init(&sim, 1);
    relay_init(&relay, &sim.disk);
}

static void end(void) { sim_disk_deinit(&sim); }

static void begin_files(void)
{
    bw_scratch_make(scratch, sizeof(scratch));
    (void)snprintf(directory, sizeof(directory), "%s/db", scratch);
}

static void end_files(void) { bw_scratch_remove(scratch); }

static bw_err try_open(const struct store_options *options)
{
    struct store *store = NULL;
    bw_err err = bw_store_open(options, &store);
    bw_store_close(store);
    return err;
}

static struct store *open_with(const struct store_options *options)
{
    struct store *store = NULL;
    CHECK_OK(bw_store_open(options, &store));
    return store;
}

static struct store_options file_options(void)
{
    struct store_options options = sample_options(bw_disk_posix());
    options.directory = directory;
    return options;
}

static bool reason_has(const char *text) { return strstr(bw_reason_text(), text) != NULL; }

static uint64_t size_of_file(void) { return sim_disk_find(&sim, SAMPLE_FILE)->size; }

/* A store with so many values, closed. */
static void make_store(size_t size, unsigned count)
{
    struct store *store = sample_open(&sim.disk);
    sample_commit(store, 1, 1, count, size, 1);
    bw_store_close(store);
}

/* ---- what it costs ---- */

static void a_new_store_costs_one_flush_of_data_and_its_names(void)
{
    begin();
    struct store *store = sample_open(&relay.disk);
    sample_commit(store, 1, 1, 1000, 352, 1);
    CHECK_EQ(relay.counts[CALL_FLUSH], 1);
    CHECK_EQ(relay.counts[CALL_FLUSH_DIRECTORY], 2); // its own, and the one it was made in
    CHECK_EQ(relay.counts[CALL_WRITE], 2);
    CHECK_EQ(relay.counts[CALL_RESIZE], 1);
    bw_store_close(store);
    CHECK_EQ(relay.counts[CALL_FLUSH], 1);
    end();
}

static void in_a_directory_that_was_there_one_name_is_flushed(void)
{
    begin();
    bool made = false;
    CHECK_OK(sim.disk.make_directory(&sim.disk, SAMPLE_DIRECTORY, 0755, &made));
    struct store *store = sample_open(&relay.disk);
    sample_commit(store, 1, 1, 1000, 352, 1);
    CHECK_EQ(relay.counts[CALL_FLUSH], 1);
    CHECK_EQ(relay.counts[CALL_FLUSH_DIRECTORY], 1);
    bw_store_close(store);
    end();
}

static void asking_an_unchanged_store_costs_five_calls(void)
{
    begin();
    make_store(352, 1000);
    struct store *store = sample_open(&relay.disk);
    struct txn *txn = sample_begin(store, TXN_READ);
    struct tree_stat stat;
    CHECK_OK(bw_tree_stat(txn, 1, &stat));
    CHECK_EQ(stat.count, 1000);
    CHECK_EQ(stat.bytes, 352000);
    bw_txn_abort(txn);
    bw_store_close(store);
    CHECK_TEXT(relay.log, "Oilrc");
    end();
}

static void reading_an_unchanged_store_maps_it_once(void)
{
    begin();
    make_store(352, 1000);
    struct store *store = sample_open(&relay.disk);
    for (int i = 0; i < 3; i++) {
        struct txn *txn = sample_begin(store, TXN_READ);
        sample_expect(txn, 1, 1, 1000, 352, 1);
        bw_txn_abort(txn);
    }
    bw_store_close(store);
    CHECK_TEXT(relay.log, "Oilrmuc");
    end();
}

static void a_file_is_as_large_as_what_it_holds(void)
{
    static const struct {
        size_t size;
        unsigned count, wanted;
    } table[] = {{352, 1000, 364 * KB}, {360, 1000, 372 * KB}, {120, 10, 12 * KB}};
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        begin();
        make_store(table[i].size, table[i].count);
        CHECK_EQ(size_of_file(), table[i].wanted);
        CHECK_EQ(bw_store_file_size(&sim.disk, SAMPLE_DIRECTORY), table[i].wanted);
        end();
    }
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static size_t heap(void) { return __sanitizer_get_current_allocated_bytes(); }
#elif defined(__GLIBC__)
static size_t heap(void) { return mallinfo2().uordblks; }
#else
static size_t heap(void) { return 0; }
#endif

static void an_open_store_holds_few_bytes(void)
{
    begin_files();
    const struct store_options options = file_options();
    struct store *store = open_with(&options);
    sample_commit(store, 1, 1, 1000, 352, 1);
    bw_store_close(store);

    const size_t before = heap();
    store = open_with(&options);
    struct txn *txn = sample_begin(store, TXN_READ);
    struct tree_stat stat;
    CHECK_OK(bw_tree_stat(txn, 1, &stat));
    bw_txn_abort(txn);
    CHECK(heap() - before <= 4 * KB);

    txn = sample_begin(store, TXN_READ);
    struct bytes value;
    bool found = false;
    CHECK_OK(bw_tree_get(txn, 1, 500, &value, &found));
    CHECK(found);
    bw_txn_abort(txn);
    CHECK(heap() - before <= 6 * KB); // with the marks of verified pages
    bw_store_close(store);
    end_files();
}

/* ---- who excludes whom ---- */

static void a_second_open_in_the_process_is_refused(void)
{
    begin();
    struct store *store = sample_open(&sim.disk);
    struct store_options options = sample_options(&sim.disk);
    CHECK_ERR(try_open(&options), BW_ERR_ILLEGAL_STATE);
    CHECK_TEXT(bw_reason_text(),
               "Cannot open store: another store is still open using the same path: \"db\"");
    options.read_only = true;
    CHECK_ERR(try_open(&options), BW_ERR_ILLEGAL_STATE);
    bw_store_close(store);
    options.read_only = false;
    CHECK_OK(try_open(&options));
    end();
    sample_expect_nothing_left();
}

static void a_file_is_known_by_all_its_names(void)
{
    begin_files();
    char link[300];
    (void)snprintf(link, sizeof(link), "%s/link", scratch);
    CHECK_EQ(symlink("db", link), 0);
    struct store_options options = file_options();
    struct store *store = open_with(&options);
    options.directory = link;
    CHECK_ERR(try_open(&options), BW_ERR_ILLEGAL_STATE);
    CHECK(reason_has("same path"));
    CHECK(reason_has(directory)); // as it was given to the one that is open
    CHECK(bw_store_find(bw_disk_posix(), link) == store);
    bw_store_close(store);
    end_files();
}

/* A process that has the store open until it is let go. */
struct other_process {
    pid_t id;
    int go; /* closing it lets the process end */
};

static struct other_process open_elsewhere(bool read_only)
{
    int ready[2], go[2];
    CHECK_EQ(pipe(ready), 0);
    CHECK_EQ(pipe(go), 0);
    (void)fflush(NULL);
    const pid_t id = fork();
    CHECK(id >= 0);
    if (id == 0) {
        char byte = 0;
        struct store *store = NULL;
        struct store_options options = file_options();
        options.read_only = read_only;
        (void)close(go[1]);
        bw_err err = bw_store_open(&options, &store);
        (void)!write(ready[1], err ? "n" : "y", 1);
        (void)!read(go[0], &byte, 1);
        _exit(err ? 1 : 0); // without closing: the kernel does
    }
    char answer = 0;
    CHECK_EQ(read(ready[0], &answer, 1), 1);
    CHECK_EQ(answer, 'y');
    (void)close(ready[0]);
    (void)close(ready[1]);
    (void)close(go[0]);
    return (struct other_process){.id = id, .go = go[1]};
}

static void let_go(struct other_process process)
{
    int status = 0;
    (void)close(process.go);
    CHECK_EQ(waitpid(process.id, &status, 0), process.id);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void make_file_store(void)
{
    const struct store_options options = file_options();
    struct store *store = open_with(&options);
    sample_commit(store, 1, 1, 3, 100, 1);
    bw_store_close(store);
}

static void another_process_that_writes_excludes_everybody(void)
{
    begin_files();
    make_file_store();
    const struct other_process other = open_elsewhere(false);
    struct store_options options = file_options();
    for (int i = 0; i < 2; i++) {
        options.read_only = i == 1;
        CHECK_ERR(try_open(&options), BW_ERR_ILLEGAL_STATE);
        CHECK(reason_has("another process holds the lock of its file"));
        CHECK(reason_has("db/data.mdb"));
    }
    CHECK_ERR(bw_store_remove(bw_disk_posix(), directory), BW_ERR_ILLEGAL_STATE);
    CHECK(reason_has("lock"));
    let_go(other);
    options.read_only = false;
    CHECK_OK(try_open(&options));
    end_files();
    sample_expect_nothing_left();
}

static void processes_that_read_exclude_those_that_write(void)
{
    begin_files();
    make_file_store();
    const struct other_process other = open_elsewhere(true);
    struct store_options options = file_options();
    CHECK_ERR(try_open(&options), BW_ERR_ILLEGAL_STATE);
    CHECK_ERR(bw_store_remove(bw_disk_posix(), directory), BW_ERR_ILLEGAL_STATE);
    options.read_only = true;
    struct store *store = open_with(&options);
    struct txn *txn = sample_begin(store, TXN_READ);
    sample_expect(txn, 1, 1, 3, 100, 1);
    bw_txn_abort(txn);
    bw_store_close(store);
    let_go(other);
    end_files();
}

static void two_creators_get_one_store(void)
{
    begin_files();
    const struct other_process other = open_elsewhere(false); // an empty file so far
    const struct store_options options = file_options();
    CHECK_ERR(try_open(&options), BW_ERR_ILLEGAL_STATE);
    let_go(other);
    CHECK_OK(try_open(&options));
    end_files();
}

/* Another process takes the file away between opening and locking it, so often. */
static unsigned thefts;

static void steal_file(enum relay_call call)
{
    bool found = false;
    if (call != CALL_LOCK || !thefts) return;
    thefts--;
    CHECK_OK(sim.disk.remove(&sim.disk, SAMPLE_FILE, &found));
    CHECK(found);
}

static void the_file_that_is_locked_has_the_name(void)
{
    begin();
    relay.hook = steal_file;
    thefts = 3;
    struct store *store = sample_open(&relay.disk);
    CHECK_EQ(thefts, 0);
    sample_commit(store, 1, 1, 10, 100, 1);
    CHECK_EQ(size_of_file(), 3 * PAGE); // O2
    bw_store_close(store);
    CHECK_OK(bw_store_remove(&sim.disk, SAMPLE_DIRECTORY));
    const struct store_options options = sample_options(&relay.disk);
    thefts = 1000;
    CHECK_ERR(try_open(&options), BW_ERR_ILLEGAL_STATE); // not for ever
    CHECK(reason_has("another process holds the lock"));
    end();
    sample_expect_nothing_left();
}

/* What a child of the process that has the store open sees. 0: as it should be. */
static int look_from_child(struct store *store, struct txn *reader)
{
    struct txn *txn = NULL;
    struct bytes value;
    bool found = false;
    if (!bw_store_is_poisoned(store)) return 1;
    if (bw_txn_begin(store, TXN_READ, 0, &txn) != BW_ERR_ILLEGAL_STATE) return 2;
    if (!reason_has("forked")) return 3;
    if (bw_txn_begin(store, TXN_WRITE, 0, &txn) != BW_ERR_ILLEGAL_STATE) return 4;
    if (bw_tree_get(reader, 1, 2, &value, &found) || !found) return 5; // what is mapped stays
    bw_txn_abort(reader);
    bw_store_close(store);
    struct store_options options = file_options();
    if (try_open(&options) != BW_ERR_ILLEGAL_STATE) return 6; // the parent's lock holds
    if (!reason_has("another process holds the lock")) return 7;
    char other[320];
    (void)snprintf(other, sizeof(other), "%s-of-the-child", directory);
    options.directory = other;
    return try_open(&options) ? 8 : 0;
}

static void a_forked_child_is_refused(void)
{
    begin_files();
    make_file_store();
    const struct store_options options = file_options();
    struct store *store = open_with(&options);
    struct txn *reader = sample_begin(store, TXN_READ);
    sample_expect(reader, 1, 1, 3, 100, 1);
    (void)fflush(NULL);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) _exit(look_from_child(store, reader));
    int status = 0;
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status));
    CHECK_EQ(WEXITSTATUS(status), 0);
    bw_txn_abort(reader);
    sample_commit(store, 1, 4, 1, 100, 1); // the parent goes on
    bw_store_close(store);
    end_files();
}

static void a_write_transaction_cannot_be_committed_by_a_child(void)
{
    begin_files();
    make_file_store();
    const struct store_options options = file_options();
    struct store *store = open_with(&options);
    struct txn *txn = sample_begin(store, TXN_WRITE);
    CHECK_OK(sample_put(txn, 1, 4, 1, 100, 1));
    (void)fflush(NULL);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        bw_err err = bw_txn_commit(txn);
        bw_store_close(store);
        _exit(err == BW_ERR_ILLEGAL_STATE ? 0 : 1);
    }
    int status = 0;
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK_OK(bw_txn_commit(txn));
    sample_prove_store(store);
    bw_store_close(store);
    end_files();
}

/* ---- what is there, and what is not ---- */

static void reading_needs_a_store(void)
{
    begin();
    struct store_options options = sample_options(&sim.disk);
    options.read_only = true;
    CHECK_ERR(try_open(&options), BW_ERR_STORAGE_GENERAL);
    CHECK_EQ(bw_reason_secondary(), 2);
    CHECK(reason_has("Database not found"));
    CHECK_EQ(sim.names.count, 0); // no directory was made
    options.read_only = false;
    CHECK_OK(try_open(&options));
    CHECK_EQ(size_of_file(), 0);
    options.read_only = true; // an empty file is no store yet
    CHECK_ERR(try_open(&options), BW_ERR_STORAGE_GENERAL);
    CHECK_EQ(bw_reason_secondary(), 2);
    end();
    sample_expect_nothing_left();
}

static void a_store_that_must_exist_is_not_made(void)
{
    begin();
    struct store_options options = sample_options(&sim.disk);
    options.must_exist = true;
    CHECK_ERR(try_open(&options), BW_ERR_ILLEGAL_STATE);
    CHECK_TEXT(bw_reason_text(), "No DB catalog present");
    CHECK_EQ(sim.names.count, 0);
    options.must_exist = false;
    CHECK_OK(try_open(&options));
    options.must_exist = true;
    CHECK_ERR(try_open(&options), BW_ERR_ILLEGAL_STATE);
    CHECK_TEXT(bw_reason_text(), "No DB catalog present");
    make_store(10, 1);
    CHECK_OK(try_open(&options));
    end();
}

static void a_store_without_a_commit_is_new_again(void)
{
    begin();
    for (int i = 0; i < 2; i++) {
        struct store_info info;
        struct store *store = sample_open(&sim.disk);
        bw_store_info(store, &info);
        CHECK(!info.has_commit);
        CHECK_EQ(info.txn_id, 0);
        CHECK_EQ(info.file_size, 2 * PAGE);
        CHECK_EQ(bw_store_file_size(&sim.disk, SAMPLE_DIRECTORY), 2 * PAGE);
        struct txn *txn = sample_begin(store, TXN_READ);
        CHECK_EQ(bw_txn_id(txn), 0);
        bw_txn_abort(txn);
        bw_store_close(store);
        CHECK_EQ(size_of_file(), 0);
        CHECK_EQ(bw_store_file_size(&sim.disk, SAMPLE_DIRECTORY), 0);
    }
    end();
}

static void info_tells_of_the_newest_commit(void)
{
    begin();
    struct store_info info;
    struct store *store = sample_open(&sim.disk);
    sample_commit(store, 1, 1, 1000, 352, 1);
    bw_store_info(store, &info);
    CHECK(info.has_commit);
    CHECK(!info.opened_previous);
    CHECK(!info.opened_older);
    CHECK_EQ(info.txn_id, 1);
    CHECK_EQ(info.file_size, 364 * KB);
    CHECK_EQ(info.used_pages, 91);
    CHECK_EQ(info.device, sim.device);
    CHECK_TEXT(bw_store_directory(store), SAMPLE_DIRECTORY);
    bw_store_close(store);
    store = sample_open(&sim.disk);
    struct txn *txn = sample_begin(store, TXN_WRITE);
    CHECK_OK(bw_tree_clear(txn, 1));
    CHECK_OK(bw_txn_commit(txn));
    sample_commit(store, 2, 1, 1, 10, 1); // behind what only the commit before has
    for (int i = 0; i < 2; i++) {
        bw_store_info(store, &info);
        CHECK_EQ(info.txn_id, 3);
        CHECK_EQ(info.used_pages, 3);
        CHECK(info.file_size > 90 * PAGE);
        sample_prove_store(store);
        bw_store_close(store);
        store = sample_open(&sim.disk);
    }
    bw_store_close(store);
    end();
}

static void an_open_store_is_found_by_its_directory(void)
{
    begin();
    CHECK(bw_store_find(&sim.disk, SAMPLE_DIRECTORY) == NULL);
    struct store *store = sample_open(&sim.disk);
    CHECK(bw_store_find(&sim.disk, SAMPLE_DIRECTORY) == store);
    CHECK(bw_store_find(&sim.disk, "elsewhere") == NULL);
    CHECK(bw_store_find(bw_disk_memory(), SAMPLE_DIRECTORY) == NULL);
    bw_store_close(store);
    CHECK(bw_store_find(&sim.disk, SAMPLE_DIRECTORY) == NULL);
    end();
}

static void removing_deletes_the_file_and_no_more(void)
{
    begin();
    CHECK_OK(bw_store_remove(&sim.disk, SAMPLE_DIRECTORY)); // there is none
    struct store *store = sample_open(&sim.disk);
    CHECK_ERR(bw_store_remove(&sim.disk, SAMPLE_DIRECTORY), BW_ERR_ILLEGAL_STATE);
    CHECK(reason_has("still open"));
    sample_commit(store, 1, 1, 1, 10, 1);
    bw_store_close(store);
    CHECK_OK(bw_store_remove(&sim.disk, SAMPLE_DIRECTORY));
    CHECK(sim_disk_find(&sim, SAMPLE_FILE) == NULL);
    CHECK_EQ(sim.names.count, 1); // the directory
    store = sample_open(&sim.disk);
    struct store_info info;
    bw_store_info(store, &info);
    CHECK(!info.has_commit);
    bw_store_close(store);
    end();
    sample_expect_nothing_left();
}

/* Who opened it before, and gets its lock now, must see that there is nothing any more. */
static void what_is_removed_is_empty_for_who_has_it_open(void)
{
    struct file file;
    struct file_info info;
    bool found = false;
    begin();
    struct store *store = sample_open(&sim.disk);
    sample_commit(store, 1, 1, 1, 10, 1);
    bw_store_close(store);
    CHECK_OK(sim.disk.open(&sim.disk, SAMPLE_FILE, OPEN_WRITE, 0, &file, &found));
    CHECK_OK(bw_store_remove(&sim.disk, SAMPLE_DIRECTORY));
    CHECK_OK(sim.disk.info(file, &info));
    CHECK_EQ(info.size, 0); // O2
    sim.disk.close(file);
    end();
}

static void a_store_in_memory_lives_until_it_is_removed(void)
{
    struct store_options options = sample_options(bw_disk_memory());
    options.durability = DURABLE_NONE;
    for (unsigned i = 1; i <= 3; i++) {
        struct store *store = open_with(&options);
        if (i > 1) {
            struct txn *txn = sample_begin(store, TXN_READ);
            sample_expect(txn, 1, 1, 500, 352, i - 1);
            bw_txn_abort(txn);
        }
        sample_commit(store, 1, 1, 500, 352, i);
        sample_prove_store(store);
        bw_store_close(store);
    }
    CHECK_OK(bw_store_remove(bw_disk_memory(), SAMPLE_DIRECTORY));
    CHECK_EQ(bw_store_file_size(bw_disk_memory(), SAMPLE_DIRECTORY), 0);
    options.must_exist = true;
    CHECK_ERR(try_open(&options), BW_ERR_ILLEGAL_STATE);
}

static void a_limit_too_small_for_any_store_is_refused(void)
{
    begin();
    struct store_options options = sample_options(&sim.disk);
    options.size_max = 3 * PAGE - 1;
    CHECK_ERR(try_open(&options), BW_ERR_DB_FULL);
    CHECK_EQ(sim.names.count, 0);
    options.size_max = 3 * PAGE;
    CHECK_OK(try_open(&options));
    end();
}

static void a_file_in_the_place_of_the_directory_is_an_error(void)
{
    begin_files();
    FILE *file = fopen(directory, "w");
    CHECK(file != NULL);
    CHECK_EQ(fclose(file), 0);
    const struct store_options options = file_options();
    CHECK(try_open(&options) != BW_OK);
    CHECK(reason_has("db"));
    end_files();
    sample_expect_nothing_left();
}

static void a_directory_without_its_parent_is_an_error(void)
{
    begin();
    struct store_options options = sample_options(&sim.disk);
    options.directory = "no/db";
    CHECK_ERR(try_open(&options), BW_ERR_STORAGE_GENERAL);
    CHECK_EQ(sim.names.count, 0);
    end();
    sample_expect_nothing_left();
}

static void a_store_of_real_files_is_found_again(void)
{
    begin_files();
    struct store_options options = file_options();
    struct store *store = open_with(&options);
    sample_commit(store, 1, 1, 1000, 352, 1);
    CHECK_EQ(bw_store_file_size(bw_disk_posix(), directory), 364 * KB);
    for (unsigned i = 0; i < 20; i++) sample_commit(store, 2, i + 1, 1, 5000, i);
    const uint64_t digest = sample_digest_of(store);
    bw_store_close(store);
    for (int i = 0; i < 2; i++) {
        options.read_only = i == 0;
        store = open_with(&options);
        CHECK_EQ(sample_digest_of(store), digest);
        sample_prove_store(store);
        bw_store_close(store);
    }
    CHECK_OK(bw_store_remove(bw_disk_posix(), directory));
    CHECK_EQ(bw_store_file_size(bw_disk_posix(), directory), 0);
    end_files();
}

static void files_get_the_permissions_that_were_asked_for(void)
{
    begin_files();
    struct stat file, folder;
    char path[320];
    struct store_options options = file_options();
    options.file_mode = 0600;
    CHECK_OK(try_open(&options));
    (void)snprintf(path, sizeof(path), "%s/data.mdb", directory);
    CHECK_EQ(stat(path, &file), 0);
    CHECK_EQ(stat(directory, &folder), 0);
    CHECK_EQ(file.st_mode & 0777, 0600);
    CHECK_EQ(folder.st_mode & 0777, 0700); // one who may read may also look into it
    end_files();
}

/* ---- the commit before ---- */

static void make_two_commits(void)
{
    struct store *store = sample_open(&sim.disk);
    sample_commit(store, 1, 1, 500, 352, 1);
    sample_commit(store, 1, 1, 500, 352, 2);
    bw_store_close(store);
}

static void the_previous_commit_can_be_read(void)
{
    begin();
    make_two_commits();
    for (int i = 0; i < 4; i++) {
        struct store_info info;
        struct store_options options = sample_options(&relay.disk);
        options.use_previous = i % 2 == 0;
        options.read_only = i < 2;
        struct store *store = open_with(&options);
        struct txn *txn = sample_begin(store, TXN_READ);
        sample_expect(txn, 1, 1, 500, 352, options.use_previous ? 1 : 2);
        sample_prove(txn);
        bw_txn_abort(txn);
        bw_store_info(store, &info);
        CHECK_EQ(info.opened_previous, options.use_previous);
        CHECK_EQ(info.txn_id, options.use_previous ? 1 : 2);
        bw_store_close(store);
    }
    CHECK_EQ(relay.counts[CALL_WRITE], 0);
    end();
}

static void writing_on_the_previous_commit_gives_the_newest_up(void)
{
    begin();
    make_two_commits();
    struct store_options options = sample_options(&sim.disk);
    options.use_previous = true;
    struct store *store = open_with(&options);
    sample_commit(store, 1, 501, 1, 352, 3);
    sample_prove_store(store);
    bw_store_close(store);
    for (int i = 0; i < 2; i++) { // and it does not come back
        options.use_previous = i == 1;
        store = open_with(&options);
        struct txn *txn = sample_begin(store, TXN_READ);
        sample_expect(txn, 1, 1, 500, 352, 1);
        bw_txn_abort(txn);
        sample_prove_store(store);
        bw_store_close(store);
    }
    end();
}

static void without_an_older_commit_the_only_one_is_opened(void)
{
    begin();
    make_store(100, 10);
    struct store_info info;
    struct store_options options = sample_options(&sim.disk);
    options.use_previous = true;
    struct store *store = open_with(&options);
    bw_store_info(store, &info);
    CHECK(!info.opened_previous);
    CHECK_EQ(info.txn_id, 1);
    bw_store_close(store);
    end();
}

static void closing_nothing_is_allowed(void) { bw_store_close(NULL); }

RUN_TESTS(
    TEST(a_new_store_costs_one_flush_of_data_and_its_names),
    TEST(in_a_directory_that_was_there_one_name_is_flushed),
    TEST(asking_an_unchanged_store_costs_five_calls), TEST(reading_an_unchanged_store_maps_it_once),
    TEST(a_file_is_as_large_as_what_it_holds), TEST(an_open_store_holds_few_bytes),
    TEST(a_second_open_in_the_process_is_refused), TEST(a_file_is_known_by_all_its_names),
    TEST(another_process_that_writes_excludes_everybody),
    TEST(processes_that_read_exclude_those_that_write), TEST(two_creators_get_one_store),
    TEST(the_file_that_is_locked_has_the_name), TEST(a_forked_child_is_refused),
    TEST(a_write_transaction_cannot_be_committed_by_a_child), TEST(reading_needs_a_store),
    TEST(a_store_that_must_exist_is_not_made), TEST(a_store_without_a_commit_is_new_again),
    TEST(info_tells_of_the_newest_commit), TEST(an_open_store_is_found_by_its_directory),
    TEST(removing_deletes_the_file_and_no_more), TEST(what_is_removed_is_empty_for_who_has_it_open),
    TEST(a_store_in_memory_lives_until_it_is_removed),
    TEST(a_limit_too_small_for_any_store_is_refused),
    TEST(a_file_in_the_place_of_the_directory_is_an_error),
    TEST(a_directory_without_its_parent_is_an_error), TEST(a_store_of_real_files_is_found_again),
    TEST(files_get_the_permissions_that_were_asked_for), TEST(the_previous_commit_can_be_read),
    TEST(writing_on_the_previous_commit_gives_the_newest_up),
    TEST(without_an_older_commit_the_only_one_is_opened), TEST(closing_nothing_is_allowed))
