/* SPDX-License-Identifier: Apache-2.0 */
/* What objectbox-dart.h declares and this build does not serve. See missing.h. */
#include "api/missing.h"

// What they get is not looked at, and how much of it there is was not for us to say.
#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif
// NOLINTBEGIN(misc-unused-parameters,readability-function-size)

// ---- Dart entry points ----

MISSING_ERR(obx_dart_init_api, (void *data), NO_HANDLE, DART)
MISSING_POINTER(OBX_observer *, obx_dart_observe, (OBX_store * store, int64_t native_port), store,
                DART)
MISSING_POINTER(OBX_observer *, obx_dart_observe_single_type,
                (OBX_store * store, obx_schema_id type_id, int64_t native_port), store, DART)
MISSING_CLOSE(obx_dart_sync_listener_close, (OBX_dart_sync_listener * listener), listener, DART)
MISSING_POINTER(OBX_dart_sync_listener *, obx_dart_sync_listener_connect,
                (OBX_sync * sync, int64_t native_port), sync, DART)
MISSING_POINTER(OBX_dart_sync_listener *, obx_dart_sync_listener_disconnect,
                (OBX_sync * sync, int64_t native_port), sync, DART)
MISSING_POINTER(OBX_dart_sync_listener *, obx_dart_sync_listener_login,
                (OBX_sync * sync, int64_t native_port), sync, DART)
MISSING_POINTER(OBX_dart_sync_listener *, obx_dart_sync_listener_login_failure,
                (OBX_sync * sync, int64_t native_port), sync, DART)
MISSING_POINTER(OBX_dart_sync_listener *, obx_dart_sync_listener_complete,
                (OBX_sync * sync, int64_t native_port), sync, DART)
MISSING_POINTER(OBX_dart_sync_listener *, obx_dart_sync_listener_change,
                (OBX_sync * sync, int64_t native_port), sync, DART)
MISSING_POINTER(OBX_dart_sync_listener *, obx_dart_sync_listener_server_time,
                (OBX_sync * sync, int64_t native_port), sync, DART)
MISSING_NUMBER(obx_id, obx_dart_async_put_object,
               (OBX_async * async, int64_t native_port, void *data, size_t size, OBXPutMode mode),
               async, DART)
MISSING_CLOSE(obx_dart_stream_close, (OBX_dart_stream * stream), stream, DART)
MISSING_POINTER(OBX_dart_stream *, obx_dart_query_find, (OBX_query * query, int64_t native_port),
                query, DART)
MISSING_POINTER(OBX_dart_stream *, obx_dart_query_find_ptr,
                (OBX_query * query, int64_t native_port), query, DART)
MISSING_POINTER(OBX_dart_finalizer *, obx_dart_attach_finalizer,
                (Dart_Handle dart_object, obx_dart_closer *closer, void *native_object,
                 size_t native_object_size),
                NO_HANDLE, DART)
MISSING_CLOSE(obx_dart_detach_finalizer, (OBX_dart_finalizer * finalizer, Dart_Handle dart_object),
              finalizer, DART)

// NOLINTEND(misc-unused-parameters,readability-function-size)
