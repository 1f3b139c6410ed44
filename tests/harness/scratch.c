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

static void make_below(const char *below, char *path, size_t size)
{
    const int length = snprintf(path, size, "%s/boxwood-XXXXXX", below);
    CHECK(length > 0 && (size_t)length < size);
    CHECK(mkdtemp(path) != NULL);
}

void bw_scratch_make(char *path, size_t size)
{
    const char *below = getenv("TMPDIR");
    make_below(below && *below ? below : "/tmp", path, size);
}

void bw_scratch_make_in_memory(char *path, size_t size)
{
    if (access("/dev/shm", W_OK) == 0) make_below("/dev/shm", path, size);
    else bw_scratch_make(path, size);
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
