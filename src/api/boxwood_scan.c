/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans: objects in chunks, all from an id on or those of a list.
 *
 * A scan goes by the ids it has given and by nothing that a write could invalidate, but for the
 * cursor below, which looks after that itself.
 */
#include "api/failure.h"
#include "api/free_txn.h"

enum { ROOM_MAX = 65536 };

struct scan_state {
    struct place place;
    boxwood_txn *txn;        /* borrowed; NULL: own */
    uint32_t txn_generation; /* of its slot, to tell it from a later one */
    boxwood_txn *own;        /* owned: a snapshot of its own */
    bool has_ids;
    struct cursor cursor; /* of a scan of all */
    uint64_t first_id;
    bool has_started;
    size_t at, id_count; /* of a scan of ids */
    obx_id ids[];
};

struct boxwood_scan {
    struct slot slot;
    struct scan_state *state; /* owned */
};

static boxwood_txn *txn_of(const struct scan_state *state)
{
    return state->txn ? state->txn : state->own;
}

/* Bind to the given transaction after a look whether it will do, or to a snapshot of its own. */
static bw_err bind(struct scan_state *state, boxwood_txn *txn)
{
    if (!txn) {
        return bw_free_txn_begin(state->place.core, state->place.core_id, TXN_READ, 0, &state->own);
    }
    struct access access;
    bw_err err = bw_free_txn_access(txn, &state->place, false, &access);
    if (err) return err;
    state->txn = txn;
    state->txn_generation = bw_slot_tag(txn) >> 16;
    return bw_free_txn_leave(&access, BW_OK, false);
}

static bw_err new_scan(OBX_box *box, boxwood_txn *txn, size_t id_count, boxwood_scan **out_scan)
{
    struct place place;
    bw_err err = PLACE_OF_BOX(box, &place);
    if (!err && !out_scan) err = ARGUMENT_NULL(out_scan);
    if (err) return err;
    struct scan_state *state = NULL;
    if (id_count < (SIZE_MAX - sizeof(*state)) / sizeof(state->ids[0])) {
        state = bw_new(sizeof(*state) + id_count * sizeof(state->ids[0]));
    }
    boxwood_scan *scan = state ? bw_pool_take(SLOT_SCAN) : NULL;
    if (!scan) {
        bw_free(state);
        return bw_fail(BW_ERR_NO_MEMORY, "No memory for a scan");
    }
    state->place = place;
    state->id_count = id_count;
    scan->state = state;
    err = bind(state, txn);
    if (err) {
        bw_pool_give(scan);
        bw_free(state);
        return err;
    }
    bw_slot_open(scan);
    *out_scan = scan;
    return BW_OK;
}

static bw_err scan_all(OBX_box *box, boxwood_txn *txn, obx_id first_id, boxwood_scan **out_scan)
{
    bw_err err = new_scan(box, txn, 0, out_scan);
    if (!err) (*out_scan)->state->first_id = first_id;
    return err;
}

obx_err boxwood_box_scan(OBX_box *box, boxwood_txn *txn, obx_id first_id, boxwood_scan **out_scan,
                         boxwood_failure *out_failure)
{
    return bw_failure_note(out_failure, scan_all(box, txn, first_id, out_scan));
}

static bw_err scan_ids(OBX_box *box, boxwood_txn *txn, const obx_id *ids, size_t count,
                       boxwood_scan **out_scan)
{
    if (count > 0 && !ids) return ARGUMENT_NULL(ids);
    bw_err err = new_scan(box, txn, count, out_scan);
    if (err) return err;
    struct scan_state *state = (*out_scan)->state;
    state->has_ids = true;
    if (count > 0) memcpy(state->ids, ids, count * sizeof(*ids));
    return BW_OK;
}

obx_err boxwood_box_scan_ids(OBX_box *box, boxwood_txn *txn, const obx_id *ids, size_t count,
                             boxwood_scan **out_scan, boxwood_failure *out_failure)
{
    return bw_failure_note(out_failure, scan_ids(box, txn, ids, count, out_scan));
}

// ---- chunks ----

static bw_err next_of_all(struct scan_state *state, const struct access *access,
                          boxwood_object *out_objects, size_t room, size_t *out_count)
{
    size_t count = 0;
    bool is_found = true;
    if (!state->has_started) bw_box_cursor(access->box, access->txn, &state->cursor);
    while (count < room) {
        bw_err err = state->has_started
                         ? bw_cursor_next(&state->cursor, &is_found)
                         : bw_cursor_seek(&state->cursor, state->first_id, &is_found);
        if (err) return err;
        state->has_started = true;
        if (!is_found) break;
        const struct bytes object = state->cursor.value;
        out_objects[count++] = (boxwood_object){state->cursor.key, object.data, object.size};
    }
    *out_count = count;
    return BW_OK;
}

static bw_err next_of_ids(struct scan_state *state, const struct access *access,
                          boxwood_object *out_objects, size_t room, size_t *out_count)
{
    const size_t left = state->id_count - state->at;
    const size_t count = left < room ? left : room;
    for (size_t i = 0; i < count; i++) {
        const obx_id id = state->ids[state->at + i];
        struct bytes object = {0};
        bool is_found = false;
        bw_err err = bw_box_get(access->box, access->txn, id, &object, &is_found);
        if (err) return err;
        if (!is_found) object = (struct bytes){0};
        out_objects[i] = (boxwood_object){id, object.data, object.size};
    }
    state->at += count;
    *out_count = count;
    return BW_OK;
}

static bw_err next_entered(struct scan_state *state, boxwood_object *out_objects, size_t room,
                           size_t *out_count)
{
    boxwood_txn *txn = txn_of(state);
    const uint32_t tag = bw_slot_tag(txn);
    if (state->txn && (tag >> 16 != state->txn_generation || bw_tag_state(tag) == SLOT_CLOSED)) {
        return bw_fail(BW_ERR_ILLEGAL_STATE, "The transaction of the scan has ended");
    }
    struct access access;
    bw_err err = bw_free_txn_access(txn, &state->place, false, &access);
    if (err) return err;
    err = state->has_ids ? next_of_ids(state, &access, out_objects, room, out_count)
                         : next_of_all(state, &access, out_objects, room, out_count);
    return bw_free_txn_leave(&access, err, false);
}

static bw_err next(boxwood_scan *scan, boxwood_object *out_objects, size_t room, size_t *out_count)
{
    if (!out_objects) return ARGUMENT_NULL(out_objects);
    if (!out_count) return ARGUMENT_NULL(out_count);
    if (room == 0 || room > ROOM_MAX) return ARGUMENT_CONDITION(room >= 1 && room <= 65536);
    bw_err err = ENTER(scan, SLOT_SCAN);
    if (err) return err;
    err = next_entered(scan->state, out_objects, room, out_count);
    LEAVE(scan);
    return err;
}

obx_err boxwood_scan_next(boxwood_scan *scan, boxwood_object *out_objects, size_t room,
                          size_t *out_count, boxwood_failure *out_failure)
{
    return bw_failure_note(out_failure, next(scan, out_objects, room, out_count));
}

void boxwood_scan_end(boxwood_scan *scan)
{
    if (!scan || ENTER(scan, SLOT_SCAN)) return;
    struct scan_state *state = scan->state;
    bw_pool_give(scan);
    if (state->own) bw_free_txn_abort(state->own);
    bw_free(state);
}
