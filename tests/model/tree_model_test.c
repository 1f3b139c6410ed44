/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random work on a tree beside a model too simple to be wrong: an array of keys in order, each with
 * the size and seed of its value. After each step the tree must prove itself, every page in use
 * must be reachable, and count, bytes and highest key must be the model's; every few steps all
 * values.
 *
 * Work comes in phases that differ in how keys and sizes are drawn, since it is what one phase
 * leaves behind that the next one trips over. BW_SEED repeats a run, BW_STEPS makes it longer.
 */
#include <stdio.h>
#include <stdlib.h>

#include "harness/check.h"
#include "harness/fake_pager.h"

enum {
    TREE = 7,
    ITEMS_MAX = 20000,
    VALUE_MAX = 400 * 1000,
    STEPS = 1000,
    PHASE = 100,    /* steps */
    COMPARE = 10,   /* steps between full comparisons */
    KEYS_AIM = 1500 /* above so many keys, more are removed than put */
};

struct item {
    uint64_t key, seed;
    uint32_t size;
};

struct model {
    struct item item[ITEMS_MAX];
    size_t count;
    uint64_t sequence;
};

enum keys { KEYS_DENSE, KEYS_GAPS, KEYS_SPARSE, KEYS_FAR, KEYS_RUNS, KEYS_ALL };
enum sizes { SIZES_TINY, SIZES_SMALL, SIZES_NOTE, SIZES_MIXED, SIZES_LARGE };

static struct txn *txn;
static struct random source;
static struct model now, committed;
static enum keys keys;
static enum sizes sizes;
static uint8_t buffer[VALUE_MAX + 8];

static uint64_t below(uint64_t limit) { return bw_random_below(&source, limit); }

// ---- the model ----

static size_t model_find(uint64_t key)
{
    size_t low = 0, high = now.count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (now.item[middle].key < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool model_has(uint64_t key)
{
    const size_t at = model_find(key);
    return at < now.count && now.item[at].key == key;
}

static void model_put(struct item item)
{
    const size_t at = model_find(item.key);
    if (!model_has(item.key)) {
        CHECK(now.count < ITEMS_MAX);
        memmove(&now.item[at + 1], &now.item[at], (now.count - at) * sizeof(item));
        now.count++;
    }
    now.item[at] = item;
}

static void model_remove(uint64_t key)
{
    const size_t at = model_find(key);
    now.count--;
    memmove(&now.item[at], &now.item[at + 1], (now.count - at) * sizeof(now.item[0]));
}

static uint64_t model_max(void) { return now.count ? now.item[now.count - 1].key : 0; }

static struct bytes value_of(const struct item *item)
{
    uint64_t state = item->seed;
    for (uint32_t at = 0; at < item->size; at += 8) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        bw_put_u64(buffer + at, state);
    }
    return (struct bytes){.data = buffer, .size = item->size};
}

// ---- comparing ----

static void check_value(const struct item *item, struct bytes found)
{
    const struct bytes value = value_of(item);
    CHECK_EQ(found.size, item->size);
    CHECK_EQ((uintptr_t)found.data % 8, 0);
    CHECK_BYTES(found.data, value.data, value.size);
}

static void check_stat(void)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < now.count; i++) bytes += now.item[i].size;
    struct tree_stat stat;
    CHECK_OK(bw_tree_stat(txn, TREE, &stat));
    CHECK_EQ(stat.count, now.count);
    CHECK_EQ(stat.max_key, model_max());
    CHECK_EQ(stat.bytes, bytes);
    CHECK_EQ(stat.sequence, now.sequence);
}

static void check_all(void)
{
    struct cursor cursor;
    bool found;
    bw_cursor_init(&cursor, txn, TREE);
    for (size_t i = 0; i < now.count; i++) {
        CHECK_OK(bw_cursor_next(&cursor, &found));
        CHECK(found);
        CHECK_EQ(cursor.key, now.item[i].key);
        check_value(&now.item[i], cursor.value);
    }
    CHECK_OK(bw_cursor_next(&cursor, &found));
    CHECK(!found);
    CHECK_OK(bw_cursor_next(&cursor, &found));
    CHECK(!found);
}

static void check_get(uint64_t key)
{
    struct bytes value;
    bool found;
    CHECK_OK(bw_tree_get(txn, TREE, key, &value, &found));
    CHECK_EQ(found, model_has(key));
    if (found) check_value(&now.item[model_find(key)], value);
}

// ---- drawing ----

static uint32_t draw_size(void)
{
    switch (sizes) {
    case SIZES_TINY:
        return (uint32_t)(1 + below(24));
    case SIZES_SMALL:
        return (uint32_t)(60 + below(80));
    case SIZES_NOTE:
        return (uint32_t)(300 + below(100));
    case SIZES_MIXED:
        if (below(300) == 0) return (uint32_t)(1 + below(VALUE_MAX));
        return (uint32_t)(1 + below(below(10) ? 600 : 9000));
    case SIZES_LARGE:
        return (uint32_t)(below(10) ? 2100 + below(1900) : 4000 + below(5000));
    }
    return 1;
}

static uint64_t draw_key(void)
{
    switch (keys) {
    case KEYS_DENSE:
        return 1 + below(3000);
    case KEYS_GAPS:
        return 1 + 7 * below(3000);
    case KEYS_SPARSE:
        return 1 + (below(4000) << 22);
    case KEYS_FAR: // no two of them within 32 bits
        return 1 + (below(4000) << 40);
    case KEYS_RUNS: // near ones, in groups that are far from each other
        return 1 + (below(100) << 34) + below(40);
    case KEYS_ALL:
        return 1 + (bw_random_next(&source) >> below(50)) % (UINT64_MAX - 1);
    }
    return 1;
}

static struct item draw_item(uint64_t key)
{
    return (struct item){.key = key, .seed = bw_random_next(&source), .size = draw_size()};
}

static uint64_t draw_present(void) { return now.item[below(now.count)].key; }

// ---- steps ----

// Every few puts some bytes of the copy are written by the caller, as the door allows.
static void put(struct item item)
{
    uint8_t *stored;
    if (item.key == 0 || (now.count >= ITEMS_MAX - 1 && !model_has(item.key))) return;
    if (below(8) == 0) {
        CHECK_OK(bw_tree_put(txn, TREE, item.key, value_of(&item), NULL));
    } else {
        struct bytes value = value_of(&item);
        const bool writes = below(3) == 0;
        if (writes) buffer[0] ^= 0xFF;
        CHECK_OK(bw_tree_put(txn, TREE, item.key, value, &stored));
        if (writes) stored[0] ^= 0xFF;
    }
    model_put(item);
}

static void remove_key(uint64_t key)
{
    bool removed;
    CHECK_OK(bw_tree_remove(txn, TREE, key, &removed));
    CHECK_EQ(removed, model_has(key));
    if (removed) model_remove(key);
}

// How far appended keys are apart.
static uint64_t draw_step(void)
{
    switch (keys) {
    case KEYS_DENSE:
        return 1;
    case KEYS_GAPS:
        return 1 + below(12);
    case KEYS_FAR:
        return UINT64_C(1) << 40;
    case KEYS_RUNS:
        return below(2) ? 1 : UINT64_C(1) << 34;
    default:
        return 1 + below(1u << 20);
    }
}

static void append_some(void)
{
    const uint64_t step = draw_step();
    uint64_t key = model_max();
    for (uint64_t left = 1 + below(below(4) ? 30 : 300); left > 0; left--) {
        if (key > UINT64_MAX - step) return;
        key += step;
        put(draw_item(key));
    }
}

static void insert_run(void)
{
    uint64_t key = now.count ? draw_present() : draw_key();
    for (uint64_t left = 1 + below(60); left > 0 && key < UINT64_MAX; left--) put(draw_item(++key));
}

static void insert_run_downward(void)
{
    uint64_t key = now.count ? draw_present() : draw_key();
    for (uint64_t left = 1 + below(40); left > 0 && key > 1; left--) put(draw_item(--key));
}

static void update(bool same_size)
{
    for (uint64_t left = 1 + below(6); left > 0 && now.count; left--) {
        struct item item = now.item[below(now.count)];
        item.seed++;
        if (!same_size) item.size = draw_size();
        put(item);
    }
}

static void remove_some(void)
{
    for (uint64_t left = 1 + below(20); left > 0 && now.count; left--) remove_key(draw_present());
    remove_key(draw_key());
    if (now.count && below(2)) remove_key(model_max());
}

static void remove_range(void)
{
    if (!now.count) return;
    size_t at = below(3) ? model_find(draw_present()) : 0;
    const bool downward = below(2);
    for (uint64_t left = 1 + below(below(3) ? 60 : 800); left > 0 && at < now.count; left--) {
        remove_key(now.item[at].key);
        if (downward && at == 0) return;
        if (downward) at--;
    }
}

// A scan that goes on while entries in front of it, at it and behind it come and go.
static void scan_and_change(void)
{
    struct cursor cursor;
    bool found;
    uint64_t key = draw_key();
    bw_cursor_init(&cursor, txn, TREE);
    CHECK_OK(bw_cursor_seek(&cursor, key, &found));
    for (uint64_t left = 1 + below(100); left > 0; left--) {
        const size_t at = model_find(key);
        CHECK_EQ(found, at < now.count);
        if (!found) return;
        CHECK_EQ(cursor.key, now.item[at].key);
        check_value(&now.item[at], cursor.value);
        key = cursor.key;
        if (below(5) == 0) remove_key(below(2) ? key : draw_present());
        if (below(5) == 0) put(draw_item(below(2) ? draw_key() : key));
        if (key == UINT64_MAX) return;
        key++;
        CHECK_OK(bw_cursor_next(&cursor, &found));
    }
}

// One operation that runs out of pages or memory at every place in turn, until it does not.
static void fail_and_retry(void)
{
    const bool removes = below(2) && now.count;
    const struct item item = draw_item(below(2) && now.count ? draw_present() : draw_key());
    const uint64_t key = removes ? draw_present() : item.key;
    const bool notes = below(3) == 0;
    const bw_err err = notes || below(2) ? BW_ERR_NO_MEMORY : BW_ERR_DB_FULL;
    for (int successes = 0;; successes++) {
        bool removed = false;
        if (notes) {
            bw_fake_pager_fail_notes(txn, successes);
        } else {
            bw_fake_pager_fail_pages(txn, successes, err);
        }
        const bw_err failed = removes ? bw_tree_remove(txn, TREE, key, &removed)
                                      : bw_tree_put(txn, TREE, key, value_of(&item), NULL);
        bw_fake_pager_fail_pages(txn, -1, BW_OK);
        bw_fake_pager_fail_notes(txn, -1);
        if (!failed && removes) model_remove(key);
        if (!failed && !removes) model_put(item);
        bw_fake_pager_check(txn);
        check_stat();
        check_get(key);
        if (!failed) return;
        CHECK_EQ(failed, err);
        CHECK(successes < 100);
    }
}

static void clear(void)
{
    CHECK_OK(bw_tree_clear(txn, TREE));
    now.count = 0;
}

static void commit(void)
{
    bw_fake_pager_commit(txn);
    memcpy(&committed, &now, sizeof(now));
}

static void abort_txn(void)
{
    bw_fake_pager_abort(txn);
    memcpy(&now, &committed, sizeof(now));
}

static void set_sequence(void)
{
    now.sequence = bw_random_next(&source);
    CHECK_OK(bw_tree_set_sequence(txn, TREE, now.sequence));
}

static void shrink_or_grow(void)
{
    if (now.count > KEYS_AIM) {
        remove_range();
    } else {
        append_some();
    }
}

static void step(void)
{
    const uint64_t drawn = below(100);
    if (drawn < 14) {
        shrink_or_grow();
    } else if (drawn < 28) {
        for (uint64_t left = 1 + below(20); left > 0; left--) put(draw_item(draw_key()));
    } else if (drawn < 34) {
        insert_run();
    } else if (drawn < 37) {
        insert_run_downward();
    } else if (drawn < 43) {
        update(true);
    } else if (drawn < 50) {
        update(false);
    } else if (drawn < 62) {
        remove_some();
    } else if (drawn < 67) {
        remove_range();
    } else if (drawn < 72) {
        for (int i = 0; i < 10; i++) check_get(now.count && below(2) ? draw_present() : draw_key());
    } else if (drawn < 78) {
        scan_and_change();
    } else if (drawn < 84) {
        fail_and_retry();
    } else if (drawn < 94) {
        commit();
    } else if (drawn < 97) {
        abort_txn();
    } else if (drawn < 99) {
        set_sequence();
    } else if (below(4) == 0) {
        clear();
    }
}

static void a_tree_equals_its_model_whatever_is_done(void)
{
    const char *given = getenv("BW_STEPS");
    const long steps = given ? strtol(given, NULL, 0) : STEPS;
    bw_random_seed(&source, bw_test_seed());
    txn = bw_fake_pager_new();
    now = committed = (struct model){0};
    for (long i = 0; i < steps; i++) {
        if (i % PHASE == 0) {
            keys = (enum keys)below(KEYS_ALL + 1);
            sizes = (enum sizes)below(5);
        }
        step();
        bw_fake_pager_check(txn);
        check_stat();
        if (i % COMPARE == 0) check_all();
    }
    check_all();
    CHECK_OK(bw_tree_drop(txn, TREE));
    CHECK_EQ(bw_fake_pager_pages(txn), 0);
    bw_fake_pager_free(txn);
    CHECK_EQ(bw_memory_blocks(), 0);
}

RUN_TESTS(TEST(a_tree_equals_its_model_whatever_is_done))
