/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The properties of an entity class in the order of their slots: made once, when the class is
 * decorated.
 */
#include "binding.h"

static int layout_traverse(PyObject *self, visitproc visit, void *arg)
{
    struct layout *layout = (struct layout *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(layout->properties);
    for (Py_ssize_t i = 0; i < layout->count; i++) Py_VISIT(layout->fields[i].initial);
    return 0;
}

static int layout_clear(PyObject *self)
{
    struct layout *layout = (struct layout *)self;
    Py_CLEAR(layout->properties);
    return 0;
}

static void layout_dealloc(PyObject *self)
{
    struct layout *layout = (struct layout *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Py_XDECREF(layout->entity_name);
    Py_XDECREF(layout->properties);
    for (Py_ssize_t i = 0; i < layout->count; i++) {
        Py_XDECREF(layout->fields[i].name);
        Py_XDECREF(layout->fields[i].initial);
    }
    PyMem_Free(layout->fields);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static int read_field(PyObject *item, struct field *field)
{
    PyObject *name, *initial;
    unsigned char kind, element, form, nullable;
    if (!PyArg_ParseTuple(item, "UbbbbO:field", &name, &kind, &element, &form, &nullable, &initial))
        return -1;
    if (kind >= KIND_COUNT || element >= ELEMENT_COUNT || form >= FORM_COUNT) {
        PyErr_SetString(PyExc_ValueError, "unknown kind of property");
        return -1;
    }
    field->kind = kind;
    field->element = element;
    field->form = form;
    field->is_nullable = nullable;
    // An empty list is shared by nobody: each object gets its own.
    if (!PyList_Check(initial)) {
        Py_INCREF(initial);
        field->initial = initial;
    }
    Py_INCREF(name);
    PyUnicode_InternInPlace(&name);
    field->name = name;
    return 0;
}

/* Layout(entity_name, fields, id_index, properties); a field is (name, kind, element, form,
 * nullable, initial). */
static PyObject *layout_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *name, *fields, *properties;
    Py_ssize_t id_index;
    (void)kwargs;
    if (!PyArg_ParseTuple(args, "UO!nO!:Layout", &name, &PyTuple_Type, &fields, &id_index,
                          &PyDict_Type, &properties))
        return NULL;
    Py_ssize_t count = PyTuple_Size(fields);
    if (id_index < 0 || id_index >= count) {
        PyErr_SetString(PyExc_ValueError, "an entity needs an id property");
        return NULL;
    }
    struct layout *layout = (struct layout *)PyType_GenericAlloc(type, 0);
    if (!layout) return NULL;
    layout->fields = PyMem_Calloc((size_t)count, sizeof(struct field));
    if (!layout->fields) {
        Py_DECREF(layout);
        return PyErr_NoMemory();
    }
    layout->state = PyType_GetModuleState(type);
    Py_INCREF(name);
    layout->entity_name = name;
    Py_INCREF(properties);
    layout->properties = properties;
    layout->id_index = id_index;
    layout->count = count;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (read_field(PyTuple_GetItem(fields, i), &layout->fields[i])) {
            Py_DECREF(layout);
            return NULL;
        }
    }
    return (PyObject *)layout;
}

static PyType_Slot layout_slots[] = {
    {Py_tp_doc, "The properties of an entity class in the order of their slots."},
    {Py_tp_new, layout_new},
    {Py_tp_dealloc, layout_dealloc},
    {Py_tp_traverse, layout_traverse},
    {Py_tp_clear, layout_clear},
    {0, NULL},
};

PyType_Spec bwpy_layout_spec = {
    .name = "boxwood._boxwood.Layout",
    .basicsize = sizeof(struct layout),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = layout_slots,
};
