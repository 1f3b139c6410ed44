/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bugs of pages, space, catalogue, snapshots and commits that no crash is needed for: each must be
 * found by histories of a whole store.
 */
#include "harness/bug_search.h"
#include "harness/check.h"
#include "harness/store_work.h"

enum { WORK_STEPS = 150 };

static void run_work(const void *argument, uint64_t seed, char out_text[SEARCH_TEXT_ROOM])
{
    (void)argument, (void)out_text;
    store_work(seed, WORK_STEPS);
}

static void run_churn(const void *argument, uint64_t seed, char out_text[SEARCH_TEXT_ROOM])
{
    (void)argument, (void)out_text;
    store_churn(seed);
}

static void run_flip(const void *argument, uint64_t seed, char out_text[SEARCH_TEXT_ROOM])
{
    (void)argument, (void)out_text;
    store_flip(seed);
}

static const struct histories work = {"work in a store", 200, run_work, NULL};
static const struct histories churn = {"churn", 200, run_churn, NULL};
static const struct histories flip = {"flipped bits", 500, run_flip, NULL};

static void nothing_is_found_without_a_bug(void)
{
    const struct histories *all[] = {&work, &churn, &flip};
    for (int i = 0; i < 3; i++) {
        struct histories some = *all[i];
        some.count_max /= 20;
        bug_search(NULL, &some);
    }
}

#define BUG_TEST(bug, histories) \
    static void bug##_is_found(void) { bug_search(#bug, &(histories)); }

BUG_TEST(reader_pruned, work)
BUG_TEST(reuse_reader, work)
BUG_TEST(born_late, work)
BUG_TEST(freed_early, work)
BUG_TEST(checksum_forgotten, work)
BUG_TEST(extent_lost, work)
BUG_TEST(extent_unwritten, work)
BUG_TEST(buffer_dirty, work)
BUG_TEST(undo_forgets_page, work)
BUG_TEST(last_bits_lost, work)
BUG_TEST(region_stale, work)
BUG_TEST(tail_pages_kept, work)
BUG_TEST(count_stale, work)
BUG_TEST(sequence_lost, work)
BUG_TEST(sequence_unmarked, work)
BUG_TEST(moved_entries_lost, work)
BUG_TEST(value_unsealed, work)
BUG_TEST(undo_keeps_busy, churn)
BUG_TEST(given_kept, churn)
BUG_TEST(hint_kept, churn)
BUG_TEST(snapshot_kept, churn)
BUG_TEST(born_kept, churn)
BUG_TEST(born_forgotten, churn)
BUG_TEST(verify_skipped, flip)
BUG_TEST(verified_beside, flip)

RUN_TESTS(TEST(nothing_is_found_without_a_bug), TEST(reader_pruned_is_found),
          TEST(reuse_reader_is_found), TEST(born_late_is_found), TEST(freed_early_is_found),
          TEST(checksum_forgotten_is_found), TEST(extent_lost_is_found),
          TEST(extent_unwritten_is_found), TEST(buffer_dirty_is_found),
          TEST(undo_forgets_page_is_found), TEST(last_bits_lost_is_found),
          TEST(region_stale_is_found), TEST(tail_pages_kept_is_found), TEST(count_stale_is_found),
          TEST(sequence_lost_is_found), TEST(sequence_unmarked_is_found),
          TEST(moved_entries_lost_is_found), TEST(value_unsealed_is_found),
          TEST(undo_keeps_busy_is_found), TEST(given_kept_is_found), TEST(hint_kept_is_found),
          TEST(snapshot_kept_is_found), TEST(born_kept_is_found), TEST(born_forgotten_is_found),
          TEST(verify_skipped_is_found), TEST(verified_beside_is_found))
