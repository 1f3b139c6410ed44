/* SPDX-License-Identifier: Apache-2.0 */
/* Boxwood through the public ABI alone, as bindings use it: ids reserved, one batch, guaranteed
 * new. */
#include "bench.h"

#include <objectbox.h>

#include <stdlib.h>

enum { NOTE_ENTITY = 1, MODE_GUARANTEED_NEW = 4 };

struct obx_store {
    OBX_store *store;
    OBX_box *box;
};

static void ensure(bool holds, const char *what)
{
    if (!holds) {
        bench_fail("boxwood: %s: %d %s", what, obx_last_error_code(), obx_last_error_message());
    }
}

static OBX_model *note_model(void)
{
    OBX_model *model = obx_model();
    ensure(model, "model");
    obx_model_entity(model, "Note", NOTE_ENTITY, 101);
    obx_model_property(model, "id", OBXPropertyType_Long, 1, 1001);
    obx_model_property_flags(model, OBXPropertyFlags_ID);
    obx_model_property(model, "text", OBXPropertyType_String, 2, 1002);
    obx_model_property(model, "ts", OBXPropertyType_Long, 3, 1003);
    obx_model_entity_last_property_id(model, 3, 1003);
    obx_model_last_entity_id(model, NOTE_ENTITY, 101);
    ensure(obx_model_error_code(model) == 0, "model");
    return model;
}

static void *boxwood_open(const char *folder)
{
    struct obx_store *opened = malloc(sizeof(*opened));
    if (!opened) bench_fail("out of memory");
    OBX_store_options *options = obx_opt();
    ensure(options && obx_opt_directory(options, folder) == 0, "options");
    ensure(obx_opt_model(options, note_model()) == 0, "options");
    opened->store = obx_store_open(options);
    ensure(opened->store, "open");
    opened->box = obx_box(opened->store, NOTE_ENTITY);
    ensure(opened->box, "box");
    return opened;
}

static void boxwood_close(void *store)
{
    struct obx_store *opened = store;
    ensure(obx_store_close(opened->store) == 0, "close");
    free(opened);
}

static void boxwood_put(void *store, const struct note *notes, size_t count)
{
    struct obx_store *opened = store;
    OBX_bytes *bytes = malloc(count * sizeof(*bytes));
    obx_id *ids = malloc(count * sizeof(*ids));
    if (!bytes || !ids) bench_fail("out of memory");
    obx_id first = 0;
    ensure(obx_box_ids_for_put(opened->box, count, &first) == 0, "ids");
    if (first != notes[0].id) bench_fail("boxwood: the next id is %llu", (unsigned long long)first);
    for (size_t i = 0; i < count; i++) {
        bytes[i] = (OBX_bytes){.data = notes[i].bytes, .size = notes[i].size};
        ids[i] = first + i;
    }
    OBX_bytes_array array = {.bytes = bytes, .count = count};
    ensure(obx_box_put_many(opened->box, &array, ids, (OBXPutMode)MODE_GUARANTEED_NEW) == 0, "put");
    free(bytes);
    free(ids);
}

static void boxwood_update(void *store, const struct note *note)
{
    struct obx_store *opened = store;
    ensure(obx_box_put(opened->box, note->id, note->bytes, note->size) == 0, "update");
}

static uint64_t boxwood_count(void *store)
{
    struct obx_store *opened = store;
    uint64_t count = 0;
    ensure(obx_box_count(opened->box, 0, &count) == 0, "count");
    return count;
}

static bool add_note(const uint8_t *data, size_t size, void *sum)
{
    (void)size;
    *(uint64_t *)sum += bench_note_sum(data);
    return true;
}

static uint64_t boxwood_visit(void *store)
{
    struct obx_store *opened = store;
    uint64_t sum = 0;
    ensure(obx_box_visit_all(opened->box, add_note, &sum) == 0, "visit");
    return sum;
}

static uint64_t boxwood_get(void *store, const uint64_t *ids, size_t count)
{
    struct obx_store *opened = store;
    OBX_txn *txn = obx_txn_read(opened->store);
    ensure(txn, "begin");
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        const uint8_t *data = NULL;
        size_t size = 0;
        ensure(obx_box_get(opened->box, ids[i], &data, &size) == 0, "get");
        sum += bench_note_sum(data);
    }
    ensure(obx_txn_close(txn) == 0, "end");
    return sum;
}

const struct engine bench_boxwood = {
    .title = "Boxwood",
    .open = boxwood_open,
    .close = boxwood_close,
    .put = boxwood_put,
    .update = boxwood_update,
    .count = boxwood_count,
    .visit = boxwood_visit,
    .get = boxwood_get,
};
