/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine's own structures: the open store, its snapshots, and what one write transaction holds.
 *
 * Words: a snapshot is what one meta slot describes. head is the newest one: a commit stages it,
 * and the next writer builds on it. cur is the newest one that readers see. durable is the newest
 * one known to be on the device, last the newest one that lies in a slot, previous what the slot
 * that does not hold durable held when it was last flushed. A pin is a snapshot whose pages must
 * not change: all of these but staged ones, and those of live readers.
 *
 * Rule numbers R1 to R22 are those of docs/protocol.md.
 */
#pragma once

#include <stdatomic.h>

#include "store/buffers.h"
#include "store/manifest.h"
#include "store/space.h"
#include "store/txn.h"

enum {
    SLOT_COUNT = 2,
    PAGES_MIN = 3,
    TREES_INLINE_MAX = 40,
    SCHEMA_INLINE_MAX = 512,
    REGIONS_MAX = 1024
};

/* Trees of the engine's own. Ids of the layers above stay below. */
#define TREE_CATALOG 0xfffffffeu
#define TREE_SCHEMA 0xfffffffdu

/* A tree descriptor as the slot and the catalogue tree keep it. */
struct tree_entry {
    uint32_t id;
    uint8_t kind, depth;
    page_ref root;
    uint32_t count;
    uint64_t max_key, sequence, bytes;
};

/* An immutable snapshot. It lives while it is head, cur or flying, or a reader's place holds it. */
struct snapshot {
    struct snapshot *older; /* store.mutex: live snapshots, newest first */
    bool is_held;           /* store.mutex: while pruning */
    uint64_t txn_id;
    uint32_t hwm;        /* pages: all of its pages lie below */
    uint32_t used_pages; /* reachable, slots included; 0: not counted yet */
    uint8_t schema_hash[16];
    uint32_t schema_size;
    page_no schema_page;   /* 0: inline below */
    bool has_catalog;      /* the one entry is the catalogue tree's */
    uint16_t tree_count;   /* entries below */
    const uint8_t *schema; /* the inline blob; behind the entries, owned with the snapshot */
    struct tree_entry trees[];
};

/* One mapped window of the file, and which of its pages were verified since opening. */
struct window {
    _Atomic(const uint8_t *) base; /* NULL: not mapped yet */
    _Atomic(uint32_t) *verified;   /* a bit a page; set before base */
};

enum session {
    SESSION_CHOSEN,   /* opened; nothing written, nothing known durable */
    SESSION_READY,    /* fenced: writing is allowed */
    SESSION_POISONED, /* sticky: a flush or slot write failed, or the process forked */
};

/* What outlives a snapshot's struct while its slot counts: where its bitmaps lie, how far it
 * reaches. */
struct mark {
    uint64_t txn_id, checksum; /* checksum: of its slot */
    uint32_t hwm, region_count;
    uint8_t selectors[]; /* which copy of its bitmap counts, a byte a region */
};

/* The bitmap page of a region, complete but for its number and checksum, which depend on the copy.
 */
struct region_image {
    struct region_image *next;
    uint32_t region;
    uint8_t page[PAGE_SIZE];
};

/* What a commit leaves to whoever writes the slot. */
struct staged {
    const struct snapshot *snapshot; /* head, or NULL: nothing is staged */
    struct mark *mark;               /* owned; its selectors and checksum come with the slot */
    uint8_t *bits;                   /* owned: the bitmap for the slot; NULL with regions */
    struct region_image *images;     /* owned: of the regions that changed since last */
    uint32_t image_count;
};

/* What writing needs beyond reading; made at the first write transaction. */
struct writer {
    struct space space; /* the writer lock: the state after head, and of the running transaction */
    uint32_t region_count; /* the writer lock: of head */

    struct staged staged; /* store.mutex */

    /* Changed by the flusher, under store.mutex. */
    unsigned slot;         /* that holds durable */
    struct mark *durable;  /* owned; NULL: no commit yet */
    struct mark *last;     /* owned unless it is durable */
    struct mark *previous; /* owned; NULL: the other slot holds nothing, or the same */
    bool is_sealed;        /* durable is vouched for on disk */

    /* store.mutex. Pages written since the last flush began, those of the flush that is going on,
     * and those of the flush before: all live in head. */
    struct manifest recent, flying, before;
    bool is_large; /* recent has overflowed, and is empty */
};

struct store {
    struct disk *disk; /* borrowed */
    struct file file;
    char *directory; /* owned */
    const struct geometry *geometry;
    uint64_t size_max;
    uint32_t readers_max;
    enum durability durability;
    unsigned file_mode; /* permissions that the file was to get, and copies of it get */
    bool is_read_only, made_directory, names_dirty, verify_manifest;
    bool opened_previous, opened_older;
    _Atomic(bool) is_forked;

    uint8_t uuid[16];
    uint64_t salt; /* of all page checksums: half of the uuid */
    uint64_t device, inode;
    uint64_t opened_size; /* bytes of the file when it was opened */

    struct mutex mutex;
    struct condition writer_gone, flusher_gone;
    _Atomic(struct snapshot *) cur; /* changed under mutex; NULL: no commit yet */
    struct snapshot *head;          /* mutex; NULL: no commit yet */
    const struct snapshot *flying;  /* mutex: in a slot, or about to be, and not cur yet */
    _Atomic(uint32_t) reader_count; /* only if readers_max is set */
    bool is_writing;                /* mutex: the writer lock; it has no owner */
    bool is_flushing;               /* mutex: somebody is the flusher */
    _Atomic(int) session;           /* enum session */
    _Atomic(uint64_t) commit_count, flush_count;

    /* From choosing a slot, until the fence. */
    uint8_t chosen_slot;
    bool chosen_sealed, newer_rejected;
    uint64_t highest_txn; /* in any valid slot, and of every commit since; the writer lock */

    uint64_t file_pages; /* of the file, whole ones; after opening the writer lock */
    struct window first; /* pages 0 to WINDOW_PAGES - 1 */
    _Atomic(struct window *) *_Atomic more; /* mutex to make; blocks of WINDOWS_PER_BLOCK */
    struct writer *writer;                  /* NULL before the first write transaction */
};

enum { WINDOWS_PER_BLOCK = 128, WINDOW_BLOCKS = 128 };

/* An extent this transaction wrote. */
struct extent {
    page_no page;
    uint32_t pages; /* 0: given up again */
    uint8_t *bytes; /* from the transaction's buffers */
};

/* What only a write transaction has. */
struct changes {
    struct buffers buffers;
    struct extent *extents; /* owned; in order of making */
    uint32_t extent_count, extent_room;
    uint32_t page_count; /* given out so far */
    uint32_t *table;     /* page number -> index in extents + 1; open addressing */
    uint32_t table_size, table_used;
    bool use_reserve, has_schema, tried_twin;
    uint8_t schema_hash[16];
    uint8_t *schema; /* owned: the new blob */
    uint32_t schema_size;
};

/* Values that lie in several extents, joined for a reader; aligned to 16. */
struct scratch {
    struct scratch *next;
    _Alignas(16) uint8_t bytes[];
};

struct tree_block {
    struct tree_block *next;
    struct tree tree;
    bool is_dropped;
};

/* Where a reader publishes what it reads; NULL: free. One for each read transaction of the process,
 * each in a cache line of its own. */
struct reader_place {
    _Alignas(64) _Atomic(const struct snapshot *) snapshot;
    _Atomic(uint64_t) thread;  /* who began */
    _Atomic(int64_t) begun_ms; /* of bw_clock_ms */
};

struct txn {
    struct store *store;
    const struct snapshot *snapshot; /* NULL: the store has no commit yet */
    struct reader_place *place;      /* that holds it; NULL: nothing is read, or it is head */
    struct changes *changes;         /* NULL: a read transaction */
    uint64_t id, change;
    bool is_changed;
    struct tree_block *trees; /* touched ones, last used first */
    struct tree_block first;  /* so that most readers allocate nothing more */
    struct scratch *scratch;  /* owned */
};

/* ---- snapshot.c ---- */

MUST_CHECK bw_err bw_snapshot_new(uint16_t tree_count, uint32_t inline_schema_size,
                                  struct snapshot **out_snapshot);
/* Free those that nobody can need any more. Under the store's mutex. */
void bw_snapshot_prune(struct store *store);

/* ---- reader.c ---- */

/* Hold cur for a read transaction. Waits for nobody. NO_MEMORY, MAX_READERS_EXCEEDED. */
MUST_CHECK bw_err bw_reader_begin(struct txn *txn);
void bw_reader_end(struct txn *txn);
/* Set is_held of all snapshots of the store that a reader holds. Under the store's mutex. */
void bw_reader_mark_held(struct store *store);
bool bw_reader_is_any(struct store *store);

/* ---- pins.c ---- */

/* What no pin sees becomes free (R8). The caller has the writer lock. */
MUST_CHECK bw_err bw_pins_ripen(struct store *store);
/* R18: give back the tail of the file that no pin reaches. The caller has the writer lock. */
void bw_pins_trim(struct store *store, bool all);

/* ---- recover.c ---- */

/* Choose the slot to open (R13, R14), or find that the store is new. Fills the store's chosen_*. */
MUST_CHECK bw_err bw_recover_choose(struct store *store, bool use_previous, bool *out_is_new);
/* Is the file without an acceptable slot what a creation leaves behind that never finished (R17)?
 * */
MUST_CHECK bw_err bw_recover_is_unfinished(struct store *store, bool *out_is);
/* R15, R16: before the first write of a session. Loads what writing needs. Poisons on failure of
 * the disk. */
MUST_CHECK bw_err bw_recover_fence(struct store *store);
/* NULL is allowed. */
void bw_recover_free_writer(struct writer *writer);

/* ---- commit.c ---- */

/* From changed pages to a staged head: everything but the slot. A failure is a clean abort (R1). */
MUST_CHECK bw_err bw_commit_run(struct txn *txn);

/* ---- group.c ---- */

/* What a commit hands over: own is its pages, empty if is_large. Everything in both is moved;
 * bw_group_reserve makes room first, so that staging cannot fail. */
MUST_CHECK bw_err bw_group_reserve(struct store *store, struct manifest *own, uint32_t image_count);
void bw_group_stage(struct store *store, struct snapshot *snapshot, struct staged *staged,
                    struct manifest *own, bool is_large);
/* Write the slot of what is staged, unless it is done, until the commit is as safe as the store's
 * durability asks and readers see it. STORE_MUST_SHUTDOWN: nobody knows. */
MUST_CHECK bw_err bw_group_finish(struct store *store, uint64_t txn_id);
/* Make all commits durable. */
MUST_CHECK bw_err bw_group_settle(struct store *store);
/* R22: the durable snapshot in both slots, so that none before it has to be kept. */
MUST_CHECK bw_err bw_group_twin(struct store *store);
/* Make everything written so far durable, names too (R3). The only place that flushes the file. */
MUST_CHECK bw_err bw_group_flush(struct store *store);
/* Outcome unknown: no more writes. Hands back STORE_MUST_SHUTDOWN with a text that ends with the
 * cause's. */
MUST_CHECK bw_err bw_group_poison(struct store *store, const char *what);
/* R20: what closing may still write. */
void bw_group_close(struct store *store);
void bw_group_free_staged(struct staged *staged);

/* ---- txn.c ---- */

/* End a write transaction that has changed something with its snapshot staged; bw_group_finish does
 * the rest. The first commit of a store is finished when this returns. */
MUST_CHECK bw_err bw_txn_stage(struct txn *txn);

/* ---- pager.c ---- */

/* The bytes of pages [page, page + pages) of the file, mapped but not verified. */
MUST_CHECK bw_err bw_pager_view(struct store *store, page_no page, uint32_t pages,
                                const uint8_t **out_bytes);
/* The extent that begins with this page needs no verification any more. */
void bw_pager_mark_verified(struct store *store, page_no page);
void bw_pager_unmap(struct store *store);
void bw_pager_free_scratch(struct txn *txn);

/* Before pages are written: has this process read any of them as a part of some snapshot, although
 * they were called free all the time? Others may be looking at it: FILE_PAGES_CORRUPT. */
MUST_CHECK bw_err bw_pager_check_unread(const struct txn *txn);

MUST_CHECK bw_err bw_changes_new(struct changes **out_changes);
void bw_changes_free(struct changes *changes);

/* ---- catalog.c ---- */

void bw_catalog_decode(const uint8_t *from, struct tree_entry *out_entry);
void bw_catalog_encode(uint8_t *to, const struct tree_entry *entry);
/* Put the changed trees' descriptors where they belong, and give the entries of the new snapshot's
 * slot. entries has room for TREES_INLINE_MAX. */
MUST_CHECK bw_err bw_catalog_freeze(struct txn *txn, struct tree_entry *entries,
                                    uint16_t *out_count, bool *out_has_catalog);
enum { TREE_ENTRY_SIZE = 40 };
/* The tree with the least id above this one, of those that head has; 0: there is none. */
MUST_CHECK bw_err bw_catalog_next(struct txn *txn, uint32_t after, uint32_t *out_tree_id);

/* ---- registry.c ---- */

/* All open stores of this process, by the identity of their file. The lock is held from find to
 * add. */
void bw_registry_lock(void);
void bw_registry_unlock(void);
struct store *bw_registry_find(uint64_t device, uint64_t inode);
MUST_CHECK bw_err bw_registry_add(struct store *store);
void bw_registry_remove(struct store *store);
