/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sequences of operations on a store of a few trees, each answer compared with a model that keeps
 * keys and what their values are made of. At the end, and wherever the sequence asks for it, the
 * whole store is proved.
 *
 * Input: the geometry and the size limit; then operations, of 6 bytes each.
 */
#include <stdio.h>
#include <stdlib.h>

#include "fuzz/input.h"
#include "harness/sim_disk.h"
#include "store/page.h"
#include "store/store.h"

enum { TREES = 4, OPERATIONS_MAX = 150, VALUE_MAX = 40000, RUN_MAX = 64 };

#define DIRECTORY "db"

struct item {
    uint64_t key;
    uint32_t size;
    uint8_t byte; /* that the value is made of */
};

struct model_tree {
    struct item *items; /* owned; by ascending key */
    size_t count, room;
    uint64_t sequence;
};

struct model {
    struct model_tree trees[TREES];
    uint32_t schema_size;
};

struct run {
    struct sim_disk sim;
    struct store_options options;
    struct store *store;
    struct txn *writer, *reader;
    struct model committed, working, seen; /* working: the writer's; seen: the reader's */
    struct cursor cursor;                  /* the writer's, on some tree */
    unsigned cursor_tree;
    uint64_t cursor_key;
};

static void stop(const char *why)
{
    fprintf(stderr, "%s: %s\n", why, bw_reason_text());
    abort();
}

static void must(bw_err err, const char *what)
{
    if (err) stop(what);
}

/* ---- the model ---- */

static void model_copy(struct model *to, const struct model *from)
{
    to->schema_size = from->schema_size;
    for (int i = 0; i < TREES; i++) {
        struct model_tree *tree = &to->trees[i];
        const struct model_tree *source = &from->trees[i];
        if (tree->room < source->count) {
            tree->room = source->count;
            tree->items = realloc(tree->items, tree->room * sizeof(*tree->items));
            if (!tree->items) abort();
        }
        if (source->count) memcpy(tree->items, source->items, source->count * sizeof(*tree->items));
        tree->count = source->count;
        tree->sequence = source->sequence;
    }
}

static void model_deinit(struct model *model)
{
    for (int i = 0; i < TREES; i++) free(model->trees[i].items);
}

/* The first item whose key is at least this one. */
static size_t place_of(const struct model_tree *tree, uint64_t key)
{
    size_t low = 0, high = tree->count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (tree->items[middle].key < key) low = middle + 1;
        else high = middle;
    }
    return low;
}

static bool has(const struct model_tree *tree, size_t at, uint64_t key)
{
    return at < tree->count && tree->items[at].key == key;
}

static void model_put(struct model_tree *tree, struct item item)
{
    const size_t at = place_of(tree, item.key);
    if (!has(tree, at, item.key)) {
        if (tree->count == tree->room) {
            tree->room = tree->room * 2 + 16;
            tree->items = realloc(tree->items, tree->room * sizeof(*tree->items));
            if (!tree->items) abort();
        }
        memmove(tree->items + at + 1, tree->items + at, (tree->count - at) * sizeof(item));
        tree->count++;
    }
    tree->items[at] = item;
}

static void model_remove(struct model_tree *tree, size_t at)
{
    tree->count--;
    memmove(tree->items + at, tree->items + at + 1, (tree->count - at) * sizeof(*tree->items));
}

/* ---- values ---- */

static struct bytes value_of(const struct item *item)
{
    static uint8_t bytes[VALUE_MAX];
    memset(bytes, item->byte, item->size);
    for (size_t i = 0; i < 8 && i < item->size; i++) bytes[i] ^= (uint8_t)(item->key >> 8 * i);
    bytes[item->size - 1] ^= 0x55;
    return (struct bytes){bytes, item->size};
}

static void compare(const struct item *item, struct bytes found)
{
    const struct bytes wanted = value_of(item);
    if (found.size != wanted.size) stop("a value has another size");
    if (memcmp(found.data, wanted.data, wanted.size) != 0) stop("a value has other bytes");
    if ((uintptr_t)found.data % 8) stop("a value is not aligned");
}

static uint32_t size_of(uint16_t number)
{
    static const uint16_t sizes[] = {1,    7,    8,    9,    255,   256,   257,   1000,  2000, 2013,
                                     4040, 4047, 4048, 4049, 4064,  4065,  8151,  8152,  8183, 8184,
                                     8185, 8192, 8160, 8161, 12000, 16000, 20000, 32000, 39999};
    enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };
    static const uint32_t limits[] = {0, 60, 500, 5000};
    const uint32_t kind = number % 4, rest = number / 4u;
    return kind ? 1 + rest % limits[kind] : sizes[rest % SIZES];
}

static uint64_t key_of(uint8_t shape, uint8_t number)
{
    switch (shape % 6) {
    case 0:
    case 1:
        return number + 1u;
    case 2:
        return 100 + number * UINT64_C(1000);
    case 3:
        return 5 + ((uint64_t)number << 32);
    case 4:
        return UINT64_MAX - number;
    default:
        return 1 + number * UINT64_C(3);
    }
}

/* ---- comparing ---- */

static void compare_get(struct txn *txn, const struct model *model, unsigned tree, uint64_t key)
{
    const struct model_tree *known = &model->trees[tree];
    const size_t at = place_of(known, key);
    struct bytes value;
    bool found = false;
    must(bw_tree_get(txn, tree + 1, key, &value, &found), "get");
    if (found != has(known, at, key)) stop("a key is there, or not, against all reason");
    if (found) compare(&known->items[at], value);
}

static void compare_tree(struct txn *txn, const struct model *model, unsigned tree, uint64_t from)
{
    const struct model_tree *known = &model->trees[tree];
    struct cursor cursor;
    struct tree_stat stat;
    uint64_t bytes = 0;
    bw_cursor_init(&cursor, txn, tree + 1);
    bool found = false;
    size_t at = place_of(known, from);
    must(bw_cursor_seek(&cursor, from, &found), "seek");
    for (; found; at++) {
        if (!has(known, at, cursor.key)) stop("a cursor found another key");
        compare(&known->items[at], cursor.value);
        must(bw_cursor_next(&cursor, &found), "next");
    }
    if (at < known->count) stop("a cursor ended too early");
    for (size_t i = 0; i < known->count; i++) bytes += known->items[i].size;
    must(bw_tree_stat(txn, tree + 1, &stat), "stat");
    const uint64_t max_key = known->count ? known->items[known->count - 1].key : 0;
    if (stat.count != known->count || stat.bytes != bytes || stat.max_key != max_key ||
        stat.sequence != known->sequence)
        stop("a tree's numbers are wrong");
}

static void compare_schema(struct txn *txn, const struct model *model)
{
    struct bytes blob;
    must(bw_txn_schema(txn, &blob), "schema");
    if (blob.size != model->schema_size) stop("the schema has another size");
    for (size_t i = 0; i < blob.size; i++)
        if (blob.data[i] != (uint8_t)blob.size) stop("the schema has other bytes");
}

static void compare_all(struct txn *txn, const struct model *model)
{
    for (unsigned tree = 0; tree < TREES; tree++) compare_tree(txn, model, tree, 0);
    compare_schema(txn, model);
    struct check_report report = {0};
    must(bw_store_check(txn, NULL, &report), "check");
    if (report.problems) stop(report.first_problem);
}

/* ---- transactions ---- */

static struct txn *writer(struct run *run)
{
    if (run->writer) return run->writer;
    must(bw_txn_begin(run->store, TXN_WRITE, 0, &run->writer), "begin");
    model_copy(&run->working, &run->committed);
    bw_cursor_init(&run->cursor, run->writer, 1);
    run->cursor_tree = 0;
    run->cursor_key = 0;
    return run->writer;
}

static void end_writer(struct run *run, bool commits)
{
    if (!run->writer) return;
    bw_err err = BW_OK;
    if (commits) err = bw_txn_commit(run->writer);
    else bw_txn_abort(run->writer);
    run->writer = NULL;
    if (err && err != BW_ERR_DB_FULL) stop("commit");
    if (commits && !err) model_copy(&run->committed, &run->working);
}

static void end_reader(struct run *run)
{
    bw_txn_abort(run->reader);
    run->reader = NULL;
}

static void reopen(struct run *run)
{
    end_writer(run, false);
    end_reader(run);
    bw_store_close(run->store);
    run->store = NULL;
    must(bw_store_open(&run->options, &run->store), "open");
}

/* ---- changes ---- */

/* False: the store is full. */
static bool put(struct run *run, unsigned tree, struct item item, bool late)
{
    uint8_t *stored = NULL;
    struct item first = item;
    if (late) first.byte ^= 0xff;
    const bw_err err = bw_tree_put(writer(run), tree + 1, item.key, value_of(&first), &stored);
    if (err == BW_ERR_DB_FULL) return false;
    must(err, "put");
    if (late) memcpy(stored, value_of(&item).data, item.size);
    model_put(&run->working.trees[tree], item);
    return true;
}

static void remove_key(struct run *run, unsigned tree, uint64_t key)
{
    struct model_tree *known = &run->working.trees[tree];
    bool removed = false;
    const bw_err err = bw_tree_remove(writer(run), tree + 1, key, &removed);
    if (err == BW_ERR_DB_FULL) return;
    must(err, "remove");
    const size_t at = place_of(known, key);
    if (removed != has(known, at, key)) stop("a key was removed, or not, against all reason");
    if (removed) model_remove(known, at);
}

/* Every nth key that there is. */
static void remove_some(struct run *run, unsigned tree, unsigned step)
{
    (void)writer(run);
    const struct model_tree *known = &run->working.trees[tree];
    for (size_t at = 0; at < known->count; at += step - 1) {
        const size_t before = known->count;
        remove_key(run, tree, known->items[at].key);
        if (known->count == before) return;
    }
}

static void clear(struct run *run, unsigned tree, bool drops)
{
    const bw_err err =
        drops ? bw_tree_drop(writer(run), tree + 1) : bw_tree_clear(writer(run), tree + 1);
    if (err == BW_ERR_DB_FULL) return;
    must(err, "clear");
    run->working.trees[tree].count = 0;
    if (drops) run->working.trees[tree].sequence = 0;
}

static void set_schema(struct run *run, uint32_t size)
{
    static uint8_t blob[5000];
    const uint8_t hash[16] = {(uint8_t)size, 1};
    memset(blob, (int)(size & 0xff), size);
    must(bw_txn_set_schema(writer(run), hash, (struct bytes){blob, size}), "set schema");
    run->working.schema_size = size;
}

/* The writer's cursor goes on behind its last key, whatever has changed since. */
static void step_on(struct run *run, unsigned tree, bool is_anew)
{
    (void)writer(run);
    if (is_anew) {
        bw_cursor_init(&run->cursor, run->writer, tree + 1);
        run->cursor_tree = tree;
        run->cursor_key = 0;
    }
    const struct model_tree *known = &run->working.trees[run->cursor_tree];
    bool found = false;
    must(bw_cursor_next(&run->cursor, &found), "next");
    if (run->cursor_key == UINT64_MAX) {
        if (found) stop("a cursor went on behind the end");
        return;
    }
    const size_t at = place_of(known, run->cursor_key + 1);
    if (found != (at < known->count)) stop("a cursor ended, or not, against all reason");
    if (found) compare(&known->items[at], run->cursor.value);
    run->cursor_key = found ? run->cursor.key : UINT64_MAX;
}

enum operation {
    PUT,
    PUT_LATE,
    PUT_RUN,
    PUT_RUN_DOWN,
    REMOVE,
    REMOVE_SOME,
    CLEAR,
    DROP,
    SEQUENCE,
    SCHEMA,
    GET,
    SCAN,
    STEP_ON,
    CHECK,
    READER,
    COMMIT,
    COMMIT_AGAIN,
    ABORT,
    REOPEN,
    OPERATIONS
};

static void put_run(struct run *run, unsigned tree, struct item item, unsigned count, bool down)
{
    for (unsigned i = 0; i < count && item.key; i++) {
        if (!put(run, tree, item, false)) return;
        item.key = down ? item.key - 1 : item.key + 1;
    }
}

static void read_on(struct run *run, bool is_anew)
{
    if (run->reader) compare_all(run->reader, &run->seen);
    if (!is_anew && run->reader) return;
    end_reader(run);
    must(bw_txn_begin(run->store, TXN_READ, 0, &run->reader), "begin to read");
    model_copy(&run->seen, &run->committed);
}

static void change(struct run *run, enum operation operation, unsigned tree, struct item item)
{
    switch (operation) {
    case PUT:
    case PUT_LATE:
        (void)put(run, tree, item, operation == PUT_LATE);
        break;
    case PUT_RUN:
    case PUT_RUN_DOWN:
        put_run(run, tree, item, item.byte % RUN_MAX, operation == PUT_RUN_DOWN);
        break;
    case REMOVE:
        remove_key(run, tree, item.key);
        break;
    case REMOVE_SOME:
        remove_some(run, tree, 2 + item.byte % 5u);
        break;
    case CLEAR:
    case DROP:
        clear(run, tree, operation == DROP);
        break;
    case SEQUENCE:
        must(bw_tree_set_sequence(writer(run), tree + 1, item.key), "set sequence");
        run->working.trees[tree].sequence = item.key;
        break;
    default:
        set_schema(run, item.size % 5000);
        break;
    }
}

static void operate(struct run *run, struct input *input)
{
    const enum operation operation = (enum operation)(take_u8(input) % OPERATIONS);
    const uint8_t place = take_u8(input), number = take_u8(input), byte = take_u8(input);
    const unsigned tree = place % TREES;
    const struct item item = {
        .key = key_of(place / TREES, number), .byte = byte, .size = size_of(take_u16(input))};
    switch (operation) {
    case GET:
        compare_get(writer(run), &run->working, tree, item.key);
        break;
    case SCAN:
        compare_tree(writer(run), &run->working, tree, item.key);
        break;
    case STEP_ON:
        for (unsigned i = 0; i <= byte % 8u; i++) step_on(run, tree, number % 4 == 0 && !i);
        break;
    case CHECK:
        compare_all(writer(run), &run->working);
        break;
    case READER:
        read_on(run, byte & 1);
        break;
    case COMMIT:
    case COMMIT_AGAIN:
    case ABORT:
        end_writer(run, operation != ABORT);
        break;
    case REOPEN:
        reopen(run);
        break;
    default:
        change(run, operation, tree, item);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct geometry small = {.inline_pages = 22,
                                          .region_pages = 34,
                                          .bitmap_copies = 4,
                                          .manifest_runs = 12,
                                          .manifest_pages = 12};
    struct input input = {data, size};
    struct run run = {0};
    const uint8_t how = take_u8(&input), pages = take_u8(&input);
    sim_disk_init(&run.sim, 1);
    run.options = (struct store_options){
        .disk = &run.sim.disk,
        .directory = DIRECTORY,
        .file_mode = 0644,
        .size_max = how & 2 ? (3 + (uint64_t)pages) * PAGE_SIZE : 0,
        .durability = how & 4 ? DURABLE_NONE : DURABLE_FULL,
        .geometry = how & 1 ? &small : NULL,
    };
    must(bw_store_open(&run.options, &run.store), "open");
    for (int i = 0; i < OPERATIONS_MAX && input.left; i++) operate(&run, &input);
    if (run.writer) compare_all(run.writer, &run.working);
    end_writer(&run, true);
    if (run.reader) compare_all(run.reader, &run.seen);
    reopen(&run);
    read_on(&run, true);
    compare_all(run.reader, &run.seen);
    end_reader(&run);
    bw_store_close(run.store);
    sim_disk_deinit(&run.sim);
    model_deinit(&run.committed);
    model_deinit(&run.working);
    model_deinit(&run.seen);
    return 0;
}
