/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory runs out at each allocation in turn, from opening a store to closing it. Whatever fails,
 * fails with NO_MEMORY, leaves nothing behind, and the store is as it was or as it was to become.
 */
#include <stdio.h>

#include "harness/check.h"
#include "harness/inspect.h"

enum { ALLOCATIONS_MAX = 100000 };

static const struct geometry geometry = {22, 34, 4, 12, 24};
static struct sim_disk base, sim;
static struct world world;
static struct world_state next;

static bw_err write_state(struct store *store, const struct world_state *from,
                          const struct world_state *to)
{
    struct txn *txn = NULL;
    bw_err err = bw_txn_begin(store, TXN_WRITE, 0, &txn);
    if (err) return err;
    err = world_apply(&world, txn, from, to);
    if (!err) return bw_txn_commit(txn);
    bw_txn_abort(txn);
    return err;
}

static bw_err read_state(struct store *store, const struct world_state *state)
{
    struct txn *txn = NULL;
    char difference[WORLD_TEXT_ROOM];
    bw_err err = bw_txn_begin(store, TXN_READ, 0, &txn);
    if (err) return err;
    err = world_compare(&world, txn, state, difference);
    bw_txn_abort(txn);
    if (!err) CHECK_TEXT(difference, "");
    return err;
}

/* Open, read, change, read, close. *out_is_new: the change was committed. */
static bw_err live(const struct world_state *from, const struct world_state *to, bool *out_is_new)
{
    const struct store_options options = inspect_options(&sim, &geometry);
    struct store *store = NULL;
    *out_is_new = false;
    bw_err err = bw_store_open(&options, &store);
    if (err) return err;
    err = read_state(store, from);
    if (!err) {
        err = write_state(store, from, to);
        *out_is_new = !err;
        if (err) { // a transaction that ran out of memory leaves the store usable
            bw_memory_fail_after(-1);
            CHECK_EQ(bw_store_is_poisoned(store), err == BW_ERR_STORE_MUST_SHUTDOWN);
            CHECK_OK(read_state(store, from));
            if (!bw_store_is_poisoned(store)) CHECK_OK(write_state(store, from, to));
            *out_is_new = !bw_store_is_poisoned(store);
        } else {
            err = read_state(store, to);
        }
    }
    bw_store_close(store);
    return err;
}

static void check_disk(const struct world_state *from, bool is_new)
{
    struct inspection inspection = {.sim = &sim, .geometry = &geometry, .world = &world};
    const bool is_good = inspect(&inspection) && !inspection.is_refused;
    if (!is_good) (void)fprintf(stderr, "%s\n", inspection.problem);
    CHECK(is_good);
    CHECK_EQ(inspection.serial, is_new ? next.serial : from->serial);
}

static void sweep(const struct world_state *from)
{
    bool is_done = false;
    int64_t n = 0;
    for (; !is_done; n++) {
        CHECK(n < ALLOCATIONS_MAX);
        sim_disk_copy(&base, &sim);
        bool is_new = false;
        bw_memory_fail_after(n);
        bw_err err = live(from, &next, &is_new);
        bw_memory_fail_after(-1);
        is_done = err == BW_OK;
        if (err != BW_OK) CHECK_EQ(err, BW_ERR_NO_MEMORY);
        CHECK(bw_memory_blocks() <= BLOCKS_KEPT);
        sim_disk_restart(&sim);
        check_disk(from, is_new);
        sim_disk_deinit(&sim);
    }
    (void)fprintf(stderr, "%d allocations\n", (int)n - 1);
}

static void begin(unsigned item_count, unsigned tree_count)
{
    sim_disk_init(&base, 1);
    world = (struct world){
        .item_count = item_count, .tree_count = tree_count, .key_step = 1, .serial_count = 2};
    next = (struct world_state){.serial = 2, .schema = 4};
    for (unsigned i = 0; i < item_count; i++) next.values[i] = (uint8_t)(1 + i * 5 % WORLD_VALUES);
}

static void end(void)
{
    world_deinit(&world);
    sim_disk_deinit(&base);
}

static void a_first_commit_fails_cleanly(void)
{
    begin(20, 3);
    world_attempt(&world, &next);
    sweep(world_find(&world, 0));
    end();
}

static void change_existing(unsigned item_count, unsigned tree_count, bool is_closed)
{
    begin(item_count, tree_count);
    struct world_state first = {.serial = 1, .schema = 5};
    for (unsigned i = 0; i < item_count; i++) first.values[i] = (uint8_t)(i * 7 % WORLD_VALUES);
    world_attempt(&world, &first);
    world_attempt(&world, &next);
    const struct store_options options = inspect_options(&base, &geometry);
    struct store *store = NULL;
    CHECK_OK(bw_store_open(&options, &store));
    CHECK_OK(write_state(store, world_find(&world, 0), &first));
    base.is_stopped = !is_closed;
    bw_store_close(store);
    sim_disk_restart(&base);
    sweep(&first);
    end();
}

static void a_commit_after_a_close_fails_cleanly(void) { change_existing(20, 2, true); }
static void a_commit_after_a_kill_fails_cleanly(void) { change_existing(6, 2, false); }
static void a_commit_with_regions_fails_cleanly(void) { change_existing(40, 1, true); }
static void a_commit_with_a_catalogue_tree_fails_cleanly(void) { change_existing(60, 50, true); }

RUN_TESTS(TEST(a_first_commit_fails_cleanly), TEST(a_commit_after_a_close_fails_cleanly),
          TEST(a_commit_after_a_kill_fails_cleanly), TEST(a_commit_with_regions_fails_cleanly),
          TEST(a_commit_with_a_catalogue_tree_fails_cleanly))
