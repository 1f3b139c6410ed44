/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths: the owned branches from a tree's root to one leaf, and changes that go up along them.
 *
 * Each function leaves the tree whole, whether it succeeds or not: owning a branch, splitting one
 * or putting a root above it change no key. So whoever puts or removes can take these steps first,
 * and only then what cannot fail.
 *
 * Invariants:
 *   P1  Every branch of a path is owned by the transaction; the leaf need not be.
 *   P2  A reference has the overflow bit if any value at or below it is an overflow value. It may
 *       stay set when there is none.
 *   P3  All branches of a level have the same distance to the leaves, which the branch itself
 *   tells.
 */
#pragma once

#include "store/branch.h"
#include "store/leaf.h"

struct path {
    struct txn *txn;   /* borrowed */
    struct tree *tree; /* borrowed */
    unsigned levels;   /* branches, the root first */
    struct {
        uint8_t *branch;
        unsigned at; /* the child taken */
    } step[TREE_DEPTH_MAX];
    page_ref leaf_ref;
    const uint8_t *leaf; /* as read; sound */
    uint8_t *owned_leaf; /* the same, or NULL when the transaction does not own it */
};

/* Fails when the depth of a tree, as a file tells it, is not possible. */
MUST_CHECK bw_err bw_path_check_depth(const struct tree *tree);

/* Own the branches down to the leaf where a key belongs. The tree is not empty. */
MUST_CHECK bw_err bw_path_own(struct path *path, struct txn *txn, struct tree *tree, uint64_t key);

/* The path to the last leaf as the tree remembers it: tree->tail is valid. */
void bw_path_from_tail(struct path *path, struct txn *txn, struct tree *tree);

/* Own the leaf too; it is safe to change then. */
MUST_CHECK bw_err bw_path_own_leaf(struct path *path, uint8_t **out_leaf);

/* Let the leaf's parent have room for `added` more children. May give a tree of one leaf a root
 * above it. */
MUST_CHECK bw_err bw_path_make_room(struct path *path, unsigned added);

/*
 * Put children into the place of the old_count leaves from child `first` of the leaf's parent on,
 * which has room; counts and overflow bits go up. With no parent: one child, which becomes the
 * root. The pages of the old ones are the caller's.
 */
void bw_path_replace(struct path *path, unsigned first, unsigned old_count,
                     const struct branch_child *children, unsigned child_count);

/* The leaf's reference has changed; its keys have not. */
void bw_path_set_leaf(struct path *path, page_ref ref);

/* Add to the counts above the leaf, and to the tree's. */
void bw_path_add(struct path *path, int32_t change);

/* Set the overflow bit from the leaf's reference up to the root's. */
void bw_path_mark_overflow(struct path *path);

/* How many frees bw_path_remove_leaf may need. */
enum { PATH_FREES_MAX = 3 * TREE_DEPTH_MAX };

/*
 * Take child `at` of the leaf's parent out, whose keys no longer count: branches that become empty
 * go too, small ones are merged, and a root with one child gives way to it. Needs no space; room
 * for PATH_FREES_MAX frees must have been made. The leaf's page is the caller's. The path is
 * worthless afterwards.
 */
void bw_path_remove_leaf(struct path *path, unsigned at);
