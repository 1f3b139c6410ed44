/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/hostile.h"

#include <stdlib.h>

#include "harness/sim_disk.h"
#include "store/branch.h"
#include "store/leaf.h"
#include "store/slot.h"

#define DIRECTORY "db"
#define FILE_PATH DIRECTORY "/data.mdb"

/* ---- the sound stores ---- */

static const struct geometry small = {
    .inline_pages = 22,
    .region_pages = 34,
    .bitmap_copies = 4,
    .manifest_runs = 12,
    .manifest_pages = 12,
};

static void must(bw_err err) { ASSERT(!err); }

static void put(struct txn *txn, uint32_t tree_id, uint64_t key, size_t size)
{
    static uint8_t bytes[40000];
    ASSERT(size <= sizeof(bytes));
    for (size_t i = 0; i < size; i++) bytes[i] = (uint8_t)(key + i);
    must(bw_tree_put(txn, tree_id, key, (struct bytes){bytes, size}, NULL));
}

static void put_run(struct txn *txn, uint32_t tree_id, uint64_t first, uint64_t count,
                    uint64_t step, size_t size)
{
    for (uint64_t i = 0; i < count; i++) put(txn, tree_id, first + i * step, size);
}

static void set_schema(struct txn *txn, size_t size)
{
    uint8_t blob[3000];
    const uint8_t hash[16] = {1, 2, 3};
    ASSERT(size <= sizeof(blob));
    memset(blob, 7, sizeof(blob));
    must(bw_txn_set_schema(txn, hash, (struct bytes){blob, size}));
}

static struct txn *begin(struct store *store)
{
    struct txn *txn = NULL;
    must(bw_txn_begin(store, TXN_WRITE, 0, &txn));
    return txn;
}

static void fill_forms(struct store *store)
{
    struct txn *txn = begin(store);
    put_run(txn, 1, 1, 60, 1, 90);
    put_run(txn, 2, 10, 70, 1000, 100);
    put_run(txn, 3, 5, 50, UINT64_C(1) << 33, 120);
    put_run(txn, 4, 1, 30, 1, 1800);
    set_schema(txn, 100);
    must(bw_txn_commit(txn));
    txn = begin(store);
    put_run(txn, 5, 1, 3, 1, 9000);
    put(txn, 5, 4, 20000);
    put(txn, 5, 5, 10);
    put(txn, 1, 30, 150);
    must(bw_txn_commit(txn));
}

static void fill_deep(struct store *store)
{
    struct txn *txn = begin(store);
    for (uint64_t key = 300; key > 0; key--) put(txn, 1, key * 5, 2100); // a leaf for each
    must(bw_txn_commit(txn));
    txn = begin(store);
    bool removed = false;
    for (uint64_t key = 1; key <= 40; key++) {
        must(bw_tree_remove(txn, 1, key * 35, &removed));
        put(txn, 1, key * 35 + 1, 1500);
    }
    must(bw_txn_commit(txn));
}

static void fill_catalog(struct store *store)
{
    struct txn *txn = begin(store);
    for (uint32_t id = 1; id <= 50; id++) put(txn, id, id, id % 9 ? 40 : 4500);
    set_schema(txn, 3000);
    must(bw_txn_commit(txn));
    txn = begin(store);
    put(txn, 7, 90, 20);
    must(bw_tree_set_sequence(txn, 8, 1000));
    must(bw_txn_commit(txn));
}

static void fill_regions(struct store *store)
{
    for (uint64_t round = 0; round < 4; round++) {
        struct txn *txn = begin(store);
        put_run(txn, 1, 1 + round * 12, 14, 1, 3000);
        put(txn, 2, 1 + round, 9000);
        must(bw_txn_commit(txn));
    }
}

static void fill(struct store *store, enum hostile_base base)
{
    if (base == HOSTILE_FORMS) fill_forms(store);
    else if (base == HOSTILE_DEEP) fill_deep(store);
    else if (base == HOSTILE_CATALOG) fill_catalog(store);
    else if (base == HOSTILE_REGIONS) fill_regions(store);
    if (base != HOSTILE_LEAF && base != HOSTILE_OPEN) return;
    for (uint64_t round = 0; round < 3; round++) {
        struct txn *txn = begin(store);
        put_run(txn, 1, 1 + round * 2, 10, 1, 50);
        if (base == HOSTILE_OPEN) put(txn, 2, 1 + round, 6000);
        if (base == HOSTILE_OPEN) put_run(txn, 3, 1 + 10 * round, 10, 3, 1500);
        must(bw_txn_commit(txn));
    }
}

static void make(struct hostile_store *made, enum hostile_base base)
{
    static const uint8_t uuid[16] = "hostile: no uuid";
    struct sim_disk sim;
    sim_disk_init(&sim, 1);
    made->geometry = base == HOSTILE_REGIONS ? &small : NULL;
    const struct store_options options = {
        .disk = &sim.disk, .directory = DIRECTORY, .file_mode = 0644, .geometry = made->geometry};
    struct store *store = NULL;
    must(bw_store_open(&options, &store));
    fill(store, base);
    sim.is_stopped = base == HOSTILE_OPEN; // then closing writes nothing
    bw_store_close(store);
    const struct sim_file *file = sim_disk_find(&sim, FILE_PATH);
    uint8_t *bytes = malloc((size_t)file->size);
    ASSERT(bytes != NULL);
    memcpy(bytes, file->cache, (size_t)file->size);
    made->page_count = (uint32_t)(file->size / PAGE_SIZE);
    refix_set_uuid(&(struct image){.bytes = bytes, .page_count = made->page_count}, uuid);
    made->bytes = bytes;
    sim.is_stopped = false;
    sim_disk_deinit(&sim);
}

const struct hostile_store *hostile_store(enum hostile_base base)
{
    static struct hostile_store stores[HOSTILE_BASES];
    ASSERT(base < HOSTILE_BASES);
    if (!stores[base].bytes) make(&stores[base], base);
    return &stores[base];
}

/* ---- changes ---- */

static uint8_t *page_of(struct image *image, uint32_t page)
{
    return image->bytes + (size_t)page * PAGE_SIZE;
}

/* The nth extent of a kind, 0: of any; wraps around. 0: there is none. */
static uint32_t find_extent(const struct image *image, unsigned kind, uint32_t nth)
{
    uint32_t count = 0;
    for (int pass = 0; pass < 2; pass++) {
        if (pass && !count) return 0;
        uint32_t left = pass ? nth % count : 0;
        for (uint32_t page = SLOT_COUNT; page < image->page_count; page++) {
            if (!refix_extent(image, page)) continue;
            const uint8_t found = image->bytes[(size_t)page * PAGE_SIZE + PAGE_AT_KIND];
            if (kind && found != kind) continue;
            if (!pass) count++;
            else if (!left--) return page;
        }
    }
    return 0;
}

/* What a change puts there: a number as it is, a special one, a page, or a reference to a page. */
static uint64_t value_of(const struct image *image, const struct hostile_change *change)
{
    static const uint64_t special[] = {0,
                                       1,
                                       2,
                                       8,
                                       40,
                                       254,
                                       255,
                                       0x3fff,
                                       0x4000,
                                       0x7fff,
                                       0x8000,
                                       0xc000,
                                       0xffff,
                                       0x7fffffff,
                                       0xfffffffd,
                                       0xfffffffe,
                                       0xffffffff,
                                       UINT64_C(1) << 32,
                                       UINT64_MAX - 1,
                                       UINT64_MAX};
    const uint32_t page = (uint32_t)(change->value % image->page_count);
    switch (change->how & 3) {
    case 0:
        return change->value;
    case 1:
        return special[change->value % (sizeof(special) / sizeof(special[0]))];
    case 2:
        return page;
    default: {
        const uint32_t pages = refix_extent(image, page);
        return bw_ref_make(page, pages && pages <= EXTENT_PAGES_MAX ? pages : 1,
                           change->value >> 31 & 1);
    }
    }
}

static void write_number(struct image *image, uint32_t page, size_t at, size_t width,
                         uint64_t value)
{
    const size_t end = (size_t)image->page_count * PAGE_SIZE, from = (size_t)page * PAGE_SIZE + at;
    for (size_t i = 0; i < width && from + i < end; i++)
        image->bytes[from + i] = (uint8_t)(value >> 8 * i);
    if (page < image->page_count) image->changed[page] = 1;
    if (from < end) image->changed[from / PAGE_SIZE] = 1;
}

static void change_child(struct image *image, const struct hostile_change *change)
{
    static const size_t starts[] = {BRANCH_KEYS_AT, BRANCH_REFS_AT, BRANCH_COUNTS_AT};
    static const size_t widths[] = {8, 4, 4};
    const uint32_t page = find_extent(image, PAGE_BRANCH, change->page);
    if (!page) return;
    const unsigned children = bw_page_count(page_of(image, page)), field = (change->how >> 2) % 3;
    const unsigned room =
        children && children < BRANCH_CHILDREN_MAX ? children : BRANCH_CHILDREN_MAX;
    write_number(image, page, starts[field] + widths[field] * (change->at % room), widths[field],
                 value_of(image, change));
}

/* The place of a slot of the nth leaf. 0: there is none. */
static uint32_t find_slot(struct image *image, const struct hostile_change *change, size_t *out_at)
{
    const uint32_t page = find_extent(image, PAGE_LEAF, change->page);
    if (!page) return 0;
    const uint8_t *leaf = page_of(image, page);
    const unsigned slots = bw_leaf_slots(leaf), size = bw_leaf_slot_size(leaf);
    *out_at = LEAF_SLOTS_AT + (size_t)size * (slots ? change->at % slots : 0);
    return (size_t)page * PAGE_SIZE + *out_at + size <= (size_t)image->page_count * PAGE_SIZE ? page
                                                                                              : 0;
}

static void change_slot(struct image *image, const struct hostile_change *change)
{
    size_t at = 0;
    const uint32_t page = find_slot(image, change, &at);
    if (!page) return;
    const unsigned size = bw_leaf_slot_size(page_of(image, page)), field = (change->how >> 2) % 3;
    const uint64_t value = value_of(image, change);
    if (field == 2 && size > LEAF_SLOT_DENSE)
        write_number(image, page, at, size - LEAF_SLOT_DENSE, value);
    else write_number(image, page, at + size - (field == 1 ? 2 : 4), 2, value);
}

/* Bytes of what a slot of a leaf points to. */
static void change_value(struct image *image, const struct hostile_change *change)
{
    size_t at = 0;
    const uint32_t page = find_slot(image, change, &at);
    if (!page) return;
    const uint8_t *leaf = page_of(image, page);
    const size_t offset = 8u * bw_get_u16(leaf + at + bw_leaf_slot_size(leaf) - LEAF_SLOT_DENSE);
    write_number(image, page, offset + 4 * (size_t)(change->word % 16), change->how & 4 ? 8 : 4,
                 value_of(image, change));
}

static void change_header(struct image *image, const struct hostile_change *change)
{
    static const uint8_t places[] = {PAGE_AT_NUMBER, PAGE_AT_KIND, PAGE_AT_PAGES, PAGE_AT_COUNT,
                                     PAGE_AT_BORN,   PAGE_AT_TREE, PAGE_AT_LOWER, PAGE_AT_UPPER,
                                     PAGE_AT_EXTENT, LEAF_BASE_AT};
    static const uint8_t widths[] = {4, 1, 1, 2, 8, 4, 2, 2, 4, 8};
    const uint32_t page = find_extent(image, 0, change->page);
    const size_t field = change->at % sizeof(places);
    if (page) write_number(image, page, places[field], widths[field], value_of(image, change));
}

static void change_meta(struct image *image, const struct hostile_change *change)
{
    static const uint8_t places[] = {SLOT_AT_VERSION,     SLOT_AT_FEATURES,    SLOT_AT_TXN,
                                     SLOT_AT_BASE,        SLOT_AT_HWM,         SLOT_AT_TREE_COUNT,
                                     SLOT_AT_RUN_COUNT,   SLOT_AT_SCHEMA_HASH, SLOT_AT_SCHEMA_SIZE,
                                     SLOT_AT_SCHEMA_PAGE, SLOT_AT_REGIONS,     SLOT_AT_FLAGS};
    static const uint8_t widths[] = {2, 4, 8, 8, 4, 2, 2, 8, 4, 4, 4, 4};
    const size_t field = change->at % sizeof(places);
    const uint64_t value = value_of(image, change);
    for (uint32_t i = 0; i < SLOT_COUNT; i++) {
        if (!((change->page + 1u) & (i + 1))) continue;
        if (field == 2 && bw_get_u64(page_of(image, 1 - i) + SLOT_AT_SEAL + 8) ==
                              bw_get_u64(page_of(image, i) + SLOT_AT_TXN))
            write_number(image, 1 - i, SLOT_AT_SEAL + 8, 8, value); // its seal goes with it
        write_number(image, i, places[field], widths[field], value);
    }
}

static void change_entry(struct image *image, const struct hostile_change *change)
{
    static const uint8_t places[] = {0, 4, 5, 8, 12, 16, 24, 32};
    static const uint8_t widths[] = {4, 1, 1, 4, 4, 8, 8, 8};
    const size_t field = (change->how >> 2) % sizeof(places);
    for (uint32_t i = 0; i < SLOT_COUNT; i++) {
        const unsigned trees = bw_get_u16(page_of(image, i) + SLOT_AT_TREE_COUNT);
        if (!((change->page + 1u) & (i + 1)) || !trees) continue;
        const size_t at = SLOT_AT_BODY + TREE_ENTRY_SIZE * (size_t)(change->at % trees);
        if (at < SLOT_CHECKED_SIZE - TREE_ENTRY_SIZE)
            write_number(image, i, at + places[field], widths[field], value_of(image, change));
    }
}

/* Where the slot keeps its bitmap or its selectors. */
static size_t bits_at(struct image *image, uint32_t slot)
{
    const unsigned trees = bw_get_u16(page_of(image, slot) + SLOT_AT_TREE_COUNT);
    const size_t at = SLOT_AT_BODY + TREE_ENTRY_SIZE * (size_t)trees;
    return at < SLOT_CHECKED_SIZE ? at : SLOT_AT_BODY;
}

static void set_bit(struct image *image, uint32_t page, size_t at, uint32_t bit, bool is_set)
{
    const size_t byte = at + bit / 8;
    if (byte >= PAGE_SIZE || page >= image->page_count) return;
    uint8_t *bits = page_of(image, page) + byte;
    *bits = (uint8_t)(is_set ? *bits | 1u << bit % 8 : *bits & ~(1u << bit % 8));
    image->changed[page] = 1;
}

/* The bit of a page in every bitmap that has one. */
static void change_bit(struct image *image, const struct geometry *geometry, uint32_t page,
                       bool is_used)
{
    for (uint32_t slot = 0; slot < SLOT_COUNT; slot++)
        if (!bw_get_u32(page_of(image, slot) + SLOT_AT_REGIONS))
            set_bit(image, slot, bits_at(image, slot), page, is_used);
    const uint32_t region = page / geometry->region_pages;
    const uint32_t first = bw_space_region_start(geometry, region);
    for (uint32_t copy = 0; copy < geometry->bitmap_copies; copy++)
        if (refix_extent(image, first + copy))
            set_bit(image, first + copy, PAGE_HEADER_SIZE, page % geometry->region_pages, is_used);
}

static void change_bits(struct image *image, const struct geometry *geometry,
                        const struct hostile_change *change)
{
    const struct geometry *sizes = geometry ? geometry : &bw_geometry_default;
    const uint32_t extent = find_extent(image, (change->how >> 1) % 5, change->page);
    const uint32_t count = refix_extent(image, extent);
    if (change->how & 16) { // a page of an extent that is long, or any page
        const uint32_t page = extent + (count ? change->at % count : 0);
        change_bit(image, sizes, page, change->how & 1);
        return;
    }
    for (uint32_t i = 0; i < count; i++) change_bit(image, sizes, extent + i, change->how & 1);
}

static void copy_extent(struct image *image, const struct hostile_change *change)
{
    const uint32_t from = find_extent(image, 0, change->page);
    const uint32_t pages = refix_extent(image, from);
    const uint32_t to = (uint32_t)(change->value % image->page_count);
    if (!pages || to < SLOT_COUNT || pages > image->page_count - to) return;
    memmove(page_of(image, to), page_of(image, from), (size_t)pages * PAGE_SIZE);
    bw_put_u32(page_of(image, to) + PAGE_AT_NUMBER, to);
    for (uint32_t i = 0; i < pages; i++) image->changed[to + i] = 1;
}

static void change_run(struct image *image, const struct hostile_change *change)
{
    const uint32_t slot = change->page & 1;
    const uint32_t runs = bw_get_u16(page_of(image, slot) + SLOT_AT_RUN_COUNT);
    const uint32_t hwm = bw_get_u32(page_of(image, slot) + SLOT_AT_HWM);
    const uint32_t regions = bw_get_u32(page_of(image, slot) + SLOT_AT_REGIONS);
    size_t at = bits_at(image, slot) + bw_slot_bits_size(hwm, regions);
    if (!bw_get_u32(page_of(image, slot) + SLOT_AT_SCHEMA_PAGE))
        at += bw_round_up(bw_get_u32(page_of(image, slot) + SLOT_AT_SCHEMA_SIZE), 8);
    at += RUN_SIZE * (size_t)(runs ? change->at % runs : 0);
    if (at >= SLOT_CHECKED_SIZE - RUN_SIZE) return;
    write_number(image, slot, at + (change->how & 4), 4, value_of(image, change));
}

void hostile_apply(struct image *image, const struct geometry *geometry,
                   const struct hostile_change *change)
{
    const uint32_t page = change->page % image->page_count;
    switch ((enum hostile_kind)(change->kind % HOSTILE_KINDS)) {
    case HOSTILE_RAW:
        write_number(image, page, change->at % PAGE_SIZE, 1u << (change->how >> 2 & 3),
                     value_of(image, change));
        break;
    case HOSTILE_CHILD:
        change_child(image, change);
        break;
    case HOSTILE_SLOT:
        change_slot(image, change);
        break;
    case HOSTILE_HEADER:
        change_header(image, change);
        break;
    case HOSTILE_META:
        change_meta(image, change);
        break;
    case HOSTILE_ENTRY:
        change_entry(image, change);
        break;
    case HOSTILE_BIT:
        change_bits(image, geometry, change);
        break;
    case HOSTILE_COPY:
        copy_extent(image, change);
        break;
    case HOSTILE_VALUE:
        change_value(image, change);
        break;
    case HOSTILE_RUN:
        change_run(image, change);
        break;
    case HOSTILE_SELECTOR:
        write_number(image, page & 1, bits_at(image, page & 1) + change->at % 64, 1,
                     value_of(image, change));
        break;
    case HOSTILE_SEAL:
        write_number(image, page & 1, SLOT_AT_SEAL, 8, 0);
        write_number(image, page & 1, SLOT_AT_SEAL + 8, 8, 0);
        break;
    case HOSTILE_CUT:
        if (page > SLOT_COUNT) image->page_count = page;
        break;
    case HOSTILE_KINDS:
        break;
    }
}
