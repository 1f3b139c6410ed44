/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A look at the first pages of all trees, breadth-first: what an opening can afford.
 *
 * The tops of all trees come first, then what is below them, so that few pages vouch for the way to
 * many. Every page is compared with what leads to it: number, kind, tree, level, checksum, bounds
 * of its keys, age and count. The queue is never longer than what may still be looked at.
 *
 * Not here: values in extents of their own, reachability, the allocation state: bw_store_check.
 */
#include "store/engine.h"

#include <stdio.h>

#include "store/tree.h"

struct waiting {
    uint32_t tree_id;
    page_ref ref;
    unsigned level;
    uint32_t count;       // keys below it
    uint64_t low, high;   // both inclusive
    uint64_t parent_born; // nothing below is younger
};

struct probe {
    struct txn *txn;
    bool with_leaves;
    uint64_t pages_left;   // that may be put into the queue
    struct waiting *queue; // owned
    size_t first, count, room;
};

static bw_err fail(const struct waiting *at, const char *why)
{
    return bw_fail(BW_ERR_FILE_PAGES_CORRUPT, "tree %u, page %u: %s", at->tree_id,
                   bw_ref_page(at->ref), why);
}

// The pager names the page, but not what it was read for.
static bw_err name_tree(const struct waiting *at, bw_err err)
{
    char why[CHECK_TEXT_ROOM];
    if (err != BW_ERR_FILE_PAGES_CORRUPT) return err;
    (void)snprintf(why, sizeof(why), "%s", bw_reason_text());
    return bw_fail(err, "tree %u: %s", at->tree_id, why);
}

// Queue a page, unless the limit is reached or it is a leaf that nobody wants to see.
static bw_err wait(struct probe *probe, const struct waiting *waiting)
{
    const uint32_t pages = bw_ref_pages(waiting->ref);
    if (waiting->level == 0 && !probe->with_leaves) return BW_OK;
    if (pages > probe->pages_left) {
        probe->pages_left = 0;
        return BW_OK;
    }
    if (probe->count == probe->room) {
        const size_t room = probe->room ? probe->room * 2 : 64;
        struct waiting *queue = bw_resize(probe->queue, room * sizeof(*queue));
        if (!queue) return bw_fail(BW_ERR_NO_MEMORY, "Out of memory: checking a store");
        probe->queue = queue;
        probe->room = room;
    }
    probe->queue[probe->count++] = *waiting;
    probe->pages_left -= pages;
    return BW_OK;
}

static bw_err wait_for_root(struct probe *probe, uint32_t tree_id)
{
    struct tree *tree = NULL;
    bw_err err = bw_txn_tree(probe->txn, tree_id, &tree);
    if (err || !tree || !tree->root) return err;
    err = bw_path_check_depth(tree);
    if (err) return err;
    const struct waiting root = {.tree_id = tree_id,
                                 .ref = tree->root,
                                 .level = tree->depth - 1u,
                                 .count = tree->count,
                                 .low = 1,
                                 .high = UINT64_MAX,
                                 .parent_born = bw_txn_id(probe->txn)};
    return wait(probe, &root);
}

static bw_err wait_for_roots(struct probe *probe)
{
    const struct snapshot *snapshot = probe->txn->snapshot;
    bw_err err = BW_OK;
    for (uint16_t i = 0; i < snapshot->tree_count && !err; i++)
        err = wait_for_root(probe, snapshot->trees[i].id);
    if (err || !snapshot->has_catalog) return err;
    struct cursor cursor;
    bw_cursor_init(&cursor, probe->txn, TREE_CATALOG);
    while (probe->pages_left) {
        bool found = false;
        err = bw_cursor_next(&cursor, &found);
        if (!err && found) err = wait_for_root(probe, (uint32_t)cursor.key);
        if (err || !found) return err;
    }
    return BW_OK;
}

// ---- one page ----

static bw_err check_leaf(struct probe *probe, const struct waiting *at)
{
    const uint8_t *leaf = NULL;
    bw_err err = bw_leaf_read(probe->txn, at->tree_id, at->ref, &leaf);
    if (err) return name_tree(at, err);
    if (bw_page_born(leaf) > at->parent_born) return fail(at, "is younger than what refers to it");
    const char *why = bw_leaf_problem(leaf);
    if (why) return fail(at, why);
    const unsigned last = bw_leaf_slots(leaf) - 1; // neither it nor the first is empty
    if (bw_leaf_key(leaf, 0) < at->low || bw_leaf_key(leaf, last) > at->high)
        return fail(at, "holds a key that belongs elsewhere");
    if (bw_leaf_fill(leaf).live != at->count) return fail(at, "holds another number of keys");
    return BW_OK;
}

static bw_err wait_for_children(struct probe *probe, const struct waiting *at,
                                const uint8_t *branch)
{
    const unsigned children = bw_branch_children(branch);
    bw_err err = BW_OK;
    for (unsigned i = 0; i < children && probe->pages_left && !err; i++) {
        const struct waiting child = {
            .tree_id = at->tree_id,
            .ref = bw_branch_ref(branch, i),
            .level = at->level - 1,
            .count = bw_branch_count(branch, i),
            .low = i ? bw_branch_key(branch, i) : at->low,
            .high = i + 1 < children ? bw_branch_key(branch, i + 1) - 1 : at->high,
            .parent_born = bw_page_born(branch),
        };
        err = wait(probe, &child);
    }
    return err;
}

static bw_err check_branch(struct probe *probe, const struct waiting *at)
{
    const uint8_t *branch = NULL;
    bw_err err = bw_branch_read(probe->txn, at->tree_id, at->ref, at->level, &branch);
    if (err) return name_tree(at, err);
    if (bw_page_born(branch) > at->parent_born)
        return fail(at, "is younger than what refers to it");
    const char *why = bw_branch_problem(branch, at->low, at->high);
    if (why) return fail(at, why);
    if (bw_branch_total(branch) != at->count) return fail(at, "counts its keys wrongly");
    return wait_for_children(probe, at, branch);
}

bw_err bw_store_probe(struct txn *txn, uint64_t page_limit, bool with_leaves)
{
    struct probe probe = {.txn = txn, .with_leaves = with_leaves, .pages_left = page_limit};
    if (!txn->snapshot) return BW_OK;
    bw_err err = wait_for_roots(&probe);
    while (!err && probe.first < probe.count) {
        const struct waiting at = probe.queue[probe.first++];
        err = at.level ? check_branch(&probe, &at) : check_leaf(&probe, &at);
    }
    bw_free(probe.queue);
    return err;
}
