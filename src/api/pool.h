/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool - slots for handles, in memory that is never given back.
 *
 * A handle is a pointer to a slot. Because a slot is never unmapped and says what it is and whether
 * it is open, a pointer that a program kept too long, mixed up or made up is told from a good one
 * without ever touching memory that is not ours.
 *
 * Invariants:
 *   P1  The memory of a slot stays a slot of its pool until the process ends.
 *   P2  A slot that was given back is taken again only after QUARANTINE others, and the one that
 *       was given back first before the others: a stale handle stays invalid as long as possible.
 *   P3  A slot's tag changes with every taking (its generation), so that whoever reads several of
 *       its fields can tell whether they belong together.
 *
 * Not here: what the kinds hold, and the texts of refusals (argument.h).
 */
#pragma once

#include <stdatomic.h>

#include "os/os.h"

/* What a slot holds. A kind lies in one pool only. */
enum slot_kind {
    SLOT_NEVER_USED = 0,

    /* One thread at a time. */
    SLOT_MODEL,
    SLOT_OPTIONS,
    SLOT_BUILDER,
    SLOT_QUERY,
    SLOT_CURSOR,
    SLOT_WEAK_STORE,
    SLOT_SCHEMA, /* boxwood_model */
    SLOT_SCAN,

    /* All threads: what late calls read of them is atomic. */
    SLOT_STORE,
    SLOT_BOX,

    SLOT_TXN,      /* OBX_txn */
    SLOT_FREE_TXN, /* boxwood_txn */

    SLOT_CORE,
};

enum slot_state { SLOT_CLOSED = 0, SLOT_OPEN = 1, SLOT_BUSY = 2 };

/* The first member of everything that lives in a slot. */
struct slot {
    _Atomic uint32_t tag; /* generation (16 bits), kind (8), state (8) */
    uint32_t next;        /* pool.mutex; number of the slot that was given back after this one */
};

enum { POOL_CHUNKS_MAX = 24 };

struct pool {
    size_t slot_size; /* a power of two */
    _Atomic uint32_t chunk_count;
    struct {
        uintptr_t start;
        size_t size;           /* bytes */
    } chunks[POOL_CHUNKS_MAX]; /* each holds twice as many slots as the one before */

    struct mutex mutex;               /* of all below */
    uint32_t used;                    /* slots that were ever taken */
    uint32_t room;                    /* slots in all chunks */
    uint32_t first, last, free_count; /* queue of slots that were given back */
};

extern struct pool bw_pool_handles; /* slots of 64 bytes */
extern struct pool bw_pool_shared;  /* of stores and boxes: slots of 64 bytes */
extern struct pool bw_pool_txns;    /* slots of 128 bytes */
extern struct pool bw_pool_cores;   /* slots of 128 bytes */

/*
 * A zeroed slot, still closed: fill it, then bw_slot_open. NULL: no memory, and the reason is set.
 * The pool is the kind's.
 */
void *bw_pool_take(enum slot_kind kind);

/* Close a slot if it is not yet, and let it be taken again. */
void bw_pool_give(void *slot);

/* In the child of a fork no other thread is left that could hold a lock. */
void bw_pool_after_fork(void);

static inline struct pool *bw_pool_of(enum slot_kind kind)
{
    if (kind < SLOT_STORE) return &bw_pool_handles;
    if (kind < SLOT_TXN) return &bw_pool_shared;
    return kind < SLOT_CORE ? &bw_pool_txns : &bw_pool_cores;
}

/* Whether a pointer, any pointer at all, is the start of a slot of this pool. */
static inline bool bw_pool_owns(const struct pool *pool, const void *pointer)
{
    const uintptr_t address = (uintptr_t)pointer;
    uint32_t i = atomic_load_explicit(&pool->chunk_count, memory_order_acquire);
    while (i-- > 0) {
        const uintptr_t at = address - pool->chunks[i].start;
        if (at < pool->chunks[i].size) return (at & (pool->slot_size - 1)) == 0;
    }
    return false;
}

static inline uint32_t bw_slot_tag(const void *slot)
{
    return atomic_load_explicit(&((const struct slot *)slot)->tag, memory_order_acquire);
}
static inline enum slot_kind bw_tag_kind(uint32_t tag) { return (enum slot_kind)(tag >> 8 & 0xff); }
static inline enum slot_state bw_tag_state(uint32_t tag) { return (enum slot_state)(tag & 0xff); }

static inline bool bw_tag_is_open(uint32_t tag, enum slot_kind kind)
{
    return (tag & 0xffff) == ((uint32_t)kind << 8 | SLOT_OPEN);
}

/* Whether a pointer, any at all, is an open handle of this kind that no call has entered. */
static inline bool bw_pool_holds(const void *pointer, enum slot_kind kind)
{
    return bw_pool_owns(bw_pool_of(kind), pointer) && bw_tag_is_open(bw_slot_tag(pointer), kind);
}

/* Publish a slot that was filled. */
static inline void bw_slot_open(void *slot)
{
    struct slot *head = slot;
    const uint32_t tag = atomic_load_explicit(&head->tag, memory_order_relaxed);
    atomic_store_explicit(&head->tag, (tag & ~(uint32_t)0xff) | SLOT_OPEN, memory_order_release);
}

/* From one state to another, if it is open as this kind. False: it is not, or not in that state. */
static inline bool bw_slot_change(void *slot, enum slot_kind kind, enum slot_state from,
                                  enum slot_state to)
{
    struct slot *head = slot;
    uint32_t tag = atomic_load_explicit(&head->tag, memory_order_relaxed);
    if ((tag & 0xffff) != ((uint32_t)kind << 8 | (uint32_t)from)) return false;
    return atomic_compare_exchange_strong_explicit(&head->tag, &tag,
                                                   (tag & ~(uint32_t)0xff) | (uint32_t)to,
                                                   memory_order_acq_rel, memory_order_relaxed);
}
