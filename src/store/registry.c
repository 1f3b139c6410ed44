/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The open stores of this process, by the identity of their file: one file, one store.
 *
 * After a fork the child may use none of them: its handler marks them all, and closes their files,
 * so that the lock of the parent ends with the parent. It allocates and locks nothing.
 */
#include "store/engine.h"

enum { FIRST_SIZE = 64 };

static struct mutex mutex;
static _Atomic(struct store *) *table; /* open addressing by inode; NULL: free */
static size_t table_size, store_count;
static bool watches_fork;

void bw_registry_lock(void) { bw_mutex_lock(&mutex); }
void bw_registry_unlock(void) { bw_mutex_unlock(&mutex); }

static size_t home(uint64_t device, uint64_t inode, size_t size)
{
    return (size_t)((inode + device * 31) * 0x9e3779b97f4a7c15u >> 20) & (size - 1);
}

static void place(_Atomic(struct store *) *into, size_t size, struct store *store)
{
    size_t at = home(store->device, store->inode, size);
    while (into[at]) at = (at + 1) & (size - 1);
    into[at] = store;
}

struct store *bw_registry_find(uint64_t device, uint64_t inode)
{
    if (!table_size) return NULL;
    for (size_t at = home(device, inode, table_size); table[at]; at = (at + 1) & (table_size - 1)) {
        struct store *store = table[at];
        if (store->inode == inode && store->device == device) return store;
    }
    return NULL;
}

static void refuse_in_child(void)
{
    mutex = (struct mutex){0}; // a thread that held it was left behind in the parent
    for (size_t at = 0; at < table_size; at++) {
        struct store *store = table[at];
        if (!store || atomic_exchange(&store->is_forked, true)) continue;
        store->mutex = (struct mutex){0};
        if (store->disk == bw_disk_posix()) store->disk->close(store->file);
    }
}

static bw_err grow(void)
{
    size_t size = table_size ? table_size * 2 : FIRST_SIZE;
    _Atomic(struct store *) *bigger = bw_new(size * sizeof(*bigger));
    if (!bigger) return bw_fail(BW_ERR_NO_MEMORY, "Out of memory: list of open stores");
    for (size_t at = 0; at < table_size; at++)
        if (table[at]) place(bigger, size, table[at]);
    _Atomic(struct store *) *old = table;
    table = bigger;
    table_size = size;
    bw_free((void *)old);
    return BW_OK;
}

bw_err bw_registry_add(struct store *store)
{
    if (!watches_fork) {
        bw_err err = bw_on_fork(refuse_in_child);
        if (err) return err;
        watches_fork = true;
    }
    if (store_count * 2 >= table_size) {
        bw_err err = grow();
        if (err) return err;
    }
    place(table, table_size, store);
    store_count++;
    return BW_OK;
}

void bw_registry_remove(struct store *store)
{
    if (!table_size) return;
    size_t at = home(store->device, store->inode, table_size);
    while (table[at] && table[at] != store) at = (at + 1) & (table_size - 1);
    if (!table[at]) return;
    table[at] = NULL;
    store_count--;
    for (at = (at + 1) & (table_size - 1); table[at]; at = (at + 1) & (table_size - 1)) {
        struct store *moved = table[at]; // what came behind may have to close the gap
        table[at] = NULL;
        place(table, table_size, moved);
    }
    if (store_count) return;
    bw_free((void *)table); // so that a process without stores holds nothing
    table = NULL;
    table_size = 0;
}
