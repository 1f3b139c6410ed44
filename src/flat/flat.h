/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flat - FlatBuffers without a schema compiler: verify, read, build.
 *
 * An object is one FlatBuffers table; property n lies in vtable slot n - 1. Verification is driven
 * by a list of fields, done once when bytes come in; reading afterwards does no checks.
 * Offsets are checked relative to the buffer's start, so the caller's pointer may be odd; trailing
 * bytes, a short vtable and slots that no field names are accepted.
 */
#pragma once

#include "base/base.h"

/* What a field holds; scalars by their size. */
enum flat_kind {
    FLAT_8 = 1,
    FLAT_16 = 2,
    FLAT_32 = 4,
    FLAT_64 = 8,
    FLAT_STRING = 16, /* length, bytes, NUL */
    FLAT_VECTOR_8,
    FLAT_VECTOR_16,
    FLAT_VECTOR_32,
    FLAT_VECTOR_64,
    FLAT_VECTOR_STRING,
};

struct flat_field {
    uint16_t slot; /* property id - 1 */
    uint8_t kind;  /* enum flat_kind */
};

/* A verified table: three pointers and a size, valid while the bytes are. */
struct flat_table {
    const uint8_t *start;  /* of the buffer; borrowed */
    const uint8_t *table;  /* borrowed */
    const uint8_t *vtable; /* borrowed */
    uint16_t vtable_size;  /* bytes */
};

/*
 * Check a whole buffer: root, vtable, and each given field's bounds and alignment. *out_table is
 * filled on success. On failure false, and *out_why says in a few words what is wrong;
 * *out_field is the index of the field that is, or field_count when it is the table itself.
 */
bool bw_flat_verify(struct bytes buffer, const struct flat_field *fields, size_t field_count,
                    struct flat_table *out_table, size_t *out_field, const char **out_why);

/*
 * The fields of an object with an id. The id's 8 bytes can be overwritten in whatever was accepted
 * (see V3 and V4 in flat_verify.c).
 */
enum { FLAT_NO_SLOT = 0xffff };
struct flat_fields {
    const struct flat_field *items; /* borrowed */
    size_t count;
    uint16_t id_slot; /* FLAT_NO_SLOT: there is none */
};
bool bw_flat_verify_object(struct bytes buffer, const struct flat_fields *fields,
                           struct flat_table *out_table, size_t *out_field, const char **out_why);

/*
 * The same for many objects, most of whose tables look alike as a rule: what was found out about
 * one holds for all with an equal vtable at an equal alignment. Begins zeroed; for one list of
 * fields.
 */
enum { FLAT_PATTERN_VTABLE = 64, FLAT_PATTERN_TARGETS = 14 };
struct flat_pattern {
    uint16_t vtable_size; /* 0: nothing is known */
    uint8_t alignment;    /* of the table, modulo 8 */
    uint8_t target_count;
    uint16_t targets[FLAT_PATTERN_TARGETS]; /* fields that are there and lead elsewhere */
    uint8_t vtable[FLAT_PATTERN_VTABLE];
};
bool bw_flat_verify_similar(struct bytes buffer, const struct flat_fields *fields,
                            struct flat_pattern *pattern, size_t *out_field, const char **out_why);

/* Does a verified table hold a field that the list, ascending by slot, does not name? Such a field
 * is unchecked: it must be verified once more before somebody reads it. */
bool bw_flat_has_strangers(const struct flat_table *table, const struct flat_field *fields,
                           size_t field_count);

/* Open bytes that were verified before. */
static inline struct flat_table bw_flat_open(const uint8_t *verified)
{
    const uint8_t *table = verified + bw_get_u32(verified);
    const uint8_t *vtable = table - (int32_t)bw_get_u32(table);
    return (struct flat_table){
        .start = verified, .table = table, .vtable = vtable, .vtable_size = bw_get_u16(vtable)};
}

/* The field's place in a verified table, NULL when it is absent (null). */
static inline const uint8_t *bw_flat_field(const struct flat_table *table, uint16_t slot)
{
    size_t at = 4 + 2 * (size_t)slot;
    if (at + 2 > table->vtable_size) return NULL;
    uint16_t offset = bw_get_u16(table->vtable + at);
    return offset ? table->table + offset : NULL;
}

/* Bytes of the string or vector that a field's offset leads to; size in elements for vectors. */
struct bytes bw_flat_target(const uint8_t *field);

/*
 * ---- building: one table, front to back, into memory that grows; for tests, trees and tools ----
 */

struct flat_builder {
    uint8_t *data; /* owned */
    size_t size, room;
    uint16_t slot_count;
    size_t table_at;
    bw_err err; /* the first failure; later calls do nothing */
};

/* Begin a table with so many slots; all absent. Frees nothing: call deinit at the end. */
void bw_flat_begin(struct flat_builder *builder, uint16_t slot_count);
void bw_flat_add_scalar(struct flat_builder *builder, uint16_t slot, uint64_t value, uint8_t size);
void bw_flat_add_bytes(struct flat_builder *builder, uint16_t slot, struct bytes value,
                       enum flat_kind kind);
void bw_flat_add_strings(struct flat_builder *builder, uint16_t slot, const struct bytes *items,
                         size_t count);
/* The finished buffer, padded to 8; valid until deinit or the next begin. */
MUST_CHECK bw_err bw_flat_finish(struct flat_builder *builder, struct bytes *out_buffer);
void bw_flat_deinit(struct flat_builder *builder);
