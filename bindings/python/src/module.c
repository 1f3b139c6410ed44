/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The module: its state, its types, its few functions.
 */
#include "binding.h"

static struct PyModuleDef definition;

struct state *bwpy_state_of_type(PyTypeObject *type)
{
#ifdef Py_LIMITED_API
    // A subclass made in Python has no module state: ask its bases.
    while (type) {
        void *state = PyType_GetModuleState(type);
        if (state) return state;
        PyErr_Clear();
        type = (PyTypeObject *)PyType_GetSlot(type, Py_tp_base);
    }
    return NULL;
#else
    PyObject *module = PyType_GetModuleByDef(type, &definition);
    return module ? PyModule_GetState(module) : NULL;
#endif
}

static PyObject *core_version(PyObject *module, PyObject *nothing)
{
    (void)module;
    (void)nothing;
    return PyUnicode_FromString(obx_version_string());
}

static PyObject *set_resolver(PyObject *module, PyObject *resolve)
{
    struct state *state = PyModule_GetState(module);
    Py_INCREF(resolve);
    Py_XSETREF(state->resolve, resolve);
    Py_RETURN_NONE;
}

static PyObject *vector_distance(PyObject *module, PyObject *args)
{
    struct state *state = PyModule_GetState(module);
    int type;
    Py_buffer left, right;
    Py_ssize_t dimensions;
    if (!PyArg_ParseTuple(args, "iy*y*n:vector_distance", &type, &left, &right, &dimensions))
        return NULL;
    PyObject *result = NULL;
    if (dimensions < 0 || left.len / 4 < dimensions || right.len / 4 < dimensions)
        bwpy_raise_code(state, OBX_ERROR_ILLEGAL_ARGUMENT,
                        "Both vectors need at least %zd elements", dimensions);
    else
        result = PyFloat_FromDouble((double)obx_vector_distance_float32(
            (OBXVectorDistanceType)type, left.buf, right.buf, (size_t)dimensions));
    PyBuffer_Release(&left);
    PyBuffer_Release(&right);
    return result;
}

static PyObject *vector_relevance(PyObject *module, PyObject *args)
{
    int type;
    float distance;
    (void)module;
    if (!PyArg_ParseTuple(args, "if:vector_relevance", &type, &distance)) return NULL;
    return PyFloat_FromDouble(
        (double)obx_vector_distance_to_relevance((OBXVectorDistanceType)type, distance));
}

/* to_flex(value) and from_flex(bytes), by which tests reach the encoder. */
static PyObject *from_flex(PyObject *module, PyObject *bytes)
{
    char *data;
    Py_ssize_t size;
    (void)module;
    if (PyBytes_AsStringAndSize(bytes, &data, &size)) return NULL;
    return bwpy_flex_read((const uint8_t *)data, (size_t)size);
}

static PyMethodDef functions[] = {
    {"make_storage", bwpy_make_storage, METH_VARARGS, "The type that holds an entity's values."},
    {"seal", bwpy_seal, METH_VARARGS, "Make a class an entity."},
    {"entity_info", bwpy_entity_info, METH_O, "The EntityInfo of a class; None: it is no entity."},
    {"compile", bwpy_compile, METH_VARARGS, "Declare a model to the library."},
    {"forget", bwpy_forget, METH_NOARGS, "Forget the schema that was used last."},
    {"set_resolver", set_resolver, METH_O, "How a model is turned into a schema."},
    {"core_version", core_version, METH_NOARGS, "The version of the library."},
    {"vector_distance", vector_distance, METH_VARARGS, "The distance of two float vectors."},
    {"vector_relevance", vector_relevance, METH_VARARGS, "A distance as relevance from 0 to 1."},
    {"from_flex", from_flex, METH_O, "The value of FlexBuffers bytes."},
    {NULL, NULL, 0, NULL},
};

static int add_type(PyObject *module, PyTypeObject **out, PyType_Spec *spec, PyObject *bases,
                    const char *name)
{
    PyObject *type = spec ? PyType_FromModuleAndSpec(module, spec, bases) : NULL;
    if (!type) return -1;
    *out = (PyTypeObject *)type;
    return PyModule_AddObjectRef(module, name, type);
}

static int add_types(PyObject *module, struct state *state)
{
    if (add_type(module, &state->meta, bwpy_meta_spec(), (PyObject *)&PyType_Type, "EntityMeta") ||
        add_type(module, &state->layout, &bwpy_layout_spec, NULL, "Layout") ||
        add_type(module, &state->plan, &bwpy_plan_spec, NULL, "Plan") ||
        add_type(module, &state->schema, &bwpy_schema_spec, NULL, "Schema") ||
        add_type(module, &state->store, &bwpy_store_spec, NULL, "Store") ||
        add_type(module, &state->box, &bwpy_box_spec, NULL, "Box") ||
        add_type(module, &state->builder, &bwpy_builder_spec, NULL, "QueryBuilder") ||
        add_type(module, &state->query, &bwpy_query_spec, NULL, "Query") ||
        add_type(module, &state->txn, &bwpy_txn_spec, NULL, "Transaction"))
        return -1;
#ifndef Py_LIMITED_API
    state->store->tp_vectorcall = bwpy_store_vectorcall;
#endif
    return 0;
}

static PyObject *make_context_variable(void)
{
#ifdef Py_LIMITED_API
    PyObject *module = PyImport_ImportModule("contextvars");
    PyObject *variable = module ? PyObject_CallMethod(module, "ContextVar", "s", "boxwood") : NULL;
    Py_XDECREF(module);
    return variable;
#else
    return PyContextVar_New("boxwood", NULL);
#endif
}

static int module_exec(PyObject *module)
{
    struct state *state = PyModule_GetState(module);
    memset(state, 0, sizeof(*state));
    state->current = make_context_variable();
    state->option_names = bwpy_option_names();
    state->default_model = PyUnicode_InternFromString("default");
    if (!state->current || !state->option_names || !state->default_model) return -1;
    return add_types(module, state);
}

static int module_traverse(PyObject *module, visitproc visit, void *arg)
{
    struct state *state = PyModule_GetState(module);
    PyTypeObject *types[] = {state->meta, state->layout,  state->plan,  state->schema, state->store,
                             state->box,  state->builder, state->query, state->txn};
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) Py_VISIT(types[i]);
    Py_VISIT(state->current);
    Py_VISIT(state->resolve);
    Py_VISIT(state->error_class);
    Py_VISIT(state->numpy);
    Py_VISIT(state->opened_model);
    Py_VISIT(state->opened_json);
    Py_VISIT(state->opened_schema);
    return 0;
}

static int module_clear(PyObject *module)
{
    struct state *state = PyModule_GetState(module);
    PyTypeObject **types[] = {&state->meta,    &state->layout, &state->plan,
                              &state->schema,  &state->store,  &state->box,
                              &state->builder, &state->query,  &state->txn};
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) Py_CLEAR(*types[i]);
    Py_CLEAR(state->current);
    Py_CLEAR(state->resolve);
    Py_CLEAR(state->error_class);
    Py_CLEAR(state->option_names);
    Py_CLEAR(state->default_model);
    Py_CLEAR(state->numpy);
    Py_CLEAR(state->opened_model);
    Py_CLEAR(state->opened_json);
    Py_CLEAR(state->opened_schema);
    return 0;
}

static void module_free(void *module)
{
    struct state *state = PyModule_GetState(module);
    module_clear(module);
    bwpy_batch_free(state->spare);
    state->spare = NULL;
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, module_exec},
#if PY_VERSION_HEX >= 0x030C0000
    {Py_mod_multiple_interpreters, Py_MOD_PER_INTERPRETER_GIL_SUPPORTED},
#endif
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_boxwood",
    .m_doc = "The C part of boxwood; use the package.",
    .m_size = sizeof(struct state),
    .m_methods = functions,
    .m_slots = slots,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
    .m_free = module_free,
};

PyMODINIT_FUNC PyInit__boxwood(void) { return PyModuleDef_Init(&definition); }
