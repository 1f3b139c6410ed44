/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_txn - transactions that belong to a thread: OBX_txn.
 *
 * The first handle of a thread on a store is the top: it owns the transaction below. Further ones
 * on the same store join it. Each thread keeps a list of its tops.
 *
 * Invariants:
 *   X1  The transaction below ends at the top's success, close or abort, at the abort or
 *       unsuccessful close of any joined write handle, or, if it only reads, with the last handle.
 *   X2  A top whose transaction has ended stays in its thread's list while its own handle is open:
 *       until then the thread's calls on that store are refused, not begun anew.
 *   X3  The slot of a top lives until the last handle that joined it is closed.
 *   X4  While a transaction below is open, it holds its core and counts in the core's txn_count.
 */
#pragma once

#include "api/core.h"

struct OBX_txn {
    struct slot slot;
    struct OBX_txn *top;     /* itself, or the one that was joined; borrowed */
    _Atomic uint64_t number; /* of the transaction, for texts */
    _Atomic uint64_t thread; /* bw_thread_number() */
    bool writes;             /* this handle was begun for writing */

    /* Of a top only. */
    bool is_listed;       /* in its thread's list */
    bool is_closed;       /* its own handle is closed, others are not */
    uint32_t handles;     /* open, its own included */
    uint32_t open_writes; /* joined write handles that are open */
    uint64_t core_id;
    struct core *core;    /* held while txn is open (X4) */
    struct txn *txn;      /* owned; NULL: it has ended */
    struct OBX_txn *next; /* in the thread's list; borrowed */
};
_Static_assert(sizeof(struct OBX_txn) <= 128, "a transaction has to fit its slot");

/* The calling thread's top on a store, or NULL. */
OBX_txn *bw_thread_txn_find(uint64_t core_id);

/* Say why a call cannot work in the top's transaction. */
MUST_CHECK bw_err bw_thread_txn_refuse_use(const OBX_txn *top);

/* May a call of this thread work in the top's transaction? Else ILLEGAL_STATE or SHUTTING_DOWN. */
static inline MUST_CHECK bw_err bw_thread_txn_use(const OBX_txn *top, bool to_write)
{
    if (LIKELY(top->txn && (!to_write || top->writes) &&
               atomic_load_explicit(&top->core->state, memory_order_relaxed) == CORE_OPEN)) {
        return BW_OK;
    }
    return bw_thread_txn_refuse_use(top);
}

/* Begin, or join the thread's top. */
MUST_CHECK bw_err bw_thread_txn_begin(struct core *core, uint64_t core_id, enum txn_mode mode,
                                      OBX_txn **out_txn);

/* End a handle: with success, or not. Takes what obx_txn_success() and obx_txn_close() were given,
 * after the check that it is an open handle. */
MUST_CHECK bw_err bw_thread_txn_success(OBX_txn *txn);
MUST_CHECK bw_err bw_thread_txn_close(OBX_txn *txn);
MUST_CHECK bw_err bw_thread_txn_abort(OBX_txn *txn);

/* Something went wrong half-way: nothing of the top's transaction may be stored. */
void bw_thread_txn_doom(OBX_txn *top);

/* ILLEGAL_STATE unless the open handle belongs to the calling thread. */
MUST_CHECK bw_err bw_thread_txn_check_thread(const OBX_txn *txn);

/* ILLEGAL_STATE, of a closed handle or an ended transaction. */
MUST_CHECK bw_err bw_thread_txn_refuse(const void *txn);
