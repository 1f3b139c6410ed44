/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cursors: a tree's entries in order of their keys.
 *
 * A cursor keeps the branches above its leaf and moves on without searching. When the transaction
 * has changed anything since, these may be gone: it then searches for the key behind its last one.
 *
 * Invariants:
 *   N1  leaf and path are only used while `change` is the transaction's count of changes.
 *   N2  A cursor that has reached the end stays there until the next seek.
 *   N3  Keys ascend from each entry to the next, and no leaf has none: however often branches of a
 *       damaged file lead to the same leaf, a walk visits it once and ends.
 */
#include "store/tree.h"

void bw_cursor_init(struct cursor *cursor, struct txn *txn, uint32_t tree_id)
{
    *cursor = (struct cursor){.txn = txn, .tree_id = tree_id};
}

static bw_err stop(struct cursor *cursor, bool *out_found)
{
    cursor->is_ended = true; // N2
    cursor->leaf = NULL;
    *out_found = false;
    return BW_OK;
}

// Go down from the child taken at depth - 1 to a leaf: to its first child, or where a key belongs.
static bw_err descend(struct cursor *cursor, page_ref ref, unsigned from, uint64_t key)
{
    for (unsigned depth = from; depth < cursor->depth; depth++) {
        const uint8_t *branch;
        bw_err err =
            bw_branch_read(cursor->txn, cursor->tree_id, ref, cursor->depth - depth, &branch);
        if (err) return err;
        cursor->path[depth].branch = branch;
        cursor->path[depth].at = key ? (uint16_t)bw_branch_find(branch, key) : 0;
        ref = bw_branch_ref(branch, cursor->path[depth].at);
    }
    return bw_leaf_read(cursor->txn, cursor->tree_id, ref, &cursor->leaf);
}

// Go to the first slot of the next leaf. *out_found false: there is none.
static bw_err next_leaf(struct cursor *cursor, bool *out_found)
{
    unsigned depth = cursor->depth;
    while (depth > 0 &&
           cursor->path[depth - 1].at + 1u >= bw_branch_children(cursor->path[depth - 1].branch)) {
        depth--;
    }
    if (depth == 0) return stop(cursor, out_found);
    cursor->path[depth - 1].at++;
    const page_ref ref = bw_branch_ref(cursor->path[depth - 1].branch, cursor->path[depth - 1].at);
    cursor->at = 0;
    *out_found = true;
    return descend(cursor, ref, depth, 0);
}

static bw_err load_overflow(struct cursor *cursor, const struct leaf_entry *entry)
{
    struct tree *tree;
    bw_err err = bw_txn_tree(cursor->txn, cursor->tree_id, &tree);
    if (err) return err;
    if (!tree) return bw_leaf_damaged(cursor->leaf);
    return bw_tree_value(cursor->txn, tree, entry, &cursor->value);
}

// Take the first entry from slot `at` on, in this leaf or a later one.
static bw_err load(struct cursor *cursor, unsigned at, bool *out_found)
{
    at = bw_leaf_skip(cursor->leaf, at);
    while (at >= bw_leaf_slots(cursor->leaf)) {
        bw_err err = next_leaf(cursor, out_found);
        if (err || !*out_found) return err;
        at = bw_leaf_skip(cursor->leaf, 0);
        if (UNLIKELY(at >= bw_leaf_slots(cursor->leaf))) return bw_leaf_damaged(cursor->leaf); // N3
    }
    struct leaf_entry entry;
    if (UNLIKELY(!bw_leaf_entry(cursor->leaf, at, &entry) || entry.key <= cursor->key)) // N3
        return bw_leaf_damaged(cursor->leaf);
    if (UNLIKELY(entry.is_overflow)) {
        bw_err err = load_overflow(cursor, &entry);
        if (err) return err;
    } else {
        cursor->value.data = entry.data;
        cursor->value.size = entry.size;
    }
    cursor->at = (uint16_t)at;
    cursor->key = entry.key;
    *out_found = true;
    return BW_OK;
}

bw_err bw_cursor_seek(struct cursor *cursor, uint64_t key, bool *out_found)
{
    struct tree *tree;
    bw_err err = bw_txn_tree(cursor->txn, cursor->tree_id, &tree);
    if (err) return err;
    cursor->is_placed = true;
    cursor->is_ended = false;
    cursor->key = key ? key - 1 : 0; // if this fails, next tries again from here
    cursor->leaf = NULL;
    if (!tree || !tree->root || key > tree->max_key) return stop(cursor, out_found);
    err = bw_path_check_depth(tree);
    if (err) return err;
    cursor->depth = (uint8_t)(tree->depth - 1u);
    cursor->change = bw_txn_change(cursor->txn);
    err = descend(cursor, tree->root, 0, key);
    if (!err) {
        unsigned at;
        (void)bw_leaf_find(cursor->leaf, key, &at);
        err = load(cursor, at, out_found);
    }
    if (err) cursor->leaf = NULL;
    return err;
}

// Take entries behind the cursor's from its leaf, as long as they are simple ones: what lies
// elsewhere, or is damaged, is for bw_cursor_next.
static size_t take_dense(struct cursor *cursor, struct cursor_entry *entries, size_t max)
{
    const uint8_t *leaf = cursor->leaf, *slots = leaf + LEAF_SLOTS_AT;
    const size_t count = bw_leaf_slots(leaf), lower = bw_leaf_lower(leaf);
    const size_t size = bw_leaf_size(leaf);
    const uint64_t base = bw_leaf_base(leaf);
    size_t taken = 0, last = cursor->at;
    for (size_t at = last + 1; at < count && taken < max; at++) {
        const size_t offset = (size_t)bw_get_u16(slots + LEAF_SLOT_DENSE * at) * 8;
        const size_t length = bw_get_u16(slots + LEAF_SLOT_DENSE * at + 2);
        if (!offset && !length) continue;
        if (offset < lower || !length || offset + length > size) break;
        entries[taken].key = base + at;
        entries[taken].value = (struct bytes){.data = leaf + offset, .size = length};
        taken++;
        last = at;
    }
    cursor->at = (uint16_t)last;
    return taken;
}

// The next leaf below the same branch will be asked for soon.
static void fetch_next_leaf(const struct cursor *cursor)
{
    if (cursor->depth == 0) return;
    const uint8_t *branch = cursor->path[cursor->depth - 1].branch;
    const unsigned at = cursor->path[cursor->depth - 1].at + 1u;
    if (at >= bw_branch_children(branch)) return;
    const page_ref ref = bw_branch_ref(branch, at);
    bw_page_prefetch(cursor->txn, ref, (size_t)bw_ref_pages(ref) * PAGE_SIZE - 1); // first value
}

bw_err bw_cursor_next_many(struct cursor *cursor, struct cursor_entry *out_entries, size_t max,
                           size_t *out_count)
{
    const uint8_t *leaf = cursor->leaf;
    bool is_found = false;
    bw_err err = bw_cursor_next(cursor, &is_found);
    if (err) return err;
    *out_count = 0;
    if (!is_found) return BW_OK;
    ASSERT(cursor->leaf);
    out_entries[0].key = cursor->key;
    out_entries[0].value = cursor->value;
    *out_count = 1;
    if (leaf != cursor->leaf) fetch_next_leaf(cursor);
    if (!bw_leaf_is_dense(cursor->leaf)) return BW_OK;
    *out_count += take_dense(cursor, out_entries + 1, max - 1);
    cursor->key = out_entries[*out_count - 1].key;
    cursor->value = out_entries[*out_count - 1].value;
    return BW_OK;
}

bw_err bw_cursor_next(struct cursor *cursor, bool *out_found)
{
    if (LIKELY(cursor->leaf &&
               (cursor->change == bw_txn_change(cursor->txn) || BUG(cursor_stays)))) { // N1
        bw_err err = load(cursor, cursor->at + 1u, out_found);
        if (err) cursor->leaf = NULL;
        return err;
    }
    if (cursor->is_ended || (cursor->is_placed && cursor->key == UINT64_MAX)) {
        return stop(cursor, out_found);
    }
    return bw_cursor_seek(cursor, cursor->is_placed ? cursor->key + 1 : 0, out_found);
}
