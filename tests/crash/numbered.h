/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A child process that commits numbered transactions through the public ABI and reports each number
 * after success, for tests that end it, or take its disk away, at any moment.
 *
 * It opens the store, has it proven, and compares every object with what the transactions so far
 * must have left: the newest one is the last that was reported, or the one after it, and whole.
 */
#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases/note_store.h"

enum {
    SLOTS = 12,  /* objects of an entity, with ids from FIRST_ID on */
    CHANGES = 4, /* of an entity in a transaction */
    HEAD_ID = 1, /* holds the number of the newest transaction */
    FIRST_ID = 2,
    SESSION = 15, /* transactions between closing and opening again */
};

/* What a store must hold: for each slot the transaction that put it, 0: nothing, and its size. */
struct state {
    int64_t put_by[2][SLOTS];
    size_t count[2][SLOTS];
};

struct change {
    unsigned slot;
    size_t count; /* bytes; 0: remove */
};

static char directory[256];

static struct {
    int64_t reported;
    int pipe_end;
    uint64_t seed;
    bool is_quiet; /* after the first report: what fails then is expected */
} child;

// ---- transactions that follow from their number ----

static inline void plan(uint64_t seed, int64_t number, struct change out_changes[2][CHANGES])
{
    static const size_t sizes[] = {0, 0, 1, 40, 300, 1000, 3000, 5000, 20000};
    struct random random;
    bw_random_seed(&random, seed + (uint64_t)number);
    for (int entity = 0; entity < 2; entity++) {
        for (int i = 0; i < CHANGES; i++) {
            const uint64_t size = bw_random_below(&random, sizeof(sizes) / sizeof(sizes[0]));
            out_changes[entity][i].slot = (unsigned)bw_random_below(&random, SLOTS);
            out_changes[entity][i].count = sizes[size];
        }
    }
}

static inline void advance(struct state *state, uint64_t seed, int64_t number)
{
    struct change changes[2][CHANGES];
    plan(seed, number, changes);
    for (int entity = 0; entity < 2; entity++) {
        for (int i = 0; i < CHANGES; i++) {
            const struct change *change = &changes[entity][i];
            state->put_by[entity][change->slot] = change->count ? number : 0;
            state->count[entity][change->slot] = change->count;
        }
    }
}

// ---- the child ----

static inline void commit(OBX_store *store, int64_t number)
{
    struct change changes[2][CHANGES];
    plan(child.seed, number, changes);
    OBX_txn *txn = obx_txn_write(store);
    CHECK(txn != NULL);
    for (int entity = 0; entity < 2; entity++) {
        OBX_box *box = note_box(store, entity ? TWIN : NOTE);
        for (int i = 0; i < CHANGES; i++) {
            const obx_id id = FIRST_ID + changes[entity][i].slot;
            if (changes[entity][i].count) {
                CHECK_OK(note_put(box, id, number, changes[entity][i].count));
            } else {
                const obx_err err = obx_box_remove(box, id);
                CHECK(err == OBX_SUCCESS || err == OBX_NOT_FOUND);
            }
        }
        CHECK_OK(note_put(box, HEAD_ID, number, 8));
    }
    CHECK_OK(obx_txn_success(txn));
}

static inline int64_t head_of(OBX_box *box)
{
    const uint8_t *data = NULL;
    size_t size = 0;
    const obx_err err = obx_box_get(box, HEAD_ID, &data, &size);
    if (err == OBX_NOT_FOUND) return 0;
    CHECK_OK(err);
    return note_number(data);
}

static inline void expect_entity(OBX_box *box, const struct state *state, int entity,
                                 int64_t number)
{
    uint64_t wanted = number ? 1 : 0;
    CHECK_EQ(head_of(box), number); // or a half of a transaction is here
    for (unsigned slot = 0; slot < SLOTS; slot++) {
        const int64_t put_by = state->put_by[entity][slot];
        bool is_there = false;
        CHECK_OK(obx_box_contains(box, FIRST_ID + slot, &is_there));
        CHECK_EQ(is_there, put_by != 0);
        if (!is_there) continue;
        note_expect(box, FIRST_ID + slot, put_by, state->count[entity][slot]);
        wanted++;
    }
    CHECK_EQ(note_count(box), wanted);
}

/* The number of the newest transaction, after everything was compared. */
static inline int64_t expect_all(OBX_store *store)
{
    OBX_box *boxes[] = {note_box(store, NOTE), note_box(store, TWIN)};
    struct state state = {0};
    OBX_txn *txn = obx_txn_read(store);
    CHECK(txn != NULL);
    const int64_t number = head_of(boxes[0]);
    CHECK(number >= child.reported && number <= child.reported + 1);
    for (int64_t i = 1; i <= number; i++) advance(&state, child.seed, i);
    for (int entity = 0; entity < 2; entity++) {
        expect_entity(boxes[entity], &state, entity, number);
    }
    CHECK_OK(obx_txn_close(txn));
    return number;
}

static inline void report(int64_t number)
{
    CHECK_EQ(write(child.pipe_end, &number, sizeof(number)), sizeof(number));
}

static inline OBX_store *open_proven(void)
{
    OBX_store_options *options = note_options(directory, 0);
    obx_opt_validate_on_open_pages(options, SIZE_MAX, 0);
    OBX_store *store = obx_store_open(options);
    if (!store) CHECK_TEXT(obx_last_error_message(), "no error");
    return store;
}

// On a thread of its own, where a check that does not hold ends the process.
static inline void work(void *argument)
{
    (void)argument;
    while (true) {
        OBX_store *store = open_proven();
        child.reported = expect_all(store);
        report(child.reported);
        if (child.is_quiet && !freopen("/dev/null", "w", stderr)) _exit(4);
        for (int i = 0; i < SESSION; i++) {
            commit(store, child.reported + 1);
            report(++child.reported);
        }
        CHECK_OK(obx_store_close(store));
    }
}

/* A child that does that on a thread, and the end of the pipe on which it reports. */
static inline pid_t start(void (*run)(void *), int *out_read_end)
{
    int ends[2];
    CHECK(pipe(ends) == 0);
    const pid_t process = fork();
    CHECK(process >= 0);
    if (process == 0) {
        struct thread thread;
        close(ends[0]);
        child.pipe_end = ends[1];
        if (bw_thread_start(&thread, run, NULL)) _exit(2);
        bw_thread_join(&thread);
        _exit(3);
    }
    close(ends[1]);
    *out_read_end = ends[0];
    return process;
}
