/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/copies.h"

#include "harness/check.h"
#include "harness/sample.h"

/* So small that files have regions. */
static const struct geometry small = {
    .inline_pages = 22,
    .region_pages = 34,
    .bitmap_copies = 4,
    .manifest_runs = 12,
    .manifest_pages = 12,
};

static void put_schema(struct store *store, size_t size)
{
    static const uint8_t schema[9000] = {7};
    struct txn *txn = sample_begin(store, TXN_WRITE);
    CHECK_OK(bw_txn_set_schema(txn, schema, (struct bytes){schema, size}));
    CHECK_OK(bw_tree_set_sequence(txn, 3, 77));
    CHECK_OK(bw_txn_commit(txn));
}

static void fill_few(struct store *store) { sample_commit(store, 1, 1, 3, 100, 1); }

static void fill_mixed(struct store *store)
{
    sample_commit(store, 1, 1, 60, 300, 1);
    sample_commit(store, 2, 1, 8, 9000, 1);
    put_schema(store, 300);
    struct txn *txn = sample_begin(store, TXN_WRITE);
    CHECK_OK(sample_remove(txn, 1, 10, 30));
    CHECK_OK(sample_remove(txn, 2, 2, 3));
    CHECK_OK(bw_txn_commit(txn));
}

/* Three levels, in an order that leaves no page full. */
static void fill_deep(struct store *store)
{
    for (unsigned part = 0; part < 7; part++) {
        struct txn *txn = sample_begin(store, TXN_WRITE);
        for (uint64_t key = part; key < 2000; key += 7)
            CHECK_OK(sample_put(txn, 1, 1 + key, 1, 1200, 1));
        CHECK_OK(bw_txn_commit(txn));
    }
    struct txn *txn = sample_begin(store, TXN_WRITE);
    for (uint64_t key = 3; key < 2000; key += 4) CHECK_OK(sample_remove(txn, 1, key, 1));
    CHECK_OK(bw_txn_commit(txn));
}

static void fill_many_trees(struct store *store)
{
    struct txn *txn = sample_begin(store, TXN_WRITE);
    for (uint32_t tree = 1; tree <= 55; tree++) CHECK_OK(sample_put(txn, tree, 1, 1, 60, tree));
    CHECK_OK(sample_put(txn, 9, 2, 2, 6000, 1));
    CHECK_OK(bw_tree_set_sequence(txn, 56, 5));
    CHECK_OK(bw_txn_commit(txn));
}

static void fill_schema(struct store *store)
{
    put_schema(store, 9000);
    sample_commit(store, 1, 1, 3, 50, 1);
}

const struct copies_kind copies_kinds[COPIES_KINDS] = {
    {.name = "few", .fill = fill_few},
    {.name = "mixed", .fill = fill_mixed},
    {.name = "deep", .fill = fill_deep},
    {.name = "many trees", .fill = fill_many_trees},
    {.name = "schema on pages", .fill = fill_schema},
    {.name = "regions", .geometry = &small, .fill = fill_mixed},
};

static bw_err open_it(struct disk *disk, const char *directory, const struct copies_kind *kind,
                      bool read_only, struct store **out_store)
{
    struct store_options options = sample_options(disk);
    options.directory = directory;
    options.geometry = kind->geometry;
    options.read_only = read_only;
    return bw_store_open(&options, out_store);
}

struct store *copies_open(struct disk *disk, const char *directory, const struct copies_kind *kind)
{
    struct store *store = NULL;
    CHECK_OK(open_it(disk, directory, kind, false, &store));
    return store;
}

struct store *copies_make(struct disk *disk, const char *directory, const struct copies_kind *kind)
{
    struct store *store = copies_open(disk, directory, kind);
    kind->fill(store);
    return store;
}

bool copies_look(struct disk *disk, const char *directory, const struct copies_kind *kind,
                 uint64_t *out_digest)
{
    struct store *store = NULL;
    bw_err err = open_it(disk, directory, kind, true, &store);
    if (err) { // it is not there: anything else that refuses is damage
        CHECK_ERR(err, BW_ERR_STORAGE_GENERAL);
        CHECK(strncmp(bw_reason_text(), "Database not found", 18) == 0);
        return false;
    }
    sample_prove_store(store);
    *out_digest = sample_digest_of(store);
    bw_store_close(store);
    return true;
}

void copies_expect(struct disk *disk, const char *directory, const struct copies_kind *kind,
                   uint64_t digest)
{
    uint64_t found = 0;
    CHECK(copies_look(disk, directory, kind, &found));
    CHECK_EQ(found, digest);
    struct store *store = copies_open(disk, directory, kind);
    struct store_info info;
    bw_store_info(store, &info);
    CHECK(info.txn_id >= 2);
    CHECK(!info.opened_older);
    sample_commit(store, 57, 1, 5, 700, 1);
    sample_commit(store, 57, 1, 5, 800, 2);
    sample_prove_store(store);
    struct txn *txn = sample_begin(store, TXN_WRITE);
    CHECK_OK(bw_tree_drop(txn, 57));
    CHECK_OK(bw_txn_commit(txn));
    bw_store_close(store);
    CHECK(copies_look(disk, directory, kind, &found));
    CHECK_EQ(found, digest);
}

bool copies_has(struct disk *disk, const char *path)
{
    struct file_info info;
    bool found = false;
    CHECK_OK(disk->look_up(disk, path, &info, NULL, &found));
    return found;
}

bw_err copies_copy(struct store *store, struct disk *disk, const struct progress *progress)
{
    const struct copy_options options = {
        .disk = disk, .directory = COPIES_DIRECTORY, .progress = progress};
    struct txn *txn = NULL;
    bw_err err = bw_txn_begin(store, TXN_READ, 0, &txn);
    if (err) return err;
    err = bw_store_copy(txn, &options);
    bw_txn_abort(txn);
    return err;
}

bw_err copies_back_up(struct store *store, struct disk *disk, uint32_t flags,
                      const struct progress *progress)
{
    const struct backup_options options = {
        .disk = disk, .file = COPIES_BACKUP, .flags = flags, .progress = progress};
    struct txn *txn = NULL;
    bw_err err = bw_txn_begin(store, TXN_READ, 0, &txn);
    if (err) return err;
    err = bw_store_backup(txn, &options);
    bw_txn_abort(txn);
    return err;
}

bw_err copies_restore(struct disk *disk, bool replaces, const struct progress *progress)
{
    const struct restore_options options = {.file_disk = disk,
                                            .file = COPIES_BACKUP,
                                            .disk = disk,
                                            .directory = COPIES_DIRECTORY,
                                            .file_mode = 0644,
                                            .replaces = replaces,
                                            .progress = progress};
    return bw_store_restore(&options);
}
