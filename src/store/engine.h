/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine's own structures: the open store, its snapshots, and what one write transaction holds.
 *
 * Words: a snapshot is what one meta slot describes. cur is the newest one; it is durable, since
 * every commit ends with a flush. previous is what the other slot holds on disk. A pin is a
 * snapshot whose pages must not change: cur, previous, and those of live readers.
 *
 * Rule numbers R1 to R20 are those of docs/format.md, section "Protocol".
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

/*
 * An immutable snapshot. Counted under the store's mutex: one for being cur, one for each reader.
 */
struct snapshot {
    struct snapshot *older; /* store.mutex: live snapshots, newest first */
    uint32_t readers;       /* store.mutex */
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

/* What writing needs beyond reading; made at the first write transaction. */
struct writer {
    unsigned slot;         /* that holds cur */
    uint64_t previous_txn; /* 0: the other slot holds nothing */
    uint32_t previous_hwm;
    uint8_t *selectors; /* cur's, one byte a region; NULL while inline */
    uint8_t *previous_selectors;
    uint32_t region_count, previous_region_count;
    struct space space;
    struct manifest before; /* pages of the flush before, live in cur */
    uint64_t slot_checksum; /* of cur's slot */
    bool is_sealed;         /* cur is vouched for on disk */
};

struct store {
    struct disk *disk; /* borrowed */
    struct file file;
    char *directory; /* owned */
    const struct geometry *geometry;
    uint64_t size_max;
    uint32_t readers_max;
    bool is_read_only, is_durable, made_directory, names_dirty, verify_manifest;
    bool opened_previous, opened_older;
    _Atomic(bool) is_forked;

    uint8_t uuid[16];
    uint64_t salt; /* of all page checksums: half of the uuid */
    uint64_t device, inode;
    uint64_t opened_size; /* bytes of the file when it was opened */

    struct mutex mutex;
    struct condition writer_gone;
    struct snapshot *cur;  /* mutex; NULL: no commit yet */
    uint32_t reader_count; /* mutex */
    bool is_writing;       /* mutex: the writer lock; it has no owner */
    _Atomic(int) session;  /* enum session */

    /* From choosing a slot, until the fence. */
    uint8_t chosen_slot;
    bool chosen_sealed, newer_rejected;
    uint64_t highest_txn; /* in any valid slot, and of every commit since */

    uint64_t file_pages;            /* size of the file in whole pages; writer only, after open */
    struct window first;            /* pages 0 to WINDOW_PAGES - 1 */
    _Atomic(struct window *) *more; /* mutex to make; blocks of WINDOWS_PER_BLOCK */
    struct writer *writer;          /* NULL before the first write transaction */
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
    uint32_t *table; /* page number -> index in extents + 1; open addressing */
    uint32_t table_size, table_used;
    bool use_reserve, has_schema;
    uint8_t schema_hash[16];
    uint8_t *schema; /* owned: the new blob */
    uint32_t schema_size;
};

/* Values that lie in several extents, joined for a reader; aligned to 16. */
struct scratch {
    struct scratch *next;
    uint64_t unused;
    uint8_t bytes[];
};

struct tree_block {
    struct tree_block *next;
    struct tree tree;
    bool is_dropped;
};

struct txn {
    struct store *store;
    struct snapshot *snapshot; /* held; NULL: the store has no commit yet */
    struct changes *changes;   /* NULL: a read transaction */
    uint64_t id, change;
    bool is_changed;
    struct tree_block *trees; /* touched ones, last used first */
    struct tree_block first;  /* so that most readers allocate nothing more */
    struct scratch *scratch;  /* owned */
};

/* ---- snapshot.c ---- */

MUST_CHECK bw_err bw_snapshot_new(uint16_t tree_count, uint32_t inline_schema_size,
                                  struct snapshot **out_snapshot);
/* Hold cur for a reader; give up a hold. Under the store's mutex. */
struct snapshot *bw_snapshot_hold(struct store *store);
void bw_snapshot_release(struct store *store, struct snapshot *snapshot);
/* Free those that are neither cur nor held. Under the store's mutex. */
void bw_snapshot_prune(struct store *store);

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

MUST_CHECK bw_err bw_commit_run(struct txn *txn);
/* Make everything written so far durable, names too (R3). The only place that flushes the file. */
MUST_CHECK bw_err bw_commit_flush(struct store *store);
/* Outcome unknown: no more writes. Hands back STORE_MUST_SHUTDOWN with a text that ends with the
 * cause's. */
MUST_CHECK bw_err bw_commit_poison(struct store *store, const char *what);
/* R18, R20: what closing may still write. */
void bw_commit_close(struct store *store);

/* ---- pager.c ---- */

/* The bytes of pages [page, page + pages) of the file, mapped but not verified. */
MUST_CHECK bw_err bw_pager_view(struct store *store, page_no page, uint32_t pages,
                                const uint8_t **out_bytes);
/* The extent that begins with this page needs no verification any more. */
void bw_pager_mark_verified(struct store *store, page_no page);
void bw_pager_unmap(struct store *store);
void bw_pager_free_scratch(struct txn *txn);

/* An owned extent at a place that is chosen already: zeroed but for its header. */
MUST_CHECK bw_err bw_pager_place(struct txn *txn, enum page_kind kind, uint32_t tree_id,
                                 struct page_run place, uint8_t **out_extent);

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

/* ---- registry.c ---- */

/* All open stores of this process, by the identity of their file. The lock is held from find to
 * add. */
void bw_registry_lock(void);
void bw_registry_unlock(void);
struct store *bw_registry_find(uint64_t device, uint64_t inode);
MUST_CHECK bw_err bw_registry_add(struct store *store);
void bw_registry_remove(struct store *store);
