/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes as the schema of a store. What is understood has one encoding only: declared anew by the
 * calls of a program it gives the same bytes, and so does what the store remembers besides.
 */
#include <stdio.h>
#include <stdlib.h>

#include "fuzz/input.h"
#include "model/compiled.h"

static void stop(const char *why)
{
    fprintf(stderr, "%s: %s\n", why, bw_reason_text());
    abort();
}

static void must(bw_err err)
{
    if (err) stop("a schema that was understood cannot be declared");
}

static void declare_vectors(struct model *model, const struct hnsw_options *hnsw)
{
    must(bw_model_property_hnsw(model, HNSW_DIMENSIONS, hnsw->dimensions));
    must(bw_model_property_hnsw(model, HNSW_NEIGHBORS_PER_NODE, hnsw->neighbors_per_node));
    must(bw_model_property_hnsw(model, HNSW_INDEXING_SEARCH_COUNT, hnsw->indexing_search_count));
    must(bw_model_property_hnsw(model, HNSW_FLAGS, hnsw->flags));
    must(bw_model_property_hnsw(model, HNSW_DISTANCE_TYPE, hnsw->distance_type));
    must(bw_model_property_hnsw(model, HNSW_VECTOR_CACHE_HINT_KB, hnsw->vector_cache_hint_kb));
    must(bw_model_property_hnsw_backlink_probability(model, hnsw->reparation_backlink_probability));
}

static void declare_property(struct model *model, const struct schema *schema,
                             const struct property *property)
{
    must(bw_model_property(model, property->name, property->type, property->id, property->uid));
    must(bw_model_property_flags(model, property->flags));
    if (property->target_entity_id) {
        const struct entity *target = bw_schema_entity(schema, property->target_entity_id);
        if (!target) stop("a relation to nothing");
        must(bw_model_property_relation(model, target->name, property->index_id,
                                        property->index_uid));
    } else if (property->index_id) {
        must(bw_model_property_index(model, property->index_id, property->index_uid));
    }
    if (property->external_name)
        must(bw_model_property_external_name(model, property->external_name));
    must(bw_model_property_external_type(model, (int)property->external_type));
    if (property->hnsw) declare_vectors(model, property->hnsw);
}

static void declare_entity(struct model *model, const struct schema *schema,
                           const struct entity *entity)
{
    must(bw_model_entity(model, entity->name, entity->id, entity->uid));
    must(bw_model_entity_flags(model, entity->flags));
    if (entity->external_name) must(bw_model_entity_external_name(model, entity->external_name));
    for (uint32_t i = 0; i < entity->property_count; i++)
        declare_property(model, schema, &entity->properties[i]);
    must(bw_model_entity_last_property(model, entity->last_property_id, entity->last_property_uid));
    for (uint32_t i = 0; i < entity->relation_count; i++) {
        const struct relation *relation = &entity->relations[i];
        must(bw_model_relation(model, relation->id, relation->uid, relation->target_entity_id,
                               relation->target_entity_uid));
        if (relation->name) must(bw_model_relation_name(model, relation->name));
        if (relation->external_name)
            must(bw_model_relation_external_name(model, relation->external_name));
        must(bw_model_relation_external_type(model, (int)relation->external_type));
    }
}

static void declare(const struct schema *schema, struct schema **out_schema)
{
    struct model *model = NULL;
    must(bw_model_new(&model));
    for (uint32_t i = 0; i < schema->entity_count; i++)
        declare_entity(model, schema, &schema->entities[i]);
    bw_model_last_entity(model, schema->last_entity_id, schema->last_entity_uid);
    bw_model_last_index(model, schema->last_index_id, schema->last_index_uid);
    bw_model_last_relation(model, schema->last_relation_id, schema->last_relation_uid);
    must(bw_model_compile(model, out_schema));
    bw_model_free(model);
}

static bool are_equal(struct bytes a, struct bytes b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

static void encode_again(const struct schema *schema, struct bytes blob)
{
    const struct compiled *whole = bw_schema_whole(schema);
    struct schema *again = NULL;
    struct compiled *remembering = NULL;
    if (!are_equal(schema->blob, blob)) stop("a schema has another blob");
    declare(schema, &again);
    if (!are_equal(bw_schema_whole(again)->declared, whole->declared) ||
        memcmp(again->hash, schema->hash, sizeof(again->hash)) != 0)
        stop("a schema has two encodings");
    must(bw_schema_build_remembering(whole->declared, &whole->memory, &remembering));
    if (!are_equal(remembering->schema.blob, blob)) stop("what is remembered has two encodings");
    bw_schema_release(&remembering->schema);
    bw_schema_release(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1); // libFuzzer's own block is longer
    if (!copy) abort();
    if (size) memcpy(copy, data, size);
    const struct bytes blob = {copy, size};
    struct schema *schema = NULL, *declared = NULL;
    const bw_err err = bw_schema_decode(blob, &schema);
    if (err && err != BW_ERR_FILE_CORRUPT) stop("a refusal that says nothing of the file");
    if (!err) {
        encode_again(schema, blob);
        if (bw_schema_decode_declared(blob, &declared)) stop("a part of a schema is refused");
    }
    bw_schema_release(declared);
    bw_schema_release(schema);
    free(copy);
    return 0;
}
