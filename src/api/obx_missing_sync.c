/* SPDX-License-Identifier: Apache-2.0 */
/* What objectbox-sync.h declares and this build does not serve. See missing.h. */
#include "api/missing.h"
#include "api/open_options.h"

// What they get is not looked at, and how much of it there is was not for us to say.
#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif
// NOLINTBEGIN(misc-unused-parameters,readability-function-size)

// ---- Sync client - options and creation ----

MISSING_POINTER(OBX_sync_options *, obx_sync_opt, (OBX_store * store), store, SYNC)
MISSING_ERR(obx_sync_opt_add_url, (OBX_sync_options * opt, const char *url), opt, SYNC)
MISSING_ERR(obx_sync_opt_add_cert_path, (OBX_sync_options * opt, const char *cert_path), opt, SYNC)
MISSING_ERR(obx_sync_opt_flags, (OBX_sync_options * opt, uint32_t flags), opt, SYNC)
MISSING_POINTER(OBX_sync *, obx_sync_create, (OBX_sync_options * opt), opt, SYNC)
MISSING_FREE(obx_sync_opt_free, (OBX_sync_options * opt), opt, SYNC)
MISSING_POINTER(OBX_sync *, obx_sync, (OBX_store * store, const char *server_url), store, SYNC)
MISSING_POINTER(OBX_sync *, obx_sync_urls,
                (OBX_store * store, const char *const server_urls[], size_t server_urls_count),
                store, SYNC)
MISSING_POINTER(OBX_sync *, obx_sync_certs,
                (OBX_store * store, const char *const server_urls[], size_t server_urls_count,
                 const char *const cert_paths[], size_t cert_paths_count),
                store, SYNC)
MISSING_CLOSE(obx_sync_close, (OBX_sync * sync), sync, SYNC)

// ---- Sync client - filter variables ----

MISSING_ERR(obx_sync_filter_variables_put, (OBX_sync * sync, const char *name, const char *value),
            sync, SYNC)
MISSING_ERR(obx_sync_filter_variables_remove, (OBX_sync * sync, const char *name), sync, SYNC)
MISSING_ERR(obx_sync_filter_variables_remove_all, (OBX_sync * sync), sync, SYNC)
MISSING_ERR(obx_sync_filter_variables_apply, (OBX_sync * sync), sync, SYNC)

// ---- Sync client - credentials ----

MISSING_ERR(obx_sync_credentials,
            (OBX_sync * sync, OBXSyncCredentialsType type, const uint8_t *data, size_t size), sync,
            SYNC)
MISSING_ERR(obx_sync_credentials_user_password,
            (OBX_sync * sync, OBXSyncCredentialsType type, const char *username,
             const char *password),
            sync, SYNC)
MISSING_ERR(obx_sync_credentials_add,
            (OBX_sync * sync, OBXSyncCredentialsType type, const uint8_t *data, size_t size,
             bool complete),
            sync, SYNC)
MISSING_ERR(obx_sync_credentials_add_user_password,
            (OBX_sync * sync, OBXSyncCredentialsType type, const char *username,
             const char *password, bool complete),
            sync, SYNC)

// ---- Sync client - tuning, life cycle, updates ----

MISSING_ERR(obx_sync_max_messages_in_flight, (OBX_sync * sync, int value), sync, SYNC)
MISSING_ERR(obx_sync_trigger_reconnect, (OBX_sync * sync), sync, SYNC)
MISSING_ERR(obx_sync_heartbeat_interval, (OBX_sync * sync, uint64_t interval_ms), sync, SYNC)
MISSING_ERR(obx_sync_send_heartbeat, (OBX_sync * sync), sync, SYNC)
MISSING_ERR(obx_sync_request_updates_mode, (OBX_sync * sync, OBXRequestUpdatesMode mode), sync,
            SYNC)
MISSING_ERR(obx_sync_start, (OBX_sync * sync), sync, SYNC)
MISSING_ERR(obx_sync_stop, (OBX_sync * sync), sync, SYNC)
MISSING_NUMBER(OBXSyncState, obx_sync_state, (OBX_sync * sync), sync, SYNC)
MISSING_ERR(obx_sync_wait_for_logged_in_state, (OBX_sync * sync, uint64_t timeout_millis), sync,
            SYNC)
MISSING_ERR(obx_sync_updates_request, (OBX_sync * sync, bool subscribe_for_pushes), sync, SYNC)
MISSING_ERR(obx_sync_updates_cancel, (OBX_sync * sync), sync, SYNC)
MISSING_ERR(obx_sync_outgoing_message_count, (OBX_sync * sync, uint64_t limit, uint64_t *out_count),
            sync, SYNC)
MISSING_ERR(obx_sync_full, (OBX_sync * sync), sync, SYNC)
MISSING_ERR(obx_sync_time_server, (OBX_sync * sync, int64_t *out_timestamp_ns), sync, SYNC)
MISSING_ERR(obx_sync_time_server_diff, (OBX_sync * sync, int64_t *out_diff_ns), sync, SYNC)

// ---- Sync - objects messages ----

MISSING_POINTER(OBX_sync_msg_objects_builder *, obx_sync_msg_objects_builder,
                (const uint8_t *topic, size_t topic_size), NO_HANDLE, SYNC)
MISSING_ERR(obx_sync_msg_objects_builder_add,
            (OBX_sync_msg_objects_builder * message, OBXSyncObjectType type, const uint8_t *data,
             size_t size, uint64_t id),
            message, SYNC)
MISSING_CLOSE(obx_sync_msg_objects_builder_discard, (OBX_sync_msg_objects_builder * message),
              message, SYNC)
MISSING_ERR(obx_sync_send_msg_objects, (OBX_sync * sync, OBX_sync_msg_objects_builder *message),
            sync, SYNC)

// ---- Sync client - listeners ----

MISSING_VOID(obx_sync_listener_connect,
             (OBX_sync * sync, OBX_sync_listener_connect *listener, void *listener_arg), sync, SYNC)
MISSING_VOID(obx_sync_listener_disconnect,
             (OBX_sync * sync, OBX_sync_listener_disconnect *listener, void *listener_arg), sync,
             SYNC)
MISSING_VOID(obx_sync_listener_login,
             (OBX_sync * sync, OBX_sync_listener_login *listener, void *listener_arg), sync, SYNC)
MISSING_VOID(obx_sync_listener_login_failure,
             (OBX_sync * sync, OBX_sync_listener_login_failure *listener, void *listener_arg), sync,
             SYNC)
MISSING_VOID(obx_sync_listener_complete,
             (OBX_sync * sync, OBX_sync_listener_complete *listener, void *listener_arg), sync,
             SYNC)
MISSING_VOID(obx_sync_listener_change,
             (OBX_sync * sync, OBX_sync_listener_change *listener, void *listener_arg), sync, SYNC)
MISSING_VOID(obx_sync_listener_server_time,
             (OBX_sync * sync, OBX_sync_listener_server_time *listener, void *listener_arg), sync,
             SYNC)
MISSING_VOID(obx_sync_listener_msg_objects,
             (OBX_sync * sync, OBX_sync_listener_msg_objects *listener, void *listener_arg), sync,
             SYNC)
MISSING_VOID(obx_sync_listener_error,
             (OBX_sync * sync, OBX_sync_listener_error *listener, void *listener_arg), sync, SYNC)
MISSING_ERR(obx_sync_stats_u64, (OBX_sync * sync, OBXSyncStats counter_type, uint64_t *out_count),
            sync, SYNC)

// ---- Sync server ----

MISSING_CLOSE(obx_sync_server_close, (OBX_sync_server * server), server, SYNC_SERVER)
MISSING_POINTER(OBX_store *, obx_sync_server_store, (OBX_sync_server * server), server, SYNC_SERVER)
MISSING_ERR(obx_sync_server_certificate_path,
            (OBX_sync_server * server, const char *certificate_path), server, SYNC_SERVER)
MISSING_ERR(obx_sync_server_credentials,
            (OBX_sync_server * server, OBXSyncCredentialsType type, const uint8_t *data,
             size_t size),
            server, SYNC_SERVER)
MISSING_ERR(obx_sync_server_enable_auth, (OBX_sync_server * server, OBXSyncCredentialsType type),
            server, SYNC_SERVER)
MISSING_ERR(obx_sync_server_worker_threads, (OBX_sync_server * server, int thread_count), server,
            SYNC_SERVER)
MISSING_ERR(obx_sync_server_history_max_size_in_kb,
            (OBX_sync_server * server, uint64_t max_in_kb, uint64_t target_in_kb), server,
            SYNC_SERVER)
MISSING_ERR(obx_sync_server_cluster_id, (OBX_sync_server * server, const char *id), server,
            SYNC_SERVER)
MISSING_ERR(obx_sync_server_add_cluster_peer,
            (OBX_sync_server * server, const char *url, OBXSyncCredentialsType credentials_type,
             const uint8_t *credentials, size_t credentials_size, uint32_t flags),
            server, SYNC_SERVER)
MISSING_ERR(obx_sync_server_client_schema_validation_strict, (OBX_sync_server * server), server,
            SYNC_SERVER)
MISSING_ERR(obx_sync_server_listener_change,
            (OBX_sync_server * server, OBX_sync_listener_change *listener, void *listener_arg),
            server, SYNC_SERVER)
MISSING_ERR(obx_sync_server_listener_msg_objects,
            (OBX_sync_server * server, OBX_sync_listener_msg_objects *listener, void *listener_arg),
            server, SYNC_SERVER)
MISSING_ERR(obx_sync_server_start, (OBX_sync_server * server), server, SYNC_SERVER)
MISSING_ERR(obx_sync_server_stop, (OBX_sync_server * server), server, SYNC_SERVER)
MISSING_NUMBER(bool, obx_sync_server_running, (OBX_sync_server * server), server, SYNC_SERVER)
MISSING_POINTER(const char *, obx_sync_server_url, (OBX_sync_server * server), server, SYNC_SERVER)
MISSING_NUMBER(uint16_t, obx_sync_server_port, (OBX_sync_server * server), server, SYNC_SERVER)
MISSING_NUMBER(uint64_t, obx_sync_server_connections, (OBX_sync_server * server), server,
               SYNC_SERVER)
MISSING_ERR(obx_sync_server_stats_u64,
            (OBX_sync_server * server, OBXSyncServerStats counter_type, uint64_t *out_value),
            server, SYNC_SERVER)
MISSING_ERR(obx_sync_server_stats_f64,
            (OBX_sync_server * server, OBXSyncServerStats counter_type, double *out_value), server,
            SYNC_SERVER)
MISSING_POINTER(const char *, obx_sync_server_stats_string,
                (OBX_sync_server * server, bool include_zero_values), server, SYNC_SERVER)
MISSING_ERR(obx_sync_server_send_msg_objects,
            (OBX_sync_server * server, OBX_sync_msg_objects_builder *message), server, SYNC_SERVER)
MISSING_POINTER(OBX_admin *, obx_sync_server_admin,
                (OBX_sync_server * server, OBX_admin_options *options), server, SYNC_SERVER)

// ---- Custom message transport ----

MISSING_ERR(obx_custom_msg_server_register,
            (const char *protocol, OBX_custom_msg_server_functions *functions,
             void *config_user_data),
            NO_HANDLE, CUSTOM)
MISSING_NUMBER(uint64_t, obx_custom_msg_server_add_client_connection,
               (uint64_t server_id, void *user_data), NO_HANDLE, CUSTOM)
MISSING_ERR(obx_custom_msg_server_remove_client_connection,
            (uint64_t server_id, uint64_t client_connection_id), NO_HANDLE, CUSTOM)
MISSING_ERR(obx_custom_msg_server_receive_message_from_client,
            (uint64_t server_id, uint64_t client_connection_id, const uint8_t *message_data,
             size_t message_size),
            NO_HANDLE, CUSTOM)
MISSING_ERR(obx_custom_msg_client_register,
            (const char *protocol, OBX_custom_msg_client_functions *functions,
             void *config_user_data),
            NO_HANDLE, CUSTOM)
MISSING_ERR(obx_custom_msg_client_receive_message_from_server,
            (uint64_t client_id, const uint8_t *message_data, size_t message_size), NO_HANDLE,
            CUSTOM)
MISSING_ERR(obx_custom_msg_client_set_state, (uint64_t client_id, OBXCustomMsgClientState state),
            NO_HANDLE, CUSTOM)
MISSING_ERR(obx_custom_msg_client_trigger_reconnect, (uint64_t client_id), NO_HANDLE, CUSTOM)

// ---- consuming options, or answering without a failure ----

static OBX_sync_server *refuse_server(OBX_store_options *store_options)
{
    bw_open_options_free(bw_open_options_consume(store_options, __LINE__));
    bw_err err = bw_missing_refuse(store_options, "store_options", __LINE__, MISSING_SYNC_SERVER);
    (void)err;
    return NULL;
}

OBX_sync_server *obx_sync_server(OBX_store_options *store_options, const char *url)
{
    return refuse_server(store_options);
}

OBX_sync_server *obx_sync_server_from_flat_options(OBX_store_options *store_options,
                                                   const uint8_t *flat_options,
                                                   size_t flat_options_size)
{
    return refuse_server(store_options);
}

uint32_t obx_sync_protocol_version(void) { return 0; }

uint32_t obx_sync_protocol_version_server(OBX_sync *sync) { return 0; }

// What the bits of a clock mean is not known here, and without sync there are none.
int64_t obx_sync_clock_timestamp(uint64_t sync_clock_value) { return 0; }

int64_t obx_sync_clock_timestamp_corrected(uint64_t sync_clock_value) { return 0; }

// NOLINTEND(misc-unused-parameters,readability-function-size)
