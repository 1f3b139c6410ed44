/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clearing and dropping trees.
 *
 * All extents are listed before the first is given up, so that a page that cannot be read or a lack
 * of memory changes nothing (T2). Leaves are not read, unless a value below them lies in an extent
 * of its own (P2), or there is no branch that was looked at: the root's page may have become
 * another tree's, if the file calls it free.
 */
#include "store/tree.h"

// What is to be given up: a leaf or branch as its reference (born is not known); an overflow extent
// as a 0 and page, pages and born.
struct list {
    uint32_t *word;
    size_t size, room; // words; at most one leaf for each page of the largest file
    uint32_t extents, extents_max;
};

enum { OVERFLOW_WORDS = 5 };

static bw_err list_grow(struct list *list)
{
    if (list->size + OVERFLOW_WORDS <= list->room) return BW_OK;
    if (list->extents >= list->extents_max) {
        return bw_fail(BW_ERR_FILE_PAGES_CORRUPT, "A tree refers to more pages than there can be");
    }
    const size_t room = list->room ? list->room * 2 : 256;
    uint32_t *word = bw_resize(list->word, room * sizeof(*word));
    if (!word) return bw_fail(BW_ERR_NO_MEMORY, "A list of %zu pages to free", room);
    list->word = word;
    list->room = room;
    return BW_OK;
}

static bw_err list_add(struct list *list, page_ref ref)
{
    bw_err err = list_grow(list);
    if (err) return err;
    ASSERT(list->word);
    list->word[list->size++] = ref;
    list->extents++;
    return BW_OK;
}

static bw_err list_add_overflow(struct list *list, const struct value_extents *extents)
{
    for (uint32_t i = 0; i < extents->count; i++) {
        bw_err err = list_grow(list);
        if (err) return err;
        ASSERT(list->word);
        uint32_t *word = list->word + list->size;
        word[0] = 0;
        word[1] = extents->extent[i].page;
        word[2] = extents->extent[i].pages;
        word[3] = (uint32_t)extents->extent[i].born;
        word[4] = (uint32_t)(extents->extent[i].born >> 32);
        list->size += OVERFLOW_WORDS;
        list->extents++;
    }
    return BW_OK;
}

static void list_give_up(const struct list *list, struct txn *txn)
{
    for (size_t at = 0; at < list->size;) {
        const uint32_t *word = list->word + at;
        if (word[0]) {
            bw_page_give_up(txn, bw_ref_page(word[0]), bw_ref_pages(word[0]), 0);
            at++;
        } else {
            bw_page_give_up(txn, word[1], word[2], word[3] | (uint64_t)word[4] << 32);
            at += OVERFLOW_WORDS;
        }
    }
}

static bw_err list_leaf(struct list *list, struct txn *txn, const struct tree *tree, page_ref ref)
{
    if (bw_ref_has_overflow(ref) || tree->depth == 1) {
        const uint8_t *leaf;
        bw_err err = bw_leaf_read(txn, tree->id, ref, &leaf);
        if (!err && !bw_page_owned(txn, bw_ref_page(ref))) err = bw_value_check_leaf(txn, leaf);
        if (err) return err;
        for (unsigned at = bw_leaf_skip(leaf, 0); at < bw_leaf_slots(leaf);
             at = bw_leaf_skip(leaf, at + 1)) {
            struct leaf_entry entry;
            struct value_extents extents;
            if (!bw_leaf_entry(leaf, at, &entry)) return bw_leaf_damaged(leaf);
            if (!entry.is_overflow) continue;
            err = bw_value_extents(txn, tree->id, entry.data, &extents);
            if (!err) err = list_add_overflow(list, &extents);
            if (err) return err;
        }
    }
    return list_add(list, ref);
}

// Everything below a reference whose level is given; 0: a leaf.
static bw_err list_tree(struct list *list, struct txn *txn, const struct tree *tree, page_ref root)
{
    struct {
        const uint8_t *branch;
        unsigned next;
    } step[TREE_DEPTH_MAX];
    unsigned depth = 0; // branches above what is looked at
    page_ref ref = root;
    for (;;) {
        const unsigned level = tree->depth - 1u - depth;
        bw_err err;
        if (level == 0) {
            err = list_leaf(list, txn, tree, ref);
        } else {
            err = bw_branch_read(txn, tree->id, ref, level, &step[depth].branch);
            if (!err && !bw_page_owned(txn, bw_ref_page(ref)))
                err = bw_branch_check_children(txn, step[depth].branch);
            if (!err) err = list_add(list, ref);
            step[depth++].next = 0;
        }
        if (err) return err;
        while (depth > 0 && step[depth - 1].next == bw_branch_children(step[depth - 1].branch)) {
            depth--;
        }
        if (depth == 0) return BW_OK;
        ref = bw_branch_ref(step[depth - 1].branch, step[depth - 1].next++);
    }
}

static void forget_keys(struct tree *tree)
{
    tree->root = 0;
    tree->depth = 0;
    tree->count = 0;
    tree->max_key = 0;
    tree->bytes = 0;
    tree->is_bulk = false;
    tree->tail.change = 0;
    tree->near.leaf = NULL;
    tree->is_changed = true;
}

// Clear a tree; drop it: forget it too.
static bw_err clear(struct txn *txn, struct tree *tree, bool drop)
{
    struct list list = {.extents_max = bw_page_count_max(txn)};
    bw_tree_begin_change(txn, tree);
    bw_err err = tree->root ? bw_path_check_depth(tree) : BW_OK;
    if (!err && tree->root) err = list_tree(&list, txn, tree, tree->root);
    if (!err) err = bw_page_make_room(txn, list.extents);
    if (err) goto out;

    const struct tree before = *tree;
    forget_keys(tree);
    if (drop) {
        err = bw_txn_tree_drop(txn, tree->id);
        if (err) {
            *tree = before;
            goto out;
        }
    }
    list_give_up(&list, txn);
out:
    bw_free(list.word);
    return err;
}

bw_err bw_tree_clear(struct txn *txn, uint32_t tree_id)
{
    struct tree *tree;
    bw_err err = bw_txn_tree(txn, tree_id, &tree);
    if (err || !tree || !tree->root) return err;
    return clear(txn, tree, false);
}

bw_err bw_tree_drop(struct txn *txn, uint32_t tree_id)
{
    struct tree *tree;
    bw_err err = bw_txn_tree(txn, tree_id, &tree);
    if (err || !tree) return err;
    return clear(txn, tree, true);
}
