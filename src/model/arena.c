/* SPDX-License-Identifier: Apache-2.0 */
#include "model/arena.h"

enum {
    UNIT = 8,
    CHUNK_MIN = 1000,
    CHUNK_MAX = 64000, /* unless one piece is larger */
};

struct arena_chunk {
    struct arena_chunk *next; /* owned */
    size_t size;
    uint64_t bytes[];
};

void bw_arena_init(struct arena *arena, void *room, size_t size)
{
    *arena = (struct arena){.at = room, .end = (uint8_t *)room + size};
}

void bw_arena_deinit(struct arena *arena)
{
    while (arena->chunks) {
        struct arena_chunk *next = arena->chunks->next;
        bw_free(arena->chunks);
        arena->chunks = next;
    }
    arena->at = arena->end = NULL;
}

static bool add_chunk(struct arena *arena, size_t size)
{
    size_t room = arena->chunks ? arena->chunks->size * 2 : CHUNK_MIN;
    if (room > CHUNK_MAX) room = CHUNK_MAX;
    if (room < size) room = size;
    struct arena_chunk *chunk = bw_new_raw(sizeof(*chunk) + room);
    if (!chunk) return false;
    chunk->next = arena->chunks;
    chunk->size = room;
    arena->chunks = chunk;
    arena->at = (uint8_t *)chunk->bytes;
    arena->end = arena->at + room;
    return true;
}

void *bw_arena_take(struct arena *arena, size_t size)
{
    if (size > SIZE_MAX / 2) return NULL;
    size = bw_round_up(size, UNIT);
    if (size > (size_t)(arena->end - arena->at) && !add_chunk(arena, size)) return NULL;
    void *piece = arena->at;
    arena->at += size;
    return piece;
}
