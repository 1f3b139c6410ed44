/* SPDX-License-Identifier: Apache-2.0 */
#include "store/page.h"

const struct geometry bw_geometry_default = {
    .inline_pages = 8192,
    .region_pages = WINDOW_PAGES,
    .bitmap_copies = 4,
    .manifest_runs = 216,
    .manifest_pages = 256,
};

void bw_page_sums(const uint8_t *extent, uint32_t pages, uint64_t salt, uint64_t *sums)
{
    sums[0] = bw_hash64(extent + 8, PAGE_SIZE - 8, salt);
    for (uint32_t i = 1; i < pages; i++)
        sums[i] = bw_hash64(extent + (size_t)i * PAGE_SIZE, PAGE_SIZE, salt);
}

void bw_page_checksum_begin(struct page_checksum *checksum, uint64_t salt)
{
    checksum->hash = salt;
    checksum->filled = 0;
}

uint64_t bw_page_checksum_end(struct page_checksum *checksum)
{
    if (checksum->filled)
        checksum->hash = bw_hash64(checksum->piece, (size_t)8 * checksum->filled, checksum->hash);
    checksum->filled = 0;
    return checksum->hash;
}

void bw_page_checksum_add(struct page_checksum *checksum, uint64_t sum)
{
    if (checksum->filled == CHECKSUM_PIECE) (void)bw_page_checksum_end(checksum);
    bw_put_u64(checksum->piece + (size_t)8 * checksum->filled++, sum);
}

uint64_t bw_page_checksum(const uint64_t *sums, uint32_t pages, uint64_t salt)
{
    struct page_checksum checksum;
    bw_page_checksum_begin(&checksum, salt);
    for (uint32_t i = 0; i < pages; i++) bw_page_checksum_add(&checksum, sums[i]);
    return bw_page_checksum_end(&checksum);
}

void bw_page_checksum_add_pages(struct page_checksum *checksum, const uint8_t *bytes,
                                uint32_t pages, uint64_t salt)
{
    for (uint32_t i = 0; i < pages; i++)
        bw_page_checksum_add(checksum, bw_hash64(bytes + (size_t)i * PAGE_SIZE, PAGE_SIZE, salt));
}

bool bw_page_fits(const uint8_t *extent, uint32_t pages, uint64_t salt)
{
    struct page_checksum checksum;
    uint64_t sum = 0;
    bw_page_checksum_begin(&checksum, salt);
    bw_page_sums(extent, 1, salt, &sum);
    bw_page_checksum_add(&checksum, sum);
    bw_page_checksum_add_pages(&checksum, extent + PAGE_SIZE, pages - 1, salt);
    return bw_page_checksum_end(&checksum) == bw_get_u64(extent + PAGE_AT_CHECKSUM);
}
