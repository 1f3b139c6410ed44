/* SPDX-License-Identifier: Apache-2.0 */
/* Writing, reading and giving up overflow values; see value.h for the invariants. */
#include "store/value.h"

enum {
    REFERENCE_AT_SUM = 12,
    EXTENT_BYTES_MAX = OVERFLOW_PAGES_MAX * PAGE_SIZE - VALUE_PAGE_HEADER,
};
_Static_assert(VALUE_CONTIGUOUS_MAX == EXTENT_BYTES_MAX, "one extent holds what the door promises");

static uint32_t extents_of(const uint8_t *reference)
{
    return bw_get_u32(reference + REFERENCE_AT_EXTENTS);
}

static const uint8_t *extent_of(const uint8_t *reference, uint32_t index)
{
    return reference + REFERENCE_HEAD + (size_t)REFERENCE_EXTENT * index;
}

static page_no page_of(const uint8_t *reference, uint32_t index)
{
    return bw_get_u32(extent_of(reference, index));
}

// The bytes of a value that lie in its extent `index` (W1).
static uint32_t part_size(uint64_t length, uint32_t index)
{
    const uint64_t left = length - (uint64_t)index * EXTENT_BYTES_MAX;
    return left < EXTENT_BYTES_MAX ? (uint32_t)left : EXTENT_BYTES_MAX;
}

static uint32_t pages_for(uint32_t size)
{
    return (size + VALUE_PAGE_HEADER + PAGE_SIZE - 1) / PAGE_SIZE;
}

// ---- writing ----

static void give_back(struct txn *txn, const uint8_t *reference, uint32_t extents)
{
    for (uint32_t i = 0; i < extents; i++) {
        const uint32_t pages = bw_get_u32(extent_of(reference, i) + 4);
        bw_page_give_up(txn, page_of(reference, i), pages, bw_txn_id(txn));
    }
}

bw_err bw_value_write(struct txn *txn, uint32_t tree_id, struct bytes value,
                      uint8_t reference[VALUE_REFERENCE_MAX], uint32_t *out_size)
{
    if (value.size > (uint64_t)REFERENCE_EXTENTS_MAX * EXTENT_BYTES_MAX) {
        return bw_fail(BW_ERR_MAX_DATA_SIZE_EXCEEDED,
                       "Could not put: a value of %zu bytes is "
                       "larger than the format allows",
                       value.size);
    }
    const uint32_t extents = (uint32_t)((value.size + EXTENT_BYTES_MAX - 1) / EXTENT_BYTES_MAX);
    bw_put_u64(reference, value.size);
    bw_put_u32(reference + REFERENCE_AT_EXTENTS, extents);
    bw_put_u32(reference + REFERENCE_AT_SUM, 0);
    for (uint32_t i = 0; i < extents; i++) {
        const uint32_t size = part_size(value.size, i), pages = pages_for(size);
        page_no page;
        uint8_t *bytes;
        bw_err err = bw_page_new(txn, PAGE_OVERFLOW, tree_id, pages, &page, &bytes);
        if (err) {
            give_back(txn, reference, i);
            return err;
        }
        memcpy(bytes + VALUE_PAGE_HEADER, value.data + (size_t)i * EXTENT_BYTES_MAX, size);
        uint8_t *extent = reference + REFERENCE_HEAD + (size_t)REFERENCE_EXTENT * i;
        bw_put_u32(extent, page);
        bw_put_u32(extent + 4, pages);
    }
    *out_size = REFERENCE_HEAD + REFERENCE_EXTENT * extents;
    return BW_OK;
}

void bw_value_unwrite(struct txn *txn, const uint8_t *reference)
{
    give_back(txn, reference, extents_of(reference));
}

uint8_t *bw_value_stored(struct txn *txn, const uint8_t *reference)
{
    uint8_t *bytes = bw_page_owned(txn, page_of(reference, 0));
    ASSERT(bytes);
    return bytes + VALUE_PAGE_HEADER;
}

void bw_value_seal(struct txn *txn, uint8_t *reference)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < extents_of(reference); i++) {
        const uint8_t *bytes = bw_page_owned(txn, page_of(reference, i));
        ASSERT(bytes);
        const uint32_t size = part_size(bw_value_length(reference), i);
        sum = bw_hash64(bytes + VALUE_PAGE_HEADER, size, sum); // W3
    }
    bw_put_u32(reference + REFERENCE_AT_SUM, (uint32_t)sum);
}

// ---- reading ----

bw_err bw_value_check_reference(const uint8_t *reference)
{
    const uint64_t length = bw_value_length(reference);
    const uint32_t extents = extents_of(reference);
    bool is_good = extents >= 1 && extents <= REFERENCE_EXTENTS_MAX &&
                   length > (uint64_t)(extents - 1) * EXTENT_BYTES_MAX &&
                   length <= (uint64_t)extents * EXTENT_BYTES_MAX; // W1, W2
    for (uint32_t i = 0; is_good && i < extents; i++) {
        const uint32_t pages = bw_get_u32(extent_of(reference, i) + 4);
        is_good = pages == pages_for(part_size(length, i));
    }
    if (is_good) return BW_OK;
    return bw_fail(BW_ERR_FILE_PAGES_CORRUPT,
                   "page %u: the reference to this overflow value contradicts itself",
                   page_of(reference, 0));
}

static bw_err read_extent(struct txn *txn, uint32_t tree_id, const uint8_t *reference,
                          uint32_t index, const uint8_t **out_extent)
{
    return bw_page_read_overflow(txn, page_of(reference, index),
                                 bw_get_u32(extent_of(reference, index) + 4), tree_id, out_extent);
}

struct value_part bw_value_part(const uint8_t *reference, uint32_t index)
{
    const uint32_t size = part_size(bw_value_length(reference), index);
    return (struct value_part){page_of(reference, index), pages_for(size), size};
}

bool bw_value_sum_fits(const uint8_t *reference, uint64_t sum)
{
    return (uint32_t)sum == bw_get_u32(reference + REFERENCE_AT_SUM);
}

static bw_err check_sum(const uint8_t *reference, uint64_t sum)
{
    if (bw_value_sum_fits(reference, sum)) return BW_OK;
    return bw_fail(BW_ERR_FILE_PAGES_CORRUPT, "page %u: the sum of this overflow value is wrong",
                   page_of(reference, 0));
}

static bw_err join(struct txn *txn, uint32_t tree_id, const uint8_t *reference,
                   struct bytes *out_value)
{
    const uint64_t length = bw_value_length(reference);
    if (length > SIZE_MAX) return bw_fail(BW_ERR_NO_MEMORY, "A value of %zu bytes", SIZE_MAX);
    bw_err err = BW_OK;
    for (uint32_t i = 0; i < extents_of(reference) && !err; i++) { // before memory is taken for it
        const uint8_t *extent;
        err = read_extent(txn, tree_id, reference, i, &extent);
    }
    uint8_t *joined;
    if (!err) err = bw_txn_scratch(txn, (size_t)length, &joined);
    if (err) return err;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < extents_of(reference); i++) {
        const uint8_t *extent;
        err = read_extent(txn, tree_id, reference, i, &extent);
        if (err) return err;
        const uint32_t size = part_size(length, i);
        uint8_t *part = joined + (size_t)i * EXTENT_BYTES_MAX;
        memcpy(part, extent + VALUE_PAGE_HEADER, size);
        sum = bw_hash64(part, size, sum);
    }
    err = check_sum(reference, sum);
    if (!err) *out_value = (struct bytes){.data = joined, .size = (size_t)length};
    return err;
}

bw_err bw_value_read(struct txn *txn, uint32_t tree_id, const uint8_t *reference,
                     struct bytes *out_value)
{
    bw_err err = bw_value_check_reference(reference);
    if (err) return err;
    if (extents_of(reference) > 1) return join(txn, tree_id, reference, out_value);
    const uint8_t *extent;
    err = read_extent(txn, tree_id, reference, 0, &extent);
    if (err) return err;
    out_value->data = extent + VALUE_PAGE_HEADER;
    out_value->size = (size_t)bw_value_length(reference);
    return BW_OK;
}

// ---- giving up ----

bw_err bw_value_extents(struct txn *txn, uint32_t tree_id, const uint8_t *reference,
                        struct value_extents *out_extents)
{
    bw_err err = bw_value_check_reference(reference);
    if (err) return err;
    for (uint32_t i = 0; i < extents_of(reference); i++) {
        const uint8_t *extent;
        err = read_extent(txn, tree_id, reference, i, &extent);
        if (err) return err;
        out_extents->extent[i].page = page_of(reference, i);
        out_extents->extent[i].pages = bw_get_u32(extent_of(reference, i) + 4);
        out_extents->extent[i].born = bw_page_born(extent);
    }
    out_extents->count = extents_of(reference);
    return BW_OK;
}

static bool are_kept(const struct txn *txn, const uint8_t *reference)
{
    for (uint32_t i = 0; i < extents_of(reference); i++) {
        const uint32_t pages = bw_get_u32(extent_of(reference, i) + 4);
        if (!bw_page_is_kept(txn, page_of(reference, i), pages)) return false;
    }
    return true;
}

bw_err bw_value_check_leaf(const struct txn *txn, const uint8_t *leaf)
{
    bool has_overflow;
    if (!bw_leaf_is_safe(leaf, &has_overflow)) return bw_leaf_damaged(leaf);
    if (LIKELY(!has_overflow)) return BW_OK;
    for (unsigned at = bw_leaf_skip(leaf, 0); at < bw_leaf_slots(leaf);
         at = bw_leaf_skip(leaf, at + 1)) {
        struct leaf_entry entry;
        if (!bw_leaf_entry(leaf, at, &entry)) return bw_leaf_damaged(leaf);
        if (entry.is_overflow && !are_kept(txn, entry.data))
            return bw_fail(BW_ERR_FILE_PAGES_CORRUPT,
                           "page %u: a value of this leaf has pages that are called free",
                           bw_get_u32(leaf + PAGE_AT_NUMBER));
    }
    return BW_OK;
}

void bw_value_free(struct txn *txn, const struct value_extents *extents)
{
    for (uint32_t i = BUG(overflow_kept); i < extents->count; i++) {
        bw_page_give_up(txn, extents->extent[i].page, extents->extent[i].pages,
                        extents->extent[i].born);
    }
}

// ---- proof ----

bw_err bw_value_check(struct txn *txn, uint32_t tree_id, const uint8_t *reference)
{
    bw_err err = bw_value_check_reference(reference);
    if (err) return err;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < extents_of(reference); i++) {
        const uint8_t *extent;
        err = read_extent(txn, tree_id, reference, i, &extent);
        if (err) return err;
        const uint32_t size = part_size(bw_value_length(reference), i);
        sum = bw_hash64(extent + VALUE_PAGE_HEADER, size, sum);
        uint8_t behind = 0;
        for (size_t at = VALUE_PAGE_HEADER + size; at < (size_t)pages_for(size) * PAGE_SIZE; at++) {
            behind |= extent[at];
        }
        if (behind) {
            return bw_fail(BW_ERR_FILE_PAGES_CORRUPT,
                           "page %u: bytes behind an overflow value are not zero",
                           page_of(reference, i)); // W2
        }
    }
    return check_sum(reference, sum);
}
