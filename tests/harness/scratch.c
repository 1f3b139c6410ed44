/* SPDX-License-Identifier: Apache-2.0 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "harness/scratch.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/check.h"

void bw_scratch_make(char *path, size_t size)
{
    const char *below = getenv("TMPDIR");
    const int length = snprintf(path, size, "%s/boxwood-XXXXXX", below && *below ? below : "/tmp");
    CHECK(length > 0 && (size_t)length < size);
    CHECK(mkdtemp(path) != NULL);
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
    (void)info;
    (void)walk;
    return kind == FTW_DP ? rmdir(path) : unlink(path);
}

void bw_scratch_remove(const char *path)
{
    const int left = nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    CHECK_EQ(left, 0);
}
