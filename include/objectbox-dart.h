/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objectbox-dart.h - what Dart's binding needs beyond objectbox.h, by the conventions of that.
 *
 * Only Dart's binding has a use for these functions; C programs do not.
 */
#ifndef OBJECTBOX_DART_H
#define OBJECTBOX_DART_H

#include "objectbox-sync.h"
#include "objectbox.h"

#ifdef __cplusplus
extern "C" {
#endif

/* As dart_api.h has it. */
typedef struct _Dart_Handle* Dart_Handle;

typedef struct OBX_dart_sync_listener OBX_dart_sync_listener;
typedef struct OBX_dart_stream OBX_dart_stream;
typedef struct OBX_dart_finalizer OBX_dart_finalizer;

/* Closes a native object when the Dart object that owns it is collected. */
typedef obx_err obx_dart_closer(void* native_object);

/*
 * ---- Entry points for Dart ----
 *
 * native_port is a port of the Dart virtual machine, to which results are posted.
 */

/* First of all: data is NativeApi.initializeApiDLData. */
obx_err obx_dart_init_api(void* data);
/* Posts the ids of the entities that a commit changed. */
OBX_observer* obx_dart_observe(OBX_store* store, int64_t native_port);
/* Posts after each commit that changed the entity. */
OBX_observer* obx_dart_observe_single_type(OBX_store* store, obx_schema_id type_id,
                                           int64_t native_port);
/* NULL is allowed. */
obx_err obx_dart_sync_listener_close(OBX_dart_sync_listener* listener);
OBX_dart_sync_listener* obx_dart_sync_listener_connect(OBX_sync* sync, int64_t native_port);
OBX_dart_sync_listener* obx_dart_sync_listener_disconnect(OBX_sync* sync, int64_t native_port);
OBX_dart_sync_listener* obx_dart_sync_listener_login(OBX_sync* sync, int64_t native_port);
/* Posts an OBXSyncCode. */
OBX_dart_sync_listener* obx_dart_sync_listener_login_failure(OBX_sync* sync, int64_t native_port);
OBX_dart_sync_listener* obx_dart_sync_listener_complete(OBX_sync* sync, int64_t native_port);
/* Posts entity id, ids put, ids removed, for each entity. */
OBX_dart_sync_listener* obx_dart_sync_listener_change(OBX_sync* sync, int64_t native_port);
OBX_dart_sync_listener* obx_dart_sync_listener_server_time(OBX_sync* sync, int64_t native_port);
/* As obx_async_put_object4(); posts null, or a text when it failed. */
obx_id obx_dart_async_put_object(OBX_async* async, int64_t native_port, void* data, size_t size,
                                 OBXPutMode mode);
/* NULL is allowed. */
obx_err obx_dart_stream_close(OBX_dart_stream* stream);
OBX_dart_stream* obx_dart_query_find(OBX_query* query, int64_t native_port);
OBX_dart_stream* obx_dart_query_find_ptr(OBX_query* query, int64_t native_port);
/* Call closer when the Dart object is collected. */
OBX_dart_finalizer* obx_dart_attach_finalizer(Dart_Handle dart_object, obx_dart_closer* closer,
                                              void* native_object, size_t native_object_size);
obx_err obx_dart_detach_finalizer(OBX_dart_finalizer* finalizer, Dart_Handle dart_object);

#ifdef __cplusplus
}
#endif

#endif /* OBJECTBOX_DART_H */
