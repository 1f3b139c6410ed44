/* SPDX-License-Identifier: Apache-2.0 */
/* Random work on a tree over a stand-in for the pager. BW_SEED repeats a run, BW_STEPS makes it
 * longer. */
#include <stdlib.h>

#include "harness/check.h"
#include "harness/fake_pager.h"

enum { STEPS = 1000 };

static void a_tree_equals_its_model_whatever_is_done(void)
{
    const char *given = getenv("BW_STEPS");
    const long steps = given ? strtol(given, NULL, 0) : STEPS;
    struct txn *txn = bw_fake_pager_new();
    struct stage stage = bw_fake_pager_stage(txn);
    struct work *work = work_new(&stage, bw_test_seed());
    for (long i = 0; i < steps; i++) work_step(work);
    work_thin_out(work);
    work_check_all(work);
    work_free(work);
    CHECK_OK(bw_tree_drop(txn, WORK_TREE));
    CHECK_EQ(bw_fake_pager_pages(txn), 0);
    bw_fake_pager_free(txn);
    CHECK_EQ(bw_memory_blocks(), 0);
}

RUN_TESTS(TEST(a_tree_equals_its_model_whatever_is_done))
