/* SPDX-License-Identifier: Apache-2.0 */
/*
 * free_txn - transactions as handles that no thread owns: boxwood_txn.
 *
 * Each call enters the handle, so that two threads at once are told and do no harm. A failure after
 * the first write of a batch dooms it: the transaction below is given up at once, and the handle
 * keeps the first cause for its commit.
 */
#pragma once

#include "api/access.h"

struct boxwood_txn {
    struct slot slot;
    struct core *core; /* held while txn is open, and counted in its txn_count */
    uint64_t core_id;
    struct txn *txn; /* owned; NULL: doomed */
    bool writes;
    struct kept_failure cause; /* why it is doomed */
};
_Static_assert(sizeof(struct boxwood_txn) <= 128, "a transaction has to fit its slot");

MUST_CHECK bw_err bw_free_txn_begin(struct core *core, uint64_t core_id, enum txn_mode mode,
                                    int64_t wait_ms, boxwood_txn **out_txn);

/* Both consume an open handle; commit reports the cause of a doomed one. */
MUST_CHECK bw_err bw_free_txn_commit(boxwood_txn *txn);
void bw_free_txn_abort(boxwood_txn *txn);

/*
 * The way of a call to a place: in a given transaction, which it enters, or (NULL) in one of its
 * own. A thread that has an OBX_txn open for writing there would wait for itself: ILLEGAL_STATE.
 */
MUST_CHECK bw_err bw_free_txn_access(boxwood_txn *txn, const struct place *place, bool to_write,
                                     struct access *access);

/* The end of the call. has_begun: something may have been written before it failed. */
MUST_CHECK bw_err bw_free_txn_leave(struct access *access, bw_err err, bool has_begun);

/* Whether a call may work in an entered transaction. */
MUST_CHECK bw_err bw_free_txn_use(const boxwood_txn *txn, bool to_write);
