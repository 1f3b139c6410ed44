/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans: a layout together with the ids that a model gave to it, and the fixed parts of its
 * objects.
 *
 * An object is one FlatBuffers table: root offset, vtable, table, then what the table points to.
 * All but the values is the same for every object with the same null fields, so it is made once and
 * copied. Fields lie in the order of their sizes, largest first, so that nothing between them is
 * padding; where the table's own offset leaves a hole before the first 8-byte field, a 4-byte field
 * goes there.
 */
#include "binding.h"

enum { TEMPLATES_MAX = 64 }; // more combinations than that are made each time

static size_t field_size(const struct field *field)
{
    switch (field->kind) {
    case KIND_BOOL:
    case KIND_INT8:
        return 1;
    case KIND_INT16:
        return 2;
    case KIND_INT64:
    case KIND_FLOAT64:
    case KIND_DATE:
    case KIND_DATE_NANO:
        return 8;
    default:
        return 4; // 4-byte numbers, and offsets of everything else
    }
}

static bool is_null(const struct plan *plan, uint64_t mask, const uint8_t *nulls, Py_ssize_t field)
{
    if ((Py_ssize_t)field == plan->layout->id_index) return false;
    return nulls ? nulls[field] != 0 : (mask >> field & 1) != 0;
}

static void put_u16(uint8_t *at, size_t value)
{
    uint16_t number = (uint16_t)value;
    memcpy(at, &number, sizeof(number));
}

static void put_u32(uint8_t *at, size_t value)
{
    uint32_t number = (uint32_t)value;
    memcpy(at, &number, sizeof(number));
}

/* Give a position to each present field; returns the end of the table, which begins at `table`. */
static size_t place_fields(const struct plan *plan, uint64_t mask, const uint8_t *nulls,
                           size_t table, uint32_t *at)
{
    const struct layout *layout = plan->layout;
    size_t used = table + 4;
    if (used % 8) {
        for (Py_ssize_t i = 0; i < layout->count; i++) {
            if (field_size(&layout->fields[i]) != 4 || is_null(plan, mask, nulls, i)) continue;
            at[i] = (uint32_t)used;
            used += 4;
            break;
        }
    }
    for (size_t size = 8; size; size /= 2) {
        for (Py_ssize_t i = 0; i < layout->count; i++) {
            if (at[i] || field_size(&layout->fields[i]) != size || is_null(plan, mask, nulls, i))
                continue;
            used = ROUND_UP(used, size);
            at[i] = (uint32_t)used;
            used += size;
        }
    }
    return used;
}

static struct template *make_template(const struct plan *plan, uint64_t mask, const uint8_t *nulls)
{
    const struct layout *layout = plan->layout;
    size_t slots = 0, at_size = ROUND_UP((size_t)layout->count * sizeof(uint32_t), 8);
    for (Py_ssize_t i = 0; i < layout->count; i++)
        if (!is_null(plan, mask, nulls, i) && plan->property_ids[i] > slots)
            slots = plan->property_ids[i];
    size_t vtable_size = 4 + 2 * slots, table = ROUND_UP(4 + vtable_size, 4);
    size_t bound = table + 16 + 8 * (size_t)layout->count;
    if (bound > UINT16_MAX) {
        PyErr_Format(PyExc_ValueError, "Entity %U has too many properties", layout->entity_name);
        return NULL;
    }
    struct template *template = PyMem_Calloc(1, sizeof(*template) + at_size + ROUND_UP(bound, 8));
    if (!template) {
        PyErr_NoMemory();
        return NULL;
    }
    template->mask = mask;
    template->bytes = (uint8_t *)template->at + at_size;
    size_t end = place_fields(plan, mask, nulls, table, template->at);
    template->size = (uint32_t)ROUND_UP(end, 4);
    uint8_t *bytes = template->bytes;
    put_u32(bytes, table);
    put_u16(bytes + 4, vtable_size);
    put_u16(bytes + 6, end - table);
    for (Py_ssize_t i = 0; i < layout->count; i++)
        if (template->at[i])
            put_u16(bytes + 6 + (size_t)2 * plan->property_ids[i], template->at[i] - table);
    put_u32(bytes + table, table - 4);
    return template;
}

const struct template *bwpy_plan_template(struct plan *plan, uint64_t mask, const uint8_t *nulls,
                                          bool *out_owned)
{
    *out_owned = false;
    if (!nulls)
        for (struct template *found = plan->templates; found; found = found->next)
            if (found->mask == mask) return found;
    struct template *made = make_template(plan, mask, nulls);
    if (!made) return NULL;
    if (nulls || plan->template_count == TEMPLATES_MAX) {
        *out_owned = true;
        return made;
    }
    // Behind the first one: the usual combination is the first that was needed.
    struct template **link = plan->templates ? &plan->templates->next : &plan->templates;
    made->next = *link;
    *link = made;
    plan->template_count++;
    return made;
}

static int plan_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((struct plan *)self)->layout);
    return 0;
}

static void plan_dealloc(PyObject *self)
{
    struct plan *plan = (struct plan *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    for (struct template *next, *template = plan->templates; template; template = next) {
        next = template->next;
        PyMem_Free(template);
    }
    PyMem_Free(plan->property_ids);
    Py_XDECREF(plan->layout);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

PyObject *bwpy_plan_new(struct state *state, struct layout *layout, uint32_t entity_id,
                        PyObject *property_ids)
{
    if (!PyTuple_Check(property_ids) || PyTuple_Size(property_ids) != layout->count) {
        PyErr_SetString(PyExc_ValueError, "one id per property, please");
        return NULL;
    }
    struct plan *plan = (struct plan *)PyType_GenericAlloc(state->plan, 0);
    if (!plan) return NULL;
    Py_INCREF(layout);
    plan->layout = layout;
    plan->entity_id = entity_id;
    plan->property_ids = PyMem_Calloc((size_t)layout->count, sizeof(uint32_t));
    if (!plan->property_ids) {
        Py_DECREF(plan);
        return PyErr_NoMemory();
    }
    for (Py_ssize_t i = 0; i < layout->count; i++) {
        unsigned long id = PyLong_AsUnsignedLong(PyTuple_GetItem(property_ids, i));
        if (!PyErr_Occurred() && (!id || id > 30000))
            PyErr_Format(PyExc_ValueError, "property id %lu is out of range", id);
        if (PyErr_Occurred()) {
            Py_DECREF(plan);
            return NULL;
        }
        plan->property_ids[i] = (uint32_t)id;
    }
    return (PyObject *)plan;
}

static PyType_Slot plan_slots[] = {
    {Py_tp_doc, "How the objects of an entity lie in a store."},
    {Py_tp_dealloc, plan_dealloc},
    {Py_tp_traverse, plan_traverse},
    {0, NULL},
};

PyType_Spec bwpy_plan_spec = {
    .name = "boxwood._boxwood.Plan",
    .basicsize = sizeof(struct plan),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE |
             Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = plan_slots,
};
