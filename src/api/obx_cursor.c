/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cursors: a position among the ids of an entity, within a transaction of the thread.
 *
 * The position is an id, or before or behind all of them, so that any change in between leaves it
 * meaningful; the cursor below goes on behind the last key it gave.
 */
#include "api/access.h"
#include "api/array.h"
#include "api/cursor_handle.h"
#include "api/put_mode.h"
#include "api/reading.h"

#define USE(cursor, access) bw_cursor_handle_use(cursor, __LINE__, access, false)
#define USE_TO_WRITE(cursor, access) bw_cursor_handle_use(cursor, __LINE__, access, true)

static bw_err place_cursor(OBX_txn *txn, uint32_t entity_id, struct position *position)
{
    OBX_txn *top = txn->top;
    bw_err err = bw_thread_txn_check_thread(txn);
    if (!err) err = bw_thread_txn_use(top, false);
    if (!err) err = bw_db_box(top->core->db, entity_id, &position->box);
    if (err) return err;
    position->top = top;
    position->top_generation = bw_slot_tag(top) >> 16;
    bw_box_cursor(position->box, top->txn, &position->cursor);
    return BW_OK;
}

OBX_cursor *obx_cursor(OBX_txn *txn, obx_schema_id entity_id)
{
    bw_err err = CHECK_HANDLE(txn, SLOT_TXN);
    if (err) return NULL;
    struct position *position = bw_new(sizeof(*position));
    OBX_cursor *cursor = position ? bw_pool_take(SLOT_CURSOR) : NULL;
    if (cursor) err = place_cursor(txn, entity_id, position);
    if (!cursor || err) {
        if (cursor) bw_pool_give(cursor);
        else bw_reason_set(BW_ERR_NO_MEMORY, 0, "No memory for a cursor");
        bw_free(position);
        return NULL;
    }
    cursor->position = position;
    bw_slot_open(cursor);
    return cursor;
}

obx_err obx_cursor_close(OBX_cursor *cursor)
{
    if (!cursor) return OBX_SUCCESS;
    bw_err err = CHECK_HANDLE(cursor, SLOT_CURSOR);
    if (err) return err;
    struct position *position = cursor->position;
    bw_pool_give(cursor);
    bw_free(position);
    return OBX_SUCCESS;
}

// ---- moving ----

static bw_err stand_on(struct position *position, bool is_found)
{
    position->id = is_found ? position->cursor.key : POSITION_END;
    return is_found ? BW_OK : BW_ERR_NOT_FOUND;
}

static bw_err move_to_first(struct position *position)
{
    bool is_found = false;
    bw_err err = bw_cursor_seek(&position->cursor, 0, &is_found);
    return err ? err : stand_on(position, is_found);
}

static bw_err move_on(struct position *position)
{
    if (position->id == POSITION_END) return BW_ERR_NOT_FOUND;
    bool is_found = false;
    bw_err err = bw_cursor_next(&position->cursor, &is_found);
    return err ? err : stand_on(position, is_found);
}

static bw_err give(const struct position *position, bw_err err, const uint8_t **data, size_t *size)
{
    if (err) return err;
    *data = position->cursor.value.data;
    *size = position->cursor.value.size;
    return BW_OK;
}

obx_err obx_cursor_first(OBX_cursor *cursor, const uint8_t **data, size_t *size)
{
    struct access access;
    bw_err err = USE(cursor, &access);
    if (!err && !data) err = ARGUMENT_NULL(data);
    if (!err && !size) err = ARGUMENT_NULL(size);
    if (err) return err;
    return give(cursor->position, move_to_first(cursor->position), data, size);
}

obx_err obx_cursor_next(OBX_cursor *cursor, const uint8_t **data, size_t *size)
{
    struct access access;
    bw_err err = USE(cursor, &access);
    if (!err && !data) err = ARGUMENT_NULL(data);
    if (!err && !size) err = ARGUMENT_NULL(size);
    if (err) return err;
    return give(cursor->position, move_on(cursor->position), data, size);
}

obx_err obx_cursor_seek(OBX_cursor *cursor, obx_id id)
{
    struct access access;
    bw_err err = USE(cursor, &access);
    if (!err && id == 0) err = bw_fail(BW_ERR_ILLEGAL_ARGUMENT, "Illegal ID value: 0");
    if (err) return err;
    struct position *position = cursor->position;
    bool is_found = false;
    err = bw_cursor_seek(&position->cursor, id, &is_found);
    if (err) return err;
    return stand_on(position, is_found && position->cursor.key == id);
}

// The object may have been changed or removed since the cursor came to it.
obx_err obx_cursor_current(OBX_cursor *cursor, const uint8_t **data, size_t *size)
{
    struct access access;
    bw_err err = USE(cursor, &access);
    if (!err && !data) err = ARGUMENT_NULL(data);
    if (!err && !size) err = ARGUMENT_NULL(size);
    if (err) return err;
    const uint64_t id = cursor->position->id;
    if (id == POSITION_START || id == POSITION_END) return OBX_NOT_FOUND;
    return obx_cursor_get(cursor, id, data, size);
}

obx_err obx_cursor_seek_first_id(OBX_cursor *cursor, obx_id *out_id)
{
    struct access access;
    bw_err err = USE(cursor, &access);
    if (!err && !out_id) err = ARGUMENT_NULL(out_id);
    if (err) return err;
    err = move_to_first(cursor->position);
    if (!err || err == BW_ERR_NOT_FOUND) *out_id = err ? 0 : cursor->position->id;
    return err;
}

obx_err obx_cursor_seek_next_id(OBX_cursor *cursor, obx_id *out_id)
{
    struct access access;
    bw_err err = USE(cursor, &access);
    if (!err && !out_id) err = ARGUMENT_NULL(out_id);
    if (err) return err;
    err = move_on(cursor->position);
    if (!err || err == BW_ERR_NOT_FOUND) *out_id = err ? 0 : cursor->position->id;
    return err;
}

obx_err obx_cursor_current_id(OBX_cursor *cursor, obx_id *out_id)
{
    struct access access;
    bw_err err = USE(cursor, &access);
    if (!err && !out_id) err = ARGUMENT_NULL(out_id);
    if (!err) *out_id = cursor->position->id;
    return err;
}

// ---- looking ----

obx_err obx_cursor_get(OBX_cursor *cursor, obx_id id, const uint8_t **data, size_t *size)
{
    struct access access;
    bw_err err = USE(cursor, &access);
    if (!err && !data) err = ARGUMENT_NULL(data);
    if (!err && !size) err = ARGUMENT_NULL(size);
    if (err) return err;
    struct bytes object;
    bool is_found = false;
    err = bw_box_get(access.box, access.txn, id, &object, &is_found);
    if (err) return err;
    if (!is_found) return OBX_NOT_FOUND;
    *data = object.data;
    *size = object.size;
    return OBX_SUCCESS;
}

OBX_bytes_array *obx_cursor_get_all(OBX_cursor *cursor)
{
    struct access access;
    OBX_bytes_array *array = NULL;
    bw_err err = USE(cursor, &access);
    if (!err) err = bw_reading_objects(access.box, access.txn, 0, 0, &array);
    return err ? NULL : array;
}

obx_err obx_cursor_count(OBX_cursor *cursor, uint64_t *count)
{
    struct access access;
    bw_err err = USE(cursor, &access);
    if (!err && !count) err = ARGUMENT_NULL(count);
    if (!err) err = bw_box_count(access.box, access.txn, 0, count);
    return err;
}

obx_err obx_cursor_count_max(OBX_cursor *cursor, uint64_t max_count, uint64_t *out_count)
{
    struct access access;
    bw_err err = USE(cursor, &access);
    if (!err && !out_count) err = ARGUMENT_NULL(out_count);
    if (!err) err = bw_box_count(access.box, access.txn, max_count, out_count);
    return err;
}

obx_err obx_cursor_is_empty(OBX_cursor *cursor, bool *out_is_empty)
{
    struct access access;
    uint64_t count = 0;
    bw_err err = USE(cursor, &access);
    if (!err && !out_is_empty) err = ARGUMENT_NULL(out_is_empty);
    if (!err) err = bw_box_count(access.box, access.txn, 1, &count);
    if (!err) *out_is_empty = count == 0;
    return err;
}

// ---- changing ----

obx_id obx_cursor_id_for_put(OBX_cursor *cursor, obx_id id_or_zero)
{
    struct access access;
    obx_id id = 0;
    bw_err err = USE(cursor, &access);
    if (!err) err = bw_box_id_for_put(access.box, access.txn, id_or_zero, &id);
    return err ? 0 : id;
}

static bw_err put(OBX_cursor *cursor, obx_id id, const uint8_t *data, size_t size, int mode)
{
    struct access access;
    enum put_mode put_mode = PUT_ANY;
    bw_err err = USE_TO_WRITE(cursor, &access);
    if (!err && !data) err = ARGUMENT_NULL(data);
    if (!err && size == 0) err = ARGUMENT_CONDITION(size > 0);
    if (!err) err = bw_put_mode_check(mode, &put_mode);
    if (err) return err;
    err = bw_box_put(access.box, access.txn, id, (struct bytes){data, size}, put_mode);
    return bw_access_end_single(&access, err);
}

obx_err obx_cursor_put(OBX_cursor *cursor, obx_id id, const uint8_t *data, size_t size)
{
    return put(cursor, id, data, size, OBXPutMode_PUT);
}

obx_err obx_cursor_put4(OBX_cursor *cursor, obx_id id, const uint8_t *data, size_t size,
                        OBXPutMode mode)
{
    return put(cursor, id, data, size, (int)mode);
}

obx_err obx_cursor_put_new(OBX_cursor *cursor, obx_id id, const uint8_t *data, size_t size)
{
    return put(cursor, id, data, size, PUT_NEW);
}

obx_err obx_cursor_insert(OBX_cursor *cursor, obx_id id, const uint8_t *data, size_t size)
{
    return put(cursor, id, data, size, OBXPutMode_INSERT);
}

obx_err obx_cursor_update(OBX_cursor *cursor, obx_id id, const uint8_t *data, size_t size)
{
    return put(cursor, id, data, size, OBXPutMode_UPDATE);
}

obx_id obx_cursor_put_object(OBX_cursor *cursor, void *data, size_t size)
{
    return obx_cursor_put_object4(cursor, data, size, OBXPutMode_PUT);
}

obx_id obx_cursor_put_object4(OBX_cursor *cursor, void *data, size_t size, OBXPutMode mode)
{
    struct access access;
    enum put_mode put_mode = PUT_ANY;
    bw_err err = USE_TO_WRITE(cursor, &access);
    if (!err && !data) err = ARGUMENT_NULL(data);
    if (!err && size == 0) err = ARGUMENT_CONDITION(size > 0);
    if (!err) err = bw_put_mode_check((int)mode, &put_mode);
    if (err) return 0;
    obx_id id = 0;
    err = bw_box_put_object(access.box, access.txn, data, size, put_mode, &id);
    err = bw_access_end_single(&access, err);
    return err ? 0 : id;
}

// As in the reference, looking for what is to be removed moves the cursor when there is nothing.
obx_err obx_cursor_remove(OBX_cursor *cursor, obx_id id)
{
    struct access access;
    bool is_removed = false;
    bw_err err = USE_TO_WRITE(cursor, &access);
    if (err) return err;
    err = bw_box_remove(access.box, access.txn, id, &is_removed);
    if (!err && !is_removed) {
        cursor->position->id = POSITION_END;
        err = BW_ERR_NOT_FOUND;
    }
    return bw_access_end_single(&access, err);
}

obx_err obx_cursor_remove_all(OBX_cursor *cursor)
{
    struct access access;
    uint64_t count = 0;
    bw_err err = USE_TO_WRITE(cursor, &access);
    if (err) return err;
    err = bw_box_remove_all(access.box, access.txn, &count);
    cursor->position->id = POSITION_END;
    return bw_access_end(&access, err);
}
