/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the ABI promises about sizes, places and numbers, checked where it is compiled.
 *
 * The figures are those of 64-bit platforms; on others the same structs have the same fields.
 */
#include "api/exported.h"
#include "base/base.h"

_Static_assert(sizeof(obx_schema_id) == 4 && sizeof(obx_uid) == 8 && sizeof(obx_id) == 8, "ids");
_Static_assert(sizeof(obx_err) == 4 && sizeof(obx_qb_cond) == 4, "codes and conditions");
_Static_assert(sizeof(bool) == 1, "a boolean is one byte");
_Static_assert(sizeof(OBXPropertyType) == 4 && sizeof(OBXPutMode) == 4, "choices are ints");
_Static_assert(OBX_ID_NEW == UINT64_MAX, "the placeholder is all ones");

// Ours and the ABI's codes are the same numbers.
#define X(name, number) _Static_assert(BW_ERR_##name == (number), #name);
BW_ERROR_MAP(X)
#undef X
_Static_assert(BW_ERR_NOT_FOUND == OBX_NOT_FOUND, "not found");
_Static_assert(BW_ERR_NO_SUCCESS == OBX_NO_SUCCESS, "no success");
_Static_assert(BW_ERR_TIMEOUT == OBX_TIMEOUT, "time-out");
_Static_assert(BW_ERR_ILLEGAL_STATE == OBX_ERROR_ILLEGAL_STATE, "illegal state");
_Static_assert(BW_ERR_ILLEGAL_ARGUMENT == OBX_ERROR_ILLEGAL_ARGUMENT, "illegal argument");
_Static_assert(BW_ERR_NO_MEMORY == OBX_ERROR_ALLOCATION, "allocation");
_Static_assert(BW_ERR_NUMERIC_OVERFLOW == OBX_ERROR_NUMERIC_OVERFLOW, "overflow");
_Static_assert(BW_ERR_FEATURE_NOT_AVAILABLE == OBX_ERROR_FEATURE_NOT_AVAILABLE, "feature");
_Static_assert(BW_ERR_SHUTTING_DOWN == OBX_ERROR_SHUTTING_DOWN, "shutting down");
_Static_assert(BW_ERR_IO == OBX_ERROR_IO, "I/O");
_Static_assert(BW_ERR_DB_FULL == OBX_ERROR_DB_FULL, "full");
_Static_assert(BW_ERR_MAX_READERS_EXCEEDED == OBX_ERROR_MAX_READERS_EXCEEDED, "readers");
_Static_assert(BW_ERR_STORE_MUST_SHUTDOWN == OBX_ERROR_STORE_MUST_SHUTDOWN, "must shut down");
_Static_assert(BW_ERR_MAX_DATA_SIZE_EXCEEDED == OBX_ERROR_MAX_DATA_SIZE_EXCEEDED, "data size");
_Static_assert(BW_ERR_STORAGE_GENERAL == OBX_ERROR_STORAGE_GENERAL, "storage");
_Static_assert(BW_ERR_UNIQUE_VIOLATED == OBX_ERROR_UNIQUE_VIOLATED, "unique");
_Static_assert(BW_ERR_ID_ALREADY_EXISTS == OBX_ERROR_ID_ALREADY_EXISTS, "id exists");
_Static_assert(BW_ERR_ID_NOT_FOUND == OBX_ERROR_ID_NOT_FOUND, "id not found");
_Static_assert(BW_ERR_SCHEMA == OBX_ERROR_SCHEMA, "schema");
_Static_assert(BW_ERR_FILE_CORRUPT == OBX_ERROR_FILE_CORRUPT, "file");
_Static_assert(BW_ERR_FILE_PAGES_CORRUPT == OBX_ERROR_FILE_PAGES_CORRUPT, "pages");
_Static_assert(BW_ERR_SCHEMA_OBJECT_NOT_FOUND == OBX_ERROR_SCHEMA_OBJECT_NOT_FOUND, "object");

#if UINTPTR_MAX == UINT64_MAX

#define AT(type, field, offset) _Static_assert(offsetof(type, field) == (offset), #type "." #field)
#define SIZE(type, size) _Static_assert(sizeof(type) == (size), #type)

AT(OBX_bytes, data, 0);
AT(OBX_bytes, size, 8);
SIZE(OBX_bytes, 16);
AT(OBX_bytes_array, bytes, 0);
AT(OBX_bytes_array, count, 8);
SIZE(OBX_bytes_array, 16);
AT(OBX_bytes_score, data, 0);
AT(OBX_bytes_score, size, 8);
AT(OBX_bytes_score, score, 16);
SIZE(OBX_bytes_score, 24);
AT(OBX_bytes_score_array, bytes_scores, 0);
AT(OBX_bytes_score_array, count, 8);
SIZE(OBX_bytes_score_array, 16);
AT(OBX_id_array, ids, 0);
AT(OBX_id_array, count, 8);
SIZE(OBX_id_array, 16);
AT(OBX_id_score, id, 0);
AT(OBX_id_score, score, 8);
SIZE(OBX_id_score, 16);
AT(OBX_id_score_array, ids_scores, 0);
AT(OBX_id_score_array, count, 8);
SIZE(OBX_id_score_array, 16);
AT(OBX_string_array, items, 0);
AT(OBX_string_array, count, 8);
SIZE(OBX_string_array, 16);
AT(OBX_int64_array, count, 8);
SIZE(OBX_int64_array, 16);
AT(OBX_int32_array, count, 8);
SIZE(OBX_int32_array, 16);
AT(OBX_int16_array, count, 8);
SIZE(OBX_int16_array, 16);
AT(OBX_int8_array, count, 8);
SIZE(OBX_int8_array, 16);
AT(OBX_double_array, count, 8);
SIZE(OBX_double_array, 16);
AT(OBX_float_array, count, 8);
SIZE(OBX_float_array, 16);

AT(OBX_sync_change, entity_id, 0);
AT(OBX_sync_change, puts, 8);
AT(OBX_sync_change, removals, 16);
SIZE(OBX_sync_change, 24);
AT(OBX_sync_change_array, list, 0);
AT(OBX_sync_change_array, count, 8);
SIZE(OBX_sync_change_array, 16);
AT(OBX_sync_object, type, 0);
AT(OBX_sync_object, id, 8);
AT(OBX_sync_object, data, 16);
AT(OBX_sync_object, size, 24);
SIZE(OBX_sync_object, 32);
AT(OBX_sync_msg_objects, topic, 0);
AT(OBX_sync_msg_objects, topic_size, 8);
AT(OBX_sync_msg_objects, objects, 16);
AT(OBX_sync_msg_objects, count, 24);
SIZE(OBX_sync_msg_objects, 32);
SIZE(OBX_custom_msg_server_functions, 64);
SIZE(OBX_custom_msg_client_functions, 80);

AT(boxwood_failure, index, 16);
AT(boxwood_failure, message, 40);
SIZE(boxwood_failure, 272);
SIZE(boxwood_object, 24);

#endif
