/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Removing keys from trees.
 *
 * A remove must succeed in a full store, so its copies may use the reserve, and what only tidies up
 * is left undone when there is no page for it. A leaf that is used for less than a quarter gives
 * its unneeded pages back, or is merged with a sibling, or shares its entries. See tree.h for the
 * invariants.
 */
#include "store/tree.h"

struct removal {
    struct path path;
    struct txn *txn;
    struct tree *tree;
    uint64_t key;
    unsigned at;      // the key's slot
    uint64_t size;    // of its value
    uint64_t max_key; // the tree's afterwards
    struct value_extents old;
};

// The last key of the leaf in front of the path's; 0: there is none.
static bw_err last_key_before(const struct path *path, uint64_t *out_key)
{
    unsigned level = path->levels;
    while (level > 0 && path->step[level - 1].at == 0) level--;
    *out_key = 0;
    if (level == 0) return BW_OK;
    page_ref ref = bw_branch_ref(path->step[level - 1].branch, path->step[level - 1].at - 1);
    const uint32_t id = path->tree->id;
    for (; level < path->levels; level++) {
        const uint8_t *branch;
        bw_err err = bw_branch_read(path->txn, id, ref, path->levels - level, &branch);
        if (err) return err;
        ref = bw_branch_ref(branch, bw_branch_children(branch) - 1);
    }
    const uint8_t *leaf;
    bw_err err = bw_leaf_read(path->txn, id, ref, &leaf);
    if (err) return err;
    *out_key = bw_leaf_key(leaf, bw_leaf_slots(leaf) - 1);
    return BW_OK;
}

// Everything that can be known before something changes, and everything that can fail.
static bw_err look(struct removal *removal)
{
    const uint8_t *leaf = removal->path.leaf;
    if (!removal->path.owned_leaf) {
        bw_err damage = bw_value_check_leaf(removal->txn, leaf);
        if (damage) return damage;
    }
    struct leaf_entry entry;
    if (!bw_leaf_find(leaf, removal->key, &removal->at)) return bw_leaf_damaged(leaf);
    if (!bw_leaf_entry(leaf, removal->at, &entry)) return bw_leaf_damaged(leaf);
    removal->size = entry.size;
    removal->old.count = 0;
    bw_err err = BW_OK;
    if (entry.is_overflow) {
        removal->size = bw_value_length(entry.data);
        err = bw_value_extents(removal->txn, removal->tree->id, entry.data, &removal->old);
        if (err) return err;
    }
    removal->max_key = removal->tree->max_key;
    if (removal->key == removal->max_key) {
        unsigned before = removal->at;
        while (before > 0 && bw_leaf_is_empty_slot(leaf, before - 1)) before--;
        if (before > 0) {
            removal->max_key = bw_leaf_key(leaf, before - 1);
        } else {
            err = last_key_before(&removal->path, &removal->max_key);
            if (err) return err;
        }
    }
    return bw_page_make_room(removal->txn, removal->old.count + PATH_FREES_MAX + 2);
}

// Take the path's leaf out of the tree and free it.
static void remove_leaf(struct removal *removal)
{
    struct path *path = &removal->path;
    const page_ref ref = path->leaf_ref;
    const uint64_t born = bw_page_born(path->leaf);
    bw_path_add(path, -1);
    bw_path_remove_leaf(path, path->levels ? path->step[path->levels - 1].at : 0);
    bw_page_give_up(removal->txn, bw_ref_page(ref), bw_ref_pages(ref), born);
}

// Put all entries of the path's leaf and a sibling into the one page of the former, if they fit.
static bool merge(struct path *path, uint8_t *leaf, unsigned other_at, struct repack *repack)
{
    uint8_t *parent = path->step[path->levels - 1].branch;
    const unsigned at = path->step[path->levels - 1].at, left = other_at < at ? other_at : at;
    const page_ref other_ref = bw_branch_ref(parent, other_at);
    const uint64_t other_born = bw_page_born(repack->leaf[other_at < at ? 0 : 1]);
    if (!bw_repack_into(repack, leaf, 1)) return false;

    const struct branch_child child = {
        .key = bw_branch_key(parent, left),
        .ref = path->leaf_ref | (other_ref & REF_OVERFLOW),
        .count = bw_branch_count(parent, at) +
                 (BUG(merge_miscounts) ? 0 : bw_branch_count(parent, other_at)),
    };
    bw_branch_splice(parent, at, 1, &child, 1);
    bw_path_remove_leaf(path, other_at);
    bw_page_give_up(path->txn, bw_ref_page(other_ref), 1, other_born);
    return true;
}

// The path's leaf, owned and of one page, is used for less than a quarter: merge it with a sibling,
// or let a full sibling share its entries. If neither can be done, nothing is lost but space.
static void fill_up(struct path *path, uint8_t *leaf, unsigned live)
{
    if (path->levels == 0) return;
    const uint8_t *parent = path->step[path->levels - 1].branch;
    const unsigned at = path->step[path->levels - 1].at;
    struct repack repack = {.leaves = 2};
    for (int side = 1; side >= -1; side -= 2) {
        if (side < 0 ? at == 0 : at + 1 == bw_branch_children(parent)) continue;
        const unsigned other_at = side < 0 ? at - 1 : at + 1;
        const uint8_t *other;
        if (!bw_tree_sibling(path, other_at, &other)) continue;
        repack.leaf[0] = side < 0 ? other : leaf;
        repack.leaf[1] = side < 0 ? leaf : other;
        if (merge(path, leaf, other_at, &repack)) return;
        bw_repack_plan_split(&repack);
        // Large values, or far keys beside near ones, may gain nothing: they stay where they are.
        if (repack.pieces != 2 || repack.piece[side < 0].count <= live) continue;
        if (bw_tree_rebuild(path, &repack, side < 0) == BW_OK) return;
    }
}

static bw_err remove_entry(struct removal *removal)
{
    struct path *path = &removal->path;
    uint8_t *leaf;
    bw_err err = bw_path_own_leaf(path, &leaf);
    if (err) return err;
    const struct leaf_fill fill = bw_leaf_remove(leaf, removal->at);
    if (!BUG(removal_miscounts)) bw_path_add(path, -1);
    if (bw_leaf_is_thin(leaf, fill)) {
        struct repack repack = {.leaf = {leaf}, .leaves = 1};
        const bool fits = bw_repack_into(&repack, leaf, leaf[PAGE_AT_PAGES]);
        ASSERT(fits); // sparse slots take less room than a dense leaf's empty ones
    }
    if (fill.size < bw_leaf_size(leaf) / LEAF_FILL_MIN) bw_tree_trim(path);
    if (fill.size < PAGE_SIZE / LEAF_FILL_MIN && leaf[PAGE_AT_PAGES] == 1)
        fill_up(path, leaf, fill.live);
    return BW_OK;
}

// Cut the path's long leaf into short ones, the entry left out.
static bw_err cut(struct removal *removal)
{
    struct path *path = &removal->path;
    struct repack repack = {.leaf = {path->leaf}, .leaves = 1, .edit = EDIT_REMOVE};
    repack.entry.key = removal->key;
    bw_repack_plan_full(&repack);
    bw_err err = bw_tree_rebuild(path, &repack, 0);
    if (!err) removal->tree->leaf_copies++;
    return err;
}

static bw_err remove_found(struct removal *removal)
{
    struct path *path = &removal->path;
    struct tree *tree = removal->tree;
    bw_err err = bw_path_own(path, removal->txn, tree, removal->key);
    if (!err) err = look(removal);
    if (err) return err;
    if (bw_leaf_slots(path->leaf) == 1) { // L1: its only value
        remove_leaf(removal);
    } else if (!bw_tree_must_cut(path) ||
               cut(removal)) { // without the pages to cut, remove all the same
        err = remove_entry(removal);
        if (err) return err;
    }
    bw_value_free(removal->txn, &removal->old);
    if (!BUG(max_key_kept)) tree->max_key = tree->root ? removal->max_key : 0;
    tree->bytes = tree->root ? tree->bytes - removal->size : 0; // T1
    return BW_OK;
}

bw_err bw_tree_remove(struct txn *txn, uint32_t tree_id, uint64_t key, bool *out_removed)
{
    struct tree *tree;
    bw_err err = bw_txn_tree(txn, tree_id, &tree);
    if (err) return err;
    *out_removed = false;
    if (!tree || !tree->root || key > tree->max_key) return BW_OK;
    const uint8_t *leaf;
    unsigned at;
    err = bw_tree_find_leaf(txn, tree, key, &leaf);
    if (err || !bw_leaf_find(leaf, key, &at)) return err;

    bw_tree_begin_change(txn, tree);
    struct removal removal;
    removal.txn = txn;
    removal.tree = tree;
    removal.key = key;
    bw_txn_use_reserve(txn, true);
    err = remove_found(&removal);
    bw_txn_use_reserve(txn, false);
    if (!err) *out_removed = true;
    return err;
}
