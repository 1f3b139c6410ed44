/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The benchmark's parts: notes as FlatBuffers, and engines that keep them.
 *
 * Everything here ends the program when it fails: a benchmark has nobody to tell.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- bench_notes.c ---- */

/* {id, text of 300 characters, ts} as one FlatBuffers table. */
struct note {
    uint64_t id;
    uint8_t *bytes; /* owned by the array */
    size_t size;
};

/* Notes 1 to count, each with a text of its own. Never freed. */
struct note *bench_notes_make(size_t count);

/* Write another time into a note, so that its bytes differ from those put before. */
void bench_note_touch(struct note *note, int64_t ts);

/* Read every field; the sum over a set of notes does not depend on their order. */
uint64_t bench_note_sum(const uint8_t *bytes);

/* ---- engines ---- */

struct engine {
    const char *title;
    /* The store in a folder that exists; made when the folder is empty. */
    void *(*open)(const char *folder);
    void (*close)(void *store);
    /* Notes with ids that follow the highest, in one durable transaction. */
    void (*put)(void *store, const struct note *notes, size_t count);
    /* One note that exists, in a durable transaction of its own. */
    void (*update)(void *store, const struct note *note);
    uint64_t (*count)(void *store);
    /* Sums of all notes, and of those with the given ids, each in one read transaction. */
    uint64_t (*visit)(void *store);
    uint64_t (*get)(void *store, const uint64_t *ids, size_t count);
};

extern const struct engine bench_boxwood;
#ifdef BENCH_LMDB
extern const struct engine bench_lmdb;
#endif

_Noreturn void bench_fail(const char *format, ...);
