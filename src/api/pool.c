/* SPDX-License-Identifier: Apache-2.0 */
#include "api/pool.h"

enum {
    FIRST_CHUNK = 64, /* slots */
    QUARANTINE = 16,
    NONE = 0, /* in a queue of numbers that begin with 1 */
};

struct pool bw_pool_handles = {.slot_size = 64};
struct pool bw_pool_shared = {.slot_size = 64};
struct pool bw_pool_txns = {.slot_size = 128};
struct pool bw_pool_cores = {.slot_size = 128};

// Slot `number` (from 1) lies in the chunk that holds FIRST_CHUNK * 2^chunk slots.
static struct slot *slot_at(const struct pool *pool, uint32_t number)
{
    uint32_t chunk = 0, before = 0, size = FIRST_CHUNK;
    while (number - 1 >= before + size) {
        before += size;
        size *= 2;
        chunk++;
    }
    const uintptr_t address = pool->chunks[chunk].start + (number - 1 - before) * pool->slot_size;
    return (struct slot *)address;
}

static uint32_t number_of(const struct pool *pool, const struct slot *slot)
{
    uint32_t before = 0, size = FIRST_CHUNK;
    for (uint32_t chunk = 0;; chunk++) {
        const uintptr_t at = (uintptr_t)slot - pool->chunks[chunk].start;
        if (at < pool->chunks[chunk].size) return before + (uint32_t)(at / pool->slot_size) + 1;
        before += size;
        size *= 2;
    }
}

static bool grow(struct pool *pool)
{
    const uint32_t count = atomic_load_explicit(&pool->chunk_count, memory_order_relaxed);
    if (count == POOL_CHUNKS_MAX) return false;
    const uint32_t slots = (uint32_t)FIRST_CHUNK << count;
    const size_t size = slots * pool->slot_size;
    void *block = bw_new(size + pool->slot_size); // never freed: P1
    if (!block) return false;
    pool->chunks[count].start = bw_round_up((uintptr_t)block, pool->slot_size);
    pool->chunks[count].size = size;
    pool->room += slots;
    atomic_store_explicit(&pool->chunk_count, count + 1, memory_order_release);
    return true;
}

static struct slot *take_first(struct pool *pool)
{
    struct slot *slot = slot_at(pool, pool->first);
    pool->first = slot->next;
    if (pool->first == NONE) pool->last = NONE;
    pool->free_count--;
    return slot;
}

static struct slot *take_locked(struct pool *pool)
{
    if (pool->free_count > QUARANTINE) return take_first(pool); // P2
    if (pool->used < pool->room || grow(pool)) return slot_at(pool, ++pool->used);
    return pool->free_count > 0 ? take_first(pool) : NULL;
}

void *bw_pool_take(enum slot_kind kind)
{
    struct pool *pool = bw_pool_of(kind);
    bw_mutex_lock(&pool->mutex);
    struct slot *slot = take_locked(pool);
    bw_mutex_unlock(&pool->mutex);
    if (!slot) {
        bw_reason_set(BW_ERR_NO_MEMORY, 0, "No memory for a handle");
        return NULL;
    }
    const uint32_t old = atomic_load_explicit(&slot->tag, memory_order_relaxed);
    const uint32_t tag = ((old >> 16) + 1) << 16 | (uint32_t)kind << 8 | SLOT_CLOSED; // P3
    atomic_store_explicit(&slot->tag, tag, memory_order_relaxed);
    // Word by word, since a late call may be looking at what the slot held before.
    _Atomic uint64_t *words = (_Atomic uint64_t *)slot;
    for (size_t i = sizeof(*slot) / 8; i < pool->slot_size / 8; i++) {
        atomic_store_explicit(&words[i], 0, memory_order_relaxed);
    }
    return slot;
}

void bw_pool_give(void *given)
{
    struct slot *slot = given;
    const uint32_t tag = atomic_load_explicit(&slot->tag, memory_order_relaxed);
    struct pool *pool = bw_pool_of(bw_tag_kind(tag));
    atomic_store_explicit(&slot->tag, tag & ~(uint32_t)0xff, memory_order_release);

    bw_mutex_lock(&pool->mutex);
    const uint32_t number = number_of(pool, slot);
    slot->next = NONE;
    if (pool->last == NONE) {
        pool->first = number;
    } else {
        slot_at(pool, pool->last)->next = number;
    }
    pool->last = number;
    pool->free_count++;
    bw_mutex_unlock(&pool->mutex);
}

void bw_pool_after_fork(void)
{
    bw_pool_handles.mutex = (struct mutex){0};
    bw_pool_shared.mutex = (struct mutex){0};
    bw_pool_txns.mutex = (struct mutex){0};
    bw_pool_cores.mutex = (struct mutex){0};
}
