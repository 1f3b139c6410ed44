/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages with their sums: what a slot's manifest is made of and checked against.
 *
 * A manifest names runs of pages, each with the hash over its pages' sums, so that a slot that was
 * never flushed is accepted only if all that it relies on is there (R4).
 */
#pragma once

#include "os/os.h"
#include "store/page.h"

enum {
    RUN_SIZE = 16, /* bytes of a run in the slot: first u32, count u32, hash u64 */
    MANIFEST_PAGES_MAX = 256,
};

struct page_sum {
    page_no page;
    uint64_t sum;
};

struct manifest {
    struct page_sum *sums; /* owned */
    uint32_t count, room;
};

void bw_manifest_deinit(struct manifest *manifest);
void bw_manifest_clear(struct manifest *manifest);
/* Make room for `count` more, so that adding cannot fail. */
MUST_CHECK bw_err bw_manifest_reserve(struct manifest *manifest, uint32_t count);
void bw_manifest_add(struct manifest *manifest, page_no page, uint64_t sum);
/* Forget the pages [page, page + pages) where they are named. */
void bw_manifest_cut(struct manifest *manifest, page_no page, uint32_t pages);
void bw_manifest_sort(struct manifest *manifest);

/* Runs of a sorted manifest: how many there are, and written one after the other. */
uint32_t bw_manifest_run_count(const struct manifest *manifest);
void bw_manifest_write_runs(const struct manifest *manifest, uint64_t salt, uint8_t *to);

/*
 * Read the pages of `run_count` runs and compare. *out_matches false: one differs, or lies beyond
 * the file's end. read (may be NULL) receives every page with its sum. Only reading can fail.
 */
struct run_check {
    struct file file;
    uint64_t salt;
    struct manifest *read; /* borrowed, may be NULL */
    bool headers_only;     /* an injected bug: pages are compared with their own checksum only */
};
MUST_CHECK bw_err bw_manifest_check(const struct run_check *check, const uint8_t *runs,
                                    uint32_t run_count, bool *out_matches);

/* Read the pages of the runs and write the same bytes again (R15). */
MUST_CHECK bw_err bw_manifest_rewrite(struct file file, const uint8_t *runs, uint32_t run_count);
