/* SPDX-License-Identifier: Apache-2.0 */
/* labels: threads */
/*
 * Threads by the thousand, by the hundred at once, and at work when the store is closed under them:
 * a read is refused only above the number of readers that was asked for, and never for longer.
 */
#include <stdatomic.h>

#include "cases/note_store.h"

enum {
    SHORT_THREADS = 5000,
    // Each has a stack of its own, and with 32 bits there is room for few.
    AT_ONCE = sizeof(void *) == 4 ? 250 : 500,
    READERS = 200,
    OBJECTS = 300,
    BYTES = 1500,
    SCANNERS = 4,
    CLOSINGS = 25,
};

static char directory[256];
static OBX_store *store;
static OBX_box *notes;

static void begin(unsigned readers_max)
{
    bw_scratch_make_in_memory(directory, sizeof(directory));
    OBX_store_options *options = note_options(directory, 0);
    CHECK_OK(boxwood_opt_durability(options, BoxwoodDurability_None));
    if (readers_max) obx_opt_max_readers(options, readers_max);
    store = obx_store_open(options);
    CHECK(store != NULL);
    notes = note_box(store, NOTE);
    OBX_txn *txn = obx_txn_write(store);
    for (int64_t i = 1; i <= OBJECTS; i++) CHECK_OK(note_put(notes, (obx_id)i, i, BYTES));
    CHECK_OK(obx_txn_success(txn));
}

static void end(void)
{
    CHECK_OK(obx_store_close(store));
    note_prove(directory);
    bw_scratch_remove(directory);
}

// ---- one after the other ----

/* A get and a count, each a read of its own. */
static void read_shortly(void *argument)
{
    const int64_t number = 1 + *(const int *)argument % OBJECTS;
    OBX_txn *txn = obx_txn_read(store);
    CHECK(txn != NULL);
    note_expect(notes, (obx_id)number, number, BYTES);
    CHECK_OK(obx_txn_close(txn));
    CHECK_EQ(note_count(notes), OBJECTS);
}

static void threads_that_come_and_go_never_use_up_the_readers(void)
{
    begin(126); // fewer than threads, and the least there can be
    for (int i = 0; i < SHORT_THREADS; i++) {
        struct thread thread;
        CHECK_OK(bw_thread_start(&thread, read_shortly, &i));
        bw_thread_join(&thread);
    }
    end();
}

// ---- at once ----

static struct {
    struct mutex mutex;
    struct condition changed;
    int inside, refused; /* mutex */
    int may_leave;       /* mutex: so many */
} hall;

/* Stay inside a read until somebody may leave. */
static void read_and_stay(void *argument)
{
    (void)argument;
    const uint8_t *data = NULL;
    size_t size = 0;
    OBX_txn *txn = obx_txn_read(store);
    if (!txn) CHECK_EQ(obx_last_error_code(), OBX_ERROR_MAX_READERS_EXCEEDED);
    if (txn) CHECK_OK(obx_box_get(notes, 7, &data, &size));
    bw_mutex_lock(&hall.mutex);
    if (txn) hall.inside++;
    else hall.refused++;
    bw_condition_wake_all(&hall.changed);
    while (txn && hall.may_leave == 0) bw_condition_wait(&hall.changed, &hall.mutex);
    if (txn) hall.may_leave--;
    bw_mutex_unlock(&hall.mutex);
    if (!txn) return;
    CHECK(note_is(data, size, 7, BYTES));
    CHECK_OK(obx_txn_close(txn));
}

static void enter(struct thread *threads, int count)
{
    hall.inside = hall.refused = hall.may_leave = 0;
    for (int i = 0; i < count; i++) CHECK_OK(bw_thread_start(&threads[i], read_and_stay, NULL));
    bw_mutex_lock(&hall.mutex);
    while (hall.inside + hall.refused < count) bw_condition_wait(&hall.changed, &hall.mutex);
    bw_mutex_unlock(&hall.mutex);
}

static void let_leave(int count)
{
    bw_mutex_lock(&hall.mutex);
    hall.may_leave += count;
    bw_condition_wake_all(&hall.changed);
    bw_mutex_unlock(&hall.mutex);
}

static void hundreds_of_readers_at_once_are_no_problem(void)
{
    static struct thread threads[AT_ONCE];
    begin(0);
    enter(threads, AT_ONCE);
    CHECK_EQ(hall.inside, AT_ONCE);
    CHECK_OK(note_put(notes, 7, 1007, 10)); // nobody waits for a reader, no reader sees it
    let_leave(AT_ONCE);
    for (int i = 0; i < AT_ONCE; i++) bw_thread_join(&threads[i]);
    end();
}

static void above_the_limit_a_read_is_refused_and_the_next_one_is_not(void)
{
    static struct thread threads[READERS + 30];
    begin(READERS);
    enter(threads, READERS + 30);
    CHECK_EQ(hall.inside, READERS);
    CHECK_EQ(hall.refused, 30);
    CHECK(!obx_txn_read(store));
    CHECK_EQ(obx_last_error_code(), OBX_ERROR_MAX_READERS_EXCEEDED);
    CHECK_OK(note_put(notes, 1, 1, BYTES)); // a writer is no reader
    let_leave(READERS);
    for (int i = 0; i < READERS + 30; i++) bw_thread_join(&threads[i]);
    enter(threads, READERS);
    CHECK_EQ(hall.inside, READERS);
    let_leave(READERS);
    for (int i = 0; i < READERS; i++) bw_thread_join(&threads[i]);
    end();
}

// ---- closing ----

static struct {
    OBX_box *_Atomic box;
    atomic_bool is_over;
    atomic_int scans;
} scanned;

static void expect_gone(obx_err err)
{
    CHECK(err == OBX_ERROR_ILLEGAL_STATE || err == OBX_ERROR_ILLEGAL_ARGUMENT ||
          err == OBX_ERROR_SHUTTING_DOWN);
}

/* Read everything, until it ends or the store is gone; what was handed out stays readable. */
static void scan_once(OBX_box *box)
{
    boxwood_scan *scan = NULL;
    obx_err err = boxwood_box_scan(box, NULL, 0, &scan, NULL);
    if (err) {
        expect_gone(err);
        return;
    }
    size_t count = 1;
    while (!err && count) {
        boxwood_object objects[16];
        err = boxwood_scan_next(scan, objects, 16, &count, NULL);
        if (err) expect_gone(err);
        atomic_fetch_add(&scanned.scans, 1);
        for (size_t i = 0; !err && i < count; i++) {
            CHECK(note_is(objects[i].data, objects[i].size, (int64_t)objects[i].id, BYTES));
        }
    }
    boxwood_scan_end(scan);
}

static void scan_on(void *argument)
{
    (void)argument;
    while (!atomic_load(&scanned.is_over)) scan_once(atomic_load(&scanned.box));
}

static void open_for_scanning(void)
{
    store = NULL;
    while (!store) { // a scan that has not ended keeps the file for a moment
        store = obx_store_open(note_options(directory, 0));
        if (!store) CHECK_EQ(obx_last_error_code(), OBX_ERROR_ILLEGAL_STATE);
    }
    notes = note_box(store, NOTE);
    atomic_store(&scanned.box, notes);
}

static void closing_under_readers_gives_them_a_typed_error(void)
{
    struct thread threads[SCANNERS];
    begin(0);
    CHECK_OK(obx_store_close(store));
    open_for_scanning();
    for (int i = 0; i < SCANNERS; i++) CHECK_OK(bw_thread_start(&threads[i], scan_on, NULL));
    for (int i = 0; i < CLOSINGS; i++) {
        const int before = atomic_load(&scanned.scans);
        while (atomic_load(&scanned.scans) < before + 5) {
        }
        CHECK_OK(boxwood_store_close(store, BOXWOOD_CLOSE_FORCE, NULL));
        open_for_scanning();
    }
    atomic_store(&scanned.is_over, true);
    for (int i = 0; i < SCANNERS; i++) bw_thread_join(&threads[i]);
    end();
}

RUN_TESTS(TEST(threads_that_come_and_go_never_use_up_the_readers),
          TEST(hundreds_of_readers_at_once_are_no_problem),
          TEST(above_the_limit_a_read_is_refused_and_the_next_one_is_not),
          TEST(closing_under_readers_gives_them_a_typed_error))
