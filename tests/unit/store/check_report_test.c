/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/check.h"
#include "store/store.h"

#include <string.h>

static void the_first_few_texts_are_kept_and_all_are_counted(void)
{
    struct check_report report = {0};
    for (unsigned i = 0; i < 2 * CHECK_TEXTS; i++)
        bw_check_report_add(&report, i < 2 ? 0 : 100 + i, "problem %u", i);
    CHECK_EQ(report.problems, 2 * CHECK_TEXTS);
    CHECK_EQ(report.first_page, 102);
    CHECK_TEXT(report.first_problem, "problem 0");
    CHECK_TEXT(report.next_problems[0], "problem 1");
    CHECK_TEXT(report.next_problems[CHECK_TEXTS - 2], "problem 7");
}

static void a_long_text_is_cut(void)
{
    struct check_report report = {0};
    bw_check_report_add(&report, 5, "%0400d", 1);
    CHECK_EQ(strlen(report.first_problem), CHECK_TEXT_ROOM - 1);
    CHECK_EQ(report.next_problems[0][0], 0);
}

RUN_TESTS(TEST(the_first_few_texts_are_kept_and_all_are_counted), TEST(a_long_text_is_cut))
