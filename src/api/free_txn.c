/* SPDX-License-Identifier: Apache-2.0 */
#include "api/free_txn.h"

// ---- beginning and ending ----

static bw_err check_own_thread(uint64_t core_id)
{
    const OBX_txn *top = bw_thread_txn_find(core_id);
    if (!top || !top->writes || !top->txn) return BW_OK;
    return bw_fail(BW_ERR_ILLEGAL_STATE,
                   "This thread has a write transaction open on the store and would wait for "
                   "itself");
}

static bw_err begin_held(struct core *core, enum txn_mode mode, int64_t wait_ms,
                         boxwood_txn **out_txn)
{
    boxwood_txn *txn = bw_pool_take(SLOT_FREE_TXN);
    if (!txn) return BW_ERR_NO_MEMORY;
    bw_err err = bw_core_begin(core, mode, wait_ms, &txn->txn);
    if (err) {
        bw_pool_give(txn);
        return err;
    }
    txn->core = core;
    txn->core_id = atomic_load_explicit(&core->id, memory_order_relaxed);
    txn->writes = mode == TXN_WRITE;
    atomic_fetch_add(&core->txn_count, 1);
    bw_slot_open(txn);
    *out_txn = txn;
    return BW_OK;
}

bw_err bw_free_txn_begin(struct core *core, uint64_t core_id, enum txn_mode mode, int64_t wait_ms,
                         boxwood_txn **out_txn)
{
    bw_err err = mode == TXN_WRITE ? check_own_thread(core_id) : BW_OK;
    if (!err) err = bw_core_enter(core, core_id);
    if (err) return err;
    err = begin_held(core, mode, wait_ms, out_txn);
    if (err) bw_core_leave(core);
    return err;
}

/* End the transaction below, if it has not ended; the call counts as inside until it is done. */
static bw_err end_below(boxwood_txn *txn, bool commit)
{
    struct txn *below = txn->txn;
    if (!below) return BW_OK;
    struct core *core = txn->core;
    txn->txn = NULL;
    atomic_fetch_sub(&core->txn_count, 1); // C3
    bw_err err = BW_OK;
    if (commit) {
        err = bw_db_commit(core->db, below);
    } else {
        bw_txn_abort(below);
    }
    bw_core_leave(core);
    return err;
}

static void give(boxwood_txn *txn)
{
    bw_free(txn->cause.text);
    bw_pool_give(txn);
}

bw_err bw_free_txn_use(const boxwood_txn *txn, bool to_write)
{
    if (!txn->txn) {
        return bw_fail(BW_ERR_ILLEGAL_STATE, "transaction failed before: %s",
                       txn->cause.text ? txn->cause.text : "");
    }
    const uint32_t state = atomic_load(&txn->core->state);
    if (state == CORE_CLOSING) return bw_fail(BW_ERR_SHUTTING_DOWN, "Store is closing");
    if (state == CORE_CLOSED) {
        return bw_fail(BW_ERR_ILLEGAL_STATE, "The store of the transaction was closed");
    }
    if (to_write && !txn->writes) {
        return bw_fail(BW_ERR_ILLEGAL_STATE, "The transaction only reads");
    }
    return BW_OK;
}

bw_err bw_free_txn_commit(boxwood_txn *txn)
{
    bw_err err = bw_open_options_report(&txn->cause);
    if (!err) err = bw_free_txn_use(txn, false);
    bw_err end_err = end_below(txn, !err);
    give(txn);
    return err ? err : end_err;
}

void bw_free_txn_abort(boxwood_txn *txn)
{
    bw_err ignored = end_below(txn, false); // forgetting does not fail
    (void)ignored;
    give(txn);
}

// ---- calls ----

static bw_err access_own(const struct place *place, bool to_write, struct access *access)
{
    bw_err err = to_write ? check_own_thread(place->core_id) : BW_OK;
    if (!err) err = bw_core_enter(place->core, place->core_id);
    if (err) return err;
    const enum txn_mode mode = to_write ? TXN_WRITE : TXN_READ;
    *access = (struct access){.box = place->box, .core = place->core, .writes = to_write};
    err = bw_core_begin(place->core, mode, -1, &access->txn);
    if (err) bw_core_leave(place->core);
    return err;
}

bw_err bw_free_txn_access(boxwood_txn *txn, const struct place *place, bool to_write,
                          struct access *access)
{
    if (!txn) return access_own(place, to_write, access);
    bw_err err = ENTER(txn, SLOT_FREE_TXN);
    if (err) return err;
    if (txn->core_id != place->core_id) {
        err = bw_fail(BW_ERR_ILLEGAL_ARGUMENT, "Box and transaction are of different stores");
    }
    if (!err) err = bw_free_txn_use(txn, to_write);
    if (err) {
        LEAVE(txn);
        return err;
    }
    *access =
        (struct access){.box = place->box, .txn = txn->txn, .free_txn = txn, .writes = to_write};
    return BW_OK;
}

bw_err bw_free_txn_leave(struct access *access, bw_err err, bool has_begun)
{
    boxwood_txn *txn = access->free_txn;
    if (!txn) return bw_access_end(access, err);
    if (err && has_begun) {
        bw_open_options_keep(&txn->cause, err);
        bw_err ignored = end_below(txn, false); // forgetting does not fail
        (void)ignored;
    }
    LEAVE(txn);
    return err;
}
