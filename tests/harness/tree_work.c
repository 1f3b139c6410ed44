/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/tree_work.h"

#include <stdlib.h>

#include "harness/check.h"

enum {
    ITEMS_MAX = 20000,
    PHASE = 100,     /* steps */
    COMPARE = 10,    /* steps between full comparisons */
    KEYS_AIM = 1500, /* above so many keys, more are removed than put */
    READERS_MAX = 3
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

struct work {
    struct stage *stage; // borrowed
    struct random random;
    struct model now, committed;
    enum keys keys;
    enum sizes sizes;
    long steps;
    struct {
        struct txn *txn;
        struct model seen;
    } reader[READERS_MAX];
    unsigned readers;
    uint8_t buffer[WORK_VALUE_MAX + 8];
};

static uint64_t below(struct work *work, uint64_t limit)
{
    return bw_random_below(&work->random, limit);
}

// ---- the model ----

static size_t model_find(struct work *work, uint64_t key)
{
    size_t low = 0, high = work->now.count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (work->now.item[middle].key < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool model_has(struct work *work, uint64_t key)
{
    const size_t at = model_find(work, key);
    return at < work->now.count && work->now.item[at].key == key;
}

static void model_put(struct work *work, struct item item)
{
    const size_t at = model_find(work, item.key);
    if (!model_has(work, item.key)) {
        CHECK(work->now.count < ITEMS_MAX);
        memmove(&work->now.item[at + 1], &work->now.item[at],
                (work->now.count - at) * sizeof(item));
        work->now.count++;
    }
    work->now.item[at] = item;
}

static void model_remove(struct work *work, uint64_t key)
{
    const size_t at = model_find(work, key);
    work->now.count--;
    memmove(&work->now.item[at], &work->now.item[at + 1],
            (work->now.count - at) * sizeof(work->now.item[0]));
}

static uint64_t model_max(struct work *work)
{
    return work->now.count ? work->now.item[work->now.count - 1].key : 0;
}

static struct bytes value_of(struct work *work, const struct item *item)
{
    uint64_t state = item->seed;
    for (uint32_t at = 0; at < item->size; at += 8) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        bw_put_u64(work->buffer + at, state);
    }
    return (struct bytes){.data = work->buffer, .size = item->size};
}

// ---- comparing ----

static void check_value(struct work *work, const struct item *item, struct bytes found)
{
    const struct bytes value = value_of(work, item);
    CHECK_EQ(found.size, item->size);
    CHECK_EQ((uintptr_t)found.data % 8, 0);
    CHECK_BYTES(found.data, value.data, value.size);
}

static void check_stat(struct work *work)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < work->now.count; i++) bytes += work->now.item[i].size;
    struct tree_stat stat;
    CHECK_OK(bw_tree_stat(work->stage->txn, WORK_TREE, &stat));
    CHECK_EQ(stat.count, work->now.count);
    CHECK_EQ(stat.max_key, model_max(work));
    CHECK_EQ(stat.bytes, bytes);
    CHECK_EQ(stat.sequence, work->now.sequence);
}

static void check_scan(struct work *work, struct txn *txn, const struct model *model)
{
    struct cursor cursor;
    bool found;
    bw_cursor_init(&cursor, txn, WORK_TREE);
    for (size_t i = 0; i < model->count; i++) {
        CHECK_OK(bw_cursor_next(&cursor, &found));
        CHECK(found);
        CHECK_EQ(cursor.key, model->item[i].key);
        check_value(work, &model->item[i], cursor.value);
    }
    CHECK_OK(bw_cursor_next(&cursor, &found));
    CHECK(!found);
    CHECK_OK(bw_cursor_next(&cursor, &found));
    CHECK(!found);
}

void work_check_all(struct work *work) { check_scan(work, work->stage->txn, &work->now); }

static void check_get(struct work *work, uint64_t key)
{
    struct bytes value;
    bool found;
    CHECK_OK(bw_tree_get(work->stage->txn, WORK_TREE, key, &value, &found));
    CHECK_EQ(found, model_has(work, key));
    if (found) check_value(work, &work->now.item[model_find(work, key)], value);
}

// ---- drawing ----

static uint32_t draw_size(struct work *work)
{
    switch (work->sizes) {
    case SIZES_TINY:
        return (uint32_t)(1 + below(work, 24));
    case SIZES_SMALL:
        return (uint32_t)(60 + below(work, 80));
    case SIZES_NOTE:
        return (uint32_t)(300 + below(work, 100));
    case SIZES_MIXED:
        if (below(work, 300) == 0) return (uint32_t)(1 + below(work, WORK_VALUE_MAX));
        return (uint32_t)(1 + below(work, below(work, 10) ? 600 : 9000));
    case SIZES_LARGE:
        return (uint32_t)(below(work, 10) ? 2100 + below(work, 1900) : 4000 + below(work, 5000));
    }
    return 1;
}

static uint64_t draw_key(struct work *work)
{
    switch (work->keys) {
    case KEYS_DENSE:
        return 1 + below(work, 3000);
    case KEYS_GAPS:
        return 1 + 7 * below(work, 3000);
    case KEYS_SPARSE:
        return 1 + (below(work, 4000) << 22);
    case KEYS_FAR: // no two of them within 32 bits
        return 1 + (below(work, 4000) << 40);
    case KEYS_RUNS: // near ones, in groups that are far from each other
        return 1 + (below(work, 100) << 34) + below(work, 40);
    case KEYS_ALL:
        return 1 + (bw_random_next(&work->random) >> below(work, 50)) % (UINT64_MAX - 1);
    }
    return 1;
}

// All entries, several at once, and what is found under several keys at once.
static void check_all_in_groups(struct work *work)
{
    enum { GROUP_MAX = 50 };
    struct txn *txn = work->stage->txn;
    const struct model *now = &work->now;
    struct cursor cursor;
    struct cursor_entry entries[GROUP_MAX];
    uint64_t asked[GROUP_MAX];
    struct bytes values[GROUP_MAX];
    size_t count;
    bw_cursor_init(&cursor, txn, WORK_TREE);
    for (size_t at = 0; at < now->count; at += count) {
        const size_t max = 1 + below(work, GROUP_MAX);
        CHECK_OK(bw_cursor_next_many(&cursor, entries, max, &count));
        CHECK(count >= 1 && count <= max && count <= now->count - at);
        for (size_t i = 0; i < count; i++) {
            CHECK_EQ(entries[i].key, now->item[at + i].key);
            check_value(work, &now->item[at + i], entries[i].value);
            asked[i] = below(work, 4) ? entries[i].key : draw_key(work);
        }
        CHECK_OK(bw_tree_get_many(txn, WORK_TREE, asked, count, values));
        for (size_t i = 0; i < count; i++) {
            CHECK_EQ(values[i].data != NULL, model_has(work, asked[i]));
            if (values[i].data)
                check_value(work, &now->item[model_find(work, asked[i])], values[i]);
        }
    }
    CHECK_OK(bw_cursor_next_many(&cursor, entries, GROUP_MAX, &count));
    CHECK_EQ(count, 0);
}

static struct item draw_item(struct work *work, uint64_t key)
{
    return (struct item){
        .key = key, .seed = bw_random_next(&work->random), .size = draw_size(work)};
}

static uint64_t draw_present(struct work *work)
{
    return work->now.item[below(work, work->now.count)].key;
}

// ---- steps ----

// Every few puts some bytes of the copy are written by the caller, as the door allows.
static void put(struct work *work, struct item item)
{
    uint8_t *stored;
    if (item.key == 0 || (work->now.count >= ITEMS_MAX - 1 && !model_has(work, item.key))) return;
    if (below(work, 8) == 0) {
        CHECK_OK(bw_tree_put(work->stage->txn, WORK_TREE, item.key, value_of(work, &item), NULL));
    } else {
        struct bytes value = value_of(work, &item);
        const bool writes = below(work, 3) == 0;
        if (writes) work->buffer[0] ^= 0xFF;
        CHECK_OK(bw_tree_put(work->stage->txn, WORK_TREE, item.key, value, &stored));
        if (writes) stored[0] ^= 0xFF;
    }
    model_put(work, item);
}

static void remove_key(struct work *work, uint64_t key)
{
    bool removed;
    CHECK_OK(bw_tree_remove(work->stage->txn, WORK_TREE, key, &removed));
    CHECK_EQ(removed, model_has(work, key));
    if (removed) model_remove(work, key);
}

// How far appended keys are apart.
static uint64_t draw_step(struct work *work)
{
    switch (work->keys) {
    case KEYS_DENSE:
        return 1;
    case KEYS_GAPS:
        return 1 + below(work, 12);
    case KEYS_FAR:
        return UINT64_C(1) << 40;
    case KEYS_RUNS:
        return below(work, 2) ? 1 : UINT64_C(1) << 34;
    default:
        return 1 + below(work, 1u << 20);
    }
}

static void append_some(struct work *work)
{
    const uint64_t step = draw_step(work);
    uint64_t key = model_max(work);
    for (uint64_t left = 1 + below(work, below(work, 4) ? 30 : 300); left > 0; left--) {
        if (key > UINT64_MAX - step) return;
        key += step;
        put(work, draw_item(work, key));
    }
}

static void insert_run(struct work *work)
{
    uint64_t key = work->now.count ? draw_present(work) : draw_key(work);
    for (uint64_t left = 1 + below(work, 60); left > 0 && key < UINT64_MAX; left--)
        put(work, draw_item(work, ++key));
}

static void insert_run_downward(struct work *work)
{
    uint64_t key = work->now.count ? draw_present(work) : draw_key(work);
    for (uint64_t left = 1 + below(work, 40); left > 0 && key > 1; left--)
        put(work, draw_item(work, --key));
}

// Neighbours in order, now and then one of another size.
static void update_run(struct work *work)
{
    const struct model *now = &work->now;
    size_t at = now->count ? below(work, now->count) : 0;
    for (uint64_t left = 1 + below(work, 120); left > 0 && at < now->count; left--, at++) {
        struct item item = now->item[at];
        item.seed++;
        if (below(work, 40) == 0) item.size = draw_size(work);
        else if (item.size > 1 && below(work, 4) == 0) item.size = item.size - 1;
        if (below(work, 6) == 0) check_get(work, item.key);
        put(work, item);
    }
}

static void update(struct work *work, bool same_size)
{
    for (uint64_t left = 1 + below(work, 6); left > 0 && work->now.count; left--) {
        struct item item = work->now.item[below(work, work->now.count)];
        item.seed++;
        if (!same_size) item.size = draw_size(work);
        put(work, item);
    }
}

static void remove_some(struct work *work)
{
    for (uint64_t left = 1 + below(work, 20); left > 0 && work->now.count; left--)
        remove_key(work, draw_present(work));
    remove_key(work, draw_key(work));
    if (work->now.count && below(work, 2)) remove_key(work, model_max(work));
}

static void remove_range(struct work *work)
{
    if (!work->now.count) return;
    size_t at = below(work, 3) ? model_find(work, draw_present(work)) : 0;
    const bool downward = below(work, 2);
    for (uint64_t left = 1 + below(work, below(work, 3) ? 60 : 800);
         left > 0 && at < work->now.count; left--) {
        remove_key(work, work->now.item[at].key);
        if (downward && at == 0) return;
        if (downward) at--;
    }
}

// A scan that goes on while entries in front of it, at it and behind it come and go.
static void scan_and_change(struct work *work)
{
    struct cursor cursor;
    bool found;
    uint64_t key = draw_key(work);
    bw_cursor_init(&cursor, work->stage->txn, WORK_TREE);
    CHECK_OK(bw_cursor_seek(&cursor, key, &found));
    for (uint64_t left = 1 + below(work, 100); left > 0; left--) {
        const size_t at = model_find(work, key);
        CHECK_EQ(found, at < work->now.count);
        if (!found) return;
        CHECK_EQ(cursor.key, work->now.item[at].key);
        check_value(work, &work->now.item[at], cursor.value);
        key = cursor.key;
        if (below(work, 5) == 0) remove_key(work, below(work, 2) ? key : draw_present(work));
        if (below(work, 5) == 0) put(work, draw_item(work, below(work, 2) ? draw_key(work) : key));
        if (key == UINT64_MAX) return;
        key++;
        CHECK_OK(bw_cursor_next(&cursor, &found));
    }
}

// One operation that runs out of pages or memory at every place in turn, until it does not.
static void fail_and_retry(struct work *work)
{
    struct stage *stage = work->stage;
    const bool removes = below(work, 2) && work->now.count;
    const bool is_present = below(work, 2) && work->now.count;
    const struct item item = draw_item(work, is_present ? draw_present(work) : draw_key(work));
    const uint64_t key = removes ? draw_present(work) : item.key;
    const enum stage_failure failure = (enum stage_failure)(1 + below(work, STAGE_FAILS_FULL));
    for (int successes = 0; stage->fail(stage, failure, successes); successes++) {
        bool removed = false;
        const bw_err failed =
            removes ? bw_tree_remove(stage->txn, WORK_TREE, key, &removed)
                    : bw_tree_put(stage->txn, WORK_TREE, key, value_of(work, &item), NULL);
        (void)stage->fail(stage, STAGE_FAILS_NOTHING, 0);
        if (!failed && removes) model_remove(work, key);
        if (!failed && !removes) model_put(work, item);
        stage->check(stage);
        check_stat(work);
        check_get(work, key);
        if (!failed) return;
        CHECK_EQ(failed, failure == STAGE_FAILS_FULL ? BW_ERR_DB_FULL : BW_ERR_NO_MEMORY);
        CHECK(successes < 100);
    }
}

static void clear(struct work *work)
{
    CHECK_OK(bw_tree_clear(work->stage->txn, WORK_TREE));
    work->now.count = 0;
}

// Some commits follow a put at once: a proof between them may do what the commit has to.
static void commit(struct work *work)
{
    if (below(work, 2)) put(work, draw_item(work, draw_key(work)));
    work->stage->commit(work->stage);
    memcpy(&work->committed, &work->now, sizeof(work->now));
}

static void abort_txn(struct work *work)
{
    work->stage->abort(work->stage);
    memcpy(&work->now, &work->committed, sizeof(work->now));
}

// ---- readers ----

static void end_reader(struct work *work, unsigned reader)
{
    work->stage->end_reader(work->stage, work->reader[reader].txn);
    work->readers--;
    if (reader == work->readers) return;
    work->reader[reader].txn = work->reader[work->readers].txn;
    memcpy(&work->reader[reader].seen, &work->reader[work->readers].seen, sizeof(struct model));
}

// Begin a reader, or end one; those that stay see what they saw.
static void change_readers(struct work *work)
{
    if (!work->stage->begin_reader) return;
    for (unsigned i = 0; i < work->readers; i++)
        check_scan(work, work->reader[i].txn, &work->reader[i].seen);
    if (work->readers == READERS_MAX || (work->readers && below(work, 3) == 0)) {
        end_reader(work, (unsigned)below(work, work->readers));
        return;
    }
    work->reader[work->readers].txn = work->stage->begin_reader(work->stage);
    memcpy(&work->reader[work->readers++].seen, &work->committed, sizeof(work->committed));
}

static void set_sequence(struct work *work)
{
    work->now.sequence = bw_random_next(&work->random);
    CHECK_OK(bw_tree_set_sequence(work->stage->txn, WORK_TREE, work->now.sequence));
}

static void shrink_or_grow(struct work *work)
{
    if (work->now.count > KEYS_AIM) {
        remove_range(work);
    } else {
        append_some(work);
    }
}

static void do_something(struct work *work)
{
    const uint64_t drawn = below(work, 100);
    if (drawn < 14) {
        shrink_or_grow(work);
    } else if (drawn < 28) {
        for (uint64_t left = 1 + below(work, 20); left > 0; left--)
            put(work, draw_item(work, draw_key(work)));
    } else if (drawn < 34) {
        insert_run(work);
    } else if (drawn < 37) {
        insert_run_downward(work);
    } else if (drawn < 43) {
        if (below(work, 2)) update(work, true);
        else update_run(work);
    } else if (drawn < 50) {
        update(work, false);
    } else if (drawn < 62) {
        remove_some(work);
    } else if (drawn < 67) {
        remove_range(work);
    } else if (drawn < 70) {
        for (int i = 0; i < 10; i++)
            check_get(work,
                      work->now.count && below(work, 2) ? draw_present(work) : draw_key(work));
    } else if (drawn < 73) {
        change_readers(work);
    } else if (drawn < 78) {
        scan_and_change(work);
    } else if (drawn < 84) {
        fail_and_retry(work);
    } else if (drawn < 94) {
        commit(work);
    } else if (drawn < 97) {
        abort_txn(work);
    } else if (drawn < 99) {
        set_sequence(work);
    } else if (below(work, 4) == 0) {
        clear(work);
    }
}

void work_thin_out(struct work *work)
{
    enum { LEAVES = 600, STEP = 8, VALUE = 3000, RANGE = 80, GAP_KEYS = 4 };
    struct item item = {.key = model_max(work) + (uint64_t)STEP * (LEAVES + 1), .size = VALUE};
    for (int i = 0; i < LEAVES; i++) { // downward: what is appended gets long leaves
        item.key -= STEP;
        put(work, item);
    }
    commit(work);
    while (work->now.count > STEP) {
        const size_t at = (size_t)below(work, work->now.count);
        const uint64_t first = work->now.item[at].key;
        for (uint64_t left = 1 + below(work, RANGE); left > 0 && at < work->now.count; left--)
            remove_key(work, work->now.item[at].key);
        for (int i = 0; i < GAP_KEYS; i++) {
            item.key = first + below(work, (uint64_t)RANGE * STEP);
            if (below(work, 2)) put(work, item);
        }
        if (below(work, 4) == 0) commit(work);
        work->stage->check(work->stage);
    }
    work_check_all(work);
}

void work_step(struct work *work)
{
    if (work->steps % PHASE == 0) {
        work->keys = (enum keys)below(work, KEYS_ALL + 1);
        work->sizes = (enum sizes)below(work, 5);
    }
    do_something(work);
    work->stage->check(work->stage);
    check_stat(work);
    if (work->steps % COMPARE == COMPARE / 2) check_all_in_groups(work);
    if (work->steps++ % COMPARE == 0) work_check_all(work);
}

struct work *work_new(struct stage *stage, uint64_t seed)
{
    struct work *work = calloc(1, sizeof(*work));
    if (!work) abort();
    work->stage = stage;
    bw_random_seed(&work->random, seed);
    return work;
}

void work_free(struct work *work)
{
    while (work->readers) end_reader(work, work->readers - 1);
    free(work);
}
