/* SPDX-License-Identifier: Apache-2.0 */
/*
 * missing - functions of the ABI that this build does not serve.
 *
 * They exist, so that programs link and bindings load, and answer FEATURE_NOT_AVAILABLE: as a
 * code, NULL, 0 or false by what they return. A line of a list is one function: its type where it
 * varies, its name and parameters, the handle that must not be NULL, and what is missing.
 * docs/abi-status.md is made from these lists. Serving a function is deleting its line.
 */
#pragma once

#include "api/exported.h"
#include "base/base.h"

#define MISSING_ASYNC "The asynchronous queue is not available in this build."
#define MISSING_CONDITIONS "Query conditions are not available in this build."
#define MISSING_CUSTOM "Custom message transports are not available in this build."
#define MISSING_DART "Entry points for Dart are not available in this build."
#define MISSING_EXPIRY "Expiry of objects is not available in this build."
#define MISSING_OBSERVERS "Observers are not available in this build."
#define MISSING_PARAMETERS "Query parameters are not available in this build."
#define MISSING_PROPERTY_QUERIES "Property queries are not available in this build."
#define MISSING_RELATIONS "Relations are not available in this build."
#define MISSING_TIME_SERIES "Feature 'TimeSeries' is not available in this edition."
#define MISSING_TREES "Trees are not available in this build."
#define MISSING_ADMIN "The admin feature is not available in the loaded ObjectBox runtime library."
#define MISSING_SYNC "Sync is not available in the loaded ObjectBox runtime library."
#define MISSING_SYNC_SERVER "Sync server is not available in the loaded ObjectBox runtime library."

/* In place of a handle, of functions that have none. */
#define NO_HANDLE ""

/* ILLEGAL_ARGUMENT for NULL, else FEATURE_NOT_AVAILABLE with the text. */
MUST_CHECK bw_err bw_missing_refuse(const void *handle, const char *name, int line,
                                    const char *text);

/* The same, kept as the builder's error. */
MUST_CHECK bw_err bw_missing_condition(OBX_query_builder *builder, int line);

#define MISSING_ERR(name, parameters, handle, what) \
    obx_err name parameters { return bw_missing_refuse(handle, #handle, __LINE__, MISSING_##what); }

#define MISSING_VOID(name, parameters, handle, what)                               \
    void name parameters                                                           \
    {                                                                              \
        bw_err err = bw_missing_refuse(handle, #handle, __LINE__, MISSING_##what); \
        (void)err;                                                                 \
    }

#define MISSING_POINTER(type, name, parameters, handle, what)                      \
    type name parameters                                                           \
    {                                                                              \
        bw_err err = bw_missing_refuse(handle, #handle, __LINE__, MISSING_##what); \
        (void)err;                                                                 \
        return NULL;                                                               \
    }

#define MISSING_NUMBER(type, name, parameters, handle, what)                       \
    type name parameters                                                           \
    {                                                                              \
        bw_err err = bw_missing_refuse(handle, #handle, __LINE__, MISSING_##what); \
        (void)err;                                                                 \
        return (type)0;                                                            \
    }

/* Closing and freeing: NULL is a success. */
#define MISSING_CLOSE(name, parameters, handle, what)                        \
    obx_err name parameters                                                  \
    {                                                                        \
        if (!(handle)) return BW_OK;                                         \
        return bw_missing_refuse(handle, #handle, __LINE__, MISSING_##what); \
    }

#define MISSING_FREE(name, parameters, handle, what)                               \
    void name parameters                                                           \
    {                                                                              \
        if (!(handle)) return;                                                     \
        bw_err err = bw_missing_refuse(handle, #handle, __LINE__, MISSING_##what); \
        (void)err;                                                                 \
    }

/* Conditions: 0, and the builder keeps the error. */
#define MISSING_CONDITION(name, parameters)                   \
    obx_qb_cond name parameters                               \
    {                                                         \
        bw_err err = bw_missing_condition(builder, __LINE__); \
        (void)err;                                            \
        return 0;                                             \
    }

#define MISSING_BUILDER_ERR(name, parameters) \
    obx_err name parameters { return bw_missing_condition(builder, __LINE__); }

#define MISSING_LINK(type, name, parameters)                  \
    type name parameters                                      \
    {                                                         \
        bw_err err = bw_missing_condition(builder, __LINE__); \
        (void)err;                                            \
        return NULL;                                          \
    }
