/* SPDX-License-Identifier: Apache-2.0 */
/* How to open a store: what obx_opt_*() and boxwood_opt_*() gathered. */
#pragma once

#include "api/exported.h"
#include "api/pool.h"
#include "model/model.h"
#include "store/store.h"

/* A failure kept to be reported later. */
struct kept_failure {
    bw_err err; /* 0: none */
    int32_t secondary;
    char *text; /* owned; NULL: there was no memory for it */
};

struct async_options {
    size_t max_queue_length, throttle_at_queue_length;
    uint32_t throttle_micros, max_in_tx_duration, max_in_tx_operations;
    uint32_t pre_txn_delay, pre_txn_delay2, post_txn_delay, post_txn_delay2;
    size_t min_queue_length_for_pre_delay2, min_queue_length_for_post_delay2;
    bool subtract_processing_time;
    size_t minor_refill_threshold;
    uint32_t minor_refill_max_count;
    size_t max_tx_pool_size;
    uint64_t object_bytes_max_cache_size, object_bytes_max_size_to_cache;
};

struct options {
    char *directory;                   // owned; NULL: OPTIONS_DIRECTORY
    struct schema *schema;             // held; NULL: use the stored one
    struct kept_failure model_failure; // of compiling the model: opening reports it
    bool has_failed;                   // a setter failed: opening must not go on
    bool has_model_bytes;
    bool read_only, use_previous_commit, ignores_schema, no_reader_thread_locals;
    uint64_t size_max_kb, data_max_kb; // 0: no limit
    uint32_t file_mode, readers_max;   // readers_max 0: not set
    uint32_t debug_flags, padding;
    size_t validate_page_limit;
    uint32_t validate_page_flags, validate_kv_flags;
    bool validates_values; // obx_opt_validate_on_open_kv was called
    char *backup_file;     // owned; NULL: nothing is to be restored
    bool backup_replaces;
    uint32_t wal_flags;
    uint64_t wal_max_open_kb, wal_max_kb;
    enum durability durability;
    obx_log_callback *log_callback;
    void *log_user_data; // borrowed
    struct async_options async;
};

#define OPTIONS_DIRECTORY "objectbox"

struct OBX_store_options {
    struct slot slot;
    struct options *options; // owned
};

/* The options of a handle, and the handle closed. NULL: it was none, and the reason is set. */
MUST_CHECK struct options *bw_open_options_consume(OBX_store_options *opt, int line);

/* NULL is allowed. */
void bw_open_options_free(struct options *options);

/* Keep the thread's last failure; a second one does not replace the first. */
void bw_open_options_keep(struct kept_failure *kept, bw_err err);

/* Report a kept failure. */
MUST_CHECK bw_err bw_open_options_report(const struct kept_failure *kept);
