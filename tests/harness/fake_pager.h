/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stand-in for the pager, so that trees can be tested alone: txn.h over heap memory.
 *
 * There is one transaction at a time, which never ends: committing makes all pages "not owned" and
 * goes on. Each extent is a block of its own, so that a sanitizer sees every step beyond it. What
 * is given up is poisoned: at once when it was owned, at the commit otherwise. Committed pages are
 * hashed, and nobody may have written to them.
 *
 * A test that uses it takes it from the harness library before the real functions are looked for in
 * the product's, so both have the same names.
 */
#pragma once

#include "harness/tree_work.h"
#include "store/txn.h"

/* A write transaction on an empty store. */
struct txn *bw_fake_pager_new(void);
void bw_fake_pager_free(struct txn *txn);

/* Finish the trees and let everything belong to an earlier transaction. */
void bw_fake_pager_commit(struct txn *txn);

/* Everything as at the last commit. */
void bw_fake_pager_abort(struct txn *txn);

/* The request for a page after the next `successes` ones fails with err, and all after it; -1:
 * none. Copies count. */
void bw_fake_pager_fail_pages(struct txn *txn, int successes, bw_err err);

/* The same for notes of what is freed; NO_MEMORY. */
void bw_fake_pager_fail_notes(struct txn *txn, int successes);

/* Pages that may be in use at once, 0: any number, and how many more a removal may use. */
void bw_fake_pager_set_limit(struct txn *txn, uint32_t pages, uint32_t reserve);

/* For work on trees: harness/tree_work.h. It has no readers. */
struct stage bw_fake_pager_stage(struct txn *txn);

/* Pages in use; extents of this transaction. */
uint32_t bw_fake_pager_pages(const struct txn *txn);
uint32_t bw_fake_pager_owned_pages(const struct txn *txn);

/* The writable bytes of the extent that begins with a page, owned or not, to damage it; NULL: none
 * does. From then on mistakes that damage can cause are errors and no failures of the test. */
uint8_t *bw_fake_pager_damage(struct txn *txn, page_no page);
uint32_t bw_fake_pager_extent(const struct txn *txn, page_no page); /* its pages */

/* Check all trees, that every page in use is reachable exactly once, and that no committed page was
 * written to. Ends the test when something is wrong. */
void bw_fake_pager_check(struct txn *txn);
