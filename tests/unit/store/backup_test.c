/* SPDX-License-Identifier: Apache-2.0 */
#include "store/backup.h"

#include "harness/check.h"
#include "harness/copies.h"
#include "harness/sample.h"
#include "harness/sim_disk.h"

static struct sim_disk sim;
static struct store *store;
static const struct copies_kind *kind;
static uint64_t digest;

static void begin(int number)
{
    sim_disk_init(&sim, 1);
    kind = &copies_kinds[number];
    store = copies_make(&sim.disk, SAMPLE_DIRECTORY, kind);
    digest = sample_digest_of(store);
}

static void end(void)
{
    bw_store_close(store);
    sim_disk_deinit(&sim);
    sample_expect_nothing_left();
}

static void expect_no_backup(void)
{
    CHECK(!copies_has(&sim.disk, COPIES_BACKUP));
    CHECK(!copies_has(&sim.disk, COPIES_BACKUP ".part"));
}

static const struct sim_file *backup_file(void) { return sim_disk_find(&sim, COPIES_BACKUP); }

static void a_backup_gives_back_what_the_store_held(void)
{
    for (int i = 0; i < COPIES_KINDS; i++) {
        begin(i);
        CHECK_OK(copies_back_up(store, &sim.disk, 0, NULL));
        CHECK(!copies_has(&sim.disk, COPIES_BACKUP ".part"));
        CHECK_OK(copies_restore(&sim.disk, false, NULL));
        copies_expect(&sim.disk, COPIES_DIRECTORY, kind, digest);
        end();
    }
}

static void a_backup_is_written_from_front_to_back(void)
{
    for (int i = 0; i < COPIES_KINDS; i++) {
        begin(i);
        sim.counts = (struct sim_counts){0};
        CHECK_OK(copies_back_up(store, &sim.disk, 0, NULL));
        CHECK_EQ(sim.counts.written_bytes, backup_file()->size); // nothing twice
        CHECK_EQ(sim.counts.flushes, 1);
        CHECK_EQ(sim.counts.directory_flushes, 1);
        CHECK_EQ(sim.counts.renames, 1);
        end();
    }
}

static void the_head_tells_what_it_is_a_backup_of(void)
{
    begin(1);
    CHECK_OK(copies_back_up(store, &sim.disk, 0, NULL));
    const uint8_t *bytes = backup_file()->cache;
    const uint8_t *head = bytes + sizeof(bw_backup_magic) + BLOCK_HEADER_SIZE;
    CHECK_BYTES(bytes, bw_backup_magic, sizeof(bw_backup_magic));
    CHECK_EQ(bw_get_u16(head + HEAD_AT_VERSION), BACKUP_VERSION);
    CHECK_BYTES(head + HEAD_AT_UUID, store->uuid, 16);
    CHECK_EQ(bw_get_u64(head + HEAD_AT_TXN), store->cur->txn_id);
    CHECK_BYTES(head + HEAD_AT_SCHEMA, store->cur->schema_hash, 16);
    CHECK(bw_get_u64(head + HEAD_AT_SALT) != 0);
    CHECK(bw_get_u64(head + HEAD_AT_TIME) > (uint64_t)1000 * 1000 * 1000);
    end();
}

static void equal_commits_have_equal_backups_on_request(void)
{
    static uint8_t first[1 << 20];
    enum { BOTH = BACKUP_EXCLUDE_TIMESTAMP | BACKUP_EXCLUDE_SALT };
    begin(1);
    CHECK_OK(copies_back_up(store, &sim.disk, BOTH, NULL));
    const uint64_t size = backup_file()->size;
    CHECK(size < sizeof(first));
    memcpy(first, backup_file()->cache, size);
    CHECK_OK(copies_back_up(store, &sim.disk, BOTH, NULL));
    CHECK_EQ(backup_file()->size, size);
    CHECK_BYTES(backup_file()->cache, first, size);
    for (uint32_t flags = 0; flags < BOTH; flags++) {
        CHECK_OK(copies_back_up(store, &sim.disk, flags, NULL));
        CHECK(memcmp(backup_file()->cache, first, size) != 0);
    }
    end();
}

static void an_older_backup_is_replaced(void)
{
    begin(COPIES_SMALL);
    CHECK_OK(copies_back_up(store, &sim.disk, 0, NULL));
    sample_commit(store, 1, 7, 2, 100, 1);
    digest = sample_digest_of(store);
    CHECK_OK(copies_back_up(store, &sim.disk, 0, NULL));
    CHECK_OK(copies_restore(&sim.disk, false, NULL));
    copies_expect(&sim.disk, COPIES_DIRECTORY, kind, digest);
    end();
}

static void write_file(const char *path, const void *data, size_t size)
{
    struct file file;
    bool found = false;
    CHECK_OK(sim.disk.open(&sim.disk, path, OPEN_CREATE, 0644, &file, &found));
    CHECK(found);
    const struct span span = {data, size};
    CHECK_OK(sim.disk.write(file, 0, &span, 1));
    sim.disk.close(file);
}

static void another_file_is_not_replaced(void)
{
    static const char *const contents[] = {"Boxwood\x1a, a store", "abc", "my notes of ten years"};
    for (int i = 0; i < 3; i++) {
        begin(COPIES_SMALL);
        write_file(COPIES_BACKUP, contents[i], strlen(contents[i]));
        CHECK_ERR(copies_back_up(store, &sim.disk, 0, NULL), BW_ERR_ILLEGAL_STATE);
        CHECK_TEXT(bw_reason_text(), "This file exists and is no backup: " COPIES_BACKUP);
        CHECK_BYTES(backup_file()->cache, contents[i], strlen(contents[i]));
        end();
    }
    begin(COPIES_SMALL);
    write_file(COPIES_BACKUP, "", 0);
    CHECK_OK(copies_back_up(store, &sim.disk, 0, NULL));
    end();
}

static void what_another_attempt_left_is_overwritten(void)
{
    static const uint8_t remains[100000] = {1, 2, 3};
    begin(COPIES_SMALL);
    write_file(COPIES_BACKUP ".part", remains, sizeof(remains));
    CHECK_OK(copies_back_up(store, &sim.disk, 0, NULL));
    CHECK_OK(copies_restore(&sim.disk, false, NULL));
    copies_expect(&sim.disk, COPIES_DIRECTORY, kind, digest);
    end();
}

static void there_must_be_something_to_back_up(void)
{
    sim_disk_init(&sim, 1);
    kind = &copies_kinds[COPIES_SMALL];
    store = copies_open(&sim.disk, SAMPLE_DIRECTORY, kind);
    CHECK_ERR(copies_back_up(store, &sim.disk, 0, NULL), BW_ERR_ILLEGAL_STATE);
    expect_no_backup();
    end();
}

static bool stop(void *user, uint64_t done, uint64_t total)
{
    uint64_t *calls_left = user;
    CHECK(done <= total);
    return (*calls_left)-- > 1;
}

static void a_listener_that_has_enough_ends_it(void)
{
    for (uint64_t calls = 1;; calls++) {
        uint64_t calls_left = calls;
        const struct progress progress = {stop, &calls_left};
        begin(1);
        bw_err err = copies_back_up(store, &sim.disk, 0, &progress);
        if (err) {
            CHECK_ERR(err, BW_ERR_CANCELLED);
            expect_no_backup();
        }
        end();
        if (!err) return;
    }
}

/* A page that one place writes while the backup is under way is another page: what is backed up is
 * one commit. */
static bool commit_more(void *user, uint64_t done, uint64_t total)
{
    unsigned *version = user;
    (void)done;
    (void)total;
    sample_commit(store, 1, 1, 60, 200, ++*version);
    return true;
}

static void commits_go_on_meanwhile(void)
{
    for (int i = 0; i < COPIES_KINDS; i++) {
        unsigned version = 10;
        const struct progress progress = {commit_more, &version};
        begin(i);
        CHECK_OK(copies_back_up(store, &sim.disk, 0, &progress));
        CHECK_OK(copies_restore(&sim.disk, false, NULL));
        copies_expect(&sim.disk, COPIES_DIRECTORY, kind, digest);
        end();
    }
}

static void a_damaged_page_makes_no_backup(void)
{
    begin(1);
    const struct sim_file *file = sim_disk_find(&sim, SAMPLE_FILE);
    unsigned refused = 0;
    for (uint64_t at = 2 * PAGE_SIZE + 2000; at < file->size; at += PAGE_SIZE) {
        const uint8_t good = file->cache[at], bad = good ^ 1;
        sim_disk_poke(&sim, SAMPLE_FILE, at, &bad, 1);
        bw_err err = copies_back_up(store, &sim.disk, 0, NULL);
        if (err) {
            CHECK_ERR(err, BW_ERR_FILE_PAGES_CORRUPT);
            expect_no_backup();
            refused++;
        }
        sim_disk_poke(&sim, SAMPLE_FILE, at, &good, 1);
        if (!err) CHECK_OK(sim.disk.remove(&sim.disk, COPIES_BACKUP, &(bool){false}));
    }
    CHECK(refused >= 5);
    end();
}

/* ---- who has it open ---- */

static void two_at_once_cannot_write_one_file(void)
{
    struct file file;
    bool found = false, got = false;
    begin(COPIES_SMALL);
    CHECK_OK(sim.disk.open(&sim.disk, COPIES_BACKUP ".part", OPEN_CREATE, 0644, &file, &found));
    CHECK_OK(sim.disk.lock(file, LOCK_EXCLUSIVE, &got));
    CHECK_ERR(copies_back_up(store, &sim.disk, 0, NULL), BW_ERR_ILLEGAL_STATE);
    sim.disk.close(file);
    CHECK_OK(copies_back_up(store, &sim.disk, 0, NULL));
    end();
}

static void a_directory_that_is_missing_is_named(void)
{
    begin(COPIES_SMALL);
    struct txn *txn = sample_begin(store, TXN_READ);
    const struct backup_options options = {.disk = &sim.disk, .file = "nowhere/x.bak"};
    CHECK_ERR(bw_store_backup(txn, &options), BW_ERR_STORAGE_GENERAL);
    CHECK_TEXT(bw_reason_text(), "There is no directory for this file: nowhere/x.bak");
    bw_txn_abort(txn);
    end();
}

RUN_TESTS(TEST(a_backup_gives_back_what_the_store_held),
          TEST(a_backup_is_written_from_front_to_back), TEST(the_head_tells_what_it_is_a_backup_of),
          TEST(equal_commits_have_equal_backups_on_request), TEST(an_older_backup_is_replaced),
          TEST(another_file_is_not_replaced), TEST(what_another_attempt_left_is_overwritten),
          TEST(there_must_be_something_to_back_up), TEST(a_listener_that_has_enough_ends_it),
          TEST(commits_go_on_meanwhile), TEST(a_damaged_page_makes_no_backup),
          TEST(two_at_once_cannot_write_one_file), TEST(a_directory_that_is_missing_is_named))
