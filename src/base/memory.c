/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The C library's allocator, with hooks that let tests make it fail and count what is left.
 *
 * Builds with BW_SLOW_CHECKS are hostile on purpose: a block carries its size in front, so that
 * resizing can always move it, and what is fresh or freed is filled with bytes that mean nothing.
 *
 * Invariants:
 *   M1  A failed request changes nothing and is not counted.
 *   M2  Every block has room for at least one byte, so that no two blocks share an address.
 */
#include "base/memory.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static _Atomic int64_t allowed = -1; // requests before the first that fails; below 0: no limit

#ifdef BW_TESTS
static _Atomic int64_t blocks;
static void count(int change) { atomic_fetch_add_explicit(&blocks, change, memory_order_relaxed); }
int64_t bw_memory_blocks(void) { return atomic_load(&blocks); }
#else
static void count(int change) { (void)change; }
int64_t bw_memory_blocks(void) { return 0; }
#endif

void bw_memory_fail_after(int64_t successes) { atomic_store(&allowed, successes); }

static bool may_allocate(void)
{
    int64_t left = atomic_load_explicit(&allowed, memory_order_relaxed);
    if (LIKELY(left < 0)) return true;
    while (left > 0) {
        if (atomic_compare_exchange_weak(&allowed, &left, left - 1)) return true;
    }
    return left < 0;
}

#ifdef BW_SLOW_CHECKS

enum {
    FRONT = 16, /* keeps the alignment of what the C library gives */
    FRESH = 0xA5,
    FREED = 0xDB,
};

static size_t size_of(const void *block)
{
    size_t size;
    memcpy(&size, (const uint8_t *)block - FRONT, sizeof(size));
    return size;
}

static void *take(size_t size, bool zeroed)
{
    if (size > SIZE_MAX - FRONT) return NULL;
    uint8_t *block = malloc(size + FRONT);
    if (!block) return NULL;
    memcpy(block, &size, sizeof(size));
    memset(block + FRONT, zeroed ? 0 : FRESH, size);
    return block + FRONT;
}

static void give(void *block)
{
    uint8_t *whole = (uint8_t *)block - FRONT;
    memset(whole, FREED, size_of(block) + FRONT);
    free(whole);
}

static void *move(void *block, size_t size)
{
    void *moved = take(size, false);
    if (!moved) return NULL;
    size_t old_size = size_of(block);
    memcpy(moved, block, old_size < size ? old_size : size);
    give(block);
    return moved;
}

#else

static void *take(size_t size, bool zeroed) { return zeroed ? calloc(1, size) : malloc(size); }
static void give(void *block) { free(block); }
static void *move(void *block, size_t size) { return realloc(block, size); }

#endif

static void *take_counted(size_t size, bool zeroed)
{
    if (!may_allocate()) return NULL;
    void *block = take(size ? size : 1, zeroed); // M2
    if (block) count(1);                         // M1
    return block;
}

void *bw_new(size_t size) { return take_counted(size, true); }

void *bw_new_raw(size_t size) { return take_counted(size, false); }

void *bw_resize(void *block, size_t size)
{
    if (!block) return bw_new_raw(size);
    if (!may_allocate()) return NULL;
    return move(block, size ? size : 1);
}

char *bw_copy_text(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = bw_new_raw(size);
    if (copy) memcpy(copy, text, size);
    return copy;
}

void bw_free(void *block)
{
    if (!block) return;
    count(-1);
    give(block);
}
