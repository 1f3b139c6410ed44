/* SPDX-License-Identifier: Apache-2.0 */
#include "api/access.h"

#include "unit/api/pair_store.h"

static const char here[] = "memory:access";

static struct place place_of(OBX_box *box)
{
    struct place place = {0};
    CHECK_OK(PLACE_OF_BOX(box, &place));
    return place;
}

static void without_a_transaction_a_call_makes_its_own(void)
{
    OBX_store *store = pair_open(here);
    const struct place place = place_of(obx_box(store, PAIR));
    struct access access;
    CHECK_OK(bw_access_begin(&access, &place, ACCESS_WRITE));
    CHECK(!access.top);
    uint8_t object[PAIR_SIZE];
    pair_write(object, 1, 1);
    CHECK_OK(bw_box_put(access.box, access.txn, 1, (struct bytes){object, PAIR_SIZE}, PUT_ANY));
    CHECK_OK(bw_access_end(&access, BW_OK));
    CHECK_EQ(pair_count(obx_box(store, PAIR)), 1u);

    // What fails is not stored, and the failure is handed on.
    CHECK_OK(bw_access_begin(&access, &place, ACCESS_WRITE));
    CHECK_OK(bw_box_put(access.box, access.txn, 2, (struct bytes){object, PAIR_SIZE}, PUT_ANY));
    CHECK_ERR(bw_access_end_single(&access, BW_ERR_NOT_FOUND), BW_ERR_NOT_FOUND);
    CHECK_EQ(pair_count(obx_box(store, PAIR)), 1u);
    pair_end(store, here);
}

static void bytes_need_a_transaction_of_the_thread(void) // C4
{
    OBX_store *store = pair_open(here);
    const struct place place = place_of(obx_box(store, PAIR));
    struct access access;
    CHECK_ERR(bw_access_begin(&access, &place, ACCESS_BYTES), BW_ERR_ILLEGAL_STATE);
    CHECK_REASON("An existing transaction is required");
    OBX_txn *txn = obx_txn_read(store);
    const uint32_t refs = atomic_load(&place.core->refs);
    CHECK_OK(bw_access_begin(&access, &place, ACCESS_BYTES));
    CHECK_EQ(access.top, txn);
    CHECK_EQ(atomic_load(&place.core->refs), refs);
    CHECK_OK(bw_access_end(&access, BW_OK));
    CHECK_OK(obx_txn_close(txn));
    pair_end(store, here);
}

static void the_worlds_faults_doom_the_threads_transaction(void)
{
    OBX_store *store = pair_open(here);
    OBX_box *box = obx_box(store, PAIR);
    const struct place place = place_of(box);
    struct access access;
    OBX_txn *txn = obx_txn_write(store);
    CHECK_OK(bw_access_begin(&access, &place, ACCESS_WRITE));
    CHECK_ERR(bw_access_end(&access, BW_ERR_ID_NOT_FOUND), BW_ERR_ID_NOT_FOUND);
    CHECK_OK(bw_access_begin(&access, &place, ACCESS_WRITE));
    CHECK_ERR(bw_access_end_single(&access, BW_ERR_DB_FULL), BW_ERR_DB_FULL);
    CHECK_EQ(pair_count(box), 0u); // still usable
    CHECK_OK(bw_access_begin(&access, &place, ACCESS_WRITE));
    CHECK_ERR(bw_access_end(&access, BW_ERR_DB_FULL), BW_ERR_DB_FULL);
    CHECK_ERR(bw_access_begin(&access, &place, ACCESS_READ), BW_ERR_ILLEGAL_STATE);
    CHECK_ERR(obx_txn_success(txn), OBX_ERROR_ILLEGAL_STATE);
    pair_end(store, here);
}

static void faults_of_the_world_are_told_from_others(void)
{
    CHECK(bw_access_is_world_fault(BW_ERR_NO_MEMORY));
    CHECK(bw_access_is_world_fault(BW_ERR_STORAGE_GENERAL));
    CHECK(bw_access_is_world_fault(BW_ERR_FILE_PAGES_CORRUPT));
    CHECK(!bw_access_is_world_fault(BW_OK));
    CHECK(!bw_access_is_world_fault(BW_ERR_ILLEGAL_ARGUMENT));
    CHECK(!bw_access_is_world_fault(BW_ERR_UNIQUE_VIOLATED));
}

RUN_TESTS(TEST(without_a_transaction_a_call_makes_its_own),
          TEST(bytes_need_a_transaction_of_the_thread),
          TEST(the_worlds_faults_doom_the_threads_transaction),
          TEST(faults_of_the_world_are_told_from_others))
