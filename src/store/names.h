/* SPDX-License-Identifier: Apache-2.0 */
/* The names around a store: its file, directory and the directory above. */
#pragma once

#include "store/engine.h"

#define DATA_FILE_NAME "data.mdb"

enum { DIRECTORY_ROOM = 4096 }; /* bytes of a directory's path and its NUL, at most */

/* directory + "/" + name, owned by the caller, or NULL. */
MUST_CHECK char *bw_names_join(const char *directory, const char *name);

/* The directory above a path; "." when it has one part only. The path fits DIRECTORY_ROOM. */
void bw_names_parent(const char *path, char parent[DIRECTORY_ROOM]);

/* Make the directory's entries durable, and the directory's own entry where that may be missing. */
MUST_CHECK bw_err bw_names_flush(struct store *store);
