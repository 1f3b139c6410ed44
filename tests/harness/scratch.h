/* SPDX-License-Identifier: Apache-2.0 */
/* A directory of its own for each test that needs real files. */
#pragma once

#include <stddef.h>

/* Make an empty directory below TMPDIR or /tmp. Its path goes to `path`. */
void bw_scratch_make(char *path, size_t size);

/* The same in memory, below /dev/shm, where there is such a place: files as good as real, but for
 * what flushing costs. */
void bw_scratch_make_in_memory(char *path, size_t size);

/* Remove it with all that is in it. */
void bw_scratch_remove(const char *path);
