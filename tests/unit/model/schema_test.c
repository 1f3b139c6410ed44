/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled schemas: what they say, that equal ones are one, and that the last release frees. */
#include "unit/model/sample_model.h"

#include "os/os.h"

#include <string.h>

static const struct sample_model base = {.entities = {SAMPLE_BASE}};

static const struct sample_model rich = {
    .entities = {
        {.name = "Author", .id = 3, .properties = {SAMPLE_ID, SAMPLE_S}, .flags = 2},
        {.name = "Book",
         .id = 7,
         .properties = {{.name = "ISBN", .type = STRING, .id = 5, .flags = 2080, .index = 2},
                        {.name = "id", .type = LONG, .id = 1, .flags = 1, .uid = 2001},
                        {.name = "author",
                         .type = RELATION,
                         .id = 4,
                         .flags = 520,
                         .index = 1,
                         .target = "AUTHOR",
                         .uid = 2004},
                        {.name = "isbn", .type = INT, .id = 6}},
         .relations = {{.id = 2, .target = 3}, {.id = 1, .target = 7}}},
    }};

static void everything_that_was_declared_is_there(void)
{
    struct schema *schema = sample_schema(&rich);
    CHECK_EQ(schema->entity_count, 2);
    CHECK_EQ(schema->last_entity_id, 7);
    CHECK_EQ(schema->last_entity_uid, 107);
    CHECK_EQ(schema->last_index_id, 2);
    CHECK_EQ(schema->last_relation_id, 2);
    const struct entity *author = bw_schema_entity(schema, 3), *book = bw_schema_entity(schema, 7);
    CHECK_TEXT(author->name, "Author");
    CHECK_EQ(author->flags, 2);
    CHECK_EQ(author->external_name, NULL);
    CHECK_EQ(bw_schema_entity(schema, 1), NULL);
    CHECK_EQ(bw_schema_entity(schema, 0), NULL);
    CHECK_EQ(bw_schema_entity(schema, 8), NULL);
    CHECK_EQ(bw_schema_entity_named(schema, "bOOk"), book);
    CHECK_EQ(bw_schema_entity_named(schema, "Boo"), NULL);

    CHECK_EQ(book->property_count, 4); // by ascending id, whatever the order of the calls
    const uint32_t ids[4] = {1, 4, 5, 6};
    for (int i = 0; i < 4; i++) CHECK_EQ(book->properties[i].id, ids[i]);
    CHECK_EQ(book->id_property, &book->properties[0]);
    CHECK_EQ(book->last_property_id, 6);
    CHECK_EQ(bw_entity_property(book, 2), NULL);
    const struct property *link = bw_entity_property(book, 4);
    CHECK_TEXT(link->name, "author");
    CHECK_EQ(link->target_entity_id, 3); // names of targets are compared without case
    CHECK_EQ(link->index_id, 1);
    CHECK_EQ(link->index_uid, 5001);
    CHECK_EQ(bw_entity_property_named(book, "isbn")->id, 6);
    CHECK_EQ(bw_entity_property_named(book, "ISBN")->id, 5);
    CHECK_EQ(bw_entity_property_named(book, "AUTHOR"), link);
    CHECK_EQ(bw_entity_property_named(book, "none"), NULL);
    CHECK_EQ(book->fields[1].slot, 3);
    CHECK_EQ(book->fields[1].kind, FLAT_64);
    CHECK_EQ(book->fields[2].kind, FLAT_STRING);
    CHECK_EQ(book->relations[0].id, 1);
    CHECK_EQ(book->relations[1].target_entity_id, 3);
    CHECK_EQ(book->relations[1].name, NULL);
    bw_schema_release(schema);
}

static void optional_parts_are_kept(void)
{
    struct model *model = NULL;
    CHECK_OK(bw_model_new(&model));
    CHECK_OK(bw_model_entity(model, "A", 1, 101));
    CHECK_OK(bw_model_entity_external_name(model, "outside.A"));
    CHECK_OK(bw_model_property(model, "id", LONG, 1, 1001));
    CHECK_OK(bw_model_property_flags(model, 1));
    CHECK_OK(bw_model_property_external_name(model, "_id"));
    CHECK_OK(bw_model_property_external_type(model, 123));
    CHECK_OK(bw_model_entity_last_property(model, 1, 1001));
    CHECK_OK(bw_model_relation(model, 1, 7001, 1, 101));
    CHECK_OK(bw_model_relation_name(model, "peers"));
    CHECK_OK(bw_model_relation_external_name(model, "p"));
    CHECK_OK(bw_model_relation_external_type(model, 124));
    bw_model_last_entity(model, 1, 101);
    bw_model_last_relation(model, 1, 7001);
    struct schema *schema = NULL;
    CHECK_OK(bw_model_compile(model, &schema));
    bw_model_free(model);
    const struct entity *entity = schema->entities;
    CHECK_TEXT(entity->external_name, "outside.A");
    CHECK_TEXT(entity->properties[0].external_name, "_id");
    CHECK_EQ(entity->properties[0].external_type, 123);
    CHECK_TEXT(entity->relations[0].name, "peers");
    CHECK_TEXT(entity->relations[0].external_name, "p");
    CHECK_EQ(entity->relations[0].external_type, 124);
    bw_schema_release(schema);
}

static void equal_models_are_one_schema(void)
{
    int64_t blocks = bw_memory_blocks();
    struct schema *first = sample_schema(&rich);
    int64_t with_one = bw_memory_blocks();
    struct sample_model other_order = rich;
    other_order.entities[0] = rich.entities[1];
    other_order.entities[1] = rich.entities[0];
    other_order.entities[0].properties[0] = rich.entities[1].properties[3];
    other_order.entities[0].properties[3] = rich.entities[1].properties[0];
    struct schema *second = sample_schema(&other_order);
    CHECK_EQ(first, second);
    CHECK_EQ(bw_memory_blocks(), with_one); // no second copy stays
    CHECK_EQ(bw_schema_shared(first->hash), first);
    bw_schema_release(first);
    bw_schema_release(second);
    CHECK_EQ(bw_schema_hold(first), first); // the third one's, still alive
    bw_schema_release(first);
    uint8_t hash[16];
    memcpy(hash, first->hash, 16);
    bw_schema_release(first);
    CHECK_EQ(bw_schema_shared(hash), NULL);
    CHECK_EQ(bw_memory_blocks(), blocks);
    CHECK_EQ(bw_schema_hold(NULL), NULL);
    bw_schema_release(NULL);
}

static void every_difference_changes_the_hash(void)
{
    struct schema *schemas[8] = {sample_schema(&base)};
    struct sample_model changed = base;
    changed.entities[0].name = "a";
    schemas[1] = sample_schema(&changed);
    changed = base;
    changed.entities[0].properties[1].name = "t";
    schemas[2] = sample_schema(&changed);
    changed = base;
    changed.entities[0].properties[2].flags = 8192;
    schemas[3] = sample_schema(&changed);
    changed = base;
    changed.last_entity = 9;
    schemas[4] = sample_schema(&changed);
    changed = base;
    changed.last_index = 9;
    schemas[5] = sample_schema(&changed);
    changed = base;
    changed.entities[0].properties[2].uid = 77;
    schemas[6] = sample_schema(&changed);
    changed = base;
    changed.entities[0].last_id = 8;
    schemas[7] = sample_schema(&changed);
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < i; k++) CHECK(memcmp(schemas[i]->hash, schemas[k]->hash, 16) != 0);
    for (int i = 0; i < 8; i++) bw_schema_release(schemas[i]);
}

static void a_blob_gives_the_same_schema_back(void)
{
    struct schema *schema = sample_schema(&rich), *decoded = NULL;
    CHECK_OK(bw_schema_decode(schema->blob, &decoded));
    CHECK_EQ(decoded, schema); // shared while it is alive
    bw_schema_release(decoded);
    uint8_t blob[512];
    CHECK(schema->blob.size <= sizeof(blob));
    size_t size = schema->blob.size;
    memcpy(blob, schema->blob.data, size);
    uint8_t hash[16];
    memcpy(hash, schema->hash, 16);
    bw_schema_release(schema);
    CHECK_OK(bw_schema_decode_declared((struct bytes){blob, size}, &decoded));
    CHECK_BYTES(decoded->hash, hash, 16);
    CHECK_EQ(decoded->blob.size, size);
    CHECK_BYTES(decoded->blob.data, blob, size);
    schema = sample_schema(&rich);
    CHECK_EQ(schema, decoded);
    bw_schema_release(schema);
    bw_schema_release(decoded);
}

static void small_models_make_small_blobs(void)
{
    struct schema *schema = sample_schema(&base);
    CHECK(schema->blob.size <= 100); // up to 512 bytes lie in the store's slot
    bw_schema_release(schema);
}

struct racer {
    struct thread thread;
    int rounds;
};

static void race(void *argument)
{
    struct racer *racer = argument;
    for (int i = 0; i < racer->rounds; i++) {
        struct schema *schema = NULL, *again = NULL;
        const struct sample_model *sample = i % 3 ? &base : &rich;
        CHECK_OK(sample_compile(sample, &schema));
        again = bw_schema_shared(schema->hash);
        CHECK(again == schema);
        bw_schema_release(schema);
        CHECK_TEXT(again->entities[0].name, i % 3 ? "A" : "Author");
        bw_schema_release(again);
    }
}

static void threads_share_without_losing_or_freeing_twice(void)
{
    int64_t blocks = bw_memory_blocks();
    struct racer racers[3];
    for (int i = 0; i < 3; i++) {
        racers[i].rounds = 2000;
        CHECK_OK(bw_thread_start(&racers[i].thread, race, &racers[i]));
    }
    for (int i = 0; i < 3; i++) bw_thread_join(&racers[i].thread);
    CHECK_EQ(bw_memory_blocks(), blocks);
}

RUN_TESTS(TEST(everything_that_was_declared_is_there), TEST(optional_parts_are_kept),
          TEST(equal_models_are_one_schema), TEST(every_difference_changes_the_hash),
          TEST(a_blob_gives_the_same_schema_back), TEST(small_models_make_small_blobs),
          TEST(threads_share_without_losing_or_freeing_twice))
