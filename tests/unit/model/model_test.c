/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declarations and their errors: which sticks at a call, which comes when the whole is compiled,
 * and the texts that applications know.
 */
#include "unit/model/sample_model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct model *new_model(void)
{
    struct model *model = NULL;
    CHECK_OK(bw_model_new(&model));
    return model;
}

/* Entity A (1:101) with its id property, last property and last entity given. */
static struct model *sound_model(void)
{
    struct model *model = new_model();
    CHECK_OK(bw_model_entity(model, "A", 1, 101));
    CHECK_OK(bw_model_property(model, "id", LONG, 1, 1001));
    CHECK_OK(bw_model_property_flags(model, 1));
    CHECK_OK(bw_model_entity_last_property(model, 1, 1001));
    bw_model_last_entity(model, 1, 101);
    return model;
}

static void add_x(struct model *model, int type, uint32_t flags)
{
    CHECK_OK(bw_model_property(model, "x", type, 2, 1002));
    if (flags) CHECK_OK(bw_model_property_flags(model, flags));
    CHECK_OK(bw_model_entity_last_property(model, 2, 1002));
}

static void compile_fails(struct model *model, bw_err code, const char *text)
{
    struct schema *schema = NULL;
    CHECK_ERR(bw_model_compile(model, &schema), code);
    CHECK_TEXT(bw_reason_text(), text);
    CHECK_EQ(schema, NULL);
    bw_model_free(model);
}

static void compile_succeeds(struct model *model)
{
    struct schema *schema = NULL;
    CHECK_OK(bw_model_compile(model, &schema));
    CHECK(schema);
    bw_schema_release(schema);
    bw_model_free(model);
}

static void sticks(struct model *model, bw_err code, const char *text)
{
    CHECK_EQ(bw_model_error(model), code);
    CHECK_TEXT(bw_model_error_text(model), text);
    CHECK_TEXT(bw_reason_text(), text);
    CHECK_ERR(bw_model_entity(model, "Other", 7, 107), code);
    CHECK_ERR(bw_model_property_flags(model, 1), code);
    CHECK_ERR(bw_model_relation_name(model, "x"), code);
    bw_model_last_entity(model, 9, 9);
    compile_fails(model, code, text);
}

#define STICKS(call, code, text)   \
    do {                           \
        CHECK_ERR(call, code);     \
        sticks(model, code, text); \
    } while (0)

#define ILLEGAL BW_ERR_ILLEGAL_ARGUMENT
#define UNMET(what) "Argument condition \"" what "\" not met"

static void a_new_model_has_no_error(void)
{
    struct model *model = sound_model();
    CHECK_EQ(bw_model_error(model), BW_OK);
    CHECK_TEXT(bw_model_error_text(model), "");
    compile_succeeds(model);
    bw_model_free(NULL);
}

static void arguments_of_entities_are_checked_at_once(void)
{
    struct model *model = new_model();
    STICKS(bw_model_entity(model, "A", 0, 101), ILLEGAL, UNMET("entity_id"));
    model = new_model();
    STICKS(bw_model_entity(model, "A", 1, 0), ILLEGAL, UNMET("entity_uid"));
    model = new_model();
    STICKS(bw_model_entity(model, "", 1, 101), ILLEGAL, "Name cannot be empty");
    model = new_model();
    STICKS(bw_model_entity(model, NULL, 1, 101), 10399,
           "basic_string: construction from null is not valid");
    model = new_model();
    STICKS(bw_model_entity(model, "A", 0x1000000, 101), ILLEGAL,
           "The highest possible entity ID is 16777215, but got: 16777216");
    model = new_model();
    STICKS(bw_model_entity_flags(model, 1), BW_ERR_ILLEGAL_STATE, "No entity started");
    model = new_model();
    STICKS(bw_model_entity_last_property(model, 1, 1001), BW_ERR_ILLEGAL_STATE,
           "No entity started");
}

static void arguments_of_properties_are_checked_at_once(void)
{
    struct model *model = new_model();
    STICKS(bw_model_property(model, "id", LONG, 1, 1001), BW_ERR_ILLEGAL_STATE,
           "No entity started");
    model = sound_model();
    STICKS(bw_model_property(model, "", LONG, 2, 1002), ILLEGAL, "Name cannot be empty");
    model = sound_model();
    STICKS(bw_model_property(model, "x", LONG, 0, 1002), ILLEGAL, UNMET("property_id"));
    model = sound_model();
    STICKS(bw_model_property(model, "x", LONG, 2, 0), ILLEGAL, UNMET("property_uid"));
    model = sound_model();
    STICKS(bw_model_property(model, "x", LONG, 40000, 1002), ILLEGAL,
           "The highest possible property ID is 32765, but got: 40000");
    model = sound_model();
    STICKS(bw_model_property(model, "x", -1, 2, 1002), ILLEGAL, "Unknown property type: -1");
    model = sound_model();
    STICKS(bw_model_property_index(model, 0, 5001), ILLEGAL, UNMET("index_id"));
    model = sound_model();
    STICKS(bw_model_property_relation(model, "A", 1, 0), ILLEGAL, UNMET("index_uid"));
    model = new_model();
    CHECK_OK(bw_model_entity(model, "A", 1, 101));
    STICKS(bw_model_property_flags(model, 1), BW_ERR_ILLEGAL_STATE, "No property started");
    model = sound_model();
    CHECK_OK(bw_model_entity(model, "B", 2, 102)); // a new entity has no property yet
    STICKS(bw_model_property_flags(model, 1), BW_ERR_ILLEGAL_STATE, "No property started");
}

static void arguments_of_relations_are_checked_at_once(void)
{
    struct model *model = new_model();
    STICKS(bw_model_relation(model, 1, 7001, 1, 101), BW_ERR_ILLEGAL_STATE, "No entity started");
    model = sound_model();
    STICKS(bw_model_relation(model, 0, 7001, 1, 101), ILLEGAL, UNMET("relation_id"));
    model = sound_model();
    STICKS(bw_model_relation(model, 1, 7001, 1, 0), ILLEGAL, UNMET("target_uid"));
    model = sound_model();
    STICKS(bw_model_relation_name(model, "x"), BW_ERR_ILLEGAL_STATE, "No relation started");
}

static void settings_of_vector_indexes_are_checked_at_once(void)
{
    struct model *model = sound_model();
    STICKS(bw_model_property_hnsw(model, HNSW_DIMENSIONS, 0), ILLEGAL, UNMET("value > 0"));
    model = sound_model();
    STICKS(bw_model_property_hnsw(model, HNSW_NEIGHBORS_PER_NODE, 0), ILLEGAL, UNMET("value > 0"));
    model = sound_model();
    STICKS(bw_model_property_hnsw(model, HNSW_INDEXING_SEARCH_COUNT, 0), ILLEGAL,
           UNMET("value > 0"));
    model = sound_model();
    STICKS(bw_model_property_hnsw(model, HNSW_DISTANCE_TYPE, 0), ILLEGAL,
           UNMET("value != OBXVectorDistanceType_Unknown"));
    model = sound_model();
    STICKS(bw_model_property_hnsw_backlink_probability(model, 2.0f), ILLEGAL,
           UNMET("value <= 1.0f"));
    model = sound_model();
    STICKS(bw_model_property_hnsw_backlink_probability(model, NAN), ILLEGAL,
           UNMET("value >= 0.0f"));
    model = new_model();
    STICKS(bw_model_property_hnsw(model, HNSW_FLAGS, 1), BW_ERR_ILLEGAL_STATE,
           "No property started");
}

static void a_model_without_content_is_refused(void)
{
    compile_fails(new_model(), BW_ERR_ILLEGAL_STATE, "No entities added");
    struct model *model = new_model();
    CHECK_OK(bw_model_entity(model, "A", 1, 101));
    bw_model_last_entity(model, 1, 101);
    compile_fails(model, BW_ERR_ILLEGAL_STATE, "No properties added");
}

static void last_ids_are_required_and_consistent(void)
{
    struct model *model = sound_model();
    bw_model_last_entity(model, 0, 0);
    compile_fails(model, BW_ERR_SCHEMA, "Illegal entity schema ID 0");
    model = sound_model();
    bw_model_last_entity(model, 1, 4);
    compile_fails(model, BW_ERR_SCHEMA, "Inconsistent last entity UID: 4 vs. 101");
    model = sound_model();
    CHECK_OK(bw_model_entity_last_property(model, 1, 4));
    compile_fails(model, BW_ERR_SCHEMA,
                  "Last property ID:UID 1:4 is inconsistent for A: Property id (1, Long) vs. n/a");
    model = sound_model();
    add_x(model, LONG, 0);
    CHECK_OK(bw_model_entity_last_property(model, 1, 1001)); // too low, and accepted
    compile_succeeds(model);
    model = new_model();
    CHECK_OK(bw_model_entity(model, "A", 1, 101));
    CHECK_OK(bw_model_property(model, "id", 0, 1, 1001));
    compile_fails(model, BW_ERR_SCHEMA, "Model entity has no last property ID: A");
    model = sound_model();
    bw_model_last_entity(model, 5, 888); // an entity that was removed
    bw_model_last_index(model, 0, 0);
    bw_model_last_relation(model, 0, 0);
    compile_succeeds(model);
}

static void each_entity_has_one_long_id(void)
{
    struct model *model = sound_model();
    CHECK_OK(bw_model_property_flags(model, 0));
    compile_fails(model, BW_ERR_SCHEMA, "Entity does not specify an ID property: A");
    model = sound_model();
    add_x(model, LONG, 1);
    compile_fails(model, BW_ERR_SCHEMA, "Only one ID property allowed; entity: A");
    model = new_model();
    CHECK_OK(bw_model_entity(model, "A", 1, 101));
    CHECK_OK(bw_model_property(model, "id", INT, 1, 1001));
    CHECK_OK(bw_model_property_flags(model, 1));
    CHECK_OK(bw_model_entity_last_property(model, 1, 1001));
    bw_model_last_entity(model, 1, 101);
    compile_fails(model, BW_ERR_SCHEMA, "ID property must be of type long: A.id");
}

static struct model *with_entity(const char *name, uint32_t id, uint64_t uid)
{
    struct model *model = sound_model();
    CHECK_OK(bw_model_entity(model, name, id, uid));
    CHECK_OK(bw_model_property(model, "id", LONG, 1, 2001));
    CHECK_OK(bw_model_property_flags(model, 1));
    CHECK_OK(bw_model_entity_last_property(model, 1, 2001));
    bw_model_last_entity(model, 2, 102);
    return model;
}

static void entities_differ_in_id_uid_and_name(void)
{
    compile_succeeds(with_entity("B", 2, 102));
    compile_fails(with_entity("A", 2, 102), BW_ERR_SCHEMA, "Entity name already exists: a");
    compile_fails(with_entity("a", 2, 102), BW_ERR_SCHEMA, "Entity name already exists: a");
    compile_fails(with_entity("B", 1, 102), BW_ERR_SCHEMA, "Entity ID already exists: 1");
    compile_fails(with_entity("B", 2, 101), BW_ERR_SCHEMA, "Entity UID already exists: 101");
    struct model *model = with_entity("B", 2, 102);
    bw_model_last_entity(model, 1, 101);
    compile_fails(model, BW_ERR_SCHEMA, "Entity ID higher than last entity ID 1: Entity B (2)");
}

static void properties_differ_in_id_uid_and_name(void)
{
    struct model *model = sound_model();
    CHECK_OK(bw_model_property(model, "id", LONG, 2, 1002));
    compile_fails(model, BW_ERR_SCHEMA, "Property name already exists: A.id");
    model = sound_model();
    CHECK_OK(bw_model_property(model, "x", LONG, 1, 1002));
    compile_fails(model, BW_ERR_SCHEMA, "Property ID collision: A.x and id share ID 1");
    model = sound_model();
    CHECK_OK(bw_model_property(model, "x", LONG, 2, 1001));
    compile_fails(model, BW_ERR_SCHEMA, "Property UID already exists: 1001at A.x");
    model = sound_model();
    CHECK_OK(bw_model_property(model, "x", LONG, 2, 101));
    compile_fails(model, BW_ERR_SCHEMA, "Duplicate UID 101 found in property A.x");
    CHECK_EQ(bw_reason_place()->entity_id, 1);
    CHECK_EQ(bw_reason_place()->property_id, 2);
    model = sound_model();
    CHECK_OK(bw_model_property(model, "x", 21, 2, 1002));
    compile_fails(model, ILLEGAL, "Unknown property type: 21");
    model = sound_model();
    add_x(model, LONG, 1u << 25); // flags that nobody knows are accepted
    CHECK_OK(bw_model_entity_flags(model, 1u << 20));
    CHECK_OK(bw_model_property_external_type(model, 999));
    compile_succeeds(model);
}

struct index_case {
    int type;
    uint32_t flags, index, last_index;
    const char *text; /* NULL: accepted */
};

static void indexes_fit_their_properties(void)
{
    static const struct index_case cases[] = {
        {LONG, 0, 1, 1, "Property is not indexed but has an index ID/UID: A.x"},
        {LONG, 8, 0, 0, "No index ID/UID assigned for indexed property: Property x (2, Long)"},
        {LONG, 32, 0, 0, "No index ID/UID assigned for indexed property: Property x (2, Long)"},
        {LONG, 8, 1, 0, "Index ID 1 is higher than the last index ID 0: Property x (2, Long)"},
        {LONG, 2048, 1, 1, "Only string types may have non-value index types for now: A.x"},
        {BYTE_VECTOR, 8, 1, 1,
         "Indexing of byte arrays is not yet supported. Please remove the index on A.x"},
        {STRING_VECTOR, 8, 1, 1,
         "Indexing of string arrays is not yet supported. Please remove the index on A.x"},
        {DATE, 65536, 0, 0, NULL},
        {LONG, 65536, 0, 0, "Expiration time is only supported for properties of type date: A.x"},
        {DATE, 16384, 0, 0, NULL},
        {DOUBLE, 8, 1, 1, NULL},
        {FLOAT, 8, 1, 1, NULL},
        {BOOL, 8, 1, 1, NULL},
        {FLEX, 8, 1, 1, NULL},
        {INT_VECTOR, 8, 1, 1, NULL},
        {STRING, 4096, 1, 1, NULL},
        {STRING, 2048 | 8, 1, 1, NULL},
        {STRING, 2080, 1, 1, NULL},
        {FLOAT_VECTOR, 8, 1, 1, NULL},
        {STRING, 32 | 32768, 1, 7, NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct model *model = sound_model();
        add_x(model, cases[i].type, cases[i].flags);
        if (cases[i].index) CHECK_OK(bw_model_property_index(model, cases[i].index, 5001));
        bw_model_last_index(model, cases[i].last_index, 5001);
        if (cases[i].text) compile_fails(model, BW_ERR_SCHEMA, cases[i].text);
        else compile_succeeds(model);
    }
}

static struct model *with_vector(int type)
{
    struct model *model = sound_model();
    add_x(model, type, 8);
    CHECK_OK(bw_model_property_index(model, 1, 5001));
    bw_model_last_index(model, 1, 5001);
    return model;
}

static void vector_indexes_are_judged_as_a_whole(void)
{
    struct model *model = with_vector(FLOAT_VECTOR);
    CHECK_OK(bw_model_property_hnsw(model, HNSW_DISTANCE_TYPE, 1));
    compile_fails(model, ILLEGAL, "HNSW index cannot have 0 dimensions");
    model = with_vector(FLOAT_VECTOR);
    CHECK_OK(bw_model_property_hnsw(model, HNSW_DIMENSIONS, 2));
    CHECK_OK(bw_model_property_hnsw(model, HNSW_DISTANCE_TYPE, 4));
    compile_fails(model, ILLEGAL, "Unsupported vector distance type: Manhattan (4)");
    model = with_vector(STRING);
    CHECK_OK(bw_model_property_hnsw(model, HNSW_DIMENSIONS, 2));
    compile_fails(model, ILLEGAL, "HNSW index supports only float types");
    model = with_vector(FLOAT_VECTOR);
    CHECK_OK(bw_model_property_hnsw(model, HNSW_DIMENSIONS, 3));
    CHECK_OK(bw_model_property_hnsw(model, HNSW_DISTANCE_TYPE, 6)); // geo of 3 dimensions
    compile_succeeds(model);

    model = sound_model(); // settings may come before the index
    CHECK_OK(bw_model_property(model, "x", FLOAT_VECTOR, 2, 1002));
    CHECK_OK(bw_model_property_hnsw(model, HNSW_DIMENSIONS, 128));
    CHECK_OK(bw_model_property_hnsw(model, HNSW_VECTOR_CACHE_HINT_KB, 0));
    CHECK_OK(bw_model_property_hnsw(model, HNSW_FLAGS, 4));
    CHECK_OK(bw_model_property_hnsw_backlink_probability(model, 0.5f));
    CHECK_OK(bw_model_property_index(model, 1, 5001));
    CHECK_OK(bw_model_property_flags(model, 8));
    bw_model_last_index(model, 1, 5001);
    struct schema *schema = NULL;
    CHECK_OK(bw_model_compile(model, &schema));
    const struct hnsw_options *hnsw = schema->entities[0].properties[1].hnsw;
    CHECK_EQ(hnsw->dimensions, 128);
    CHECK_EQ(hnsw->neighbors_per_node, 30);
    CHECK_EQ(hnsw->indexing_search_count, 100);
    CHECK_EQ(hnsw->flags, 4);
    CHECK_EQ(hnsw->distance_type, 1);
    CHECK_EQ(hnsw->reparation_backlink_probability, 0.5f);
    CHECK_EQ(hnsw->vector_cache_hint_kb, 0);
    bw_schema_release(schema);
    bw_model_free(model);
}

static void relations_lead_to_entities(void)
{
    struct model *model = sound_model();
    CHECK_OK(bw_model_relation(model, 1, 7001, 1, 101));
    compile_fails(model, BW_ERR_SCHEMA,
                  "Relation ID higher than last relation ID 0: Relation 1 (from entity 1 to 1)");
    model = sound_model();
    CHECK_OK(bw_model_relation(model, 1, 7001, 9, 109));
    bw_model_last_relation(model, 1, 7001);
    compile_fails(model, BW_ERR_SCHEMA,
                  "No entity type found for relation target: Relation 1 (from entity 1 to 9)");
    model = sound_model();
    CHECK_OK(bw_model_relation(model, 1, 7001, 1, 102));
    bw_model_last_relation(model, 1, 7001);
    compile_fails(model, BW_ERR_SCHEMA,
                  "Target UID 102 does not match that of entity A, 101: Relation 1 (from entity 1 "
                  "to 1)");
    model = sound_model();
    CHECK_OK(bw_model_relation(model, 1, 7001, 1, 101));
    CHECK_OK(bw_model_relation_name(model, "peers"));
    CHECK_OK(bw_model_relation(model, 1, 7002, 1, 101));
    bw_model_last_relation(model, 1, 7001);
    compile_fails(model, BW_ERR_SCHEMA, "Relation ID already exists: 1");

    model = sound_model();
    CHECK_OK(bw_model_property(model, "b", RELATION, 2, 1002));
    CHECK_OK(bw_model_property_flags(model, 520));
    CHECK_OK(bw_model_property_relation(model, "Nope", 1, 5001));
    CHECK_OK(bw_model_entity_last_property(model, 2, 1002));
    bw_model_last_index(model, 1, 5001);
    compile_fails(model, BW_ERR_SCHEMA, "Property A.b references unknown entity Nope");
}

static void running_out_of_memory_sticks_like_any_error(void)
{
    int64_t blocks = bw_memory_blocks();
    for (int64_t allowed = 0;; allowed++) {
        struct model *model = NULL;
        bw_memory_fail_after(allowed);
        bw_err err = bw_model_new(&model);
        for (uint32_t i = 1; i <= 60 && !err; i++) {
            char name[16];
            (void)snprintf(name, sizeof(name), "E%u", i);
            err = bw_model_entity(model, name, i, 100 + i);
            if (!err) err = bw_model_property(model, "id", LONG, 1, 1000 + i);
            if (!err) err = bw_model_property_flags(model, 1);
            if (!err) err = bw_model_entity_last_property(model, 1, 1000 + i);
            if (!err) err = bw_model_property_external_name(model, "something outside");
        }
        struct schema *schema = NULL;
        if (!err) bw_model_last_entity(model, 60, 160);
        if (!err) err = bw_model_compile(model, &schema);
        bw_memory_fail_after(-1);
        bw_schema_release(schema);
        bw_model_free(model);
        CHECK_EQ(bw_memory_blocks(), blocks);
        if (!err) break;
        CHECK_EQ(err, BW_ERR_NO_MEMORY);
        CHECK(allowed < 100);
    }
}

RUN_TESTS(TEST(a_new_model_has_no_error), TEST(arguments_of_entities_are_checked_at_once),
          TEST(arguments_of_properties_are_checked_at_once),
          TEST(arguments_of_relations_are_checked_at_once),
          TEST(settings_of_vector_indexes_are_checked_at_once),
          TEST(a_model_without_content_is_refused), TEST(last_ids_are_required_and_consistent),
          TEST(each_entity_has_one_long_id), TEST(entities_differ_in_id_uid_and_name),
          TEST(properties_differ_in_id_uid_and_name), TEST(indexes_fit_their_properties),
          TEST(vector_indexes_are_judged_as_a_whole), TEST(relations_lead_to_entities),
          TEST(running_out_of_memory_sticks_like_any_error))
