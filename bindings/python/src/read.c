/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes into objects. No Python code runs while there are pointers into the store (B3): a class
 * that wants its __init__ called on reading gets that afterwards.
 *
 * The store has verified its objects when they were put; what lies here is checked again where a
 * wrong number would leave the object's bytes.
 */
#include "binding.h"

struct table {
    const uint8_t *data;
    size_t size, at; /* of the bytes; where the table begins in them */
    const uint8_t *vtable;
    size_t vtable_size, table_size;
};

static inline uint16_t get_u16(const uint8_t *at)
{
    uint16_t value;
    memcpy(&value, at, sizeof(value));
    return value;
}

static inline uint32_t get_u32(const uint8_t *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof(value));
    return value;
}

static PyObject *corrupt(struct plan *plan, obx_id id)
{
    return bwpy_raise_code(plan->layout->state, OBX_ERROR_FILE_CORRUPT,
                           "Object %llu of entity %U is damaged", (unsigned long long)id,
                           plan->layout->entity_name);
}

static bool open_table(struct table *table, const uint8_t *data, size_t size)
{
    if (size < 12) return false;
    size_t at = get_u32(data);
    if (at > size - 4) return false;
    int64_t vtable_at = (int64_t)at - (int32_t)get_u32(data + at);
    if (vtable_at < 0 || vtable_at > (int64_t)size - 4) return false;
    table->data = data;
    table->size = size;
    table->at = at;
    table->vtable = data + vtable_at;
    table->vtable_size = get_u16(table->vtable);
    table->table_size = get_u16(table->vtable + 2);
    return table->vtable_size <= size - (size_t)vtable_at && table->table_size <= size - at;
}

/* The field of a property, NULL when it is null. *ok turns false when it leaves the table. */
static inline const uint8_t *find_field(const struct table *table, uint32_t property_id,
                                        size_t size, bool *ok)
{
    size_t slot = 2 + 2 * (size_t)property_id;
    if (slot + 2 > table->vtable_size) return NULL;
    size_t offset = get_u16(table->vtable + slot);
    if (!offset) return NULL;
    if (offset + size > table->table_size) {
        *ok = false;
        return NULL;
    }
    return table->data + table->at + offset;
}

/* What an offset field points to: *out_count elements. */
static const uint8_t *find_vector(const struct table *table, const uint8_t *field,
                                  size_t element_size, size_t *out_count)
{
    size_t at = (size_t)(field - table->data), offset = get_u32(field);
    if (offset > table->size - at || table->size - at - offset < 4) return NULL;
    at += offset;
    size_t count = get_u32(table->data + at);
    if (count > (table->size - at - 4) / element_size) return NULL;
    *out_count = count;
    return table->data + at + 4;
}

static PyObject *read_scalar(struct state *state, const struct field *field, const uint8_t *at)
{
    int64_t number;
    double real;
    float narrow;
    switch (field->kind) {
    case KIND_BOOL:
        return PyBool_FromLong(*at);
    case KIND_INT8:
        return PyLong_FromLong((int8_t)*at);
    case KIND_INT16:
        return PyLong_FromLong((int16_t)get_u16(at));
    case KIND_INT32:
        return PyLong_FromLong((int32_t)get_u32(at));
    case KIND_FLOAT32:
        memcpy(&narrow, at, sizeof(narrow));
        return PyFloat_FromDouble((double)narrow);
    case KIND_FLOAT64:
        memcpy(&real, at, sizeof(real));
        return PyFloat_FromDouble(real);
    default:
        break;
    }
    memcpy(&number, at, sizeof(number));
    return field->kind == KIND_INT64 ? PyLong_FromLongLong(number)
                                     : bwpy_date_read(state, field, number);
}

static const uint8_t scalar_sizes[KIND_COUNT] = {
    [KIND_BOOL] = 1,    [KIND_INT8] = 1,  [KIND_INT16] = 2,
    [KIND_INT32] = 4,   [KIND_INT64] = 8, [KIND_FLOAT32] = 4,
    [KIND_FLOAT64] = 8, [KIND_DATE] = 8,  [KIND_DATE_NANO] = 8,
};

static PyObject *read_far(struct plan *plan, const struct field *field, const struct table *table,
                          const uint8_t *at, obx_id id)
{
    size_t count;
    size_t element = field->kind == KIND_VECTOR ? bwpy_element_size(field->element) : 1;
    const uint8_t *data = find_vector(table, at, element, &count);
    if (!data) return corrupt(plan, id);
    switch (field->kind) {
    case KIND_STRING:
        return bwpy_text_read(data, count);
    case KIND_BYTES:
        return PyBytes_FromStringAndSize((const char *)data, (Py_ssize_t)count);
    case KIND_FLEX:
        return bwpy_flex_read(data, count);
    default:
        return bwpy_vector_read(plan->layout->state, field, data, count);
    }
}

static PyObject *read_null(struct state *state, const struct field *field)
{
    PyObject *value = field->is_nullable ? Py_None : field->initial;
    if (field->kind == KIND_VECTOR && field->form == FORM_ARRAY && !field->is_nullable)
        return bwpy_vector_empty(state, field->element);
    if (!value) return PyList_New(0);
    Py_INCREF(value);
    return value;
}

static PyObject *read_field(struct plan *plan, const struct field *field, uint32_t property_id,
                            const struct table *table, obx_id id)
{
    bool ok = true;
    size_t size = scalar_sizes[field->kind];
    const uint8_t *at = find_field(table, property_id, size ? size : 4, &ok);
    if (!ok) return corrupt(plan, id);
    if (!at) return read_null(plan->layout->state, field);
    return size ? read_scalar(plan->layout->state, field, at)
                : read_far(plan, field, table, at, id);
}

/* An exception of a value, with the object and property that it belongs to. */
static void note_field(struct plan *plan, const struct field *field, obx_id id)
{
    if (PyErr_ExceptionMatches(PyExc_MemoryError)) return;
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    PyObject *note =
        PyUnicode_FromFormat("while reading %U.%U of object %llu", plan->layout->entity_name,
                             field->name, (unsigned long long)id);
    PyObject *done = note && value ? PyObject_CallMethod(value, "add_note", "O", note) : NULL;
    Py_XDECREF(note);
    Py_XDECREF(done);
    PyErr_Restore(type, value, trace);
}

PyObject *bwpy_read(struct plan *plan, PyObject *type, const uint8_t *data, size_t size, obx_id id)
{
    struct layout *layout = plan->layout;
    struct table table;
    if (!open_table(&table, data, size)) return corrupt(plan, id);
    PyObject *object = bwpy_entity_alloc(type);
    if (!object) return NULL;
    PyObject **slots = bwpy_slots(object);
    for (Py_ssize_t i = 0; i < layout->count; i++) {
        const struct field *field = &layout->fields[i];
        slots[i] = i == layout->id_index
                       ? PyLong_FromUnsignedLongLong(id)
                       : read_field(plan, field, plan->property_ids[i], &table, id);
        if (slots[i]) continue;
        note_field(plan, field, id);
        Py_DECREF(object);
        return NULL;
    }
    return object;
}

int bwpy_read_init(struct layout *layout, PyObject *object)
{
    PyObject *values = PyTuple_New(layout->count);
    if (!values) return -1;
    for (Py_ssize_t i = 0; i < layout->count; i++) {
        PyTuple_SetItem(values, i, bwpy_slots(object)[i]);
        bwpy_slots(object)[i] = NULL;
    }
    PyObject *done = NULL;
    if (!bwpy_entity_fill(layout, object)) done = PyObject_CallMethod(object, "__init__", NULL);
    for (Py_ssize_t i = 0; done && i < layout->count; i++) {
        PyObject *value = PyTuple_GetItem(values, i);
        Py_XINCREF(value);
        Py_XSETREF(bwpy_slots(object)[i], value);
    }
    Py_DECREF(values);
    Py_XDECREF(done);
    return done ? 0 : -1;
}
