/* SPDX-License-Identifier: Apache-2.0 */
#include "store/names.h"

char *bw_names_join(const char *directory, const char *name)
{
    size_t size = strlen(directory), name_size = strlen(name);
    char *path = bw_new_raw(size + 1 + name_size + 1);
    if (!path) return NULL;
    memcpy(path, directory, size);
    if (size && directory[size - 1] != '/') path[size++] = '/';
    memcpy(path + size, name, name_size + 1);
    return path;
}

void bw_names_parent(const char *path, char parent[DIRECTORY_ROOM])
{
    size_t size = strlen(path);
    while (size > 1 && path[size - 1] == '/') size--;
    while (size > 0 && path[size - 1] != '/') size--;
    while (size > 1 && path[size - 1] == '/') size--;
    ASSERT(size < DIRECTORY_ROOM);
    memcpy(parent, path, size);
    if (!size) parent[size++] = '.';
    parent[size] = 0;
}

bw_err bw_names_flush(struct store *store)
{
    struct disk *disk = store->disk;
    bw_err err = disk->flush_directory(disk, store->directory);
    if (err || !store->made_directory) return err;
    char parent[DIRECTORY_ROOM]; // no allocation: a failure here would poison the store
    bw_names_parent(store->directory, parent);
    return disk->flush_directory(disk, parent);
}
