/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Damage that is no crash: a file that somebody cut, zeroed or overwrote. Copies of a store are
 * damaged in every way alone and in some in pairs, and opened for writing.
 *
 * What must hold: no byte of the damaged file changes; it keeps its name unless it can only be what
 * an unfinished creation leaves; what opens is a state that was; and a store with a durable commit
 * does not open as a new one, unless its file is empty or nothing of a second commit is left in it.
 */
#pragma once

#include "harness/inspect.h"

struct damage_case {
    struct sim_disk *sim; /* borrowed, as all here; not changed */
    const struct geometry *geometry;
    const struct world *world;
    struct random *random;
};

/* False: out_problem (300 bytes) says what. *in_out_count grows by the copies that were opened. */
MUST_CHECK bool damage_copies(const struct damage_case *damage, unsigned *in_out_count,
                              char *out_problem);
