/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening and closing: find or make the file, make sure that nobody else has it, choose a slot.
 *
 * Opening an existing store costs open, fstat, the lock and one read of 8 KB; nothing is mapped and
 * nothing is written. A new one is an empty file until its first commit.
 *
 * Invariants:
 *   O1  A store is in the registry from before its lock is taken until after its file is closed, so
 *       that two opens in this process cannot both find the file free.
 *   O2  The file that is locked is the one that the name refers to: it is compared after locking
 *       wherever another process might have renamed it.
 */
#include <stdio.h>
#include <string.h>

#include "store/names.h"
#include "store/slot.h"

enum { SECONDARY_NOT_FOUND = 2 };

static bw_err fail_missing(void)
{
    return bw_fail_system(BW_ERR_STORAGE_GENERAL, SECONDARY_NOT_FOUND,
                          "Database not found: read-only databases must already exist (%d: %s)",
                          SECONDARY_NOT_FOUND, strerror(SECONDARY_NOT_FOUND));
}

static bw_err fail_open_twice(const struct store *other)
{
    return bw_fail(BW_ERR_ILLEGAL_STATE,
                   "Cannot open store: another store is still open using the same path: \"%s\"",
                   other->directory);
}

static bw_err fail_locked(const struct store *store)
{
    return bw_fail(
        BW_ERR_ILLEGAL_STATE,
        "Cannot open store: another process holds the lock of its file: \"%s/" DATA_FILE_NAME "\"",
        store->directory);
}

/* Make the directory where it is missing; its parents must exist. */
static bw_err prepare_directory(struct store *store, unsigned file_mode)
{
    bool made = false;
    unsigned mode = file_mode | (file_mode & 0444) >> 2;
    bw_err err = store->disk->make_directory(store->disk, store->directory, mode, &made);
    store->made_directory = !err && made;
    return err;
}

/* Open the file, or make an empty one. */
static bw_err open_file(struct store *store, const char *path, const struct store_options *options)
{
    struct disk *disk = store->disk;
    bool found = false;
    enum open_mode mode = options->read_only ? OPEN_READ : OPEN_WRITE;
    bw_err err = disk->open(disk, path, mode, options->file_mode, &store->file, &found);
    if (err && !options->read_only) { // a path that cannot be a directory is the better reason
        bw_err reason = prepare_directory(store, options->file_mode);
        return reason ? reason : err;
    }
    if (err) return err;
    store->made_directory = found; // an empty file may be another creation's, its directory too
    if (found) return BW_OK;
    if (options->read_only) return fail_missing();
    if (options->must_exist) return bw_fail(BW_ERR_ILLEGAL_STATE, "No DB catalog present");
    err = prepare_directory(store, options->file_mode);
    if (err) return err;
    err = disk->open(disk, path, OPEN_CREATE, options->file_mode, &store->file, &found);
    if (!err && !found)
        err = bw_fail(BW_ERR_STORAGE_GENERAL, "The directory is gone: %s", store->directory);
    return err;
}

/* O2 */
static bw_err is_still_named(struct store *store, const char *path, bool *out_is)
{
    struct file_info info;
    bool found = false;
    bw_err err = store->disk->look_up(store->disk, path, &info, NULL, &found);
    *out_is = !err && found && info.inode == store->inode && info.device == store->device;
    return err;
}

static void close_file(struct store *store)
{
    if (store->file.disk) store->disk->close(store->file);
    store->file = (struct file){0};
}

/* Take the file for this process; *out_again: it was renamed or removed meanwhile. */
static bw_err claim_file(struct store *store, const char *path, bool *out_again)
{
    struct file_info info;
    *out_again = false;
    bw_err err = store->disk->info(store->file, &info);
    if (err) return err;
    store->device = info.device;
    store->inode = info.inode;
    bw_registry_lock();
    struct store *other = bw_registry_find(info.device, info.inode);
    err = other ? fail_open_twice(other) : bw_registry_add(store); // O1
    bw_registry_unlock();
    if (err) return err;
    bool got = false;
    enum lock_kind kind = store->is_read_only ? LOCK_SHARED : LOCK_EXCLUSIVE;
    err = store->disk->lock(store->file, kind, &got);
    if (!err && !got) err = fail_locked(store);
    // An empty file may have become a store, or have been renamed, before we had the lock.
    bool is_named = true;
    if (!err && info.size == 0) err = store->disk->info(store->file, &info);
    if (!err && info.size == 0) err = is_still_named(store, path, &is_named);
    store->opened_size = info.size;
    store->file_pages = info.size / PAGE_SIZE;
    if (!err && is_named) return BW_OK;
    bw_registry_lock();
    bw_registry_remove(store);
    bw_registry_unlock();
    *out_again = !err;
    return err;
}

/* R17: set the remains of a creation aside under the first free name. */
static bw_err set_aside(struct store *store, const char *path)
{
    enum { NAME_ROOM = 48, TRIES_MAX = 100000 };
    bool found = true;
    // Whoever finds the directory without its file will take it to be durable.
    store->made_directory = true;
    bw_err err = store->durability != DURABLE_NONE ? bw_names_flush(store) : BW_OK;
    for (int i = 0; i < TRIES_MAX && !err && found; i++) {
        char name[NAME_ROOM] = DATA_FILE_NAME ".unfinished";
        if (i) snprintf(name, sizeof(name), DATA_FILE_NAME ".unfinished.%d", i);
        char *aside = bw_names_join(store->directory, name);
        struct file_info info;
        if (!aside) return bw_fail(BW_ERR_NO_MEMORY, "Out of memory: a path");
        err = store->disk->look_up(store->disk, aside, &info, NULL, &found);
        if (BUG(aside_overwrites)) found = false;
        if (!err && !found) err = store->disk->rename(store->disk, path, aside);
        bw_free(aside);
    }
    return err;
}

static void forget(struct store *store)
{
    bw_registry_lock();
    bw_registry_remove(store);
    bw_registry_unlock();
}

/* Choose a slot. *out_again: the file held no store, and has its name no more. */
static bw_err choose(struct store *store, const char *path, const struct store_options *options,
                     bool *out_again)
{
    bool is_new = false, is_named = true;
    bw_err err = bw_recover_choose(store, options->use_previous, &is_new);
    store->names_dirty = is_new;
    if (err || !is_new) return err;
    *out_again = store->opened_size > 0;
    if (*out_again) err = is_still_named(store, path, &is_named); // O2
    if (err || !is_named) return err;
    if (options->read_only) return fail_missing();
    if (options->must_exist) return bw_fail(BW_ERR_ILLEGAL_STATE, "No DB catalog present");
    return *out_again ? set_aside(store, path) : BW_OK;
}

/* Open, claim and choose; again when another process was in the middle of making or renaming it. */
static bw_err open_chosen(struct store *store, const char *path,
                          const struct store_options *options)
{
    enum { TRIES_MAX = 16 };
    for (int i = 0; i < TRIES_MAX; i++) {
        bool again = false;
        bw_err err = open_file(store, path, options);
        if (!err) err = claim_file(store, path, &again);
        if (err) return err;
        if (!again) {
            err = choose(store, path, options, &again);
            if (err || again) forget(store);
            if (err || !again) return err;
        }
        close_file(store);
    }
    return fail_locked(store);
}

static bw_err begin_identity(struct store *store)
{
    if (store->head) return BW_OK;
    bw_err err = bw_entropy(store->uuid, sizeof(store->uuid));
    store->salt = bw_get_u64(store->uuid);
    return err;
}

bw_err bw_store_open(const struct store_options *options, struct store **out_store)
{
    if (options->size_max && options->size_max < PAGES_MIN * PAGE_SIZE)
        return bw_fail(BW_ERR_DB_FULL, "Could not put (a store needs at least %d KB)",
                       PAGES_MIN * PAGE_SIZE / 1024);
    if (strlen(options->directory) >= DIRECTORY_ROOM)
        return bw_fail(BW_ERR_STORAGE_GENERAL,
                       "Could not prepare directory: its path is too long: %s", options->directory);
    struct store *store = bw_new(sizeof(*store));
    if (!store) return bw_fail(BW_ERR_NO_MEMORY, "Out of memory: a store");
    store->disk = options->disk;
    store->geometry = options->geometry ? options->geometry : &bw_geometry_default;
    store->size_max = options->size_max;
    store->readers_max = options->readers_max;
    store->file_mode = options->file_mode;
    store->is_read_only = options->read_only;
    store->durability = options->durability;
    store->verify_manifest = options->verify_manifest;
    store->directory = bw_copy_text(options->directory);
    char *path = store->directory ? bw_names_join(store->directory, DATA_FILE_NAME) : NULL;
    bw_err err = path ? BW_OK : bw_fail(BW_ERR_NO_MEMORY, "Out of memory: a path");
    if (!err && !*options->directory) err = prepare_directory(store, options->file_mode);
    if (!err) err = open_chosen(store, path, options);
    bw_free(path);
    if (err) {
        close_file(store);
        bw_free(store->head);
        bw_free(store->directory);
        bw_free(store);
        return err;
    }
    err = begin_identity(store);
    if (err) {
        bw_store_close(store);
        return err;
    }
    *out_store = store;
    return BW_OK;
}

void bw_store_close(struct store *store)
{
    if (!store) return;
    bool is_forked = atomic_load(&store->is_forked);
    ASSERT(is_forked || (!bw_reader_is_any(store) && !store->is_writing && !store->is_flushing));
    if (!is_forked) bw_group_close(store);
    bw_pager_unmap(store);
    if (!is_forked || store->disk != bw_disk_posix()) close_file(store);
    forget(store);
    while (store->head) {
        struct snapshot *snapshot = store->head;
        store->head = snapshot->older;
        bw_free(snapshot);
    }
    bw_recover_free_writer(store->writer);
    bw_free(store->directory);
    bw_free(store);
}

void bw_store_info(struct store *store, struct store_info *out_info)
{
    bw_mutex_lock(&store->mutex);
    const struct snapshot *cur = atomic_load(&store->cur);
    const struct writer *writer = store->writer;
    uint32_t hwm = cur && cur->hwm > SLOT_COUNT ? cur->hwm : SLOT_COUNT;
    *out_info = (struct store_info){
        .file_size = (uint64_t)hwm * PAGE_SIZE,
        .used_pages = cur && cur->used_pages ? cur->used_pages : hwm,
        .txn_id = cur ? cur->txn_id : 0,
        .durable_txn_id = writer && writer->durable ? writer->durable->txn_id : 0,
        .opened_previous = store->opened_previous,
        .opened_older = store->opened_older,
        .has_commit = cur != NULL,
        .device = store->device,
        .inode = store->inode,
    };
    bw_mutex_unlock(&store->mutex);
}

const char *bw_store_directory(const struct store *store) { return store->directory; }

bool bw_store_is_poisoned(const struct store *store)
{
    return atomic_load(&store->session) == SESSION_POISONED || atomic_load(&store->is_forked);
}

/* What the directory's file is now. */
static bw_err look_up_file(struct disk *disk, const char *directory, char **out_path,
                           struct file_info *out_info, bool *out_found)
{
    *out_path = bw_names_join(directory, DATA_FILE_NAME);
    *out_found = false;
    if (!*out_path) return bw_fail(BW_ERR_NO_MEMORY, "Out of memory: a path");
    return disk->look_up(disk, *out_path, out_info, NULL, out_found);
}

struct store *bw_store_find(struct disk *disk, const char *directory)
{
    char *path = NULL;
    struct file_info info;
    bool found = false;
    struct store *store = NULL;
    if (!look_up_file(disk, directory, &path, &info, &found) && found) {
        bw_registry_lock();
        store = bw_registry_find(info.device, info.inode);
        bw_registry_unlock();
    }
    bw_free(path);
    return store && store->disk == disk ? store : NULL;
}

uint64_t bw_store_file_size(struct disk *disk, const char *directory)
{
    char *path = NULL;
    struct file_info info = {0};
    bool found = false;
    bw_err err = look_up_file(disk, directory, &path, &info, &found);
    bw_free(path);
    if (err || !found) return 0;
    if (info.size == 0 && bw_store_find(disk, directory)) return SLOT_COUNT * PAGE_SIZE;
    return info.size;
}

/* Remove a file that nobody has open: the lock tells. */
static bw_err remove_unlocked(struct disk *disk, const char *path)
{
    struct file file = {0};
    bool found = false, got = false;
    bw_err err = disk->open(disk, path, OPEN_WRITE, 0, &file, &found);
    if (err || !found) return err;
    err = disk->lock(file, LOCK_EXCLUSIVE, &got);
    if (!err && !got)
        err =
            bw_fail(BW_ERR_ILLEGAL_STATE,
                    "Cannot remove database files: another process holds the lock of \"%s\"", path);
    if (!err) err = disk->remove(disk, path, &found);
    if (!err) {
        bw_err ignored = disk->resize(file, 0); // O2: for who opened it before and locks it later
        (void)ignored;
    }
    disk->close(file);
    return err;
}

bw_err bw_store_remove(struct disk *disk, const char *directory)
{
    char *path = NULL;
    struct file_info info;
    bool found = false;
    bw_err err = look_up_file(disk, directory, &path, &info, &found);
    if (!err && found) {
        bw_registry_lock();
        if (bw_registry_find(info.device, info.inode))
            err =
                bw_fail(BW_ERR_ILLEGAL_STATE,
                        "Cannot remove database files: the store is still open: \"%s\"", directory);
        else err = remove_unlocked(disk, path);
        bw_registry_unlock();
    }
    bw_free(path);
    return err;
}
