/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file of the simulated disk: a page cache over durable sectors of 512 bytes.
 *
 * What everybody sees is the cache. Below it, each page of 4 KB has what is durable and, oldest
 * first, every content that was written since the last flush: a version. A power cut may keep any
 * of them, sector by sector. The size is apart: it persists or not, whatever the data does.
 *
 * Invariants:
 *   S1  The cache shows the last version of a page or, when it has none, what is durable, unless
 *       the page is a ghost: written, dropped by a failed flush and called clean all the same.
 *   S2  The cache is zero from the size to the end of the system's page, and cannot be touched
 *       beyond: reading there through a window is an error as it would be on a real file.
 *   S3  A block never changes. Versions, durable pages and copies of the disk share it by count.
 *   S4  Nothing durable lies beyond the durable size.
 *
 * Memory comes from the C library and not through the hooks of base, so that tests that make the
 * engine's allocations fail do not make the disk fail.
 */
#pragma once

#include "os/os.h"

enum {
    SIM_PAGE = 4096,
    SIM_SECTOR = 512,
    SIM_SECTORS = SIM_PAGE / SIM_SECTOR,
    SIM_FILE_MAX = 16 << 20, /* bytes; beyond it the disk is full */
};

/*
 * The pages in which the simulated system maps files: 4 KB, or what BW_OS_PAGE says in bytes, e.g.
 * 65536. Windows begin at a multiple of them and reach to the end of the one that the file ends in.
 */
size_t sim_os_page(void);

/* One content of a page, shared. NULL stands for a page of zeros that takes no space. */
struct sim_block {
    uint32_t uses;
    uint8_t bytes[SIM_PAGE];
};

struct sim_page {
    struct sim_block *durable;
    struct sim_block **versions; /* owned; un-flushed, oldest first */
    size_t version_count, version_room;
    bool is_ghost;   /* S1 */
    bool is_partial; /* one of its versions came from a write of less than a page */
};

struct sim_file {
    struct sim_file *next; /* in the disk's list */
    uint64_t inode;
    size_t uses;         /* names, pending operations, opens, windows */
    size_t shared_count; /* locks */
    bool is_exclusive;

    uint8_t *cache; /* owned: SIM_FILE_MAX bytes of address space */
    uint64_t size, durable_size;
    uint64_t *sizes; /* owned; un-flushed, oldest first */
    size_t size_count, size_room;
    struct sim_page *pages; /* owned */
    size_t page_count;

    struct sim_file *copied; /* while the disk is copied */
};

/* How a power cut deals with pages. */
struct sim_weather {
    struct random *random; /* borrowed */
    bool atomic_slots;     /* pages 0 and 1 are never torn: the disk's sectors are 4 KB */
    bool torn_slots;       /* pages 0 and 1 often lose one sector */
};

/*
 * Instead of chance: put the content that survives into out. versions[0] is what is durable.
 * Size number size_at survives: 0 the durable one, then the un-flushed ones; beyond: the last.
 */
struct sim_outcome {
    void (*choose)(void *argument, size_t page, const uint8_t *const *versions, size_t count,
                   uint8_t *out);
    void *argument;
    size_t size_at;
};

struct sim_file *sim_file_new(uint64_t inode);
void sim_file_free(struct sim_file *file);
struct sim_file *sim_file_copy(const struct sim_file *file);

/* Write into the cache. at + size must not pass SIM_FILE_MAX. */
void sim_file_write(struct sim_file *file, uint64_t at, const uint8_t *data, size_t size);
void sim_file_resize(struct sim_file *file, uint64_t size);

/* Does a page take space: was it written since the file last ended before it? */
bool sim_file_has_page(const struct sim_file *file, size_t page);

/* A good flush: everything in the cache becomes durable. */
void sim_file_settle(struct sim_file *file);

/* A failed one: each page is durable, still waiting, or lost and called clean. */
void sim_file_settle_badly(struct sim_file *file, struct random *random);

/* Memory pressure: clean pages are read again, and ghosts with them are gone. */
void sim_file_evict(struct sim_file *file);

/* What is left of the file after a power cut. outcome may be NULL. */
void sim_file_cut_power(struct sim_file *file, const struct sim_weather *weather,
                        const struct sim_outcome *outcome);

/* Number of pages with versions, and the largest of their numbers + 1. */
size_t sim_file_dirty_count(const struct sim_file *file, size_t *out_end);
