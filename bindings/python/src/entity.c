/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Storage types and the objects of entity classes.
 *
 * For each entity class there is one heap type that holds a value per property at an offset of
 * ours; the class derives from it. A value is any Python object: it is checked when it is
 * marshalled, so that setting it stays a plain store into a slot. NULL in a slot means deleted, and
 * counts as unset.
 */
#include "binding.h"

static struct layout *layout_of(PyObject *object)
{
    return bwpy_entity_of((PyObject *)Py_TYPE(object))->layout;
}

PyObject *bwpy_entity_alloc(PyObject *type) { return PyType_GenericAlloc((PyTypeObject *)type, 0); }

/* Give every empty slot the default of its property. */
int bwpy_entity_fill(struct layout *layout, PyObject *object)
{
    PyObject **slots = bwpy_slots(object);
    for (Py_ssize_t i = 0; i < layout->count; i++) {
        if (slots[i]) continue;
        slots[i] = layout->fields[i].initial;
        if (slots[i]) Py_INCREF(slots[i]);
        else slots[i] = PyList_New(0);
        if (!slots[i]) return -1;
    }
    return 0;
}

/* The slot of a name; keywords come in the order of the properties more often than not. */
static Py_ssize_t find_field(struct layout *layout, PyObject *name, Py_ssize_t hint)
{
    if (hint < layout->count && layout->fields[hint].name == name) return hint;
    for (Py_ssize_t i = 0; i < layout->count; i++)
        if (layout->fields[i].name == name) return i;
    for (Py_ssize_t i = 0; i < layout->count; i++)
        if (PyUnicode_Compare(layout->fields[i].name, name) == 0) return i;
    return -1;
}

static int set_other(struct layout *layout, PyObject *object, PyObject *name, PyObject *value)
{
    PyObject *known = PyObject_GetAttr(object, name);
    if (known) {
        Py_DECREF(known);
        return PyObject_SetAttr(object, name, value);
    }
    if (PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError, "Entity %U has no property \"%U\"", layout->entity_name,
                     name);
    }
    return -1;
}

int bwpy_entity_set(struct layout *layout, PyObject *object, PyObject *name, PyObject *value)
{
    Py_ssize_t at = find_field(layout, name, 0);
    if (at < 0) return set_other(layout, object, name, value);
    Py_INCREF(value);
    Py_XSETREF(bwpy_slots(object)[at], value);
    return 0;
}

static void set_keywords(struct layout *layout, PyObject *object, PyObject *const *values,
                         PyObject *names)
{
    Py_ssize_t count = PyTuple_Size(names), hint = 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *name = PyTuple_GetItem(names, i);
        Py_ssize_t at = find_field(layout, name, hint);
        if (at < 0) continue; // no property: see set_other_keywords
        Py_INCREF(values[i]);
        Py_XSETREF(bwpy_slots(object)[at], values[i]);
        hint = at + 1;
    }
}

static int set_other_keywords(struct layout *layout, PyObject *object, PyObject *const *values,
                              PyObject *names)
{
    Py_ssize_t count = PyTuple_Size(names);
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *name = PyTuple_GetItem(names, i);
        if (find_field(layout, name, i) < 0 && set_other(layout, object, name, values[i]))
            return -1;
    }
    return 0;
}

/* The class has an __init__ that wants no arguments: call it, then set what was given. */
static PyObject *construct_around_init(PyObject *type, PyObject *const *args, size_t count,
                                       PyObject *kwnames)
{
    struct layout *layout = bwpy_entity_of(type)->layout;
    PyObject *none = PyTuple_New(0);
    if (!none) return NULL;
    ternaryfunc call = (ternaryfunc)PyType_GetSlot(&PyType_Type, Py_tp_call);
    if (count) { // like any class, then
        PyObject *given = PyTuple_New((Py_ssize_t)count), *named = NULL, *object = NULL;
        for (size_t i = 0; given && i < count; i++) {
            Py_INCREF(args[i]);
            PyTuple_SetItem(given, (Py_ssize_t)i, args[i]);
        }
        named = given && kwnames ? PyDict_New() : NULL;
        bool failed = !given || (kwnames && !named);
        for (Py_ssize_t i = 0; !failed && kwnames && i < PyTuple_Size(kwnames); i++)
            failed = PyDict_SetItem(named, PyTuple_GetItem(kwnames, i), args[count + (size_t)i]);
        if (!failed) object = call(type, given, named);
        Py_DECREF(none);
        Py_XDECREF(given);
        Py_XDECREF(named);
        return object;
    }
    PyObject *object = call(type, none, NULL);
    Py_DECREF(none);
    if (!object || !kwnames) return object;
    set_keywords(layout, object, args, kwnames);
    if (set_other_keywords(layout, object, args, kwnames)) Py_CLEAR(object);
    return object;
}

PyObject *bwpy_entity_construct(PyObject *type, PyObject *const *args, size_t nargsf,
                                PyObject *kwnames)
{
    struct entity *entity = bwpy_entity_of(type);
    struct layout *layout = entity->layout;
    size_t count = (size_t)PyVectorcall_NARGS(nargsf);
    if (entity->init == INIT_BEFORE_VALUES)
        return construct_around_init(type, args, count, kwnames);
    if (count) {
        PyErr_Format(PyExc_TypeError, "%U() takes its properties as keyword arguments only",
                     layout->entity_name);
        return NULL;
    }
    PyObject *object = bwpy_entity_alloc(type);
    if (!object) return NULL;
    Py_ssize_t given = kwnames ? PyTuple_Size(kwnames) : 0, hint = 0, others = 0;
    for (Py_ssize_t i = 0; i < given; i++) {
        Py_ssize_t at = find_field(layout, bwpy_item(kwnames, i), hint);
        if (at < 0) {
            others++;
            continue;
        }
        Py_INCREF(args[i]);
        bwpy_slots(object)[at] = args[i]; // the slot is empty: names in kwnames differ
        hint = at + 1;
    }
    if (bwpy_entity_fill(layout, object) ||
        (others && set_other_keywords(layout, object, args, kwnames))) {
        Py_DECREF(object);
        return NULL;
    }
    return object;
}

/* ---- the slots of a storage type ---- */

static PyObject *storage_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)args; // what they mean is for __init__ to say
    (void)kwargs;
    if (Py_TYPE(type) == &PyType_Type) { // entity classes have a metaclass
        PyErr_SetString(PyExc_TypeError, "the storage of an entity cannot be used by itself");
        return NULL;
    }
    PyObject *object = bwpy_entity_alloc((PyObject *)type);
    if (object && bwpy_entity_fill(layout_of(object), object)) Py_CLEAR(object);
    return object;
}

static int storage_init(PyObject *self, PyObject *args, PyObject *kwargs)
{
    struct layout *layout = layout_of(self);
    if (PyTuple_Size(args)) {
        PyErr_Format(PyExc_TypeError, "%U() takes its properties as keyword arguments only",
                     layout->entity_name);
        return -1;
    }
    PyObject *name, *value;
    Py_ssize_t at = 0;
    while (kwargs && PyDict_Next(kwargs, &at, &name, &value)) {
        Py_INCREF(value);
        int failed = bwpy_entity_set(layout, self, name, value);
        Py_DECREF(value);
        if (failed) return -1;
    }
    return 0;
}

static int storage_traverse(PyObject *self, visitproc visit, void *arg)
{
    struct layout *layout = layout_of(self);
    Py_VISIT(Py_TYPE(self));
    for (Py_ssize_t i = 0; i < layout->count; i++) Py_VISIT(bwpy_slots(self)[i]);
    return 0;
}

static int storage_clear(PyObject *self)
{
    struct layout *layout = layout_of(self);
    for (Py_ssize_t i = 0; i < layout->count; i++) Py_CLEAR(bwpy_slots(self)[i]);
    return 0;
}

static void storage_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject **slots = bwpy_slots(self);
    PyObject_GC_UnTrack(self);
    for (Py_ssize_t i = layout_of(self)->count; i-- > 0;) Py_XDECREF(slots[i]);
#ifdef Py_LIMITED_API
    freefunc free_object = (freefunc)PyType_GetSlot(type, Py_tp_free);
    free_object(self);
#else
    type->tp_free(self);
#endif
    Py_DECREF(type);
}

/* (the instance's dict or None, {property: value}): what copy and pickle know how to put back. */
static PyObject *storage_getstate(PyObject *self, PyObject *nothing)
{
    (void)nothing;
    struct layout *layout = layout_of(self);
    PyObject *values = PyDict_New(), *others = NULL, *pair = NULL;
    if (!values) return NULL;
    for (Py_ssize_t i = 0; i < layout->count; i++) {
        PyObject *value = bwpy_slots(self)[i];
        if (value && PyDict_SetItem(values, layout->fields[i].name, value)) goto out;
    }
    others = PyObject_GetAttrString(self, "__dict__");
    if (!others) PyErr_Clear(); // a class with __slots__ of its own
    bool has_others = others && PyDict_Check(others) && PyDict_Size(others) > 0;
    pair = PyTuple_Pack(2, has_others ? others : Py_None, values);
out:
    Py_XDECREF(others);
    Py_DECREF(values);
    return pair;
}

/* Protocols 0 and 1 know no way for types that are not written in Python; the one of 2 serves them
 * too. */
static PyObject *storage_reduce_ex(PyObject *self, PyObject *protocol)
{
    long number = PyLong_AsLong(protocol);
    if (number == -1 && PyErr_Occurred()) return NULL;
    return PyObject_CallMethod((PyObject *)&PyBaseObject_Type, "__reduce_ex__", "Ol", self,
                               number < 2 ? 2L : number);
}

static PyObject *storage_repr(PyObject *self)
{
    struct layout *layout = layout_of(self);
    int entered = Py_ReprEnter(self);
    if (entered) return entered > 0 ? PyUnicode_FromString("...") : NULL;
    PyObject *parts = PyList_New(0), *comma = NULL, *joined = NULL, *repr = NULL;
    for (Py_ssize_t i = 0; parts && i < layout->count; i++) {
        PyObject *value = bwpy_slots(self)[i];
        if (!value) continue;
        Py_INCREF(value);
        PyObject *part = PyUnicode_FromFormat("%U=%R", layout->fields[i].name, value);
        Py_DECREF(value);
        if (!part || PyList_Append(parts, part)) Py_CLEAR(parts);
        Py_XDECREF(part);
    }
    comma = parts ? PyUnicode_FromString(", ") : NULL;
    joined = comma ? PyUnicode_Join(comma, parts) : NULL;
    repr = joined ? PyUnicode_FromFormat("%U(%U)", layout->entity_name, joined) : NULL;
    Py_XDECREF(joined);
    Py_XDECREF(comma);
    Py_XDECREF(parts);
    Py_ReprLeave(self);
    return repr;
}

static PyMethodDef storage_methods[] = {
    {"__getstate__", storage_getstate, METH_NOARGS, "What copy and pickle store."},
    {"__reduce_ex__", storage_reduce_ex, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef *make_members(struct layout *layout)
{
    PyMemberDef *members = PyMem_Calloc((size_t)layout->count + 1, sizeof(*members));
    if (!members) {
        PyErr_NoMemory();
        return NULL;
    }
    for (Py_ssize_t i = 0; i < layout->count; i++) {
        // The text belongs to the name, the name to the layout, the layout to the type.
        members[i].name = PyUnicode_AsUTF8AndSize(layout->fields[i].name, NULL);
        members[i].type = Py_T_OBJECT_EX;
        members[i].offset = (Py_ssize_t)(sizeof(PyObject) + (size_t)i * sizeof(PyObject *));
        if (!members[i].name) {
            PyMem_Free(members);
            return NULL;
        }
    }
    return members;
}

PyObject *bwpy_make_storage(PyObject *module, PyObject *args)
{
    struct state *state = PyModule_GetState(module);
    const char *name;
    struct layout *layout;
    if (!PyArg_ParseTuple(args, "sO!:make_storage", &name, state->layout, &layout)) return NULL;
    PyMemberDef *members = make_members(layout);
    if (!members) return NULL;
    PyType_Slot slots[] = {
        {Py_tp_new, storage_new},
        {Py_tp_init, storage_init},
        {Py_tp_dealloc, storage_dealloc},
        {Py_tp_traverse, storage_traverse},
        {Py_tp_clear, storage_clear},
        {Py_tp_repr, storage_repr},
        {Py_tp_methods, storage_methods},
        {Py_tp_members, members},
        {0, NULL},
    };
    PyType_Spec spec = {
        .name = name,
        .basicsize = (int)(sizeof(PyObject) + (size_t)layout->count * sizeof(PyObject *)),
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
        .slots = slots,
    };
    PyObject *type = PyType_FromModuleAndSpec(module, &spec, NULL);
    PyMem_Free(members);
    if (type && PyObject_SetAttrString(type, "__boxwood_layout__", (PyObject *)layout))
        Py_CLEAR(type);
    return type;
}
