/* SPDX-License-Identifier: Apache-2.0 */
#include "store/store.h"

#include <stdarg.h>
#include <stdio.h>

void bw_check_report_add(struct check_report *report, uint32_t page, const char *format, ...)
{
    const uint64_t at = report->problems++;
    if (page && !report->first_page) report->first_page = page;
    if (at >= CHECK_TEXTS) return;
    char *text = at ? report->next_problems[at - 1] : report->first_problem;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, CHECK_TEXT_ROOM, format, arguments);
    va_end(arguments);
}
