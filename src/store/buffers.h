/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory for the pages of a write transaction: 16-byte aligned, never moving, freed all at once.
 * What is in it is left over from something.
 *
 * Extents come from slabs that grow with the transaction; what is given back is used again for the
 * same length. A few slabs are kept by the process for the next transaction, so that thousands of
 * small commits do not ask the system for fresh pages each time.
 */
#pragma once

#include "store/page.h"

struct slab;
struct free_extent;

struct buffers {
    struct slab *slabs;                             /* owned, newest first */
    struct free_extent *free[EXTENT_PAGES_MAX + 1]; /* lists by length, in the extents themselves */
};

MUST_CHECK bw_err bw_buffers_take(struct buffers *buffers, uint32_t pages, uint8_t **out_bytes);
void bw_buffers_give(struct buffers *buffers, uint8_t *bytes, uint32_t pages);
void bw_buffers_deinit(struct buffers *buffers);
