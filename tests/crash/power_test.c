/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine on a disk that loses power: many histories of each flavour, from a seed.
 *
 * BW_CRASHES is the number of crashes in all (10,000); BW_SEED repeats a run. A violation prints
 * the flavour and the seed of its history: BW_SEED=<seed> BW_CRASHES=1 and the flavour's test alone
 * repeat it, and BW_TRACE=1 tells what happens in it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "harness/check.h"
#include "harness/trial.h"

#ifndef CRASHES
#define CRASHES 10000
#endif

static uint64_t wanted_crashes(void)
{
    const char *given = getenv("BW_CRASHES");
    const uint64_t all = given && *given ? strtoull(given, NULL, 10) : CRASHES;
    return (all + FLAVOUR_COUNT - 1) / FLAVOUR_COUNT;
}

static void run_flavour(const char *name)
{
    const struct flavour *flavour = trial_flavour(name);
    CHECK(flavour != NULL);
    const uint64_t first = bw_test_seed(), wanted = wanted_crashes();
    const int64_t start_ms = bw_clock_ms();
    uint64_t crashes = 0, commits = 0, damages = 0, seed = first;
    while (crashes < wanted) {
        struct trial_result result;
        trial_run(flavour, seed, &result);
        if (result.is_violated) {
            (void)fprintf(stderr, "%s: BW_SEED=%" PRIu64 ": %s\n", name, seed, result.violation);
        }
        CHECK(!result.is_violated);
        crashes += result.crashes;
        commits += result.commits;
        damages += result.damages;
        seed++;
    }
    (void)fprintf(stderr,
                  "%s: %" PRIu64 " crashes in %" PRIu64 " histories, %" PRIu64 " commits, %" PRIu64
                  " damaged copies, %" PRId64 " ms\n",
                  name, crashes, seed - first, commits, damages, bw_clock_ms() - start_ms);
    CHECK(bw_memory_blocks() <= BLOCKS_KEPT);
}

static void mixed_trouble_loses_nothing(void) { run_flavour("mixed"); }
static void lazy_commits_are_lost_in_order_only(void) { run_flavour("lazy"); }
static void commits_in_groups_are_whole(void) { run_flavour("group"); }
static void region_bitmaps_survive(void) { run_flavour("regions"); }
static void failing_writes_and_flushes_lose_nothing(void) { run_flavour("failing"); }
static void creation_is_whole_or_not_at_all(void) { run_flavour("creation"); }
static void twins_keep_rejected_commits_away(void) { run_flavour("twin"); }
static void seals_vouch_for_nothing_else(void) { run_flavour("seal"); }
static void one_lying_flush_is_noticed(void) { run_flavour("lying"); }
static void leaves_of_many_pages_survive(void) { run_flavour("bulk"); }
static void damaged_files_are_refused_and_kept(void) { run_flavour("damage"); }

RUN_TESTS(TEST(mixed_trouble_loses_nothing), TEST(lazy_commits_are_lost_in_order_only),
          TEST(commits_in_groups_are_whole), TEST(region_bitmaps_survive),
          TEST(failing_writes_and_flushes_lose_nothing), TEST(creation_is_whole_or_not_at_all),
          TEST(twins_keep_rejected_commits_away), TEST(seals_vouch_for_nothing_else),
          TEST(one_lying_flush_is_noticed), TEST(leaves_of_many_pages_survive),
          TEST(damaged_files_are_refused_and_kept))
