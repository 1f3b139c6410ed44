/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drafts put in order and written down.
 *
 * The encoding is canonical: it depends on what was declared and not on the order in which it was,
 * so that equal models have equal bytes and one hash.
 *
 * Not here: whether the model makes sense. What is written may be nonsense, but two different
 * declarations never give the same bytes, so nonsense is never taken for a schema that was checked.
 */
#include "model/draft.h"

#include "model/compiled.h"
#include "model/encoding.h"
#include "model/text.h"

static struct draft *merge(struct draft *a, struct draft *b)
{
    struct draft *first = NULL, **end = &first;
    while (a && b) {
        struct draft **smaller = b->id < a->id ? &b : &a; // equal: a, which was declared earlier
        *end = *smaller;
        end = &(*smaller)->next;
        *smaller = *end;
    }
    *end = a ? a : b;
    return first;
}

static struct draft *sort(struct draft *first, uint32_t count)
{
    if (count < 2) return first;
    struct draft *last = first;
    for (uint32_t i = 1; i < count / 2; i++) last = last->next;
    struct draft *second = last->next;
    last->next = NULL;
    return merge(sort(first, count / 2), sort(second, count - count / 2));
}

void bw_draft_sort(struct draft_list *list)
{
    if (!list->is_unsorted) return;
    list->first = sort(list->first, list->count);
    list->last = list->first;
    while (list->last->next) list->last = list->last->next;
    list->is_unsorted = false;
}

// ---- entities by name, for the targets of relations ----

struct names {
    const struct draft_entity **slots; /* borrowed from the arena; NULL: not made yet */
    size_t mask;
};

static bool make_names(struct model *model, struct names *names)
{
    size_t size = 4;
    while (size < 2 * (size_t)model->entities.count) size *= 2;
    names->slots = bw_arena_take(&model->arena, size * sizeof(const struct draft_entity *));
    if (!names->slots) return false;
    memset(names->slots, 0, size * sizeof(const struct draft_entity *));
    names->mask = size - 1;
    for (struct draft *draft = model->entities.first; draft; draft = draft->next) {
        const struct draft_entity *entity = (const struct draft_entity *)draft;
        size_t at = (size_t)bw_text_hash(entity->name) & names->mask;
        while (names->slots[at]) at = (at + 1) & names->mask;
        names->slots[at] = entity;
    }
    return true;
}

static const struct draft_entity *find_named(const struct names *names, const char *name)
{
    size_t at = (size_t)bw_text_hash(name) & names->mask;
    while (names->slots[at] && !bw_text_is_same(names->slots[at]->name, name))
        at = (at + 1) & names->mask;
    return names->slots[at];
}

// ---- writing ----

static uint8_t *write_hnsw(uint8_t *to, const struct hnsw_options *hnsw)
{
    uint32_t probability;
    memcpy(&probability, &hnsw->reparation_backlink_probability, sizeof(probability));
    to = bw_encode_number(to, hnsw->dimensions);
    to = bw_encode_number(to, hnsw->neighbors_per_node);
    to = bw_encode_number(to, hnsw->indexing_search_count);
    to = bw_encode_number(to, hnsw->flags);
    to = bw_encode_number(to, hnsw->distance_type);
    bw_put_u32(to, probability);
    return bw_encode_number(to + 4, hnsw->vector_cache_hint_kb);
}

static uint8_t *write_property(uint8_t *to, const struct draft_property *property,
                               uint32_t target_id)
{
    uint8_t parts =
        (uint8_t)((property->index_id ? PART_INDEX : 0) | (property->target ? PART_TARGET : 0) |
                  (property->external_name ? PART_EXTERNAL_NAME : 0) |
                  (property->external_type ? PART_EXTERNAL_TYPE : 0) |
                  (property->hnsw ? PART_HNSW : 0));
    to = bw_encode_pair(to, property->draft.id, property->uid);
    to = bw_encode_text(to, property->name);
    to = bw_encode_number(to, property->type);
    to = bw_encode_number(to, property->flags);
    *to++ = parts;
    if (parts & PART_INDEX) to = bw_encode_pair(to, property->index_id, property->index_uid);
    if (parts & PART_TARGET) to = bw_encode_number(to, target_id);
    if (parts & PART_EXTERNAL_NAME) to = bw_encode_text(to, property->external_name);
    if (parts & PART_EXTERNAL_TYPE) to = bw_encode_number(to, property->external_type);
    if (parts & PART_HNSW) to = write_hnsw(to, property->hnsw);
    return to;
}

static uint8_t *write_relation(uint8_t *to, const struct draft_relation *relation)
{
    uint8_t parts = (uint8_t)((relation->name ? PART_NAME : 0) |
                              (relation->external_name ? PART_EXTERNAL_NAME : 0) |
                              (relation->external_type ? PART_EXTERNAL_TYPE : 0));
    to = bw_encode_pair(to, relation->draft.id, relation->uid);
    to = bw_encode_pair(to, relation->target_id, relation->target_uid);
    *to++ = parts;
    if (parts & PART_NAME) to = bw_encode_text(to, relation->name);
    if (parts & PART_EXTERNAL_NAME) to = bw_encode_text(to, relation->external_name);
    if (parts & PART_EXTERNAL_TYPE) to = bw_encode_number(to, relation->external_type);
    return to;
}

static bw_err resolve(struct model *model, struct names *names, const struct draft_entity *entity,
                      const struct draft_property *property, uint32_t *out_target_id)
{
    *out_target_id = 0;
    if (!property->target) return BW_OK;
    if (!names->slots && !make_names(model, names)) return bw_schema_no_memory();
    const struct draft_entity *target = find_named(names, property->target);
    if (!target) {
        bw_err err = bw_fail(BW_ERR_SCHEMA, "Property %s.%s references unknown entity %s",
                             entity->name, property->name, property->target);
        return bw_schema_place(err, entity->draft.id, property->draft.id);
    }
    *out_target_id = target->draft.id;
    return BW_OK;
}

static bw_err write_entity(struct model *model, struct names *names, struct draft_entity *entity,
                           uint8_t **in_out_to)
{
    bw_draft_sort(&entity->properties);
    bw_draft_sort(&entity->relations);
    uint8_t *to = bw_encode_pair(*in_out_to, entity->draft.id, entity->uid);
    to = bw_encode_text(to, entity->name);
    to = bw_encode_number(to, entity->flags);
    to = bw_encode_pair(to, entity->last_property_id, entity->last_property_uid);
    *to++ = entity->external_name ? PART_EXTERNAL_NAME : 0;
    if (entity->external_name) to = bw_encode_text(to, entity->external_name);
    to = bw_encode_number(to, entity->properties.count);
    to = bw_encode_number(to, entity->relations.count);
    for (struct draft *draft = entity->properties.first; draft; draft = draft->next) {
        uint32_t target_id;
        struct draft_property *property = (struct draft_property *)draft;
        bw_err err = resolve(model, names, entity, property, &target_id);
        if (err) return err;
        to = write_property(to, property, target_id);
    }
    for (struct draft *draft = entity->relations.first; draft; draft = draft->next)
        to = write_relation(to, (struct draft_relation *)draft);
    *in_out_to = to;
    return BW_OK;
}

bw_err bw_draft_encode(struct model *model, uint8_t *room, size_t *out_size)
{
    struct names names = {0};
    bw_draft_sort(&model->entities);
    uint8_t *to = room;
    *to++ = SCHEMA_VERSION;
    to = bw_encode_pair(to, model->last_entity_id, model->last_entity_uid);
    to = bw_encode_pair(to, model->last_index_id, model->last_index_uid);
    to = bw_encode_pair(to, model->last_relation_id, model->last_relation_uid);
    to = bw_encode_number(to, model->entities.count);
    for (struct draft *draft = model->entities.first; draft; draft = draft->next) {
        bw_err err = write_entity(model, &names, (struct draft_entity *)draft, &to);
        if (err) return err;
    }
    ASSERT((size_t)(to - room) <= model->blob_max);
    *out_size = (size_t)(to - room);
    return BW_OK;
}
