/* SPDX-License-Identifier: Apache-2.0 */
#include "api/cursor_handle.h"

bw_err bw_cursor_handle_use(OBX_cursor *cursor, int line, struct access *access, bool to_write)
{
    if (!bw_pool_holds(cursor, SLOT_CURSOR)) {
        return bw_argument_refuse(cursor, SLOT_CURSOR, "cursor", line);
    }
    const struct position *position = cursor->position;
    OBX_txn *top = position->top;
    if (bw_slot_tag(top) >> 16 != position->top_generation) {
        return bw_fail(BW_ERR_ILLEGAL_STATE, "The transaction of the cursor was closed");
    }
    bw_err err = bw_thread_txn_check_thread(top);
    if (!err) err = bw_thread_txn_use(top, false);
    if (err) return err;
    if (to_write && !top->writes) {
        return bw_fail_system(BW_ERR_STORAGE_GENERAL, 13,
                              "Cannot put in a read-only transaction (13)");
    }
    *access =
        (struct access){.box = position->box, .txn = top->txn, .top = top, .writes = to_write};
    return BW_OK;
}
