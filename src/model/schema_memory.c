/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a store remembers beyond the declared part, written down: removed things, and entities with
 * objects that hold unverified fields. docs/format.md has the layout; schema_decode.c reads
 * it.
 */
#include "model/compiled.h"
#include "model/encoding.h"

enum { RETIRED_SIZE_MAX = 2 * NUMBER_32_MAX + UID_SIZE + 1 };

static size_t size_max(const struct memory_of_store *memory)
{
    size_t size = (THING_KINDS + 1 + (size_t)memory->stranger_count) * NUMBER_32_MAX;
    for (int kind = 0; kind < THING_KINDS; kind++)
        size += memory->retired_count[kind] * (size_t)RETIRED_SIZE_MAX;
    return size;
}

static bool is_empty(const struct memory_of_store *memory)
{
    uint32_t any = memory->stranger_count;
    for (int kind = 0; kind < THING_KINDS; kind++) any |= memory->retired_count[kind];
    return any == 0;
}

static uint8_t *write(uint8_t *to, const struct memory_of_store *memory)
{
    for (int kind = 0; kind < THING_KINDS; kind++) {
        to = bw_encode_number(to, memory->retired_count[kind]);
        for (uint32_t i = 0; i < memory->retired_count[kind]; i++) {
            const struct retired *retired = &memory->retired[kind][i];
            if (kind == THING_PROPERTY) to = bw_encode_number(to, retired->scope);
            to = bw_encode_pair(to, retired->id, retired->uid);
            if (kind == THING_PROPERTY) *to++ = (uint8_t)retired->type;
        }
    }
    to = bw_encode_number(to, memory->stranger_count);
    for (uint32_t i = 0; i < memory->stranger_count; i++)
        to = bw_encode_number(to, memory->strangers[i]);
    return to;
}

bw_err bw_schema_build_remembering(struct bytes declared, const struct memory_of_store *memory,
                                   struct compiled **out_compiled)
{
    if (is_empty(memory)) return bw_schema_build(declared, (struct bytes){0}, out_compiled);
    uint8_t *room = bw_new_raw(size_max(memory));
    if (!room) return bw_schema_no_memory();
    struct bytes written = {room, (size_t)(write(room, memory) - room)};
    bw_err err = bw_schema_build(declared, written, out_compiled);
    bw_free(room);
    return err;
}
