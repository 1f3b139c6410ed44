/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the sources of the extension share: the structs behind its types and who offers what.
 *
 * One file a noun. Every function here holds the GIL when called; those that give it away say so.
 * A function returning PyObject * or -1 has set a Python exception when it returns NULL or -1.
 *
 * Invariants:
 *   B1  All state is in the module (struct state). Process-wide are constants only.
 *   B2  Python code may run wherever a value is converted, so a value, its object and their list
 *       are held by strong references there, and nothing remembered is trusted afterwards.
 *   B3  No C pointer into the store leaves a C function: values are copied while its transaction
 *       is open.
 *   B4  Ids are written into objects only after the store has taken all of them.
 */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if PY_VERSION_HEX < 0x030C0000
#include <structmember.h>
#define Py_T_OBJECT_EX T_OBJECT_EX
#define Py_T_PYSSIZET T_PYSSIZET
#define Py_READONLY READONLY
#endif

#ifdef Py_LIMITED_API
// The functions behind these take PyObject * only; the full API casts by macros like these.
#define Py_INCREF(object) Py_INCREF((PyObject *)(object))
#define Py_XINCREF(object) Py_XINCREF((PyObject *)(object))
#define Py_XDECREF(object) Py_XDECREF((PyObject *)(object))
#define Py_TYPE(object) Py_TYPE((PyObject *)(object))
#define Py_XSETREF(to, from)                   \
    do {                                       \
        PyObject *replaced = (PyObject *)(to); \
        (to) = (from);                         \
        Py_XDECREF(replaced);                  \
    } while (0)
#endif

#include "boxwood.h"

#define ROUND_UP(number, to) (((number) + ((to) - 1)) & ~(size_t)((to) - 1))

/* ---- the interpreter's objects, without a call where the API allows ---- */

static inline PyObject *bwpy_item(PyObject *tuple, Py_ssize_t at)
{
#ifdef Py_LIMITED_API
    return PyTuple_GetItem(tuple, at);
#else
    return PyTuple_GET_ITEM(tuple, at);
#endif
}

/* An int of one digit; false for any other. */
static inline bool bwpy_small_int(PyObject *value, int64_t *out)
{
#ifdef Py_LIMITED_API
    (void)value;
    (void)out;
    return false;
#elif PY_VERSION_HEX >= 0x030C0000
    if (!PyUnstable_Long_IsCompact((PyLongObject *)value)) return false;
    *out = PyUnstable_Long_CompactValue((PyLongObject *)value);
    return true;
#else
    Py_ssize_t size = Py_SIZE(value);
    if (size < -1 || size > 1) return false;
    *out = size ? size * (int64_t)((PyLongObject *)value)->ob_digit[0] : 0;
    return true;
#endif
}

/* ---- module state ---- */

struct batch;
struct schema;

struct state {
    PyTypeObject *meta, *layout, *plan, *schema, *store, *box, *builder, *query, *txn;
    PyObject *current; /* contextvars.ContextVar: the innermost transaction object */
    PyObject *resolve; /* boxwood.store.resolve: the slow path to a schema */
    PyObject
        *error_class; /* boxwood.exceptions.class_of: the class for a code; NULL until needed */
    PyObject *option_names;  /* tuple of interned keywords of Store */
    PyObject *default_model; /* "default" */
    PyObject *numpy;         /* the module, None when it cannot be imported, NULL until needed */
    void *datetime;          /* its C API, NULL until needed */
    struct batch *spare;
    /* The last answer of resolve: opening many stores with one model asks once. */
    PyObject *opened_model, *opened_json;
    struct schema *opened_schema;
};

struct state *bwpy_state_of_type(PyTypeObject *type);

/* ---- entities: what a class of objects looks like ---- */

enum kind {
    KIND_BOOL,
    KIND_INT8,
    KIND_INT16,
    KIND_INT32,
    KIND_INT64,
    KIND_FLOAT32,
    KIND_FLOAT64,
    KIND_STRING,
    KIND_BYTES,
    KIND_DATE,      /* milliseconds */
    KIND_DATE_NANO, /* nanoseconds */
    KIND_FLEX,
    KIND_VECTOR, /* of element */
    KIND_COUNT
};

enum element {
    ELEMENT_BOOL,
    ELEMENT_INT8,
    ELEMENT_INT16,
    ELEMENT_UINT16,
    ELEMENT_INT32,
    ELEMENT_INT64,
    ELEMENT_FLOAT32,
    ELEMENT_FLOAT64,
    ELEMENT_COUNT
};

/* As what a value is read, where a kind leaves a choice. */
enum form {
    FORM_PLAIN,    /* str, bytes, int, float, bool; a date as an integer */
    FORM_SECONDS,  /* a date as float */
    FORM_DATETIME, /* a date as datetime in UTC */
    FORM_LIST,
    FORM_ARRAY, /* numpy.ndarray, or array.array without numpy */
    FORM_COUNT
};

struct field {
    PyObject *name;    /* interned */
    PyObject *initial; /* what an unset property holds; NULL: an empty list of its own */
    uint8_t kind, element, form, is_nullable;
};

/* The properties of an entity class, in the order of their slots. */
struct layout {
    PyObject head;
    struct state *state; /* borrowed: the module lives as long as its types */
    PyObject *entity_name;
    PyObject *properties; /* dict: name -> Property, what Class.name gives */
    struct field *fields;
    Py_ssize_t count, id_index;
};

/* What the metaclass adds to a class object. */
struct entity {
    vectorcallfunc vectorcall;
    struct layout *layout; /* NULL: no entity */
    PyObject *info;        /* boxwood.model.entity.EntityInfo; NULL for a subclass of an entity */
    PyTypeObject *storage; /* whose member descriptors the class uses */
    uint8_t init, init_on_read;
};

enum { INIT_NONE, INIT_BEFORE_VALUES, INIT_AS_WRITTEN };

struct entity *bwpy_entity_of(PyObject *type);
bool bwpy_is_entity(struct state *state, PyObject *object);
PyType_Spec *bwpy_meta_spec(void);
/* make_storage(name, layout): the heap type that holds the values of one entity class. */
PyObject *bwpy_make_storage(PyObject *module, PyObject *args);
/* seal(cls, info, storage, init, init_on_read): from now on cls is an entity. */
PyObject *bwpy_seal(PyObject *module, PyObject *args);
PyObject *bwpy_entity_info(PyObject *module, PyObject *type);

static inline PyObject **bwpy_slots(PyObject *object) { return (PyObject **)(object + 1); }

/* A new object whose slots are NULL, and the same with unset properties filled in. */
PyObject *bwpy_entity_alloc(PyObject *type);
PyObject *bwpy_entity_construct(PyObject *type, PyObject *const *args, size_t nargsf,
                                PyObject *kwnames);
int bwpy_entity_fill(struct layout *layout, PyObject *object);
int bwpy_entity_set(struct layout *layout, PyObject *object, PyObject *name, PyObject *value);
extern PyType_Spec bwpy_layout_spec;

/* ---- plans: a layout with the ids of a model ---- */

/* The fixed part of an object in which the fields of `mask` are null. */
struct template
{
    struct template *next;
    uint64_t mask;
    uint32_t size;
    uint8_t *bytes; /* behind at[] */
    uint32_t at[];  /* position of each field; 0: absent */
};

struct plan {
    PyObject head;
    struct layout *layout;
    uint32_t entity_id;
    uint32_t *property_ids; /* by field */
    struct template *templates;
    uint32_t template_count;
};

extern PyType_Spec bwpy_plan_spec;
PyObject *bwpy_plan_new(struct state *state, struct layout *layout, uint32_t entity_id,
                        PyObject *property_ids);
/* Owned by the plan for as long as it lives, unless *out_owned says that the caller frees it.
 * With more than 64 fields `nulls` says which are null, otherwise the mask does. */
const struct template *bwpy_plan_template(struct plan *plan, uint64_t mask, const uint8_t *nulls,
                                          bool *out_owned);

/* ---- batches: objects as the store takes them ---- */

struct batch {
    uint8_t *data;
    size_t used, room;
    uint32_t *ends;
    obx_id *ids;
    size_t count, count_room;
};

/* The module's own one when it is free, otherwise another. */
struct batch *bwpy_batch_take(struct state *state, size_t count);
void bwpy_batch_give(struct state *state, struct batch *batch);
void bwpy_batch_free(struct batch *batch); /* NULL is allowed */
int bwpy_batch_grow(struct batch *batch, size_t more);

/* Where a value belongs, for errors that name it. */
struct place {
    struct plan *plan;
    const struct field *field;
    Py_ssize_t index; /* in the list; -1: a single object */
};

/* Append object to the batch, its id to batch->ids (0: new). */
int bwpy_marshal(struct batch *batch, struct plan *plan, PyObject *type, PyObject *object,
                 Py_ssize_t index);

static inline int bwpy_batch_room(struct batch *batch, size_t more)
{
    return batch->room - batch->used >= more ? 0 : bwpy_batch_grow(batch, more);
}

/* ---- values ---- */

int bwpy_scalar_int(const struct place *place, PyObject *value, int64_t min, int64_t max,
                    int64_t *out);
int bwpy_scalar_float(const struct place *place, PyObject *value, bool is_single, double *out);
int bwpy_scalar_bool(const struct place *place, PyObject *value, bool *out);
int bwpy_scalar_id(const struct place *place, PyObject *value, obx_id *out);
/* Both append at batch->used, a length in front; the position is the caller's to note before. */
int bwpy_text_append(struct batch *batch, const struct place *place, PyObject *value);
int bwpy_bytes_append(struct batch *batch, const struct place *place, PyObject *value);
int bwpy_vector_append(struct batch *batch, const struct place *place, PyObject *value);
int bwpy_flex_append(struct batch *batch, const struct place *place, PyObject *value);
int bwpy_date_value(const struct place *place, PyObject *value, int64_t per_second, int64_t *out);

PyObject *bwpy_text_read(const uint8_t *data, size_t size);
PyObject *bwpy_vector_read(struct state *state, const struct field *field, const uint8_t *data,
                           size_t count);
PyObject *bwpy_flex_read(const uint8_t *data, size_t size);
PyObject *bwpy_date_read(struct state *state, const struct field *field, int64_t value);
size_t bwpy_element_size(enum element element);
/* The empty value of an array property. */
PyObject *bwpy_vector_empty(struct state *state, enum element element);

/* One object from its bytes; type is the entity class of the plan. */
PyObject *bwpy_read(struct plan *plan, PyObject *type, const uint8_t *data, size_t size, obx_id id);
/* Call the __init__ of an object that was read, and give it its values again. */
int bwpy_read_init(struct layout *layout, PyObject *object);

/* ---- errors ---- */

/* Raise what the record says; always returns NULL. The plan, if any, gives names to its ids. */
PyObject *bwpy_raise(struct state *state, const boxwood_failure *failure, struct plan *plan);
PyObject *bwpy_raise_code(struct state *state, obx_err code, const char *format, ...);
/* Raise the thread's last error, for functions without a record. */
PyObject *bwpy_raise_last(struct state *state);
enum { WRONG_TYPE, WRONG_RANGE };
/* A value that does not fit its property; always returns -1. */
int bwpy_raise_value(const struct place *place, PyObject *value, int what, const char *expected);
/* Add the place to an exception that a value's own code raised; always returns -1. */
int bwpy_note_place(const struct place *place);

/* ---- models and stores ---- */

struct schema {
    PyObject head;
    struct state *state; /* borrowed */
    boxwood_model *model;
    PyObject *plans; /* dict: entity class -> plan */
};

extern PyType_Spec bwpy_schema_spec;
PyObject *bwpy_compile(PyObject *module, PyObject *args);
PyObject *bwpy_forget(PyObject *module, PyObject *nothing);

struct box;

struct store {
    PyObject head;
    struct state *state; /* borrowed */
    OBX_store *handle;   /* NULL: closed */
    struct schema *schema;
    struct box *boxes;      /* borrowed: a box leaves the list when it dies */
    PyObject *log_callback; /* NULL: none */
    PyObject *weakrefs;
    PyObject *writer_file; /* where the open write transaction began */
    unsigned long writer_thread;
    int writer_line;
    int32_t wait_ms;
    uint32_t open_txns; /* explicit ones, in any thread */
    uint32_t calls;     /* that gave the GIL away and are inside the library */
    bool flushes;
};

struct box {
    PyObject head;
    struct store *store;
    struct box *next;
    OBX_box *handle;
    PyObject *entity; /* the class */
    struct plan *plan;
};

extern PyType_Spec bwpy_store_spec, bwpy_box_spec, bwpy_builder_spec, bwpy_query_spec,
    bwpy_txn_spec;

enum { OPTION_MODEL, OPTION_MODEL_JSON_FILE, OPTION_DIRECTORY }; /* the rest is of options.c */
Py_ssize_t bwpy_option_count(void);
PyObject *bwpy_option_names(void);
int bwpy_options_apply(struct store *store, OBX_store_options *options, PyObject **values);
PyObject *bwpy_store_vectorcall(PyObject *type, PyObject *const *args, size_t nargsf,
                                PyObject *kwnames);
/* Raise IllegalStateError; always returns NULL. */
PyObject *bwpy_raise_closed(struct store *store);

PyObject *bwpy_box_new(struct store *store, PyObject *entity);
PyObject *bwpy_box_scan_all(struct box *box, uint64_t offset, uint64_t limit, bool ids_only);
PyObject *bwpy_box_put(struct box *box, PyObject *objects, uint32_t flags);
PyObject *bwpy_box_put_one(struct box *box, PyObject *object, uint32_t flags);
PyObject *bwpy_builder_new(struct box *box, PyObject *condition);

/* ---- transactions ---- */

/* The handle of the transaction that is open around this call, NULL when there is none. */
int bwpy_txn_current(struct store *store, boxwood_txn **out_txn);

/* A write: joins the open transaction or begins one. The GIL is given away while waiting for
 * another writer and while flushing. */
struct write {
    struct store *store;
    boxwood_txn *txn;
    bool is_own;
};
int bwpy_write_begin(struct store *store, struct write *write);
int bwpy_write_end(struct write *write, struct plan *plan);
void bwpy_write_abort(struct write *write);
PyObject *bwpy_txn_new(struct store *store, bool is_write);
