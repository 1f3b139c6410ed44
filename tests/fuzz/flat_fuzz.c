/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes as an object of an entity with fields that the input chooses. What is accepted is read
 * whole by the readers that check nothing, and its id can be overwritten.
 *
 * Input: the number of fields, the place of the id among them; a step between slots and a kind for
 * each; then the object.
 */
#include <stdio.h>
#include <stdlib.h>

#include "flat/flat.h"
#include "fuzz/input.h"

enum { FIELDS_MAX = 12 };

static uint64_t seen; // so that reading is not optimized away

static void stop(const char *why)
{
    fprintf(stderr, "%s\n", why);
    abort();
}

static void use(const uint8_t *bytes, size_t size) { seen += bw_hash64(bytes, size, seen); }

static void read_string(const uint8_t *field)
{
    const struct bytes text = bw_flat_target(field);
    use(text.data, text.size + 1);
    if (text.data[text.size]) stop("a string without an end");
}

static void read_field(const uint8_t *field, uint8_t kind)
{
    if (kind < FLAT_STRING) {
        use(field, kind);
        return;
    }
    if (kind == FLAT_STRING) {
        read_string(field);
        return;
    }
    const struct bytes items = bw_flat_target(field);
    if (kind != FLAT_VECTOR_STRING) {
        use(items.data, items.size << (kind - FLAT_VECTOR_8));
        return;
    }
    for (size_t i = 0; i < items.size; i++) read_string(items.data + 4 * i);
}

static void read_all(const struct flat_table *table, const struct flat_fields *fields)
{
    for (size_t i = 0; i < fields->count; i++) {
        const uint8_t *field = bw_flat_field(table, fields->items[i].slot);
        if (field) read_field(field, fields->items[i].kind);
    }
    (void)bw_flat_has_strangers(table, fields->items, fields->count);
}

/* What a writer does with a new object. */
static void overwrite_id(uint8_t *object, size_t size, const struct flat_fields *fields)
{
    struct flat_table table = bw_flat_open(object);
    const uint8_t *id = bw_flat_field(&table, fields->id_slot);
    if (!id) return;
    bw_put_u64(object + (id - object), UINT64_C(0xfedcba9876543210));
    size_t field;
    const char *why;
    if (!bw_flat_verify_object((struct bytes){object, size}, fields, &table, &field, &why))
        stop("an object is no object any more with its id");
    read_all(&table, fields);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t kinds[] = {
        FLAT_8,        FLAT_16,        FLAT_32,        FLAT_64,        FLAT_STRING,
        FLAT_VECTOR_8, FLAT_VECTOR_16, FLAT_VECTOR_32, FLAT_VECTOR_64, FLAT_VECTOR_STRING};
    struct input input = {data, size};
    struct flat_field items[FIELDS_MAX];
    const size_t count = 1 + take_u8(&input) % FIELDS_MAX, id_at = take_u8(&input) % (count + 1);
    uint16_t slot = 0;
    for (size_t i = 0; i < count; i++) {
        slot = (uint16_t)(slot + take_u8(&input) % 4);
        items[i] =
            (struct flat_field){.slot = slot++, .kind = kinds[take_u8(&input) % sizeof(kinds)]};
        if (i == id_at) items[i].kind = FLAT_64;
    }
    const struct flat_fields fields = {.items = items,
                                       .count = count,
                                       .id_slot = id_at < count ? items[id_at].slot : FLAT_NO_SLOT};
    const size_t object_size = input.left;
    uint8_t *object = malloc(object_size ? object_size : 1); // its end is where a sanitizer sees it
    if (!object) abort();
    if (object_size) memcpy(object, input.at, object_size);
    struct flat_table table;
    size_t field;
    const char *why;
    if (bw_flat_verify_object((struct bytes){object, object_size}, &fields, &table, &field, &why)) {
        read_all(&table, &fields);
        overwrite_id(object, object_size, &fields);
    } else if (field > count || !why) {
        stop("a refusal without a reason");
    }
    free(object);
    return 0;
}
