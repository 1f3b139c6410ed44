/* SPDX-License-Identifier: Apache-2.0 */
#include "api/argument.h"

#include "unit/api/pair_store.h"

static void texts_name_the_argument_and_the_condition(void)
{
    const void *box = NULL;
    const size_t size = 0;
    (void)box;
    (void)size;
    CHECK_ERR(ARGUMENT_NULL(box), BW_ERR_ILLEGAL_ARGUMENT);
    CHECK_REASON("Argument \"box\" must not be null (L");
    CHECK_ERR(ARGUMENT_CONDITION(size > 0), BW_ERR_ILLEGAL_ARGUMENT);
    CHECK_REASON("Argument condition \"size > 0\" not met (L");
}

static void each_wrong_handle_gets_its_own_answer(void)
{
    void *model = bw_pool_take(SLOT_MODEL);
    bw_slot_open(model);
    CHECK_OK(CHECK_HANDLE(model, SLOT_MODEL));

    const void *nothing = NULL;
    CHECK_ERR(CHECK_HANDLE(nothing, SLOT_MODEL), BW_ERR_ILLEGAL_ARGUMENT);
    CHECK_REASON("Argument \"nothing\" must not be null");
    CHECK_ERR(CHECK_HANDLE(model, SLOT_QUERY), BW_ERR_ILLEGAL_ARGUMENT);
    CHECK_REASON("Argument \"model\" is not a handle of its type");
    CHECK_OK(ENTER(model, SLOT_MODEL));
    CHECK_ERR(ENTER(model, SLOT_MODEL), BW_ERR_ILLEGAL_STATE);
    CHECK_REASON("Argument \"model\" is being used by another call");
    LEAVE(model);
    bw_pool_give(model);
    CHECK_ERR(CHECK_HANDLE(model, SLOT_MODEL), BW_ERR_ILLEGAL_ARGUMENT);
    CHECK_REASON("Argument \"model\" was closed before");
}

static void closed_stores_and_boxes_say_so(void)
{
    void *store = bw_pool_take(SLOT_STORE);
    bw_slot_open(store);
    bw_pool_give(store);
    CHECK_ERR(CHECK_HANDLE(store, SLOT_STORE), BW_ERR_SHUTTING_DOWN);
    CHECK_REASON("Illegal Store instance detected! This is a severe usage error that must be "
                 "fixed. State: dead");
}

/* Every function that takes a handle, with NULL, a closed one, and one of another kind. */
static void no_wrong_pointer_crashes(void)
{
    static uint8_t junk[256];
    OBX_model *closed = obx_model();
    CHECK_OK(obx_model_free(closed));
    OBX_model *model = obx_model();
    void *const pointers[] = {NULL, closed, model, junk + 64, (void *)(uintptr_t)64};
    for (size_t i = 0; i < sizeof(pointers) / sizeof(pointers[0]); i++) {
        void *pointer = pointers[i];
        uint64_t number = 0;
        bool flag = false;
        const uint8_t *data = NULL;
        size_t size = 0;
        CHECK(!obx_store_open(pointer));
        CHECK(!obx_box(pointer, 1));
        CHECK(!obx_txn_read(pointer) && !obx_txn_write(pointer));
        CHECK(!obx_query_builder(pointer, 1) && !obx_query(pointer) && !obx_query_find(pointer));
        CHECK(!obx_cursor(pointer, 1) && !obx_query_clone(pointer) && !obx_store_clone(pointer));
        CHECK(obx_box_get(pointer, 1, &data, &size) != 0);
        CHECK(obx_box_count(pointer, 0, &number) != 0);
        CHECK(obx_box_contains(pointer, 1, &flag) != 0);
        CHECK(obx_box_put(pointer, 1, junk, 8) != 0 && obx_box_remove(pointer, 1) != 0);
        CHECK(obx_box_put_object(pointer, junk, 8) == 0);
        CHECK(obx_txn_success(pointer) != 0 && obx_txn_abort(pointer) != 0);
        CHECK(obx_query_count(pointer, &number) != 0);
        CHECK(obx_cursor_first(pointer, &data, &size) != 0);
        CHECK(obx_opt_directory(pointer, "x") != 0);
        CHECK(obx_weak_store_lock(pointer) == NULL && obx_weak_store(pointer) == NULL);
        CHECK((obx_txn_close(pointer) == 0) == !pointer);
        CHECK((obx_store_close(pointer) == 0) == !pointer);
        CHECK((obx_query_close(pointer) == 0) == !pointer);
        CHECK((obx_qb_close(pointer) == 0) == !pointer);
        CHECK((obx_cursor_close(pointer) == 0) == !pointer);
        obx_opt_free(pointer);
        obx_weak_store_free(pointer);
        boxwood_scan_end(pointer);
        boxwood_txn_abort(pointer);
        boxwood_model_release(pointer);
    }
    CHECK_OK(obx_model_free(model));
    CHECK_OK(obx_model_free(NULL));
}

RUN_TESTS(TEST(texts_name_the_argument_and_the_condition),
          TEST(each_wrong_handle_gets_its_own_answer), TEST(closed_stores_and_boxes_say_so),
          TEST(no_wrong_pointer_crashes))
