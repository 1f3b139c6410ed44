/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Store: opening, closing, boxes.
 *
 * Opening is on the path of programs with many small stores, so that everything known is remembered
 * in the module: keywords are matched by pointer, the model was compiled when it was first used. A
 * store object keeps nothing that it does not need: boxes are borrowed and live as long as their
 * users.
 */
#include "binding.h"

enum { WAIT_MS = 10000 };

PyDoc_STRVAR(
    store_doc,
    "Store(model='default', model_json_file=None, directory=None, max_db_size_in_kb=None, "
    "max_data_size_in_kb=None, file_mode=None, max_readers=None, no_reader_thread_locals=None, "
    "model_bytes=None, model_bytes_direct=None, read_schema=None, use_previous_commit=None, "
    "read_only=None, debug_flags=None, async_max_queue_length=None, "
    "async_throttle_at_queue_length=None, async_throttle_micros=None, "
    "async_max_in_tx_duration=None, async_max_in_tx_operations=None, async_pre_txn_delay=None, "
    "async_post_txn_delay=None, async_minor_refill_threshold=None, "
    "async_minor_refill_max_count=None, async_object_bytes_max_cache_size=None, "
    "async_object_bytes_max_size_to_cache=None, log_callback=None, skip_model_sync=False, "
    "c_store=None, durability=None, write_timeout=None)\n--\n\n"
    "Open the store in a directory; create it when there is none.\n\n"
    "model            a Model, the name under which @Entity() collected classes, or None to use\n"
    "                 the schema that the store holds\n"
    "model_json_file  where ids are kept; by default objectbox-model.json beside the caller's "
    "file\n"
    "directory        default: objectbox; memory:NAME keeps everything in memory\n"
    "durability       \"full\" (default): a commit returns when the device has it; \"barrier\": "
    "when the\n"
    "                 device keeps it in order; \"lazy\": when the system has it; \"none\": no "
    "flush\n"
    "write_timeout    seconds to wait for another write transaction, default 10\n"
    "skip_model_sync  accepted; opening with an equal model costs nothing that could be skipped\n\n"
    "All other options do what they do in objectbox-python 5.");

/* ---- from model to schema ---- */

static bool same_key(PyObject *known, PyObject *given)
{
    if (known == given) return true;
    return known && given && PyUnicode_CheckExact(known) && PyUnicode_CheckExact(given) &&
           PyUnicode_Compare(known, given) == 0;
}

/* The schema for what Store() was given; a new reference. */
static struct schema *find_schema(struct state *state, PyObject **values)
{
    PyObject *model = values[OPTION_MODEL], *json = values[OPTION_MODEL_JSON_FILE];
    if (state->opened_schema && same_key(state->opened_model, model) &&
        same_key(state->opened_json, json)) {
        Py_INCREF(state->opened_schema);
        return state->opened_schema;
    }
    PyObject *schema =
        PyObject_CallFunctionObjArgs(state->resolve, model, json ? json : Py_None, NULL);
    if (!schema) return NULL;
    if (!PyObject_TypeCheck(schema, state->schema)) {
        PyErr_SetString(PyExc_TypeError, "the model did not give a schema");
        Py_DECREF(schema);
        return NULL;
    }
    Py_INCREF(model);
    Py_XSETREF(state->opened_model, model);
    Py_XINCREF(json);
    Py_XSETREF(state->opened_json, json);
    Py_INCREF(schema);
    Py_XSETREF(state->opened_schema, (struct schema *)schema);
    return (struct schema *)schema;
}

/* ---- opening ---- */

static int set_directory(struct store *store, OBX_store_options *options, PyObject *directory)
{
    PyObject *path =
        directory && !PyUnicode_CheckExact(directory) ? PyOS_FSPath(directory) : directory;
    Py_ssize_t size = 0;
    const char *text = "";
    int err = -1;
    if (directory && !path) return -1;
    if (path && PyBytes_Check(path)) {
        char *bytes;
        if (PyBytes_AsStringAndSize(path, &bytes, &size)) goto out;
        text = bytes;
    } else if (path) {
        text = PyUnicode_AsUTF8AndSize(path, &size);
        if (!text) goto out;
    }
    if (path && strlen(text) != (size_t)size) {
        PyErr_SetString(PyExc_ValueError, "Store(): directory must not contain a NUL character");
        goto out;
    }
    store->flushes = strncmp(text, "memory:", 7) != 0;
    err = path && obx_opt_directory(options, text) ? -1 : 0;
    if (err) bwpy_raise_last(store->state);
out:
    if (path != directory) Py_XDECREF(path);
    return err;
}

static bool has_rare_options(PyObject **values)
{
    for (Py_ssize_t i = OPTION_DIRECTORY + 1; i < bwpy_option_count(); i++)
        if (values[i]) return true;
    return false;
}

static int open_store(struct store *store, PyObject **values)
{
    struct state *state = store->state;
    for (Py_ssize_t i = 0; i < bwpy_option_count(); i++)
        if (values[i] == Py_None && i != OPTION_MODEL) values[i] = NULL;
    if (!values[OPTION_MODEL]) values[OPTION_MODEL] = store->state->default_model;
    if (store->handle) {
        bwpy_raise_code(state, OBX_ERROR_ILLEGAL_STATE, "Store is open already");
        return -1;
    }
    store->wait_ms = WAIT_MS;
    struct schema *schema = find_schema(state, values);
    if (!schema) return -1;
    Py_XSETREF(store->schema, schema);
    OBX_store_options *options = obx_opt();
    if (!options) {
        bwpy_raise_last(state);
        return -1;
    }
    if (set_directory(store, options, values[OPTION_DIRECTORY]) ||
        (has_rare_options(values) && bwpy_options_apply(store, options, values))) {
        obx_opt_free(options);
        return -1;
    }
    if (schema->model && boxwood_opt_model(options, schema->model)) {
        bwpy_raise_last(state);
        obx_opt_free(options);
        return -1;
    }
    boxwood_failure failure;
    if (boxwood_store_open(options, &store->handle, &failure)) {
        store->handle = NULL;
        bwpy_raise(state, &failure, NULL);
        return -1;
    }
    return 0;
}

/* Keywords are constants of the caller's code and interned, as ours are: equal by pointer. */
static Py_ssize_t find_option(struct state *state, PyObject *name)
{
    for (Py_ssize_t i = 0; i < bwpy_option_count(); i++)
        if (bwpy_item(state->option_names, i) == name) return i;
    for (Py_ssize_t i = 0; i < bwpy_option_count(); i++)
        if (PyUnicode_Compare(PyTuple_GetItem(state->option_names, i), name) == 0) return i;
    PyErr_Format(PyExc_TypeError, "Store() got an unexpected keyword argument '%U'", name);
    return -1;
}

enum { OPTIONS_ROOM = 40 };

static int set_option(struct state *state, PyObject **values, PyObject *name, PyObject *value)
{
    Py_ssize_t option = find_option(state, name);
    if (option < 0) return -1;
    if (values[option]) {
        PyErr_Format(PyExc_TypeError, "Store() got multiple values for argument '%U'", name);
        return -1;
    }
    values[option] = value;
    return 0;
}

static int check_positional(size_t count)
{
    if (count <= (size_t)bwpy_option_count()) return 0;
    PyErr_Format(PyExc_TypeError, "Store() takes at most %zd arguments (%zu given)",
                 bwpy_option_count(), count);
    return -1;
}

static PyObject *store_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)args;
    (void)kwargs;
    PyObject *self = PyType_GenericAlloc(type, 0);
    if (self) ((struct store *)self)->state = bwpy_state_of_type(type);
    return self;
}

PyObject *bwpy_store_vectorcall(PyObject *type, PyObject *const *args, size_t nargsf,
                                PyObject *kwnames)
{
    PyObject *values[OPTIONS_ROOM] = {NULL};
    size_t count = (size_t)PyVectorcall_NARGS(nargsf);
    if (check_positional(count)) return NULL;
    PyObject *self = store_new((PyTypeObject *)type, NULL, NULL);
    if (!self) return NULL;
    struct store *store = (struct store *)self;
    for (size_t i = 0; i < count; i++) values[i] = args[i];
    Py_ssize_t named = kwnames ? PyTuple_Size(kwnames) : 0;
    for (Py_ssize_t i = 0; i < named; i++)
        if (set_option(store->state, values, PyTuple_GetItem(kwnames, i), args[count + (size_t)i]))
            goto fail;
    if (!open_store(store, values)) return self;
fail:
    Py_DECREF(self);
    return NULL;
}

static int store_init(PyObject *self, PyObject *args, PyObject *kwargs)
{
    struct store *store = (struct store *)self;
    PyObject *values[OPTIONS_ROOM] = {NULL}, *name, *value;
    size_t count = (size_t)PyTuple_Size(args);
    Py_ssize_t at = 0;
    if (check_positional(count)) return -1;
    for (size_t i = 0; i < count; i++) values[i] = PyTuple_GetItem(args, (Py_ssize_t)i);
    while (kwargs && PyDict_Next(kwargs, &at, &name, &value))
        if (set_option(store->state, values, name, value)) return -1;
    return open_store(store, values);
}

/* ---- closing ---- */

/* A thread inside the library without the GIL holds a transaction: give it time to come out. */
static int close_store(struct store *store)
{
    boxwood_failure failure;
    OBX_store *handle = store->handle;
    for (int32_t waited = 0;; waited++) {
        if (!boxwood_store_close(handle, 0, &failure)) break;
        if (!store->calls || waited > store->wait_ms) {
            bwpy_raise(store->state, &failure, NULL);
            return -1;
        }
        PyObject *time = PyImport_ImportModule("time");
        PyObject *done = time ? PyObject_CallMethod(time, "sleep", "d", 0.001) : NULL;
        Py_XDECREF(time);
        if (!done) return -1;
        Py_DECREF(done);
        if (!store->handle) return 0; // another thread was quicker
    }
    store->handle = NULL;
    return 0;
}

static PyObject *store_close(PyObject *self, PyObject *nothing)
{
    struct store *store = (struct store *)self;
    (void)nothing;
    if (store->handle && close_store(store)) return NULL;
    Py_RETURN_NONE;
}

static PyObject *store_enter(PyObject *self, PyObject *nothing)
{
    (void)nothing;
    Py_INCREF(self);
    return self;
}

static PyObject *store_exit(PyObject *self, PyObject *args)
{
    (void)args;
    return store_close(self, NULL);
}

static void store_dealloc(PyObject *self)
{
    struct store *store = (struct store *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (store->weakrefs) PyObject_ClearWeakRefs(self);
    // Nobody can end the transactions of a store that nobody knows any more.
    if (store->handle) boxwood_store_close(store->handle, BOXWOOD_CLOSE_FORCE, NULL);
    Py_XDECREF(store->schema);
    Py_XDECREF(store->log_callback);
    Py_XDECREF(store->writer_file);
    freefunc free_object = (freefunc)PyType_GetSlot(type, Py_tp_free);
    free_object(self);
    Py_DECREF(type);
}

static int store_traverse(PyObject *self, visitproc visit, void *arg)
{
    struct store *store = (struct store *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(store->schema);
    Py_VISIT(store->log_callback);
    return 0;
}

/* ---- what a store offers ---- */

static PyObject *store_box(PyObject *self, PyObject *entity)
{
    struct store *store = (struct store *)self;
    if (!store->handle) return bwpy_raise_closed(store);
    for (struct box *box = store->boxes; box; box = box->next) {
        if (box->entity != entity) continue;
        Py_INCREF(box);
        return (PyObject *)box;
    }
    return bwpy_box_new(store, entity);
}

static PyObject *store_write_tx(PyObject *self, PyObject *nothing)
{
    (void)nothing;
    return bwpy_txn_new((struct store *)self, true);
}

static PyObject *store_read_tx(PyObject *self, PyObject *nothing)
{
    (void)nothing;
    return bwpy_txn_new((struct store *)self, false);
}

static PyObject *store_is_closed(PyObject *self, PyObject *nothing)
{
    (void)nothing;
    return PyBool_FromLong(!((struct store *)self)->handle);
}

static PyObject *store_stats(PyObject *self, PyObject *nothing)
{
    struct store *store = (struct store *)self;
    (void)nothing;
    if (!store->handle) return bwpy_raise_closed(store);
    boxwood_failure failure;
    boxwood_store_stats_t stats = {.size = sizeof(stats)};
    if (boxwood_store_stats(store->handle, &stats, &failure))
        return bwpy_raise(store->state, &failure, NULL);
    return Py_BuildValue("{sKsKsKsOsO}", "file_size", (unsigned long long)stats.file_size,
                         "used_size", (unsigned long long)stats.used_size, "txn_id",
                         (unsigned long long)stats.txn_id, "opened_previous",
                         stats.opened_previous ? Py_True : Py_False, "opened_older",
                         stats.opened_older ? Py_True : Py_False);
}

static PyObject *store_remove_db_files(PyObject *type, PyObject *directory)
{
    PyObject *path = PyOS_FSPath(directory);
    const char *text = path && PyUnicode_Check(path) ? PyUnicode_AsUTF8AndSize(path, NULL)
                       : path                        ? PyBytes_AsString(path)
                                                     : NULL;
    obx_err err = text ? obx_remove_db_files(text) : 0;
    Py_XDECREF(path);
    if (!text) return NULL;
    if (err) return bwpy_raise_last(bwpy_state_of_type((PyTypeObject *)type));
    Py_RETURN_NONE;
}

static PyMethodDef store_methods[] = {
    {"box", store_box, METH_O,
     "box($self, entity, /)\n--\n\nThe box of an entity class; the same one as long as it is in "
     "use."},
    {"write_tx", store_write_tx, METH_NOARGS,
     "write_tx($self, /)\n--\n\nA write transaction for a with statement: committed at its end, "
     "undone when "
     "an exception leaves it."},
    {"read_tx", store_read_tx, METH_NOARGS,
     "read_tx($self, /)\n--\n\nA read transaction for a with statement: all reads see the same "
     "state."},
    {"close", store_close, METH_NOARGS,
     "close($self, /)\n--\n\nClose the store. Closing again does nothing."},
    {"is_closed", store_is_closed, METH_NOARGS,
     "is_closed($self, /)\n--\n\nWhether the store is closed."},
    {"stats", store_stats, METH_NOARGS,
     "stats($self, /)\n--\n\nFile size, used size and commit number as a dict."},
    {"remove_db_files", store_remove_db_files, METH_O | METH_CLASS,
     "remove_db_files($type, db_dir, /)\n--\n\nDelete the files of a store that is not open."},
    {"__enter__", store_enter, METH_NOARGS, NULL},
    {"__exit__", store_exit, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef store_members[] = {
    {"__weaklistoffset__", Py_T_PYSSIZET, offsetof(struct store, weakrefs), Py_READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot store_slots[] = {
    {Py_tp_doc, (void *)store_doc},   {Py_tp_new, store_new},
    {Py_tp_init, store_init},         {Py_tp_dealloc, store_dealloc},
    {Py_tp_traverse, store_traverse}, {Py_tp_methods, store_methods},
    {Py_tp_members, store_members},   {0, NULL},
};

PyType_Spec bwpy_store_spec = {
    .name = "boxwood.Store",
    .basicsize = sizeof(struct store),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE,
    .slots = store_slots,
};
