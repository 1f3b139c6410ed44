/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proof of a whole store: everything that a transaction can reach is there once, is as it should
 * be, and is exactly what the allocation state calls used (R10).
 *
 * Trees are walked by tree_check.c, which calls back for each extent. The allocation state of a
 * write transaction is the writer's; that of a snapshot lies in its slot, and is not compared when
 * commits have overwritten that slot since. Nothing that the engine remembers as verified is
 * believed: every checksum is made again.
 *
 * Not here: whether values mean anything to the layers above.
 */
#include "store/slot.h"

#include "store/tree_check.h"

struct proof {
    struct txn *txn;
    struct check_report *report;
    uint64_t *reached;               /* owned: a bit a page */
    uint32_t end;                    /* pages that may be reached lie below it */
    const struct progress *progress; /* borrowed, may be NULL */
    uint64_t total, next_progress;   /* pages */
    const struct tree_block
        *known; /* borrowed: trees the transaction had before; newer ones come in front */
};

static bool is_marked(const uint64_t *bits, uint32_t page)
{
    return bits[page / 64] >> page % 64 & 1;
}
static void mark(uint64_t *bits, uint32_t page) { bits[page / 64] |= (uint64_t)1 << page % 64; }

static size_t bits_size(uint32_t pages) { return ((size_t)pages / 64 + 1) * sizeof(uint64_t); }

/* What cannot be read is a problem to report; a lack of memory or a failing disk is an error. */
static bw_err read_failed(struct proof *proof, page_no page, bw_err err)
{
    if (err == BW_ERR_NO_MEMORY || err == BW_ERR_IO) return err;
    bw_check_report_add(proof->report, page, "%s", bw_reason_text());
    return BW_OK;
}

/* ---- extents ---- */

static void check_checksum(struct proof *proof, page_no page, uint32_t pages)
{
    struct store *store = proof->txn->store;
    const uint8_t *bytes = NULL;
    if (proof->txn->changes && bw_page_owned(proof->txn, page)) return; // summed at the commit
    if (page % WINDOW_PAGES + pages > WINDOW_PAGES)
        bw_check_report_add(proof->report, page, "page %u: its extent crosses a window", page);
    else if (!bw_pager_view(store, page, pages, &bytes) && !bw_page_fits(bytes, pages, store->salt))
        bw_check_report_add(proof->report, page, "page %u: its checksum does not fit", page);
}

/* Tell how far it is, now and then; more may be reachable than the snapshot says. */
static bw_err advance(struct proof *proof)
{
    enum { PAGES_A_REPORT = 256 };
    const uint64_t done = proof->report->pages;
    if (done < proof->next_progress) return BW_OK;
    proof->next_progress = done + PAGES_A_REPORT;
    return bw_progress_report(proof->progress, done < proof->total ? done : proof->total,
                              proof->total);
}

static bw_err visit(void *context, const struct met_extent *extent, bool *out_enters)
{
    struct proof *proof = context;
    const page_no page = extent->page;
    *out_enters = false;
    if (page < SLOT_COUNT || !extent->pages || (uint64_t)page + extent->pages > proof->end) {
        bw_check_report_add(proof->report, page, "page %u: reachable, but outside of the store",
                            page);
        return BW_OK;
    }
    bool is_first = true;
    for (page_no each = page; each < page + extent->pages; each++) {
        if (is_marked(proof->reached, each)) is_first = false;
        mark(proof->reached, each);
    }
    *out_enters = is_first;
    if (!is_first) bw_check_report_add(proof->report, page, "page %u: reachable twice", page);
    if (!is_first || !extent->born) return BW_OK;
    check_checksum(proof, page, extent->pages);
    return advance(proof);
}

/* ---- trees ---- */

static bw_err check_tree(struct proof *proof, uint32_t tree_id)
{
    struct tree *tree = NULL;
    const uint64_t keys = proof->report->keys;
    bw_err err = bw_txn_tree(proof->txn, tree_id, &tree);
    if (err) return read_failed(proof, 0, err);
    if (!tree) return BW_OK; // dropped by this transaction
    const struct tree_visitor visitor = {.visit = visit, .context = proof};
    if (tree->kind != TREE_OBJECTS)
        bw_check_report_add(proof->report, 0, "tree %u: of an unknown kind", tree_id);
    err = bw_tree_check(proof->txn, tree, visitor, proof->report);
    if (tree_id == TREE_CATALOG) proof->report->keys = keys; // those of the layers above count
    else proof->report->trees++;
    return err;
}

static bool is_known(const struct proof *proof, uint32_t tree_id)
{
    for (const struct tree_block *block = proof->known; block; block = block->next)
        if (block->tree.id == tree_id) return true;
    return false;
}

static bw_err check_known(struct proof *proof)
{
    bw_err err = BW_OK;
    for (const struct tree_block *block = proof->known; block && !err; block = block->next)
        err = check_tree(proof, block->tree.id);
    return err;
}

/* Those whose entries lie in the slot. */
static bw_err check_inline(struct proof *proof, const struct snapshot *snapshot)
{
    bw_err err = BW_OK;
    for (uint16_t i = 0; i < snapshot->tree_count && !err; i++) {
        const uint32_t id = snapshot->trees[i].id;
        if (!id || (i && id <= snapshot->trees[i - 1].id)) // C1
            bw_check_report_add(proof->report, 0, "tree %u: its entry is out of order", id);
        else if ((id == TREE_CATALOG) != snapshot->has_catalog || id == TREE_SCHEMA)
            bw_check_report_add(proof->report, 0, "tree %u: its entry lies in the wrong place", id);
        else if (!is_known(proof, id)) err = check_tree(proof, id);
    }
    return err;
}

/* Those whose entries lie in the catalogue tree. */
static bw_err check_catalog(struct proof *proof)
{
    struct cursor cursor;
    bw_cursor_init(&cursor, proof->txn, TREE_CATALOG);
    for (;;) {
        bool found = false;
        bw_err err = bw_cursor_next(&cursor, &found);
        if (err) return read_failed(proof, 0, err);
        if (!found) return BW_OK;
        const bool is_sound = cursor.key < TREE_SCHEMA && cursor.value.size == TREE_ENTRY_SIZE &&
                              bw_get_u32(cursor.value.data) == cursor.key;
        if (!is_sound)
            bw_check_report_add(proof->report, 0, "the catalogue's entry %llu is damaged",
                                (unsigned long long)cursor.key);
        else if (!is_known(proof, (uint32_t)cursor.key))
            err = check_tree(proof, (uint32_t)cursor.key);
        if (err) return err;
    }
}

/* The schema that the snapshot has; a new one gets its pages when its transaction commits. */
static bw_err check_schema(struct proof *proof, const struct snapshot *snapshot)
{
    if (!snapshot->schema_page) return BW_OK;
    const uint8_t *extent = NULL;
    const uint32_t pages =
        (uint32_t)(((uint64_t)snapshot->schema_size + PAGE_HEADER_SIZE + PAGE_SIZE - 1) /
                   PAGE_SIZE);
    bw_err err =
        bw_page_read_overflow(proof->txn, snapshot->schema_page, pages, TREE_SCHEMA, &extent);
    const struct met_extent met = {snapshot->schema_page, pages, err ? 0 : bw_page_born(extent)};
    bool is_first = true;
    const bw_err ended = visit(proof, &met, &is_first);
    if (ended) return ended;
    proof->report->pages += pages;
    proof->report->overflow_pages += pages;
    if (err) return read_failed(proof, met.page, err);
    if (bw_page_born(extent) > snapshot->txn_id)
        bw_check_report_add(proof->report, snapshot->schema_page,
                            "page %u: is younger than what refers to it", snapshot->schema_page);
    return BW_OK;
}

/* ---- the allocation state ---- */

static void compare(struct proof *proof, page_no page, bool is_used)
{
    const bool is_reached = page < SLOT_COUNT || is_marked(proof->reached, page);
    if (is_reached == is_used) return;
    bw_check_report_add(
        proof->report, page,
        is_used ? "page %u: used, but not reachable" : "page %u: reachable, but called free", page);
}

/* What the writer believes, in the middle of a transaction. */
static void check_space(struct proof *proof)
{
    const struct space *space = &proof->txn->store->writer->space;
    for (page_no page = 0; page < proof->end; page++) {
        const bool is_used = bw_space_is_used(space, page);
        compare(proof, page, is_used);
        if (is_used && bw_space_is_reserved(space->geometry, page))
            bw_check_report_add(proof->report, page, "page %u: lies where a bitmap belongs", page);
        if (is_used && !is_marked(space->busy, page)) // S2
            bw_check_report_add(proof->report, page, "page %u: used, but may be given out", page);
    }
}

static bw_err read_slots(struct store *store, uint8_t image[SLOT_COUNT * PAGE_SIZE])
{
    size_t got = 0;
    bw_err err = store->disk->read(store->file, 0, image, SLOT_COUNT * PAGE_SIZE, &got);
    if (!err) memset(image + got, 0, SLOT_COUNT * PAGE_SIZE - got);
    return err;
}

/* The slot of the transaction's snapshot. False: there is none any more. */
static bool find_slot(const struct proof *proof, const uint8_t *image, struct slot *out_slot)
{
    for (int i = 0; i < SLOT_COUNT; i++)
        if (bw_slot_decode(image + (size_t)i * PAGE_SIZE, out_slot) == SLOT_GOOD &&
            out_slot->txn_id == proof->txn->snapshot->txn_id)
            return true;
    return false;
}

static void check_inline_bits(struct proof *proof, const struct slot *slot)
{
    for (uint32_t page = 0; page < bw_slot_bits_size(slot->hwm, 0) * 8; page++) {
        const bool is_used = slot->bits[page / 8] >> page % 8 & 1;
        if (page < slot->hwm) compare(proof, page, is_used);
        else if (is_used)
            bw_check_report_add(proof->report, page, "page %u: used, but beyond the end", page);
    }
}

/* The bits of one region, from the copy that the slot selects. */
static bw_err check_region(struct proof *proof, const struct slot *slot, uint32_t region)
{
    struct store *store = proof->txn->store;
    const struct geometry *geometry = store->geometry;
    uint8_t page[PAGE_SIZE];
    size_t got = 0;
    const uint32_t copy = (uint32_t)slot->bits[region / 4] >> region % 4 * 2 & 3;
    const page_no number = bw_space_region_start(geometry, region) + copy;
    bw_err err =
        store->disk->read(store->file, (uint64_t)number * PAGE_SIZE, page, sizeof(page), &got);
    if (err) return err;
    if (got < sizeof(page) || !bw_page_fits(page, 1, store->salt) ||
        bw_get_u32(page + PAGE_AT_NUMBER) != number || page[PAGE_AT_KIND] != PAGE_BITMAP ||
        bw_get_u32(page + PAGE_AT_TREE) != region || bw_page_born(page) > slot->txn_id) {
        bw_check_report_add(proof->report, number, "page %u: damaged map of free pages", number);
        return BW_OK;
    }
    for (uint32_t i = 0; i < geometry->region_pages; i++) {
        const page_no each = region * geometry->region_pages + i;
        const bool is_used = page[PAGE_HEADER_SIZE + i / 8] >> i % 8 & 1;
        if (bw_space_is_reserved(geometry, each)) {
            if (!is_used || (each < proof->end && is_marked(proof->reached, each)))
                bw_check_report_add(proof->report, each, "page %u: a bitmap's place is not kept",
                                    each);
        } else if (each < slot->hwm) {
            compare(proof, each, is_used);
        } else if (is_used) {
            bw_check_report_add(proof->report, each, "page %u: used, but beyond the end", each);
        }
    }
    return BW_OK;
}

/* False: it has no map of these pages. */
static bool check_slot(struct proof *proof, const struct slot *slot)
{
    const struct store *store = proof->txn->store;
    const struct geometry *geometry = store->geometry;
    const struct snapshot *snapshot = proof->txn->snapshot;
    const uint32_t regions =
        slot->hwm > geometry->inline_pages ? (slot->hwm - 1) / geometry->region_pages + 1 : 0;
    if (memcmp(slot->uuid, store->uuid, sizeof(store->uuid)) != 0)
        bw_check_report_add(proof->report, 0, "its slot is that of another store");
    if (slot->hwm != snapshot->hwm || slot->region_count != regions)
        bw_check_report_add(proof->report, 0, "its slot tells another size");
    proof->report->pages += (uint64_t)slot->region_count * geometry->bitmap_copies;
    return slot->region_count == regions;
}

/* What the slot says of the snapshot's pages, as long as the slot is there. */
static bw_err check_snapshot_bits(struct proof *proof)
{
    struct store *store = proof->txn->store;
    uint8_t image[SLOT_COUNT * PAGE_SIZE], again[SLOT_COUNT * PAGE_SIZE];
    struct slot slot, later;
    bw_err err = read_slots(store, image);
    if (err || !find_slot(proof, image, &slot)) return err;
    const struct check_report before = *proof->report;
    const bool has_map = check_slot(proof, &slot);
    if (has_map && !slot.region_count) check_inline_bits(proof, &slot);
    for (uint32_t region = 0; has_map && region < slot.region_count && !err; region++)
        err = check_region(proof, &slot, region);
    if (err) return err;
    const uint32_t count = proof->txn->snapshot->used_pages;
    if (count && count != proof->report->pages)
        bw_check_report_add(proof->report, 0, "its count of used pages is wrong");
    err = read_slots(store, again); // commits may have gone on meanwhile
    if (!err && !find_slot(proof, again, &later)) *proof->report = before;
    return err;
}

static bw_err check_file(struct proof *proof)
{
    struct store *store = proof->txn->store;
    struct file_info info = {0};
    bw_err err = store->disk->info(store->file, &info);
    if (!err && info.size < (uint64_t)proof->txn->snapshot->hwm * PAGE_SIZE)
        bw_check_report_add(proof->report, 0, "the file is shorter than its newest commit");
    return err;
}

/* ---- all of it ---- */

static uint32_t end_of(const struct txn *txn)
{
    const uint32_t hwm = txn->snapshot ? txn->snapshot->hwm : 0;
    const uint32_t now = txn->changes ? bw_space_hwm(&txn->store->writer->space) : 0;
    return hwm > now ? hwm : now;
}

static bw_err prove(struct proof *proof)
{
    const struct txn *txn = proof->txn;
    bw_err err = check_known(proof);
    if (!err && txn->snapshot) err = check_inline(proof, txn->snapshot);
    if (!err && txn->snapshot && txn->snapshot->has_catalog) err = check_catalog(proof);
    if (!err && txn->snapshot) err = check_schema(proof, txn->snapshot);
    if (!err && txn->snapshot) err = check_file(proof);
    if (err) return err;
    if (txn->changes) check_space(proof);
    else err = check_snapshot_bits(proof);
    return err;
}

bw_err bw_store_check(struct txn *txn, const struct progress *progress,
                      struct check_report *out_report)
{
    struct check_report report = {.pages = SLOT_COUNT};
    struct proof proof = {.txn = txn,
                          .report = &report,
                          .end = end_of(txn),
                          .progress = progress,
                          .known = txn->trees};
    const uint32_t used = txn->snapshot ? txn->snapshot->used_pages : 0;
    proof.total = used ? used : proof.end;
    bw_err err = BW_OK;
    if (proof.end) { // or it is a store without a commit
        proof.reached = bw_new(bits_size(proof.end));
        if (!proof.reached) return bw_fail(BW_ERR_NO_MEMORY, "Out of memory: checking a store");
        err = prove(&proof);
        bw_free(proof.reached);
    } else {
        report.pages = 0;
    }
    if (!err) err = bw_progress_report(progress, proof.total, proof.total);
    report.pages_are_sound = report.problems == 0;
    if (!err) *out_report = report;
    return err;
}
