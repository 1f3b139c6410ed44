/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/check.h"
#include "harness/copies.h"
#include "harness/sample.h"
#include "harness/sim_disk.h"
#include "store/engine.h"

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

static void expect_no_copy(void)
{
    CHECK(!copies_has(&sim.disk, COPIES_FILE));
    CHECK(!copies_has(&sim.disk, COPIES_FILE ".part"));
}

static void a_copy_holds_what_the_store_holds(void)
{
    for (int i = 0; i < COPIES_KINDS; i++) {
        begin(i);
        CHECK_OK(copies_copy(store, &sim.disk, NULL));
        CHECK(!copies_has(&sim.disk, COPIES_FILE ".part"));
        copies_expect(&sim.disk, COPIES_DIRECTORY, kind, digest);
        CHECK_EQ(sample_digest_of(store), digest);
        end();
    }
}

static void a_copy_has_no_page_too_many(void)
{
    for (int i = 0; i < COPIES_KINDS; i++) {
        struct check_report report;
        struct store_info info, source_info;
        begin(i);
        bw_store_info(store, &source_info);
        CHECK_OK(copies_copy(store, &sim.disk, NULL));
        struct store *copy = copies_open(&sim.disk, COPIES_DIRECTORY, kind);
        bw_store_info(copy, &info);
        struct txn *txn = sample_begin(copy, TXN_READ);
        CHECK_OK(bw_store_check(txn, NULL, &report));
        bw_txn_abort(txn);
        const uint64_t pages = info.file_size / PAGE_SIZE;
        if (kind->geometry) CHECK(report.pages + 3 >= pages); // the last region begins with four
        else CHECK_EQ(report.pages, pages);
        CHECK(info.file_size <= source_info.file_size);
        CHECK_EQ(sim_disk_find(&sim, COPIES_FILE)->size, info.file_size);
        if (i == 2) CHECK(info.file_size < source_info.file_size);
        bw_store_close(copy);
        end();
    }
}

static void a_copy_has_an_identity_of_its_own(void)
{
    begin(1);
    CHECK_OK(copies_copy(store, &sim.disk, NULL));
    struct store *copy = copies_open(&sim.disk, COPIES_DIRECTORY, kind);
    CHECK(memcmp(copy->uuid, store->uuid, sizeof(copy->uuid)) != 0);
    CHECK(copy->chosen_sealed);
    CHECK_EQ(copy->cur->txn_id, store->cur->txn_id);
    bw_store_close(copy);
    end();
}

static void the_copy_of_a_first_commit_is_not_one(void)
{
    begin(COPIES_SMALL);
    CHECK_EQ(store->cur->txn_id, 1);
    CHECK_OK(copies_copy(store, &sim.disk, NULL));
    struct store *copy = copies_open(&sim.disk, COPIES_DIRECTORY, kind);
    CHECK_EQ(copy->cur->txn_id, 2);
    bw_store_close(copy);
    end();
}

/* A copy that lost its slot is damaged, and not taken for what an unfinished creation left. */
static void a_copy_without_its_slot_is_damaged(void)
{
    static const uint8_t zeros[PAGE_SIZE];
    begin(COPIES_SMALL);
    CHECK_OK(copies_copy(store, &sim.disk, NULL));
    sim_disk_poke(&sim, COPIES_FILE, 0, zeros, sizeof(zeros));
    struct store_options options = sample_options(&sim.disk);
    struct store *copy = NULL;
    options.directory = COPIES_DIRECTORY;
    CHECK_ERR(bw_store_open(&options, &copy), BW_ERR_FILE_CORRUPT);
    end();
}

static void a_directory_with_a_store_is_refused(void)
{
    begin(COPIES_SMALL);
    CHECK_OK(copies_copy(store, &sim.disk, NULL));
    sample_commit(store, 1, 9, 1, 100, 1);
    CHECK_ERR(copies_copy(store, &sim.disk, NULL), BW_ERR_ILLEGAL_STATE);
    CHECK_TEXT(bw_reason_text(), "There is a database already: \"copy/data.mdb\"");
    struct store *copy = copies_open(&sim.disk, COPIES_DIRECTORY, kind);
    CHECK_ERR(copies_copy(store, &sim.disk, NULL), BW_ERR_ILLEGAL_STATE);
    CHECK_TEXT(bw_reason_text(),
               "Cannot make a store here: the one in this directory is still open: \"copy\"");
    bw_store_close(copy);
    copies_expect(&sim.disk, COPIES_DIRECTORY, kind, digest);
    end();
}

static void there_must_be_something_to_copy(void)
{
    sim_disk_init(&sim, 1);
    kind = &copies_kinds[COPIES_SMALL];
    store = copies_open(&sim.disk, SAMPLE_DIRECTORY, kind);
    CHECK_ERR(copies_copy(store, &sim.disk, NULL), BW_ERR_ILLEGAL_STATE);
    struct txn *txn = sample_begin(store, TXN_WRITE);
    const struct copy_options options = {.disk = &sim.disk, .directory = COPIES_DIRECTORY};
    CHECK_ERR(bw_store_copy(txn, &options), BW_ERR_ILLEGAL_STATE);
    bw_txn_abort(txn);
    expect_no_copy();
    end();
}

/* ---- progress ---- */

struct listener {
    uint64_t calls, last, total;
    uint64_t stop_at; /* call, from 1; 0: never */
    bool commits;
};

static bool listen(void *user, uint64_t done, uint64_t total)
{
    struct listener *listener = user;
    CHECK(done >= listener->last || !listener->calls);
    CHECK(done <= total);
    listener->last = done;
    listener->total = total;
    listener->calls++;
    if (listener->commits) {
        sample_commit(store, 1, 1, 60, 200, 2 + (unsigned)listener->calls);
        sample_commit(store, 2, 1, 3, 9000, 2 + (unsigned)listener->calls);
    }
    return listener->calls != listener->stop_at;
}

static void progress_ends_with_everything_done(void)
{
    for (int i = 0; i < COPIES_KINDS; i++) {
        struct listener listener = {0};
        const struct progress progress = {listen, &listener};
        begin(i);
        CHECK_OK(copies_copy(store, &sim.disk, &progress));
        CHECK(listener.calls >= 2);
        CHECK_EQ(listener.last, listener.total);
        end();
    }
}

static void a_listener_that_has_enough_ends_it(void)
{
    for (uint64_t stop_at = 1;; stop_at++) {
        struct listener listener = {.stop_at = stop_at};
        const struct progress progress = {listen, &listener};
        begin(1);
        bw_err err = copies_copy(store, &sim.disk, &progress);
        if (!err) CHECK(listener.calls < stop_at);
        else {
            CHECK_ERR(err, BW_ERR_CANCELLED);
            expect_no_copy();
        }
        end();
        if (!err) return;
    }
}

static void commits_go_on_meanwhile(void)
{
    for (int i = 0; i < COPIES_KINDS; i++) {
        struct listener listener = {.commits = true};
        const struct progress progress = {listen, &listener};
        begin(i);
        CHECK_OK(copies_copy(store, &sim.disk, &progress));
        copies_expect(&sim.disk, COPIES_DIRECTORY, kind, digest);
        CHECK(sample_digest_of(store) != digest);
        sample_prove_store(store);
        end();
    }
}

/* ---- damage ---- */

/* Also of pages that were verified before: a fresh checksum would make the damage last. */
static void a_damaged_page_is_not_copied(void)
{
    static const int numbers[] = {1, 3, 4, 5};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        unsigned refused = 0;
        begin(numbers[i]);
        const struct sim_file *file = sim_disk_find(&sim, SAMPLE_FILE);
        for (uint64_t at = 2 * PAGE_SIZE + 1500; at < file->size; at += PAGE_SIZE) {
            const uint8_t good = file->cache[at], bad = good ^ 4;
            sim_disk_poke(&sim, SAMPLE_FILE, at, &bad, 1);
            bw_err err = copies_copy(store, &sim.disk, NULL);
            if (err) {
                CHECK_ERR(err, BW_ERR_FILE_PAGES_CORRUPT);
                expect_no_copy();
                refused++;
            } else { // the page is free
                copies_expect(&sim.disk, COPIES_DIRECTORY, kind, digest);
                CHECK_OK(bw_store_remove(&sim.disk, COPIES_DIRECTORY));
            }
            sim_disk_poke(&sim, SAMPLE_FILE, at, &good, 1);
        }
        CHECK(refused >= 4);
        end();
    }
}

static void a_copy_goes_from_one_disk_to_another(void)
{
    begin(1);
    CHECK_OK(copies_copy(store, bw_disk_memory(), NULL));
    copies_expect(bw_disk_memory(), COPIES_DIRECTORY, kind, digest);
    struct store *memory = copies_open(bw_disk_memory(), COPIES_DIRECTORY, kind);
    CHECK_OK(copies_copy(memory, &sim.disk, NULL));
    bw_store_close(memory);
    copies_expect(&sim.disk, COPIES_DIRECTORY, kind, digest);
    CHECK_OK(bw_store_remove(bw_disk_memory(), COPIES_DIRECTORY));
    end();
}

RUN_TESTS(TEST(a_copy_holds_what_the_store_holds), TEST(a_copy_has_no_page_too_many),
          TEST(a_copy_has_an_identity_of_its_own), TEST(the_copy_of_a_first_commit_is_not_one),
          TEST(a_copy_without_its_slot_is_damaged), TEST(a_directory_with_a_store_is_refused),
          TEST(there_must_be_something_to_copy), TEST(progress_ends_with_everything_done),
          TEST(a_listener_that_has_enough_ends_it), TEST(commits_go_on_meanwhile),
          TEST(a_damaged_page_is_not_copied), TEST(a_copy_goes_from_one_disk_to_another))
