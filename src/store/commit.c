/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commit: from changed pages in memory to a staged snapshot.
 *
 *   freeze    trees are finished, the catalogue, schema and allocation state get their places
 *   data      pages are summed and written to free places (R1); a failure up to here is a clean
 *             abort
 *   stage     the snapshot becomes head, which the next writer builds on; what it freed waits for
 *             pins (R7). group.c does the rest.
 *
 * Invariants:
 *   K1  No page that some pin sees is written: extents come from bw_space_take only.
 *   K2  Everything that can fail for lack of memory comes before the first write.
 */
#include "store/slot.h"

#include <stdlib.h>

struct commit {
    struct txn *txn;
    struct store *store;
    struct snapshot *snapshot;  /* owned, until staged */
    uint32_t hwm, region_count; /* hwm with the reserved places of regions */
    struct staged staged;       /* owned, until staged */
    uint64_t *sums;             /* owned scratch, one a page of the longest extent */
    struct manifest own;        /* owned: pages of this commit, if few enough */
    bool is_large;
};

/* ---- freeze ---- */

/* Put the schema's blob on pages of its own, giving up the place it had. */
static bw_err move_schema_out(struct txn *txn, struct bytes blob, page_no *out_page)
{
    uint64_t pages = (blob.size + PAGE_HEADER_SIZE + PAGE_SIZE - 1) / PAGE_SIZE;
    if (pages > OVERFLOW_PAGES_MAX)
        return bw_fail(BW_ERR_ILLEGAL_ARGUMENT, "The schema is too large: %zu bytes", blob.size);
    uint8_t *extent = NULL;
    bw_err err = bw_page_new(txn, PAGE_OVERFLOW, TREE_SCHEMA, (uint32_t)pages, out_page, &extent);
    if (!err) memcpy(extent + PAGE_HEADER_SIZE, blob.data, blob.size);
    return err;
}

static bw_err free_old_schema(struct txn *txn)
{
    const struct snapshot *old = txn->snapshot;
    if (!old || !old->schema_page) return BW_OK;
    const uint8_t *extent = NULL;
    uint32_t pages = (old->schema_size + PAGE_HEADER_SIZE + PAGE_SIZE - 1) / PAGE_SIZE;
    bw_err err = bw_page_read_overflow(txn, old->schema_page, pages, TREE_SCHEMA, &extent);
    if (!err) err = bw_page_free(txn, old->schema_page, pages, bw_page_born(extent));
    return err;
}

/* Decide where the schema lies and make the new snapshot. */
static bw_err freeze_snapshot(struct commit *commit, const struct tree_entry *entries,
                              uint16_t count, bool has_catalog)
{
    enum { BITMAP_MAX = 1024, RUNS_MIN = 52 };
    struct txn *txn = commit->txn;
    const struct snapshot *old = txn->snapshot;
    const struct changes *changes = txn->changes;
    struct bytes blob = {old ? old->schema : NULL, old ? old->schema_size : 0};
    if (changes->has_schema) blob = (struct bytes){changes->schema, changes->schema_size};
    size_t room = SLOT_CHECKED_SIZE - SLOT_AT_BODY - BITMAP_MAX - RUNS_MIN * RUN_SIZE -
                  count * (size_t)TREE_ENTRY_SIZE;
    bool keeps_page = !changes->has_schema && old && old->schema_page;
    bool fits = !keeps_page && blob.size <= SCHEMA_INLINE_MAX && bw_round_up(blob.size, 8) <= room;
    page_no page = keeps_page ? old->schema_page : 0;
    bw_err err = BW_OK;
    if (changes->has_schema && !BUG(schema_kept)) err = free_old_schema(txn);
    if (!err && !fits && !keeps_page) err = move_schema_out(txn, blob, &page);
    if (!err) err = bw_snapshot_new(count, fits ? (uint32_t)blob.size : 0, &commit->snapshot);
    if (err) return err;
    struct snapshot *snapshot = commit->snapshot;
    snapshot->txn_id = txn->id;
    snapshot->has_catalog = has_catalog;
    snapshot->schema_size = (uint32_t)blob.size;
    snapshot->schema_page = page;
    if (changes->has_schema) memcpy(snapshot->schema_hash, changes->schema_hash, 16);
    else if (old) memcpy(snapshot->schema_hash, old->schema_hash, 16);
    if (fits && blob.size)
        memcpy((uint8_t *)snapshot + sizeof(*snapshot) + count * sizeof(struct tree_entry),
               blob.data, blob.size);
    memcpy(snapshot->trees, entries, count * sizeof(*entries));
    return BW_OK;
}

/* Has the transaction changed the allocation of a page in [first, end)? */
static bool region_changed(const struct space *space, page_no first, page_no end)
{
    uint32_t word = first / 64 > space->taken_first ? first / 64 : space->taken_first;
    for (; word < space->taken_end && word * 64 < end; word++)
        if (space->taken[word]) return true;
    for (uint32_t i = 0; i < space->freed.count && !BUG(region_stale); i++) {
        const struct page_run *run = &space->freed.runs[i];
        if (run->page < end && run->page + run->pages > first) return true;
    }
    return false;
}

/* The bitmap of one region as its page will hold it. */
static bw_err freeze_region(struct commit *commit, uint32_t region)
{
    const struct geometry *geometry = commit->store->geometry;
    struct region_image *image = bw_new(sizeof(*image));
    if (!image) return bw_fail(BW_ERR_NO_MEMORY, "Out of memory: map of free pages");
    image->region = region;
    image->page[PAGE_AT_KIND] = PAGE_BITMAP;
    image->page[PAGE_AT_PAGES] = 1;
    bw_put_u64(image->page + PAGE_AT_BORN, commit->txn->id);
    bw_put_u32(image->page + PAGE_AT_TREE, region);
    bw_space_write_bits(&commit->store->writer->space, region * geometry->region_pages,
                        geometry->region_pages, image->page + PAGE_HEADER_SIZE);
    image->next = commit->staged.images;
    commit->staged.images = image;
    commit->staged.image_count++;
    return BW_OK;
}

/* Bitmaps of the regions that changed. */
static bw_err freeze_regions(struct commit *commit)
{
    const struct writer *writer = commit->store->writer;
    const uint32_t region_pages = commit->store->geometry->region_pages;
    for (uint32_t region = 0; region < commit->region_count; region++) {
        const page_no first = region * region_pages;
        if (region < writer->region_count &&
            !region_changed(&writer->space, first, first + region_pages))
            continue;
        bw_err err = freeze_region(commit, region);
        if (err) return err;
    }
    return BW_OK;
}

/* How far the snapshot reaches, with the places of its regions' bitmaps. */
static bw_err measure(struct commit *commit)
{
    const struct geometry *geometry = commit->store->geometry;
    commit->hwm = bw_space_hwm(&commit->store->writer->space);
    if (commit->hwm < PAGES_MIN) commit->hwm = PAGES_MIN; // R17 tells a creation by its length
    if (commit->hwm <= geometry->inline_pages) return BW_OK;
    commit->region_count = (commit->hwm - 1) / geometry->region_pages + 1;
    const page_no last = bw_space_region_start(geometry, commit->region_count - 1);
    if (last + geometry->bitmap_copies > commit->hwm) commit->hwm = last + geometry->bitmap_copies;
    if (commit->region_count > REGIONS_MAX) return bw_fail(BW_ERR_DB_FULL, "Could not commit tx");
    return BW_OK;
}

static bw_err freeze_allocation(struct commit *commit)
{
    struct space *space = &commit->store->writer->space;
    bw_err err = measure(commit);
    if (!err) err = bw_space_prepare_publish(space);
    if (err) return err;
    struct mark *mark = bw_new(sizeof(*mark) + commit->region_count);
    commit->staged.mark = mark;
    if (mark && !commit->region_count)
        commit->staged.bits = bw_new(bw_slot_bits_size(commit->hwm, 0));
    if (!mark || (!commit->region_count && !commit->staged.bits))
        return bw_fail(BW_ERR_NO_MEMORY, "Out of memory: map of free pages");
    mark->txn_id = commit->txn->id;
    mark->hwm = commit->hwm;
    mark->region_count = commit->region_count;
    if (commit->region_count) err = freeze_regions(commit);
    else bw_space_write_bits(space, 0, commit->hwm, commit->staged.bits);
    commit->snapshot->hwm = commit->hwm;
    commit->snapshot->used_pages =
        bw_space_used_pages(space) + commit->region_count * commit->store->geometry->bitmap_copies;
    return err;
}

static bw_err freeze(struct commit *commit)
{
    struct tree_entry entries[TREES_INLINE_MAX];
    uint16_t count = 0;
    bool has_catalog = false;
    bw_err err = bw_catalog_freeze(commit->txn, entries, &count, &has_catalog);
    if (!err) err = freeze_snapshot(commit, entries, count, has_catalog);
    if (!err) err = freeze_allocation(commit);
    return err;
}

/* ---- data ---- */

static int by_page(const void *left, const void *right)
{
    const struct extent *a = left, *b = right;
    return a->page < b->page ? -1 : a->page > b->page;
}

/* Sort the live extents to the front; the table is of no use any more. */
static void sort_extents(struct changes *changes)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < changes->extent_count - (BUG(extent_unwritten) && i); i++)
        if (changes->extents[i].pages) changes->extents[kept++] = changes->extents[i];
    changes->extent_count = kept;
    changes->table_size = 0;
    bw_free(changes->table);
    changes->table = NULL;
    if (kept > 1) qsort(changes->extents, kept, sizeof(*changes->extents), by_page);
}

/* Fill in the checksums, and note the pages' sums while they are few enough for a manifest. */
static bw_err sum_extents(struct commit *commit)
{
    struct changes *changes = commit->txn->changes;
    uint64_t salt = commit->store->salt, total = 0;
    uint32_t longest = 1;
    for (uint32_t i = 0; i < changes->extent_count; i++) {
        total += changes->extents[i].pages;
        if (changes->extents[i].pages > longest) longest = changes->extents[i].pages;
    }
    commit->is_large = total > commit->store->geometry->manifest_pages;
    commit->sums = bw_new_raw(longest * sizeof(*commit->sums));
    if (!commit->sums) return bw_fail(BW_ERR_NO_MEMORY, "Out of memory: checksums of pages");
    bw_err err = commit->is_large ? BW_OK : bw_manifest_reserve(&commit->own, (uint32_t)total);
    for (uint32_t i = 0; i < changes->extent_count && !err; i++) {
        struct extent *extent = &changes->extents[i];
        bw_page_sums(extent->bytes, extent->pages, salt, commit->sums);
        if (!BUG(checksum_forgotten))
            bw_put_u64(extent->bytes, bw_page_checksum(commit->sums, extent->pages, salt));
        for (uint32_t page = BUG(manifest_short); page < extent->pages && !commit->is_large; page++)
            bw_manifest_add(&commit->own, extent->page + page, commit->sums[page]);
    }
    return err;
}

enum { SPANS_MAX = 256, ZERO_PAGES = 16 };

/* Gathers writes that follow one another in the file. */
struct gather {
    struct store *store;
    uint64_t page, end; /* pages */
    struct span spans[SPANS_MAX];
    size_t span_count;
};

static bw_err write_out(struct gather *gather)
{
    if (!gather->span_count) return BW_OK;
    struct store *store = gather->store;
    bw_err err = store->disk->write(store->file, gather->page * PAGE_SIZE, gather->spans,
                                    gather->span_count);
    gather->span_count = 0;
    if (gather->end > store->file_pages && !err) store->file_pages = gather->end;
    return err;
}

static bw_err add_span(struct gather *gather, uint64_t page, const uint8_t *bytes, uint32_t pages)
{
    bw_err err = BW_OK;
    if (gather->span_count == SPANS_MAX || (gather->span_count && gather->end != page))
        err = write_out(gather);
    if (err) return err;
    if (!gather->span_count) gather->page = page;
    struct span *last = gather->span_count ? &gather->spans[gather->span_count - 1] : NULL;
    if (last && (const uint8_t *)last->data + last->size == bytes)
        last->size += (size_t)pages * PAGE_SIZE;
    else
        gather->spans[gather->span_count++] =
            (struct span){.data = bytes, .size = (size_t)pages * PAGE_SIZE};
    gather->end = page + pages;
    return BW_OK;
}

/* The file never has holes: pages that are free but lie below its new end are written as zeros. */
static bw_err add_zeros(struct gather *gather, uint64_t page, uint64_t end)
{
    static const uint8_t zeros[ZERO_PAGES * PAGE_SIZE];
    bw_err err = BW_OK;
    while (page < end && !err) {
        uint32_t pages = end - page < ZERO_PAGES ? (uint32_t)(end - page) : ZERO_PAGES;
        err = add_span(gather, page, zeros, pages);
        page += pages;
    }
    return err;
}

/* Where the file shall end: at the high-water mark, or a step beyond it once it is over 1 MB. */
static uint64_t file_end(const struct commit *commit)
{
    const struct store *store = commit->store;
    uint64_t end = commit->hwm;
    if (end <= store->file_pages || store->file_pages < 256) return end;
    end += end / 16 < 256 ? end / 16 : 256;
    uint64_t limit = store->size_max / PAGE_SIZE;
    return limit && end > limit ? (limit > commit->hwm ? limit : commit->hwm) : end;
}

/* R17: creation sets the size first, and makes it durable when an aborted attempt had left one. No
 * flusher runs before the first commit. */
static bw_err set_first_size(struct commit *commit)
{
    struct store *store = commit->store;
    uint64_t old = store->file_pages;
    if (commit->hwm > old) {
        bw_err err = store->disk->resize(store->file, (uint64_t)commit->hwm * PAGE_SIZE);
        if (err) return err;
        store->file_pages = commit->hwm;
    }
    const bool names_dirty = store->names_dirty; // they are flushed with the commit
    store->names_dirty = false;
    bw_err err = old ? bw_group_flush(store) : BW_OK;
    store->names_dirty = names_dirty;
    return err;
}

static bw_err write_data(struct commit *commit)
{
    struct store *store = commit->store;
    const struct changes *changes = commit->txn->changes;
    struct gather gather = {.store = store};
    const bool is_first = !commit->txn->snapshot;
    bw_err err = is_first && !BUG(creation_size_late) ? set_first_size(commit) : BW_OK;
    uint64_t next = is_first ? 1 : store->file_pages; // the first page that has to be filled
    for (uint32_t i = 0; i < changes->extent_count && !err; i++) {
        const struct extent *extent = &changes->extents[i];
        if (extent->page > next) err = add_zeros(&gather, next, extent->page);
        if (!err) err = add_span(&gather, extent->page, extent->bytes, extent->pages); // K1
        if (extent->page + extent->pages > next) next = extent->page + extent->pages;
    }
    if (!err) err = add_zeros(&gather, next, file_end(commit));
    if (!err) err = write_out(&gather);
    return err;
}

bw_err bw_commit_run(struct txn *txn)
{
    struct store *store = txn->store;
    struct commit commit = {.txn = txn, .store = store};
    bw_err err = freeze(&commit);
    if (!err) err = bw_pager_check_unread(txn);
    if (!err) {
        sort_extents(txn->changes);
        err = sum_extents(&commit);
    }
    if (!err) err = bw_group_reserve(store, &commit.own, commit.staged.image_count); // K2
    if (!err) err = write_data(&commit);
    if (BUG(write_error_ignored) && err != BW_ERR_NO_MEMORY) err = BW_OK;
    if (!err) {
        bw_group_stage(store, commit.snapshot, &commit.staged, &commit.own, commit.is_large);
        commit.snapshot = NULL;
        store->highest_txn = txn->id;
        bw_space_publish(&store->writer->space, txn->id);
        for (uint32_t i = 0; i < txn->changes->extent_count; i++)
            bw_pager_mark_verified(store, txn->changes->extents[i].page);
    }
    bw_free(commit.snapshot);
    bw_free(commit.sums);
    bw_group_free_staged(&commit.staged);
    bw_manifest_deinit(&commit.own);
    return err;
}
