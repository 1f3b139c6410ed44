/* SPDX-License-Identifier: Apache-2.0 */
#include "store/space.h"

enum { WORD = 64, FIRST_ROOM = 1024 };

page_no bw_space_region_start(const struct geometry *geometry, uint32_t region)
{
    return region ? region * geometry->region_pages : geometry->inline_pages;
}

bool bw_space_is_reserved(const struct geometry *geometry, page_no page)
{
    page_no start = bw_space_region_start(geometry, page / geometry->region_pages);
    return page >= start && page < start + geometry->bitmap_copies;
}

static bool get_bit(const uint64_t *bits, page_no page)
{
    return bits[page / WORD] >> (page % WORD) & 1;
}

static void set_bit(uint64_t *bits, page_no page)
{
    bits[page / WORD] |= (uint64_t)1 << page % WORD;
}

static void clear_bit(uint64_t *bits, page_no page)
{
    bits[page / WORD] &= ~((uint64_t)1 << page % WORD);
}

/* ---- lists of runs ---- */

static bw_err reserve_runs(struct run_list *list, uint32_t count)
{
    if (list->room - list->count >= count) return BW_OK;
    uint32_t room = list->room * 2 > list->count + count ? list->room * 2 : list->count + count;
    struct page_run *runs = bw_resize(list->runs, room * sizeof(*runs));
    if (!runs) return bw_fail(BW_ERR_NO_MEMORY, "Out of memory: list of freed pages");
    list->runs = runs;
    list->room = room;
    return BW_OK;
}

static void add_run(struct run_list *list, struct page_run run)
{
    struct page_run *last = list->count ? &list->runs[list->count - 1] : NULL;
    if (last && last->page + last->pages == run.page && last->born == run.born &&
        last->freed == run.freed) {
        last->pages += run.pages;
        return;
    }
    ASSERT(list->runs && list->count < list->room);
    list->runs[list->count++] = run;
}

/* ---- bitmaps ---- */

static void mark_reserved(struct space *space, uint32_t from, uint32_t to)
{
    const struct geometry *geometry = space->geometry;
    for (uint32_t region = from / geometry->region_pages;; region++) {
        page_no start = bw_space_region_start(geometry, region);
        if (start >= to) break;
        for (page_no page = start; page < start + geometry->bitmap_copies && page < to; page++)
            set_bit(space->busy, page);
    }
}

bw_err bw_space_cover(struct space *space, uint32_t pages)
{
    if (pages <= space->room) return BW_OK;
    uint32_t room = space->room ? space->room : FIRST_ROOM;
    while (room < pages) room += room / 2 / WORD * WORD;
    size_t words = room / WORD, old = space->room / WORD;
    uint64_t *block = bw_new(4 * words * sizeof(*block));
    if (!block) return bw_fail(BW_ERR_NO_MEMORY, "Out of memory: map of free pages");
    if (old) {
        memcpy(block, space->used, old * sizeof(*block));
        memcpy(block + words, space->busy, old * sizeof(*block));
        memcpy(block + 2 * words, space->taken, old * sizeof(*block));
        memcpy(block + 3 * words, space->known, old * sizeof(*block));
    }
    bw_free(space->used);
    space->used = block;
    space->busy = block + words;
    space->taken = block + 2 * words;
    space->known = block + 3 * words;
    mark_reserved(space, space->room, room);
    space->room = room;
    return BW_OK;
}

bw_err bw_space_init(struct space *space, const struct geometry *geometry)
{
    *space = (struct space){.geometry = geometry};
    bw_err err = bw_space_cover(space, 1);
    if (err) return err;
    bw_space_set_used(space, 0);
    bw_space_set_used(space, 1);
    return BW_OK;
}

void bw_space_deinit(struct space *space)
{
    bw_free(space->used);
    bw_free(space->pending.runs);
    bw_free(space->freed.runs);
    *space = (struct space){0};
}

void bw_space_set_used(struct space *space, page_no page)
{
    set_bit(space->used, page);
    set_bit(space->busy, page);
    set_bit(space->known, page);
}

bool bw_space_is_used(const struct space *space, page_no page)
{
    return page < space->room && get_bit(space->used, page);
}

bool bw_space_is_known(const struct space *space, page_no page)
{
    return page < space->room && get_bit(space->known, page);
}

bool bw_space_are_kept(const struct space *space, page_no page, uint32_t pages)
{
    if (page < 2 || page >= space->room || pages > space->room - page) return false;
    while (pages) { // as many as lie in one word
        const uint32_t shift = page % WORD, count = pages < WORD - shift ? pages : WORD - shift;
        const uint64_t mask = ~(uint64_t)0 >> (WORD - count) << shift;
        const uint64_t kept = space->used[page / WORD] & ~space->taken[page / WORD];
        if ((kept & mask) != mask) return false;
        page += count;
        pages -= count;
    }
    return true;
}

bw_err bw_space_add_pending(struct space *space, struct page_run run)
{
    bw_err err = bw_space_cover(space, run.page + run.pages);
    if (!err) err = reserve_runs(&space->pending, 1);
    if (err) return err;
    for (page_no page = run.page; page < run.page + run.pages; page++) set_bit(space->busy, page);
    add_run(&space->pending, run);
    return BW_OK;
}

/* A run of free pages has come to be: searches may have to look there again. */
static void lower_hints(struct space *space, page_no page)
{
    for (page_no pages = 1; pages <= EXTENT_PAGES_MAX; pages++) {
        page_no first = page >= pages ? page - (pages - 1) : 0;
        if (space->hint[pages] > first && !BUG(hint_kept)) space->hint[pages] = first;
    }
}

static bool is_pinned(const struct page_run *run, const uint64_t *pins, uint32_t pin_count)
{
    for (uint32_t i = 0; i < pin_count; i++)
        if (run->born + BUG(born_off_by_one) <= pins[i] && pins[i] < run->freed) return true; // S3
    return false;
}

void bw_space_ripen(struct space *space, const uint64_t *pins, uint32_t pin_count)
{
    struct run_list *pending = &space->pending;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < pending->count; i++) {
        struct page_run run = pending->runs[i];
        if (is_pinned(&run, pins, pin_count)) {
            pending->runs[kept++] = run;
            continue;
        }
        for (page_no page = run.page; page < run.page + run.pages; page++)
            if (!bw_space_is_reserved(space->geometry, page)) clear_bit(space->busy, page);
        lower_hints(space, run.page);
    }
    pending->count = kept;
}

uint32_t bw_space_count_kept(const struct space *space, uint64_t txn_id)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < space->pending.count; i++)
        if (is_pinned(&space->pending.runs[i], &txn_id, 1)) count += space->pending.runs[i].pages;
    return count;
}

/* ---- searching ---- */

/* The first page from `page` on whose bit in busy is `wanted`, or room. */
static page_no next_bit(const struct space *space, page_no page, bool wanted)
{
    while (page < space->room) {
        uint64_t word = space->busy[page / WORD];
        if (!wanted) word = ~word;
        word &= ~(uint64_t)0 << page % WORD;
        if (word) return page / WORD * WORD + (page_no)__builtin_ctzll(word);
        page = (page / WORD + 1) * WORD;
    }
    return space->room;
}

/* The first free run from `from` on; what lies beyond room is free. */
static page_no find_run(const struct space *space, page_no from, uint32_t pages)
{
    for (page_no page = from;;) {
        page = page < space->room ? next_bit(space, page, false) : page;
        if (page % WINDOW_PAGES + pages > WINDOW_PAGES) {
            page = (page / WINDOW_PAGES + 1) * WINDOW_PAGES;
            continue;
        }
        if (page >= space->room) return page;
        page_no end = next_bit(space, page, true);
        if (end >= page + pages || end == space->room) return page;
        page = end;
    }
}

static void mark_taken(struct space *space, page_no page, uint32_t pages)
{
    uint32_t first = page / WORD, end = (page + pages - 1) / WORD + 1;
    if (space->taken_first == space->taken_end) {
        space->taken_first = first;
        space->taken_end = end;
    }
    if (first < space->taken_first) space->taken_first = first;
    if (end > space->taken_end) space->taken_end = end;
    for (page_no each = page; each < page + pages; each++) {
        set_bit(space->used, each);
        set_bit(space->busy, each);
        set_bit(space->taken, each);
    }
}

bool bw_space_has_free(const struct space *space, uint32_t pages, uint32_t limit)
{
    const uint32_t kind = pages < EXTENT_PAGES_MAX ? pages : EXTENT_PAGES_MAX;
    const page_no page = find_run(space, space->hint[kind], pages);
    return page <= limit && limit - page >= pages;
}

bw_err bw_space_take(struct space *space, uint32_t pages, uint32_t limit, page_no *out_page,
                     bool *out_found)
{
    ASSERT(pages >= 1 && pages <= OVERFLOW_PAGES_MAX);
    uint32_t kind = pages < EXTENT_PAGES_MAX ? pages : EXTENT_PAGES_MAX;
    page_no page = find_run(space, space->hint[kind], pages);
    for (;;) {
        *out_found = page <= limit && limit - page >= pages;
        if (!*out_found) return BW_OK;
        if (page + pages <= space->room) break;
        bw_err err = bw_space_cover(space, page + pages); // marks reserved places in the new part
        if (err) return err;
        page = find_run(space, page, pages);
    }
    if (pages == kind) space->hint[kind] = page + pages;
    mark_taken(space, page, pages);
    *out_page = page;
    return BW_OK;
}

void bw_space_give_taken(struct space *space, page_no page, uint32_t pages)
{
    for (page_no each = page; each < page + pages; each++) {
        ASSERT(get_bit(space->taken, each));
        clear_bit(space->used, each);
        if (!BUG(given_kept)) clear_bit(space->busy, each);
    }
    lower_hints(space, page);
}

bw_err bw_space_reserve_freed(struct space *space, uint32_t count)
{
    return reserve_runs(&space->freed, count);
}

void bw_space_note_freed(struct space *space, page_no page, uint32_t pages, uint64_t born)
{
    for (page_no each = page; each < page + pages; each++) clear_bit(space->used, each);
    add_run(
        &space->freed,
        (struct page_run){.page = page, .pages = pages, .born = BUG(born_forgotten) ? 0 : born});
}

/* ---- the state after the running transaction ---- */

/* The bits of eight pages, which may lie in two words. */
static uint8_t used_byte(const struct space *space, page_no page)
{
    if (page >= space->room) return 0;
    page_no word = page / WORD, shift = page % WORD;
    uint64_t byte = space->used[word] >> shift;
    if (shift > WORD - 8 && word + 1 < space->room / WORD)
        byte |= space->used[word + 1] << (WORD - shift);
    return (uint8_t)byte;
}

void bw_space_write_bits(const struct space *space, page_no first, uint32_t pages, uint8_t *bits)
{
    for (uint32_t i = 0; i < (pages + 7) / 8 - BUG(last_bits_lost); i++)
        bits[i] = used_byte(space, first + 8 * i);
    if (pages % 8) bits[pages / 8] = (uint8_t)(bits[pages / 8] & ((1u << pages % 8) - 1));
    page_no reserved =
        bw_space_region_start(space->geometry, first / space->geometry->region_pages);
    for (uint32_t i = 0; i < space->geometry->bitmap_copies; i++, reserved++)
        if (reserved >= first && reserved < first + pages)
            bits[(reserved - first) / 8] |= (uint8_t)(1u << (reserved - first) % 8);
}

uint32_t bw_space_hwm(const struct space *space)
{
    for (uint32_t word = space->room / WORD; word > 0; word--)
        if (space->used[word - 1])
            return word * WORD - (uint32_t)__builtin_clzll(space->used[word - 1]);
    return 0;
}

uint32_t bw_space_used_pages(const struct space *space)
{
    uint32_t count = 0;
    for (uint32_t word = 0; word < space->room / WORD; word++)
        count += (uint32_t)__builtin_popcountll(space->used[word]);
    return count;
}

static void forget_transaction(struct space *space)
{
    if (space->taken_end > space->taken_first)
        memset(space->taken + space->taken_first, 0,
               (space->taken_end - space->taken_first) * sizeof(*space->taken));
    space->taken_first = space->taken_end = 0;
    space->freed.count = 0;
}

bw_err bw_space_prepare_publish(struct space *space)
{
    return reserve_runs(&space->pending, space->freed.count);
}

void bw_space_publish(struct space *space, uint64_t txn_id)
{
    for (uint32_t i = 0; i < space->freed.count; i++) {
        struct page_run run = space->freed.runs[i];
        run.freed = txn_id - BUG(freed_early);
        add_run(&space->pending, run);
    }
    for (uint32_t word = space->taken_first; word < space->taken_end; word++) // S5
        space->known[word] |= space->taken[word] & space->used[word];
    forget_transaction(space);
}

void bw_space_undo(struct space *space)
{
    for (uint32_t word = space->taken_first; word < space->taken_end; word++) { // S4
        space->used[word] &= ~space->taken[word];
        if (!BUG(undo_keeps_busy)) space->busy[word] &= ~space->taken[word];
    }
    for (uint32_t i = 0; i < space->freed.count; i++) {
        const struct page_run *run = &space->freed.runs[i];
        for (page_no page = run->page + BUG(undo_forgets_page); page < run->page + run->pages;
             page++)
            set_bit(space->used, page);
    }
    memset(space->hint, 0, sizeof(space->hint));
    forget_transaction(space);
}
