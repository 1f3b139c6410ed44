/* SPDX-License-Identifier: Apache-2.0 */
/*
 * EntityMeta, the class of entity classes.
 *
 * It makes three things quick or possible: calling the class (a vectorcall of its own), reading a
 * property from the class (Note.text is the Property, while note.text stays a plain slot that the
 * interpreter specialises), and finding layout and plan from an object without a look-up.
 *
 * The extra fields lie behind the interpreter's own type struct, whose size is only known at run
 * time under the limited API; hence the offset.
 */
#include "binding.h"

#ifdef Py_LIMITED_API
static Py_ssize_t entity_offset; // the same in every interpreter
#else
#define entity_offset ((Py_ssize_t)ROUND_UP(sizeof(PyHeapTypeObject), 16))
#endif

struct entity *bwpy_entity_of(PyObject *type)
{
    return (struct entity *)((char *)type + entity_offset);
}

bool bwpy_is_entity(struct state *state, PyObject *object)
{
    return PyObject_TypeCheck(object, state->meta) && bwpy_entity_of(object)->info;
}

static PyObject *meta_new(PyTypeObject *meta, PyObject *args, PyObject *kwargs)
{
    newfunc new_type = (newfunc)PyType_GetSlot(&PyType_Type, Py_tp_new);
    PyObject *type = new_type(meta, args, kwargs);
    if (!type) return NULL;
    PyObject *layout = PyObject_GetAttrString(type, "__boxwood_layout__");
    if (layout) {
        bwpy_entity_of(type)->layout = (struct layout *)layout;
        return type;
    }
    PyErr_Clear();
    PyErr_SetString(PyExc_TypeError, "entity classes are made by the decorator @Entity()");
    Py_DECREF(type);
    return NULL;
}

static int meta_traverse(PyObject *self, visitproc visit, void *arg)
{
    struct entity *entity = bwpy_entity_of(self);
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(entity->layout);
    Py_VISIT(entity->info);
    Py_VISIT(entity->storage);
    traverseproc base = (traverseproc)PyType_GetSlot(&PyType_Type, Py_tp_traverse);
    return base(self, visit, arg);
}

/* Layout and storage stay until the class is freed: objects that die after it still use them. */
static int meta_clear(PyObject *self)
{
    Py_CLEAR(bwpy_entity_of(self)->info);
    inquiry base = (inquiry)PyType_GetSlot(&PyType_Type, Py_tp_clear);
    return base(self);
}

static void meta_dealloc(PyObject *self)
{
    PyTypeObject *meta = Py_TYPE(self);
    struct entity *entity = bwpy_entity_of(self);
    PyObject *layout = (PyObject *)entity->layout, *storage = (PyObject *)entity->storage;
    PyObject *info = entity->info;
    entity->layout = NULL;
    entity->storage = NULL;
    entity->info = NULL;
    destructor base = (destructor)PyType_GetSlot(&PyType_Type, Py_tp_dealloc);
    base(self);
    Py_XDECREF(info);
    Py_XDECREF(layout);
    Py_XDECREF(storage);
    Py_DECREF(meta);
}

static PyObject *type_getattro(PyObject *type, PyObject *name)
{
    getattrofunc base = (getattrofunc)PyType_GetSlot(&PyType_Type, Py_tp_getattro);
    return base(type, name);
}

static PyObject *meta_getattro(PyObject *type, PyObject *name)
{
    struct entity *entity = bwpy_entity_of(type);
    if (!entity->layout || !entity->layout->properties) return type_getattro(type, name);
    PyObject *property = PyDict_GetItemWithError(entity->layout->properties, name);
    if (!property) return PyErr_Occurred() ? NULL : type_getattro(type, name);
    if (entity->info) {
        Py_INCREF(property);
        return property;
    }
    // A subclass may have given the name to something else.
    PyObject *found = type_getattro(type, name);
    if (!found || !Py_IS_TYPE(found, &PyMemberDescr_Type)) return found;
    Py_DECREF(found);
    Py_INCREF(property);
    return property;
}

static int meta_setattro(PyObject *type, PyObject *name, PyObject *value)
{
    struct entity *entity = bwpy_entity_of(type);
    if (entity->info && entity->layout->properties) {
        int is_property = PyDict_Contains(entity->layout->properties, name);
        if (is_property < 0) return -1;
        if (is_property) {
            PyErr_Format(PyExc_AttributeError, "Property %U of entity %U cannot be replaced", name,
                         entity->layout->entity_name);
            return -1;
        }
        if (PyUnicode_CompareWithASCIIString(name, "__init__") == 0 ||
            PyUnicode_CompareWithASCIIString(name, "__new__") == 0)
            entity->vectorcall = NULL;
    }
    setattrofunc base = (setattrofunc)PyType_GetSlot(&PyType_Type, Py_tp_setattro);
    return base(type, name, value);
}

/* The names by which objectbox-python's own code knows an entity: attributes of its EntityInfo. */
static PyObject *meta_info(PyObject *type, void *name)
{
    struct entity *entity = bwpy_entity_of(type);
    if (!entity->info) {
        PyErr_Format(PyExc_AttributeError, "%R is no entity but a subclass of one", type);
        return NULL;
    }
    return PyObject_GetAttrString(entity->info, name);
}

static PyObject *meta_user_type(PyObject *type, void *unused)
{
    (void)unused;
    Py_INCREF(type);
    return type;
}

static PyGetSetDef meta_getset[] = {
    {"_id", meta_info, NULL, "The id in the model that was synced last; 0: none yet.", "id"},
    {"_uid", meta_info, NULL, "The uid that belongs to it.", "uid"},
    {"_iduid", meta_info, NULL, "Both.", "iduid"},
    {"_name", meta_info, NULL, "The name in the store.", "name"},
    {"_flags", meta_info, NULL, "OBXEntityFlags.", "flags"},
    {"_properties", meta_info, NULL, "The properties in the order of the class.", "properties"},
    {"_id_property", meta_info, NULL, "The property that holds the id.", "id_property"},
    {"_last_property_iduid", meta_info, NULL, "The highest property id ever used.",
     "last_property_iduid"},
    {"_has_uid", meta_info, NULL, "Whether a uid is known.", "has_uid"},
    {"_get_property", meta_info, NULL, "The property with this name.", "get_property"},
    {"_get_property_id", meta_info, NULL, "The id of a property, its name or itself.",
     "get_property_id"},
    {"_user_type", meta_user_type, NULL, "The class itself.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot meta_slots[] = {
    {Py_tp_doc, "The class of entity classes."},
    {Py_tp_new, meta_new},
    {Py_tp_dealloc, meta_dealloc},
    {Py_tp_traverse, meta_traverse},
    {Py_tp_clear, meta_clear},
    {Py_tp_getattro, meta_getattro},
    {Py_tp_setattro, meta_setattro},
    {Py_tp_getset, meta_getset},
    {Py_tp_members, NULL}, // filled in by bwpy_meta_spec
    {0, NULL},
};

PyType_Spec *bwpy_meta_spec(void)
{
    // Py_RELATIVE_OFFSET does not reach __vectorcalloffset__ in 3.12 and 3.13, so the offset is
    // absolute.
    static PyMemberDef members[] = {
        {"__vectorcalloffset__", Py_T_PYSSIZET, 0, Py_READONLY, NULL},
        {NULL, 0, 0, 0, NULL},
    };
    static PyType_Spec spec = {
        .name = "boxwood._boxwood.EntityMeta",
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE |
                 Py_TPFLAGS_TYPE_SUBCLASS | Py_TPFLAGS_HAVE_VECTORCALL,
        .slots = meta_slots,
    };
#ifdef Py_LIMITED_API
    PyObject *size = PyObject_GetAttrString((PyObject *)&PyType_Type, "__basicsize__");
    if (!size) return NULL;
    entity_offset = (Py_ssize_t)ROUND_UP((size_t)PyLong_AsSsize_t(size), 16);
    Py_DECREF(size);
#endif
    members[0].offset = entity_offset + (Py_ssize_t)offsetof(struct entity, vectorcall);
    for (PyType_Slot *slot = meta_slots; slot->slot; slot++)
        if (slot->slot == Py_tp_members) slot->pfunc = members;
    spec.basicsize = (int)(entity_offset + (Py_ssize_t)sizeof(struct entity));
    return &spec;
}

PyObject *bwpy_seal(PyObject *module, PyObject *args)
{
    struct state *state = PyModule_GetState(module);
    PyObject *type, *info, *storage;
    int init, init_on_read;
    if (!PyArg_ParseTuple(args, "O!OO!ii:seal", state->meta, &type, &info, &PyType_Type, &storage,
                          &init, &init_on_read))
        return NULL;
    struct entity *entity = bwpy_entity_of(type);
    Py_INCREF(info);
    Py_XSETREF(entity->info, info);
    Py_INCREF(storage);
    Py_XSETREF(entity->storage, (PyTypeObject *)storage);
    entity->init = (uint8_t)init;
    entity->init_on_read = init_on_read != 0;
    entity->vectorcall = init == INIT_AS_WRITTEN ? NULL : bwpy_entity_construct;
    Py_RETURN_NONE;
}

PyObject *bwpy_entity_info(PyObject *module, PyObject *type)
{
    struct state *state = PyModule_GetState(module);
    PyObject *info = bwpy_is_entity(state, type) ? bwpy_entity_of(type)->info : Py_None;
    Py_INCREF(info);
    return info;
}
