/* SPDX-License-Identifier: Apache-2.0 */
#include "api/visit.h"

bw_err bw_visit_begin(struct visit *visit, const struct place *place)
{
    *visit = (struct visit){.box = place->box, .core = place->core};
    bw_err err = bw_core_enter(place->core, place->core_id);
    if (err) return err;
    err = bw_thread_txn_begin(place->core, place->core_id, TXN_READ, &visit->handle);
    if (err) {
        bw_core_leave(place->core);
        return err;
    }
    visit->txn = visit->handle->top->txn;
    bw_core_note_inside(&visit->inside, place->core);
    return BW_OK;
}

bw_err bw_visit_show(struct visit *visit, struct bytes object, obx_data_visitor *visitor,
                     void *user_data)
{
    visit->is_over = !visitor(object.data, object.size, user_data);
    if (visit->is_over) return BW_OK;
    return bw_thread_txn_use(visit->handle->top, false);
}

bw_err bw_visit_all(struct visit *visit, uint64_t offset, uint64_t limit, obx_data_visitor *visitor,
                    void *user_data)
{
    struct cursor cursor;
    bw_box_cursor(visit->box, visit->txn, &cursor);
    const uint64_t end = limit > 0 && limit < UINT64_MAX - offset ? offset + limit : UINT64_MAX;
    for (uint64_t at = 0; at < end && !visit->is_over; at++) {
        bool is_found = false;
        bw_err err = bw_cursor_next(&cursor, &is_found);
        if (err) return err;
        if (!is_found) break;
        if (at < offset) continue;
        err = bw_visit_show(visit, cursor.value, visitor, user_data);
        if (err) return err;
    }
    return BW_OK;
}

bw_err bw_visit_end(struct visit *visit, bw_err err)
{
    bw_core_forget_inside(&visit->inside);
    bw_err ignored = bw_thread_txn_close(visit->handle); // of a read handle: cannot fail
    (void)ignored;
    bw_core_leave(visit->core);
    return err;
}
