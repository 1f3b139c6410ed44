/* SPDX-License-Identifier: Apache-2.0 */
/* Cursors as handles. */
#pragma once

#include "api/access.h"

#define POSITION_START UINT64_C(0)
#define POSITION_END UINT64_MAX

struct position {
    OBX_txn *top; /* borrowed; gone once its slot has another generation */
    uint32_t top_generation;
    struct box *box; /* borrowed from the top's store */
    struct cursor cursor;
    uint64_t id; /* POSITION_START, POSITION_END, or where it stands */
};

struct OBX_cursor {
    struct slot slot;
    struct position *position; /* owned */
};

/*
 * The way to the cursor's objects, if the handle is open, its transaction still is, and it belongs
 * to the calling thread. to_write: STORAGE_GENERAL if the transaction only reads.
 */
MUST_CHECK bw_err bw_cursor_handle_use(OBX_cursor *cursor, int line, struct access *access,
                                       bool to_write);
