/* SPDX-License-Identifier: Apache-2.0 */
/* Compacting an open store. */
#include "api/failure.h"
#include "api/handles.h"
#include "api/thread_txn.h"

/* A caller's listener; work also ends when the store is being closed. */
struct listener {
    const struct core *core;
    struct progress progress;
};

static bool report(void *user, uint64_t done, uint64_t total)
{
    const struct listener *listener = user;
    if (atomic_load(&listener->core->state) != CORE_OPEN) return false;
    const struct progress *to = &listener->progress;
    return !to->report || to->report(to->user, done, total);
}

static bw_err compact_held(struct core *core, const struct progress *progress,
                           boxwood_compact_report *out_report)
{
    struct listener listener = {.core = core, .progress = *progress};
    const struct progress both = {.report = report, .user = &listener};
    struct compact_report found = {0};
    struct inside inside;
    bw_core_note_inside(&inside, core);
    bw_err err = bw_store_compact(bw_db_store(core->db), &both, &found);
    bw_core_forget_inside(&inside);
    if (err) return err;
    out_report->file_size_before = found.file_size_before;
    out_report->file_size_after = found.file_size_after;
    out_report->moved_pages = found.moved_pages;
    out_report->steps = found.steps;
    return BW_OK;
}

static bw_err compact(OBX_store *store, const struct progress *progress,
                      boxwood_compact_report *out_report)
{
    struct core *core = NULL;
    uint64_t core_id = 0;
    bw_err err = CORE_OF_STORE(store, &core, &core_id);
    if (!err && !out_report) err = ARGUMENT_NULL(out_report);
    if (!err && out_report->size < sizeof(*out_report))
        err = ARGUMENT_CONDITION(out_report->size >= sizeof(boxwood_compact_report));
    if (err) return err;
    const OBX_txn *top = bw_thread_txn_find(core_id);
    if (top && top->writes && top->txn) {
        return bw_fail(BW_ERR_ILLEGAL_STATE, "This thread has a write transaction open on the "
                                             "store and would wait for itself");
    }
    err = bw_core_enter(core, core_id);
    if (err) return err;
    err = compact_held(core, progress, out_report);
    bw_core_leave(core);
    return err;
}

obx_err boxwood_store_compact(OBX_store *store, boxwood_compact_report *out_report,
                              boxwood_progress *progress, void *user_data,
                              boxwood_failure *out_failure)
{
    const struct progress listener = {.report = progress, .user = user_data};
    return bw_failure_note(out_failure, compact(store, &listener, out_report));
}
