/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compaction while the store is used (R19): nothing but ordinary transactions, whose copies go to
 * the lowest free places as all copies do.
 *
 * A pass looks at every leaf of every tree once, by key, and moves what ends above the place where
 * the file could end if nothing in it were free. It is cut into steps; between two of them anybody
 * may write. What a step leaves behind becomes free when neither slot needs it any more, which a
 * twin (R22) brings about at the end of a pass.
 */
#include "store/tree.h"

#include "store/engine.h"

enum { PASSES_MAX = 4, STEP_PAGES = 64, STEP_LEAVES = 2048 };

struct compaction {
    struct store *store;
    const struct progress *progress; /* may be NULL */
    struct compact_report report;
    struct tree_move move;
    uint32_t tree_id; /* the one that the pass has come to */
    uint64_t total;   /* pages that lay high when it began */
    bool is_stuck;    /* no free place below the limit */
};

/* Where the file could end, with room for what is copied on the way. */
static uint32_t limit_of(const struct space *space)
{
    const uint32_t used = bw_space_used_pages(space);
    return used + used / 64 + STEP_PAGES / 4;
}

static bw_err move_schema(struct compaction *compaction, struct txn *txn)
{
    const struct snapshot *snapshot = txn->snapshot;
    if (snapshot->schema_page <= compaction->move.limit) return BW_OK;
    struct bytes blob = {0};
    bw_err err = bw_txn_schema(txn, &blob);
    if (!err) err = bw_txn_set_schema(txn, snapshot->schema_hash, blob);
    compaction->move.moved_pages += (uint32_t)(blob.size / PAGE_SIZE + 1);
    return err;
}

/* Go on to the next tree at the end of one. */
static bw_err take_tree(struct compaction *compaction, struct txn *txn)
{
    if (compaction->move.key) return BW_OK;
    return bw_catalog_next(txn, compaction->tree_id, &compaction->tree_id);
}

/* *out_ended: the pass has come to the end of the last tree. */
static bw_err step(struct compaction *compaction, struct txn *txn, bool *out_ended)
{
    const struct space *space = &compaction->store->writer->space;
    struct tree_move *move = &compaction->move;
    const uint32_t moved = move->moved_pages;
    *out_ended = false;
    for (unsigned i = 0; i < STEP_LEAVES && move->moved_pages - moved < STEP_PAGES; i++) {
        compaction->is_stuck = !bw_space_has_free(space, EXTENT_PAGES_MAX, move->limit) &&
                               !bw_space_has_free(space, 1, move->limit);
        if (compaction->is_stuck) return BW_OK;
        bw_err err = take_tree(compaction, txn);
        if (err) return err;
        *out_ended = !compaction->tree_id;
        if (*out_ended) return BW_OK;
        err = bw_tree_move_leaf(txn, compaction->tree_id, move);
        if (err) return err;
    }
    return BW_OK;
}

static bw_err run_step(struct compaction *compaction, bool *out_ended)
{
    struct txn *txn = NULL;
    const uint32_t moved = compaction->move.moved_pages;
    bw_err err = bw_txn_begin(compaction->store, TXN_WRITE, -1, &txn);
    if (err) return err;
    err = step(compaction, txn, out_ended);
    if (!err && *out_ended) err = move_schema(compaction, txn);
    if (err) {
        bw_txn_abort(txn);
        return err;
    }
    err = bw_txn_commit(txn);
    compaction->report.moved_pages += compaction->move.moved_pages - moved;
    compaction->report.steps++;
    const uint64_t done = compaction->report.moved_pages;
    if (!err)
        err = bw_progress_report(compaction->progress,
                                 done < compaction->total ? done : compaction->total,
                                 compaction->total);
    return err;
}

/* Whatever waits for the other slot becomes free, and the tail goes. Tells where the file could
 * end, and where it does. */
static bw_err give_back(struct compaction *compaction, uint32_t *out_limit, uint32_t *out_hwm)
{
    struct store *store = compaction->store;
    struct txn *txn = NULL;
    bw_err err = bw_txn_begin(store, TXN_WRITE, -1, &txn);
    if (err) return err;
    err = bw_group_twin(store);
    if (!err) err = bw_pins_ripen(store);
    if (!err) bw_pins_trim(store, true);
    if (!err) {
        *out_limit = limit_of(&store->writer->space);
        *out_hwm = bw_space_hwm(&store->writer->space);
    }
    bw_txn_abort(txn);
    return err;
}

static bw_err run_pass(struct compaction *compaction, uint32_t limit)
{
    compaction->move = (struct tree_move){.limit = limit};
    compaction->tree_id = 0;
    compaction->is_stuck = false;
    bool has_ended = false;
    bw_err err = BW_OK;
    while (!err && !has_ended && !compaction->is_stuck) err = run_step(compaction, &has_ended);
    return err;
}

bw_err bw_store_compact(struct store *store, const struct progress *progress,
                        struct compact_report *out_report)
{
    struct compaction compaction = {.store = store, .progress = progress};
    uint32_t limit = 0, hwm = 0, before = UINT32_MAX;
    struct store_info info;
    bw_store_info(store, &info);
    compaction.report.file_size_before = info.file_size;
    bw_err err = give_back(&compaction, &limit, &hwm);
    compaction.total = hwm > limit ? hwm - limit : 0;
    for (int pass = 0; pass < PASSES_MAX && !err && hwm > limit && hwm < before; pass++) {
        before = hwm;
        err = run_pass(&compaction, limit);
        if (!err) err = give_back(&compaction, &limit, &hwm);
    }
    if (!err) err = bw_progress_report(progress, compaction.total, compaction.total);
    bw_store_info(store, &info);
    compaction.report.file_size_after = info.file_size;
    if (!err) *out_report = compaction.report;
    return err;
}
