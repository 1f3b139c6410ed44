/* SPDX-License-Identifier: Apache-2.0 */
#include "api/visit.h"

#include "unit/api/pair_store.h"

static const char here[] = "memory:visit";

/* What a visitor does at the second object. */
enum deed { NOTHING, STOP, WRITE, GET, BEGIN, CLOSE_TXN, CLOSE_STORE, CLOSE_QUERY };

struct guest {
    enum deed deed;
    OBX_store *store;
    OBX_box *box;
    OBX_txn *txn;
    OBX_query *query;
    size_t seen, missing;
    obx_err code;
};

static void act(struct guest *guest)
{
    const uint8_t *data = NULL;
    size_t size = 0;
    switch (guest->deed) {
    case WRITE:
        guest->code = pair_put(guest->box, 99) ? 0 : obx_last_error_code();
        break;
    case GET:
        guest->code = obx_box_get(guest->box, 3, &data, &size);
        break;
    case BEGIN:
        guest->txn = obx_txn_read(guest->store);
        break;
    case CLOSE_TXN:
        guest->code = obx_txn_close(guest->txn);
        break;
    case CLOSE_STORE:
        guest->code = obx_store_close(guest->store);
        break;
    case CLOSE_QUERY:
        guest->code = obx_query_close(guest->query);
        break;
    case NOTHING:
    case STOP:
        break;
    }
}

static bool look(const uint8_t *data, size_t size, void *user_data)
{
    struct guest *guest = user_data;
    guest->seen++;
    if (!data || size != PAIR_SIZE) guest->missing++;
    if (guest->seen == 2) act(guest);
    return guest->deed != STOP || guest->seen < 2;
}

static struct guest invite(enum deed deed)
{
    OBX_store *store = pair_open(here);
    OBX_box *box = obx_box(store, PAIR);
    for (int64_t i = 1; i <= 4; i++) CHECK_EQ(pair_put(box, i), (obx_id)i);
    obx_last_error_clear();
    return (struct guest){.deed = deed, .store = store, .box = box};
}

static void all_or_until_enough(void)
{
    struct guest guest = invite(NOTHING);
    CHECK_OK(obx_box_visit_all(guest.box, look, &guest));
    CHECK_EQ(guest.seen, 4u);
    guest.seen = 0;
    guest.deed = STOP;
    CHECK_OK(obx_box_visit_all(guest.box, look, &guest));
    CHECK_EQ(guest.seen, 2u);
    pair_end(guest.store, here);
}

static void many_by_id_with_gaps(void)
{
    struct guest guest = invite(NOTHING);
    OBX_id_array *ids = obx_id_array((const obx_id[]){2, 999, 1}, 3);
    CHECK_OK(obx_box_visit_many(guest.box, ids, look, &guest));
    CHECK_EQ(guest.seen, 3u);
    CHECK_EQ(guest.missing, 1u);
    ids->ids[0] = 0;
    CHECK_ERR(obx_box_visit_many(guest.box, ids, look, &guest), OBX_ERROR_ILLEGAL_ARGUMENT);
    CHECK_REASON("Illegal ID value: 0");
    obx_id_array_free(ids);
    CHECK_ERR(obx_box_visit_all(guest.box, NULL, NULL), OBX_ERROR_ILLEGAL_ARGUMENT);
    pair_end(guest.store, here);
}

static void a_visitor_may_read_and_not_write_in_a_visit_of_its_own(void)
{
    struct guest guest = invite(GET);
    CHECK_OK(obx_box_visit_all(guest.box, look, &guest));
    CHECK_EQ(guest.code, 0);
    guest.seen = 0;
    guest.deed = WRITE;
    CHECK_OK(obx_box_visit_all(guest.box, look, &guest));
    CHECK_EQ(guest.code, OBX_ERROR_ILLEGAL_STATE);
    CHECK_REASON("Cannot start a write transaction inside a read only transaction");
    pair_end(guest.store, here);
}

static void a_visitor_may_write_inside_a_write_transaction(void)
{
    struct guest guest = invite(WRITE);
    OBX_txn *txn = obx_txn_write(guest.store);
    CHECK_OK(obx_box_visit_all(guest.box, look, &guest));
    CHECK_EQ(guest.code, 0);
    CHECK_EQ(guest.seen, 5u); // what was put lies behind
    CHECK_OK(obx_txn_success(txn));
    CHECK_EQ(pair_count(guest.box), 5u);
    pair_end(guest.store, here);
}

static void a_transaction_left_open_by_a_visitor_lives_on(void)
{
    struct guest guest = invite(BEGIN);
    CHECK_OK(obx_box_visit_all(guest.box, look, &guest));
    const uint8_t *data = NULL;
    size_t size = 0;
    CHECK_OK(obx_box_get(guest.box, 1, &data, &size));
    CHECK_OK(obx_txn_close(guest.txn));
    CHECK_ERR(obx_box_get(guest.box, 1, &data, &size), OBX_ERROR_ILLEGAL_STATE);
    pair_end(guest.store, here);
}

static void a_visitor_that_ends_the_transaction_ends_the_visit(void)
{
    struct guest guest = invite(CLOSE_TXN);
    guest.txn = obx_txn_write(guest.store);
    CHECK_ERR(obx_box_visit_all(guest.box, look, &guest), OBX_ERROR_ILLEGAL_STATE);
    CHECK_EQ(guest.seen, 2u);
    CHECK_EQ(guest.code, 0);
    CHECK_EQ(pair_count(guest.box), 4u);
    pair_end(guest.store, here);
}

static void a_visitor_that_closes_the_store_does_not_wait_for_itself(void)
{
    struct guest guest = invite(CLOSE_STORE);
    CHECK_ERR(obx_box_visit_all(guest.box, look, &guest), OBX_ERROR_ILLEGAL_STATE);
    CHECK_EQ(guest.seen, 2u);
    CHECK_EQ(guest.code, 0);
    CHECK(!obx_store_is_open(here));
    pair_end(pair_open(here), here);
}

static void a_query_that_runs_is_not_entered_again(void)
{
    struct guest guest = invite(CLOSE_QUERY);
    OBX_query_builder *builder = obx_query_builder(guest.store, PAIR);
    guest.query = obx_query(builder);
    CHECK_OK(obx_query_visit(guest.query, look, &guest));
    CHECK_EQ(guest.code, OBX_ERROR_ILLEGAL_STATE);
    CHECK_EQ(guest.seen, 4u);
    guest.seen = 0;
    guest.deed = NOTHING;
    CHECK_OK(obx_query_offset_limit(guest.query, 1, 2));
    CHECK_OK(obx_query_visit(guest.query, look, &guest));
    CHECK_EQ(guest.seen, 2u);
    CHECK_OK(obx_query_close(guest.query));
    CHECK_OK(obx_qb_close(builder));
    pair_end(guest.store, here);
}

RUN_TESTS(TEST(all_or_until_enough), TEST(many_by_id_with_gaps),
          TEST(a_visitor_may_read_and_not_write_in_a_visit_of_its_own),
          TEST(a_visitor_may_write_inside_a_write_transaction),
          TEST(a_transaction_left_open_by_a_visitor_lives_on),
          TEST(a_visitor_that_ends_the_transaction_ends_the_visit),
          TEST(a_visitor_that_closes_the_store_does_not_wait_for_itself),
          TEST(a_query_that_runs_is_not_entered_again))
