/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recovery: choosing the slot to open, and what has to happen before the first write afterwards.
 *
 * Choosing writes nothing (R13). An unsealed slot is taken only if all that its manifest names is
 * there; if not, the other one, provided that the rejected one was built on it (R14). The fence
 * (R15) makes the chosen snapshot durable whatever became of the process that wrote it; the twin
 * (R16) overwrites a newer slot that was rejected, so that it can never come back.
 *
 * Invariants:
 *   V1  Nothing is written before the fence; between its steps the same bytes are written again.
 *   V2  After the fence cur is durable and no valid slot is newer than it.
 */
#include "store/slot.h"

#include <string.h>

/* Both slots as they are on disk, zeros where the file ends. */
struct slots {
    uint8_t image[SLOT_COUNT][PAGE_SIZE];
    struct slot slot[SLOT_COUNT];
    enum slot_problem problem[SLOT_COUNT];
};

static bw_err read_slots(struct store *store, struct slots *slots)
{
    size_t got = 0;
    bw_err err = store->disk->read(store->file, 0, slots->image, sizeof(slots->image), &got);
    if (err) return err;
    memset((uint8_t *)slots->image + got, 0, sizeof(slots->image) - got);
    for (int i = 0; i < SLOT_COUNT; i++)
        slots->problem[i] = bw_slot_decode(slots->image[i], &slots->slot[i]);
    return BW_OK;
}

/* ---- choosing ---- */

static bw_err refuse(struct store *store, const char *why)
{
    return bw_fail(BW_ERR_FILE_CORRUPT, "The database file is damaged: %s: %s/data.mdb", why,
                   store->directory);
}

/* LMDB's first page begins with its number, eight zeros. */
static bool is_lmdb(const struct slots *slots)
{
    enum { LMDB_AT_MAGIC = 16 };
    return bw_get_u32(slots->image[0] + LMDB_AT_MAGIC) == 0xbeefc0deu &&
           slots->problem[0] != SLOT_GOOD && slots->problem[1] != SLOT_GOOD;
}

static bw_err refuse_lmdb(const struct store *store)
{
    return bw_fail(BW_ERR_STORAGE_GENERAL,
                   "Not a database file of this library but an LMDB file, as ObjectBox makes "
                   "them; it is left as it is, and an import will read it: %s/data.mdb",
                   store->directory);
}

static bw_err refuse_foreign(const struct store *store)
{
    return bw_fail(BW_ERR_FILE_CORRUPT,
                   "Not a database file (it begins with other bytes): %s/data.mdb",
                   store->directory);
}

static bw_err refuse_newer(const struct store *store)
{
    return bw_fail(BW_ERR_STORAGE_GENERAL,
                   "The database file was written by a newer version: %s/data.mdb",
                   store->directory);
}

static bool is_within_file(const struct store *store, const struct slot *slot)
{
    return slot->hwm <= store->file_pages;
}

/* Is the slot vouched for, or is all there that its manifest names (R13)? */
static bw_err is_acceptable(struct store *store, const struct slots *slots, int index,
                            bool *out_accepted)
{
    const struct slot *slot = &slots->slot[index];
    bool sealed = bw_slot_is_sealed(slot, slots->image[1 - index]);
    if (sealed && !is_within_file(store, slot))
        return refuse(store, "it is shorter than when it was closed");
    *out_accepted = true;
    if ((sealed && !store->verify_manifest) || BUG(no_verify)) return BW_OK;
    *out_accepted = is_within_file(store, slot);
    if (!*out_accepted) return BW_OK;
    struct run_check check = {.file = store->file,
                              .salt = bw_get_u64(slot->uuid),
                              .headers_only = BUG(page_checksum_only)};
    return bw_manifest_check(&check, slot->runs, slot->run_count, out_accepted);
}

/* The pages that a bitmap in the slot calls used; those of regions are not read for that. */
static uint32_t count_used(const struct slot *slot)
{
    uint32_t count = 0;
    for (size_t at = 0; !slot->region_count && at < bw_slot_bits_size(slot->hwm, 0); at += 8)
        count += (uint32_t)__builtin_popcountll(bw_get_u64(slot->bits + at));
    return count;
}

static bw_err snapshot_of(const struct slot *slot, struct snapshot **out_snapshot)
{
    uint32_t inline_size = slot->schema_page ? 0 : slot->schema_size;
    bw_err err = bw_snapshot_new(slot->tree_count, inline_size, out_snapshot);
    if (err) return err;
    struct snapshot *snapshot = *out_snapshot;
    snapshot->txn_id = slot->txn_id;
    snapshot->hwm = slot->hwm;
    snapshot->used_pages = count_used(slot);
    memcpy(snapshot->schema_hash, slot->schema_hash, 16);
    snapshot->schema_size = slot->schema_size;
    snapshot->schema_page = slot->schema_page;
    snapshot->has_catalog = slot->has_catalog;
    if (inline_size)
        memcpy((uint8_t *)snapshot->trees + slot->tree_count * sizeof(struct tree_entry),
               slot->schema, inline_size);
    for (uint16_t i = 0; i < slot->tree_count; i++)
        bw_catalog_decode(slot->trees + (size_t)i * TREE_ENTRY_SIZE, &snapshot->trees[i]);
    return BW_OK;
}

/* Did the damaged image carry a later transaction than the chosen one? Only for the record. */
static bool looks_newer(const uint8_t *image, uint64_t txn_id)
{
    return memcmp(image, bw_slot_magic, sizeof(bw_slot_magic)) == 0 &&
           bw_get_u64(image + SLOT_AT_TXN) > txn_id;
}

static bw_err take_slot(struct store *store, const struct slots *slots, int index)
{
    const struct slot *slot = &slots->slot[index];
    bw_err err = snapshot_of(slot, &store->head);
    if (err) return err;
    atomic_store(&store->cur, store->head);
    memcpy(store->uuid, slot->uuid, sizeof(store->uuid));
    store->salt = bw_get_u64(slot->uuid);
    store->chosen_slot = (uint8_t)index;
    store->chosen_sealed = bw_slot_is_sealed(slot, slots->image[1 - index]);
    store->highest_txn = slot->txn_id;
    bool other_is_good = slots->problem[1 - index] == SLOT_GOOD;
    store->newer_rejected = other_is_good && slots->slot[1 - index].txn_id > slot->txn_id;
    if (store->newer_rejected) store->highest_txn = slots->slot[1 - index].txn_id;
    store->opened_older = !store->opened_previous &&
                          (store->newer_rejected ||
                           (!other_is_good && looks_newer(slots->image[1 - index], slot->txn_id)));
    return BW_OK;
}

/* Choose among the good slots; *out_index -1: none is acceptable. */
static bw_err choose_good(struct store *store, const struct slots *slots, bool use_previous,
                          int *out_index)
{
    bool good[SLOT_COUNT] = {slots->problem[0] == SLOT_GOOD, slots->problem[1] == SLOT_GOOD};
    *out_index = -1;
    if (!good[0] && !good[1]) return BW_OK;
    int newest = good[0] && (!good[1] || slots->slot[0].txn_id > slots->slot[1].txn_id) ? 0 : 1;
    int older = 1 - newest;
    bool takes_newest = false, takes_older = false;
    if (good[older] && memcmp(slots->slot[0].uuid, slots->slot[1].uuid, 16) != 0)
        return refuse(store, "its two slots are of different stores");
    bw_err err = is_acceptable(store, slots, newest, &takes_newest);
    if (!err && good[older] && (use_previous || !takes_newest))
        err = is_acceptable(store, slots, older, &takes_older);
    if (err) return err;
    if (takes_newest && !(use_previous && takes_older)) {
        *out_index = newest;
    } else if (takes_older) {
        const struct slot *rejected = &slots->slot[newest], *taken = &slots->slot[older];
        const bool is_same = rejected->txn_id == taken->txn_id; // R22
        if (!takes_newest && !is_same && rejected->base != taken->txn_id && !BUG(no_base))
            return refuse(store, "a commit that was durable is missing"); // R14
        store->opened_previous = takes_newest && !is_same;
        *out_index = older;
    }
    return BW_OK;
}

bw_err bw_recover_choose(struct store *store, bool use_previous, bool *out_is_new)
{
    struct slots slots;
    int index = -1;
    *out_is_new = store->opened_size == 0;
    if (*out_is_new) return BW_OK;
    bw_err err = read_slots(store, &slots);
    if (err) return err;
    for (int i = 0; i < SLOT_COUNT; i++) // its other slot may be ours, and older
        if (slots.problem[i] == SLOT_TOO_NEW) return refuse_newer(store);
    err = choose_good(store, &slots, use_previous, &index);
    if (err) return err;
    if (index >= 0) return take_slot(store, &slots, index);
    if (is_lmdb(&slots)) return refuse_lmdb(store);
    if (slots.problem[0] == SLOT_FOREIGN) return refuse_foreign(store);
    bool unfinished = false;
    err = bw_recover_is_unfinished(store, &unfinished);
    if (!err && !unfinished) return refuse(store, "neither of its slots can be used");
    *out_is_new = !err;
    return err;
}

/* ---- unfinished creations ---- */

static bool is_zero(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (bytes[i]) return false;
    return true;
}

/* Has any page a header that only a commit after the first can have written? Judged by the header
 * alone: without a good slot the salt of the checksums may be lost. */
static bw_err has_later_page(struct store *store, bool *out_has)
{
    enum { PIECE_PAGES = 16 };
    *out_has = false;
    uint8_t *piece = bw_new_raw(PIECE_PAGES * PAGE_SIZE);
    if (!piece) return bw_fail(BW_ERR_NO_MEMORY, "Out of memory: looking through the file");
    bw_err err = BW_OK;
    for (uint64_t page = SLOT_COUNT; page < store->file_pages && !err && !*out_has;) {
        size_t got = 0;
        err =
            store->disk->read(store->file, page * PAGE_SIZE, piece, PIECE_PAGES * PAGE_SIZE, &got);
        size_t pages = err ? 0 : got / PAGE_SIZE;
        for (size_t i = 0; i < pages; i++) {
            const uint8_t *header = piece + i * PAGE_SIZE;
            if (bw_get_u32(header + PAGE_AT_NUMBER) == page + i && bw_page_born(header) > 1 &&
                header[PAGE_AT_KIND] >= PAGE_BRANCH && header[PAGE_AT_KIND] <= PAGE_BITMAP)
                *out_has = true;
        }
        if (!pages) break;
        page += pages;
    }
    bw_free(piece);
    return err;
}

bw_err bw_recover_is_unfinished(struct store *store, bool *out_is)
{
    enum { SECTOR = 512 };
    struct slots slots;
    bool has_later = false;
    *out_is = false;
    bw_err err = read_slots(store, &slots);
    if (BUG(creation_corrupt)) return err;
    if (err || !is_zero(slots.image[1], PAGE_SIZE)) return err; // a second commit, or a seal
    *out_is = BUG(creation_too_eager);
    if (*out_is || store->file_pages < SLOT_COUNT + 1) return BW_OK; // the size is set first
    const uint8_t *first = slots.image[0];
    bool is_ours = memcmp(first, bw_slot_magic, sizeof(bw_slot_magic)) == 0 &&
                   bw_get_u64(first + SLOT_AT_TXN) == 1 &&
                   bw_get_u32(first + SLOT_AT_HWM) <= store->file_pages;
    if (!is_ours && !is_zero(first, SECTOR) && !BUG(creation_foreign)) return BW_OK;
    err = has_later_page(store, &has_later);
    *out_is = !err && (!has_later || BUG(creation_no_scan));
    return err;
}

/* ---- fence and twin ---- */

static bw_err load_region(struct store *store, struct space *space, uint32_t region, unsigned copy)
{
    uint8_t page[PAGE_SIZE];
    const struct geometry *geometry = store->geometry;
    page_no number = bw_space_region_start(geometry, region) + copy;
    size_t got = 0;
    bw_err err =
        store->disk->read(store->file, (uint64_t)number * PAGE_SIZE, page, sizeof(page), &got);
    if (err) return err;
    uint64_t sum = 0;
    bw_page_sums(page, 1, store->salt, &sum);
    if (got < sizeof(page) || bw_get_u32(page + PAGE_AT_NUMBER) != number ||
        page[PAGE_AT_KIND] != PAGE_BITMAP || bw_get_u32(page + PAGE_AT_TREE) != region ||
        bw_page_checksum(&sum, 1, store->salt) != bw_get_u64(page))
        return bw_fail(BW_ERR_FILE_PAGES_CORRUPT,
                       "Page %u of the file is damaged: map of free pages", number);
    page_no first = region * geometry->region_pages;
    err = bw_space_cover(space, first + geometry->region_pages);
    for (uint32_t i = 0; i < geometry->region_pages && !err; i++)
        if ((page[PAGE_HEADER_SIZE + i / 8] >> i % 8 & 1) &&
            !bw_space_is_reserved(geometry, first + i))
            bw_space_set_used(space, first + i);
    return err;
}

static bw_err mark_of(const struct slot *slot, struct mark **out_mark)
{
    struct mark *mark = bw_new(sizeof(*mark) + slot->region_count);
    if (!mark) return bw_fail(BW_ERR_NO_MEMORY, "Out of memory: map of free pages");
    mark->txn_id = slot->txn_id;
    mark->checksum = slot->checksum;
    mark->hwm = slot->hwm;
    mark->region_count = slot->region_count;
    for (uint32_t region = 0; region < slot->region_count; region++)
        mark->selectors[region] = slot->bits[region / 4] >> region % 4 * 2 & 3;
    *out_mark = mark;
    return BW_OK;
}

/* The pages a slot calls used, into a space that has none yet. */
static bw_err load_space(struct store *store, const struct slot *slot, const struct mark *mark,
                         struct space *space)
{
    bw_err err = bw_space_init(space, store->geometry);
    if (!err && !slot->region_count) err = bw_space_cover(space, slot->hwm);
    for (uint32_t page = SLOT_COUNT; !slot->region_count && page < slot->hwm && !err; page++)
        if (slot->bits[page / 8] >> page % 8 & 1) bw_space_set_used(space, page);
    for (uint32_t region = 0; region < slot->region_count && !err; region++)
        err = load_region(store, space, region, mark->selectors[region]);
    return err;
}

/* R9: what the slot before the chosen one reaches and the chosen one does not, waits for it. */
static bw_err load_previous(struct store *store, struct writer *writer, const struct slot *previous)
{
    struct space space = {0};
    bw_err err = mark_of(previous, &writer->previous);
    if (!err) err = load_space(store, previous, writer->previous, &space);
    if (err == BW_ERR_FILE_PAGES_CORRUPT) { // it can never be opened again: nothing to keep for it
        bw_free(writer->previous);
        writer->previous = NULL;
        bw_space_deinit(&space);
        return BW_OK;
    }
    const uint64_t now = writer->durable->txn_id;
    for (uint32_t page = SLOT_COUNT; page < space.room && !err; page++)
        if (bw_space_is_used(&space, page) && !bw_space_is_used(&writer->space, page))
            err = bw_space_add_pending(&writer->space,
                                       (struct page_run){.page = page, .pages = 1, .freed = now});
    bw_space_deinit(&space);
    return err;
}

/* R15: write again what may exist in the page cache only, or be marked clean by a failed flush. */
static bw_err make_durable(struct store *store, struct writer *writer, const struct slots *slots)
{
    unsigned index = store->chosen_slot;
    const struct slot *slot = &slots->slot[index];
    struct run_check check = {.file = store->file, .salt = store->salt, .read = &writer->before};
    bool matches = false;
    bw_err err = bw_manifest_check(&check, slot->runs, slot->run_count, &matches);
    if (!err && !matches) err = bw_fail(BW_ERR_FILE_CORRUPT, "The file changed while it was open");
    if (!err && !BUG(fence_no_rewrite))
        err = bw_manifest_rewrite(store->file, slot->runs, slot->run_count);
    struct span span = {.data = slots->image[index], .size = PAGE_SIZE};
    if (!err && !BUG(fence_keeps_slot))
        err = store->disk->write(store->file, (uint64_t)index * PAGE_SIZE, &span, 1); // V1
    if (err == BW_ERR_NO_MEMORY) return err; // the same bytes may be written again another time
    if (err) return bw_group_poison(store, "making the newest commit durable");
    store->names_dirty = store->made_directory = !BUG(fence_no_dirsync);
    return bw_group_flush(store);
}

/* R16: the chosen snapshot once more, over the newer slot that was rejected, under a higher number.
 * */
static bw_err write_twin(struct store *store, struct writer *writer, const struct slots *slots)
{
    const struct slot *slot = &slots->slot[store->chosen_slot];
    struct slot twin;
    uint8_t image[PAGE_SIZE];
    memcpy(image, slots->image[store->chosen_slot], sizeof(image));
    bw_slot_rename(image, store->highest_txn + 1, slot->txn_id);
    struct snapshot *snapshot = NULL;
    struct mark *mark = NULL;
    if (bw_slot_decode(image, &twin) != SLOT_GOOD)
        return refuse(store, "a slot changed while it was open");
    bw_err err = mark_of(&twin, &mark);
    if (!err) err = snapshot_of(&twin, &snapshot);
    if (!err) {
        unsigned target = 1u - store->chosen_slot;
        struct span span = {.data = image, .size = sizeof(image)};
        err = store->disk->write(store->file, (uint64_t)target * PAGE_SIZE, &span, 1);
        err = err ? bw_group_poison(store, "writing the slot") : bw_group_flush(store);
    }
    if (err) {
        bw_free(mark);
        bw_free(snapshot);
        return err;
    }
    writer->previous = writer->durable;
    writer->durable = writer->last = mark;
    writer->slot = 1u - store->chosen_slot;
    writer->is_sealed = false;
    store->highest_txn = twin.txn_id;
    bw_mutex_lock(&store->mutex);
    snapshot->older = store->head;
    store->head = snapshot;
    atomic_store(&store->cur, snapshot);
    bw_snapshot_prune(store);
    bw_mutex_unlock(&store->mutex);
    return BW_OK; // V2
}

/* The schema's extent is kept by commits that do not look at it. */
static bw_err check_schema_pages(const struct space *space, const struct slot *slot)
{
    const uint32_t pages = (slot->schema_size + PAGE_HEADER_SIZE + PAGE_SIZE - 1) / PAGE_SIZE;
    if (bw_space_are_kept(space, slot->schema_page, pages)) return BW_OK;
    return bw_fail(BW_ERR_FILE_PAGES_CORRUPT,
                   "Page %u of the file is damaged: the schema has it, but it is called free",
                   slot->schema_page);
}

static bw_err fence_store(struct store *store, struct writer *writer)
{
    struct slots slots;
    unsigned index = store->chosen_slot;
    bw_err err = read_slots(store, &slots);
    if (err) return err;
    const struct slot *slot = &slots.slot[index], *other = &slots.slot[1 - index];
    if (slots.problem[index] != SLOT_GOOD || slot->txn_id != store->head->txn_id)
        return refuse(store, "a slot changed while it was open");
    writer->slot = index;
    writer->is_sealed = store->chosen_sealed;
    const char *why = bw_slot_contradiction(slot, store->geometry);
    if (!why && store->newer_rejected) why = bw_slot_contradiction(other, store->geometry);
    if (why) return bw_fail(BW_ERR_FILE_PAGES_CORRUPT, "The database file is damaged: %s", why);
    writer->region_count = slot->region_count;
    err = mark_of(slot, &writer->durable);
    writer->last = writer->durable;
    if (!err) err = load_space(store, slot, writer->durable, &writer->space);
    if (!err && slot->schema_page) err = check_schema_pages(&writer->space, slot);
    if (!err && !store->chosen_sealed && store->durability != DURABLE_NONE && !BUG(no_fence))
        err = make_durable(store, writer, &slots);
    if (err) return err;
    if (store->newer_rejected && !BUG(no_twin) && !BUG(no_fence))
        return write_twin(store, writer, &slots);
    if (slots.problem[1 - index] == SLOT_GOOD && other->txn_id < slot->txn_id &&
        is_within_file(store, other) && !BUG(previous_forgotten))
        err = load_previous(store, writer, other);
    return err;
}

void bw_recover_free_writer(struct writer *writer)
{
    if (!writer) return;
    bw_space_deinit(&writer->space);
    bw_manifest_deinit(&writer->recent);
    bw_manifest_deinit(&writer->flying);
    bw_manifest_deinit(&writer->before);
    bw_group_free_staged(&writer->staged);
    if (writer->last != writer->durable) bw_free(writer->last);
    bw_free(writer->durable);
    bw_free(writer->previous);
    bw_free(writer);
}

bw_err bw_recover_fence(struct store *store)
{
    struct writer *writer = bw_new(sizeof(*writer));
    if (!writer) return bw_fail(BW_ERR_NO_MEMORY, "Out of memory: a write transaction");
    bw_err err =
        store->head ? fence_store(store, writer) : bw_space_init(&writer->space, store->geometry);
    if (err) {
        bw_recover_free_writer(writer);
        return err;
    }
    store->writer = writer;
    atomic_store(&store->session, SESSION_READY);
    return BW_OK;
}
