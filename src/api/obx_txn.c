/* SPDX-License-Identifier: Apache-2.0 */
#include "api/handles.h"
#include "api/thread_txn.h"

static OBX_txn *begin(OBX_store *store, enum txn_mode mode, int line)
{
    struct core *core = NULL;
    uint64_t core_id = 0;
    bw_err err = bw_core_of_store(store, "store", line, &core, &core_id);
    OBX_txn *txn = NULL;
    if (!err) err = bw_thread_txn_begin(core, core_id, mode, &txn);
    return err ? NULL : txn;
}

OBX_txn *obx_txn_write(OBX_store *store) { return begin(store, TXN_WRITE, __LINE__); }

OBX_txn *obx_txn_read(OBX_store *store) { return begin(store, TXN_READ, __LINE__); }

obx_err obx_txn_success(OBX_txn *txn)
{
    bw_err err = CHECK_HANDLE(txn, SLOT_TXN);
    if (!err) err = bw_thread_txn_success(txn);
    return err;
}

obx_err obx_txn_close(OBX_txn *txn)
{
    if (!txn) return OBX_SUCCESS;
    bw_err err = CHECK_HANDLE(txn, SLOT_TXN);
    if (!err) err = bw_thread_txn_close(txn);
    return err;
}

obx_err obx_txn_abort(OBX_txn *txn)
{
    bw_err err = CHECK_HANDLE(txn, SLOT_TXN);
    if (!err) err = bw_thread_txn_abort(txn);
    return err;
}

obx_err obx_txn_data_size(OBX_txn *txn, uint64_t *out_committed_size, int64_t *out_size_change)
{
    bw_err err = CHECK_HANDLE(txn, SLOT_TXN);
    if (!err) err = bw_thread_txn_check_thread(txn);
    if (!err) err = bw_thread_txn_use(txn->top, false);
    if (err) return err;
    uint64_t committed = 0;
    int64_t change = 0;
    err = bw_db_data_size(txn->top->core->db, txn->top->txn, &committed, &change);
    if (err) return err;
    if (out_committed_size) *out_committed_size = committed;
    if (out_size_change) *out_size_change = change;
    return OBX_SUCCESS;
}
