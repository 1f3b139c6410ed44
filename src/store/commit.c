/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commit: from changed pages in memory to a durable snapshot.
 *
 *   freeze    trees are finished, the catalogue, schema and allocation state get their places
 *   data      pages are summed and written to free places (R1); a failure up to here is a clean
 *   abort large?    more than a manifest can vouch for: flush first (R5)
 *   slot      one 4 KB write into the slot that does not hold the durable snapshot (R2)
 *   flush     the only one of a small commit (R3); failure here or at the slot poisons the store
 *   publish   readers see the new snapshot; what it freed waits for pins (R7)
 *
 * Invariants:
 *   K1  No page that some pin sees is written: extents come from bw_space_take only.
 *   K2  The target is never the slot that holds the durable snapshot.
 *   K3  Every page written is named by the manifest, or was flushed before the slot.
 */
#include "store/slot.h"

#include <stdlib.h>

#include "store/names.h"

struct commit {
    struct txn *txn;
    struct store *store;
    struct snapshot *snapshot;  /* the new one, until published */
    uint32_t hwm, region_count; /* hwm with the reserved places of regions */
    uint8_t *bits;              /* owned: as the slot wants them */
    uint8_t *selectors;         /* owned: a byte a region */
    uint64_t *sums;             /* owned scratch, one a page of the longest extent */
    struct manifest manifest;   /* owned: what the slot names */
    struct manifest own;        /* owned: pages of this commit, if few enough */
    uint64_t slot_checksum;
    bool is_large;
};

bw_err bw_commit_poison(struct store *store, const char *what)
{
    char cause[200];
    const char *text = bw_reason_text();
    size_t size = strlen(text) < sizeof(cause) - 1 ? strlen(text) : sizeof(cause) - 1;
    memcpy(cause, text, size);
    cause[size] = 0;
    atomic_store(&store->session, SESSION_POISONED);
    return bw_fail_system(BW_ERR_STORE_MUST_SHUTDOWN, bw_reason_secondary(),
                          "The store must be closed: %s failed, so that the outcome of the last "
                          "commit is unknown (%s)",
                          what, cause);
}

bw_err bw_commit_flush(struct store *store)
{
    struct disk *disk = store->disk;
    if (!store->is_durable) return BW_OK;
    bw_err err = disk->flush(store->file);
    if (err && BUG(retry_flush)) err = disk->flush(store->file);
    if (err) return bw_commit_poison(store, "flushing the file");
    if (!store->names_dirty) return BW_OK;
    if (!BUG(no_dirsync)) err = bw_names_flush(store);
    if (err) return bw_commit_poison(store, "flushing the directory");
    store->names_dirty = false;
    return BW_OK;
}

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
    if (changes->has_schema) err = free_old_schema(txn);
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
    for (uint32_t i = 0; i < space->freed.count; i++) {
        const struct page_run *run = &space->freed.runs[i];
        if (run->page < end && run->page + run->pages > first) return true;
    }
    return false;
}

/* The copy that neither cur nor the previous snapshot selects (R10). */
static uint8_t free_copy(const struct writer *writer, uint32_t region)
{
    for (uint8_t copy = 0;; copy++) {
        if (writer->selectors && region < writer->region_count && writer->selectors[region] == copy)
            continue;
        if (writer->previous_selectors && region < writer->previous_region_count &&
            writer->previous_selectors[region] == copy)
            continue;
        return copy;
    }
}

/* Write the bitmap of one region into an extent of its own at the place of the copy. */
static bw_err freeze_region(struct commit *commit, uint32_t region)
{
    struct store *store = commit->store;
    const struct geometry *geometry = store->geometry;
    page_no first = region * geometry->region_pages;
    uint8_t copy = free_copy(store->writer, region), *extent = NULL;
    struct page_run place = {.page = bw_space_region_start(geometry, region) + copy, .pages = 1};
    bw_err err = bw_pager_place(commit->txn, PAGE_BITMAP, region, place, &extent);
    if (err) return err;
    commit->selectors[region] = copy;
    bw_space_write_bits(&store->writer->space, first, geometry->region_pages,
                        extent + PAGE_HEADER_SIZE);
    return BW_OK;
}

static bw_err freeze_regions(struct commit *commit)
{
    struct writer *writer = commit->store->writer;
    const struct geometry *geometry = commit->store->geometry;
    commit->region_count = (commit->hwm - 1) / geometry->region_pages + 1;
    page_no last = bw_space_region_start(geometry, commit->region_count - 1);
    if (last + geometry->bitmap_copies > commit->hwm) commit->hwm = last + geometry->bitmap_copies;
    if (commit->region_count > REGIONS_MAX) return bw_fail(BW_ERR_DB_FULL, "Could not commit tx");
    size_t size = bw_slot_bits_size(0, commit->region_count);
    commit->bits = bw_new(size);
    commit->selectors = bw_new(commit->region_count);
    if (!commit->bits || !commit->selectors)
        return bw_fail(BW_ERR_NO_MEMORY, "Out of memory: map of free pages");
    for (uint32_t region = 0; region < commit->region_count; region++) {
        page_no first = region * geometry->region_pages;
        bool is_old = writer->selectors && region < writer->region_count;
        bw_err err = BW_OK;
        if (is_old && !region_changed(&writer->space, first, first + geometry->region_pages))
            commit->selectors[region] = writer->selectors[region];
        else err = freeze_region(commit, region);
        if (err) return err;
        commit->bits[region / 4] |= (uint8_t)(commit->selectors[region] << region % 4 * 2);
    }
    return BW_OK;
}

static bw_err freeze_allocation(struct commit *commit)
{
    struct space *space = &commit->store->writer->space;
    commit->hwm = bw_space_hwm(space);
    if (commit->hwm < PAGES_MIN) commit->hwm = PAGES_MIN; // R17 tells a creation by its length
    bw_err err = bw_space_prepare_publish(space);
    if (err) return err;
    if (commit->hwm > commit->store->geometry->inline_pages) {
        err = freeze_regions(commit);
    } else {
        commit->bits = bw_new(bw_slot_bits_size(commit->hwm, 0));
        if (!commit->bits) return bw_fail(BW_ERR_NO_MEMORY, "Out of memory: map of free pages");
        bw_space_write_bits(space, 0, commit->hwm, commit->bits);
    }
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
    for (uint32_t i = 0; i < changes->extent_count; i++)
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
        bw_put_u64(extent->bytes, bw_page_checksum(commit->sums, extent->pages, salt));
        for (uint32_t page = 0; page < extent->pages && !commit->is_large; page++)
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

/* R17: creation sets the size first, and makes it durable when an aborted attempt had left one. */
static bw_err set_first_size(struct commit *commit)
{
    struct store *store = commit->store;
    uint64_t old = store->file_pages;
    if (commit->hwm > old) {
        bw_err err = store->disk->resize(store->file, (uint64_t)commit->hwm * PAGE_SIZE);
        if (err) return err;
        store->file_pages = commit->hwm;
    }
    if (!old || !store->is_durable) return BW_OK;
    return store->disk->flush(store->file) ? bw_commit_poison(store, "flushing the file") : BW_OK;
}

static bw_err write_data(struct commit *commit)
{
    struct store *store = commit->store;
    const struct changes *changes = commit->txn->changes;
    struct gather gather = {.store = store};
    bw_err err = store->cur ? BW_OK : set_first_size(commit);
    uint64_t next = store->cur ? store->file_pages : 1; // the first page that has to be filled
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

/* ---- slot ---- */

static bool fits_manifest(const struct commit *commit, const struct manifest *manifest)
{
    const struct geometry *geometry = commit->store->geometry;
    size_t bits = bw_slot_bits_size(commit->hwm, commit->region_count);
    uint32_t room = bw_slot_run_room(commit->snapshot, bits);
    if (room > geometry->manifest_runs) room = geometry->manifest_runs;
    return manifest->count <= geometry->manifest_pages && bw_manifest_run_count(manifest) <= room;
}

/* R4: this commit's pages and, as far as they fit, those of one flush earlier that are still live.
 * */
static bw_err choose_manifest(struct commit *commit)
{
    struct writer *writer = commit->store->writer;
    if (!commit->is_large && !fits_manifest(commit, &commit->own)) commit->is_large = true;
    if (commit->is_large) return BW_OK;
    uint32_t total = commit->own.count + writer->before.count;
    bw_err err = bw_manifest_reserve(&commit->manifest, total);
    if (err) return err;
    for (uint32_t i = 0; i < writer->before.count; i++)
        bw_manifest_add(&commit->manifest, writer->before.sums[i].page, writer->before.sums[i].sum);
    for (uint32_t i = 0; i < writer->space.freed.count; i++)
        bw_manifest_cut(&commit->manifest, writer->space.freed.runs[i].page,
                        writer->space.freed.runs[i].pages);
    for (uint32_t region = 0; region < writer->region_count; region++)
        if (region >= commit->region_count ||
            commit->selectors[region] != writer->selectors[region])
            bw_manifest_cut(&commit->manifest,
                            bw_space_region_start(commit->store->geometry, region) +
                                writer->selectors[region],
                            1);
    for (uint32_t i = 0; i < commit->own.count; i++)
        bw_manifest_add(&commit->manifest, commit->own.sums[i].page, commit->own.sums[i].sum);
    bw_manifest_sort(&commit->manifest);
    if (fits_manifest(commit, &commit->manifest)) return BW_OK;
    bw_manifest_clear(&commit->manifest);
    for (uint32_t i = 0; i < commit->own.count; i++)
        bw_manifest_add(&commit->manifest, commit->own.sums[i].page, commit->own.sums[i].sum);
    return BW_OK;
}

static bw_err write_slot(struct commit *commit)
{
    struct store *store = commit->store;
    uint8_t image[PAGE_SIZE] = {0};
    struct slot_content content = {
        .uuid = store->uuid,
        .txn_id = commit->txn->id,
        .base = store->cur ? store->cur->txn_id : 0, // R11
        .hwm = commit->hwm,
        .region_count = commit->region_count,
        .snapshot = commit->snapshot,
        .bits = commit->bits,
        .manifest = &commit->manifest,
        .salt = store->salt,
    };
    bw_slot_encode(&content, image);
    commit->slot_checksum = bw_get_u64(image + SLOT_AT_CHECKSUM);
    unsigned target = store->cur ? 1 - store->writer->slot : 0; // K2
    struct span span = {.data = image, .size = sizeof(image)};
    bw_err err = store->disk->write(store->file, (uint64_t)target * PAGE_SIZE, &span, 1);
    return err ? bw_commit_poison(store, "writing the slot") : BW_OK;
}

static bw_err write_durably(struct commit *commit)
{
    bw_err err = BW_OK;
    if (commit->is_large && !BUG(large_without_flush))
        err = bw_commit_flush(commit->store); // R5, K3
    if (!err) err = write_slot(commit);
    if (!err && !BUG(ack_early)) err = bw_commit_flush(commit->store);
    return err;
}

/* ---- publish ---- */

static void publish(struct commit *commit)
{
    struct store *store = commit->store;
    struct writer *writer = store->writer;
    const struct changes *changes = commit->txn->changes;
    struct snapshot *old = store->cur;
    writer->previous_txn = old ? old->txn_id : 0;
    writer->previous_hwm = old ? old->hwm : 0;
    bw_free(writer->previous_selectors);
    writer->previous_selectors = writer->selectors;
    writer->previous_region_count = writer->region_count;
    writer->selectors = commit->selectors;
    writer->region_count = commit->region_count;
    writer->slot = old ? 1 - writer->slot : 0;
    writer->slot_checksum = commit->slot_checksum;
    writer->is_sealed = false;
    commit->selectors = NULL;
    bw_manifest_deinit(&writer->before);
    writer->before = commit->own;
    if (commit->is_large) bw_manifest_deinit(&writer->before);
    commit->own = (struct manifest){0};
    store->highest_txn = commit->txn->id;
    bw_space_publish(&writer->space, commit->txn->id);
    for (uint32_t i = 0; i < changes->extent_count; i++)
        bw_pager_mark_verified(store, changes->extents[i].page);
    bw_mutex_lock(&store->mutex);
    commit->snapshot->older = store->cur;
    store->cur = commit->snapshot;
    bw_mutex_unlock(&store->mutex);
    commit->snapshot = NULL;
}

bw_err bw_commit_run(struct txn *txn)
{
    struct commit commit = {.txn = txn, .store = txn->store};
    bw_err err = freeze(&commit);
    if (!err) {
        sort_extents(txn->changes);
        err = sum_extents(&commit);
    }
    if (!err) err = choose_manifest(&commit);
    if (!err) err = write_data(&commit);
    if (!err) err = write_durably(&commit);
    if (!err) publish(&commit);
    bw_free(commit.snapshot);
    bw_free(commit.bits);
    bw_free(commit.selectors);
    bw_free(commit.sums);
    bw_manifest_deinit(&commit.manifest);
    bw_manifest_deinit(&commit.own);
    return err;
}

/* ---- closing ---- */

/* R18: give back the tail that no snapshot can need. Un-flushed: it may come back. */
static void trim(struct store *store)
{
    const struct writer *writer = store->writer;
    uint64_t keep = store->cur->hwm > writer->previous_hwm ? store->cur->hwm : writer->previous_hwm;
    uint64_t slack = keep / 16 < 256 ? keep / 16 : 256;
    if (keep < 256) slack = 0;
    if (keep + slack >= store->file_pages) return;
    if (store->disk->resize(store->file, keep * PAGE_SIZE) == BW_OK) store->file_pages = keep;
}

/* R20: vouch for the durable slot in the last sector of the other one. */
static void seal(struct store *store)
{
    enum { SECTOR = PAGE_SIZE - SLOT_AT_SEAL };
    struct writer *writer = store->writer;
    uint8_t sector[SECTOR] = {0};
    bw_put_u64(sector, writer->slot_checksum);
    bw_put_u64(sector + 8, store->cur->txn_id);
    struct span span = {.data = sector, .size = sizeof(sector)};
    uint64_t at = (1u - writer->slot) * (uint64_t)PAGE_SIZE + SLOT_AT_SEAL;
    writer->is_sealed = store->disk->write(store->file, at, &span, 1) == BW_OK;
}

void bw_commit_close(struct store *store)
{
    if (atomic_load(&store->session) != SESSION_READY || !store->cur || !store->writer) return;
    trim(store);
    if (!store->writer->is_sealed && store->is_durable) seal(store);
}
