/* SPDX-License-Identifier: Apache-2.0 */
/* LMDB beside us: the same bytes under integer keys, appended, its default durability. */
#include "bench.h"

#ifdef BENCH_LMDB
#include <lmdb.h>

#include <stdlib.h>

struct lmdb_store {
    MDB_env *env;
    MDB_dbi dbi;
};

static void ensure(int code, const char *what)
{
    if (code) bench_fail("lmdb: %s: %s", what, mdb_strerror(code));
}

static MDB_txn *begin(struct lmdb_store *store, unsigned flags)
{
    MDB_txn *txn = NULL;
    ensure(mdb_txn_begin(store->env, NULL, flags, &txn), "begin");
    return txn;
}

static void *lmdb_open(const char *folder)
{
    struct lmdb_store *store = malloc(sizeof(*store));
    if (!store) bench_fail("out of memory");
    ensure(mdb_env_create(&store->env), "create");
    ensure(mdb_env_set_mapsize(store->env, (size_t)1 << 30), "map size");
    ensure(mdb_env_open(store->env, folder, 0, 0644), "open");
    // The unnamed table: a new environment learns of its key order in the first write transaction.
    MDB_txn *txn = begin(store, MDB_RDONLY);
    int code = mdb_dbi_open(txn, NULL, MDB_INTEGERKEY, &store->dbi);
    mdb_txn_abort(txn);
    if (code) {
        txn = begin(store, 0);
        ensure(mdb_dbi_open(txn, NULL, MDB_INTEGERKEY | MDB_CREATE, &store->dbi), "table");
        ensure(mdb_txn_commit(txn), "commit");
    }
    return store;
}

static void lmdb_close(void *opened)
{
    struct lmdb_store *store = opened;
    mdb_env_close(store->env);
    free(store);
}

static void put_notes(struct lmdb_store *store, const struct note *notes, size_t count,
                      unsigned flags)
{
    MDB_txn *txn = begin(store, 0);
    MDB_dbi dbi;
    ensure(mdb_dbi_open(txn, NULL, MDB_INTEGERKEY | MDB_CREATE, &dbi), "table");
    for (size_t i = 0; i < count; i++) {
        uint64_t id = notes[i].id;
        MDB_val key = {sizeof(id), &id}, value = {notes[i].size, notes[i].bytes};
        ensure(mdb_put(txn, dbi, &key, &value, flags), "put");
    }
    ensure(mdb_txn_commit(txn), "commit");
}

static void lmdb_put(void *store, const struct note *notes, size_t count)
{
    put_notes(store, notes, count, MDB_APPEND);
}

static void lmdb_update(void *store, const struct note *note) { put_notes(store, note, 1, 0); }

static uint64_t lmdb_count(void *opened)
{
    struct lmdb_store *store = opened;
    MDB_txn *txn = begin(store, MDB_RDONLY);
    MDB_stat stat;
    ensure(mdb_stat(txn, store->dbi, &stat), "stat");
    mdb_txn_abort(txn);
    return stat.ms_entries;
}

static uint64_t lmdb_visit(void *opened)
{
    struct lmdb_store *store = opened;
    MDB_txn *txn = begin(store, MDB_RDONLY);
    MDB_cursor *cursor = NULL;
    ensure(mdb_cursor_open(txn, store->dbi, &cursor), "cursor");
    MDB_val key, value;
    uint64_t sum = 0;
    while (mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == 0)
        sum += bench_note_sum(value.mv_data);
    mdb_cursor_close(cursor);
    mdb_txn_abort(txn);
    return sum;
}

static uint64_t lmdb_get(void *opened, const uint64_t *ids, size_t count)
{
    struct lmdb_store *store = opened;
    MDB_txn *txn = begin(store, MDB_RDONLY);
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t id = ids[i];
        MDB_val key = {sizeof(id), &id}, value;
        ensure(mdb_get(txn, store->dbi, &key, &value), "get");
        sum += bench_note_sum(value.mv_data);
    }
    mdb_txn_abort(txn);
    return sum;
}

const struct engine bench_lmdb = {
    .title = "LMDB",
    .open = lmdb_open,
    .close = lmdb_close,
    .put = lmdb_put,
    .update = lmdb_update,
    .count = lmdb_count,
    .visit = lmdb_visit,
    .get = lmdb_get,
};
#endif
