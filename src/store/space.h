/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which pages are free: the allocation state of the newest snapshot, and what waits for pins.
 *
 * Invariants:
 *   S1  used has a bit for each page that the running transaction will leave reachable, the two
 *       slots included, the reserved places of region bitmaps not.
 *   S2  busy = used + freed + pending + reserved places: a page is given out only if its bit is off
 *       (R6).
 *   S3  A pending run (born, freed) leaves only when no pin r has born <= r < freed (R7, R8).
 *   S4  taken marks every page given out to the running transaction, also those given back: all
 *       were free when it began, so undo clears them all.
 *   S5  known marks every page that was used when the session began or by a commit since: what is
 *       not known has held nothing that a reader may have seen.
 */
#pragma once

#include "store/page.h"

struct page_run {
    page_no page;
    uint32_t pages;
    uint64_t born, freed;
};

struct run_list {
    struct page_run *runs; /* owned */
    uint32_t count, room;
};

struct space {
    const struct geometry *geometry;       /* borrowed */
    uint64_t *used, *busy, *taken, *known; /* owned; a bit a page, in one block */
    uint32_t room;                         /* pages that each covers, a multiple of 64 */
    uint32_t taken_first, taken_end;       /* words of taken that may have bits */
    struct run_list pending, freed;
    page_no hint[EXTENT_PAGES_MAX + 1]; /* by length: no free run of it begins below */
};

/* All pages of the slots used, nothing else. */
MUST_CHECK bw_err bw_space_init(struct space *space, const struct geometry *geometry);
void bw_space_deinit(struct space *space);

/* Cover at least so many pages. */
MUST_CHECK bw_err bw_space_cover(struct space *space, uint32_t pages);
void bw_space_set_used(struct space *space, page_no page);
bool bw_space_is_used(const struct space *space, page_no page);
/* Do these pages, none of them a slot, hold something since before the running transaction? */
bool bw_space_are_kept(const struct space *space, page_no page, uint32_t pages);
bool bw_space_is_known(const struct space *space, page_no page); /* S5 */
/* A page that waits since before the session began (R9). */
MUST_CHECK bw_err bw_space_add_pending(struct space *space, struct page_run run);

/* Begin a transaction: what no pin sees any more becomes free (R8). */
void bw_space_ripen(struct space *space, const uint64_t *pins, uint32_t pin_count);

/* Pages that wait and that a pin at txn_id sees. */
uint32_t bw_space_count_kept(const struct space *space, uint64_t txn_id);

/*
 * The lowest free run of `pages` pages that ends at or below `limit` pages and crosses no window.
 * *out_found false: there is none.
 */
MUST_CHECK bw_err bw_space_take(struct space *space, uint32_t pages, uint32_t limit,
                                page_no *out_page, bool *out_found);
/* Is there one? */
bool bw_space_has_free(const struct space *space, uint32_t pages, uint32_t limit);
/* Free pages of this transaction at once. */
void bw_space_give_taken(struct space *space, page_no page, uint32_t pages);
/* Note a run of an earlier transaction as freed by this one. reserve first makes it infallible. */
MUST_CHECK bw_err bw_space_reserve_freed(struct space *space, uint32_t count);
void bw_space_note_freed(struct space *space, page_no page, uint32_t pages, uint64_t born);

/* used of `pages` pages from `first` on, a bit a page, with the reserved places of first's region.
 * Test geometries may let a region begin within a byte. */
void bw_space_write_bits(const struct space *space, page_no first, uint32_t pages, uint8_t *bits);
/* One beyond the highest page in used. */
uint32_t bw_space_hwm(const struct space *space);
uint32_t bw_space_used_pages(const struct space *space);

/* R7: the running transaction became the newest snapshot. bw_space_prepare_publish makes room
 * first. */
MUST_CHECK bw_err bw_space_prepare_publish(struct space *space);
void bw_space_publish(struct space *space, uint64_t txn_id);
void bw_space_undo(struct space *space);

/* The first page of region r's bitmap places. */
page_no bw_space_region_start(const struct geometry *geometry, uint32_t region);
bool bw_space_is_reserved(const struct geometry *geometry, page_no page);
