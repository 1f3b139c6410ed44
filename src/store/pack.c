/* SPDX-License-Identifier: Apache-2.0 */
#include "store/pack.h"

#include "store/branch.h"
#include "store/leaf.h"
#include "store/slot.h"
#include "store/value.h"

/* A walk over one tree: a copy of the branch on each level above the leaves, and one leaf. */
struct walk {
    uint32_t tree_id;
    struct {
        uint8_t branch[PAGE_SIZE];
        page_ref ref; /* the old one */
        unsigned next;
    } level[TREE_DEPTH_MAX];
    uint8_t leaf[EXTENT_PAGES_MAX * PAGE_SIZE];
};

struct pack {
    struct txn *txn;                 /* borrowed, as all above the output */
    const struct snapshot *snapshot; /* the old one */
    const uint8_t *uuid;
    const struct progress *progress;
    struct pack_output output;
    uint64_t salt;           /* of the new checksums */
    struct space space;      /* owned: places given out */
    struct snapshot *packed; /* owned */
    uint64_t done, total;    /* pages */
    struct walk catalog, tree;
    uint8_t first[PAGE_SIZE]; /* of an overflow extent */
    page_no run_first;
    uint32_t run_pages;
    uint8_t run[PACK_RUN_PAGES * PAGE_SIZE];
};

static bw_err fail_damaged(page_no page, const char *what)
{
    return bw_fail(BW_ERR_FILE_PAGES_CORRUPT, "Page %u of the file is damaged: %s", page, what);
}

/* ---- handing on ---- */

static bw_err hand_on(struct pack *pack)
{
    if (!pack->run_pages) return BW_OK;
    bw_err err =
        pack->output.put(pack->output.context, pack->run_first, pack->run, pack->run_pages);
    if (err) return err;
    pack->done += pack->run_pages;
    pack->run_pages = 0;
    const uint64_t done = pack->done < pack->total ? pack->done : pack->total;
    return bw_progress_report(pack->progress, done, pack->total);
}

static bw_err add_pages(struct pack *pack, page_no page, const uint8_t *bytes, uint32_t pages)
{
    while (pages) {
        const bool follows = pack->run_first + pack->run_pages == page;
        if (pack->run_pages && (!follows || pack->run_pages == PACK_RUN_PAGES)) {
            bw_err err = hand_on(pack);
            if (err) return err;
        }
        if (!pack->run_pages) pack->run_first = page;
        const uint32_t room = PACK_RUN_PAGES - pack->run_pages;
        const uint32_t part = pages < room ? pages : room;
        memcpy(pack->run + (size_t)pack->run_pages * PAGE_SIZE, bytes, (size_t)part * PAGE_SIZE);
        pack->run_pages += part;
        page += part;
        bytes += (size_t)part * PAGE_SIZE;
        pages -= part;
    }
    return BW_OK;
}

/*
 * Hand on an extent for its new place: the first pages from `head`, where number and checksum are
 * filled in, the others from `tail`.
 */
static bw_err add_extent(struct pack *pack, page_no page, struct bytes head, struct bytes tail)
{
    struct page_checksum checksum;
    uint8_t *header = (uint8_t *)(uintptr_t)head.data; // every head is a buffer of the pack's own
    const uint32_t head_pages = (uint32_t)(head.size / PAGE_SIZE);
    const uint32_t tail_pages = (uint32_t)(tail.size / PAGE_SIZE);
    uint64_t sum = 0;
    bw_put_u32(header + PAGE_AT_NUMBER, page);
    bw_page_checksum_begin(&checksum, pack->salt);
    bw_page_sums(header, 1, pack->salt, &sum);
    bw_page_checksum_add(&checksum, sum);
    bw_page_checksum_add_pages(&checksum, header + PAGE_SIZE, head_pages - 1, pack->salt);
    bw_page_checksum_add_pages(&checksum, tail.data, tail_pages, pack->salt);
    bw_put_u64(header + PAGE_AT_CHECKSUM, bw_page_checksum_end(&checksum));
    bw_err err = add_pages(pack, page, header, head_pages);
    if (!err) err = add_pages(pack, page + head_pages, tail.data, tail_pages);
    return err;
}

/* Find a place and hand on. */
static bw_err place_extent(struct pack *pack, struct bytes head, struct bytes tail,
                           page_no *out_page)
{
    const uint64_t limit = (uint64_t)REGIONS_MAX * pack->space.geometry->region_pages;
    const uint32_t pages = (uint32_t)((head.size + tail.size) / PAGE_SIZE);
    bool found = false;
    if (pack->done + pack->run_pages + pages > pack->snapshot->hwm) // J3
        return fail_damaged(bw_get_u32(head.data + PAGE_AT_NUMBER), "reachable more than once");
    bw_err err =
        bw_space_take(&pack->space, pages, limit < REF_PAGE_MAX ? (uint32_t)limit : REF_PAGE_MAX,
                      out_page, &found);
    if (!err && !found) err = bw_fail(BW_ERR_DB_FULL, "Could not copy: the format ends here");
    if (!err) err = add_extent(pack, *out_page, head, tail);
    return err;
}

/* Copy an extent to where it can be changed. J1 */
static bw_err take_copy(const struct pack *pack, const uint8_t *from, uint32_t pages, uint8_t *to)
{
    memcpy(to, from, (size_t)pages * PAGE_SIZE);
    if (bw_page_fits(to, pages, pack->txn->store->salt)) return BW_OK;
    return fail_damaged(bw_get_u32(to + PAGE_AT_NUMBER), "its checksum does not fit");
}

/* ---- extents of values, and of the schema ---- */

static bw_err pack_overflow(struct pack *pack, uint32_t tree_id, struct page_run from,
                            page_no *out_page)
{
    const uint8_t *extent = NULL;
    bw_err err = bw_page_read_overflow(pack->txn, from.page, from.pages, tree_id, &extent);
    if (err) return err;
    if (!bw_page_fits(extent, from.pages, pack->txn->store->salt)) // J1
        return fail_damaged(from.page, "its checksum does not fit");
    memcpy(pack->first, extent, PAGE_SIZE);
    const struct bytes head = {pack->first, PAGE_SIZE};
    const struct bytes tail = {extent + PAGE_SIZE, (size_t)(from.pages - 1) * PAGE_SIZE};
    return place_extent(pack, head, tail, out_page);
}

/* The extents that a reference in a copied leaf leads to. */
static bw_err pack_value(struct pack *pack, uint32_t tree_id, uint8_t *reference)
{
    struct value_extents extents;
    bw_err err = bw_value_extents(pack->txn, tree_id, reference, &extents);
    for (uint32_t i = 0; i < extents.count && !err; i++) {
        const struct page_run from = {.page = extents.extent[i].page,
                                      .pages = extents.extent[i].pages};
        page_no page = 0;
        err = pack_overflow(pack, tree_id, from, &page);
        if (!err) bw_put_u32(reference + REFERENCE_HEAD + (size_t)REFERENCE_EXTENT * i, page);
    }
    return err;
}

static bw_err pack_schema(struct pack *pack)
{
    const struct snapshot *old = pack->snapshot;
    if (!old->schema_page) return BW_OK;
    const uint64_t pages =
        ((uint64_t)old->schema_size + PAGE_HEADER_SIZE + PAGE_SIZE - 1) / PAGE_SIZE;
    const struct page_run from = {.page = old->schema_page, .pages = (uint32_t)pages};
    return pack_overflow(pack, TREE_SCHEMA, from, &pack->packed->schema_page);
}

/* ---- trees ---- */

static bw_err pack_tree(struct pack *pack, struct walk *walk, struct tree_entry *entry);

/* A leaf's value that is the entry of a tree. */
static bw_err pack_listed_tree(struct pack *pack, const struct leaf_entry *value, uint8_t *bytes)
{
    struct tree_entry entry;
    if (value->is_overflow || value->size != TREE_ENTRY_SIZE || value->key >= TREE_SCHEMA)
        return bw_leaf_damaged(pack->catalog.leaf);
    bw_catalog_decode(bytes, &entry);
    if (entry.id != value->key) return bw_leaf_damaged(pack->catalog.leaf);
    bw_err err = pack_tree(pack, &pack->tree, &entry);
    if (!err) bw_catalog_encode(bytes, &entry);
    return err;
}

static bw_err pack_leaf(struct pack *pack, struct walk *walk, page_ref *in_out_ref)
{
    const uint8_t *from = NULL;
    uint8_t *leaf = walk->leaf;
    const uint32_t pages = bw_ref_pages(*in_out_ref);
    bw_err err = bw_leaf_read(pack->txn, walk->tree_id, *in_out_ref, &from);
    if (!err) err = take_copy(pack, from, pages, leaf);
    if (err) return err;
    for (unsigned at = bw_leaf_skip(leaf, 0); at < bw_leaf_slots(leaf);
         at = bw_leaf_skip(leaf, at + 1)) {
        struct leaf_entry entry;
        if (!bw_leaf_entry(leaf, at, &entry) || !entry.data) return bw_leaf_damaged(leaf);
        uint8_t *value = leaf + (entry.data - leaf);
        if (walk->tree_id == TREE_CATALOG) err = pack_listed_tree(pack, &entry, value);
        else if (entry.is_overflow) err = pack_value(pack, walk->tree_id, value);
        if (err) return err;
    }
    page_no page = 0;
    const struct bytes head = {leaf, (size_t)pages * PAGE_SIZE};
    err = place_extent(pack, head, (struct bytes){0}, &page);
    if (!err) *in_out_ref = bw_ref_make(page, pages, bw_ref_has_overflow(*in_out_ref));
    return err;
}

static bw_err enter_branch(struct pack *pack, struct walk *walk, unsigned level, page_ref ref)
{
    const uint8_t *from = NULL;
    bw_err err = bw_branch_read(pack->txn, walk->tree_id, ref, level, &from);
    if (!err) err = take_copy(pack, from, 1, walk->level[level].branch);
    if (err) return err;
    walk->level[level].ref = ref;
    walk->level[level].next = 0;
    return BW_OK;
}

/* All children of a branch have their places: so does it. */
static bw_err leave_branch(struct pack *pack, struct walk *walk, unsigned level, page_ref *out_ref)
{
    page_no page = 0;
    const struct bytes head = {walk->level[level].branch, PAGE_SIZE};
    bw_err err = place_extent(pack, head, (struct bytes){0}, &page);
    if (!err) *out_ref = bw_ref_make(page, 1, bw_ref_has_overflow(walk->level[level].ref));
    return err;
}

/* Children first. The entry's root becomes the new one. */
static bw_err pack_tree(struct pack *pack, struct walk *walk, struct tree_entry *entry)
{
    if (!entry->root) return BW_OK;
    if (!entry->depth || entry->depth > TREE_DEPTH_MAX)
        return bw_fail(BW_ERR_FILE_PAGES_CORRUPT, "The depth of tree %u is impossible", entry->id);
    const unsigned top = entry->depth - 1u;
    unsigned level = top;
    page_ref ref = entry->root;
    walk->tree_id = entry->id;
    for (;;) {
        bw_err err = BW_OK;
        for (; level > 0 && !err; level--) {
            err = enter_branch(pack, walk, level, ref);
            if (!err) ref = bw_branch_ref(walk->level[level].branch, 0);
        }
        if (!err) err = pack_leaf(pack, walk, &ref);
        while (!err && level < top) {
            uint8_t *branch = walk->level[++level].branch;
            bw_branch_set_ref(branch, walk->level[level].next++, ref);
            if (walk->level[level].next < bw_branch_children(branch)) {
                ref = bw_branch_ref(branch, walk->level[level--].next);
                break;
            }
            err = leave_branch(pack, walk, level, &ref);
        }
        if (err) return err;
        if (level == top) {
            entry->root = ref;
            return BW_OK;
        }
    }
}

static bw_err pack_trees(struct pack *pack)
{
    bw_err err = BW_OK;
    for (uint16_t i = 0; i < pack->packed->tree_count && !err; i++) {
        struct tree_entry *entry = &pack->packed->trees[i];
        err = pack_tree(pack, entry->id == TREE_CATALOG ? &pack->catalog : &pack->tree, entry);
    }
    return err;
}

/* ---- the allocation state, and the slot ---- */

static bw_err pack_region(struct pack *pack, uint32_t region)
{
    const struct geometry *geometry = pack->space.geometry;
    uint8_t *page = pack->first;
    memset(page, 0, PAGE_SIZE);
    page[PAGE_AT_KIND] = PAGE_BITMAP;
    page[PAGE_AT_PAGES] = 1;
    bw_put_u64(page + PAGE_AT_BORN, pack->packed->txn_id);
    bw_put_u32(page + PAGE_AT_TREE, region);
    bw_space_write_bits(&pack->space, region * geometry->region_pages, geometry->region_pages,
                        page + PAGE_HEADER_SIZE);
    const struct bytes head = {page, PAGE_SIZE};
    return add_extent(pack, bw_space_region_start(geometry, region), head, (struct bytes){0});
}

static bw_err pack_slot(struct pack *pack, uint32_t region_count)
{
    const struct manifest nothing = {0}; // all of it is flushed before anybody can look
    uint8_t image[PAGE_SIZE] = {0};
    const uint32_t hwm = pack->packed->hwm;
    uint8_t *bits = bw_new(bw_slot_bits_size(hwm, region_count)); // of regions: the first copies
    if (!bits) return bw_fail(BW_ERR_NO_MEMORY, "Out of memory: map of free pages");
    if (!region_count) bw_space_write_bits(&pack->space, 0, hwm, bits);
    const struct slot_content content = {
        .uuid = pack->uuid,
        .txn_id = pack->packed->txn_id,
        .hwm = hwm,
        .region_count = region_count,
        .snapshot = pack->packed,
        .bits = bits,
        .manifest = &nothing,
        .salt = pack->salt,
    };
    bw_slot_encode(&content, image);
    bw_free(bits);
    return pack->output.finish(pack->output.context, image);
}

static bw_err pack_allocation(struct pack *pack)
{
    const struct geometry *geometry = pack->space.geometry;
    uint32_t hwm = bw_space_hwm(&pack->space), region_count = 0;
    if (hwm < PAGES_MIN) hwm = PAGES_MIN;
    if (hwm > geometry->inline_pages) {
        region_count = (hwm - 1) / geometry->region_pages + 1;
        const page_no last = bw_space_region_start(geometry, region_count - 1);
        if (hwm < last + geometry->bitmap_copies) hwm = last + geometry->bitmap_copies;
    }
    pack->packed->hwm = hwm;
    bw_err err = BW_OK;
    for (uint32_t region = 0; region < region_count && !err; region++)
        err = pack_region(pack, region);
    if (!err) err = hand_on(pack);
    if (!err) err = pack_slot(pack, region_count);
    return err;
}

/* ---- all of it ---- */

/* The new snapshot, yet with the old places. */
static bw_err begin_snapshot(struct pack *pack)
{
    const struct snapshot *old = pack->snapshot;
    const uint32_t inline_size = old->schema_page ? 0 : old->schema_size;
    bw_err err = bw_snapshot_new(old->tree_count, inline_size, &pack->packed);
    if (err) return err;
    struct snapshot *packed = pack->packed;
    packed->txn_id = bw_pack_txn_id(old);
    memcpy(packed->schema_hash, old->schema_hash, sizeof(packed->schema_hash));
    packed->schema_size = old->schema_size;
    packed->has_catalog = old->has_catalog;
    memcpy(packed->trees, old->trees, old->tree_count * sizeof(old->trees[0]));
    if (inline_size) memcpy(packed->trees + old->tree_count, old->schema, inline_size);
    return BW_OK;
}

bw_err bw_pack_check(const struct txn *txn)
{
    if (txn->changes)
        return bw_fail(BW_ERR_ILLEGAL_STATE, "Only what a read transaction sees can be copied");
    if (!txn->snapshot)
        return bw_fail(BW_ERR_ILLEGAL_STATE,
                       "The store has no commit yet: there is nothing to copy");
    return BW_OK;
}

bw_err bw_pack(struct txn *txn, const uint8_t *uuid, const struct pack_output *output,
               const struct progress *progress)
{
    ASSERT(!txn->changes && txn->snapshot);
    struct pack *pack = bw_new_raw(sizeof(*pack));
    if (!pack) return bw_fail(BW_ERR_NO_MEMORY, "Out of memory: copying a store");
    const struct snapshot *old = txn->snapshot;
    pack->txn = txn;
    pack->snapshot = old;
    pack->uuid = uuid;
    pack->salt = bw_get_u64(uuid);
    pack->output = *output;
    pack->progress = progress;
    pack->done = 0;
    pack->total = old->used_pages ? old->used_pages : old->hwm;
    pack->run_pages = 0;
    pack->packed = NULL;
    bw_err err = bw_space_init(&pack->space, txn->store->geometry);
    if (!err) err = begin_snapshot(pack);
    if (!err) err = bw_progress_report(progress, 0, pack->total);
    if (!err) err = pack_trees(pack);
    if (!err) err = pack_schema(pack);
    if (!err) err = pack_allocation(pack);
    if (!err) err = bw_progress_report(progress, pack->total, pack->total);
    bw_space_deinit(&pack->space);
    bw_free(pack->packed);
    bw_free(pack);
    return err;
}
