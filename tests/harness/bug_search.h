/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A harness that finds nothing proves nothing: with a named bug of base/bug.h switched on,
 * histories from consecutive seeds must find it. Only for tests whose name contains "bugs": they
 * get the library in which bugs can be switched on.
 *
 * Each search is a process of its own, since a broken engine may also die of its bug: by an
 * assertion, by a failed check, or by reading beyond what it owns. That counts as found.
 */
#pragma once

#include <stdint.h>

#include "base/attributes.h"

enum { SEARCH_TEXT_ROOM = 400 };

struct histories {
    const char *name; /* of their kind, to be printed */
    uint64_t count_max;
    /* One history. What it returns and what kills it is found; out_text: why, or "". */
    void (*run)(const void *argument, uint64_t seed, char out_text[SEARCH_TEXT_ROOM]);
    const void *argument; /* borrowed */
};

/* Prints in which history the bug was found, and how; ends the test when it was not. bug NULL: none
 * is switched on, and nothing may be found in `count_max` histories. */
void bug_search(const char *bug, const struct histories *histories);
