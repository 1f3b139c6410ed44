/* SPDX-License-Identifier: Apache-2.0 */
#include "base/base.h"
#include "harness/check.h"

static void no_bug_is_on_by_itself(void) { CHECK(!BUG(no_verify)); }

static void one_bug_is_on_by_its_name(void)
{
#ifdef BW_BUGS
    bw_bug = "no_verify";
    CHECK(BUG(no_verify));
    CHECK(!BUG(no_verif));
    CHECK(!BUG(no_verify_at_all));
    bw_bug = NULL;
    CHECK(!BUG(no_verify));
#endif
}

RUN_TESTS(TEST(no_bug_is_on_by_itself), TEST(one_bug_is_on_by_its_name))
