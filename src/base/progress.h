/* SPDX-License-Identifier: Apache-2.0 */
/* How long work tells its caller how far it is, and learns that it should stop. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct progress {
    /* done of total units, in no fixed step; the last call has done = total. False: stop. Called on
     * the thread that works, with nothing locked but what the work itself needs. */
    bool (*report)(void *user, uint64_t done, uint64_t total);
    void *user; /* borrowed */
};

/* CANCELLED when the caller wants no more. NULL is allowed: nobody listens. */
MUST_CHECK static inline bw_err bw_progress_report(const struct progress *progress, uint64_t done,
                                                   uint64_t total)
{
    if (!progress || !progress->report || progress->report(progress->user, done, total))
        return BW_OK;
    return bw_fail(BW_ERR_CANCELLED, "Cancelled by the caller");
}
