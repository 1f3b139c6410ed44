/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a model may change under a store: what opens, what is refused and with which text, and that
 * what was removed is remembered for ever.
 */
#include "unit/model/sample_model.h"

#include <string.h>

static const struct sample_model base = {.entities = {SAMPLE_BASE}};

/* A to-one and an n:m relation from A to B. */
static const struct sample_model related = {
    .entities = {
        {.name = "A",
         .id = 1,
         .properties =
             {SAMPLE_ID,
              SAMPLE_S,
              SAMPLE_N,
              {.name = "b", .type = RELATION, .id = 4, .flags = 520, .index = 1, .target = "B"}},
         .relations = {{.id = 1, .target = 2}}},
        {.name = "B",
         .id = 2,
         .properties = {{.name = "id", .type = LONG, .id = 1, .flags = 1, .uid = 2001}}}}};

/* A store's memory of its schema: a blob that is replaced when a change is adopted. */
struct keeper {
    uint8_t blob[2048];
    size_t size;
    struct schema_change change; /* of the last adoption */
};

static void keep(struct keeper *keeper, const struct schema *schema)
{
    CHECK(schema->blob.size <= sizeof(keeper->blob));
    memcpy(keeper->blob, schema->blob.data, schema->blob.size);
    keeper->size = schema->blob.size;
}

static void create(struct keeper *keeper, const struct sample_model *model)
{
    *keeper = (struct keeper){0};
    struct schema *schema = sample_schema(model);
    keep(keeper, schema);
    bw_schema_release(schema);
}

static bw_err open(struct keeper *keeper, const struct sample_model *model)
{
    struct schema *declared = sample_schema(model), *stored = NULL;
    CHECK_OK(bw_schema_decode((struct bytes){keeper->blob, keeper->size}, &stored));
    bw_schema_change_deinit(&keeper->change);
    bw_err err = bw_schema_adopt(stored, declared, &keeper->change);
    if (!err) {
        CHECK_BYTES(keeper->change.merged->hash, declared->hash, 16);
        keep(keeper, keeper->change.merged);
    }
    bw_schema_release(stored);
    bw_schema_release(declared);
    return err;
}

static void finish(struct keeper *keeper) { bw_schema_change_deinit(&keeper->change); }

static void opens(const struct sample_model *before, const struct sample_model *after)
{
    struct keeper keeper;
    create(&keeper, before);
    CHECK_OK(open(&keeper, after));
    finish(&keeper);
}

static void fails(const struct sample_model *before, const struct sample_model *after,
                  const char *text)
{
    struct keeper keeper;
    create(&keeper, before);
    CHECK_ERR(open(&keeper, after), BW_ERR_SCHEMA);
    CHECK_TEXT(bw_reason_text(), text);
    CHECK_OK(open(&keeper, before)); // the right model still opens
    finish(&keeper);
}

static void fails_afterwards(const struct sample_model *before, const struct sample_model *after,
                             const char *text)
{
    struct keeper keeper;
    create(&keeper, before);
    CHECK_OK(open(&keeper, after));
    CHECK_ERR(open(&keeper, before), BW_ERR_SCHEMA);
    CHECK_TEXT(bw_reason_text(), text);
    finish(&keeper);
}

static struct sample_model with_property(struct sample_property property)
{
    struct sample_model model = base;
    model.entities[0].properties[3] = property;
    return model;
}

static struct sample_model without_n(void)
{
    struct sample_model model = base;
    memset(&model.entities[0].properties[2], 0, sizeof(struct sample_property));
    model.entities[0].last_id = 3;
    return model;
}

static void properties_may_come_and_go(void)
{
    opens(&base, &base);
    struct sample_model model = with_property((struct sample_property){"x", INT, .id = 4});
    fails_afterwards(&base, &model,
                     "DB's last property ID 4 is higher than the incoming one 3 in entity A");
    model = without_n();
    opens(&base, &model);
    model.entities[0].last_id = 2;
    fails(&base, &model, "DB's last property ID 3 is higher than the incoming one 2 in entity A");
    model = base;
    model.entities[0].properties[1].name = "s2";
    opens(&base, &model);
    model = base;
    model.entities[0].properties[1] = (struct sample_property){"s", STRING, 4, .uid = 7777};
    fails_afterwards(&base, &model,
                     "DB's last property ID 4 is higher than the incoming one 3 in entity A");
    model = base;
    model.entities[0].properties[2].flags = 8192;
    opens(&base, &model);
    opens(&model, &base);
    model = base;
    model.entities[0].properties[0].flags = 1 | 128;
    opens(&base, &model);
    opens(&model, &base);
}

static void property_ids_and_uids_stay_together(void)
{
    struct sample_model model = base;
    model.entities[0].properties[1].uid = 7777;
    fails(&base, &model,
          "Incoming property ID 2:7777 does not match existing UID 1002 (Property s (2, String))");
    CHECK_EQ(bw_reason_place()->entity_id, 1);
    CHECK_EQ(bw_reason_place()->property_id, 2);
    model = base;
    model.entities[0].properties[1] = (struct sample_property){"s", STRING, 4, .uid = 1002};
    fails(&base, &model,
          "Incoming property ID 4:1002 does not match with any existing ID, but its UID matches "
          "Property s (2, String)");
}

static void property_types_stay(void)
{
    struct sample_model model = base;
    model.entities[0].properties[2].type = INT;
    fails(&base, &model,
          "Existing Property n (3, Long) of entity A is not compatible with the new type Int");
    model.entities[0].properties[2].type = DATE;
    fails(&base, &model,
          "Existing Property n (3, Long) of entity A is not compatible with the new type Date");
    model = base;
    model.entities[0].properties[1].type = BYTE_VECTOR;
    fails(&base, &model,
          "Existing Property s (2, String) of entity A is not compatible with the new type "
          "ByteVector");
}

static struct sample_model two_entities(void)
{
    struct sample_model model = base;
    model.entities[1] = (struct sample_entity){
        .name = "B",
        .id = 2,
        .properties = {{"id", LONG, 1, .flags = 1, .uid = 2001}, {"s", STRING, 2, .uid = 2002}}};
    return model;
}

static void entities_may_come_and_go(void)
{
    struct sample_model two = two_entities(), one = base;
    fails_afterwards(&base, &two,
                     "DB's last entity ID 2 is higher than 1 from model (B, UID 102 vs. 101)");
    one.last_entity = 2;
    opens(&two, &one);
    fails(&two, &base, "DB's last entity ID 2 is higher than 1 from model (B, UID 102 vs. 101)");
    struct sample_model model = base;
    model.entities[0].name = "A2";
    opens(&base, &model);
    model = base;
    model.last_entity = 5;
    model.last_entity_uid = 888;
    fails_afterwards(&base, &model,
                     "DB's last entity ID 5 is higher than 1 from model (a removed entity, UID 888 "
                     "vs. 101)");
    model =
        (struct sample_model){.entities = {{.name = "A",
                                            .id = 2,
                                            .uid = 777,
                                            .properties = {{"id", LONG, 1, .flags = 1, .uid = 3001},
                                                           {"s", STRING, 2, .uid = 3002}}}}};
    fails_afterwards(&base, &model,
                     "DB's last entity ID 2 is higher than 1 from model (A, UID 777 vs. 101)");

    struct keeper keeper;
    create(&keeper, &two);
    CHECK_OK(open(&keeper, &one));
    CHECK_EQ(keeper.change.dropped_count, 1); // its data has to go
    CHECK_EQ(keeper.change.dropped[0], 2);
    CHECK_OK(open(&keeper, &two));
    CHECK_EQ(keeper.change.dropped_count, 0);
    finish(&keeper);
}

static void entity_ids_and_uids_stay_together(void)
{
    struct sample_model model = base;
    model.entities[0].uid = 999;
    fails(&base, &model, "Incoming entity ID 1:999 does not match existing UID 101 (Entity A (1))");
    model = base;
    model.entities[0].id = 2;
    model.entities[0].uid = 101;
    fails(&base, &model,
          "Incoming entity ID 2:101 does not match with any existing ID, but its UID matches "
          "Entity A (1)");
    model = base;
    model.entities[0].flags = 2;
    fails(&base, &model,
          "Turning an existing local entity type into a synced one is not allowed: A");
    opens(&model, &base);
}

static struct sample_model with_index(uint32_t flags, uint32_t index, uint64_t uid)
{
    struct sample_model model = base;
    model.entities[0].properties[1].flags = flags;
    model.entities[0].properties[1].index = index;
    model.entities[0].properties[1].index_uid = uid;
    return model;
}

static void indexes_may_come_and_go(void)
{
    struct sample_model value = with_index(8, 1, 0), hash = with_index(2048, 1, 0);
    fails_afterwards(&base, &value, "DB's last index ID 1 is higher than 0 from model");
    struct sample_model model = base;
    model.last_index = 1;
    opens(&value, &model);
    fails(&value, &base, "DB's last index ID 1 is higher than 0 from model");
    opens(&value, &hash);
    model = with_index(2048, 2, 0);
    fails_afterwards(&value, &model, "DB's last index ID 2 is higher than 1 from model");
    model = with_index(8, 1, 9999);
    fails(&value, &model,
          "Incoming index ID 1:9999 does not match existing UID 5001 (Index 1 of s)");
    model = with_index(32 | 2048, 1, 0);
    opens(&hash, &model);
    opens(&model, &hash);

    model = base; // the same index on another property
    model.entities[0].properties[2].flags = 8;
    model.entities[0].properties[2].index = 1;
    fails(&value, &model,
          "Existing Index 1 of s of entity A is not compatible with the new property n");
}

static void relations_may_come_and_go(void)
{
    opens(&related, &related);
    struct sample_model model = related;
    memset(model.entities[0].relations, 0, sizeof(model.entities[0].relations));
    fails(&related, &model, "DB's last relation ID 1 is higher than 0 from model");
    model.last_relation = 1;
    struct keeper keeper;
    create(&keeper, &related);
    CHECK_OK(open(&keeper, &model));
    CHECK_OK(open(&keeper, &related));
    finish(&keeper);

    model = related;
    memset(&model.entities[0].properties[3], 0, sizeof(struct sample_property));
    model.entities[0].last_id = 4;
    model.last_index = 1;
    create(&keeper, &related);
    CHECK_OK(open(&keeper, &model));
    CHECK_OK(open(&keeper, &related));
    finish(&keeper);

    model = related;
    model.entities[0].relations[0] = (struct sample_relation){.id = 2, .target = 2};
    fails_afterwards(&related, &model, "DB's last relation ID 2 is higher than 1 from model");
}

static void relations_keep_their_uids_and_ends(void)
{
    struct sample_model model = related;
    model.entities[0].relations[0].target = 1;
    fails(&related, &model,
          "Existing Relation 1 (from entity 1 to 2) of entity A is not compatible with the new "
          "target entity 1");
    model = related;
    model.entities[0].relations[0].uid = 8888;
    fails(&related, &model,
          "Incoming relation ID 1:8888 does not match existing UID 7001 (Relation 1 (from entity 1 "
          "to 2))");
    model = related;
    memset(model.entities[0].relations, 0, sizeof(model.entities[0].relations));
    model.entities[1].relations[0] = (struct sample_relation){.id = 1, .target = 2};
    fails(&related, &model,
          "Existing Relation 1 (from entity 1 to 2) of entity A is not compatible with the new "
          "source entity B");
}

static void what_was_removed_never_comes_back_as_something_else(void)
{
    struct sample_model gone = without_n(),
                        with_x = with_property((struct sample_property){"x", INT, .id = 4});
    struct keeper keeper;
    create(&keeper, &base);
    CHECK_OK(open(&keeper, &gone));
    struct sample_model back = base;
    back.entities[0].properties[2].uid = 7777;
    CHECK_ERR(open(&keeper, &back), BW_ERR_SCHEMA);
    CHECK_TEXT(bw_reason_text(), "Incoming property ID 3:7777 does not match existing UID 1003 "
                                 "(a removed property (3))");
    back = base;
    back.entities[0].properties[2] = (struct sample_property){"n", LONG, 4, .uid = 1003};
    CHECK_ERR(open(&keeper, &back), BW_ERR_SCHEMA);
    CHECK_TEXT(bw_reason_text(), "Incoming property ID 4:1003 does not match with any existing ID, "
                                 "but its UID matches a removed property (3)");
    back = base;
    back.entities[0].properties[2].type = STRING;
    CHECK_ERR(open(&keeper, &back), BW_ERR_SCHEMA);
    CHECK_TEXT(bw_reason_text(),
               "Removed property 3 (Long) of entity A cannot come back with the new type String");

    struct sample_model later = with_x; // other changes do not make it forget
    memset(&later.entities[0].properties[2], 0, sizeof(struct sample_property));
    later.entities[0].properties[2] = later.entities[0].properties[3];
    memset(&later.entities[0].properties[3], 0, sizeof(struct sample_property));
    CHECK_OK(open(&keeper, &later));
    back = with_x;
    back.entities[0].properties[2].uid = 7777;
    CHECK_ERR(open(&keeper, &back), BW_ERR_SCHEMA);
    CHECK_OK(open(&keeper, &with_x)); // with the old uid it is welcome
    CHECK_OK(open(&keeper, &with_x));
    finish(&keeper);
}

static void removed_entities_are_remembered_with_their_properties(void)
{
    struct sample_model two = two_entities(), one = base;
    one.last_entity = 2;
    struct keeper keeper;
    create(&keeper, &two);
    CHECK_OK(open(&keeper, &one));
    struct sample_model back = two;
    back.entities[1].uid = 555;
    CHECK_ERR(open(&keeper, &back), BW_ERR_SCHEMA);
    CHECK_TEXT(bw_reason_text(), "Incoming entity ID 2:555 does not match existing UID 102 (a "
                                 "removed entity (2))");
    back = two;
    back.entities[1].properties[1].uid = 4444;
    CHECK_ERR(open(&keeper, &back), BW_ERR_SCHEMA);
    CHECK_OK(open(&keeper, &two));
    finish(&keeper);
}

static void removed_indexes_are_remembered(void)
{
    struct sample_model value = with_index(8, 1, 0), gone = base, back = with_index(8, 1, 9999);
    gone.last_index = 1;
    struct keeper keeper;
    create(&keeper, &value);
    CHECK_OK(open(&keeper, &gone));
    CHECK_ERR(open(&keeper, &back), BW_ERR_SCHEMA);
    CHECK_TEXT(bw_reason_text(),
               "Incoming index ID 1:9999 does not match existing UID 5001 (a removed index (1))");
    CHECK_OK(open(&keeper, &value));
    finish(&keeper);
}

static void unverified_objects_are_named_when_a_property_comes(void)
{
    struct sample_model two = two_entities();
    struct keeper keeper;
    create(&keeper, &two);
    struct schema *stored = NULL, *marked = NULL, *again = NULL;
    CHECK_OK(bw_schema_decode((struct bytes){keeper.blob, keeper.size}, &stored));
    CHECK_OK(bw_schema_mark_strangers(stored, 1, &marked));
    CHECK_BYTES(marked->hash, stored->hash, 16);
    keep(&keeper, marked);
    bw_schema_release(stored);
    CHECK_OK(bw_schema_decode((struct bytes){keeper.blob, keeper.size}, &stored));
    CHECK_OK(bw_schema_mark_strangers(stored, 1, &again));
    CHECK_EQ(again, NULL); // it is remembered already
    bw_schema_release(stored);
    bw_schema_release(marked);

    CHECK_OK(open(&keeper, &two));
    CHECK_EQ(keeper.change.unverified_count, 0);
    struct sample_model more = two;
    more.entities[0].properties[3] = (struct sample_property){"x", INT, .id = 4};
    more.entities[1].properties[2] = (struct sample_property){"y", INT, 3, .uid = 2003};
    CHECK_OK(open(&keeper, &more));
    CHECK_EQ(keeper.change.unverified_count, 1); // B got one, too, but has no strangers
    CHECK_EQ(keeper.change.unverified[0], 1);
    more.entities[0].properties[4] = (struct sample_property){"z", INT, .id = 5};
    CHECK_OK(open(&keeper, &more));
    CHECK_EQ(keeper.change.unverified_count, 1);
    finish(&keeper);
}

static void running_out_of_memory_changes_nothing(void)
{
    struct sample_model gone = related;
    memset(gone.entities[0].relations, 0, sizeof(gone.entities[0].relations));
    memset(&gone.entities[0].properties[2], 0, 2 * sizeof(struct sample_property));
    gone.entities[0].last_id = 4;
    gone.last_relation = gone.last_index = 1;
    struct keeper keeper;
    create(&keeper, &related);
    struct schema *declared = sample_schema(&gone), *stored = NULL;
    int64_t blocks = bw_memory_blocks();
    for (int64_t allowed = 0;; allowed++) {
        struct schema_change change = {0};
        bw_memory_fail_after(allowed);
        bw_err err = bw_schema_decode((struct bytes){keeper.blob, keeper.size}, &stored);
        if (!err) {
            err = bw_schema_adopt(stored, declared, &change);
            if (!err) {
                struct schema *marked = NULL, *decoded = NULL;
                err = bw_schema_mark_strangers(change.merged, 1, &marked);
                if (!err) err = bw_schema_decode(marked->blob, &decoded);
                bw_schema_release(marked);
                bw_schema_release(decoded);
            }
            bw_schema_release(stored);
        }
        bw_memory_fail_after(-1);
        bw_schema_change_deinit(&change);
        CHECK_EQ(bw_memory_blocks(), blocks);
        if (!err) break;
        CHECK_EQ(err, BW_ERR_NO_MEMORY);
        CHECK(allowed < 50);
    }
    bw_schema_release(declared);
}

RUN_TESTS(TEST(properties_may_come_and_go), TEST(property_ids_and_uids_stay_together),
          TEST(property_types_stay), TEST(entities_may_come_and_go),
          TEST(entity_ids_and_uids_stay_together), TEST(indexes_may_come_and_go),
          TEST(relations_may_come_and_go), TEST(relations_keep_their_uids_and_ends),
          TEST(what_was_removed_never_comes_back_as_something_else),
          TEST(removed_entities_are_remembered_with_their_properties),
          TEST(removed_indexes_are_remembered),
          TEST(unverified_objects_are_named_when_a_property_comes),
          TEST(running_out_of_memory_changes_nothing))
