/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pins: the snapshots whose pages must not change, and what follows from them: which pages are
 * free, and where the file may end.
 *
 * Pins are the snapshots in the slots, the one whose flush is going on, and those that readers see.
 * A snapshot that was staged and then passed over by a newer one, before anybody wrote its slot, is
 * none: nobody can reach it.
 */
#include "store/engine.h"

struct pins {
    uint64_t few[64], *txns; /* few, or owned */
    uint32_t count, room;
    uint32_t hwm; /* all of their pages lie below */
};

static void add(struct pins *pins, uint64_t txn_id, uint32_t hwm)
{
    ASSERT(pins->count < pins->room);
    pins->txns[pins->count++] = txn_id;
    if (hwm > pins->hwm) pins->hwm = hwm;
}

static void add_mark(struct pins *pins, const struct mark *mark)
{
    if (mark) add(pins, mark->txn_id, mark->hwm);
}

/* Under the store's mutex. */
static bw_err reserve(struct pins *pins, const struct store *store)
{
    enum { MARKS = 3 };
    uint32_t wanted = MARKS;
    for (const struct snapshot *each = store->head; each; each = each->older) wanted++;
    *pins = (struct pins){.txns = pins->few, .room = sizeof(pins->few) / sizeof(pins->few[0])};
    if (wanted <= pins->room) return BW_OK;
    pins->txns = bw_new_raw(wanted * sizeof(*pins->txns));
    if (!pins->txns) return bw_fail(BW_ERR_NO_MEMORY, "Out of memory: list of readers");
    pins->room = wanted;
    return BW_OK;
}

/* The bugs of tests that look for them. */
static bool is_forgotten(const struct store *store, const struct snapshot *snapshot)
{
    if (snapshot == store->head) return false;
    return (BUG(reuse_reader) && snapshot->is_held) ||
           (BUG(group_pin_missing) && !snapshot->is_held);
}

/* Under the store's mutex. Whoever begins to read later sees cur, which is among them. */
static bw_err collect(struct store *store, struct pins *pins)
{
    const struct writer *writer = store->writer;
    bw_snapshot_prune(store);
    bw_err err = reserve(pins, store);
    if (err) return err;
    if (!BUG(reuse_durable)) add_mark(pins, writer->durable);
    add_mark(pins, writer->last);
    if (!BUG(reuse_previous)) add_mark(pins, writer->previous);
    for (const struct snapshot *each = store->head; each; each = each->older)
        if (!is_forgotten(store, each)) add(pins, each->txn_id, each->hwm);
    if (BUG(previous_trimmed) && store->head) pins->hwm = store->head->hwm;
    return BW_OK;
}

static void forget(struct pins *pins)
{
    if (pins->txns != pins->few) bw_free(pins->txns);
}

bw_err bw_pins_ripen(struct store *store)
{
    struct pins pins;
    bw_mutex_lock(&store->mutex);
    bw_err err = collect(store, &pins);
    bw_mutex_unlock(&store->mutex);
    if (err) return err;
    bw_space_ripen(&store->writer->space, pins.txns, pins.count);
    forget(&pins);
    return BW_OK;
}

/* What the file may keep beyond its pages, so that it does not shrink and grow all the time. */
static uint64_t slack_of(uint64_t keep, bool all)
{
    enum { SMALL = 256 };
    if (!all) return keep / 4 > SMALL ? keep / 4 : SMALL;
    if (keep < SMALL) return 0;
    return keep / 16 < SMALL ? keep / 16 : SMALL;
}

void bw_pins_trim(struct store *store, bool all)
{
    struct pins pins;
    bw_mutex_lock(&store->mutex);
    bw_err err = collect(store, &pins);
    bw_mutex_unlock(&store->mutex);
    if (err) return; // it can wait
    const uint64_t keep = pins.hwm;
    forget(&pins);
    if (!keep || keep + slack_of(keep, all) >= store->file_pages) return;
    if (store->disk->resize(store->file, keep * PAGE_SIZE) == BW_OK) store->file_pages = keep;
}
