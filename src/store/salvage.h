/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is left of a damaged store, and how it is read without believing in it.
 *
 * Words: an extent is whole if its header names its own place and what else is there fits it: the
 * checksum, or, when no slot tells the store's uuid any more, the structure alone. Remains are the
 * whole branches and leaves. A hole is a range of keys whose branch or leaf is not whole. An orphan
 * is a leaf that no root leads to.
 *
 * Invariants:
 *   H1  Remains are in the order of their pages until bw_orphans_sort, which changes it once.
 *   H2  A leaf is current as a whole or not at all: once another leaf, or a branch that leads
 *       elsewhere, was written for a part of its keys, it is not.
 *   H3  Nothing is written to the source, and a page that the disk cannot read counts as zeros.
 */
#pragma once

#include "store/slot.h"
#include "store/tree.h"

enum { IS_REACHED = 1, IS_SUPERSEDED = 2, IS_DENIED = 4 };

struct remain {
    uint32_t tree_id;
    page_no page;
    uint64_t born;
    uint64_t first, last; /* keys of a leaf; of a branch, the lower bounds of its second child and
                             its last one: what it says between them is exact */
    uint8_t level, pages; /* level 0: a leaf */
    uint8_t flags;
};

/* An overflow extent that may hold a schema. */
struct blob_place {
    page_no page;
    uint32_t pages;
    uint64_t born;
};

struct source {
    struct file file;
    const struct geometry *geometry; /* borrowed */
    uint64_t file_pages;
    uint64_t salt;
    uint64_t born_max; /* of the slot; extents that are younger belong to no commit that counts */
    bool has_salt, has_slot;
    uint8_t image[SLOT_COUNT][PAGE_SIZE];
    struct slot slot;       /* once has_slot; leads into an image */
    struct remain *remains; /* owned */
    size_t count, room;
    struct blob_place *blobs; /* owned */
    size_t blob_count, blob_room;
    uint64_t younger;     /* extents beyond born_max */
    uint64_t unreadable;  /* pages */
    uint64_t unexplained; /* pages up to the last that is not zero that belong to no whole extent */
    uint64_t pages_read;  /* after the scan */
    const struct progress *progress; /* borrowed, may be NULL */
};

/* ---- salvage_source.c ---- */

/* Open for reading, take the lock as a reader, read the slots, find the salt. */
MUST_CHECK bw_err bw_source_open(struct source *source, struct disk *disk, const char *directory);
void bw_source_close(struct source *source);

/* Look through the whole file for remains and schemas. */
MUST_CHECK bw_err bw_source_scan(struct source *source);

/* Read pages; those that cannot be read, or lie beyond the end, become zeros. Only CANCELLED. */
MUST_CHECK bw_err bw_source_read(struct source *source, page_no page, uint32_t pages, uint8_t *to);

/* Does this header begin a whole branch or leaf here? extent: all of it, as its header says. */
bool bw_source_is_whole(const struct source *source, const uint8_t *extent, page_no page);

/* Read a value that lies in extents of its own; *in_out_bytes grows as needed. *out_whole false: a
 * part is lost. */
MUST_CHECK bw_err bw_source_value(struct source *source, uint32_t tree_id, const uint8_t *reference,
                                  uint8_t **in_out_bytes, bool *out_whole);

/* The place in remains of a page, or NULL. Before bw_orphans_sort. */
struct remain *bw_source_find(struct source *source, page_no page);

/* A slot that is damaged, read as far as it makes sense. False: it does not. */
bool bw_source_damaged_slot(const struct source *source, int index, uint8_t image[PAGE_SIZE],
                            struct slot *out_slot);

/* ---- salvage_walk.c ---- */

struct hole {
    uint64_t low, high; /* both inclusive */
    uint32_t tree_id;
    uint32_t count; /* keys that should be there */
    uint8_t level;
};

struct holes {
    struct hole *items; /* owned */
    size_t count, room;
};

/* A tree that is to be had. */
struct salvage_tree {
    struct tree_entry entry; /* as far as it is known */
    uint64_t highest;        /* key that was found */
    uint64_t certain, guessed, lost, refused;
    bool is_rooted;
};

/* What becomes of an entry that was found. */
struct sink {
    bw_err (*take)(void *user, uint32_t tree_id, const struct leaf_entry *entry);
    void *user; /* borrowed */
};

/* Walk from a root; marks remains as reached, and adds to holes in the order of keys. */
MUST_CHECK bw_err bw_walk_tree(struct source *source, const struct tree_entry *root,
                               struct sink sink, struct holes *holes);

/* All entries of a leaf that are in bounds, within a range of keys. */
MUST_CHECK bw_err bw_walk_leaf(const uint8_t *leaf, uint32_t tree_id, uint64_t low, uint64_t high,
                               struct sink sink);

/* ---- salvage_orphans.c ---- */

/* Order remains by tree, level, first key. */
void bw_orphans_sort(struct source *source);

/* Remains of one tree, from `first` on; returns the end of the group. */
size_t bw_orphans_group(const struct source *source, size_t first);

/*
 * The newest leaves of a group of which nothing says that they are not current any more. holes: of
 * the tree, in order of keys; hole_count 0 and is_rooted false: nothing is known of the tree, all
 * that is current may be given.
 */
struct orphans {
    size_t first, end;        /* in remains */
    const struct hole *holes; /* borrowed */
    size_t hole_count;
    bool is_rooted;
};
MUST_CHECK bw_err bw_orphans_give(struct source *source, const struct orphans *orphans,
                                  struct sink sink);
