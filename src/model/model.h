/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model - what kinds of objects a store holds, and how that may change.
 *
 * A struct model is a declaration in the making (obx_model_*). Compiling it gives a struct schema:
 * immutable, counted, and shared by every store of the process that has an equal one. A store keeps
 * the schema as a canonical blob: the declared part, whose 128-bit hash identifies it, followed by
 * the (id, uid) pairs that were removed and must never come back as something else.
 */
#pragma once

#include "base/base.h"
#include "flat/flat.h"

/* ---- numbers of the ABI that the library interprets; unknown flags are kept ---- */

enum property_type {
    TYPE_BOOL = 1,
    TYPE_BYTE = 2,
    TYPE_SHORT = 3,
    TYPE_CHAR = 4,
    TYPE_INT = 5,
    TYPE_LONG = 6,
    TYPE_FLOAT = 7,
    TYPE_DOUBLE = 8,
    TYPE_STRING = 9,
    TYPE_DATE = 10,
    TYPE_RELATION = 11,
    TYPE_DATE_NANO = 12,
    TYPE_FLEX = 13,
    TYPE_BOOL_VECTOR = 22,
    TYPE_BYTE_VECTOR = 23,
    TYPE_SHORT_VECTOR = 24,
    TYPE_CHAR_VECTOR = 25,
    TYPE_INT_VECTOR = 26,
    TYPE_LONG_VECTOR = 27,
    TYPE_FLOAT_VECTOR = 28,
    TYPE_DOUBLE_VECTOR = 29,
    TYPE_STRING_VECTOR = 30,
    TYPE_DATE_VECTOR = 31,
    TYPE_DATE_NANO_VECTOR = 32,
};

enum property_flag {
    FLAG_ID = 1,
    FLAG_INDEXED = 8,
    FLAG_UNIQUE = 32,
    FLAG_ID_SELF_ASSIGNABLE = 128,
    FLAG_INDEX_HASH = 2048,
    FLAG_INDEX_HASH64 = 4096,
    FLAG_EXPIRATION_TIME = 65536,
};

enum entity_flag { FLAG_SYNC_ENABLED = 2 };

enum distance_type {
    HNSW_EUCLIDEAN = 1,
    HNSW_COSINE = 2,
    HNSW_DOT_PRODUCT = 3,
    HNSW_GEO = 6,
    HNSW_DOT_PRODUCT_NON_NORMALIZED = 10,
};

/* ---- compiled schemas ---- */

struct property {
    uint32_t id;
    uint64_t uid;
    const char *name; /* borrowed from the schema, as all texts here */
    uint16_t type;    /* enum property_type */
    uint32_t flags;   /* enum property_flag */
    uint32_t index_id;
    uint64_t index_uid;
    uint32_t target_entity_id; /* of a to-one relation */
    const char *external_name; /* NULL: none */
    uint32_t external_type;
    const struct hnsw_options *hnsw; /* NULL: no vector index */
};

struct hnsw_options {
    uint64_t dimensions;
    uint32_t neighbors_per_node, indexing_search_count, flags, distance_type;
    float reparation_backlink_probability;
    uint64_t vector_cache_hint_kb;
};

struct relation {
    uint32_t id;
    uint64_t uid;
    uint32_t target_entity_id;
    uint64_t target_entity_uid;
    const char *name; /* NULL: none */
    const char *external_name;
    uint32_t external_type;
};

struct entity {
    uint32_t id;
    uint64_t uid;
    const char *name;
    const char *external_name;
    uint32_t flags;
    uint32_t last_property_id;
    uint64_t last_property_uid;
    uint32_t property_count, relation_count;
    const struct property *properties; /* by ascending id */
    const struct relation *relations;
    const struct flat_field *fields; /* one per property, same order: for bw_flat_verify */
    const struct property *id_property;
};

struct schema {
    uint8_t hash[16];  /* of the declared part of the blob */
    struct bytes blob; /* declared part and what the store has to remember besides */
    uint32_t entity_count;
    const struct entity *entities; /* by ascending id */
    uint32_t last_entity_id, last_index_id, last_relation_id;
    uint64_t last_entity_uid, last_index_uid, last_relation_uid;
    /* Behind it lies what only this layer knows: compiled.h. */
};

/* One more owner; returns its argument. Release the last one and it is gone. NULL is allowed. */
struct schema *bw_schema_hold(struct schema *schema);
void bw_schema_release(struct schema *schema);

/* NULL: there is none. Names are compared without case. */
const struct entity *bw_schema_entity(const struct schema *schema, uint32_t entity_id);
const struct entity *bw_schema_entity_named(const struct schema *schema, const char *name);
const struct property *bw_entity_property(const struct entity *entity, uint32_t property_id);
const struct property *bw_entity_property_named(const struct entity *entity, const char *name);

/* "Long", "String", ... as error texts name it. */
const char *bw_property_type_name(uint16_t type);

/* The schema of this process with that declared hash, held once more, or NULL. */
struct schema *bw_schema_shared(const uint8_t hash[16]);

/* From a store's blob. FILE_CORRUPT when it is nonsense. */
MUST_CHECK bw_err bw_schema_decode(struct bytes blob, struct schema **out_schema);

/* The same without what the store remembers of removed things: enough to work with, and always
 * shared in the process. Not for bw_schema_adopt and bw_schema_mark_strangers. */
MUST_CHECK bw_err bw_schema_decode_declared(struct bytes blob, struct schema **out_schema);

/*
 * May a store with `stored` be opened with `declared`, and what changes? SCHEMA and a text that
 * says what does not fit when it may not. merged is what the store has to keep: the declared part
 * and all that it remembers. dropped: ids of entities whose data has to go. The change is the
 * caller's.
 */
struct schema_change {
    struct schema *merged;
    uint32_t dropped_count;
    uint32_t *dropped; /* owned: bw_free */
    /* Entities that got a property while some of their objects hold fields that were never verified
     * (bw_schema_mark_strangers): verify their objects once more, in the transaction that stores
     * the merged schema. */
    uint32_t unverified_count;
    const uint32_t *unverified; /* borrowed from the block of `dropped` */
};
MUST_CHECK bw_err bw_schema_adopt(const struct schema *stored, struct schema *declared,
                                  struct schema_change *out_change);

/* Release and free what a change holds. */
void bw_schema_change_deinit(struct schema_change *change);

/*
 * Remember in a stored schema that objects of the entity hold fields of no property. *out_marked is
 * what the store has to keep instead; NULL: it remembers already.
 */
MUST_CHECK bw_err bw_schema_mark_strangers(const struct schema *stored, uint32_t entity_id,
                                           struct schema **out_marked);

/* ---- declarations: the obx_model_* calls, one to one; the first error sticks ---- */

struct model;

MUST_CHECK bw_err bw_model_new(struct model **out_model);
void bw_model_free(struct model *model);

/* The error that stuck (0: none) and its text ("" : none). Every later call returns it, doing
 * nothing. */
bw_err bw_model_error(const struct model *model);
const char *bw_model_error_text(const struct model *model);

MUST_CHECK bw_err bw_model_entity(struct model *model, const char *name, uint32_t id, uint64_t uid);
MUST_CHECK bw_err bw_model_entity_flags(struct model *model, uint32_t flags);
MUST_CHECK bw_err bw_model_entity_last_property(struct model *model, uint32_t id, uint64_t uid);
MUST_CHECK bw_err bw_model_entity_external_name(struct model *model, const char *name);
MUST_CHECK bw_err bw_model_property(struct model *model, const char *name, int type, uint32_t id,
                                    uint64_t uid);
MUST_CHECK bw_err bw_model_property_flags(struct model *model, uint32_t flags);
MUST_CHECK bw_err bw_model_property_relation(struct model *model, const char *target,
                                             uint32_t index_id, uint64_t index_uid);
MUST_CHECK bw_err bw_model_property_index(struct model *model, uint32_t id, uint64_t uid);
MUST_CHECK bw_err bw_model_property_external_name(struct model *model, const char *name);
MUST_CHECK bw_err bw_model_property_external_type(struct model *model, int type);

enum hnsw_setting {
    HNSW_DIMENSIONS,
    HNSW_NEIGHBORS_PER_NODE,
    HNSW_INDEXING_SEARCH_COUNT,
    HNSW_FLAGS,
    HNSW_DISTANCE_TYPE,
    HNSW_VECTOR_CACHE_HINT_KB,
};
MUST_CHECK bw_err bw_model_property_hnsw(struct model *model, enum hnsw_setting setting,
                                         uint64_t value);
MUST_CHECK bw_err bw_model_property_hnsw_backlink_probability(struct model *model, float value);

MUST_CHECK bw_err bw_model_relation(struct model *model, uint32_t id, uint64_t uid,
                                    uint32_t target_id, uint64_t target_uid);
MUST_CHECK bw_err bw_model_relation_name(struct model *model, const char *name);
MUST_CHECK bw_err bw_model_relation_external_name(struct model *model, const char *name);
MUST_CHECK bw_err bw_model_relation_external_type(struct model *model, int type);
void bw_model_last_entity(struct model *model, uint32_t id, uint64_t uid);
void bw_model_last_index(struct model *model, uint32_t id, uint64_t uid);
void bw_model_last_relation(struct model *model, uint32_t id, uint64_t uid);

/*
 * Validate the whole and compile it; the model may be freed afterwards. An equal schema that the
 * process has already is shared. Errors: the one that stuck; ILLEGAL_STATE "No entities added" or
 * "No properties added", which obx_opt_model reports itself like one that stuck; any other is for
 * obx_store_open to report.
 */
MUST_CHECK bw_err bw_model_compile(struct model *model, struct schema **out_schema);
