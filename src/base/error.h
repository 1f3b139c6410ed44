/* SPDX-License-Identifier: Apache-2.0 */
/* Error codes, and the one place where a thread keeps the reason of its last failure. */
#pragma once

#include <stdint.h>

#include "base/attributes.h"

/* Numbers are ABI (OBX_ERROR_*): never reuse or renumber one, only append. Those from 10901 on are
 * Boxwood's own, never returned by obx_*. */
#define BW_ERROR_MAP(X)               \
    X(NOT_FOUND, 404)                 \
    X(NO_SUCCESS, 1001)               \
    X(TIMEOUT, 1002)                  \
    X(ILLEGAL_STATE, 10001)           \
    X(ILLEGAL_ARGUMENT, 10002)        \
    X(NO_MEMORY, 10003)               \
    X(NUMERIC_OVERFLOW, 10004)        \
    X(FEATURE_NOT_AVAILABLE, 10005)   \
    X(SHUTTING_DOWN, 10006)           \
    X(IO, 10007)                      \
    X(BACKUP_FILE_INVALID, 10008)     \
    X(NO_ERROR_INFO, 10097)           \
    X(GENERAL, 10098)                 \
    X(UNKNOWN, 10099)                 \
    X(DB_FULL, 10101)                 \
    X(MAX_READERS_EXCEEDED, 10102)    \
    X(STORE_MUST_SHUTDOWN, 10103)     \
    X(MAX_DATA_SIZE_EXCEEDED, 10104)  \
    X(DB_GENERAL, 10198)              \
    X(STORAGE_GENERAL, 10199)         \
    X(UNIQUE_VIOLATED, 10201)         \
    X(NON_UNIQUE_RESULT, 10202)       \
    X(PROPERTY_TYPE_MISMATCH, 10203)  \
    X(ID_ALREADY_EXISTS, 10210)       \
    X(ID_NOT_FOUND, 10211)            \
    X(TIME_SERIES, 10212)             \
    X(CONSTRAINT_VIOLATED, 10299)     \
    X(SCHEMA, 10501)                  \
    X(FILE_CORRUPT, 10502)            \
    X(FILE_PAGES_CORRUPT, 10503)      \
    X(SCHEMA_OBJECT_NOT_FOUND, 10504) \
    X(CANCELLED, 10901)

typedef enum bw_err {
    BW_OK = 0,
#define X(name, number) BW_ERR_##name = (number),
    BW_ERROR_MAP(X)
#undef X
} bw_err;

/*
 * Note why the current call fails, then hand back the code, so that a failure is one statement:
 *     return bw_fail(BW_ERR_DB_FULL, "Could not put");
 * Call it where the cause is known, once; layers above pass the code on unchanged. Keeps err as
 * this thread's last error until the next failure; success never clears it.
 */
MUST_CHECK bw_err bw_fail(bw_err err, const char *format, ...) PRINTF_LIKE(2, 3);

/* The same with the platform's own error number (errno) as secondary code. */
MUST_CHECK bw_err bw_fail_system(bw_err err, int32_t secondary, const char *format, ...)
    PRINTF_LIKE(3, 4);

#ifdef __clang_analyzer__
// The analyzer sees one file at a time: tell it that a failure is one.
// NOLINTBEGIN(readability-identifier-naming)
#define bw_fail(err, ...) ((void)bw_fail(err, __VA_ARGS__), (err))
#define bw_fail_system(err, ...) ((void)bw_fail_system(err, __VA_ARGS__), (err))
// NOLINTEND(readability-identifier-naming)
#endif

/* This thread's last error: 0 and "" when there is none. The text lives until the next failure. */
bw_err bw_reason_code(void);
int32_t bw_reason_secondary(void);
const char *bw_reason_text(void);

void bw_reason_set(bw_err err, int32_t secondary, const char *text);
void bw_reason_clear(void);

/*
 * Where in a model or a batch the last failure lies, for callers that want more than a text. Each
 * bw_fail starts it anew ("nothing in particular"); whoever knows more fills it in right after.
 */
struct reason_place {
    uint32_t entity_id, property_id; /* 0: none in particular */
    uint64_t index;                  /* position in a batch, UINT64_MAX: none */
    uint64_t id, other_id;           /* the object, and the one it collides with; 0: none */
};
struct reason_place *bw_reason_place(void);
