/* SPDX-License-Identifier: Apache-2.0 */
#include "api/thread_txn.h"

#include "unit/api/pair_store.h"

static const char here[] = "memory:txn";

static struct {
    OBX_store *store;
    OBX_box *box;
} open;

static void begin_test(void)
{
    open.store = pair_open(here);
    open.box = obx_box(open.store, PAIR);
    CHECK_EQ(pair_put(open.box, 1), 1u);
}

static void end_test(void)
{
    pair_end(open.store, here);
    obx_last_error_clear();
}

static void only_the_outermost_commits(void)
{
    begin_test();
    OBX_txn *outer = obx_txn_write(open.store), *inner = obx_txn_write(open.store);
    CHECK_EQ(pair_put(open.box, 2), 2u);
    CHECK_OK(obx_txn_success(inner));
    CHECK_OK(obx_txn_close(outer));
    CHECK_EQ(pair_count(open.box), 1u);

    outer = obx_txn_write(open.store);
    inner = obx_txn_write(open.store);
    CHECK(pair_put(open.box, 2) != 0);
    CHECK_OK(obx_txn_success(inner));
    CHECK_OK(obx_txn_success(outer));
    CHECK_EQ(pair_count(open.box), 2u);
    end_test();
}

static void an_inner_abort_dooms_the_outer(void) // X1, X2
{
    begin_test();
    OBX_txn *outer = obx_txn_write(open.store), *inner = obx_txn_write(open.store);
    CHECK(pair_put(open.box, 2) != 0);
    CHECK_OK(obx_txn_close(inner));
    uint64_t count = 0;
    CHECK_ERR(obx_box_count(open.box, 0, &count), OBX_ERROR_ILLEGAL_STATE);
    CHECK_REASON("TX is not active anymore: #");
    CHECK(pair_put(open.box, 3) == 0 && !obx_txn_read(open.store));
    CHECK_REASON("TX is not active anymore: #");
    CHECK_ERR(obx_txn_success(outer), OBX_ERROR_ILLEGAL_STATE);
    CHECK_REASON("TX is not active anymore: #");
    CHECK_EQ(pair_count(open.box), 1u);
    end_test();
}

static void an_abort_ends_at_once_and_success_is_not_reported(void)
{
    begin_test();
    OBX_txn *txn = obx_txn_write(open.store);
    CHECK(pair_put(open.box, 2) != 0);
    CHECK_OK(obx_txn_abort(txn));
    CHECK(pair_put(open.box, 2) == 0);
    CHECK_ERR(obx_txn_success(txn), OBX_ERROR_ILLEGAL_STATE);
    CHECK_EQ(pair_count(open.box), 1u);

    OBX_txn *reader = obx_txn_read(open.store);
    CHECK_OK(obx_txn_abort(reader));
    CHECK_OK(obx_txn_close(reader));
    end_test();
}

static void success_needs_every_inner_write_to_be_closed(void)
{
    begin_test();
    OBX_txn *outer = obx_txn_write(open.store), *inner = obx_txn_write(open.store);
    CHECK(pair_put(open.box, 2) != 0);
    CHECK_ERR(obx_txn_success(outer), OBX_ERROR_ILLEGAL_STATE);
    CHECK_REASON("TX is not active anymore: #");
    CHECK_ERR(obx_txn_success(inner), OBX_ERROR_ILLEGAL_STATE);
    CHECK_EQ(pair_count(open.box), 1u);
    end_test();
}

static void writing_inside_reading_is_refused_and_harmless(void)
{
    begin_test();
    OBX_txn *reader = obx_txn_read(open.store);
    CHECK(!obx_txn_write(open.store));
    CHECK_EQ(obx_last_error_code(), OBX_ERROR_ILLEGAL_STATE);
    CHECK_REASON("Cannot start a write transaction inside a read only transaction");
    CHECK_EQ(pair_put(open.box, 2), 0u);
    CHECK_ERR(obx_box_remove(open.box, 1), OBX_ERROR_ILLEGAL_STATE);
    CHECK_EQ(pair_count(open.box), 1u);
    CHECK_ERR(obx_txn_success(reader), OBX_ERROR_ILLEGAL_STATE);
    CHECK_REASON("Cannot set success on a non-write TX");
    CHECK(pair_put(open.box, 2) != 0); // the reader ended with that
    end_test();
}

static void handles_may_be_closed_in_any_order(void) // X3
{
    begin_test();
    OBX_txn *writer = obx_txn_write(open.store), *reader = obx_txn_read(open.store);
    CHECK(pair_put(open.box, 2) != 0);
    CHECK_EQ(pair_count(open.box), 2u);
    CHECK_OK(obx_txn_success(writer));
    CHECK_EQ(pair_count(open.box), 2u); // begun anew
    CHECK_OK(obx_txn_close(reader));

    OBX_txn *first = obx_txn_read(open.store), *second = obx_txn_read(open.store);
    const uint8_t *data = NULL;
    size_t size = 0;
    CHECK_OK(obx_txn_close(first));
    CHECK_OK(obx_box_get(open.box, 1, &data, &size)); // the snapshot stays with the second
    CHECK_OK(obx_txn_close(second));
    CHECK_ERR(obx_box_get(open.box, 1, &data, &size), OBX_ERROR_ILLEGAL_STATE);
    CHECK_REASON("An existing transaction is required");
    end_test();
}

static void a_reader_keeps_its_snapshot(void)
{
    begin_test();
    OBX_txn *reader = obx_txn_read(open.store);
    CHECK_EQ(pair_count(open.box), 1u);
    boxwood_txn *writer = NULL;
    CHECK_OK(boxwood_txn_begin(open.store, BOXWOOD_TXN_WRITE, 0, &writer, NULL));
    CHECK_OK(boxwood_box_remove_all(open.box, writer, NULL, NULL));
    CHECK_OK(boxwood_txn_commit(writer, NULL));
    CHECK_EQ(pair_count(open.box), 1u);
    CHECK_OK(obx_txn_close(reader));
    CHECK_EQ(pair_count(open.box), 0u);
    end_test();
}

static void succeed_elsewhere(void *argument)
{
    OBX_txn **txn = argument;
    obx_err code = obx_txn_success(*txn);
    if (code != OBX_ERROR_ILLEGAL_STATE) *txn = NULL;
    code = obx_txn_close(*txn);
    if (code != OBX_ERROR_ILLEGAL_STATE) *txn = NULL;
    if (!strstr(obx_last_error_message(), "was begun by another thread")) *txn = NULL;
}

static void another_thread_is_refused_and_changes_nothing(void)
{
    begin_test();
    OBX_txn *txn = obx_txn_write(open.store), *same = txn;
    CHECK(pair_put(open.box, 2) != 0);
    struct thread thread;
    CHECK_OK(bw_thread_start(&thread, succeed_elsewhere, &same));
    bw_thread_join(&thread);
    CHECK_EQ(same, txn);
    CHECK_OK(obx_txn_success(txn));
    CHECK_EQ(pair_count(open.box), 2u);
    end_test();
}

static void a_closed_handle_is_told_from_an_open_one(void)
{
    begin_test();
    OBX_txn *txn = obx_txn_write(open.store);
    CHECK_OK(obx_txn_success(txn));
    CHECK_ERR(obx_txn_success(txn), OBX_ERROR_ILLEGAL_STATE);
    CHECK_REASON("TX is not active anymore: #");
    CHECK_ERR(obx_txn_close(txn), OBX_ERROR_ILLEGAL_STATE);
    CHECK_ERR(obx_txn_success(NULL), OBX_ERROR_ILLEGAL_ARGUMENT);
    CHECK_OK(obx_txn_close(NULL));
    CHECK(!obx_cursor(txn, PAIR));
    end_test();
}

static void a_refused_put_leaves_the_transaction_usable(void)
{
    begin_test();
    OBX_txn *txn = obx_txn_write(open.store);
    uint8_t object[PAIR_SIZE];
    pair_write(object, 1, 5);
    CHECK(pair_put(open.box, 2) != 0);
    CHECK_ERR(obx_box_insert(open.box, 1, object, sizeof(object)), OBX_ERROR_ID_ALREADY_EXISTS);
    CHECK_REASON("Insert failed, given ID already exists: 1");
    CHECK_OK(obx_txn_success(txn));
    CHECK_EQ(pair_count(open.box), 2u);
    end_test();
}

static void two_stores_have_two_transactions(void) // X4
{
    begin_test();
    OBX_store *second = pair_open("memory:txn2");
    OBX_txn *reader = obx_txn_read(open.store), *writer = obx_txn_write(second);
    CHECK(reader && writer);
    OBX_box *box = obx_box(second, PAIR);
    CHECK(pair_put(box, 7) != 0);
    CHECK(bw_thread_txn_find(obx_store_id(second)) == writer);
    CHECK(bw_thread_txn_find(obx_store_id(open.store)) == reader);
    CHECK_OK(obx_txn_close(reader));
    CHECK_OK(obx_txn_success(writer));
    CHECK(!bw_thread_txn_find(obx_store_id(second)));
    pair_end(second, "memory:txn2");
    end_test();
}

static void data_size_follows_the_transaction(void)
{
    begin_test();
    OBX_txn *txn = obx_txn_write(open.store);
    uint64_t committed = 0;
    int64_t change = 1;
    CHECK_OK(obx_txn_data_size(txn, &committed, &change));
    CHECK_EQ(committed, (uint64_t)PAIR_SIZE);
    CHECK_EQ(change, 0);
    CHECK(pair_put(open.box, 2) != 0);
    CHECK_OK(obx_txn_data_size(txn, NULL, &change));
    CHECK_EQ(change, PAIR_SIZE);
    CHECK_OK(obx_txn_close(txn));
    end_test();
}

RUN_TESTS(TEST(only_the_outermost_commits), TEST(an_inner_abort_dooms_the_outer),
          TEST(an_abort_ends_at_once_and_success_is_not_reported),
          TEST(success_needs_every_inner_write_to_be_closed),
          TEST(writing_inside_reading_is_refused_and_harmless),
          TEST(handles_may_be_closed_in_any_order), TEST(a_reader_keeps_its_snapshot),
          TEST(another_thread_is_refused_and_changes_nothing),
          TEST(a_closed_handle_is_told_from_an_open_one),
          TEST(a_refused_put_leaves_the_transaction_usable), TEST(two_stores_have_two_transactions),
          TEST(data_size_follows_the_transaction))
