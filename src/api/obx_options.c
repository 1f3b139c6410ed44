/* SPDX-License-Identifier: Apache-2.0 */
#include "api/argument.h"
#include "api/model_handle.h"
#include "api/open_options.h"

/* The options behind a handle; NULL: it is none, and the reason is set. */
#define OPTIONS_OF(opt) \
    (CHECK_HANDLE(opt, SLOT_OPTIONS) ? NULL : ((const OBX_store_options *)(opt))->options)

static const struct options defaults = {
    .file_mode = 0644,
    .padding = OBXPutPaddingMode_PaddingAutomatic,
    .durability = DURABLE_FULL,
    .wal_max_open_kb = 4096,
    .wal_max_kb = 16384,
    .async = {.max_queue_length = 1000,
              .throttle_at_queue_length = 500,
              .throttle_micros = 1000,
              .max_in_tx_duration = 10000,
              .max_in_tx_operations = 10000,
              .max_tx_pool_size = 10000,
              .object_bytes_max_cache_size = 512 * 1024,
              .object_bytes_max_size_to_cache = 100 * 1024},
};

OBX_store_options *obx_opt(void)
{
    struct options *options = bw_new_raw(sizeof(*options));
    OBX_store_options *opt = options ? bw_pool_take(SLOT_OPTIONS) : NULL;
    if (!opt) {
        bw_free(options);
        return bw_argument_no_pointer(bw_fail(BW_ERR_NO_MEMORY, "No memory for options"));
    }
    *options = defaults;
    opt->options = options;
    bw_slot_open(opt);
    return opt;
}

void obx_opt_free(OBX_store_options *opt)
{
    if (opt) bw_open_options_free(bw_open_options_consume(opt, __LINE__));
}

static bw_err failed(struct options *options, bw_err err)
{
    options->has_failed = true;
    return err;
}

obx_err obx_opt_directory(OBX_store_options *opt, const char *dir)
{
    bw_err err = CHECK_HANDLE(opt, SLOT_OPTIONS);
    if (err) return err;
    if (!dir) return failed(opt->options, ARGUMENT_NULL(dir));
    char *copy = bw_copy_text(dir);
    if (!copy) return failed(opt->options, bw_fail(BW_ERR_NO_MEMORY, "No memory for a path"));
    bw_free(opt->options->directory);
    opt->options->directory = copy;
    return OBX_SUCCESS;
}

// ---- the model ----

// What a declaration lacks is told at once; what its parts say is judged when the store is opened.
static bw_err take_schema(struct options *options, struct model *model)
{
    bw_err err = bw_model_error(model);
    if (err) {
        bw_reason_set(err, 0, bw_model_error_text(model));
        return failed(options, err);
    }
    struct kept_failure before = {0}; // what is reported later must not show yet
    if (bw_reason_code()) bw_open_options_keep(&before, bw_reason_code());
    struct schema *schema = NULL;
    err = bw_model_compile(model, &schema);
    if (err == BW_ERR_ILLEGAL_STATE || err == BW_ERR_NO_MEMORY) {
        options->has_failed = true;
    } else if (err) {
        bw_open_options_keep(&options->model_failure, err);
        bw_reason_set(before.err, before.secondary, before.text);
        err = BW_OK;
    } else {
        bw_schema_release(options->schema);
        options->schema = schema;
    }
    bw_free(before.text);
    return err;
}

obx_err obx_opt_model(OBX_store_options *opt, OBX_model *model)
{
    struct model *taken = NULL;
    bw_err model_err = bw_model_handle_take(model, __LINE__, &taken);
    bw_err err;
    if (!bw_pool_holds(opt, SLOT_OPTIONS)) {
        err = bw_argument_refuse(opt, SLOT_OPTIONS, "opt", __LINE__);
    } else if (model_err) {
        err = failed(opt->options, model_err);
    } else {
        err = take_schema(opt->options, taken);
    }
    bw_model_free(taken);
    return err;
}

// ---- the store ----

void obx_opt_max_db_size_in_kb(OBX_store_options *opt, uint64_t size_in_kb)
{
    struct options *options = OPTIONS_OF(opt);
    if (options) options->size_max_kb = size_in_kb;
}

void obx_opt_max_data_size_in_kb(OBX_store_options *opt, uint64_t size_in_kb)
{
    struct options *options = OPTIONS_OF(opt);
    if (options) options->data_max_kb = size_in_kb;
}

void obx_opt_file_mode(OBX_store_options *opt, unsigned int file_mode)
{
    struct options *options = OPTIONS_OF(opt);
    if (options) options->file_mode = file_mode;
}

void obx_opt_max_readers(OBX_store_options *opt, unsigned int max_readers)
{
    struct options *options = OPTIONS_OF(opt);
    if (options) options->readers_max = max_readers;
}

void obx_opt_no_reader_thread_locals(OBX_store_options *opt, bool flag)
{
    struct options *options = OPTIONS_OF(opt);
    if (options) options->no_reader_thread_locals = flag;
}

void obx_opt_validate_on_open_pages(OBX_store_options *opt, size_t page_limit, uint32_t flags)
{
    struct options *options = OPTIONS_OF(opt);
    if (!options) return;
    options->validate_page_limit = page_limit;
    options->validate_page_flags = flags;
}

void obx_opt_validate_on_open_kv(OBX_store_options *opt, uint32_t flags)
{
    struct options *options = OPTIONS_OF(opt);
    if (!options) return;
    options->validates_values = true;
    options->validate_kv_flags = flags;
}

void obx_opt_put_padding_mode(OBX_store_options *opt, OBXPutPaddingMode mode)
{
    struct options *options = OPTIONS_OF(opt);
    if (!options) return;
    if ((int)mode < OBXPutPaddingMode_PaddingAutomatic ||
        mode > OBXPutPaddingMode_PaddingByCaller) {
        bw_err err = failed(
            options, bw_fail(BW_ERR_ILLEGAL_ARGUMENT, "Unknown put padding mode: %d", (int)mode));
        (void)err; // opening reports that there was one
        return;
    }
    options->padding = (uint32_t)mode;
}

void obx_opt_read_schema(OBX_store_options *opt, bool value)
{
    struct options *options = OPTIONS_OF(opt);
    if (options) options->ignores_schema = !value;
}

void obx_opt_use_previous_commit(OBX_store_options *opt, bool value)
{
    struct options *options = OPTIONS_OF(opt);
    if (options) options->use_previous_commit = value;
}

void obx_opt_read_only(OBX_store_options *opt, bool value)
{
    struct options *options = OPTIONS_OF(opt);
    if (options) options->read_only = value;
}

void obx_opt_backup_restore(OBX_store_options *opt, const char *backup_file, uint32_t flags)
{
    struct options *options = OPTIONS_OF(opt);
    if (!options) return;
    bw_err err = BW_OK;
    char *copy = NULL;
    if (flags & ~(uint32_t)OBXBackupRestoreFlags_OverwriteExistingData)
        err = bw_fail(BW_ERR_ILLEGAL_ARGUMENT, "Unknown backup restore flags: %u", flags);
    if (!err && backup_file) {
        copy = bw_copy_text(backup_file);
        if (!copy) err = bw_fail(BW_ERR_NO_MEMORY, "No memory for a path");
    }
    if (err) {
        options->has_failed = true; // opening reports that there was one
        return;
    }
    bw_free(options->backup_file);
    options->backup_file = copy;
    options->backup_replaces = flags != 0;
}

void obx_opt_log_callback(OBX_store_options *opt, obx_log_callback *callback, void *user_data)
{
    struct options *options = OPTIONS_OF(opt);
    if (!options) return;
    options->log_callback = callback;
    options->log_user_data = user_data;
}

// ---- reading them ----

const char *obx_opt_get_directory(OBX_store_options *opt)
{
    const struct options *options = OPTIONS_OF(opt);
    if (!options) return NULL;
    return options->directory ? options->directory : OPTIONS_DIRECTORY;
}

uint64_t obx_opt_get_max_db_size_in_kb(OBX_store_options *opt)
{
    const struct options *options = OPTIONS_OF(opt);
    return options ? options->size_max_kb : 0;
}

uint64_t obx_opt_get_max_data_size_in_kb(OBX_store_options *opt)
{
    const struct options *options = OPTIONS_OF(opt);
    return options ? options->data_max_kb : 0;
}

uint32_t obx_opt_get_debug_flags(OBX_store_options *opt)
{
    const struct options *options = OPTIONS_OF(opt);
    return options ? options->debug_flags : 0;
}
