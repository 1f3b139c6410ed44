/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transactions: begin, commit, abort, and the writer lock.
 *
 * The writer lock has no owner: a transaction may end on another thread than began it. It is given
 * on as soon as a commit is staged; the next writer builds on a snapshot that readers may not see
 * yet (R21).
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

/* ---- begin ---- */

static bw_err check_usable(const struct store *store, enum txn_mode mode)
{
    if (UNLIKELY(atomic_load_explicit(&store->is_forked, memory_order_relaxed)))
        return bw_fail(BW_ERR_ILLEGAL_STATE,
                       "The store was opened before this process was forked; open it again: \"%s\"",
                       store->directory);
    if (mode == TXN_READ) return BW_OK;
    if (UNLIKELY(atomic_load(&store->session) == SESSION_POISONED))
        return bw_fail(BW_ERR_STORE_MUST_SHUTDOWN,
                       "The store must be closed: an earlier write to its file failed");
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
    err = check_usable(store, TXN_WRITE); // again: whoever had the lock may have failed
    if (!err && !store->writer) err = bw_recover_fence(store);
    if (!err) err = bw_pins_ripen(store);
    if (err) {
        give_writer_lock(store);
        return err;
    }
    bw_pins_trim(store, false);
    txn->snapshot = store->head; // nobody else changes it while this transaction writes
    txn->id = store->highest_txn + 1;
    return BW_OK;
}

bw_err bw_txn_begin(struct store *store, enum txn_mode mode, int64_t wait_ms, struct txn **out_txn)
{
    bw_err err = check_usable(store, mode);
    if (err) return err;
    struct txn *txn = bw_new(sizeof(*txn));
    if (!txn) return bw_fail(BW_ERR_NO_MEMORY, "Out of memory: a transaction");
    txn->store = store;
    txn->change = 1;
    err = mode == TXN_WRITE ? begin_write(txn, wait_ms) : bw_reader_begin(txn);
    if (err) {
        bw_changes_free(txn->changes);
        bw_free(txn);
        return err;
    }
    *out_txn = txn;
    return BW_OK;
}

/* ---- end ---- */

static void end(struct txn *txn, bool is_staged)
{
    struct store *store = txn->store;
    const bool writes = txn->changes != NULL;
    if (writes && !is_staged) bw_space_undo(&store->writer->space);
    while (txn->trees) {
        struct tree_block *block = txn->trees;
        txn->trees = block->next;
        if (block != &txn->first) bw_free(block);
    }
    bw_pager_free_scratch(txn);
    bw_changes_free(txn->changes);
    if (writes) give_writer_lock(store);
    else bw_reader_end(txn);
    bw_free(txn);
}

bw_err bw_txn_stage(struct txn *txn)
{
    struct store *store = txn->store;
    const uint64_t id = txn->id;
    const bool is_first = !txn->snapshot;
    bw_err err = check_usable(store, TXN_WRITE);
    if (!err) err = bw_commit_run(txn);
    const bool is_staged = !err;
    // R17: nobody writes anything else before a new store is durable.
    if (is_staged && is_first) err = bw_group_finish(store, id);
    end(txn, is_staged);
    return err;
}

bw_err bw_txn_commit(struct txn *txn)
{
    if (!bw_txn_changed(txn)) {
        end(txn, false);
        return BW_OK;
    }
    struct store *store = txn->store;
    const uint64_t id = txn->id;
    bw_err err = bw_txn_stage(txn);
    return err ? err : bw_group_finish(store, id);
}

void bw_txn_abort(struct txn *txn)
{
    if (txn) end(txn, false);
}

// What an earlier process left was made durable when the transaction began (R15).
bw_err bw_txn_flush(struct txn *txn)
{
    ASSERT(txn->changes);
    return bw_group_settle(txn->store);
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
