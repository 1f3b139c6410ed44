/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random work on a tree beside a model too simple to be wrong: an array of keys in order, each with
 * the size and seed of its value.
 *
 * Work comes in phases that differ in how keys and sizes are drawn, since it is what one phase
 * leaves behind that the next one trips over. After each step the stage must prove itself, and
 * count, bytes and highest key must be the model's; every few steps all values. Where the stage has
 * readers, some are held across commits, and what they see must not change.
 *
 * What is wrong ends the test: see harness/check.h.
 */
#pragma once

#include "store/store.h"

enum { WORK_TREE = 7, WORK_VALUE_MAX = 400 * 1000 };

enum stage_failure {
    STAGE_FAILS_NOTHING,
    STAGE_FAILS_NOTES,  /* NO_MEMORY: notes of what is freed */
    STAGE_FAILS_MEMORY, /* NO_MEMORY: pages */
    STAGE_FAILS_FULL,   /* DB_FULL */
};

/* What the work is done on: a write transaction that goes on after each commit and abort. */
struct stage {
    struct txn *txn; /* the stage's; another one after a commit or an abort */
    void (*commit)(struct stage *stage);
    void (*abort)(struct stage *stage);
    void (*check)(struct stage *stage); /* a proof of everything the transaction sees */
    /* What fails after so many successes. False: this stage cannot let it fail. */
    bool (*fail)(struct stage *stage, enum stage_failure failure, int successes);
    /* A reader of the last commit; NULL: the stage has none. */
    struct txn *(*begin_reader)(struct stage *stage);
    void (*end_reader)(struct stage *stage, struct txn *reader);
};

struct work;

/* WORK_TREE must be empty. */
struct work *work_new(struct stage *stage, uint64_t seed);
/* Ends the readers. */
void work_free(struct work *work);

/* Do one thing, or a few alike, and check. */
void work_step(struct work *work);

/* Let a tree become three levels high, a value a leaf, and take it down to a few keys again: ranges
 * are removed, and single keys put into the gaps, so that branches merge whose bounds are no
 * leaf's. */
void work_thin_out(struct work *work);

/* Compare all values. */
void work_check_all(struct work *work);
