/* SPDX-License-Identifier: Apache-2.0 */
/* Backups and copies of an open store, and stores from backups: what both headers offer. */
#pragma once

#include "api/core.h"

/* progress.report NULL in all of them: nobody listens. It may close the store, whose memory then
 * stays until the call ends. */
MUST_CHECK bw_err bw_store_copies_back_up(OBX_store *store, const char *file, uint32_t flags,
                                          const struct progress *progress);
MUST_CHECK bw_err bw_store_copies_copy(OBX_store *store, const char *directory,
                                       const struct progress *progress);
MUST_CHECK bw_err bw_store_copies_restore(const char *backup_file, const char *directory,
                                          uint32_t flags, const struct progress *progress);
