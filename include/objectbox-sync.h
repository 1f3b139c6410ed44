/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objectbox-sync.h - synchronization, beside objectbox.h and by its conventions.
 *
 * A build without it still has all of these functions. Those that create something then answer NULL
 * and 10005; given NULL, the others do nothing and answer an error.
 */
#ifndef OBJECTBOX_SYNC_H
#define OBJECTBOX_SYNC_H

#include "objectbox.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct OBX_sync OBX_sync;
typedef struct OBX_sync_options OBX_sync_options;
typedef struct OBX_sync_msg_objects_builder OBX_sync_msg_objects_builder;
typedef struct OBX_sync_server OBX_sync_server;

/* ---- choices ---- */

typedef enum {
    OBXSyncCredentialsType_NONE = 1,
    OBXSyncCredentialsType_SHARED_SECRET = 2,
    OBXSyncCredentialsType_GOOGLE_AUTH = 3,
    OBXSyncCredentialsType_SHARED_SECRET_SIPPED = 4,
    OBXSyncCredentialsType_OBX_ADMIN_USER = 5,
    OBXSyncCredentialsType_USER_PASSWORD = 6,
    OBXSyncCredentialsType_JWT_ID = 7,
    OBXSyncCredentialsType_JWT_ACCESS = 8,
    OBXSyncCredentialsType_JWT_REFRESH = 9,
    OBXSyncCredentialsType_JWT_CUSTOM = 10,
} OBXSyncCredentialsType;

/* Whether a client asks for updates by itself after login. */
typedef enum {
    OBXRequestUpdatesMode_MANUAL = 0,
    OBXRequestUpdatesMode_AUTO = 1,
    OBXRequestUpdatesMode_AUTO_NO_PUSHES = 2,
} OBXRequestUpdatesMode;

typedef enum {
    OBXSyncState_CREATED = 1,
    OBXSyncState_STARTED = 2,
    OBXSyncState_CONNECTED = 3,
    OBXSyncState_LOGGED_IN = 4,
    OBXSyncState_DISCONNECTED = 5,
    OBXSyncState_STOPPED = 6,
    OBXSyncState_DEAD = 7,
} OBXSyncState;

/* What a server answers. */
typedef enum {
    OBXSyncCode_OK = 20,
    OBXSyncCode_REQ_REJECTED = 40,
    OBXSyncCode_CREDENTIALS_REJECTED = 43,
    OBXSyncCode_UNKNOWN = 50,
    OBXSyncCode_AUTH_UNREACHABLE = 53,
    OBXSyncCode_BAD_VERSION = 55,
    OBXSyncCode_CLIENT_ID_TAKEN = 61,
    OBXSyncCode_TX_VIOLATED_UNIQUE = 71,
} OBXSyncCode;

typedef enum {
    OBXSyncError_REJECT_TX_NO_PERMISSION = 1,
} OBXSyncError;

typedef enum {
    OBXSyncObjectType_FlatBuffers = 1,
    OBXSyncObjectType_String = 2,
    OBXSyncObjectType_Raw = 3,
} OBXSyncObjectType;

typedef enum {
    OBXSyncFlags_DebugLogIdMapping = 1,
    OBXSyncFlags_KeepDataOnSyncError = 2,
    OBXSyncFlags_DebugLogFilterVariables = 4,
    OBXSyncFlags_RemoveWithObjectData = 8,
    OBXSyncFlags_DebugLogTxLogs = 16,
    OBXSyncFlags_SkipInvalidTxOps = 32,
} OBXSyncFlags;

typedef enum {
    OBXSyncStats_connects = 1,
    OBXSyncStats_logins = 2,
    OBXSyncStats_messagesReceived = 3,
    OBXSyncStats_messagesSent = 4,
    OBXSyncStats_messageSendFailures = 5,
    OBXSyncStats_messageBytesReceived = 6,
    OBXSyncStats_messageBytesSent = 7,
} OBXSyncStats;

typedef enum {
    OBXSyncServerStats_connects = 1,
    OBXSyncServerStats_messagesReceived = 2,
    OBXSyncServerStats_messagesSent = 3,
    OBXSyncServerStats_messageBytesReceived = 4,
    OBXSyncServerStats_messageBytesSent = 5,
    OBXSyncServerStats_fullSyncs = 6,
    OBXSyncServerStats_disconnectAborts = 7,
    OBXSyncServerStats_clientTxsApplied = 8,
    OBXSyncServerStats_clientTxBytesApplied = 9,
    OBXSyncServerStats_clientTxOpsApplied = 10,
    OBXSyncServerStats_localTxsApplied = 11,
    OBXSyncServerStats_asyncDbCommits = 12,
    OBXSyncServerStats_skippedTxDups = 13,
    OBXSyncServerStats_loginSuccesses = 14,
    OBXSyncServerStats_loginFailures = 15,
    OBXSyncServerStats_loginFailuresUserBadCredentials = 16,
    OBXSyncServerStats_loginFailuresAuthUnavailable = 17,
    OBXSyncServerStats_loginFailuresUserNoPermission = 18,
    OBXSyncServerStats_messageSendFailures = 19,
    OBXSyncServerStats_errorsProtocol = 20,
    OBXSyncServerStats_errorsInHandlers = 21,
    OBXSyncServerStats_heartbeatFailures = 22,
    OBXSyncServerStats_heartbeatsReceived = 23,
    OBXSyncServerStats_historicUpdateTxsSent = 24,
    OBXSyncServerStats_newUpdateTxsSent = 25,
    OBXSyncServerStats_forwardedMessagesReceived = 26,
    OBXSyncServerStats_forwardedMessagesSent = 27,
    OBXSyncServerStats_cacheGlobalToLocalHits = 28,
    OBXSyncServerStats_cacheGlobalToLocalMisses = 29,
    OBXSyncServerStats_cacheGlobalToLocalSize = 30,
    OBXSyncServerStats_cachePeerToLocalHits = 31,
    OBXSyncServerStats_cachePeerToLocalMisses = 32,
    OBXSyncServerStats_cacheLocalToPeerHits = 33,
    OBXSyncServerStats_cacheLocalToPeerMisses = 34,
    OBXSyncServerStats_cachePeerSize = 35,
    OBXSyncServerStats_clusterPeerState = 36,
    OBXSyncServerStats_clientTxsBehind = 37,
    OBXSyncServerStats_clientTxsBehind_min = 38,
    OBXSyncServerStats_clientTxsBehind_max = 39,
    OBXSyncServerStats_connectedClients = 40,
    OBXSyncServerStats_connectedClients_min = 41,
    OBXSyncServerStats_connectedClients_max = 42,
    OBXSyncServerStats_queueLength = 43,
    OBXSyncServerStats_queueLength_min = 44,
    OBXSyncServerStats_queueLength_max = 45,
    OBXSyncServerStats_queueLengthAsync = 46,
    OBXSyncServerStats_queueLengthAsync_min = 47,
    OBXSyncServerStats_queueLengthAsync_max = 48,
    OBXSyncServerStats_txHistorySequence = 49,
    OBXSyncServerStats_txHistorySequence_min = 50,
    OBXSyncServerStats_txHistorySequence_max = 51,
} OBXSyncServerStats;

typedef enum {
    OBXCustomMsgClientState_Connecting = 1,
    OBXCustomMsgClientState_Connected = 2,
    OBXCustomMsgClientState_Disconnected = 3,
} OBXCustomMsgClientState;

/* ---- what listeners get; valid during the call ---- */

typedef struct OBX_sync_change {
    obx_schema_id entity_id;
    const OBX_id_array* puts;     /* NULL: none */
    const OBX_id_array* removals; /* NULL: none */
} OBX_sync_change;

typedef struct OBX_sync_change_array {
    const OBX_sync_change* list;
    size_t count;
} OBX_sync_change_array;

typedef struct OBX_sync_object {
    OBXSyncObjectType type;
    uint64_t id;
    const void* data;
    size_t size;
} OBX_sync_object;

typedef struct OBX_sync_msg_objects {
    const void* topic;
    size_t topic_size;
    const OBX_sync_object* objects;
    size_t count;
} OBX_sync_msg_objects;

/* ---- functions of the program ---- */

typedef void OBX_sync_listener_connect(void* arg);
typedef void OBX_sync_listener_disconnect(void* arg);
typedef void OBX_sync_listener_login(void* arg);
typedef void OBX_sync_listener_login_failure(void* arg, OBXSyncCode code);
typedef void OBX_sync_listener_complete(void* arg);
typedef void OBX_sync_listener_error(void* arg, OBXSyncError error);
typedef void OBX_sync_listener_change(void* arg, const OBX_sync_change_array* changes);
typedef void OBX_sync_listener_server_time(void* arg, int64_t timestamp_ns);
typedef void OBX_sync_listener_msg_objects(void* arg, const OBX_sync_msg_objects* msg_objects);

/* A server transport. create returns what the others get as server_user_data. */
typedef void* OBX_custom_msg_server_func_create(uint64_t server_id, const char* url,
                                                const char* cert_path, void* config_user_data);
typedef obx_err OBX_custom_msg_server_func_start(void* server_user_data, uint64_t* out_port);
typedef void OBX_custom_msg_server_func_stop(void* server_user_data);
typedef void OBX_custom_msg_server_func_shutdown(void* server_user_data);
/* bytes: the receiver frees them with obx_bytes_lazy_free(). */
typedef bool OBX_custom_msg_server_func_client_connection_send_async(OBX_bytes_lazy* bytes,
                                                                     void* server_user_data,
                                                                     void* connection_user_data);
typedef void OBX_custom_msg_server_func_client_connection_close(void* server_user_data,
                                                                void* connection_user_data);
typedef void OBX_custom_msg_server_func_client_connection_shutdown(void* connection_user_data);

typedef struct OBX_custom_msg_server_functions {
    size_t version; /* sizeof(OBX_custom_msg_server_functions) */
    OBX_custom_msg_server_func_create* func_create;
    OBX_custom_msg_server_func_start* func_start;
    OBX_custom_msg_server_func_stop* func_stop;
    OBX_custom_msg_server_func_shutdown* func_shutdown;
    OBX_custom_msg_server_func_client_connection_send_async* func_conn_send_async;
    OBX_custom_msg_server_func_client_connection_close* func_conn_close;
    OBX_custom_msg_server_func_client_connection_shutdown* func_conn_shutdown;
} OBX_custom_msg_server_functions;

/* A client transport. create returns what the others get as client_user_data. */
typedef void* OBX_custom_msg_client_func_create(uint64_t client_id, const char* url,
                                                const char* cert_path, void* config_user_data);
typedef obx_err OBX_custom_msg_client_func_start(void* client_user_data);
typedef void OBX_custom_msg_client_func_stop(void* client_user_data);
typedef void OBX_custom_msg_client_func_join(void* client_user_data);
typedef bool OBX_custom_msg_client_func_connect(void* client_user_data);
typedef void OBX_custom_msg_client_func_disconnect(bool clear_outgoing_messages,
                                                   void* client_user_data);
typedef void OBX_custom_msg_client_func_shutdown(void* client_user_data);
typedef bool OBX_custom_msg_client_func_send_async(OBX_bytes_lazy* bytes, void* client_user_data);
typedef void OBX_custom_msg_client_func_clear_outgoing_messages(void* client_user_data);

typedef struct OBX_custom_msg_client_functions {
    size_t version; /* sizeof(OBX_custom_msg_client_functions) */
    OBX_custom_msg_client_func_create* func_create;
    OBX_custom_msg_client_func_start* func_start;
    OBX_custom_msg_client_func_connect* func_connect;
    OBX_custom_msg_client_func_disconnect* func_disconnect;
    OBX_custom_msg_client_func_stop* func_stop;
    OBX_custom_msg_client_func_join* func_join;
    OBX_custom_msg_client_func_shutdown* func_shutdown;
    OBX_custom_msg_client_func_send_async* func_send_async;
    OBX_custom_msg_client_func_clear_outgoing_messages* func_clear_outgoing_messages;
} OBX_custom_msg_client_functions;

/*
 * ---- Clients ----
 *
 * A client keeps the synced entities of one store equal to those of a server. Calls may come from
 * any thread; listeners are called on threads of the client.
 */

/* Options for the one client that a store may have. */
OBX_sync_options* obx_sync_opt(OBX_store* store);
/* At least one; with several, one is chosen for each connection. */
obx_err obx_sync_opt_add_url(OBX_sync_options* opt, const char* url);
/* A certificate to trust. */
obx_err obx_sync_opt_add_cert_path(OBX_sync_options* opt, const char* cert_path);
/* OBXSyncFlags. */
obx_err obx_sync_opt_flags(OBX_sync_options* opt, uint32_t flags);
/* Consumes the options. Does not connect yet. */
OBX_sync* obx_sync_create(OBX_sync_options* opt);
/* Only for options that never reached obx_sync_create(). NULL is allowed. */
void obx_sync_opt_free(OBX_sync_options* opt);
/* A client of one server address. */
OBX_sync* obx_sync(OBX_store* store, const char* server_url);
/* A client of several addresses. */
OBX_sync* obx_sync_urls(OBX_store* store, const char* const server_urls[],
                        size_t server_urls_count);
/* With certificates to trust. */
OBX_sync* obx_sync_certs(OBX_store* store, const char* const server_urls[],
                         size_t server_urls_count, const char* const cert_paths[],
                         size_t cert_paths_count);
/* Stops first. NULL is allowed. */
obx_err obx_sync_close(OBX_sync* sync);

/*
 * ---- Filter variables ----
 *
 * Values that the server's filters use. Changes after login wait for
 * obx_sync_filter_variables_apply().
 */

obx_err obx_sync_filter_variables_put(OBX_sync* sync, const char* name, const char* value);
obx_err obx_sync_filter_variables_remove(OBX_sync* sync, const char* name);
obx_err obx_sync_filter_variables_remove_all(OBX_sync* sync);
obx_err obx_sync_filter_variables_apply(OBX_sync* sync);

/* ---- Credentials ---- */

/* Replace all. NONE takes no data. */
obx_err obx_sync_credentials(OBX_sync* sync, OBXSyncCredentialsType type, const uint8_t* data,
                             size_t size);
obx_err obx_sync_credentials_user_password(OBX_sync* sync, OBXSyncCredentialsType type,
                                           const char* username, const char* password);
/* One of several; complete with the last. */
obx_err obx_sync_credentials_add(OBX_sync* sync, OBXSyncCredentialsType type, const uint8_t* data,
                                 size_t size, bool complete);
obx_err obx_sync_credentials_add_user_password(OBX_sync* sync, OBXSyncCredentialsType type,
                                               const char* username, const char* password,
                                               bool complete);

/* ---- Running a client ---- */

/* 1 to 20. */
obx_err obx_sync_max_messages_in_flight(OBX_sync* sync, int value);
/* 1001: not possible in this state. */
obx_err obx_sync_trigger_reconnect(OBX_sync* sync);
/* Milliseconds. */
obx_err obx_sync_heartbeat_interval(OBX_sync* sync, uint64_t interval_ms);
obx_err obx_sync_send_heartbeat(OBX_sync* sync);
/* Before starting only. */
obx_err obx_sync_request_updates_mode(OBX_sync* sync, OBXRequestUpdatesMode mode);
/* Connects in the background. */
obx_err obx_sync_start(OBX_sync* sync);
obx_err obx_sync_stop(OBX_sync* sync);
/* OBXSyncState; 0 on error. */
OBXSyncState obx_sync_state(OBX_sync* sync);
/* 1002: the time was up; 1001: it cannot be reached. */
obx_err obx_sync_wait_for_logged_in_state(OBX_sync* sync, uint64_t timeout_millis);
/* 1001: not logged in. */
obx_err obx_sync_updates_request(OBX_sync* sync, bool subscribe_for_pushes);
/* 1001: not logged in. */
obx_err obx_sync_updates_cancel(OBX_sync* sync);
/* Changes not yet sent, up to limit; 0: no limit. */
obx_err obx_sync_outgoing_message_count(OBX_sync* sync, uint64_t limit, uint64_t* out_count);
/* Ask for everything anew. */
obx_err obx_sync_full(OBX_sync* sync);
/* Nanoseconds since 1970 as the server has it; 0: unknown. */
obx_err obx_sync_time_server(OBX_sync* sync, int64_t* out_timestamp_ns);
/* Server minus local, in nanoseconds; 0: unknown. */
obx_err obx_sync_time_server_diff(OBX_sync* sync, int64_t* out_diff_ns);
/* Of this library; 0 without sync. Sets no error. */
uint32_t obx_sync_protocol_version(void);
/* Of the server last connected to; 0: unknown. */
uint32_t obx_sync_protocol_version_server(OBX_sync* sync);

/*
 * ---- Messages of objects ----
 *
 * Messages that are not stored, with a topic, to and from the server.
 */

/* topic may be NULL. */
OBX_sync_msg_objects_builder* obx_sync_msg_objects_builder(const uint8_t* topic, size_t topic_size);
/* Copies the data. */
obx_err obx_sync_msg_objects_builder_add(OBX_sync_msg_objects_builder* message,
                                         OBXSyncObjectType type, const uint8_t* data, size_t size,
                                         uint64_t id);
/* For a message that is not sent. */
obx_err obx_sync_msg_objects_builder_discard(OBX_sync_msg_objects_builder* message);
/* Consumes the message. 1001: not sent. */
obx_err obx_sync_send_msg_objects(OBX_sync* sync, OBX_sync_msg_objects_builder* message);

/*
 * ---- Listeners ----
 *
 * One of each kind; a later one replaces it, NULL removes it. listener_arg comes back as first
 * argument.
 */

void obx_sync_listener_connect(OBX_sync* sync, OBX_sync_listener_connect* listener,
                               void* listener_arg);
void obx_sync_listener_disconnect(OBX_sync* sync, OBX_sync_listener_disconnect* listener,
                                  void* listener_arg);
void obx_sync_listener_login(OBX_sync* sync, OBX_sync_listener_login* listener, void* listener_arg);
void obx_sync_listener_login_failure(OBX_sync* sync, OBX_sync_listener_login_failure* listener,
                                     void* listener_arg);
/* The client has caught up. */
void obx_sync_listener_complete(OBX_sync* sync, OBX_sync_listener_complete* listener,
                                void* listener_arg);
/* Objects that came in. */
void obx_sync_listener_change(OBX_sync* sync, OBX_sync_listener_change* listener,
                              void* listener_arg);
void obx_sync_listener_server_time(OBX_sync* sync, OBX_sync_listener_server_time* listener,
                                   void* listener_arg);
void obx_sync_listener_msg_objects(OBX_sync* sync, OBX_sync_listener_msg_objects* listener,
                                   void* listener_arg);
void obx_sync_listener_error(OBX_sync* sync, OBX_sync_listener_error* listener, void* listener_arg);
/* A counter since the client was made. */
obx_err obx_sync_stats_u64(OBX_sync* sync, OBXSyncStats counter_type, uint64_t* out_count);

/*
 * ---- Servers ----
 *
 * Set up before obx_sync_server_start().
 */

/* Opens a store of its own; consumes store_options. */
OBX_sync_server* obx_sync_server(OBX_store_options* store_options, const char* url);
/* The same, set up by a FlatBuffer. */
OBX_sync_server* obx_sync_server_from_flat_options(OBX_store_options* store_options,
                                                   const uint8_t* flat_options,
                                                   size_t flat_options_size);
/* Stops, closes its store. NULL is allowed. */
obx_err obx_sync_server_close(OBX_sync_server* server);
/* The server's; not to be closed. */
OBX_store* obx_sync_server_store(OBX_sync_server* server);
obx_err obx_sync_server_certificate_path(OBX_sync_server* server, const char* certificate_path);
/* Accept these; call again for more. */
obx_err obx_sync_server_credentials(OBX_sync_server* server, OBXSyncCredentialsType type,
                                    const uint8_t* data, size_t size);
/* Accept this kind. */
obx_err obx_sync_server_enable_auth(OBX_sync_server* server, OBXSyncCredentialsType type);
/* 0: as the machine suggests. */
obx_err obx_sync_server_worker_threads(OBX_sync_server* server, int thread_count);
/* Beyond the maximum, history is cut down to the target. */
obx_err obx_sync_server_history_max_size_in_kb(OBX_sync_server* server, uint64_t max_in_kb,
                                               uint64_t target_in_kb);
obx_err obx_sync_server_cluster_id(OBX_sync_server* server, const char* id);
obx_err obx_sync_server_add_cluster_peer(OBX_sync_server* server, const char* url,
                                         OBXSyncCredentialsType credentials_type,
                                         const uint8_t* credentials, size_t credentials_size,
                                         uint32_t flags);
/* Refuse clients whose schema differs. */
obx_err obx_sync_server_client_schema_validation_strict(OBX_sync_server* server);
obx_err obx_sync_server_listener_change(OBX_sync_server* server, OBX_sync_listener_change* listener,
                                        void* listener_arg);
obx_err obx_sync_server_listener_msg_objects(OBX_sync_server* server,
                                             OBX_sync_listener_msg_objects* listener,
                                             void* listener_arg);
obx_err obx_sync_server_start(OBX_sync_server* server);
obx_err obx_sync_server_stop(OBX_sync_server* server);
bool obx_sync_server_running(OBX_sync_server* server);
/* Valid until the next call. */
const char* obx_sync_server_url(OBX_sync_server* server);
uint16_t obx_sync_server_port(OBX_sync_server* server);
uint64_t obx_sync_server_connections(OBX_sync_server* server);
obx_err obx_sync_server_stats_u64(OBX_sync_server* server, OBXSyncServerStats counter_type,
                                  uint64_t* out_value);
obx_err obx_sync_server_stats_f64(OBX_sync_server* server, OBXSyncServerStats counter_type,
                                  double* out_value);
/* Valid until the next call. */
const char* obx_sync_server_stats_string(OBX_sync_server* server, bool include_zero_values);
/* To all clients. Consumes the message. */
obx_err obx_sync_server_send_msg_objects(OBX_sync_server* server,
                                         OBX_sync_msg_objects_builder* message);
/* Consumes the options; belongs to the server. */
OBX_admin* obx_sync_server_admin(OBX_sync_server* server, OBX_admin_options* options);

/*
 * ---- Transports of one's own ----
 *
 * Functions for a protocol name; the struct is copied, its version is its size. Register before
 * making a client or server whose URL names the protocol.
 */

obx_err obx_custom_msg_server_register(const char* protocol,
                                       OBX_custom_msg_server_functions* functions,
                                       void* config_user_data);
/* Its id; 0 on error. */
uint64_t obx_custom_msg_server_add_client_connection(uint64_t server_id, void* user_data);
/* 1001: unknown. */
obx_err obx_custom_msg_server_remove_client_connection(uint64_t server_id,
                                                       uint64_t client_connection_id);
/* 1001: unknown. */
obx_err obx_custom_msg_server_receive_message_from_client(uint64_t server_id,
                                                          uint64_t client_connection_id,
                                                          const uint8_t* message_data,
                                                          size_t message_size);
obx_err obx_custom_msg_client_register(const char* protocol,
                                       OBX_custom_msg_client_functions* functions,
                                       void* config_user_data);
obx_err obx_custom_msg_client_receive_message_from_server(uint64_t client_id,
                                                          const uint8_t* message_data,
                                                          size_t message_size);
obx_err obx_custom_msg_client_set_state(uint64_t client_id, OBXCustomMsgClientState state);
/* 1001: not possible in this state. */
obx_err obx_custom_msg_client_trigger_reconnect(uint64_t client_id);

/* ---- Sync clocks ---- */

/* Milliseconds since 1970 in the value of a SYNC_CLOCK property. */
int64_t obx_sync_clock_timestamp(uint64_t sync_clock_value);
/* The same with the correction kept in it. */
int64_t obx_sync_clock_timestamp_corrected(uint64_t sync_clock_value);

#ifdef __cplusplus
}
#endif

#endif /* OBJECTBOX_SYNC_H */
