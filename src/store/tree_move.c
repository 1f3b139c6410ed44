/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moving: what lies high in the file is copied, and copies go to the lowest free places (R19).
 *
 * A leaf is moved by owning it, which copies the branches above it, too; a long value by putting it
 * again. Keys and values stay as they are, and so do the lengths of leaves.
 */
#include "store/tree.h"

static bool is_high(page_ref ref, uint32_t limit)
{
    return bw_ref_page(ref) + bw_ref_pages(ref) > limit;
}

/* Where the leaf of a key lies, and the least key that belongs to a later one; 0: there is none. */
struct descent {
    page_ref leaf_ref;
    uint64_t next_key;
    bool has_high; /* the leaf, or a branch above it */
};

static bw_err descend(struct txn *txn, const struct tree *tree, const struct tree_move *move,
                      struct descent *out_descent)
{
    struct descent descent = {.leaf_ref = tree->root};
    bw_err err = bw_path_check_depth(tree);
    for (unsigned level = tree->depth; level > 1 && !err; level--) {
        const uint8_t *branch = NULL;
        descent.has_high |= is_high(descent.leaf_ref, move->limit);
        err = bw_branch_read(txn, tree->id, descent.leaf_ref, level - 1, &branch);
        if (err) return err;
        const unsigned at = bw_branch_find(branch, move->key);
        if (at + 1 < bw_branch_children(branch)) descent.next_key = bw_branch_key(branch, at + 1);
        descent.leaf_ref = bw_branch_ref(branch, at);
    }
    descent.has_high |= is_high(descent.leaf_ref, move->limit);
    *out_descent = descent;
    return err;
}

static bool has_high_part(const uint8_t *reference, uint32_t limit)
{
    const uint64_t length = bw_value_length(reference);
    uint64_t size = 0;
    for (uint32_t i = 0; size < length; i++) {
        const struct value_part part = bw_value_part(reference, i);
        if (part.page + part.pages > limit) return true;
        size += part.size;
    }
    return false;
}

/* Put a value again that lies in extents. */
static bw_err move_value(struct txn *txn, const struct tree *tree, struct tree_move *move,
                         uint64_t key)
{
    struct bytes value = {0};
    bool found = false;
    bw_err err = bw_tree_get(txn, tree->id, key, &value, &found);
    if (err || !found) return err;
    uint8_t *copy = NULL;
    if (value.size > VALUE_CONTIGUOUS_MAX) { // it was joined for this reading only
        copy = bw_new_raw(value.size);
        if (!copy) return bw_fail(BW_ERR_NO_MEMORY, "Out of memory: moving a large value");
        memcpy(copy, value.data, value.size);
        value.data = copy;
    }
    err = bw_tree_put(txn, tree->id, key, value, NULL);
    if (!err) move->moved_pages += (uint32_t)(value.size / PAGE_SIZE + 1);
    bw_free(copy);
    return err;
}

/* The next key of the leaf, from this one on, whose value has an extent that lies high; 0: none. */
static bw_err find_high_value(struct txn *txn, struct tree *tree, const struct tree_move *move,
                              uint64_t from, uint64_t *out_key)
{
    const uint8_t *leaf = NULL;
    *out_key = 0;
    bw_err err = bw_tree_find_leaf(txn, tree, move->key, &leaf);
    for (unsigned at = 0; !err && at < bw_leaf_slots(leaf); at++) {
        struct leaf_entry entry;
        if (!bw_leaf_entry(leaf, at, &entry)) return bw_leaf_damaged(leaf);
        if (!entry.data || !entry.is_overflow || entry.key < from) continue;
        err = bw_value_check_reference(entry.data);
        if (err || !has_high_part(entry.data, move->limit)) continue;
        *out_key = entry.key;
        return BW_OK;
    }
    return err;
}

static bw_err move_values(struct txn *txn, struct tree *tree, struct tree_move *move)
{
    for (uint64_t from = 0;;) {
        uint64_t key = 0;
        bw_err err = find_high_value(txn, tree, move, from, &key);
        if (!err && key) err = move_value(txn, tree, move, key);
        if (err || !key || key == UINT64_MAX) return err;
        from = key + 1;
    }
}

bw_err bw_tree_move_leaf(struct txn *txn, uint32_t tree_id, struct tree_move *move)
{
    struct tree *tree = NULL;
    struct descent descent = {0};
    bw_err err = bw_txn_tree(txn, tree_id, &tree);
    if (!err && tree && tree->root) err = descend(txn, tree, move, &descent);
    if (err) return err;
    if (descent.has_high) {
        struct path path;
        uint8_t *leaf = NULL;
        bw_tree_begin_change(txn, tree);
        tree->is_changed = true;
        err = bw_path_own(&path, txn, tree, move->key);
        if (!err && is_high(path.leaf_ref, move->limit)) err = bw_path_own_leaf(&path, &leaf);
        if (err) return err;
        move->moved_pages += bw_ref_pages(path.leaf_ref) + path.levels;
    }
    if (bw_ref_has_overflow(descent.leaf_ref)) err = move_values(txn, tree, move);
    move->key = descent.next_key;
    return err;
}
