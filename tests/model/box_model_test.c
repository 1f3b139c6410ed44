/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random work on a box beside a model too simple to be wrong: for each id, which object it holds.
 * After each step both must agree on what is there; ids that are handed out must be free, and new
 * as long as the store is open.
 */
#include "unit/box/sample_db.h"

enum {
    IDS = 400, /* ids above stay out of the way of the model's tables */
    STEPS = 3000,
    BATCH = 12,
    TEXT_MAX = 60,
};

struct state {
    uint32_t n[IDS]; /* what the object of an id holds; 0: there is none */
};

struct world {
    struct random random;
    struct db *db;
    struct box *box;
    struct txn *txn; /* the write transaction that is open, or NULL */
    struct state now, committed;
    bool is_given[IDS]; /* handed out since the store was opened */
    uint32_t last_n;
};

static struct bytes note_of(uint64_t id, uint32_t n)
{
    char text[TEXT_MAX + 1];
    memset(text, 'x', TEXT_MAX);
    text[n % TEXT_MAX] = 0; // the same n, the same bytes
    return sample_note(id, text, n);
}

static uint64_t pick(struct world *world) { return bw_random_below(&world->random, 60) + 1; }

static void open_world(struct world *world)
{
    world->db = sample_open("box_model", &note_model);
    world->box = sample_box(world->db, 1);
    memset(world->is_given, 0, sizeof(world->is_given));
}

static void need_txn(struct world *world)
{
    if (!world->txn) world->txn = sample_begin(world->db, TXN_WRITE);
}

static void given(struct world *world, uint64_t id)
{
    CHECK(id > 0 && id < IDS);
    CHECK(!world->is_given[id]);
    CHECK_EQ(world->now.n[id], 0);
    world->is_given[id] = true;
}

static void put_explicit(struct world *world)
{
    uint64_t id = pick(world);
    uint32_t n = bw_random_percent(&world->random, 20) ? world->now.n[id] : ++world->last_n;
    if (!n) n = ++world->last_n;
    enum put_mode mode = (enum put_mode)(1 + bw_random_below(&world->random, 4));
    bw_err err = bw_box_put(world->box, world->txn, id, note_of(7, n), mode);
    bool is_there = world->now.n[id] != 0;
    if (mode == PUT_INSERT && is_there) {
        CHECK_EQ(err, BW_ERR_ID_ALREADY_EXISTS);
    } else if (mode == PUT_UPDATE && !is_there) {
        CHECK_EQ(err, BW_ERR_ID_NOT_FOUND);
    } else {
        CHECK_OK(err);
        world->now.n[id] = n;
    }
}

static void put_new(struct world *world)
{
    struct bytes note = note_of(0, ++world->last_n);
    uint8_t bytes[256];
    memcpy(bytes, note.data, note.size);
    uint64_t id = 0;
    CHECK_OK(bw_box_put_object(world->box, world->txn, bytes, note.size, PUT_ANY, &id));
    given(world, id);
    world->now.n[id] = world->last_n;
}

static void put_packed(struct world *world)
{
    static uint64_t words[BATCH * 256 / 8];
    uint32_t ends[BATCH], n[BATCH];
    uint64_t ids[BATCH], before[BATCH];
    size_t count = (size_t)bw_random_below(&world->random, BATCH + 1), at = 0;
    for (size_t i = 0; i < count; i++) {
        n[i] = ++world->last_n;
        struct bytes note = note_of(5, n[i]);
        at = bw_round_up(at, 8);
        memcpy((uint8_t *)words + at, note.data, note.size);
        at += note.size;
        ends[i] = (uint32_t)at;
        before[i] = ids[i] = 0;
        uint64_t id = pick(world);
        if (bw_random_percent(&world->random, 40) && world->now.n[id]) before[i] = ids[i] = id;
    }
    struct packed packed = {(const uint8_t *)words, at, ends, count};
    bool began = false;
    CHECK_OK(bw_box_put_packed(world->box, world->txn, &packed, ids, PACKED_PUT, &began));
    for (size_t i = 0; i < count; i++) {
        if (before[i]) CHECK_EQ(ids[i], before[i]);
        else given(world, ids[i]);
        world->now.n[ids[i]] = n[i];
    }
}

static void remove_some(struct world *world)
{
    uint64_t ids[3], removed = 0, expected = 0;
    for (int i = 0; i < 3; i++) ids[i] = pick(world);
    CHECK_OK(bw_box_remove_many(world->box, world->txn, ids, 3, &removed));
    for (int i = 0; i < 3; i++) {
        expected += world->now.n[ids[i]] != 0;
        world->now.n[ids[i]] = 0;
    }
    CHECK_EQ(removed, expected);
}

static uint64_t count_of(const struct state *state)
{
    uint64_t count = 0;
    for (int id = 0; id < IDS; id++) count += state->n[id] != 0;
    return count;
}

static void remove_everything(struct world *world)
{
    uint64_t removed = 0;
    CHECK_OK(bw_box_remove_all(world->box, world->txn, &removed));
    CHECK_EQ(removed, count_of(&world->now));
    memset(&world->now, 0, sizeof(world->now));
}

static uint64_t size_of(const struct state *state)
{
    uint64_t size = 0;
    for (uint64_t id = 1; id < IDS; id++)
        if (state->n[id]) size += note_of(id, state->n[id]).size;
    return size;
}

static void compare(struct world *world)
{
    struct txn *txn = world->txn ? world->txn : sample_begin(world->db, TXN_READ);
    uint64_t count = 0, committed = 0;
    int64_t change = 0;
    CHECK_OK(bw_box_count(world->box, txn, 0, &count));
    CHECK_EQ(count, count_of(&world->now));
    CHECK_OK(bw_db_data_size(world->db, txn, &committed, &change));
    CHECK_EQ(committed, size_of(&world->committed));
    CHECK_EQ(change, (int64_t)(size_of(&world->now) - size_of(&world->committed)));
    struct cursor cursor;
    bool is_found = false;
    bw_box_cursor(world->box, txn, &cursor);
    for (uint64_t id = 1; id < IDS; id++) {
        if (!world->now.n[id]) continue;
        CHECK_OK(bw_cursor_next(&cursor, &is_found));
        CHECK(is_found);
        CHECK_EQ(cursor.key, id);
        struct bytes expected = note_of(id, world->now.n[id]);
        CHECK_EQ(cursor.value.size, expected.size);
        CHECK_BYTES(cursor.value.data, expected.data, expected.size);
    }
    CHECK_OK(bw_cursor_next(&cursor, &is_found));
    CHECK(!is_found);
    if (!world->txn) bw_txn_abort(txn);
}

static void end(struct world *world, bool commits)
{
    if (!world->txn) return;
    if (commits) {
        CHECK_OK(bw_db_commit(world->db, world->txn));
        world->committed = world->now;
    } else {
        bw_txn_abort(world->txn);
        world->now = world->committed;
    }
    world->txn = NULL;
}

static void step(struct world *world)
{
    uint64_t what = bw_random_below(&world->random, 100);
    if (what >= 96) {
        end(world, bw_random_percent(&world->random, 50));
        bw_db_close(world->db);
        open_world(world);
    } else if (what >= 80) {
        end(world, what < 92);
    } else {
        need_txn(world);
        if (what < 30) put_explicit(world);
        else if (what < 45) put_new(world);
        else if (what < 55) put_packed(world);
        else if (what < 76) remove_some(world);
        else remove_everything(world);
    }
}

static void a_box_is_what_a_table_of_ids_would_be(void)
{
    static struct world world;
    bw_random_seed(&world.random, bw_test_seed());
    for (int round = 0; round < 10; round++) {
        CHECK_OK(bw_store_remove(bw_disk_memory(), "box_model"));
        memset(&world.now, 0, sizeof(world.now));
        world.committed = world.now;
        open_world(&world);
        for (int i = 0; i < STEPS / 10; i++) {
            step(&world);
            compare(&world);
        }
        end(&world, false);
        bw_db_close(world.db);
    }
}

RUN_TESTS(TEST(a_box_is_what_a_table_of_ids_would_be))
