/* SPDX-License-Identifier: Apache-2.0 */
/* boxwood stat: numbers of stores, which cost nothing to know. */
#include "tool.h"

#include <inttypes.h>

static void print(const char *directory, const boxwood_store_stats_t *stats)
{
    (void)printf("%s: %" PRIu64 " bytes, %" PRIu64 " of them in use; commit %" PRIu64 "%s\n",
                 directory, stats->file_size, stats->used_size, stats->txn_id,
                 stats->opened_older ? "; the newest commit is damaged, this is the one before"
                                     : "");
}

static void print_json(const char *directory, const boxwood_store_stats_t *stats)
{
    json_begin();
    json_text("directory", directory);
    json_number("file_size", stats->file_size);
    json_number("used_size", stats->used_size);
    json_number("txn", stats->txn_id);
    json_bool("opened_older", stats->opened_older);
    json_end();
}

static enum exit_code stat_one(const struct options *options, const char *directory)
{
    boxwood_store_stats_t stats = {.size = sizeof(stats)};
    boxwood_failure failure = {0};
    OBX_store *store = open_existing(directory);
    if (!store) return EXIT_NO_ACCESS;
    const obx_err err = boxwood_store_stats(store, &stats, &failure);
    (void)obx_store_close(store);
    if (err) return tell_failure(directory, &failure);
    if (options->is_json) print_json(directory, &stats);
    else print(directory, &stats);
    return stats.opened_older ? EXIT_PROBLEMS : EXIT_FINE;
}

enum exit_code run_stat(const struct options *options, char **arguments, int count)
{
    enum exit_code worst = EXIT_FINE;
    for (int i = 0; i < count; i++) {
        const enum exit_code code = stat_one(options, arguments[i]);
        if (code > worst) worst = code;
    }
    return worst;
}
