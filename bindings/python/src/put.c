/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Putting objects: marshal, one call into the library for a batch, ids back.
 *
 * Objects beyond the cap go in several batches inside one transaction. In a transaction of the
 * user's they are all marshalled before the first of them is put, so that a value which does not
 * fit leaves the transaction as it was.
 */
#include "binding.h"

enum { BATCH_CAP = 8 << 20, BATCH_COUNT = 1 << 20 };

struct put {
    struct box *box;
    PyObject *objects; /* a tuple: nobody can change it */
    Py_ssize_t count, next;
    bool is_single;
    uint32_t flags;
    obx_id *ids; /* of all objects */
};

/* Marshal objects from put->next on, until the batch is full. */
static int fill_batch(struct put *put, struct batch *batch, bool is_capped)
{
    struct box *box = put->box;
    for (batch->used = batch->count = 0; put->next < put->count; put->next++) {
        if (is_capped && (batch->used >= BATCH_CAP || batch->count == BATCH_COUNT)) break;
        PyObject *object = bwpy_item(put->objects, put->next);
        if (bwpy_marshal(batch, box->plan, box->entity, object, put->is_single ? -1 : put->next))
            return -1;
    }
    return 0;
}

static int store_batch(struct put *put, struct batch *batch, boxwood_txn *txn)
{
    boxwood_failure failure;
    size_t first = (size_t)put->next - batch->count;
    obx_err err =
        boxwood_box_put_packed(put->box->handle, txn, batch->data, batch->used, batch->ends,
                               batch->count, batch->ids, put->flags, &failure);
    if (err && err != OBX_NO_SUCCESS) {
        if (put->is_single) failure.index = UINT64_MAX;
        else if (failure.index != UINT64_MAX) failure.index += first;
        bwpy_raise(put->box->store->state, &failure, put->box->plan);
        return -1;
    }
    memcpy(put->ids + first, batch->ids, batch->count * sizeof(obx_id));
    return 0;
}

/* All batches in one transaction; the first is marshalled already. */
static int store_all(struct put *put, struct batch *batch)
{
    struct write write;
    if (bwpy_write_begin(put->box->store, &write)) return -1;
    int err = store_batch(put, batch, write.txn);
    while (!err && put->next < put->count)
        err = fill_batch(put, batch, true) || store_batch(put, batch, write.txn);
    if (err) {
        bwpy_write_abort(&write);
        return -1;
    }
    return bwpy_write_end(&write, put->box->plan);
}

/* B4: ids are known to be stored, or to be in the user's transaction. */
static int write_id(struct plan *plan, PyObject *type, PyObject *object, PyObject *id)
{
    const struct layout *layout = plan->layout;
    if ((PyObject *)Py_TYPE(object) != type &&
        !PyType_IsSubtype(Py_TYPE(object), (PyTypeObject *)type))
        return PyObject_SetAttr(object, layout->fields[layout->id_index].name, id);
    PyObject **slot = &bwpy_slots(object)[layout->id_index];
    Py_INCREF(id);
    Py_XSETREF(*slot, id);
    return 0;
}

static PyObject *write_ids(struct put *put)
{
    struct box *box = put->box;
    PyObject *list = put->is_single ? NULL : PyList_New(put->count);
    if (!list && !put->is_single) return NULL;
    for (Py_ssize_t i = 0; i < put->count; i++) {
        PyObject *id = PyLong_FromUnsignedLongLong(put->ids[i]);
        if (!id || write_id(box->plan, box->entity, bwpy_item(put->objects, i), id)) {
            Py_XDECREF(id);
            Py_XDECREF(list);
            return NULL;
        }
        if (put->is_single) return id;
        PyList_SetItem(list, i, id);
    }
    return list;
}

static PyObject *put_objects(struct put *put)
{
    struct store *store = put->box->store;
    obx_id one;
    boxwood_txn *around;
    if (!store->handle) return bwpy_raise_closed(store);
    if (bwpy_txn_current(store, &around)) return NULL;
    size_t count = (size_t)put->count;
    bool is_capped = !around;
    struct batch *batch =
        bwpy_batch_take(store->state, is_capped && count > BATCH_COUNT ? BATCH_COUNT : count);
    if (!batch) return NULL;
    PyObject *result = NULL;
    put->ids = count == 1 ? &one : PyMem_Malloc(count * sizeof(obx_id));
    if (!put->ids) PyErr_NoMemory();
    else if (!fill_batch(put, batch, is_capped) && !store_all(put, batch)) result = write_ids(put);
    if (put->ids != &one) PyMem_Free(put->ids);
    put->ids = NULL;
    bwpy_batch_give(store->state, batch);
    return result;
}

PyObject *bwpy_box_put(struct box *box, PyObject *objects, uint32_t flags)
{
    PyObject *tuple = PySequence_Tuple(objects);
    if (!tuple) return NULL;
    struct put put = {.box = box, .objects = tuple, .count = PyTuple_Size(tuple), .flags = flags};
    PyObject *result = put.count ? put_objects(&put) : PyList_New(0);
    Py_DECREF(tuple);
    return result;
}

PyObject *bwpy_box_put_one(struct box *box, PyObject *object, uint32_t flags)
{
    PyObject *tuple = PyTuple_Pack(1, object);
    if (!tuple) return NULL;
    struct put put = {.box = box, .objects = tuple, .count = 1, .is_single = true, .flags = flags};
    PyObject *result = put_objects(&put);
    Py_DECREF(tuple);
    return result;
}
