/* SPDX-License-Identifier: Apache-2.0 */
#include "api/thread_txn.h"

#include <inttypes.h>

#include "api/argument.h"

static _Thread_local OBX_txn *tops;

OBX_txn *bw_thread_txn_find(uint64_t core_id)
{
    OBX_txn *top = tops;
    while (top && top->core_id != core_id) top = top->next;
    return top;
}

static uint64_t number_of(const OBX_txn *txn)
{
    return atomic_load_explicit(&txn->number, memory_order_relaxed);
}

bw_err bw_thread_txn_refuse(const void *txn)
{
    return bw_fail(BW_ERR_ILLEGAL_STATE, "TX is not active anymore: #%" PRIu64, number_of(txn));
}

bw_err bw_thread_txn_check_thread(const OBX_txn *txn)
{
    const uint64_t thread = atomic_load_explicit(&txn->thread, memory_order_relaxed);
    if (LIKELY(thread == bw_thread_number())) return BW_OK;
    return bw_fail(BW_ERR_ILLEGAL_STATE,
                   "TX #%" PRIu64 " was begun by another thread (number %" PRIu64 ")",
                   number_of(txn), thread);
}

bw_err bw_thread_txn_refuse_use(const OBX_txn *top)
{
    if (!top->txn) return bw_thread_txn_refuse(top);
    switch (atomic_load_explicit(&top->core->state, memory_order_relaxed)) {
    case CORE_OPEN:
        return bw_fail(BW_ERR_ILLEGAL_STATE,
                       "Cannot start a write transaction inside a read only transaction");
    case CORE_CLOSING:
        return bw_fail(BW_ERR_SHUTTING_DOWN, "Store is closing");
    default:
        return bw_fail(BW_ERR_ILLEGAL_STATE,
                       "TX is not active anymore: #%" PRIu64 " (its store was closed)",
                       number_of(top));
    }
}

// ---- beginning ----

static void name(OBX_txn *txn, uint64_t number)
{
    atomic_store_explicit(&txn->number, number, memory_order_relaxed);
    atomic_store_explicit(&txn->thread, bw_thread_number(), memory_order_relaxed);
}

static bw_err join(OBX_txn *top, enum txn_mode mode, OBX_txn **out_txn)
{
    bw_err err = bw_thread_txn_use(top, mode == TXN_WRITE);
    if (err) return err;
    OBX_txn *txn = bw_pool_take(SLOT_TXN);
    if (!txn) return BW_ERR_NO_MEMORY;
    txn->top = top;
    name(txn, number_of(top));
    txn->writes = mode == TXN_WRITE;
    top->handles++;
    if (txn->writes) top->open_writes++;
    bw_slot_open(txn);
    *out_txn = txn;
    return BW_OK;
}

static bw_err begin_top(struct core *core, enum txn_mode mode, OBX_txn **out_txn)
{
    OBX_txn *txn = bw_pool_take(SLOT_TXN);
    if (!txn) return BW_ERR_NO_MEMORY;
    bw_err err = bw_core_begin(core, mode, -1, &txn->txn);
    if (err) {
        bw_pool_give(txn);
        return err;
    }
    txn->top = txn;
    txn->core = core;
    txn->core_id = atomic_load_explicit(&core->id, memory_order_relaxed);
    name(txn, bw_txn_id(txn->txn));
    txn->writes = mode == TXN_WRITE;
    txn->handles = 1;
    txn->is_listed = true;
    txn->next = tops;
    tops = txn;
    atomic_fetch_add(&core->txn_count, 1); // X4: the call's hold becomes the transaction's
    bw_slot_open(txn);
    *out_txn = txn;
    return BW_OK;
}

bw_err bw_thread_txn_begin(struct core *core, uint64_t core_id, enum txn_mode mode,
                           OBX_txn **out_txn)
{
    OBX_txn *top = bw_thread_txn_find(core_id);
    if (top) return join(top, mode, out_txn);
    bw_err err = bw_core_enter(core, core_id);
    if (err) return err;
    err = begin_top(core, mode, out_txn);
    if (err) bw_core_leave(core);
    return err;
}

// ---- ending ----

// The transaction below ends (X1): committed, or forgotten. The program's transaction becomes a
// call that is inside until the end, so that a closing store waits for the commit.
static bw_err end_below(OBX_txn *top, bool commit)
{
    struct core *core = top->core;
    struct txn *txn = top->txn;
    top->txn = NULL;
    top->core = NULL;
    atomic_fetch_sub(&core->txn_count, 1); // C3
    bw_err err = BW_OK;
    if (commit && atomic_load(&core->state) == CORE_OPEN) {
        err = bw_db_commit(core->db, txn);
    } else {
        if (commit) err = bw_thread_txn_refuse(top);
        bw_txn_abort(txn);
    }
    bw_core_leave(core);
    return err;
}

static void forget(OBX_txn *top)
{
    if (top->txn) {
        bw_err ignored = end_below(top, false);
        (void)ignored; // forgetting does not fail
    }
}

static void unlist(OBX_txn *top)
{
    if (!top->is_listed) return;
    OBX_txn **at = &tops;
    while (*at != top) at = &(*at)->next;
    *at = top->next;
    top->is_listed = false;
}

// One handle less. The top's slot goes with the last (X3), and so does what it reads (X1).
static void close_handle(OBX_txn *txn)
{
    OBX_txn *top = txn->top;
    top->handles--;
    if (txn != top) {
        if (txn->writes) top->open_writes--;
        bw_pool_give(txn);
    } else {
        top->is_closed = true;
        if (!top->txn || top->writes) unlist(top); // X2
    }
    if (top->handles == 0) {
        forget(top);
        unlist(top);
        bw_pool_give(top);
    } else if (top->is_closed) {
        (void)bw_slot_change(top, SLOT_TXN, SLOT_OPEN, SLOT_CLOSED);
        if (!top->txn) unlist(top);
    }
}

static bw_err succeed(OBX_txn *txn)
{
    OBX_txn *top = txn->top;
    if (!txn->writes) {
        return bw_fail(BW_ERR_ILLEGAL_STATE, "Cannot set success on a non-write TX");
    }
    bw_err err = bw_thread_txn_use(top, true);
    if (err || txn != top) return err;
    if (top->open_writes > 0) {
        forget(top);
        return bw_fail(BW_ERR_ILLEGAL_STATE,
                       "TX is not active anymore: #%" PRIu64
                       " (a write transaction inside it was not closed)",
                       number_of(top));
    }
    return end_below(top, true);
}

bw_err bw_thread_txn_success(OBX_txn *txn)
{
    bw_err err = bw_thread_txn_check_thread(txn);
    if (err) return err;
    err = succeed(txn);
    if (err && txn->writes) forget(txn->top);
    close_handle(txn);
    return err;
}

bw_err bw_thread_txn_close(OBX_txn *txn)
{
    bw_err err = bw_thread_txn_check_thread(txn);
    if (err) return err;
    if (txn->writes) forget(txn->top);
    close_handle(txn);
    return BW_OK;
}

bw_err bw_thread_txn_abort(OBX_txn *txn)
{
    bw_err err = bw_thread_txn_check_thread(txn);
    if (err) return err;
    if (txn->writes || txn == txn->top) forget(txn->top);
    return BW_OK;
}

void bw_thread_txn_doom(OBX_txn *top) { forget(top); }
