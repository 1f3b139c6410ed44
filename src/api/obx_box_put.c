/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes: ids, putting and removing. */
#include "api/access.h"
#include "api/put_mode.h"

// ---- ids ----

/* The place of a box that hands out ids, entered; *out_txn: the thread's transaction, or NULL. */
static bw_err enter_for_ids(const struct place *place, struct txn **out_txn)
{
    bw_err err = bw_core_enter(place->core, place->core_id);
    if (err) return err;
    const OBX_txn *top = bw_thread_txn_find(place->core_id);
    if (top) err = bw_thread_txn_use(top, false);
    if (err) bw_core_leave(place->core);
    else *out_txn = top ? top->txn : NULL;
    return err;
}

obx_id obx_box_id_for_put(OBX_box *box, obx_id id_or_zero)
{
    struct place place;
    struct txn *txn = NULL;
    bw_err err = PLACE_OF_BOX(box, &place);
    if (!err) err = enter_for_ids(&place, &txn);
    if (err) return 0;
    obx_id id = 0;
    err = bw_box_id_for_put(place.box, txn, id_or_zero, &id);
    bw_core_leave(place.core);
    return err ? 0 : id;
}

obx_err obx_box_ids_for_put(OBX_box *box, uint64_t count, obx_id *out_first_id)
{
    struct place place;
    struct txn *txn = NULL;
    bw_err err = PLACE_OF_BOX(box, &place);
    if (!err && !out_first_id) err = ARGUMENT_NULL(out_first_id);
    if (!err) err = enter_for_ids(&place, &txn);
    if (err) return err;
    err = bw_box_ids_for_put(place.box, txn, count, out_first_id);
    bw_core_leave(place.core);
    return err;
}

// ---- putting ----

static bw_err put(OBX_box *box, obx_id id, const uint8_t *data, size_t size, int mode)
{
    struct place place;
    enum put_mode put_mode = PUT_ANY;
    bw_err err = PLACE_OF_BOX(box, &place);
    if (!err && !data) err = ARGUMENT_NULL(data);
    if (!err && size == 0) err = ARGUMENT_CONDITION(size > 0);
    if (!err) err = bw_put_mode_check(mode, &put_mode);
    if (err) return err;
    struct access access;
    err = bw_access_begin(&access, &place, ACCESS_WRITE);
    if (err) return err;
    err = bw_box_put(access.box, access.txn, id, (struct bytes){data, size}, put_mode);
    return bw_access_end_single(&access, err);
}

obx_err obx_box_put(OBX_box *box, obx_id id, const uint8_t *data, size_t size)
{
    return put(box, id, data, size, OBXPutMode_PUT);
}

obx_err obx_box_insert(OBX_box *box, obx_id id, const uint8_t *data, size_t size)
{
    return put(box, id, data, size, OBXPutMode_INSERT);
}

obx_err obx_box_update(OBX_box *box, obx_id id, const uint8_t *data, size_t size)
{
    return put(box, id, data, size, OBXPutMode_UPDATE);
}

obx_err obx_box_put5(OBX_box *box, obx_id id, const uint8_t *data, size_t size, OBXPutMode mode)
{
    return put(box, id, data, size, (int)mode);
}

obx_id obx_box_put_object(OBX_box *box, void *data, size_t size)
{
    return obx_box_put_object4(box, data, size, OBXPutMode_PUT);
}

obx_id obx_box_put_object4(OBX_box *box, void *data, size_t size, OBXPutMode mode)
{
    struct place place;
    enum put_mode put_mode = PUT_ANY;
    bw_err err = PLACE_OF_BOX(box, &place);
    if (!err && !data) err = ARGUMENT_NULL(data);
    if (!err && size == 0) err = ARGUMENT_CONDITION(size > 0);
    if (!err) err = bw_put_mode_check((int)mode, &put_mode);
    if (err) return 0;
    struct access access;
    err = bw_access_begin(&access, &place, ACCESS_WRITE);
    if (err) return 0;
    obx_id id = 0;
    err = bw_box_put_object(access.box, access.txn, data, size, put_mode, &id);
    err = bw_access_end_single(&access, err);
    return err ? 0 : id;
}

// OBX_bytes and struct bytes name the same two things, but are two types.
static struct bytes *copy_bytes(const OBX_bytes_array *objects)
{
    struct bytes *bytes = NULL;
    if (objects->count < SIZE_MAX / sizeof(*bytes)) {
        bytes = bw_new_raw(objects->count * sizeof(*bytes));
    }
    if (!bytes) {
        bw_reason_set(BW_ERR_NO_MEMORY, 0, "No memory for a list of objects");
        return NULL;
    }
    for (size_t i = 0; i < objects->count; i++) {
        bytes[i] = (struct bytes){objects->bytes[i].data, objects->bytes[i].size};
    }
    return bytes;
}

static bool is_id_failure(bw_err err)
{
    return err == BW_ERR_ID_ALREADY_EXISTS || err == BW_ERR_ID_NOT_FOUND;
}

static bw_err put_many(const struct place *place, const struct bytes *bytes, const obx_id *ids,
                       size_t count, enum put_mode mode, bool keep_going)
{
    struct access access;
    bw_err err = bw_access_begin(&access, place, ACCESS_WRITE);
    if (err) return err;
    err = bw_box_put_many(access.box, access.txn, bytes, ids, count, mode, keep_going);
    if (keep_going && is_id_failure(err)) {
        bw_err end_err = bw_access_end(&access, BW_OK); // the others are kept
        return end_err ? end_err : err;
    }
    return bw_access_end(&access, err);
}

obx_err obx_box_put_many(OBX_box *box, const OBX_bytes_array *objects, const obx_id *ids,
                         OBXPutMode mode)
{
    return obx_box_put_many5(box, objects, ids, mode, true);
}

obx_err obx_box_put_many5(OBX_box *box, const OBX_bytes_array *objects, const obx_id *ids,
                          OBXPutMode mode, bool fail_on_id_failure)
{
    struct place place;
    enum put_mode put_mode = PUT_ANY;
    bw_err err = PLACE_OF_BOX(box, &place);
    if (!err && !objects) err = ARGUMENT_NULL(objects);
    if (!err && !ids) err = ARGUMENT_NULL(ids);
    if (!err) err = bw_put_mode_check((int)mode, &put_mode);
    if (err) return err;
    struct bytes *bytes = copy_bytes(objects);
    if (!bytes) return BW_ERR_NO_MEMORY;
    err = put_many(&place, bytes, ids, objects->count, put_mode, !fail_on_id_failure);
    bw_free(bytes);
    return err;
}

// ---- removing ----

obx_err obx_box_remove(OBX_box *box, obx_id id)
{
    struct place place;
    bw_err err = PLACE_OF_BOX(box, &place);
    if (err) return err;
    struct access access;
    err = bw_access_begin(&access, &place, ACCESS_WRITE);
    if (err) return err;
    bool is_removed = false;
    err = bw_box_remove(access.box, access.txn, id, &is_removed);
    if (!err && !is_removed) err = BW_ERR_NOT_FOUND;
    return bw_access_end_single(&access, err);
}

obx_err obx_box_remove_many(OBX_box *box, const OBX_id_array *ids, uint64_t *out_count)
{
    struct place place;
    bw_err err = PLACE_OF_BOX(box, &place);
    if (!err && !ids) err = ARGUMENT_NULL(ids);
    if (err) return err;
    struct access access;
    err = bw_access_begin(&access, &place, ACCESS_WRITE);
    if (err) return err;
    uint64_t count = 0;
    err = bw_box_remove_many(access.box, access.txn, ids->ids, ids->count, &count);
    err = bw_access_end(&access, err);
    if (!err && out_count) *out_count = count;
    return err;
}

obx_err obx_box_remove_all(OBX_box *box, uint64_t *out_count)
{
    struct place place;
    bw_err err = PLACE_OF_BOX(box, &place);
    if (err) return err;
    struct access access;
    err = bw_access_begin(&access, &place, ACCESS_WRITE);
    if (err) return err;
    uint64_t count = 0;
    err = bw_box_remove_all(access.box, access.txn, &count);
    err = bw_access_end(&access, err);
    if (!err && out_count) *out_count = count;
    return err;
}
