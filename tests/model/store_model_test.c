/* SPDX-License-Identifier: Apache-2.0 */
/* Random work on a whole store, without crashes. BW_SEED repeats a run, BW_HISTORIES makes it
 * longer. */
#include "harness/store_work.h"

#include <stdlib.h>

#include "harness/check.h"
#include "harness/sample.h"

enum { WORKS = 12, WORK_STEPS = 150, CHURNS = 40, FLIPS = 100 };

static unsigned histories(unsigned count)
{
    const char *given = getenv("BW_HISTORIES");
    return given && *given ? (unsigned)strtoul(given, NULL, 10) : count;
}

static void work(uint64_t seed) { store_work(seed, WORK_STEPS); }

static void run(void (*history)(uint64_t seed), unsigned count)
{
    const uint64_t first = bw_test_seed();
    for (uint64_t seed = first; seed < first + histories(count); seed++) {
        history(seed);
        sample_expect_nothing_left();
    }
}

static void a_tree_in_a_store_equals_its_model_whatever_is_done(void) { run(work, WORKS); }
static void a_file_that_is_rewritten_stays_small(void) { run(store_churn, CHURNS); }
static void a_changed_byte_is_noticed_when_it_is_read(void) { run(store_flip, FLIPS); }

RUN_TESTS(TEST(a_tree_in_a_store_equals_its_model_whatever_is_done),
          TEST(a_file_that_is_rewritten_stays_small),
          TEST(a_changed_byte_is_noticed_when_it_is_read))
