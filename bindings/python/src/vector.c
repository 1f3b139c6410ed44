/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vectors: from lists, tuples and anything with a one-dimensional buffer of numbers; read as list
 * or, for the array properties, as numpy array (array.array where numpy is not installed).
 */
#include "binding.h"

#include <float.h>
#include <math.h>

static const struct {
    uint8_t size;
    char format;       /* of the buffer protocol and of array.array */
    const char *dtype; /* of numpy */
    int64_t min, max;  /* of integers */
} elements[ELEMENT_COUNT] = {
    [ELEMENT_BOOL] = {1, '?', "?", 0, 1},
    [ELEMENT_INT8] = {1, 'b', "i1", INT8_MIN, INT8_MAX},
    [ELEMENT_INT16] = {2, 'h', "<i2", INT16_MIN, INT16_MAX},
    [ELEMENT_UINT16] = {2, 'H', "<u2", 0, UINT16_MAX},
    [ELEMENT_INT32] = {4, 'i', "<i4", INT32_MIN, INT32_MAX},
    [ELEMENT_INT64] = {8, 'q', "<i8", INT64_MIN, INT64_MAX},
    [ELEMENT_FLOAT32] = {4, 'f', "<f4", 0, 0},
    [ELEMENT_FLOAT64] = {8, 'd', "<f8", 0, 0},
};

size_t bwpy_element_size(enum element element) { return elements[element].size; }

static void store_int(uint8_t *at, enum element element, int64_t number)
{
    memcpy(at, &number, elements[element].size); // little-endian: the low bytes
}

static void store_float(uint8_t *at, enum element element, double number)
{
    float narrow = (float)number;
    if (element == ELEMENT_FLOAT32) memcpy(at, &narrow, sizeof(narrow));
    else memcpy(at, &number, sizeof(number));
}

static inline bool is_float_element(enum element element)
{
    return element == ELEMENT_FLOAT32 || element == ELEMENT_FLOAT64;
}

static int store_value(uint8_t *at, const struct place *place, PyObject *value)
{
    enum element element = place->field->element;
    int64_t number = 0;
    double real = 0;
    bool truth = false;
    if (is_float_element(element)) {
        if (bwpy_scalar_float(place, value, element == ELEMENT_FLOAT32, &real)) return -1;
        store_float(at, element, real);
    } else if (element == ELEMENT_BOOL) {
        if (bwpy_scalar_bool(place, value, &truth)) return -1;
        *at = truth;
    } else {
        if (bwpy_scalar_int(place, value, elements[element].min, elements[element].max, &number))
            return -1;
        store_int(at, element, number);
    }
    return 0;
}

/* The list is a copy of ours, so that what its items do to the original changes nothing. */
static int append_sequence(struct batch *batch, const struct place *place, PyObject *value)
{
    PyObject *items =
        PyTuple_CheckExact(value) ? (Py_INCREF(value), value) : PySequence_Tuple(value);
    if (!items) return bwpy_note_place(place);
    size_t count = (size_t)PyTuple_Size(items), size = elements[place->field->element].size;
    int err = count < UINT32_MAX / size ? bwpy_batch_room(batch, count * size + 16) : -1;
    if (err && !PyErr_Occurred()) PyErr_SetString(PyExc_OverflowError, "the vector is too long");
    uint32_t length = (uint32_t)count;
    for (size_t i = 0; !err && i < count; i++)
        err = store_value(batch->data + batch->used + 4 + i * size, place,
                          PyTuple_GetItem(items, (Py_ssize_t)i));
    Py_DECREF(items);
    if (err) return -1;
    memcpy(batch->data + batch->used, &length, 4);
    batch->used += 4 + count * size;
    return 0;
}

/* ---- buffers ---- */

static char buffer_format(const Py_buffer *view)
{
    const char *format = view->format ? view->format : "B";
    if (*format == '@' || *format == '=' || *format == '<') format++;
    if (!*format || format[1]) return 0;
    if (*format == 'l' || *format == 'L') // their size is the platform's, their meaning the same
        return view->itemsize == 8 ? (*format == 'l' ? 'q' : 'Q') : (*format == 'l' ? 'i' : 'I');
    return strchr("?bBhHiIqQfd", *format) ? *format : 0;
}

struct number {
    bool is_float, is_unsigned;
    int64_t integer;
    double real;
};

#define LOAD(type, member)               \
    do {                                 \
        type item;                       \
        memcpy(&item, at, sizeof(item)); \
        number.member = item;            \
    } while (0)

static struct number load(const char *at, char format)
{
    struct number number = {0};
    uint64_t big;
    switch (format) {
    case '?':
    case 'B':
        LOAD(uint8_t, integer);
        break;
    case 'b':
        LOAD(int8_t, integer);
        break;
    case 'h':
        LOAD(int16_t, integer);
        break;
    case 'H':
        LOAD(uint16_t, integer);
        break;
    case 'i':
        LOAD(int32_t, integer);
        break;
    case 'I':
        LOAD(uint32_t, integer);
        break;
    case 'q':
        LOAD(int64_t, integer);
        break;
    case 'Q':
        memcpy(&big, at, sizeof(big));
        number.integer = (int64_t)big;
        number.is_unsigned = true;
        break;
    case 'f':
        LOAD(float, real);
        number.is_float = true;
        break;
    default:
        LOAD(double, real);
        number.is_float = true;
        break;
    }
    return number;
}

/* Store what was loaded; false when it does not fit. */
static bool convert(uint8_t *at, enum element element, struct number number)
{
    if (is_float_element(element)) {
        double real = number.is_float      ? number.real
                      : number.is_unsigned ? (double)(uint64_t)number.integer
                                           : (double)number.integer;
        if (element == ELEMENT_FLOAT32 && isfinite(real) && fabs(real) >= 3.4028235677973366e38)
            return false;
        store_float(at, element, real);
        return true;
    }
    if (number.is_float || (number.is_unsigned && number.integer < 0)) return false;
    if (element == ELEMENT_BOOL) {
        *at = number.integer != 0;
        return true;
    }
    if (number.integer < elements[element].min || number.integer > elements[element].max)
        return false;
    store_int(at, element, number.integer);
    return true;
}

static int copy_buffer(uint8_t *to, const struct place *place, PyObject *value,
                       const Py_buffer *view, char format)
{
    enum element element = place->field->element;
    size_t count = (size_t)view->shape[0], size = elements[element].size;
    const char *from = view->buf;
    if (format == elements[element].format && view->strides[0] == view->itemsize) {
        if (count) memcpy(to, from, count * size);
        return 0;
    }
    for (size_t i = 0; i < count; i++, to += size, from += view->strides[0])
        if (!convert(to, element, load(from, format)))
            return bwpy_raise_value(place, value, WRONG_RANGE, "elements that fit the vector");
    return 0;
}

static int append_buffer(struct batch *batch, const struct place *place, PyObject *value)
{
    Py_buffer view;
    if (PyObject_GetBuffer(value, &view, PyBUF_STRIDES | PyBUF_FORMAT)) {
        PyErr_Clear(); // of a kind that we cannot use; its items may still be numbers
        return PySequence_Check(value)
                   ? append_sequence(batch, place, value)
                   : bwpy_raise_value(place, value, WRONG_TYPE, "a vector of numbers");
    }
    char format = buffer_format(&view);
    int err = 0;
    if (view.ndim != 1 || !format || view.shape[0] >= (Py_ssize_t)(UINT32_MAX / 8)) {
        err = bwpy_raise_value(place, value, WRONG_TYPE, "a one-dimensional vector of numbers");
    } else {
        size_t size = (size_t)view.shape[0] * elements[place->field->element].size;
        uint32_t length = (uint32_t)view.shape[0];
        err = bwpy_batch_room(batch, size + 16);
        if (!err) err = copy_buffer(batch->data + batch->used + 4, place, value, &view, format);
        if (!err) {
            memcpy(batch->data + batch->used, &length, 4);
            batch->used += 4 + size;
        }
    }
    PyBuffer_Release(&view);
    return err;
}

int bwpy_vector_append(struct batch *batch, const struct place *place, PyObject *value)
{
    if (PyList_Check(value) || PyTuple_Check(value)) return append_sequence(batch, place, value);
    if (PyUnicode_Check(value))
        return bwpy_raise_value(place, value, WRONG_TYPE, "a vector of numbers");
    if (PyObject_CheckBuffer(value)) return append_buffer(batch, place, value);
    if (PySequence_Check(value)) return append_sequence(batch, place, value);
    return bwpy_raise_value(place, value, WRONG_TYPE, "a list, an array or another vector");
}

/* ---- reading ---- */

static PyObject *read_list(enum element element, const uint8_t *data, size_t count)
{
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list && i < count; i++) {
        struct number number =
            load((const char *)data + i * elements[element].size, elements[element].format);
        PyObject *item = number.is_float           ? PyFloat_FromDouble(number.real)
                         : element == ELEMENT_BOOL ? PyBool_FromLong(number.integer != 0)
                                                   : PyLong_FromLongLong(number.integer);
        if (!item) Py_CLEAR(list);
        else PyList_SetItem(list, (Py_ssize_t)i, item);
    }
    return list;
}

/* numpy, or None when it is not installed; borrowed. */
static PyObject *get_numpy(struct state *state)
{
    if (state->numpy) return state->numpy;
    PyObject *numpy = PyImport_ImportModule("numpy");
    if (!numpy) {
        if (!PyErr_ExceptionMatches(PyExc_ImportError)) return NULL;
        PyErr_Clear();
        Py_INCREF(Py_None);
        numpy = Py_None;
    }
    Py_XSETREF(state->numpy, numpy);
    return state->numpy;
}

static PyObject *read_array(struct state *state, enum element element, const uint8_t *data,
                            size_t size)
{
    PyObject *numpy = get_numpy(state);
    if (!numpy) return NULL;
    if (numpy != Py_None) {
        // A bytearray under it makes the array writable.
        PyObject *bytes = PyByteArray_FromStringAndSize((const char *)data, (Py_ssize_t)size);
        PyObject *array =
            bytes ? PyObject_CallMethod(numpy, "frombuffer", "Os", bytes, elements[element].dtype)
                  : NULL;
        Py_XDECREF(bytes);
        return array;
    }
    PyObject *module = PyImport_ImportModule("array");
    if (!module) return NULL;
    const char format[2] = {element == ELEMENT_BOOL ? 'b' : elements[element].format, 0};
    PyObject *array =
        PyObject_CallMethod(module, "array", "sy#", format, (const char *)data, (Py_ssize_t)size);
    Py_DECREF(module);
    return array;
}

PyObject *bwpy_vector_read(struct state *state, const struct field *field, const uint8_t *data,
                           size_t count)
{
    if (field->form == FORM_LIST) return read_list(field->element, data, count);
    return read_array(state, field->element, data, count * elements[field->element].size);
}

PyObject *bwpy_vector_empty(struct state *state, enum element element)
{
    return read_array(state, element, (const uint8_t *)"", 0);
}
