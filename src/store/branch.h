/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Branches: one page of references to children, with the lower bound of each and its count of keys.
 *
 * Keys, references and counts lie in arrays of their own, so that a search runs over contiguous
 * keys. Layout: docs/format.md.
 *
 * Invariants:
 *   B1  Keys ascend from the second on. The first is not looked at: the leftmost child takes every
 *       key below the second.
 *   B2  All keys below child i are at least key i (i > 0) and below key i + 1.
 *   B3  count i is the number of keys below child i.
 *   B4  Entries beyond the last child are zero.
 */
#pragma once

#include "store/txn.h"

enum {
    BRANCH_CHILDREN_MAX = 254,
    BRANCH_CHILDREN_MIN = BRANCH_CHILDREN_MAX / 4, /* fewer: merged with a sibling if they fit */
    BRANCH_KEYS_AT = 32,
    BRANCH_REFS_AT = BRANCH_KEYS_AT + 8 * BRANCH_CHILDREN_MAX,
    BRANCH_COUNTS_AT = BRANCH_REFS_AT + 4 * BRANCH_CHILDREN_MAX,
};
_Static_assert(BRANCH_COUNTS_AT + 4 * BRANCH_CHILDREN_MAX == PAGE_SIZE, "a branch fills its page");

struct branch_child {
    uint64_t key;
    page_ref ref;
    uint32_t count;
};

static inline unsigned bw_branch_children(const uint8_t *branch) { return bw_page_count(branch); }
static inline unsigned bw_branch_level(const uint8_t *branch)
{
    return bw_get_u16(branch + PAGE_AT_LOWER);
}
static inline uint64_t bw_branch_key(const uint8_t *branch, unsigned at)
{
    return bw_get_u64(branch + BRANCH_KEYS_AT + (size_t)at * 8);
}
static inline page_ref bw_branch_ref(const uint8_t *branch, unsigned at)
{
    return bw_get_u32(branch + BRANCH_REFS_AT + (size_t)at * 4);
}
static inline uint32_t bw_branch_count(const uint8_t *branch, unsigned at)
{
    return bw_get_u32(branch + BRANCH_COUNTS_AT + (size_t)at * 4);
}

/* The header's numbers are possible, so that every child lies inside the page. */
static inline bool bw_branch_is_sound(const uint8_t *branch)
{
    const unsigned children = bw_branch_children(branch);
    return children >= 1 && children <= BRANCH_CHILDREN_MAX && bw_branch_level(branch) >= 1 &&
           bw_get_u16(branch + PAGE_AT_UPPER) == 0;
}

/* Note that this page is not a branch of a level of its tree. */
void bw_branch_note_damaged(page_ref ref, unsigned level);

/* A branch of this level as the transaction sees it, sound. FILE_PAGES_CORRUPT, naming the page,
 * when it is not. */
static inline MUST_CHECK bw_err bw_branch_read(struct txn *txn, uint32_t tree_id, page_ref ref,
                                               unsigned level, const uint8_t **out_branch)
{
    const uint8_t *branch;
    bw_err err = bw_page_read(txn, ref, PAGE_BRANCH, tree_id, &branch);
    if (UNLIKELY(err)) return err;
    if (UNLIKELY(!bw_branch_is_sound(branch) || bw_branch_level(branch) != level)) {
        bw_branch_note_damaged(ref, level);
        return BW_ERR_FILE_PAGES_CORRUPT;
    }
    *out_branch = branch;
    return BW_OK;
}

/* Before references of a branch of the file are copied or followed to free what they lead to: are
 * they all kept (bw_page_is_kept)? FILE_PAGES_CORRUPT, naming the page, when one is not. */
MUST_CHECK bw_err bw_branch_check_children(const struct txn *txn, const uint8_t *branch);

/* The child of a sound branch below which a key belongs. */
static inline unsigned bw_branch_find(const uint8_t *branch, uint64_t key)
{
    // In a tree that was filled in order children lie at nearly equal distances: a good guess
    // spares the steps of a search, each of which waits for the one before.
    const unsigned last = bw_branch_children(branch) - 1;
    const uint64_t low = bw_branch_key(branch, last ? 1 : 0), high = bw_branch_key(branch, last);
    if (key - low < high - low && high - low <= UINT32_MAX) {
        const unsigned guess = 1 + (unsigned)((key - low) * (last - 1) / (high - low));
        const unsigned from = guess - (bw_branch_key(branch, guess) > key);
        const bool is_good = bw_branch_key(branch, from) <= key;
        if (LIKELY(is_good && key < bw_branch_key(branch, from + 1))) return from; // guess < last
    }
    // How many of the keys from the second on are at most `key`, without a branch on what is read.
    const uint8_t *keys = branch + BRANCH_KEYS_AT + 8;
    unsigned at = 0, left = bw_branch_children(branch) - 1;
    while (left > 1) {
        const unsigned half = left / 2;
        at += bw_get_u64(keys + (size_t)8 * (at + half - 1)) <= key ? half : 0;
        left -= half;
    }
    return at + (left && bw_get_u64(keys + (size_t)8 * at) <= key ? 1 : 0);
}

/* ---- changing: owned branches ---- */

static inline void bw_branch_set_key(uint8_t *branch, unsigned at, uint64_t key)
{
    bw_put_u64(branch + BRANCH_KEYS_AT + (size_t)at * 8, key);
}
static inline void bw_branch_set_ref(uint8_t *branch, unsigned at, page_ref ref)
{
    bw_put_u32(branch + BRANCH_REFS_AT + (size_t)at * 4, ref);
}
static inline void bw_branch_set_count(uint8_t *branch, unsigned at, uint32_t count)
{
    bw_put_u32(branch + BRANCH_COUNTS_AT + (size_t)at * 4, count);
}

/* Make a fresh, zeroed page an empty branch. */
void bw_branch_begin(uint8_t *branch, unsigned level);

/* Put child_count children in the place of the old_count ones at `at`. The result must fit. */
void bw_branch_splice(uint8_t *branch, unsigned at, unsigned old_count,
                      const struct branch_child *children, unsigned child_count);

/* Take `count` children of `from`, from its child `first` on, into `branch` at `at`. The other one
 * is not changed. They must fit. */
void bw_branch_copy(uint8_t *branch, unsigned at, const uint8_t *from, unsigned first,
                    unsigned count);

/* Keys below all children together. */
uint32_t bw_branch_total(const uint8_t *branch);

/* Does any child have the overflow bit? */
bool bw_branch_has_overflow(const uint8_t *branch);

/* For the proof: what contradicts B1, B2 or B4 in a sound branch whose keys have to lie from low to
 * high, or NULL. */
const char *bw_branch_problem(const uint8_t *branch, uint64_t low, uint64_t high);
