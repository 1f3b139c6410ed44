/* SPDX-License-Identifier: Apache-2.0 */
/* Transactions: what they see, who waits for whom, and the schema. */
#include <stdatomic.h>

#include "harness/check.h"
#include "harness/sample.h"
#include "harness/sim_disk.h"
#include "store/page.h"

static struct sim_disk sim;
static struct store *store;

static void begin(void)
{
    sim_disk_init(&sim, 1);
    store = sample_open(&sim.disk);
}

static void end(void)
{
    bw_store_close(store);
    sim_disk_deinit(&sim);
    sample_expect_nothing_left();
}

static void reopen(void)
{
    bw_store_close(store);
    store = sample_open(&sim.disk);
}

static struct tree_stat stat_of(struct txn *txn, uint32_t tree_id)
{
    struct tree_stat stat;
    CHECK_OK(bw_tree_stat(txn, tree_id, &stat));
    return stat;
}

/* ---- what they see ---- */

static void a_commit_is_seen_by_what_begins_later(void)
{
    begin();
    struct txn *before = sample_begin(store, TXN_READ);
    sample_commit(store, 1, 1, 20, 100, 1);
    struct txn *after = sample_begin(store, TXN_READ);
    CHECK_EQ(stat_of(before, 1).count, 0);
    CHECK_EQ(stat_of(after, 1).count, 20);
    sample_expect(after, 1, 1, 20, 100, 1);
    struct bytes value;
    bool found = true;
    CHECK_OK(bw_tree_get(before, 1, 1, &value, &found));
    CHECK(!found);
    bw_txn_abort(before);
    bw_txn_abort(after);
    end();
}

static void a_write_transaction_sees_itself_and_nobody_else_does(void)
{
    begin();
    sample_commit(store, 1, 1, 20, 100, 1);
    struct txn *txn = sample_begin(store, TXN_WRITE);
    CHECK_OK(sample_put(txn, 1, 10, 20, 100, 2));
    CHECK_OK(bw_tree_set_sequence(txn, 1, 77));
    struct txn *reader = sample_begin(store, TXN_READ);
    sample_expect(reader, 1, 1, 20, 100, 1);
    CHECK_EQ(stat_of(reader, 1).sequence, 0);
    sample_expect(txn, 1, 1, 9, 100, 1);
    sample_expect(txn, 1, 10, 20, 100, 2);
    CHECK_EQ(stat_of(txn, 1).sequence, 77);
    CHECK_EQ(stat_of(txn, 1).count, 29);
    bw_txn_abort(reader);
    CHECK_OK(bw_txn_commit(txn));
    end();
}

static void an_aborted_transaction_leaves_nothing(void)
{
    begin();
    sample_commit(store, 1, 1, 200, 300, 1);
    const uint64_t digest = sample_digest_of(store), writes = sim.counts.writes;
    const uint8_t hash[16] = {1};
    struct txn *txn = sample_begin(store, TXN_WRITE);
    CHECK_OK(sample_put(txn, 1, 1, 300, 300, 2));
    CHECK_OK(sample_put(txn, 2, 1, 10, 9000, 2));
    CHECK_OK(sample_remove(txn, 1, 1, 150));
    CHECK_OK(bw_txn_set_schema(txn, hash, (struct bytes){hash, 16}));
    bw_txn_abort(txn);
    CHECK_EQ(sample_digest_of(store), digest);
    CHECK_EQ(sim.counts.writes, writes);
    sample_prove_store(store);
    sample_commit(store, 1, 1, 200, 300, 1); // the same pages are free again
    CHECK_EQ(sample_digest_of(store), digest);
    sample_prove_store(store);
    end();
}

static void readers_keep_their_snapshot_while_commits_go_on(void)
{
    enum { READERS = 8, ROUNDS = 60 };
    struct txn *readers[READERS] = {0};
    unsigned versions[READERS] = {0};
    begin();
    for (unsigned round = 1; round <= ROUNDS; round++) {
        sample_commit(store, 1, 1, 40, 400, round);
        sample_commit(store, 2, round, 1, 20000, round);
        const unsigned at = round % READERS;
        bw_txn_abort(readers[at]);
        readers[at] = sample_begin(store, TXN_READ);
        versions[at] = round;
        for (unsigned i = 0; i < READERS; i++) {
            if (!readers[i]) continue;
            sample_expect(readers[i], 1, 1, 40, 400, versions[i]);
            sample_expect(readers[i], 2, versions[i], 1, 20000, versions[i]);
            CHECK_EQ(stat_of(readers[i], 2).count, versions[i]);
        }
    }
    for (unsigned i = 0; i < READERS; i++) {
        sample_prove(readers[i]);
        bw_txn_abort(readers[i]);
    }
    sample_prove_store(store);
    end();
}

static void any_number_of_snapshots_can_be_held(void)
{
    enum { READERS = 62 };
    struct txn *readers[READERS], *txn = NULL;
    begin();
    for (unsigned i = 0; i < READERS; i++) {
        sample_commit(store, 1, 1, 3, 100, i + 1);
        readers[i] = sample_begin(store, TXN_READ);
    }
    for (int allowed = 0;; allowed++) { // the list of them needs memory
        bw_memory_fail_after(allowed);
        bw_err err = bw_txn_begin(store, TXN_WRITE, 0, &txn);
        bw_memory_fail_after(-1);
        if (!err) break;
        CHECK_EQ(err, BW_ERR_NO_MEMORY);
    }
    CHECK_OK(sample_put(txn, 1, 1, 3, 100, 200));
    CHECK_OK(bw_txn_commit(txn));
    for (unsigned i = 0; i < READERS; i++) {
        sample_expect(readers[i], 1, 1, 3, 100, i + 1);
        bw_txn_abort(readers[i]);
    }
    sample_prove_store(store);
    end();
}

static void numbers_of_commits_ascend(void)
{
    begin();
    for (uint64_t i = 1; i <= 4; i++) {
        struct txn *txn = sample_begin(store, TXN_WRITE);
        CHECK(bw_txn_writes(txn));
        CHECK_EQ(bw_txn_id(txn), i);
        CHECK_OK(sample_put(txn, 1, i, 1, 10, 1));
        CHECK_OK(bw_txn_commit(txn));
        txn = sample_begin(store, TXN_READ);
        CHECK(!bw_txn_writes(txn));
        CHECK_EQ(bw_txn_id(txn), i);
        CHECK_OK(bw_txn_commit(txn)); // ends it
        reopen();
    }
    end();
}

static void a_transaction_without_changes_writes_nothing(void)
{
    begin();
    sample_commit(store, 1, 1, 20, 100, 1);
    reopen();
    const struct sim_counts before = sim.counts;
    bool removed = true;
    struct txn *txn = sample_begin(store, TXN_WRITE);
    CHECK(!bw_txn_changed(txn));
    sample_expect(txn, 1, 1, 20, 100, 1);
    CHECK_OK(bw_tree_remove(txn, 1, 99, &removed));
    CHECK(!removed);
    CHECK_OK(bw_tree_clear(txn, 5));
    CHECK_OK(bw_tree_drop(txn, 6));
    CHECK(!bw_txn_changed(txn));
    CHECK_OK(bw_txn_commit(txn));
    CHECK_EQ(sim.counts.writes, before.writes);
    CHECK_EQ(sim.counts.flushes, before.flushes);
    txn = sample_begin(store, TXN_WRITE);
    CHECK_EQ(bw_txn_id(txn), 2);
    CHECK_OK(sample_put(txn, 1, 1, 1, 100, 1));
    CHECK(bw_txn_changed(txn));
    bw_txn_abort(txn);
    bw_txn_abort(NULL);
    end();
}

/* ---- who waits for whom ---- */

static void so_many_may_read_at_once(void)
{
    begin();
    bw_store_close(store);
    struct store_options options = sample_options(&sim.disk);
    options.readers_max = 3;
    CHECK_OK(bw_store_open(&options, &store));
    struct txn *readers[3], *more = NULL;
    for (int i = 0; i < 3; i++) readers[i] = sample_begin(store, TXN_READ);
    CHECK_ERR(bw_txn_begin(store, TXN_READ, -1, &more), BW_ERR_MAX_READERS_EXCEEDED);
    CHECK(more == NULL);
    sample_commit(store, 1, 1, 1, 10, 1); // writing is not reading
    bw_txn_abort(readers[1]);
    readers[1] = sample_begin(store, TXN_READ);
    CHECK_ERR(bw_txn_begin(store, TXN_READ, 0, &more), BW_ERR_MAX_READERS_EXCEEDED);
    for (int i = 0; i < 3; i++) CHECK_OK(bw_txn_commit(readers[i]));
    end();
}

static void a_second_writer_does_not_wait_longer_than_asked(void)
{
    begin();
    struct txn *txn = sample_begin(store, TXN_WRITE), *second = NULL;
    bw_reason_clear();
    CHECK_ERR(bw_txn_begin(store, TXN_WRITE, 0, &second), BW_ERR_TIMEOUT);
    CHECK_ERR(bw_txn_begin(store, TXN_WRITE, 1, &second), BW_ERR_TIMEOUT);
    CHECK(second == NULL);
    CHECK_EQ(bw_reason_code(), 0);
    bw_txn_abort(sample_begin(store, TXN_READ)); // reading never waits
    bw_txn_abort(txn);
    txn = sample_begin(store, TXN_WRITE);
    CHECK_OK(bw_txn_commit(txn));
    end();
}

enum { TURNS = 40 };

/* Puts values behind all that was put before, one in each transaction. */
static void put_more(void *argument)
{
    const int64_t wait_ms = argument ? 60000 : -1;
    for (int i = 0; i < TURNS; i++) {
        struct txn *txn = NULL;
        CHECK_OK(bw_txn_begin(store, TXN_WRITE, wait_ms, &txn));
        CHECK_OK(sample_put(txn, 1, stat_of(txn, 1).count + 1, 1, 100, 1));
        CHECK_OK(bw_txn_commit(txn));
    }
}

static void writers_take_turns(void)
{
    enum { THREADS = 4 };
    struct thread threads[THREADS];
    struct store_options options = sample_options(bw_disk_memory()); // for many threads at once
    CHECK_OK(bw_store_open(&options, &store));
    struct txn *txn = sample_begin(store, TXN_WRITE);
    for (int i = 0; i < THREADS; i++)
        CHECK_OK(bw_thread_start(&threads[i], put_more, i % 2 ? &threads : NULL));
    CHECK_OK(sample_put(txn, 1, 1, 1, 100, 1));
    CHECK_OK(bw_txn_commit(txn));
    for (int i = 0; i < THREADS; i++) bw_thread_join(&threads[i]);
    txn = sample_begin(store, TXN_READ);
    CHECK_EQ(bw_txn_id(txn), THREADS * TURNS + 1);
    sample_expect(txn, 1, 1, THREADS * TURNS + 1, 100, 1);
    bw_txn_abort(txn);
    sample_prove_store(store);
    bw_store_close(store);
    CHECK_OK(bw_store_remove(bw_disk_memory(), SAMPLE_DIRECTORY));
}

static void commit_it(void *argument) { CHECK_OK(bw_txn_commit(argument)); }

static void read_it(void *argument)
{
    sample_expect(argument, 1, 1, 20, 100, 1);
    bw_txn_abort(argument);
}

static void a_transaction_may_end_on_another_thread(void)
{
    struct thread thread;
    begin();
    struct txn *txn = sample_begin(store, TXN_WRITE);
    CHECK_OK(sample_put(txn, 1, 1, 20, 100, 1));
    CHECK_OK(bw_thread_start(&thread, commit_it, txn));
    bw_thread_join(&thread);
    txn = sample_begin(store, TXN_READ);
    CHECK_OK(bw_thread_start(&thread, read_it, txn));
    bw_thread_join(&thread);
    txn = sample_begin(store, TXN_WRITE);
    CHECK_OK(bw_txn_commit(txn));
    end();
}

/* Reads again and again, until the writer is done. */
static void read_along(void *argument)
{
    atomic_bool *is_done = argument;
    do {
        struct txn *txn = sample_begin(store, TXN_READ);
        const unsigned version = (unsigned)stat_of(txn, 1).sequence;
        sample_expect(txn, 1, 1, 30, 300, version);
        CHECK_EQ(bw_txn_id(txn), version);
        bw_txn_abort(txn);
    } while (!atomic_load(is_done));
}

static void threads_read_while_another_commits(void)
{
    enum { THREADS = 3, ROUNDS = 100 };
    struct thread threads[THREADS];
    atomic_bool is_done = false;
    struct store_options options = sample_options(bw_disk_memory()); // for many threads at once
    options.durability = DURABLE_NONE;
    CHECK_OK(bw_store_open(&options, &store));
    for (unsigned round = 1; round <= ROUNDS; round++) {
        struct txn *txn = sample_begin(store, TXN_WRITE);
        CHECK_OK(sample_put(txn, 1, 1, 30, 300, round));
        CHECK_OK(bw_tree_set_sequence(txn, 1, round));
        CHECK_OK(bw_txn_commit(txn));
        for (int i = 0; round == 1 && i < THREADS; i++)
            CHECK_OK(bw_thread_start(&threads[i], read_along, &is_done));
    }
    atomic_store(&is_done, true);
    for (int i = 0; i < THREADS; i++) bw_thread_join(&threads[i]);
    bw_store_close(store);
    CHECK_OK(bw_store_remove(bw_disk_memory(), SAMPLE_DIRECTORY));
}

static void a_store_opened_for_reading_cannot_be_written(void)
{
    begin();
    sample_commit(store, 1, 1, 3, 10, 1);
    bw_store_close(store);
    struct store_options options = sample_options(&sim.disk);
    struct txn *txn = NULL;
    options.read_only = true;
    CHECK_OK(bw_store_open(&options, &store));
    CHECK_ERR(bw_txn_begin(store, TXN_WRITE, 0, &txn), BW_ERR_ILLEGAL_STATE);
    CHECK_TEXT(bw_reason_text(), "Cannot start a write transaction from read only store");
    txn = sample_begin(store, TXN_READ);
    sample_expect(txn, 1, 1, 3, 10, 1);
    bw_txn_abort(txn);
    end();
}

/* ---- the schema ---- */

static uint8_t blob[40000];

static void set_schema(struct txn *txn, size_t size, uint8_t version)
{
    uint8_t hash[16];
    memset(hash, version, sizeof(hash));
    for (size_t i = 0; i < size; i++) blob[i] = (uint8_t)(i * version + i / 256);
    CHECK_OK(bw_txn_set_schema(txn, hash, (struct bytes){blob, size}));
}

static void expect_schema(struct txn *txn, size_t size, uint8_t version)
{
    uint8_t hash[16];
    struct bytes found;
    CHECK_OK(bw_txn_schema_hash(txn, hash));
    CHECK_OK(bw_txn_schema(txn, &found));
    CHECK_EQ(hash[0], version);
    CHECK_EQ(hash[15], version);
    CHECK_EQ(found.size, size);
    CHECK_EQ((uintptr_t)found.data % 8, 0);
    for (size_t i = 0; i < size; i++) CHECK_EQ(found.data[i], (uint8_t)(i * version + i / 256));
}

static void expect_schema_of_store(size_t size, uint8_t version)
{
    struct txn *txn = sample_begin(store, TXN_READ);
    expect_schema(txn, size, version);
    sample_prove(txn);
    bw_txn_abort(txn);
}

static void a_store_begins_without_a_schema(void)
{
    begin();
    expect_schema_of_store(0, 0);
    sample_commit(store, 1, 1, 3, 10, 1);
    expect_schema_of_store(0, 0);
    end();
}

static void a_schema_of_any_size_is_kept(void)
{
    static const size_t sizes[] = {1, 511, 512, 513, 4064, 4065, 33000, 7, 0, 40000, 512, 4064};
    begin();
    sample_commit(store, 1, 1, 3, 10, 1);
    for (uint8_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct txn *txn = sample_begin(store, TXN_WRITE);
        set_schema(txn, sizes[i], (uint8_t)(i + 1));
        expect_schema(txn, sizes[i], (uint8_t)(i + 1));
        CHECK_OK(bw_txn_commit(txn));
        expect_schema_of_store(sizes[i], (uint8_t)(i + 1));
        sample_commit(store, 1, 4, 1, 10, i); // carried along
        expect_schema_of_store(sizes[i], (uint8_t)(i + 1));
        if (i % 2) reopen();
        expect_schema_of_store(sizes[i], (uint8_t)(i + 1));
    }
    end();
}

static void readers_keep_their_schema(void)
{
    begin();
    struct txn *readers[6] = {0};
    for (uint8_t i = 1; i < 6; i++) {
        struct txn *txn = sample_begin(store, TXN_WRITE);
        set_schema(txn, i % 2 ? 200 : 9000, i);
        CHECK_OK(bw_txn_commit(txn));
        readers[i] = sample_begin(store, TXN_READ);
    }
    for (uint8_t i = 1; i < 6; i++) expect_schema(readers[i], i % 2 ? 200 : 9000, i);
    for (uint8_t i = 1; i < 6; i++) bw_txn_abort(readers[i]);
    end();
}

static void the_last_schema_of_a_transaction_counts(void)
{
    begin();
    struct txn *txn = sample_begin(store, TXN_WRITE);
    set_schema(txn, 20000, 3);
    set_schema(txn, 100, 4);
    set_schema(txn, 6000, 5);
    expect_schema(txn, 6000, 5);
    CHECK_OK(bw_txn_commit(txn));
    expect_schema_of_store(6000, 5);
    CHECK_EQ(sim_disk_find(&sim, SAMPLE_FILE)->size, 4 * 4096); // the slots, and two pages
    end();
}

static void a_schema_moves_out_when_the_slot_gets_full(void)
{
    begin();
    struct txn *txn = sample_begin(store, TXN_WRITE);
    set_schema(txn, 500, 9);
    CHECK_OK(bw_txn_commit(txn));
    for (uint32_t tree = 1; tree <= SAMPLE_TREES; tree++) {
        sample_commit(store, tree, 1, 3, 50, 1);
        expect_schema_of_store(500, 9);
    }
    reopen();
    expect_schema_of_store(500, 9);
    end();
}

static void a_schema_too_large_is_refused(void)
{
    begin();
    struct txn *txn = sample_begin(store, TXN_WRITE);
    const uint8_t hash[16] = {0};
    CHECK_ERR(bw_txn_set_schema(txn, hash, (struct bytes){blob, VALUE_CONTIGUOUS_MAX + 1ull}),
              BW_ERR_ILLEGAL_ARGUMENT);
    CHECK(!bw_txn_changed(txn));
    bw_txn_abort(txn);
    end();
}

/* ---- a store near its limit ---- */

enum { LIMIT_PAGES = 100 };

/* Full, and emptied again by one commit. */
static void begin_emptied(void)
{
    sim_disk_init(&sim, 1);
    struct store_options options = sample_options(&sim.disk);
    options.size_max = LIMIT_PAGES * PAGE_SIZE;
    options.durability = DURABLE_FULL;
    CHECK_OK(bw_store_open(&options, &store));
    sample_commit(store, 1, 1, 120, 3000, 1);
    struct txn *txn = sample_begin(store, TXN_WRITE);
    CHECK_OK(bw_tree_clear(txn, 1));
    CHECK_OK(bw_txn_commit(txn));
    sim.counts = (struct sim_counts){0};
}

static void what_a_removal_freed_can_be_used_at_once_in_a_full_store(void)
{
    begin_emptied();
    struct txn *txn = sample_begin(store, TXN_WRITE);
    CHECK_EQ(sim.counts.flushes, 0);
    CHECK_OK(sample_put(txn, 1, 1, 120, 3000, 2)); // a twin frees what waited for the other slot
    CHECK_EQ(sim.counts.flushes, 1);
    CHECK_EQ(sim.counts.writes, 1);
    CHECK_OK(bw_txn_commit(txn));
    CHECK_EQ(sim.counts.flushes, 2);
    sample_prove_store(store);
    txn = sample_begin(store, TXN_READ);
    sample_expect(txn, 1, 1, 120, 3000, 2);
    bw_txn_abort(txn);
    end();
}

static void what_a_reader_sees_is_not_waited_for(void)
{
    sim_disk_init(&sim, 1);
    struct store_options options = sample_options(&sim.disk);
    options.size_max = LIMIT_PAGES * PAGE_SIZE;
    options.durability = DURABLE_FULL;
    CHECK_OK(bw_store_open(&options, &store));
    sample_commit(store, 1, 1, 120, 3000, 1);
    struct txn *reader = sample_begin(store, TXN_READ);
    struct txn *txn = sample_begin(store, TXN_WRITE);
    CHECK_OK(bw_tree_clear(txn, 1));
    CHECK_OK(bw_txn_commit(txn));
    sim.counts = (struct sim_counts){0};
    txn = sample_begin(store, TXN_WRITE);
    CHECK_ERR(sample_put(txn, 1, 1, 120, 3000, 2), BW_ERR_DB_FULL);
    bw_txn_abort(txn);
    sample_expect(reader, 1, 1, 120, 3000, 1);
    bw_txn_abort(reader);
    end();
}

static void a_twin_for_space_that_fails_is_the_failure_of_the_put(void)
{
    begin_emptied();
    struct txn *txn = NULL;
    sim.flush_fails = 100;
    CHECK_OK(bw_txn_begin(store, TXN_WRITE, 0, &txn));
    CHECK_ERR(sample_put(txn, 1, 1, 120, 3000, 2), BW_ERR_STORE_MUST_SHUTDOWN);
    bw_txn_abort(txn);
    CHECK_ERR(bw_txn_begin(store, TXN_WRITE, 0, &txn), BW_ERR_STORE_MUST_SHUTDOWN);
    end();
}

RUN_TESTS(TEST(a_commit_is_seen_by_what_begins_later),
          TEST(a_write_transaction_sees_itself_and_nobody_else_does),
          TEST(an_aborted_transaction_leaves_nothing),
          TEST(readers_keep_their_snapshot_while_commits_go_on),
          TEST(any_number_of_snapshots_can_be_held), TEST(numbers_of_commits_ascend),
          TEST(a_transaction_without_changes_writes_nothing), TEST(so_many_may_read_at_once),
          TEST(a_second_writer_does_not_wait_longer_than_asked), TEST(writers_take_turns),
          TEST(a_transaction_may_end_on_another_thread), TEST(threads_read_while_another_commits),
          TEST(a_store_opened_for_reading_cannot_be_written), TEST(a_store_begins_without_a_schema),
          TEST(a_schema_of_any_size_is_kept), TEST(readers_keep_their_schema),
          TEST(the_last_schema_of_a_transaction_counts),
          TEST(a_schema_moves_out_when_the_slot_gets_full), TEST(a_schema_too_large_is_refused),
          TEST(what_a_removal_freed_can_be_used_at_once_in_a_full_store),
          TEST(what_a_reader_sees_is_not_waited_for),
          TEST(a_twin_for_space_that_fails_is_the_failure_of_the_put))
