/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of an object's bytes on their way into the store. */
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

static struct bytes lengthened(struct bytes note, size_t size)
{
    static uint8_t longer[8192];
    memset(longer, 0xee, sizeof(longer));
    memcpy(longer, note.data, note.size);
    return (struct bytes){longer, size};
}

static void sizes_are_rounded_up_to_four_with_zeros(void)
{
    for (int mode = PADDING_AUTOMATIC; mode <= PADDING_BY_BUFFER; mode++) {
        CHECK_OK(bw_store_remove(bw_disk_memory(), "put"));
        struct db_options options = sample_options("put");
        options.padding = (enum padding_mode)mode;
        struct db *db = NULL;
        CHECK_OK(sample_try_open(&options, &note_model, &db));
        struct box *box = sample_box(db, 1);
        struct txn *txn = sample_begin(db, TXN_WRITE);
        struct bytes note = sample_note(1, "ab", 1);
        for (size_t extra = 0; extra <= 1400; extra += extra < 8 ? 1 : 173) {
            struct bytes longer = lengthened(note, note.size + extra);
            uint8_t *exact = bw_new_raw(longer.size); // so that a byte read beyond it is noticed
            CHECK(exact);
            memcpy(exact, longer.data, longer.size);
            CHECK_OK(bw_box_put(box, txn, 1 + extra, (struct bytes){exact, longer.size}, PUT_ANY));
            struct bytes stored = get(box, txn, 1 + extra);
            CHECK_EQ(stored.size, (longer.size + 3) / 4 * 4);
            CHECK_EQ(sample_field(stored, 0), 1 + extra);
            for (size_t i = note.size; i < stored.size; i++)
                CHECK_EQ(stored.data[i], i < longer.size ? 0xee : 0);
            bw_free(exact);
        }
        bw_txn_abort(txn);
        bw_db_close(db);
    }
}

static void a_caller_who_pads_must_do_it_right(void)
{
    CHECK_OK(bw_store_remove(bw_disk_memory(), "put"));
    struct db_options options = sample_options("put");
    options.padding = PADDING_BY_CALLER;
    struct db *db = NULL;
    CHECK_OK(sample_try_open(&options, &note_model, &db));
    struct box *box = sample_box(db, 1);
    struct txn *txn = sample_begin(db, TXN_WRITE);
    struct bytes note = sample_note(1, "ab", 1);
    CHECK_OK(bw_box_put(box, txn, 1, note, PUT_ANY));
    for (size_t extra = 1; extra < 4; extra++) {
        char text[80];
        (void)snprintf(text, sizeof(text), "Object data is not correctly padded by caller: %zu",
                       note.size + extra);
        CHECK_ERR(bw_box_put(box, txn, 1, lengthened(note, note.size + extra), PUT_ANY), ILLEGAL);
        CHECK_TEXT(bw_reason_text(), text);
    }
    bw_txn_abort(txn);
    bw_db_close(db);
}

static void large_objects_keep_their_id_too(void)
{
    struct db *db = sample_create("put", &note_model);
    struct box *box = sample_box(db, 1);
    struct flat_builder builder = {0};
    size_t sizes[] = {3000, 20000, 5000000};
    static uint8_t text[5000000];
    memset(text, 'x', sizeof(text));
    for (int i = 0; i < 3; i++) {
        bw_flat_begin(&builder, 3);
        bw_flat_add_scalar(&builder, 0, 0, 8);
        bw_flat_add_bytes(&builder, 1, (struct bytes){text, sizes[i]}, FLAT_STRING);
        struct bytes note;
        CHECK_OK(bw_flat_finish(&builder, &note));
        struct txn *txn = sample_begin(db, TXN_WRITE);
        uint64_t id = 0;
        CHECK_OK(bw_box_put_object(box, txn, builder.data, note.size, PUT_ANY, &id));
        CHECK_EQ(id, i + 1);
        CHECK_OK(bw_db_commit(db, txn));
        txn = sample_begin(db, TXN_READ);
        struct bytes stored = get(box, txn, id);
        CHECK_EQ(stored.size, note.size);
        CHECK_BYTES(stored.data, note.data, note.size);
        CHECK_EQ(sample_field(stored, 0), id);
        bw_txn_abort(txn);
    }
    bw_flat_deinit(&builder);
    bw_db_close(db);
}

static void equal_bytes_are_not_written_again(void)
{
    struct db *db = sample_create("put", &note_model);
    struct box *box = sample_box(db, 1);
    CHECK_OK(sample_put(box, 5, 1, PUT_ANY));
    struct txn *txn = sample_begin(db, TXN_WRITE);
    CHECK_OK(bw_box_put(box, txn, 5, sample_note(5, "text", 1), PUT_ANY));
    CHECK_OK(bw_box_put(box, txn, 5, sample_note(9, "text", 1), PUT_UPDATE)); // the id is replaced
    CHECK(!bw_txn_changed(txn));
    CHECK_OK(bw_db_commit(db, txn));
    txn = sample_begin(db, TXN_WRITE);
    CHECK_OK(bw_box_put(box, txn, 5, sample_note(5, "text", 2), PUT_ANY));
    CHECK(bw_txn_changed(txn));
    bw_txn_abort(txn);
    bw_db_close(db);
}

RUN_TESTS(TEST(sizes_are_rounded_up_to_four_with_zeros), TEST(a_caller_who_pads_must_do_it_right),
          TEST(large_objects_keep_their_id_too), TEST(equal_bytes_are_not_written_again))
