/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks bytes that come from outside, so that nobody who reads them later has to.
 *
 * Positions are numbers from the buffer's start and only become pointers once they are known to lie
 * inside. Whatever is accepted can be read with bw_flat_field and bw_flat_target without a check,
 * and the 8 bytes of an id can be overwritten without changing what the rest means.
 *
 * Invariants, of a buffer that was accepted:
 *   V1  Table, vtable, each present field, each string and vector with all its elements lie inside.
 *   V2  Numbers lie at multiples of their size from the buffer's start.
 *   V3  The table shares no byte with its vtable, and no string or vector begins before its end. So
 *       writing to a field changes no structure, unless the field overlaps an offset.
 *   V4  The id's field overlaps no offset field.
 *   V5  A string is followed by a NUL.
 *   V6  The work is linear in the buffer: string vectors may share elements, but not without limit.
 *
 * Not here: slots that no field names. They are accepted as they are (see bw_flat_has_strangers).
 */
#include "flat/flat.h"

enum {
    SIZE_MIN = 12, /* root, soffset, vtable */
    VTABLE_HEAD = 4,
    FIELD_MIN = 4,   /* the table begins with its soffset */
    NO_ID = 0x20000, /* a field offset that no real one comes near */
};

#define SIZE_MAX_FLAT 0x7fffffffu

struct layout {
    const uint8_t *data; /* borrowed */
    uint32_t size;
    uint32_t table, table_end; /* positions */
    uint32_t vtable;
    uint16_t vtable_size;
    uint32_t strings_left; /* V6 */
};

static inline const char *find_table(struct bytes buffer, struct layout *out)
{
    if (buffer.size < SIZE_MIN) return "the data is too short for a table";
    if (buffer.size > SIZE_MAX_FLAT) return "the data is larger than 2 GB";
    uint32_t size = (uint32_t)buffer.size;

    uint32_t table = bw_get_u32(buffer.data);
    if (table > size - 4 || table < 4) return "the root offset leads outside the data";
    if (table & 3) return "the table is not aligned";

    int64_t vtable = (int64_t)table - (int32_t)bw_get_u32(buffer.data + table);
    if (vtable < 4 || vtable > size - VTABLE_HEAD) return "the vtable lies outside the data";
    if (vtable & 1) return "the vtable is not aligned";

    uint16_t vtable_size = bw_get_u16(buffer.data + vtable);
    if (vtable_size < VTABLE_HEAD || vtable_size & 1) return "the vtable's size is impossible";
    uint32_t vtable_end = (uint32_t)vtable + vtable_size;
    if (vtable_end > size) return "the vtable ends outside the data";

    uint16_t table_size = bw_get_u16(buffer.data + vtable + 2);
    uint32_t table_end = table + table_size;
    if (table_size < FIELD_MIN || table_end > size) return "the table ends outside the data";
    if (vtable_end > table && vtable < table_end) return "the vtable lies in the table"; // V3

    *out = (struct layout){.data = buffer.data,
                           .size = size,
                           .table = table,
                           .table_end = table_end,
                           .vtable = (uint32_t)vtable,
                           .vtable_size = vtable_size,
                           .strings_left = size};
    return NULL;
}

static const char *check_string(const struct layout *layout, uint64_t at)
{
    if (at & 3) return "a string is not aligned";
    if (at + 4 > layout->size) return "a string lies outside the data";
    uint64_t end = at + 4 + bw_get_u32(layout->data + at);
    if (end >= layout->size) return "a string ends outside the data";
    if (layout->data[end]) return "a string is not followed by a zero byte"; // V5
    return NULL;
}

static const char *check_vector(const struct layout *layout, uint64_t at, uint32_t element_size)
{
    if (at & 3) return "a vector is not aligned";
    if (at + 4 > layout->size) return "a vector lies outside the data";
    uint64_t count = bw_get_u32(layout->data + at);
    if (at + 4 + count * element_size > layout->size) return "a vector ends outside the data";
    if (count && (at + 4) & (element_size - 1)) return "a vector's elements are not aligned"; // V2
    return NULL;
}

static const char *check_strings(struct layout *layout, uint64_t at)
{
    const char *why = check_vector(layout, at, 4);
    if (why) return why;
    uint32_t count = bw_get_u32(layout->data + at);
    if (count > layout->strings_left) return "string vectors share too much"; // V6
    layout->strings_left -= count;
    for (uint64_t item = at + 4, end = item + 4 * (uint64_t)count; item < end; item += 4) {
        why = check_string(layout, item + bw_get_u32(layout->data + item));
        if (why) return why;
    }
    return NULL;
}

static inline const char *check_target(struct layout *layout, uint32_t field, uint8_t kind)
{
    uint64_t at = (uint64_t)field + bw_get_u32(layout->data + field);
    if (at < layout->table_end) return "an offset leads into the table"; // V3
    switch (kind) {
    case FLAT_STRING:
        return check_string(layout, at);
    case FLAT_VECTOR_STRING:
        return check_strings(layout, at);
    default:
        return check_vector(layout, at, 1u << (kind - FLAT_VECTOR_8));
    }
}

static inline uint32_t offset_of(const struct layout *layout, uint32_t slot)
{
    uint32_t at = VTABLE_HEAD + 2 * slot;
    return at + 2 <= layout->vtable_size ? bw_get_u16(layout->data + layout->vtable + at) : 0;
}

static inline const char *check_field(struct layout *layout, const struct flat_field *field,
                                      uint32_t id_offset)
{
    uint32_t offset = offset_of(layout, field->slot);
    if (!offset) return NULL;
    uint32_t size = field->kind < FLAT_STRING ? field->kind : 4;
    uint32_t at = layout->table + offset;
    if (offset < FIELD_MIN || at + size > layout->table_end)
        return "the field lies outside the table";
    if (at & (size - 1)) return "the field is not aligned"; // V2
    if (field->kind < FLAT_STRING) return NULL;
    if (offset - id_offset + 3 < 11) return "the field overlaps the id"; // V4
    return check_target(layout, at, field->kind);
}

static bool check_fields(struct layout *layout, const struct flat_fields *fields, size_t *out_field,
                         const char **out_why)
{
    uint32_t id_offset = offset_of(layout, fields->id_slot);
    if (!id_offset) id_offset = NO_ID;
    for (size_t i = 0; i < fields->count; i++) {
        const char *why = check_field(layout, &fields->items[i], id_offset);
        if (LIKELY(!why)) continue;
        *out_field = i;
        *out_why = why;
        return false;
    }
    return true;
}

bool bw_flat_verify_object(struct bytes buffer, const struct flat_fields *fields,
                           struct flat_table *out_table, size_t *out_field, const char **out_why)
{
    struct layout layout;
    *out_field = fields->count;
    *out_why = find_table(buffer, &layout);
    if (*out_why || !check_fields(&layout, fields, out_field, out_why)) return false;
    *out_table = (struct flat_table){.start = layout.data,
                                     .table = layout.data + layout.table,
                                     .vtable = layout.data + layout.vtable,
                                     .vtable_size = layout.vtable_size};
    return true;
}

// ---- many that look alike ----

static bool is_known(const struct flat_pattern *pattern, const struct layout *layout)
{
    return layout->vtable_size == pattern->vtable_size &&
           (layout->table & 7) == pattern->alignment &&
           memcmp(layout->data + layout->vtable, pattern->vtable, layout->vtable_size) == 0;
}

/* The fields of this table were accepted. One with many fields is not worth remembering. */
static void learn(struct flat_pattern *pattern, const struct layout *layout,
                  const struct flat_fields *fields)
{
    pattern->vtable_size = 0;
    if (layout->vtable_size > FLAT_PATTERN_VTABLE) return;
    uint8_t count = 0;
    for (size_t i = 0; i < fields->count; i++) {
        if (fields->items[i].kind < FLAT_STRING || !offset_of(layout, fields->items[i].slot))
            continue;
        if (count == FLAT_PATTERN_TARGETS) return;
        pattern->targets[count++] = (uint16_t)i;
    }
    memcpy(pattern->vtable, layout->data + layout->vtable, layout->vtable_size);
    pattern->vtable_size = layout->vtable_size;
    pattern->alignment = layout->table & 7;
    pattern->target_count = count;
}

/* Where fields lie in a table, and whether one overlaps the id, its vtable and alignment tell; only
 * where offsets lead does not. */
static bool check_targets(struct layout *layout, const struct flat_fields *fields,
                          const struct flat_pattern *pattern, size_t *out_field,
                          const char **out_why)
{
    for (size_t i = 0; i < pattern->target_count; i++) {
        const struct flat_field *field = &fields->items[pattern->targets[i]];
        const uint32_t at = layout->table + offset_of(layout, field->slot);
        const char *why = check_target(layout, at, field->kind);
        if (LIKELY(!why)) continue;
        *out_field = pattern->targets[i];
        *out_why = why;
        return false;
    }
    return true;
}

bool bw_flat_verify_similar(struct bytes buffer, const struct flat_fields *fields,
                            struct flat_pattern *pattern, size_t *out_field, const char **out_why)
{
    struct layout layout;
    *out_field = fields->count;
    *out_why = find_table(buffer, &layout);
    if (*out_why) return false;
    if (LIKELY(is_known(pattern, &layout)))
        return check_targets(&layout, fields, pattern, out_field, out_why);
    if (!check_fields(&layout, fields, out_field, out_why)) return false;
    learn(pattern, &layout, fields);
    return true;
}

bool bw_flat_verify(struct bytes buffer, const struct flat_field *fields, size_t field_count,
                    struct flat_table *out_table, size_t *out_field, const char **out_why)
{
    struct flat_fields all = {.items = fields, .count = field_count, .id_slot = FLAT_NO_SLOT};
    return bw_flat_verify_object(buffer, &all, out_table, out_field, out_why);
}

bool bw_flat_has_strangers(const struct flat_table *table, const struct flat_field *fields,
                           size_t field_count)
{
    size_t slot_count = (table->vtable_size - VTABLE_HEAD) / 2u;
    size_t next = 0;
    for (size_t slot = 0; slot < slot_count; slot++) {
        while (next < field_count && fields[next].slot < slot) next++;
        bool is_known = next < field_count && fields[next].slot == slot;
        if (!is_known && bw_get_u16(table->vtable + VTABLE_HEAD + 2 * slot)) return true;
    }
    return false;
}
