/* SPDX-License-Identifier: Apache-2.0 */
#include "store/manifest.h"

#include <stdlib.h>

enum { PIECE_PAGES = 16 };

void bw_manifest_deinit(struct manifest *manifest)
{
    bw_free(manifest->sums);
    *manifest = (struct manifest){0};
}

void bw_manifest_clear(struct manifest *manifest) { manifest->count = 0; }

bw_err bw_manifest_reserve(struct manifest *manifest, uint32_t count)
{
    if (manifest->room - manifest->count >= count) return BW_OK;
    uint32_t room = manifest->count + count;
    struct page_sum *sums = bw_resize(manifest->sums, room * sizeof(*sums));
    if (!sums) return bw_fail(BW_ERR_NO_MEMORY, "Out of memory: list of written pages");
    manifest->sums = sums;
    manifest->room = room;
    return BW_OK;
}

void bw_manifest_add(struct manifest *manifest, page_no page, uint64_t sum)
{
    ASSERT(manifest->count < manifest->room);
    manifest->sums[manifest->count++] = (struct page_sum){.page = page, .sum = sum};
}

void bw_manifest_cut(struct manifest *manifest, page_no page, uint32_t pages)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < manifest->count; i++) {
        if (manifest->sums[i].page - page < pages) continue;
        manifest->sums[kept++] = manifest->sums[i];
    }
    manifest->count = kept;
}

static int by_page(const void *left, const void *right)
{
    const struct page_sum *a = left, *b = right;
    return a->page < b->page ? -1 : a->page > b->page;
}

void bw_manifest_sort(struct manifest *manifest)
{
    if (manifest->count > 1)
        qsort(manifest->sums, manifest->count, sizeof(*manifest->sums), by_page);
}

static uint32_t run_end(const struct manifest *manifest, uint32_t at)
{
    uint32_t end = at + 1;
    while (end < manifest->count && manifest->sums[end].page == manifest->sums[end - 1].page + 1)
        end++;
    return end;
}

uint32_t bw_manifest_run_count(const struct manifest *manifest)
{
    uint32_t count = 0;
    for (uint32_t at = 0; at < manifest->count; at = run_end(manifest, at)) count++;
    return count;
}

/* The hash of one run: over the sums of its pages, as little-endian bytes. */
static uint64_t hash_sums(const struct page_sum *sums, uint32_t count, uint64_t salt)
{
    uint64_t hash = salt;
    uint8_t piece[PIECE_PAGES * 8];
    for (uint32_t at = 0; at < count;) {
        uint32_t filled = 0;
        while (filled < PIECE_PAGES && at < count)
            bw_put_u64(piece + (size_t)8 * filled++, sums[at++].sum);
        hash = bw_hash64(piece, (size_t)8 * filled, hash);
    }
    return hash;
}

void bw_manifest_write_runs(const struct manifest *manifest, uint64_t salt, uint8_t *to)
{
    for (uint32_t at = 0, end; at < manifest->count; at = end, to += RUN_SIZE) {
        end = run_end(manifest, at);
        bw_put_u32(to, manifest->sums[at].page);
        bw_put_u32(to + 4, end - at);
        bw_put_u64(to + 8, hash_sums(manifest->sums + at, end - at, salt));
    }
}

/* Where a walk over the pages of a run stands. */
struct run_walk {
    uint32_t rest;                 /* pages of the run that are to come */
    uint32_t extent;               /* pages of the present extent that are to come */
    uint64_t stored;               /* the present extent's checksum, as its header tells */
    struct page_checksum checksum; /* and as its pages do */
};

/* Is this the first page of an extent? Decided by the headers met so far: if they are as they were
 * committed, so is the answer; if not, the sums differ anyway. */
static bool starts_extent(struct run_walk *walk, const uint8_t *page, uint64_t salt)
{
    if (walk->extent) return false;
    uint32_t pages = bw_page_extent(page);
    walk->extent = pages >= 1 && pages <= walk->rest ? pages : 1;
    walk->stored = bw_get_u64(page + PAGE_AT_CHECKSUM);
    bw_page_checksum_begin(&walk->checksum, salt);
    return true;
}

/* Count a page. False: an extent ends with it whose checksum is another attempt's, the one thing in
 * a page that its sum does not tell. */
static bool add_page(struct run_walk *walk, uint64_t sum)
{
    walk->rest--;
    walk->extent--;
    bw_page_checksum_add(&walk->checksum, sum);
    return walk->extent || bw_page_checksum_end(&walk->checksum) == walk->stored;
}

static bool own_checksum_fits(const uint8_t *page, page_no number, uint64_t salt)
{
    uint64_t sum;
    if (page[PAGE_AT_PAGES] != 1) return true; // an extent or a value: nothing of its own to see
    if (bw_get_u32(page + PAGE_AT_NUMBER) != number) return false;
    bw_page_sums(page, 1, salt, &sum);
    return bw_page_checksum(&sum, 1, salt) == bw_get_u64(page);
}

static bw_err check_run(const struct run_check *check, const uint8_t *run, uint8_t *piece,
                        bool *out_matches)
{
    page_no page = bw_get_u32(run);
    struct run_walk walk = {.rest = bw_get_u32(run + 4)};
    uint64_t hash = check->salt;
    *out_matches = false;
    bool fits = true, own_fits = true;
    while (walk.rest) {
        uint32_t pages = walk.rest < PIECE_PAGES ? walk.rest : PIECE_PAGES;
        size_t size = (size_t)pages * PAGE_SIZE, got = 0;
        bw_err err =
            check->file.disk->read(check->file, (uint64_t)page * PAGE_SIZE, piece, size, &got);
        if (err) return err;
        if (got < size) return BW_OK;
        uint8_t sums[PIECE_PAGES * 8];
        if (check->read) {
            err = bw_manifest_reserve(check->read, pages);
            if (err) return err;
        }
        for (uint32_t i = 0; i < pages; i++, page++) {
            const uint8_t *bytes = piece + (size_t)i * PAGE_SIZE;
            size_t skip = starts_extent(&walk, bytes, check->salt) ? 8 : 0;
            uint64_t sum = bw_hash64(bytes + skip, PAGE_SIZE - skip, check->salt);
            if (!add_page(&walk, sum)) fits = false;
            if (check->headers_only && skip && !own_checksum_fits(bytes, page, check->salt))
                own_fits = false;
            if (check->read) bw_manifest_add(check->read, page, sum);
            bw_put_u64(sums + (size_t)8 * i, sum);
        }
        hash = bw_hash64(sums, (size_t)8 * pages, hash);
    }
    *out_matches = check->headers_only ? own_fits : fits && hash == bw_get_u64(run + 8);
    return BW_OK;
}

bw_err bw_manifest_check(const struct run_check *check, const uint8_t *runs, uint32_t run_count,
                         bool *out_matches)
{
    *out_matches = true;
    if (!run_count) return BW_OK;
    uint8_t *piece = bw_new_raw(PIECE_PAGES * PAGE_SIZE);
    if (!piece) return bw_fail(BW_ERR_NO_MEMORY, "Out of memory: verifying the newest commit");
    bw_err err = BW_OK;
    for (uint32_t i = 0; i < run_count && !err && *out_matches; i++)
        err = check_run(check, runs + (size_t)i * RUN_SIZE, piece, out_matches);
    bw_free(piece);
    return err;
}

bw_err bw_manifest_rewrite(struct file file, const uint8_t *runs, uint32_t run_count)
{
    if (!run_count) return BW_OK;
    uint8_t *piece = bw_new_raw(PIECE_PAGES * PAGE_SIZE);
    if (!piece) return bw_fail(BW_ERR_NO_MEMORY, "Out of memory: making the newest commit durable");
    bw_err err = BW_OK;
    for (uint32_t i = 0; i < run_count && !err; i++, runs += RUN_SIZE) {
        uint64_t at = (uint64_t)bw_get_u32(runs) * PAGE_SIZE;
        uint64_t end = at + (uint64_t)bw_get_u32(runs + 4) * PAGE_SIZE;
        while (at < end && !err) {
            size_t size =
                end - at < PIECE_PAGES * PAGE_SIZE ? (size_t)(end - at) : PIECE_PAGES * PAGE_SIZE;
            size_t got = 0;
            err = file.disk->read(file, at, piece, size, &got);
            if (!err && got < size)
                err = bw_fail(BW_ERR_FILE_CORRUPT, "The file became shorter while it was opened");
            struct span span = {.data = piece, .size = size};
            if (!err) err = file.disk->write(file, at, &span, 1);
            at += size;
        }
    }
    bw_free(piece);
    return err;
}
