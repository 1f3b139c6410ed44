/* SPDX-License-Identifier: Apache-2.0 */
/*
 * boxwood.h - what Boxwood offers beyond the ABI of objectbox.h.
 *
 * Conventions of both headers:
 *  1. Functions that can fail return obx_err: 0 is success. 404 (not found), 1001 (no success) and
 *     1002 (time-out) are answers and set no error; codes from 10001 on set the calling thread's
 *     last error. Functions here take a last parameter, `out_failure`, that may be NULL and is
 *     filled only on failure.
 *  2. "Consumed" arguments belong to the library from the call on, also when it fails. Everything
 *     else stays the caller's.
 *  3. Bytes of objects that are handed out belong to their transaction: they are valid until it
 *     ends or, in a write transaction, until its next write. They are aligned to 8.
 *  4. Texts are UTF-8 and end with a NUL; bool is one byte; ids are never 0.
 *  5. Stores and boxes may be used by all threads. A boxwood_txn or boxwood_scan may wander between
 *     threads but is used by one at a time; two at once: 10001. OBX_txn and cursors belong to the
 *     thread that began them.
 *  6. A handle that is closed, foreign or NULL gives a typed error, never a crash.
 */
#ifndef BOXWOOD_H
#define BOXWOOD_H

#include "objectbox.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What went wrong, beyond a code. 272 bytes, no pointers. */
typedef struct boxwood_failure {
    obx_err code;
    int32_t secondary;               /* errno or 0 */
    uint32_t entity_id, property_id; /* 0: none in particular */
    uint64_t index;                  /* position in the batch; UINT64_MAX: none in particular */
    obx_id id, other_id; /* of that object (0: new or unknown); the one it collides with */
    char message[232];   /* UTF-8, cut at a character */
} boxwood_failure;

/* Codes of Boxwood's own; functions of objectbox.h never return them. */
enum { BOXWOOD_ERROR_CANCELLED = 10901 };

/* How far long work is: done of total units, in no fixed step. False cancels it (10901). Called on
 * the thread that made the call; it must not use the store. */
typedef bool boxwood_progress(void* user_data, uint64_t done, uint64_t total);

/* ---- models and stores ---- */

/* A compiled model: immutable, shared by any number of stores. Opening a store with it costs the
 * same for 1 and 1,000 entities. */
typedef struct boxwood_model boxwood_model;

/* model is consumed. Release what you get; stores that use it keep it alive. */
obx_err boxwood_model_compile(OBX_model* model, boxwood_model** out_model,
                              boxwood_failure* out_failure);
/* NULL is allowed. */
void boxwood_model_release(boxwood_model* model);

/* Use a compiled model for opening, instead of obx_opt_model. It is not consumed. */
obx_err boxwood_opt_model(OBX_store_options* options, boxwood_model* model);

/* How safe a commit is. FULL is the default everywhere. */
typedef enum {
    BoxwoodDurability_Full = 1,    /* a commit returns when the device has it */
    BoxwoodDurability_Barrier = 2, /* when the device keeps it in order: a power cut may take back
                                      the newest commits, never earlier ones. Cheaper on Apple's
                                      systems (F_BARRIERFSYNC), elsewhere the same as Full */
    BoxwoodDurability_Lazy = 3,    /* when the system has it: a power cut may take back the commits
                                      since the last flush, in order and whole; the end of the
                                      process loses nothing. See boxwood_store_flush */
    BoxwoodDurability_None = 4,    /* no flush at all: for tests and data that may be lost */
} BoxwoodDurability;
obx_err boxwood_opt_durability(OBX_store_options* options, BoxwoodDurability durability);

/* As obx_store_open; options are consumed. */
obx_err boxwood_store_open(OBX_store_options* options, OBX_store** out_store,
                           boxwood_failure* out_failure);

enum { BOXWOOD_CLOSE_FORCE = 1 };
/* Refuses with 10001 while transactions are open, unless forced: then they are doomed, and memory
 * is kept until the last of them ends. NULL is allowed. */
obx_err boxwood_store_close(OBX_store* store, uint32_t flags, boxwood_failure* out_failure);

typedef struct boxwood_store_stats {
    size_t size;          /* in: sizeof(boxwood_store_stats) */
    uint64_t file_size;   /* bytes of the file as of the newest commit */
    uint64_t used_size;   /* bytes of it that are reachable */
    uint64_t txn_id;      /* number of the newest commit */
    bool opened_previous; /* obx_opt_use_previous_commit took effect */
    bool opened_older; /* the newest commit on disk was damaged and the one before it was taken */
} boxwood_store_stats_t;
obx_err boxwood_store_stats(OBX_store* store, boxwood_store_stats_t* out_stats,
                            boxwood_failure* out_failure);

/* Make all commits durable: for stores opened with Lazy. 10103 when the device refuses: the store
 * has to be closed. */
obx_err boxwood_store_flush(OBX_store* store, boxwood_failure* out_failure);

enum { BOXWOOD_CHECK_PAGES_ONLY = 1, BOXWOOD_CHECK_TEXTS = 8 };

typedef struct boxwood_check_report {
    size_t size;                               /* in: sizeof(boxwood_check_report) */
    uint64_t txn_id;                           /* of the state that was checked */
    uint64_t pages;                            /* that it reaches, of 4,096 bytes; among them: */
    uint64_t branches, leaves, overflow_pages; /* a leaf may have several pages */
    uint64_t trees, objects;                   /* trees hold the objects of one type, or an index */
    uint64_t problems;
    uint64_t first_page; /* the first damaged page that was met; 0: none is known by its number */
    char texts[BOXWOOD_CHECK_TEXTS][256]; /* of the first problems; "" behind the last */
} boxwood_check_report;

/*
 * Prove the newest state of a store: every page is reachable once and fits its checksum, what is
 * called free is not reachable, keys ascend, counts are right; and, unless PAGES_ONLY, every object
 * is a proper one of its type. Returns 0 also when there are problems; an error means that the
 * check itself could not be done. Stops neither readers nor writers: commits go on meanwhile.
 * progress counts pages and objects, and may be NULL.
 */
obx_err boxwood_store_check(OBX_store* store, uint32_t flags, boxwood_check_report* out_report,
                            boxwood_progress* progress, void* user_data,
                            boxwood_failure* out_failure);

enum { BOXWOOD_SALVAGE_TYPES = 64 };

/* Objects of one type: certain ones, which the newest readable state leads to; guesses, which
 * nothing leads to and nothing contradicts, and which may be older than the newest state; how many
 * should be there and are not, as far as that is known; and what is no proper object of its type.
 */
typedef struct boxwood_salvage_type {
    uint32_t entity_id;
    char name[60]; /* cut; "" when the schema is lost */
    uint64_t certain, guessed, lost, refused;
} boxwood_salvage_type;

typedef struct boxwood_salvage_report {
    size_t size;               /* in: sizeof(boxwood_salvage_report) */
    uint64_t txn_id;           /* of the commit that can be read; 0: no state of the store can */
    uint64_t file_pages;       /* of the damaged file, of 4,096 bytes */
    uint64_t pages_lost;       /* places that lead to a damaged page */
    uint64_t pages_unreadable; /* attempts at reading that the device refused */
    uint64_t certain, guessed, lost, refused; /* objects of all types */
    bool has_checksums;    /* false: the store's identity is lost; only their form tells pages */
    bool has_schema;       /* false: open the new store with your model */
    bool has_later_commit; /* pages of a later commit are there that cannot be used */
    bool has_all_roots;    /* false: of some types nobody knows how many objects there were */
    uint32_t type_count;   /* may be more than lie below */
    boxwood_salvage_type types[BOXWOOD_SALVAGE_TYPES];
} boxwood_salvage_report;

/*
 * Write what can be had of a damaged store to a new one in to_directory, which must not hold one.
 * The damaged file is only read; nobody may have it open. A failure leaves no new store. Takes the
 * time of reading the file twice, and memory of 48 bytes for each of its pages at most, besides the
 * largest object. progress counts pages, twice each, and may be NULL.
 */
obx_err boxwood_salvage(const char* from_directory, const char* to_directory,
                        boxwood_salvage_report* out_report, boxwood_progress* progress,
                        void* user_data, boxwood_failure* out_failure);

typedef struct boxwood_compact_report {
    size_t size;                                /* in: sizeof(boxwood_compact_report) */
    uint64_t file_size_before, file_size_after; /* bytes */
    uint64_t moved_pages, steps;                /* pages of 4,096 bytes; a step is one commit */
} boxwood_compact_report;

/*
 * Make the file of an open store smaller: what lies at its end moves to free places further down,
 * some dozen pages a commit, and the end is given back. Readers and writers go on; none of them
 * waits longer than for a small commit. What open transactions read stays where it is: the file
 * gets smaller still when they have ended. progress counts pages to be moved and may be NULL; when
 * it cancels, what was moved stays moved. A thread that has a write transaction open gets 10001.
 */
obx_err boxwood_store_compact(OBX_store* store, boxwood_compact_report* out_report,
                              boxwood_progress* progress, void* user_data,
                              boxwood_failure* out_failure);

/*
 * ---- backups and copies of an open store ----
 *
 * They hold the newest commit; nobody waits for them, writers included. Whatever they make gets its
 * name when it is complete and durable; a failure, also of the power, leaves nothing under it, or
 * what was there before. Paths may begin with "memory:". progress may be NULL.
 */

/* As obx_store_back_up_to_file(), with progress. A backup of that name is replaced; any other file
 * is not: 10001. */
obx_err boxwood_store_backup(OBX_store* store, const char* backup_file, uint32_t flags,
                             boxwood_progress* progress, void* user_data,
                             boxwood_failure* out_failure);
/*
 * Make a store in a directory from a backup; OBXBackupRestoreFlags. 10008: the backup is not whole
 * to the last bit. 10001: there is a database already and it is not to be overwritten, or it is
 * open, here or elsewhere. Overwriting puts the new file into the old one's place at once, at the
 * end.
 */
obx_err boxwood_restore(const char* backup_file, const char* directory, uint32_t flags,
                        boxwood_progress* progress, void* user_data, boxwood_failure* out_failure);
/* Copy to another directory, without the free space: another store with the same content. 10001:
 * there is a database already. */
obx_err boxwood_store_copy(OBX_store* store, const char* directory, boxwood_progress* progress,
                           void* user_data, boxwood_failure* out_failure);

/* ---- transactions as handles: not tied to a thread ---- */

typedef struct boxwood_txn boxwood_txn;

enum { BOXWOOD_TXN_READ = 0, BOXWOOD_TXN_WRITE = 1 };

/* A write transaction waits up to wait_ms for the one before it (0: not, -1: for ever), then 1002.
 * A thread that has an OBX_txn open for writing on this store gets 10001 instead of waiting for
 * itself. */
obx_err boxwood_txn_begin(OBX_store* store, uint32_t flags, int64_t wait_ms, boxwood_txn** out_txn,
                          boxwood_failure* out_failure);
/* Both consume txn in every case. */
obx_err boxwood_txn_commit(boxwood_txn* txn, boxwood_failure* out_failure);
void boxwood_txn_abort(boxwood_txn* txn); /* NULL is allowed */

/* ---- batches. txn NULL everywhere: a transaction of the call's own ---- */

enum { BOXWOOD_PUT = 0, BOXWOOD_INSERT = 1, BOXWOOD_UPDATE = 2, BOXWOOD_SKIP_FAILED = 4 };

/*
 * Put `count` (up to 2^24) objects that lie in one buffer of `size` (below 4 GiB) bytes, aligned to
 * 8: object i ends at ends[i] and begins at ends[i-1] rounded up to 8. ids: 0 or OBX_ID_NEW in, the
 * final id out; the id inside the bytes is ignored, the stored copy carries the final one.
 * Everything is checked before the first write: a failure found then names its index, leaves ids
 * and the transaction as they were. After the first write only the world can fail (full, I/O); a
 * given txn is then doomed. SKIP_FAILED: objects refused for their ids are left out, ids[i] becomes
 * 0, and 1001 is returned.
 */
obx_err boxwood_box_put_packed(OBX_box* box, boxwood_txn* txn, const void* data, size_t size,
                               const uint32_t* ends, size_t count, obx_id* ids, uint32_t flags,
                               boxwood_failure* out_failure);

/* Missing ids are skipped; out_removed may be NULL. */
obx_err boxwood_box_remove_packed(OBX_box* box, boxwood_txn* txn, const obx_id* ids, size_t count,
                                  uint64_t* out_removed, boxwood_failure* out_failure);
obx_err boxwood_box_remove_all(OBX_box* box, boxwood_txn* txn, uint64_t* out_removed,
                               boxwood_failure* out_failure);

/* Copy one object. 404: there is none. 1001: *in_out_size was too small and now says what is
 * needed. */
obx_err boxwood_box_copy(OBX_box* box, boxwood_txn* txn, obx_id id, void* buffer,
                         size_t* in_out_size, boxwood_failure* out_failure);
obx_err boxwood_box_contains(OBX_box* box, boxwood_txn* txn, obx_id id, bool* out_contains,
                             boxwood_failure* out_failure);
/* limit 0: no limit. Costs the same for 1 and 1,000,000 objects. */
obx_err boxwood_box_count(OBX_box* box, boxwood_txn* txn, uint64_t limit, uint64_t* out_count,
                          boxwood_failure* out_failure);

/* ---- reading in chunks ---- */

typedef struct boxwood_object {
    obx_id id;
    const uint8_t* data; /* NULL: there is no such object (only of boxwood_box_scan_ids) */
    size_t size;
} boxwood_object;

typedef struct boxwood_scan boxwood_scan;

/* All objects from first_id on, ascending. With txn NULL the scan holds a snapshot of its own until
 * boxwood_scan_end. */
obx_err boxwood_box_scan(OBX_box* box, boxwood_txn* txn, obx_id first_id, boxwood_scan** out_scan,
                         boxwood_failure* out_failure);
/* The objects with these ids (copied), in their order. */
obx_err boxwood_box_scan_ids(OBX_box* box, boxwood_txn* txn, const obx_id* ids, size_t count,
                             boxwood_scan** out_scan, boxwood_failure* out_failure);
/* Up to `room` (1 to 65,536) objects; *out_count 0 is the end. After a write in the transaction it
 * goes on behind the last id it gave. */
obx_err boxwood_scan_next(boxwood_scan* scan, boxwood_object* out_objects, size_t room,
                          size_t* out_count, boxwood_failure* out_failure);
void boxwood_scan_end(boxwood_scan* scan); /* NULL is allowed */

#ifdef __cplusplus
}
#endif

#endif /* BOXWOOD_H */
