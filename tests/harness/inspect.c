/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/inspect.h"

#include <errno.h>
#include <stdio.h>

enum { PROBLEM_ROOM = sizeof(((struct inspection *)0)->problem) };

struct store_options inspect_options(struct sim_disk *sim, const struct geometry *geometry)
{
    return (struct store_options){
        .disk = &sim->disk,
        .directory = STORE_DIRECTORY,
        .file_mode = 0644,
        .durability = DURABLE_FULL,
        .geometry = geometry,
    };
}

static bool fail(char *problem, const char *what, const char *why)
{
    (void)snprintf(problem, PROBLEM_ROOM, "%s: %s", what, why);
    return false;
}

static bool fail_code(char *problem, const char *what, bw_err err)
{
    (void)snprintf(problem, PROBLEM_ROOM, "%s: error %d, %s", what, (int)err, bw_reason_text());
    return false;
}

/* Everything a transaction sees against a state that is known. */
static bool is_state(struct txn *txn, const struct world *world, const struct world_state *state,
                     bool is_checked, char *problem)
{
    char difference[WORLD_TEXT_ROOM];
    bw_err err = world_compare(world, txn, state, difference);
    if (err) return fail_code(problem, "reading", err);
    if (*difference) return fail(problem, "content", difference);
    if (!is_checked) return true;
    struct check_report report = {0};
    err = bw_store_check(txn, NULL, &report);
    if (err) return fail_code(problem, "check", err);
    if (report.problems) return fail(problem, "check", report.first_problem);
    return true;
}

bool inspect_open(struct store *store, const struct world *world, uint64_t serial, bool is_checked,
                  char *out_problem)
{
    const struct world_state *state = world_find(world, serial);
    if (!state) return fail(out_problem, "inspect", "an unknown state was asked for");
    struct txn *txn = NULL;
    bw_err err = bw_txn_begin(store, TXN_READ, 0, &txn);
    if (err) return fail_code(out_problem, "begin", err);
    const bool is_good = is_state(txn, world, state, is_checked, out_problem);
    bw_txn_abort(txn);
    return is_good;
}

static bool is_known_state(struct inspection *inspection, struct store *store, uint64_t *out_serial)
{
    char *problem = inspection->problem;
    struct txn *txn = NULL;
    bw_err err = bw_txn_begin(store, TXN_READ, 0, &txn);
    if (err) return fail_code(problem, "begin", err);
    err = world_serial(txn, out_serial);
    bool is_good = !err;
    if (err) {
        (void)fail_code(problem, "reading", err);
    } else {
        const struct world_state *state = world_find(inspection->world, *out_serial);
        is_good = state ? is_state(txn, inspection->world, state, true, problem)
                        : fail(problem, "content", "a state that was rolled back, or never was");
    }
    bw_txn_abort(txn);
    return is_good;
}

/* One read-only open. *out_serial 0: there is no store. */
static bool open_and_look(struct inspection *inspection, bool use_previous, uint64_t *out_serial,
                          bool *out_previous)
{
    struct store_options options = inspect_options(inspection->sim, inspection->geometry);
    options.read_only = true;
    options.use_previous = use_previous;
    options.verify_manifest = inspection->verify_manifest;
    *out_serial = 0;
    *out_previous = false;
    struct store *store = NULL;
    bw_err err = bw_store_open(&options, &store);
    if (err == BW_ERR_STORAGE_GENERAL && bw_reason_secondary() == ENOENT) return true;
    if (err == BW_ERR_FILE_CORRUPT || err == BW_ERR_FILE_PAGES_CORRUPT) {
        inspection->is_refused = true;
        (void)fail_code(inspection->problem, "refused", err);
        return true;
    }
    if (err) return fail_code(inspection->problem, "open", err);
    struct store_info info;
    bw_store_info(store, &info);
    *out_previous = info.opened_previous;
    const bool is_good = is_known_state(inspection, store, out_serial);
    bw_store_close(store);
    return is_good;
}

bool inspect(struct inspection *inspection)
{
    bool is_previous = false;
    uint64_t again = 0;
    inspection->is_refused = false;
    inspection->older = 0;
    if (!open_and_look(inspection, false, &inspection->serial, &is_previous)) return false;
    if (inspection->is_refused) return true;
    if (!inspection->newest_only && inspection->serial) {
        if (!open_and_look(inspection, true, &again, &is_previous)) return false;
        if (is_previous) inspection->older = again;
        if (!is_previous && again != inspection->serial) {
            return fail(inspection->problem, "recovery", "use_previous opened an unnamed state");
        }
        if (inspection->is_refused) {
            return fail(inspection->problem, "recovery", "use_previous was refused");
        }
    }
    if (!open_and_look(inspection, false, &again, &is_previous)) return false;
    if (inspection->is_refused || again != inspection->serial) {
        return fail(inspection->problem, "recovery", "two opens do not agree");
    }
    return true;
}
