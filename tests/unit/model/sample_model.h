/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Models as tables, so that a test of a change shows the change and nothing else.
 *
 * What is left out has the values that the acceptance suites use: entity n has the uid 100 + n,
 * property n 1000 + n, index n 5000 + n, relation n 7000 + n; last ids are the highest that occur.
 */
#pragma once

#include "harness/check.h"
#include "model/model.h"

enum { SAMPLE_MAX = 8 };

struct sample_property {
    const char *name;
    int type;
    uint32_t id;
    uint32_t flags, index;
    uint64_t uid, index_uid;
    const char *target;
};

struct sample_relation {
    uint32_t id, target;
    uint64_t uid;
};

struct sample_entity {
    const char *name;
    uint32_t id, flags;
    uint64_t uid;
    uint32_t last_id;
    uint64_t last_uid;
    struct sample_property properties[SAMPLE_MAX];
    struct sample_relation relations[2];
};

struct sample_model {
    struct sample_entity entities[4];
    uint32_t last_entity, last_index, last_relation; /* 0: the highest that occurs */
    uint64_t last_entity_uid, last_index_uid, last_relation_uid;
};

static inline void sample_raise(uint32_t *id, uint64_t *uid, uint32_t new_id, uint64_t new_uid)
{
    if (new_id <= *id) return;
    *id = new_id;
    *uid = new_uid;
}

static inline bw_err sample_property_declare(struct model *model, const struct sample_property *one,
                                             uint32_t *last_index, uint64_t *last_index_uid)
{
    bw_err err = bw_model_property(model, one->name, one->type, one->id,
                                   one->uid ? one->uid : 1000 + one->id);
    if (!err && one->flags) err = bw_model_property_flags(model, one->flags);
    uint64_t index_uid = one->index_uid ? one->index_uid : 5000 + one->index;
    if (!err && one->target)
        err = bw_model_property_relation(model, one->target, one->index, index_uid);
    else if (!err && one->index) err = bw_model_property_index(model, one->index, index_uid);
    sample_raise(last_index, last_index_uid, one->index, index_uid);
    return err;
}

static inline bw_err sample_entity_declare(struct model *model, const struct sample_entity *one,
                                           struct sample_model *last)
{
    uint32_t last_id = 0;
    uint64_t last_uid = 0;
    bw_err err = bw_model_entity(model, one->name, one->id, one->uid ? one->uid : 100 + one->id);
    if (!err && one->flags) err = bw_model_entity_flags(model, one->flags);
    for (int i = 0; i < SAMPLE_MAX && one->properties[i].name && !err; i++) {
        const struct sample_property *property = &one->properties[i];
        err = sample_property_declare(model, property, &last->last_index, &last->last_index_uid);
        sample_raise(&last_id, &last_uid, property->id,
                     property->uid ? property->uid : 1000 + property->id);
    }
    if (one->last_id) {
        last_id = one->last_id;
        last_uid = one->last_uid ? one->last_uid : 1000 + one->last_id;
    }
    if (!err) err = bw_model_entity_last_property(model, last_id, last_uid);
    for (int i = 0; i < 2 && one->relations[i].id && !err; i++) {
        const struct sample_relation *relation = &one->relations[i];
        uint64_t uid = relation->uid ? relation->uid : 7000 + relation->id;
        err = bw_model_relation(model, relation->id, uid, relation->target, 100 + relation->target);
        sample_raise(&last->last_relation, &last->last_relation_uid, relation->id, uid);
    }
    return err;
}

static inline bw_err sample_fill(struct model *model, const struct sample_model *sample)
{
    struct sample_model last = {0};
    bw_err err = BW_OK;
    for (int i = 0; i < 4 && sample->entities[i].name && !err; i++) {
        const struct sample_entity *entity = &sample->entities[i];
        err = sample_entity_declare(model, entity, &last);
        sample_raise(&last.last_entity, &last.last_entity_uid, entity->id,
                     entity->uid ? entity->uid : 100 + entity->id);
    }
    if (sample->last_entity)
        bw_model_last_entity(model, sample->last_entity,
                             sample->last_entity_uid ? sample->last_entity_uid
                                                     : 100 + sample->last_entity);
    else bw_model_last_entity(model, last.last_entity, last.last_entity_uid);
    bw_model_last_index(model, sample->last_index ? sample->last_index : last.last_index,
                        sample->last_index ? 5000 + sample->last_index : last.last_index_uid);
    bw_model_last_relation(
        model, sample->last_relation ? sample->last_relation : last.last_relation,
        sample->last_relation ? 7000 + sample->last_relation : last.last_relation_uid);
    return err;
}

/* Declare and compile. */
static inline bw_err sample_compile(const struct sample_model *sample, struct schema **out_schema)
{
    struct model *model = NULL;
    bw_err err = bw_model_new(&model);
    if (!err) err = sample_fill(model, sample);
    if (!err) err = bw_model_compile(model, out_schema);
    bw_model_free(model);
    return err;
}

static inline struct schema *sample_schema(const struct sample_model *sample)
{
    struct schema *schema = NULL;
    CHECK_OK(sample_compile(sample, &schema));
    return schema;
}

enum {
    BOOL = 1,
    BYTE,
    SHORT,
    CHAR,
    INT,
    LONG,
    FLOAT,
    DOUBLE,
    STRING,
    DATE,
    RELATION,
    DATE_NANO,
    FLEX,
    BOOL_VECTOR = 22,
    BYTE_VECTOR,
    SHORT_VECTOR,
    CHAR_VECTOR,
    INT_VECTOR,
    LONG_VECTOR,
    FLOAT_VECTOR,
    DOUBLE_VECTOR,
    STRING_VECTOR,
    DATE_VECTOR,
    DATE_NANO_VECTOR,
};

#define SAMPLE_ID {.name = "id", .type = LONG, .id = 1, .flags = 1}
#define SAMPLE_S {.name = "s", .type = STRING, .id = 2}
#define SAMPLE_N {.name = "n", .type = LONG, .id = 3}
#define SAMPLE_BASE                                                         \
    {                                                                       \
        .name = "A", .id = 1, .properties = {SAMPLE_ID, SAMPLE_S, SAMPLE_N} \
    }
