/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stores with content that is computed: the value of a key follows from the key and a version, so
 * that a test can write thousands of values and know each of them again.
 */
#pragma once

#include "store/store.h"

#define SAMPLE_DIRECTORY "db"
#define SAMPLE_FILE "db/data.mdb"

/* Options as most tests want them: SAMPLE_DIRECTORY on this disk, and nothing set. */
struct store_options sample_options(struct disk *disk);

/* Open with them; a failure ends the test. */
struct store *sample_open(struct disk *disk);

/* Begin a transaction; a failure ends the test. */
struct txn *sample_begin(struct store *store, enum txn_mode mode);

/* Put `count` values of `size` bytes under the keys from `first` on. */
MUST_CHECK bw_err sample_put(struct txn *txn, uint32_t tree_id, uint64_t first, uint64_t count,
                             size_t size, unsigned version);
MUST_CHECK bw_err sample_remove(struct txn *txn, uint32_t tree_id, uint64_t first, uint64_t count);

/* One transaction that puts these; a failure ends the test. */
void sample_commit(struct store *store, uint32_t tree_id, uint64_t first, uint64_t count,
                   size_t size, unsigned version);

/* Do the keys have these values? A failure, or another value, ends the test. */
void sample_expect(struct txn *txn, uint32_t tree_id, uint64_t first, uint64_t count, size_t size,
                   unsigned version);

/*
 * A number for everything that the trees 1 to SAMPLE_TREES hold, with their sequences and the
 * schema: equal states have equal numbers. Reads every byte.
 */
enum { SAMPLE_TREES = 60 };
MUST_CHECK bw_err sample_digest(struct txn *txn, uint64_t *out_digest);

/* That of the newest state. A failure ends the test. */
uint64_t sample_digest_of(struct store *store);

/* Run bw_store_check on what the transaction sees; a problem ends the test. */
void sample_prove(struct txn *txn);
/* On the newest state. */
void sample_prove_store(struct store *store);

/* Everything is closed: nothing the engine allocated may be left, but what the process keeps for
 * its next transactions. */
void sample_expect_nothing_left(void);
