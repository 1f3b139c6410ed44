/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the outside knows of a store: every state that a commit tried to make, and which one was
 * promised to last.
 *
 * A state is small enough to be kept whole: up to 64 items, each absent or holding one of 18 values
 * that are computed from their number, a schema, and a serial number by which a store that was
 * opened says which state it is in. The serial is kept as the sequence of the first tree, which
 * changes no page: two attempts at the same changes make the same pages.
 *
 * Invariants:
 *   W1  known is ordered by serial, and holds no state that was aborted or rolled back.
 *   W2  The last acknowledged state is known, unless it is 0: nothing.
 */
#pragma once

#include "base/base.h"
#include "store/store.h"

enum {
    WORLD_ITEMS = 64,
    WORLD_SIZES = 6,
    WORLD_VARIANTS = 3,
    WORLD_VALUES = WORLD_SIZES * WORLD_VARIANTS, /* values are numbered from 1; 0: absent */
    WORLD_SCHEMAS = 5,                           /* from 1; 0: none */
    WORLD_SIZE_MAX = 12000,
};

struct world_state {
    uint64_t serial; /* 0: a store without a commit */
    uint8_t schema;
    uint8_t values[WORLD_ITEMS];
};

struct world {
    unsigned item_count, tree_count; /* item i lies in tree i % tree_count + 1 */
    uint64_t key_step;               /* between neighbours in a tree */
    uint64_t serial_count;
    struct world_state *known; /* owned */
    size_t known_count, known_room;
    uint64_t acked; /* serial of the newest state that was promised */
};

void world_deinit(struct world *world);
void world_copy(const struct world *from, struct world *to);

/* NULL: unknown, aborted or rolled back. Serial 0 is always known. */
const struct world_state *world_find(const struct world *world, uint64_t serial);

/* A commit is about to be tried. */
void world_attempt(struct world *world, const struct world_state *state);
/* It was acknowledged. */
void world_acknowledge(struct world *world, uint64_t serial);
/* States between two serials, both left out, are rolled back and must never return. */
void world_roll_back(struct world *world, uint64_t after, uint64_t before);

/* A random value's number, never 0. */
uint8_t world_pick_value(struct random *random);

/* Change the store from one state to the other, serial included. */
MUST_CHECK bw_err world_apply(const struct world *world, struct txn *txn,
                              const struct world_state *from, const struct world_state *to);

/* Which state the store says it is in. */
MUST_CHECK bw_err world_serial(struct txn *txn, uint64_t *out_serial);

/*
 * Compare all that a transaction sees with a state, byte for byte. out_difference: "" when there
 * is none. An error is the engine's.
 */
enum { WORLD_TEXT_ROOM = 200 };
MUST_CHECK bw_err world_compare(const struct world *world, struct txn *txn,
                                const struct world_state *state,
                                char out_difference[WORLD_TEXT_ROOM]);
