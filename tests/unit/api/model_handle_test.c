/* SPDX-License-Identifier: Apache-2.0 */
#include "api/model_handle.h"

#include "unit/api/pair_store.h"

static void taking_closes_the_handle(void)
{
    OBX_model *model = obx_model();
    struct model *taken = NULL;
    CHECK_OK(bw_model_handle_take(model, __LINE__, &taken));
    CHECK(taken != NULL);
    bw_model_free(taken);
    CHECK_ERR(bw_model_handle_take(model, __LINE__, &taken), BW_ERR_ILLEGAL_ARGUMENT);
    CHECK_REASON("Argument \"model\" was closed before");
    CHECK_ERR(bw_model_handle_take(NULL, __LINE__, &taken), BW_ERR_ILLEGAL_ARGUMENT);
    CHECK_REASON("Argument \"model\" must not be null");
}

static void the_first_error_sticks(void)
{
    OBX_model *model = obx_model();
    CHECK_ERR(obx_model_property(model, "id", OBXPropertyType_Long, 1, 1), OBX_ERROR_ILLEGAL_STATE);
    CHECK_TEXT(obx_model_error_message(model), "No entity started");
    CHECK_ERR(obx_model_entity(model, "A", 1, 1), OBX_ERROR_ILLEGAL_STATE);
    CHECK_EQ(obx_model_error_code(model), OBX_ERROR_ILLEGAL_STATE);
    obx_model_last_entity_id(model, 1, 1);
    CHECK_OK(obx_model_free(model));
    CHECK(!obx_model_error_message(NULL));
    CHECK_ERR(obx_model_error_code(NULL), OBX_ERROR_ILLEGAL_ARGUMENT);
}

static void a_compiled_model_opens_any_number_of_stores(void)
{
    boxwood_model *compiled = NULL;
    boxwood_failure failure;
    CHECK_OK(boxwood_model_compile(pair_model(), &compiled, &failure));
    for (int i = 0; i < 2; i++) {
        OBX_store_options *opt = obx_opt();
        CHECK_OK(obx_opt_directory(opt, "memory:compiled"));
        CHECK_OK(boxwood_opt_model(opt, compiled));
        OBX_store *store = NULL;
        CHECK_OK(boxwood_store_open(opt, &store, &failure));
        CHECK(obx_box(store, PAIR) != NULL);
        CHECK_OK(obx_store_close(store));
    }
    boxwood_model_release(compiled);
    boxwood_model_release(compiled); // closed: nothing happens
    CHECK_OK(obx_remove_db_files("memory:compiled"));
    CHECK_ERR(boxwood_model_compile(obx_model(), &compiled, &failure), OBX_ERROR_ILLEGAL_STATE);
    CHECK_TEXT(failure.message, "No entities added");
}

RUN_TESTS(TEST(taking_closes_the_handle), TEST(the_first_error_sticks),
          TEST(a_compiled_model_opens_any_number_of_stores))
