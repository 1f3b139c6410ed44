/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A simulated disk behind struct disk, on which power fails, calls fail and processes end, all from
 * a seed. One thread at a time.
 *
 * What may happen to the bytes of a file is in sim_file.h. Names are apart: a new, renamed or
 * removed file and a new directory are durable only once their directory is flushed; until then a
 * power cut keeps the first few of a directory's changes.
 *
 * Stopping: a test cannot leave the engine in the middle of a call. Instead the call at which the
 * process is to end fails, and every later one fails too and changes nothing. The engine's handles
 * are then closed as always, which gives back its memory and the locks. sim_disk_restart begins the
 * next process; before it, the test may cut the power.
 *
 * Invariants:
 *   N1  While stopped, no call changes anything but closing, unmapping and giving up locks.
 *   N2  The names everybody sees are the durable ones and, in order, the pending changes.
 *   N3  A file lives while a name, a durable name, a pending change, an open or a window has it.
 *   N4  A call counts as a step, at which the process may end, only if it can change something.
 */
#pragma once

#include "harness/sim_file.h"

/* What a call on a stopped disk returns. */
#define SIM_STOPPED BW_ERR_SHUTTING_DOWN

/* Calls so far, failed ones and those of a stopped disk left out. */
struct sim_counts {
    uint64_t opens, infos, look_ups, locks, maps;
    uint64_t reads, read_bytes;
    uint64_t writes, written_bytes, resizes, flushes;
    uint64_t makes, renames, removes, directory_flushes;
};

struct sim_name {
    char *path;            /* owned */
    struct sim_file *file; /* NULL: a directory */
};

struct sim_names {
    struct sim_name *items; /* owned */
    size_t count;
};

struct sim_change {
    enum { SIM_MAKE, SIM_CREATE, SIM_RENAME, SIM_REMOVE } kind;
    char *path, *to; /* owned; to: SIM_RENAME */
    struct sim_file *file;
};

struct sim_disk {
    struct disk disk; /* first: what the engine gets */
    struct random random;
    uint64_t device, inode_count;
    struct sim_file *files; /* all that live */
    struct sim_names names, durable_names;
    struct sim_change *changes; /* owned; pending, in order */
    size_t change_count;
    size_t open_count, window_count;

    struct sim_counts counts;
    uint64_t step_count;
    bool is_stopped;
    bool is_in_hook;

    /* Set by the test. */
    int64_t steps_left;   /* so many succeed, the next one stops the disk; -1: never */
    unsigned flush_fails; /* percent of flushes */
    unsigned write_fails; /* percent of writes, with EIO */
    uint64_t page_max;    /* pages of a file; beyond them ENOSPC; 0: no limit */
    bool may_lie;         /* one flush may succeed and do nothing; the disk stops at the next */
    bool atomic_slots, torn_slots; /* see struct sim_weather */
    void (*hook)(void *argument);  /* called before each step; its own calls are no steps */
    void *hook_argument;
    /* Called within a flush that succeeds, when the device has taken what was written before: what
     * others write then is not flushed. Its calls are steps. */
    void (*during_flush)(void *argument);
    void *during_flush_argument;
    bool is_traced; /* print each step */

    /* Told to the test. */
    bool has_lied;
    uint64_t failed_flush_count;
};

void sim_disk_init(struct sim_disk *sim, uint64_t seed);
void sim_disk_deinit(struct sim_disk *sim);

/* The same files, names and settings, without hook and opens, with random numbers of its own. */
void sim_disk_copy(const struct sim_disk *from, struct sim_disk *to);

/* Begin the next process: whatever was opened before must be closed. Failures are switched off. */
void sim_disk_restart(struct sim_disk *sim);

/* A directory that has nothing in it when a process begins is the user's, and counts as durable
 * (R17): call this before a process that may create a store. */
void sim_disk_keep_bare_directories(struct sim_disk *sim);

/* What the power cut leaves becomes what everybody sees. outcome: see sim_file.h; may be NULL. */
void sim_disk_cut_power(struct sim_disk *sim, const struct sim_outcome *outcome);

/* Everything reaches the platter, names too. */
void sim_disk_settle(struct sim_disk *sim);

/* Clean pages are dropped from the cache: what a failed flush lost disappears. */
void sim_disk_evict(struct sim_disk *sim);

/* The file of that name, or NULL. */
struct sim_file *sim_disk_find(struct sim_disk *sim, const char *path);

/* Damage, not by the engine: change bytes inside a file, or cut it, durably. */
void sim_disk_poke(struct sim_disk *sim, const char *path, uint64_t at, const void *data,
                   size_t size);
void sim_disk_cut_file(struct sim_disk *sim, const char *path, uint64_t size);
