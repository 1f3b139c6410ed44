/* SPDX-License-Identifier: Apache-2.0 */
#include "api/store_copies.h"

#include "api/handles.h"

_Static_assert((int)OBXBackupFlags_ExcludeTimestamp == BACKUP_EXCLUDE_TIMESTAMP &&
                   (int)OBXBackupFlags_ExcludeSalt == BACKUP_EXCLUDE_SALT,
               "flags go down as they come");

/* A store that is held for work that calls back. */
struct holder {
    struct core *core;
    struct inside inside;
};

static bw_err hold(OBX_store *store, struct holder *holder)
{
    uint64_t core_id = 0;
    bw_err err = CORE_OF_STORE(store, &holder->core, &core_id);
    if (!err) err = bw_core_enter(holder->core, core_id);
    if (!err) bw_core_note_inside(&holder->inside, holder->core);
    return err;
}

static void let_go(struct holder *holder)
{
    bw_core_forget_inside(&holder->inside);
    bw_core_leave(holder->core);
}

bw_err bw_store_copies_back_up(OBX_store *store, const char *file, uint32_t flags,
                               const struct progress *progress)
{
    struct holder holder;
    bw_err err = CHECK_HANDLE(store, SLOT_STORE);
    if (!err && !file) err = bw_argument_null("backup_file", __LINE__);
    if (!err && flags & ~(uint32_t)(BACKUP_EXCLUDE_TIMESTAMP | BACKUP_EXCLUDE_SALT))
        err = bw_fail(BW_ERR_ILLEGAL_ARGUMENT, "Unknown backup flags: %u", flags);
    if (!err) err = hold(store, &holder);
    if (err) return err;
    const struct backup_options options = {
        .disk = bw_core_disk_of_file(file), .file = file, .flags = flags, .progress = progress};
    err = bw_db_back_up(holder.core->db, &options);
    let_go(&holder);
    return err;
}

bw_err bw_store_copies_copy(OBX_store *store, const char *directory,
                            const struct progress *progress)
{
    struct holder holder;
    bw_err err = CHECK_HANDLE(store, SLOT_STORE);
    if (!err && !directory) err = ARGUMENT_NULL(directory);
    if (!err) err = hold(store, &holder);
    if (err) return err;
    const struct copy_options options = {
        .disk = bw_core_disk(directory, NULL), .directory = directory, .progress = progress};
    err = bw_db_copy(holder.core->db, &options);
    let_go(&holder);
    return err;
}

bw_err bw_store_copies_restore(const char *backup_file, const char *directory, uint32_t flags,
                               const struct progress *progress)
{
    enum { FILE_MODE = 0644 }; // as of a new store
    if (!backup_file) return ARGUMENT_NULL(backup_file);
    if (!directory) return ARGUMENT_NULL(directory);
    if (flags & ~(uint32_t)OBXBackupRestoreFlags_OverwriteExistingData)
        return bw_fail(BW_ERR_ILLEGAL_ARGUMENT, "Unknown backup restore flags: %u", flags);
    const struct restore_options options = {
        .file_disk = bw_core_disk_of_file(backup_file),
        .file = backup_file,
        .disk = bw_core_disk(directory, NULL),
        .directory = directory,
        .file_mode = FILE_MODE,
        .replaces = flags != 0,
        .progress = progress,
    };
    return bw_store_restore(&options);
}
