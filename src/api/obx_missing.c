/* SPDX-License-Identifier: Apache-2.0 */
/* What objectbox.h declares and this build does not serve, but for queries. See missing.h. */
#include "api/argument.h"
#include "api/missing.h"

// What they get is not looked at, and how much of it there is was not for us to say.
#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif
// NOLINTBEGIN(misc-unused-parameters,readability-function-size)

// ---- bytes of custom transports ----

MISSING_ERR(obx_bytes_lazy_get,
            (OBX_bytes_lazy * bytes, const uint8_t **out_bytes, size_t *out_size), bytes, CUSTOM)
MISSING_FREE(obx_bytes_lazy_free, (OBX_bytes_lazy * bytes), bytes, CUSTOM)

// ---- relations ----

MISSING_POINTER(OBX_bytes_array *, obx_cursor_backlinks,
                (OBX_cursor * cursor, obx_schema_id entity_id, obx_schema_id property_id,
                 obx_id id),
                cursor, RELATIONS)
MISSING_POINTER(OBX_id_array *, obx_cursor_backlink_ids,
                (OBX_cursor * cursor, obx_schema_id entity_id, obx_schema_id property_id,
                 obx_id id),
                cursor, RELATIONS)
MISSING_ERR(obx_cursor_rel_put,
            (OBX_cursor * cursor, obx_schema_id relation_id, obx_id source_id, obx_id target_id),
            cursor, RELATIONS)
MISSING_ERR(obx_cursor_rel_remove,
            (OBX_cursor * cursor, obx_schema_id relation_id, obx_id source_id, obx_id target_id),
            cursor, RELATIONS)
MISSING_POINTER(OBX_id_array *, obx_cursor_rel_ids,
                (OBX_cursor * cursor, obx_schema_id relation_id, obx_id source_id), cursor,
                RELATIONS)

// ---- time series ----

MISSING_ERR(obx_cursor_ts_min_max,
            (OBX_cursor * cursor, obx_id *out_min_id, int64_t *out_min_value, obx_id *out_max_id,
             int64_t *out_max_value),
            cursor, TIME_SERIES)
MISSING_ERR(obx_cursor_ts_min_max_range,
            (OBX_cursor * cursor, int64_t range_begin, int64_t range_end, obx_id *out_min_id,
             int64_t *out_min_value, obx_id *out_max_id, int64_t *out_max_value),
            cursor, TIME_SERIES)

// ---- relations of boxes ----

MISSING_POINTER(OBX_id_array *, obx_box_get_backlink_ids,
                (OBX_box * box, obx_schema_id property_id, obx_id id), box, RELATIONS)
MISSING_ERR(obx_box_rel_put,
            (OBX_box * box, obx_schema_id relation_id, obx_id source_id, obx_id target_id), box,
            RELATIONS)
MISSING_ERR(obx_box_rel_remove,
            (OBX_box * box, obx_schema_id relation_id, obx_id source_id, obx_id target_id), box,
            RELATIONS)
MISSING_POINTER(OBX_id_array *, obx_box_rel_get_ids,
                (OBX_box * box, obx_schema_id relation_id, obx_id id), box, RELATIONS)
MISSING_POINTER(OBX_id_array *, obx_box_rel_get_backlink_ids,
                (OBX_box * box, obx_schema_id relation_id, obx_id id), box, RELATIONS)

// ---- expiry ----

MISSING_ERR(obx_expired_objects_remove,
            (OBX_txn * txn, obx_schema_id entity_id, size_t *out_removed_count), txn, EXPIRY)
MISSING_ERR(obx_expired_objects_remove_async,
            (OBX_store * store, obx_schema_id entity_id, obx_status_callback *callback,
             void *user_data),
            store, EXPIRY)

// ---- time series ----

MISSING_ERR(obx_box_ts_min_max,
            (OBX_box * box, obx_id *out_min_id, int64_t *out_min_value, obx_id *out_max_id,
             int64_t *out_max_value),
            box, TIME_SERIES)
MISSING_ERR(obx_box_ts_min_max_range,
            (OBX_box * box, int64_t range_begin, int64_t range_end, obx_id *out_min_id,
             int64_t *out_min_value, obx_id *out_max_id, int64_t *out_max_value),
            box, TIME_SERIES)

// ---- the asynchronous queue ----

MISSING_ERR(obx_async_put, (OBX_async * async, obx_id id, const uint8_t *data, size_t size), async,
            ASYNC)
MISSING_ERR(obx_async_put5,
            (OBX_async * async, obx_id id, const uint8_t *data, size_t size, OBXPutMode mode),
            async, ASYNC)
MISSING_ERR(obx_async_insert, (OBX_async * async, obx_id id, const uint8_t *data, size_t size),
            async, ASYNC)
MISSING_ERR(obx_async_update, (OBX_async * async, obx_id id, const uint8_t *data, size_t size),
            async, ASYNC)
MISSING_NUMBER(obx_id, obx_async_put_object, (OBX_async * async, void *data, size_t size), async,
               ASYNC)
MISSING_NUMBER(obx_id, obx_async_put_object4,
               (OBX_async * async, void *data, size_t size, OBXPutMode mode), async, ASYNC)
MISSING_NUMBER(obx_id, obx_async_insert_object, (OBX_async * async, void *data, size_t size), async,
               ASYNC)
MISSING_ERR(obx_async_remove, (OBX_async * async, obx_id id), async, ASYNC)
MISSING_POINTER(OBX_async *, obx_async_create, (OBX_box * box, uint64_t enqueue_timeout_millis),
                box, ASYNC)
MISSING_CLOSE(obx_async_close, (OBX_async * async), async, ASYNC)

// ---- observers ----

MISSING_CLOSE(obx_observer_close, (OBX_observer * observer), observer, OBSERVERS)

// ---- trees ----

MISSING_FREE(obx_tree_options_free, (OBX_tree_options * options), options, TREES)
MISSING_ERR(obx_tree_opt_path_delimiter, (OBX_tree_options * options, char path_delimiter), options,
            TREES)
MISSING_ERR(obx_tree_opt_flags, (OBX_tree_options * options, uint32_t flags), options, TREES)
MISSING_POINTER(OBX_tree *, obx_tree, (OBX_store * store, OBX_tree_options *options), store, TREES)
MISSING_FREE(obx_tree_close, (OBX_tree * tree), tree, TREES)
MISSING_POINTER(OBX_tree_cursor *, obx_tree_cursor, (OBX_tree * tree, OBX_txn *txn), tree, TREES)
MISSING_NUMBER(size_t, obx_tree_node_conflict_count, (OBX_tree * tree), tree, TREES)
MISSING_FREE(obx_tree_cursor_close, (OBX_tree_cursor * cursor), cursor, TREES)
MISSING_ERR(obx_tree_cursor_txn, (OBX_tree_cursor * cursor, OBX_txn *txn), cursor, TREES)
MISSING_ERR(obx_tree_cursor_get_raw,
            (OBX_tree_cursor * cursor, const char *path, const uint8_t **data, size_t *size,
             const uint8_t **metadata, size_t *metadata_size),
            cursor, TREES)
MISSING_POINTER(const char *, obx_tree_cursor_get_leaf_path,
                (OBX_tree_cursor * cursor, obx_id leaf_id), cursor, TREES)
MISSING_ERR(obx_tree_cursor_put_raw,
            (OBX_tree_cursor * cursor, const char *path, void *leaf_data, size_t leaf_data_size,
             OBXPropertyType type, obx_id *out_id, void *leaf_metadata, size_t leaf_metadata_size,
             OBXPutMode leaf_put_mode),
            cursor, TREES)
MISSING_ERR(obx_tree_cursor_consolidate_node_conflicts,
            (OBX_tree_cursor * cursor, size_t *out_consolidated_count), cursor, TREES)
MISSING_POINTER(OBX_tree_leaves_info *, obx_tree_cursor_get_child_leaves_info,
                (OBX_tree_cursor * cursor, const char *path), cursor, TREES)
MISSING_NUMBER(size_t, obx_tree_leaves_info_size, (OBX_tree_leaves_info * leaves_info), leaves_info,
               TREES)
MISSING_POINTER(const char *, obx_tree_leaves_info_path,
                (OBX_tree_leaves_info * leaves_info, size_t index), leaves_info, TREES)
MISSING_NUMBER(OBXPropertyType, obx_tree_leaves_info_type,
               (OBX_tree_leaves_info * leaves_info, size_t index), leaves_info, TREES)
MISSING_NUMBER(obx_id, obx_tree_leaves_info_id, (OBX_tree_leaves_info * leaves_info, size_t index),
               leaves_info, TREES)
MISSING_FREE(obx_tree_leaves_info_free, (OBX_tree_leaves_info * leaves_info), leaves_info, TREES)
MISSING_ERR(obx_tree_async_get_raw,
            (OBX_tree * tree, const char *path, bool with_metadata,
             obx_tree_async_get_callback *callback, void *callback_user_data),
            tree, TREES)
MISSING_ERR(obx_tree_async_put_raw,
            (OBX_tree * tree, const char *path, void *leaf_data, size_t leaf_data_size,
             OBXPropertyType type, void *leaf_metadata, size_t leaf_metadata_size,
             OBXPutMode leaf_put_mode, obx_tree_async_put_callback *callback,
             void *callback_user_data),
            tree, TREES)
MISSING_ERR(obx_tree_async_consolidate_node_conflicts, (OBX_tree * tree), tree, TREES)

// ---- the web interface ----

MISSING_POINTER(OBX_admin_options *, obx_admin_opt, (void), NO_HANDLE, ADMIN)
MISSING_ERR(obx_admin_opt_store, (OBX_admin_options * opt, OBX_store *store), opt, ADMIN)
MISSING_ERR(obx_admin_opt_store_path, (OBX_admin_options * opt, const char *directory), opt, ADMIN)
MISSING_ERR(obx_admin_opt_bind, (OBX_admin_options * opt, const char *uri), opt, ADMIN)
MISSING_ERR(obx_admin_opt_ssl_cert, (OBX_admin_options * opt, const char *cert_path), opt, ADMIN)
MISSING_ERR(obx_admin_opt_num_threads, (OBX_admin_options * opt, size_t thread_count), opt, ADMIN)
MISSING_ERR(obx_admin_opt_unsecured_no_authentication, (OBX_admin_options * opt, bool value), opt,
            ADMIN)
MISSING_ERR(obx_admin_opt_user_management, (OBX_admin_options * opt, bool value), opt, ADMIN)
MISSING_ERR(obx_admin_opt_log_requests, (OBX_admin_options * opt, bool value), opt, ADMIN)
MISSING_CLOSE(obx_admin_opt_free, (OBX_admin_options * opt), opt, ADMIN)
MISSING_POINTER(OBX_admin *, obx_admin, (OBX_admin_options * options), options, ADMIN)
MISSING_NUMBER(uint16_t, obx_admin_port, (OBX_admin * admin), admin, ADMIN)
MISSING_CLOSE(obx_admin_close, (OBX_admin * admin), admin, ADMIN)

// ---- where other arguments are looked at as well, or none ----

OBX_async *obx_async(OBX_box *box)
{
    bw_err err = bw_missing_refuse(box, "box", __LINE__, MISSING_ASYNC);
    (void)err;
    return NULL;
}

OBX_tree_options *obx_tree_options(void)
{
    bw_err err = bw_fail(BW_ERR_FEATURE_NOT_AVAILABLE, "%s", MISSING_TREES);
    (void)err;
    return NULL;
}

OBX_observer *obx_observe(OBX_store *store, obx_observer *callback, void *user_data)
{
    bw_err err = bw_missing_refuse(store, "store", __LINE__, MISSING_OBSERVERS);
    if (store && !callback) err = bw_argument_null("callback", __LINE__);
    (void)err;
    return NULL;
}

OBX_observer *obx_observe_single_type(OBX_store *store, obx_schema_id type_id,
                                      obx_observer_single_type *callback, void *user_data)
{
    bw_err err = bw_missing_refuse(store, "store", __LINE__, MISSING_OBSERVERS);
    if (store && !callback) err = bw_argument_null("callback", __LINE__);
    (void)err;
    return NULL;
}

OBX_store *obx_store_wrap(void *core_store)
{
    if (!core_store) return bw_argument_no_pointer(ARGUMENT_NULL(core_store));
    return bw_argument_no_pointer(
        bw_fail(BW_ERR_FEATURE_NOT_AVAILABLE, "Stores of another library cannot be wrapped"));
}

obx_err obx_debug_log(bool enabled)
{
    if (!enabled) return OBX_SUCCESS;
    return bw_fail(BW_ERR_FEATURE_NOT_AVAILABLE,
                   "Feature 'DebugLog' is not available in this edition.");
}

bool obx_debug_log_enabled(void) { return false; }

// NOLINTEND(misc-unused-parameters,readability-function-size)
