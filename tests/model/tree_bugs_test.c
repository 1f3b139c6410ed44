/* SPDX-License-Identifier: Apache-2.0 */
/* Bugs of trees: each must be found by random work over the stand-in for the pager. */
#include "harness/bug_search.h"
#include "harness/check.h"
#include "harness/fake_pager.h"

enum { HISTORIES_WITHOUT = 3, STEPS = 200 };

static void run_work(const void *argument, uint64_t seed, char out_text[SEARCH_TEXT_ROOM])
{
    (void)argument, (void)out_text;
    struct txn *txn = bw_fake_pager_new();
    struct stage stage = bw_fake_pager_stage(txn);
    struct work *work = work_new(&stage, seed);
    for (int i = 0; i < STEPS; i++) work_step(work);
    work_check_all(work);
    work_free(work);
    bw_fake_pager_free(txn);
}

static void thin_out(const void *argument, uint64_t seed, char out_text[SEARCH_TEXT_ROOM])
{
    (void)argument, (void)out_text;
    struct txn *txn = bw_fake_pager_new();
    struct stage stage = bw_fake_pager_stage(txn);
    struct work *work = work_new(&stage, seed);
    work_thin_out(work);
    work_free(work);
    bw_fake_pager_free(txn);
}

static const struct histories work = {"work on a tree", 100, run_work, NULL};
static const struct histories thin = {"a tree that is thinned out", 1000, thin_out, NULL};

static void nothing_is_found_without_a_bug(void)
{
    struct histories some = work;
    some.count_max = HISTORIES_WITHOUT;
    bug_search(NULL, &some);
    some = thin;
    some.count_max = HISTORIES_WITHOUT;
    bug_search(NULL, &some);
}

#define BUG_TEST(bug, histories) \
    static void bug##_is_found(void) { bug_search(#bug, &(histories)); }

BUG_TEST(split_miscounts, thin)
BUG_TEST(merge_miscounts, work)
BUG_TEST(removal_miscounts, work)
BUG_TEST(split_loses_key, work)
BUG_TEST(merge_loses_key, work)
BUG_TEST(merge_loses_child, thin)
BUG_TEST(merge_forgets_bound, thin)
BUG_TEST(cursor_stays, work)
BUG_TEST(tail_kept, work)
BUG_TEST(tail_overcut, work)
BUG_TEST(padding_kept, work)
BUG_TEST(value_kept, work)
BUG_TEST(overflow_freed_twice, work)
BUG_TEST(overflow_kept, work)
BUG_TEST(overflow_unmarked, work)
BUG_TEST(value_unsealed, work)
BUG_TEST(pieces_kept, work)
BUG_TEST(max_key_kept, work)

RUN_TESTS(TEST(nothing_is_found_without_a_bug), TEST(split_miscounts_is_found),
          TEST(merge_miscounts_is_found), TEST(removal_miscounts_is_found),
          TEST(split_loses_key_is_found), TEST(merge_loses_key_is_found),
          TEST(merge_loses_child_is_found), TEST(merge_forgets_bound_is_found),
          TEST(cursor_stays_is_found), TEST(tail_kept_is_found), TEST(tail_overcut_is_found),
          TEST(padding_kept_is_found), TEST(value_kept_is_found),
          TEST(overflow_freed_twice_is_found), TEST(overflow_kept_is_found),
          TEST(overflow_unmarked_is_found), TEST(value_unsealed_is_found),
          TEST(pieces_kept_is_found), TEST(max_key_kept_is_found))
