/* SPDX-License-Identifier: Apache-2.0 */
/* Packed batches: checked as a whole, ids given at the end, the caller's bytes left alone. */
#include "unit/box/sample_db.h"

#define ILLEGAL BW_ERR_ILLEGAL_ARGUMENT

enum { ROOM = 4096, MANY = 16 };

/* A batch being packed; the bytes between objects are garbage on purpose. */
struct pack {
    uint64_t words[ROOM / 8];
    uint32_t ends[MANY];
    uint64_t ids[MANY];
    struct packed packed;
};

static void begin(struct pack *pack)
{
    memset(pack->words, 0xee, sizeof(pack->words));
    pack->packed = (struct packed){.data = (const uint8_t *)pack->words, .ends = pack->ends};
}

static void add_bytes(struct pack *pack, uint64_t id, struct bytes object)
{
    size_t at = bw_round_up(pack->packed.size, 8);
    CHECK(at + object.size <= ROOM);
    memcpy((uint8_t *)pack->words + at, object.data, object.size);
    pack->ids[pack->packed.count] = id;
    pack->packed.size = at + object.size;
    pack->ends[pack->packed.count++] = (uint32_t)pack->packed.size;
}

static void add(struct pack *pack, uint64_t id, uint64_t n)
{
    add_bytes(pack, id, sample_note(4711, "p", n)); // the id inside is ignored
}

static bw_err put(struct box *box, struct txn *txn, struct pack *pack, uint32_t flags)
{
    bool began = false;
    return bw_box_put_packed(box, txn, &pack->packed, pack->ids, flags, &began);
}

static void refused(struct box *box, struct txn *txn, struct pack *pack, uint32_t flags,
                    bw_err code)
{
    uint64_t before[MANY];
    memcpy(before, pack->ids, sizeof(before));
    bool changed = bw_txn_changed(txn), began = true;
    CHECK_ERR(bw_box_put_packed(box, txn, &pack->packed, pack->ids, flags, &began), code);
    CHECK(!began);
    CHECK_EQ(bw_txn_changed(txn), changed);
    CHECK_BYTES(pack->ids, before, sizeof(before));
}

static uint64_t stored_n(struct box *box, struct txn *txn, uint64_t id)
{
    struct bytes object;
    bool is_found = false;
    CHECK_OK(bw_box_get(box, txn, id, &object, &is_found));
    if (!is_found) return UINT64_MAX;
    CHECK_EQ(sample_field(object, 0), id);
    CHECK_EQ(object.size % 4, 0);
    return sample_field(object, 2);
}

static void new_objects_get_consecutive_ids_in_order(void)
{
    struct db *db = sample_create("packed", &note_model);
    struct box *box = sample_box(db, 1);
    CHECK_OK(sample_put(box, 7, 0, PUT_ANY));
    CHECK_EQ(sample_next_id(box), 1);
    static struct pack pack;
    begin(&pack);
    for (uint64_t i = 0; i < 4; i++) add(&pack, i % 2 ? UINT64_MAX : 0, 10 + i);
    uint64_t copy[ROOM / 8];
    memcpy(copy, pack.words, sizeof(copy));
    struct txn *txn = sample_begin(db, TXN_WRITE);
    CHECK_OK(put(box, txn, &pack, PACKED_PUT));
    for (uint64_t i = 0; i < 4; i++) {
        CHECK_EQ(pack.ids[i], 2 + i);
        CHECK_EQ(stored_n(box, txn, 2 + i), 10 + i);
    }
    CHECK_BYTES(pack.words, copy, sizeof(copy)); // the caller's bytes are never written to
    begin(&pack);
    add(&pack, 0, 20);
    add(&pack, 0, 21);
    CHECK_OK(put(box, txn, &pack, PACKED_INSERT));
    CHECK_EQ(pack.ids[0], 8); // 6 is free, but 6 and 7 are not
    CHECK_OK(bw_db_commit(db, txn));
    CHECK_EQ(sample_next_id(box), 10);
    CHECK_EQ(sample_count(box), 7);
    bw_db_close(db);
}

static void given_ids_follow_the_rules(void)
{
    struct db *db = sample_create("packed", &note_model);
    struct box *box = sample_box(db, 1);
    for (uint64_t id = 1; id <= 3; id++) {
        CHECK_EQ(sample_next_id(box), id);
        CHECK_OK(sample_put(box, id, id, PUT_ANY));
    }
    CHECK_OK(sample_put(box, 40, 40, PUT_ANY));
    struct txn *txn = sample_begin(db, TXN_WRITE);
    static struct pack pack;
    begin(&pack);
    add(&pack, 2, 52);
    add(&pack, 0, 50);
    add(&pack, 40, 90); // beyond the sequence, but stored
    add(&pack, 2, 53);  // the last one wins
    CHECK_OK(put(box, txn, &pack, PACKED_PUT));
    CHECK_EQ(pack.ids[1], 4);
    CHECK_EQ(stored_n(box, txn, 2), 53);
    CHECK_EQ(stored_n(box, txn, 40), 90);
    CHECK_EQ(stored_n(box, txn, 4), 50);

    begin(&pack);
    add(&pack, 1, 1);
    add(&pack, 30, 1);
    refused(box, txn, &pack, PACKED_PUT, ILLEGAL);
    CHECK_TEXT(bw_reason_text(),
               "ID is higher or equal to internal ID sequence: 30 (vs. 5). Use ID 0 "
               "(zero) to insert new objects.");
    CHECK_EQ(bw_reason_place()->index, 1);
    CHECK_EQ(bw_reason_place()->id, 30);
    CHECK_EQ(bw_reason_place()->entity_id, 1);
    refused(box, txn, &pack, PACKED_UPDATE, BW_ERR_ID_NOT_FOUND);
    refused(box, txn, &pack, PACKED_INSERT, BW_ERR_ID_ALREADY_EXISTS);
    CHECK_TEXT(bw_reason_text(), "Insert failed, given ID already exists: 1");
    CHECK_EQ(bw_reason_place()->index, 0);
    bw_txn_abort(txn);
    bw_db_close(db);
}

static void inserts_and_updates_look_at_store_and_batch(void)
{
    struct db *db = sample_create("packed", &note_model);
    struct box *box = sample_box(db, 1);
    uint64_t first = 0;
    CHECK_OK(bw_box_ids_for_put(box, NULL, 10, &first)); // reserved, not put
    CHECK_OK(sample_put(box, 2, 2, PUT_ANY));
    struct txn *txn = sample_begin(db, TXN_WRITE);
    static struct pack pack;
    begin(&pack);
    add(&pack, 5, 1);
    add(&pack, 0, 1);
    add(&pack, 5, 1);
    refused(box, txn, &pack, PACKED_INSERT, BW_ERR_ID_ALREADY_EXISTS);
    CHECK_EQ(bw_reason_place()->index, 2);
    begin(&pack);
    add(&pack, 2, 20);
    add(&pack, 5, 1);
    refused(box, txn, &pack, PACKED_UPDATE, BW_ERR_ID_NOT_FOUND);
    CHECK_TEXT(bw_reason_text(), "Update failed, given ID doesn't exist: 5");
    CHECK_EQ(bw_reason_place()->index, 1);
    begin(&pack);
    add(&pack, 2, 20);
    add(&pack, 0, 1);
    refused(box, txn, &pack, PACKED_UPDATE, ILLEGAL);
    CHECK_TEXT(bw_reason_text(),
               "Putting object failed because ID is not set (zero) for object to update");
    begin(&pack);
    add(&pack, 2, 20);
    add(&pack, 2, 21);
    CHECK_OK(put(box, txn, &pack, PACKED_UPDATE));
    CHECK_EQ(stored_n(box, txn, 2), 21);
    begin(&pack);
    add(&pack, 5, 1);
    add(&pack, 0, 2);
    CHECK_OK(put(box, txn, &pack, PACKED_INSERT));
    CHECK_EQ(pack.ids[1], 11);
    bw_txn_abort(txn);
    bw_db_close(db);
}

static void failed_ones_are_left_out_on_request(void)
{
    struct db *db = sample_create("packed", &note_model);
    struct box *box = sample_box(db, 1);
    for (uint64_t id = 1; id <= 2; id++) {
        CHECK_EQ(sample_next_id(box), id);
        CHECK_OK(sample_put(box, id, id, PUT_ANY));
    }
    struct txn *txn = sample_begin(db, TXN_WRITE);
    static struct pack pack;
    begin(&pack);
    add(&pack, 0, 30);
    add(&pack, 1, 31);
    add(&pack, 99, 32);
    add(&pack, 0, 33);
    CHECK_ERR(put(box, txn, &pack, PACKED_INSERT | PACKED_SKIP_FAILED), BW_ERR_NO_SUCCESS);
    CHECK_EQ(pack.ids[0], 3);
    CHECK_EQ(pack.ids[1], 0);
    CHECK_EQ(pack.ids[2], 0);
    CHECK_EQ(pack.ids[3], 4);
    CHECK_EQ(bw_reason_code(), BW_ERR_ID_ALREADY_EXISTS); // the first of them
    CHECK_EQ(bw_reason_place()->index, 1);
    CHECK_EQ(bw_reason_place()->id, 1);
    CHECK_EQ(stored_n(box, txn, 1), 1);
    CHECK_EQ(stored_n(box, txn, 4), 33);
    CHECK_OK(bw_db_commit(db, txn));
    bw_db_close(db);
}

static void a_wrong_layout_is_refused(void)
{
    struct db *db = sample_create("packed", &note_model);
    struct box *box = sample_box(db, 1);
    struct txn *txn = sample_begin(db, TXN_WRITE);
    static struct pack pack;
    begin(&pack);
    CHECK_OK(put(box, txn, &pack, PACKED_PUT)); // nothing
    for (int i = 0; i < 3; i++) add(&pack, 0, 1);
    const struct packed good = pack.packed;
    pack.packed.data++;
    refused(box, txn, &pack, PACKED_PUT, ILLEGAL);
    pack.packed = good;
    pack.packed.size--;
    refused(box, txn, &pack, PACKED_PUT, ILLEGAL);
    CHECK_EQ(bw_reason_place()->index, 2);
    pack.packed = good;
    pack.packed.count = ((size_t)1 << 24) + 1;
    refused(box, txn, &pack, PACKED_PUT, ILLEGAL);
    pack.packed = good;
    refused(box, txn, &pack, PACKED_INSERT | PACKED_UPDATE, ILLEGAL);
    refused(box, txn, &pack, 8, ILLEGAL);
    uint32_t end = pack.ends[1];
    pack.ends[1] = pack.ends[0];
    refused(box, txn, &pack, PACKED_PUT, ILLEGAL);
    pack.ends[1] = 0;
    refused(box, txn, &pack, PACKED_PUT, ILLEGAL);
    pack.ends[1] = UINT32_MAX;
    refused(box, txn, &pack, PACKED_PUT, ILLEGAL);
    CHECK_EQ(bw_reason_place()->index, 1);
    pack.ends[1] = end;
    CHECK_OK(put(box, txn, &pack, PACKED_PUT));
    bw_txn_abort(txn);
    bw_db_close(db);
}

static void one_broken_object_refuses_all(void)
{
    struct db *db = sample_create("packed", &note_model);
    struct box *box = sample_box(db, 1);
    struct txn *txn = sample_begin(db, TXN_WRITE);
    static struct pack pack;
    begin(&pack);
    add(&pack, 0, 1);
    add(&pack, 0, 1);
    add_bytes(&pack, 0, (struct bytes){(const uint8_t *)"short", 5});
    refused(box, txn, &pack, PACKED_SKIP_FAILED, ILLEGAL);
    CHECK_EQ(bw_reason_place()->index, 2);
    CHECK_EQ(bw_reason_place()->entity_id, 1);

    struct flat_builder builder = {0}; // no room for an id
    struct bytes note;
    bw_flat_begin(&builder, 0);
    CHECK_OK(bw_flat_finish(&builder, &note));
    begin(&pack);
    add(&pack, 0, 1);
    add_bytes(&pack, 0, note);
    refused(box, txn, &pack, PACKED_SKIP_FAILED, ILLEGAL);
    CHECK_EQ(bw_reason_place()->index, 1);
    CHECK_EQ(bw_reason_place()->property_id, 1);
    bw_flat_deinit(&builder);
    CHECK_EQ(sample_next_id(box), 1); // nothing was reserved
    bw_txn_abort(txn);
    bw_db_close(db);
}

static void sizes_are_padded_without_reading_beyond_the_buffer(void)
{
    struct db *db = sample_create("packed", &note_model);
    struct box *box = sample_box(db, 1);
    struct txn *txn = sample_begin(db, TXN_WRITE);
    struct bytes note = sample_note(1, "tail", 9);
    for (size_t extra = 0; extra < 8; extra++) {
        size_t second = bw_round_up(note.size + extra, 8), size = second + note.size + extra;
        uint8_t *exact = bw_new_raw(size);
        CHECK(exact);
        memset(exact, 0xee, size);
        memcpy(exact, note.data, note.size);
        memcpy(exact + second, note.data, note.size);
        const uint32_t ends[2] = {(uint32_t)(note.size + extra), (uint32_t)size};
        uint64_t ids[2] = {0, 0};
        struct packed packed = {.data = exact, .size = size, .ends = ends, .count = 2};
        bool began = false;
        CHECK_OK(bw_box_put_packed(box, txn, &packed, ids, PACKED_PUT, &began));
        CHECK(began);
        for (int i = 0; i < 2; i++) {
            struct bytes stored;
            bool is_found = false;
            CHECK_OK(bw_box_get(box, txn, ids[i], &stored, &is_found));
            CHECK_EQ(stored.size, bw_round_up(note.size + extra, 4));
            for (size_t k = note.size + extra; k < stored.size; k++) CHECK_EQ(stored.data[k], 0);
            CHECK_EQ(sample_field(stored, 0), ids[i]);
        }
        bw_free(exact);
    }
    bw_txn_abort(txn);
    bw_db_close(db);
}

static void equal_objects_are_not_written_again(void)
{
    struct db *db = sample_create("packed", &note_model);
    struct box *box = sample_box(db, 1);
    static struct pack pack;
    begin(&pack);
    for (uint64_t i = 0; i < 3; i++) add(&pack, 0, i);
    struct txn *txn = sample_begin(db, TXN_WRITE);
    CHECK_OK(put(box, txn, &pack, PACKED_PUT));
    CHECK_OK(bw_db_commit(db, txn));
    txn = sample_begin(db, TXN_WRITE);
    CHECK_OK(put(box, txn, &pack, PACKED_PUT)); // with the ids they got
    CHECK(!bw_txn_changed(txn));
    CHECK_OK(bw_db_commit(db, txn));
    CHECK_EQ(sample_count(box), 3);
    bw_db_close(db);
}

static void assigned_ids_are_not_given_to_new_objects_of_the_batch(void)
{
    struct sample_model model = note_model;
    model.entities[0].properties[0].flags = FLAG_ID | FLAG_ID_SELF_ASSIGNABLE;
    struct db *db = sample_create("packed", &model);
    struct box *box = sample_box(db, 1);
    static struct pack pack;
    begin(&pack);
    add(&pack, 0, 1);
    add(&pack, 2, 2);
    add(&pack, 0, 3);
    struct txn *txn = sample_begin(db, TXN_WRITE);
    CHECK_OK(put(box, txn, &pack, PACKED_PUT));
    CHECK_EQ(pack.ids[0], 3);
    CHECK_EQ(pack.ids[1], 2);
    CHECK_EQ(pack.ids[2], 4);
    uint64_t count = 0;
    CHECK_OK(bw_box_count(box, txn, 0, &count));
    CHECK_EQ(count, 3);
    bw_txn_abort(txn);
    bw_db_close(db);
}

static void running_out_of_memory_is_a_failure_and_nothing_stays(void)
{
    struct db *db = sample_create("packed", &note_model);
    struct box *box = sample_box(db, 1);
    static struct pack pack;
    for (int64_t allowed = 0;; allowed++) {
        begin(&pack);
        for (uint64_t i = 0; i < 10; i++) add(&pack, i == 3 ? 99 : 0, i);
        int64_t blocks = bw_memory_blocks();
        struct txn *txn = NULL;
        bw_memory_fail_after(allowed);
        bw_err err = bw_db_begin(db, TXN_WRITE, 0, &txn);
        if (!err) {
            err = put(box, txn, &pack, PACKED_INSERT | PACKED_SKIP_FAILED);
            if (err == BW_ERR_NO_SUCCESS) err = BW_OK;
            if (err) bw_txn_abort(txn);
            else err = bw_db_commit(db, txn);
        }
        bw_memory_fail_after(-1);
        if (!err) break;
        CHECK(err == BW_ERR_NO_MEMORY || err == BW_ERR_DB_FULL); // a disk in memory is full
        CHECK(bw_memory_blocks() <= blocks + 4); // the store may keep what it reads with
        CHECK_EQ(sample_count(box), 0);
        CHECK(allowed < 200);
    }
    CHECK_EQ(sample_count(box), 9);
    bw_db_close(db);
}

RUN_TESTS(TEST(new_objects_get_consecutive_ids_in_order), TEST(given_ids_follow_the_rules),
          TEST(inserts_and_updates_look_at_store_and_batch),
          TEST(failed_ones_are_left_out_on_request), TEST(a_wrong_layout_is_refused),
          TEST(one_broken_object_refuses_all),
          TEST(sizes_are_padded_without_reading_beyond_the_buffer),
          TEST(equal_objects_are_not_written_again),
          TEST(assigned_ids_are_not_given_to_new_objects_of_the_batch),
          TEST(running_out_of_memory_is_a_failure_and_nothing_stays))
