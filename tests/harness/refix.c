/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/refix.h"

#include "store/slot.h"

static uint8_t *page_of(const struct image *image, uint32_t page)
{
    return image->bytes + (size_t)page * PAGE_SIZE;
}

uint32_t refix_extent(const struct image *image, uint32_t page)
{
    if (page < SLOT_COUNT || page >= image->page_count) return 0;
    const uint8_t *header = page_of(image, page);
    const uint32_t pages = bw_page_extent(header);
    if (bw_get_u32(header + PAGE_AT_NUMBER) != page) return 0;
    if (header[PAGE_AT_KIND] < PAGE_BRANCH || header[PAGE_AT_KIND] > PAGE_BITMAP) return 0;
    return pages <= OVERFLOW_PAGES_MAX && pages <= image->page_count - page ? pages : 0;
}

static bool is_changed(const struct image *image, uint32_t page, uint32_t pages)
{
    if (!image->changed) return true;
    for (uint32_t i = 0; i < pages; i++)
        if (image->changed[page + i]) return true;
    return false;
}

static void sum_extent(const struct image *image, uint32_t page, uint32_t pages, uint64_t salt)
{
    uint8_t *bytes = page_of(image, page);
    struct page_checksum checksum;
    uint64_t sum;
    bw_page_checksum_begin(&checksum, salt);
    bw_page_sums(bytes, 1, salt, &sum);
    bw_page_checksum_add(&checksum, sum);
    for (uint32_t i = 1; i < pages; i++)
        bw_page_checksum_add(&checksum, bw_hash64(bytes + (size_t)i * PAGE_SIZE, PAGE_SIZE, salt));
    bw_put_u64(bytes + PAGE_AT_CHECKSUM, bw_page_checksum_end(&checksum));
    if (image->changed) image->changed[page] = 1; // also for an extent around this one
}

/* The hash of a run as far as the file reaches; a run that leads out of it stays as it is. */
static void sum_run(const struct image *image, uint8_t *run, uint64_t salt)
{
    enum { PIECE_PAGES = 16 };
    uint32_t page = bw_get_u32(run), rest = bw_get_u32(run + 4), extent = 0;
    if (page >= image->page_count || rest > image->page_count - page) return;
    uint64_t hash = salt;
    while (rest) {
        uint8_t sums[PIECE_PAGES * 8];
        uint32_t filled = 0;
        for (; filled < PIECE_PAGES && rest; filled++, rest--, page++, extent--) {
            const uint8_t *bytes = page_of(image, page);
            const bool is_first = !extent;
            if (is_first) extent = bw_page_extent(bytes);
            if (is_first && (!extent || extent > rest)) extent = 1;
            const size_t skip = is_first ? 8 : 0;
            bw_put_u64(sums + (size_t)8 * filled, bw_hash64(bytes + skip, PAGE_SIZE - skip, salt));
        }
        hash = bw_hash64(sums, (size_t)8 * filled, hash);
    }
    bw_put_u64(run + 8, hash);
}

/* Where the slot keeps its runs; NULL: its parts do not fit. */
static uint8_t *runs_of(uint8_t *slot)
{
    size_t at = SLOT_AT_BODY + bw_get_u16(slot + SLOT_AT_TREE_COUNT) * (size_t)TREE_ENTRY_SIZE;
    const uint32_t hwm = bw_get_u32(slot + SLOT_AT_HWM);
    const uint32_t regions = bw_get_u32(slot + SLOT_AT_REGIONS);
    at += bw_slot_bits_size(hwm, regions);
    if (!bw_get_u32(slot + SLOT_AT_SCHEMA_PAGE))
        at += bw_round_up(bw_get_u32(slot + SLOT_AT_SCHEMA_SIZE), 8);
    const size_t end = at + bw_get_u16(slot + SLOT_AT_RUN_COUNT) * (size_t)RUN_SIZE;
    return at <= end && end <= SLOT_CHECKED_SIZE ? slot + at : NULL;
}

static void fix_slot(uint8_t *slot, uint8_t *other)
{
    const uint64_t sum = bw_hash64(slot + SLOT_AT_VERSION, SLOT_CHECKED_SIZE - SLOT_AT_VERSION, 0);
    bw_put_u64(slot + SLOT_AT_CHECKSUM, sum);
    if (bw_get_u64(other + SLOT_AT_SEAL + 8) == bw_get_u64(slot + SLOT_AT_TXN))
        bw_put_u64(other + SLOT_AT_SEAL, sum);
}

static bool is_slot(const uint8_t *slot)
{
    return memcmp(slot, bw_slot_magic, sizeof(bw_slot_magic)) == 0;
}

void refix_image(const struct image *image)
{
    if (image->page_count < SLOT_COUNT) return;
    uint8_t *slots[SLOT_COUNT] = {page_of(image, 0), page_of(image, 1)};
    if (!is_slot(slots[0]) && !is_slot(slots[1])) return;
    const uint64_t salt = bw_get_u64((is_slot(slots[0]) ? slots[0] : slots[1]) + SLOT_AT_UUID);
    for (uint32_t page = image->page_count; page-- > SLOT_COUNT;) {
        const uint32_t pages = refix_extent(image, page);
        if (pages && is_changed(image, page, pages)) sum_extent(image, page, pages, salt);
    }
    for (int i = 0; i < SLOT_COUNT; i++) {
        if (!is_slot(slots[i])) continue;
        uint8_t *runs = runs_of(slots[i]);
        for (uint16_t run = 0; runs && run < bw_get_u16(slots[i] + SLOT_AT_RUN_COUNT); run++)
            sum_run(image, runs + (size_t)run * RUN_SIZE, salt);
    }
    for (int i = 0; i < SLOT_COUNT; i++)
        if (is_slot(slots[i])) fix_slot(slots[i], slots[1 - i]);
}

void refix_set_uuid(const struct image *image, const uint8_t uuid[16])
{
    for (uint32_t i = 0; i < SLOT_COUNT && i < image->page_count; i++)
        if (is_slot(page_of(image, i))) memcpy(page_of(image, i) + SLOT_AT_UUID, uuid, 16);
    refix_image(&(struct image){.bytes = image->bytes, .page_count = image->page_count});
}
