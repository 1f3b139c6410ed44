/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds one table front to back: root, vtable, a cell of 8 bytes for each slot, then strings and
 * vectors in the order in which they are added.
 *
 * Cells of equal size make every position known at the start, so that nothing moves and nothing is
 * sorted. That costs a few bytes an object and suits those who use it: tests, trees, tools.
 *
 * Not here: sharing of vtables or strings, nested tables.
 */
#include "flat/flat.h"

enum {
    CELL = 8,
    SLOTS_MAX = (0xffff - CELL) / CELL, /* the table's size is a u16 */
    ROOM_MIN = 256,
};

#define BUFFER_MAX 0x7ffffff0u

static void fail(struct flat_builder *builder, bw_err err) { builder->err = err; }

/* Lengthen the buffer by zeros up to `size`. */
static bool extend(struct flat_builder *builder, size_t size)
{
    if (size > BUFFER_MAX) {
        fail(builder, bw_fail(BW_ERR_ILLEGAL_ARGUMENT, "An object cannot be larger than 2 GB"));
        return false;
    }
    if (size > builder->room) {
        size_t room = builder->room * 2 > size ? builder->room * 2 : size;
        if (room < ROOM_MIN) room = ROOM_MIN;
        uint8_t *data = bw_resize(builder->data, room);
        if (!data) {
            fail(builder, bw_fail(BW_ERR_NO_MEMORY, "Could not get memory to build an object"));
            return false;
        }
        builder->data = data;
        builder->room = room;
    }
    memset(builder->data + builder->size, 0, size - builder->size);
    builder->size = size;
    return true;
}

static size_t cell_at(const struct flat_builder *builder, uint16_t slot)
{
    return builder->table_at + CELL + CELL * (size_t)slot;
}

static size_t vtable_at(const struct flat_builder *builder)
{
    return builder->table_at - bw_get_u32(builder->data + builder->table_at);
}

/* Mark a slot as present; false after a failure or for a slot that the table does not have. */
static bool claim(struct flat_builder *builder, uint16_t slot)
{
    if (builder->err) return false;
    if (slot >= builder->slot_count) {
        fail(builder, bw_fail(BW_ERR_ILLEGAL_ARGUMENT, "The table has no slot %u", slot));
        return false;
    }
    bw_put_u16(builder->data + vtable_at(builder) + 4 + 2 * (size_t)slot,
               (uint16_t)(CELL + CELL * slot));
    return true;
}

void bw_flat_begin(struct flat_builder *builder, uint16_t slot_count)
{
    builder->size = 0;
    builder->err = BW_OK;
    builder->slot_count = slot_count;
    if (slot_count > SLOTS_MAX) {
        fail(builder, bw_fail(BW_ERR_ILLEGAL_ARGUMENT, "A table has at most %d slots", SLOTS_MAX));
        return;
    }
    size_t vtable_size = 4 + 2 * (size_t)slot_count;
    size_t table_size = CELL + CELL * (size_t)slot_count;
    builder->table_at = bw_round_up(4 + vtable_size, CELL);
    if (!extend(builder, builder->table_at + table_size)) return;
    size_t vtable = builder->table_at - vtable_size;
    bw_put_u32(builder->data, (uint32_t)builder->table_at);
    bw_put_u16(builder->data + vtable, (uint16_t)vtable_size);
    bw_put_u16(builder->data + vtable + 2, (uint16_t)table_size);
    bw_put_u32(builder->data + builder->table_at, (uint32_t)vtable_size);
}

void bw_flat_add_scalar(struct flat_builder *builder, uint16_t slot, uint64_t value, uint8_t size)
{
    if (!claim(builder, slot)) return;
    uint8_t *cell = builder->data + cell_at(builder, slot);
    for (uint8_t i = 0; i < size && i < CELL; i++) cell[i] = (uint8_t)(value >> 8 * i);
}

static size_t element_size(enum flat_kind kind)
{
    return kind == FLAT_STRING ? 1 : (size_t)1 << (kind - FLAT_VECTOR_8);
}

/* Append length and bytes; the length counts elements. 0: failed. */
static size_t append(struct flat_builder *builder, struct bytes value, enum flat_kind kind)
{
    size_t at = bw_round_up(builder->size + 4, CELL) - 4; // elements are aligned, whatever they are
    size_t end = at + 4 + value.size + (kind == FLAT_STRING ? 1 : 0);
    if (!extend(builder, end)) return 0;
    bw_put_u32(builder->data + at, (uint32_t)(value.size / element_size(kind)));
    if (value.size) memcpy(builder->data + at + 4, value.data, value.size);
    return at;
}

void bw_flat_add_bytes(struct flat_builder *builder, uint16_t slot, struct bytes value,
                       enum flat_kind kind)
{
    ASSERT(kind >= FLAT_STRING && kind < FLAT_VECTOR_STRING);
    if (!claim(builder, slot)) return;
    size_t at = append(builder, value, kind);
    if (!at) return;
    size_t cell = cell_at(builder, slot);
    bw_put_u32(builder->data + cell, (uint32_t)(at - cell));
}

void bw_flat_add_strings(struct flat_builder *builder, uint16_t slot, const struct bytes *items,
                         size_t count)
{
    if (!claim(builder, slot)) return;
    size_t vector = bw_round_up(builder->size, 4);
    if (count > BUFFER_MAX / 4 || !extend(builder, vector + 4 + 4 * count)) {
        if (!builder->err) fail(builder, bw_fail(BW_ERR_ILLEGAL_ARGUMENT, "Too many strings"));
        return;
    }
    bw_put_u32(builder->data + vector, (uint32_t)count);
    size_t cell = cell_at(builder, slot);
    bw_put_u32(builder->data + cell, (uint32_t)(vector - cell));
    for (size_t i = 0; i < count; i++) {
        size_t at = append(builder, items[i], FLAT_STRING);
        if (!at) return;
        size_t item = vector + 4 + 4 * i;
        bw_put_u32(builder->data + item, (uint32_t)(at - item));
    }
}

bw_err bw_flat_finish(struct flat_builder *builder, struct bytes *out_buffer)
{
    if (builder->err) return builder->err;
    if (!extend(builder, bw_round_up(builder->size, CELL))) return builder->err;
    *out_buffer = (struct bytes){.data = builder->data, .size = builder->size};
    return BW_OK;
}

void bw_flat_deinit(struct flat_builder *builder)
{
    bw_free(builder->data);
    *builder = (struct flat_builder){0};
}
