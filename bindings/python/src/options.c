/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keywords of Store(...) beyond the three that every open uses, and how each reaches the
 * library.
 */
#include "binding.h"

/* The order is that of objectbox-python's signature; what is ours comes last. */
static const char *const names[] = {
    "model",
    "model_json_file",
    "directory",
    "max_db_size_in_kb",
    "max_data_size_in_kb",
    "file_mode",
    "max_readers",
    "no_reader_thread_locals",
    "model_bytes",
    "model_bytes_direct",
    "read_schema",
    "use_previous_commit",
    "read_only",
    "debug_flags",
    "async_max_queue_length",
    "async_throttle_at_queue_length",
    "async_throttle_micros",
    "async_max_in_tx_duration",
    "async_max_in_tx_operations",
    "async_pre_txn_delay",
    "async_post_txn_delay",
    "async_minor_refill_threshold",
    "async_minor_refill_max_count",
    "async_object_bytes_max_cache_size",
    "async_object_bytes_max_size_to_cache",
    "log_callback",
    "skip_model_sync",
    "c_store",
    "durability",
    "write_timeout",
};

enum {
    MAX_DB_SIZE = 3,
    MAX_DATA_SIZE,
    FILE_MODE,
    MAX_READERS,
    NO_READER_THREAD_LOCALS,
    MODEL_BYTES,
    MODEL_BYTES_DIRECT,
    READ_SCHEMA,
    USE_PREVIOUS_COMMIT,
    READ_ONLY,
    DEBUG_FLAGS,
    ASYNC_MAX_QUEUE_LENGTH,
    ASYNC_THROTTLE_AT,
    ASYNC_THROTTLE_MICROS,
    ASYNC_MAX_DURATION,
    ASYNC_MAX_OPERATIONS,
    ASYNC_PRE_DELAY,
    ASYNC_POST_DELAY,
    ASYNC_REFILL_THRESHOLD,
    ASYNC_REFILL_MAX,
    ASYNC_CACHE_SIZE,
    ASYNC_SIZE_TO_CACHE,
    LOG_CALLBACK,
    SKIP_MODEL_SYNC,
    C_STORE,
    DURABILITY,
    WRITE_TIMEOUT,
    OPTION_COUNT,
};

_Static_assert(OPTION_COUNT == sizeof(names) / sizeof(*names), "a name for each option");

Py_ssize_t bwpy_option_count(void) { return OPTION_COUNT; }

PyObject *bwpy_option_names(void)
{
    PyObject *tuple = PyTuple_New(OPTION_COUNT);
    for (Py_ssize_t i = 0; tuple && i < OPTION_COUNT; i++) {
        PyObject *name = PyUnicode_InternFromString(names[i]);
        if (!name) Py_CLEAR(tuple);
        else PyTuple_SetItem(tuple, i, name);
    }
    return tuple;
}

static int wrong(const char *name, const char *expected, PyObject *value)
{
    if (!PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "Store(): %s must be %s, got %R", name, expected, value);
    return -1;
}

static int get_number(PyObject **values, int option, uint64_t max, uint64_t *out)
{
    PyObject *value = values[option];
    if (!PyLong_Check(value)) return wrong(names[option], "an int", value);
    unsigned long long number = PyLong_AsUnsignedLongLong(value);
    if (PyErr_Occurred() || number > max) {
        PyErr_Clear();
        PyErr_Format(PyExc_ValueError, "Store(): %s is out of range: %R", names[option], value);
        return -1;
    }
    *out = number;
    return 0;
}

static int apply_number(OBX_store_options *options, int option, uint64_t number)
{
    uint32_t small = (uint32_t)number;
    switch (option) {
    case MAX_DB_SIZE:
        obx_opt_max_db_size_in_kb(options, number);
        break;
    case MAX_DATA_SIZE:
        obx_opt_max_data_size_in_kb(options, number);
        break;
    case FILE_MODE:
        obx_opt_file_mode(options, small);
        break;
    case MAX_READERS:
        obx_opt_max_readers(options, small);
        break;
    case DEBUG_FLAGS:
        obx_opt_debug_flags(options, small);
        break;
    case ASYNC_MAX_QUEUE_LENGTH:
        obx_opt_async_max_queue_length(options, number);
        break;
    case ASYNC_THROTTLE_AT:
        obx_opt_async_throttle_at_queue_length(options, number);
        break;
    case ASYNC_THROTTLE_MICROS:
        obx_opt_async_throttle_micros(options, small);
        break;
    case ASYNC_MAX_DURATION:
        obx_opt_async_max_in_tx_duration(options, small);
        break;
    case ASYNC_MAX_OPERATIONS:
        obx_opt_async_max_in_tx_operations(options, small);
        break;
    case ASYNC_PRE_DELAY:
        obx_opt_async_pre_txn_delay(options, small);
        break;
    case ASYNC_POST_DELAY:
        obx_opt_async_post_txn_delay(options, small);
        break;
    case ASYNC_REFILL_THRESHOLD:
        obx_opt_async_minor_refill_threshold(options, number);
        break;
    case ASYNC_REFILL_MAX:
        obx_opt_async_minor_refill_max_count(options, small);
        break;
    case ASYNC_CACHE_SIZE:
        obx_opt_async_object_bytes_max_cache_size(options, number);
        break;
    case ASYNC_SIZE_TO_CACHE:
        obx_opt_async_object_bytes_max_size_to_cache(options, number);
        break;
    default:
        return -1;
    }
    return 0;
}

static int apply_flag(OBX_store_options *options, int option, PyObject *value)
{
    int flag = PyObject_IsTrue(value);
    if (flag < 0) return -1;
    switch (option) {
    case NO_READER_THREAD_LOCALS:
        obx_opt_no_reader_thread_locals(options, flag);
        break;
    case READ_SCHEMA:
        obx_opt_read_schema(options, flag);
        break;
    case USE_PREVIOUS_COMMIT:
        obx_opt_use_previous_commit(options, flag);
        break;
    case READ_ONLY:
        obx_opt_read_only(options, flag);
        break;
    default:
        break; // SKIP_MODEL_SYNC: comparing models costs nothing, so there is nothing to skip
    }
    return 0;
}

static int apply_model_bytes(struct store *store, OBX_store_options *options, int option,
                             PyObject *value)
{
    char *data;
    Py_ssize_t size;
    if (!PyBytes_Check(value)) return wrong(names[option], "bytes", value);
    if (PyBytes_AsStringAndSize(value, &data, &size)) return -1;
    if (!obx_opt_model_bytes(options, (const uint8_t *)data, (size_t)size)) return 0;
    bwpy_raise_last(store->state);
    return -1;
}

/* May be called on any thread, with or without the GIL. */
static void on_log(OBXLogLevel level, const char *message, size_t size, void *callback)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyObject *text = PyUnicode_DecodeUTF8(message, (Py_ssize_t)size, "replace");
    PyObject *done = text ? PyObject_CallFunction(callback, "iO", (int)level, text) : NULL;
    if (!done) PyErr_WriteUnraisable(callback);
    Py_XDECREF(done);
    Py_XDECREF(text);
    PyErr_Restore(type, value, trace);
    PyGILState_Release(gil);
}

static int apply_log_callback(struct store *store, OBX_store_options *options, PyObject *value)
{
    if (!PyCallable_Check(value)) return wrong("log_callback", "callable", value);
    Py_INCREF(value);
    Py_XSETREF(store->log_callback, value);
    obx_opt_log_callback(options, on_log, value);
    return 0;
}

static int apply_durability(struct store *store, OBX_store_options *options, PyObject *value)
{
    static const struct {
        const char *name;
        BoxwoodDurability durability;
    } known[] = {{"full", BoxwoodDurability_Full},
                 {"barrier", BoxwoodDurability_Barrier},
                 {"lazy", BoxwoodDurability_Lazy},
                 {"none", BoxwoodDurability_None}};
    size_t at = 0, count = sizeof(known) / sizeof(known[0]);
    while (PyUnicode_Check(value) && at < count &&
           PyUnicode_CompareWithASCIIString(value, known[at].name) != 0)
        at++;
    if (!PyUnicode_Check(value) || at == count)
        return wrong("durability", "\"full\", \"barrier\", \"lazy\" or \"none\"", value);
    store->flushes = known[at].durability != BoxwoodDurability_None;
    if (!boxwood_opt_durability(options, known[at].durability)) return 0;
    bwpy_raise_last(store->state);
    return -1;
}

static int apply_timeout(struct store *store, PyObject *value)
{
    double seconds = PyFloat_AsDouble(value);
    if (seconds == -1.0 && PyErr_Occurred()) return -1;
    if (!(seconds >= 0 && seconds <= 86400 * 20))
        return wrong("write_timeout", "seconds, at most 20 days", value);
    store->wait_ms = (int32_t)(seconds * 1000);
    return 0;
}

static int apply(struct store *store, OBX_store_options *options, PyObject **values, int option)
{
    PyObject *value = values[option];
    uint64_t number;
    switch (option) {
    case NO_READER_THREAD_LOCALS:
    case READ_SCHEMA:
    case USE_PREVIOUS_COMMIT:
    case READ_ONLY:
    case SKIP_MODEL_SYNC:
        return apply_flag(options, option, value);
    case MODEL_BYTES:
    case MODEL_BYTES_DIRECT:
        return apply_model_bytes(store, options, option, value);
    case LOG_CALLBACK:
        return apply_log_callback(store, options, value);
    case DURABILITY:
        return apply_durability(store, options, value);
    case WRITE_TIMEOUT:
        return apply_timeout(store, value);
    case C_STORE:
        return wrong("c_store", "left out: it belongs to another binding", value);
    case MAX_DB_SIZE:
    case MAX_DATA_SIZE:
    case ASYNC_CACHE_SIZE:
    case ASYNC_SIZE_TO_CACHE:
        break;
    default:
        if (get_number(values, option, UINT32_MAX, &number)) return -1;
        return apply_number(options, option, number);
    }
    if (get_number(values, option, UINT64_MAX, &number)) return -1;
    return apply_number(options, option, number);
}

int bwpy_options_apply(struct store *store, OBX_store_options *options, PyObject **values)
{
    for (int i = MAX_DB_SIZE; i < OPTION_COUNT; i++)
        if (values[i] && apply(store, options, values, i)) return -1;
    return 0;
}
