/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One history of a store on a simulated disk, from a seed: a few processes, one after the other,
 * each of which opens, commits and stops at some call or closes; between them the power may fail.
 * After each of them everything is inspected.
 *
 * What must hold after each process:
 *   the state found is one that a commit tried to make, not aborted and not rolled back since;
 *   it is at least as new as the last acknowledged one, and not older than what was found before;
 *   without a power cut it is the newest one that was visible, LAZY or not;
 *   it is whole, byte for byte, and so is the commit before it wherever that could be opened;
 *   two openings agree, and an opening for writing agrees with one for reading.
 * While a process runs: what its readers and its newest state see does not change.
 *
 * A flavour is a kind of trouble; the ones here are those of the protocol's model.
 */
#pragma once

#include "harness/inspect.h"

struct flavour {
    const char *name;
    unsigned keys_min, keys_max;
    unsigned flush_fails, write_fails, full; /* percent of calls, calls, trials */
    unsigned lazy;                           /* percent of processes with LAZY durability */
    bool is_short;  /* crashes around the first commits; the same transaction is tried again */
    bool is_twin;   /* rejected slots; the same transaction is tried again */
    bool is_seal;   /* clean closes; slots that lose one sector */
    bool is_lying;  /* one flush does nothing, and the power goes before the next one returns */
    bool is_bulk;   /* trees that are emptied and filled again in one transaction */
    bool is_group;  /* while one commit flushes, others are staged */
    bool is_damage; /* after each process, damaged copies of the file are opened */
};

enum { FLAVOUR_COUNT = 11 };
extern const struct flavour trial_flavours[FLAVOUR_COUNT];
const struct flavour *trial_flavour(const char *name);

struct trial_result {
    unsigned crashes; /* recoveries, each inspected once */
    unsigned commits, damages;
    bool is_violated;
    char violation[400];
};

void trial_run(const struct flavour *flavour, uint64_t seed, struct trial_result *out_result);
