/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FlexBuffers into Python values. Bytes may come from anybody, so each step stays inside the
 * buffer, and the work is bounded: children may be shared, and a small buffer could otherwise
 * describe a huge tree.
 */
#include "binding.h"

#include "flex.h"

struct reader {
    const uint8_t *data;
    size_t size;
    size_t budget; /* values that may still be made */
};

/* Where a value lies and what it is. */
struct source {
    size_t at;
    uint8_t type, row_width; /* width of the row that it lies in, in bytes */
    uint8_t width;           /* of its own parts */
};

static PyObject *corrupt(void)
{
    PyErr_SetString(PyExc_ValueError, "a stored Flex value is damaged");
    return NULL;
}

static bool inside(const struct reader *reader, size_t at, size_t size)
{
    return at <= reader->size && size <= reader->size - at;
}

static uint64_t get_unsigned(const struct reader *reader, size_t at, uint8_t width)
{
    uint64_t value = 0;
    memcpy(&value, reader->data + at, width);
    return value;
}

static int64_t get_signed(const struct reader *reader, size_t at, uint8_t width)
{
    unsigned shift = 64 - 8 * (unsigned)width;
    return (int64_t)(get_unsigned(reader, at, width) << shift) >> shift;
}

static PyObject *get_float(const struct reader *reader, size_t at, uint8_t width)
{
    float narrow;
    double real;
    if (width == 4) {
        memcpy(&narrow, reader->data + at, 4);
        return PyFloat_FromDouble((double)narrow);
    }
    if (width != 8) return corrupt();
    memcpy(&real, reader->data + at, 8);
    return PyFloat_FromDouble(real);
}

/* Follow the distance at `at`. */
static bool follow(const struct reader *reader, size_t at, uint8_t width, size_t *out)
{
    if (!inside(reader, at, width)) return false;
    uint64_t distance = get_unsigned(reader, at, width);
    if (distance > at) return false;
    *out = at - (size_t)distance;
    return true;
}

/* The length in front of what lies at `at`. */
static bool get_length(const struct reader *reader, size_t at, uint8_t width, size_t unit,
                       size_t *out)
{
    if (at < width || !inside(reader, at - width, width)) return false;
    uint64_t length = get_unsigned(reader, at - width, width);
    if (unit && length > (reader->size - at) / unit) return false;
    *out = (size_t)length;
    return true;
}

static PyObject *read_value(struct reader *reader, struct source source);

static PyObject *read_key(const struct reader *reader, size_t at)
{
    const uint8_t *end = at < reader->size ? memchr(reader->data + at, 0, reader->size - at) : NULL;
    if (!end) return corrupt();
    return bwpy_text_read(reader->data + at, (size_t)(end - (reader->data + at)));
}

static PyObject *read_number(const struct reader *reader, size_t at, uint8_t type, uint8_t width)
{
    if (!inside(reader, at, width)) return corrupt();
    switch (type) {
    case FLEX_INT:
        return PyLong_FromLongLong(get_signed(reader, at, width));
    case FLEX_UINT:
        return PyLong_FromUnsignedLongLong(get_unsigned(reader, at, width));
    case FLEX_BOOL:
        return PyBool_FromLong(get_unsigned(reader, at, width) != 0);
    default:
        return get_float(reader, at, width);
    }
}

/* A row whose elements have their types behind it. */
static PyObject *read_vector(struct reader *reader, size_t at, uint8_t width)
{
    size_t count;
    if (!get_length(reader, at, width, (size_t)width + 1, &count)) return corrupt();
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list && i < count; i++) {
        uint8_t packed = reader->data[at + count * width + i];
        struct source source = {.at = at + i * width,
                                .type = packed >> 2,
                                .row_width = width,
                                .width = (uint8_t)(1 << (packed & 3))};
        PyObject *item = read_value(reader, source);
        if (!item) Py_CLEAR(list);
        else PyList_SetItem(list, (Py_ssize_t)i, item);
    }
    return list;
}

/* A row of one type; fixed: its count when no length lies in front. */
static PyObject *read_typed(struct reader *reader, size_t at, uint8_t type, uint8_t width,
                            size_t fixed)
{
    size_t count = fixed;
    if (fixed ? !inside(reader, at, fixed * width) : !get_length(reader, at, width, width, &count))
        return corrupt();
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list && i < count; i++) {
        struct source source = {.at = at + i * width, .type = type, .row_width = width, .width = 1};
        PyObject *item = read_value(reader, source);
        if (!item) Py_CLEAR(list);
        else PyList_SetItem(list, (Py_ssize_t)i, item);
    }
    return list;
}

static PyObject *read_map(struct reader *reader, size_t at, uint8_t width)
{
    size_t keys_at, key_count, count;
    if (at < 3 * (size_t)width || !follow(reader, at - 3 * (size_t)width, width, &keys_at))
        return corrupt();
    uint64_t key_width = get_unsigned(reader, at - 2 * (size_t)width, width);
    if (key_width != 1 && key_width != 2 && key_width != 4 && key_width != 8) return corrupt();
    if (!get_length(reader, keys_at, (uint8_t)key_width, key_width, &key_count) ||
        !get_length(reader, at, width, (size_t)width + 1, &count) || key_count != count)
        return corrupt();
    PyObject *values = read_vector(reader, at, width), *dict = values ? PyDict_New() : NULL;
    for (size_t i = 0; dict && i < count; i++) {
        size_t key_at;
        PyObject *key = follow(reader, keys_at + i * key_width, (uint8_t)key_width, &key_at)
                            ? read_key(reader, key_at)
                            : corrupt();
        if (!key || PyDict_SetItem(dict, key, PyList_GetItem(values, (Py_ssize_t)i)))
            Py_CLEAR(dict);
        Py_XDECREF(key);
    }
    Py_XDECREF(values);
    return dict;
}

/* What lies elsewhere. */
static PyObject *read_far(struct reader *reader, struct source source, size_t at)
{
    size_t size;
    uint8_t type = source.type, width = source.width;
    switch (type) {
    case FLEX_KEY:
        return read_key(reader, at);
    case FLEX_STRING:
        if (!get_length(reader, at, width, 1, &size)) return corrupt();
        return bwpy_text_read(reader->data + at, size);
    case FLEX_BLOB:
        if (!get_length(reader, at, width, 1, &size)) return corrupt();
        return PyBytes_FromStringAndSize((const char *)reader->data + at, (Py_ssize_t)size);
    case FLEX_INDIRECT_INT:
    case FLEX_INDIRECT_UINT:
    case FLEX_INDIRECT_FLOAT:
        return read_number(reader, at, (uint8_t)(type - FLEX_INDIRECT_INT + FLEX_INT), width);
    case FLEX_MAP:
        return read_map(reader, at, width);
    case FLEX_VECTOR:
        return read_vector(reader, at, width);
    case FLEX_VECTOR_BOOL:
        return read_typed(reader, at, FLEX_BOOL, width, 0);
    default:
        break;
    }
    if (type >= FLEX_VECTOR_INT && type <= FLEX_VECTOR_STRING)
        return read_typed(reader, at, (uint8_t)(type - FLEX_VECTOR_INT + FLEX_INT), width, 0);
    if (type >= FLEX_VECTOR_INT2 && type <= FLEX_VECTOR_FLOAT4) {
        uint8_t of = (uint8_t)((type - FLEX_VECTOR_INT2) % 3 + FLEX_INT);
        return read_typed(reader, at, of, width, (size_t)(type - FLEX_VECTOR_INT2) / 3 + 2);
    }
    return corrupt();
}

static PyObject *read_value(struct reader *reader, struct source source)
{
    if (!reader->budget--) {
        reader->budget = 0;
        return corrupt();
    }
    switch (source.type) {
    case FLEX_NULL:
        Py_RETURN_NONE;
    case FLEX_INT:
    case FLEX_UINT:
    case FLEX_FLOAT:
    case FLEX_BOOL:
        return read_number(reader, source.at, source.type, source.row_width);
    default:
        break;
    }
    size_t at;
    if (!follow(reader, source.at, source.row_width, &at)) return corrupt();
    if (Py_EnterRecursiveCall(" while reading a Flex value")) return NULL;
    PyObject *value = read_far(reader, source, at);
    Py_LeaveRecursiveCall();
    return value;
}

PyObject *bwpy_flex_read(const uint8_t *data, size_t size)
{
    if (size < 3) {
        if (!size) Py_RETURN_NONE;
        return corrupt();
    }
    uint8_t packed = data[size - 2], row_width = data[size - 1];
    bool is_width = row_width == 1 || row_width == 2 || row_width == 4 || row_width == 8;
    if (!is_width || size < (size_t)row_width + 2) return corrupt();
    struct reader reader = {.data = data, .size = size - 2, .budget = 16 * size + 1024};
    struct source source = {.at = size - 2 - row_width,
                            .type = packed >> 2,
                            .row_width = row_width,
                            .width = (uint8_t)(1 << (packed & 3))};
    return read_value(&reader, source);
}
