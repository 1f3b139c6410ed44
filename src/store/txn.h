/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What trees see of a transaction: pages to read, pages to change, and the catalogue.
 *
 * Private to the layer. Trees never see files, bitmaps or slots.
 */
#pragma once

#include "store/page.h"
#include "store/store.h"

enum tree_kind { TREE_OBJECTS = 1 }; /* index trees follow; numbers are on disk */

/* A tree as the catalogue keeps it (40 bytes on disk), and the rightmost path while appending. */
struct tree {
    uint32_t id;
    uint8_t kind;
    uint8_t depth;     /* levels: 0 empty, 1 a single leaf */
    page_ref root;     /* 0: empty */
    uint32_t count;    /* keys */
    uint64_t max_key;  /* highest stored key */
    uint64_t sequence; /* the layers above own it */
    uint64_t bytes;    /* sum of value sizes */

    /* While its transaction writes: zero when it is first handed out there; meaningless otherwise.
     * */
    bool is_changed;
    uint32_t leaf_copies; /* leaves of earlier transactions copied by this one */
    bool is_bulk;         /* appending leaves of EXTENT_PAGES_MAX pages */
    struct {
        uint64_t change; /* txn change count for which the path is right, 0: never */
        uint8_t *leaf;   /* borrowed: owned pages of this transaction */
        uint8_t *branch[TREE_DEPTH_MAX]; /* [0] the root */
        bool is_fresh; /* the leaf was begun by this transaction and filled by appending only */
    } tail;
    struct {
        uint64_t first, last; /* keys that belong to it */
        uint8_t *leaf;        /* borrowed: the owned leaf that was changed last; NULL: none */
    } near;
    uint8_t
        *unsealed; /* borrowed: an overflow reference whose sum waits until its value is final */
};

/*
 * The tree with this id. Read transactions get a copy of their snapshot's descriptor that lives as
 * long as the transaction; in a write transaction it is the working copy, which the caller changes
 * in place after setting is_changed. *out_tree NULL: there is no such tree.
 */
MUST_CHECK bw_err bw_txn_tree(struct txn *txn, uint32_t tree_id, struct tree **out_tree);

/* The same; makes an empty tree when there is none. Write transactions only. The pointer stays
 * valid until the transaction ends. */
MUST_CHECK bw_err bw_txn_tree_make(struct txn *txn, uint32_t tree_id, enum tree_kind kind,
                                   struct tree **out_tree);

/* Forget an (empty) tree. */
MUST_CHECK bw_err bw_txn_tree_drop(struct txn *txn, uint32_t tree_id);

/* Count of changes in a write transaction, from 1; whoever changes a tree adds 1 first. Readers:
 * always 1. */
uint64_t bw_txn_change(const struct txn *txn);
void bw_txn_note_change(struct txn *txn);

/* ---- reading pages ---- */

/*
 * The bytes of a leaf or branch extent as this transaction sees them: its own copy or the file's.
 * Checked: inside the file, page number, kind, tree, extent length, count and bounds plausible for
 * the kind, and the checksum when the page is read from the file for the first time.
 * FILE_PAGES_CORRUPT otherwise, naming the page.
 */
MUST_CHECK bw_err bw_page_read(struct txn *txn, page_ref ref, enum page_kind kind, uint32_t tree_id,
                               const uint8_t **out_extent);

/* Somebody will read this extent soon: its header, and what lies at an offset, may come into the
 * cache meanwhile. */
void bw_page_prefetch(const struct txn *txn, page_ref ref, size_t at);

/* The same for an overflow extent; pages: as the reference says, must equal the header's. */
MUST_CHECK bw_err bw_page_read_overflow(struct txn *txn, page_no page, uint32_t pages,
                                        uint32_t tree_id, const uint8_t **out_extent);

/* ---- changing pages: write transactions only ---- */

/*
 * A fresh extent, zeroed but for its header, owned by this transaction. pages <= EXTENT_PAGES_MAX
 * for leaves and branches. DB_FULL "Could not put" when the size limit or the format's is reached,
 * NO_MEMORY.
 */
MUST_CHECK bw_err bw_page_new(struct txn *txn, enum page_kind kind, uint32_t tree_id,
                              uint32_t pages, page_no *out_page, uint8_t **out_extent);

/* If this transaction owns the extent: its writable bytes. Otherwise NULL. */
uint8_t *bw_page_owned(struct txn *txn, page_no page);

/*
 * A writable copy of an extent of the file (same length, new place); the old one is freed. If it is
 * owned already, itself. *in_out_ref is updated; its overflow bit stays.
 */
MUST_CHECK bw_err bw_page_own(struct txn *txn, page_ref *in_out_ref, enum page_kind kind,
                              uint32_t tree_id, uint8_t **out_extent);

/*
 * Do these pages of the file hold something, by the allocation state, and has this transaction not
 * got them for something else? Whatever the file's references lead to must be kept when they are
 * copied into pages of this transaction: then no reference there ever leads to an extent that it
 * owns, unless it put it there itself. A file that says otherwise is damaged.
 */
bool bw_page_is_kept(const struct txn *txn, page_no page, uint32_t pages);

/* More pages than all trees of the transaction together can have. */
uint32_t bw_page_count_max(const struct txn *txn);

/* Give up an extent. born: from its header, 0 when that was not read. Owned ones are free at once.
 * Needs no space: room for the notes of what is freed is made first, so that only NO_MEMORY can
 * fail, before anything changed. */
MUST_CHECK bw_err bw_page_free(struct txn *txn, page_no page, uint32_t pages, uint64_t born);

/* Make room for the notes of so many frees: that many calls of bw_page_free then cannot fail.
 * Freeing what this transaction owns cannot fail in any case. Only NO_MEMORY. */
MUST_CHECK bw_err bw_page_make_room(struct txn *txn, uint32_t frees);

/* Free an extent that is owned, or for which room was made. What a damaged file names without
 * having it stays as it is. */
static inline void bw_page_give_up(struct txn *txn, page_no page, uint32_t pages, uint64_t born)
{
    const bw_err err = bw_page_free(txn, page, pages, born);
    (void)err;
}

/* Give back the tail of an owned extent: it keeps its first `pages` pages. Its header is updated;
 * bytes do not move. */
void bw_page_shrink(struct txn *txn, page_no page, uint32_t pages);

/* Removals are on: allocations of this transaction may pass the size limit by the reserve. */
void bw_txn_use_reserve(struct txn *txn, bool on);

/* Scratch memory that lives until the transaction's next change (values kept in several extents are
 * joined there). */
MUST_CHECK bw_err bw_txn_scratch(struct txn *txn, size_t size, uint8_t **out_bytes);

/* ---- for the commit (tree.c): called for each changed tree before pages are numbered for good
 * ---- */

/* Trim leaves that were left partly empty while appending. Cannot fail: it only gives pages back.
 * */
void bw_tree_finish(struct txn *txn, struct tree *tree);
