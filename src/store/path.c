/* SPDX-License-Identifier: Apache-2.0 */
/* Walking down to own, splitting and merging branches; see path.h for the invariants. */
#include "store/path.h"

#include "store/value.h"

bw_err bw_path_check_depth(const struct tree *tree)
{
    if (tree->depth >= 1 && tree->depth <= TREE_DEPTH_MAX) return BW_OK;
    return bw_fail(BW_ERR_FILE_PAGES_CORRUPT, "page %u: tree %u cannot have %u levels",
                   bw_ref_page(tree->root), tree->id, tree->depth);
}

// The parent of a level's branch, or of the leaf: level == levels. The tree itself is above the
// root.
static page_ref ref_of(const struct path *path, unsigned level)
{
    if (level == 0) return path->tree->root;
    return bw_branch_ref(path->step[level - 1].branch, path->step[level - 1].at);
}

static void set_ref(struct path *path, unsigned level, page_ref ref)
{
    path->tree->is_changed = true;
    if (level == 0) {
        path->tree->root = ref;
    } else {
        bw_branch_set_ref(path->step[level - 1].branch, path->step[level - 1].at, ref);
    }
}

// What was remembered of where leaves are no longer holds (T4, T6).
static void forget_leaves(struct path *path)
{
    if (!BUG(tail_kept)) path->tree->tail.change = 0;
    path->tree->near.leaf = NULL;
}

// An owned branch needs no reading, only a look whether the reference to it makes sense.
static uint8_t *owned_branch(struct path *path, page_ref ref, unsigned level)
{
    uint8_t *branch = bw_page_owned(path->txn, bw_ref_page(ref));
    const bool is_good = branch && branch[PAGE_AT_KIND] == PAGE_BRANCH &&
                         bw_get_u32(branch + PAGE_AT_TREE) == path->tree->id &&
                         bw_branch_is_sound(branch) && bw_branch_level(branch) == level;
    return is_good ? branch : NULL;
}

static bw_err own_branch(struct path *path, unsigned level, uint8_t **out_branch)
{
    page_ref ref = ref_of(path, level);
    *out_branch = owned_branch(path, ref, path->levels - level);
    if (LIKELY(*out_branch)) return BW_OK;
    const uint8_t *branch;
    bw_err err = bw_branch_read(path->txn, path->tree->id, ref, path->levels - level, &branch);
    if (!err) err = bw_branch_check_children(path->txn, branch);
    if (err) return err;
    err = bw_page_own(path->txn, &ref, PAGE_BRANCH, path->tree->id, out_branch);
    if (!err) set_ref(path, level, ref);
    return err;
}

bw_err bw_path_own(struct path *path, struct txn *txn, struct tree *tree, uint64_t key)
{
    bw_err err = bw_path_check_depth(tree);
    if (err) return err;
    path->txn = txn;
    path->tree = tree;
    path->levels = tree->depth - 1u;
    for (unsigned level = 0; level < path->levels; level++) {
        uint8_t *branch;
        err = own_branch(path, level, &branch);
        if (err) return err;
        path->step[level].branch = branch;
        path->step[level].at = bw_branch_find(branch, key);
    }
    path->leaf_ref = ref_of(path, path->levels);
    path->owned_leaf = bw_page_owned(txn, bw_ref_page(path->leaf_ref));
    return bw_leaf_read(txn, tree->id, path->leaf_ref, &path->leaf);
}

void bw_path_from_tail(struct path *path, struct txn *txn, struct tree *tree)
{
    path->txn = txn;
    path->tree = tree;
    path->levels = tree->depth - 1u;
    for (unsigned level = 0; level < path->levels; level++) {
        path->step[level].branch = tree->tail.branch[level];
        path->step[level].at = bw_branch_children(tree->tail.branch[level]) - 1;
    }
    path->leaf_ref = ref_of(path, path->levels);
    path->leaf = path->owned_leaf = tree->tail.leaf;
}

bw_err bw_path_own_leaf(struct path *path, uint8_t **out_leaf)
{
    *out_leaf = path->owned_leaf;
    if (*out_leaf) return BW_OK;
    bw_err err = bw_value_check_leaf(path->txn, path->leaf);
    if (err) return err;
    page_ref ref = path->leaf_ref;
    err = bw_page_own(path->txn, &ref, PAGE_LEAF, path->tree->id, out_leaf);
    if (err) return err;
    bw_path_set_leaf(path, ref);
    path->leaf = path->owned_leaf = *out_leaf;
    return BW_OK;
}

void bw_path_set_leaf(struct path *path, page_ref ref)
{
    path->leaf_ref = ref;
    set_ref(path, path->levels, ref);
}

void bw_path_add(struct path *path, int32_t change)
{
    for (unsigned level = 0; level < path->levels; level++) {
        uint8_t *branch = path->step[level].branch;
        const unsigned at = path->step[level].at;
        bw_branch_set_count(branch, at, bw_branch_count(branch, at) + (uint32_t)change);
    }
    path->tree->count += (uint32_t)change;
    path->tree->is_changed = true;
}

void bw_path_mark_overflow(struct path *path)
{
    for (unsigned level = 0; level <= path->levels; level++) {
        set_ref(path, level,
                ref_of(path, level) | (BUG(overflow_unmarked) ? 0 : REF_OVERFLOW)); // P2
    }
    path->leaf_ref |= REF_OVERFLOW;
}

// ---- growing ----

// A root above the root, with one child. Changes no key.
static bw_err grow_root(struct path *path)
{
    struct tree *tree = path->tree;
    if (tree->depth == TREE_DEPTH_MAX) {
        return bw_fail(BW_ERR_DB_FULL, "Could not put: tree %u has reached its depth", tree->id);
    }
    page_no page;
    uint8_t *root;
    bw_err err = bw_page_new(path->txn, PAGE_BRANCH, tree->id, 1, &page, &root);
    if (err) return err;
    const struct branch_child child = {.ref = tree->root, .count = tree->count};
    bw_branch_begin(root, tree->depth);
    bw_branch_splice(root, 0, 0, &child, 1);

    for (unsigned level = path->levels; level > 0; level--) {
        path->step[level] = path->step[level - 1];
    }
    path->step[0].branch = root;
    path->step[0].at = 0;
    path->levels++;
    tree->depth++;
    tree->root = bw_ref_make(page, 1, bw_ref_has_overflow(child.ref));
    tree->is_changed = true;
    forget_leaves(path);
    return BW_OK;
}

// Split the branch of a level whose parent has room. Changes no key.
static bw_err split(struct path *path, unsigned level)
{
    uint8_t *left = path->step[level].branch, *parent = path->step[level - 1].branch;
    const unsigned children = bw_branch_children(left), at = path->step[level].at;
    const unsigned parent_at = path->step[level - 1].at;
    page_no page;
    uint8_t *right;
    bw_err err = bw_page_new(path->txn, PAGE_BRANCH, path->tree->id, 1, &page, &right);
    if (err) return err;

    // Whoever goes on at the end fills branches to the brim.
    const unsigned cut = at == children - 1 ? children - 1 : children / 2;
    bw_branch_begin(right, bw_branch_level(left));
    bw_branch_copy(right, 0, left, cut, children - cut);
    const struct branch_child child = {
        .key = bw_branch_key(left, cut),
        .ref = bw_ref_make(page, 1, bw_branch_has_overflow(right)),
        .count = bw_branch_total(right),
    };
    bw_branch_splice(left, cut, children - cut, NULL, 0);
    if (!BUG(split_miscounts))
        bw_branch_set_count(parent, parent_at, bw_branch_count(parent, parent_at) - child.count);
    bw_branch_splice(parent, parent_at + 1, 0, &child, 1);
    if (at >= cut) {
        path->step[level].branch = right;
        path->step[level].at = at - cut;
        path->step[level - 1].at = parent_at + 1;
    }
    forget_leaves(path);
    return BW_OK;
}

bw_err bw_path_make_room(struct path *path, unsigned added)
{
    if (!added) return BW_OK;
    // The lowest level with room; the branches below it are split, the upper ones first.
    unsigned level = path->levels, wanted = added;
    while (level > 0) {
        level--;
        if (bw_branch_children(path->step[level].branch) + wanted <= BRANCH_CHILDREN_MAX) break;
        if (level == 0) {
            bw_err err = grow_root(path);
            if (err) return err;
            break;
        }
        wanted = 1;
    }
    if (path->levels == 0) return grow_root(path);
    for (level++; level < path->levels; level++) {
        bw_err err = split(path, level);
        if (err) return err;
    }
    return BW_OK;
}

// ---- replacing and removing ----

void bw_path_replace(struct path *path, unsigned first, unsigned old_count,
                     const struct branch_child *children, unsigned child_count)
{
    forget_leaves(path);
    path->tree->is_changed = true;
    uint32_t count = 0;
    bool has_overflow = false;
    for (unsigned i = 0; i < child_count; i++) {
        count += children[i].count;
        has_overflow |= bw_ref_has_overflow(children[i].ref);
    }
    if (path->levels == 0) {
        ASSERT(child_count == 1);
        path->tree->root = children[0].ref;
        path->tree->count = count;
        return;
    }
    uint8_t *parent = path->step[path->levels - 1].branch;
    uint32_t old_keys = 0;
    for (unsigned i = 0; i < old_count; i++) old_keys += bw_branch_count(parent, first + i);
    bw_branch_splice(parent, first, old_count, children, child_count);

    const uint32_t change = count - old_keys; // modulo 2^32
    for (unsigned level = 0; level + 1 < path->levels; level++) {
        uint8_t *branch = path->step[level].branch;
        const unsigned at = path->step[level].at;
        bw_branch_set_count(branch, at, bw_branch_count(branch, at) + change);
    }
    path->tree->count += change;
    if (!has_overflow) return;
    for (unsigned level = 0; level < path->levels; level++) {
        set_ref(path, level, ref_of(path, level) | REF_OVERFLOW);
    }
}

// Free an owned branch whose reference is gone.
static void free_branch(struct path *path, page_ref ref)
{
    bw_page_give_up(path->txn, bw_ref_page(ref), 1, bw_txn_id(path->txn));
}

// The root gives way to its only child, as often as that is so.
static void collapse_root(struct path *path)
{
    struct tree *tree = path->tree;
    while (tree->depth > 1) {
        const uint8_t *root;
        if (!bw_page_owned(path->txn, bw_ref_page(tree->root))) return;
        if (bw_branch_read(path->txn, tree->id, tree->root, tree->depth - 1u, &root)) return;
        if (bw_branch_children(root) != 1) return;
        const page_ref only = bw_branch_ref(root, 0);
        free_branch(path, tree->root);
        tree->root = only;
        tree->depth--;
        forget_leaves(path);
    }
}

// Merge the branch of a level with a sibling, if both fit in one. True: the parent has one child
// less.
static bool merge(struct path *path, unsigned level)
{
    uint8_t *branch = path->step[level].branch, *parent = path->step[level - 1].branch;
    const unsigned at = path->step[level - 1].at, children = bw_branch_children(branch);
    if (children >= BRANCH_CHILDREN_MIN) return false;

    for (int side = 1; side >= -1; side -= 2) {
        if (side < 0 ? at == 0 : at + 1 == bw_branch_children(parent)) continue;
        const unsigned other_at = side < 0 ? at - 1 : at + 1, left_at = side < 0 ? at - 1 : at;
        const page_ref other_ref = bw_branch_ref(parent, other_at);
        const uint8_t *other;
        // A sibling that cannot be read is left alone: nothing is lost but space.
        if (bw_branch_read(path->txn, path->tree->id, other_ref, bw_branch_level(branch), &other)) {
            continue;
        }
        if (!bw_page_owned(path->txn, bw_ref_page(other_ref)) &&
            bw_branch_check_children(path->txn, other)) {
            continue;
        }
        const unsigned more = bw_branch_children(other);
        if (children + more > BRANCH_CHILDREN_MAX) continue;

        const uint64_t left_key = bw_branch_key(parent, left_at);
        const uint64_t right_key = bw_branch_key(parent, left_at + 1);
        const struct branch_child child = {
            .key = left_key,
            .ref = bw_branch_ref(parent, at) | (other_ref & REF_OVERFLOW),
            .count = bw_branch_count(parent, at) + bw_branch_count(parent, other_at),
        };
        bw_branch_copy(branch, side < 0 ? 0 : children, other, 0, more - BUG(merge_loses_child));
        if (!BUG(merge_forgets_bound))
            bw_branch_set_key(branch, side < 0 ? more : children,
                              right_key); // it is looked at from here on (B1)
        bw_branch_splice(parent, left_at, 2, &child, 1);
        path->step[level - 1].at = left_at;
        bw_page_give_up(path->txn, bw_ref_page(other_ref), 1, bw_page_born(other));
        return true;
    }
    return false;
}

void bw_path_remove_leaf(struct path *path, unsigned at)
{
    struct tree *tree = path->tree;
    forget_leaves(path);
    tree->is_changed = true;
    unsigned level = path->levels;
    while (level > 0) {
        uint8_t *branch = path->step[level - 1].branch;
        const page_ref ref = ref_of(path, level - 1);
        bw_branch_splice(branch, level == path->levels ? at : path->step[level - 1].at, 1, NULL, 0);
        if (bw_branch_children(branch) > 0) break;
        level--;
        free_branch(path, ref);
    }
    if (level == 0) {
        tree->root = 0;
        tree->depth = 0;
        tree->count = 0;
        return;
    }
    while (level > 1 && merge(path, level - 1)) level--;
    collapse_root(path);
}
