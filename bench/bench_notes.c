/* SPDX-License-Identifier: Apache-2.0 */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Where things lie in a note that is written here. Reading goes through the vtable, as any reader
// does.
enum {
    TEXT_SIZE = 300,
    AT_VTABLE = 4,
    AT_TABLE = 16,
    AT_TEXT_OFFSET = AT_TABLE + 4,
    AT_ID = AT_TABLE + 8,
    AT_TS = AT_TABLE + 16,
    AT_TEXT = AT_TABLE + 24,
    NOTE_SIZE = (AT_TEXT + 4 + TEXT_SIZE + 1 + 7) / 8 * 8,
};

static void put_u16(uint8_t *to, uint16_t value) { memcpy(to, &value, sizeof(value)); }
static void put_u32(uint8_t *to, uint32_t value) { memcpy(to, &value, sizeof(value)); }
static void put_u64(uint8_t *to, uint64_t value) { memcpy(to, &value, sizeof(value)); }

static uint16_t get_u16(const uint8_t *from)
{
    uint16_t value;
    memcpy(&value, from, sizeof(value));
    return value;
}

static uint32_t get_u32(const uint8_t *from)
{
    uint32_t value;
    memcpy(&value, from, sizeof(value));
    return value;
}

static uint64_t get_u64(const uint8_t *from)
{
    uint64_t value;
    memcpy(&value, from, sizeof(value));
    return value;
}

static void write_note(uint8_t *bytes, uint64_t id)
{
    static const uint16_t vtable[] = {10, 24, AT_ID - AT_TABLE, AT_TEXT_OFFSET - AT_TABLE,
                                      AT_TS - AT_TABLE};
    put_u32(bytes, AT_TABLE);
    for (size_t i = 0; i < sizeof(vtable) / sizeof(vtable[0]); i++) {
        put_u16(bytes + AT_VTABLE + 2 * i, vtable[i]);
    }
    put_u32(bytes + AT_TABLE, AT_TABLE - AT_VTABLE);
    put_u32(bytes + AT_TEXT_OFFSET, AT_TEXT - AT_TEXT_OFFSET);
    put_u64(bytes + AT_ID, id);
    put_u64(bytes + AT_TS, id);
    put_u32(bytes + AT_TEXT, TEXT_SIZE);

    char *text = (char *)bytes + AT_TEXT + 4;
    int begun = snprintf(text, TEXT_SIZE, "note %llu: ", (unsigned long long)id);
    for (size_t i = (size_t)begun; i < TEXT_SIZE; i++) text[i] = (char)('a' + (i * 7 + id) % 26);
}

struct note *bench_notes_make(size_t count)
{
    struct note *notes = malloc(count * sizeof(*notes));
    uint8_t *bytes = calloc(count, NOTE_SIZE);
    if (!notes || !bytes) bench_fail("out of memory");
    for (size_t i = 0; i < count; i++) {
        notes[i] = (struct note){.id = i + 1, .bytes = bytes + i * NOTE_SIZE, .size = NOTE_SIZE};
        write_note(notes[i].bytes, notes[i].id);
    }
    return notes;
}

void bench_note_touch(struct note *note, int64_t ts) { put_u64(note->bytes + AT_TS, (uint64_t)ts); }

static const uint8_t *field_of(const uint8_t *table, size_t slot)
{
    const uint8_t *vtable = table - (int32_t)get_u32(table);
    size_t at = 4 + 2 * slot;
    uint16_t offset = at < get_u16(vtable) ? get_u16(vtable + at) : 0;
    if (offset == 0) bench_fail("a note has lost field %zu", slot);
    return table + offset;
}

uint64_t bench_note_sum(const uint8_t *bytes)
{
    const uint8_t *table = bytes + get_u32(bytes);
    uint64_t id = get_u64(field_of(table, 0)), ts = get_u64(field_of(table, 2));
    const uint8_t *text = field_of(table, 1);
    text += get_u32(text);
    uint32_t size = get_u32(text);
    text += 4;
    uint64_t mixed = id * 0x9e3779b97f4a7c15u ^ ts * 0xc2b2ae3d27d4eb4fu ^ size;
    if (size > 0) mixed += (uint64_t)text[0] << 8 | (uint64_t)text[size / 2] << 16 | text[size - 1];
    return mixed * 0x165667b19e3779f9u;
}
