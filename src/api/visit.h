/* SPDX-License-Identifier: Apache-2.0 */
/*
 * visit - a call that calls the program back for each object.
 *
 * The program may do anything meanwhile on the same thread: begin and end transactions, write,
 * close the store. A visit therefore holds a transaction handle of its own and looks after each
 * call of the visitor whether the transaction below is still there.
 */
#pragma once

#include "api/handles.h"
#include "api/thread_txn.h"

struct visit {
    struct box *box;   /* borrowed */
    struct txn *txn;   /* borrowed from handle */
    OBX_txn *handle;   /* owned */
    struct core *core; /* held */
    struct inside inside;
    bool is_over; /* the visitor had enough */
};

/* Begin, in the thread's transaction if there is one. */
MUST_CHECK bw_err bw_visit_begin(struct visit *visit, const struct place *place);

/* Show one object, or {NULL, 0}. ILLEGAL_STATE: the visitor has ended the transaction. */
static inline MUST_CHECK bw_err bw_visit_show(struct visit *visit, struct bytes object,
                                              obx_data_visitor *visitor, void *user_data)
{
    visit->is_over = !visitor(object.data, object.size, user_data);
    if (UNLIKELY(visit->is_over)) return BW_OK;
    return bw_thread_txn_use(visit->handle->top, false);
}

/* Show all objects from the `offset`th on, up to `limit` (0: no limit) of them. */
MUST_CHECK bw_err bw_visit_all(struct visit *visit, uint64_t offset, uint64_t limit,
                               obx_data_visitor *visitor, void *user_data);

/* Hands err on. */
MUST_CHECK bw_err bw_visit_end(struct visit *visit, bw_err err);
