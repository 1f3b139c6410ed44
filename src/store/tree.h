/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Object trees: what the files of a tree share behind the door (store.h) and txn.h.
 *
 * A tree is branches over leaves over overflow extents, copied where a transaction changes it.
 *
 * Invariants:
 *   T1  count, bytes and max_key of a tree are exact after every call, failed ones included.
 *   T2  What can fail comes before what changes keys: a call that fails leaves the tree as it was,
 *       though perhaps in other pages.
 *   T3  Only the last leaf of a tree may have pages it does not need, and only until its
 *       transaction ends (bw_tree_finish).
 *   T4  tail is valid only while all of its pages are owned and are the path to the last leaf.
 *       Whatever takes one of them away or puts one between resets it; other trees do not matter.
 *   T5  The overflow reference in `unsealed` is the last one stored; nothing in its leaf has moved.
 *   T6  near is valid only while its leaf is owned and takes the keys from first to last. It goes
 *       with the tail; whatever gives up a leaf resets it.
 */
#pragma once

#include "store/path.h"
#include "store/repack.h"
#include "store/value.h"

enum {
    LEAF_COPIES_MAX = 4, /* so many long leaves of earlier transactions are cut up when changed */
    LEAF_FILL_MIN = 4,   /* a leaf is used for at least one part in so many, if a sibling allows */
};

/* The leaf where a key belongs. The tree is not empty. */
MUST_CHECK bw_err bw_tree_find_leaf(struct txn *txn, const struct tree *tree, uint64_t key,
                                    const uint8_t **out_leaf);

/* The leaf that was changed last, if a key belongs there (T6), or NULL. */
static inline uint8_t *bw_tree_near(const struct tree *tree, uint64_t key)
{
    return key >= tree->near.first && key <= tree->near.last ? tree->near.leaf : NULL;
}

/* The bytes of a value whose entry was found in a leaf of this tree. */
MUST_CHECK bw_err bw_tree_value(struct txn *txn, struct tree *tree, const struct leaf_entry *entry,
                                struct bytes *out_value);

/* Moving what lies high, leaf by leaf. */
struct tree_move {
    uint32_t limit; /* what ends above this page is high */
    uint64_t key;   /* in: of the leaf, 0: the first; out: of the next one, 0: there is none */
    uint32_t moved_pages; /* added to */
};

/* Copy the leaf of move->key, the branches above it and its long values where they lie high. */
MUST_CHECK bw_err bw_tree_move_leaf(struct txn *txn, uint32_t tree_id, struct tree_move *move);

/* Begin a change of this tree: count it, and finish what waited for it. */
static inline void bw_tree_begin_change(struct txn *txn, struct tree *tree)
{
    bw_txn_note_change(txn);
    if (LIKELY(!tree->unsealed)) return;
    bw_value_seal(txn, tree->unsealed); // the caller can no longer write to the value
    tree->unsealed = NULL;
}

/* Is the leaf of this path one that is to be cut up, so that later single changes write single
 * pages? */
bool bw_tree_must_cut(const struct path *path);

/*
 * Put the planned pieces into the place of the leaves that `repack` reads: the path's leaf, and a
 * sibling behind it or (leaves_before 1) in front of it. Room for as many frees must have been
 * made. T2. The path may have changed.
 */
MUST_CHECK bw_err bw_tree_rebuild(struct path *path, struct repack *repack, unsigned leaves_before);

/* A leaf beside that of the path, if it is one page long and safe: child `at` of the leaf's parent.
 * False: there is none such. */
bool bw_tree_sibling(struct path *path, unsigned at, const uint8_t **out_leaf);

/* Give back pages of the path's leaf, owned, that its values do not need. */
void bw_tree_trim(struct path *path);
