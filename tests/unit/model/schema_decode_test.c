/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blobs from damaged files: refused with FILE_CORRUPT or understood, never read beyond their end,
 * and never a schema that breaks the rules.
 */
#include "unit/model/sample_model.h"

#include "model/compiled.h"

#include <string.h>

/* A blob with every part: index, target, vector index, relation, removed things, strangers. */
static struct schema *full_schema(void)
{
    struct model *model = NULL;
    CHECK_OK(bw_model_new(&model));
    CHECK_OK(bw_model_entity(model, "Note", 1, 101));
    CHECK_OK(bw_model_entity_external_name(model, "notes"));
    CHECK_OK(bw_model_property(model, "id", LONG, 1, 1001));
    CHECK_OK(bw_model_property_flags(model, 1));
    CHECK_OK(bw_model_property(model, "v", FLOAT_VECTOR, 2, 1002));
    CHECK_OK(bw_model_property_flags(model, 8));
    CHECK_OK(bw_model_property_index(model, 1, 5001));
    CHECK_OK(bw_model_property_hnsw(model, HNSW_DIMENSIONS, 300));
    CHECK_OK(bw_model_property(model, "to", RELATION, 3, 1003));
    CHECK_OK(bw_model_property_flags(model, 520));
    CHECK_OK(bw_model_property_relation(model, "Note", 2, 5002));
    CHECK_OK(bw_model_property_external_type(model, 102));
    CHECK_OK(bw_model_entity_last_property(model, 3, 1003));
    CHECK_OK(bw_model_relation(model, 1, 7001, 1, 101));
    CHECK_OK(bw_model_relation_name(model, "peers"));
    bw_model_last_entity(model, 2, 102);
    bw_model_last_index(model, 2, 5002);
    bw_model_last_relation(model, 1, 7001);
    struct schema *declared = NULL;
    CHECK_OK(bw_model_compile(model, &declared));
    bw_model_free(model);

    static const struct retired removed[] = {
        {.id = 2, .uid = 102},
        {.scope = 1, .id = 9, .uid = 1009, .type = STRING},
        {.scope = 2, .id = 1, .uid = 2001, .type = LONG},
        {.id = 7, .uid = 5007},
        {.id = 4, .uid = 7004},
    };
    static const uint32_t strangers[] = {1};
    struct memory_of_store memory = {
        .retired = {removed, removed + 1, removed + 3, removed + 4},
        .retired_count = {1, 2, 1, 1},
        .strangers = strangers,
        .stranger_count = 1,
    };
    struct compiled *full = NULL;
    CHECK_OK(bw_schema_build_remembering(bw_schema_whole(declared)->declared, &memory, &full));
    bw_schema_release(declared);
    return &full->schema;
}

/* Decode a copy in a block of its own. What is understood must encode the same way. */
static bool understands(const uint8_t *data, size_t size)
{
    uint8_t *copy = bw_new_raw(size);
    CHECK(copy);
    if (size) memcpy(copy, data, size);
    struct schema *schema = NULL, *declared = NULL;
    bw_err err = bw_schema_decode((struct bytes){copy, size}, &schema);
    if (err) {
        CHECK_EQ(err, BW_ERR_FILE_CORRUPT);
        CHECK_EQ(strncmp(bw_reason_text(), "The schema in the file is damaged: ", 35), 0);
    } else {
        CHECK_EQ(schema->blob.size, size);
        CHECK_BYTES(schema->blob.data, data, size);
        CHECK_OK(bw_schema_check(schema));
        CHECK_OK(bw_schema_decode_declared((struct bytes){copy, size}, &declared));
        CHECK_BYTES(schema->hash, declared->hash, 16);
    }
    bw_free(copy);
    bw_schema_release(schema);
    bw_schema_release(declared);
    return err == BW_OK;
}

static void a_full_blob_is_understood(void)
{
    struct schema *schema = full_schema();
    CHECK(understands(schema->blob.data, schema->blob.size));
    struct schema *decoded = NULL;
    CHECK_OK(bw_schema_decode(schema->blob, &decoded));
    const struct memory_of_store *memory = &bw_schema_whole(decoded)->memory;
    CHECK_EQ(memory->retired_count[THING_PROPERTY], 2);
    CHECK_EQ(memory->retired[THING_PROPERTY][1].scope, 2);
    CHECK_EQ(memory->retired[THING_PROPERTY][0].type, STRING);
    CHECK_EQ(memory->retired[THING_INDEX][0].uid, 5007);
    CHECK_EQ(memory->strangers[0], 1);
    CHECK_EQ(decoded->entities[0].properties[1].hnsw->dimensions, 300);
    bw_schema_release(decoded);
    bw_schema_release(schema);
}

static void every_truncation_is_refused(void)
{
    struct schema *schema = full_schema();
    size_t understood = 0, declared = bw_get_u32(schema->blob.data) + SCHEMA_AT_DECLARED;
    for (size_t size = 0; size < schema->blob.size; size++) {
        bool is_understood = understands(schema->blob.data, size);
        CHECK_EQ(is_understood, size == declared); // nothing removed is a blob of its own
        understood += is_understood;
    }
    CHECK_EQ(understood, 1);
    bw_schema_release(schema);
}

static void every_single_bit_flip_is_refused_or_a_sound_schema(void)
{
    struct schema *schema = full_schema();
    uint8_t flipped[1024];
    CHECK(schema->blob.size <= sizeof(flipped));
    size_t refused = 0;
    for (size_t bit = 0; bit < schema->blob.size * 8; bit++) {
        memcpy(flipped, schema->blob.data, schema->blob.size);
        flipped[bit / 8] ^= (uint8_t)(1u << bit % 8);
        refused += !understands(flipped, schema->blob.size);
    }
    CHECK(refused > schema->blob.size * 2);
    bw_schema_release(schema);
}

static void random_damage_is_refused_or_a_sound_schema(void)
{
    struct random random;
    bw_random_seed(&random, bw_test_seed());
    struct schema *schema = full_schema();
    uint8_t damaged[1024];
    for (int round = 0; round < 10000; round++) {
        size_t size = schema->blob.size;
        memcpy(damaged, schema->blob.data, size);
        for (uint64_t n = bw_random_below(&random, 4); n < 4; n++)
            damaged[bw_random_below(&random, size)] = (uint8_t)bw_random_next(&random);
        if (bw_random_percent(&random, 20)) { // a piece taken out
            size_t from = (size_t)bw_random_below(&random, size - 8);
            size_t length = (size_t)bw_random_below(&random, 8);
            memmove(damaged + from, damaged + from + length, size - from - length);
            size -= length;
        }
        understands(damaged, size);
    }
    bw_schema_release(schema);
}

static void counts_beyond_the_bytes_cost_nothing(void)
{
    uint8_t blob[32] = {0};
    uint8_t *at = blob + SCHEMA_AT_DECLARED;
    *at++ = SCHEMA_VERSION;
    *at++ = 0;
    *at++ = 0;
    *at++ = 0;
    memset(at, 0xff, 4); // 2^32 - 1 entities
    at[4] = 0x0f;
    bw_put_u32(blob, 9);
    CHECK(!understands(blob, SCHEMA_AT_DECLARED + 9));
}

static void another_version_is_refused(void)
{
    struct schema *schema = full_schema();
    uint8_t blob[1024];
    memcpy(blob, schema->blob.data, schema->blob.size);
    blob[SCHEMA_AT_DECLARED]++;
    CHECK(!understands(blob, schema->blob.size));
    bw_schema_release(schema);
}

RUN_TESTS(TEST(a_full_blob_is_understood), TEST(every_truncation_is_refused),
          TEST(every_single_bit_flip_is_refused_or_a_sound_schema),
          TEST(random_damage_is_refused_or_a_sound_schema),
          TEST(counts_beyond_the_bytes_cost_nothing), TEST(another_version_is_refused))
