/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access - a call's way to the objects of one entity: the thread's transaction, or one of its own.
 *
 *     struct access access;
 *     bw_err err = bw_access_begin(&access, &place, ACCESS_READ);
 *     if (err) return err;
 *     err = bw_box_count(access.box, access.txn, limit, &count);
 *     return bw_access_end(&access, err);
 */
#pragma once

#include "api/handles.h"
#include "api/thread_txn.h"

enum access_mode {
    ACCESS_READ,  /* a snapshot of its own if the thread has none open */
    ACCESS_WRITE, /* a transaction of its own if the thread has none open: committed at the end */
    ACCESS_BYTES, /* bytes are handed out: the thread must have a transaction open */
};

struct access {
    struct box *box;       /* borrowed */
    struct txn *txn;       /* borrowed from top, or owned */
    struct OBX_txn *top;   /* borrowed; NULL: the transaction is the call's own */
    struct core *core;     /* held, when the transaction is the call's own */
    boxwood_txn *free_txn; /* borrowed; the transaction comes from there */
    bool writes;
};

MUST_CHECK bw_err bw_access_begin(struct access *access, const struct place *place,
                                  enum access_mode mode);

/*
 * The end of a call that may have failed with err, which is handed on. A transaction of its own is
 * committed if it writes and err is 0, else forgotten. What went wrong in the world half-way dooms
 * the thread's transaction.
 */
MUST_CHECK bw_err bw_access_end(struct access *access, bw_err err);

/* The same after a put or removal of one object, which a full store refuses without a trace. */
MUST_CHECK bw_err bw_access_end_single(struct access *access, bw_err err);

/* Whether a failure may have come between two changes: storage and memory, never arguments. */
bool bw_access_is_world_fault(bw_err err);
