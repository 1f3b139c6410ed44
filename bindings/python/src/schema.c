/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiled models: what boxwood.model describes, declared to the library once and shared by all
 * stores that are opened with it; and the plan of each entity class.
 */
#include "binding.h"

#define PAIR "(IK)" /* id, uid */

static int failed(struct state *state)
{
    bwpy_raise_last(state);
    return -1;
}

/* (dimensions, neighbors, search count, flags, distance, backlink probability, cache KB); None:
 * default. */
static int declare_hnsw(struct state *state, OBX_model *model, PyObject *hnsw)
{
    PyObject *probability;
    Py_ssize_t dimensions, cache;
    long neighbors, search_count, flags, distance;
    if (!PyArg_ParseTuple(hnsw, "nllllOn:hnsw", &dimensions, &neighbors, &search_count, &flags,
                          &distance, &probability, &cache))
        return -1;
    obx_err err = obx_model_property_index_hnsw_dimensions(model, (size_t)dimensions);
    if (!err && neighbors >= 0)
        err = obx_model_property_index_hnsw_neighbors_per_node(model, (uint32_t)neighbors);
    if (!err && search_count >= 0)
        err = obx_model_property_index_hnsw_indexing_search_count(model, (uint32_t)search_count);
    if (!err && flags >= 0) err = obx_model_property_index_hnsw_flags(model, (OBXHnswFlags)flags);
    if (!err && distance >= 0)
        err = obx_model_property_index_hnsw_distance_type(model, (OBXVectorDistanceType)distance);
    if (!err && probability != Py_None) {
        double value = PyFloat_AsDouble(probability);
        if (value == -1.0 && PyErr_Occurred()) return -1;
        err = obx_model_property_index_hnsw_reparation_backlink_probability(model, (float)value);
    }
    if (!err && cache >= 0)
        err = obx_model_property_index_hnsw_vector_cache_hint_size_kb(model, (size_t)cache);
    return err ? failed(state) : 0;
}

/* (name, type, id, uid, flags, index id, index uid, relation target, hnsw) */
static int declare_property(struct state *state, OBX_model *model, PyObject *property)
{
    const char *name, *target;
    int type;
    unsigned id, flags, index_id;
    unsigned long long uid, index_uid;
    PyObject *hnsw;
    if (!PyArg_ParseTuple(property, "siIKIIKzO:property", &name, &type, &id, &uid, &flags,
                          &index_id, &index_uid, &target, &hnsw))
        return -1;
    if (obx_model_property(model, name, (OBXPropertyType)type, id, uid)) return failed(state);
    if (flags && obx_model_property_flags(model, flags)) return failed(state);
    if (target)
        return obx_model_property_relation(model, target, index_id, index_uid) ? failed(state) : 0;
    if (hnsw != Py_None && declare_hnsw(state, model, hnsw)) return -1;
    if (index_id && obx_model_property_index_id(model, index_id, index_uid)) return failed(state);
    return 0;
}

/* (id, uid, target id, target uid, name) */
static int declare_relation(struct state *state, OBX_model *model, PyObject *relation)
{
    unsigned id, target_id;
    unsigned long long uid, target_uid;
    const char *name;
    if (!PyArg_ParseTuple(relation, "IKIKz:relation", &id, &uid, &target_id, &target_uid, &name))
        return -1;
    if (obx_model_relation(model, id, uid, target_id, target_uid) ||
        (name && obx_model_relation_name(model, name)))
        return failed(state);
    return 0;
}

static int add_plan(struct schema *schema, PyObject *type, uint32_t entity_id,
                    PyObject *property_ids)
{
    struct state *state = schema->state;
    if (!bwpy_is_entity(state, type)) {
        PyErr_SetString(PyExc_TypeError, "a model consists of entity classes");
        return -1;
    }
    PyObject *plan = bwpy_plan_new(state, bwpy_entity_of(type)->layout, entity_id, property_ids);
    if (!plan) return -1;
    int err = PyDict_SetItem(schema->plans, type, plan);
    Py_DECREF(plan);
    return err;
}

/* (class, name, id, uid, flags, last property id, its uid, ids by slot, properties, relations) */
static int declare_entity(struct schema *schema, OBX_model *model, PyObject *entity)
{
    struct state *state = schema->state;
    PyObject *type, *ids, *properties, *relations;
    const char *name;
    unsigned id, flags, last_id;
    unsigned long long uid, last_uid;
    if (!PyArg_ParseTuple(entity, "OsIKIIKO!O!O!:entity", &type, &name, &id, &uid, &flags, &last_id,
                          &last_uid, &PyTuple_Type, &ids, &PyTuple_Type, &properties, &PyTuple_Type,
                          &relations))
        return -1;
    if (add_plan(schema, type, id, ids)) return -1;
    if (!model) return 0;
    if (obx_model_entity(model, name, id, uid)) return failed(state);
    if (flags && obx_model_entity_flags(model, flags)) return failed(state);
    for (Py_ssize_t i = 0; i < PyTuple_Size(properties); i++)
        if (declare_property(state, model, PyTuple_GetItem(properties, i))) return -1;
    if (obx_model_entity_last_property_id(model, last_id, last_uid)) return failed(state);
    for (Py_ssize_t i = 0; i < PyTuple_Size(relations); i++)
        if (declare_relation(state, model, PyTuple_GetItem(relations, i))) return -1;
    return 0;
}

static int declare_last(OBX_model *model, PyObject *last)
{
    unsigned entity, index, relation;
    unsigned long long entity_uid, index_uid, relation_uid;
    if (!PyArg_ParseTuple(last, PAIR PAIR PAIR ":last", &entity, &entity_uid, &index, &index_uid,
                          &relation, &relation_uid))
        return -1;
    if (relation) obx_model_last_relation_id(model, relation, relation_uid);
    if (index) obx_model_last_index_id(model, index, index_uid);
    obx_model_last_entity_id(model, entity, entity_uid);
    return 0;
}

static int declare_all(struct schema *schema, OBX_model *model, PyObject *entities, PyObject *last)
{
    for (Py_ssize_t i = 0; i < PyTuple_Size(entities); i++)
        if (declare_entity(schema, model, PyTuple_GetItem(entities, i))) return -1;
    return model ? declare_last(model, last) : 0;
}

/* compile(entities, last, declare): with declare false the schema only has plans, for stores
 * that are opened with what they know themselves. */
PyObject *bwpy_compile(PyObject *module, PyObject *args)
{
    struct state *state = PyModule_GetState(module);
    PyObject *entities, *last;
    int declares;
    if (!PyArg_ParseTuple(args, "O!O!p:compile", &PyTuple_Type, &entities, &PyTuple_Type, &last,
                          &declares))
        return NULL;
    struct schema *schema = (struct schema *)PyType_GenericAlloc(state->schema, 0);
    if (!schema) return NULL;
    schema->state = state;
    schema->plans = PyDict_New();
    OBX_model *model = declares && schema->plans ? obx_model() : NULL;
    if (!schema->plans || (declares && !model)) {
        if (!PyErr_Occurred()) bwpy_raise_last(state);
        goto fail;
    }
    if (declare_all(schema, model, entities, last)) {
        if (model) obx_model_free(model);
        goto fail;
    }
    boxwood_failure failure;
    if (model && boxwood_model_compile(model, &schema->model, &failure)) {
        bwpy_raise(state, &failure, NULL);
        goto fail;
    }
    return (PyObject *)schema;
fail:
    Py_DECREF(schema);
    return NULL;
}

PyObject *bwpy_forget(PyObject *module, PyObject *nothing)
{
    struct state *state = PyModule_GetState(module);
    (void)nothing;
    Py_CLEAR(state->opened_model);
    Py_CLEAR(state->opened_json);
    Py_CLEAR(state->opened_schema);
    Py_RETURN_NONE;
}

static int schema_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((struct schema *)self)->plans);
    return 0;
}

static int schema_clear(PyObject *self)
{
    Py_CLEAR(((struct schema *)self)->plans);
    return 0;
}

static void schema_dealloc(PyObject *self)
{
    struct schema *schema = (struct schema *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Py_XDECREF(schema->plans);
    boxwood_model_release(schema->model);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static PyType_Slot schema_slots[] = {
    {Py_tp_doc, "A compiled model, shared by the stores that were opened with it."},
    {Py_tp_dealloc, schema_dealloc},
    {Py_tp_traverse, schema_traverse},
    {Py_tp_clear, schema_clear},
    {0, NULL},
};

PyType_Spec bwpy_schema_spec = {
    .name = "boxwood._boxwood.Schema",
    .basicsize = sizeof(struct schema),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE |
             Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = schema_slots,
};
