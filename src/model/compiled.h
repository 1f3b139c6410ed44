/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A compiled schema with all that the layer knows about it. Private to the layer.
 *
 * One block of memory: this struct, its arrays, and the blob, into which all texts point.
 */
#pragma once

#include <stdatomic.h>

#include "model/model.h"

enum {
    SCHEMA_VERSION = 1,
    SCHEMA_ID_MAX =
        0xffffff, /* of entities, indexes and relations: ids of trees are made from them */
    PROPERTY_ID_MAX = 32765, /* slots of a vtable whose size is a u16 */
    SCHEMA_AT_DECLARED = 4,  /* in the blob, behind the u32 with the declared part's size */
};

/* Optional parts of an entity, a property or a relation, as bits of one byte. */
enum schema_part {
    PART_INDEX = 1,
    PART_TARGET = 2,
    PART_EXTERNAL_NAME = 4,
    PART_EXTERNAL_TYPE = 8,
    PART_HNSW = 16,
    PART_NAME = 32,
};

enum thing_kind { THING_ENTITY, THING_PROPERTY, THING_INDEX, THING_RELATION, THING_KINDS };

/* Something that was removed. */
struct retired {
    uint64_t uid;
    uint32_t scope; /* the entity of a property; otherwise 0 */
    uint32_t id;
    uint16_t type; /* of a property: what old objects hold there; otherwise 0 */
};

/* What a store remembers beyond the declared part. */
struct memory_of_store {
    const struct retired *retired[THING_KINDS]; /* by ascending scope and id */
    uint32_t retired_count[THING_KINDS];
    const uint32_t *strangers; /* entities whose objects hold fields of no property; ascending */
    uint32_t stranger_count;
};

struct compiled {
    struct schema schema; /* first: a pointer to it is a pointer to the whole */
    _Atomic uint32_t owners;
    bool is_shared;        /* in the process-wide table */
    struct compiled *next; /* borrowed; in the table's chain; table.mutex */
    struct bytes declared; /* borrowed from the blob */
    struct memory_of_store memory;
};

static inline const struct compiled *bw_schema_whole(const struct schema *schema)
{
    return (const struct compiled *)schema;
}

/* "Could not get memory for a schema". */
MUST_CHECK bw_err bw_schema_no_memory(void);

/* Note where in the model the last failure lies; hands back err. */
bw_err bw_schema_place(bw_err err, uint32_t entity_id, uint32_t property_id);

/* The schema with this declared part: the shared one, or a new one that is checked and shared. */
MUST_CHECK bw_err bw_schema_from_declared(struct bytes declared, struct schema **out_schema);

/* Build from both parts without sharing. Only what cannot be read is refused (FILE_CORRUPT);
 * nothing is checked. */
MUST_CHECK bw_err bw_schema_build(struct bytes declared, struct bytes memory,
                                  struct compiled **out_compiled);

/* The same from a declared part and a memory in its struct. */
MUST_CHECK bw_err bw_schema_build_remembering(struct bytes declared,
                                              const struct memory_of_store *memory,
                                              struct compiled **out_compiled);

/* Does it make sense? SCHEMA or another code, and a text that names the thing, if not. */
MUST_CHECK bw_err bw_schema_check(const struct schema *schema);

/* Are scopes, ids and uids of what is remembered possible, and in order? */
bool bw_schema_memory_is_sound(const struct memory_of_store *memory);
