/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening, closing, committing: when the schema is stored, what a changed one does, how much data.
 */
#include "unit/box/sample_db.h"

static uint64_t txn_id(struct db *db)
{
    struct store_info info;
    bw_store_info(bw_db_store(db), &info);
    return info.txn_id;
}

static void boxes_are_made_once_for_entities_that_exist(void)
{
    struct sample_model model = note_model;
    for (uint32_t i = 1; i < 4; i++) {
        static const char *names[4] = {"", "B", "C", "D"};
        model.entities[i] =
            (struct sample_entity){.name = names[i],
                                   .id = 10 - i, // descending
                                   .properties = {{"id", LONG, 1, .flags = 1, .uid = 2000 + i}}};
    }
    struct db *db = sample_create("db", &model);
    struct box *boxes[10] = {NULL};
    static const uint32_t ids[] = {8, 1, 9, 7};
    for (int i = 0; i < 4; i++) boxes[ids[i]] = sample_box(db, ids[i]);
    for (int i = 0; i < 4; i++) {
        CHECK_EQ(sample_box(db, ids[i]), boxes[ids[i]]);
        CHECK_EQ(bw_box_entity(boxes[ids[i]])->id, ids[i]);
        CHECK_EQ(bw_box_db(boxes[ids[i]]), db);
    }
    struct box *box = NULL;
    CHECK_ERR(bw_db_box(db, 77, &box), BW_ERR_ILLEGAL_ARGUMENT);
    CHECK_TEXT(bw_reason_text(), "Entity type ID not found in schema: 77");
    CHECK_ERR(bw_db_box(db, 0, &box), BW_ERR_ILLEGAL_ARGUMENT);
    CHECK_TEXT(bw_reason_text(), "Entity type ID not found in schema: 0");
    CHECK_EQ(box, NULL);
    bw_db_close(db);
    bw_db_close(NULL);
}

static void the_schema_rides_with_the_first_commit(void)
{
    struct db *db = sample_create("db", &note_model);
    CHECK_EQ(txn_id(db), 0);
    CHECK_OK(bw_db_commit(db, sample_begin(db, TXN_WRITE))); // nothing changed: nothing written
    CHECK_EQ(txn_id(db), 0);
    struct txn *txn = sample_begin(db, TXN_WRITE);
    CHECK_OK(bw_box_put(sample_box(db, 1), txn, 1, sample_note(1, "a", 1), PUT_ANY));
    bw_txn_abort(txn);
    CHECK_EQ(txn_id(db), 0);
    CHECK_OK(sample_put(sample_box(db, 1), 1, 1, PUT_ANY));
    CHECK_EQ(txn_id(db), 1);
    CHECK_OK(sample_put(sample_box(db, 1), 2, 1, PUT_ANY));
    bw_db_close(db);
    db = sample_open("db", NULL);
    CHECK_EQ(txn_id(db), 2);
    CHECK_EQ(sample_count(sample_box(db, 1)), 2);
    CHECK_TEXT(bw_db_schema(db)->entities[0].name, "Note");
    bw_db_close(db);
}

static void closing_stores_a_schema_that_no_commit_carried(void)
{
    struct db *db = sample_create("db", &note_model);
    bw_db_close(db);
    db = sample_open("db", NULL);
    CHECK_EQ(txn_id(db), 1);
    CHECK_EQ(sample_count(sample_box(db, 1)), 0);
    bw_db_close(db);
    db = sample_open("db", &note_model);
    CHECK_EQ(txn_id(db), 1); // an equal model writes nothing
    bw_db_close(db);
}

static void a_new_store_needs_a_model(void)
{
    CHECK_OK(bw_store_remove(bw_disk_memory(), "db"));
    struct db_options options = sample_options("db");
    struct db *db = NULL;
    CHECK_ERR(sample_try_open(&options, NULL, &db), BW_ERR_ILLEGAL_STATE);
    CHECK_TEXT(bw_reason_text(), "No DB catalog present");
    CHECK_EQ(db, NULL);
}

static void read_only_means_no_write_and_no_other_schema(void)
{
    struct db *db = sample_create("db", &note_model);
    CHECK_OK(sample_put(sample_box(db, 1), 1, 1, PUT_ANY));
    bw_db_close(db);
    struct db_options options = sample_options("db");
    options.store.read_only = true;
    CHECK_OK(sample_try_open(&options, &note_model, &db));
    CHECK_EQ(sample_count(sample_box(db, 1)), 1);
    CHECK_EQ(sample_next_id(sample_box(db, 1)), 2);
    struct txn *txn = NULL;
    CHECK_ERR(bw_db_begin(db, TXN_WRITE, 0, &txn), BW_ERR_ILLEGAL_STATE);
    CHECK_TEXT(bw_reason_text(), "Cannot start a write transaction from read only store");
    bw_db_close(db);
    struct sample_model model = note_model;
    model.entities[0].properties[3] = (struct sample_property){"x", LONG, .id = 4};
    CHECK_ERR(sample_try_open(&options, &model, &db), BW_ERR_ILLEGAL_STATE);
    CHECK_TEXT(bw_reason_text(), "Can not update schema when opening in read-only mode");
    CHECK_OK(sample_try_open(&options, NULL, &db));
    bw_db_close(db);
}

static void schemas_of_open_stores_are_shared(void)
{
    struct db *first = sample_create("db", &note_model),
              *second = sample_create("db2", &note_model);
    CHECK_EQ(bw_db_schema(first), bw_db_schema(second));
    bw_db_close(second);
    second = sample_open("db2", NULL);
    CHECK_EQ(bw_db_schema(first), bw_db_schema(second));
    bw_db_close(first);
    CHECK_TEXT(bw_db_schema(second)->entities[0].name, "Note");
    bw_db_close(second);
}

// ---- changed models ----

static struct sample_model with_second_entity(void)
{
    struct sample_model model = note_model;
    model.entities[1] = (struct sample_entity){
        .name = "Tag", .id = 2, .properties = {{"id", LONG, 1, .flags = 1, .uid = 2001}}};
    return model;
}

static void a_changed_model_is_stored_at_once(void)
{
    struct db *db = sample_create("db", &note_model);
    CHECK_OK(sample_put(sample_box(db, 1), 1, 1, PUT_ANY));
    bw_db_close(db);
    struct sample_model two = with_second_entity();
    db = sample_open("db", &two);
    CHECK_EQ(txn_id(db), 2);
    CHECK_EQ(sample_count(sample_box(db, 1)), 1);
    CHECK_EQ(sample_count(sample_box(db, 2)), 0);
    bw_db_close(db);
    db = sample_open("db", NULL);
    CHECK_EQ(bw_db_schema(db)->entity_count, 2);
    bw_db_close(db);
}

static void a_refused_model_leaves_the_store_as_it_is(void)
{
    struct sample_model two = with_second_entity();
    struct db *db = sample_create("db", &two);
    CHECK_OK(sample_put(sample_box(db, 1), 1, 1, PUT_ANY));
    bw_db_close(db);
    struct db_options options = sample_options("db");
    CHECK_ERR(sample_try_open(&options, &note_model, &db), BW_ERR_SCHEMA);
    CHECK_TEXT(bw_reason_text(),
               "DB's last entity ID 2 is higher than 1 from model (Tag, UID 102 vs. 101)");
    db = sample_open("db", &two);
    CHECK_EQ(txn_id(db), 1);
    CHECK_EQ(sample_count(sample_box(db, 1)), 1);
    bw_db_close(db);
}

static void the_data_of_a_removed_entity_goes(void)
{
    struct sample_model two = with_second_entity(), one = note_model;
    one.last_entity = 2;
    struct db *db = sample_create("db", &two);
    CHECK_OK(sample_put(sample_box(db, 1), 1, 1, PUT_ANY));
    struct txn *txn = sample_begin(db, TXN_WRITE);
    struct flat_builder builder = {0};
    struct bytes tag;
    bw_flat_begin(&builder, 1);
    bw_flat_add_scalar(&builder, 0, 5, 8);
    CHECK_OK(bw_flat_finish(&builder, &tag));
    CHECK_OK(bw_box_put(sample_box(db, 2), txn, 5, tag, PUT_ANY));
    bw_flat_deinit(&builder);
    CHECK_OK(bw_db_commit(db, txn));
    bw_db_close(db);
    db = sample_open("db", &one);
    struct box *box = NULL;
    CHECK_ERR(bw_db_box(db, 2, &box), BW_ERR_ILLEGAL_ARGUMENT);
    CHECK_EQ(sample_count(sample_box(db, 1)), 1);
    bw_db_close(db);
    db = sample_open("db", &two);
    CHECK_EQ(sample_count(sample_box(db, 2)), 0);
    CHECK_EQ(sample_next_id(sample_box(db, 2)), 1);
    txn = sample_begin(db, TXN_READ);
    struct check_report report;
    CHECK_OK(bw_store_check(txn, NULL, &report));
    CHECK_TEXT(report.first_problem, "");
    bw_txn_abort(txn);
    bw_db_close(db);
}

static void a_removed_property_comes_back_with_its_values(void)
{
    struct sample_model gone = note_model;
    memset(&gone.entities[0].properties[2], 0, sizeof(struct sample_property));
    gone.entities[0].last_id = 3;
    struct db *db = sample_create("db", &note_model);
    CHECK_OK(sample_put(sample_box(db, 1), 1, 42, PUT_ANY));
    bw_db_close(db);
    db = sample_open("db", &gone);
    bw_db_close(db);
    db = sample_open("db", &note_model);
    struct txn *txn = sample_begin(db, TXN_READ);
    struct bytes object;
    bool is_found = false;
    CHECK_OK(bw_box_get(sample_box(db, 1), txn, 1, &object, &is_found));
    CHECK_EQ(sample_field(object, 2), 42);
    bw_txn_abort(txn);
    bw_db_close(db);
    db = sample_open("db", &gone);
    bw_db_close(db);
    gone.entities[0].properties[2] = (struct sample_property){"n", LONG, .id = 3, .uid = 99};
    gone.entities[0].last_uid = 99;
    struct db_options options = sample_options("db");
    CHECK_ERR(sample_try_open(&options, &gone, &db), BW_ERR_SCHEMA);
}

// ---- fields that no property names ----

/* An object with an id and something in slot 3, which the model does not have yet. */
static struct bytes with_slot_3(struct flat_builder *builder, uint64_t id, bool is_string)
{
    struct bytes made = {0};
    bw_flat_begin(builder, 4);
    bw_flat_add_scalar(builder, 0, id, 8);
    if (is_string)
        bw_flat_add_bytes(builder, 3, (struct bytes){(const uint8_t *)"later", 5}, FLAT_STRING);
    else bw_flat_add_scalar(builder, 3, 0x7fffffff, 8); // would lead far outside as an offset
    CHECK_OK(bw_flat_finish(builder, &made));
    return made;
}

static void unknown_fields_are_kept_and_verified_when_they_get_a_property(void)
{
    struct db *db = sample_create("db", &note_model);
    struct box *box = sample_box(db, 1);
    struct flat_builder builder = {0};
    struct txn *txn = sample_begin(db, TXN_WRITE);
    CHECK_OK(bw_box_put(box, txn, 1, sample_note(1, "plain", 1), PUT_ANY));
    CHECK_OK(bw_box_put(box, txn, 2, with_slot_3(&builder, 2, true), PUT_ANY));
    CHECK_OK(bw_box_put(box, txn, 3, with_slot_3(&builder, 3, false), PUT_ANY));
    CHECK_OK(bw_db_commit(db, txn));
    CHECK_EQ(txn_id(db), 1);
    bw_db_close(db);

    struct sample_model later = note_model;
    later.entities[0].properties[3] = (struct sample_property){"t", STRING, .id = 4};
    db = sample_open("db", &later);
    box = sample_box(db, 1);
    txn = sample_begin(db, TXN_READ);
    struct bytes object;
    bool is_found = false;
    CHECK_OK(bw_box_get(box, txn, 2, &object, &is_found));
    struct flat_table table = bw_flat_open(object.data);
    CHECK_EQ(bw_flat_target(bw_flat_field(&table, 3)).size, 5); // it was a string: readable
    CHECK_OK(bw_box_get(box, txn, 3, &object, &is_found));
    table = bw_flat_open(object.data);
    CHECK_EQ(bw_flat_field(&table, 3), NULL); // it was not: taken out
    CHECK_EQ(sample_field(object, 0), 3);
    CHECK_EQ(object.size, with_slot_3(&builder, 3, false).size);
    bw_txn_abort(txn);
    bw_db_close(db);
    bw_flat_deinit(&builder);
}

static void strangers_are_remembered_in_later_commits_too(void)
{
    struct db *db = sample_create("db", &note_model);
    CHECK_OK(sample_put(sample_box(db, 1), 1, 1, PUT_ANY));
    struct flat_builder builder = {0};
    struct txn *txn = sample_begin(db, TXN_WRITE);
    CHECK_OK(bw_box_put(sample_box(db, 1), txn, 2, with_slot_3(&builder, 2, false), PUT_ANY));
    bw_txn_abort(txn); // forgotten with its object
    struct bytes blob;
    txn = sample_begin(db, TXN_READ);
    CHECK_OK(bw_txn_schema(txn, &blob));
    size_t before = blob.size;
    bw_txn_abort(txn);
    for (int round = 0; round < 2; round++) {
        txn = sample_begin(db, TXN_WRITE);
        struct bytes object = with_slot_3(&builder, 2, round == 1);
        CHECK_OK(bw_box_put(sample_box(db, 1), txn, 2, object, PUT_ANY));
        CHECK_OK(bw_db_commit(db, txn));
        txn = sample_begin(db, TXN_READ);
        CHECK_OK(bw_txn_schema(txn, &blob));
        CHECK(blob.size > before);
        bw_txn_abort(txn);
    }
    bw_db_close(db);
    db = sample_open("db", &note_model); // the identity is the same
    CHECK_EQ(txn_id(db), 3);
    bw_db_close(db);
    bw_flat_deinit(&builder);
}

// ---- data size ----

static void sizes(struct db *db, struct txn *txn, uint64_t committed, int64_t change)
{
    uint64_t out_committed = 77;
    int64_t out_change = 77;
    CHECK_OK(bw_db_data_size(db, txn, &out_committed, &out_change));
    CHECK_EQ(out_committed, committed);
    CHECK_EQ(out_change, change);
}

static void the_data_limit_is_checked_on_the_sum_at_commit(void)
{
    CHECK_OK(bw_store_remove(bw_disk_memory(), "db"));
    struct db_options options = sample_options("db");
    size_t size = sample_note(1, "text", 1).size;
    options.data_max = 10 * size + 4;
    struct db *db = NULL;
    CHECK_OK(sample_try_open(&options, &note_model, &db));
    struct box *box = sample_box(db, 1);
    struct txn *txn = sample_begin(db, TXN_READ);
    sizes(db, txn, 0, 0);
    bw_txn_abort(txn);
    for (uint64_t id = 1; id <= 10; id++) CHECK_OK(sample_put(box, id, 1, PUT_ANY));
    CHECK_ERR(sample_put(box, 11, 1, PUT_ANY), BW_ERR_MAX_DATA_SIZE_EXCEEDED);
    char text[80];
    (void)snprintf(text, sizeof(text), "Exceeded user-set maximum by [bytes]: %zu", size - 4);
    CHECK_TEXT(bw_reason_text(), text);
    CHECK_EQ(sample_count(box), 10);

    txn = sample_begin(db, TXN_WRITE);
    CHECK_OK(bw_box_put(box, txn, 11, sample_note(11, "text", 1), PUT_ANY));
    sizes(db, txn, 10 * size, (int64_t)size);
    bool is_removed = false;
    CHECK_OK(bw_box_remove(box, txn, 1, &is_removed));
    CHECK_OK(bw_box_remove(box, txn, 2, &is_removed));
    sizes(db, txn, 10 * size, -(int64_t)size);
    CHECK_OK(bw_db_commit(db, txn));
    txn = sample_begin(db, TXN_READ);
    sizes(db, txn, 9 * size, 0);
    bw_txn_abort(txn);
    bw_db_close(db);
}

static void removals_pass_above_the_data_limit(void)
{
    struct db *db = sample_create("db", &note_model);
    for (uint64_t id = 1; id <= 10; id++) CHECK_OK(sample_put(sample_box(db, 1), id, 1, PUT_ANY));
    bw_db_close(db);
    struct db_options options = sample_options("db");
    options.data_max = 100;
    CHECK_OK(sample_try_open(&options, &note_model, &db));
    struct box *box = sample_box(db, 1);
    struct txn *txn = sample_begin(db, TXN_WRITE);
    bool is_removed = false;
    CHECK_OK(bw_box_remove(box, txn, 3, &is_removed));
    CHECK_OK(bw_db_commit(db, txn));
    CHECK_OK(sample_put(box, 4, 2, PUT_ANY)); // as long as before
    CHECK_ERR(sample_put(box, 12, 1, PUT_ANY), BW_ERR_MAX_DATA_SIZE_EXCEEDED);
    CHECK_EQ(sample_count(box), 9);
    bw_db_close(db);
}

static void a_small_open_store_holds_little_memory(void)
{
    struct db *db = sample_create("db", &note_model);
    CHECK_OK(sample_put(sample_box(db, 1), 1, 1, PUT_ANY));
    bw_db_close(db);
    db = sample_open("db", NULL);
    struct db *second = sample_create("db2", &note_model); // so that the schema is there already
    bw_db_close(second);
    int64_t blocks = bw_memory_blocks();
    CHECK_EQ(sample_count(sample_box(db, 1)), 1);
    CHECK(bw_memory_blocks() - blocks <=
          2 + 2); // a box and the table of boxes; the rest is the store's
    bw_db_close(db);
}

static void running_out_of_memory_while_opening_leaves_nothing(void)
{
    struct sample_model two = with_second_entity(), one = note_model;
    one.last_entity = 2;
    for (int64_t allowed = 0;; allowed++) {
        struct db *db = sample_create("db", &two);
        CHECK_OK(sample_put(sample_box(db, 1), 1, 1, PUT_ANY));
        bw_db_close(db);
        struct db_options options = sample_options("db");
        options.schema = sample_schema(&one);
        int64_t blocks = bw_memory_blocks();
        bw_memory_fail_after(allowed);
        bw_err err = bw_db_open(&options, &db);
        struct box *box = NULL;
        bw_err box_err = err ? BW_OK : bw_db_box(db, 1, &box);
        bw_memory_fail_after(-1);
        bw_schema_release(options.schema);
        if (!err && !box_err) {
            CHECK_EQ(sample_count(box), 1);
            bw_db_close(db);
            break;
        }
        if (!err) bw_db_close(db);
        CHECK(bw_memory_blocks() <= blocks); // the schema went, too
        db = sample_open("db", NULL);        // and the store is sound, before or after the change
        CHECK_EQ(sample_count(sample_box(db, 1)), 1);
        bw_db_close(db);
        CHECK(allowed < 200);
    }
}

RUN_TESTS(TEST(boxes_are_made_once_for_entities_that_exist),
          TEST(the_schema_rides_with_the_first_commit),
          TEST(closing_stores_a_schema_that_no_commit_carried), TEST(a_new_store_needs_a_model),
          TEST(read_only_means_no_write_and_no_other_schema),
          TEST(schemas_of_open_stores_are_shared), TEST(a_changed_model_is_stored_at_once),
          TEST(a_refused_model_leaves_the_store_as_it_is), TEST(the_data_of_a_removed_entity_goes),
          TEST(a_removed_property_comes_back_with_its_values),
          TEST(unknown_fields_are_kept_and_verified_when_they_get_a_property),
          TEST(strangers_are_remembered_in_later_commits_too),
          TEST(the_data_limit_is_checked_on_the_sum_at_commit),
          TEST(removals_pass_above_the_data_limit), TEST(a_small_open_store_holds_little_memory),
          TEST(running_out_of_memory_while_opening_leaves_nothing))
