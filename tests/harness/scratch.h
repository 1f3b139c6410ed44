/* SPDX-License-Identifier: Apache-2.0 */
/* A directory of its own for each test that needs real files. */
#pragma once

#include <stddef.h>

/* Make an empty directory below TMPDIR or /tmp. Its path goes to `path`. */
void bw_scratch_make(char *path, size_t size);

/* Remove it with all that is in it. */
void bw_scratch_remove(const char *path);
