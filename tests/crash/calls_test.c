/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each kind of commit, opening and closing asks of the disk: counted calls, so that a flush or
 * a read too many is a failed test and not a slow product.
 */
#include "harness/check.h"
#include "harness/sim_disk.h"
#include "store/page.h"
#include "store/store.h"

static struct sim_disk sim;
static struct store *store;

static void open_store(bool is_read_only)
{
    const struct store_options options = {
        .disk = &sim.disk,
        .directory = "db",
        .file_mode = 0644,
        .read_only = is_read_only,
        .durability = DURABLE_FULL,
    };
    CHECK_OK(bw_store_open(&options, &store));
}

static void put(uint64_t key, size_t size, uint64_t count)
{
    static uint8_t bytes[8 << 20];
    struct txn *txn = NULL;
    CHECK_OK(bw_txn_begin(store, TXN_WRITE, 0, &txn));
    for (uint64_t i = 0; i < count; i++) {
        bytes[0]++;
        CHECK_OK(bw_tree_put(txn, 1, key + i, (struct bytes){bytes, size}, NULL));
    }
    CHECK_OK(bw_txn_commit(txn));
}

static void forget_counts(void) { sim.counts = (struct sim_counts){0}; }

static void begin(void)
{
    sim_disk_init(&sim, 1);
    open_store(false);
    put(1, 100, 10);
    put(1, 100, 1);
    forget_counts();
}

static void end(void)
{
    bw_store_close(store);
    sim_disk_deinit(&sim);
}

static void check_flushes(uint64_t flushes, uint64_t directory_flushes)
{
    CHECK_EQ(sim.counts.flushes, flushes);
    CHECK_EQ(sim.counts.directory_flushes, directory_flushes);
    forget_counts();
}

static void kill_process(void)
{
    sim.is_stopped = true;
    bw_store_close(store);
    sim_disk_restart(&sim);
    forget_counts();
}

static void the_first_commit_flushes_file_directory_and_parent(void)
{
    sim_disk_init(&sim, 1);
    open_store(false);
    CHECK_EQ(sim.counts.writes + sim.counts.flushes, 0);
    put(1, 100, 1);
    CHECK_EQ(sim.counts.resizes, 1);
    check_flushes(1, 2);
    end();
}

static void a_directory_that_was_there_counts_as_durable(void)
{
    sim_disk_init(&sim, 1);
    bool made = false;
    CHECK_OK(sim.disk.make_directory(&sim.disk, "db", 0755, &made));
    open_store(false);
    put(1, 100, 1);
    check_flushes(1, 1);
    end();
}

/* An earlier process may have made the directory with the file, and stopped before either was
 * flushed. */
static void an_empty_file_that_was_there_is_flushed_with_its_directory_and_parent(void)
{
    sim_disk_init(&sim, 1);
    open_store(false);
    kill_process();
    open_store(false);
    put(1, 100, 1);
    check_flushes(1, 2);
    end();
}

static void a_small_commit_is_two_writes_and_one_flush(void)
{
    begin();
    put(2, 100, 1);
    CHECK_EQ(sim.counts.writes, 2); // a leaf and the slot
    CHECK_EQ(sim.counts.written_bytes, 2 * PAGE_SIZE);
    CHECK_EQ(sim.counts.resizes + sim.counts.reads + sim.counts.infos, 0);
    check_flushes(1, 0);
    end();
}

static void a_large_commit_flushes_twice(void)
{
    begin();
    put(100, 4 << 20, 1);
    check_flushes(2, 0);
    end();
}

static void closing_flushes_nothing(void)
{
    begin();
    put(2, 100, 1);
    forget_counts();
    bw_store_close(store);
    store = NULL;
    CHECK_EQ(sim.counts.writes, 1); // the seal
    CHECK_EQ(sim.counts.written_bytes, SIM_SECTOR);
    check_flushes(0, 0);
    end();
}

static void opening_is_one_call_of_each_kind(void)
{
    begin();
    bw_store_close(store);
    for (int is_read_only = 0; is_read_only < 2; is_read_only++) {
        forget_counts();
        open_store(is_read_only);
        CHECK_EQ(sim.counts.opens, 1);
        CHECK_EQ(sim.counts.infos, 1);
        CHECK_EQ(sim.counts.locks, 1);
        CHECK_EQ(sim.counts.reads, 1);
        CHECK_EQ(sim.counts.read_bytes, 2 * PAGE_SIZE);
        CHECK_EQ(sim.counts.look_ups + sim.counts.maps + sim.counts.makes, 0);
        CHECK_EQ(sim.counts.writes + sim.counts.resizes + sim.counts.flushes, 0);
        bw_store_close(store); // has nothing to seal again
        CHECK_EQ(sim.counts.writes, 0);
    }
    store = NULL;
    end();
}

static void the_first_commit_after_a_clean_close_flushes_once(void)
{
    begin();
    bw_store_close(store);
    open_store(false);
    forget_counts();
    put(3, 100, 1);
    check_flushes(1, 0);
    end();
}

static void the_first_commit_after_a_kill_fences_with_a_flush_of_its_own(void)
{
    begin();
    kill_process();
    open_store(false);
    CHECK_EQ(sim.counts.writes, 0);
    forget_counts();
    put(3, 100, 1);
    check_flushes(2, 2);
    put(3, 100, 1);
    check_flushes(1, 0);
    end();
}

static void a_transaction_that_changes_nothing_costs_nothing(void)
{
    begin();
    struct txn *txn = NULL;
    CHECK_OK(bw_txn_begin(store, TXN_WRITE, 0, &txn));
    CHECK_OK(bw_txn_commit(txn));
    CHECK_EQ(sim.counts.writes + sim.counts.resizes + sim.counts.reads, 0);
    check_flushes(0, 0);
    end();
}

static void without_durability_nothing_is_flushed(void)
{
    sim_disk_init(&sim, 1);
    const struct store_options options = {
        .disk = &sim.disk,
        .directory = "db",
        .file_mode = 0644,
        .durability = DURABLE_NONE,
    };
    CHECK_OK(bw_store_open(&options, &store));
    put(1, 100, 1);
    put(1, 4 << 20, 1);
    check_flushes(0, 0);
    end();
}

RUN_TESTS(TEST(the_first_commit_flushes_file_directory_and_parent),
          TEST(a_directory_that_was_there_counts_as_durable),
          TEST(an_empty_file_that_was_there_is_flushed_with_its_directory_and_parent),
          TEST(a_small_commit_is_two_writes_and_one_flush), TEST(a_large_commit_flushes_twice),
          TEST(closing_flushes_nothing), TEST(opening_is_one_call_of_each_kind),
          TEST(the_first_commit_after_a_clean_close_flushes_once),
          TEST(the_first_commit_after_a_kill_fences_with_a_flush_of_its_own),
          TEST(a_transaction_that_changes_nothing_costs_nothing),
          TEST(without_durability_nothing_is_flushed))
