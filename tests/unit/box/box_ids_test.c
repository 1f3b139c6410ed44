/* SPDX-License-Identifier: Apache-2.0 */
/* Ids: which are handed out, which are accepted, and what of it lasts. */
#include "unit/box/sample_db.h"

#define UNKNOWN(id, next)                                                                      \
    "ID is higher or equal to internal ID sequence: " #id " (vs. " #next "). Use ID 0 (zero) " \
    "to insert new objects."

static uint64_t id_for(struct box *box, uint64_t candidate)
{
    uint64_t id = 0;
    return bw_box_id_for_put(box, NULL, candidate, &id) ? 0 : id;
}

static void refuses(struct box *box, uint64_t candidate, const char *text)
{
    uint64_t id = 0;
    CHECK_ERR(bw_box_id_for_put(box, NULL, candidate, &id), BW_ERR_ILLEGAL_ARGUMENT);
    CHECK_TEXT(bw_reason_text(), text);
    CHECK_EQ(bw_reason_place()->entity_id, 1);
}

static void new_ids_come_one_after_the_other(void)
{
    struct db *db = sample_create("ids", &note_model);
    struct box *box = sample_box(db, 1);
    CHECK_EQ(id_for(box, 0), 1);
    CHECK_EQ(id_for(box, 0), 2);
    CHECK_EQ(id_for(box, 1), 1);
    refuses(box, 3, UNKNOWN(3, 3));
    refuses(box, 100, UNKNOWN(100, 3));
    refuses(box, UINT64_MAX, UNKNOWN(18446744073709551615, 3));
    refuses(box, UINT64_MAX - 1, UNKNOWN(18446744073709551614, 3));
    bw_db_close(db);
}

static void ids_are_reserved_in_ranges(void)
{
    struct db *db = sample_create("ids", &note_model);
    struct box *box = sample_box(db, 1);
    CHECK_EQ(id_for(box, 0), 1);
    static const uint64_t counts[] = {0, 1, 5, 10000, 0}, firsts[] = {2, 2, 3, 8, 10008};
    for (int i = 0; i < 5; i++) {
        uint64_t first = 0;
        CHECK_OK(bw_box_ids_for_put(box, NULL, counts[i], &first));
        CHECK_EQ(first, firsts[i]);
    }
    uint64_t first = 77;
    CHECK_ERR(bw_box_ids_for_put(box, NULL, 10001, &first), BW_ERR_ILLEGAL_ARGUMENT);
    CHECK_TEXT(bw_reason_text(), "Limit for getting IDs is 10,000, but requested: 10001");
    CHECK_EQ(first, 77);
    bw_db_close(db);
}

static void explicit_puts_do_not_move_the_sequence_but_what_they_stored_is_stepped_over(void)
{
    struct db *db = sample_create("ids", &note_model);
    struct box *box = sample_box(db, 1);
    CHECK_EQ(id_for(box, 0), 1);
    CHECK_OK(sample_put(box, 1, 0, PUT_ANY));
    CHECK_OK(sample_put(box, 3, 0, PUT_ANY));
    CHECK_OK(sample_put(box, 77, 0, PUT_ANY));
    CHECK_EQ(id_for(box, 0), 2);
    CHECK_EQ(id_for(box, 0), 78); // 3 is taken
    CHECK_EQ(id_for(box, 77), 77);
    CHECK_EQ(id_for(box, 50), 50); // below the sequence
    CHECK_OK(sample_put(box, 90, 0, PUT_ANY));
    CHECK_EQ(id_for(box, 90), 90); // beyond it, but stored
    uint64_t first = 0;
    CHECK_OK(bw_box_ids_for_put(box, NULL, 20, &first));
    CHECK_EQ(first, 91); // 79 to 98 would hold 90
    bw_db_close(db);
}

static void what_a_transaction_stored_is_stepped_over_within_it(void)
{
    struct db *db = sample_create("ids", &note_model);
    struct box *box = sample_box(db, 1);
    struct txn *txn = sample_begin(db, TXN_WRITE);
    CHECK_OK(bw_box_put(box, txn, 1, sample_note(1, "a", 1), PUT_ANY));
    uint64_t id = 0;
    CHECK_OK(bw_box_id_for_put(box, txn, 0, &id));
    CHECK_EQ(id, 2);
    CHECK_OK(bw_box_put(box, txn, 3, sample_note(3, "a", 1), PUT_ANY));
    CHECK_OK(bw_box_id_for_put(box, txn, 0, &id));
    CHECK_EQ(id, 4);
    CHECK_OK(bw_db_commit(db, txn));
    bw_db_close(db);
}

static void ids_are_not_given_back(void)
{
    struct db *db = sample_create("ids", &note_model);
    struct box *box = sample_box(db, 1);
    struct txn *txn = sample_begin(db, TXN_WRITE);
    for (uint64_t i = 1; i <= 2; i++) {
        uint64_t id = 0;
        CHECK_OK(bw_box_id_for_put(box, txn, 0, &id));
        CHECK_EQ(id, i);
        CHECK_OK(bw_box_put(box, txn, id, sample_note(id, "a", 1), PUT_ANY));
    }
    bw_txn_abort(txn);
    CHECK_EQ(id_for(box, 0), 3); // not after an abort
    CHECK_OK(sample_put(box, 3, 0, PUT_ANY));
    txn = sample_begin(db, TXN_WRITE);
    uint64_t removed = 0;
    CHECK_OK(bw_box_remove_all(box, txn, &removed));
    CHECK_EQ(removed, 1);
    CHECK_OK(bw_db_commit(db, txn));
    CHECK_EQ(id_for(box, 0), 4); // not after a removal
    bw_db_close(db);
    db = sample_open("ids", &note_model);
    CHECK_EQ(id_for(sample_box(db, 1), 0), 4); // the one reserved after the last commit comes again
    bw_db_close(db);
}

static void after_opening_ids_go_on_behind_sequence_and_highest_id(void)
{
    struct db *db = sample_create("ids", &note_model);
    struct box *box = sample_box(db, 1);
    CHECK_EQ(id_for(box, 0), 1);
    CHECK_OK(sample_put(box, 1, 0, PUT_ANY));
    CHECK_OK(sample_put(box, 77, 0, PUT_ANY));
    CHECK_EQ(id_for(box, 0), 2);
    bw_db_close(db);
    db = sample_open("ids", NULL);
    CHECK_EQ(id_for(sample_box(db, 1), 0), 78);
    bw_db_close(db);
}

static struct sample_model assignable(void)
{
    struct sample_model model = note_model;
    model.entities[0].properties[0].flags = FLAG_ID | FLAG_ID_SELF_ASSIGNABLE;
    return model;
}

static void self_assignable_ids_move_the_sequence(void)
{
    struct sample_model model = assignable();
    struct db *db = sample_create("ids", &model);
    struct box *box = sample_box(db, 1);
    CHECK_EQ(id_for(box, 0), 1);
    CHECK_EQ(id_for(box, 100), 100);
    CHECK_EQ(id_for(box, 50), 50);
    CHECK_EQ(id_for(box, 0), 101);
    CHECK_EQ(id_for(box, 101), 101);
    refuses(box, UINT64_MAX, "Illegal ID value: -1"); // the placeholder of a new object
    CHECK_EQ(id_for(box, UINT64_MAX - 1), UINT64_MAX - 1);
    uint64_t id = 0;
    CHECK_ERR(bw_box_id_for_put(box, NULL, 0, &id), BW_ERR_NUMERIC_OVERFLOW);
    CHECK_ERR(bw_box_ids_for_put(box, NULL, 0, &id), BW_ERR_NUMERIC_OVERFLOW);
    CHECK_EQ(id_for(box, UINT64_MAX - 1), UINT64_MAX - 1);
    bw_db_close(db);
}

static void a_range_must_fit_below_the_highest_id(void)
{
    struct sample_model model = assignable();
    struct db *db = sample_create("ids", &model);
    struct box *box = sample_box(db, 1);
    CHECK_EQ(id_for(box, UINT64_MAX - 4), UINT64_MAX - 4);
    uint64_t first = 0;
    CHECK_ERR(bw_box_ids_for_put(box, NULL, 4, &first), BW_ERR_NUMERIC_OVERFLOW);
    CHECK_OK(bw_box_ids_for_put(box, NULL, 3, &first));
    CHECK_EQ(first, UINT64_MAX - 3);
    bw_db_close(db);
}

static void big_ids_are_stored_and_found(void)
{
    static const uint64_t ids[] = {0xffffffff,       0x100000000, 0x100000005,
                                   (1ull << 53) + 1, INT64_MAX,   UINT64_MAX - 1};
    struct db *db = sample_create("ids", &note_model);
    struct box *box = sample_box(db, 1);
    for (int i = 0; i < 6; i++) CHECK_OK(sample_put(box, ids[i], ids[i] / 2, PUT_INSERT));
    struct txn *txn = sample_begin(db, TXN_READ);
    for (int i = 0; i < 6; i++) {
        struct bytes object;
        bool is_found = false;
        CHECK_OK(bw_box_get(box, txn, ids[i], &object, &is_found));
        CHECK(is_found);
        CHECK_EQ(sample_field(object, 0), ids[i]);
        CHECK_EQ(sample_field(object, 2), ids[i] / 2);
    }
    bw_txn_abort(txn);
    bw_db_close(db);
    db = sample_open("ids", NULL);
    uint64_t id = 0; // the highest id is taken: nothing is left behind it
    CHECK_ERR(bw_box_id_for_put(sample_box(db, 1), NULL, 0, &id), BW_ERR_NUMERIC_OVERFLOW);
    bw_db_close(db);
}

struct taker {
    struct thread thread;
    struct box *box;
    uint64_t sum;
};

static void take(void *argument)
{
    struct taker *taker = argument;
    for (int i = 0; i < 1000; i++) {
        uint64_t first = 0;
        CHECK_OK(bw_box_ids_for_put(taker->box, NULL, 2, &first));
        taker->sum += first;
    }
}

static void threads_never_get_the_same_id(void)
{
    struct db *db = sample_create("ids", &note_model);
    struct taker takers[3] = {{.box = NULL}};
    uint64_t sum = 0, expected = 0;
    for (int i = 0; i < 3; i++) {
        takers[i].box = sample_box(db, 1);
        CHECK_OK(bw_thread_start(&takers[i].thread, take, &takers[i]));
    }
    for (int i = 0; i < 3; i++) {
        bw_thread_join(&takers[i].thread);
        sum += takers[i].sum;
    }
    for (uint64_t i = 0; i < 3000; i++) expected += 2 * i + 1;
    CHECK_EQ(sum, expected);
    CHECK_EQ(id_for(takers[0].box, 0), 6001);
    bw_db_close(db);
}

RUN_TESTS(TEST(new_ids_come_one_after_the_other), TEST(ids_are_reserved_in_ranges),
          TEST(explicit_puts_do_not_move_the_sequence_but_what_they_stored_is_stepped_over),
          TEST(what_a_transaction_stored_is_stepped_over_within_it), TEST(ids_are_not_given_back),
          TEST(after_opening_ids_go_on_behind_sequence_and_highest_id),
          TEST(self_assignable_ids_move_the_sequence), TEST(a_range_must_fit_below_the_highest_id),
          TEST(big_ids_are_stored_and_found), TEST(threads_never_get_the_same_id))
