/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that is taken piece by piece and given back all at once. Private to the layer.
 *
 * The first pieces come from room that the owner brings along, so that a small model costs no
 * allocation but its own.
 */
#pragma once

#include "base/base.h"

struct arena_chunk;

struct arena {
    uint8_t *at, *end;          /* of the chunk in use */
    struct arena_chunk *chunks; /* owned; newest first */
};

/* room: the owner's, aligned to 8; borrowed until deinit. */
void bw_arena_init(struct arena *arena, void *room, size_t size);
void bw_arena_deinit(struct arena *arena);

/* size bytes, not zeroed, aligned to 8; NULL when there is no memory. */
void *bw_arena_take(struct arena *arena, size_t size);
