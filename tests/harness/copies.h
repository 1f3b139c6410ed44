/* SPDX-License-Identifier: Apache-2.0 */
/* Stores of every shape that a copy has to cope with, and what must hold of a copy of one. */
#pragma once

#include "base/base.h"
#include "store/page.h"
#include "store/store.h"

struct copies_kind {
    const char *name;
    const struct geometry *geometry; /* NULL: the product's */
    void (*fill)(struct store *store);
};

enum { COPIES_KINDS = 6, COPIES_SMALL = 0 /* the one with the fewest pages */ };
extern const struct copies_kind copies_kinds[COPIES_KINDS];

#define COPIES_BACKUP "copy.bak"
#define COPIES_DIRECTORY "copy"
#define COPIES_FILE "copy/data.mdb"

/* Open; a failure ends the test. */
struct store *copies_open(struct disk *disk, const char *directory, const struct copies_kind *kind);

/* A new store of this kind in the directory. */
struct store *copies_make(struct disk *disk, const char *directory, const struct copies_kind *kind);

/* What is in the directory is whole and has this digest, is sealed, can be written to, opened
 * again, and given back. Anything else ends the test. */
void copies_expect(struct disk *disk, const char *directory, const struct copies_kind *kind,
                   uint64_t digest);

/* The digest of what is in the directory, proved; false: no store. */
bool copies_look(struct disk *disk, const char *directory, const struct copies_kind *kind,
                 uint64_t *out_digest);

/* Is there a file or directory of that name? */
bool copies_has(struct disk *disk, const char *path);

/* With a read transaction of their own. */
MUST_CHECK bw_err copies_copy(struct store *store, struct disk *disk,
                              const struct progress *progress);
MUST_CHECK bw_err copies_back_up(struct store *store, struct disk *disk, uint32_t flags,
                                 const struct progress *progress);
MUST_CHECK bw_err copies_restore(struct disk *disk, bool replaces, const struct progress *progress);
