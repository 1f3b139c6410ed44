/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Box: the objects of one entity in one store.
 */
#include "binding.h"

enum { CHUNK = 256, COPY_ROOM = 4096, RELEASE_COUNT = 10000 };

/* The store must be open, and the transaction around this call is found. */
static int start_read(struct box *box, boxwood_txn **out_txn)
{
    if (!box->store->handle) {
        bwpy_raise_closed(box->store);
        return -1;
    }
    return bwpy_txn_current(box->store, out_txn);
}

static PyObject *fail(struct box *box, const boxwood_failure *failure)
{
    return bwpy_raise(box->store->state, failure, box->plan);
}

/* An id given as int, or as an object of the entity. */
static int get_id(struct box *box, PyObject *value, obx_id *out)
{
    struct layout *layout = box->plan->layout;
    struct place place = {
        .plan = box->plan, .field = &layout->fields[layout->id_index], .index = -1};
    if (PyLong_Check(value) && !PyBool_Check(value)) return bwpy_scalar_id(&place, value, out);
    if (!PyBool_Check(value) && PyIndex_Check(value)) return bwpy_scalar_id(&place, value, out);
    PyObject *id = NULL;
    if (PyObject_TypeCheck(value, (PyTypeObject *)box->entity)) {
        id = bwpy_slots(value)[layout->id_index];
        Py_XINCREF(id);
        if (!id) {
            *out = 0;
            return 0;
        }
    } else {
        PyObject *name = PyObject_GetAttrString((PyObject *)Py_TYPE(value), "__name__");
        if (name && PyUnicode_Check(name) && PyUnicode_Compare(name, layout->entity_name) == 0)
            id = PyObject_GetAttr(value, layout->fields[layout->id_index].name);
        Py_XDECREF(name);
        PyErr_Clear();
    }
    if (!id) {
        PyErr_Format(PyExc_TypeError, "Expected an id (int) or an object of entity %U, got %R",
                     layout->entity_name, value);
        return -1;
    }
    int err = bwpy_scalar_id(&place, id, out);
    Py_DECREF(id);
    return err;
}

/* ---- reading ---- */

static PyObject *finish_object(struct box *box, PyObject *object)
{
    if (object && object != Py_None && bwpy_entity_of(box->entity)->init_on_read &&
        bwpy_read_init(box->plan->layout, object))
        Py_CLEAR(object);
    return object;
}

static PyObject *finish_list(struct box *box, PyObject *list)
{
    if (!list || !bwpy_entity_of(box->entity)->init_on_read) return list;
    for (Py_ssize_t i = 0; i < PyList_Size(list); i++) {
        PyObject *object = PyList_GetItem(list, i);
        Py_INCREF(object);
        bool failed = object != Py_None && bwpy_read_init(box->plan->layout, object);
        Py_DECREF(object);
        if (!failed) continue;
        Py_DECREF(list);
        return NULL;
    }
    return list;
}

static PyObject *box_get(PyObject *self, PyObject *value)
{
    struct box *box = (struct box *)self;
    boxwood_txn *txn;
    obx_id id;
    if (get_id(box, value, &id) || start_read(box, &txn)) return NULL;
    if (!id) Py_RETURN_NONE;
    uint64_t room[COPY_ROOM / 8];
    uint8_t *data = (uint8_t *)room;
    size_t size = sizeof(room);
    boxwood_failure failure;
    obx_err err = boxwood_box_copy(box->handle, txn, id, data, &size, &failure);
    while (err == OBX_NO_SUCCESS) { // another writer may make the object longer still
        if (data != (uint8_t *)room) PyMem_Free(data);
        data = PyMem_Malloc(size);
        if (!data) return PyErr_NoMemory();
        err = boxwood_box_copy(box->handle, txn, id, data, &size, &failure);
    }
    PyObject *object = NULL;
    if (!err) {
        object = bwpy_read(box->plan, box->entity, data, size, id);
    } else if (err == OBX_NOT_FOUND) {
        Py_INCREF(Py_None);
        object = Py_None;
    } else {
        fail(box, &failure);
    }
    if (data != (uint8_t *)room) PyMem_Free(data);
    return finish_object(box, object);
}

/* A list that is filled from the front and may turn out shorter or longer than expected. */
struct results {
    PyObject *list;
    Py_ssize_t count, room;
};

static int add_result(struct results *results, PyObject *item)
{
    if (!item) return -1;
    if (results->count < results->room)
        return PyList_SetItem(results->list, results->count++, item);
    int err = PyList_Append(results->list, item);
    Py_DECREF(item);
    results->count++;
    return err;
}

struct window {
    uint64_t offset, limit; /* limit 0: none */
    bool ids_only;
};

static int add_objects(struct box *box, const boxwood_object *objects, size_t count,
                       struct window *window, struct results *results)
{
    for (size_t i = 0; i < count; i++) {
        if (window->offset) {
            window->offset--;
            continue;
        }
        PyObject *item;
        if (!objects[i].data) {
            Py_INCREF(Py_None);
            item = Py_None;
        } else if (window->ids_only) {
            item = PyLong_FromUnsignedLongLong(objects[i].id);
        } else {
            item =
                bwpy_read(box->plan, box->entity, objects[i].data, objects[i].size, objects[i].id);
        }
        if (add_result(results, item)) return -1;
        if (!window->limit) continue;
        window->limit--;
        if (!window->limit) return 1;
    }
    return 0;
}

/* Everything that a scan gives, in one go: the collector waits, so that no finaliser meets an open
 * scan. */
static PyObject *read_scan(struct box *box, boxwood_scan *scan, struct window window,
                           size_t expected)
{
    struct results results = {.list = PyList_New((Py_ssize_t)expected),
                              .room = (Py_ssize_t)expected};
    boxwood_object objects[CHUNK];
    boxwood_failure failure;
    int done = results.list ? 0 : -1, had_collector = PyGC_Disable();
    while (!done) {
        size_t count = 0;
        if (boxwood_scan_next(scan, objects, CHUNK, &count, &failure)) {
            fail(box, &failure);
            done = -1;
        } else {
            done = count ? add_objects(box, objects, count, &window, &results) : 1;
        }
    }
    boxwood_scan_end(scan);
    if (had_collector) PyGC_Enable();
    if (done > 0 && results.count < results.room &&
        PyList_SetSlice(results.list, results.count, results.room, NULL))
        done = -1;
    if (done < 0) Py_CLEAR(results.list);
    return finish_list(box, results.list);
}

/* numpy is imported before a scan begins, not in its midst. */
static int prepare(struct box *box)
{
    const struct layout *layout = box->plan->layout;
    if (layout->state->numpy) return 0;
    for (Py_ssize_t i = 0; i < layout->count; i++) {
        if (layout->fields[i].form != FORM_ARRAY) continue;
        PyObject *empty = bwpy_vector_empty(layout->state, layout->fields[i].element);
        Py_XDECREF(empty);
        return empty ? 0 : -1;
    }
    return 0;
}

PyObject *bwpy_box_scan_all(struct box *box, uint64_t offset, uint64_t limit, bool ids_only)
{
    boxwood_txn *txn;
    boxwood_scan *scan;
    boxwood_failure failure;
    uint64_t expected = 0;
    if (prepare(box) || start_read(box, &txn)) return NULL;
    if (boxwood_box_count(box->handle, txn, 0, &expected, &failure)) return fail(box, &failure);
    expected = expected > offset ? expected - offset : 0;
    if (limit && limit < expected) expected = limit;
    if (boxwood_box_scan(box->handle, txn, 0, &scan, &failure)) return fail(box, &failure);
    struct window window = {.offset = offset, .limit = limit, .ids_only = ids_only};
    return read_scan(box, scan, window, (size_t)expected);
}

static PyObject *box_get_all(PyObject *self, PyObject *nothing)
{
    (void)nothing;
    return bwpy_box_scan_all((struct box *)self, 0, 0, false);
}

/* Ids out of any iterable of ids and objects; *out is the caller's to free. */
static int get_ids(struct box *box, PyObject *values, obx_id **out, size_t *out_count)
{
    PyObject *tuple = PySequence_Tuple(values);
    if (!tuple) return -1;
    size_t count = (size_t)PyTuple_Size(tuple);
    obx_id *ids = PyMem_Malloc((count + 1) * sizeof(*ids));
    int err = ids ? 0 : -1;
    if (err) PyErr_NoMemory();
    for (size_t i = 0; !err && i < count; i++)
        err = get_id(box, PyTuple_GetItem(tuple, (Py_ssize_t)i), &ids[i]);
    Py_DECREF(tuple);
    if (err) {
        PyMem_Free(ids);
        return -1;
    }
    *out = ids;
    *out_count = count;
    return 0;
}

static PyObject *box_get_many(PyObject *self, PyObject *values)
{
    struct box *box = (struct box *)self;
    boxwood_txn *txn;
    boxwood_scan *scan;
    boxwood_failure failure;
    obx_id *ids;
    size_t count;
    if (prepare(box) || get_ids(box, values, &ids, &count)) return NULL;
    if (!count || start_read(box, &txn)) {
        PyMem_Free(ids);
        return count ? NULL : PyList_New(0);
    }
    obx_err err = boxwood_box_scan_ids(box->handle, txn, ids, count, &scan, &failure);
    PyMem_Free(ids);
    if (err) return fail(box, &failure);
    return read_scan(box, scan, (struct window){0}, count);
}

static PyObject *box_count(PyObject *self, PyObject *const *args, Py_ssize_t given,
                           PyObject *kwnames)
{
    struct box *box = (struct box *)self;
    boxwood_txn *txn;
    boxwood_failure failure;
    uint64_t count, limit = 0;
    Py_ssize_t named = kwnames ? PyTuple_Size(kwnames) : 0;
    if (given + named > 1 ||
        (named && PyUnicode_CompareWithASCIIString(PyTuple_GetItem(kwnames, 0), "limit") != 0)) {
        PyErr_SetString(PyExc_TypeError, "count() takes at most one argument: limit");
        return NULL;
    }
    if (given + named) {
        limit = PyLong_AsUnsignedLongLong(args[0]);
        if (PyErr_Occurred()) return NULL;
    }
    if (start_read(box, &txn)) return NULL;
    if (boxwood_box_count(box->handle, txn, limit, &count, &failure)) return fail(box, &failure);
    return PyLong_FromUnsignedLongLong(count);
}

static PyObject *box_is_empty(PyObject *self, PyObject *nothing)
{
    struct box *box = (struct box *)self;
    boxwood_txn *txn;
    boxwood_failure failure;
    uint64_t count;
    (void)nothing;
    if (start_read(box, &txn)) return NULL;
    if (boxwood_box_count(box->handle, txn, 1, &count, &failure)) return fail(box, &failure);
    return PyBool_FromLong(!count);
}

static PyObject *box_contains(PyObject *self, PyObject *value)
{
    struct box *box = (struct box *)self;
    boxwood_txn *txn;
    boxwood_failure failure;
    obx_id id;
    bool contains;
    if (get_id(box, value, &id) || start_read(box, &txn)) return NULL;
    if (boxwood_box_contains(box->handle, txn, id, &contains, &failure)) return fail(box, &failure);
    return PyBool_FromLong(contains);
}

/* ---- writing ---- */

static PyObject *put_any(struct box *box, PyObject *const *args, Py_ssize_t given, uint32_t flags)
{
    if (given == 1 && !PyList_Check(args[0]) && !PyTuple_Check(args[0]))
        return bwpy_box_put_one(box, args[0], flags);
    if (given == 1) return bwpy_box_put(box, args[0], flags);
    PyObject *objects = PyTuple_New(given);
    for (Py_ssize_t i = 0; objects && i < given; i++) {
        Py_INCREF(args[i]);
        PyTuple_SetItem(objects, i, args[i]);
    }
    PyObject *result = objects ? bwpy_box_put(box, objects, flags) : NULL;
    Py_XDECREF(objects);
    return result;
}

static PyObject *box_put(PyObject *self, PyObject *const *args, Py_ssize_t given)
{
    return put_any((struct box *)self, args, given, BOXWOOD_PUT);
}

static PyObject *box_insert(PyObject *self, PyObject *const *args, Py_ssize_t given)
{
    return put_any((struct box *)self, args, given, BOXWOOD_INSERT);
}

static PyObject *box_update(PyObject *self, PyObject *const *args, Py_ssize_t given)
{
    PyObject *ids = put_any((struct box *)self, args, given, BOXWOOD_UPDATE);
    if (!ids) return NULL;
    Py_DECREF(ids);
    Py_RETURN_NONE;
}

/* NULL for ids: all objects. */
static int remove_ids(struct box *box, const obx_id *ids, size_t count, uint64_t *out_removed)
{
    struct write write;
    boxwood_failure failure;
    uint64_t total = 0;
    obx_err err;
    if (bwpy_write_begin(box->store, &write)) return -1;
    if (!ids && boxwood_box_count(box->handle, write.txn, 0, &total, &failure)) total = 0;
    if (ids) {
        err = boxwood_box_remove_packed(box->handle, write.txn, ids, count, out_removed, &failure);
    } else if (total < RELEASE_COUNT) {
        err = boxwood_box_remove_all(box->handle, write.txn, out_removed, &failure);
    } else {
        box->store->calls++;
        PyThreadState *thread = PyEval_SaveThread();
        err = boxwood_box_remove_all(box->handle, write.txn, out_removed, &failure);
        PyEval_RestoreThread(thread);
        box->store->calls--;
    }
    if (!err) return bwpy_write_end(&write, box->plan);
    bwpy_write_abort(&write);
    fail(box, &failure);
    return -1;
}

static PyObject *box_remove(PyObject *self, PyObject *value)
{
    struct box *box = (struct box *)self;
    obx_id id;
    uint64_t removed = 0;
    if (PyList_Check(value) || PyTuple_Check(value)) {
        PyErr_SetString(PyExc_TypeError,
                        "remove() takes one id or object; remove_many() takes several");
        return NULL;
    }
    if (get_id(box, value, &id) || remove_ids(box, &id, 1, &removed)) return NULL;
    return PyBool_FromLong(removed != 0);
}

static PyObject *box_remove_many(PyObject *self, PyObject *values)
{
    struct box *box = (struct box *)self;
    obx_id *ids;
    size_t count;
    uint64_t removed = 0;
    if (get_ids(box, values, &ids, &count)) return NULL;
    int err = count ? remove_ids(box, ids, count, &removed) : 0;
    PyMem_Free(ids);
    return err ? NULL : PyLong_FromUnsignedLongLong(removed);
}

static PyObject *box_remove_all(PyObject *self, PyObject *nothing)
{
    uint64_t removed = 0;
    (void)nothing;
    if (remove_ids((struct box *)self, NULL, 0, &removed)) return NULL;
    return PyLong_FromUnsignedLongLong(removed);
}

static PyObject *box_query(PyObject *self, PyObject *const *args, Py_ssize_t given,
                           PyObject *kwnames)
{
    Py_ssize_t named = kwnames ? PyTuple_Size(kwnames) : 0;
    if (given + named > 1 || (named && PyUnicode_CompareWithASCIIString(PyTuple_GetItem(kwnames, 0),
                                                                        "condition") != 0)) {
        PyErr_SetString(PyExc_TypeError, "query() takes at most one argument: condition");
        return NULL;
    }
    PyObject *condition = given + named ? args[0] : Py_None;
    return bwpy_builder_new((struct box *)self, condition == Py_None ? NULL : condition);
}

/* ---- the object ---- */

PyObject *bwpy_box_new(struct store *store, PyObject *entity)
{
    struct state *state = store->state;
    if (!bwpy_is_entity(state, entity)) {
        PyErr_Format(PyExc_TypeError,
                     "Expected an entity (a class decorated with @Entity()), got %R", entity);
        return NULL;
    }
    if (!store->schema->plans) return bwpy_raise_closed(store); // the collector is at work
    PyObject *plan = PyDict_GetItemWithError(store->schema->plans, entity);
    if (!plan) {
        if (PyErr_Occurred()) return NULL;
        return bwpy_raise_code(state, OBX_ERROR_ILLEGAL_ARGUMENT,
                               "Entity %U is not in the model that the store was opened with",
                               bwpy_entity_of(entity)->layout->entity_name);
    }
    OBX_box *handle = obx_box(store->handle, ((struct plan *)plan)->entity_id);
    if (!handle) return bwpy_raise_last(state);
    struct box *box = (struct box *)PyType_GenericAlloc(state->box, 0);
    if (!box) return NULL;
    Py_INCREF(store);
    box->store = store;
    Py_INCREF(entity);
    box->entity = entity;
    Py_INCREF(plan);
    box->plan = (struct plan *)plan;
    box->handle = handle;
    box->next = store->boxes;
    store->boxes = box;
    return (PyObject *)box;
}

static PyObject *box_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    struct state *state = bwpy_state_of_type(type);
    PyObject *store, *entity;
    (void)kwargs;
    if (!PyArg_ParseTuple(args, "O!O:Box", state->store, &store, &entity)) return NULL;
    return PyObject_CallMethod(store, "box", "O", entity);
}

static int box_traverse(PyObject *self, visitproc visit, void *arg)
{
    struct box *box = (struct box *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(box->store);
    Py_VISIT(box->entity);
    Py_VISIT(box->plan);
    return 0;
}

static void box_dealloc(PyObject *self)
{
    struct box *box = (struct box *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    struct box **link = &box->store->boxes;
    while (*link && *link != box) link = &(*link)->next;
    if (*link) *link = box->next;
    Py_DECREF(box->store);
    Py_DECREF(box->entity);
    Py_DECREF(box->plan);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static PyObject *box_store(PyObject *self, void *unused)
{
    PyObject *store = (PyObject *)((struct box *)self)->store;
    (void)unused;
    Py_INCREF(store);
    return store;
}

static PyObject *box_entity(PyObject *self, void *unused)
{
    PyObject *entity = ((struct box *)self)->entity;
    (void)unused;
    Py_INCREF(entity);
    return entity;
}

static PyObject *class_getitem(PyObject *type, PyObject *item)
{
    (void)item; // Box[Note] is for type checkers
    Py_INCREF(type);
    return type;
}

static PyGetSetDef box_getset[] = {
    {"store", box_store, NULL, "The store that the box belongs to.", NULL},
    {"entity", box_entity, NULL, "The entity class.", NULL},
    {"_store", box_store, NULL, NULL, NULL},
    {"_entity", box_entity, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

#define FAST(function) ((PyCFunction)(void (*)(void))(function))

static PyMethodDef box_methods[] = {
    {"get", box_get, METH_O,
     "get($self, id, /)\n--\n\nThe object with this id; None: there is none."},
    {"get_many", box_get_many, METH_O,
     "get_many($self, id_array, /)\n--\n\nThe objects with these ids in their order; None for each "
     "that does not exist."},
    {"get_all", box_get_all, METH_NOARGS, "get_all($self, /)\n--\n\nAll objects, by id."},
    {"put", FAST(box_put), METH_FASTCALL,
     "put($self, /, *objects)\n--\n\nPut an object and return its id, or put a list (or several "
     "arguments) in one "
     "transaction and\nreturn the list of ids. An object whose id is 0 is new and gets its id."},
    {"insert", FAST(box_insert), METH_FASTCALL,
     "insert($self, /, *objects)\n--\n\nAs put(), but no object may exist under its id."},
    {"update", FAST(box_update), METH_FASTCALL,
     "update($self, /, *objects)\n--\n\nReplace objects that exist; an id that does not exist is "
     "an error."},
    {"remove", box_remove, METH_O,
     "remove($self, id_or_object, /)\n--\n\nRemove an object; False: there was none."},
    {"remove_many", box_remove_many, METH_O,
     "remove_many($self, ids_or_objects, /)\n--\n\nRemove those that exist in one transaction; "
     "returns their number."},
    {"remove_all", box_remove_all, METH_NOARGS,
     "remove_all($self, /)\n--\n\nRemove all objects; returns their number."},
    {"count", FAST(box_count), METH_FASTCALL | METH_KEYWORDS,
     "count($self, /, limit=0)\n--\n\nThe number of objects, counted no further than the limit."},
    {"is_empty", box_is_empty, METH_NOARGS,
     "is_empty($self, /)\n--\n\nWhether there is no object."},
    {"contains", box_contains, METH_O,
     "contains($self, object_id, /)\n--\n\nWhether an object with this id exists."},
    {"query", FAST(box_query), METH_FASTCALL | METH_KEYWORDS,
     "query($self, /, condition=None)\n--\n\nA builder for a query; its build() gives the query."},
    {"__class_getitem__", class_getitem, METH_O | METH_CLASS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot box_slots[] = {
    {Py_tp_doc, "Box(store, entity)\n--\n\nThe objects of one entity in one store."},
    {Py_tp_new, box_new},
    {Py_tp_dealloc, box_dealloc},
    {Py_tp_traverse, box_traverse},
    {Py_tp_methods, box_methods},
    {Py_tp_getset, box_getset},
    {0, NULL},
};

PyType_Spec bwpy_box_spec = {
    .name = "boxwood.Box",
    .basicsize = sizeof(struct box),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = box_slots,
};
