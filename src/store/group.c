/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups of commits: how what is staged gets its slot, becomes durable and visible (R2 to R5, R21).
 *
 * A commit stages its snapshot and lets the next writer go on. One of those who wait for their
 * commit is the flusher: it takes the newest staged snapshot, writes the one slot for it and
 * flushes once, for all that were staged before. What is staged meanwhile waits for the next round.
 * On disk a group cannot be told from one larger commit.
 *
 *   pick      under the store's mutex: the newest staged snapshot, and the pages it relies on
 *   bitmaps   of the regions that changed, to copies that no slot selects (R10)
 *   large?    more than a manifest can vouch for: flush first (R5)
 *   slot      one 4 KB write into the slot that does not hold the durable snapshot (R2)
 *   flush     the only one of a small group (R3); failure here or at the slot poisons the store
 *   publish   readers see the snapshot; everybody up to it is told
 *
 * Invariants:
 *   Z1  There is one flusher at a time; only it writes slots and bitmaps, flushes, and changes
 *       durable, last and previous.
 *   Z2  The target is never the slot that holds the durable snapshot, and is not written while a
 *       flush is going on that vouches for it.
 *   Z3  Every page of the snapshot in the target is named by its manifest, or was flushed before.
 *   Z4  recent, flying and before name only pages that are live in head.
 */
#include "store/slot.h"

#include "store/names.h"

bw_err bw_group_poison(struct store *store, const char *what)
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

bw_err bw_group_flush(struct store *store)
{
    struct disk *disk = store->disk;
    if (store->durability == DURABLE_NONE) return BW_OK;
    const enum flush_kind kind = store->durability == DURABLE_BARRIER ? FLUSH_ORDER : FLUSH_DEVICE;
    bw_err err = disk->flush(store->file, kind);
    if (err && BUG(retry_flush)) err = disk->flush(store->file, kind);
    if (err) return bw_group_poison(store, "flushing the file");
    atomic_fetch_add_explicit(&store->flush_count, 1, memory_order_relaxed);
    if (!store->names_dirty) return BW_OK;
    if (!BUG(no_dirsync)) err = bw_names_flush(store);
    if (err) return bw_group_poison(store, "flushing the directory");
    store->names_dirty = false;
    return BW_OK;
}

/* ---- staging: the writer's side ---- */

void bw_group_free_staged(struct staged *staged)
{
    bw_free(staged->mark);
    bw_free(staged->bits);
    while (staged->images) {
        struct region_image *image = staged->images;
        staged->images = image->next;
        bw_free(image);
    }
    *staged = (struct staged){0};
}

bw_err bw_group_reserve(struct store *store, struct manifest *own, uint32_t image_count)
{
    struct writer *writer = store->writer;
    bw_mutex_lock(&store->mutex);
    const uint32_t images = image_count + writer->staged.image_count;
    bw_err err = bw_manifest_reserve(own, images);
    if (!err && writer->recent.count) // the flusher may take it away meanwhile
        err = bw_manifest_reserve(&writer->recent, own->count + images);
    bw_mutex_unlock(&store->mutex);
    return err;
}

/* Images of the snapshot that is passed over stay where the new one has none of its own. */
static void keep_images(struct staged *from, struct staged *to)
{
    const uint32_t regions = to->mark->region_count;
    while (from->images) {
        struct region_image *image = from->images, *own = to->images;
        from->images = image->next;
        while (own && own->region != image->region) own = own->next;
        if (own || image->region >= regions) {
            bw_free(image);
            continue;
        }
        image->next = to->images;
        to->images = image;
        to->image_count++;
    }
}

static void cut_freed(struct writer *writer)
{
    const struct run_list *freed = &writer->space.freed;
    for (uint32_t i = 0; i < freed->count; i++) {
        bw_manifest_cut(&writer->recent, freed->runs[i].page, freed->runs[i].pages);
        bw_manifest_cut(&writer->flying, freed->runs[i].page, freed->runs[i].pages);
        bw_manifest_cut(&writer->before, freed->runs[i].page, freed->runs[i].pages);
    }
}

static void add_own(struct writer *writer, struct manifest *own, bool is_large)
{
    if (writer->is_large || is_large) {
        writer->is_large = true;
        bw_manifest_clear(&writer->recent);
    } else if (!writer->recent.count || BUG(manifest_forgets)) {
        bw_manifest_deinit(&writer->recent);
        writer->recent = *own;
        *own = (struct manifest){0};
    } else {
        for (uint32_t i = 0; i < own->count; i++)
            bw_manifest_add(&writer->recent, own->sums[i].page, own->sums[i].sum);
    }
}

void bw_group_stage(struct store *store, struct snapshot *snapshot, struct staged *staged,
                    struct manifest *own, bool is_large)
{
    struct writer *writer = store->writer;
    bw_mutex_lock(&store->mutex);
    cut_freed(writer); // Z4
    add_own(writer, own, is_large);
    keep_images(&writer->staged, staged);
    bw_group_free_staged(&writer->staged);
    writer->staged = *staged;
    writer->staged.snapshot = snapshot;
    *staged = (struct staged){0};
    writer->region_count = writer->staged.mark->region_count;
    snapshot->older = store->head;
    store->head = snapshot;
    bw_mutex_unlock(&store->mutex);
    atomic_fetch_add_explicit(&store->commit_count, 1, memory_order_relaxed);
}

/* ---- one round: the flusher's side ---- */

struct round {
    struct store *store;
    struct staged staged;
    bool is_large, is_flushed;
    struct page_sum sums[MANIFEST_PAGES_MAX]; /* what the slot names */
    struct manifest manifest;                 /* borrows sums */
    uint8_t selectors[REGIONS_MAX / 4];       /* as the slot wants them */
};

static bool selects(const struct mark *mark, uint32_t region, uint8_t copy)
{
    return mark && region < mark->region_count && mark->selectors[region] == copy;
}

/* R10: a copy that no snapshot in a slot selects. */
static uint8_t free_copy(const struct writer *writer, uint32_t region)
{
    uint8_t copy = 0;
    while (selects(writer->durable, region, copy) ||
           (selects(writer->last, region, copy) && !BUG(last_copy_reused)) ||
           (selects(writer->previous, region, copy) && !BUG(previous_copy_reused)))
        copy++;
    ASSERT(copy < writer->space.geometry->bitmap_copies);
    return copy;
}

/* Where each region's bitmap of the new slot lies. */
static void select_copies(struct round *round)
{
    struct mark *mark = round->staged.mark;
    const struct mark *last = round->store->writer->last;
    for (uint32_t region = 0; last && region < mark->region_count; region++)
        if (region < last->region_count) mark->selectors[region] = last->selectors[region];
    for (struct region_image *image = round->staged.images; image; image = image->next)
        mark->selectors[image->region] = free_copy(round->store->writer, image->region);
    for (uint32_t region = 0; region < mark->region_count; region++)
        round->selectors[region / 4] |= (uint8_t)(mark->selectors[region] << region % 4 * 2);
}

static page_no place_of(const struct round *round, const struct mark *mark, uint32_t region)
{
    return bw_space_region_start(round->store->geometry, region) + mark->selectors[region];
}

/* The images' pages take the places of those that the slot before selects (Z4). */
static void note_bitmaps(struct round *round)
{
    struct store *store = round->store;
    struct writer *writer = store->writer;
    const struct mark *mark = round->staged.mark, *last = writer->last;
    for (uint32_t region = 0; last && region < last->region_count; region++) {
        if (selects(mark, region, last->selectors[region])) continue;
        bw_manifest_cut(&writer->recent, place_of(round, last, region), 1);
        bw_manifest_cut(&writer->before, place_of(round, last, region), 1);
    }
    for (struct region_image *image = round->staged.images; image; image = image->next) {
        const page_no page = place_of(round, mark, image->region);
        uint64_t sum = 0;
        bw_put_u32(image->page + PAGE_AT_NUMBER, page);
        bw_page_sums(image->page, 1, store->salt, &sum);
        bw_put_u64(image->page, bw_page_checksum(&sum, 1, store->salt));
        if (!writer->is_large && !BUG(bitmap_not_in_manifest))
            bw_manifest_add(&writer->recent, page, sum);
    }
}

static bool fits_slot(const struct round *round, const struct manifest *manifest)
{
    const struct geometry *geometry = round->store->geometry;
    const struct mark *mark = round->staged.mark;
    const size_t bits = bw_slot_bits_size(mark->hwm, mark->region_count);
    uint32_t room = bw_slot_run_room(round->staged.snapshot, bits);
    if (room > geometry->manifest_runs) room = geometry->manifest_runs;
    return manifest->count <= geometry->manifest_pages && bw_manifest_run_count(manifest) <= room;
}

/* Name the pages of both lists. False: they do not fit. */
static bool name_pages(struct round *round, const struct manifest *recent,
                       const struct manifest *before)
{
    struct manifest *manifest = &round->manifest;
    bw_manifest_clear(manifest);
    const uint32_t count = recent->count + (before ? before->count : 0);
    if (count > round->store->geometry->manifest_pages) return false;
    for (uint32_t i = 0; before && i < before->count; i++)
        bw_manifest_add(manifest, before->sums[i].page, before->sums[i].sum);
    for (uint32_t i = 0; i < recent->count; i++)
        bw_manifest_add(manifest, recent->sums[i].page, recent->sums[i].sum);
    bw_manifest_sort(manifest);
    return fits_slot(round, manifest);
}

/* R4: the pages since the last flush and, as far as they fit, those of one flush earlier. */
static void choose_manifest(struct round *round)
{
    struct writer *writer = round->store->writer;
    round->manifest = (struct manifest){.sums = round->sums, .room = MANIFEST_PAGES_MAX};
    const bool fits =
        !writer->is_large &&
        ((!BUG(one_generation) && name_pages(round, &writer->recent, &writer->before)) ||
         name_pages(round, &writer->recent, NULL));
    round->is_large = !fits;
    if (!fits) bw_manifest_clear(&round->manifest);
}

/* What is staged from here on belongs to the next flush. Under the store's mutex. */
static void begin_flush(struct writer *writer)
{
    bw_manifest_deinit(&writer->flying);
    if (writer->is_large) bw_manifest_deinit(&writer->recent);
    writer->flying = writer->recent;
    writer->recent = (struct manifest){0};
    writer->is_large = false;
}

/* All of it under one hold of the mutex: a later commit may not change what this one relies on. */
static void pick(struct round *round)
{
    struct store *store = round->store;
    struct writer *writer = store->writer;
    bw_mutex_lock(&store->mutex);
    round->staged = writer->staged;
    writer->staged = (struct staged){0};
    if (round->staged.snapshot) {
        store->flying = round->staged.snapshot;
        select_copies(round);
        note_bitmaps(round);
        choose_manifest(round);
        // R17: the first commit is flushed in every mode. R5: a large one is, too.
        const bool is_first = !writer->durable && !BUG(lazy_creation);
        round->is_flushed = store->durability != DURABLE_LAZY || is_first || round->is_large;
        if (round->is_large) writer->is_large = true;
        if (round->is_flushed) begin_flush(writer);
    }
    bw_mutex_unlock(&store->mutex);
}

static bw_err write_bitmaps(struct round *round)
{
    struct store *store = round->store;
    for (struct region_image *image = round->staged.images; image; image = image->next) {
        const page_no page = place_of(round, round->staged.mark, image->region);
        struct span span = {.data = image->page, .size = PAGE_SIZE};
        if (BUG(forget_bitmap) && image->region == 0) continue;
        bw_err err = store->disk->write(store->file, (uint64_t)page * PAGE_SIZE, &span, 1);
        if (err) return bw_group_poison(store, "writing the map of free pages");
    }
    return BW_OK;
}

/* A flush made last durable: what the other slot held cannot come back (R3). */
static void promote(struct store *store)
{
    struct writer *writer = store->writer;
    if (writer->last == writer->durable) return;
    bw_free(writer->previous);
    writer->previous = writer->durable;
    writer->slot = writer->durable ? 1 - writer->slot : 0;
    writer->durable = writer->last;
    writer->is_sealed = false;
}

static void end_flush(struct store *store)
{
    struct writer *writer = store->writer;
    bw_mutex_lock(&store->mutex);
    if (BUG(group_recent_lost)) bw_manifest_clear(&writer->recent);
    promote(store);
    bw_manifest_deinit(&writer->before);
    writer->before = writer->flying;
    writer->flying = (struct manifest){0};
    bw_mutex_unlock(&store->mutex);
}

static bw_err write_slot(struct round *round)
{
    struct store *store = round->store;
    struct writer *writer = store->writer;
    struct mark *mark = round->staged.mark;
    uint8_t image[PAGE_SIZE] = {0};
    struct slot_content content = {
        .uuid = store->uuid,
        .txn_id = mark->txn_id,
        .base = writer->durable ? writer->durable->txn_id : 0, // R11
        .hwm = mark->hwm,
        .region_count = mark->region_count,
        .snapshot = round->staged.snapshot,
        .bits = mark->region_count ? round->selectors : round->staged.bits,
        .manifest = &round->manifest,
        .salt = store->salt,
    };
    bw_slot_encode(&content, image);
    mark->checksum = bw_get_u64(image + SLOT_AT_CHECKSUM);
    unsigned target = writer->durable ? 1 - writer->slot : 0; // Z2
    if (BUG(lazy_wrong_slot) && !round->is_flushed && mark->txn_id % 3 == 0) target = writer->slot;
    struct span span = {.data = image, .size = sizeof(image)};
    bw_err err = store->disk->write(store->file, (uint64_t)target * PAGE_SIZE, &span, 1);
    if (err) return bw_group_poison(store, "writing the slot");
    bw_mutex_lock(&store->mutex);
    if (writer->last != writer->durable) bw_free(writer->last);
    writer->last = mark;
    round->staged.mark = NULL;
    bw_mutex_unlock(&store->mutex);
    return BW_OK;
}

static void publish(struct round *round)
{
    struct store *store = round->store;
    bw_mutex_lock(&store->mutex);
    struct snapshot *snapshot = store->head;
    while (snapshot != round->staged.snapshot && !BUG(group_ack_all)) snapshot = snapshot->older;
    atomic_store(&store->cur, snapshot);
    store->flying = NULL;
    bw_snapshot_prune(store);
    bw_mutex_unlock(&store->mutex);
}

static bw_err run_round(struct store *store)
{
    struct round round = {.store = store};
    pick(&round);
    if (!round.staged.snapshot) return BW_OK;
    bw_err err = write_bitmaps(&round);
    if (!err && round.is_large && !BUG(large_without_flush)) {
        err = bw_group_flush(store); // R5, Z3
        if (!err) end_flush(store);
    }
    if (!err) err = write_slot(&round);
    const bool is_skipped =
        BUG(ack_early) || (BUG(lazy_large_one_flush) && store->durability == DURABLE_LAZY);
    if (!err && round.is_flushed && !is_skipped) err = bw_group_flush(store);
    if (!err && round.is_flushed) end_flush(store);
    if (!err) publish(&round);
    bw_group_free_staged(&round.staged);
    return err;
}

/* ---- who is the flusher ---- */

/* Under the store's mutex. */
static void become_flusher(struct store *store)
{
    while (store->is_flushing) bw_condition_wait(&store->flusher_gone, &store->mutex);
    store->is_flushing = true; // Z1
}

/* Under the store's mutex. */
static void retire(struct store *store)
{
    store->is_flushing = false;
    bw_condition_wake_all(&store->flusher_gone);
}

static bool is_poisoned(const struct store *store)
{
    return atomic_load(&store->session) == SESSION_POISONED;
}

static bw_err refuse_poisoned(void)
{
    return bw_fail(BW_ERR_STORE_MUST_SHUTDOWN,
                   "The store must be closed: an earlier write to its file failed");
}

static bool is_visible(const struct store *store, uint64_t txn_id)
{
    const struct snapshot *cur = atomic_load(&store->cur);
    return cur && cur->txn_id >= txn_id;
}

bw_err bw_group_finish(struct store *store, uint64_t txn_id)
{
    bw_err err = BW_OK;
    bw_mutex_lock(&store->mutex);
    while (!err && !is_visible(store, txn_id)) {
        if (is_poisoned(store)) {
            err = refuse_poisoned();
        } else if (store->is_flushing) {
            bw_condition_wait(&store->flusher_gone, &store->mutex);
        } else {
            store->is_flushing = true;
            bw_mutex_unlock(&store->mutex);
            err = run_round(store);
            bw_mutex_lock(&store->mutex);
            retire(store);
        }
    }
    bw_mutex_unlock(&store->mutex);
    return err;
}

/* The flusher's: everything staged gets its slot, and the newest slot becomes durable. */
static bw_err settle(struct store *store)
{
    struct writer *writer = store->writer;
    bw_err err = is_poisoned(store) ? refuse_poisoned() : run_round(store);
    if (err || writer->last == writer->durable) return err;
    bw_mutex_lock(&store->mutex);
    begin_flush(writer);
    bw_mutex_unlock(&store->mutex);
    err = bw_group_flush(store);
    if (!err) end_flush(store);
    return err;
}

bw_err bw_group_settle(struct store *store)
{
    bw_mutex_lock(&store->mutex);
    become_flusher(store);
    bw_mutex_unlock(&store->mutex);
    bw_err err = settle(store);
    bw_mutex_lock(&store->mutex);
    retire(store);
    bw_mutex_unlock(&store->mutex);
    return err;
}

/* ---- twins, closing ---- */

static bw_err write_twin(struct store *store)
{
    const struct writer *writer = store->writer;
    const uint64_t at = (uint64_t)writer->slot * PAGE_SIZE;
    uint8_t image[PAGE_SIZE];
    struct slot slot;
    size_t got = 0;
    bw_err err = store->disk->read(store->file, at, image, sizeof(image), &got);
    if (err) return err;
    if (got < sizeof(image) || bw_slot_decode(image, &slot) != SLOT_GOOD ||
        slot.checksum != writer->durable->checksum)
        return bw_fail(BW_ERR_FILE_CORRUPT, "A slot changed while the store was open: %s",
                       store->directory);
    bw_slot_rename(image, slot.txn_id, slot.txn_id);
    struct span span = {.data = image, .size = sizeof(image)};
    const uint64_t to = (1u - writer->slot) * (uint64_t)PAGE_SIZE;
    err = store->disk->write(store->file, to, &span, 1);
    return err ? bw_group_poison(store, "writing the slot") : bw_group_flush(store);
}

static bw_err make_twin(struct store *store)
{
    struct writer *writer = store->writer;
    bw_err err = settle(store);
    if (err || !writer->previous) return err; // nothing is kept for the other slot
    err = write_twin(store);
    if (err) return err;
    bw_mutex_lock(&store->mutex);
    bw_free(writer->previous);
    writer->previous = NULL;
    writer->is_sealed = false;
    bw_mutex_unlock(&store->mutex);
    return BW_OK;
}

bw_err bw_group_twin(struct store *store)
{
    bw_mutex_lock(&store->mutex);
    become_flusher(store);
    bw_mutex_unlock(&store->mutex);
    bw_err err = make_twin(store);
    bw_mutex_lock(&store->mutex);
    retire(store);
    bw_mutex_unlock(&store->mutex);
    return err;
}

/* R20: vouch for the durable slot in the last sector of the other one. */
static void seal(struct store *store)
{
    enum { SECTOR = PAGE_SIZE - SLOT_AT_SEAL };
    struct writer *writer = store->writer;
    uint8_t sector[SECTOR] = {0};
    const bool is_early = BUG(seal_early) && writer->last != writer->durable;
    const struct mark *sealed = is_early ? writer->last : writer->durable;
    bw_put_u64(sector, sealed->checksum);
    bw_put_u64(sector + 8, sealed->txn_id);
    struct span span = {.data = sector, .size = sizeof(sector)};
    const unsigned other = is_early ? writer->slot : 1u - writer->slot;
    const uint64_t at = other * (uint64_t)PAGE_SIZE + SLOT_AT_SEAL;
    writer->is_sealed = store->disk->write(store->file, at, &span, 1) == BW_OK;
}

void bw_group_close(struct store *store)
{
    const struct writer *writer = store->writer;
    if (atomic_load(&store->session) != SESSION_READY || !writer || !writer->durable) return;
    bw_pins_trim(store, true);
    const bool is_durable = writer->last == writer->durable || BUG(seal_early);
    if (is_durable && !writer->is_sealed && store->durability != DURABLE_NONE) seal(store);
}
