/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the bytes of a blob to a compiled schema; docs/format.md has the layout.
 *
 * The same bytes are walked twice: once to count what they hold, then, when all has its place in
 * one block, to fill it. Bytes of a file are not trusted: whatever cannot be read ends the walk,
 * each item costs at least its own bytes, and whether the whole makes sense is checked afterwards.
 *
 * Invariants:
 *   B1  Both walks see the same bytes and take the same items.
 *   B2  A blob that is read back is the only encoding of what it says.
 */
#include "model/compiled.h"
#include "model/encoding.h"
#include "model/property_type.h"

enum { SIZE_MAX_SCHEMA = 1 << 28 };

/* Where items go. In the first walk every array is NULL and only the counts move. */
struct pools {
    struct entity *entities;
    struct property *properties;
    struct flat_field *fields;
    struct relation *relations;
    struct hnsw_options *hnsw;
    struct retired *retired;
    uint32_t *strangers;
    uint32_t entity_count, property_count, relation_count, hnsw_count, retired_count,
        stranger_count;
};

static bw_err damaged(const char *what)
{
    return bw_fail(BW_ERR_FILE_CORRUPT, "The schema in the file is damaged: %s", what);
}

static const struct hnsw_options *take_hnsw(struct decoder *from, struct pools *pools)
{
    struct hnsw_options hnsw = {.dimensions = bw_decode_number(from)};
    hnsw.neighbors_per_node = bw_decode_u32(from);
    hnsw.indexing_search_count = bw_decode_u32(from);
    hnsw.flags = bw_decode_u32(from);
    hnsw.distance_type = bw_decode_u32(from);
    uint32_t probability = 0;
    for (unsigned shift = 0; shift < 32; shift += 8)
        probability |= (uint32_t)bw_decode_u8(from) << shift;
    memcpy(&hnsw.reparation_backlink_probability, &probability, sizeof(probability));
    hnsw.vector_cache_hint_kb = bw_decode_number(from);

    uint32_t at = pools->hnsw_count++;
    if (!pools->hnsw) return NULL;
    pools->hnsw[at] = hnsw;
    return &pools->hnsw[at];
}

static uint8_t take_parts(struct decoder *from, unsigned allowed)
{
    uint8_t parts = bw_decode_u8(from);
    if (parts & ~allowed) from->has_failed = true;
    return parts;
}

static void take_property(struct decoder *from, struct pools *pools)
{
    struct property property = {0};
    property.id = bw_decode_pair(from, &property.uid);
    property.name = bw_decode_text(from);
    uint32_t type = bw_decode_u32(from);
    property.type = type > UINT16_MAX ? UINT16_MAX : (uint16_t)type;
    property.flags = bw_decode_u32(from);
    uint8_t parts = take_parts(from, PART_INDEX | PART_TARGET | PART_EXTERNAL_NAME |
                                         PART_EXTERNAL_TYPE | PART_HNSW);
    if (parts & PART_INDEX) property.index_id = bw_decode_pair(from, &property.index_uid);
    if (parts & PART_TARGET) property.target_entity_id = bw_decode_u32(from);
    if (parts & PART_EXTERNAL_NAME) property.external_name = bw_decode_text(from);
    if (parts & PART_EXTERNAL_TYPE) property.external_type = bw_decode_u32(from);
    if (parts & PART_HNSW) property.hnsw = take_hnsw(from, pools);
    bool has_empty_part = (parts & PART_INDEX && !property.index_id) ||
                          (parts & PART_TARGET && !property.target_entity_id) ||
                          (parts & PART_EXTERNAL_TYPE && !property.external_type);
    if (has_empty_part) from->has_failed = true; // B2

    uint32_t at = pools->property_count++;
    if (!pools->properties) return;
    pools->properties[at] = property;
    pools->fields[at] = (struct flat_field){.slot = (uint16_t)(property.id - 1),
                                            .kind = bw_property_type_kind(property.type)};
}

static void take_relation(struct decoder *from, struct pools *pools)
{
    struct relation relation = {0};
    relation.id = bw_decode_pair(from, &relation.uid);
    relation.target_entity_id = bw_decode_pair(from, &relation.target_entity_uid);
    uint8_t parts = take_parts(from, PART_NAME | PART_EXTERNAL_NAME | PART_EXTERNAL_TYPE);
    if (parts & PART_NAME) relation.name = bw_decode_text(from);
    if (parts & PART_EXTERNAL_NAME) relation.external_name = bw_decode_text(from);
    if (parts & PART_EXTERNAL_TYPE) relation.external_type = bw_decode_u32(from);
    if (parts & PART_EXTERNAL_TYPE && !relation.external_type) from->has_failed = true; // B2

    uint32_t at = pools->relation_count++;
    if (pools->relations) pools->relations[at] = relation;
}

static const struct property *find_id_property(const struct entity *entity)
{
    for (uint32_t i = 0; i < entity->property_count; i++)
        if (entity->properties[i].flags & FLAG_ID) return &entity->properties[i];
    return NULL;
}

static void take_entity(struct decoder *from, struct pools *pools)
{
    struct entity entity = {0};
    entity.id = bw_decode_pair(from, &entity.uid);
    entity.name = bw_decode_text(from);
    entity.flags = bw_decode_u32(from);
    entity.last_property_id = bw_decode_pair(from, &entity.last_property_uid);
    if (take_parts(from, PART_EXTERNAL_NAME)) entity.external_name = bw_decode_text(from);
    entity.property_count = bw_decode_u32(from);
    entity.relation_count = bw_decode_u32(from);
    if (pools->entities) {
        entity.properties = pools->properties + pools->property_count;
        entity.fields = pools->fields + pools->property_count;
        entity.relations = pools->relations + pools->relation_count;
    }
    for (uint32_t i = 0; i < entity.property_count && !from->has_failed; i++)
        take_property(from, pools);
    for (uint32_t i = 0; i < entity.relation_count && !from->has_failed; i++)
        take_relation(from, pools);

    uint32_t at = pools->entity_count++;
    if (!pools->entities) return;
    entity.id_property = find_id_property(&entity);
    pools->entities[at] = entity;
}

static void take_declared(struct decoder *from, struct pools *pools, struct schema *schema)
{
    if (bw_decode_u8(from) != SCHEMA_VERSION) from->has_failed = true;
    schema->last_entity_id = bw_decode_pair(from, &schema->last_entity_uid);
    schema->last_index_id = bw_decode_pair(from, &schema->last_index_uid);
    schema->last_relation_id = bw_decode_pair(from, &schema->last_relation_uid);
    uint32_t count = bw_decode_u32(from);
    for (uint32_t i = 0; i < count && !from->has_failed; i++) take_entity(from, pools);
    if (from->at != from->end) from->has_failed = true;
}

static void take_memory(struct decoder *from, struct pools *pools, struct memory_of_store *memory)
{
    if (from->at == from->end) return;
    uint32_t total = 0;
    for (int kind = 0; kind < THING_KINDS; kind++) {
        uint32_t count = bw_decode_u32(from);
        memory->retired_count[kind] = count;
        memory->retired[kind] = pools->retired ? pools->retired + pools->retired_count : NULL;
        for (uint32_t i = 0; i < count && !from->has_failed; i++) {
            struct retired retired = {0};
            if (kind == THING_PROPERTY) retired.scope = bw_decode_u32(from);
            retired.id = bw_decode_pair(from, &retired.uid);
            if (kind == THING_PROPERTY) retired.type = bw_decode_u8(from);
            uint32_t at = pools->retired_count++;
            if (pools->retired) pools->retired[at] = retired;
        }
        total |= count;
    }
    memory->stranger_count = bw_decode_u32(from);
    memory->strangers = pools->strangers;
    for (uint32_t i = 0; i < memory->stranger_count && !from->has_failed; i++) {
        uint32_t id = bw_decode_u32(from), at = pools->stranger_count++;
        if (pools->strangers) pools->strangers[at] = id;
    }
    bool says_nothing = (total | memory->stranger_count) == 0; // B2
    if (from->at != from->end || says_nothing) from->has_failed = true;
}

static size_t reserve(size_t *size, size_t count, size_t item_size)
{
    size_t at = *size;
    *size += bw_round_up(count * item_size, sizeof(uint64_t));
    return at;
}

/*
 * One block with room for what was counted and for the blob. Counts are bounded by SIZE_MAX_SCHEMA.
 */
static struct compiled *new_block(struct pools *pools, size_t blob_size, uint8_t **out_blob)
{
    size_t size = bw_round_up(sizeof(struct compiled), sizeof(uint64_t));
    size_t entities = reserve(&size, pools->entity_count, sizeof(struct entity));
    size_t properties = reserve(&size, pools->property_count, sizeof(struct property));
    size_t relations = reserve(&size, pools->relation_count, sizeof(struct relation));
    size_t hnsw = reserve(&size, pools->hnsw_count, sizeof(struct hnsw_options));
    size_t retired = reserve(&size, pools->retired_count, sizeof(struct retired));
    size_t strangers = reserve(&size, pools->stranger_count, sizeof(uint32_t));
    size_t fields = reserve(&size, pools->property_count, sizeof(struct flat_field));
    size_t blob = reserve(&size, 1, blob_size);

    uint8_t *block = bw_new_raw(size);
    if (!block) return NULL;
    memset(block, 0, sizeof(struct compiled));
    *pools = (struct pools){.entities = (void *)(block + entities),
                            .properties = (void *)(block + properties),
                            .relations = (void *)(block + relations),
                            .hnsw = (void *)(block + hnsw),
                            .retired = (void *)(block + retired),
                            .strangers = (void *)(block + strangers),
                            .fields = (void *)(block + fields)};
    *out_blob = block + blob;
    return (struct compiled *)block;
}

bw_err bw_schema_build(struct bytes declared, struct bytes memory, struct compiled **out_compiled)
{
    struct pools counted = {0};
    struct schema ignored = {0};
    struct memory_of_store ignored_memory = {0};
    if (declared.size + memory.size > SIZE_MAX_SCHEMA) return damaged("it is too large");
    if (!memory.size) memory.data = declared.data; // no arithmetic with NULL
    struct decoder from = {.at = declared.data, .end = declared.data + declared.size};
    take_declared(&from, &counted, &ignored);
    if (from.has_failed) return damaged("the declared part cannot be read");
    from = (struct decoder){.at = memory.data, .end = memory.data + memory.size};
    take_memory(&from, &counted, &ignored_memory);
    if (from.has_failed) return damaged("the part about removed things cannot be read");

    struct pools pools = counted;
    uint8_t *blob = NULL;
    size_t blob_size = SCHEMA_AT_DECLARED + declared.size + memory.size;
    struct compiled *compiled = new_block(&pools, blob_size, &blob);
    if (!compiled) return bw_schema_no_memory();
    bw_put_u32(blob, (uint32_t)declared.size);
    memcpy(blob + SCHEMA_AT_DECLARED, declared.data, declared.size);
    if (memory.size) memcpy(blob + SCHEMA_AT_DECLARED + declared.size, memory.data, memory.size);

    compiled->declared = (struct bytes){blob + SCHEMA_AT_DECLARED, declared.size};
    from = (struct decoder){.at = compiled->declared.data,
                            .end = compiled->declared.data + declared.size};
    take_declared(&from, &pools, &compiled->schema);
    from.end = from.at + memory.size;
    take_memory(&from, &pools, &compiled->memory);
    ASSERT(!from.has_failed && pools.property_count == counted.property_count); // B1

    compiled->schema.entities = pools.entities;
    compiled->schema.entity_count = pools.entity_count;
    compiled->schema.blob = (struct bytes){blob, blob_size};
    bw_hash128(declared.data, declared.size, compiled->schema.hash);
    atomic_init(&compiled->owners, 1);
    *out_compiled = compiled;
    return BW_OK;
}

// ---- blobs of a file ----

static bw_err refuse(bw_err err)
{
    if (!err || err == BW_ERR_NO_MEMORY || err == BW_ERR_FILE_CORRUPT) return err;
    return damaged(bw_reason_text());
}

static bw_err split(struct bytes blob, struct bytes *out_declared, struct bytes *out_memory)
{
    if (blob.size < SCHEMA_AT_DECLARED) return damaged("it is too short");
    uint32_t size = bw_get_u32(blob.data);
    if (size > blob.size - SCHEMA_AT_DECLARED) return damaged("it is too short");
    *out_declared = (struct bytes){blob.data + SCHEMA_AT_DECLARED, size};
    *out_memory = (struct bytes){out_declared->data + size, blob.size - SCHEMA_AT_DECLARED - size};
    return BW_OK;
}

bw_err bw_schema_decode_declared(struct bytes blob, struct schema **out_schema)
{
    struct bytes declared = {0}, memory = {0};
    bw_err err = split(blob, &declared, &memory);
    return err ? err : refuse(bw_schema_from_declared(declared, out_schema));
}

bw_err bw_schema_decode(struct bytes blob, struct schema **out_schema)
{
    struct bytes declared = {0}, memory = {0};
    bw_err err = split(blob, &declared, &memory);
    if (err) return err;
    if (!memory.size) return refuse(bw_schema_from_declared(declared, out_schema));

    struct compiled *compiled = NULL;
    err = bw_schema_build(declared, memory, &compiled);
    if (err) return err;
    err = refuse(bw_schema_check(&compiled->schema));
    if (!err && !bw_schema_memory_is_sound(&compiled->memory))
        err = damaged("the part about removed things makes no sense");
    if (err) bw_free(compiled);
    else *out_schema = &compiled->schema;
    return err;
}
