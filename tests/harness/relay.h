/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A disk in front of another one: it counts what the engine asks for, and lets one call fail.
 *
 * Where the simulated disk fails by chance, here the n-th call of a scenario fails, whatever it is,
 * so that counting up reaches every call there is.
 */
#pragma once

#include "os/os.h"

enum relay_call {
    CALL_OPEN,
    CALL_CLOSE,
    CALL_INFO,
    CALL_READ,
    CALL_WRITE,
    CALL_RESIZE,
    CALL_FLUSH,
    CALL_LOCK,
    CALL_MAP,
    CALL_UNMAP,
    CALL_MAKE_DIRECTORY,
    CALL_FLUSH_DIRECTORY,
    CALL_RENAME,
    CALL_REMOVE,
    CALL_LOOK_UP,
    CALL_COUNT
};

/* What has become of the bytes when a write fails. */
enum relay_loss { LOSS_ALL, LOSS_HALF, LOSS_NONE };

struct relay {
    struct disk disk; /* first: what the engine gets */
    struct disk *to;  /* borrowed */
    uint64_t counts[CALL_COUNT];
    uint64_t written_bytes;
    char log[256]; /* the first calls, a letter each: see relay_letters */
    size_t log_size;

    /* Set by the test: the call after so many that can fail does; -1: none. */
    int64_t fail_after;
    bw_err fail_with; /* 0: STORAGE_GENERAL */
    enum relay_loss loss;
    bool has_failed;
    enum relay_call failed; /* once has_failed */

    /* Called before each call that can fail: what another process does just then. May be NULL. */
    void (*hook)(enum relay_call call);
};

/* O open, c close, i info, r read, w write, s resize, f flush, l lock, m map, u unmap,
 * D make directory, F flush directory, n rename, d remove, k look up. */
extern const char relay_letters[CALL_COUNT + 1];

void relay_init(struct relay *relay, struct disk *to);

/* Forget counts and log; what fails stays as it is. */
void relay_reset(struct relay *relay);

/* All calls so far. */
uint64_t relay_total(const struct relay *relay);
