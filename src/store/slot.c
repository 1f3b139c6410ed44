/* SPDX-License-Identifier: Apache-2.0 */
#include "store/slot.h"

const uint8_t bw_slot_magic[8] = {'B', 'o', 'x', 'w', 'o', 'o', 'd', 0x1a};

_Static_assert(SLOT_AT_BODY + TREES_INLINE_MAX * TREE_ENTRY_SIZE + 1024 + 52 * RUN_SIZE ==
                   SLOT_CHECKED_SIZE,
               "40 trees, the bitmap of 8,192 pages and 52 runs fill a slot exactly");

size_t bw_slot_bits_size(uint32_t hwm, uint32_t region_count)
{
    size_t bits = region_count ? 2 * (size_t)region_count : hwm;
    return bw_round_up((bits + 7) / 8, 8);
}

static uint64_t checksum(const uint8_t *image)
{
    return bw_hash64(image + SLOT_AT_VERSION, SLOT_CHECKED_SIZE - SLOT_AT_VERSION, 0);
}

/* Do the runs name pages between the slots and the high-water mark only, and few enough? */
static bool runs_are_sane(const struct slot *slot)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < slot->run_count; i++) {
        uint64_t first = bw_get_u32(slot->runs + (size_t)i * RUN_SIZE);
        uint64_t count = bw_get_u32(slot->runs + (size_t)i * RUN_SIZE + 4);
        if (first < SLOT_COUNT || !count || first + count > slot->hwm) return false;
        total += count;
    }
    return total <= 4096;
}

/* Is the schema's blob short enough to lie here, or does its extent lie in the file? */
static bool schema_is_sane(const struct slot *slot)
{
    if (!slot->schema_page) return slot->schema_size <= SCHEMA_INLINE_MAX;
    if (!slot->schema_size || slot->schema_size > VALUE_CONTIGUOUS_MAX) return false;
    uint64_t pages = (slot->schema_size + PAGE_HEADER_SIZE + PAGE_SIZE - 1) / PAGE_SIZE;
    return slot->schema_page >= SLOT_COUNT && slot->schema_page + pages <= slot->hwm;
}

/* Set the pointers into the body. False: the parts do not fit. */
static bool split_body(const uint8_t *image, struct slot *slot)
{
    const uint8_t *at = image + SLOT_AT_BODY, *end = image + SLOT_CHECKED_SIZE;
    if (slot->tree_count > TREES_INLINE_MAX || slot->region_count > REGIONS_MAX) return false;
    slot->trees = at;
    at += (size_t)slot->tree_count * TREE_ENTRY_SIZE;
    slot->bits = at;
    size_t bits_size = bw_slot_bits_size(slot->hwm, slot->region_count);
    if (bits_size > (size_t)(end - at)) return false;
    at += bits_size;
    slot->schema = at;
    if (!slot->schema_page) {
        size_t size = bw_round_up(slot->schema_size, 8);
        if (size > (size_t)(end - at)) return false;
        at += size;
    }
    slot->runs = at;
    return (size_t)slot->run_count * RUN_SIZE <= (size_t)(end - at);
}

enum slot_problem bw_slot_decode(const uint8_t *image, struct slot *out_slot)
{
    if (memcmp(image, bw_slot_magic, sizeof(bw_slot_magic)) != 0) {
        static const uint8_t nothing[8];
        return memcmp(image, nothing, sizeof(nothing)) == 0 ? SLOT_DAMAGED : SLOT_FOREIGN;
    }
    if (bw_get_u64(image + SLOT_AT_CHECKSUM) != checksum(image)) return SLOT_DAMAGED;
    if (bw_get_u16(image + SLOT_AT_VERSION) != SLOT_VERSION ||
        bw_get_u32(image + SLOT_AT_FEATURES) != 0)
        return SLOT_TOO_NEW;
    struct slot slot = {
        .checksum = bw_get_u64(image + SLOT_AT_CHECKSUM),
        .txn_id = bw_get_u64(image + SLOT_AT_TXN),
        .base = bw_get_u64(image + SLOT_AT_BASE),
        .uuid = image + SLOT_AT_UUID,
        .schema_hash = image + SLOT_AT_SCHEMA_HASH,
        .hwm = bw_get_u32(image + SLOT_AT_HWM),
        .schema_size = bw_get_u32(image + SLOT_AT_SCHEMA_SIZE),
        .region_count = bw_get_u32(image + SLOT_AT_REGIONS),
        .schema_page = bw_get_u32(image + SLOT_AT_SCHEMA_PAGE),
        .tree_count = bw_get_u16(image + SLOT_AT_TREE_COUNT),
        .run_count = bw_get_u16(image + SLOT_AT_RUN_COUNT),
        .has_catalog = (bw_get_u32(image + SLOT_AT_FLAGS) & SLOT_FLAG_CATALOG) != 0,
    };
    if (!slot.txn_id || slot.hwm < SLOT_COUNT || slot.hwm > REF_PAGE_MAX + 1 ||
        !schema_is_sane(&slot) || !split_body(image, &slot) || !runs_are_sane(&slot))
        return SLOT_DAMAGED;
    *out_slot = slot;
    return SLOT_GOOD;
}

static bool entries_are_sane(const struct slot *slot)
{
    uint32_t before = 0;
    if (slot->has_catalog) return slot->tree_count == 1 && bw_get_u32(slot->trees) == TREE_CATALOG;
    for (uint16_t i = 0; i < slot->tree_count; i++) {
        const uint32_t id = bw_get_u32(slot->trees + (size_t)i * TREE_ENTRY_SIZE);
        if (id <= before || id >= TREE_SCHEMA) return false;
        before = id;
    }
    return true;
}

const char *bw_slot_contradiction(const struct slot *slot, const struct geometry *geometry)
{
    const uint32_t regions =
        slot->hwm > geometry->inline_pages ? (slot->hwm - 1) / geometry->region_pages + 1 : 0;
    if (slot->region_count != regions) return "its map of free pages has another size";
    if (!entries_are_sane(slot)) return "its list of trees is out of order";
    if (slot->txn_id > TXN_ID_MAX) return "its commits have impossible numbers";
    return NULL;
}

bool bw_slot_is_sealed(const struct slot *slot, const uint8_t *other_image)
{
    if (BUG(seal_flag)) return bw_get_u64(other_image + SLOT_AT_SEAL) != 0;
    return bw_get_u64(other_image + SLOT_AT_SEAL) == slot->checksum &&
           bw_get_u64(other_image + SLOT_AT_SEAL + 8) == slot->txn_id;
}

static size_t inline_schema_size(const struct snapshot *snapshot)
{
    return snapshot->schema_page ? 0 : bw_round_up(snapshot->schema_size, 8);
}

uint32_t bw_slot_run_room(const struct snapshot *snapshot, size_t bits_size)
{
    size_t taken = SLOT_AT_BODY + (size_t)snapshot->tree_count * TREE_ENTRY_SIZE + bits_size +
                   inline_schema_size(snapshot);
    return taken < SLOT_CHECKED_SIZE ? (uint32_t)((SLOT_CHECKED_SIZE - taken) / RUN_SIZE) : 0;
}

void bw_slot_encode(const struct slot_content *content, uint8_t *image)
{
    const struct snapshot *snapshot = content->snapshot;
    memcpy(image, bw_slot_magic, sizeof(bw_slot_magic));
    bw_put_u16(image + SLOT_AT_VERSION, SLOT_VERSION);
    bw_put_u16(image + SLOT_AT_VERSION + 2, SLOT_VERSION);
    memcpy(image + SLOT_AT_UUID, content->uuid, 16);
    bw_put_u64(image + SLOT_AT_TXN, content->txn_id);
    bw_put_u64(image + SLOT_AT_BASE, content->base);
    bw_put_u32(image + SLOT_AT_HWM, content->hwm);
    bw_put_u16(image + SLOT_AT_TREE_COUNT, snapshot->tree_count);
    bw_put_u16(image + SLOT_AT_RUN_COUNT, (uint16_t)bw_manifest_run_count(content->manifest));
    memcpy(image + SLOT_AT_SCHEMA_HASH, snapshot->schema_hash, 16);
    bw_put_u32(image + SLOT_AT_SCHEMA_SIZE, snapshot->schema_size);
    bw_put_u32(image + SLOT_AT_SCHEMA_PAGE, snapshot->schema_page);
    bw_put_u32(image + SLOT_AT_REGIONS, content->region_count);
    bw_put_u32(image + SLOT_AT_FLAGS, snapshot->has_catalog ? SLOT_FLAG_CATALOG : 0);
    uint8_t *at = image + SLOT_AT_BODY;
    for (uint16_t i = 0; i < snapshot->tree_count; i++, at += TREE_ENTRY_SIZE)
        bw_catalog_encode(at, &snapshot->trees[i]);
    size_t bits_size = bw_slot_bits_size(content->hwm, content->region_count);
    memcpy(at, content->bits, bits_size);
    at += bits_size;
    if (!snapshot->schema_page && snapshot->schema_size)
        memcpy(at, snapshot->schema, snapshot->schema_size);
    at += inline_schema_size(snapshot);
    ASSERT(at + (size_t)bw_manifest_run_count(content->manifest) * RUN_SIZE <=
           image + SLOT_CHECKED_SIZE);
    bw_manifest_write_runs(content->manifest, content->salt, at);
    bw_put_u64(image + SLOT_AT_CHECKSUM, checksum(image));
}

void bw_slot_rename(uint8_t *image, uint64_t txn_id, uint64_t base)
{
    memset(image + SLOT_AT_SEAL, 0, PAGE_SIZE - SLOT_AT_SEAL);
    bw_put_u64(image + SLOT_AT_TXN, txn_id);
    bw_put_u64(image + SLOT_AT_BASE, base);
    bw_put_u64(image + SLOT_AT_CHECKSUM, checksum(image));
}
