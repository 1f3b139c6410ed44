/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Overflow values: values too large for a leaf, in extents of their own.
 *
 * The leaf holds a reference: length, number of extents, sum, and each extent's first page and
 * length. One extent is read in place; several are joined in scratch memory. Layout:
 * docs/format.md.
 *
 * Invariants:
 *   W1  Every extent of a value but its last is full: OVERFLOW_PAGES_MAX pages.
 *   W2  The last extent holds at least one byte of it, has no page too many, and zeroes behind.
 *   W3  The sum covers the value's bytes: extent by extent, each salted with the sum before.
 *
 * The caller may write to a value that was just stored, so its sum is made afterwards: see
 * bw_value_seal. Nothing here trusts a reference read from a file.
 */
#pragma once

#include "store/leaf.h"
#include "store/txn.h"

enum {
    VALUE_INLINE_MAX = 4048,      /* larger values go to an overflow extent */
    VALUE_INLINE_BULK_MAX = 8184, /* the same while appending to leaves of EXTENT_PAGES_MAX pages */
    VALUE_REFERENCE_MAX = REFERENCE_HEAD + REFERENCE_EXTENT * REFERENCE_EXTENTS_MAX,
    VALUE_PAGE_HEADER = PAGE_HEADER_SIZE, /* once per extent */
};

/* Extents to be given up, as their headers tell. */
struct value_extents {
    uint32_t count;
    struct {
        page_no page;
        uint32_t pages;
        uint64_t born;
    } extent[REFERENCE_EXTENTS_MAX];
};

/* Where a part of a value lies, by its reference. */
struct value_part {
    page_no page;
    uint32_t pages, size; /* bytes of the value */
};

/* FILE_PAGES_CORRUPT when the numbers of a reference contradict each other (W1, W2). */
MUST_CHECK bw_err bw_value_check_reference(const uint8_t *reference);
/* Of a reference that was checked; parts go on until the value's length is reached. */
struct value_part bw_value_part(const uint8_t *reference, uint32_t index);
/* Is this the sum of the value's bytes (W3)? */
bool bw_value_sum_fits(const uint8_t *reference, uint64_t sum);

/* The value's length that a reference tells. */
static inline uint64_t bw_value_length(const uint8_t *reference) { return bw_get_u64(reference); }

/*
 * Write a value to fresh extents; the reference, yet without its sum, goes to `reference`.
 * MAX_DATA_SIZE_EXCEEDED when it needs more than REFERENCE_EXTENTS_MAX extents. On failure nothing
 * is left behind.
 */
MUST_CHECK bw_err bw_value_write(struct txn *txn, uint32_t tree_id, struct bytes value,
                                 uint8_t reference[VALUE_REFERENCE_MAX], uint32_t *out_size);

/* Take back what bw_value_write did. */
void bw_value_unwrite(struct txn *txn, const uint8_t *reference);

/* The first byte of a value that this transaction wrote. */
uint8_t *bw_value_stored(struct txn *txn, const uint8_t *reference);

/* Make the sum of a value that this transaction wrote. */
void bw_value_seal(struct txn *txn, uint8_t *reference);

/* The value's bytes; those of several extents are joined, and their sum is checked. */
MUST_CHECK bw_err bw_value_read(struct txn *txn, uint32_t tree_id, const uint8_t *reference,
                                struct bytes *out_value);

/* Read the headers of a value's extents, to give them up later with bw_value_free. */
MUST_CHECK bw_err bw_value_extents(struct txn *txn, uint32_t tree_id, const uint8_t *reference,
                                   struct value_extents *out_extents);

/* Before a leaf of the file is copied, or what it holds: it is safe to change (bw_leaf_is_safe),
 * and the extents of its values are kept (bw_page_is_kept). FILE_PAGES_CORRUPT when not. */
MUST_CHECK bw_err bw_value_check_leaf(const struct txn *txn, const uint8_t *leaf);

/* Give the extents up. bw_page_make_room must have been called for that many frees. */
void bw_value_free(struct txn *txn, const struct value_extents *extents);

/* For the proof: reads everything. FILE_PAGES_CORRUPT when sum or padding (W2, W3) are wrong. */
MUST_CHECK bw_err bw_value_check(struct txn *txn, uint32_t tree_id, const uint8_t *reference);
