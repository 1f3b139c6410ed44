/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store - trees of 64-bit keys in one file, that survive crashes.
 *
 * One writer and any number of readers. A reader sees the state that was newest when it began and
 * never waits; the writer never changes a page that an open reader, the last durable state or the
 * one before it can reach. What keys and values mean is the business of the layers above.
 *
 * Bytes handed out belong to the store: they are 8-byte aligned and valid until their transaction
 * ends or, in a write transaction, until its next change.
 *
 * Threads: a store may be used by all; a transaction and its cursors by one at a time, any one.
 */
#pragma once

#include "os/os.h"

struct store;
struct txn;
struct geometry; /* store/page.h: sizes that only tests change */

enum durability {
    DURABLE_FULL,    /* a commit waits until the device has it */
    DURABLE_BARRIER, /* until the device keeps it in order; the newest may be lost with the power */
    DURABLE_LAZY,    /* until the system has it: the power may take commits back, in order */
    DURABLE_NONE,    /* no flush at all: memory, and tests */
};

struct store_options {
    struct disk *disk;     /* borrowed; outlives the store */
    const char *directory; /* borrowed for the call */
    unsigned file_mode;    /* permissions of a new file, e.g. 0644; directories get x where r is */
    uint64_t size_max;     /* bytes of the file, 0: no limit; removals may pass it by a reserve */
    uint32_t readers_max;  /* read transactions at once; 0: no limit */
    bool read_only;
    bool use_previous; /* open the commit before the newest, if there is one */
    bool must_exist;   /* a new store is refused: ILLEGAL_STATE "No DB catalog present" */
    enum durability durability;
    const struct geometry *geometry; /* NULL: the product's; else borrowed, outlives the store */
    bool verify_manifest;            /* also of a sealed slot: for disks that are not trusted */
};

struct store_info {
    uint64_t file_size;  /* bytes, as of the newest commit */
    uint64_t used_pages; /* reachable pages of the newest commit, the two slots included */
    uint64_t txn_id;     /* of the newest commit; 0: none yet */
    uint64_t
        durable_txn_id;   /* of the newest one known to be durable; 0: none written or fenced yet */
    bool opened_previous; /* use_previous took effect */
    bool opened_older;    /* recovery had to take an older commit than the newest on disk */
    bool has_commit;      /* false: a new store */
    uint64_t device, inode; /* of the file */
};

/*
 * Open or create. Takes the file's lock: exclusive for writing, shared for read-only; a store that
 * is open elsewhere fails with ILLEGAL_STATE and a text that names the lock, one that is open in
 * this process with "Cannot open store: another store is still open using the same path: ...".
 * Nothing is written to an existing file until the first write transaction.
 */
MUST_CHECK bw_err bw_store_open(const struct store_options *options, struct store **out_store);

/* Close. Every transaction must have ended. NULL is allowed. Does not fail: what it does is
 * optional. */
void bw_store_close(struct store *store);

void bw_store_info(struct store *store, struct store_info *out_info);

/* The directory as it was given to open. */
const char *bw_store_directory(const struct store *store);

/* True: a flush or slot write failed, or the process forked; only closing is left. */
bool bw_store_is_poisoned(const struct store *store);

/*
 * Delete the file of a store. ILLEGAL_STATE while it is open in this process or locked by another.
 * Success when there is none. The directory stays.
 */
MUST_CHECK bw_err bw_store_remove(struct disk *disk, const char *directory);

/* The size in bytes of a store's file, at least two pages while it is open; 0: none, or unknown. */
uint64_t bw_store_file_size(struct disk *disk, const char *directory);

/* The open store of this process whose file is that of the directory, or NULL. */
struct store *bw_store_find(struct disk *disk, const char *directory);

/* ---- transactions ---- */

enum txn_mode { TXN_READ, TXN_WRITE };

/*
 * Begin. A write transaction waits for the one before it up to wait_ms (0: not at all, -1: for
 * ever) and then returns BW_ERR_TIMEOUT without a reason. A read transaction never waits;
 * MAX_READERS_EXCEEDED beyond readers_max. STORE_MUST_SHUTDOWN for writing a poisoned store.
 */
MUST_CHECK bw_err bw_txn_begin(struct store *store, enum txn_mode mode, int64_t wait_ms,
                               struct txn **out_txn);

/* Make the changes durable and visible. Ends txn, whatever the result. On error nothing of it is
 * visible; STORE_MUST_SHUTDOWN when the outcome on disk is unknown. Also ends a read transaction.
 * */
MUST_CHECK bw_err bw_txn_commit(struct txn *txn);

/* In a write transaction: make all commits before it durable (LAZY: until then the power may take
 * them back). STORE_MUST_SHUTDOWN when the flush failed. */
MUST_CHECK bw_err bw_txn_flush(struct txn *txn);

/* Forget the changes. Ends txn. NULL is allowed. */
void bw_txn_abort(struct txn *txn);

bool bw_txn_writes(const struct txn *txn);
/* The commit this transaction reads; for a write transaction, the one it will become. */
uint64_t bw_txn_id(const struct txn *txn);
/* True if a write transaction has changed anything. */
bool bw_txn_changed(const struct txn *txn);

/* ---- the schema: a blob of the layers above and its 128-bit identity ---- */

/* hash is all zero and blob empty when the store has none. blob: as all bytes handed out. */
MUST_CHECK bw_err bw_txn_schema_hash(struct txn *txn, uint8_t out_hash[16]);
MUST_CHECK bw_err bw_txn_schema(struct txn *txn, struct bytes *out_blob);
MUST_CHECK bw_err bw_txn_set_schema(struct txn *txn, const uint8_t hash[16], struct bytes blob);

/* ---- trees. A tree that was never written is empty; ids are the caller's, not 0 ---- */

struct tree_stat {
    uint64_t count;    /* keys */
    uint64_t max_key;  /* highest stored key, 0: empty */
    uint64_t sequence; /* whatever bw_tree_set_sequence stored last, 0 at first; survives clear */
    uint64_t bytes;    /* sum of the values' sizes as they were put */
};

/* Costs no page read while the store has at most 40 trees. */
MUST_CHECK bw_err bw_tree_stat(struct txn *txn, uint32_t tree_id, struct tree_stat *out_stat);

MUST_CHECK bw_err bw_tree_get(struct txn *txn, uint32_t tree_id, uint64_t key,
                              struct bytes *out_value, bool *out_found);

/* The same for many keys, in any order; {NULL, 0}: there is no such key. */
MUST_CHECK bw_err bw_tree_get_many(struct txn *txn, uint32_t tree_id, const uint64_t *keys,
                                   size_t count, struct bytes *out_values);

/*
 * Store a value of at least 1 byte under a key, new or not. *out_stored (may be NULL) points to the
 * stored copy, writable until the next change in this transaction; of a value beyond
 * VALUE_CONTIGUOUS_MAX only so many bytes lie there.
 * DB_FULL "Could not put" leaves the tree as it was and the transaction usable.
 */
#define VALUE_CONTIGUOUS_MAX (16380u * 4096u - 32u)
MUST_CHECK bw_err bw_tree_put(struct txn *txn, uint32_t tree_id, uint64_t key, struct bytes value,
                              uint8_t **out_stored);

MUST_CHECK bw_err bw_tree_remove(struct txn *txn, uint32_t tree_id, uint64_t key,
                                 bool *out_removed);

/* Remove all keys without reading the leaves (unless values lie in extents of their own). */
MUST_CHECK bw_err bw_tree_clear(struct txn *txn, uint32_t tree_id);

/* Clear and forget the tree, its sequence too. */
MUST_CHECK bw_err bw_tree_drop(struct txn *txn, uint32_t tree_id);

MUST_CHECK bw_err bw_tree_set_sequence(struct txn *txn, uint32_t tree_id, uint64_t sequence);

/* ---- cursors: keys in ascending order. Caller's storage; nothing to release ---- */

#define TREE_DEPTH_MAX 8

struct cursor {
    uint64_t key;       /* of the current entry */
    struct bytes value; /* of the current entry, as all bytes handed out */

    struct txn *txn; /* borrowed; the rest is the tree's own */
    uint32_t tree_id;
    bool is_placed, is_ended;
    uint8_t depth;
    uint16_t at;     /* slot in the leaf */
    uint64_t change; /* the transaction's change count when placed */
    const uint8_t *leaf;
    struct {
        const uint8_t *branch;
        uint16_t at;
    } path[TREE_DEPTH_MAX];
};

void bw_cursor_init(struct cursor *cursor, struct txn *txn, uint32_t tree_id);

/* Go to the first entry whose key is at least `key`. *out_found false: there is none. */
MUST_CHECK bw_err bw_cursor_seek(struct cursor *cursor, uint64_t key, bool *out_found);

/* Go to the next entry; the first one if never placed. After a change in the transaction it goes
 * on behind the last key it gave. *out_found false: the end, and again on every later call. */
MUST_CHECK bw_err bw_cursor_next(struct cursor *cursor, bool *out_found);

/* The same for up to `max` entries at once, at least 1 of them unless it is the end: *out_count 0.
 * The cursor is at the last of them. */
struct cursor_entry {
    uint64_t key;
    struct bytes value; /* as all bytes handed out */
};
MUST_CHECK bw_err bw_cursor_next_many(struct cursor *cursor, struct cursor_entry *out_entries,
                                      size_t max, size_t *out_count);

/* ---- proof ---- */

enum { CHECK_TEXTS = 8, CHECK_TEXT_ROOM = 256 };

struct check_report {
    uint64_t pages, leaves, branches, overflow_pages, trees, keys, problems;
    bool pages_are_sound; /* the store found no problem; what layers above add does not count */
    uint32_t first_page;  /* of the first problem that names one, 0: none does */
    char first_problem[CHECK_TEXT_ROOM];                  /* "" when there is none */
    char next_problems[CHECK_TEXTS - 1][CHECK_TEXT_ROOM]; /* of the problems behind it */
};

/* Note one more problem, of a page or of none (0). The texts of the first few are kept. */
void bw_check_report_add(struct check_report *report, uint32_t page, const char *format, ...)
    PRINTF_LIKE(3, 4);

/*
 * Walk everything the transaction can reach: every page reachable once, checksums, key order,
 * counts, byte totals, born <= parent's born, allocation bitmap = reachability, nothing beyond the
 * high-water mark. Problems are reported, not returned as errors. A read transaction stops nobody:
 * commits go on meanwhile. Needs a bit of memory a page. progress counts pages; it may be NULL.
 */
MUST_CHECK bw_err bw_store_check(struct txn *txn, const struct progress *progress,
                                 struct check_report *out_report);

/*
 * Look at the first page_limit pages of all trees, breadth-first: branches, and with_leaves leaves
 * too. FILE_PAGES_CORRUPT, naming tree and page. Reads no other pages but the catalogue's, of a
 * store with more than 40 trees. Needs 48 bytes a page.
 */
MUST_CHECK bw_err bw_store_probe(struct txn *txn, uint64_t page_limit, bool with_leaves);

/* ---- salvage ---- */

/* Of one tree: values that the state of a slot leads to; that nothing contradicts; that should be
 * there and are not; that the layer above did not take. */
struct salvage_count {
    uint64_t certain, guessed, lost, refused;
};

struct salvage_options {
    struct disk *disk;          /* borrowed, as all here */
    const char *from_directory; /* never written, and locked as by a reader */
    const char *to_directory;   /* ILLEGAL_STATE when it holds a store */
    unsigned file_mode;
    enum durability durability;
    const struct geometry *geometry; /* NULL: the product's */
    const struct progress *progress; /* may be NULL */
    /* What the layer above wants of what is found: all of it where a function is NULL.
     * takes_schema, which must be there: its identity, if it is one. */
    bool (*takes_schema)(void *user, struct bytes blob, uint8_t out_hash[16]);
    bool (*takes_tree)(void *user, uint32_t tree_id);
    bool (*takes_value)(void *user, uint32_t tree_id, uint64_t key, struct bytes value);
    /* At the end, for each tree. */
    void (*tell_tree)(void *user, uint32_t tree_id, const struct salvage_count *count);
    void *user;
};

struct salvage_report {
    uint64_t txn_id;           /* of the commit that is the base; 0: no slot can be read */
    uint64_t file_pages;       /* of the source */
    uint64_t pages_lost;       /* that something leads to, and that are not whole */
    uint64_t pages_unreadable; /* attempts that the disk refused */
    uint64_t extents_younger;  /* of a commit after the base, which was not completed, or lost */
    uint64_t trees_without_root;
    uint64_t certain, guessed, lost, refused; /* of all trees; lost: as far as it is known */
    bool has_checksums; /* false: the store's uuid is lost, only structure tells what is whole */
    bool has_schema;
};

/*
 * Read a damaged store and write what can be had of it to a new one: see salvage.c. FILE_CORRUPT
 * when there is nothing; a failure leaves no new store. takes_schema is asked first, so that the
 * other questions can be answered from it. Needs 48 bytes for each branch and leaf in the file,
 * free ones too, 32 for each range of keys that is lost, and the largest value.
 */
MUST_CHECK bw_err bw_store_salvage(const struct salvage_options *options,
                                   struct salvage_report *out_report);

/*
 * ---- compaction ----
 *
 * Move what lies high in the file to free places further down, step by step, and give the tail of
 * the file back. Each step is a write transaction of its own that moves some dozen pages: readers
 * never wait, writers no longer than for a small commit. What readers see stays where it is, so
 * that the file may shrink less while they go on; it is as large as before when nothing is gained.
 */
struct compact_report {
    uint64_t file_size_before, file_size_after; /* bytes */
    uint64_t moved_pages, steps;
};
/* progress in pages to be moved; it may be NULL, and may cancel: what was moved stays moved. */
MUST_CHECK bw_err bw_store_compact(struct store *store, const struct progress *progress,
                                   struct compact_report *out_report);

/*
 * ---- copies ----
 *
 * All of them write under a temporary name (the final one and ".part"), flush, and rename: nothing
 * incomplete has the final name, after a power cut either. CANCELLED when the progress' listener
 * wants no more; then, as on every other failure, nothing is left.
 */

/*
 * Pack what a read transaction sees into a new store in another directory, as small as its pages
 * can lie, with an identity of its own. ILLEGAL_STATE when there is a store already, or no commit
 * to copy.
 */
struct copy_options {
    struct disk *disk;               /* borrowed, as all here; of the copy */
    const char *directory;           /* made when missing */
    const struct progress *progress; /* in pages; NULL: nobody listens */
};
MUST_CHECK bw_err bw_store_copy(struct txn *txn, const struct copy_options *options);

/*
 * Write what a read transaction sees to one file, from its first byte to its last. A backup that is
 * there is replaced; ILLEGAL_STATE when the file is anything else.
 */
enum { BACKUP_EXCLUDE_TIMESTAMP = 1, BACKUP_EXCLUDE_SALT = 2 };
struct backup_options {
    struct disk *disk; /* borrowed, as all here; of the file */
    const char *file;
    uint32_t flags;                  /* both: equal commits of one store have equal backups */
    const struct progress *progress; /* in pages; NULL: nobody listens */
};
MUST_CHECK bw_err bw_store_backup(struct txn *txn, const struct backup_options *options);

/*
 * Make a store from a backup: the one that was backed up, with its identity. BACKUP_FILE_INVALID
 * when it is not whole to the last bit. ILLEGAL_STATE when there is a store already, unless it is
 * to be replaced, which then happens at once and at the end; always while it is open.
 */
struct restore_options {
    struct disk *file_disk; /* borrowed, as all here */
    const char *file;
    struct disk *disk;     /* of the store */
    const char *directory; /* made when missing */
    unsigned file_mode;
    bool replaces;
    const struct progress *progress; /* in bytes of the backup; NULL: nobody listens */
};
MUST_CHECK bw_err bw_store_restore(const struct restore_options *options);
