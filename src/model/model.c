/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declarations: each call adds to a list or refines what was added last.
 *
 * Calls check what can be judged from their arguments alone. Whether the whole makes sense is
 * judged when it is compiled, since bindings refine things in different orders.
 *
 * Invariants:
 *   D1  The first error stays. Later calls return it and change nothing.
 *   D2  blob_max is at least the size of what bw_draft_encode writes.
 *   D3  Every id is from 1 to its maximum, every uid is not 0, every name has a letter.
 */
#include "model/draft.h"

#include <stdarg.h>
#include <stdio.h>

#include "model/compiled.h"
#include "model/encoding.h"
#include "model/property_type.h"

enum {
    PAIR_MAX = NUMBER_32_MAX + UID_SIZE,
    /* The longest encoding but for texts. */
    HEAD_MAX = 1 + 3 * PAIR_MAX + NUMBER_32_MAX,
    ENTITY_MAX = 2 * PAIR_MAX + 3 * NUMBER_32_MAX + 1,
    PROPERTY_MAX = 2 * PAIR_MAX + 4 * NUMBER_32_MAX + 1,
    HNSW_MAX = 2 * NUMBER_64_MAX + 4 * NUMBER_32_MAX + 4,
    RELATION_MAX = 2 * PAIR_MAX + NUMBER_32_MAX + 1,

    STD_OTHER = 10399, /* OBX_ERROR_STD_OTHER */
};

static bw_err stick(struct model *model, bw_err err, const char *format, ...) PRINTF_LIKE(3, 4);

// D1
static bw_err stick(struct model *model, bw_err err, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(model->error_text, sizeof(model->error_text), format, arguments);
    va_end(arguments);
    model->err = err;
    return bw_fail(err, "%s", model->error_text);
}

static bw_err stuck(const struct model *model)
{
    return model->err ? bw_fail(model->err, "%s", model->error_text) : BW_OK;
}

static bw_err unmet(struct model *model, const char *condition)
{
    return stick(model, BW_ERR_ILLEGAL_ARGUMENT, "Argument condition \"%s\" not met", condition);
}

static bw_err no_memory(struct model *model)
{
    return stick(model, BW_ERR_NO_MEMORY, "Could not get memory for a model");
}

// D3
static bw_err check_pair(struct model *model, const char *what, uint32_t id, uint64_t uid)
{
    if (id == 0 || uid == 0) {
        return stick(model, BW_ERR_ILLEGAL_ARGUMENT, "Argument condition \"%s_%s\" not met", what,
                     id ? "uid" : "id");
    }
    uint32_t max = strcmp(what, "property") == 0 ? PROPERTY_ID_MAX : SCHEMA_ID_MAX;
    if (id > max) {
        return stick(model, BW_ERR_ILLEGAL_ARGUMENT,
                     "The highest possible %s ID is %u, but got: %u", what, max, id);
    }
    return BW_OK;
}

static void *take(struct model *model, size_t size)
{
    void *piece = bw_arena_take(&model->arena, size);
    if (piece) memset(piece, 0, size);
    return piece;
}

/* A copy of a name that must be there, counted in blob_max. */
static bw_err take_name(struct model *model, const char *name, const char **out_copy)
{
    if (!name)
        return stick(model, (bw_err)STD_OTHER, "basic_string: construction from null is not valid");
    size_t size = strlen(name);
    if (size == 0) return stick(model, BW_ERR_ILLEGAL_ARGUMENT, "Name cannot be empty");
    char *copy = size < UINT32_MAX ? bw_arena_take(&model->arena, size + 1) : NULL;
    if (!copy) return no_memory(model);
    memcpy(copy, name, size + 1);
    model->blob_max += NUMBER_32_MAX + size + 1; // D2
    *out_copy = copy;
    return BW_OK;
}

/* The same for a name that may be empty, which is none. */
static bw_err take_optional(struct model *model, const char *name, const char **out_copy)
{
    if (name && !*name) {
        *out_copy = NULL;
        return BW_OK;
    }
    return take_name(model, name, out_copy);
}

static void append(struct draft_list *list, struct draft *draft)
{
    if (list->last) {
        list->is_unsorted |= draft->id < list->last->id;
        list->last->next = draft;
    } else {
        list->first = draft;
    }
    list->last = draft;
    list->count++;
}

bw_err bw_model_new(struct model **out_model)
{
    struct model *model = bw_new_raw(sizeof(*model));
    if (!model) return bw_fail(BW_ERR_NO_MEMORY, "Could not get memory for a model");
    memset(model, 0, offsetof(struct model, room));
    model->blob_max = HEAD_MAX;
    bw_arena_init(&model->arena, model->room, sizeof(model->room));
    *out_model = model;
    return BW_OK;
}

void bw_model_free(struct model *model)
{
    if (!model) return;
    bw_arena_deinit(&model->arena);
    bw_free(model);
}

bw_err bw_model_error(const struct model *model) { return model->err; }

const char *bw_model_error_text(const struct model *model) { return model->error_text; }

// ---- entities ----

bw_err bw_model_entity(struct model *model, const char *name, uint32_t id, uint64_t uid)
{
    if (model->err) return stuck(model);
    const char *copy = NULL;
    bw_err err = name ? check_pair(model, "entity", id, uid) : BW_OK;
    if (!err) err = take_name(model, name, &copy);
    if (err) return err;
    struct draft_entity *entity = take(model, sizeof(*entity));
    if (!entity) return no_memory(model);
    entity->draft.id = id;
    entity->uid = uid;
    entity->name = copy;
    append(&model->entities, &entity->draft);
    model->entity = entity;
    model->property = NULL;
    model->relation = NULL;
    model->blob_max += ENTITY_MAX; // D2
    return BW_OK;
}

static bw_err need_entity(struct model *model)
{
    if (model->err) return stuck(model);
    return model->entity ? BW_OK : stick(model, BW_ERR_ILLEGAL_STATE, "No entity started");
}

bw_err bw_model_entity_flags(struct model *model, uint32_t flags)
{
    bw_err err = need_entity(model);
    if (!err) model->entity->flags = flags;
    return err;
}

bw_err bw_model_entity_last_property(struct model *model, uint32_t id, uint64_t uid)
{
    bw_err err = need_entity(model);
    if (!err) err = check_pair(model, "property", id, uid);
    if (err) return err;
    model->entity->last_property_id = id;
    model->entity->last_property_uid = uid;
    return BW_OK;
}

bw_err bw_model_entity_external_name(struct model *model, const char *name)
{
    bw_err err = need_entity(model);
    return err ? err : take_optional(model, name, &model->entity->external_name);
}

// ---- properties ----

bw_err bw_model_property(struct model *model, const char *name, int type, uint32_t id, uint64_t uid)
{
    const char *copy = NULL;
    bw_err err = need_entity(model);
    if (!err && name) err = check_pair(model, "property", id, uid);
    if (!err) err = take_name(model, name, &copy);
    if (err) return err;
    if (type < 0 || type > UINT16_MAX)
        return stick(model, BW_ERR_ILLEGAL_ARGUMENT, "Unknown property type: %d", type);
    struct draft_property *property = take(model, sizeof(*property));
    if (!property) return no_memory(model);
    property->draft.id = id;
    property->uid = uid;
    property->name = copy;
    property->type = (uint32_t)type;
    append(&model->entity->properties, &property->draft);
    model->property = property;
    model->blob_max += PROPERTY_MAX; // D2
    return BW_OK;
}

static bw_err need_property(struct model *model)
{
    if (model->err) return stuck(model);
    return model->property ? BW_OK : stick(model, BW_ERR_ILLEGAL_STATE, "No property started");
}

bw_err bw_model_property_flags(struct model *model, uint32_t flags)
{
    bw_err err = need_property(model);
    if (!err) model->property->flags = flags;
    return err;
}

bw_err bw_model_property_index(struct model *model, uint32_t id, uint64_t uid)
{
    bw_err err = need_property(model);
    if (!err) err = check_pair(model, "index", id, uid);
    if (err) return err;
    model->property->index_id = id;
    model->property->index_uid = uid;
    return BW_OK;
}

bw_err bw_model_property_relation(struct model *model, const char *target, uint32_t index_id,
                                  uint64_t index_uid)
{
    bw_err err = need_property(model);
    if (!err) err = check_pair(model, "index", index_id, index_uid);
    if (!err) err = take_name(model, target, &model->property->target);
    if (err) return err;
    model->property->index_id = index_id;
    model->property->index_uid = index_uid;
    return BW_OK;
}

bw_err bw_model_property_external_name(struct model *model, const char *name)
{
    bw_err err = need_property(model);
    return err ? err : take_optional(model, name, &model->property->external_name);
}

bw_err bw_model_property_external_type(struct model *model, int type)
{
    bw_err err = need_property(model);
    if (!err) model->property->external_type = (uint32_t)type;
    return err;
}

// ---- vector indexes ----

static bw_err need_hnsw(struct model *model)
{
    bw_err err = need_property(model);
    if (err || model->property->hnsw) return err;
    struct hnsw_options *hnsw = bw_arena_take(&model->arena, sizeof(*hnsw));
    if (!hnsw) return no_memory(model);
    *hnsw = (struct hnsw_options){.neighbors_per_node = 30,
                                  .indexing_search_count = 100,
                                  .distance_type = HNSW_EUCLIDEAN,
                                  .reparation_backlink_probability = 1,
                                  .vector_cache_hint_kb = 2 * 1024 * 1024};
    model->property->hnsw = hnsw;
    model->blob_max += HNSW_MAX; // D2
    return BW_OK;
}

bw_err bw_model_property_hnsw(struct model *model, enum hnsw_setting setting, uint64_t value)
{
    bw_err err = need_hnsw(model);
    if (err) return err;
    bool may_be_zero = setting == HNSW_FLAGS || setting == HNSW_VECTOR_CACHE_HINT_KB;
    if (value == 0 && setting == HNSW_DISTANCE_TYPE)
        return unmet(model, "value != OBXVectorDistanceType_Unknown");
    if (value == 0 && !may_be_zero) return unmet(model, "value > 0");
    bool is_wide = setting == HNSW_DIMENSIONS || setting == HNSW_VECTOR_CACHE_HINT_KB;
    if (value > UINT32_MAX && !is_wide) return unmet(model, "value <= 4294967295");

    struct hnsw_options *hnsw = model->property->hnsw;
    switch (setting) {
    case HNSW_DIMENSIONS:
        hnsw->dimensions = value;
        break;
    case HNSW_NEIGHBORS_PER_NODE:
        hnsw->neighbors_per_node = (uint32_t)value;
        break;
    case HNSW_INDEXING_SEARCH_COUNT:
        hnsw->indexing_search_count = (uint32_t)value;
        break;
    case HNSW_FLAGS:
        hnsw->flags = (uint32_t)value;
        break;
    case HNSW_DISTANCE_TYPE:
        hnsw->distance_type = (uint32_t)value;
        break;
    case HNSW_VECTOR_CACHE_HINT_KB:
        hnsw->vector_cache_hint_kb = value;
        break;
    }
    return BW_OK;
}

bw_err bw_model_property_hnsw_backlink_probability(struct model *model, float value)
{
    bw_err err = need_hnsw(model);
    if (err) return err;
    if (!(value >= 0.0f)) return unmet(model, "value >= 0.0f");
    if (!(value <= 1.0f)) return unmet(model, "value <= 1.0f");
    model->property->hnsw->reparation_backlink_probability = value + 0.0f; // -0 has other bytes
    return BW_OK;
}

// ---- relations ----

bw_err bw_model_relation(struct model *model, uint32_t id, uint64_t uid, uint32_t target_id,
                         uint64_t target_uid)
{
    bw_err err = need_entity(model);
    if (!err) err = check_pair(model, "relation", id, uid);
    if (!err) err = check_pair(model, "target", target_id, target_uid);
    if (err) return err;
    struct draft_relation *relation = take(model, sizeof(*relation));
    if (!relation) return no_memory(model);
    relation->draft.id = id;
    relation->uid = uid;
    relation->target_id = target_id;
    relation->target_uid = target_uid;
    append(&model->entity->relations, &relation->draft);
    model->relation = relation;
    model->blob_max += RELATION_MAX; // D2
    return BW_OK;
}

static bw_err need_relation(struct model *model)
{
    if (model->err) return stuck(model);
    return model->relation ? BW_OK : stick(model, BW_ERR_ILLEGAL_STATE, "No relation started");
}

bw_err bw_model_relation_name(struct model *model, const char *name)
{
    bw_err err = need_relation(model);
    return err ? err : take_optional(model, name, &model->relation->name);
}

bw_err bw_model_relation_external_name(struct model *model, const char *name)
{
    bw_err err = need_relation(model);
    return err ? err : take_optional(model, name, &model->relation->external_name);
}

bw_err bw_model_relation_external_type(struct model *model, int type)
{
    bw_err err = need_relation(model);
    if (!err) model->relation->external_type = (uint32_t)type;
    return err;
}

// ---- the highest ids ever used ----

void bw_model_last_entity(struct model *model, uint32_t id, uint64_t uid)
{
    if (model->err) return;
    model->last_entity_id = id;
    model->last_entity_uid = uid;
}

void bw_model_last_index(struct model *model, uint32_t id, uint64_t uid)
{
    if (model->err) return;
    model->last_index_id = id;
    model->last_index_uid = uid;
}

void bw_model_last_relation(struct model *model, uint32_t id, uint64_t uid)
{
    if (model->err) return;
    model->last_relation_id = id;
    model->last_relation_uid = uid;
}

// ---- compiling ----

bw_err bw_model_compile(struct model *model, struct schema **out_schema)
{
    if (model->err) return stuck(model);
    if (!model->entities.count) return bw_fail(BW_ERR_ILLEGAL_STATE, "No entities added");
    for (struct draft *draft = model->entities.first; draft; draft = draft->next) {
        const struct draft_entity *entity = (const struct draft_entity *)draft;
        if (entity->properties.count) continue;
        bw_err err = bw_fail(BW_ERR_ILLEGAL_STATE, "No properties added");
        return bw_schema_place(err, draft->id, 0);
    }

    uint64_t small[256];
    uint8_t *room = (uint8_t *)small;
    if (model->blob_max > sizeof(small)) {
        room = bw_new_raw(model->blob_max);
        if (!room) return bw_schema_no_memory();
    }
    size_t size;
    bw_err err = bw_draft_encode(model, room, &size);
    if (!err) err = bw_schema_from_declared((struct bytes){room, size}, out_schema);
    if (room != (uint8_t *)small) bw_free(room);
    return err;
}
