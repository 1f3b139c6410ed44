/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of commits: who waits for which flush, what LAZY leaves out, and twins. */
#include <stdatomic.h>

#include "harness/check.h"
#include "harness/relay.h"
#include "harness/sample.h"
#include "harness/sim_disk.h"
#include "store/slot.h"

static struct sim_disk sim;
static struct relay relay;
static struct store *store;
static const struct geometry small = {.inline_pages = 22,
                                      .region_pages = 34,
                                      .bitmap_copies = 4,
                                      .manifest_runs = 12,
                                      .manifest_pages = 12};

static void begin_with(enum durability durability, const struct geometry *geometry)
{
    sim_disk_init(&sim, 1);
    relay_init(&relay, &sim.disk);
    struct store_options options = sample_options(&relay.disk);
    options.durability = durability;
    options.geometry = geometry;
    CHECK_OK(bw_store_open(&options, &store));
}

static void end(void)
{
    bw_store_close(store);
    sim_disk_deinit(&sim);
    sample_expect_nothing_left();
}

/* The power fails; what is there afterwards? */
static void lose_power(void)
{
    bw_store_close(store);
    sim_disk_cut_power(&sim, NULL);
    sim_disk_restart(&sim);
    struct store_options options = sample_options(&relay.disk);
    CHECK_OK(bw_store_open(&options, &store));
}

static bw_err flush(void)
{
    struct txn *txn = NULL;
    bw_err err = bw_txn_begin(store, TXN_WRITE, 0, &txn);
    if (!err) err = bw_txn_flush(txn);
    bw_txn_abort(txn);
    return err;
}

static uint64_t newest(void)
{
    struct store_info info;
    bw_store_info(store, &info);
    return info.txn_id;
}

/* ---- several writers ---- */

enum { WRITERS = 4 };
static struct thread threads[WRITERS];
static bw_err results[WRITERS];
static _Atomic unsigned started;

static void write_one(void *argument)
{
    const uint64_t number = (uint64_t)(uintptr_t)argument;
    struct txn *txn = NULL;
    bw_err err = bw_txn_begin(store, TXN_WRITE, -1, &txn);
    if (!err) err = sample_put(txn, 1, 100 * number + 1, 5, 100, 1);
    results[number] = err ? err : bw_txn_commit(txn);
}

static uint64_t staged_txn(void)
{
    bw_mutex_lock(&store->mutex);
    const struct snapshot *staged = store->writer->staged.snapshot;
    const uint64_t txn_id = staged ? staged->txn_id : 0;
    bw_mutex_unlock(&store->mutex);
    return txn_id;
}

/* While the first of them flushes, the others stage. */
static void let_others_stage(enum relay_call call)
{
    if (call != CALL_FLUSH || atomic_exchange(&started, 1)) return;
    for (uintptr_t i = 1; i < WRITERS; i++)
        CHECK_OK(bw_thread_start(&threads[i], write_one, (void *)i));
    while (staged_txn() != 1 + WRITERS) {
        struct mutex mutex = {0};
        struct condition nobody = {0};
        bw_mutex_lock(&mutex);
        (void)bw_condition_wait_for(&nobody, &mutex, 1);
        bw_mutex_unlock(&mutex);
    }
    CHECK_EQ(newest(), 1); // nobody sees what is not durable
}

static void write_in_a_group(void)
{
    sample_commit(store, 1, 1, 5, 100, 1);
    relay_reset(&relay);
    atomic_store(&started, 0);
    relay.hook = let_others_stage;
    write_one((void *)0);
    for (int i = 1; i < WRITERS; i++) bw_thread_join(&threads[i]);
    relay.hook = NULL;
}

static void one_flush_serves_all_that_are_staged(void)
{
    for (int i = 0; i < 2; i++) {
        begin_with(DURABLE_FULL, i ? &small : NULL);
        write_in_a_group();
        for (int each = 0; each < WRITERS; each++) CHECK_OK(results[each]);
        CHECK_EQ(newest(), 1 + WRITERS);
        if (!i) CHECK_EQ(relay.counts[CALL_FLUSH], 2); // one for the first, one for the others
        sample_prove_store(store);
        lose_power();
        CHECK_EQ(newest(), 1 + WRITERS);
        struct txn *txn = sample_begin(store, TXN_READ);
        for (uint64_t each = 0; each < WRITERS; each++)
            sample_expect(txn, 1, 100 * each + 1, 5, 100, 1);
        sample_prove(txn);
        bw_txn_abort(txn);
        end();
    }
}

static void a_failed_flush_fails_all_that_wait(void)
{
    begin_with(DURABLE_FULL, NULL);
    sample_commit(store, 1, 1, 5, 100, 1);
    atomic_store(&started, 0);
    sim.flush_fails = 100;
    relay.hook = let_others_stage;
    write_one((void *)0);
    for (int i = 1; i < WRITERS; i++) bw_thread_join(&threads[i]);
    relay.hook = NULL;
    for (int each = 0; each < WRITERS; each++) CHECK_EQ(results[each], BW_ERR_STORE_MUST_SHUTDOWN);
    CHECK_EQ(newest(), 1); // readers go on
    struct txn *txn = sample_begin(store, TXN_READ);
    sample_expect(txn, 1, 1, 5, 100, 1);
    bw_txn_abort(txn);
    CHECK_ERR(bw_txn_begin(store, TXN_WRITE, 0, &txn), BW_ERR_STORE_MUST_SHUTDOWN);
    CHECK_ERR(flush(), BW_ERR_STORE_MUST_SHUTDOWN);
    end();
}

/* ---- LAZY ---- */

static void lazy_commits_flush_nothing_but_the_first(void)
{
    begin_with(DURABLE_LAZY, NULL);
    sample_commit(store, 1, 1, 5, 100, 1);
    CHECK_EQ(relay.counts[CALL_FLUSH], 1);
    for (unsigned i = 2; i < 30; i++) sample_commit(store, 1, i, 5, 100, i);
    CHECK_EQ(relay.counts[CALL_FLUSH], 1);
    CHECK_EQ(newest(), 29);
    sample_prove_store(store);
    bw_store_close(store);
    sim_disk_restart(&sim); // the process ends, the system goes on
    struct store_options options = sample_options(&relay.disk);
    CHECK_OK(bw_store_open(&options, &store));
    CHECK_EQ(newest(), 29);
    end();
}

static void a_flush_makes_lazy_commits_last(void)
{
    begin_with(DURABLE_LAZY, NULL);
    CHECK_OK(flush()); // of nothing
    for (unsigned i = 1; i < 9; i++) sample_commit(store, 1, i, 5, 100, i);
    CHECK_OK(flush());
    const uint64_t flushes = relay.counts[CALL_FLUSH];
    CHECK_OK(flush()); // there is nothing left to do
    CHECK_EQ(relay.counts[CALL_FLUSH], flushes);
    lose_power();
    CHECK_EQ(newest(), 8);
    sample_prove_store(store);
    end();
}

static void a_lazy_commit_too_large_to_vouch_for_is_flushed(void)
{
    begin_with(DURABLE_LAZY, NULL);
    sample_commit(store, 1, 1, 5, 100, 1);
    sample_commit(store, 1, 2, 5, 100, 2);
    sample_commit(store, 2, 1, 3000, 500, 3); // more than 256 pages
    CHECK_EQ(relay.counts[CALL_FLUSH], 3);
    lose_power();
    CHECK_EQ(newest(), 3);
    end();
}

/* ---- twins ---- */

static uint64_t file_pages(void) { return sim_disk_find(&sim, SAMPLE_FILE)->size / PAGE_SIZE; }

static void rewriting_everything_needs_twice_the_space(void)
{
    begin_with(DURABLE_FULL, NULL);
    sample_commit(store, 1, 1, 5000, 352, 1);
    const uint64_t once = file_pages();
    CHECK(once > 300);
    for (unsigned i = 2; i < 12; i++) {
        sample_commit(store, 1, 1, 5000, 352, i);
        CHECK(file_pages() <= once * 23 / 10);
        sample_prove_store(store);
    }
    struct txn *reader = sample_begin(store, TXN_READ);
    sample_commit(store, 1, 1, 5000, 352, 20);
    sample_expect(reader, 1, 1, 5000, 352, 11); // a twin does not take away what is read
    bw_txn_abort(reader);
    lose_power();
    struct txn *txn = sample_begin(store, TXN_READ);
    sample_expect(txn, 1, 1, 5000, 352, 20);
    bw_txn_abort(txn);
    end();
}

static void a_twin_is_the_same_snapshot_in_both_slots(void)
{
    begin_with(DURABLE_FULL, NULL);
    for (unsigned i = 1; i < 4; i++) sample_commit(store, 1, i, 5, 100, i);
    const uint64_t digest = sample_digest_of(store);
    struct txn *txn = sample_begin(store, TXN_WRITE);
    CHECK_OK(bw_group_twin(store));
    CHECK(store->writer->previous == NULL);
    CHECK_OK(bw_group_twin(store)); // again: nothing to do
    bw_txn_abort(txn);
    for (int damaged = 0; damaged < 3; damaged++) { // either slot alone will do
        struct sim_disk copy;
        struct store *other = NULL;
        sim_disk_copy(&sim, &copy);
        static const uint8_t junk[64] = {1};
        if (damaged < 2)
            sim_disk_poke(&copy, SAMPLE_FILE, (uint64_t)damaged * PAGE_SIZE + 64, junk, 64);
        struct store_options options = sample_options(&copy.disk);
        options.use_previous = true;
        CHECK_OK(bw_store_open(&options, &other));
        struct store_info info;
        bw_store_info(other, &info);
        CHECK_EQ(info.txn_id, 3);
        CHECK(!info.opened_previous); // there is none
        CHECK_EQ(sample_digest_of(other), digest);
        sample_commit(other, 1, 50, 5, 100, 9);
        sample_prove_store(other);
        bw_store_close(other);
        sim_disk_deinit(&copy);
    }
    end();
}

static void a_twin_that_fails_poisons_or_leaves_all_as_it_was(void)
{
    for (int64_t calls = 0;; calls++) {
        begin_with(DURABLE_FULL, NULL);
        for (unsigned i = 1; i < 4; i++) sample_commit(store, 1, i, 5, 100, i);
        struct txn *txn = sample_begin(store, TXN_WRITE);
        relay.fail_after = calls;
        relay.has_failed = false;
        bw_err err = bw_group_twin(store);
        const bool has_failed = relay.has_failed;
        relay.fail_after = -1;
        CHECK_EQ(err != BW_OK, has_failed);
        bw_txn_abort(txn);
        CHECK_EQ(bw_store_is_poisoned(store), has_failed && relay.failed != CALL_READ);
        lose_power();
        CHECK_EQ(newest(), 3);
        sample_prove_store(store);
        end();
        if (!has_failed) break;
        CHECK(calls < 10);
    }
}

RUN_TESTS(TEST(one_flush_serves_all_that_are_staged), TEST(a_failed_flush_fails_all_that_wait),
          TEST(lazy_commits_flush_nothing_but_the_first), TEST(a_flush_makes_lazy_commits_last),
          TEST(a_lazy_commit_too_large_to_vouch_for_is_flushed),
          TEST(rewriting_everything_needs_twice_the_space),
          TEST(a_twin_is_the_same_snapshot_in_both_slots),
          TEST(a_twin_that_fails_poisons_or_leaves_all_as_it_was))
