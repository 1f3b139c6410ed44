/* SPDX-License-Identifier: Apache-2.0 */
#include "store/buffers.h"

#include <stdatomic.h>

enum { SLAB_PAGES_FIRST = 8, SLAB_PAGES_MAX = 128, SLABS_KEPT = 2 };

struct slab {
    struct slab *next;
    uint8_t *bytes; /* 16-byte aligned */
    uint32_t pages, used;
};

/* What an extent that was given back holds until it is taken again. */
struct free_extent {
    struct free_extent *next;
};

/* Slabs of SLAB_PAGES_MAX pages that wait for the next transaction of this process. */
static _Atomic(struct slab *) kept[SLABS_KEPT];

static struct slab *take_kept(void)
{
    for (int i = 0; i < SLABS_KEPT; i++) {
        struct slab *slab = atomic_exchange(&kept[i], NULL);
        if (slab) return slab;
    }
    return NULL;
}

/* False: there is no place for it. Builds with slow checks keep none: using freed pages fails. */
static bool keep(struct slab *slab)
{
#ifdef BW_SLOW_CHECKS
    (void)slab;
    return false;
#else
    for (int i = 0; i < SLABS_KEPT; i++) {
        struct slab *none = NULL;
        if (atomic_compare_exchange_strong(&kept[i], &none, slab)) return true;
    }
    return false;
#endif
}

static struct slab *make_slab(uint32_t pages)
{
    struct slab *slab = pages == SLAB_PAGES_MAX ? take_kept() : NULL;
    if (!slab) {
        slab = bw_new_raw(bw_round_up(sizeof(*slab), 16) + (size_t)pages * PAGE_SIZE);
        if (!slab) return NULL;
        slab->bytes = (uint8_t *)slab + bw_round_up(sizeof(*slab), 16);
        slab->pages = pages;
    }
    slab->used = 0;
    return slab;
}

bw_err bw_buffers_take(struct buffers *buffers, uint32_t pages, uint8_t **out_bytes)
{
    struct free_extent *reused = pages <= EXTENT_PAGES_MAX ? buffers->free[pages] : NULL;
    uint8_t *bytes = (uint8_t *)reused;
    if (reused) {
        buffers->free[pages] = reused->next;
    } else {
        struct slab *slab = buffers->slabs;
        if (!slab || slab->pages - slab->used < pages) {
            uint32_t room = slab ? SLAB_PAGES_MAX : SLAB_PAGES_FIRST;
            slab = make_slab(pages > room ? pages : room);
            if (!slab) return bw_fail(BW_ERR_NO_MEMORY, "Out of memory: pages of a transaction");
            slab->next = buffers->slabs;
            buffers->slabs = slab;
        }
        bytes = slab->bytes + (size_t)slab->used * PAGE_SIZE;
        slab->used += pages;
    }
    *out_bytes = bytes;
    return BW_OK;
}

void bw_buffers_give(struct buffers *buffers, uint8_t *bytes, uint32_t pages)
{
    if (pages > EXTENT_PAGES_MAX) return; // a value's extent: its memory waits for the end
#ifdef BW_SLOW_CHECKS
    memset(bytes, 0xdd, (size_t)pages * PAGE_SIZE);
#endif
    struct free_extent *given = (struct free_extent *)(void *)bytes;
    given->next = buffers->free[pages];
    buffers->free[pages] = given;
}

void bw_buffers_deinit(struct buffers *buffers)
{
    while (buffers->slabs) {
        struct slab *slab = buffers->slabs;
        buffers->slabs = slab->next;
#ifdef BW_SLOW_CHECKS
        memset(slab->bytes, 0xdd, (size_t)slab->used * PAGE_SIZE);
#endif
        if (slab->pages != SLAB_PAGES_MAX || !keep(slab)) bw_free(slab);
    }
    *buffers = (struct buffers){0};
}
