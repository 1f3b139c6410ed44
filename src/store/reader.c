/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read transactions: which snapshots are in use, told without a lock.
 *
 * A reader publishes the snapshot that it reads in a place of its own, a cache line that no other
 * running reader writes, and then looks whether that snapshot is still the newest: if so, whoever
 * publishes a newer one afterwards will find the place when it looks for readers. Beginning and
 * ending therefore write nothing that threads share, and wait for nobody.
 *
 * Places belong to the process, not to a store: ten thousand open stores cost nothing more.
 *
 * Invariants:
 *   RP1  A place is written only by the transaction that has claimed it, until it gives it back.
 *   RP2  A snapshot in a place is not freed, and no page that it reaches is written.
 *   RP3  Places are never unmapped: those who look for readers need no lock.
 */
#include "store/engine.h"

enum { FIRST_PLACES = 64, CHUNKS_MAX = 20 };

/* A place that is claimed and shows no snapshot yet. */
static const struct snapshot nothing;

static struct reader_place first_places[FIRST_PLACES];
/* Chunk i has FIRST_PLACES << i places; chunk 0 lies above. */
static _Atomic(struct reader_place *) chunks[CHUNKS_MAX] = {first_places};
static _Atomic(uint32_t) chunk_count = 1;
static struct mutex growing;
static _Thread_local struct reader_place *usual; /* the one that this thread had last */

static bool claim(struct reader_place *place)
{
    const struct snapshot *expected = NULL;
    return !atomic_load_explicit(&place->snapshot, memory_order_relaxed) &&
           atomic_compare_exchange_strong(&place->snapshot, &expected, &nothing); // RP1
}

static struct reader_place *claim_in(uint32_t chunk)
{
    const uint32_t size = (uint32_t)FIRST_PLACES << chunk;
    struct reader_place *places = atomic_load_explicit(&chunks[chunk], memory_order_acquire);
    const uint32_t start = (uint32_t)bw_thread_number();
    for (uint32_t i = 0; i < size; i++) {
        struct reader_place *place = &places[(start + i) & (size - 1)];
        if (claim(place)) return place;
    }
    return NULL;
}

/* One more chunk, unless somebody else was faster. False: no memory. */
static bool grow(uint32_t seen)
{
    bool grown = true;
    bw_mutex_lock(&growing);
    if (atomic_load(&chunk_count) == seen) {
        const size_t size = ((size_t)FIRST_PLACES << seen) * sizeof(struct reader_place);
        const size_t line = sizeof(struct reader_place);
        uint8_t *block = seen < CHUNKS_MAX ? bw_new(size + line) : NULL;
        grown = block != NULL;
        if (grown) {
            block += line - (uintptr_t)block % line;
            atomic_store(&chunks[seen], (struct reader_place *)(void *)block);
            atomic_store(&chunk_count, seen + 1); // RP3
        }
    }
    bw_mutex_unlock(&growing);
    return grown;
}

static struct reader_place *claim_any(void)
{
    if (LIKELY(usual && claim(usual))) return usual;
    for (uint32_t chunk = 0;; chunk++) {
        if (chunk == atomic_load(&chunk_count) && !grow(chunk)) return NULL;
        struct reader_place *place = claim_in(chunk);
        if (place) return usual = place;
    }
}

static bw_err count_reader(struct store *store)
{
    if (!store->readers_max || atomic_fetch_add(&store->reader_count, 1) < store->readers_max)
        return BW_OK;
    atomic_fetch_sub(&store->reader_count, 1);
    return bw_fail(BW_ERR_MAX_READERS_EXCEEDED,
                   "Could not begin read transaction (maximum of read transactions reached)");
}

static void uncount_reader(struct store *store)
{
    if (store->readers_max) atomic_fetch_sub(&store->reader_count, 1);
}

bw_err bw_reader_begin(struct txn *txn)
{
    struct store *store = txn->store;
    bw_err err = count_reader(store);
    if (err) return err;
    struct reader_place *place = claim_any();
    if (!place) {
        uncount_reader(store);
        return bw_fail(BW_ERR_NO_MEMORY, "Out of memory: a read transaction");
    }
    const struct snapshot *cur = atomic_load(&store->cur), *seen = NULL;
    while (cur && cur != seen) { // RP2
        atomic_store(&place->snapshot, cur);
        seen = cur;
        cur = atomic_load(&store->cur);
    }
    atomic_store_explicit(&place->thread, bw_thread_number(), memory_order_relaxed);
    atomic_store_explicit(&place->begun_ms, bw_clock_coarse_ms(), memory_order_relaxed);
    txn->place = place;
    txn->snapshot = cur;
    txn->id = cur ? cur->txn_id : 0;
    return BW_OK;
}

void bw_reader_end(struct txn *txn)
{
    atomic_store_explicit(&txn->place->snapshot, NULL, memory_order_release);
    uncount_reader(txn->store);
}

static void mark(struct store *store, const struct snapshot *held)
{
    struct snapshot *each = store->head;
    while (each && each != held) each = each->older;
    if (each) each->is_held = true;
}

void bw_reader_mark_held(struct store *store)
{
    const uint32_t count = atomic_load(&chunk_count);
    for (uint32_t chunk = 0; chunk < count; chunk++) {
        struct reader_place *places = atomic_load(&chunks[chunk]);
        for (uint32_t i = 0; i < (uint32_t)FIRST_PLACES << chunk; i++) {
            const struct snapshot *held = atomic_load(&places[i].snapshot);
            if (held && held != &nothing) mark(store, held);
        }
    }
}

bool bw_reader_is_any(struct store *store)
{
    for (struct snapshot *each = store->head; each; each = each->older) each->is_held = false;
    bw_reader_mark_held(store);
    for (const struct snapshot *each = store->head; each; each = each->older)
        if (each->is_held) return true;
    return false;
}
