/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Putting values into trees.
 *
 * A key behind all others goes to the last leaf, which the tree remembers, and costs a copy and a
 * few numbers. Full leaves are left full and get a neighbour; objects that come in bulk get leaves
 * of EXTENT_PAGES_MAX pages, in which less room is lost at the ends. Any other key goes to its
 * leaf, which moves entries to a sibling or is split when it is full. See tree.h for the
 * invariants.
 */
#include "store/tree.h"

enum {
    // Leaves become long when the mean value with its slot is that large.
    BULK_ENTRY_MIN = 256,
    // Pages that a put may give up, besides the extents of the old value.
    PUT_FREES = 8,
    // Two leaves share their entries if so much room is left afterwards. Half a page makes a tree
    // filled in random order a sixth smaller and costs a tenth more work; a quarter of a page would
    // make it another 5 % smaller, with half as much work again.
    SHIFT_ROOM = PAGE_SIZE / 2,
};

struct put {
    struct path path;
    struct txn *txn;
    struct tree *tree;
    struct leaf_entry entry; // what goes into the leaf
    struct bytes value;
    uint8_t *stored;   // its copy in the leaf; NULL as long as nothing has changed
    bool is_large;     // reference is in use
    uint64_t old_size; // of the value that is replaced, 0: none
    uint8_t reference[VALUE_REFERENCE_MAX];
    struct value_extents old;
};

// Let the entry hold the value itself, or write it to extents and let it hold the reference.
static bw_err make_entry(struct put *put, bool inline_value)
{
    if (inline_value) {
        put->entry.data = put->value.data;
        put->entry.size = (uint32_t)put->value.size;
        return BW_OK;
    }
    bw_err err =
        bw_value_write(put->txn, put->tree->id, put->value, put->reference, &put->entry.size);
    if (err) return err;
    put->entry.data = put->reference;
    put->entry.is_overflow = true;
    put->is_large = true;
    return BW_OK;
}

static bw_err check_count(const struct tree *tree)
{
    if (tree->count < UINT32_MAX) return BW_OK;
    return bw_fail(BW_ERR_DB_FULL, "Could not put: tree %u has reached 2^32 - 1 keys", tree->id);
}

static struct repack repack_of(const struct put *put, const uint8_t *leaf)
{
    struct repack repack;
    repack.leaf[0] = leaf;
    repack.leaves = leaf ? 1 : 0;
    repack.edit = EDIT_PUT;
    repack.entry = put->entry;
    repack.pieces = 0;
    repack.stored = NULL;
    return repack;
}

// ---- appending ----

static void remember_tail(const struct path *path, uint8_t *leaf)
{
    struct tree *tree = path->tree;
    tree->tail.leaf = leaf;
    for (unsigned level = 0; level < path->levels; level++) {
        tree->tail.branch[level] = path->step[level].branch;
    }
    tree->tail.change = bw_txn_change(path->txn);
}

// Mean bytes of the leaf's entries, the new one among them, are enough for long leaves.
static bool is_bulky(const uint8_t *leaf, uint32_t new_size)
{
    const uint32_t used =
        bw_leaf_lower(leaf) + bw_leaf_size(leaf) - bw_leaf_upper(leaf) - LEAF_SLOTS_AT;
    return used + bw_leaf_padded(new_size) >= BULK_ENTRY_MIN * (bw_leaf_slots(leaf) + 1);
}

// May the value lie in a leaf, although it is large? The leaf is long already, or will be.
static bool fits_bulk(const struct put *put)
{
    const struct tree *tree = put->tree;
    if (put->value.size <= VALUE_INLINE_MAX) return true;
    if (put->value.size > VALUE_INLINE_BULK_MAX) return false;
    if (tree->is_bulk || !tree->root) return true;
    return tree->tail.change && tree->tail.is_fresh &&
           is_bulky(tree->tail.leaf, (uint32_t)put->value.size);
}

// Put the entry into an owned leaf, laying it out afresh if need be. NULL: it does not fit.
static uint8_t *put_in_leaf(struct put *put, uint8_t *leaf)
{
    unsigned at;
    const bool is_there = bw_leaf_find(leaf, put->entry.key, &at);
    uint8_t *stored =
        is_there ? bw_leaf_replace(leaf, at, &put->entry) : bw_leaf_insert(leaf, &put->entry);
    if (stored) return stored;
    if (!bw_repack_fits(leaf, bw_leaf_fill(leaf), &put->entry, at, is_there)) return NULL;
    struct repack repack = repack_of(put, leaf);
    return bw_repack_into(&repack, leaf, leaf[PAGE_AT_PAGES]) ? repack.stored : NULL;
}

// Turn the full last leaf of one page into a long one, the new entry in it.
static bw_err lengthen(struct put *put, struct repack *repack)
{
    struct path *path = &put->path;
    page_no page;
    uint8_t *leaf;
    bw_err err = bw_page_new(put->txn, PAGE_LEAF, put->tree->id, EXTENT_PAGES_MAX, &page, &leaf);
    if (err) return err;
    uint8_t *const extent[] = {leaf};
    bw_repack_build(repack, extent);
    bw_page_give_up(put->txn, bw_ref_page(path->leaf_ref), 1, bw_txn_id(put->txn));
    put->tree->near.leaf = NULL; // T6
    bw_path_set_leaf(path,
                     bw_ref_make(page, EXTENT_PAGES_MAX, bw_ref_has_overflow(path->leaf_ref)));
    remember_tail(path, leaf);
    put->tree->is_bulk = true;
    put->stored = repack->stored;
    return BW_OK;
}

// Begin a leaf behind the last one, or the first leaf of the tree.
static bw_err begin_leaf(struct put *put)
{
    struct path *path = &put->path;
    struct tree *tree = put->tree;
    bw_err err = tree->root ? bw_path_make_room(path, 1) : BW_OK;
    if (err) return err;
    const unsigned pages =
        tree->is_bulk || put->entry.size > VALUE_INLINE_MAX ? EXTENT_PAGES_MAX : 1;
    page_no page;
    uint8_t *leaf;
    err = bw_page_new(put->txn, PAGE_LEAF, tree->id, pages, &page, &leaf);
    if (err) return err;
    bw_leaf_begin(leaf, LEAF_DENSE, put->entry.key);
    put->stored = bw_leaf_push(leaf, &put->entry);

    const struct branch_child child = {.key = put->entry.key,
                                       .ref = bw_ref_make(page, pages, false)};
    if (tree->root) {
        bw_tree_trim(path); // T3; after the copy: the value may lie in the leaf that is trimmed
        bw_path_replace(path, path->step[path->levels - 1].at + 1, 0, &child, 1);
        path->step[path->levels - 1].at++;
    } else {
        tree->root = child.ref;
        tree->depth = 1;
    }
    path->leaf_ref = child.ref;
    tree->is_bulk = pages > 1;
    tree->tail.is_fresh = true;
    remember_tail(path, leaf);
    return BW_OK;
}

// Find the last leaf when it is not remembered. *out_leaf NULL: it is better left as it is.
static bw_err find_tail(struct put *put, uint8_t **out_leaf)
{
    struct path *path = &put->path;
    *out_leaf = NULL;
    bw_err err = bw_path_own(path, put->txn, put->tree, UINT64_MAX);
    if (err) return err;
    if (bw_leaf_key(path->leaf, bw_leaf_slots(path->leaf) - 1) != put->tree->max_key) {
        return bw_leaf_damaged(path->leaf);
    }
    if (!path->owned_leaf) {
        // A single commit shall write one page, not eight; and a full leaf need not be copied.
        if (bw_ref_pages(path->leaf_ref) > 1) return BW_OK;
        err = bw_value_check_leaf(put->txn, path->leaf);
        if (err) return err;
        struct repack repack = repack_of(put, path->leaf);
        if (!bw_repack_plan_one(&repack, 1)) return BW_OK;
    }
    err = bw_path_own_leaf(path, out_leaf);
    if (err) return err;
    put->tree->tail.is_fresh = false;
    remember_tail(path, *out_leaf);
    return BW_OK;
}

// Add the entry to the last leaf, or make room for it: a longer leaf, or one more.
static bw_err append_entry(struct put *put)
{
    struct tree *tree = put->tree;
    if (!tree->root) return begin_leaf(put);
    uint8_t *leaf = tree->tail.leaf;
    if (tree->tail.change) {
        bw_path_from_tail(&put->path, put->txn, tree);
    } else {
        bw_err err = find_tail(put, &leaf);
        if (err) return err;
    }
    if (!leaf) return begin_leaf(put);
    put->stored = put_in_leaf(put, leaf);
    if (put->stored) return BW_OK;
    const bool bulky = is_bulky(leaf, put->entry.size);
    struct repack repack = repack_of(put, leaf);
    if (bulky && tree->tail.is_fresh && leaf[PAGE_AT_PAGES] == 1 &&
        bw_repack_plan_one(&repack, EXTENT_PAGES_MAX)) {
        return lengthen(put, &repack);
    }
    tree->is_bulk = tree->is_bulk && bulky;
    return begin_leaf(put);
}

static bw_err append(struct put *put)
{
    struct path *path = &put->path;
    path->txn = put->txn;
    path->tree = put->tree;
    path->levels = 0;
    bw_err err = check_count(put->tree);
    if (!err) err = make_entry(put, fits_bulk(put));
    if (!err) err = append_entry(put);
    if (err) return err;
    bw_path_add(path, 1);
    if (put->is_large) bw_path_mark_overflow(path);
    return BW_OK;
}

// Append to the leaf that is remembered, when there is room in it: the common case.
static uint8_t *append_fast(struct tree *tree, uint64_t key, struct bytes value)
{
    const size_t size_max = tree->is_bulk ? VALUE_INLINE_BULK_MAX : VALUE_INLINE_MAX;
    if (value.size > size_max || tree->count == UINT32_MAX) return NULL;
    const struct leaf_entry entry = {.key = key, .data = value.data, .size = (uint32_t)value.size};
    uint8_t *stored = bw_leaf_append(tree->tail.leaf, &entry);
    if (UNLIKELY(!stored)) stored = bw_leaf_insert(tree->tail.leaf, &entry);
    if (!stored) return NULL;
    for (unsigned level = 0; level + 1u < tree->depth; level++) {
        uint8_t *branch = tree->tail.branch[level];
        const unsigned at = bw_branch_children(branch) - 1;
        bw_branch_set_count(branch, at, bw_branch_count(branch, at) + 1);
    }
    tree->count++;
    tree->max_key = key;
    tree->bytes += value.size;
    return stored;
}

// ---- any other place ----

// Look at what the key has so far: its old value's size and extents.
static bw_err find_old(struct put *put, bool *out_found)
{
    unsigned at;
    struct leaf_entry old;
    put->old.count = 0;
    *out_found = bw_leaf_find(put->path.leaf, put->entry.key, &at);
    if (!*out_found) return BW_OK;
    if (!bw_leaf_entry(put->path.leaf, at, &old)) return bw_leaf_damaged(put->path.leaf);
    put->old_size = old.is_overflow ? bw_value_length(old.data) : old.size;
    return old.is_overflow ? bw_value_extents(put->txn, put->tree->id, old.data, &put->old) : BW_OK;
}

// Share entries with a sibling that is less than half full. *out_done false: there is none.
static bw_err shift(struct put *put, const uint8_t *leaf, bool *out_done)
{
    struct path *path = &put->path;
    *out_done = false;
    if (path->levels == 0 || leaf[PAGE_AT_PAGES] != 1) return BW_OK;
    const uint8_t *parent = path->step[path->levels - 1].branch;
    const unsigned at = path->step[path->levels - 1].at;
    for (int side = 1; side >= -1; side -= 2) {
        if (side < 0 ? at == 0 : at + 1 == bw_branch_children(parent)) continue;
        const uint8_t *other;
        if (!bw_tree_sibling(path, side < 0 ? at - 1 : at + 1, &other)) continue;
        const uint32_t size = bw_leaf_fill(other).size;
        if (size + bw_leaf_padded(put->entry.size) + SHIFT_ROOM > PAGE_SIZE) continue;

        struct repack repack = repack_of(put, side < 0 ? other : leaf);
        repack.leaf[1] = side < 0 ? leaf : other;
        repack.leaves = 2;
        bw_repack_plan_split(&repack);
        if (repack.pieces > 2) continue;
        bw_err err = bw_tree_rebuild(path, &repack, side < 0);
        if (err) return err;
        put->stored = repack.stored;
        *out_done = true;
        return BW_OK;
    }
    return BW_OK;
}

// The next key to change may be beside this one.
static void remember_near(struct tree *tree, uint8_t *leaf)
{
    tree->near.first = bw_leaf_key(leaf, 0);
    tree->near.last = bw_leaf_key(leaf, bw_leaf_slots(leaf) - 1);
    tree->near.leaf = leaf;
}

// Replace a value in the leaf that was changed last, at its place: the common case of an update.
static uint8_t *replace_fast(struct tree *tree, uint64_t key, struct bytes value)
{
    uint8_t *leaf = bw_tree_near(tree, key);
    struct leaf_entry old;
    unsigned at;
    if (!leaf || value.size > VALUE_INLINE_BULK_MAX || !bw_leaf_find(leaf, key, &at)) return NULL;
    if (!bw_leaf_entry(leaf, at, &old) || old.is_overflow) return NULL;
    const uint32_t size = (uint32_t)value.size;
    if (bw_leaf_padded(size) != bw_leaf_padded(old.size)) return NULL;
    tree->bytes += size - (uint64_t)old.size; // T1; modulo 2^64
    const struct leaf_entry entry = {.key = key, .data = value.data, .size = size};
    return bw_leaf_replace(leaf, at, &entry);
}

static bw_err put_in_owned(struct put *put, bool found)
{
    struct path *path = &put->path;
    uint8_t *leaf;
    bw_err err = bw_path_own_leaf(path, &leaf);
    if (err) return err;
    put->stored = put_in_leaf(put, leaf);
    if (put->stored) {
        remember_near(put->tree, leaf);
        if (put->is_large) bw_path_mark_overflow(path);
        if (!found) bw_path_add(path, 1);
        return BW_OK;
    }
    if (!found) {
        bool done;
        err = shift(put, leaf, &done);
        if (err || done) return err;
    }
    struct repack repack = repack_of(put, leaf);
    bw_repack_plan_split(&repack);
    err = bw_tree_rebuild(path, &repack, 0);
    put->stored = repack.stored;
    return err;
}

static bw_err change(struct put *put)
{
    struct path *path = &put->path;
    struct tree *tree = put->tree;
    bw_err err = bw_path_own(path, put->txn, tree, put->entry.key);
    if (err) return err;
    bool found;
    err = find_old(put, &found);
    if (err) return err;
    if (!found) err = check_count(tree);
    if (err) return err;
    // A value that lies in a leaf although it is large may stay there, if its size does.
    const bool stays =
        found && !put->old.count && put->value.size <= VALUE_INLINE_BULK_MAX &&
        bw_leaf_padded((uint32_t)put->value.size) == bw_leaf_padded((uint32_t)put->old_size);
    err = make_entry(put, stays || put->value.size <= VALUE_INLINE_MAX);
    if (!err) err = bw_page_make_room(put->txn, put->old.count + PUT_FREES);
    if (err) return err;

    if (bw_tree_must_cut(path)) {
        err = bw_value_check_leaf(put->txn, path->leaf);
        if (err) return err;
        struct repack repack = repack_of(put, path->leaf);
        bw_repack_plan_full(&repack);
        err = bw_tree_rebuild(path, &repack, 0);
        put->stored = repack.stored;
        if (!err) tree->leaf_copies++;
    } else {
        err = put_in_owned(put, found);
    }
    if (!err) bw_value_free(put->txn, &put->old);
    if (BUG(overflow_freed_twice)) bw_value_free(put->txn, &put->old);
    return err;
}

static bw_err put_slowly(struct txn *txn, struct tree *tree, uint64_t key, struct bytes value,
                         uint8_t **out_stored)
{
    struct put put;
    put.txn = txn;
    put.tree = tree;
    put.entry = (struct leaf_entry){.key = key};
    put.value = value;
    put.stored = NULL;
    put.is_large = false;
    put.old_size = 0;
    bw_err err = key > tree->max_key || !tree->root ? append(&put) : change(&put);
    if (err) {
        if (put.is_large) bw_value_unwrite(txn, put.reference);
        return err;
    }
    ASSERT(put.stored);
    if (key > tree->max_key) tree->max_key = key;
    tree->bytes += value.size - put.old_size; // T1; modulo 2^64
    tree->is_changed = true;
    if (put.is_large) tree->unsealed = put.stored; // T5
    *out_stored = put.is_large ? bw_value_stored(txn, put.stored) : put.stored;
    return BW_OK;
}

bw_err bw_tree_put(struct txn *txn, uint32_t tree_id, uint64_t key, struct bytes value,
                   uint8_t **out_stored)
{
    ASSERT(key != 0 && value.size != 0);
    struct tree *tree;
    bw_err err = bw_txn_tree_make(txn, tree_id, TREE_OBJECTS, &tree);
    if (err) return err;
    bw_tree_begin_change(txn, tree);
    uint8_t *stored = NULL;
    if (key <= tree->max_key) stored = replace_fast(tree, key, value);
    else if (tree->tail.change) stored = append_fast(tree, key, value);
    if (UNLIKELY(!stored)) err = put_slowly(txn, tree, key, value, &stored);
    if (!err && out_stored) *out_stored = stored;
    return err;
}
