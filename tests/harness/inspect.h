/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looking at a store on a simulated disk the way recovery finds it: opened read-only, compared byte
 * for byte with what the world knows, walked by bw_store_check; then the commit before it, where it
 * could be opened; then once more, since two opens must agree.
 */
#pragma once

#include "harness/sim_disk.h"
#include "harness/world.h"
#include "store/page.h"

#define STORE_DIRECTORY "db"
#define STORE_FILE "db/data.mdb"

/* Blocks that the engine may keep for the next transaction when all stores are closed: slabs of
 * pages, in builds that do not hunt for pointers kept too long. */
#ifdef BW_SLOW_CHECKS
#define BLOCKS_KEPT 0
#else
#define BLOCKS_KEPT 2
#endif

struct inspection {
    struct sim_disk *sim;            /* borrowed, as all here */
    const struct geometry *geometry; /* NULL: the product's */
    const struct world *world;
    bool verify_manifest; /* the seal is not trusted */
    bool newest_only;     /* what use_previous would open is not looked at */

    uint64_t serial;   /* of the state found; 0: none */
    uint64_t older;    /* of what use_previous opens, 0: nothing else */
    bool is_refused;   /* FILE_CORRUPT or alike: no state at all */
    char problem[300]; /* why inspect said false */
};

/* Options for opening the store of a trial. */
struct store_options inspect_options(struct sim_disk *sim, const struct geometry *geometry);

/* False: something is not as it must be. Refusal alone is no problem: whether it may be is the
 * caller's to know. */
MUST_CHECK bool inspect(struct inspection *inspection);

/* The same for an open store: its newest state must be this one. out_problem has 300 bytes. */
MUST_CHECK bool inspect_open(struct store *store, const struct world *world, uint64_t serial,
                             bool is_checked, char *out_problem);
