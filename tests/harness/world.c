/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SERIAL_TREE = 1 };

// ---- states ----

void world_deinit(struct world *world)
{
    free(world->known);
    *world = (struct world){0};
}

void world_copy(const struct world *from, struct world *to)
{
    *to = *from;
    to->known_room = from->known_count + 1;
    to->known = malloc(to->known_room * sizeof(*to->known));
    ASSERT(to->known != NULL);
    if (from->known_count) memcpy(to->known, from->known, from->known_count * sizeof(*to->known));
}

const struct world_state *world_find(const struct world *world, uint64_t serial)
{
    static const struct world_state nothing;
    if (serial == 0) return &nothing;
    for (size_t i = world->known_count; i > 0; i--) {
        if (world->known[i - 1].serial == serial) return &world->known[i - 1];
    }
    return NULL;
}

void world_attempt(struct world *world, const struct world_state *state)
{
    ASSERT(!world->known_count || world->known[world->known_count - 1].serial < state->serial);
    if (world->known_count == world->known_room) {
        world->known_room = world->known_room * 2 + 16;
        world->known = realloc(world->known, world->known_room * sizeof(*world->known));
        ASSERT(world->known != NULL);
    }
    world->known[world->known_count++] = *state; // W1
}

void world_acknowledge(struct world *world, uint64_t serial)
{
    ASSERT(world_find(world, serial)); // W2
    world->acked = serial;
}

void world_roll_back(struct world *world, uint64_t after, uint64_t before)
{
    size_t kept = 0;
    for (size_t i = 0; i < world->known_count; i++) {
        const uint64_t serial = world->known[i].serial;
        if (serial > after && serial < before) continue;
        world->known[kept++] = world->known[i];
    }
    world->known_count = kept;
}

// ---- values ----

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 31)) * 0x7fb5d329728ea185u;
    return x ^ (x >> 29);
}

static void fill(uint8_t *to, size_t size, uint64_t seed)
{
    for (size_t at = 0; at < size; at += 8) {
        uint8_t word[8];
        bw_put_u64(word, mix(seed + at));
        memcpy(to + at, word, size - at < 8 ? size - at : 8);
    }
}

/* The bytes of an item's value; 3,000 and more lie in extents of 1, 2 and 3 pages. */
static size_t make_value(unsigned item, uint8_t value, uint8_t to[WORLD_SIZE_MAX])
{
    static const uint16_t sizes[WORLD_SIZES] = {20, 200, 900, 3000, 7000, 11000};
    const size_t size = sizes[(value - 1) / WORLD_VARIANTS] + item % 7;
    fill(to, size, mix(((uint64_t)item << 32) + value) | 1);
    return size;
}

static size_t make_schema(uint8_t schema, uint8_t to[WORLD_SIZE_MAX], uint8_t hash[16])
{
    static const uint16_t sizes[WORLD_SCHEMAS] = {60, 300, 512, 2000, 6000};
    memset(hash, schema, 16);
    if (!schema) return 0;
    fill(to, sizes[schema - 1], 77u + schema);
    return sizes[schema - 1];
}

uint8_t world_pick_value(struct random *random)
{
    static const uint8_t odds[20] = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 4, 4, 5, 5};
    const unsigned size = odds[bw_random_below(random, sizeof(odds))];
    return (uint8_t)(1 + size * WORLD_VARIANTS + bw_random_below(random, WORLD_VARIANTS));
}

// ---- changing a store ----

static uint32_t tree_of(const struct world *world, unsigned item)
{
    return SERIAL_TREE + item % world->tree_count;
}

static uint64_t key_of(const struct world *world, unsigned item)
{
    return 1 + item / world->tree_count * world->key_step;
}

static bool is_empty(const struct world *world, const struct world_state *state, uint32_t tree)
{
    for (unsigned i = 0; i < world->item_count; i++) {
        if (state->values[i] && tree_of(world, i) == tree) return false;
    }
    return true;
}

static bw_err apply_item(const struct world *world, struct txn *txn, unsigned item, uint8_t value)
{
    const uint32_t tree = tree_of(world, item);
    const uint64_t key = key_of(world, item);
    if (value) {
        uint8_t bytes[WORLD_SIZE_MAX];
        const size_t size = make_value(item, value, bytes);
        return bw_tree_put(txn, tree, key, (struct bytes){bytes, size}, NULL);
    }
    bool removed = false;
    bw_err err = bw_tree_remove(txn, tree, key, &removed);
    if (!err && !removed) err = bw_fail(BW_ERR_GENERAL, "item %u was not there to remove", item);
    return err;
}

/* A tree that loses all it has is cleared, or forgotten, rather than emptied one by one. */
static bw_err apply_clears(const struct world *world, struct txn *txn,
                           const struct world_state *from, const struct world_state *to,
                           struct world_state *now)
{
    bw_err err = BW_OK;
    for (uint32_t tree = SERIAL_TREE; tree < SERIAL_TREE + world->tree_count && !err; tree++) {
        if (is_empty(world, from, tree) || !is_empty(world, to, tree)) continue;
        if (tree != SERIAL_TREE && to->serial % 2) {
            err = bw_tree_drop(txn, tree);
        } else {
            err = bw_tree_clear(txn, tree);
        }
        for (unsigned i = 0; i < world->item_count; i++) {
            if (tree_of(world, i) == tree) now->values[i] = 0;
        }
    }
    return err;
}

bw_err world_apply(const struct world *world, struct txn *txn, const struct world_state *from,
                   const struct world_state *to)
{
    struct world_state now = *from;
    bw_err err = apply_clears(world, txn, from, to, &now);
    for (unsigned i = 0; i < world->item_count && !err; i++) {
        if (now.values[i] != to->values[i]) err = apply_item(world, txn, i, to->values[i]);
    }
    if (!err && from->schema != to->schema) {
        uint8_t blob[WORLD_SIZE_MAX], hash[16];
        const size_t size = make_schema(to->schema, blob, hash);
        err = bw_txn_set_schema(txn, hash, (struct bytes){blob, size});
    }
    return err ? err : bw_tree_set_sequence(txn, SERIAL_TREE, to->serial);
}

// ---- reading a store ----

bw_err world_serial(struct txn *txn, uint64_t *out_serial)
{
    struct tree_stat stat = {0};
    bw_err err = bw_tree_stat(txn, SERIAL_TREE, &stat);
    *out_serial = stat.sequence;
    return err;
}

static bool differs(char out[WORLD_TEXT_ROOM], const char *what, uint64_t tree, uint64_t key)
{
    (void)snprintf(out, WORLD_TEXT_ROOM, "%s: tree %u, key %u", what, (unsigned)tree,
                   (unsigned)key);
    return true;
}

/* The cursor's entry must be that of an item. */
static bool entry_differs(const struct world *world, const struct cursor *cursor, unsigned item,
                          uint8_t value, char out[WORLD_TEXT_ROOM])
{
    const uint32_t tree = tree_of(world, item);
    const uint64_t key = key_of(world, item);
    uint8_t bytes[WORLD_SIZE_MAX];
    if (cursor->key != key) return differs(out, "another key is there", tree, key);
    const size_t size = make_value(item, value, bytes);
    if (cursor->value.size != size) return differs(out, "another size", tree, key);
    if (memcmp(cursor->value.data, bytes, size) != 0) return differs(out, "other bytes", tree, key);
    return false;
}

static bw_err compare_tree(const struct world *world, struct txn *txn, uint32_t tree,
                           const struct world_state *state, char out[WORLD_TEXT_ROOM])
{
    struct cursor cursor;
    bw_cursor_init(&cursor, txn, tree);
    bool found = false;
    uint64_t count = 0;
    for (unsigned i = tree - SERIAL_TREE; i < world->item_count; i += world->tree_count) {
        if (!state->values[i]) continue;
        bw_err err = bw_cursor_next(&cursor, &found);
        if (err) return err;
        if (!found) return differs(out, "a key is missing", tree, key_of(world, i)), BW_OK;
        if (entry_differs(world, &cursor, i, state->values[i], out)) return BW_OK;
        count++;
    }
    bw_err err = bw_cursor_next(&cursor, &found);
    if (err) return err;
    if (found) return differs(out, "a key too many", tree, cursor.key), BW_OK;
    struct tree_stat stat = {0};
    err = bw_tree_stat(txn, tree, &stat);
    if (!err && stat.count != count) (void)differs(out, "another count", tree, stat.count);
    return err;
}

static bw_err compare_schema(struct txn *txn, uint8_t schema, char out[WORLD_TEXT_ROOM])
{
    uint8_t wanted[WORLD_SIZE_MAX], wanted_hash[16], hash[16];
    const size_t size = make_schema(schema, wanted, wanted_hash);
    struct bytes blob = {0};
    bw_err err = bw_txn_schema_hash(txn, hash);
    if (!err) err = bw_txn_schema(txn, &blob);
    if (err) return err;
    if (memcmp(hash, wanted_hash, 16) != 0) (void)differs(out, "another schema hash", 0, schema);
    if (blob.size != size || (size && memcmp(blob.data, wanted, size) != 0)) {
        (void)differs(out, "another schema", 0, schema);
    }
    return BW_OK;
}

bw_err world_compare(const struct world *world, struct txn *txn, const struct world_state *state,
                     char out_difference[WORLD_TEXT_ROOM])
{
    out_difference[0] = 0;
    uint64_t serial = 0;
    bw_err err = world_serial(txn, &serial);
    if (!err && serial != state->serial) {
        (void)differs(out_difference, "another state", serial, state->serial);
    }
    if (!err && !*out_difference) err = compare_schema(txn, state->schema, out_difference);
    for (uint32_t tree = SERIAL_TREE; tree < SERIAL_TREE + world->tree_count; tree++) {
        if (err || *out_difference) break;
        err = compare_tree(world, txn, tree, state, out_difference);
    }
    return err;
}
