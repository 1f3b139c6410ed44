/* SPDX-License-Identifier: Apache-2.0 */
/* Salvaging a damaged store, which nobody has open. */
#include "api/argument.h"
#include "api/core.h"
#include "api/failure.h"

#include <stdio.h>
#include <string.h>

enum { FILE_MODE = 0644 };

static void tell_type(void *user, uint32_t entity_id, const struct entity *entity,
                      const struct salvage_count *count)
{
    boxwood_salvage_report *report = user;
    const uint32_t at = report->type_count++;
    if (at >= BOXWOOD_SALVAGE_TYPES) return;
    boxwood_salvage_type *type = &report->types[at];
    *type = (boxwood_salvage_type){.entity_id = entity_id,
                                   .certain = count->certain,
                                   .guessed = count->guessed,
                                   .lost = count->lost,
                                   .refused = count->refused};
    if (entity) (void)snprintf(type->name, sizeof(type->name), "%s", entity->name);
}

static void hand_out(const struct salvage_report *report, boxwood_salvage_report *out_report)
{
    out_report->txn_id = report->txn_id;
    out_report->file_pages = report->file_pages;
    out_report->pages_lost = report->pages_lost;
    out_report->pages_unreadable = report->pages_unreadable;
    out_report->certain = report->certain;
    out_report->guessed = report->guessed;
    out_report->lost = report->lost;
    out_report->refused = report->refused;
    out_report->has_checksums = report->has_checksums;
    out_report->has_schema = report->has_schema;
    out_report->has_later_commit = report->extents_younger != 0;
    out_report->has_all_roots = report->trees_without_root == 0;
}

static bw_err salvage(const char *from_directory, const char *to_directory,
                      const struct progress *progress, boxwood_salvage_report *out_report)
{
    if (!from_directory) return ARGUMENT_NULL(from_directory);
    if (!to_directory) return ARGUMENT_NULL(to_directory);
    if (!out_report) return ARGUMENT_NULL(out_report);
    if (out_report->size < sizeof(*out_report))
        return ARGUMENT_CONDITION(out_report->size >= sizeof(boxwood_salvage_report));
    struct disk *disk = bw_core_disk(from_directory, NULL);
    if (disk != bw_core_disk(to_directory, NULL))
        return bw_fail(BW_ERR_ILLEGAL_ARGUMENT,
                       "A store in files is salvaged to files, one in memory to memory");
    boxwood_salvage_report *report = bw_new(sizeof(*report));
    if (!report) return bw_fail(BW_ERR_NO_MEMORY, "Out of memory: a report");
    report->size = out_report->size;
    const struct db_salvage_options options = {.disk = disk,
                                               .from_directory = from_directory,
                                               .to_directory = to_directory,
                                               .file_mode = FILE_MODE,
                                               .durability = DURABLE_FULL,
                                               .progress = progress,
                                               .tell = tell_type,
                                               .user = report};
    struct salvage_report sums = {0};
    bw_err err = bw_db_salvage(&options, &sums);
    if (!err) {
        hand_out(&sums, report);
        *out_report = *report;
    }
    bw_free(report);
    return err;
}

obx_err boxwood_salvage(const char *from_directory, const char *to_directory,
                        boxwood_salvage_report *out_report, boxwood_progress *progress,
                        void *user_data, boxwood_failure *out_failure)
{
    const struct progress listener = {.report = progress, .user = user_data};
    return bw_failure_note(out_failure,
                           salvage(from_directory, to_directory, &listener, out_report));
}
