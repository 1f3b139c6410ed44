/* SPDX-License-Identifier: Apache-2.0 */
#include "store/target.h"

#include <string.h>

#include "store/names.h"
#include "store/slot.h"

enum { TRIES_MAX = 16 };

static bw_err fail_no_memory(void) { return bw_fail(BW_ERR_NO_MEMORY, "Out of memory: a path"); }

/* ---- names and locks ---- */

static char *part_name(const char *path)
{
    static const char ending[] = ".part";
    const size_t size = strlen(path);
    char *name = bw_new_raw(size + sizeof(ending));
    if (!name) return NULL;
    memcpy(name, path, size);
    memcpy(name + size, ending, sizeof(ending));
    return name;
}

static void close_file(struct file *file)
{
    if (file->disk) file->disk->close(*file);
    *file = (struct file){0};
}

/* Lock an open file for this process. *out_is_named false: its name means another file by now. */
static bw_err lock_named(struct file file, const char *path, bool *out_got, bool *out_is_named)
{
    struct disk *disk = file.disk;
    struct file_info own = {0}, named = {0};
    bool found = false;
    *out_is_named = false;
    bw_err err = disk->lock(file, LOCK_EXCLUSIVE, out_got);
    if (err || !*out_got) return err;
    err = disk->info(file, &own);
    if (!err) err = disk->look_up(disk, path, &named, NULL, &found);
    *out_is_named = found && own.inode == named.inode && own.device == named.device;
    return err;
}

/* ---- the file under its temporary name ---- */

static bw_err fail_busy(const struct target *target)
{
    return bw_fail(BW_ERR_ILLEGAL_STATE, "Somebody else is writing this file: %s", target->path);
}

static bw_err open_part(struct target *target, unsigned permissions)
{
    struct disk *disk = target->disk;
    for (int i = 0; i < TRIES_MAX; i++) {
        bool found = false, got = false, is_named = false;
        bw_err err =
            disk->open(disk, target->part, OPEN_CREATE, permissions, &target->file, &found);
        if (err) return err;
        if (!found)
            return bw_fail(BW_ERR_STORAGE_GENERAL, "There is no directory for this file: %s",
                           target->path);
        err = lock_named(target->file, target->part, &got, &is_named);
        if (!err && !got) err = fail_busy(target);
        if (!err && is_named) return disk->resize(target->file, 0); // remains of another attempt
        close_file(&target->file);
        if (err) return err;
    }
    return fail_busy(target);
}

static bw_err take_names(struct target *target, struct disk *disk, char *path)
{
    *target = (struct target){.disk = disk, .path = path, .part = path ? part_name(path) : NULL};
    if (!target->part) return fail_no_memory();
    if (strlen(target->part) < DIRECTORY_ROOM) return BW_OK;
    return bw_fail(BW_ERR_STORAGE_GENERAL, "This path is too long: %s", path);
}

static bw_err begin(struct target *target, unsigned permissions, bw_err err)
{
    if (!err) err = open_part(target, permissions);
    if (err) bw_target_close(target);
    return err;
}

bw_err bw_target_open(struct target *target, struct disk *disk, const char *path,
                      unsigned permissions)
{
    bw_err err = take_names(target, disk, bw_copy_text(path));
    return begin(target, permissions, err);
}

/* ---- the name of a store ---- */

/* Open what bears the name; an empty file is made to claim it. */
static bw_err open_old(struct target *target, const char *directory, unsigned file_mode)
{
    struct disk *disk = target->disk;
    bool found = false, made = false;
    const unsigned directory_mode = file_mode | (file_mode & 0444) >> 2;
    bw_err err = disk->open(disk, target->path, OPEN_WRITE, file_mode, &target->old, &found);
    if (err || found) return err;
    err = disk->make_directory(disk, directory, directory_mode, &made);
    if (err) return err;
    target->made_directory |= made;
    err = disk->open(disk, target->path, OPEN_CREATE, file_mode, &target->old, &found);
    if (!err && !found)
        err = bw_fail(BW_ERR_STORAGE_GENERAL, "The directory is gone: %s", directory);
    if (!err) target->made_old = true;
    return err;
}

static bw_err fail_locked(const char *directory)
{
    return bw_fail(BW_ERR_ILLEGAL_STATE,
                   "Cannot make a store here: another process holds the lock of its file: "
                   "\"%s/" DATA_FILE_NAME "\"",
                   directory);
}

/* Is the file that of an open store of this process? Such a one would also refuse its lock, but
 * with a text that blames another process. */
static bw_err check_closed(struct file file, const char *directory)
{
    struct file_info info = {0};
    bw_err err = file.disk->info(file, &info);
    if (err) return err;
    bw_registry_lock();
    const bool is_open = bw_registry_find(info.device, info.inode) != NULL;
    bw_registry_unlock();
    if (!is_open) return BW_OK;
    return bw_fail(BW_ERR_ILLEGAL_STATE,
                   "Cannot make a store here: the one in this directory is still open: \"%s\"",
                   directory);
}

static bw_err check_replaceable(struct target *target, const char *directory, bool replaces)
{
    struct file_info info = {0};
    bw_err err = target->disk->info(target->old, &info);
    if (err) return err;
    if (!info.size) target->made_directory = true; // an empty file may be another creation's
    if (!info.size || replaces) return BW_OK;
    return bw_fail(BW_ERR_ILLEGAL_STATE, "There is a database already: \"%s/" DATA_FILE_NAME "\"",
                   directory);
}

static bw_err claim_name(struct target *target, const char *directory, unsigned file_mode)
{
    for (int i = 0; i < TRIES_MAX; i++) {
        bool got = false, is_named = false;
        bw_err err = open_old(target, directory, file_mode);
        if (!err) err = check_closed(target->old, directory);
        if (!err) err = lock_named(target->old, target->path, &got, &is_named);
        if (!err && !got) err = fail_locked(directory);
        if (!err && is_named) return BW_OK;
        target->made_old = false; // whoever has the lock, or the name, has use for the file
        if (err) return err;
        close_file(&target->old);
    }
    return fail_locked(directory);
}

bw_err bw_target_open_store(struct target *target, struct disk *disk, const char *directory,
                            unsigned file_mode, bool replaces)
{
    bw_err err = take_names(target, disk, bw_names_join(directory, DATA_FILE_NAME));
    if (!err) err = claim_name(target, directory, file_mode);
    if (!err) err = check_replaceable(target, directory, replaces);
    return begin(target, file_mode, err);
}

/* ---- writing ---- */

static bw_err fill_up(struct target *target, uint64_t end)
{
    static const uint8_t zeros[16 * PAGE_SIZE];
    bw_err err = BW_OK;
    while (target->end < end && !err) {
        const uint64_t left = end - target->end;
        err = bw_target_append(target, zeros, left < sizeof(zeros) ? (size_t)left : sizeof(zeros));
    }
    return err;
}

bw_err bw_target_write(struct target *target, uint64_t at, const void *data, size_t size)
{
    bw_err err = fill_up(target, at);
    if (err) return err;
    const struct span span = {.data = data, .size = size};
    err = target->disk->write(target->file, at, &span, 1);
    if (!err && at + size > target->end) target->end = at + size;
    return err;
}

bw_err bw_target_append(struct target *target, const void *data, size_t size)
{
    return bw_target_write(target, target->end, data, size);
}

bw_err bw_target_write_slots(struct target *target, const uint8_t *image)
{
    uint8_t slots[SLOT_COUNT * PAGE_SIZE] = {0};
    struct slot slot;
    if (bw_slot_decode(image, &slot) != SLOT_GOOD)
        return bw_fail(BW_ERR_FILE_CORRUPT, "The slot of a store that is being made is damaged");
    memcpy(slots, image, SLOT_CHECKED_SIZE);
    bw_put_u64(slots + PAGE_SIZE + SLOT_AT_SEAL, slot.checksum); // R20
    bw_put_u64(slots + PAGE_SIZE + SLOT_AT_SEAL + 8, slot.txn_id);
    bw_err err = fill_up(target, (uint64_t)slot.hwm * PAGE_SIZE);
    if (!err) err = bw_target_write(target, 0, slots, sizeof(slots));
    return err;
}

/* ---- the end ---- */

static bw_err flush_names(struct target *target)
{
    struct disk *disk = target->disk;
    char directory[DIRECTORY_ROOM], above[DIRECTORY_ROOM];
    bw_names_parent(target->path, directory);
    bw_err err = disk->flush_directory(disk, directory);
    if (err || !target->made_directory) return err;
    bw_names_parent(directory, above);
    return disk->flush_directory(disk, above);
}

bw_err bw_target_finish(struct target *target)
{
    struct disk *disk = target->disk;
    bw_err err = disk->flush(target->file, FLUSH_DEVICE);
    if (!err) err = disk->rename(disk, target->part, target->path); // Q1
    if (err) return err;
    target->is_finished = true;
    err = flush_names(target);
    if (!err && target->old.disk) {
        bw_err ignored = disk->resize(target->old, 0); // Q2, Q3; nobody can reach it by its name
        (void)ignored;
    }
    return err;
}

/* Best effort: what stays under the temporary name is overwritten by the next attempt. */
static void remove_name(struct disk *disk, const char *path)
{
    bool found = false;
    bw_err ignored = disk->remove(disk, path, &found);
    (void)ignored;
}

void bw_target_close(struct target *target)
{
    if (!target->is_finished) {
        if (target->file.disk) remove_name(target->disk, target->part);
        if (target->made_old) remove_name(target->disk, target->path);
    }
    close_file(&target->file);
    close_file(&target->old);
    bw_free(target->path);
    bw_free(target->part);
    *target = (struct target){0};
}
