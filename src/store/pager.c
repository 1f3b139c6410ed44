/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages of the file, read through windows of 64 MB, and pages of the running transaction.
 *
 * Invariants:
 *   G1  A window's address never changes while the store is open: bytes handed out stay where they
 *       are.
 *   G2  A page of the file is used only after its header was compared with the reference that led
 *       to it, and after its checksum fitted once since the store was opened, or this process wrote
 *       it.
 *   G3  An extent in `extents` with pages > 0 is owned: no snapshot can reach it yet.
 *   G4  A page is never younger than the snapshot that reaches it. So whoever holds an old one does
 *       not take for its own what was written since to a page that the file calls free by mistake.
 *
 * A mark in `verified` never has to be taken back: a page becomes reachable only by a commit of
 * this process, which wrote what it had just summed.
 */
#include "store/engine.h"

/* ---- windows ---- */

/* The window if it is mapped, else NULL: marks are kept only where pages can be read. */
static inline struct window *mapped_window(struct store *store, page_no page)
{
    struct window *window = &store->first;
    if (UNLIKELY(page >= WINDOW_PAGES)) {
        const uint32_t index = page / WINDOW_PAGES;
        _Atomic(struct window *) *more = atomic_load_explicit(&store->more, memory_order_acquire);
        if (!more || index / WINDOWS_PER_BLOCK >= WINDOW_BLOCKS) return NULL;
        window = atomic_load_explicit(&more[index / WINDOWS_PER_BLOCK], memory_order_acquire);
        if (!window) return NULL;
        window += index % WINDOWS_PER_BLOCK;
    }
    return atomic_load_explicit(&window->base, memory_order_acquire) ? window : NULL;
}

static inline const uint8_t *bytes_of(const struct window *window, page_no page)
{
    return atomic_load_explicit(&window->base, memory_order_acquire) +
           (size_t)(page % WINDOW_PAGES) * PAGE_SIZE;
}

static bw_err make_window(struct store *store, struct window *window, uint64_t index)
{
    _Atomic(uint32_t) *verified = bw_new(WINDOW_PAGES / 8);
    if (!verified) return bw_fail(BW_ERR_NO_MEMORY, "Out of memory: mapping the file");
    const uint8_t *base = NULL;
    size_t size = (size_t)WINDOW_PAGES * PAGE_SIZE;
    bw_err err = store->disk->map(store->file, index * size, size, &base);
    if (err) {
        bw_free((void *)verified);
        return err;
    }
    window->verified = verified;
    atomic_store_explicit(&window->base, base, memory_order_release);
    return BW_OK;
}

/* The window's place in the two-level table, made when missing. */
static bw_err find_window(struct store *store, uint64_t index, struct window **out_window)
{
    if (index == 0) {
        *out_window = &store->first;
        return BW_OK;
    }
    uint64_t block = index / WINDOWS_PER_BLOCK;
    if (block >= WINDOW_BLOCKS)
        return bw_fail(BW_ERR_FILE_PAGES_CORRUPT, "Page beyond the largest possible file");
    bw_err err = BW_OK;
    bw_mutex_lock(&store->mutex);
    _Atomic(struct window *) *more = atomic_load(&store->more);
    if (!more) {
        more = bw_new(WINDOW_BLOCKS * sizeof(*more));
        atomic_store(&store->more, more);
    }
    if (more && !atomic_load(&more[block]))
        atomic_store(&more[block], bw_new(WINDOWS_PER_BLOCK * sizeof(struct window)));
    struct window *windows = more ? atomic_load(&more[block]) : NULL;
    if (windows) *out_window = &windows[index % WINDOWS_PER_BLOCK];
    else err = bw_fail(BW_ERR_NO_MEMORY, "Out of memory: mapping the file");
    bw_mutex_unlock(&store->mutex);
    return err;
}

static bw_err open_window(struct store *store, uint64_t index, struct window **out_window)
{
    bw_err err = find_window(store, index, out_window);
    if (err) return err;
    struct window *window = *out_window;
    if (LIKELY(atomic_load_explicit(&window->base, memory_order_acquire) != NULL)) return BW_OK;
    bw_mutex_lock(&store->mutex);
    if (!atomic_load(&window->base)) err = make_window(store, window, index);
    bw_mutex_unlock(&store->mutex);
    return err;
}

bw_err bw_pager_view(struct store *store, page_no page, uint32_t pages, const uint8_t **out_bytes)
{
    ASSERT(store && page % WINDOW_PAGES + pages <= WINDOW_PAGES);
    struct window *window = mapped_window(store, page);
    if (UNLIKELY(!window)) {
        bw_err err = open_window(store, page / WINDOW_PAGES, &window);
        if (err) return err;
    }
    *out_bytes = bytes_of(window, page);
    return BW_OK;
}

/* Whether an extent was verified is kept with its first page. */
static inline bool is_verified(const struct window *window, page_no page)
{
    const uint32_t at = page % WINDOW_PAGES;
    const uint32_t bits = atomic_load_explicit(&window->verified[at / 32], memory_order_relaxed);
    return bits >> at % 32 & 1;
}

void bw_pager_mark_verified(struct store *store, page_no page)
{
    struct window *window = mapped_window(store, page);
    uint32_t at = page % WINDOW_PAGES;
    if (window)
        atomic_fetch_or_explicit(&window->verified[at / 32], 1u << at % 32, memory_order_relaxed);
}

static void unmap_window(struct store *store, struct window *window)
{
    const uint8_t *base = atomic_load(&window->base);
    if (base) store->disk->unmap(store->file, base, (size_t)WINDOW_PAGES * PAGE_SIZE);
    bw_free((void *)window->verified);
    window->verified = NULL;
    atomic_store(&window->base, NULL);
}

void bw_pager_unmap(struct store *store)
{
    unmap_window(store, &store->first);
    _Atomic(struct window *) *more = atomic_load(&store->more);
    if (!more) return;
    for (int block = 0; block < WINDOW_BLOCKS; block++) {
        struct window *windows = atomic_load(&more[block]);
        for (int i = 0; windows && i < WINDOWS_PER_BLOCK; i++) unmap_window(store, &windows[i]);
        bw_free(windows);
    }
    bw_free((void *)more);
    atomic_store(&store->more, NULL);
}

/* ---- extents of the running transaction ---- */

bw_err bw_changes_new(struct changes **out_changes)
{
    *out_changes = bw_new(sizeof(**out_changes));
    return *out_changes ? BW_OK : bw_fail(BW_ERR_NO_MEMORY, "Out of memory: a write transaction");
}

void bw_changes_free(struct changes *changes)
{
    if (!changes) return;
    bw_buffers_deinit(&changes->buffers);
    bw_free(changes->extents);
    bw_free(changes->table);
    bw_free(changes->schema);
    bw_free(changes);
}

static uint32_t place_of(const struct changes *changes, page_no page)
{
    uint32_t at = (page * 0x9e3779b1u) & (changes->table_size - 1);
    while (changes->table[at] && changes->extents[changes->table[at] - 1].page != page)
        at = (at + 1) & (changes->table_size - 1);
    return at;
}

static struct extent *find_extent(const struct changes *changes, page_no page)
{
    if (!changes || !changes->table_size) return NULL;
    uint32_t index = changes->table[place_of(changes, page)];
    struct extent *extent = index ? &changes->extents[index - 1] : NULL;
    return extent && extent->pages ? extent : NULL;
}

/* Room for one more, so that adding cannot fail. */
static bw_err reserve_extent(struct changes *changes)
{
    if (changes->extent_count == changes->extent_room) {
        uint32_t room = changes->extent_room ? changes->extent_room * 2 : 16;
        struct extent *extents = bw_resize(changes->extents, room * sizeof(*extents));
        if (!extents) return bw_fail(BW_ERR_NO_MEMORY, "Out of memory: pages of a transaction");
        changes->extents = extents;
        changes->extent_room = room;
    }
    if (changes->table_size && changes->table_used * 2 < changes->table_size) return BW_OK;
    uint32_t size = changes->table_size ? changes->table_size * 2 : 32;
    uint32_t *table = bw_new(size * sizeof(*table));
    if (!table) return bw_fail(BW_ERR_NO_MEMORY, "Out of memory: pages of a transaction");
    bw_free(changes->table);
    changes->table = table;
    changes->table_size = size;
    for (uint32_t i = BUG(extent_lost); i < changes->extent_count; i++)
        table[place_of(changes, changes->extents[i].page)] = i + 1;
    return BW_OK;
}

static void add_extent(struct changes *changes, struct extent extent)
{
    uint32_t at = place_of(changes, extent.page);
    if (changes->table[at]) { // the page was owned before and given up
        changes->extents[changes->table[at] - 1] = extent;
        return;
    }
    changes->extents[changes->extent_count++] = extent;
    changes->table[at] = changes->extent_count;
    changes->table_used++;
}

/* ---- reading ---- */

static bw_err damaged(page_no page, const char *what)
{
    return bw_fail(BW_ERR_FILE_PAGES_CORRUPT, "Page %u of the file is damaged: %s", page, what);
}

/* What in a header contradicts the reference that led to it. */
static const char *reference_problem(const uint8_t *header, page_no page, uint32_t pages,
                                     enum page_kind kind, uint32_t tree_id)
{
    if (bw_get_u32(header + PAGE_AT_NUMBER) != page) return "another page's number";
    if (header[PAGE_AT_KIND] != kind) return "another kind";
    if (bw_get_u32(header + PAGE_AT_TREE) != tree_id) return "another tree's";
    if (bw_page_extent(header) != pages) return "another length";
    return NULL;
}

static const char *bounds_problem(const uint8_t *header, uint32_t pages, enum page_kind kind)
{
    uint32_t lower = bw_get_u16(header + PAGE_AT_LOWER), upper = bw_get_u16(header + PAGE_AT_UPPER);
    if (kind == PAGE_LEAF &&
        (lower < PAGE_HEADER_SIZE + 8 || lower > upper || upper > pages * PAGE_SIZE))
        return "bounds outside of it";
    if (kind == PAGE_BRANCH && (bw_page_count(header) < 1 || bw_page_count(header) > 254))
        return "an impossible number of children";
    return NULL;
}

static bw_err verify(struct store *store, page_no page, uint32_t pages, enum page_kind kind,
                     const uint8_t *bytes)
{
    for (uint32_t i = 0; i < pages; i++) // a commit writes there, whatever the bitmaps say
        if (bw_space_is_reserved(store->geometry, page + i))
            return damaged(page, "it lies where a bitmap belongs");
    const char *problem = bounds_problem(bytes, pages, kind);
    if (problem) return damaged(page, problem);
    if (!bw_page_fits(bytes, pages, store->salt)) return damaged(page, "its checksum does not fit");
    bw_pager_mark_verified(store, page + BUG(verified_beside));
    return BW_OK;
}

/* Is an extent of this transaction what a reference says? If not, the file calls a page free that
 * one of its trees still has. */
static bool is_extent(const struct extent *own, uint32_t pages, enum page_kind kind,
                      uint32_t tree_id)
{
    return own->pages == pages && own->bytes[PAGE_AT_KIND] == kind &&
           bw_get_u32(own->bytes + PAGE_AT_TREE) == tree_id;
}

static bw_err read_file(struct txn *txn, page_no page, uint32_t pages, enum page_kind kind,
                        uint32_t tree_id, const uint8_t **out_extent)
{
    struct store *store = txn->store;
    if (UNLIKELY(!txn->snapshot || page < SLOT_COUNT || !pages || pages > OVERFLOW_PAGES_MAX ||
                 (uint64_t)page + pages > txn->snapshot->hwm ||
                 page % WINDOW_PAGES + pages > WINDOW_PAGES))
        return damaged(page, "a reference leads outside the file");
    const uint8_t *bytes = NULL;
    bw_err err = bw_pager_view(store, page, pages, &bytes);
    if (err) return err;
    const char *problem = reference_problem(bytes, page, pages, kind, tree_id); // G2
    if (UNLIKELY(problem != NULL)) return damaged(page, problem);
    if (UNLIKELY(bw_page_born(bytes) > txn->snapshot->txn_id)) // G4
        return damaged(page, "younger than what refers to it");
    if (UNLIKELY(!is_verified(mapped_window(store, page), page)) && !BUG(verify_skipped)) {
        err = verify(store, page, pages, kind, bytes);
        if (err) return err;
    }
    *out_extent = bytes;
    return BW_OK;
}

static bw_err read_extent(struct txn *txn, page_no page, uint32_t pages, enum page_kind kind,
                          uint32_t tree_id, const uint8_t **out_extent)
{
    struct extent *own = find_extent(txn->changes, page);
    if (!own) return read_file(txn, page, pages, kind, tree_id, out_extent);
    if (UNLIKELY(!is_extent(own, pages, kind, tree_id))) return damaged(page, "called free");
    *out_extent = own->bytes;
    return BW_OK;
}

/* The usual case: an extent of the file that was verified before, and what the reference says. NULL
 * when it is not so simple. What was verified crosses no window. */
static inline const uint8_t *find_verified(const struct txn *txn, page_no page, uint32_t pages,
                                           enum page_kind kind, uint32_t tree_id)
{
    const struct window *window = mapped_window(txn->store, page);
    if (!window || !is_verified(window, page) || page + pages > txn->snapshot->hwm) return NULL;
    const uint8_t *bytes = bytes_of(window, page);
    // Number, kind and length are neighbours, the count behind them is not the reference's.
    const uint64_t expected = page | (uint64_t)kind << 32 | (uint64_t)pages << 40;
    if (bw_get_u64(bytes + PAGE_AT_NUMBER) << 16 != expected << 16) return NULL; // G2
    if (bw_page_born(bytes) > txn->snapshot->txn_id) return NULL;                // G4
    return bw_get_u32(bytes + PAGE_AT_TREE) == tree_id ? bytes : NULL;
}

bw_err bw_page_read(struct txn *txn, page_ref ref, enum page_kind kind, uint32_t tree_id,
                    const uint8_t **out_extent)
{
    const page_no page = bw_ref_page(ref);
    const uint32_t pages = bw_ref_pages(ref);
    if (LIKELY(!txn->changes && txn->snapshot)) {
        const uint8_t *bytes = find_verified(txn, page, pages, kind, tree_id);
        if (LIKELY(bytes)) {
            *out_extent = bytes;
            return BW_OK;
        }
    }
    return read_extent(txn, page, pages, kind, tree_id, out_extent);
}

void bw_page_prefetch(const struct txn *txn, page_ref ref, size_t at)
{
    const struct window *window = mapped_window(txn->store, bw_ref_page(ref));
    if (!window) return;
    const uint8_t *bytes = bytes_of(window, bw_ref_page(ref));
    PREFETCH(bytes);
    PREFETCH(bytes + at);
}

bw_err bw_page_read_overflow(struct txn *txn, page_no page, uint32_t pages, uint32_t tree_id,
                             const uint8_t **out_extent)
{
    return read_extent(txn, page, pages, PAGE_OVERFLOW, tree_id, out_extent);
}

/* ---- changing ---- */

/* Pages that the file may have: its own limit, with the reserve for removals, and the format's. */
static uint32_t page_limit(const struct txn *txn)
{
    const struct store *store = txn->store;
    uint64_t limit = (uint64_t)REGIONS_MAX * store->geometry->region_pages;
    if (limit > REF_PAGE_MAX) limit = REF_PAGE_MAX;
    uint64_t own = store->size_max / PAGE_SIZE;
    if (!store->size_max) return (uint32_t)limit;
    if (txn->changes->use_reserve) own += own / 8 > 16 ? own / 8 : 16;
    return (uint32_t)(own < limit ? own : limit);
}

/* An owned extent whose bytes are to be set. */
static bw_err own_place(struct txn *txn, struct page_run place, uint8_t **out_extent)
{
    struct changes *changes = txn->changes;
    struct extent extent = {.page = place.page, .pages = place.pages};
    bw_err err = reserve_extent(changes);
    if (!err) err = bw_buffers_take(&changes->buffers, extent.pages, &extent.bytes);
    if (err) return err;
    add_extent(changes, extent);
    changes->page_count += extent.pages;
    *out_extent = extent.bytes;
    return BW_OK;
}

static bool would_grow(const struct txn *txn, const struct page_run *place, bool found)
{
    return txn->snapshot && (!found || place->page + place->pages > txn->snapshot->hwm);
}

/* R22: does the snapshot in the other slot keep more pages than a flush is worth? Asked once in a
 * transaction: when there is no room at all, or when it is not a small one. */
static bool is_twin_worthwhile(struct txn *txn, bool found)
{
    struct store *store = txn->store;
    struct changes *changes = txn->changes;
    const uint32_t large = store->geometry->manifest_pages;
    if (changes->tried_twin || (found && changes->page_count < large / 8)) return false;
    changes->tried_twin = true;
    bw_mutex_lock(&store->mutex);
    const struct mark *previous = store->writer->previous;
    const uint32_t kept =
        previous ? bw_space_count_kept(&store->writer->space, previous->txn_id) : 0;
    bw_mutex_unlock(&store->mutex);
    return kept >= (found ? large : 1);
}

static bw_err take_after_twin(struct txn *txn, struct page_run *place, bool *out_found)
{
    struct store *store = txn->store;
    struct space *space = &store->writer->space;
    if (*out_found) bw_space_give_taken(space, place->page, place->pages);
    *out_found = false;
    bw_err err = bw_group_twin(store);
    if (!err) err = bw_pins_ripen(store);
    if (err) return err;
    return bw_space_take(space, place->pages, page_limit(txn), &place->page, out_found);
}

/* The same in free pages. */
static bw_err take(struct txn *txn, uint32_t pages, page_no *out_page, uint8_t **out_extent)
{
    struct space *space = &txn->store->writer->space;
    struct page_run place = {.pages = pages};
    bool found = false;
    bw_err err = bw_space_take(space, pages, page_limit(txn), &place.page, &found);
    if (!err && UNLIKELY(would_grow(txn, &place, found)) && is_twin_worthwhile(txn, found))
        err = take_after_twin(txn, &place, &found);
    if (err) return err;
    if (!found) return bw_fail(BW_ERR_DB_FULL, "Could not put");
    err = own_place(txn, place, out_extent);
    if (err) bw_space_give_taken(space, place.page, pages);
    else *out_page = place.page;
    return err;
}

/* Zero an extent but for its header. */
static void make_empty(const struct txn *txn, uint8_t *extent, enum page_kind kind,
                       uint32_t tree_id, struct page_run place)
{
    if (!BUG(buffer_dirty)) memset(extent, 0, (size_t)place.pages * PAGE_SIZE);
    else memset(extent, 0, PAGE_HEADER_SIZE);
    bw_put_u32(extent + PAGE_AT_NUMBER, place.page);
    extent[PAGE_AT_KIND] = (uint8_t)kind;
    bw_put_u64(extent + PAGE_AT_BORN, txn->id);
    bw_put_u32(extent + PAGE_AT_TREE, tree_id);
    if (kind == PAGE_OVERFLOW) bw_put_u32(extent + PAGE_AT_EXTENT, place.pages);
    else extent[PAGE_AT_PAGES] = (uint8_t)place.pages;
}

bw_err bw_page_new(struct txn *txn, enum page_kind kind, uint32_t tree_id, uint32_t pages,
                   page_no *out_page, uint8_t **out_extent)
{
    bw_err err = take(txn, pages, out_page, out_extent);
    if (err) return err;
    const struct page_run place = {.page = *out_page, .pages = pages};
    make_empty(txn, *out_extent, kind, tree_id, place);
    return BW_OK;
}

uint8_t *bw_page_owned(struct txn *txn, page_no page)
{
    struct extent *extent = find_extent(txn->changes, page);
    return extent ? extent->bytes : NULL;
}

bool bw_page_is_kept(const struct txn *txn, page_no page, uint32_t pages)
{
    return bw_space_are_kept(&txn->store->writer->space, page, pages);
}

uint32_t bw_page_count_max(const struct txn *txn) { return txn->store->writer->space.room; }

bw_err bw_page_own(struct txn *txn, page_ref *in_out_ref, enum page_kind kind, uint32_t tree_id,
                   uint8_t **out_extent)
{
    page_no old = bw_ref_page(*in_out_ref), page = 0;
    uint32_t pages = bw_ref_pages(*in_out_ref);
    const struct extent *own = find_extent(txn->changes, old);
    if (own && !is_extent(own, pages, kind, tree_id)) return damaged(old, "called free");
    if (own) {
        *out_extent = own->bytes;
        return BW_OK;
    }
    if (UNLIKELY(!bw_page_is_kept(txn, old, pages))) return damaged(old, "called free");
    const uint8_t *from = NULL;
    uint8_t *to = NULL;
    bw_err err = bw_page_read(txn, *in_out_ref, kind, tree_id, &from);
    if (!err) err = bw_space_reserve_freed(&txn->store->writer->space, 1);
    if (!err) err = take(txn, pages, &page, &to);
    if (err) return err;
    memcpy(to, from, (size_t)pages * PAGE_SIZE);
    bw_put_u32(to + PAGE_AT_NUMBER, page);
    if (!BUG(born_kept)) bw_put_u64(to + PAGE_AT_BORN, txn->id);
    bw_space_note_freed(&txn->store->writer->space, old, pages,
                        BUG(born_late) ? txn->id : bw_page_born(from));
    *in_out_ref = bw_ref_make(page, pages, bw_ref_has_overflow(*in_out_ref));
    *out_extent = to;
    return BW_OK;
}

bw_err bw_page_free(struct txn *txn, page_no page, uint32_t pages, uint64_t born)
{
    struct space *space = &txn->store->writer->space;
    struct extent *extent = find_extent(txn->changes, page);
    if (extent) {
        if (UNLIKELY(extent->pages != pages)) return damaged(page, "called free");
        bw_space_give_taken(space, page, pages);
        bw_buffers_give(&txn->changes->buffers, extent->bytes, pages);
        extent->pages = 0;
        return BW_OK;
    }
    if (UNLIKELY(!bw_page_is_kept(txn, page, pages)))
        return damaged(page, "a reference to a page that is free");
    bw_err err = bw_space_reserve_freed(space, 1);
    if (err) return err;
    bw_space_note_freed(space, page, pages, born);
    return BW_OK;
}

bw_err bw_page_make_room(struct txn *txn, uint32_t frees)
{
    return bw_space_reserve_freed(&txn->store->writer->space, frees);
}

/* Was a page read although it was always called free? */
static bool is_read_unknown(struct store *store, page_no page)
{
    if (LIKELY(bw_space_is_known(&store->writer->space, page))) return false;
    const struct window *window = mapped_window(store, page);
    return window && is_verified(window, page);
}

bw_err bw_pager_check_unread(const struct txn *txn)
{
    const struct changes *changes = txn->changes;
    for (uint32_t i = 0; i < changes->extent_count; i++) {
        const struct extent *extent = &changes->extents[i];
        for (page_no page = extent->page; page < extent->page + extent->pages; page++)
            if (UNLIKELY(is_read_unknown(txn->store, page))) return damaged(page, "called free");
    }
    return BW_OK;
}

void bw_page_shrink(struct txn *txn, page_no page, uint32_t pages)
{
    struct extent *extent = find_extent(txn->changes, page);
    ASSERT(extent && pages >= 1 && pages <= extent->pages);
    if (pages == extent->pages) return;
    if (!BUG(tail_pages_kept))
        bw_space_give_taken(&txn->store->writer->space, page + pages, extent->pages - pages);
    extent->pages = pages; // G3: the memory behind stays with the slab
    if (extent->bytes[PAGE_AT_KIND] != PAGE_OVERFLOW) extent->bytes[PAGE_AT_PAGES] = (uint8_t)pages;
}

void bw_txn_use_reserve(struct txn *txn, bool on) { txn->changes->use_reserve = on; }

bw_err bw_txn_scratch(struct txn *txn, size_t size, uint8_t **out_bytes)
{
    struct scratch *block = bw_new_raw(sizeof(*block) + size);
    if (!block) return bw_fail(BW_ERR_NO_MEMORY, "Out of memory: a value of %zu bytes", size);
    block->next = txn->scratch;
    txn->scratch = block;
    *out_bytes = block->bytes;
    return BW_OK;
}

void bw_pager_free_scratch(struct txn *txn)
{
    while (txn->scratch) {
        struct scratch *block = txn->scratch;
        txn->scratch = block->next;
        bw_free(block);
    }
}
