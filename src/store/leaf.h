/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leaves: keys and their values in one extent of 1 to EXTENT_PAGES_MAX pages.
 *
 * Slots grow upward behind the header, values downward from the end. In a dense leaf a key is the
 * position of its slot, so finding one is an array access and a slot costs 4 bytes; a sparse leaf
 * keeps each key's distance from the base in 8-byte slots, a wide one, for distances of more than
 * 32 bits, in 12-byte slots. Layout: docs/format.md.
 *
 * Invariants:
 *   L1  Slots ascend by key. The first slot of a dense leaf and its last one hold values.
 *   L2  Every value lies between UPPER and the end of the extent, at a multiple of 8, and no two
 *       overlap. Every slot lies below LOWER, and LOWER is at most UPPER.
 *   L3  Bytes behind the header that are neither base, slot nor value are zero: nothing of a
 *       removed value stays behind, and padding need not be written.
 *   L4  A leaf of a tree holds at least one value.
 *   L5  At least half of the slots of a dense leaf hold values.
 *   L6  The slots of a leaf, however many pages it has and whatever its form, are fewer than
 *       LEAF_WIDE, so that their number and the form share 16 bits.
 *
 * Reading trusts nothing but what bw_leaf_is_sound has seen: each slot is checked before its bytes
 * are touched. Changing needs bw_leaf_is_safe once.
 *
 * Not here: changes that need the whole leaf laid out afresh (repack.h) and overflow values
 * (value.h).
 */
#pragma once

#include "store/txn.h"

/* The two high bits of PAGE_AT_COUNT; the others count the slots. Both at once are no form. */
enum leaf_form { LEAF_SPARSE = 0, LEAF_WIDE = 0x4000, LEAF_DENSE = 0x8000 };

enum {
    LEAF_BASE_AT = 32,    /* u64: what distances count from; the first key of a dense leaf */
    LEAF_SLOTS_AT = 40,   /* slots begin here */
    LEAF_SLOT_DENSE = 4,  /* u16 offset / 8, u16 length; 0: empty */
    LEAF_SLOT_SPARSE = 8, /* u32 distance from the base, u16 offset / 8, u16 length */
    LEAF_SLOT_WIDE = 12,  /* u64 distance from the base, u16 offset / 8, u16 length */
    LEAF_LENGTH_OVERFLOW = 0xFFFF, /* the bytes are a reference to an overflow value */

    /* The part of an overflow reference that a leaf must know: it tells its own size. */
    REFERENCE_HEAD = 16,
    REFERENCE_AT_EXTENTS = 8,
    REFERENCE_EXTENT = 8,
    REFERENCE_EXTENTS_MAX = 64,
};

_Static_assert((EXTENT_PAGES_MAX * PAGE_SIZE - LEAF_SLOTS_AT) / LEAF_SLOT_DENSE < LEAF_WIDE, "L6");

/* A value, or an overflow reference, as it lies in a leaf or is to be put there. */
struct leaf_entry {
    uint64_t key;
    const uint8_t *data; /* borrowed; NULL: an empty slot */
    uint32_t size;
    bool is_overflow;
};

/* What a value of this size takes up. */
static inline uint32_t bw_leaf_padded(uint32_t size) { return (size + 7) & ~7u; }

/* ---- reading ---- */

static inline bool bw_leaf_is_dense(const uint8_t *leaf)
{
    return (bw_page_count(leaf) & LEAF_DENSE) != 0;
}
static inline bool bw_leaf_is_wide(const uint8_t *leaf)
{
    return (bw_page_count(leaf) & LEAF_WIDE) != 0;
}
static inline unsigned bw_leaf_slots(const uint8_t *leaf)
{
    return bw_page_count(leaf) & (LEAF_WIDE - 1u);
}
static inline unsigned bw_leaf_slot_size(const uint8_t *leaf)
{
    if (bw_leaf_is_dense(leaf)) return LEAF_SLOT_DENSE;
    return bw_leaf_is_wide(leaf) ? LEAF_SLOT_WIDE : LEAF_SLOT_SPARSE;
}
static inline uint64_t bw_leaf_base(const uint8_t *leaf) { return bw_get_u64(leaf + LEAF_BASE_AT); }
static inline uint32_t bw_leaf_size(const uint8_t *leaf) { return leaf[PAGE_AT_PAGES] * 4096u; }
static inline unsigned bw_leaf_lower(const uint8_t *leaf)
{
    return bw_get_u16(leaf + PAGE_AT_LOWER);
}
static inline unsigned bw_leaf_upper(const uint8_t *leaf)
{
    return bw_get_u16(leaf + PAGE_AT_UPPER);
}

/* The header's numbers agree, so that every slot lies inside the extent. Cheap: for every read. */
static inline bool bw_leaf_is_sound(const uint8_t *leaf)
{
    const unsigned slots = bw_leaf_slots(leaf);
    const unsigned lower = bw_leaf_lower(leaf), upper = bw_leaf_upper(leaf);
    return slots && bw_page_count(leaf) < (LEAF_DENSE | LEAF_WIDE) &&
           lower == LEAF_SLOTS_AT + slots * bw_leaf_slot_size(leaf) && lower <= upper &&
           upper <= bw_leaf_size(leaf) && upper % 8 == 0;
}

/* Where slot `at` of a sound leaf, below its slots, keeps offset and length, and how far its key is
 * from the base. */
static inline const uint8_t *bw_leaf_slot(const uint8_t *leaf, unsigned at, uint64_t *out_distance)
{
    const uint8_t *slots = leaf + LEAF_SLOTS_AT;
    if (bw_leaf_is_dense(leaf)) {
        *out_distance = at;
        return slots + (size_t)LEAF_SLOT_DENSE * at;
    }
    if (UNLIKELY(bw_leaf_is_wide(leaf))) {
        slots += (size_t)LEAF_SLOT_WIDE * at;
        *out_distance = bw_get_u64(slots);
        return slots + 8;
    }
    slots += (size_t)LEAF_SLOT_SPARSE * at;
    *out_distance = bw_get_u32(slots);
    return slots + 4;
}

static inline uint64_t bw_leaf_key(const uint8_t *leaf, unsigned at)
{
    uint64_t distance;
    (void)bw_leaf_slot(leaf, at, &distance);
    return bw_leaf_base(leaf) + distance;
}

static inline bool bw_leaf_is_empty_slot(const uint8_t *leaf, unsigned at)
{
    uint64_t distance;
    return bw_get_u16(bw_leaf_slot(leaf, at, &distance)) == 0;
}

/* What slot `at` of a sound leaf holds. False: it points outside the leaf's values. */
static inline bool bw_leaf_entry(const uint8_t *leaf, unsigned at, struct leaf_entry *out_entry)
{
    uint64_t distance;
    const uint8_t *slot = bw_leaf_slot(leaf, at, &distance);
    const size_t offset = (size_t)bw_get_u16(slot) * 8, end = bw_leaf_size(leaf);
    uint32_t size = bw_get_u16(slot + 2);
    out_entry->key = bw_leaf_base(leaf) + distance;
    out_entry->is_overflow = size == LEAF_LENGTH_OVERFLOW;
    if (!offset) {
        out_entry->data = NULL;
        out_entry->size = 0;
        return size == 0;
    }
    if (offset < bw_leaf_lower(leaf)) return false;
    if (out_entry->is_overflow) {
        if (offset + REFERENCE_HEAD > end) return false;
        const uint32_t extents = bw_get_u32(leaf + offset + REFERENCE_AT_EXTENTS);
        if (!extents || extents > REFERENCE_EXTENTS_MAX) return false;
        size = REFERENCE_HEAD + extents * REFERENCE_EXTENT;
    }
    out_entry->data = leaf + offset;
    out_entry->size = size;
    return size && offset + size <= end;
}

/* Note that the header of a leaf contradicts itself. */
void bw_leaf_note_unsound(page_ref ref);

/* A leaf as the transaction sees it, sound. FILE_PAGES_CORRUPT, naming the page, when it is not. */
static inline MUST_CHECK bw_err bw_leaf_read(struct txn *txn, uint32_t tree_id, page_ref ref,
                                             const uint8_t **out_leaf)
{
    const uint8_t *leaf;
    bw_err err = bw_page_read(txn, ref, PAGE_LEAF, tree_id, &leaf);
    if (UNLIKELY(err)) return err;
    if (UNLIKELY(!bw_leaf_is_sound(leaf))) {
        bw_leaf_note_unsound(ref);
        return BW_ERR_FILE_PAGES_CORRUPT;
    }
    *out_leaf = leaf;
    return BW_OK;
}

/* Note that a slot of this leaf points where it must not. Returns FILE_PAGES_CORRUPT. */
MUST_CHECK bw_err bw_leaf_damaged(const uint8_t *leaf);

/* The same as below, of a leaf that is not dense. */
bool bw_leaf_search(const uint8_t *leaf, uint64_t key, unsigned *out_at);

/* The slot of a key in a sound leaf. False: there is no such key, and *out_at is the first slot
 * with a higher one, or the key's own empty slot, or the number of slots. */
static inline bool bw_leaf_find(const uint8_t *leaf, uint64_t key, unsigned *out_at)
{
    if (UNLIKELY(!bw_leaf_is_dense(leaf))) return bw_leaf_search(leaf, key, out_at);
    const uint64_t base = bw_leaf_base(leaf), distance = key - base;
    const unsigned slots = bw_leaf_slots(leaf);
    if (UNLIKELY(distance >= slots)) {
        *out_at = key < base ? 0 : slots;
        return false;
    }
    *out_at = (unsigned)distance;
    return bw_get_u16(leaf + LEAF_SLOTS_AT + LEAF_SLOT_DENSE * (size_t)distance) != 0;
}

/* The first slot from `at` that is not empty, or the number of slots. */
static inline unsigned bw_leaf_skip(const uint8_t *leaf, unsigned at)
{
    const unsigned slots = bw_leaf_slots(leaf);
    if (bw_leaf_is_dense(leaf)) {
        const uint8_t *slot = leaf + LEAF_SLOTS_AT;
        while (at < slots && bw_get_u16(slot + (size_t)LEAF_SLOT_DENSE * at) == 0) at++;
    }
    return at;
}

/* ---- changing: owned leaves that are safe, or that were begun here ---- */

/* Every slot is in bounds and in order, and no two values overlap: whatever a damaged file says,
 * changing this leaf touches only this leaf, and a value only itself. Reads all slots. */
bool bw_leaf_is_safe(const uint8_t *leaf, bool *out_has_overflow);

struct leaf_fill {
    unsigned live; /* slots that hold a value */
    uint32_t size; /* bytes in use: header, base, slots and padded values */
};
/* Of a safe leaf. Reads all slots. */
struct leaf_fill bw_leaf_fill(const uint8_t *leaf);

/* Make a fresh, zeroed extent an empty leaf for keys from `first` on. */
void bw_leaf_begin(uint8_t *leaf, enum leaf_form form, uint64_t first);

/* Add an entry behind the last one, in the leaf's form as it is. It must fit. Returns its copy. */
uint8_t *bw_leaf_push(uint8_t *leaf, const struct leaf_entry *entry);

/* Add an entry under the key behind the last one of a dense leaf that is not empty. NULL: it is not
 * dense, it is another key, or the room does not do. */
uint8_t *bw_leaf_append(uint8_t *leaf, const struct leaf_entry *entry);

/* Add an entry whose key is not there to a leaf that is not empty. Returns its copy, or NULL when
 * the room between slots and values does not do or the leaf should change its form: nothing has
 * changed then. */
uint8_t *bw_leaf_insert(uint8_t *leaf, const struct leaf_entry *entry);

/* Give slot `at`, not an empty one, another value under the same key. NULL: as above. */
uint8_t *bw_leaf_replace(uint8_t *leaf, unsigned at, const struct leaf_entry *entry);

/* Remove what slot `at` holds; another value must remain. Never needs room. Returns what is
 * left. */
struct leaf_fill bw_leaf_remove(uint8_t *leaf, unsigned at);

/* A dense leaf of which more than half the slots are empty must be laid out afresh (L5). */
static inline bool bw_leaf_is_thin(const uint8_t *leaf, struct leaf_fill fill)
{
    return bw_leaf_is_dense(leaf) && 2 * fill.live < bw_leaf_slots(leaf);
}

/* ---- proof ---- */

/* What contradicts L1 to L6 in a leaf of which nothing is known but its extent, or NULL. */
const char *bw_leaf_problem(const uint8_t *leaf);
