/* SPDX-License-Identifier: Apache-2.0 */
#include "api/open_options.h"

#include "unit/api/pair_store.h"

static void defaults_are_those_of_the_abi_but_for_the_limit(void)
{
    OBX_store_options *opt = obx_opt();
    CHECK_TEXT(obx_opt_get_directory(opt), "objectbox");
    CHECK_EQ(obx_opt_get_max_db_size_in_kb(opt), 0u);
    CHECK_EQ(obx_opt_get_max_data_size_in_kb(opt), 0u);
    CHECK_EQ(obx_opt_get_debug_flags(opt), 0u);
    CHECK_EQ(opt->options->file_mode, 0644u);
    CHECK_EQ(opt->options->durability, DURABLE_FULL);
    obx_opt_free(opt);
    obx_opt_free(NULL);
}

static void what_is_set_is_kept(void)
{
    OBX_store_options *opt = obx_opt();
    CHECK_OK(obx_opt_directory(opt, "a"));
    CHECK_OK(obx_opt_directory(opt, "b"));
    obx_opt_max_db_size_in_kb(opt, 100);
    obx_opt_max_data_size_in_kb(opt, 50);
    obx_opt_debug_flags(opt, 4);
    obx_opt_add_debug_flags(opt, 3);
    obx_opt_async_pre_txn_delay4(opt, 1, 2, 3);
    obx_opt_async_post_txn_delay5(opt, 4, 5, 6, true);
    obx_opt_async_max_queue_length(opt, 7);
    CHECK_TEXT(obx_opt_get_directory(opt), "b");
    CHECK_EQ(obx_opt_get_max_db_size_in_kb(opt), 100u);
    CHECK_EQ(obx_opt_get_max_data_size_in_kb(opt), 50u);
    CHECK_EQ(obx_opt_get_debug_flags(opt), 7u);
    const struct async_options *async = &opt->options->async;
    CHECK_EQ(async->pre_txn_delay2, 2u);
    CHECK_EQ(async->min_queue_length_for_pre_delay2, 3u);
    CHECK_EQ(async->post_txn_delay, 4u);
    CHECK(async->subtract_processing_time);
    CHECK_EQ(async->max_queue_length, 7u);
    obx_opt_free(opt);
}

static void getters_of_nothing_give_nothing(void)
{
    CHECK(!obx_opt_get_directory(NULL));
    CHECK_EQ(obx_opt_get_max_db_size_in_kb(NULL), 0u);
    CHECK_EQ(obx_opt_get_debug_flags(NULL), 0u);
}

static void freeing_gives_all_memory_back(void)
{
    obx_opt_free(pair_options("x")); // the pools have their first chunks
    const int64_t before = bw_memory_blocks();
    obx_opt_free(pair_options("x"));
    CHECK_EQ(bw_memory_blocks(), before);
}

static void a_failed_setter_makes_opening_fail(void)
{
    OBX_store_options *opt = pair_options("memory:options");
    CHECK_ERR(obx_opt_directory(opt, NULL), OBX_ERROR_ILLEGAL_ARGUMENT);
    CHECK_REASON("Argument \"dir\" must not be null");
    CHECK(!obx_store_open(opt));
    CHECK_REASON("An error had occurred before during setting options");

    opt = obx_opt();
    CHECK_ERR(obx_opt_model(opt, NULL), OBX_ERROR_ILLEGAL_ARGUMENT);
    CHECK_REASON("Argument \"model\" must not be null");
    CHECK(!obx_store_open(opt));
    CHECK_REASON("An error had occurred before during setting options");
}

static void a_model_is_consumed_even_by_wrong_options(void)
{
    const int64_t before = bw_memory_blocks();
    OBX_model *model = pair_model();
    CHECK_ERR(obx_opt_model(NULL, model), OBX_ERROR_ILLEGAL_ARGUMENT);
    CHECK_REASON("Argument \"opt\" must not be null");
    CHECK(obx_model_error_code(model) != 0);
    CHECK_EQ(bw_memory_blocks(), before);
}

static void errors_of_the_model_come_where_they_belong(void)
{
    // An empty model is refused at once.
    OBX_store_options *opt = obx_opt();
    CHECK_ERR(obx_opt_model(opt, obx_model()), OBX_ERROR_ILLEGAL_STATE);
    CHECK_REASON("No entities added");
    obx_opt_free(opt);

    // What is wrong in its parts is told when opening, and not before.
    obx_last_error_set(OBX_ERROR_IO, 0, "older");
    OBX_model *model = obx_model();
    pair_declare(model, "Pair", PAIR);
    opt = obx_opt();
    CHECK_OK(obx_opt_directory(opt, "memory:options"));
    CHECK_OK(obx_opt_model(opt, model));
    CHECK_REASON("older");
    CHECK(!obx_store_open(opt));
    CHECK_EQ(obx_last_error_code(), OBX_ERROR_SCHEMA);
    CHECK_REASON("Illegal entity schema ID 0");
}

static void a_kept_failure_is_the_first_one(void)
{
    struct kept_failure kept = {0};
    CHECK_OK(bw_open_options_report(&kept));
    bw_open_options_keep(&kept, bw_fail_system(BW_ERR_IO, 5, "first"));
    bw_open_options_keep(&kept, bw_fail(BW_ERR_DB_FULL, "second"));
    bw_reason_clear();
    CHECK_ERR(bw_open_options_report(&kept), BW_ERR_IO);
    CHECK_EQ(bw_reason_secondary(), 5);
    CHECK_REASON("first");
    bw_free(kept.text);
}

static const char *refusal_of(OBX_store_options *opt)
{
    CHECK(!obx_store_open(opt));
    return obx_last_error_message();
}

static void options_that_contradict_are_refused(void)
{
    OBX_store_options *opt = pair_options("memory:options");
    obx_opt_read_schema(opt, false);
    CHECK_TEXT(refusal_of(opt), "Read schema option must be set when using a model");

    opt = pair_options("memory:options");
    obx_opt_max_db_size_in_kb(opt, 100);
    obx_opt_max_data_size_in_kb(opt, 101);
    CHECK_TEXT(refusal_of(opt), "Maximum data size option must not exceed the maximum DB size");

    opt = pair_options("never-made");
    obx_opt_wal(opt, OBXWalFlags_EnableWal);
    CHECK_TEXT(refusal_of(opt), "WAL is not yet supported by disk based DB provider");

    opt = pair_options("memory:options");
    obx_opt_put_padding_mode(opt, (OBXPutPaddingMode)9);
    CHECK_TEXT(refusal_of(opt), "An error had occurred before during setting options");

    opt = pair_options("memory:options");
    obx_opt_backup_restore(opt, "memory:missing", 0);
    CHECK_TEXT(refusal_of(opt), "There is no such backup file: memory:missing");

    opt = pair_options("memory:options");
    obx_opt_backup_restore(opt, "memory:missing", 0);
    obx_opt_backup_restore(opt, NULL, 0);
    pair_end(obx_store_open(opt), "memory:options");
}

static void consuming_closes_the_handle(void)
{
    OBX_store_options *opt = obx_opt();
    struct options *options = bw_open_options_consume(opt, __LINE__);
    CHECK(options != NULL);
    CHECK(!bw_open_options_consume(opt, __LINE__));
    CHECK_REASON("Argument \"opt\" was closed before");
    bw_open_options_free(options);
    bw_open_options_free(NULL);
}

RUN_TESTS(TEST(defaults_are_those_of_the_abi_but_for_the_limit), TEST(what_is_set_is_kept),
          TEST(getters_of_nothing_give_nothing), TEST(freeing_gives_all_memory_back),
          TEST(a_failed_setter_makes_opening_fail), TEST(a_model_is_consumed_even_by_wrong_options),
          TEST(errors_of_the_model_come_where_they_belong), TEST(a_kept_failure_is_the_first_one),
          TEST(options_that_contradict_are_refused), TEST(consuming_closes_the_handle))
