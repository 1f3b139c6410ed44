/* SPDX-License-Identifier: Apache-2.0 */
/* Counting, going through and removing objects. */
#include "unit/box/sample_db.h"

static void removing_counts_what_was_there(void)
{
    struct db *db = sample_create("put", &note_model);
    struct box *box = sample_box(db, 1);
    for (uint64_t id = 1; id <= 4; id++) CHECK_OK(sample_put(box, id, id, PUT_ANY));
    struct txn *txn = sample_begin(db, TXN_WRITE);
    const uint64_t ids[] = {1, 999, 2, 1};
    uint64_t count = 0;
    bool answer = true;
    CHECK_OK(bw_box_remove_many(box, txn, ids, 4, &count));
    CHECK_EQ(count, 2);
    CHECK_OK(bw_box_remove_many(box, txn, ids, 0, &count));
    CHECK_EQ(count, 0);
    CHECK_OK(bw_box_remove(box, txn, 999, &answer));
    CHECK(!answer);
    CHECK_OK(bw_box_remove(box, txn, 3, &answer));
    CHECK(answer);
    CHECK_OK(bw_box_contains(box, txn, 3, &answer));
    CHECK(!answer);
    CHECK_OK(bw_box_contains(box, txn, 4, &answer));
    CHECK(answer);
    CHECK_OK(bw_db_commit(db, txn));
    CHECK_EQ(sample_count(box), 1);
    txn = sample_begin(db, TXN_WRITE);
    CHECK_OK(bw_box_remove_all(box, txn, &count));
    CHECK_EQ(count, 1);
    CHECK_OK(bw_box_remove_all(box, txn, &count));
    CHECK_EQ(count, 0);
    CHECK_OK(bw_db_commit(db, txn));
    bw_db_close(db);
}

static void counting_stops_at_a_limit(void)
{
    struct db *db = sample_create("put", &note_model);
    struct box *box = sample_box(db, 1);
    for (uint64_t id = 1; id <= 4; id++) CHECK_OK(sample_put(box, id, id, PUT_ANY));
    struct txn *txn = sample_begin(db, TXN_READ);
    static const uint64_t limits[] = {0, 1, 4, 5}, counts[] = {4, 1, 4, 4};
    for (int i = 0; i < 4; i++) {
        uint64_t count = 0;
        CHECK_OK(bw_box_count(box, txn, limits[i], &count));
        CHECK_EQ(count, counts[i]);
    }
    struct cursor cursor;
    bw_box_cursor(box, txn, &cursor);
    bool is_found = false;
    for (uint64_t id = 1; id <= 4; id++) {
        CHECK_OK(bw_cursor_next(&cursor, &is_found));
        CHECK(is_found);
        CHECK_EQ(cursor.key, id);
        CHECK_EQ(sample_field(cursor.value, 2), id);
    }
    CHECK_OK(bw_cursor_next(&cursor, &is_found));
    CHECK(!is_found);
    bw_txn_abort(txn);
    bw_db_close(db);
}

RUN_TESTS(TEST(removing_counts_what_was_there), TEST(counting_stops_at_a_limit))
