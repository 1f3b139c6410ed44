/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The power goes at every step of a copy, a backup and a restore. What then has the final name is
 * complete, or it is what had it before; once the call has returned, it is the result.
 */
#include "harness/check.h"
#include "harness/copies.h"
#include "harness/sample.h"
#include "harness/sim_disk.h"

enum { SEEDS = 6, STEPS_MAX = 500 };

static struct sim_disk sim;
static struct store *store;
static const struct copies_kind *kind;
static uint64_t digest, other; /* of the source, and of what had the name before; 0: nothing */

struct work {
    bw_err (*run)(void);
    bool is_backup, needs_other;
};

static bw_err run_copy(void) { return copies_copy(store, &sim.disk, NULL); }
static bw_err run_backup(void) { return copies_back_up(store, &sim.disk, 0, NULL); }
static bw_err run_restore(void) { return copies_restore(&sim.disk, false, NULL); }
static bw_err run_replace(void) { return copies_restore(&sim.disk, true, NULL); }

/* All that is there before is durable. */
static void begin(const struct work *work, uint64_t seed)
{
    sim_disk_init(&sim, seed);
    store = copies_make(&sim.disk, SAMPLE_DIRECTORY, kind);
    other = 0;
    if (work->needs_other && !work->is_backup) {
        struct store *made = copies_make(&sim.disk, COPIES_DIRECTORY, kind);
        sample_commit(made, 8, 1, 3, 100, 9);
        other = sample_digest_of(made);
        bw_store_close(made);
    }
    if (work->needs_other && work->is_backup) {
        other = sample_digest_of(store);
        CHECK_OK(run_backup());
        sample_commit(store, 8, 1, 3, 100, 9);
    }
    if (!work->is_backup) CHECK_OK(run_backup());
    digest = sample_digest_of(store);
    sim_disk_settle(&sim);
}

static void check(const struct work *work, bool is_done)
{
    uint64_t found = 0;
    if (work->is_backup && copies_has(&sim.disk, COPIES_BACKUP))
        CHECK_OK(copies_restore(&sim.disk, false, NULL));
    const bool is_there = copies_look(&sim.disk, COPIES_DIRECTORY, kind, &found);
    if (is_done || other) CHECK(is_there);
    if (is_there) CHECK(found == digest || (!is_done && found == other));
    if (work->is_backup && is_there) CHECK_OK(bw_store_remove(&sim.disk, COPIES_DIRECTORY));
}

/* True: the call came to its end before the power went. */
static bool cut(const struct work *work, int64_t steps, uint64_t seed)
{
    begin(work, seed);
    sim.steps_left = steps;
    bw_err err = work->run();
    sim.is_stopped = true;
    bw_store_close(store);
    sim_disk_restart(&sim);
    sim_disk_cut_power(&sim, NULL);
    check(work, !err);

    // Whatever was left does not stand in the way of the next attempt.
    store = copies_open(&sim.disk, SAMPLE_DIRECTORY, kind);
    CHECK_EQ(sample_digest_of(store), digest);
    const bool is_empty = !work->is_backup && !work->needs_other && !err;
    if (is_empty) CHECK_OK(bw_store_remove(&sim.disk, COPIES_DIRECTORY));
    bw_err again = work->run();
    if (again && !work->needs_other && err) { // the cut came behind the rename
        CHECK_ERR(again, BW_ERR_ILLEGAL_STATE);
        again = BW_OK;
    }
    CHECK_OK(again);
    check(work, true);
    bw_store_close(store);
    sim_disk_deinit(&sim);
    sample_expect_nothing_left();
    return !err;
}

static void cut_everywhere(struct work work)
{
    static const int kinds[] = {COPIES_SMALL, 1, 5};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        kind = &copies_kinds[kinds[i]];
        int64_t steps = 0;
        for (bool is_done = false; !is_done; steps++) {
            CHECK(steps < STEPS_MAX);
            for (uint64_t seed = 1; seed <= SEEDS; seed++) is_done = cut(&work, steps, seed);
        }
        CHECK(steps > 4);
    }
}

static void a_copy_is_there_whole_or_not_at_all(void)
{
    cut_everywhere((struct work){.run = run_copy});
}

static void a_backup_is_there_whole_or_not_at_all(void)
{
    cut_everywhere((struct work){.run = run_backup, .is_backup = true});
    cut_everywhere((struct work){.run = run_backup, .is_backup = true, .needs_other = true});
}

static void a_restored_store_is_there_whole_or_not_at_all(void)
{
    cut_everywhere((struct work){.run = run_restore});
}

static void a_replaced_store_is_the_old_one_or_the_new_one(void)
{
    cut_everywhere((struct work){.run = run_replace, .needs_other = true});
}

RUN_TESTS(TEST(a_copy_is_there_whole_or_not_at_all), TEST(a_backup_is_there_whole_or_not_at_all),
          TEST(a_restored_store_is_there_whole_or_not_at_all),
          TEST(a_replaced_store_is_the_old_one_or_the_new_one))
