/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file in the making: it gets its name when it is complete and durable.
 *
 * Until then it bears the same name with ".part" behind it, under its lock. What a process leaves
 * there when it dies is overwritten by the next one. A store's own name is claimed first, by the
 * lock of the file that bears it or of an empty one, so that nobody opens or makes a store there
 * meanwhile.
 *
 * Invariants:
 *   Q1  Nothing incomplete has the final name: what is renamed was flushed before.
 *   Q2  What had the name before is as it was until the rename is durable.
 *   Q3  Whoever opened the old file before the rename and locks it afterwards finds it empty, and
 *       so learns that the name means another file (O2).
 */
#pragma once

#include "os/os.h"

struct target {
    struct disk *disk;   /* borrowed; NULL: nothing was opened */
    char *path, *part;   /* owned: the final name, and the one until then */
    struct file file;    /* under that one, locked */
    struct file old;     /* of a store: what bears the final name, locked */
    uint64_t end;        /* bytes; all of them were written */
    bool made_directory; /* or its name may not be durable for another reason */
    bool made_old, is_finished;
};

/*
 * Begin a file, whatever has the name now. ILLEGAL_STATE when somebody else is making it;
 * STORAGE_GENERAL when there is no such directory. On failure nothing is left to close.
 */
MUST_CHECK bw_err bw_target_open(struct target *target, struct disk *disk, const char *path,
                                 unsigned permissions);

/*
 * Begin the file of a store; the directory is made where it is missing. ILLEGAL_STATE when there is
 * a store and it is not to be replaced, when it is open in this process, or locked by another.
 */
MUST_CHECK bw_err bw_target_open_store(struct target *target, struct disk *disk,
                                       const char *directory, unsigned file_mode, bool replaces);

/* Write; what lies between the end so far and `at` becomes zero. */
MUST_CHECK bw_err bw_target_write(struct target *target, uint64_t at, const void *data,
                                  size_t size);

/* The same, behind what was written so far. */
MUST_CHECK bw_err bw_target_append(struct target *target, const void *data, size_t size);

/* The only slot of a store whose other pages were written: with the seal that vouches for it, up to
 * its high-water mark. */
MUST_CHECK bw_err bw_target_write_slots(struct target *target, const uint8_t *image);

/* Flush, rename, flush the directory. */
MUST_CHECK bw_err bw_target_finish(struct target *target);

/* Close; what is not finished is removed. */
void bw_target_close(struct target *target);
