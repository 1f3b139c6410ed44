/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small store for tests of the API: entity 1, "Pair", of an id and a number, in memory.
 *
 * Everything is static and inline, so that a test takes what it needs.
 */
#pragma once

#include <string.h>

#include "api/exported.h"
#include "harness/check.h"

enum { PAIR = 1, OTHER = 2, PAIR_SIZE = 32, PAIR_ID_AT = 16, PAIR_VALUE_AT = 24 };

static inline void pair_declare(OBX_model *model, const char *name, uint32_t entity_id)
{
    const uint64_t uid = entity_id * 100;
    CHECK_OK(obx_model_entity(model, name, entity_id, uid));
    CHECK_OK(obx_model_property(model, "id", OBXPropertyType_Long, 1, uid + 1));
    CHECK_OK(obx_model_property_flags(model, OBXPropertyFlags_ID));
    CHECK_OK(obx_model_property(model, "value", OBXPropertyType_Long, 2, uid + 2));
    CHECK_OK(obx_model_entity_last_property_id(model, 2, uid + 2));
}

static inline OBX_model *pair_model(void)
{
    OBX_model *model = obx_model();
    CHECK(model != NULL);
    pair_declare(model, "Pair", PAIR);
    pair_declare(model, "Other", OTHER);
    obx_model_last_entity_id(model, OTHER, 200);
    return model;
}

static inline OBX_store_options *pair_options(const char *directory)
{
    OBX_store_options *opt = obx_opt();
    CHECK(opt != NULL);
    CHECK_OK(obx_opt_directory(opt, directory));
    CHECK_OK(obx_opt_model(opt, pair_model()));
    return opt;
}

static inline OBX_store *pair_open(const char *directory)
{
    OBX_store *store = obx_store_open(pair_options(directory));
    if (!store) CHECK_TEXT(obx_last_error_message(), "no error");
    return store;
}

/* Close, and forget the data. */
static inline void pair_end(OBX_store *store, const char *directory)
{
    CHECK_OK(obx_store_close(store));
    CHECK_OK(obx_remove_db_files(directory));
}

/* A FlatBuffers table of two slots, written by hand. */
static inline void pair_write(uint8_t object[PAIR_SIZE], uint64_t id, int64_t value)
{
    static const uint8_t head[PAIR_ID_AT] = {12, 0, 0, 0, 8, 0, 20, 0, 4, 0, 12, 0, 8, 0, 0, 0};
    memcpy(object, head, sizeof(head));
    memcpy(object + PAIR_ID_AT, &id, sizeof(id));
    memcpy(object + PAIR_VALUE_AT, &value, sizeof(value));
}

static inline int64_t pair_value(const uint8_t *object)
{
    int64_t value;
    memcpy(&value, object + PAIR_VALUE_AT, sizeof(value));
    return value;
}

static inline obx_id pair_put(OBX_box *box, int64_t value)
{
    uint8_t object[PAIR_SIZE];
    pair_write(object, 0, value);
    return obx_box_put_object(box, object, sizeof(object));
}

static inline uint64_t pair_count(OBX_box *box)
{
    uint64_t count = UINT64_MAX;
    CHECK_OK(obx_box_count(box, 0, &count));
    return count;
}

/* The last error's text starts so; it is cleared. */
static inline void pair_check_text(const char *start)
{
    const char *text = obx_last_error_message();
    if (strncmp(text, start, strlen(start)) != 0) CHECK_TEXT(text, start);
    obx_last_error_clear();
}

#define CHECK_REASON(start) pair_check_text(start)
