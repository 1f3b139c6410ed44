/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packed batches as a binding sends them: any bytes, any ends, any ids. A batch is stored whole or
 * refused before anything is; what is stored can be read as objects.
 *
 * Input: flags, the number of objects; an id and an end for each; then the bytes.
 */
#include <stdio.h>
#include <stdlib.h>

#include "api/exported.h"
#include "flat/flat.h"
#include "fuzz/input.h"

enum { OBJECTS_MAX = 24, SIZE_MAX_ALL = 4096, PROPERTIES = 6 };

static void stop(const char *why)
{
    fprintf(stderr, "%s: %s\n", why, obx_last_error_message());
    abort();
}

static void must(obx_err err)
{
    if (err) stop("a call that cannot fail");
}

static const struct flat_field fields[PROPERTIES] = {
    {0, FLAT_64}, {1, FLAT_64},        {2, FLAT_STRING},
    {3, FLAT_32}, {4, FLAT_VECTOR_32}, {5, FLAT_VECTOR_STRING},
};

static OBX_store *open_store(void)
{
    static const OBXPropertyType types[PROPERTIES] = {
        OBXPropertyType_Long, OBXPropertyType_Long,        OBXPropertyType_String,
        OBXPropertyType_Int,  OBXPropertyType_FloatVector, OBXPropertyType_StringVector};
    OBX_model *model = obx_model();
    OBX_store_options *options = obx_opt();
    if (!model || !options) abort();
    must(obx_model_entity(model, "Thing", 1, 100));
    for (uint32_t i = 0; i < PROPERTIES; i++) {
        const char name[] = {'p', (char)('0' + i), 0};
        must(obx_model_property(model, name, types[i], i + 1, 101 + i));
        if (i == 0)
            must(obx_model_property_flags(model, OBXPropertyFlags_ID |
                                                     OBXPropertyFlags_ID_SELF_ASSIGNABLE));
    }
    must(obx_model_entity_last_property_id(model, PROPERTIES, 100 + PROPERTIES));
    obx_model_last_entity_id(model, 1, 100);
    must(obx_opt_directory(options, "memory:packed"));
    must(obx_opt_model(options, model));
    OBX_store *store = obx_store_open(options);
    if (!store) stop("open");
    return store;
}

/* Every object that is there verifies, and has its id. */
static void read_all(OBX_store *store, OBX_box *box, const obx_id *ids, size_t count)
{
    OBX_txn *txn = obx_txn_read(store);
    if (!txn) stop("begin to read");
    for (size_t i = 0; i < count; i++) {
        const uint8_t *object = NULL;
        size_t size = 0, field = 0;
        struct flat_table table;
        const char *why = NULL;
        if (!ids[i] || ids[i] == OBX_ID_NEW) continue;
        if (obx_box_get(box, ids[i], &object, &size)) continue; // refused, or given and not stored
        if (!bw_flat_verify((struct bytes){object, size}, fields, PROPERTIES, &table, &field, &why))
            stop(why);
        const uint8_t *id = bw_flat_field(&table, 0);
        if (!id || bw_get_u64(id) != ids[i]) stop("an object with another id");
    }
    must(obx_txn_close(txn));
}

static void put(OBX_store *store, OBX_box *box, struct input *input)
{
    const uint32_t flags = take_u8(input) % 9;
    const size_t count = take_u8(input) % (OBJECTS_MAX + 1);
    uint32_t ends[OBJECTS_MAX], end = 0;
    obx_id ids[OBJECTS_MAX], before[OBJECTS_MAX];
    for (size_t i = 0; i < count; i++) {
        const uint8_t id = take_u8(input);
        ids[i] = id < 0xf0 ? id % 32 : id == 0xff ? OBX_ID_NEW : OBX_ID_NEW - 2 + id % 2;
        const uint16_t step = take_u16(input);
        if (step >= 0xff00) end = take_u32(input);
        else end = (i ? (end + 7) / 8 * 8 : 0) + step % 512;
        ends[i] = end;
    }
    memcpy(before, ids, count * sizeof(ids[0]));
    size_t size = input->left < SIZE_MAX_ALL ? input->left : SIZE_MAX_ALL;
    uint8_t *bytes = malloc(size ? size : 1);
    if (!bytes) abort();
    if (size) memcpy(bytes, input->at, size);
    boxwood_failure failure;
    const obx_err err =
        boxwood_box_put_packed(box, NULL, bytes, size, ends, count, ids, flags, &failure);
    if (err && err != OBX_NO_SUCCESS && memcmp(ids, before, count * sizeof(ids[0])) != 0)
        stop("ids of a batch that was refused");
    for (size_t i = 0; i < count && !err; i++)
        if (!ids[i] || ids[i] == OBX_ID_NEW) stop("an object without an id");
    read_all(store, box, ids, count);
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    OBX_store *store = open_store();
    OBX_box *box = obx_box(store, 1);
    if (!box) stop("box");
    put(store, box, &input);
    put(store, box, &input); // the bytes of the first batch say what the second one is
    must(obx_store_close(store));
    must(obx_remove_db_files("memory:packed"));
    return 0;
}
