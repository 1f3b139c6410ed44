/* SPDX-License-Identifier: Apache-2.0 */
/* Moving a leaf: its pages and the branches above it, its long values, and nothing else. */
#include "harness/check.h"
#include "harness/sample.h"
#include "harness/sim_disk.h"
#include "store/engine.h"
#include "store/tree.h"

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

static void what_lies_low_stays(void)
{
    begin();
    sample_commit(store, 1, 1, 2000, 352, 1);
    struct txn *txn = sample_begin(store, TXN_WRITE);
    struct tree_move move = {.limit = UINT32_MAX};
    unsigned leaves = 0;
    do {
        CHECK_OK(bw_tree_move_leaf(txn, 1, &move));
        leaves++;
    } while (move.key);
    CHECK(leaves > 10);
    CHECK_EQ(move.moved_pages, 0);
    CHECK(!bw_txn_changed(txn));
    bw_txn_abort(txn);
    end();
}

static void everything_can_be_moved(void)
{
    begin();
    sample_commit(store, 1, 1, 2000, 352, 1);
    sample_commit(store, 1, 2001, 10, 20000, 1);
    struct txn *txn = sample_begin(store, TXN_WRITE);
    struct tree_move move = {.limit = 0};
    do CHECK_OK(bw_tree_move_leaf(txn, 1, &move));
    while (move.key);
    CHECK(move.moved_pages > 200);
    sample_expect(txn, 1, 1, 2000, 352, 1);
    sample_expect(txn, 1, 2001, 10, 20000, 1);
    sample_prove(txn);
    CHECK_OK(bw_txn_commit(txn));
    sample_prove_store(store);
    end();
}

static void a_tree_that_is_not_there_has_no_leaf(void)
{
    begin();
    sample_commit(store, 1, 1, 1, 10, 1);
    struct txn *txn = sample_begin(store, TXN_WRITE);
    struct tree_move move = {.limit = 0};
    CHECK_OK(bw_tree_move_leaf(txn, 9, &move));
    CHECK_EQ(move.key, 0);
    CHECK_OK(bw_tree_clear(txn, 1));
    CHECK_OK(bw_tree_move_leaf(txn, 1, &move));
    CHECK_EQ(move.moved_pages, 0);
    bw_txn_abort(txn);
    end();
}

RUN_TESTS(TEST(what_lies_low_stays), TEST(everything_can_be_moved),
          TEST(a_tree_that_is_not_there_has_no_leaf))
