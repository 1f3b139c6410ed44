/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages: the unit of space, their header, and references to them.
 *
 * An extent is 1 or more consecutive pages under one header. All extents of a tree but overflow
 * have at most EXTENT_PAGES_MAX pages. No extent crosses a window of WINDOW_PAGES pages, so that it
 * is contiguous in memory however the file is mapped. Layout: docs/format.md.
 */
#pragma once

#include "base/base.h"

typedef uint32_t page_no;

enum {
    PAGE_SIZE = 4096,
    PAGE_HEADER_SIZE = 32,
    EXTENT_PAGES_MAX = 8,
    WINDOW_PAGES = 16384, /* 64 MB */
    OVERFLOW_PAGES_MAX = 16380,
};

enum page_kind {
    PAGE_BRANCH = 1,
    PAGE_LEAF = 2,
    PAGE_OVERFLOW = 3, /* a value's bytes, or a schema blob's */
    PAGE_BITMAP = 4,   /* the allocation state of a region */
};

/* Offsets in the header. */
enum {
    PAGE_AT_CHECKSUM = 0, /* u64: see bw_page_checksum */
    PAGE_AT_NUMBER = 8,   /* u32: its own page number */
    PAGE_AT_KIND = 12,    /* u8 */
    PAGE_AT_PAGES =
        13, /* u8: pages of a leaf's or branch's extent; 1 for a bitmap, 0 for overflow */
    PAGE_AT_COUNT = 14,  /* u16: slots of a leaf, children of a branch */
    PAGE_AT_BORN = 16,   /* u64: the transaction that wrote it */
    PAGE_AT_TREE = 24,   /* u32: the tree it belongs to; region number of a bitmap */
    PAGE_AT_LOWER = 28,  /* u16: leaf: end of the slots; branch: level above the leaves (1..) */
    PAGE_AT_UPPER = 30,  /* u16: leaf: start of the values, in bytes from the extent's start */
    PAGE_AT_EXTENT = 28, /* u32: overflow: pages of the extent (instead of LOWER and UPPER) */
};

/*
 * A reference to a leaf or branch as it is kept in branches and tree descriptors: 28 bits of page
 * number, 3 bits of extent length minus 1, and one bit that says whether any value at or below it
 * lies in an overflow extent (so that clearing a tree need not read its leaves). 0: no page.
 */
typedef uint32_t page_ref;

#define REF_PAGE_MAX 0x0fffffffu
#define REF_OVERFLOW 0x80000000u

static inline page_ref bw_ref_make(page_no page, unsigned pages, bool has_overflow)
{
    return page | ((page_ref)(pages - 1) << 28) | (has_overflow ? REF_OVERFLOW : 0);
}
static inline page_no bw_ref_page(page_ref ref) { return ref & REF_PAGE_MAX; }
static inline unsigned bw_ref_pages(page_ref ref) { return (ref >> 28 & 7) + 1; }
static inline bool bw_ref_has_overflow(page_ref ref) { return (ref & REF_OVERFLOW) != 0; }

static inline uint16_t bw_page_count(const uint8_t *page)
{
    return bw_get_u16(page + PAGE_AT_COUNT);
}
static inline uint64_t bw_page_born(const uint8_t *page) { return bw_get_u64(page + PAGE_AT_BORN); }

/* Pages of the extent that starts with this header; 0 when the header says nonsense. */
static inline uint32_t bw_page_extent(const uint8_t *page)
{
    return page[PAGE_AT_KIND] == PAGE_OVERFLOW ? bw_get_u32(page + PAGE_AT_EXTENT)
                                               : page[PAGE_AT_PAGES];
}

/*
 * Sums of an extent's pages into sums[0..pages): XXH3-64, salted with the store's uuid, of each
 * page's 4,096 bytes, of the first page without its checksum field. bw_page_checksum is what that
 * field holds: the hash of those sums.
 */
void bw_page_sums(const uint8_t *extent, uint32_t pages, uint64_t salt, uint64_t *sums);
uint64_t bw_page_checksum(const uint64_t *sums, uint32_t pages, uint64_t salt);

/* The same checksum, from sums that come one by one, or from pages behind an extent's first. */
enum { CHECKSUM_PIECE = 64 };
struct page_checksum {
    uint64_t hash;
    uint32_t filled;
    uint8_t piece[CHECKSUM_PIECE * 8];
};
void bw_page_checksum_begin(struct page_checksum *checksum, uint64_t salt);
void bw_page_checksum_add(struct page_checksum *checksum, uint64_t sum);
void bw_page_checksum_add_pages(struct page_checksum *checksum, const uint8_t *bytes,
                                uint32_t pages, uint64_t salt);
uint64_t bw_page_checksum_end(struct page_checksum *checksum);

/* Does an extent hold what its checksum says? */
MUST_CHECK bool bw_page_fits(const uint8_t *extent, uint32_t pages, uint64_t salt);

/*
 * Sizes that tests scale down so that small stores reach every mechanism. The product uses
 * bw_geometry_default.
 */
struct geometry {
    uint32_t inline_pages; /* up to so many pages the allocation bitmap lies in the slot */
    uint32_t region_pages; /* pages per region beyond that, at most WINDOW_PAGES */
    uint32_t bitmap_copies;
    uint32_t manifest_runs;  /* at most so many runs in a slot's manifest */
    uint32_t manifest_pages; /* a commit of more pages is large */
};
extern const struct geometry bw_geometry_default;
