/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Failures of the library into Python exceptions. The classes are Python's (boxwood.exceptions,
 * imported with the first error); each exception carries code, entity, property, index, id and
 * other_id.
 */
#include "binding.h"

/* The exception class of a code; a new reference. */
static PyObject *class_of(struct state *state, obx_err code)
{
    if (!state->error_class) {
        PyObject *module = PyImport_ImportModule("boxwood.exceptions");
        if (!module) return NULL;
        state->error_class = PyObject_GetAttrString(module, "class_of");
        Py_DECREF(module);
        if (!state->error_class) return NULL;
    }
    return PyObject_CallFunction(state->error_class, "i", (int)code);
}

static int set_attribute(PyObject *error, const char *name, PyObject *value)
{
    if (!value) return -1;
    int err = PyObject_SetAttrString(error, name, value);
    Py_DECREF(value);
    return err;
}

static PyObject *none_or(PyObject *value)
{
    if (!value) value = Py_None;
    Py_INCREF(value);
    return value;
}

struct details {
    PyObject *entity, *property; /* borrowed; NULL: none */
    int64_t index;               /* -1: none */
    obx_id id, other_id;
};

static int set_details(PyObject *error, const struct details *details)
{
    return set_attribute(error, "entity", none_or(details->entity)) ||
           set_attribute(error, "property", none_or(details->property)) ||
           set_attribute(error, "index",
                         details->index < 0 ? none_or(NULL)
                                            : PyLong_FromLongLong(details->index)) ||
           set_attribute(error, "id", PyLong_FromUnsignedLongLong(details->id)) ||
           set_attribute(error, "other_id", PyLong_FromUnsignedLongLong(details->other_id));
}

/* An OSError behind a storage error, when the operating system said something. */
static void set_cause(PyObject *error, int number)
{
    if (number <= 0) return;
    PyObject *text = PyUnicode_FromString(strerror(number));
    PyObject *cause = text ? PyObject_CallFunction(PyExc_OSError, "iO", number, text) : NULL;
    Py_XDECREF(text);
    if (cause) PyException_SetCause(error, cause);
    else PyErr_Clear();
}

static PyObject *raise_error(struct state *state, obx_err code, PyObject *message,
                             const struct details *details, int number)
{
    if (!message) return NULL;
    PyObject *type =
        code == OBX_ERROR_ALLOCATION ? none_or(PyExc_MemoryError) : class_of(state, code);
    PyObject *error = type ? PyObject_CallFunctionObjArgs(type, message, NULL) : NULL;
    if (error && code != OBX_ERROR_ALLOCATION) {
        // A code without a class of its own is told by the instance.
        PyObject *known = PyObject_GetAttrString(type, "code");
        if (known && PyLong_AsLong(known) != code)
            set_attribute(error, "code", PyLong_FromLong(code));
        Py_XDECREF(known);
        PyErr_Clear();
        if (set_details(error, details)) Py_CLEAR(error);
    }
    if (error) {
        set_cause(error, number);
        PyErr_SetObject(type, error);
    }
    Py_XDECREF(error);
    Py_XDECREF(type);
    Py_DECREF(message);
    return NULL;
}

PyObject *bwpy_raise(struct state *state, const boxwood_failure *failure, struct plan *plan)
{
    struct details details = {.index = -1, .id = failure->id, .other_id = failure->other_id};
    if (failure->index != UINT64_MAX) details.index = (int64_t)failure->index;
    if (plan && (!failure->entity_id || failure->entity_id == plan->entity_id)) {
        details.entity = plan->layout->entity_name;
        for (Py_ssize_t i = 0; failure->property_id && i < plan->layout->count; i++)
            if (plan->property_ids[i] == failure->property_id)
                details.property = plan->layout->fields[i].name;
    }
    size_t size = strnlen(failure->message, sizeof(failure->message));
    PyObject *text = PyUnicode_DecodeUTF8(failure->message, (Py_ssize_t)size, "replace");
    return raise_error(state, failure->code, text, &details, failure->secondary);
}

PyObject *bwpy_raise_code(struct state *state, obx_err code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    PyObject *text = PyUnicode_FromFormatV(format, args);
    va_end(args);
    struct details details = {.index = -1};
    return raise_error(state, code, text, &details, 0);
}

PyObject *bwpy_raise_last(struct state *state)
{
    obx_err code = obx_last_error_code();
    const char *message = obx_last_error_message();
    return bwpy_raise_code(state, code ? code : OBX_ERROR_UNKNOWN, "%s", message ? message : "");
}

PyObject *bwpy_raise_closed(struct store *store)
{
    return bwpy_raise_code(store->state, OBX_ERROR_ILLEGAL_STATE, "Store is closed");
}

/* A value as text, short enough for a message. */
static PyObject *short_repr(PyObject *value)
{
    PyObject *repr = PyObject_Repr(value);
    if (!repr) {
        PyErr_Clear();
        return PyUnicode_FromFormat("an object of %R", Py_TYPE(value));
    }
    if (PyUnicode_GetLength(repr) <= 80) return repr;
    PyObject *begin = PyUnicode_Substring(repr, 0, 77);
    Py_DECREF(repr);
    PyObject *cut = begin ? PyUnicode_FromFormat("%U...", begin) : NULL;
    Py_XDECREF(begin);
    return cut;
}

static PyObject *place_text(const struct place *place)
{
    PyObject *entity = place->plan->layout->entity_name;
    if (place->index < 0) return PyUnicode_FromFormat("%U.%U", entity, place->field->name);
    return PyUnicode_FromFormat("%U.%U of object %zd in the list", entity, place->field->name,
                                place->index);
}

int bwpy_raise_value(const struct place *place, PyObject *value, int what, const char *expected)
{
    PyObject *where = place_text(place), *repr = short_repr(value), *text = NULL;
    if (where && repr) text = PyUnicode_FromFormat("%U must be %s, got %U", where, expected, repr);
    Py_XDECREF(where);
    Py_XDECREF(repr);
    PyObject *module = text ? PyImport_ImportModule("boxwood.exceptions") : NULL;
    PyObject *type = module ? PyObject_GetAttrString(module, what == WRONG_TYPE ? "ValueTypeError"
                                                                                : "ValueRangeError")
                            : NULL;
    PyObject *error = type ? PyObject_CallFunctionObjArgs(type, text, NULL) : NULL;
    struct details details = {.entity = place->plan->layout->entity_name,
                              .property = place->field->name,
                              .index = place->index};
    if (error && !set_details(error, &details)) PyErr_SetObject(type, error);
    Py_XDECREF(error);
    Py_XDECREF(type);
    Py_XDECREF(module);
    Py_XDECREF(text);
    return -1;
}

int bwpy_note_place(const struct place *place)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    PyObject *where = place_text(place);
    PyObject *note = where ? PyUnicode_FromFormat("while storing %U", where) : NULL;
    PyObject *done = note && value ? PyObject_CallMethod(value, "add_note", "O", note) : NULL;
    Py_XDECREF(where);
    Py_XDECREF(note);
    Py_XDECREF(done);
    PyErr_Restore(type, value, trace);
    return -1;
}
