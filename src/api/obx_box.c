/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes: looking at objects. Changing them is in obx_box_put.c. */
#include "api/access.h"
#include "api/array.h"
#include "api/reading.h"
#include "api/store_handle.h"
#include "api/visit.h"

enum { TAKEN_MAX = 64 }; // objects that are asked for at once

OBX_box *obx_box(OBX_store *store, obx_schema_id entity_id)
{
    OBX_box *box = NULL;
    bw_err err = CHECK_HANDLE(store, SLOT_STORE);
    if (!err) err = bw_store_handle_box(store, entity_id, &box);
    return err ? NULL : box;
}

OBX_store *obx_box_store(OBX_box *box)
{
    bw_err err = CHECK_HANDLE(box, SLOT_BOX);
    return err ? NULL : atomic_load_explicit(&box->store, memory_order_relaxed);
}

obx_err obx_box_contains(OBX_box *box, obx_id id, bool *out_contains)
{
    struct place place;
    bw_err err = PLACE_OF_BOX(box, &place);
    if (!err && !out_contains) err = ARGUMENT_NULL(out_contains);
    if (err) return err;
    struct access access;
    err = bw_access_begin(&access, &place, ACCESS_READ);
    if (err) return err;
    err = bw_box_contains(access.box, access.txn, id, out_contains);
    return bw_access_end(&access, err);
}

obx_err obx_box_contains_many(OBX_box *box, const OBX_id_array *ids, bool *out_contains)
{
    struct place place;
    bw_err err = PLACE_OF_BOX(box, &place);
    if (!err && !ids) err = ARGUMENT_NULL(ids);
    if (!err && !out_contains) err = ARGUMENT_NULL(out_contains);
    if (err) return err;
    struct access access;
    err = bw_access_begin(&access, &place, ACCESS_READ);
    if (err) return err;
    bool all = true;
    for (size_t i = 0; i < ids->count && all && !err; i++) {
        err = bw_box_contains(access.box, access.txn, ids->ids[i], &all);
    }
    if (!err) *out_contains = all;
    return bw_access_end(&access, err);
}

obx_err obx_box_get(OBX_box *box, obx_id id, const uint8_t **data, size_t *size)
{
    struct place place;
    bw_err err = PLACE_OF_BOX(box, &place);
    if (!err && !data) err = ARGUMENT_NULL(data);
    if (!err && !size) err = ARGUMENT_NULL(size);
    if (err) return err;
    struct access access;
    err = bw_access_begin(&access, &place, ACCESS_BYTES);
    if (err) return err;
    struct bytes object;
    bool is_found = false;
    err = bw_box_get(access.box, access.txn, id, &object, &is_found);
    if (err) return bw_access_end(&access, err);
    if (!is_found) return OBX_NOT_FOUND;
    *data = object.data;
    *size = object.size;
    return OBX_SUCCESS;
}

OBX_bytes_array *obx_box_get_many(OBX_box *box, const OBX_id_array *ids)
{
    struct place place;
    bw_err err = PLACE_OF_BOX(box, &place);
    if (!err && !ids) err = ARGUMENT_NULL(ids);
    if (err) return NULL;
    struct access access;
    err = bw_access_begin(&access, &place, ACCESS_BYTES);
    if (err) return NULL;
    OBX_bytes_array *array = bw_array_bytes(ids->count);
    if (!array) err = BW_ERR_NO_MEMORY;
    for (size_t at = 0; !err && at < ids->count; at += TAKEN_MAX) {
        struct bytes objects[TAKEN_MAX];
        const size_t count = ids->count - at < TAKEN_MAX ? ids->count - at : TAKEN_MAX;
        err = bw_box_get_many(access.box, access.txn, ids->ids + at, count, objects);
        for (size_t i = 0; !err && i < count; i++) {
            array->bytes[at + i] = (OBX_bytes){objects[i].data, objects[i].size};
        }
    }
    err = bw_access_end(&access, err);
    if (!err) return array;
    obx_bytes_array_free(array);
    return NULL;
}

OBX_bytes_array *obx_box_get_all(OBX_box *box)
{
    struct place place;
    bw_err err = PLACE_OF_BOX(box, &place);
    if (err) return NULL;
    struct access access;
    err = bw_access_begin(&access, &place, ACCESS_BYTES);
    if (err) return NULL;
    OBX_bytes_array *array = NULL;
    err = bw_reading_objects(access.box, access.txn, 0, 0, &array);
    err = bw_access_end(&access, err);
    return err ? NULL : array;
}

static bw_err show_many(struct visit *visit, const OBX_id_array *ids, obx_data_visitor *visitor,
                        void *user_data)
{
    for (size_t i = 0; i < ids->count && !visit->is_over; i++) {
        struct bytes object = {0};
        bool is_found = false;
        bw_err err = bw_box_get(visit->box, visit->txn, ids->ids[i], &object, &is_found);
        if (err) return err;
        if (!is_found) object = (struct bytes){0};
        err = bw_visit_show(visit, object, visitor, user_data);
        if (err) return err;
    }
    return BW_OK;
}

obx_err obx_box_visit_many(OBX_box *box, const OBX_id_array *ids, obx_data_visitor *visitor,
                           void *user_data)
{
    struct place place;
    bw_err err = PLACE_OF_BOX(box, &place);
    if (!err && !ids) err = ARGUMENT_NULL(ids);
    if (!err && !visitor) err = ARGUMENT_NULL(visitor);
    if (err) return err;
    struct visit visit;
    err = bw_visit_begin(&visit, &place);
    if (err) return err;
    err = show_many(&visit, ids, visitor, user_data);
    return bw_visit_end(&visit, err);
}

obx_err obx_box_visit_all(OBX_box *box, obx_data_visitor *visitor, void *user_data)
{
    struct place place;
    bw_err err = PLACE_OF_BOX(box, &place);
    if (!err && !visitor) err = ARGUMENT_NULL(visitor);
    if (err) return err;
    struct visit visit;
    err = bw_visit_begin(&visit, &place);
    if (err) return err;
    err = bw_visit_all(&visit, 0, 0, visitor, user_data);
    return bw_visit_end(&visit, err);
}

obx_err obx_box_is_empty(OBX_box *box, bool *out_is_empty)
{
    struct place place;
    bw_err err = PLACE_OF_BOX(box, &place);
    if (!err && !out_is_empty) err = ARGUMENT_NULL(out_is_empty);
    if (err) return err;
    struct access access;
    err = bw_access_begin(&access, &place, ACCESS_READ);
    if (err) return err;
    uint64_t count = 0;
    err = bw_box_count(access.box, access.txn, 1, &count);
    if (!err) *out_is_empty = count == 0;
    return bw_access_end(&access, err);
}

obx_err obx_box_count(OBX_box *box, uint64_t limit, uint64_t *out_count)
{
    struct place place;
    bw_err err = PLACE_OF_BOX(box, &place);
    if (!err && !out_count) err = ARGUMENT_NULL(out_count);
    if (err) return err;
    struct access access;
    err = bw_access_begin(&access, &place, ACCESS_READ);
    if (err) return err;
    err = bw_box_count(access.box, access.txn, limit, out_count);
    return bw_access_end(&access, err);
}
