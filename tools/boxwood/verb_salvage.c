/* SPDX-License-Identifier: Apache-2.0 */
/* boxwood salvage: what can be had of a damaged store goes into a new one. */
#include "tool.h"

#include <inttypes.h>

static uint32_t type_count(const boxwood_salvage_report *report)
{
    return report->type_count < BOXWOOD_SALVAGE_TYPES ? report->type_count : BOXWOOD_SALVAGE_TYPES;
}

static void print_hints(const boxwood_salvage_report *report)
{
    if (!report->txn_id)
        (void)puts("  No state of the store can be read: everything is a guess by its pages.");
    if (!report->has_checksums)
        (void)puts("  The store's identity is lost, so that checksums cannot be verified: pages "
                   "were taken by their form.");
    if (!report->has_schema)
        (void)puts("  The schema is lost: open the new store with your model.");
    if (report->has_later_commit)
        (void)puts("  There are pages of a later commit, which was not completed or is lost.");
    if (!report->has_all_roots)
        (void)puts("  Of some types nobody knows how many objects there were.");
}

static void print(char **names, const boxwood_salvage_report *report)
{
    (void)printf("%s: salvaged to %s: %" PRIu64 " objects for certain, %" PRIu64
                 " guessed, %" PRIu64 " lost, %" PRIu64 " damaged\n",
                 names[0], names[1], report->certain, report->guessed, report->lost,
                 report->refused);
    for (uint32_t i = 0; i < type_count(report); i++) {
        const boxwood_salvage_type *type = &report->types[i];
        (void)printf("  %s (%" PRIu32 "): %" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64 "\n",
                     type->name[0] ? type->name : "type", type->entity_id, type->certain,
                     type->guessed, type->lost, type->refused);
    }
    print_hints(report);
}

static void print_json(char **names, const boxwood_salvage_report *report)
{
    json_begin();
    json_text("from", names[0]);
    json_text("to", names[1]);
    json_number("txn", report->txn_id);
    json_number("certain", report->certain);
    json_number("guessed", report->guessed);
    json_number("lost", report->lost);
    json_number("refused", report->refused);
    json_number("file_pages", report->file_pages);
    json_number("pages_lost", report->pages_lost);
    json_number("pages_unreadable", report->pages_unreadable);
    json_bool("has_checksums", report->has_checksums);
    json_bool("has_schema", report->has_schema);
    json_bool("has_later_commit", report->has_later_commit);
    json_bool("has_all_roots", report->has_all_roots);
    json_array("types");
    for (uint32_t i = 0; i < type_count(report); i++) {
        const boxwood_salvage_type *type = &report->types[i];
        json_object();
        json_number("id", type->entity_id);
        json_text("name", type->name);
        json_number("certain", type->certain);
        json_number("guessed", type->guessed);
        json_number("lost", type->lost);
        json_number("refused", type->refused);
        json_object_end();
    }
    json_array_end();
    json_end();
}

enum exit_code run_salvage(const struct options *options, char **arguments, int count)
{
    static boxwood_salvage_report report = {.size = sizeof(report)};
    boxwood_failure failure = {0};
    struct work work = {.name = arguments[0]};
    (void)count;
    const obx_err err =
        boxwood_salvage(arguments[0], arguments[1], &report, progress_of(options), &work, &failure);
    end_progress(options);
    if (err) return tell_failure(arguments[0], &failure);
    if (options->is_json) print_json(arguments, &report);
    else print(arguments, &report);
    const bool is_whole = !report.guessed && !report.lost && !report.refused &&
                          !report.pages_lost && report.has_schema && report.txn_id;
    return is_whole ? EXIT_FINE : EXIT_PROBLEMS;
}
