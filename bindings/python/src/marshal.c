/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects into bytes: from the slots of an object straight into the batch that the store takes.
 *
 * Values of plain types cannot run Python code while they are converted, so they are used as they
 * lie in the slots. As soon as one other value is seen, all are held for the time of the object
 * (B2).
 */
#include "binding.h"

enum { MASK_BITS = 64 };

enum { BATCH_KEEP = 1 << 20 }; // a batch that grew beyond is freed after use

struct batch *bwpy_batch_take(struct state *state, size_t count)
{
    struct batch *batch = state->spare;
    state->spare = NULL;
    if (!batch) batch = PyMem_Calloc(1, sizeof(*batch));
    if (!batch) goto no_memory;
    batch->used = batch->count = 0;
    if (batch->count_room < count) {
        PyMem_Free(batch->ends);
        PyMem_Free(batch->ids);
        batch->count_room = 0;
        batch->ends = PyMem_Malloc(count * sizeof(*batch->ends));
        batch->ids = PyMem_Malloc(count * sizeof(*batch->ids));
        if (!batch->ends || !batch->ids) goto no_memory;
        batch->count_room = count;
    }
    return batch;
no_memory:
    if (batch) bwpy_batch_give(state, batch);
    PyErr_NoMemory();
    return NULL;
}

void bwpy_batch_give(struct state *state, struct batch *batch)
{
    size_t size = batch->room + batch->count_room * (sizeof(*batch->ends) + sizeof(*batch->ids));
    if (!state->spare && size <= BATCH_KEEP) {
        state->spare = batch;
        return;
    }
    bwpy_batch_free(batch);
}

void bwpy_batch_free(struct batch *batch)
{
    if (!batch) return;
    PyMem_Free(batch->data);
    PyMem_Free(batch->ends);
    PyMem_Free(batch->ids);
    PyMem_Free(batch);
}

int bwpy_batch_grow(struct batch *batch, size_t more)
{
    size_t room = batch->room + batch->room / 2;
    if (room < batch->used + more) room = batch->used + more;
    room = ROUND_UP(room, 4096);
    if (room >= UINT32_MAX) {
        PyErr_SetString(PyExc_OverflowError,
                        "objects of 4 GiB and more cannot be put at once; put them in parts");
        return -1;
    }
    uint8_t *data = PyMem_Realloc(batch->data, room);
    if (!data) {
        PyErr_NoMemory();
        return -1;
    }
    batch->data = data;
    batch->room = room;
    return 0;
}

/* ---- one object ---- */

static inline bool is_plain(PyObject *value)
{
    const unsigned long plain =
        Py_TPFLAGS_LONG_SUBCLASS | Py_TPFLAGS_UNICODE_SUBCLASS | Py_TPFLAGS_BYTES_SUBCLASS;
    return PyType_HasFeature(Py_TYPE(value), plain) || PyFloat_Check(value);
}

struct values {
    PyObject **values; /* by field; NULL: null */
    uint64_t mask;
    bool is_plain;
};

/* What the slots hold; an unset property counts with its default. */
static void gather_slots(const struct layout *layout, PyObject *object, struct values *values)
{
    PyObject **slots = bwpy_slots(object);
    values->mask = 0;
    values->is_plain = true;
    for (Py_ssize_t i = 0; i < layout->count; i++) {
        PyObject *value = slots[i] ? slots[i] : layout->fields[i].initial;
        if (value == Py_None || !value) {
            values->mask |= (uint64_t)1 << (i % MASK_BITS);
            value = NULL;
        } else if (!is_plain(value)) {
            values->is_plain = false;
        }
        values->values[i] = value;
    }
}

/* An object of a class that was defined again (a notebook cell): by name. All values are held. */
static int gather_attributes(const struct layout *layout, PyObject *object, struct values *values)
{
    values->mask = 0;
    values->is_plain = false;
    for (Py_ssize_t i = 0; i < layout->count; i++) values->values[i] = NULL;
    for (Py_ssize_t i = 0; i < layout->count; i++) {
        PyObject *value = PyObject_GetAttr(object, layout->fields[i].name);
        if (!value) {
            if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return -1;
            PyErr_Clear();
            value = layout->fields[i].initial;
            Py_XINCREF(value);
        }
        if (value == Py_None || !value) {
            Py_XDECREF(value);
            value = NULL;
            values->mask |= (uint64_t)1 << (i % MASK_BITS);
        }
        values->values[i] = value;
    }
    return 0;
}

static const uint8_t zeros[8];

static inline void store_u32(uint8_t *at, size_t value)
{
    uint32_t number = (uint32_t)value;
    memcpy(at, &number, sizeof(number));
}

/* Fields that lie in the table itself; *done says whether the field was one. */
static int write_scalar(uint8_t *at, const struct place *place, PyObject *value, bool *done)
{
    int64_t number = 0;
    double real = 0;
    bool truth = false;
    int err = 0;
    *done = true;
    switch (place->field->kind) {
    case KIND_BOOL:
        err = bwpy_scalar_bool(place, value, &truth);
        *at = truth;
        return err;
    case KIND_INT8:
        err = bwpy_scalar_int(place, value, INT8_MIN, INT8_MAX, &number);
        *at = (uint8_t)number;
        return err;
    case KIND_INT16: {
        err = bwpy_scalar_int(place, value, INT16_MIN, INT16_MAX, &number);
        int16_t narrow = (int16_t)number;
        memcpy(at, &narrow, sizeof(narrow));
        return err;
    }
    case KIND_INT32:
        err = bwpy_scalar_int(place, value, INT32_MIN, INT32_MAX, &number);
        store_u32(at, (uint32_t)number);
        return err;
    case KIND_INT64:
        err = bwpy_scalar_int(place, value, INT64_MIN, INT64_MAX, &number);
        break;
    case KIND_DATE:
        err = bwpy_date_value(place, value, 1000, &number);
        break;
    case KIND_DATE_NANO:
        err = bwpy_date_value(place, value, 1000000000, &number);
        break;
    case KIND_FLOAT32: {
        err = bwpy_scalar_float(place, value, true, &real);
        float narrow = (float)real;
        memcpy(at, &narrow, sizeof(narrow));
        return err;
    }
    case KIND_FLOAT64:
        err = bwpy_scalar_float(place, value, false, &real);
        memcpy(at, &real, sizeof(real));
        return err;
    default:
        *done = false;
        return 0;
    }
    memcpy(at, &number, sizeof(number));
    return err;
}

/* Fields that lie behind the table; the position of the length is where the offset points. */
static int append_value(struct batch *batch, const struct place *place, PyObject *value)
{
    switch (place->field->kind) {
    case KIND_STRING:
        return bwpy_text_append(batch, place, value);
    case KIND_BYTES:
        return bwpy_bytes_append(batch, place, value);
    case KIND_VECTOR:
        return bwpy_vector_append(batch, place, value);
    default:
        return bwpy_flex_append(batch, place, value);
    }
}

static size_t data_alignment(const struct field *field)
{
    return field->kind == KIND_VECTOR && bwpy_element_size(field->element) == 8 ? 8 : 4;
}

/* Zero bytes until the data behind a 4-byte length is aligned. */
static int pad_for_length(struct batch *batch, size_t begin, size_t alignment)
{
    size_t at = batch->used - begin, padded = ROUND_UP(at + 4, alignment) - 4;
    if (bwpy_batch_room(batch, 16)) return -1;
    memcpy(batch->data + batch->used, zeros, sizeof(zeros));
    batch->used += padded - at;
    return 0;
}

static int write_values(struct batch *batch, struct plan *plan, const struct values *values,
                        const struct template *template, Py_ssize_t index, obx_id id)
{
    const struct layout *layout = plan->layout;
    size_t begin = batch->used;
    if (bwpy_batch_room(batch, template->size)) return -1;
    memcpy(batch->data + begin, template->bytes, template->size);
    memcpy(batch->data + begin + template->at[layout->id_index], &id, sizeof(id));
    batch->used += template->size;
    struct place place = {.plan = plan, .index = index};
    for (Py_ssize_t i = 0; i < layout->count; i++) {
        PyObject *value = values->values[i];
        if (!value || i == layout->id_index) continue;
        place.field = &layout->fields[i];
        size_t at = begin + template->at[i];
        bool done;
        int64_t number;
        if (place.field->kind == KIND_INT64 && PyLong_Check(value) &&
            bwpy_small_int(value, &number)) {
            memcpy(batch->data + at, &number, sizeof(number)); // most fields of most objects
            continue;
        }
        if (write_scalar(batch->data + at, &place, value, &done)) return -1;
        if (done) continue;
        if (pad_for_length(batch, begin, data_alignment(place.field))) return -1;
        store_u32(batch->data + at, batch->used - at);
        if (append_value(batch, &place, value)) return -1;
    }
    size_t end = ROUND_UP(batch->used, 4);
    if (bwpy_batch_room(batch, 16)) return -1;
    memcpy(batch->data + batch->used, zeros, sizeof(zeros));
    batch->ends[batch->count] = (uint32_t)end;
    batch->ids[batch->count++] = id;
    batch->used = ROUND_UP(batch->used, 8);
    return 0;
}

static int marshal_values(struct batch *batch, struct plan *plan, const struct values *values,
                          Py_ssize_t index)
{
    const struct layout *layout = plan->layout;
    obx_id id = 0;
    PyObject *id_value = values->values[layout->id_index];
    struct place place = {.plan = plan, .field = &layout->fields[layout->id_index], .index = index};
    int64_t small;
    if (id_value && PyLong_Check(id_value) && bwpy_small_int(id_value, &small) && small >= 0)
        id = (obx_id)small;
    else if (id_value && bwpy_scalar_id(&place, id_value, &id)) return -1;
    uint8_t *nulls = NULL;
    if (layout->count > MASK_BITS) {
        nulls = PyMem_Malloc((size_t)layout->count);
        if (!nulls) {
            PyErr_NoMemory();
            return -1;
        }
        for (Py_ssize_t i = 0; i < layout->count; i++) nulls[i] = !values->values[i];
    }
    bool is_owned;
    uint64_t mask = nulls ? 0 : values->mask & ~((uint64_t)1 << layout->id_index);
    const struct template *template = bwpy_plan_template(plan, mask, nulls, &is_owned);
    PyMem_Free(nulls);
    if (!template) return -1;
    int err = write_values(batch, plan, values, template, index, id);
    if (is_owned) PyMem_Free((void *)template);
    return err;
}

static int marshal_held(struct batch *batch, struct plan *plan, const struct values *values,
                        Py_ssize_t index)
{
    int err = marshal_values(batch, plan, values, index);
    for (Py_ssize_t i = 0; i < plan->layout->count; i++) Py_XDECREF(values->values[i]);
    return err;
}

static bool has_same_name(PyObject *object, struct layout *layout)
{
    PyObject *name = PyObject_GetAttrString((PyObject *)Py_TYPE(object), "__name__");
    bool same = name && PyUnicode_Check(name) && PyUnicode_Compare(name, layout->entity_name) == 0;
    Py_XDECREF(name);
    PyErr_Clear();
    return same;
}

int bwpy_marshal(struct batch *batch, struct plan *plan, PyObject *type, PyObject *object,
                 Py_ssize_t index)
{
    struct layout *layout = plan->layout;
    PyObject *few[MASK_BITS];
    struct values values = {.values = few};
    bool is_ours = (PyObject *)Py_TYPE(object) == type ||
                   PyType_IsSubtype(Py_TYPE(object), (PyTypeObject *)type);
    if (!is_ours && !has_same_name(object, layout)) {
        PyErr_Format(PyExc_TypeError, "Expected an object of entity %U, got %R",
                     layout->entity_name, object);
        return -1;
    }
    if (layout->count > MASK_BITS)
        values.values = PyMem_Malloc((size_t)layout->count * sizeof(PyObject *));
    if (!values.values) {
        PyErr_NoMemory();
        return -1;
    }
    int err;
    if (!is_ours) {
        err = gather_attributes(layout, object, &values);
        if (!err) err = marshal_held(batch, plan, &values, index);
        else
            for (Py_ssize_t i = 0; i < layout->count; i++) Py_XDECREF(values.values[i]);
    } else {
        gather_slots(layout, object, &values);
        if (values.is_plain) {
            err = marshal_values(batch, plan, &values, index);
        } else {
            for (Py_ssize_t i = 0; i < layout->count; i++) Py_XINCREF(values.values[i]);
            err = marshal_held(batch, plan, &values, index);
        }
    }
    if (values.values != few) PyMem_Free(values.values);
    return err;
}
