/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objectbox.h - the C ABI of ObjectBox 5.3.2, as Boxwood implements it.
 *
 * Names, types and numbers are those of the published interface; existing programs and bindings
 * compile and link unchanged. Functions that this build does not serve answer 10005
 * (OBX_ERROR_FEATURE_NOT_AVAILABLE): docs/abi-status.md lists them, docs/differences.md says where
 * the library is better on purpose.
 *
 * Conventions:
 *  1. obx_err: 0 is success. 404, 1001 and 1002 are answers and leave the last error alone; codes
 *     from 10001 on set the calling thread's last error. A function that returns a pointer, an id
 *     or a condition returns NULL or 0 on error. Success never clears the last error.
 *  2. Out-parameters are written on success only, unless the function says otherwise.
 *  3. "Consumes" means that the argument belongs to the library from the call on, also on failure.
 *     Everything else handed in stays the caller's and is copied if it is kept.
 *  4. Bytes of objects handed out belong to the transaction, not to the array that carries them:
 *     they are valid until it ends or, if it writes, until its next write. Aligned to 8.
 *  5. Texts are UTF-8 and end with a NUL. Ids are never 0.
 *  6. Stores and boxes may be used by all threads; transactions and cursors by the thread that
 *     began them; models, options, builders and queries by one thread at a time. A handle that is
 *     closed, foreign or NULL gives an error, not a crash; closing NULL is a success.
 */
#ifndef OBJECTBOX_H
#define OBJECTBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface; obx_version() is that of the library. */
#define OBX_VERSION_MAJOR 5
#define OBX_VERSION_MINOR 3
#define OBX_VERSION_PATCH 2

/* ---- numbers ---- */

typedef uint32_t obx_schema_id; /* of an entity, property, index or relation, within its model */
typedef uint64_t obx_uid;       /* the same thing's identity for ever */
typedef uint64_t obx_id;        /* of an object, within its entity */
typedef int obx_err;            /* OBX_SUCCESS or one of the codes below */
typedef int obx_qb_cond;        /* number of a condition in its builder */

/* Placeholder in an object that has no id yet; 0 means the same. */
#define OBX_ID_NEW 0xFFFFFFFFFFFFFFFF

/* ---- codes ---- */

#define OBX_SUCCESS 0
#define OBX_NOT_FOUND 404   /* an answer: no such object */
#define OBX_NO_SUCCESS 1001 /* an answer: not possible in this state */
#define OBX_TIMEOUT 1002    /* an answer: the time was up */

#define OBX_ERROR_ILLEGAL_STATE 10001
#define OBX_ERROR_ILLEGAL_ARGUMENT 10002
#define OBX_ERROR_ALLOCATION 10003
#define OBX_ERROR_NUMERIC_OVERFLOW 10004
#define OBX_ERROR_FEATURE_NOT_AVAILABLE 10005
#define OBX_ERROR_SHUTTING_DOWN 10006 /* the store is closing or closed */
#define OBX_ERROR_IO 10007
#define OBX_ERROR_BACKUP_FILE_INVALID 10008
#define OBX_ERROR_NO_ERROR_INFO 10097
#define OBX_ERROR_GENERAL 10098
#define OBX_ERROR_UNKNOWN 10099

/* Storage; the secondary code is the system's. */
#define OBX_ERROR_DB_FULL 10101
#define OBX_ERROR_MAX_READERS_EXCEEDED 10102
#define OBX_ERROR_STORE_MUST_SHUTDOWN 10103 /* a write failed half-way: close and open again */
#define OBX_ERROR_MAX_DATA_SIZE_EXCEEDED 10104
#define OBX_ERROR_DB_GENERAL 10198
#define OBX_ERROR_STORAGE_GENERAL 10199

/* Data. */
#define OBX_ERROR_UNIQUE_VIOLATED 10201
#define OBX_ERROR_NON_UNIQUE_RESULT 10202
#define OBX_ERROR_PROPERTY_TYPE_MISMATCH 10203
#define OBX_ERROR_ID_ALREADY_EXISTS 10210
#define OBX_ERROR_ID_NOT_FOUND 10211
#define OBX_ERROR_TIME_SERIES 10212
#define OBX_ERROR_CONSTRAINT_VIOLATED 10299

/* Of C++ libraries; not returned by this one. */
#define OBX_ERROR_STD_ILLEGAL_ARGUMENT 10301
#define OBX_ERROR_STD_OUT_OF_RANGE 10302
#define OBX_ERROR_STD_LENGTH 10303
#define OBX_ERROR_STD_BAD_ALLOC 10304
#define OBX_ERROR_STD_RANGE 10305
#define OBX_ERROR_STD_OVERFLOW 10306
#define OBX_ERROR_STD_OTHER 10399

/* Schema and file. */
#define OBX_ERROR_SCHEMA 10501
#define OBX_ERROR_FILE_CORRUPT 10502
#define OBX_ERROR_FILE_PAGES_CORRUPT 10503
#define OBX_ERROR_SCHEMA_OBJECT_NOT_FOUND 10504

/* Trees. */
#define OBX_ERROR_TREE_MODEL_INVALID 10601
#define OBX_ERROR_TREE_VALUE_TYPE_MISMATCH 10602
#define OBX_ERROR_TREE_PATH_NON_UNIQUE 10603
#define OBX_ERROR_TREE_PATH_ILLEGAL 10604
#define OBX_ERROR_TREE_OTHER 10699

/* ---- choices ---- */

/* What a build can do. */
typedef enum {
    OBXFeature_ResultArray = 1, /* results as arrays: true where pointers have 64 bits */
    OBXFeature_TimeSeries = 2,
    OBXFeature_Sync = 3,
    OBXFeature_DebugLog = 4,
    OBXFeature_Admin = 5,
    OBXFeature_Tree = 6,
    OBXFeature_SyncServer = 7,
    OBXFeature_WebSockets = 8,
    OBXFeature_Cluster = 9,
    OBXFeature_HttpServer = 10,
    OBXFeature_GraphQL = 11,
    OBXFeature_Backup = 12,
    OBXFeature_Lmdb = 13, /* stores on disk */
    OBXFeature_VectorSearch = 14,
    OBXFeature_Wal = 15,
    OBXFeature_SyncMongoDb = 16,
    OBXFeature_Auth = 17,
    OBXFeature_Trial = 18,
    OBXFeature_SyncFilters = 19,
} OBXFeature;

typedef enum {
    OBXLogLevel_All = 0,
    OBXLogLevel_Trace = 1,
    OBXLogLevel_Verbose = 2,
    OBXLogLevel_Debug = 3,
    OBXLogLevel_Info = 4,
    OBXLogLevel_Warn = 6,
    OBXLogLevel_Error = 8,
    OBXLogLevel_None = 10,
} OBXLogLevel;

/* What a property holds. Its place in the FlatBuffers table is the slot of its id, less 1. */
typedef enum {
    OBXPropertyType_Unknown = 0,
    OBXPropertyType_Bool = 1,
    OBXPropertyType_Byte = 2,      /* 8 bits */
    OBXPropertyType_Short = 3,     /* 16 bits */
    OBXPropertyType_Char = 4,      /* 16 bits, unsigned */
    OBXPropertyType_Int = 5,       /* 32 bits */
    OBXPropertyType_Long = 6,      /* 64 bits */
    OBXPropertyType_Float = 7,     /* 32 bits */
    OBXPropertyType_Double = 8,    /* 64 bits */
    OBXPropertyType_String = 9,    /* UTF-8 */
    OBXPropertyType_Date = 10,     /* milliseconds since 1970 UTC */
    OBXPropertyType_Relation = 11, /* id of an object of the target entity, 0: none */
    OBXPropertyType_DateNano = 12, /* nanoseconds since 1970 UTC */
    OBXPropertyType_Flex = 13,     /* FlexBuffers: any value, list or map */
    OBXPropertyType_BoolVector = 22,
    OBXPropertyType_ByteVector = 23,
    OBXPropertyType_ShortVector = 24,
    OBXPropertyType_CharVector = 25,
    OBXPropertyType_IntVector = 26,
    OBXPropertyType_LongVector = 27,
    OBXPropertyType_FloatVector = 28,
    OBXPropertyType_DoubleVector = 29,
    OBXPropertyType_StringVector = 30,
    OBXPropertyType_DateVector = 31,
    OBXPropertyType_DateNanoVector = 32,
} OBXPropertyType;

/* How far apart two vectors are. */
typedef enum {
    OBXVectorDistanceType_Unknown = 0,
    OBXVectorDistanceType_Euclidean = 1,  /* the square of the length between them */
    OBXVectorDistanceType_Cosine = 2,     /* 1 - cosine: 0 to 2 */
    OBXVectorDistanceType_DotProduct = 3, /* 1 - dot product, of vectors of length 1: 0 to 2 */
    OBXVectorDistanceType_Geo = 6,        /* kilometres between latitude, longitude in degrees */
    OBXVectorDistanceType_DotProductNonNormalized = 10, /* dot product of any length: 0 to 2 */
} OBXVectorDistanceType;

typedef enum {
    OBXHnswFlags_None = 0,
    OBXHnswFlags_DebugLogs = 1,
    OBXHnswFlags_DebugLogsDetailed = 2,
    OBXHnswFlags_VectorCacheSimdPaddingOff = 4,
    OBXHnswFlags_ReparationLimitCandidates = 8,
} OBXHnswFlags;

typedef enum {
    OBXEntityFlags_SYNC_ENABLED = 2,
    OBXEntityFlags_SHARED_GLOBAL_IDS = 4, /* with sync: ids are the same everywhere */
} OBXEntityFlags;

typedef enum {
    OBXPropertyFlags_ID = 1, /* the object's id; exactly one of each entity, of type Long */
    OBXPropertyFlags_NON_PRIMITIVE_TYPE = 2,
    OBXPropertyFlags_NOT_NULL = 4,
    OBXPropertyFlags_INDEXED = 8,
    OBXPropertyFlags_RESERVED = 16,
    OBXPropertyFlags_UNIQUE = 32, /* nulls and empty texts may repeat */
    OBXPropertyFlags_ID_MONOTONIC_SEQUENCE = 64,
    OBXPropertyFlags_ID_SELF_ASSIGNABLE = 128, /* the program may choose ids of new objects */
    OBXPropertyFlags_INDEX_PARTIAL_SKIP_NULL = 256,
    OBXPropertyFlags_INDEX_PARTIAL_SKIP_ZERO = 512,
    OBXPropertyFlags_VIRTUAL = 1024,
    OBXPropertyFlags_INDEX_HASH = 2048,   /* index texts by a hash of 32 bits ... */
    OBXPropertyFlags_INDEX_HASH64 = 4096, /* ... or of 64 bits: for equality only */
    OBXPropertyFlags_UNSIGNED = 8192,
    OBXPropertyFlags_ID_COMPANION = 16384, /* a time that orders objects together with the id */
    OBXPropertyFlags_UNIQUE_ON_CONFLICT_REPLACE = 32768, /* remove the other object instead */
    OBXPropertyFlags_EXPIRATION_TIME = 65536,            /* a date after which the object may go */
    OBXPropertyFlags_SYNC_CLOCK = 131072,
    OBXPropertyFlags_SYNC_PRECEDENCE = 262144,
} OBXPropertyFlags;

/* What a value is in a foreign system that a server synchronizes with. */
typedef enum {
    OBXExternalPropertyType_Unknown = 0,
    OBXExternalPropertyType_Int128 = 100,
    OBXExternalPropertyType_Uuid = 102,
    OBXExternalPropertyType_Decimal128 = 103,
    OBXExternalPropertyType_UuidString = 104,
    OBXExternalPropertyType_UuidV4 = 105,
    OBXExternalPropertyType_UuidV4String = 106,
    OBXExternalPropertyType_FlexMap = 107,
    OBXExternalPropertyType_FlexVector = 108,
    OBXExternalPropertyType_Json = 109,
    OBXExternalPropertyType_Bson = 110,
    OBXExternalPropertyType_JavaScript = 111,
    OBXExternalPropertyType_JsonToNative = 112,
    OBXExternalPropertyType_Int128Vector = 116,
    OBXExternalPropertyType_UuidVector = 118,
    OBXExternalPropertyType_MongoId = 123,
    OBXExternalPropertyType_MongoIdVector = 124,
    OBXExternalPropertyType_MongoTimestamp = 125,
    OBXExternalPropertyType_MongoBinary = 126,
    OBXExternalPropertyType_MongoRegex = 127,
} OBXExternalPropertyType;

/* What to log. */
typedef enum {
    OBXDebugFlags_LOG_TRANSACTIONS_READ = 1,
    OBXDebugFlags_LOG_TRANSACTIONS_WRITE = 2,
    OBXDebugFlags_LOG_QUERIES = 4,
    OBXDebugFlags_LOG_QUERY_PARAMETERS = 8,
    OBXDebugFlags_LOG_ASYNC_QUEUE = 16,
    OBXDebugFlags_LOG_CACHE_HITS = 32,
    OBXDebugFlags_LOG_CACHE_ALL = 64,
    OBXDebugFlags_LOG_TREE = 128,
    OBXDebugFlags_LOG_EXCEPTION_STACK_TRACE = 256,
    OBXDebugFlags_RUN_THREADING_SELF_TEST = 512,
} OBXDebugFlags;

typedef enum {
    OBXValidateOnOpenPagesFlags_None = 0,
    OBXValidateOnOpenPagesFlags_VisitLeafPages = 1,
} OBXValidateOnOpenPagesFlags;

typedef enum {
    OBXValidateOnOpenKvFlags_None = 0,
} OBXValidateOnOpenKvFlags;

typedef enum {
    OBXPutPaddingMode_PaddingAutomatic = 1,       /* pad if necessary */
    OBXPutPaddingMode_PaddingAllowedByBuffer = 2, /* the bytes behind the data may be read */
    OBXPutPaddingMode_PaddingByCaller = 3,        /* sizes are multiples of 4, others are refused */
} OBXPutPaddingMode;

typedef enum {
    OBXBackupFlags_ExcludeTimestamp = 1,
    OBXBackupFlags_ExcludeSalt = 2,
} OBXBackupFlags;

typedef enum {
    OBXWalFlags_EnableWal = 1,
    OBXWalFlags_NoSyncFile = 2, /* do not wait for the device */
} OBXWalFlags;

typedef enum {
    OBXBackupRestoreFlags_OverwriteExistingData = 1,
} OBXBackupRestoreFlags;

typedef enum {
    OBXStoreTypeId_LMDB = 1, /* a file */
    OBXStoreTypeId_InMemory = 2,
    OBXStoreTypeId_InMemoryWal = 3,
} OBXStoreTypeId;

/* What a put does about an object that exists already. Mode 4, used by bindings, promises that the
 * id is new, which saves looking; if it is not, the mode is PUT. */
typedef enum {
    OBXPutMode_PUT = 1,    /* replace it */
    OBXPutMode_INSERT = 2, /* fail: 10210 */
    OBXPutMode_UPDATE = 3, /* replace it; fail if there is none: 10211 */
} OBXPutMode;

/* Without flags: ascending, texts without regard to case, nulls first. */
typedef enum {
    OBXOrderFlags_DESCENDING = 1,
    OBXOrderFlags_CASE_SENSITIVE = 2,
    OBXOrderFlags_UNSIGNED = 4,
    OBXOrderFlags_NULLS_LAST = 8,
    OBXOrderFlags_NULLS_ZERO = 16, /* nulls count as 0 */
} OBXOrderFlags;

typedef enum {
    OBXTreeOptionFlags_DebugLogsDisable = 1,
    OBXTreeOptionFlags_DebugLogsEnable = 2,
    OBXTreeOptionFlags_EnforceUniquePath = 4,
    OBXTreeOptionFlags_AllowNonUniqueNodes = 8,
    OBXTreeOptionFlags_DetectNonUniqueNodes = 16,
    OBXTreeOptionFlags_AutoConsolidateNonUniqueNodes = 32,
} OBXTreeOptionFlags;

/* ---- handles ---- */

typedef struct OBX_model OBX_model;
typedef struct OBX_store OBX_store;
typedef struct OBX_store_options OBX_store_options;
typedef struct OBX_bytes_lazy OBX_bytes_lazy;
typedef struct OBX_txn OBX_txn;
typedef struct OBX_cursor OBX_cursor;
typedef struct OBX_box OBX_box;
typedef struct OBX_async OBX_async;
typedef struct OBX_query_builder OBX_query_builder;
typedef struct OBX_query OBX_query;
typedef struct OBX_query_prop OBX_query_prop;
typedef struct OBX_observer OBX_observer;
typedef struct OBX_tree_options OBX_tree_options;
typedef struct OBX_tree OBX_tree;
typedef struct OBX_tree_cursor OBX_tree_cursor;
typedef struct OBX_tree_leaves_info OBX_tree_leaves_info;
typedef struct OBX_weak_store OBX_weak_store;
typedef struct OBX_admin_options OBX_admin_options;
typedef struct OBX_admin OBX_admin;

/* ---- bytes and arrays ---- */

typedef struct OBX_bytes {
    const void* data;
    size_t size;
} OBX_bytes;

typedef struct OBX_bytes_array {
    OBX_bytes* bytes;
    size_t count;
} OBX_bytes_array;

typedef struct OBX_bytes_score {
    const void* data;
    size_t size;
    double score;
} OBX_bytes_score;

typedef struct OBX_bytes_score_array {
    OBX_bytes_score* bytes_scores;
    size_t count;
} OBX_bytes_score_array;

typedef struct OBX_id_array {
    obx_id* ids;
    size_t count;
} OBX_id_array;

typedef struct OBX_id_score {
    obx_id id;
    double score;
} OBX_id_score;

typedef struct OBX_id_score_array {
    OBX_id_score* ids_scores;
    size_t count;
} OBX_id_score_array;

typedef struct OBX_string_array {
    const char** items;
    size_t count;
} OBX_string_array;

typedef struct OBX_int64_array {
    const int64_t* items;
    size_t count;
} OBX_int64_array;

typedef struct OBX_int32_array {
    const int32_t* items;
    size_t count;
} OBX_int32_array;

typedef struct OBX_int16_array {
    const int16_t* items;
    size_t count;
} OBX_int16_array;

typedef struct OBX_int8_array {
    const int8_t* items;
    size_t count;
} OBX_int8_array;

typedef struct OBX_double_array {
    const double* items;
    size_t count;
} OBX_double_array;

typedef struct OBX_float_array {
    const float* items;
    size_t count;
} OBX_float_array;

/* ---- functions of the program; user_data comes back as it was given ---- */

/* An object's bytes, valid during the call. false: stop. */
typedef bool obx_data_visitor(const uint8_t* data, size_t size, void* user_data);
typedef bool obx_data_score_visitor(const struct OBX_bytes_score* data, void* user_data);

/* message has message_size bytes and a NUL. May be called on any thread. */
typedef void obx_log_callback(OBXLogLevel log_level, const char* message, size_t message_size,
                              void* user_data);

/* How an asynchronous operation ended. */
typedef void obx_status_callback(obx_err status, void* user_data);

typedef void obx_observer(const obx_schema_id* type_ids, size_t type_ids_count, void* user_data);
typedef void obx_observer_single_type(void* user_data);

typedef void obx_tree_async_get_callback(obx_err status, obx_id id, const char* path,
                                         const uint8_t* leaf_data, size_t leaf_data_size,
                                         const uint8_t* leaf_metadata, size_t leaf_metadata_size,
                                         void* user_data);
typedef void obx_tree_async_put_callback(obx_err status, obx_id id, void* user_data);

/*
 * ---- Version and features ----
 *
 * The environment variable OBX_REPORT_VERSION (MAJOR.MINOR.PATCH, read once) replaces the version
 * reported here, for bindings that insist on an exact one. Nothing else changes with it but the
 * numbers of log levels: below 5.3 those of that time are used.
 */

/* The three parts of the version. Each pointer may be NULL. */
void obx_version(int* major, int* minor, int* patch);
/* True if the version is the given one or a later one. */
bool obx_version_is_at_least(int major, int minor, int patch);
/* "5.3.2". Static, as the next two texts. */
const char* obx_version_string(void);
/* Date of the level of the ABI, "2026-10-01". */
const char* obx_version_date_string(void);
/* Version, date and name of the engine. */
const char* obx_version_core_string(void);
/* What this build can do. Unknown numbers are false; 0 is also an error, 10002. */
bool obx_has_feature(OBXFeature feature);

/* ---- Files, logging, threads ---- */

/* Delete the files of a store, or the data of a "memory:" one. Success when there are none; the
 * directory stays. 10001 while the store is open, here or in another process. */
obx_err obx_remove_db_files(const char* directory);
/* Bytes of the data file; 0: there is none. Sets no error. */
size_t obx_db_file_size(const char* directory);
/* Debug logging is not built in: 10005 when switched on. Deprecated. */
obx_err obx_debug_log(bool enabled);
/* Always false. Deprecated. */
bool obx_debug_log_enabled(void);
/* Events below this level are not logged, in the whole process. */
obx_err obx_log_level_set(OBXLogLevel log_level);
OBXLogLevel obx_log_level_get(void);
/* A small number for the calling thread, from 1; the one that log lines use. */
int obx_thread_number(void);
/* For programs of Apple's application groups. Accepted everywhere and not needed: no semaphores. */
obx_err obx_posix_sem_prefix_set(const char* prefix);

/*
 * ---- Last error ----
 *
 * Each thread keeps its last failure: code, secondary code and text. Success does not clear it,
 * and the answers 404, 1001 and 1002 do not touch it. Texts live until the thread's next call.
 */

/* Read and clear. False: there was none. Both pointers may be NULL. */
bool obx_last_error_pop(obx_err* out_error, const char** out_message);
/* 0: none. */
obx_err obx_last_error_code(void);
/* "" when there is none, never NULL. */
const char* obx_last_error_message(void);
/* The system's own code (errno) behind the failure, or 0. */
obx_err obx_last_error_secondary(void);
void obx_last_error_clear(void);
/* Set from outside; code 0 clears. message may be NULL. Returns true. */
bool obx_last_error_set(obx_err code, obx_err secondary, const char* message);

/* ---- Vector distances ---- */

/* Distance of two vectors as an index of that type measures it; smaller is nearer. NaN and 10002
 * for an unknown type. */
float obx_vector_distance_float32(OBXVectorDistanceType type, const float* vector1,
                                  const float* vector2, size_t dimension);
/* Map a distance to 1 (same) .. 0 (far). NaN for Geo; NaN and 10002 for an unknown type. */
float obx_vector_distance_to_relevance(OBXVectorDistanceType type, float distance);

/*
 * ---- Model ----
 *
 * A model declares what a store holds: entities, their properties and relations, each with an id
 * (its place, small) and a uid (its identity for ever, random). Calls refine what was declared
 * last. The first error sticks: every later call returns it and does nothing. One thread at a
 * time.
 */

/* A new model. obx_opt_model() consumes it; free it yourself only when it never gets there. */
OBX_model* obx_model(void);
/* NULL is allowed. */
obx_err obx_model_free(OBX_model* model);
/* The error that stuck, or 0. 10002 for NULL. */
obx_err obx_model_error_code(OBX_model* model);
/* Its text, "" when there is none; NULL for NULL. */
const char* obx_model_error_message(OBX_model* model);
/* Begin an entity. Names are unique without regard to case. */
obx_err obx_model_entity(OBX_model* model, const char* name, obx_schema_id entity_id,
                         obx_uid entity_uid);
/* OBXEntityFlags of the entity. */
obx_err obx_model_entity_flags(OBX_model* model, uint32_t flags);
/* The highest property id (and its uid) that the entity has ever used, removed ones included.
 * Required. */
obx_err obx_model_entity_last_property_id(OBX_model* model, obx_schema_id property_id,
                                          obx_uid property_uid);
/* Name of the entity in a foreign system; kept, not used. */
obx_err obx_model_entity_external_name(OBX_model* model, const char* external_name);
/* Begin a property of the entity. */
obx_err obx_model_property(OBX_model* model, const char* name, OBXPropertyType type,
                           obx_schema_id property_id, obx_uid property_uid);
/* OBXPropertyFlags of the property, replacing earlier ones. */
obx_err obx_model_property_flags(OBX_model* model, uint32_t flags);
/* Make the property (of type Relation) a to-one relation to the entity with that name, indexed. */
obx_err obx_model_property_relation(OBX_model* model, const char* target_entity,
                                    obx_schema_id index_id, obx_uid index_uid);
/* Give the property an index; its flags say of which kind. */
obx_err obx_model_property_index_id(OBX_model* model, obx_schema_id index_id, obx_uid index_uid);
/* Name of the property in a foreign system; kept, not used. */
obx_err obx_model_property_external_name(OBX_model* model, const char* external_name);
/* Type of the property in a foreign system; kept, not used. */
obx_err obx_model_property_external_type(OBX_model* model, OBXExternalPropertyType external_type);
/* Elements that a vector index (HNSW) looks at; required for one. Shorter vectors are not found,
 * longer ones cut. */
obx_err obx_model_property_index_hnsw_dimensions(OBX_model* model, size_t value);
/* Links of a node; default 30. More: better results, more space and time. */
obx_err obx_model_property_index_hnsw_neighbors_per_node(OBX_model* model, uint32_t value);
/* Candidates looked at when a vector is added; default 100. */
obx_err obx_model_property_index_hnsw_indexing_search_count(OBX_model* model, uint32_t value);
/* OBXHnswFlags. */
obx_err obx_model_property_index_hnsw_flags(OBX_model* model, uint32_t flags);
/* Default Euclidean. */
obx_err obx_model_property_index_hnsw_distance_type(OBX_model* model, OBXVectorDistanceType value);
/* 0 to 1, default 1: how thoroughly links are mended when a vector is removed. */
obx_err obx_model_property_index_hnsw_reparation_backlink_probability(OBX_model* model,
                                                                      float value);
/* KB of vectors to keep at hand; a hint, default 2097152. */
obx_err obx_model_property_index_hnsw_vector_cache_hint_size_kb(OBX_model* model, size_t value);
/* Begin a to-many relation of the entity, kept beside the objects. The target may be declared
 * later. */
obx_err obx_model_relation(OBX_model* model, obx_schema_id relation_id, obx_uid relation_uid,
                           obx_schema_id target_id, obx_uid target_uid);
obx_err obx_model_relation_name(OBX_model* model, const char* name);
obx_err obx_model_relation_external_name(OBX_model* model, const char* external_name);
obx_err obx_model_relation_external_type(OBX_model* model, OBXExternalPropertyType external_type);
/* The highest entity id (and its uid) ever used. Required. */
void obx_model_last_entity_id(OBX_model* model, obx_schema_id entity_id, obx_uid entity_uid);
/* The same for indexes; 0, 0: there were none. */
void obx_model_last_index_id(OBX_model* model, obx_schema_id index_id, obx_uid index_uid);
/* The same for relations; 0, 0: there were none. */
void obx_model_last_relation_id(OBX_model* model, obx_schema_id relation_id, obx_uid relation_uid);

/*
 * ---- Lazy bytes ----
 *
 * Handed to custom message transports only; see objectbox-sync.h.
 */

/* Fill in the bytes and hand them out, valid until freed. Either pointer may be NULL. */
obx_err obx_bytes_lazy_get(OBX_bytes_lazy* bytes, const uint8_t** out_bytes, size_t* out_size);
void obx_bytes_lazy_free(OBX_bytes_lazy* bytes);

/*
 * ---- Store options ----
 *
 * Options describe how to open a store. Opening consumes them, whatever the result. One thread at
 * a time. A failed call makes the later open fail, so that no half-described store is opened.
 */

/* New options. Free them yourself only when they never reach an open. */
OBX_store_options* obx_opt(void);
/* Where the store lies (default "objectbox"; made when missing, its parents are not).
 * "memory:NAME": in this process's memory, until removed by obx_remove_db_files(). */
obx_err obx_opt_directory(OBX_store_options* opt, const char* dir);
/* Limit of the file. Beyond it: 10101; removing still works. Default: no limit. */
void obx_opt_max_db_size_in_kb(OBX_store_options* opt, uint64_t size_in_kb);
/* Limit of the sum of all objects' bytes, looked at when a transaction commits: 10104. 0: none.
 * Must not exceed the limit of the file. */
void obx_opt_max_data_size_in_kb(OBX_store_options* opt, uint64_t size_in_kb);
/* Permissions of a new file, default 0644. A new directory gets x where that has r. */
void obx_opt_file_mode(OBX_store_options* opt, unsigned int file_mode);
/* Read transactions at the same time, beyond which 10102; at least 125 are always allowed.
 * Default: no limit. */
void obx_opt_max_readers(OBX_store_options* opt, unsigned int max_readers);
/* Accepted: readers are never bound to threads. */
void obx_opt_no_reader_thread_locals(OBX_store_options* opt, bool flag);
/* The store's model. Consumes it, whatever the result. Without one, the stored schema is used. */
obx_err obx_opt_model(OBX_store_options* opt, OBX_model* model);
/* A model in serialized form. Accepted, but opening answers 10005: the form is not public. */
obx_err obx_opt_model_bytes(OBX_store_options* opt, const uint8_t* bytes, size_t size);
/* The same without a copy. */
obx_err obx_opt_model_bytes_direct(OBX_store_options* opt, const uint8_t* bytes, size_t size);
/* Check up to page_limit pages when opening, those at the top of each object type's data first:
 * branch pages, and with OBXValidateOnOpenPagesFlags_VisitLeafPages leaf pages too. Above 0 the
 * pages of the newest commit are verified as well. 10503 when something is wrong. */
void obx_opt_validate_on_open_pages(OBX_store_options* opt, size_t page_limit, uint32_t flags);
/* Check everything when opening, every object too: 10503 for pages, 10502 for objects. Takes time
 * in proportion to the file. */
void obx_opt_validate_on_open_kv(OBX_store_options* opt, uint32_t flags);
/* Who pads objects to a multiple of 4 bytes; default Automatic. */
void obx_opt_put_padding_mode(OBX_store_options* opt, OBXPutPaddingMode mode);
/* false cannot be combined with a model. */
void obx_opt_read_schema(OBX_store_options* opt, bool value);
/* Open the commit before the newest one, if it is still there: for salvage, together with
 * read-only. */
void obx_opt_use_previous_commit(OBX_store_options* opt, bool value);
/* The store must exist; write transactions and a changed model are refused with 10001. */
void obx_opt_read_only(OBX_store_options* opt, bool value);
/* OBXDebugFlags, replacing earlier ones. */
void obx_opt_debug_flags(OBX_store_options* opt, uint32_t flags);
/* More of them. */
void obx_opt_add_debug_flags(OBX_store_options* opt, uint32_t flags);
/* Called for events worth knowing, on whatever thread they happen. NULL: none. */
void obx_opt_log_callback(OBX_store_options* opt, obx_log_callback* callback, void* user_data);
/* NULL is allowed. */
void obx_opt_free(OBX_store_options* opt);

/*
 * ---- Store options: the asynchronous queue ----
 *
 * Times in microseconds, lengths in queued operations. 0 switches off where it makes sense.
 */

/* A full queue makes callers wait, then fail. */
void obx_opt_async_max_queue_length(OBX_store_options* opt, size_t value);
/* From this length on callers are slowed down ... */
void obx_opt_async_throttle_at_queue_length(OBX_store_options* opt, size_t value);
/* ... by so much for each operation. */
void obx_opt_async_throttle_micros(OBX_store_options* opt, uint32_t value);
/* A transaction of the queue commits after this time ... */
void obx_opt_async_max_in_tx_duration(OBX_store_options* opt, uint32_t micros);
/* ... or after so many operations. */
void obx_opt_async_max_in_tx_operations(OBX_store_options* opt, uint32_t value);
/* Wait before beginning a transaction, to gather more. */
void obx_opt_async_pre_txn_delay(OBX_store_options* opt, uint32_t delay_micros);
/* With another delay once the queue has the given length. */
void obx_opt_async_pre_txn_delay4(OBX_store_options* opt, uint32_t delay_micros,
                                  uint32_t delay2_micros, size_t min_queue_length_for_delay2);
/* Wait after a commit. */
void obx_opt_async_post_txn_delay(OBX_store_options* opt, uint32_t delay_micros);
/* With another delay once the queue has the given length; the time spent may be subtracted. */
void obx_opt_async_post_txn_delay5(OBX_store_options* opt, uint32_t delay_micros,
                                   uint32_t delay2_micros, size_t min_queue_length_for_delay2,
                                   bool subtract_processing_time);
/* A refill of fewer operations is a minor one ... */
void obx_opt_async_minor_refill_threshold(OBX_store_options* opt, size_t queue_length);
/* ... of which so many are taken into a running transaction. */
void obx_opt_async_minor_refill_max_count(OBX_store_options* opt, uint32_t value);
/* Operations kept for reuse. */
void obx_opt_async_max_tx_pool_size(OBX_store_options* opt, size_t value);
/* Bytes of buffers kept for reuse ... */
void obx_opt_async_object_bytes_max_cache_size(OBX_store_options* opt, uint64_t value);
/* ... each of at most this size. */
void obx_opt_async_object_bytes_max_size_to_cache(OBX_store_options* opt, uint64_t value);

/* ---- Store options: backup, log-structured memory stores ---- */

/* Restore from a backup file first, if there is no database yet or it is to be overwritten;
 * OBXBackupRestoreFlags. Opening answers 10008 if the backup is not whole, 10001 if what is to be
 * overwritten is open. */
void obx_opt_backup_restore(OBX_store_options* opt, const char* backup_file, uint32_t flags);
/* OBXWalFlags, for "memory:" stores: keep a log in the directory of that name. On disk: 10002. */
void obx_opt_wal(OBX_store_options* opt, uint32_t flags);
/* Rewrite the log when opening once it is longer; default 4096. */
void obx_opt_wal_max_file_size_on_open_in_kb(OBX_store_options* opt, uint64_t size_in_kb);
/* Rewrite the log after a commit once it is longer; default 16384. */
void obx_opt_wal_max_file_size_in_kb(OBX_store_options* opt, uint64_t size_in_kb);

/*
 * ---- Store options: reading them ----
 *
 * NULL gives NULL or 0.
 */

/* Borrowed until the options change or go. */
const char* obx_opt_get_directory(OBX_store_options* opt);
/* 0: no limit. */
uint64_t obx_opt_get_max_db_size_in_kb(OBX_store_options* opt);
uint64_t obx_opt_get_max_data_size_in_kb(OBX_store_options* opt);
uint32_t obx_opt_get_debug_flags(OBX_store_options* opt);

/*
 * ---- Stores ----
 *
 * A process opens a directory once; further handles share that store (attach, clone) and the last
 * one to be closed closes it. Stores may be used by all threads. A closed handle answers 10006.
 */

/* Open or create. Consumes the options in every case. NULL: see the last error. */
OBX_store* obx_store_open(OBX_store_options* opt);
/* Whether this process has it open, however the path is spelled. Sets no error. */
bool obx_store_is_open(const char* path);
/* Another handle of the open store with that path; NULL without an error: there is none. */
OBX_store* obx_store_attach(const char* path);
/* The same by obx_store_id(). */
OBX_store* obx_store_attach_id(uint64_t store_id);
/* Attach if it is open, else open. Consumes the options. check_matching_options: 10001 when they
 * differ from those of the open store. out_attached may be NULL. */
OBX_store* obx_store_attach_or_open(OBX_store_options* opt, bool check_matching_options,
                                    bool* out_attached);
/* Unique in the process while it runs; handles of one store share it. 0 on error. */
uint64_t obx_store_id(OBX_store* store);
/* Bytes of the file, or of memory. */
uint64_t obx_store_size(OBX_store* store);
/* Bytes of the file; 0 for a "memory:" store. */
uint64_t obx_store_size_on_disk(OBX_store* store);
/* OBXStoreTypeId; 0 on error. */
uint32_t obx_store_type_id(OBX_store* store);
/* Another handle of the same store. */
OBX_store* obx_store_clone(OBX_store* store);
/* Not possible: there is no foreign core to wrap. */
OBX_store* obx_store_wrap(void* core_store);
/* By name; 0 and 10504: there is none. */
obx_schema_id obx_store_entity_id(OBX_store* store, const char* entity_name);
/* By name; 0 and an error: there is none. */
obx_schema_id obx_store_entity_property_id(OBX_store* store, obx_schema_id entity_id,
                                           const char* property_name);
/* Wait until the asynchronous queue is empty. True also when it was never used. */
bool obx_store_await_async_completion(OBX_store* store);
/* Wait until what has been queued so far is done. */
bool obx_store_await_async_submitted(OBX_store* store);
/* Write a backup of the newest commit; OBXBackupFlags. Nobody waits for it. A backup of that name
 * is replaced, any other file is not: 10001. */
obx_err obx_store_back_up_to_file(OBX_store* store, const char* backup_file, uint32_t backup_flags);
/* Replace OBXDebugFlags. */
obx_err obx_store_debug_flags(OBX_store* store, uint32_t flags);
/* Whether obx_opt_use_previous_commit() took effect. */
bool obx_store_opened_with_previous_commit(OBX_store* store);
/* From now on calls that need the store's data answer 10006, also those that other threads make.
 * Returns at once. */
obx_err obx_store_prepare_to_close(OBX_store* store);
/* Close this handle; NULL is allowed. The last one waits for calls that other threads are making,
 * and ends transactions that are still open: their next call answers 10001. Their memory, and with
 * it the file, stays until they are closed. */
obx_err obx_store_close(OBX_store* store);
/* Which type a path without a prefix means from now on. */
int obx_store_type_id_register_default(uint32_t storeTypeId);

/*
 * ---- Transactions ----
 *
 * A transaction belongs to the thread that began it. Beginning another one on the same store joins
 * the open one: only the outermost commits, and only if every inner write transaction succeeded;
 * otherwise the whole is aborted and later calls answer 10001. Bytes of objects are valid until
 * the outermost one ends or, if it writes, until its next write. Reading inside writing sees what
 * was written; writing inside reading is refused with 10001.
 */

/* Begin to write; waits while another thread does. */
OBX_txn* obx_txn_write(OBX_store* store);
/* Begin to read: everything is seen as it is at this moment. */
OBX_txn* obx_txn_read(OBX_store* store);
/* Success: an outermost write transaction commits. Ends the handle whatever the result. 10001 for
 * a read transaction. */
obx_err obx_txn_success(OBX_txn* txn);
/* End the handle; a write transaction that had no success is aborted. NULL is allowed. Handles may
 * be closed in any order. */
obx_err obx_txn_close(OBX_txn* txn);
/* Abort at once; only obx_txn_close() may follow. */
obx_err obx_txn_abort(OBX_txn* txn);
/* Bytes of all objects as of the last commit, and by how much this transaction has changed them.
 * Each pointer may be NULL. */
obx_err obx_txn_data_size(OBX_txn* txn, uint64_t* out_committed_size, int64_t* out_size_change);

/*
 * ---- Cursors ----
 *
 * A cursor walks the objects of an entity by ascending id and changes them, inside a transaction
 * and on its thread. The position is before the first object, at one, or behind the last.
 */

/* Close it before its transaction ends. */
OBX_cursor* obx_cursor(OBX_txn* txn, obx_schema_id entity_id);
/* NULL is allowed. */
obx_err obx_cursor_close(OBX_cursor* cursor);
/* As obx_box_id_for_put(). */
obx_id obx_cursor_id_for_put(OBX_cursor* cursor, obx_id id_or_zero);
/* Insert or replace. */
obx_err obx_cursor_put(OBX_cursor* cursor, obx_id id, const uint8_t* data, size_t size);
/* As mode says; see OBXPutMode. */
obx_err obx_cursor_put4(OBX_cursor* cursor, obx_id id, const uint8_t* data, size_t size,
                        OBXPutMode mode);
/* For ids that are new for certain: saves looking for an old object. */
obx_err obx_cursor_put_new(OBX_cursor* cursor, obx_id id, const uint8_t* data, size_t size);
/* 10210 if there is one already. */
obx_err obx_cursor_insert(OBX_cursor* cursor, obx_id id, const uint8_t* data, size_t size);
/* 10211 if there is none. */
obx_err obx_cursor_update(OBX_cursor* cursor, obx_id id, const uint8_t* data, size_t size);
/* As obx_box_put_object(). */
obx_id obx_cursor_put_object(OBX_cursor* cursor, void* data, size_t size);
obx_id obx_cursor_put_object4(OBX_cursor* cursor, void* data, size_t size, OBXPutMode mode);
/* 404: there is none. Does not move. */
obx_err obx_cursor_get(OBX_cursor* cursor, obx_id id, const uint8_t** data, size_t* size);
/* All objects. Free the array with obx_bytes_array_free(). */
OBX_bytes_array* obx_cursor_get_all(OBX_cursor* cursor);
/* Move to the first object. 404: there is none. */
obx_err obx_cursor_first(OBX_cursor* cursor, const uint8_t** data, size_t* size);
/* Move to the next object. 404: the end. */
obx_err obx_cursor_next(OBX_cursor* cursor, const uint8_t** data, size_t* size);
/* Move to this id. 404: there is none, and the position is behind the last. */
obx_err obx_cursor_seek(OBX_cursor* cursor, obx_id id);
/* The object at the position. 404: none. */
obx_err obx_cursor_current(OBX_cursor* cursor, const uint8_t** data, size_t* size);
/* 404: there is none. */
obx_err obx_cursor_remove(OBX_cursor* cursor, obx_id id);
obx_err obx_cursor_remove_all(OBX_cursor* cursor);
obx_err obx_cursor_count(OBX_cursor* cursor, uint64_t* count);
/* Up to a maximum; 0: no maximum. */
obx_err obx_cursor_count_max(OBX_cursor* cursor, uint64_t max_count, uint64_t* out_count);
obx_err obx_cursor_is_empty(OBX_cursor* cursor, bool* out_is_empty);
/* Objects of entity_id whose to-one property_id refers to id. */
OBX_bytes_array* obx_cursor_backlinks(OBX_cursor* cursor, obx_schema_id entity_id,
                                      obx_schema_id property_id, obx_id id);
/* Their ids only. */
OBX_id_array* obx_cursor_backlink_ids(OBX_cursor* cursor, obx_schema_id entity_id,
                                      obx_schema_id property_id, obx_id id);
/* Add a pair to a to-many relation; one that is there already is no error. */
obx_err obx_cursor_rel_put(OBX_cursor* cursor, obx_schema_id relation_id, obx_id source_id,
                           obx_id target_id);
/* 404: there is no such pair. */
obx_err obx_cursor_rel_remove(OBX_cursor* cursor, obx_schema_id relation_id, obx_id source_id,
                              obx_id target_id);
/* Targets of a source. */
OBX_id_array* obx_cursor_rel_ids(OBX_cursor* cursor, obx_schema_id relation_id, obx_id source_id);
/* Move to the first object and give its id. 404, *out_id 0: there is none. */
obx_err obx_cursor_seek_first_id(OBX_cursor* cursor, obx_id* out_id);
/* Move to the next object and give its id. 404, *out_id 0: the end. */
obx_err obx_cursor_seek_next_id(OBX_cursor* cursor, obx_id* out_id);
/* 0: before the first object; all ones: behind the last. */
obx_err obx_cursor_current_id(OBX_cursor* cursor, obx_id* out_id);

/* ---- Cursors: time series ---- */

/* Earliest and latest time of the companion property, and whose it is. Pointers may be NULL. 404:
 * no objects. */
obx_err obx_cursor_ts_min_max(OBX_cursor* cursor, obx_id* out_min_id, int64_t* out_min_value,
                              obx_id* out_max_id, int64_t* out_max_value);
/* The same among times from begin to end, both included. */
obx_err obx_cursor_ts_min_max_range(OBX_cursor* cursor, int64_t range_begin, int64_t range_end,
                                    obx_id* out_min_id, int64_t* out_min_value, obx_id* out_max_id,
                                    int64_t* out_max_value);

/*
 * ---- Boxes ----
 *
 * A box is one entity of a store. Without a transaction of the thread, a call makes one of its
 * own, but for those that hand out bytes: they answer 10001. Boxes belong to their store handle
 * and may be used by all threads.
 */

/* The same pointer for the same handle and entity. Not to be closed. 10002: no such entity. */
OBX_box* obx_box(OBX_store* store, obx_schema_id entity_id);
/* The handle that the box was got from. */
OBX_store* obx_box_store(OBX_box* box);
obx_err obx_box_contains(OBX_box* box, obx_id id, bool* out_contains);
/* Whether all of them exist; true for none. */
obx_err obx_box_contains_many(OBX_box* box, const OBX_id_array* ids, bool* out_contains);
/* 404: there is none. */
obx_err obx_box_get(OBX_box* box, obx_id id, const uint8_t** data, size_t* size);
/* In the order of the ids; {NULL, 0} for those that do not exist. */
OBX_bytes_array* obx_box_get_many(OBX_box* box, const OBX_id_array* ids);
/* All objects by ascending id. */
OBX_bytes_array* obx_box_get_all(OBX_box* box);
/* Call visitor for each id in its order, with NULL and 0 for those that do not exist, until it
 * returns false. */
obx_err obx_box_visit_many(OBX_box* box, const OBX_id_array* ids, obx_data_visitor* visitor,
                           void* user_data);
/* Call visitor for each object until it returns false. */
obx_err obx_box_visit_all(OBX_box* box, obx_data_visitor* visitor, void* user_data);
/* 0: reserve the next id. Else check one: it must have been handed out before, unless ids are
 * self-assigned. Returns the id, 0 on error. */
obx_id obx_box_id_for_put(OBX_box* box, obx_id id_or_zero);
/* Reserve so many (up to 10,000) consecutive ids. */
obx_err obx_box_ids_for_put(OBX_box* box, uint64_t count, obx_id* out_first_id);
/* Insert or replace the object with this id. data is one FlatBuffers table, copied. */
obx_err obx_box_put(OBX_box* box, obx_id id, const uint8_t* data, size_t size);
/* 10210 if there is one already. */
obx_err obx_box_insert(OBX_box* box, obx_id id, const uint8_t* data, size_t size);
/* 10211 if there is none. */
obx_err obx_box_update(OBX_box* box, obx_id id, const uint8_t* data, size_t size);
/* As mode says; see OBXPutMode. */
obx_err obx_box_put5(OBX_box* box, obx_id id, const uint8_t* data, size_t size, OBXPutMode mode);
/* The id lies in the data: 0 or OBX_ID_NEW is new, and the id given is written into data, whose id
 * slot must be present. Returns the id, 0 on error. */
obx_id obx_box_put_object(OBX_box* box, void* data, size_t size);
/* As mode says. INSERT of an id that exists: 0 without an error. */
obx_id obx_box_put_object4(OBX_box* box, void* data, size_t size, OBXPutMode mode);
/* All objects under their ids, or none. */
obx_err obx_box_put_many(OBX_box* box, const OBX_bytes_array* objects, const obx_id* ids,
                         OBXPutMode mode);
/* fail_on_id_failure false: objects refused by mode are left out; the first refusal's code is
 * returned. */
obx_err obx_box_put_many5(OBX_box* box, const OBX_bytes_array* objects, const obx_id* ids,
                          OBXPutMode mode, bool fail_on_id_failure);
/* 404: there is none. */
obx_err obx_box_remove(OBX_box* box, obx_id id);
/* Those that exist. out_count (how many) may be NULL. */
obx_err obx_box_remove_many(OBX_box* box, const OBX_id_array* ids, uint64_t* out_count);
/* out_count may be NULL. Ids are not used again. */
obx_err obx_box_remove_all(OBX_box* box, uint64_t* out_count);
obx_err obx_box_is_empty(OBX_box* box, bool* out_is_empty);
/* Stops at limit; 0: no limit. Costs the same for 1 and 1,000,000 objects. */
obx_err obx_box_count(OBX_box* box, uint64_t limit, uint64_t* out_count);

/*
 * ---- Boxes: relations ----
 *
 * Arrays of ids ascend; free them with obx_id_array_free().
 */

/* Objects of this box whose to-one property refers to id. */
OBX_id_array* obx_box_get_backlink_ids(OBX_box* box, obx_schema_id property_id, obx_id id);
/* Add a pair to a to-many relation of this box's entity; one that is there already is no error. */
obx_err obx_box_rel_put(OBX_box* box, obx_schema_id relation_id, obx_id source_id,
                        obx_id target_id);
/* 404: there is no such pair. */
obx_err obx_box_rel_remove(OBX_box* box, obx_schema_id relation_id, obx_id source_id,
                           obx_id target_id);
/* Targets of the source id. box: that of the target entity. */
OBX_id_array* obx_box_rel_get_ids(OBX_box* box, obx_schema_id relation_id, obx_id id);
/* Sources of the target id. box: that of the source entity. */
OBX_id_array* obx_box_rel_get_backlink_ids(OBX_box* box, obx_schema_id relation_id, obx_id id);

/* ---- Expiry ---- */

/* Remove objects whose time (EXPIRATION_TIME) is past, of one entity or (0) of all.
 * out_removed_count may be NULL. */
obx_err obx_expired_objects_remove(OBX_txn* txn, obx_schema_id entity_id,
                                   size_t* out_removed_count);
/* The same on the asynchronous queue; callback may be NULL. */
obx_err obx_expired_objects_remove_async(OBX_store* store, obx_schema_id entity_id,
                                         obx_status_callback* callback, void* user_data);

/* ---- Boxes: time series ---- */

/* As obx_cursor_ts_min_max(). */
obx_err obx_box_ts_min_max(OBX_box* box, obx_id* out_min_id, int64_t* out_min_value,
                           obx_id* out_max_id, int64_t* out_max_value);
/* As obx_cursor_ts_min_max_range(). */
obx_err obx_box_ts_min_max_range(OBX_box* box, int64_t range_begin, int64_t range_end,
                                 obx_id* out_min_id, int64_t* out_min_value, obx_id* out_max_id,
                                 int64_t* out_max_value);

/*
 * ---- The asynchronous queue ----
 *
 * Operations are copied, queued, and carried out by a thread of the store in batches. An error
 * here means only that nothing was queued; what fails later is dropped.
 */

/* The queue of a box; shared, not to be closed. */
OBX_async* obx_async(OBX_box* box);
obx_err obx_async_put(OBX_async* async, obx_id id, const uint8_t* data, size_t size);
/* As mode says. */
obx_err obx_async_put5(OBX_async* async, obx_id id, const uint8_t* data, size_t size,
                       OBXPutMode mode);
obx_err obx_async_insert(OBX_async* async, obx_id id, const uint8_t* data, size_t size);
obx_err obx_async_update(OBX_async* async, obx_id id, const uint8_t* data, size_t size);
/* As obx_box_put_object(); the id is given at once. 0 on error. */
obx_id obx_async_put_object(OBX_async* async, void* data, size_t size);
obx_id obx_async_put_object4(OBX_async* async, void* data, size_t size, OBXPutMode mode);
obx_id obx_async_insert_object(OBX_async* async, void* data, size_t size);
obx_err obx_async_remove(OBX_async* async, obx_id id);
/* A handle of one's own, whose calls wait so many milliseconds when the queue is full. */
OBX_async* obx_async_create(OBX_box* box, uint64_t enqueue_timeout_millis);
/* Close such a handle; 10002 for a shared one. */
obx_err obx_async_close(OBX_async* async);

/*
 * ---- Query builders ----
 *
 * A builder gathers conditions on one entity, ANDed at the top, and makes queries. The first error
 * sticks. Conditions are numbered from 1; 0 is an error. Null meets no condition, not even !=, but
 * "not in". One thread at a time.
 */

OBX_query_builder* obx_query_builder(OBX_store* store, obx_schema_id entity_id);
/* NULL is allowed; queries made from it live on. Builders of links may be closed before or
 * after. */
obx_err obx_qb_close(OBX_query_builder* builder);
/* Entity id; 0 on error. */
obx_schema_id obx_qb_type_id(OBX_query_builder* builder);
/* The error that stuck, or 0. */
obx_err obx_qb_error_code(OBX_query_builder* builder);
/* Its text. */
const char* obx_qb_error_message(OBX_query_builder* builder);

/*
 * ---- Conditions: null, texts ----
 *
 * Texts compare by bytes; without case_sensitive, ASCII letters are folded. They are copied.
 */

obx_qb_cond obx_qb_null(OBX_query_builder* builder, obx_schema_id property_id);
obx_qb_cond obx_qb_not_null(OBX_query_builder* builder, obx_schema_id property_id);
obx_qb_cond obx_qb_equals_string(OBX_query_builder* builder, obx_schema_id property_id,
                                 const char* value, bool case_sensitive);
obx_qb_cond obx_qb_not_equals_string(OBX_query_builder* builder, obx_schema_id property_id,
                                     const char* value, bool case_sensitive);
/* Has this part; of a vector of strings: has this element. */
obx_qb_cond obx_qb_contains_string(OBX_query_builder* builder, obx_schema_id property_id,
                                   const char* value, bool case_sensitive);
/* Has this element. */
obx_qb_cond obx_qb_contains_element_string(OBX_query_builder* builder, obx_schema_id property_id,
                                           const char* value, bool case_sensitive);
/* Deprecated: obx_qb_equals_key_value_string(). */
obx_qb_cond obx_qb_contains_key_value_string(OBX_query_builder* builder, obx_schema_id property_id,
                                             const char* key, const char* value,
                                             bool case_sensitive);
obx_qb_cond obx_qb_starts_with_string(OBX_query_builder* builder, obx_schema_id property_id,
                                      const char* value, bool case_sensitive);
obx_qb_cond obx_qb_ends_with_string(OBX_query_builder* builder, obx_schema_id property_id,
                                    const char* value, bool case_sensitive);
obx_qb_cond obx_qb_greater_than_string(OBX_query_builder* builder, obx_schema_id property_id,
                                       const char* value, bool case_sensitive);
obx_qb_cond obx_qb_greater_or_equal_string(OBX_query_builder* builder, obx_schema_id property_id,
                                           const char* value, bool case_sensitive);
obx_qb_cond obx_qb_less_than_string(OBX_query_builder* builder, obx_schema_id property_id,
                                    const char* value, bool case_sensitive);
obx_qb_cond obx_qb_less_or_equal_string(OBX_query_builder* builder, obx_schema_id property_id,
                                        const char* value, bool case_sensitive);
/* Is one of these. */
obx_qb_cond obx_qb_in_strings(OBX_query_builder* builder, obx_schema_id property_id,
                              const char* const values[], size_t count, bool case_sensitive);
/* Deprecated: obx_qb_contains_element_string(). */
obx_qb_cond obx_qb_any_equals_string(OBX_query_builder* builder, obx_schema_id property_id,
                                     const char* value, bool case_sensitive);

/*
 * ---- Conditions: values of flexible maps ----
 *
 * The property's root map has the key (exactly) with a value of that type that compares so.
 */

obx_qb_cond obx_qb_equals_key_value_string(OBX_query_builder* builder, obx_schema_id property_id,
                                           const char* key, const char* value, bool case_sensitive);
obx_qb_cond obx_qb_equals_key_value_int(OBX_query_builder* builder, obx_schema_id property_id,
                                        const char* key, int64_t value);
obx_qb_cond obx_qb_equals_key_value_double(OBX_query_builder* builder, obx_schema_id property_id,
                                           const char* key, double value);
obx_qb_cond obx_qb_greater_key_value_string(OBX_query_builder* builder, obx_schema_id property_id,
                                            const char* key, const char* value,
                                            bool case_sensitive);
obx_qb_cond obx_qb_greater_key_value_int(OBX_query_builder* builder, obx_schema_id property_id,
                                         const char* key, int64_t value);
obx_qb_cond obx_qb_greater_key_value_double(OBX_query_builder* builder, obx_schema_id property_id,
                                            const char* key, double value);
obx_qb_cond obx_qb_greater_or_equal_key_value_string(OBX_query_builder* builder,
                                                     obx_schema_id property_id, const char* key,
                                                     const char* value, bool case_sensitive);
obx_qb_cond obx_qb_greater_or_equal_key_value_int(OBX_query_builder* builder,
                                                  obx_schema_id property_id, const char* key,
                                                  int64_t value);
obx_qb_cond obx_qb_greater_or_equal_key_value_double(OBX_query_builder* builder,
                                                     obx_schema_id property_id, const char* key,
                                                     double value);
obx_qb_cond obx_qb_less_than_key_value_string(OBX_query_builder* builder, obx_schema_id property_id,
                                              const char* key, const char* value,
                                              bool case_sensitive);
obx_qb_cond obx_qb_less_than_key_value_int(OBX_query_builder* builder, obx_schema_id property_id,
                                           const char* key, int64_t value);
obx_qb_cond obx_qb_less_than_key_value_double(OBX_query_builder* builder, obx_schema_id property_id,
                                              const char* key, double value);
obx_qb_cond obx_qb_less_or_equal_key_value_string(OBX_query_builder* builder,
                                                  obx_schema_id property_id, const char* key,
                                                  const char* value, bool case_sensitive);
obx_qb_cond obx_qb_less_or_equal_key_value_int(OBX_query_builder* builder,
                                               obx_schema_id property_id, const char* key,
                                               int64_t value);
obx_qb_cond obx_qb_less_or_equal_key_value_double(OBX_query_builder* builder,
                                                  obx_schema_id property_id, const char* key,
                                                  double value);

/*
 * ---- Conditions: integers ----
 *
 * For all integer types, ids and relations; of vectors, any element. Unsigned properties compare
 * unsigned.
 */

obx_qb_cond obx_qb_equals_int(OBX_query_builder* builder, obx_schema_id property_id, int64_t value);
obx_qb_cond obx_qb_not_equals_int(OBX_query_builder* builder, obx_schema_id property_id,
                                  int64_t value);
obx_qb_cond obx_qb_greater_than_int(OBX_query_builder* builder, obx_schema_id property_id,
                                    int64_t value);
obx_qb_cond obx_qb_greater_or_equal_int(OBX_query_builder* builder, obx_schema_id property_id,
                                        int64_t value);
obx_qb_cond obx_qb_less_than_int(OBX_query_builder* builder, obx_schema_id property_id,
                                 int64_t value);
obx_qb_cond obx_qb_less_or_equal_int(OBX_query_builder* builder, obx_schema_id property_id,
                                     int64_t value);
/* Both bounds included, in either order. */
obx_qb_cond obx_qb_between_2ints(OBX_query_builder* builder, obx_schema_id property_id,
                                 int64_t value_a, int64_t value_b);
/* For types of 8 bytes. */
obx_qb_cond obx_qb_in_int64s(OBX_query_builder* builder, obx_schema_id property_id,
                             const int64_t values[], size_t count);
obx_qb_cond obx_qb_not_in_int64s(OBX_query_builder* builder, obx_schema_id property_id,
                                 const int64_t values[], size_t count);
/* For types of 4 bytes. */
obx_qb_cond obx_qb_in_int32s(OBX_query_builder* builder, obx_schema_id property_id,
                             const int32_t values[], size_t count);
obx_qb_cond obx_qb_not_in_int32s(OBX_query_builder* builder, obx_schema_id property_id,
                                 const int32_t values[], size_t count);

/*
 * ---- Conditions: floating point ----
 *
 * For Float and Double; of vectors, any element. For Float the value is rounded to float first.
 */

obx_qb_cond obx_qb_greater_than_double(OBX_query_builder* builder, obx_schema_id property_id,
                                       double value);
obx_qb_cond obx_qb_greater_or_equal_double(OBX_query_builder* builder, obx_schema_id property_id,
                                           double value);
obx_qb_cond obx_qb_less_than_double(OBX_query_builder* builder, obx_schema_id property_id,
                                    double value);
obx_qb_cond obx_qb_less_or_equal_double(OBX_query_builder* builder, obx_schema_id property_id,
                                        double value);
/* Both bounds included, in either order. */
obx_qb_cond obx_qb_between_2doubles(OBX_query_builder* builder, obx_schema_id property_id,
                                    double value_a, double value_b);

/*
 * ---- Conditions: bytes ----
 *
 * By unsigned bytes, then by length. NULL with size 0 is the empty value.
 */

obx_qb_cond obx_qb_equals_bytes(OBX_query_builder* builder, obx_schema_id property_id,
                                const uint8_t* value, size_t size);
obx_qb_cond obx_qb_greater_than_bytes(OBX_query_builder* builder, obx_schema_id property_id,
                                      const uint8_t* value, size_t size);
obx_qb_cond obx_qb_greater_or_equal_bytes(OBX_query_builder* builder, obx_schema_id property_id,
                                          const uint8_t* value, size_t size);
obx_qb_cond obx_qb_less_than_bytes(OBX_query_builder* builder, obx_schema_id property_id,
                                   const uint8_t* value, size_t size);
obx_qb_cond obx_qb_less_or_equal_bytes(OBX_query_builder* builder, obx_schema_id property_id,
                                       const uint8_t* value, size_t size);

/* ---- Conditions: relations, nearest neighbours, groups; order ---- */

/* Exactly so many objects of the other entity refer here by that to-one property. */
obx_qb_cond obx_qb_relation_count_property(OBX_query_builder* builder,
                                           obx_schema_id relation_entity_id,
                                           obx_schema_id relation_property_id,
                                           uint32_t relation_count);
/* Is among the nearest max_result_count; limits before other conditions do. NULL vector: set later
 * as a parameter. */
obx_qb_cond obx_qb_nearest_neighbors_f32(OBX_query_builder* builder,
                                         obx_schema_id vector_property_id,
                                         const float* query_vector, size_t max_result_count);
/* All of these, which leave the top level. */
obx_qb_cond obx_qb_all(OBX_query_builder* builder, const obx_qb_cond conditions[], size_t count);
/* Any of these, which leave the top level. */
obx_qb_cond obx_qb_any(OBX_query_builder* builder, const obx_qb_cond conditions[], size_t count);
/* Name the condition added last, to set its values later. */
obx_err obx_qb_param_alias(OBX_query_builder* builder, const char* alias);
/* Sort by this property; call again for further keys. Ties go by id. */
obx_err obx_qb_order(OBX_query_builder* builder, obx_schema_id property_id, uint32_t flags);

/*
 * ---- Conditions on linked objects ----
 *
 * The result is a builder for conditions on the linked entity, of which at least one object must
 * meet them. NULL on error.
 */

/* Along a to-one relation. */
OBX_query_builder* obx_qb_link_property(OBX_query_builder* builder, obx_schema_id property_id);
/* Against a to-one relation of another entity. */
OBX_query_builder* obx_qb_backlink_property(OBX_query_builder* builder,
                                            obx_schema_id source_entity_id,
                                            obx_schema_id source_property_id);
/* Along a to-many relation. */
OBX_query_builder* obx_qb_link_standalone(OBX_query_builder* builder, obx_schema_id relation_id);
/* Against a to-many relation. */
OBX_query_builder* obx_qb_backlink_standalone(OBX_query_builder* builder,
                                              obx_schema_id relation_id);
/* To objects of a time range that includes this object's time. */
OBX_query_builder* obx_qb_link_time(OBX_query_builder* builder, obx_schema_id linked_entity_id,
                                    obx_schema_id begin_property_id, obx_schema_id end_property_id);

/*
 * ---- Queries ----
 *
 * A query can be run again and again, by one thread at a time (else 10001); clone it for others.
 * Calls that hand out bytes need a transaction. Results go by ascending id or as ordered; free
 * arrays with the function of their type. An empty result is an array of 0.
 */

/* NULL if the builder has an error. The builder may go on. */
OBX_query* obx_query(OBX_query_builder* builder);
/* NULL is allowed, also after the store was closed. */
obx_err obx_query_close(OBX_query* query);
OBX_query* obx_query_clone(OBX_query* query);
/* Leave out the first so many; 0: none. */
obx_err obx_query_offset(OBX_query* query, size_t offset);
obx_err obx_query_offset_limit(OBX_query* query, size_t offset, size_t limit);
/* At most so many; 0: no limit. */
obx_err obx_query_limit(OBX_query* query, size_t limit);
OBX_bytes_array* obx_query_find(OBX_query* query);
/* With the distance of nearest neighbours, by ascending distance; empty without such a
 * condition. */
OBX_bytes_score_array* obx_query_find_with_scores(OBX_query* query);
OBX_id_score_array* obx_query_find_ids_with_scores(OBX_query* query);
OBX_id_array* obx_query_find_ids_by_score(OBX_query* query);
/* 404: none. The offset is ignored. */
obx_err obx_query_find_first(OBX_query* query, const uint8_t** data, size_t* size);
/* 404: none; 10202: more than one. Offset and limit are ignored. */
obx_err obx_query_find_unique(OBX_query* query, const uint8_t** data, size_t* size);
/* Call visitor for each object until it returns false. */
obx_err obx_query_visit(OBX_query* query, obx_data_visitor* visitor, void* user_data);
/* The same by ascending distance. */
obx_err obx_query_visit_with_score(OBX_query* query, obx_data_score_visitor* visitor,
                                   void* user_data);
OBX_id_array* obx_query_find_ids(OBX_query* query);
/* Up to the limit. 10098 with an offset. */
obx_err obx_query_count(OBX_query* query, uint64_t* out_count);
/* out_count may be NULL. 10001 with offset or limit. */
obx_err obx_query_remove(OBX_query* query, uint64_t* out_count);
/* One line about the query. Valid until the next call of this function. */
const char* obx_query_describe(OBX_query* query);
/* Its conditions with their values. Valid until the next call of this function. */
const char* obx_query_describe_params(OBX_query* query);

/* ---- Queries: in a cursor's transaction ---- */

obx_err obx_query_cursor_visit(OBX_query* query, OBX_cursor* cursor, obx_data_visitor* visitor,
                               void* user_data);
OBX_bytes_array* obx_query_cursor_find(OBX_query* query, OBX_cursor* cursor);
OBX_id_array* obx_query_cursor_find_ids(OBX_query* query, OBX_cursor* cursor);
obx_err obx_query_cursor_count(OBX_query* query, OBX_cursor* cursor, uint64_t* out_count);
obx_err obx_query_cursor_remove(OBX_query* query, OBX_cursor* cursor, uint64_t* out_count);

/*
 * ---- Parameters by property ----
 *
 * Replace the values of the first condition on that property that has no alias; entity_id may be
 * that of a link.
 */

obx_err obx_query_param_string(OBX_query* query, obx_schema_id entity_id, obx_schema_id property_id,
                               const char* value);
/* Key and value. */
obx_err obx_query_param_2strings(OBX_query* query, obx_schema_id entity_id,
                                 obx_schema_id property_id, const char* value, const char* value2);
obx_err obx_query_param_strings(OBX_query* query, obx_schema_id entity_id,
                                obx_schema_id property_id, const char* const values[],
                                size_t count);
/* Of nearest neighbours: their count. */
obx_err obx_query_param_int(OBX_query* query, obx_schema_id entity_id, obx_schema_id property_id,
                            int64_t value);
obx_err obx_query_param_2ints(OBX_query* query, obx_schema_id entity_id, obx_schema_id property_id,
                              int64_t value_a, int64_t value_b);
obx_err obx_query_param_int64s(OBX_query* query, obx_schema_id entity_id, obx_schema_id property_id,
                               const int64_t values[], size_t count);
obx_err obx_query_param_int32s(OBX_query* query, obx_schema_id entity_id, obx_schema_id property_id,
                               const int32_t values[], size_t count);
obx_err obx_query_param_double(OBX_query* query, obx_schema_id entity_id, obx_schema_id property_id,
                               double value);
obx_err obx_query_param_2doubles(OBX_query* query, obx_schema_id entity_id,
                                 obx_schema_id property_id, double value_a, double value_b);
obx_err obx_query_param_bytes(OBX_query* query, obx_schema_id entity_id, obx_schema_id property_id,
                              const uint8_t* value, size_t size);
obx_err obx_query_param_vector_float32(OBX_query* query, obx_schema_id entity_id,
                                       obx_schema_id property_id, const float* value,
                                       size_t element_count);
/* Bytes of a value of the property's type; 0: varies, or error. */
size_t obx_query_param_get_type_size(OBX_query* query, obx_schema_id entity_id,
                                     obx_schema_id property_id);

/* ---- Parameters by alias ---- */

/* 10002: no such alias. */
obx_err obx_query_param_alias_string(OBX_query* query, const char* alias, const char* value);
obx_err obx_query_param_alias_strings(OBX_query* query, const char* alias,
                                      const char* const values[], size_t count);
obx_err obx_query_param_alias_int(OBX_query* query, const char* alias, int64_t value);
obx_err obx_query_param_alias_2ints(OBX_query* query, const char* alias, int64_t value_a,
                                    int64_t value_b);
obx_err obx_query_param_alias_int64s(OBX_query* query, const char* alias, const int64_t values[],
                                     size_t count);
obx_err obx_query_param_alias_int32s(OBX_query* query, const char* alias, const int32_t values[],
                                     size_t count);
obx_err obx_query_param_alias_double(OBX_query* query, const char* alias, double value);
obx_err obx_query_param_alias_2doubles(OBX_query* query, const char* alias, double value_a,
                                       double value_b);
obx_err obx_query_param_alias_bytes(OBX_query* query, const char* alias, const uint8_t* value,
                                    size_t size);
obx_err obx_query_param_alias_vector_float32(OBX_query* query, const char* alias,
                                             const float* value, size_t element_count);
size_t obx_query_param_alias_get_type_size(OBX_query* query, const char* alias);

/*
 * ---- Property queries ----
 *
 * Values and aggregates of one property over the objects that a query finds. Nulls are left out.
 * out_count (may be NULL): how many values went in. Integer functions are for integer types, the
 * others for Float and Double.
 */

/* Lives independently of the query. */
OBX_query_prop* obx_query_prop(OBX_query* query, obx_schema_id property_id);
/* NULL is allowed, also after the store was closed. */
obx_err obx_query_prop_close(OBX_query_prop* query);
/* Each value once. */
obx_err obx_query_prop_distinct(OBX_query_prop* query, bool distinct);
/* Each text once, with or without regard to case. */
obx_err obx_query_prop_distinct_case(OBX_query_prop* query, bool distinct, bool case_sensitive);
obx_err obx_query_prop_count(OBX_query_prop* query, uint64_t* out_count);
/* Of all number types; NaN without values. */
obx_err obx_query_prop_avg(OBX_query_prop* query, double* out_average, int64_t* out_count);
/* Rounded half up; 10004 when it does not fit. */
obx_err obx_query_prop_avg_int(OBX_query_prop* query, int64_t* out_average, int64_t* out_count);
/* NaN without values. */
obx_err obx_query_prop_min(OBX_query_prop* query, double* out_minimum, int64_t* out_count);
/* NaN without values. */
obx_err obx_query_prop_max(OBX_query_prop* query, double* out_maximum, int64_t* out_count);
obx_err obx_query_prop_sum(OBX_query_prop* query, double* out_sum, int64_t* out_count);
/* 0 without values. */
obx_err obx_query_prop_min_int(OBX_query_prop* query, int64_t* out_minimum, int64_t* out_count);
/* 0 without values. */
obx_err obx_query_prop_max_int(OBX_query_prop* query, int64_t* out_maximum, int64_t* out_count);
/* 10004 when it does not fit. */
obx_err obx_query_prop_sum_int(OBX_query_prop* query, int64_t* out_sum, int64_t* out_count);
/* value_if_null here and below: given, it stands for nulls; NULL leaves them out. */
OBX_string_array* obx_query_prop_find_strings(OBX_query_prop* query, const char* value_if_null);
OBX_int64_array* obx_query_prop_find_int64s(OBX_query_prop* query, const int64_t* value_if_null);
OBX_int32_array* obx_query_prop_find_int32s(OBX_query_prop* query, const int32_t* value_if_null);
OBX_int16_array* obx_query_prop_find_int16s(OBX_query_prop* query, const int16_t* value_if_null);
OBX_int8_array* obx_query_prop_find_int8s(OBX_query_prop* query, const int8_t* value_if_null);
OBX_double_array* obx_query_prop_find_doubles(OBX_query_prop* query, const double* value_if_null);
OBX_float_array* obx_query_prop_find_floats(OBX_query_prop* query, const float* value_if_null);

/*
 * ---- Observers ----
 *
 * Called once for each commit that changed something, on the committing thread.
 */

/* With the ids of all entities that changed. */
OBX_observer* obx_observe(OBX_store* store, obx_observer* callback, void* user_data);
/* After changes of one entity. */
OBX_observer* obx_observe_single_type(OBX_store* store, obx_schema_id type_id,
                                      obx_observer_single_type* callback, void* user_data);
/* NULL is allowed. 10001 inside a callback. */
obx_err obx_observer_close(OBX_observer* observer);

/*
 * ---- Trees ----
 *
 * Branches and leaves addressed by paths, over entities that the model has to declare.
 */

OBX_tree_options* obx_tree_options(void);
/* Only for options that never reached obx_tree(). NULL is allowed. */
void obx_tree_options_free(OBX_tree_options* options);
/* Default '/'. */
obx_err obx_tree_opt_path_delimiter(OBX_tree_options* options, char path_delimiter);
/* OBXTreeOptionFlags. */
obx_err obx_tree_opt_flags(OBX_tree_options* options, uint32_t flags);
/* Consumes the options. 10601: the model lacks an entity or property of trees. */
OBX_tree* obx_tree(OBX_store* store, OBX_tree_options* options);
/* NULL is allowed. */
void obx_tree_close(OBX_tree* tree);
/* txn may be NULL and set later. */
OBX_tree_cursor* obx_tree_cursor(OBX_tree* tree, OBX_txn* txn);
/* Nodes found twice, as far as flags ask to detect them. */
size_t obx_tree_node_conflict_count(OBX_tree* tree);
/* NULL is allowed. */
void obx_tree_cursor_close(OBX_tree_cursor* cursor);
/* Set the transaction, NULL: none. */
obx_err obx_tree_cursor_txn(OBX_tree_cursor* cursor, OBX_txn* txn);
/* Leaf and (if asked for) its metadata. 404: there is none. */
obx_err obx_tree_cursor_get_raw(OBX_tree_cursor* cursor, const char* path, const uint8_t** data,
                                size_t* size, const uint8_t** metadata, size_t* metadata_size);
/* From malloc(); free() it. */
const char* obx_tree_cursor_get_leaf_path(OBX_tree_cursor* cursor, obx_id leaf_id);
/* Missing branches are made when metadata is given, else 404. 1001: refused by the mode. */
obx_err obx_tree_cursor_put_raw(OBX_tree_cursor* cursor, const char* path, void* leaf_data,
                                size_t leaf_data_size, OBXPropertyType type, obx_id* out_id,
                                void* leaf_metadata, size_t leaf_metadata_size,
                                OBXPutMode leaf_put_mode);
/* Merge nodes found twice. out_consolidated_count may be NULL. */
obx_err obx_tree_cursor_consolidate_node_conflicts(OBX_tree_cursor* cursor,
                                                   size_t* out_consolidated_count);
/* Leaves below a path, NULL: below the root. */
OBX_tree_leaves_info* obx_tree_cursor_get_child_leaves_info(OBX_tree_cursor* cursor,
                                                            const char* path);
size_t obx_tree_leaves_info_size(OBX_tree_leaves_info* leaves_info);
/* Borrowed. */
const char* obx_tree_leaves_info_path(OBX_tree_leaves_info* leaves_info, size_t index);
OBXPropertyType obx_tree_leaves_info_type(OBX_tree_leaves_info* leaves_info, size_t index);
obx_id obx_tree_leaves_info_id(OBX_tree_leaves_info* leaves_info, size_t index);
/* NULL is allowed. */
void obx_tree_leaves_info_free(OBX_tree_leaves_info* leaves_info);
/* The callback comes from another thread. */
obx_err obx_tree_async_get_raw(OBX_tree* tree, const char* path, bool with_metadata,
                               obx_tree_async_get_callback* callback, void* callback_user_data);
/* Data is copied; the callback may be NULL. */
obx_err obx_tree_async_put_raw(OBX_tree* tree, const char* path, void* leaf_data,
                               size_t leaf_data_size, OBXPropertyType type, void* leaf_metadata,
                               size_t leaf_metadata_size, OBXPutMode leaf_put_mode,
                               obx_tree_async_put_callback* callback, void* callback_user_data);
obx_err obx_tree_async_consolidate_node_conflicts(OBX_tree* tree);

/*
 * ---- Weak references to stores ----
 *
 * They do not keep a store open.
 */

OBX_weak_store* obx_weak_store(OBX_store* store);
/* NULL is allowed. */
void obx_weak_store_free(OBX_weak_store* weak_store);
/* NULL without an error: no such store. */
OBX_weak_store* obx_weak_store_by_id(uint64_t store_id);
/* A handle to close, or NULL without an error when the store is gone. */
OBX_store* obx_weak_store_lock(OBX_weak_store* weak_store);

/*
 * ---- Bytes and arrays ----
 *
 * Freeing an array frees its frame; bytes of objects belong to their transaction. NULL is allowed.
 */

void obx_bytes_free(OBX_bytes* bytes);
void obx_bytes_score_array_free(OBX_bytes_score_array* array);
/* With so many empty entries. */
OBX_bytes_array* obx_bytes_array(size_t count);
/* Keeps the pointer; the bytes stay yours. */
obx_err obx_bytes_array_set(OBX_bytes_array* array, size_t index, const uint8_t* data, size_t size);
void obx_bytes_array_free(OBX_bytes_array* array);
/* A copy of these ids. */
OBX_id_array* obx_id_array(const obx_id* ids, size_t count);
void obx_id_array_free(OBX_id_array* array);
/* And its texts. */
void obx_string_array_free(OBX_string_array* array);
void obx_id_score_array_free(OBX_id_score_array* array);
void obx_int64_array_free(OBX_int64_array* array);
void obx_int32_array_free(OBX_int32_array* array);
void obx_int16_array_free(OBX_int16_array* array);
void obx_int8_array_free(OBX_int8_array* array);
void obx_double_array_free(OBX_double_array* array);
void obx_float_array_free(OBX_float_array* array);

/*
 * ---- Admin ----
 *
 * A web interface over an open store; 10005 in a build without it.
 */

OBX_admin_options* obx_admin_opt(void);
/* Or the next. */
obx_err obx_admin_opt_store(OBX_admin_options* opt, OBX_store* store);
obx_err obx_admin_opt_store_path(OBX_admin_options* opt, const char* directory);
/* Default "http://127.0.0.1:8081"; port 0: any. */
obx_err obx_admin_opt_bind(OBX_admin_options* opt, const char* uri);
/* File with key and certificate (PEM). */
obx_err obx_admin_opt_ssl_cert(OBX_admin_options* opt, const char* cert_path);
/* Default 4. */
obx_err obx_admin_opt_num_threads(OBX_admin_options* opt, size_t num_threads);
obx_err obx_admin_opt_unsecured_no_authentication(OBX_admin_options* opt, bool value);
obx_err obx_admin_opt_user_management(OBX_admin_options* opt, bool value);
obx_err obx_admin_opt_log_requests(OBX_admin_options* opt, bool value);
/* Only for options that never reached obx_admin(). NULL is allowed. */
obx_err obx_admin_opt_free(OBX_admin_options* opt);
/* Starts serving. Consumes the options. */
OBX_admin* obx_admin(OBX_admin_options* options);
uint16_t obx_admin_port(OBX_admin* admin);
/* NULL is allowed. */
obx_err obx_admin_close(OBX_admin* admin);

#ifdef __cplusplus
}
#endif

#endif /* OBJECTBOX_H */
