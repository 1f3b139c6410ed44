/* SPDX-License-Identifier: Apache-2.0 */
/*
 * QueryBuilder and Query. Queries without conditions are served from the box itself: their count is
 * one look-up. Conditions, orders and links are collected here and belong to the library's query
 * builder.
 */
#include "binding.h"

struct builder {
    PyObject head;
    struct box *box;
    PyObject *parts; /* conditions, orders, links; NULL: none */
    bool is_built;
};

struct query {
    PyObject head;
    struct box *box;
    uint64_t offset, limit;
    bool is_closed;
};

#define FAST(function) ((PyCFunction)(void (*)(void))(function))

/* ---- builder ---- */

static int add_part(struct builder *builder, PyObject *part)
{
    if (builder->is_built) {
        bwpy_raise_code(builder->box->store->state, OBX_ERROR_ILLEGAL_STATE,
                        "The query builder is closed: build() closes it");
        return -1;
    }
    if (!builder->parts) builder->parts = PyList_New(0);
    return builder->parts ? PyList_Append(builder->parts, part) : -1;
}

PyObject *bwpy_builder_new(struct box *box, PyObject *condition)
{
    if (!box->store->handle) return bwpy_raise_closed(box->store);
    struct builder *builder = (struct builder *)PyType_GenericAlloc(box->store->state->builder, 0);
    if (!builder) return NULL;
    Py_INCREF(box);
    builder->box = box;
    if (condition && add_part(builder, condition)) Py_CLEAR(builder);
    return (PyObject *)builder;
}

/* What the library says to a query with conditions. */
static PyObject *refuse_conditions(struct box *box)
{
    struct state *state = box->store->state;
    OBX_query_builder *handle = obx_query_builder(box->store->handle, box->plan->entity_id);
    if (!handle) return bwpy_raise_last(state);
    obx_qb_close(handle);
    return bwpy_raise_code(state, OBX_ERROR_FEATURE_NOT_AVAILABLE,
                           "Conditions, orders and links of queries are not available");
}

static PyObject *builder_build(PyObject *self, PyObject *nothing)
{
    struct builder *builder = (struct builder *)self;
    struct box *box = builder->box;
    (void)nothing;
    if (!box->store->handle) return bwpy_raise_closed(box->store);
    if (builder->is_built)
        return bwpy_raise_code(box->store->state, OBX_ERROR_ILLEGAL_STATE,
                               "The query builder is closed: build() closes it");
    builder->is_built = true;
    if (builder->parts) return refuse_conditions(box);
    struct query *query = (struct query *)PyType_GenericAlloc(box->store->state->query, 0);
    if (!query) return NULL;
    Py_INCREF(box);
    query->box = box;
    return (PyObject *)query;
}

static PyObject *builder_close(PyObject *self, PyObject *nothing)
{
    (void)nothing;
    ((struct builder *)self)->is_built = true;
    Py_RETURN_NONE;
}

/* order, order_desc, alias: what belongs to the builder itself. */
static PyObject *builder_add(PyObject *self, PyObject *args, PyObject *kwargs)
{
    (void)kwargs;
    if (add_part((struct builder *)self, args)) return NULL;
    Py_INCREF(self);
    return self;
}

/* link, backlink: give a builder for the other entity, which has no build() of its own to be
 * called. */
static PyObject *builder_link(PyObject *self, PyObject *args, PyObject *kwargs)
{
    struct builder *builder = (struct builder *)self;
    (void)kwargs;
    if (add_part(builder, args)) return NULL;
    PyObject *linked = bwpy_builder_new(builder->box, args);
    if (linked) ((struct builder *)linked)->is_built = true;
    return linked;
}

/* equals_string and the other conditions by call: they return numbers of the library's builder. */
static PyObject *builder_condition(PyObject *self, PyObject *args, PyObject *kwargs)
{
    struct builder *builder = (struct builder *)self;
    (void)args;
    (void)kwargs;
    if (!builder->box->store->handle) return bwpy_raise_closed(builder->box->store);
    return refuse_conditions(builder->box);
}

static int builder_traverse(PyObject *self, visitproc visit, void *arg)
{
    struct builder *builder = (struct builder *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(builder->box);
    Py_VISIT(builder->parts);
    return 0;
}

static int builder_clear(PyObject *self)
{
    Py_CLEAR(((struct builder *)self)->parts);
    return 0;
}

static void builder_dealloc(PyObject *self)
{
    struct builder *builder = (struct builder *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Py_XDECREF(builder->parts);
    Py_XDECREF(builder->box);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

#define CALL(name, function, doc) {name, FAST(function), METH_VARARGS | METH_KEYWORDS, doc}
#define CONDITION(name) CALL(name, builder_condition, "Add this condition; returns its number.")

static PyMethodDef builder_methods[] = {
    {"build", builder_build, METH_NOARGS,
     "build($self, /)\n--\n\nThe query; the builder cannot be used afterwards."},
    {"close", builder_close, METH_NOARGS,
     "close($self, /)\n--\n\nGive up a builder that is not built."},
    CALL("order", builder_add,
         "order($self, prop, flags=0)\n--\n\nOrder by a property, ascending."),
    CALL("order_desc", builder_add,
         "order_desc($self, prop, flags=0)\n--\n\nOrder by a property, descending."),
    CALL("alias", builder_add, "alias($self, alias)\n--\n\nA name for the last condition."),
    CALL("link", builder_link,
         "link($self, relation, condition=None)\n--\n\nConditions on the target of a relation."),
    CALL("backlink", builder_link,
         "backlink($self, relation, condition=None)\n--\n\nConditions on the objects that refer to "
         "these."),
    CONDITION("equals_string"),
    CONDITION("not_equals_string"),
    CONDITION("contains_string"),
    CONDITION("starts_with_string"),
    CONDITION("ends_with_string"),
    CONDITION("greater_than_string"),
    CONDITION("greater_or_equal_string"),
    CONDITION("less_than_string"),
    CONDITION("less_or_equal_string"),
    CONDITION("in_strings"),
    CONDITION("equals_int"),
    CONDITION("not_equals_int"),
    CONDITION("in_ints"),
    CONDITION("not_in_ints"),
    CONDITION("greater_than_int"),
    CONDITION("greater_than_double"),
    CONDITION("greater_or_equal_int"),
    CONDITION("greater_or_equal_double"),
    CONDITION("less_than_int"),
    CONDITION("less_than_double"),
    CONDITION("less_or_equal_int"),
    CONDITION("less_or_equal_double"),
    CONDITION("between_2ints"),
    CONDITION("between_2doubles"),
    CONDITION("equals_bytes"),
    CONDITION("greater_than_bytes"),
    CONDITION("greater_or_equal_bytes"),
    CONDITION("less_than_bytes"),
    CONDITION("less_or_equal_bytes"),
    CONDITION("nearest_neighbors_f32"),
    CONDITION("is_null"),
    CONDITION("not_null"),
    CONDITION("contains_key_value"),
    CONDITION("any"),
    CONDITION("all"),
    {NULL, NULL, 0, NULL},
};

static PyType_Slot builder_slots[] = {
    {Py_tp_doc, "Collects what a query asks for; Box.query() makes one."},
    {Py_tp_dealloc, builder_dealloc},
    {Py_tp_traverse, builder_traverse},
    {Py_tp_clear, builder_clear},
    {Py_tp_methods, builder_methods},
    {0, NULL},
};

PyType_Spec bwpy_builder_spec = {
    .name = "boxwood.QueryBuilder",
    .basicsize = sizeof(struct builder),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE |
             Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = builder_slots,
};

/* ---- query ---- */

static int check_query(struct query *query)
{
    struct store *store = query->box->store;
    if (!store->handle) bwpy_raise_closed(store);
    else if (query->is_closed)
        bwpy_raise_code(store->state, OBX_ERROR_ILLEGAL_STATE, "The query is closed");
    else return 0;
    return -1;
}

static PyObject *not_supported(struct query *query, const char *what)
{
    return bwpy_raise_code(query->box->store->state, OBX_ERROR_ILLEGAL_STATE,
                           "%s are not supported", what);
}

static PyObject *query_count(PyObject *self, PyObject *nothing)
{
    struct query *query = (struct query *)self;
    struct box *box = query->box;
    boxwood_txn *txn;
    boxwood_failure failure;
    uint64_t count;
    (void)nothing;
    if (check_query(query)) return NULL;
    if (query->offset) return not_supported(query, "Counts of queries with an offset");
    if (bwpy_txn_current(box->store, &txn)) return NULL;
    if (boxwood_box_count(box->handle, txn, query->limit, &count, &failure))
        return bwpy_raise(box->store->state, &failure, box->plan);
    return PyLong_FromUnsignedLongLong(count);
}

static PyObject *query_find(PyObject *self, PyObject *nothing)
{
    struct query *query = (struct query *)self;
    (void)nothing;
    if (check_query(query)) return NULL;
    return bwpy_box_scan_all(query->box, query->offset, query->limit, false);
}

static PyObject *query_find_ids(PyObject *self, PyObject *nothing)
{
    struct query *query = (struct query *)self;
    (void)nothing;
    if (check_query(query)) return NULL;
    return bwpy_box_scan_all(query->box, query->offset, query->limit, true);
}

static PyObject *first_of(PyObject *list)
{
    if (!list) return NULL;
    PyObject *first = PyList_Size(list) ? PyList_GetItem(list, 0) : Py_None;
    Py_INCREF(first);
    Py_DECREF(list);
    return first;
}

static PyObject *query_find_first(PyObject *self, PyObject *nothing)
{
    struct query *query = (struct query *)self;
    (void)nothing;
    if (check_query(query)) return NULL;
    return first_of(bwpy_box_scan_all(query->box, 0, 1, false));
}

static PyObject *query_find_unique(PyObject *self, PyObject *nothing)
{
    struct query *query = (struct query *)self;
    (void)nothing;
    if (check_query(query)) return NULL;
    PyObject *list = bwpy_box_scan_all(query->box, 0, 2, false);
    if (list && PyList_Size(list) > 1) {
        Py_DECREF(list);
        return bwpy_raise_code(
            query->box->store->state, OBX_ERROR_NON_UNIQUE_RESULT,
            "Query findUnique() matched more than one object, although it should "
            "be unique");
    }
    return first_of(list);
}

static PyObject *query_remove(PyObject *self, PyObject *nothing)
{
    struct query *query = (struct query *)self;
    (void)nothing;
    if (check_query(query)) return NULL;
    if (query->offset || query->limit)
        return not_supported(query, "Removals by queries with an offset or limit");
    return PyObject_CallMethod((PyObject *)query->box, "remove_all", NULL);
}

static PyObject *set_bound(PyObject *self, PyObject *value, const char *name, uint64_t *bound)
{
    struct query *query = (struct query *)self;
    if (check_query(query)) return NULL;
    if (!PyLong_Check(value) || PyBool_Check(value)) {
        PyErr_Format(PyExc_TypeError, "%s must be an int, got %R", name, value);
        return NULL;
    }
    uint64_t number = PyLong_AsUnsignedLongLong(value);
    if (PyErr_Occurred()) {
        PyErr_Clear();
        return bwpy_raise_code(query->box->store->state, OBX_ERROR_ILLEGAL_ARGUMENT,
                               "%s must not be negative nor beyond 64 bits, got %R", name, value);
    }
    *bound = number;
    Py_INCREF(self);
    return self;
}

static PyObject *query_offset(PyObject *self, PyObject *value)
{
    return set_bound(self, value, "offset", &((struct query *)self)->offset);
}

static PyObject *query_limit(PyObject *self, PyObject *value)
{
    return set_bound(self, value, "limit", &((struct query *)self)->limit);
}

static PyObject *query_describe(PyObject *self, PyObject *nothing)
{
    struct query *query = (struct query *)self;
    (void)nothing;
    if (check_query(query)) return NULL;
    return PyUnicode_FromFormat("Query for entity %U with 1 conditions",
                                query->box->plan->layout->entity_name);
}

static PyObject *query_describe_parameters(PyObject *self, PyObject *nothing)
{
    (void)nothing;
    return check_query((struct query *)self) ? NULL : PyUnicode_FromString("TRUE");
}

static PyObject *query_parameter(PyObject *self, PyObject *args, PyObject *kwargs)
{
    struct query *query = (struct query *)self;
    (void)args;
    (void)kwargs;
    if (check_query(query)) return NULL;
    return bwpy_raise_code(query->box->store->state, OBX_ERROR_ILLEGAL_ARGUMENT,
                           "The query has no condition whose parameter could be set");
}

static PyObject *query_scores(PyObject *self, PyObject *nothing)
{
    struct query *query = (struct query *)self;
    (void)nothing;
    if (check_query(query)) return NULL;
    return bwpy_raise_code(query->box->store->state, OBX_ERROR_ILLEGAL_STATE,
                           "Scores need a nearest neighbour condition in the query");
}

static PyObject *query_close(PyObject *self, PyObject *nothing)
{
    (void)nothing;
    ((struct query *)self)->is_closed = true;
    Py_RETURN_NONE;
}

static PyObject *query_is_closed(PyObject *self, PyObject *nothing)
{
    struct query *query = (struct query *)self;
    (void)nothing;
    return PyBool_FromLong(query->is_closed || !query->box->store->handle);
}

static PyObject *query_enter(PyObject *self, PyObject *nothing)
{
    (void)nothing;
    Py_INCREF(self);
    return self;
}

static PyObject *query_exit(PyObject *self, PyObject *args)
{
    (void)args;
    return query_close(self, NULL);
}

static int query_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((struct query *)self)->box);
    return 0;
}

static void query_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Py_XDECREF(((struct query *)self)->box);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static PyObject *class_getitem(PyObject *type, PyObject *item)
{
    (void)item; // Query[Note] is for type checkers
    Py_INCREF(type);
    return type;
}

static PyMethodDef query_methods[] = {
    {"count", query_count, METH_NOARGS, "count($self, /)\n--\n\nThe number of matching objects."},
    {"find", query_find, METH_NOARGS, "find($self, /)\n--\n\nThe matching objects."},
    {"find_ids", query_find_ids, METH_NOARGS, "find_ids($self, /)\n--\n\nTheir ids."},
    {"find_first", query_find_first, METH_NOARGS,
     "find_first($self, /)\n--\n\nThe first matching object; None: there is none."},
    {"find_unique", query_find_unique, METH_NOARGS,
     "find_unique($self, /)\n--\n\nThe only matching object; None: there is none. More than one is "
     "an error."},
    {"find_with_scores", query_scores, METH_NOARGS, "Matching objects with their scores."},
    {"find_ids_with_scores", query_scores, METH_NOARGS, "Their ids with their scores."},
    {"find_ids_by_score", query_scores, METH_NOARGS, "Their ids in the order of the scores."},
    {"find_ids_by_score_numpy", query_scores, METH_NOARGS, "The same as an array."},
    {"remove", query_remove, METH_NOARGS,
     "remove($self, /)\n--\n\nRemove the matching objects; returns their number."},
    {"offset", query_offset, METH_O,
     "offset($self, offset, /)\n--\n\nLeave out that many results; 0: none. Returns the query."},
    {"limit", query_limit, METH_O,
     "limit($self, limit, /)\n--\n\nGive at most that many results; 0: all. Returns the query."},
    CALL("set_parameter", query_parameter, "Change the value of the condition on a property."),
    CALL("set_parameter_alias", query_parameter,
         "Change the value of the condition with an alias."),
    CALL("set_parameters", query_parameter, "Change both values of the condition on a property."),
    CALL("set_parameters_alias", query_parameter,
         "Change both values of the condition with an alias."),
    {"describe", query_describe, METH_NOARGS, "describe($self, /)\n--\n\nThe query in short."},
    {"describe_parameters", query_describe_parameters, METH_NOARGS,
     "describe_parameters($self, /)\n--\n\nThe conditions with their values."},
    {"close", query_close, METH_NOARGS,
     "close($self, /)\n--\n\nEnd the query. Again does nothing."},
    {"is_closed", query_is_closed, METH_NOARGS, "is_closed($self, /)\n--\n\nWhether it is closed."},
    {"__enter__", query_enter, METH_NOARGS, NULL},
    {"__exit__", query_exit, METH_VARARGS, NULL},
    {"__class_getitem__", class_getitem, METH_O | METH_CLASS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot query_slots[] = {
    {Py_tp_doc, "A query that can be run any number of times; QueryBuilder.build() makes one."},
    {Py_tp_dealloc, query_dealloc},
    {Py_tp_traverse, query_traverse},
    {Py_tp_methods, query_methods},
    {0, NULL},
};

PyType_Spec bwpy_query_spec = {
    .name = "boxwood.Query",
    .basicsize = sizeof(struct query),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE |
             Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = query_slots,
};
