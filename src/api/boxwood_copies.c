/* SPDX-License-Identifier: Apache-2.0 */
#include "api/failure.h"
#include "api/store_copies.h"

obx_err boxwood_store_backup(OBX_store *store, const char *backup_file, uint32_t flags,
                             boxwood_progress *progress, void *user_data,
                             boxwood_failure *out_failure)
{
    const struct progress listener = {.report = progress, .user = user_data};
    return bw_failure_note(out_failure,
                           bw_store_copies_back_up(store, backup_file, flags, &listener));
}

obx_err boxwood_restore(const char *backup_file, const char *directory, uint32_t flags,
                        boxwood_progress *progress, void *user_data, boxwood_failure *out_failure)
{
    const struct progress listener = {.report = progress, .user = user_data};
    return bw_failure_note(out_failure,
                           bw_store_copies_restore(backup_file, directory, flags, &listener));
}

obx_err boxwood_store_copy(OBX_store *store, const char *directory, boxwood_progress *progress,
                           void *user_data, boxwood_failure *out_failure)
{
    const struct progress listener = {.report = progress, .user = user_data};
    return bw_failure_note(out_failure, bw_store_copies_copy(store, directory, &listener));
}
