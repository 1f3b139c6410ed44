/* SPDX-License-Identifier: Apache-2.0 */
#include "api/visit.h"

enum { TAKEN_MAX = 64 }; // objects that are taken from a cursor at once

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

// A program that writes may take away what follows each time it is shown something.
static size_t take_max(const struct visit *visit, uint64_t left)
{
    if (bw_txn_writes(visit->txn)) return 1;
    return left < TAKEN_MAX ? (size_t)left : TAKEN_MAX;
}

bw_err bw_visit_all(struct visit *visit, uint64_t offset, uint64_t limit, obx_data_visitor *visitor,
                    void *user_data)
{
    struct cursor cursor;
    struct cursor_entry entries[TAKEN_MAX];
    bw_box_cursor(visit->box, visit->txn, &cursor);
    const uint64_t end = limit > 0 && limit < UINT64_MAX - offset ? offset + limit : UINT64_MAX;
    for (uint64_t at = 0; at < end;) {
        size_t count = 0;
        bw_err err = bw_cursor_next_many(&cursor, entries, take_max(visit, end - at), &count);
        if (err || !count) return err;
        size_t i = at < offset ? (offset - at < count ? (size_t)(offset - at) : count) : 0;
        for (; i < count; i++) {
            err = bw_visit_show(visit, entries[i].value, visitor, user_data);
            if (err || visit->is_over) return err;
        }
        at += count;
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
