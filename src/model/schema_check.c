/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a schema make sense? The same questions for a model that a program declares and for a blob
 * that comes from a file.
 *
 * Texts are those that applications of the ABI know; where a text does not say which thing it
 * means, the failure's place does.
 *
 * Invariants, of a schema that passed:
 *   C1  Ids ascend strictly: of entities, and of properties within an entity. All are in range.
 *   C2  Ids of indexes and relations are unique. Uids of entities, properties and indexes share one
 *       space and are unique in it; those of relations in theirs.
 *   C3  Names of entities differ in more than case, names of an entity's properties differ.
 *   C4  Every type is known, so that every field can be verified. Each entity has one id property,
 *       a Long.
 *   C5  Whatever is referred to exists.
 */
#include "model/compiled.h"
#include <math.h>

#include <math.h>
#include <stdio.h>

#include "model/property_type.h"
#include "model/text.h"

// ---- what was seen before: numbers, each in a space of its own ----

enum space {
    SPACE_UID,
    SPACE_ENTITY_NAME,
    SPACE_INDEX,
    SPACE_RELATION,
    SPACE_RELATION_UID,
    SPACE_PROPERTY_NAMES /* and as many more as there are entities */
};

enum { SEEN_SMALL = 64 };

struct seen {
    struct seen_number {
        uint64_t value; /* 0: free */
        uint64_t space;
    } *slots; /* owned, unless it is small */
    size_t mask;
    struct seen_number small[SEEN_SMALL];
};

static bool seen_init(struct seen *seen, const struct schema *schema)
{
    size_t count = 0, size = SEEN_SMALL;
    for (uint32_t i = 0; i < schema->entity_count; i++) {
        const struct entity *entity = &schema->entities[i];
        count += 2 + 4 * (size_t)entity->property_count + 2 * (size_t)entity->relation_count;
    }
    while (size < count * 2) size *= 2;
    seen->mask = size - 1;
    memset(seen->small, 0, sizeof(seen->small));
    seen->slots = size == SEEN_SMALL ? seen->small : bw_new(size * sizeof(seen->slots[0]));
    return seen->slots;
}

static void seen_deinit(struct seen *seen)
{
    if (seen->slots != seen->small) bw_free(seen->slots);
}

/* True if it was there already. value: not 0. */
static bool is_seen(struct seen *seen, uint64_t space, uint64_t value)
{
    uint64_t key[2] = {value, space};
    size_t at = (size_t)bw_hash64(key, sizeof(key), 0) & seen->mask;
    for (; seen->slots[at].value; at = (at + 1) & seen->mask)
        if (seen->slots[at].value == value && seen->slots[at].space == space) return true;
    seen->slots[at] = (struct seen_number){value, space};
    return false;
}

// ---- properties ----

#define PROPERTY_FORMAT "Property %s (%u, %s)"

static bool is_indexed(const struct property *property)
{
    return property->flags & (FLAG_INDEXED | FLAG_UNIQUE | FLAG_INDEX_HASH | FLAG_INDEX_HASH64);
}

static bw_err check_names(const struct entity *entity, uint32_t at, struct seen *seen)
{
    const struct property *property = &entity->properties[at];
    if (property->id == 0 || property->id > PROPERTY_ID_MAX || property->uid == 0) // C1
        return bw_fail(BW_ERR_SCHEMA, "Illegal ID or UID of property %s.%s", entity->name,
                       property->name);
    uint64_t name = bw_hash64(property->name, strlen(property->name), 0) | 1;
    if (is_seen(seen, SPACE_PROPERTY_NAMES + (uint64_t)entity->id, name)) // C3
        return bw_fail(BW_ERR_SCHEMA, "Property name already exists: %s.%s", entity->name,
                       property->name);
    if (at > 0 && property[-1].id == property->id)
        return bw_fail(BW_ERR_SCHEMA, "Property ID collision: %s.%s and %s share ID %u",
                       entity->name, property->name, property[-1].name, property->id);
    if (at > 0 && property[-1].id > property->id)
        return bw_fail(BW_ERR_SCHEMA, "Properties are out of order: %s.%s", entity->name,
                       property->name);
    if (!is_seen(seen, SPACE_UID, property->uid)) return BW_OK; // C2
    for (uint32_t i = 0; i < at; i++) {
        if (entity->properties[i].uid == property->uid)
            return bw_fail(BW_ERR_SCHEMA, "Property UID already exists: %lluat %s.%s",
                           (unsigned long long)property->uid, entity->name, property->name);
    }
    return bw_fail(BW_ERR_SCHEMA, "Duplicate UID %llu found in property %s.%s",
                   (unsigned long long)property->uid, entity->name, property->name);
}

static bw_err check_index(const struct schema *schema, const struct entity *entity,
                          const struct property *property, struct seen *seen)
{
    const char *name = property->name;
    bool needs_index = is_indexed(property);
    if (!property->index_id) {
        if (!needs_index) return BW_OK;
        return bw_fail(BW_ERR_SCHEMA,
                       "No index ID/UID assigned for indexed property: " PROPERTY_FORMAT, name,
                       property->id, bw_property_type_name(property->type));
    }
    if (!needs_index && property->type != TYPE_RELATION)
        return bw_fail(BW_ERR_SCHEMA, "Property is not indexed but has an index ID/UID: %s.%s",
                       entity->name, name);
    if (property->index_id > SCHEMA_ID_MAX || property->index_uid == 0)
        return bw_fail(BW_ERR_SCHEMA, "Illegal index ID or UID: %s.%s", entity->name, name);
    if (property->type == TYPE_BYTE_VECTOR || property->type == TYPE_STRING_VECTOR)
        return bw_fail(
            BW_ERR_SCHEMA,
            "Indexing of %s arrays is not yet supported. Please remove the index on %s.%s",
            property->type == TYPE_BYTE_VECTOR ? "byte" : "string", entity->name, name);
    if (property->flags & (FLAG_INDEX_HASH | FLAG_INDEX_HASH64) && property->type != TYPE_STRING)
        return bw_fail(BW_ERR_SCHEMA,
                       "Only string types may have non-value index types for now: %s.%s",
                       entity->name, name);
    if (property->index_id > schema->last_index_id)
        return bw_fail(BW_ERR_SCHEMA,
                       "Index ID %u is higher than the last index ID %u: " PROPERTY_FORMAT,
                       property->index_id, schema->last_index_id, name, property->id,
                       bw_property_type_name(property->type));
    if (is_seen(seen, SPACE_INDEX, property->index_id))
        return bw_fail(BW_ERR_SCHEMA, "Index ID already exists: %u at %s.%s", property->index_id,
                       entity->name, name);
    if (is_seen(seen, SPACE_UID, property->index_uid))
        return bw_fail(BW_ERR_SCHEMA, "Duplicate UID %llu found in the index of property %s.%s",
                       (unsigned long long)property->index_uid, entity->name, name);
    return BW_OK;
}

static const char *distance_name(uint32_t type)
{
    return type == 4 ? "Manhattan" : type == 5 ? "Hamming" : "Unknown";
}

static bw_err check_hnsw(const struct entity *entity, const struct property *property)
{
    const struct hnsw_options *hnsw = property->hnsw;
    if (!hnsw) return BW_OK;
    if (property->type != TYPE_FLOAT_VECTOR)
        return bw_fail(BW_ERR_ILLEGAL_ARGUMENT, "HNSW index supports only float types");
    if (hnsw->dimensions == 0)
        return bw_fail(BW_ERR_ILLEGAL_ARGUMENT, "HNSW index cannot have 0 dimensions");
    switch (hnsw->distance_type) {
    case HNSW_EUCLIDEAN:
    case HNSW_COSINE:
    case HNSW_DOT_PRODUCT:
    case HNSW_GEO:
    case HNSW_DOT_PRODUCT_NON_NORMALIZED:
        break;
    default:
        return bw_fail(BW_ERR_ILLEGAL_ARGUMENT, "Unsupported vector distance type: %s (%u)",
                       distance_name(hnsw->distance_type), hnsw->distance_type);
    }
    bool is_possible = hnsw->neighbors_per_node && hnsw->indexing_search_count &&
                       !signbit(hnsw->reparation_backlink_probability) && // -0 has other bytes
                       hnsw->reparation_backlink_probability <= 1;
    if (!is_possible || !property->index_id)
        return bw_fail(BW_ERR_SCHEMA,
                       "HNSW index without index ID/UID or with impossible options: %s.%s",
                       entity->name, property->name);
    return BW_OK;
}

static bw_err check_property(const struct schema *schema, const struct entity *entity, uint32_t at,
                             struct seen *seen)
{
    const struct property *property = &entity->properties[at];
    if (!bw_property_type_kind(property->type)) // C4
        return bw_fail(BW_ERR_ILLEGAL_ARGUMENT, "Unknown property type: %u", property->type);
    bw_err err = check_names(entity, at, seen);
    if (err) return err;
    if (property->flags & FLAG_ID) { // C4
        if (property->type != TYPE_LONG)
            return bw_fail(BW_ERR_SCHEMA, "ID property must be of type long: %s.%s", entity->name,
                           property->name);
        if (property != entity->id_property)
            return bw_fail(BW_ERR_SCHEMA, "Only one ID property allowed; entity: %s", entity->name);
    }
    err = check_hnsw(entity, property);
    if (!err) err = check_index(schema, entity, property, seen);
    if (err) return err;
    bool is_date = property->type == TYPE_DATE || property->type == TYPE_DATE_NANO;
    if (property->flags & FLAG_EXPIRATION_TIME && !is_date)
        return bw_fail(BW_ERR_SCHEMA,
                       "Expiration time is only supported for properties of type date: %s.%s",
                       entity->name, property->name);
    bool has_target = property->target_entity_id != 0;
    if (has_target && property->type != TYPE_RELATION)
        return bw_fail(BW_ERR_SCHEMA, "Only properties of type relation have a target: %s.%s",
                       entity->name, property->name);
    if (has_target && !bw_schema_entity(schema, property->target_entity_id)) // C5
        return bw_fail(BW_ERR_SCHEMA, "Property %s.%s references unknown entity %u", entity->name,
                       property->name, property->target_entity_id);
    return BW_OK;
}

// ---- entities ----

enum { NAME_ROOM = 128, DESCRIPTION_ROOM = NAME_ROOM + 64 };

static void describe(const struct property *property, char to[DESCRIPTION_ROOM])
{
    if (!property) {
        (void)snprintf(to, DESCRIPTION_ROOM, "n/a");
        return;
    }
    char name[NAME_ROOM];
    bw_text_cut(name, NAME_ROOM, property->name);
    (void)snprintf(to, DESCRIPTION_ROOM, PROPERTY_FORMAT, name, property->id,
                   bw_property_type_name(property->type));
}

/* The last id may be one that was removed; but what it names by id it must name by uid, too. */
static bw_err check_last_property(const struct entity *entity)
{
    const struct property *by_id = bw_entity_property(entity, entity->last_property_id);
    const struct property *by_uid = NULL;
    for (uint32_t i = 0; i < entity->property_count && !by_uid; i++)
        if (entity->properties[i].uid == entity->last_property_uid) by_uid = &entity->properties[i];
    if (by_id == by_uid) return BW_OK;
    char text_by_id[DESCRIPTION_ROOM], text_by_uid[DESCRIPTION_ROOM];
    describe(by_id, text_by_id);
    describe(by_uid, text_by_uid);
    return bw_fail(BW_ERR_SCHEMA, "Last property ID:UID %u:%llu is inconsistent for %s: %s vs. %s",
                   entity->last_property_id, (unsigned long long)entity->last_property_uid,
                   entity->name, text_by_id, text_by_uid);
}

static bw_err check_relation(const struct schema *schema, const struct entity *entity,
                             const struct relation *relation, struct seen *seen)
{
    if (relation->id == 0 || relation->id > SCHEMA_ID_MAX || relation->uid == 0)
        return bw_fail(BW_ERR_SCHEMA, "Illegal ID or UID of relation %u of entity %s", relation->id,
                       entity->name);
    if (relation->id > schema->last_relation_id)
        return bw_fail(
            BW_ERR_SCHEMA,
            "Relation ID higher than last relation ID %u: Relation %u (from entity %u to %u)",
            schema->last_relation_id, relation->id, entity->id, relation->target_entity_id);
    if (is_seen(seen, SPACE_RELATION, relation->id)) // C2
        return bw_fail(BW_ERR_SCHEMA, "Relation ID already exists: %u", relation->id);
    if (is_seen(seen, SPACE_RELATION_UID, relation->uid))
        return bw_fail(BW_ERR_SCHEMA, "Relation UID already exists: %llu",
                       (unsigned long long)relation->uid);
    if (relation > entity->relations && relation[-1].id > relation->id)
        return bw_fail(BW_ERR_SCHEMA, "Relations are out of order: %u", relation->id);
    const struct entity *target = bw_schema_entity(schema, relation->target_entity_id);
    if (!target) // C5
        return bw_fail(
            BW_ERR_SCHEMA,
            "No entity type found for relation target: Relation %u (from entity %u to %u)",
            relation->id, entity->id, relation->target_entity_id);
    if (target->uid != relation->target_entity_uid)
        return bw_fail(BW_ERR_SCHEMA,
                       "Target UID %llu does not match that of entity %s, %llu: Relation %u (from "
                       "entity %u to %u)",
                       (unsigned long long)relation->target_entity_uid, target->name,
                       (unsigned long long)target->uid, relation->id, entity->id, target->id);
    return BW_OK;
}

static bw_err check_entity_names(const struct schema *schema, uint32_t at, struct seen *seen)
{
    const struct entity *entity = &schema->entities[at];
    if (entity->id == 0 || entity->id > SCHEMA_ID_MAX || entity->uid == 0) // C1
        return bw_fail(BW_ERR_SCHEMA, "Illegal ID or UID of entity %s", entity->name);
    if (at > 0 && entity[-1].id == entity->id)
        return bw_fail(BW_ERR_SCHEMA, "Entity ID already exists: %u", entity->id);
    if (at > 0 && entity[-1].id > entity->id)
        return bw_fail(BW_ERR_SCHEMA, "Entities are out of order: %s", entity->name);
    if (is_seen(seen, SPACE_ENTITY_NAME, bw_text_hash(entity->name))) { // C3
        char lower[NAME_ROOM];
        bw_text_cut(lower, NAME_ROOM, entity->name);
        for (char *letter = lower; *letter; letter++) *letter = bw_text_lower(*letter);
        return bw_fail(BW_ERR_SCHEMA, "Entity name already exists: %s", lower);
    }
    if (is_seen(seen, SPACE_UID, entity->uid)) // C2
        return bw_fail(BW_ERR_SCHEMA, "Entity UID already exists: %llu",
                       (unsigned long long)entity->uid);
    return BW_OK;
}

static bw_err check_entity(const struct schema *schema, const struct entity *entity,
                           struct seen *seen)
{
    bw_err err;
    if (entity->last_property_id == 0 || entity->last_property_id > PROPERTY_ID_MAX ||
        entity->last_property_uid == 0) {
        err = bw_fail(BW_ERR_SCHEMA, "Model entity has no last property ID: %s", entity->name);
        return bw_schema_place(err, entity->id, 0);
    }
    for (uint32_t i = 0; i < entity->property_count; i++) {
        err = check_property(schema, entity, i, seen);
        if (err) return bw_schema_place(err, entity->id, entity->properties[i].id);
    }
    err = BW_OK;
    if (!entity->id_property) // C4
        err = bw_fail(BW_ERR_SCHEMA, "Entity does not specify an ID property: %s", entity->name);
    if (!err) err = check_last_property(entity);
    for (uint32_t i = 0; i < entity->relation_count && !err; i++)
        err = check_relation(schema, entity, &entity->relations[i], seen);
    return err ? bw_schema_place(err, entity->id, 0) : BW_OK;
}

static bw_err check_last_entity(const struct schema *schema)
{
    uint32_t last = schema->last_entity_id;
    if (last == 0 || last > SCHEMA_ID_MAX)
        return bw_fail(BW_ERR_SCHEMA, "Illegal entity schema ID %u", last);
    const struct entity *highest = &schema->entities[schema->entity_count - 1];
    if (highest->id > last) {
        bw_err err =
            bw_fail(BW_ERR_SCHEMA, "Entity ID higher than last entity ID %u: Entity %s (%u)", last,
                    highest->name, highest->id);
        return bw_schema_place(err, highest->id, 0);
    }
    if (highest->id == last && highest->uid != schema->last_entity_uid)
        return bw_fail(BW_ERR_SCHEMA, "Inconsistent last entity UID: %llu vs. %llu",
                       (unsigned long long)schema->last_entity_uid,
                       (unsigned long long)highest->uid);
    return BW_OK;
}

bw_err bw_schema_check(const struct schema *schema)
{
    if (!schema->entity_count) return bw_fail(BW_ERR_SCHEMA, "No entities");
    if (schema->last_index_id > SCHEMA_ID_MAX || schema->last_relation_id > SCHEMA_ID_MAX)
        return bw_fail(BW_ERR_SCHEMA, "The last index ID or last relation ID is too high");
    struct seen seen;
    if (!seen_init(&seen, schema)) return bw_schema_no_memory();
    bw_err err = BW_OK;
    for (uint32_t i = 0; i < schema->entity_count && !err; i++) {
        err = check_entity_names(schema, i, &seen);
        if (err) err = bw_schema_place(err, schema->entities[i].id, 0);
    }
    for (uint32_t i = 0; i < schema->entity_count && !err; i++)
        err = check_entity(schema, &schema->entities[i], &seen);
    if (!err) err = check_last_entity(schema);
    seen_deinit(&seen);
    return err;
}

bool bw_schema_memory_is_sound(const struct memory_of_store *memory)
{
    for (int kind = 0; kind < THING_KINDS; kind++) {
        uint64_t before = 0;
        for (uint32_t i = 0; i < memory->retired_count[kind]; i++) {
            const struct retired *retired = &memory->retired[kind][i];
            uint64_t key = (uint64_t)retired->scope << 32 | retired->id;
            bool is_property = kind == THING_PROPERTY;
            if (key <= before || retired->id == 0 || retired->uid == 0) return false;
            if (retired->id > SCHEMA_ID_MAX || retired->scope > SCHEMA_ID_MAX) return false;
            if ((retired->scope != 0) != is_property) return false;
            if ((bw_property_type_kind(retired->type) != 0) != is_property) return false;
            before = key;
        }
    }
    for (uint32_t i = 1; i < memory->stranger_count; i++)
        if (memory->strangers[i - 1] >= memory->strangers[i]) return false;
    return memory->stranger_count == 0 ||
           (memory->strangers[0] > 0 &&
            memory->strangers[memory->stranger_count - 1] <= SCHEMA_ID_MAX);
}
