/* SPDX-License-Identifier: Apache-2.0 */
/* The part of bw_store_check that knows trees: everything that tree.h and what is below it
 * promise. */
#pragma once

#include "store/txn.h"

struct met_extent {
    page_no page;
    uint32_t pages;
    uint64_t born;
};

struct tree_visitor {
    /*
     * Called once for each reference to an extent; born: as its header tells, 0 when it cannot be
     * read. *out_enters false: do not look into it, because it was met before; who says so reports
     * it. An error ends the walk.
     */
    bw_err (*visit)(void *context, const struct met_extent *extent, bool *out_enters);
    void *context; /* borrowed */
};

/*
 * Walk a tree, all of its pages and values, and add to the report what was met and what is wrong.
 * Only NO_MEMORY, IO and what visit returns are errors.
 */
MUST_CHECK bw_err bw_tree_check(struct txn *txn, struct tree *tree, struct tree_visitor visitor,
                                struct check_report *report);
