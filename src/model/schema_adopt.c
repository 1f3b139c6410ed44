/* SPDX-License-Identifier: Apache-2.0 */
/*
 * May a store be opened with a changed model, and what does that change?
 *
 * Entities, properties, indexes and relations follow the same rules: an id stays with its uid for
 * ever, also after it was removed, and a uid stays with its id. So all of them are listed as things
 * and compared by one function; what is special to a kind is one function each.
 *
 * Invariants:
 *   A1  Lists of things are sorted by scope and id, without duplicates.
 *   A2  What is remembered as removed is not declared, and what was stored is either.
 *   A3  A property that comes back has the type it had: the fields in old objects were verified as
 *       that type and will be read as that type.
 *
 * Not here: carrying it out, which box does.
 */
#include "model/compiled.h"

#include <stdio.h>
#include <stdlib.h>

#include "model/arena.h"
#include "model/property_type.h"
#include "model/text.h"

struct thing {
    uint64_t uid;
    uint32_t scope, id; /* as in struct retired */
    uint16_t type;
    const struct entity *entity;     /* borrowed; NULL: it was removed */
    const struct property *property; /* borrowed; of properties and indexes */
    const struct relation *relation; /* borrowed */
};

struct things {
    struct thing *items; /* borrowed from the arena */
    size_t count;
};

struct adoption {
    const struct compiled *stored, *declared; /* borrowed */
    struct arena arena;
    struct things live[THING_KINDS], removed[THING_KINDS], now[THING_KINDS];
};

static const char *const kind_names[THING_KINDS] = {"entity", "property", "index", "relation"};

// ---- listing ----

static uint64_t key_of(uint32_t scope, uint32_t id) { return (uint64_t)scope << 32 | id; }

static int compare_things(const void *a, const void *b)
{
    const struct thing *left = a, *right = b;
    uint64_t left_key = key_of(left->scope, left->id), right_key = key_of(right->scope, right->id);
    return (left_key > right_key) - (left_key < right_key);
}

static void add_property(struct things lists[THING_KINDS], const struct entity *entity,
                         const struct property *property)
{
    struct things *properties = &lists[THING_PROPERTY], *indexes = &lists[THING_INDEX];
    properties->items[properties->count++] = (struct thing){.uid = property->uid,
                                                            .scope = entity->id,
                                                            .id = property->id,
                                                            .type = property->type,
                                                            .entity = entity,
                                                            .property = property};
    if (!property->index_id) return;
    indexes->items[indexes->count++] = (struct thing){.uid = property->index_uid,
                                                      .id = property->index_id,
                                                      .entity = entity,
                                                      .property = property};
}

static bool list_schema(struct arena *arena, const struct schema *schema,
                        struct things lists[THING_KINDS])
{
    size_t counts[THING_KINDS] = {schema->entity_count};
    for (uint32_t i = 0; i < schema->entity_count; i++) {
        counts[THING_PROPERTY] += schema->entities[i].property_count;
        counts[THING_RELATION] += schema->entities[i].relation_count;
    }
    counts[THING_INDEX] = counts[THING_PROPERTY];
    for (int kind = 0; kind < THING_KINDS; kind++) {
        lists[kind].items = bw_arena_take(arena, counts[kind] * sizeof(struct thing));
        if (!lists[kind].items) return false;
    }
    for (uint32_t i = 0; i < schema->entity_count; i++) {
        const struct entity *entity = &schema->entities[i];
        lists[THING_ENTITY].items[lists[THING_ENTITY].count++] =
            (struct thing){.uid = entity->uid, .id = entity->id, .entity = entity};
        for (uint32_t k = 0; k < entity->property_count; k++)
            add_property(lists, entity, &entity->properties[k]);
        for (uint32_t k = 0; k < entity->relation_count; k++) {
            const struct relation *relation = &entity->relations[k];
            lists[THING_RELATION].items[lists[THING_RELATION].count++] = (struct thing){
                .uid = relation->uid, .id = relation->id, .entity = entity, .relation = relation};
        }
    }
    for (int kind = THING_INDEX; kind <= THING_RELATION; kind++) // A1; the others are already
        qsort(lists[kind].items, lists[kind].count, sizeof(struct thing), compare_things);
    return true;
}

static bool list_removed(struct adoption *adoption)
{
    const struct memory_of_store *memory = &adoption->stored->memory;
    for (int kind = 0; kind < THING_KINDS; kind++) {
        struct things *list = &adoption->removed[kind];
        list->count = memory->retired_count[kind];
        list->items = bw_arena_take(&adoption->arena, list->count * sizeof(struct thing));
        if (!list->items) return false;
        for (size_t i = 0; i < list->count; i++) {
            const struct retired *retired = &memory->retired[kind][i];
            list->items[i] = (struct thing){.uid = retired->uid,
                                            .scope = retired->scope,
                                            .id = retired->id,
                                            .type = retired->type};
        }
    }
    return true;
}

static const struct thing *find(const struct things *list, const struct thing *like)
{
    if (!list->count) return NULL;
    return bsearch(like, list->items, list->count, sizeof(struct thing), compare_things);
}

static const struct thing *find_uid(const struct things *list, uint32_t scope, uint64_t uid)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].uid == uid && list->items[i].scope == scope) return &list->items[i];
    return NULL;
}

// ---- what an id and a uid must not do ----

enum { NAME_ROOM = 96, DESCRIPTION_ROOM = NAME_ROOM + 64 };

static void describe(int kind, const struct thing *thing, char to[DESCRIPTION_ROOM])
{
    char name[NAME_ROOM] = "";
    if (thing->property) bw_text_cut(name, NAME_ROOM, thing->property->name);
    else if (thing->entity) bw_text_cut(name, NAME_ROOM, thing->entity->name);
    if (!thing->entity)
        (void)snprintf(to, DESCRIPTION_ROOM, "a removed %s (%u)", kind_names[kind], thing->id);
    else if (kind == THING_ENTITY)
        (void)snprintf(to, DESCRIPTION_ROOM, "Entity %s (%u)", name, thing->id);
    else if (kind == THING_PROPERTY)
        (void)snprintf(to, DESCRIPTION_ROOM, "Property %s (%u, %s)", name, thing->id,
                       bw_property_type_name(thing->type));
    else if (kind == THING_INDEX)
        (void)snprintf(to, DESCRIPTION_ROOM, "Index %u of %s", thing->id, name);
    else
        (void)snprintf(to, DESCRIPTION_ROOM, "Relation %u (from entity %u to %u)", thing->id,
                       thing->entity->id, thing->relation->target_entity_id);
}

static bw_err refuse_uid(int kind, const struct thing *incoming, const struct thing *known)
{
    char description[DESCRIPTION_ROOM];
    describe(kind, known, description);
    return bw_fail(BW_ERR_SCHEMA, "Incoming %s ID %u:%llu does not match existing UID %llu (%s)",
                   kind_names[kind], incoming->id, (unsigned long long)incoming->uid,
                   (unsigned long long)known->uid, description);
}

static bw_err refuse_id(int kind, const struct thing *incoming, const struct thing *known)
{
    char description[DESCRIPTION_ROOM];
    describe(kind, known, description);
    return bw_fail(BW_ERR_SCHEMA,
                   "Incoming %s ID %u:%llu does not match with any existing ID, but its UID "
                   "matches %s",
                   kind_names[kind], incoming->id, (unsigned long long)incoming->uid, description);
}

// ---- what a thing that stays must not become ----

static bw_err refuse_change(int kind, const struct thing *known, const char *owner,
                            const char *what, const char *new_value)
{
    char description[DESCRIPTION_ROOM];
    describe(kind, known, description);
    return bw_fail(BW_ERR_SCHEMA, "Existing %s of entity %s is not compatible with the new %s %s",
                   description, owner, what, new_value);
}

static bw_err compare_entities(const struct entity *known, const struct entity *incoming)
{
    if (incoming->flags & ~known->flags & FLAG_SYNC_ENABLED)
        return bw_fail(BW_ERR_SCHEMA,
                       "Turning an existing local entity type into a synced one is not allowed: %s",
                       known->name);
    return BW_OK;
}

// A3
static bw_err compare_properties(const struct thing *known, const struct thing *incoming)
{
    if (known->type == incoming->type) return BW_OK;
    const char *type = bw_property_type_name(incoming->type);
    if (known->entity)
        return refuse_change(THING_PROPERTY, known, known->entity->name, "type", type);
    return bw_fail(BW_ERR_SCHEMA,
                   "Removed property %u (%s) of entity %s cannot come back with the new type %s",
                   known->id, bw_property_type_name(known->type), incoming->entity->name, type);
}

static bw_err compare_indexes(const struct thing *known, const struct thing *incoming)
{
    if (known->entity->id == incoming->entity->id && known->property->id == incoming->property->id)
        return BW_OK;
    return refuse_change(THING_INDEX, known, known->entity->name, "property",
                         incoming->property->name);
}

static bw_err compare_relations(const struct thing *known, const struct thing *incoming)
{
    if (known->entity->id != incoming->entity->id)
        return refuse_change(THING_RELATION, known, known->entity->name, "source entity",
                             incoming->entity->name);
    if (known->relation->target_entity_id == incoming->relation->target_entity_id) return BW_OK;
    char id[16];
    (void)snprintf(id, sizeof(id), "%u", incoming->relation->target_entity_id);
    return refuse_change(THING_RELATION, known, known->entity->name, "target entity", id);
}

static bw_err compare(int kind, const struct thing *known, const struct thing *incoming)
{
    if (kind == THING_PROPERTY) return compare_properties(known, incoming);
    if (!known->entity) return BW_OK; // what was removed has left no data
    switch (kind) {
    case THING_ENTITY:
        return compare_entities(known->entity, incoming->entity);
    case THING_INDEX:
        return compare_indexes(known, incoming);
    default:
        return compare_relations(known, incoming);
    }
}

static bw_err check_thing(const struct adoption *adoption, int kind, const struct thing *incoming)
{
    const struct things *live = &adoption->live[kind], *removed = &adoption->removed[kind];
    const struct thing *known = find(live, incoming);
    if (!known) known = find(removed, incoming);
    if (known)
        return known->uid == incoming->uid ? compare(kind, known, incoming)
                                           : refuse_uid(kind, incoming, known);
    known = find_uid(live, incoming->scope, incoming->uid);
    if (!known) known = find_uid(removed, incoming->scope, incoming->uid);
    return known ? refuse_id(kind, incoming, known) : BW_OK;
}

static bw_err check_things(const struct adoption *adoption)
{
    for (int kind = 0; kind < THING_KINDS; kind++) {
        for (size_t i = 0; i < adoption->now[kind].count; i++) {
            const struct thing *incoming = &adoption->now[kind].items[i];
            bw_err err = check_thing(adoption, kind, incoming);
            if (!err) continue;
            return bw_schema_place(err, incoming->entity->id,
                                   incoming->property ? incoming->property->id : 0);
        }
    }
    return BW_OK;
}

// ---- last ids never become lower ----

static bw_err check_last_entity(const struct schema *stored, const struct schema *declared)
{
    if (stored->last_entity_id <= declared->last_entity_id) return BW_OK;
    const struct entity *last = bw_schema_entity(stored, stored->last_entity_id);
    return bw_fail(
        BW_ERR_SCHEMA,
        "DB's last entity ID %u is higher than %u from model (%s, UID %llu vs. %llu)",
        stored->last_entity_id, declared->last_entity_id, last ? last->name : "a removed entity",
        (unsigned long long)stored->last_entity_uid, (unsigned long long)declared->last_entity_uid);
}

static bw_err check_last_ids(const struct schema *stored, const struct schema *declared)
{
    bw_err err = check_last_entity(stored, declared);
    if (err) return err;
    if (stored->last_index_id > declared->last_index_id)
        return bw_fail(BW_ERR_SCHEMA, "DB's last index ID %u is higher than %u from model",
                       stored->last_index_id, declared->last_index_id);
    if (stored->last_relation_id > declared->last_relation_id)
        return bw_fail(BW_ERR_SCHEMA, "DB's last relation ID %u is higher than %u from model",
                       stored->last_relation_id, declared->last_relation_id);
    for (uint32_t i = 0; i < declared->entity_count; i++) {
        const struct entity *incoming = &declared->entities[i];
        const struct entity *known = bw_schema_entity(stored, incoming->id);
        if (!known || known->uid != incoming->uid) continue;
        if (known->last_property_id <= incoming->last_property_id) continue;
        err = bw_fail(BW_ERR_SCHEMA,
                      "DB's last property ID %u is higher than the incoming one %u in entity %s",
                      known->last_property_id, incoming->last_property_id, known->name);
        return bw_schema_place(err, incoming->id, 0);
    }
    return BW_OK;
}

// ---- what to remember ----

/* Both lists without what is declared. A1, A2. */
static bool merge(struct adoption *adoption, int kind, const struct retired **out_retired,
                  uint32_t *out_count)
{
    const struct things *live = &adoption->live[kind], *removed = &adoption->removed[kind];
    struct retired *merged =
        bw_arena_take(&adoption->arena, (live->count + removed->count) * sizeof(*merged));
    if (!merged) return false;
    uint32_t count = 0;
    size_t i = 0, k = 0;
    while (i < live->count || k < removed->count) {
        bool is_live = k == removed->count ||
                       (i < live->count && compare_things(&live->items[i], &removed->items[k]) < 0);
        const struct thing *thing = is_live ? &live->items[i++] : &removed->items[k++];
        if (find(&adoption->now[kind], thing)) continue;
        merged[count++] = (struct retired){
            .uid = thing->uid, .scope = thing->scope, .id = thing->id, .type = thing->type};
    }
    *out_retired = merged;
    *out_count = count;
    return true;
}

static bw_err make_merged(struct adoption *adoption, struct schema **out_merged)
{
    struct memory_of_store memory = {0};
    for (int kind = 0; kind < THING_KINDS; kind++)
        if (!merge(adoption, kind, &memory.retired[kind], &memory.retired_count[kind]))
            return bw_schema_no_memory();

    const struct memory_of_store *before = &adoption->stored->memory;
    uint32_t *strangers =
        bw_arena_take(&adoption->arena, before->stranger_count * sizeof(*strangers));
    if (!strangers) return bw_schema_no_memory();
    for (uint32_t i = 0; i < before->stranger_count; i++) {
        bool stays = bw_schema_entity(&adoption->stored->schema, before->strangers[i]) &&
                     bw_schema_entity(&adoption->declared->schema, before->strangers[i]);
        if (stays) strangers[memory.stranger_count++] = before->strangers[i];
    }
    memory.strangers = strangers;

    struct compiled *merged;
    bw_err err = bw_schema_build_remembering(adoption->declared->declared, &memory, &merged);
    if (!err) *out_merged = &merged->schema;
    return err;
}

static bool gets_property(const struct entity *before, const struct entity *now)
{
    for (uint32_t i = 0; i < now->property_count; i++)
        if (!bw_entity_property(before, now->properties[i].id)) return true;
    return false;
}

static bw_err list_work(const struct adoption *adoption, const struct schema *merged,
                        struct schema_change *change)
{
    const struct schema *stored = &adoption->stored->schema;
    const struct memory_of_store *memory = &bw_schema_whole(merged)->memory;
    size_t room = (size_t)stored->entity_count + memory->stranger_count;
    change->dropped = bw_new_raw(room * sizeof(uint32_t));
    if (!change->dropped) return bw_schema_no_memory();
    for (uint32_t i = 0; i < stored->entity_count; i++) {
        uint32_t id = stored->entities[i].id;
        if (!bw_schema_entity(merged, id)) change->dropped[change->dropped_count++] = id;
    }
    uint32_t *unverified = change->dropped + change->dropped_count;
    for (uint32_t i = 0; i < memory->stranger_count; i++) {
        uint32_t id = memory->strangers[i];
        if (gets_property(bw_schema_entity(stored, id), bw_schema_entity(merged, id)))
            unverified[change->unverified_count++] = id;
    }
    change->unverified = unverified;
    return BW_OK;
}

static bw_err adopt(struct adoption *adoption, struct schema_change *change)
{
    const struct schema *stored = &adoption->stored->schema;
    const struct schema *declared = &adoption->declared->schema;
    bw_err err = check_last_ids(stored, declared);
    if (err) return err;
    if (!list_schema(&adoption->arena, stored, adoption->live) ||
        !list_schema(&adoption->arena, declared, adoption->now) || !list_removed(adoption))
        return bw_schema_no_memory();
    err = check_things(adoption);
    if (!err) err = make_merged(adoption, &change->merged);
    if (!err) err = list_work(adoption, change->merged, change);
    return err;
}

bw_err bw_schema_adopt(const struct schema *stored, struct schema *declared,
                       struct schema_change *out_change)
{
    uint64_t room[256];
    struct adoption adoption = {.stored = bw_schema_whole(stored),
                                .declared = bw_schema_whole(declared)};
    bw_arena_init(&adoption.arena, room, sizeof(room));
    struct schema_change change = {0};
    bw_err err = adopt(&adoption, &change);
    if (!err) *out_change = change;
    else bw_schema_change_deinit(&change);
    bw_arena_deinit(&adoption.arena);
    return err;
}

void bw_schema_change_deinit(struct schema_change *change)
{
    bw_schema_release(change->merged);
    bw_free(change->dropped);
    *change = (struct schema_change){0};
}

bw_err bw_schema_mark_strangers(const struct schema *stored, uint32_t entity_id,
                                struct schema **out_marked)
{
    const struct compiled *whole = bw_schema_whole(stored);
    uint32_t count = whole->memory.stranger_count, at = 0;
    while (at < count && whole->memory.strangers[at] < entity_id) at++;
    if (at < count && whole->memory.strangers[at] == entity_id) {
        *out_marked = NULL;
        return BW_OK;
    }
    uint32_t *strangers = bw_new_raw(((size_t)count + 1) * sizeof(uint32_t));
    if (!strangers) return bw_schema_no_memory();
    for (uint32_t i = 0; i < at; i++) strangers[i] = whole->memory.strangers[i];
    strangers[at] = entity_id;
    for (uint32_t i = at; i < count; i++) strangers[i + 1] = whole->memory.strangers[i];

    struct memory_of_store memory = whole->memory;
    memory.strangers = strangers;
    memory.stranger_count = count + 1;
    struct compiled *marked;
    bw_err err = bw_schema_build_remembering(whole->declared, &memory, &marked);
    if (!err) *out_marked = &marked->schema;
    bw_free(strangers);
    return err;
}
