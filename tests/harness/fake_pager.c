/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/fake_pager.h"

#include <stdio.h>
#include <stdlib.h>

#include "harness/check.h"
#include "store/tree_check.h"

enum { TREES_MAX = 8, FIRST_PAGE = 2, POISON = 0xDB };

struct extent {
    uint8_t *bytes; // NULL: no extent begins with this page
    uint32_t pages;
    bool is_owned, is_freed; // freed: still there until the commit
    uint64_t hash;           // of what was committed
};

struct scratch {
    struct scratch *next;
    uint8_t *bytes;
};

struct txn {
    struct extent *extent; // by page number
    uint8_t *taken;        // by page number: 1 in use
    uint32_t room, next;
    uint32_t used, owned; // pages
    uint64_t id, change;
    struct tree tree[TREES_MAX], committed[TREES_MAX];
    uint32_t trees, committed_trees;
    struct scratch *scratch;
    int fail_pages, fail_notes;
    bw_err fail_err;
    uint32_t limit, reserve, notes;
    bool uses_reserve;
    bool is_damaged; // by the test: what would be a mistake is an error then
};

static void *must(void *block)
{
    if (!block) abort();
    return block;
}

struct txn *bw_fake_pager_new(void)
{
    struct txn *txn = must(calloc(1, sizeof(*txn)));
    txn->id = 1;
    txn->change = 1;
    txn->fail_pages = txn->fail_notes = -1;
    txn->next = FIRST_PAGE;
    return txn;
}

static void drop_scratch(struct txn *txn)
{
    while (txn->scratch) {
        struct scratch *next = txn->scratch->next;
        free(txn->scratch->bytes);
        free(txn->scratch);
        txn->scratch = next;
    }
}

void bw_fake_pager_free(struct txn *txn)
{
    for (uint32_t page = 0; page < txn->room; page++) free(txn->extent[page].bytes);
    drop_scratch(txn);
    free(txn->extent);
    free(txn->taken);
    free(txn);
}

void bw_fake_pager_fail_pages(struct txn *txn, int successes, bw_err err)
{
    txn->fail_pages = successes;
    txn->fail_err = err;
}

void bw_fake_pager_fail_notes(struct txn *txn, int successes) { txn->fail_notes = successes; }

void bw_fake_pager_set_limit(struct txn *txn, uint32_t pages, uint32_t reserve)
{
    txn->limit = pages;
    txn->reserve = reserve;
}

uint32_t bw_fake_pager_pages(const struct txn *txn) { return txn->used; }

uint32_t bw_fake_pager_owned_pages(const struct txn *txn) { return txn->owned; }

uint8_t *bw_fake_pager_damage(struct txn *txn, page_no page)
{
    if (page >= txn->room || !txn->extent[page].bytes) return NULL;
    txn->is_damaged = true;
    return txn->extent[page].bytes;
}

uint32_t bw_fake_pager_extent(const struct txn *txn, page_no page)
{
    return txn->extent[page].pages;
}

// ---- space ----

static void grow(struct txn *txn, uint32_t room)
{
    if (room <= txn->room) return;
    room = room * 2 + 64;
    txn->extent = must(realloc(txn->extent, room * sizeof(*txn->extent)));
    txn->taken = must(realloc(txn->taken, room));
    memset(txn->extent + txn->room, 0, (room - txn->room) * sizeof(*txn->extent));
    memset(txn->taken + txn->room, 0, room - txn->room);
    txn->room = room;
}

// Onward from the last place, and from the start again when much has been passed by: numbers come
// back, so that a reference kept too long meets another page.
static page_no find_space(struct txn *txn, uint32_t pages)
{
    page_no page = txn->next < 2 * txn->used + 64 ? txn->next : FIRST_PAGE;
    uint32_t found = 0;
    while (found < pages) {
        grow(txn, page + pages + 1);
        if (txn->taken[page + found]) {
            page += found + 1;
            found = 0;
        } else {
            found++;
        }
    }
    txn->next = page + pages;
    return page;
}

static void release(struct txn *txn, page_no page)
{
    struct extent *extent = &txn->extent[page];
    memset(extent->bytes, POISON, (size_t)extent->pages * PAGE_SIZE);
    free(extent->bytes);
    memset(txn->taken + page, 0, extent->pages);
    *extent = (struct extent){0};
}

static bw_err may_take(struct txn *txn, uint32_t pages)
{
    if (txn->fail_pages == 0) return bw_fail(txn->fail_err, "Could not put");
    if (txn->fail_pages > 0) txn->fail_pages--;
    const uint32_t limit = txn->limit + (txn->uses_reserve ? txn->reserve : 0);
    if (txn->limit && txn->used + pages > limit) return bw_fail(BW_ERR_DB_FULL, "Could not put");
    return BW_OK;
}

static struct extent *take(struct txn *txn, uint32_t pages, page_no *out_page)
{
    const page_no page = find_space(txn, pages);
    memset(txn->taken + page, 1, pages);
    struct extent *extent = &txn->extent[page];
    *extent =
        (struct extent){.bytes = must(calloc(pages, PAGE_SIZE)), .pages = pages, .is_owned = true};
    txn->used += pages;
    txn->owned += pages;
    *out_page = page;
    return extent;
}

bw_err bw_page_new(struct txn *txn, enum page_kind kind, uint32_t tree_id, uint32_t pages,
                   page_no *out_page, uint8_t **out_extent)
{
    CHECK(pages >= 1 && pages <= (kind == PAGE_OVERFLOW ? OVERFLOW_PAGES_MAX : EXTENT_PAGES_MAX));
    bw_err err = may_take(txn, pages);
    if (err) return err;
    uint8_t *bytes = take(txn, pages, out_page)->bytes;
    bw_put_u32(bytes + PAGE_AT_NUMBER, *out_page);
    bytes[PAGE_AT_KIND] = (uint8_t)kind;
    bw_put_u64(bytes + PAGE_AT_BORN, txn->id);
    bw_put_u32(bytes + PAGE_AT_TREE, tree_id);
    if (kind == PAGE_OVERFLOW) {
        bw_put_u32(bytes + PAGE_AT_EXTENT, pages);
    } else {
        bytes[PAGE_AT_PAGES] = (uint8_t)pages;
    }
    *out_extent = bytes;
    return BW_OK;
}

static struct extent *find(struct txn *txn, page_no page)
{
    if (page >= txn->room || !txn->extent[page].bytes || txn->extent[page].is_freed) return NULL;
    return &txn->extent[page];
}

uint8_t *bw_page_owned(struct txn *txn, page_no page)
{
    struct extent *extent = find(txn, page);
    return extent && extent->is_owned ? extent->bytes : NULL;
}

static bw_err take_note(struct txn *txn)
{
    if (txn->notes) {
        txn->notes--;
        return BW_OK;
    }
    if (txn->fail_notes == 0) return bw_fail(BW_ERR_NO_MEMORY, "Notes of freed pages");
    if (txn->fail_notes > 0) txn->fail_notes--;
    return BW_OK;
}

bw_err bw_page_make_room(struct txn *txn, uint32_t frees)
{
    txn->notes = 0;
    bw_err err = take_note(txn);
    if (!err) txn->notes = frees;
    return err;
}

bool bw_page_is_kept(const struct txn *txn, page_no page, uint32_t pages)
{
    if (page >= txn->room) return false;
    const struct extent *extent = &txn->extent[page];
    return extent->bytes && !extent->is_owned && !extent->is_freed && extent->pages == pages;
}

uint32_t bw_page_count_max(const struct txn *txn) { return txn->room; }

bw_err bw_page_own(struct txn *txn, page_ref *in_out_ref, enum page_kind kind, uint32_t tree_id,
                   uint8_t **out_extent)
{
    const uint8_t *read = NULL;
    bw_err err = bw_page_read(txn, *in_out_ref, kind, tree_id, &read);
    if (err) return err;
    *out_extent = bw_page_owned(txn, bw_ref_page(*in_out_ref));
    if (*out_extent) return BW_OK;

    const uint32_t pages = bw_ref_pages(*in_out_ref);
    err = may_take(txn, pages);
    if (!err) err = take_note(txn);
    if (err) return err;
    page_no page;
    uint8_t *bytes = take(txn, pages, &page)->bytes;
    if (!read) abort();
    memcpy(bytes, read, (size_t)pages * PAGE_SIZE);
    bw_put_u32(bytes + PAGE_AT_NUMBER, page);
    bw_put_u64(bytes + PAGE_AT_BORN, txn->id);
    txn->extent[bw_ref_page(*in_out_ref)].is_freed = true;
    txn->used -= pages;
    *in_out_ref = bw_ref_make(page, pages, bw_ref_has_overflow(*in_out_ref));
    *out_extent = bytes;
    return BW_OK;
}

bw_err bw_page_free(struct txn *txn, page_no page, uint32_t pages, uint64_t born)
{
    struct extent *extent = find(txn, page);
    if (txn->is_damaged && (!extent || extent->pages != pages)) {
        return bw_fail(BW_ERR_FILE_PAGES_CORRUPT, "page %u: freed, but not in use", page);
    }
    CHECK(extent); // no page is freed twice
    CHECK_EQ(extent->pages, pages);
    CHECK(txn->is_damaged || born == 0 || born == bw_page_born(extent->bytes));
    if (!extent->is_owned) {
        bw_err err = take_note(txn);
        if (err) return err;
        extent->is_freed = true;
    } else {
        txn->owned -= pages;
        release(txn, page);
    }
    txn->used -= pages;
    return BW_OK;
}

void bw_page_shrink(struct txn *txn, page_no page, uint32_t pages)
{
    struct extent *extent = find(txn, page);
    CHECK(extent && extent->is_owned && pages >= 1 && pages <= extent->pages);
    const uint32_t given = extent->pages - pages;
    memset(extent->bytes + (size_t)pages * PAGE_SIZE, POISON, (size_t)given * PAGE_SIZE);
    memset(txn->taken + page + pages, 0, given);
    extent->bytes[PAGE_AT_PAGES] = (uint8_t)pages;
    extent->pages = pages;
    txn->used -= given;
    txn->owned -= given;
}

void bw_txn_use_reserve(struct txn *txn, bool on) { txn->uses_reserve = on; }

// ---- reading ----

static bw_err read_page(struct txn *txn, page_no page, uint32_t pages, enum page_kind kind,
                        uint32_t tree_id, const uint8_t **out_extent)
{
    struct extent *extent = find(txn, page);
    if (!extent || extent->pages != pages || bw_page_extent(extent->bytes) != pages ||
        extent->bytes[PAGE_AT_KIND] != kind || bw_get_u32(extent->bytes + PAGE_AT_NUMBER) != page ||
        bw_get_u32(extent->bytes + PAGE_AT_TREE) != tree_id) {
        return bw_fail(BW_ERR_FILE_PAGES_CORRUPT, "page %u: not what was expected here", page);
    }
    *out_extent = extent->bytes;
    return BW_OK;
}

void bw_page_prefetch(const struct txn *txn, page_ref ref, size_t at)
{
    (void)txn, (void)ref, (void)at;
}

bw_err bw_page_read(struct txn *txn, page_ref ref, enum page_kind kind, uint32_t tree_id,
                    const uint8_t **out_extent)
{
    return read_page(txn, bw_ref_page(ref), bw_ref_pages(ref), kind, tree_id, out_extent);
}

bw_err bw_page_read_overflow(struct txn *txn, page_no page, uint32_t pages, uint32_t tree_id,
                             const uint8_t **out_extent)
{
    return read_page(txn, page, pages, PAGE_OVERFLOW, tree_id, out_extent);
}

bw_err bw_txn_scratch(struct txn *txn, size_t size, uint8_t **out_bytes)
{
    struct scratch *scratch = must(malloc(sizeof(*scratch)));
    scratch->bytes = must(malloc(size));
    scratch->next = txn->scratch;
    txn->scratch = scratch;
    *out_bytes = scratch->bytes;
    return BW_OK;
}

// ---- the catalogue ----

bw_err bw_txn_tree(struct txn *txn, uint32_t tree_id, struct tree **out_tree)
{
    *out_tree = NULL;
    for (uint32_t i = 0; i < txn->trees; i++) {
        if (txn->tree[i].id == tree_id) *out_tree = &txn->tree[i];
    }
    return BW_OK;
}

bw_err bw_txn_tree_make(struct txn *txn, uint32_t tree_id, enum tree_kind kind,
                        struct tree **out_tree)
{
    bw_err err = bw_txn_tree(txn, tree_id, out_tree);
    if (err || *out_tree) return err;
    CHECK(txn->trees < TREES_MAX);
    *out_tree = &txn->tree[txn->trees++];
    **out_tree = (struct tree){.id = tree_id, .kind = (uint8_t)kind};
    return BW_OK;
}

bw_err bw_txn_tree_drop(struct txn *txn, uint32_t tree_id)
{
    struct tree *tree;
    bw_err err = bw_txn_tree(txn, tree_id, &tree);
    if (err || !tree) return err;
    CHECK_EQ(tree->root, 0);
    if (txn->fail_notes == 0) return bw_fail(BW_ERR_NO_MEMORY, "The catalogue");
    tree->id = UINT32_MAX - tree_id; // pointers to the others stay valid
    return BW_OK;
}

uint64_t bw_txn_change(const struct txn *txn) { return txn->change; }

void bw_txn_note_change(struct txn *txn)
{
    txn->change++;
    txn->notes = 0;
    drop_scratch(txn);
}

uint64_t bw_txn_id(const struct txn *txn) { return txn->id; }

// ---- commit and abort ----

static uint64_t hash_of(const struct extent *extent)
{
    return bw_hash64(extent->bytes, (size_t)extent->pages * PAGE_SIZE, 1);
}

static void check_committed(struct txn *txn)
{
    for (page_no page = 0; page < txn->room; page++) {
        const struct extent *extent = &txn->extent[page];
        if (extent->bytes && !extent->is_owned && !txn->is_damaged)
            CHECK_EQ(hash_of(extent), extent->hash);
    }
}

static void begin_next(struct txn *txn)
{
    txn->owned = 0;
    txn->change = 1;
    txn->notes = 0;
    drop_scratch(txn);
}

void bw_fake_pager_commit(struct txn *txn)
{
    check_committed(txn);
    uint32_t trees = 0;
    for (uint32_t i = 0; i < txn->trees; i++) {
        struct tree *tree = &txn->tree[i];
        if (tree->id > UINT32_MAX / 2) continue; // dropped
        if (tree->is_changed) bw_tree_finish(txn, tree);
        struct tree *kept = &txn->committed[trees++];
        *kept = (struct tree){
            .id = tree->id,
            .kind = tree->kind,
            .depth = tree->depth,
            .root = tree->root,
            .count = tree->count,
            .max_key = tree->max_key,
            .sequence = tree->sequence,
            .bytes = tree->bytes,
        };
    }
    txn->trees = txn->committed_trees = trees;
    memcpy(txn->tree, txn->committed, sizeof(txn->tree));
    for (page_no page = 0; page < txn->room; page++) {
        struct extent *extent = &txn->extent[page];
        if (!extent->bytes) continue;
        if (extent->is_freed) {
            release(txn, page);
        } else if (extent->is_owned) {
            extent->is_owned = false;
            extent->hash = hash_of(extent);
        }
    }
    txn->id++;
    begin_next(txn);
}

void bw_fake_pager_abort(struct txn *txn)
{
    check_committed(txn);
    txn->used = 0;
    for (page_no page = 0; page < txn->room; page++) {
        struct extent *extent = &txn->extent[page];
        if (!extent->bytes) continue;
        if (extent->is_owned) {
            release(txn, page);
        } else {
            extent->is_freed = false;
            txn->used += extent->pages;
        }
    }
    txn->trees = txn->committed_trees;
    memcpy(txn->tree, txn->committed, sizeof(txn->tree));
    begin_next(txn);
}

// ---- proof ----

struct reach {
    struct txn *txn;
    uint8_t *seen;
    uint32_t pages;
};

static bw_err visit(void *context, const struct met_extent *met, bool *out_enters)
{
    struct reach *reach = context;
    struct extent *extent = find(reach->txn, met->page);
    CHECK(extent);
    CHECK_EQ(extent->pages, met->pages);
    CHECK(!reach->seen[met->page]);
    reach->seen[met->page] = 1;
    reach->pages += met->pages;
    *out_enters = true;
    return BW_OK;
}

void bw_fake_pager_check(struct txn *txn)
{
    struct reach reach = {.txn = txn, .seen = must(calloc(1, txn->room + 1u))};
    struct check_report report = {0};
    for (uint32_t i = 0; i < txn->trees; i++) {
        if (txn->tree[i].id > UINT32_MAX / 2) continue;
        const struct tree_visitor visitor = {.visit = visit, .context = &reach};
        CHECK_OK(bw_tree_check(txn, &txn->tree[i], visitor, &report));
    }
    CHECK_TEXT(report.first_problem, "");
    CHECK_EQ(report.problems, 0);
    CHECK_EQ(reach.pages, txn->used); // nothing in use is out of reach
    CHECK_EQ(report.pages, txn->used);
    free(reach.seen);
}

// ---- for work on trees ----

static void stage_commit(struct stage *stage) { bw_fake_pager_commit(stage->txn); }
static void stage_abort(struct stage *stage) { bw_fake_pager_abort(stage->txn); }
static void stage_check(struct stage *stage) { bw_fake_pager_check(stage->txn); }

static bool stage_fail(struct stage *stage, enum stage_failure failure, int successes)
{
    const bool pages = failure == STAGE_FAILS_MEMORY || failure == STAGE_FAILS_FULL;
    bw_fake_pager_fail_pages(stage->txn, pages ? successes : -1,
                             failure == STAGE_FAILS_FULL ? BW_ERR_DB_FULL : BW_ERR_NO_MEMORY);
    bw_fake_pager_fail_notes(stage->txn, failure == STAGE_FAILS_NOTES ? successes : -1);
    return true;
}

struct stage bw_fake_pager_stage(struct txn *txn)
{
    return (struct stage){
        .txn = txn,
        .commit = stage_commit,
        .abort = stage_abort,
        .check = stage_check,
        .fail = stage_fail,
    };
}
