/* SPDX-License-Identifier: Apache-2.0 */
/* The only way to the C library's allocator, with the two hooks that let tests make it fail. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"

/* Zeroed memory, or NULL. bw_new(0) gives a unique pointer. Aligned for any scalar (16 bytes). */
MUST_CHECK void *bw_new(size_t size);

/* The same without zeroing: for buffers that are filled at once. */
MUST_CHECK void *bw_new_raw(size_t size);

/*
 * Grow or shrink a block; NULL block: as bw_new_raw. On failure NULL, and the block is as it was.
 * Builds with BW_SLOW_CHECKS always move it, so that a pointer kept too long fails at once.
 */
MUST_CHECK void *bw_resize(void *block, size_t size);

/* A NUL-terminated copy, or NULL. */
MUST_CHECK char *bw_copy_text(const char *text);

/* NULL is allowed. */
void bw_free(void *block);

/* Test hook: the allocation after the next `count` ones fails, and all after it; -1: none. */
void bw_memory_fail_after(int64_t count);

/* Test hook: blocks that are allocated and not freed. Counted only in builds with BW_TESTS. */
int64_t bw_memory_blocks(void);
