/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model in the making: lists of what was declared, in the order in which it was. Private to the
 * layer.
 */
#pragma once

#include "model/arena.h"
#include "model/model.h"

/* What every kind of draft begins with, so that one function can sort them. */
struct draft {
    struct draft *next; /* borrowed from the arena, as everything here */
    uint32_t id;
};

struct draft_list {
    struct draft *first, *last;
    uint32_t count;
    bool is_unsorted;
};

struct draft_property {
    struct draft draft;
    uint32_t type, flags, external_type, index_id;
    uint64_t uid, index_uid;
    const char *name;
    const char *target;        /* NULL: not a to-one relation */
    const char *external_name; /* NULL: none */
    struct hnsw_options *hnsw; /* NULL: no vector index */
};

struct draft_relation {
    struct draft draft;
    uint32_t target_id, external_type;
    uint64_t uid, target_uid;
    const char *name, *external_name; /* NULL: none */
};

struct draft_entity {
    struct draft draft;
    uint32_t flags, last_property_id;
    uint64_t uid, last_property_uid;
    const char *name, *external_name;
    struct draft_list properties, relations;
};

enum {
    MODEL_ROOM = 800, /* with the rest 1 KB: allocators are quick up to there */
    MODEL_TEXT_ROOM = 80,
};

struct model {
    bw_err err; /* the first one */
    char error_text[MODEL_TEXT_ROOM];
    struct draft_list entities;
    struct draft_entity *entity; /* the current ones, or NULL */
    struct draft_property *property;
    struct draft_relation *relation;
    uint32_t last_entity_id, last_index_id, last_relation_id;
    uint64_t last_entity_uid, last_index_uid, last_relation_uid;
    size_t blob_max; /* the encoded model is no longer than this */
    struct arena arena;
    uint64_t room[MODEL_ROOM / sizeof(uint64_t)]; /* the arena's first chunk */
};

/* Into ascending order of ids; what has the same id stays as it was. */
void bw_draft_sort(struct draft_list *list);

/*
 * Encode the declared part of the blob (docs/format.md) and hand back where it ends. room:
 * at least model->blob_max. Fails when a to-one relation names no entity.
 */
MUST_CHECK bw_err bw_draft_encode(struct model *model, uint8_t *room, size_t *out_size);
