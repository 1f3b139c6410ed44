/* SPDX-License-Identifier: Apache-2.0 */
/* The part of bw_store_check that knows trees: everything that tree.h and what is below it
 * promise. */
#pragma once

#include "store/txn.h"

struct tree_visitor {
    /*
     * Called once for each reference to an extent; born: as its header tells, 0 when it cannot be
     * read. False: do not look into it, because it was met before; who says so reports it.
     */
    bool (*visit)(void *context, page_no page, uint32_t pages, uint64_t born);
    void *context; /* borrowed */
};

/*
 * Walk a tree, all of its pages and values, and add to the report what was met and what is wrong.
 * Only NO_MEMORY and IO are returned as errors.
 */
MUST_CHECK bw_err bw_tree_check(struct txn *txn, struct tree *tree, struct tree_visitor visitor,
                                struct check_report *report);

/* Note one more problem; the first one's text is kept. */
void bw_tree_check_problem(struct check_report *report, const char *format, ...) PRINTF_LIKE(2, 3);
