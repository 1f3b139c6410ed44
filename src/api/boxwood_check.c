/* SPDX-License-Identifier: Apache-2.0 */
/* Checking an open store. */
#include "api/failure.h"
#include "api/store_handle.h"

_Static_assert((int)BOXWOOD_CHECK_TEXTS == (int)CHECK_TEXTS, "as many texts as the store keeps");

static void hand_out(const struct check_report *report, uint64_t txn_id,
                     boxwood_check_report *out_report)
{
    out_report->txn_id = txn_id;
    out_report->pages = report->pages;
    out_report->branches = report->branches;
    out_report->leaves = report->leaves;
    out_report->overflow_pages = report->overflow_pages;
    out_report->trees = report->trees;
    out_report->objects = report->keys;
    out_report->problems = report->problems;
    out_report->first_page = report->first_page;
    memcpy(out_report->texts[0], report->first_problem, CHECK_TEXT_ROOM);
    memcpy(out_report->texts + 1, report->next_problems, sizeof(report->next_problems));
}

static bw_err check_held(struct core *core, uint32_t flags, const struct progress *progress,
                         boxwood_check_report *out_report)
{
    struct txn *txn = NULL;
    struct check_report report = {0};
    bw_err err = bw_core_begin(core, TXN_READ, 0, &txn);
    if (err) return err;
    struct inside inside;
    bw_core_note_inside(&inside, core);
    if (flags & BOXWOOD_CHECK_PAGES_ONLY) err = bw_store_check(txn, progress, &report);
    else err = bw_db_check(core->db, txn, progress, &report);
    bw_core_forget_inside(&inside);
    if (!err) hand_out(&report, bw_txn_id(txn), out_report);
    bw_txn_abort(txn);
    return err;
}

static bw_err check(OBX_store *store, uint32_t flags, const struct progress *progress,
                    boxwood_check_report *out_report)
{
    struct core *core = NULL;
    uint64_t core_id = 0;
    bw_err err = CORE_OF_STORE(store, &core, &core_id);
    if (!err && flags > BOXWOOD_CHECK_PAGES_ONLY)
        err = ARGUMENT_CONDITION(flags <= BOXWOOD_CHECK_PAGES_ONLY);
    if (!err && !out_report) err = ARGUMENT_NULL(out_report);
    if (!err && out_report->size < sizeof(*out_report))
        err = ARGUMENT_CONDITION(out_report->size >= sizeof(boxwood_check_report));
    if (!err) err = bw_core_enter(core, core_id);
    if (err) return err;
    err = check_held(core, flags, progress, out_report);
    bw_core_leave(core);
    return err;
}

obx_err boxwood_store_check(OBX_store *store, uint32_t flags, boxwood_check_report *out_report,
                            boxwood_progress *progress, void *user_data,
                            boxwood_failure *out_failure)
{
    const struct progress listener = {.report = progress, .user = user_data};
    return bw_failure_note(out_failure, check(store, flags, &listener, out_report));
}
