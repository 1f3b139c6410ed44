/* SPDX-License-Identifier: Apache-2.0 */
#include "box/db.h"

static bw_err begin(struct db *db, struct txn **out_txn)
{
    bw_err err = bw_db_keep_schema(db);
    if (err && err != BW_ERR_TIMEOUT) return err; // then the store may have no commit, and says so
    return bw_db_begin(db, TXN_READ, 0, out_txn);
}

bw_err bw_db_back_up(struct db *db, const struct backup_options *options)
{
    struct txn *txn = NULL;
    bw_err err = begin(db, &txn);
    if (err) return err;
    err = bw_store_backup(txn, options);
    bw_txn_abort(txn);
    return err;
}

bw_err bw_db_copy(struct db *db, const struct copy_options *options)
{
    struct txn *txn = NULL;
    bw_err err = begin(db, &txn);
    if (err) return err;
    err = bw_store_copy(txn, options);
    bw_txn_abort(txn);
    return err;
}
