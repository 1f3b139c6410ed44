/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Putting, getting and removing: modes, padding, ids in bytes, refusals that leave all as it was.
 */
#include "unit/box/sample_db.h"

#define ILLEGAL BW_ERR_ILLEGAL_ARGUMENT

static struct bytes get(struct box *box, struct txn *txn, uint64_t id)
{
    struct bytes object = {0};
    bool is_found = false;
    CHECK_OK(bw_box_get(box, txn, id, &object, &is_found));
    if (!is_found) CHECK_EQ(object.size, 0);
    return object;
}

static uint64_t stored_n(struct box *box, uint64_t id)
{
    struct txn *txn = sample_begin(bw_box_db(box), TXN_READ);
    uint64_t n = sample_field(get(box, txn, id), 2);
    bw_txn_abort(txn);
    return n;
}

static void modes_say_what_may_exist(void)
{
    struct db *db = sample_create("put", &note_model);
    struct box *box = sample_box(db, 1);
    CHECK_OK(sample_put(box, 1, 1, PUT_INSERT));
    CHECK_ERR(sample_put(box, 1, 2, PUT_INSERT), BW_ERR_ID_ALREADY_EXISTS);
    CHECK_TEXT(bw_reason_text(), "Insert failed, given ID already exists: 1");
    CHECK_EQ(bw_reason_place()->id, 1);
    CHECK_EQ(bw_reason_place()->entity_id, 1);
    CHECK_EQ(stored_n(box, 1), 1);
    CHECK_OK(sample_put(box, 1, 3, PUT_UPDATE));
    CHECK_EQ(stored_n(box, 1), 3);
    CHECK_ERR(sample_put(box, 9, 1, PUT_UPDATE), BW_ERR_ID_NOT_FOUND);
    CHECK_TEXT(bw_reason_text(), "Update failed, given ID doesn't exist: 9");
    CHECK_OK(sample_put(box, 2, 4, PUT_NEW));
    CHECK_OK(sample_put(box, 1, 5, PUT_NEW)); // overwrites
    CHECK_EQ(stored_n(box, 1), 5);
    CHECK_EQ(sample_count(box), 2);
    static const int bad[] = {0, 5, 99};
    static const char *texts[] = {"Illegal put mode: 0", "Illegal put mode: 5",
                                  "Illegal put mode: 99"};
    for (int i = 0; i < 3; i++) {
        CHECK_ERR(sample_put(box, 3, 1, (enum put_mode)bad[i]), ILLEGAL);
        CHECK_TEXT(bw_reason_text(), texts[i]);
    }
    bw_db_close(db);
}

static void explicit_ids_are_not_the_placeholders(void)
{
    struct db *db = sample_create("put", &note_model);
    struct box *box = sample_box(db, 1);
    CHECK_ERR(sample_put(box, 0, 1, PUT_ANY), ILLEGAL);
    CHECK_TEXT(bw_reason_text(), "Illegal ID value: 0");
    CHECK_ERR(sample_put(box, UINT64_MAX, 1, PUT_ANY), ILLEGAL);
    CHECK_TEXT(bw_reason_text(), "Illegal ID value: -1");
    struct txn *txn = sample_begin(db, TXN_WRITE);
    struct bytes object;
    bool answer = false;
    uint64_t count = 7;
    CHECK_ERR(bw_box_get(box, txn, 0, &object, &answer), ILLEGAL);
    CHECK_TEXT(bw_reason_text(), "Illegal ID value: 0");
    CHECK_ERR(bw_box_contains(box, txn, 0, &answer), ILLEGAL);
    CHECK_ERR(bw_box_remove(box, txn, 0, &answer), ILLEGAL);
    const uint64_t ids[] = {1, 0};
    CHECK_ERR(bw_box_remove_many(box, txn, ids, 2, &count), ILLEGAL);
    CHECK_EQ(count, 7);
    bw_txn_abort(txn);
    bw_db_close(db);
}

static void the_stored_copy_carries_the_id_it_is_stored_under(void)
{
    struct db *db = sample_create("put", &note_model);
    struct box *box = sample_box(db, 1);
    struct txn *txn = sample_begin(db, TXN_WRITE);
    struct bytes note = sample_note(20000, "x", 1);
    CHECK_OK(bw_box_put(box, txn, 7, note, PUT_ANY));
    CHECK_EQ(sample_field(note, 0), 20000); // the caller's bytes are as they were
    CHECK_EQ(sample_field(get(box, txn, 7), 0), 7);

    struct flat_builder builder = {0}; // no id slot: stored as it is
    bw_flat_begin(&builder, 3);
    bw_flat_add_scalar(&builder, 2, 5, 8);
    CHECK_OK(bw_flat_finish(&builder, &note));
    CHECK_OK(bw_box_put(box, txn, 8, note, PUT_ANY));
    struct bytes stored = get(box, txn, 8);
    CHECK_EQ(stored.size, note.size);
    CHECK_BYTES(stored.data, note.data, note.size);
    bw_flat_deinit(&builder);
    CHECK_OK(bw_db_commit(db, txn));
    bw_db_close(db);
}

static void broken_objects_are_refused_with_entity_and_property(void)
{
    struct db *db = sample_create("put", &note_model);
    struct box *box = sample_box(db, 1);
    struct txn *txn = sample_begin(db, TXN_WRITE);
    CHECK_OK(bw_box_put(box, txn, 1, sample_note(1, "a", 1), PUT_ANY));
    struct bytes note = sample_note(2, "some text", 1);
    uint8_t broken[256];
    memcpy(broken, note.data, note.size);
    struct flat_table table = bw_flat_open(broken);
    bw_put_u32(broken + (bw_flat_field(&table, 1) - broken), 0x7ffffff0);
    CHECK_ERR(bw_box_put(box, txn, 2, (struct bytes){broken, note.size}, PUT_ANY), ILLEGAL);
    CHECK_EQ(strncmp(bw_reason_text(), "Object data is not valid for Note.text: a string ", 49), 0);
    CHECK_EQ(bw_reason_place()->entity_id, 1);
    CHECK_EQ(bw_reason_place()->property_id, 2);
    CHECK_EQ(bw_reason_place()->id, 2);
    memset(broken, 0xff, 64);
    CHECK_ERR(bw_box_put(box, txn, 2, (struct bytes){broken, 64}, PUT_ANY), ILLEGAL);
    CHECK_TEXT(bw_reason_text(),
               "Object data is not valid for Note: the root offset leads outside the data");
    CHECK_ERR(bw_box_put(box, txn, 2, (struct bytes){broken, 0}, PUT_ANY), ILLEGAL);
    CHECK_TEXT(bw_reason_text(), "Argument condition \"size > 0\" not met");
    for (size_t size = 1; size < note.size; size++) { // each is refused, none of them crashes
        bw_err err = bw_box_put(box, txn, 3, (struct bytes){note.data, size}, PUT_ANY);
        CHECK(err == ILLEGAL || size > note.size - 8);
    }
    CHECK_OK(bw_db_commit(db, txn)); // the transaction stayed usable
    CHECK_EQ(stored_n(box, 1), 1);
    bw_db_close(db);
}

// ---- the id in the bytes ----

struct attempt {
    enum put_mode mode;
    uint64_t slot;     /* in the bytes */
    uint64_t id, left; /* what is returned, and what the slot holds then */
    bw_err err;
    const char *text;
};

#define UNKNOWN(next)                                                \
    "ID is higher or equal to internal ID sequence: 500 (vs. " #next \
    "). Use ID 0 (zero) to insert "                                  \
    "new objects."
#define NOT_SET "Putting object failed because ID is not set (zero) for object to update"

static void objects_with_their_id_inside_are_put_by_it(void)
{
    static const struct attempt attempts[] = {
        {PUT_ANY, 0, 1, 1, BW_OK, NULL},
        {PUT_ANY, UINT64_MAX, 2, 2, BW_OK, NULL},
        {PUT_ANY, 1, 1, 1, BW_OK, NULL},
        {PUT_ANY, 500, 99, 500, ILLEGAL, UNKNOWN(3)},
        {PUT_INSERT, 0, 3, 3, BW_OK, NULL},
        {PUT_INSERT, UINT64_MAX, 4, 4, BW_OK, NULL},
        {PUT_INSERT, 1, 0, 1, BW_OK, NULL}, // it exists: no id, and no error
        {PUT_INSERT, 500, 99, 500, ILLEGAL, UNKNOWN(5)},
        {PUT_UPDATE, 0, 99, 0, ILLEGAL, NOT_SET},
        {PUT_UPDATE, UINT64_MAX, 99, UINT64_MAX, ILLEGAL, NOT_SET},
        {PUT_UPDATE, 1, 1, 1, BW_OK, NULL},
        {PUT_UPDATE, 500, 99, 500, BW_ERR_ID_NOT_FOUND, UNKNOWN(5)},
        {PUT_NEW, 0, 5, 5, BW_OK, NULL},
        {PUT_NEW, UINT64_MAX, 6, 6, BW_OK, NULL},
        {PUT_NEW, 1, 1, 1, BW_OK, NULL},
        {PUT_NEW, 500, 99, 500, ILLEGAL, UNKNOWN(7)},
    };
    struct db *db = sample_create("put", &note_model);
    struct box *box = sample_box(db, 1);
    struct txn *txn = sample_begin(db, TXN_WRITE);
    for (size_t i = 0; i < sizeof(attempts) / sizeof(attempts[0]); i++) {
        const struct attempt *attempt = &attempts[i];
        struct bytes note = sample_note(attempt->slot, "o", i);
        uint8_t bytes[256];
        memcpy(bytes, note.data, note.size);
        uint64_t id = 99;
        bw_reason_clear();
        bw_err err = bw_box_put_object(box, txn, bytes, note.size, attempt->mode, &id);
        CHECK_EQ(err, attempt->err);
        CHECK_TEXT(bw_reason_text(), attempt->text ? attempt->text : "");
        CHECK_EQ(id, attempt->id);
        CHECK_EQ(sample_field((struct bytes){bytes, note.size}, 0), attempt->left);
    }
    bw_txn_abort(txn);
    bw_db_close(db);
}

static void an_object_without_room_for_its_id_needs_an_explicit_one(void)
{
    struct db *db = sample_create("put", &note_model);
    struct box *box = sample_box(db, 1);
    struct txn *txn = sample_begin(db, TXN_WRITE);
    struct flat_builder builder = {0};
    struct bytes note;
    bw_flat_begin(&builder, 3);
    CHECK_OK(bw_flat_finish(&builder, &note));
    uint64_t id = 0;
    CHECK_ERR(bw_box_put_object(box, txn, builder.data, note.size, PUT_ANY, &id), ILLEGAL);
    CHECK_EQ(strncmp(bw_reason_text(), "No ID value found in the given data - please prepare", 52),
             0);
    bw_flat_deinit(&builder);
    bw_txn_abort(txn);
    bw_db_close(db);
}

static void self_assigned_ids_move_the_sequence_when_put(void)
{
    struct sample_model model = note_model;
    model.entities[0].properties[0].flags = FLAG_ID | FLAG_ID_SELF_ASSIGNABLE;
    struct db *db = sample_create("put", &model);
    struct box *box = sample_box(db, 1);
    struct txn *txn = sample_begin(db, TXN_WRITE);
    struct bytes note = sample_note(40, "o", 1);
    uint8_t bytes[256];
    memcpy(bytes, note.data, note.size);
    uint64_t id = 0;
    CHECK_OK(bw_box_put_object(box, txn, bytes, note.size, PUT_ANY, &id));
    CHECK_EQ(id, 40);
    CHECK_OK(bw_box_id_for_put(box, txn, 0, &id));
    CHECK_EQ(id, 41);
    note = sample_note(500, "o", 1);
    memcpy(bytes, note.data, note.size);
    CHECK_ERR(bw_box_put_object(box, txn, bytes, note.size, PUT_UPDATE, &id), BW_ERR_ID_NOT_FOUND);
    CHECK_TEXT(bw_reason_text(), UNKNOWN(42));
    bw_txn_abort(txn);
    bw_db_close(db);
}

// ---- many ----

static void put_notes(const uint64_t *ids, struct bytes *objects, uint8_t room[][128], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct bytes note = sample_note(ids[i], "m", 100 + i);
        CHECK(note.size <= 128);
        memcpy(room[i], note.data, note.size);
        objects[i] = (struct bytes){room[i], note.size};
    }
}

static void many_are_put_all_or_none(void)
{
    struct db *db = sample_create("put", &note_model);
    struct box *box = sample_box(db, 1);
    CHECK_OK(sample_put(box, 1, 1, PUT_ANY));
    static uint8_t room[4][128];
    struct bytes objects[4];
    uint64_t ids[4] = {300, 1, 301, 1};
    put_notes(ids, objects, room, 4);
    struct txn *txn = sample_begin(db, TXN_WRITE);
    bw_reason_clear();
    CHECK_ERR(bw_box_put_many(box, txn, objects, ids, 3, PUT_INSERT, false),
              BW_ERR_ID_ALREADY_EXISTS);
    CHECK_TEXT(bw_reason_text(), ""); // an answer, not a failure with a text
    CHECK(!bw_txn_changed(txn));
    CHECK_ERR(bw_box_put_many(box, txn, objects, ids, 3, PUT_UPDATE, false), BW_ERR_ID_NOT_FOUND);
    CHECK(!bw_txn_changed(txn));
    uint64_t count = 0;
    CHECK_ERR(bw_box_put_many(box, txn, objects, ids, 3, PUT_INSERT, true),
              BW_ERR_ID_ALREADY_EXISTS);
    CHECK_OK(bw_box_count(box, txn, 0, &count));
    CHECK_EQ(count, 3);
    CHECK_EQ(sample_field(get(box, txn, 1), 2), 1);
    CHECK_OK(bw_box_put_many(box, txn, objects, ids, 4, PUT_ANY, false));
    CHECK_EQ(sample_field(get(box, txn, 1), 2), 103); // the last one wins
    CHECK_OK(bw_box_put_many(box, txn, objects, ids, 4, PUT_UPDATE, false));
    bw_txn_abort(txn);

    txn = sample_begin(db, TXN_WRITE); // the same id twice in one INSERT
    ids[1] = 300;
    CHECK_ERR(bw_box_put_many(box, txn, objects, ids, 3, PUT_INSERT, false),
              BW_ERR_ID_ALREADY_EXISTS);
    CHECK(!bw_txn_changed(txn));
    ids[1] = 0;
    CHECK_ERR(bw_box_put_many(box, txn, objects, ids, 3, PUT_ANY, false), ILLEGAL);
    CHECK_TEXT(bw_reason_text(), "Illegal ID value: 0");
    CHECK_EQ(bw_reason_place()->index, 1);
    ids[1] = 302;
    room[2][0] = 0xff;
    CHECK_ERR(bw_box_put_many(box, txn, objects, ids, 3, PUT_ANY, true), ILLEGAL);
    CHECK_EQ(bw_reason_place()->index, 2);
    CHECK(!bw_txn_changed(txn));
    CHECK_OK(bw_box_put_many(box, txn, NULL, NULL, 0, PUT_ANY, false));
    bw_txn_abort(txn);
    bw_db_close(db);
}

static void objects_with_a_unique_property_are_refused_rather_than_unchecked(void)
{
    static const struct sample_model unique_model = {
        .entities = {{.name = "Note",
                      .id = 1,
                      .properties = {SAMPLE_ID, {"text", STRING, 2, FLAG_UNIQUE, 1}}}}};
    struct db *db = sample_create("unique", &unique_model);
    struct box *box = sample_box(db, 1);
    struct txn *txn = sample_begin(db, TXN_WRITE);
    CHECK_ERR(bw_box_put(box, txn, 1, sample_note(1, "a", 1), PUT_ANY),
              BW_ERR_FEATURE_NOT_AVAILABLE);
    CHECK(strstr(bw_reason_text(), "Note.text") != NULL);
    CHECK_EQ(bw_reason_place()->property_id, 2);
    CHECK(!bw_txn_changed(txn));
    bw_txn_abort(txn);
    bw_db_close(db);
}

RUN_TESTS(TEST(objects_with_a_unique_property_are_refused_rather_than_unchecked),
          TEST(modes_say_what_may_exist), TEST(explicit_ids_are_not_the_placeholders),
          TEST(the_stored_copy_carries_the_id_it_is_stored_under),
          TEST(broken_objects_are_refused_with_entity_and_property),
          TEST(objects_with_their_id_inside_are_put_by_it),
          TEST(an_object_without_room_for_its_id_needs_an_explicit_one),
          TEST(self_assigned_ids_move_the_sequence_when_put), TEST(many_are_put_all_or_none))
