/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options for parts that this build lacks: kept, and where it would be wrong to go on without the
 * part, refused when the store is opened.
 */
#include "api/argument.h"
#include "api/open_options.h"

#define OPTIONS_OF(opt) \
    (CHECK_HANDLE(opt, SLOT_OPTIONS) ? NULL : ((const OBX_store_options *)(opt))->options)

#define ASYNC_OF(opt) \
    (CHECK_HANDLE(opt, SLOT_OPTIONS) ? NULL : &((const OBX_store_options *)(opt))->options->async)

// ---- the asynchronous queue ----

void obx_opt_async_max_queue_length(OBX_store_options *opt, size_t value)
{
    struct async_options *async = ASYNC_OF(opt);
    if (async) async->max_queue_length = value;
}

void obx_opt_async_throttle_at_queue_length(OBX_store_options *opt, size_t value)
{
    struct async_options *async = ASYNC_OF(opt);
    if (async) async->throttle_at_queue_length = value;
}

void obx_opt_async_throttle_micros(OBX_store_options *opt, uint32_t value)
{
    struct async_options *async = ASYNC_OF(opt);
    if (async) async->throttle_micros = value;
}

void obx_opt_async_max_in_tx_duration(OBX_store_options *opt, uint32_t micros)
{
    struct async_options *async = ASYNC_OF(opt);
    if (async) async->max_in_tx_duration = micros;
}

void obx_opt_async_max_in_tx_operations(OBX_store_options *opt, uint32_t value)
{
    struct async_options *async = ASYNC_OF(opt);
    if (async) async->max_in_tx_operations = value;
}

void obx_opt_async_pre_txn_delay(OBX_store_options *opt, uint32_t delay_micros)
{
    obx_opt_async_pre_txn_delay4(opt, delay_micros, 0, 0);
}

void obx_opt_async_pre_txn_delay4(OBX_store_options *opt, uint32_t delay_micros,
                                  uint32_t delay2_micros, size_t min_queue_length_for_delay2)
{
    struct async_options *async = ASYNC_OF(opt);
    if (!async) return;
    async->pre_txn_delay = delay_micros;
    async->pre_txn_delay2 = delay2_micros;
    async->min_queue_length_for_pre_delay2 = min_queue_length_for_delay2;
}

void obx_opt_async_post_txn_delay(OBX_store_options *opt, uint32_t delay_micros)
{
    obx_opt_async_post_txn_delay5(opt, delay_micros, 0, 0, false);
}

void obx_opt_async_post_txn_delay5(OBX_store_options *opt, uint32_t delay_micros,
                                   uint32_t delay2_micros, size_t min_queue_length_for_delay2,
                                   bool subtract_processing_time)
{
    struct async_options *async = ASYNC_OF(opt);
    if (!async) return;
    async->post_txn_delay = delay_micros;
    async->post_txn_delay2 = delay2_micros;
    async->min_queue_length_for_post_delay2 = min_queue_length_for_delay2;
    async->subtract_processing_time = subtract_processing_time;
}

void obx_opt_async_minor_refill_threshold(OBX_store_options *opt, size_t queue_length)
{
    struct async_options *async = ASYNC_OF(opt);
    if (async) async->minor_refill_threshold = queue_length;
}

void obx_opt_async_minor_refill_max_count(OBX_store_options *opt, uint32_t value)
{
    struct async_options *async = ASYNC_OF(opt);
    if (async) async->minor_refill_max_count = value;
}

void obx_opt_async_max_tx_pool_size(OBX_store_options *opt, size_t value)
{
    struct async_options *async = ASYNC_OF(opt);
    if (async) async->max_tx_pool_size = value;
}

void obx_opt_async_object_bytes_max_cache_size(OBX_store_options *opt, uint64_t value)
{
    struct async_options *async = ASYNC_OF(opt);
    if (async) async->object_bytes_max_cache_size = value;
}

void obx_opt_async_object_bytes_max_size_to_cache(OBX_store_options *opt, uint64_t value)
{
    struct async_options *async = ASYNC_OF(opt);
    if (async) async->object_bytes_max_size_to_cache = value;
}

// ---- serialized models, log-structured memory stores, debug logs ----

obx_err obx_opt_model_bytes(OBX_store_options *opt, const uint8_t *bytes, size_t size)
{
    bw_err err = CHECK_HANDLE(opt, SLOT_OPTIONS);
    if (err) return err;
    if (!bytes) err = ARGUMENT_NULL(bytes);
    if (!err && size == 0) err = ARGUMENT_CONDITION(size > 0);
    if (err) {
        opt->options->has_failed = true;
        return err;
    }
    opt->options->has_model_bytes = true;
    return OBX_SUCCESS;
}

obx_err obx_opt_model_bytes_direct(OBX_store_options *opt, const uint8_t *bytes, size_t size)
{
    return obx_opt_model_bytes(opt, bytes, size);
}

void obx_opt_wal(OBX_store_options *opt, uint32_t flags)
{
    struct options *options = OPTIONS_OF(opt);
    if (options) options->wal_flags = flags;
}

void obx_opt_wal_max_file_size_on_open_in_kb(OBX_store_options *opt, uint64_t size_in_kb)
{
    struct options *options = OPTIONS_OF(opt);
    if (options) options->wal_max_open_kb = size_in_kb;
}

void obx_opt_wal_max_file_size_in_kb(OBX_store_options *opt, uint64_t size_in_kb)
{
    struct options *options = OPTIONS_OF(opt);
    if (options) options->wal_max_kb = size_in_kb;
}

void obx_opt_debug_flags(OBX_store_options *opt, uint32_t flags)
{
    struct options *options = OPTIONS_OF(opt);
    if (options) options->debug_flags = flags;
}

void obx_opt_add_debug_flags(OBX_store_options *opt, uint32_t flags)
{
    struct options *options = OPTIONS_OF(opt);
    if (options) options->debug_flags |= flags;
}
