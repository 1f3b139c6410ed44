/* SPDX-License-Identifier: Apache-2.0 */
/* Looking up, and what putting and removing share; see tree.h for the invariants. */
#include "store/tree.h"

// The leaf where a key belongs, unread, and the lowest key that its parent says may be there.
static inline bw_err find_ref(struct txn *txn, const struct tree *tree, uint64_t key,
                              page_ref *out_ref, uint64_t *out_first)
{
    bw_err err = bw_path_check_depth(tree);
    if (err) return err;
    page_ref ref = tree->root;
    uint64_t first = 0;
    for (unsigned level = tree->depth - 1u; level > 0; level--) {
        const uint8_t *branch;
        err = bw_branch_read(txn, tree->id, ref, level, &branch);
        if (err) return err;
        const unsigned at = bw_branch_find(branch, key);
        ref = bw_branch_ref(branch, at);
        first = bw_branch_key(branch, at);
    }
    *out_ref = ref;
    *out_first = first;
    return BW_OK;
}

// Where a key's slot lies if the leaf is dense and begins with `first`, as most do: good enough to
// fetch it together with the header.
static inline size_t guess_slot(uint64_t key, uint64_t first)
{
    return LEAF_SLOTS_AT + LEAF_SLOT_DENSE * (size_t)((key - first) % (PAGE_SIZE / 8));
}

bw_err bw_tree_find_leaf(struct txn *txn, const struct tree *tree, uint64_t key,
                         const uint8_t **out_leaf)
{
    page_ref ref;
    uint64_t first;
    bw_err err = find_ref(txn, tree, key, &ref, &first);
    if (!err) err = bw_leaf_read(txn, tree->id, ref, out_leaf);
    if (!err) PREFETCH(*out_leaf + guess_slot(key, first));
    return err;
}

bw_err bw_tree_value(struct txn *txn, struct tree *tree, const struct leaf_entry *entry,
                     struct bytes *out_value)
{
    if (LIKELY(!entry->is_overflow)) {
        out_value->data = entry->data;
        out_value->size = entry->size;
        return BW_OK;
    }
    if (tree->unsealed) bw_value_seal(txn, tree->unsealed); // it may be this one
    return bw_value_read(txn, tree->id, entry->data, out_value);
}

bw_err bw_tree_stat(struct txn *txn, uint32_t tree_id, struct tree_stat *out_stat)
{
    struct tree *tree;
    bw_err err = bw_txn_tree(txn, tree_id, &tree);
    if (err) return err;
    *out_stat = (struct tree_stat){0};
    if (!tree) return BW_OK;
    out_stat->count = tree->count;
    out_stat->max_key = tree->max_key;
    out_stat->sequence = tree->sequence;
    out_stat->bytes = tree->bytes;
    return BW_OK;
}

// What a leaf holds under a key; {NULL, 0}: nothing.
static inline bw_err get_from_leaf(struct txn *txn, struct tree *tree, const uint8_t *leaf,
                                   uint64_t key, struct bytes *out_value)
{
    unsigned at;
    struct leaf_entry entry;
    *out_value = (struct bytes){0};
    if (!bw_leaf_find(leaf, key, &at)) return BW_OK;
    if (UNLIKELY(!bw_leaf_entry(leaf, at, &entry) || !entry.data)) return bw_leaf_damaged(leaf);
    bw_err err = bw_tree_value(txn, tree, &entry, out_value);
    if (err) return err;
    PREFETCH(out_value->data + out_value->size - 1); // whoever reads an object reads both ends
    return BW_OK;
}

bw_err bw_tree_get(struct txn *txn, uint32_t tree_id, uint64_t key, struct bytes *out_value,
                   bool *out_found)
{
    struct tree *tree;
    bw_err err = bw_txn_tree(txn, tree_id, &tree);
    if (err) return err;
    *out_found = false;
    if (!tree || !tree->root || key > tree->max_key) return BW_OK;
    const uint8_t *leaf = bw_tree_near(tree, key);
    struct bytes value;
    if (!leaf) err = bw_tree_find_leaf(txn, tree, key, &leaf);
    if (!err) err = get_from_leaf(txn, tree, leaf, key, &value);
    if (err || !value.data) return err;
    *out_value = value;
    *out_found = true;
    return BW_OK;
}

enum { GROUP = 16 };

// Up to GROUP values: all their leaves come from memory at the same time.
static bw_err get_group(struct txn *txn, struct tree *tree, const uint64_t *keys, size_t count,
                        struct bytes *out_values)
{
    page_ref ref[GROUP];
    for (size_t i = 0; i < count; i++) {
        uint64_t first;
        ref[i] = 0;
        if (keys[i] > tree->max_key) continue;
        bw_err err = find_ref(txn, tree, keys[i], &ref[i], &first);
        if (err) return err;
        bw_page_prefetch(txn, ref[i], guess_slot(keys[i], first));
    }
    for (size_t i = 0; i < count; i++) {
        const uint8_t *leaf;
        out_values[i] = (struct bytes){0};
        if (!ref[i]) continue;
        bw_err err = bw_leaf_read(txn, tree->id, ref[i], &leaf);
        if (!err) err = get_from_leaf(txn, tree, leaf, keys[i], &out_values[i]);
        if (err) return err;
    }
    return BW_OK;
}

bw_err bw_tree_get_many(struct txn *txn, uint32_t tree_id, const uint64_t *keys, size_t count,
                        struct bytes *out_values)
{
    struct tree *tree;
    bw_err err = bw_txn_tree(txn, tree_id, &tree);
    if (err) return err;
    if (!tree || !tree->root) {
        for (size_t i = 0; i < count; i++) out_values[i] = (struct bytes){0};
        return BW_OK;
    }
    for (size_t at = 0; at < count && !err; at += GROUP) {
        const size_t size = count - at < GROUP ? count - at : GROUP;
        err = get_group(txn, tree, keys + at, size, out_values + at);
    }
    return err;
}

bw_err bw_tree_set_sequence(struct txn *txn, uint32_t tree_id, uint64_t sequence)
{
    struct tree *tree;
    bw_err err = bw_txn_tree_make(txn, tree_id, TREE_OBJECTS, &tree);
    if (err) return err;
    if (tree->sequence == sequence) return BW_OK;
    bw_tree_begin_change(txn, tree);
    tree->sequence = sequence;
    tree->is_changed = !BUG(sequence_unmarked);
    return BW_OK;
}

// ---- shared by changes ----

bool bw_tree_must_cut(const struct path *path)
{
    return bw_ref_pages(path->leaf_ref) > 1 && path->tree->leaf_copies < LEAF_COPIES_MAX &&
           !path->owned_leaf;
}

static page_ref leaf_ref_at(const struct path *path, unsigned at)
{
    return path->levels ? bw_branch_ref(path->step[path->levels - 1].branch, at) : path->tree->root;
}

static void give_back(struct path *path, const struct repack *repack, const page_no *page,
                      unsigned pieces)
{
    for (unsigned i = 0; i < pieces; i++) {
        if (BUG(pieces_kept)) break;
        bw_page_give_up(path->txn, page[i], repack->piece[i].pages, bw_txn_id(path->txn));
    }
}

bw_err bw_tree_rebuild(struct path *path, struct repack *repack, unsigned leaves_before)
{
    uint8_t *extent[REPACK_PIECES_MAX];
    page_no page[REPACK_PIECES_MAX];
    struct branch_child child[REPACK_PIECES_MAX];
    const unsigned pieces = repack->pieces, leaves = repack->leaves;
    for (unsigned i = 0; i < pieces; i++) {
        const struct leaf_piece *piece = &repack->piece[i];
        bw_err err =
            bw_page_new(path->txn, PAGE_LEAF, path->tree->id, piece->pages, &page[i], &extent[i]);
        if (err) {
            give_back(path, repack, page, i);
            return err;
        }
        child[i].key = piece->first;
        child[i].ref = bw_ref_make(page[i], piece->pages, piece->has_overflow);
        child[i].count = piece->count;
    }
    bw_err err = bw_path_make_room(path, pieces > leaves ? pieces - leaves : 0);
    if (err) {
        give_back(path, repack, page, pieces);
        return err;
    }
    const unsigned at = path->levels ? path->step[path->levels - 1].at - leaves_before : 0;
    page_ref old[2];
    for (unsigned i = 0; i < leaves; i++) old[i] = leaf_ref_at(path, at + i);

    bw_repack_build(repack, extent);
    bw_path_replace(path, at, leaves, child, pieces);
    for (unsigned i = 0; i < leaves; i++) {
        bw_page_give_up(path->txn, bw_ref_page(old[i]), bw_ref_pages(old[i]),
                        bw_page_born(repack->leaf[i]));
    }
    return BW_OK;
}

bool bw_tree_sibling(struct path *path, unsigned at, const uint8_t **out_leaf)
{
    ASSERT(path->levels > 0);
    const page_ref ref = leaf_ref_at(path, at);
    if (bw_ref_pages(ref) != 1) return false;
    // One that cannot be read is left alone: nothing is lost but space.
    if (bw_leaf_read(path->txn, path->tree->id, ref, out_leaf)) return false;
    if (!bw_page_owned(path->txn, bw_ref_page(ref)) && bw_value_check_leaf(path->txn, *out_leaf))
        return false;
    const bool is_left = at < path->step[path->levels - 1].at;
    const uint8_t *left = is_left ? *out_leaf : path->leaf,
                  *right = is_left ? path->leaf : *out_leaf;
    return bw_leaf_key(left, bw_leaf_slots(left) - 1) < bw_leaf_key(right, 0);
}

void bw_tree_trim(struct path *path)
{
    const unsigned pages = bw_ref_pages(path->leaf_ref);
    uint8_t *leaf = path->owned_leaf;
    if (!leaf || pages == 1) return;
    struct repack repack = {.leaf = {leaf}, .leaves = 1};
    if (!bw_repack_plan_one(&repack, pages) || repack.piece[0].pages == pages) return;
    const unsigned needed = repack.piece[0].pages;
    if (!bw_repack_into(&repack, leaf, needed)) return;
    bw_page_shrink(path->txn, bw_ref_page(path->leaf_ref),
                   needed - (BUG(tail_overcut) && needed > 1));
    const page_ref ref =
        bw_ref_make(bw_ref_page(path->leaf_ref), needed, bw_ref_has_overflow(path->leaf_ref));
    bw_path_set_leaf(path, ref);
}

void bw_tree_finish(struct txn *txn, struct tree *tree)
{
    if (tree->unsealed && !BUG(value_unsealed)) bw_value_seal(txn, tree->unsealed);
    tree->unsealed = NULL;
    tree->tail.change = 0;
    tree->near.leaf = NULL;
    tree->is_bulk = false;
    tree->leaf_copies = 0;

    if (!tree->root || bw_path_check_depth(tree)) return;
    // Down the last children, as far as they are owned (T3).
    struct path path = {
        .txn = txn, .tree = tree, .levels = tree->depth - 1u, .leaf_ref = tree->root};
    for (unsigned level = 0; level < path.levels; level++) {
        uint8_t *branch = bw_page_owned(txn, bw_ref_page(path.leaf_ref));
        const uint8_t *read;
        if (!branch) return;
        if (bw_branch_read(txn, tree->id, path.leaf_ref, path.levels - level, &read)) return;
        path.step[level].branch = branch;
        path.step[level].at = bw_branch_children(branch) - 1;
        path.leaf_ref = bw_branch_ref(branch, path.step[level].at);
    }
    if (bw_leaf_read(txn, tree->id, path.leaf_ref, &path.leaf)) return;
    path.owned_leaf = bw_page_owned(txn, bw_ref_page(path.leaf_ref));
    bw_tree_trim(&path);
}
