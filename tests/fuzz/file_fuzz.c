/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hostile files: a sound store, changed, with sums that fit. Opened, read, checked whole, and
 * written to. Whatever the engine answers is data or a typed error; it does not crash, leak, read
 * outside of the file or go on for ever.
 *
 * Input: the store, how it is opened, the number of changes, 14 bytes for each (hostile.h); then
 * steps, of 6 bytes each.
 */
#include <stdio.h>
#include <stdlib.h>

#include "fuzz/input.h"
#include "harness/hostile.h"
#include "harness/sim_disk.h"
#include "store/store.h"

enum { CHANGES_MAX = 12, STEPS_MAX = 60, READERS = 2, VALUE_MAX = 40000, SCAN_MAX = 5000 };

#define DIRECTORY "db"
#define FILE_PATH DIRECTORY "/data.mdb"

/* What looks on while others write. */
struct reader {
    struct txn *txn;
    struct cursor cursor;
};

struct run {
    struct sim_disk sim;
    struct store_options options;
    struct store *store; /* NULL: it could not be opened */
    struct txn *writer;
    struct cursor cursor; /* of the writer */
    struct reader readers[READERS];
    bool is_sound; /* nothing was changed: no error is excused */
    uint64_t seen;
};

static void stop(const char *why)
{
    fprintf(stderr, "%s: %s\n", why, bw_reason_text());
    abort();
}

/* Is this an answer that a damaged file may give? Hands back whether the call succeeded. */
static bool take(const struct run *run, bw_err err)
{
    if (!err) return true;
    if (run->is_sound && err != BW_ERR_DB_FULL) stop("a sound store failed");
    switch ((int)err) {
    case BW_ERR_FILE_CORRUPT:
    case BW_ERR_FILE_PAGES_CORRUPT:
    case BW_ERR_DB_FULL:
    case BW_ERR_STORAGE_GENERAL: // a newer version, another kind of file
        return false;
    default:
        stop("an error that says nothing of the file");
        return false;
    }
}

/* Reads every byte. */
static void use(struct run *run, struct bytes value)
{
    run->seen += bw_hash64(value.data, value.size, run->seen);
}

/* ---- reading ---- */

static void read_value(struct run *run, struct txn *txn, uint32_t tree_id, uint64_t key)
{
    struct bytes value;
    bool found = false;
    if (take(run, bw_tree_get(txn, tree_id, key, &value, &found)) && found) use(run, value);
}

static void read_schema(struct run *run, struct txn *txn)
{
    struct bytes blob;
    if (take(run, bw_txn_schema(txn, &blob)) && blob.size) use(run, blob);
}

static void check(struct run *run, struct txn *txn)
{
    struct check_report report = {0};
    if (take(run, bw_store_check(txn, NULL, &report)) && run->is_sound && report.problems)
        stop(report.first_problem);
}

static void step_on(struct run *run, struct cursor *cursor, unsigned steps)
{
    bool found = true;
    for (unsigned i = 0; i < steps && found; i++) {
        if (!take(run, bw_cursor_next(cursor, &found))) return;
        if (found) use(run, cursor->value);
    }
}

/* Ascending keys, and therefore an end. */
static void scan(struct run *run, struct txn *txn, uint32_t tree_id)
{
    struct cursor cursor;
    bool found = true;
    uint64_t before = 0;
    bw_cursor_init(&cursor, txn, tree_id);
    for (unsigned i = 0; i < SCAN_MAX && found; i++) {
        if (!take(run, bw_cursor_next(&cursor, &found))) return;
        if (!found) return;
        if (cursor.key <= before) stop("a cursor went back");
        before = cursor.key;
        use(run, cursor.value);
    }
    if (found) stop("a cursor found more than there is");
}

static void read_all(struct run *run)
{
    struct txn *txn = NULL;
    if (!take(run, bw_txn_begin(run->store, TXN_READ, 0, &txn))) return;
    check(run, txn);
    for (uint32_t id = 1; id <= 8; id++) scan(run, txn, id);
    read_schema(run, txn);
    bw_txn_abort(txn);
}

/* ---- opening and closing ---- */

static void end_readers(struct run *run)
{
    for (int i = 0; i < READERS; i++) {
        bw_txn_abort(run->readers[i].txn);
        run->readers[i].txn = NULL;
    }
}

static void close_store(struct run *run)
{
    bw_txn_abort(run->writer);
    run->writer = NULL;
    end_readers(run);
    bw_store_close(run->store);
    run->store = NULL;
}

static void open_store(struct run *run, uint8_t how)
{
    close_store(run);
    run->options.use_previous = how & 1;
    run->options.verify_manifest = how >> 1 & 1;
    run->options.durability = how & 4 ? DURABLE_NONE : DURABLE_FULL;
    if (!take(run, bw_store_open(&run->options, &run->store))) {
        run->store = NULL;
        return;
    }
    struct store_info info;
    bw_store_info(run->store, &info);
    if (how & 8) read_all(run);
}

/* ---- writing ---- */

/* The one writer, begun when it is needed. */
static struct txn *writer(struct run *run)
{
    if (run->writer) return run->writer;
    if (!take(run, bw_txn_begin(run->store, TXN_WRITE, 0, &run->writer))) run->writer = NULL;
    if (run->writer) bw_cursor_init(&run->cursor, run->writer, 1);
    return run->writer;
}

static uint64_t key_of(uint8_t tree, uint8_t number)
{
    switch (tree >> 4) {
    case 0:
        return number + 1u;
    case 1:
        return 10 + number * UINT64_C(1000);
    case 2:
        return 5 + ((uint64_t)number << 33);
    case 3:
        return UINT64_MAX - number;
    case 4:
        return number * UINT64_C(5) + 1;
    default:
        return 600 + number * UINT64_C(5);
    }
}

static size_t size_of(uint16_t size)
{
    static const size_t sizes[] = {4048, 4049, 8184, 8185, 12000, 20000, VALUE_MAX};
    return size >= 0xff00 ? sizes[size % 7] : 1 + size % 9000u;
}

/* Values whose bytes would do harm as a header: they may come to lie where one was. */
static struct bytes value_of(size_t size, uint8_t byte)
{
    static uint8_t bytes[VALUE_MAX];
    memset(bytes, byte, size);
    return (struct bytes){bytes, size};
}

static void put_many(struct run *run, uint32_t tree_id, uint64_t key, unsigned count, size_t size)
{
    for (unsigned i = 0; i < count; i++) {
        if (!key) return;
        if (!take(run, bw_tree_put(writer(run), tree_id, key, value_of(size, 0xff), NULL))) return;
        key++;
    }
}

static void end_writer(struct run *run, bool commits)
{
    struct txn *txn = run->writer;
    run->writer = NULL;
    if (!txn) return;
    if (!commits) bw_txn_abort(txn);
    else (void)take(run, bw_txn_commit(txn));
}

static void set_schema(struct run *run, uint16_t size)
{
    const uint8_t hash[16] = {(uint8_t)size};
    (void)take(run, bw_txn_set_schema(writer(run), hash, value_of(1 + size % 9000u, 0xee)));
}

static void move_reader(struct run *run, uint8_t number, uint8_t tree, uint8_t steps)
{
    struct reader *reader = &run->readers[number % READERS];
    if (steps == 0) {
        bw_txn_abort(reader->txn);
        reader->txn = NULL;
        return;
    }
    if (!reader->txn) {
        if (!take(run, bw_txn_begin(run->store, TXN_READ, 0, &reader->txn))) return;
        bw_cursor_init(&reader->cursor, reader->txn, tree);
    }
    step_on(run, &reader->cursor, steps);
}

enum step {
    GET,
    PUT,
    PUT_MANY,
    REMOVE,
    CLEAR,
    DROP,
    SEQUENCE,
    SCHEMA,
    STEP_ON,
    CHECK,
    READER,
    READ_ALL,
    COMMIT,
    ABORT,
    REOPEN,
    STEPS
};

static void do_change(struct run *run, enum step step, uint8_t tree, uint8_t key, uint16_t size)
{
    const uint32_t id = tree % 16 < 12 ? tree % 16 : tree % 16 * 4u - 8;
    bool removed = false;
    uint8_t *stored = NULL;
    const uint32_t tree_id = id ? id : 1;
    if (!writer(run)) return;
    switch (step) {
    case GET:
        read_value(run, run->writer, tree_id, key_of(tree, key));
        break;
    case PUT: {
        const struct bytes value = value_of(size_of(size), (uint8_t)(size >> 4));
        if (take(run, bw_tree_put(run->writer, tree_id, key_of(tree, key), value, &stored)))
            memset(stored, (int)(size >> 4), value.size);
        break;
    }
    case PUT_MANY:
        put_many(run, tree_id, key_of(tree, key), size % 61u, size_of(size));
        break;
    case REMOVE:
        for (unsigned i = 0; i <= size % 16u; i++)
            if (!take(run, bw_tree_remove(run->writer, tree_id, key_of(tree, (uint8_t)(key + i)),
                                          &removed)))
                break;
        break;
    case CLEAR:
        (void)take(run, bw_tree_clear(run->writer, tree_id));
        break;
    case DROP:
        (void)take(run, bw_tree_drop(run->writer, tree_id));
        break;
    case SEQUENCE:
        (void)take(run, bw_tree_set_sequence(run->writer, tree_id, UINT64_MAX - key));
        break;
    case SCHEMA:
        set_schema(run, size);
        read_schema(run, run->writer);
        break;
    case CHECK:
        check(run, run->writer);
        break;
    default:
        step_on(run, &run->cursor, key);
        break;
    }
}

static void do_step(struct run *run, struct input *input)
{
    const enum step step = (enum step)(take_u8(input) % STEPS);
    const uint8_t tree = take_u8(input), key = take_u8(input), count = take_u8(input);
    const uint16_t size = take_u16(input);
    switch (step) {
    case COMMIT:
    case ABORT:
        end_writer(run, step == COMMIT);
        break;
    case REOPEN:
        open_store(run, key);
        break;
    case READER:
        if (run->store) move_reader(run, key, tree % 8, count);
        break;
    case READ_ALL:
        if (run->store) read_all(run);
        break;
    default:
        if (run->store) do_change(run, step, tree, key, size);
        break;
    }
}

/* ---- one file ---- */

static uint8_t *change_file(struct input *input, const struct hostile_store *base, unsigned count,
                            struct image *image)
{
    const size_t size = (size_t)base->page_count * PAGE_SIZE;
    uint8_t *bytes = malloc(size + base->page_count);
    if (!bytes) abort();
    memcpy(bytes, base->bytes, size);
    memset(bytes + size, 0, base->page_count);
    *image =
        (struct image){.bytes = bytes, .page_count = base->page_count, .changed = bytes + size};
    for (unsigned i = 0; i < count; i++) {
        struct hostile_change change = {.kind = take_u8(input), .how = take_u8(input)};
        change.word = take_u8(input);
        change.page = (uint16_t)(take_u16(input) & 0x3ff);
        change.at = take_u16(input);
        change.value = take_number(input, 7);
        if (change.value >> 55) change.value |= UINT64_C(0xff) << 56;
        hostile_apply(image, base->geometry, &change);
    }
    refix_image(image);
    return bytes;
}

static void write_file(struct sim_disk *sim, const struct image *image)
{
    struct file file;
    bool done = false;
    struct span span = {.data = image->bytes, .size = (size_t)image->page_count * PAGE_SIZE};
    bw_err err = sim->disk.make_directory(&sim->disk, DIRECTORY, 0755, &done);
    if (!err) err = sim->disk.open(&sim->disk, FILE_PATH, OPEN_CREATE, 0644, &file, &done);
    if (!err) err = sim->disk.write(file, 0, &span, 1);
    if (err) abort();
    sim->disk.close(file);
    sim_disk_settle(sim);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    // The deep one costs as much as all others together.
    static const enum hostile_base bases[] = {HOSTILE_LEAF,  HOSTILE_FORMS,   HOSTILE_CATALOG,
                                              HOSTILE_OPEN,  HOSTILE_REGIONS, HOSTILE_FORMS,
                                              HOSTILE_DEEP,  HOSTILE_CATALOG, HOSTILE_REGIONS,
                                              HOSTILE_FORMS, HOSTILE_OPEN};
    const struct hostile_store *base =
        hostile_store(bases[take_u8(&input) % (sizeof(bases) / sizeof(bases[0]))]);
    const uint8_t how = take_u8(&input);
    const unsigned count = take_u8(&input) % (CHANGES_MAX + 1);
    struct run run = {.is_sound = count == 0};
    struct image image;
    uint8_t *bytes = change_file(&input, base, count, &image);
    sim_disk_init(&run.sim, 1);
    write_file(&run.sim, &image);
    free(bytes);
    run.options = (struct store_options){.disk = &run.sim.disk,
                                         .directory = DIRECTORY,
                                         .file_mode = 0644,
                                         .must_exist = true,
                                         .geometry = base->geometry};
    open_store(&run, how);
    for (unsigned i = 0; i < STEPS_MAX && input.left; i++) do_step(&run, &input);
    if (run.store) {
        end_readers(&run);
        end_writer(&run, true);
        open_store(&run, 8);
    }
    close_store(&run);
    sim_disk_deinit(&run.sim);
    return 0;
}
