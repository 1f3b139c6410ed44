/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* Gives each file of the folders named to a fuzz target, in the order of their names: what once
 * found a fault is tried again wherever there is a compiler. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "fuzz/input.h"

enum { SIZE_MAX_INPUT = 1 << 20, PATH_ROOM = 1000 };

static bool run_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *room = malloc(SIZE_MAX_INPUT);
    if (!file || !room) {
        fprintf(stderr, "%s: cannot be read\n", path);
        exit(1);
    }
    const size_t size = fread(room, 1, SIZE_MAX_INPUT, file);
    fclose(file);
    uint8_t *data = malloc(size ? size : 1); // of its own length, so that a sanitizer sees its end
    if (!data) exit(1);
    memcpy(data, room, size);
    free(room);
    const bool is_verbose = getenv("BW_VERBOSE") != NULL;
    if (is_verbose) fprintf(stderr, "%s\n", path);
    (void)LLVMFuzzerTestOneInput(data, size);
    free(data);
    return true;
}

static unsigned run_folder(const char *folder)
{
    struct dirent **entries = NULL;
    unsigned count = 0;
    const int found = scandir(folder, &entries, NULL, alphasort);
    if (found < 0) {
        fprintf(stderr, "%s: cannot be read\n", folder);
        exit(1);
    }
    for (int i = 0; i < found; i++) {
        char path[PATH_ROOM];
        const bool is_hidden = entries[i]->d_name[0] == '.';
        (void)snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
        if (!is_hidden) count += run_file(path);
        free(entries[i]);
    }
    free(entries);
    return count;
}

int main(int argc, char **argv)
{
    unsigned count = 0;
    for (int i = 1; i < argc; i++) count += run_folder(argv[i]);
    printf("%u inputs\n", count);
    return count ? 0 : 1;
}
