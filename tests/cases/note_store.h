/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stores as a program has them, through the public ABI alone, for tests that show what a store does
 * on a machine: entities "Note" and "Twin", each of an id, a number and bytes. The bytes of an
 * object follow from its number and their count, so that each object can be known again.
 *
 * Everything is static and inline, so that a test takes what it needs.
 */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boxwood.h"
#include "harness/check.h"
#include "harness/scratch.h"
#include "os/os.h"

enum {
    NOTE = 1,
    TWIN = 2,
    NOTE_ID_AT = 24,
    NOTE_NUMBER_AT = 32,
    NOTE_SIZE_AT = 44,
    NOTE_BYTES_AT = 48, /* what comes before the bytes */
};

static inline void note_declare(OBX_model *model, const char *name, uint32_t entity_id)
{
    const uint64_t uid = entity_id * 100;
    CHECK_OK(obx_model_entity(model, name, entity_id, uid));
    CHECK_OK(obx_model_property(model, "id", OBXPropertyType_Long, 1, uid + 1));
    CHECK_OK(obx_model_property_flags(model, OBXPropertyFlags_ID));
    CHECK_OK(obx_model_property(model, "number", OBXPropertyType_Long, 2, uid + 2));
    CHECK_OK(obx_model_property(model, "bytes", OBXPropertyType_ByteVector, 3, uid + 3));
    CHECK_OK(obx_model_entity_last_property_id(model, 3, uid + 3));
}

static inline OBX_store_options *note_options(const char *directory, uint64_t size_max_kb)
{
    OBX_model *model = obx_model();
    CHECK(model != NULL);
    note_declare(model, "Note", NOTE);
    note_declare(model, "Twin", TWIN);
    obx_model_last_entity_id(model, TWIN, 200);
    OBX_store_options *options = obx_opt();
    CHECK(options != NULL);
    CHECK_OK(obx_opt_directory(options, directory));
    CHECK_OK(obx_opt_model(options, model));
    if (size_max_kb) obx_opt_max_db_size_in_kb(options, size_max_kb);
    return options;
}

/* Open; a failure ends the test. Without durability commits cost no flush. */
static inline OBX_store *note_open(const char *directory, uint64_t size_max_kb,
                                   BoxwoodDurability durability)
{
    OBX_store_options *options = note_options(directory, size_max_kb);
    CHECK_OK(boxwood_opt_durability(options, durability));
    OBX_store *store = obx_store_open(options);
    if (!store) CHECK_TEXT(obx_last_error_message(), "no error");
    return store;
}

static inline OBX_box *note_box(OBX_store *store, uint32_t entity_id)
{
    OBX_box *box = obx_box(store, entity_id);
    CHECK(box != NULL);
    return box;
}

/* The size of an object with so many bytes, a multiple of 8. */
static inline size_t note_size(size_t count) { return bw_round_up(NOTE_BYTES_AT + count, 8); }

static inline uint64_t note_word(int64_t number, size_t at)
{
    const uint64_t x = ((uint64_t)number + 1) * 0x9e3779b97f4a7c15u + at * 0xd6e8feb86659fd93u;
    return x ^ x >> 32;
}

/* Write an object to `to`, which has room for note_size(count) bytes. */
static inline void note_write(uint8_t *to, obx_id id, int64_t number, size_t count)
{
    // Root at 20 with its table's offsets behind the first cell: id 4, number 12, bytes 20.
    static const uint8_t head[NOTE_ID_AT] = {20, 0, 0, 0, 10, 0, 24, 0, 4,  0, 12, 0,
                                             20, 0, 0, 0, 0,  0, 0,  0, 16, 0, 0,  0};
    memcpy(to, head, sizeof(head));
    bw_put_u64(to + NOTE_ID_AT, id);
    bw_put_u64(to + NOTE_NUMBER_AT, (uint64_t)number);
    bw_put_u32(to + NOTE_NUMBER_AT + 8, 4);
    bw_put_u32(to + NOTE_SIZE_AT, (uint32_t)count);
    const size_t end = note_size(count);
    for (size_t at = NOTE_BYTES_AT; at < end; at += 8) bw_put_u64(to + at, note_word(number, at));
    memset(to + NOTE_BYTES_AT + count, 0, end - NOTE_BYTES_AT - count);
}

/* Is this the object? */
static inline bool note_is(const uint8_t *data, size_t size, int64_t number, size_t count)
{
    if (size < NOTE_BYTES_AT + count || size > note_size(count)) return false;
    if (bw_get_u64(data + NOTE_NUMBER_AT) != (uint64_t)number) return false;
    if (bw_get_u32(data + NOTE_SIZE_AT) != count) return false;
    const size_t end = NOTE_BYTES_AT + count;
    for (size_t at = NOTE_BYTES_AT; at < end; at += 8) {
        uint8_t word[8];
        bw_put_u64(word, note_word(number, at));
        if (memcmp(data + at, word, end - at < 8 ? end - at : 8) != 0) return false;
    }
    return true;
}

static inline int64_t note_number(const uint8_t *data)
{
    return (int64_t)bw_get_u64(data + NOTE_NUMBER_AT);
}

/* Put under an id, or under a fresh one for 0. */
static inline obx_err note_put(OBX_box *box, obx_id id, int64_t number, size_t count)
{
    uint8_t *object = malloc(note_size(count));
    CHECK(object != NULL);
    note_write(object, id, number, count);
    obx_err err = OBX_SUCCESS;
    if (id) err = obx_box_put(box, id, object, note_size(count));
    else if (!obx_box_put_object(box, object, note_size(count))) err = obx_last_error_code();
    free(object);
    return err;
}

/* Within a transaction of the thread: does the id have this object? */
static inline void note_expect(OBX_box *box, obx_id id, int64_t number, size_t count)
{
    const uint8_t *data = NULL;
    size_t size = 0;
    CHECK_OK(obx_box_get(box, id, &data, &size));
    CHECK(note_is(data, size, number, count));
}

static inline uint64_t note_count(OBX_box *box)
{
    uint64_t count = UINT64_MAX;
    CHECK_OK(obx_box_count(box, 0, &count));
    return count;
}

/* Everything the engine can prove about the file, and that nothing of it is lost or used twice. */
static inline void note_prove(const char *directory)
{
    OBX_store_options *options = note_options(directory, 0);
    obx_opt_validate_on_open_pages(options, SIZE_MAX, 0);
    OBX_store *store = obx_store_open(options);
    if (!store) CHECK_TEXT(obx_last_error_message(), "no error");
    CHECK_OK(obx_store_close(store));
}
