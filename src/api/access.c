/* SPDX-License-Identifier: Apache-2.0 */
#include "api/access.h"

static bw_err begin_own(struct access *access, const struct place *place, enum access_mode mode)
{
    bw_err err = bw_core_enter(place->core, place->core_id);
    if (err) return err;
    if (mode == ACCESS_BYTES) {
        bw_core_leave(place->core);
        return bw_fail(BW_ERR_ILLEGAL_STATE, "An existing transaction is required");
    }
    const enum txn_mode txn_mode = mode == ACCESS_WRITE ? TXN_WRITE : TXN_READ;
    err = bw_core_begin(place->core, txn_mode, -1, &access->txn);
    if (err) {
        bw_core_leave(place->core);
        return err;
    }
    access->core = place->core;
    return BW_OK;
}

bw_err bw_access_begin(struct access *access, const struct place *place, enum access_mode mode)
{
    *access = (struct access){.box = place->box, .writes = mode == ACCESS_WRITE};
    OBX_txn *top = bw_thread_txn_find(place->core_id);
    if (!top) return begin_own(access, place, mode);
    bw_err err = bw_thread_txn_use(top, access->writes);
    if (err) return err;
    access->top = top; // C4: it keeps the store
    access->txn = top->txn;
    return BW_OK;
}

bool bw_access_is_world_fault(bw_err err)
{
    switch (err) {
    case BW_ERR_NO_MEMORY:
    case BW_ERR_IO:
    case BW_ERR_GENERAL:
    case BW_ERR_DB_FULL:
    case BW_ERR_STORE_MUST_SHUTDOWN:
    case BW_ERR_DB_GENERAL:
    case BW_ERR_STORAGE_GENERAL:
    case BW_ERR_FILE_CORRUPT:
    case BW_ERR_FILE_PAGES_CORRUPT:
        return true;
    default:
        return false;
    }
}

static bw_err end(struct access *access, bw_err err, bool is_fatal)
{
    if (access->top) {
        if (UNLIKELY(is_fatal && access->writes)) bw_thread_txn_doom(access->top);
        return err;
    }
    if (access->writes && !err) {
        err = bw_db_commit(access->core->db, access->txn);
    } else {
        bw_txn_abort(access->txn);
    }
    bw_core_leave(access->core);
    return err;
}

bw_err bw_access_end(struct access *access, bw_err err)
{
    return end(access, err, bw_access_is_world_fault(err));
}

bw_err bw_access_end_single(struct access *access, bw_err err)
{
    return end(access, err, err != BW_ERR_DB_FULL && bw_access_is_world_fault(err));
}
