/* SPDX-License-Identifier: Apache-2.0 */
/*
 * os - everything the process asks of an operating system.
 *
 * Files go through a struct of functions, struct disk, so that the same engine runs on POSIX
 * files, in memory, and on the simulated disk of the tests that loses power. Threads, clocks,
 * random bytes and fork are plain functions below. Only this layer may see a platform.
 */
#pragma once

#include "base/base.h"

struct disk;

/* An open file: a value, copied freely, closed once. handle's meaning is the disk's own. */
struct file {
    struct disk *disk; /* borrowed */
    intptr_t handle;
};

/* Identity and size of a file. device and inode together name it within the process's view. */
struct file_info {
    uint64_t size, device, inode;
};

/* A piece of a gathered write. */
struct span {
    const void *data; /* borrowed */
    size_t size;
};

enum open_mode {
    OPEN_READ,   /* existing, for reading */
    OPEN_WRITE,  /* existing, for reading and writing */
    OPEN_CREATE, /* made when missing, for reading and writing; never truncates */
};

enum flush_kind {
    FLUSH_DEVICE, /* on the device when it returns: fdatasync, F_FULLFSYNC on Apple */
    FLUSH_ORDER,  /* before everything that is written later: F_BARRIERFSYNC on Apple, elsewhere as
                     FLUSH_DEVICE */
};

enum lock_kind { LOCK_NONE, LOCK_SHARED, LOCK_EXCLUSIVE };

/*
 * A disk. Paths are UTF-8. Every function may fail with BW_ERR_STORAGE_GENERAL or another code of
 * the 101xx group and the system's error number as secondary, its text naming the path or the call;
 * "does not exist" and "is locked" are answers, not errors.
 */
struct disk {
    /* *out_found false: no such file (or no such directory on the way), nothing opened, out_file
     * untouched. Any other problem, e.g. permission, is an error. */
    bw_err (*open)(struct disk *disk, const char *path, enum open_mode mode, unsigned permissions,
                   struct file *out_file, bool *out_found);
    void (*close)(struct file file);
    bw_err (*info)(struct file file, struct file_info *out_info);

    /* Up to size bytes at an offset; fewer only at the end of the file. */
    bw_err (*read)(struct file file, uint64_t at, void *to, size_t size, size_t *out_read);

    /* All spans, one after the other from `at`; extends the file. BW_ERR_DB_FULL when the device
     * is full (ENOSPC, EDQUOT, EFBIG). After an error some bytes may have been written. */
    bw_err (*write)(struct file file, uint64_t at, const struct span *spans, size_t span_count);

    /* Set the size; new bytes read as zero. */
    bw_err (*resize)(struct file file, uint64_t size);

    /* Make data and size durable, or only ordered. Never retried by anyone. */
    bw_err (*flush)(struct file file, enum flush_kind kind);

    /* Take, change or give up the lock of this open file on its one lock byte, far beyond any data,
     * without waiting. It belongs to the open file, so that it ends with close and two opens in one
     * process exclude each other. *out_got false: somebody else holds it. */
    bw_err (*lock)(struct file file, enum lock_kind kind, bool *out_got);

    /* A read-only window of `size` bytes at `at` (a multiple of 64 KB), which may reach beyond the
     * end of the file: bytes there may be touched once the file has grown over them. It shows later
     * writes. The address is at least 4 KB aligned. */
    bw_err (*map)(struct file file, uint64_t at, size_t size, const uint8_t **out_window);
    void (*unmap)(struct file file, const uint8_t *window, size_t size);

    /* Names. Making what exists is a success (*out_made false), even if it is no directory: opening
     * a name below it will tell. Parents are not made. */
    bw_err (*make_directory)(struct disk *disk, const char *path, unsigned permissions,
                             bool *out_made);
    /* Make the entries of a directory durable. A file system that refuses this (EINVAL, ENOTSUP) is
     * tolerated. */
    bw_err (*flush_directory)(struct disk *disk, const char *path);
    bw_err (*rename)(struct disk *disk, const char *from, const char *to);
    /* Remove a file. *out_found false: there was none. */
    bw_err (*remove)(struct disk *disk, const char *path, bool *out_found);
    /* What the name refers to now, links followed. *out_is_directory may be NULL. */
    bw_err (*look_up)(struct disk *disk, const char *path, struct file_info *out_info,
                      bool *out_is_directory, bool *out_found);
};

/* The files of this machine. One per process, never freed. */
struct disk *bw_disk_posix(void);

/*
 * Files that live in this process's memory until removed ("memory:" stores). One name space per
 * process, shared by all threads; make_directory and flush_directory succeed and do nothing; locks
 * work as on files; map gives the bytes themselves, and only windows within one aligned 64 MB.
 * Device is 0 and inodes are never reused.
 */
struct disk *bw_disk_memory(void);

/* ---- threads. None of these can fail except by a broken platform, which aborts. ---- */

struct mutex {
    uint64_t platform[8]; /* room for the platform's own; zeroed is a valid, unlocked mutex */
};
struct condition {
    uint64_t platform[8]; /* zeroed is valid */
};

void bw_mutex_lock(struct mutex *mutex);
void bw_mutex_unlock(struct mutex *mutex);

void bw_condition_wait(struct condition *condition, struct mutex *mutex);
/* False: the time was up first. wait_ms >= 0, by the monotonic clock. */
bool bw_condition_wait_for(struct condition *condition, struct mutex *mutex, int64_t wait_ms);
void bw_condition_wake_one(struct condition *condition);
void bw_condition_wake_all(struct condition *condition);

struct thread {
    void *platform[2];
};
/* Start a thread; BW_ERR_GENERAL when the system has no more. */
MUST_CHECK bw_err bw_thread_start(struct thread *thread, void (*run)(void *), void *argument);
void bw_thread_join(struct thread *thread);

/* A small number that identifies the calling thread in this process, from 1, never reused. */
uint64_t bw_thread_number(void);

/* ---- clocks, random bytes, fork ---- */

/* Milliseconds of a clock that never jumps, the same one read faster but some milliseconds late,
 * and nanoseconds since 1970 UTC. */
int64_t bw_clock_ms(void);
int64_t bw_clock_coarse_ms(void);
int64_t bw_clock_unix_ns(void);

/* Bytes nobody can guess, for identities of stores. */
MUST_CHECK bw_err bw_entropy(void *to, size_t size);

/*
 * Call `in_child` in the child after every fork of this process, on the only thread there is then.
 * Registered once per function; it must not allocate or lock. A platform without fork does nothing.
 */
MUST_CHECK bw_err bw_on_fork(void (*in_child)(void));

/* The environment variable's value, or NULL. */
const char *bw_environment(const char *name);
