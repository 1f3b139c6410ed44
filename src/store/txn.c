/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transactions: begin, commit, abort, and the writer lock.
 *
 * The writer lock has no owner: a transaction may end on another thread than began it. A reader
 * holds the snapshot that was newest when it began; nothing else ties it to the store.
 */
#include "store/engine.h"

/* ---- the writer lock ---- */

static bw_err take_writer_lock(struct store *store, int64_t wait_ms)
{
    int64_t until = wait_ms > 0 ? bw_clock_ms() + wait_ms : 0;
    bool got = true;
    bw_mutex_lock(&store->mutex);
    while (store->is_writing && got) {
        if (wait_ms < 0) {
            bw_condition_wait(&store->writer_gone, &store->mutex);
            continue;
        }
        int64_t rest = wait_ms ? until - bw_clock_ms() : 0;
        got = rest > 0;
        if (got) (void)bw_condition_wait_for(&store->writer_gone, &store->mutex, rest);
    }
    if (got) store->is_writing = true;
    bw_mutex_unlock(&store->mutex);
    return got ? BW_OK : BW_ERR_TIMEOUT;
}

static void give_writer_lock(struct store *store)
{
    bw_mutex_lock(&store->mutex);
    store->is_writing = false;
    bw_mutex_unlock(&store->mutex);
    bw_condition_wake_one(&store->writer_gone);
}

/* ---- pins ---- */

/* R8: the transactions whose pages must stay: cur, the one in the other slot, and live readers'. */
static bw_err ripen(struct store *store)
{
    enum { FEW = 62 };
    uint64_t few[FEW + 2], *pins = few;
    uint32_t count = 0, room = 2;
    bw_err err = BW_OK;
    bw_mutex_lock(&store->mutex);
    for (const struct snapshot *each = store->cur; each; each = each->older) room++;
    if (room > FEW) {
        pins = bw_new_raw(room * sizeof(*pins));
        if (!pins) err = bw_fail(BW_ERR_NO_MEMORY, "Out of memory: list of readers");
    }
    for (const struct snapshot *each = store->cur; each && !err; each = each->older)
        if (each == store->cur || !BUG(reuse_reader)) pins[count++] = each->txn_id;
    bw_mutex_unlock(&store->mutex);
    if (err) return err;
    if (store->writer->previous_txn && !BUG(reuse_previous))
        pins[count++] = store->writer->previous_txn;
    bw_space_ripen(&store->writer->space, pins, count);
    if (pins != few) bw_free(pins);
    return BW_OK;
}

/* ---- begin ---- */

static bw_err check_usable(const struct store *store, enum txn_mode mode)
{
    if (UNLIKELY(atomic_load_explicit(&store->is_forked, memory_order_relaxed)))
        return bw_fail(BW_ERR_ILLEGAL_STATE,
                       "The store was opened before this process was forked; open it again: \"%s\"",
                       store->directory);
    if (mode == TXN_READ) return BW_OK;
    if (store->is_read_only)
        return bw_fail(BW_ERR_ILLEGAL_STATE,
                       "Cannot start a write transaction from read only store");
    return BW_OK;
}

static bw_err begin_write(struct txn *txn, int64_t wait_ms)
{
    struct store *store = txn->store;
    bw_err err = bw_changes_new(&txn->changes);
    if (!err) err = take_writer_lock(store, wait_ms);
    if (err) return err;
    if (atomic_load(&store->session) == SESSION_POISONED)
        err = bw_fail(BW_ERR_STORE_MUST_SHUTDOWN,
                      "The store must be closed: an earlier write to its file failed");
    if (!err && !store->writer) err = bw_recover_fence(store);
    if (!err) err = ripen(store);
    if (err) {
        give_writer_lock(store);
        return err;
    }
    bw_mutex_lock(&store->mutex);
    txn->snapshot = bw_snapshot_hold(store);
    bw_mutex_unlock(&store->mutex);
    txn->id = store->highest_txn + 1;
    return BW_OK;
}

static bw_err begin_read(struct txn *txn)
{
    struct store *store = txn->store;
    bw_mutex_lock(&store->mutex);
    bool full = store->readers_max && store->reader_count >= store->readers_max;
    if (!full) {
        store->reader_count++;
        txn->snapshot = bw_snapshot_hold(store);
        txn->id = txn->snapshot ? txn->snapshot->txn_id : 0;
    }
    bw_mutex_unlock(&store->mutex);
    if (!full) return BW_OK;
    return bw_fail(BW_ERR_MAX_READERS_EXCEEDED,
                   "Could not begin read transaction (maximum of read transactions reached)");
}

bw_err bw_txn_begin(struct store *store, enum txn_mode mode, int64_t wait_ms, struct txn **out_txn)
{
    bw_err err = check_usable(store, mode);
    if (err) return err;
    struct txn *txn = bw_new(sizeof(*txn));
    if (!txn) return bw_fail(BW_ERR_NO_MEMORY, "Out of memory: a transaction");
    txn->store = store;
    txn->change = 1;
    err = mode == TXN_WRITE ? begin_write(txn, wait_ms) : begin_read(txn);
    if (err) {
        bw_changes_free(txn->changes);
        bw_free(txn);
        return err;
    }
    *out_txn = txn;
    return BW_OK;
}

/* ---- end ---- */

static void end(struct txn *txn, bool is_published)
{
    struct store *store = txn->store;
    if (txn->changes && !is_published) bw_space_undo(&store->writer->space);
    while (txn->trees) {
        struct tree_block *block = txn->trees;
        txn->trees = block->next;
        if (block != &txn->first) bw_free(block);
    }
    bw_pager_free_scratch(txn);
    bool writes = txn->changes != NULL;
    bw_changes_free(txn->changes);
    bw_mutex_lock(&store->mutex);
    bw_snapshot_release(store, txn->snapshot);
    if (!writes) store->reader_count--;
    bw_mutex_unlock(&store->mutex);
    if (writes) give_writer_lock(store);
    bw_free(txn);
}

bw_err bw_txn_commit(struct txn *txn)
{
    bool publishes = bw_txn_changed(txn);
    bw_err err = publishes ? check_usable(txn->store, TXN_WRITE) : BW_OK;
    if (!err && publishes) err = bw_commit_run(txn);
    end(txn, publishes && !err);
    return err;
}

void bw_txn_abort(struct txn *txn)
{
    if (txn) end(txn, false);
}

bool bw_txn_writes(const struct txn *txn) { return txn->changes != NULL; }
uint64_t bw_txn_id(const struct txn *txn) { return txn->id; }

bool bw_txn_changed(const struct txn *txn)
{
    return txn->changes && (txn->is_changed || txn->changes->has_schema);
}

uint64_t bw_txn_change(const struct txn *txn) { return txn->change; }

void bw_txn_note_change(struct txn *txn)
{
    ASSERT(txn->changes);
    txn->change++;
    txn->is_changed = true;
    if (UNLIKELY(txn->scratch != NULL)) bw_pager_free_scratch(txn);
}

/* ---- the schema ---- */

bw_err bw_txn_schema_hash(struct txn *txn, uint8_t out_hash[16])
{
    const uint8_t *hash = txn->snapshot ? txn->snapshot->schema_hash : NULL;
    if (txn->changes && txn->changes->has_schema) hash = txn->changes->schema_hash;
    if (hash) memcpy(out_hash, hash, 16);
    else memset(out_hash, 0, 16);
    return BW_OK;
}

bw_err bw_txn_schema(struct txn *txn, struct bytes *out_blob)
{
    const struct snapshot *snapshot = txn->snapshot;
    *out_blob = (struct bytes){0};
    if (txn->changes && txn->changes->has_schema) {
        *out_blob = (struct bytes){txn->changes->schema, txn->changes->schema_size};
        return BW_OK;
    }
    if (!snapshot) return BW_OK;
    *out_blob = (struct bytes){snapshot->schema, snapshot->schema_size};
    if (!snapshot->schema_page) return BW_OK;
    uint32_t pages = (snapshot->schema_size + PAGE_HEADER_SIZE + PAGE_SIZE - 1) / PAGE_SIZE;
    bw_err err =
        bw_page_read_overflow(txn, snapshot->schema_page, pages, TREE_SCHEMA, &out_blob->data);
    if (!err) out_blob->data += PAGE_HEADER_SIZE;
    return err;
}

bw_err bw_txn_set_schema(struct txn *txn, const uint8_t hash[16], struct bytes blob)
{
    struct changes *changes = txn->changes;
    ASSERT(changes);
    if (blob.size > VALUE_CONTIGUOUS_MAX)
        return bw_fail(BW_ERR_ILLEGAL_ARGUMENT, "The schema is too large: %zu bytes", blob.size);
    uint8_t *copy = bw_new_raw(blob.size ? blob.size : 1);
    if (!copy) return bw_fail(BW_ERR_NO_MEMORY, "Out of memory: the schema");
    if (blob.size) memcpy(copy, blob.data, blob.size);
    bw_txn_note_change(txn);
    bw_free(changes->schema);
    changes->schema = copy;
    changes->schema_size = (uint32_t)blob.size;
    memcpy(changes->schema_hash, hash, 16);
    changes->has_schema = true;
    return BW_OK;
}
