/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Laying leaves out afresh: the entries of one leaf or of two neighbours, with one change, into as
 * many new leaves as they need.
 *
 * Splitting, merging, borrowing, compacting, changing between dense, sparse and wide are all this.
 * The plan is made first and touches nothing, so that a caller can find every page before it
 * changes anything.
 *
 * Invariants:
 *   R1  The pieces hold all entries in order; none is empty.
 *   R2  A piece is dense exactly if at most half of its slots would be empty, and wide exactly if
 *       its keys are 2^32 or more apart.
 *   R3  A piece has one page, unless its first entry alone needs more; never more pages than
 *   needed.
 */
#pragma once

#include "store/leaf.h"

enum {
    /* Two pieces in a row hold more than a page together, and all entries come from 8 pages, or 2
     * of one page, and the change. At most one piece is wide where the leaves it is from are not:
     * the one that spans both leaves, or that the change is an end of. */
    REPACK_PIECES_MAX = 32,
    LEAF_PAGE_ROOM = PAGE_SIZE - LEAF_SLOTS_AT,
};

enum repack_edit { EDIT_NONE, EDIT_PUT, EDIT_REMOVE };

struct leaf_piece {
    uint64_t first, last; /* keys */
    uint32_t count;       /* entries */
    uint32_t bytes;       /* of the padded values */
    uint8_t pages;
    bool has_overflow;
};

struct repack {
    const uint8_t *leaf[2]; /* safe leaves in order of their keys */
    unsigned leaves;        /* 0 to 2 */
    enum repack_edit edit;
    struct leaf_entry
        entry; /* what is put, replacing an entry of the same key, or a key to remove */

    /* The plan. */
    unsigned pieces;
    struct leaf_piece piece[REPACK_PIECES_MAX];

    uint8_t *stored; /* after building: the copy of the entry that was put */
};

/* Plan pieces of one page that are filled to the brim. */
void bw_repack_plan_full(struct repack *repack);

/* Plan for room: two halves. An entry put beside the next lower key or the next higher one, but not
 * between both, is taken for a run that will go on: the cut comes behind it, so that the run fills
 * its leaves. More pieces when large values force them. */
void bw_repack_plan_split(struct repack *repack);

/* Would a leaf hold the entry, in the place of the one at slot `at` if is_there, when laid out
 * afresh? fill: the leaf's. */
bool bw_repack_fits(const uint8_t *leaf, struct leaf_fill fill, const struct leaf_entry *entry,
                    unsigned at, bool is_there);

/* Plan one piece of up to `pages` pages. False: it does not fit. */
MUST_CHECK bool bw_repack_plan_one(struct repack *repack, unsigned pages);

/* Fill the fresh, zeroed extents of all pieces. They are not among the leaves that are read. */
void bw_repack_build(struct repack *repack, uint8_t *const extent[]);

/* Plan one piece into the place of `leaf`, which may be among the leaves that are read, and build
 * it there. False: it does not fit, and nothing has changed. */
MUST_CHECK bool bw_repack_into(struct repack *repack, uint8_t *leaf, unsigned pages);
