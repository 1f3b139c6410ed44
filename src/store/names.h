/* SPDX-License-Identifier: Apache-2.0 */
/* The names around a store: its file, directory and the directory above. */
#pragma once

#include "store/engine.h"

enum { DIRECTORY_ROOM = 4096 }; /* bytes of a directory's path and its NUL, at most */

/* directory + "/" + name, owned by the caller, or NULL. */
MUST_CHECK char *bw_names_join(const char *directory, const char *name);

/* Make the directory's entries durable, and the directory's own entry where that may be missing. */
MUST_CHECK bw_err bw_names_flush(struct store *store);
