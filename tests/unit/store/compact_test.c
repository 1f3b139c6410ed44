/* SPDX-License-Identifier: Apache-2.0 */
/* Compaction: the file gets small, the content stays, and nobody waits. */
#include "harness/check.h"
#include "harness/relay.h"
#include "harness/sample.h"
#include "harness/sim_disk.h"
#include "store/engine.h"

enum { KEYS = 12000, KEPT_EACH = 10, LONG_VALUE = 9000 };

static struct sim_disk sim;
static struct relay relay;
static struct store *store;
static const struct geometry small = {.inline_pages = 200,
                                      .region_pages = 256,
                                      .bitmap_copies = 4,
                                      .manifest_runs = 52,
                                      .manifest_pages = 256};

static void open_with(const struct geometry *geometry)
{
    struct store_options options = sample_options(&relay.disk);
    options.geometry = geometry;
    CHECK_OK(bw_store_open(&options, &store));
}

static void begin_with(const struct geometry *geometry)
{
    sim_disk_init(&sim, 1);
    relay_init(&relay, &sim.disk);
    open_with(geometry);
}

static void end(void)
{
    bw_store_close(store);
    sim_disk_deinit(&sim);
    sample_expect_nothing_left();
}

static uint64_t file_pages(void) { return sim_disk_find(&sim, SAMPLE_FILE)->size / PAGE_SIZE; }

static uint64_t used_pages(void)
{
    struct store_info info;
    bw_store_info(store, &info);
    return info.used_pages;
}

/* Two trees, one of them with long values at the end of the file; of the other 90 % are removed. */
static void thin_out(unsigned keys)
{
    sample_commit(store, 1, 1, keys, 352, 1);
    sample_commit(store, 2, 1, 20, LONG_VALUE, 2);
    struct txn *txn = sample_begin(store, TXN_WRITE);
    for (unsigned key = 1; key <= keys; key++)
        if (key % KEPT_EACH) CHECK_OK(sample_remove(txn, 1, key, 1));
    CHECK_OK(bw_txn_commit(txn));
}

static void what_is_thinned_out_gets_small(void)
{
    for (int i = 0; i < 2; i++) {
        begin_with(i ? &small : NULL);
        thin_out(KEYS);
        const uint64_t digest = sample_digest_of(store), before = file_pages();
        struct compact_report report = {0};
        CHECK_OK(bw_store_compact(store, NULL, &report));
        CHECK_EQ(sample_digest_of(store), digest);
        sample_prove_store(store);
        CHECK(file_pages() < before / 4);
        CHECK(file_pages() <= used_pages() * 11 / 10);
        CHECK_EQ(report.file_size_after, file_pages() * PAGE_SIZE);
        CHECK(report.file_size_before > report.file_size_after);
        CHECK(report.moved_pages > 0 && report.steps > 1);
        struct compact_report again = {0};
        CHECK_OK(bw_store_compact(store, NULL, &again)); // there is nothing left to gain
        CHECK_EQ(again.moved_pages, 0);
        CHECK_EQ(again.file_size_after, again.file_size_before);
        end();
    }
}

static void an_empty_store_is_compact(void)
{
    begin_with(NULL);
    struct compact_report report = {0};
    CHECK_OK(bw_store_compact(store, NULL, &report));
    CHECK_EQ(report.moved_pages, 0);
    end();
}

static void many_trees_are_moved_too(void)
{
    begin_with(NULL);
    sample_commit(store, 60, 1, 3000, 352, 1);
    for (uint32_t tree = 1; tree < 60; tree++) sample_commit(store, tree, 1, 3, 352, tree);
    struct txn *txn = sample_begin(store, TXN_WRITE);
    CHECK_OK(bw_tree_clear(txn, 60));
    CHECK_OK(bw_txn_commit(txn));
    const uint64_t digest = sample_digest_of(store);
    struct compact_report report = {0};
    CHECK_OK(bw_store_compact(store, NULL, &report));
    CHECK_EQ(sample_digest_of(store), digest);
    sample_prove_store(store);
    CHECK(file_pages() <= used_pages() * 11 / 10 + 16);
    end();
}

/* ---- beside others ---- */

static unsigned reports, cancel_after;
static uint64_t last_done, last_total;

static bool commit_meanwhile(void *user, uint64_t done, uint64_t total)
{
    (void)user;
    CHECK(done >= last_done && done <= total);
    last_done = done;
    last_total = total;
    sample_commit(store, 3, ++reports, 1, 100, 7); // nobody holds the writer's place now
    return reports != cancel_after;
}

static void readers_and_writers_go_on(void)
{
    begin_with(NULL);
    thin_out(KEYS);
    const uint64_t before = file_pages();
    struct txn *reader = sample_begin(store, TXN_READ);
    const struct progress progress = {commit_meanwhile, NULL};
    struct compact_report report = {0};
    reports = cancel_after = 0;
    last_done = 0;
    CHECK_OK(bw_store_compact(store, &progress, &report));
    CHECK(reports > 3);
    CHECK_EQ(last_done, last_total);
    for (uint64_t key = KEPT_EACH; key <= KEYS; key += KEPT_EACH)
        sample_expect(reader, 1, key, 1, 352, 1);
    sample_prove(reader);
    bw_txn_abort(reader);
    struct txn *txn = sample_begin(store, TXN_READ);
    sample_expect(txn, 3, 1, reports, 100, 7);
    sample_expect(txn, 2, 1, 20, LONG_VALUE, 2);
    bw_txn_abort(txn);
    CHECK_OK(bw_store_compact(store, NULL, &report)); // now that the reader has gone
    CHECK(file_pages() < before / 4);
    sample_prove_store(store);
    end();
}

static void it_can_be_cancelled(void)
{
    begin_with(NULL);
    thin_out(KEYS);
    const struct progress progress = {commit_meanwhile, NULL};
    struct compact_report report = {0};
    reports = 0;
    cancel_after = 2;
    last_done = 0;
    CHECK_ERR(bw_store_compact(store, &progress, &report), BW_ERR_CANCELLED);
    CHECK_EQ(reports, 2);
    sample_prove_store(store);
    CHECK_OK(bw_store_compact(store, NULL, &report));
    CHECK(file_pages() <= used_pages() * 11 / 10);
    end();
}

/* ---- trouble ---- */

static void every_call_may_fail(void)
{
    for (int64_t calls = 0;; calls += 1 + calls / 8) {
        begin_with(&small);
        thin_out(1500);
        const uint64_t digest = sample_digest_of(store);
        struct compact_report report = {0};
        relay.has_failed = false;
        relay.fail_after = calls;
        bw_err err = bw_store_compact(store, NULL, &report);
        const bool has_failed = relay.has_failed;
        relay.fail_after = -1;
        CHECK(has_failed || !err);
        CHECK_EQ(sample_digest_of(store), digest);
        bw_store_close(store);
        sim_disk_cut_power(&sim, NULL);
        sim_disk_restart(&sim);
        open_with(&small);
        CHECK_EQ(sample_digest_of(store), digest);
        sample_prove_store(store);
        end();
        if (!has_failed) break;
    }
}

static void memory_may_run_out(void)
{
    for (int64_t requests = 0;; requests += 1 + requests / 8) {
        begin_with(NULL);
        thin_out(1500);
        const uint64_t digest = sample_digest_of(store);
        struct compact_report report = {0};
        bw_memory_fail_after(requests);
        bw_err err = bw_store_compact(store, NULL, &report);
        bw_memory_fail_after(-1);
        CHECK(!err || err == BW_ERR_NO_MEMORY);
        CHECK_EQ(sample_digest_of(store), digest);
        sample_prove_store(store);
        CHECK_OK(bw_store_compact(store, NULL, &report));
        end();
        if (!err && requests > 1000) break;
    }
}

static void the_power_may_fail_anywhere(void)
{
    for (int64_t steps = 0;; steps += 1 + steps / 10) {
        begin_with(&small);
        thin_out(1500);
        const uint64_t digest = sample_digest_of(store);
        struct compact_report report = {0};
        sim.steps_left = steps;
        bw_err err = bw_store_compact(store, NULL, &report);
        const bool is_stopped = sim.is_stopped;
        CHECK(is_stopped || !err);
        bw_store_close(store);
        sim_disk_cut_power(&sim, NULL);
        sim_disk_restart(&sim);
        open_with(&small);
        CHECK_EQ(sample_digest_of(store), digest);
        sample_prove_store(store);
        end();
        if (!is_stopped) break;
    }
}

RUN_TESTS(TEST(what_is_thinned_out_gets_small), TEST(an_empty_store_is_compact),
          TEST(many_trees_are_moved_too), TEST(readers_and_writers_go_on),
          TEST(it_can_be_cancelled), TEST(every_call_may_fail), TEST(memory_may_run_out),
          TEST(the_power_may_fail_anywhere))
