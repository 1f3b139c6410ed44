/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/sample.h"

#include <stdio.h>
#include <stdlib.h>

#include "harness/check.h"

struct store_options sample_options(struct disk *disk)
{
    return (struct store_options){.disk = disk, .directory = SAMPLE_DIRECTORY, .file_mode = 0644};
}

struct store *sample_open(struct disk *disk)
{
    const struct store_options options = sample_options(disk);
    struct store *store = NULL;
    CHECK_OK(bw_store_open(&options, &store));
    return store;
}

struct txn *sample_begin(struct store *store, enum txn_mode mode)
{
    struct txn *txn = NULL;
    CHECK_OK(bw_txn_begin(store, mode, 0, &txn));
    return txn;
}

static void fill(uint8_t *bytes, size_t size, uint64_t key, unsigned version)
{
    struct random random;
    bw_random_seed(&random, key * 1000 + version);
    for (size_t at = 0; at < size; at += 8) {
        uint8_t word[8];
        bw_put_u64(word, bw_random_next(&random));
        memcpy(bytes + at, word, size - at < 8 ? size - at : 8);
    }
}

bw_err sample_put(struct txn *txn, uint32_t tree_id, uint64_t first, uint64_t count, size_t size,
                  unsigned version)
{
    uint8_t *bytes = malloc(size);
    bw_err err = BW_OK;
    CHECK(bytes != NULL);
    for (uint64_t key = first; key < first + count && !err; key++) {
        fill(bytes, size, key, version);
        err = bw_tree_put(txn, tree_id, key, (struct bytes){bytes, size}, NULL);
    }
    free(bytes);
    return err;
}

bw_err sample_remove(struct txn *txn, uint32_t tree_id, uint64_t first, uint64_t count)
{
    bw_err err = BW_OK;
    for (uint64_t key = first; key < first + count && !err; key++) {
        bool removed = false;
        err = bw_tree_remove(txn, tree_id, key, &removed);
        if (!err) CHECK(removed);
    }
    return err;
}

void sample_commit(struct store *store, uint32_t tree_id, uint64_t first, uint64_t count,
                   size_t size, unsigned version)
{
    struct txn *txn = sample_begin(store, TXN_WRITE);
    CHECK_OK(sample_put(txn, tree_id, first, count, size, version));
    CHECK_OK(bw_txn_commit(txn));
}

void sample_expect(struct txn *txn, uint32_t tree_id, uint64_t first, uint64_t count, size_t size,
                   unsigned version)
{
    uint8_t *bytes = malloc(size);
    CHECK(bytes != NULL);
    for (uint64_t key = first; key < first + count; key++) {
        struct bytes value = {0};
        bool found = false;
        CHECK_OK(bw_tree_get(txn, tree_id, key, &value, &found));
        CHECK(found);
        CHECK_EQ(value.size, size);
        CHECK_EQ((uintptr_t)value.data % 8, 0);
        fill(bytes, size, key, version);
        CHECK_BYTES(value.data, bytes, size);
    }
    free(bytes);
}

/* Add bytes to a digest. */
static uint64_t mix(uint64_t digest, const void *data, size_t size)
{
    return bw_hash64(data, size, digest + size);
}

static bw_err digest_tree(struct txn *txn, uint32_t tree_id, uint64_t *in_out_digest)
{
    struct tree_stat stat;
    struct cursor cursor;
    bool found = true;
    bw_err err = bw_tree_stat(txn, tree_id, &stat);
    if (err) return err;
    const uint64_t numbers[] = {tree_id, stat.count, stat.max_key, stat.sequence, stat.bytes};
    uint64_t digest = *in_out_digest;
    if (stat.count || stat.sequence) digest = mix(digest, numbers, sizeof(numbers));
    bw_cursor_init(&cursor, txn, tree_id);
    for (;;) {
        err = bw_cursor_next(&cursor, &found);
        if (err || !found) break;
        digest = mix(digest, &cursor.key, sizeof(cursor.key));
        digest = mix(digest, cursor.value.data, cursor.value.size);
    }
    *in_out_digest = digest;
    return err;
}

bw_err sample_digest(struct txn *txn, uint64_t *out_digest)
{
    uint8_t hash[16];
    struct bytes schema;
    uint64_t digest = 0;
    bw_err err = bw_txn_schema_hash(txn, hash);
    if (!err) err = bw_txn_schema(txn, &schema);
    if (err) return err;
    digest = mix(digest, hash, sizeof(hash));
    if (schema.size) digest = mix(digest, schema.data, schema.size);
    for (uint32_t tree_id = 1; tree_id <= SAMPLE_TREES && !err; tree_id++)
        err = digest_tree(txn, tree_id, &digest);
    if (!err) *out_digest = digest;
    return err;
}

uint64_t sample_digest_of(struct store *store)
{
    uint64_t digest = 0;
    struct txn *txn = sample_begin(store, TXN_READ);
    CHECK_OK(sample_digest(txn, &digest));
    bw_txn_abort(txn);
    return digest;
}

void sample_prove(struct txn *txn)
{
    struct check_report report;
    CHECK_OK(bw_store_check(txn, NULL, &report));
    CHECK_TEXT(report.first_problem, "");
    CHECK_EQ(report.problems, 0);
}

void sample_prove_store(struct store *store)
{
    struct txn *txn = sample_begin(store, TXN_READ);
    sample_prove(txn);
    bw_txn_abort(txn);
}

void sample_expect_nothing_left(void)
{
    static int64_t known; // what an earlier test left is not reported again
    const int64_t left = bw_memory_blocks() - known;
#ifdef BW_SLOW_CHECKS
    enum { KEPT = 0 };
#else
    enum { KEPT = 2 }; // slabs, by buffers.c
#endif
    if (left > KEPT) known += left;
    CHECK(left <= KEPT);
}
