/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FlexBuffers: values without a schema, written children first into the batch.
 *
 * A container is a row of equally wide elements; each is a number or the distance back to where the
 * child lies. The width is the smallest in which everything in the row fits.
 */
#include "binding.h"

#include "flex.h"

#include <math.h>

struct value {
    uint8_t type;
    uint8_t
        width; /* log2 of the bytes that it needs inline; for what lies elsewhere, of its length */
    bool is_inline; /* a number; otherwise `at` is where it lies */
    union {
        int64_t integer;
        double real;
        size_t at; /* from the begin of the buffer */
    };
};

struct writer {
    struct batch *batch;
    size_t begin;
    const struct place *place;
};

static size_t position(const struct writer *writer) { return writer->batch->used - writer->begin; }

static int append(struct writer *writer, const void *data, size_t size)
{
    if (bwpy_batch_room(writer->batch, size + 16)) return -1;
    if (size) memcpy(writer->batch->data + writer->batch->used, data, size);
    writer->batch->used += size;
    return 0;
}

static int align(struct writer *writer, uint8_t width)
{
    static const uint8_t zeros[8];
    size_t at = position(writer);
    return append(writer, zeros, ROUND_UP(at, (size_t)1 << width) - at);
}

static uint8_t unsigned_width(uint64_t value)
{
    return value <= UINT8_MAX ? 0 : value <= UINT16_MAX ? 1 : value <= UINT32_MAX ? 2 : 3;
}

static uint8_t signed_width(int64_t value)
{
    return value >= INT8_MIN && value <= INT8_MAX     ? 0
           : value >= INT16_MIN && value <= INT16_MAX ? 1
           : value >= INT32_MIN && value <= INT32_MAX ? 2
                                                      : 3;
}

static uint8_t packed(const struct value *value, uint8_t row_width)
{
    uint8_t width = value->is_inline ? row_width : value->width;
    return (uint8_t)(value->type << 2 | width);
}

/* The width that an element needs when it lies at `at` in a row of `width`. */
static uint8_t width_at(const struct value *value, size_t at, uint8_t width)
{
    if (value->is_inline) return value->width;
    size_t where = ROUND_UP(at, (size_t)1 << width);
    return unsigned_width(where - value->at);
}

static uint8_t row_width(struct writer *writer, const struct value *values, size_t count,
                         size_t prefix, uint8_t least)
{
    for (uint8_t width = least; width < 3; width++) {
        bool fits = true;
        for (size_t i = 0; fits && i < count; i++)
            fits = width_at(&values[i], position(writer) + ((i + prefix) << width) + 8, width) <=
                   width;
        if (fits) return width;
    }
    return 3;
}

static int put_element(struct writer *writer, const struct value *value, uint8_t width)
{
    if (value->type == FLEX_FLOAT) {
        float narrow = (float)value->real;
        return width == 3 ? append(writer, &value->real, 8) : append(writer, &narrow, 4);
    }
    uint64_t number = value->is_inline ? (uint64_t)value->integer : position(writer) - value->at;
    return append(writer, &number, (size_t)1 << width);
}

static int put_number(struct writer *writer, uint64_t number, uint8_t width)
{
    return append(writer, &number, (size_t)1 << width);
}

/* keys: NULL for a vector; then the row begins with their distance and width. */
static int put_row(struct writer *writer, const struct value *values, size_t count,
                   const struct value *keys, struct value *out)
{
    uint8_t width = unsigned_width(count);
    size_t prefix = keys ? 3 : 1;
    for (size_t i = 0; i < count; i++)
        if (values[i].type == FLEX_FLOAT && values[i].width > width) width = values[i].width;
    width = row_width(writer, values, count, prefix, width);
    if (keys) {
        uint8_t for_keys = row_width(writer, keys, 1, 0, width);
        width = for_keys;
    }
    // A float needs at least 4 bytes; its own width says so.
    if (align(writer, width)) return -1;
    if (keys &&
        (put_element(writer, keys, width) || put_number(writer, (uint64_t)1 << keys->width, width)))
        return -1;
    if (put_number(writer, count, width)) return -1;
    size_t at = position(writer);
    for (size_t i = 0; i < count; i++)
        if (put_element(writer, &values[i], width)) return -1;
    for (size_t i = 0; i < count; i++) {
        uint8_t type = packed(&values[i], width);
        if (append(writer, &type, 1)) return -1;
    }
    *out = (struct value){.type = keys ? FLEX_MAP : FLEX_VECTOR, .width = width, .at = at};
    return 0;
}

/* A length, the bytes, and a NUL behind them (of which a blob has no need, and strings do). */
static int put_bytes(struct writer *writer, const char *data, size_t size, uint8_t type,
                     struct value *out)
{
    uint8_t width = unsigned_width(size);
    if (align(writer, width) || put_number(writer, size, width)) return -1;
    *out = (struct value){.type = type, .width = width, .at = position(writer)};
    return append(writer, data, size) || append(writer, "", 1) ? -1 : 0;
}

static int wrong(struct writer *writer, PyObject *value, const char *expected)
{
    return bwpy_raise_value(writer->place, value, WRONG_TYPE, expected);
}

static int put_any(struct writer *writer, PyObject *value, struct value *out);

static int put_text(struct writer *writer, PyObject *value, struct value *out)
{
    PyObject *bytes = PyUnicode_AsUTF8String(value);
    char *data;
    Py_ssize_t size;
    if (!bytes) {
        PyErr_Clear();
        return bwpy_raise_value(writer->place, value, WRONG_RANGE, "text without lone surrogates");
    }
    int err = PyBytes_AsStringAndSize(bytes, &data, &size) ||
              put_bytes(writer, data, (size_t)size, FLEX_STRING, out);
    Py_DECREF(bytes);
    return err ? -1 : 0;
}

static int put_int(struct writer *writer, PyObject *value, struct value *out)
{
    int overflow = 0;
    int64_t number = PyLong_AsLongLongAndOverflow(value, &overflow);
    out->is_inline = true;
    out->type = FLEX_INT;
    if (overflow) {
        unsigned long long big = PyLong_AsUnsignedLongLong(value);
        if (PyErr_Occurred()) {
            PyErr_Clear();
            return bwpy_raise_value(writer->place, value, WRONG_RANGE, "integers of up to 64 bits");
        }
        out->type = FLEX_UINT;
        number = (int64_t)big;
    }
    out->integer = number;
    out->width = overflow ? 3 : signed_width(number);
    return 0;
}

static int put_sequence(struct writer *writer, PyObject *value, struct value *out)
{
    PyObject *items = PySequence_Tuple(value); // its own items may change it meanwhile
    if (!items) return -1;
    size_t count = (size_t)PyTuple_Size(items);
    struct value *values = PyMem_Calloc(count + 1, sizeof(*values));
    int err = values ? 0 : -1;
    if (err) PyErr_NoMemory();
    for (size_t i = 0; !err && i < count; i++)
        err = put_any(writer, PyTuple_GetItem(items, (Py_ssize_t)i), &values[i]);
    if (!err) err = put_row(writer, values, count, NULL, out);
    PyMem_Free(values);
    Py_DECREF(items);
    return err;
}

/* (key, value) with the key as bytes. */
static PyObject *encoded_item(struct writer *writer, PyObject *item)
{
    PyObject *key = PyTuple_GetItem(item, 0), *pair = NULL;
    PyObject *bytes = PyUnicode_Check(key) ? PyUnicode_AsUTF8String(key) : NULL;
    PyErr_Clear();
    if (bytes && strlen(PyBytes_AsString(bytes)) == (size_t)PyBytes_Size(bytes))
        pair = PyTuple_Pack(2, bytes, PyTuple_GetItem(item, 1));
    else wrong(writer, key, "maps whose keys are str, without NUL and lone surrogates");
    Py_XDECREF(bytes);
    return pair;
}

/* The keys of a map are sorted by their bytes. Keys differ, so values are never compared. */
static PyObject *sorted_items(struct writer *writer, PyObject *dict)
{
    PyObject *items = PyDict_Items(dict);
    for (Py_ssize_t i = 0; items && i < PyList_Size(items); i++) {
        PyObject *pair = encoded_item(writer, PyList_GetItem(items, i));
        if (!pair || PyList_SetItem(items, i, pair)) Py_CLEAR(items);
    }
    if (items && PyList_Sort(items)) Py_CLEAR(items);
    return items;
}

static int put_keys(struct writer *writer, const struct value *keys, size_t count,
                    struct value *out)
{
    uint8_t width = row_width(writer, keys, count, 1, unsigned_width(count));
    if (align(writer, width) || put_number(writer, count, width)) return -1;
    *out = (struct value){.type = FLEX_VECTOR_KEY, .width = width, .at = position(writer)};
    for (size_t i = 0; i < count; i++)
        if (put_element(writer, &keys[i], width)) return -1;
    return 0;
}

static int put_map(struct writer *writer, PyObject *dict, struct value *out)
{
    PyObject *items = sorted_items(writer, dict);
    if (!items) return -1;
    size_t count = (size_t)PyList_Size(items);
    struct value *keys = PyMem_Calloc(2 * count + 1, sizeof(*keys)), row;
    struct value *values = keys + count;
    int err = keys ? 0 : -1;
    if (err) PyErr_NoMemory();
    for (size_t i = 0; !err && i < count; i++) {
        PyObject *item = PyList_GetItem(items, (Py_ssize_t)i), *key = PyTuple_GetItem(item, 0);
        keys[i] = (struct value){.type = FLEX_KEY, .at = position(writer)};
        err = append(writer, PyBytes_AsString(key), (size_t)PyBytes_Size(key) + 1) ||
              put_any(writer, PyTuple_GetItem(item, 1), &values[i]);
    }
    if (!err)
        err = put_keys(writer, keys, count, &row) || put_row(writer, values, count, &row, out);
    PyMem_Free(keys);
    Py_DECREF(items);
    return err ? -1 : 0;
}

/* What is none of the built-in types but converts to one, as numpy's numbers do. */
static int put_converted(struct writer *writer, PyObject *value, struct value *out)
{
    PyObject *converted = NULL;
    if (PyObject_HasAttrString(value, "tolist"))
        converted = PyObject_CallMethod(value, "tolist", NULL);
    else if (PyIndex_Check(value)) converted = PyNumber_Index(value);
    else if (PyObject_CheckBuffer(value) && !PySequence_Check(value))
        converted = PyBytes_FromObject(value);
    else if (PyNumber_Check(value) && !PyComplex_Check(value) && !PySequence_Check(value))
        converted = PyNumber_Float(value);
    else return wrong(writer, value, "None, bool, int, float, str, bytes, list, tuple or dict");
    if (!converted) return bwpy_note_place(writer->place);
    int err = put_any(writer, converted, out);
    Py_DECREF(converted);
    return err;
}

static int put_any(struct writer *writer, PyObject *value, struct value *out)
{
    *out = (struct value){.type = FLEX_NULL, .is_inline = true};
    if (value == Py_None) return 0;
    if (PyBool_Check(value)) {
        out->type = FLEX_BOOL;
        out->integer = value == Py_True;
        return 0;
    }
    if (PyLong_Check(value)) return put_int(writer, value, out);
    if (PyFloat_Check(value)) {
        out->type = FLEX_FLOAT;
        out->real = PyFloat_AsDouble(value);
        bool is_short = !isfinite(out->real) ||
                        (fabs(out->real) <= 3.4028234663852886e38 && (float)out->real == out->real);
        out->width = is_short && !isnan(out->real) ? 2 : 3;
        return 0;
    }
    if (PyUnicode_Check(value)) return put_text(writer, value, out);
    if (PyBytes_Check(value))
        return put_bytes(writer, PyBytes_AsString(value), (size_t)PyBytes_Size(value), FLEX_BLOB,
                         out);
    if (PyByteArray_Check(value))
        return put_bytes(writer, PyByteArray_AsString(value), (size_t)PyByteArray_Size(value),
                         FLEX_BLOB, out);
    if (Py_EnterRecursiveCall(" while storing a Flex value")) return -1;
    int err;
    if (PyList_Check(value) || PyTuple_Check(value)) err = put_sequence(writer, value, out);
    else if (PyDict_Check(value)) err = put_map(writer, value, out);
    else err = put_converted(writer, value, out);
    Py_LeaveRecursiveCall();
    return err;
}

int bwpy_flex_append(struct batch *batch, const struct place *place, PyObject *value)
{
    size_t length_at = batch->used;
    if (bwpy_batch_room(batch, 16)) return -1;
    batch->used += 4;
    struct writer writer = {.batch = batch, .begin = batch->used, .place = place};
    struct value root;
    Py_INCREF(value);
    int err = put_any(&writer, value, &root);
    Py_DECREF(value);
    if (err) return -1;
    uint8_t width = row_width(&writer, &root, 1, 0, root.is_inline ? root.width : 0);
    if (align(&writer, width) || put_element(&writer, &root, width)) return -1;
    uint8_t end[2] = {packed(&root, width), (uint8_t)(1 << width)};
    if (append(&writer, end, 2)) return -1;
    uint32_t size = (uint32_t)position(&writer);
    memcpy(batch->data + length_at, &size, sizeof(size));
    return 0;
}
