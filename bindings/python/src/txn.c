/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transactions: handles of the library, found again through a context variable.
 *
 * The innermost transaction object of a thread or task is the value of the variable and points to
 * the one around it. An inner transaction of the same store joins; one of another thread or task
 * gets its own. A task that was started inside a with statement inherits the variable, so the task
 * is compared as well.
 *
 * Waiting for another writer: first a try that does not wait, then with the GIL given away, so that
 * the writer can go on.
 */
#include "binding.h"

enum { PORTION_MS = 500 };

struct txn {
    PyObject head;
    struct store *store;
    struct txn *root;    /* the one that is joined; NULL: this is a root */
    boxwood_txn *handle; /* of a root that is active */
    PyObject *previous;  /* what the context variable held */
    PyObject *task;
    bool is_write, is_active, is_doomed;
};

static const char *const INSIDE_READ =
    "Cannot start a write transaction inside a read only transaction";

/* ---- the context variable ---- */

static PyObject *get_current(struct state *state)
{
#ifdef Py_LIMITED_API
    return PyObject_CallMethod(state->current, "get", "O", Py_None);
#else
    PyObject *value = NULL;
    if (PyContextVar_Get(state->current, Py_None, &value)) return NULL;
    return value;
#endif
}

static int set_current(struct state *state, PyObject *value)
{
#ifdef Py_LIMITED_API
    PyObject *token = PyObject_CallMethod(state->current, "set", "O", value);
#else
    PyObject *token = PyContextVar_Set(state->current, value);
#endif
    Py_XDECREF(token);
    return token ? 0 : -1;
}

/* The running asyncio task, NULL when there is none; a new reference. */
static PyObject *current_task(void)
{
    PyObject *modules = PyImport_GetModuleDict();
    PyObject *asyncio = modules ? PyDict_GetItemString(modules, "asyncio") : NULL;
    if (!asyncio) return NULL;
    PyObject *loop = PyObject_CallMethod(asyncio, "_get_running_loop", NULL), *task = NULL;
    if (loop && loop != Py_None) task = PyObject_CallMethod(asyncio, "current_task", "O", loop);
    Py_XDECREF(loop);
    PyErr_Clear();
    if (task == Py_None) Py_CLEAR(task);
    return task;
}

/* A thread to which a task handed its work has no task of its own, and a loop that runs inside a
 * with statement has tasks where that had none: both belong to the transaction. */
static bool is_of_this_task(struct txn *txn)
{
    PyObject *task = current_task();
    bool same = !task || !txn->task || task == txn->task;
    Py_XDECREF(task);
    return same;
}

/* The active transaction around this call; *out is a new reference, or NULL. */
static int find_current(struct store *store, struct txn **out)
{
    *out = NULL;
    if (!store->open_txns) return 0;
    PyObject *value = get_current(store->state);
    if (!value) return -1;
    PyObject *at = value;
    while (at && Py_TYPE(at) == store->state->txn) {
        struct txn *txn = (struct txn *)at;
        struct txn *root = txn->root ? txn->root : txn;
        if (txn->is_active && root->is_active && txn->store == store && is_of_this_task(txn)) {
            Py_INCREF(root);
            *out = root;
            break;
        }
        at = txn->previous;
    }
    Py_DECREF(value);
    return 0;
}

int bwpy_txn_current(struct store *store, boxwood_txn **out_txn)
{
    struct txn *root;
    if (find_current(store, &root)) return -1;
    *out_txn = root ? root->handle : NULL;
    Py_XDECREF(root);
    return 0;
}

/* ---- beginning and ending on the library's side ---- */

static int begin_failed(struct store *store, obx_err err, const boxwood_failure *failure)
{
    if (!store->handle) {
        bwpy_raise_closed(store); // by another thread, while this one waited
    } else if (err != OBX_TIMEOUT) {
        bwpy_raise(store->state, failure, NULL);
    } else if (!store->writer_file) {
        bwpy_raise_code(store->state, OBX_TIMEOUT,
                        "Another write transaction is still open after %d ms", (int)store->wait_ms);
    } else if (store->writer_thread == PyThread_get_thread_ident()) {
        bwpy_raise_code(
            store->state, OBX_ERROR_ILLEGAL_STATE,
            "This thread has a write transaction open in another task or context, and would "
            "wait for itself; it began at %U, line %d",
            store->writer_file, store->writer_line);
    } else {
        bwpy_raise_code(
            store->state, OBX_TIMEOUT,
            "Another write transaction is still open after %d ms; it began at %U, line %d",
            (int)store->wait_ms, store->writer_file, store->writer_line);
    }
    return -1;
}

/* In portions, between which signals are seen; -1: one of them raised. */
static obx_err wait_for_writer(struct store *store, boxwood_txn **out_txn, boxwood_failure *failure)
{
    obx_err err = OBX_TIMEOUT;
    OBX_store *handle = store->handle;
    for (int32_t left = store->wait_ms; left > 0 && err == OBX_TIMEOUT; left -= PORTION_MS) {
        int32_t portion = left < PORTION_MS ? left : PORTION_MS;
        store->calls++;
        PyThreadState *thread = PyEval_SaveThread();
        err = boxwood_txn_begin(handle, BOXWOOD_TXN_WRITE, portion, out_txn, failure);
        PyEval_RestoreThread(thread);
        store->calls--;
        if (err == OBX_TIMEOUT && PyErr_CheckSignals()) return -1;
    }
    return err;
}

static int begin_write(struct store *store, boxwood_txn **out_txn)
{
    boxwood_failure failure;
    obx_err err = boxwood_txn_begin(store->handle, BOXWOOD_TXN_WRITE, 0, out_txn, &failure);
    if (!err) return 0;
    bool is_own = store->writer_file && store->writer_thread == PyThread_get_thread_ident();
    if (err == OBX_TIMEOUT && !is_own) err = wait_for_writer(store, out_txn, &failure);
    if (!err || err == -1) return err;
    return begin_failed(store, err, &failure);
}

/* The GIL is given away when the commit flushes. */
static obx_err commit(struct store *store, boxwood_txn *txn, boxwood_failure *failure)
{
    if (!store->flushes) return boxwood_txn_commit(txn, failure);
    obx_err err;
    store->calls++;
    PyThreadState *thread = PyEval_SaveThread();
    err = boxwood_txn_commit(txn, failure);
    PyEval_RestoreThread(thread);
    store->calls--;
    return err;
}

int bwpy_write_begin(struct store *store, struct write *write)
{
    struct txn *root;
    if (!store->handle) {
        bwpy_raise_closed(store);
        return -1;
    }
    if (find_current(store, &root)) return -1;
    *write = (struct write){.store = store};
    if (!root) {
        write->is_own = true;
        return begin_write(store, &write->txn);
    }
    int err = -1;
    if (!root->is_write) bwpy_raise_code(store->state, OBX_ERROR_ILLEGAL_STATE, "%s", INSIDE_READ);
    else if (root->is_doomed)
        bwpy_raise_code(
            store->state, OBX_ERROR_ILLEGAL_STATE,
            "The transaction cannot be used for writing any more: one inside it failed");
    else err = 0;
    write->txn = root->handle;
    Py_DECREF(root);
    return err;
}

int bwpy_write_end(struct write *write, struct plan *plan)
{
    boxwood_failure failure;
    if (!write->is_own) return 0;
    if (!commit(write->store, write->txn, &failure)) return 0;
    bwpy_raise(write->store->state, &failure, plan);
    return -1;
}

void bwpy_write_abort(struct write *write)
{
    if (write->is_own) boxwood_txn_abort(write->txn);
}

/* ---- transaction objects ---- */

/* Remember where the write transaction began, for those who wait for it. */
static void note_writer(struct store *store)
{
    PyFrameObject *frame = PyEval_GetFrame();
    PyObject *code = frame ? (PyObject *)PyFrame_GetCode(frame) : NULL;
    PyObject *file = code ? PyObject_GetAttrString(code, "co_filename") : NULL;
    Py_XDECREF(code);
    if (!file) {
        PyErr_Clear();
        file = PyUnicode_FromString("an unknown place");
    }
    Py_XSETREF(store->writer_file, file);
    store->writer_line = frame ? PyFrame_GetLineNumber(frame) : 0;
    store->writer_thread = PyThread_get_thread_ident();
}

static int begin_root(struct txn *txn)
{
    struct store *store = txn->store;
    boxwood_failure failure;
    if (txn->is_write) {
        if (begin_write(store, &txn->handle)) return -1;
        note_writer(store);
        return 0;
    }
    if (!boxwood_txn_begin(store->handle, BOXWOOD_TXN_READ, 0, &txn->handle, &failure)) return 0;
    bwpy_raise(store->state, &failure, NULL);
    return -1;
}

static int begin(struct txn *txn)
{
    struct txn *root;
    if (find_current(txn->store, &root)) return -1;
    if (!root) return begin_root(txn);
    if (txn->is_write && !root->is_write) {
        bwpy_raise_code(txn->store->state, OBX_ERROR_ILLEGAL_STATE, "%s", INSIDE_READ);
        Py_DECREF(root);
        return -1;
    }
    txn->root = root;
    return 0;
}

static PyObject *txn_enter(PyObject *self, PyObject *nothing)
{
    struct txn *txn = (struct txn *)self;
    (void)nothing;
    if (!txn->store) {
        PyErr_SetString(PyExc_RuntimeError, "the transaction has ended; make another one");
        return NULL;
    }
    struct state *state = txn->store->state;
    if (txn->is_active)
        return bwpy_raise_code(state, OBX_ERROR_ILLEGAL_STATE, "The transaction has begun already");
    if (!txn->store->handle) return bwpy_raise_closed(txn->store);
    PyObject *previous = get_current(state);
    if (!previous) return NULL;
    if (begin(txn)) {
        Py_DECREF(previous);
        return NULL;
    }
    Py_XSETREF(txn->previous, previous);
    Py_XSETREF(txn->task, current_task());
    txn->is_active = true;
    txn->store->open_txns++;
    // Failing here leaves a transaction that nobody finds; it ends with the object.
    if (set_current(state, self)) return NULL;
    Py_INCREF(self);
    return self;
}

/* Make the transaction one of the past; its handle is the caller's from here on. */
static boxwood_txn *retire(struct txn *txn)
{
    boxwood_txn *handle = txn->handle;
    txn->handle = NULL;
    txn->is_active = false;
    txn->store->open_txns--;
    if (handle && txn->is_write) Py_CLEAR(txn->store->writer_file);
    return handle;
}

static int leave_context(struct txn *txn)
{
    struct state *state = txn->store->state;
    PyObject *now = get_current(state), *previous = txn->previous;
    if (!now) return -1;
    txn->previous = NULL;
    // In another context than the one it began in the variable is not ours to change.
    int err = now == (PyObject *)txn ? set_current(state, previous ? previous : Py_None) : 0;
    Py_DECREF(now);
    Py_XDECREF(previous);
    return err;
}

static PyObject *end_root(struct txn *txn, struct store *store, boxwood_txn *handle, bool failed)
{
    boxwood_failure failure;
    if (!txn->is_write || failed || txn->is_doomed) {
        boxwood_txn_abort(handle);
        if (txn->is_write && !failed)
            return bwpy_raise_code(store->state, OBX_ERROR_ILLEGAL_STATE,
                                   "The transaction was undone: one inside it failed");
        Py_RETURN_NONE;
    }
    if (commit(store, handle, &failure)) return bwpy_raise(store->state, &failure, NULL);
    Py_RETURN_NONE;
}

static PyObject *txn_exit(PyObject *self, PyObject *args)
{
    struct txn *txn = (struct txn *)self;
    bool failed = PyTuple_Size(args) > 0 && PyTuple_GetItem(args, 0) != Py_None;
    if (!txn->is_active) {
        PyErr_SetString(PyExc_RuntimeError, "the transaction is not active");
        return NULL;
    }
    struct store *store = txn->store;
    if (leave_context(txn)) return NULL;
    boxwood_txn *handle = retire(txn);
    txn->store = NULL; // a context that still knows us keeps no store open
    Py_CLEAR(txn->task);
    PyObject *result = NULL;
    if (txn->root) {
        if (failed && txn->is_write) txn->root->is_doomed = true;
        Py_CLEAR(txn->root);
        Py_INCREF(Py_None);
        result = Py_None;
    } else {
        result = end_root(txn, store, handle, failed);
    }
    Py_DECREF(store);
    return result;
}

PyObject *bwpy_txn_new(struct store *store, bool is_write)
{
    if (!store->handle) return bwpy_raise_closed(store);
    struct txn *txn = (struct txn *)PyType_GenericAlloc(store->state->txn, 0);
    if (!txn) return NULL;
    Py_INCREF(store);
    txn->store = store;
    txn->is_write = is_write;
    return (PyObject *)txn;
}

static int txn_traverse(PyObject *self, visitproc visit, void *arg)
{
    struct txn *txn = (struct txn *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(txn->store);
    Py_VISIT(txn->root);
    Py_VISIT(txn->previous);
    Py_VISIT(txn->task);
    return 0;
}

static int txn_clear(PyObject *self)
{
    struct txn *txn = (struct txn *)self;
    Py_CLEAR(txn->previous);
    Py_CLEAR(txn->task);
    return 0;
}

static void txn_dealloc(PyObject *self)
{
    struct txn *txn = (struct txn *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (txn->is_active) boxwood_txn_abort(retire(txn));
    txn_clear(self);
    Py_XDECREF(txn->root);
    Py_XDECREF(txn->store);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static PyMethodDef txn_methods[] = {
    {"__enter__", txn_enter, METH_NOARGS, NULL},
    {"__exit__", txn_exit, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot txn_slots[] = {
    {Py_tp_doc, "A transaction for one with statement; see Store.read_tx() and Store.write_tx()."},
    {Py_tp_dealloc, txn_dealloc},
    {Py_tp_traverse, txn_traverse},
    {Py_tp_clear, txn_clear},
    {Py_tp_methods, txn_methods},
    {0, NULL},
};

PyType_Spec bwpy_txn_spec = {
    .name = "boxwood._boxwood.Transaction",
    .basicsize = sizeof(struct txn),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE |
             Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = txn_slots,
};
