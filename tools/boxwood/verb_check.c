/* SPDX-License-Identifier: Apache-2.0 */
/* boxwood check: prove stores. */
#include "tool.h"

#include <inttypes.h>

static uint64_t text_count(const boxwood_check_report *report)
{
    return report->problems < BOXWOOD_CHECK_TEXTS ? report->problems : BOXWOOD_CHECK_TEXTS;
}

static void print(const char *directory, const boxwood_check_report *report)
{
    (void)printf("%s: %s; commit %" PRIu64 ", %" PRIu64 " objects in %" PRIu64 " trees, %" PRIu64
                 " pages\n",
                 directory, report->problems ? "PROBLEMS" : "fine", report->txn_id, report->objects,
                 report->trees, report->pages);
    for (uint64_t i = 0; i < text_count(report); i++) (void)printf("  %s\n", report->texts[i]);
    if (report->problems > BOXWOOD_CHECK_TEXTS)
        (void)printf("  and %" PRIu64 " more\n", report->problems - BOXWOOD_CHECK_TEXTS);
    if (report->problems)
        (void)printf("  What can be had of it: boxwood salvage %s NEW_DIRECTORY\n", directory);
}

static void print_json(const char *directory, const boxwood_check_report *report)
{
    json_begin();
    json_text("directory", directory);
    json_bool("fine", report->problems == 0);
    json_number("txn", report->txn_id);
    json_number("objects", report->objects);
    json_number("trees", report->trees);
    json_number("pages", report->pages);
    json_number("branches", report->branches);
    json_number("leaves", report->leaves);
    json_number("overflow_pages", report->overflow_pages);
    json_number("problems", report->problems);
    json_number("first_page", report->first_page);
    json_array("texts");
    for (uint64_t i = 0; i < text_count(report); i++) json_item(report->texts[i]);
    json_array_end();
    json_end();
}

static enum exit_code check_one(const struct options *options, const char *directory)
{
    boxwood_check_report report = {.size = sizeof(report)};
    boxwood_failure failure = {0};
    struct work work = {.name = directory};
    OBX_store *store = open_existing(directory);
    if (!store) return EXIT_NO_ACCESS;
    const uint32_t flags = options->pages_only ? BOXWOOD_CHECK_PAGES_ONLY : 0;
    const obx_err err =
        boxwood_store_check(store, flags, &report, progress_of(options), &work, &failure);
    end_progress(options);
    (void)obx_store_close(store);
    if (err) return tell_failure(directory, &failure);
    if (options->is_json) print_json(directory, &report);
    else print(directory, &report);
    return report.problems ? EXIT_PROBLEMS : EXIT_FINE;
}

enum exit_code run_check(const struct options *options, char **arguments, int count)
{
    enum exit_code worst = EXIT_FINE;
    for (int i = 0; i < count; i++) {
        const enum exit_code code = check_one(options, arguments[i]);
        if (code > worst) worst = code;
    }
    return worst;
}
