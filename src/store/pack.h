/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A snapshot laid out afresh: every extent that it reaches, at the lowest place that is free, with
 * the references that lead to it and a checksum of its own.
 *
 * Children come before their parents, so that a parent is handed on with references that are final,
 * and one page a level is all that has to be kept. Nothing is believed that was verified earlier:
 * what goes on gets a fresh checksum, which would hide what has rotted meanwhile.
 *
 * Invariants:
 *   J1  Each extent's own checksum was made again before it got another one.
 *   J2  Pages handed on are those of the new snapshot, each once, but for the slots; pages between
 *       them that are not handed on are free, or places of bitmaps that are not in use.
 *   J3  No more pages are handed on than the old snapshot can have: a file in which references run
 *       together is refused and does not grow without end.
 */
#pragma once

#include "store/engine.h"

enum { PACK_RUN_PAGES = 64 }; /* pages handed on at once, at most */

/* The number of the commit that a copy of this snapshot begins with: at least 2, so that no copy
 * can be taken for an unfinished creation (R17). */
static inline uint64_t bw_pack_txn_id(const struct snapshot *snapshot)
{
    return snapshot->txn_id < 2 ? 2 : snapshot->txn_id;
}

/* Is there something to be packed? ILLEGAL_STATE if not. */
MUST_CHECK bw_err bw_pack_check(const struct txn *txn);

/* Where the pages go. */
struct pack_output {
    /* Pages that follow one another, from `first` on. */
    bw_err (*put)(void *context, page_no first, const uint8_t *bytes, uint32_t pages);
    /* The slot that describes them, a page: the last thing there is. */
    bw_err (*finish)(void *context, const uint8_t *slot);
    void *context; /* borrowed */
};

/* Lay out what a read transaction sees, as a store with this uuid. The store must have a commit. */
MUST_CHECK bw_err bw_pack(struct txn *txn, const uint8_t *uuid, const struct pack_output *output,
                          const struct progress *progress);
