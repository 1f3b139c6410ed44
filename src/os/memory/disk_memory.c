/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that live in this process's memory.
 *
 * A file is a row of chunks of 64 MB of address space. Chunks are made when a write first reaches
 * them and never move, and their untouched pages cost nothing: a window is the bytes themselves,
 * and a small file stays small. A name is a link to a file, which opens and windows keep alive too.
 *
 * Invariants:
 *   F1  A file has one user for its name, one for each open and one for each window; the last one
 *       frees it.
 *   F2  Bytes at and beyond the size are zero, so that growing needs no clearing.
 *   F3  Chunks are only added while the file lives. Their bytes are read and written without lock,
 *       as on any disk: whoever reads what another writes at the same moment gets a mixture.
 *   F4  The lock of an open file ends with its close.
 *
 * Directories are not kept: one exists as far as the name of some file begins with it.
 */
#include "os/os.h"
#include "os/pages.h"

#include <errno.h>
#include <string.h>

enum {
    CHUNK_SIZE = 64 << 20,
    CHUNKS_MAX = 1 << 16, /* 4 TB */
    BUCKET_COUNT = 256,
};

struct memory_file {
    struct memory_file *next; /* names.mutex: in its bucket */
    char *path;               /* names.mutex: NULL once the name is gone */
    uint64_t inode;
    size_t user_count; /* names.mutex, F1 */

    struct mutex mutex;  /* may be taken while names.mutex is held, not the other way round */
    uint64_t size;       /* mutex */
    uint8_t **chunks;    /* mutex; those never reached by a write are NULL or missing */
    size_t chunk_count;  /* mutex */
    size_t shared_count; /* mutex: opens that hold the lock shared */
    bool is_exclusive;   /* mutex: one holds it alone */
};

/* What a handle points to. */
struct memory_open {
    struct memory_file *file;
    enum lock_kind lock; /* file->mutex */
};

static struct {
    struct mutex mutex;
    struct memory_file *buckets[BUCKET_COUNT]; /* mutex */
    uint64_t inode_count;                      /* mutex */
} names;

static struct memory_open *open_of(struct file file) { return (struct memory_open *)file.handle; }
static struct memory_file *file_of(struct file file) { return open_of(file)->file; }

static bw_err fail_no_memory(void)
{
    return bw_fail_system(BW_ERR_NO_MEMORY, ENOMEM, "No memory for a file in memory");
}

// ---- names: all of these under names.mutex ----

static struct memory_file **bucket_of(const char *path)
{
    return &names.buckets[bw_hash64(path, strlen(path), 0) % BUCKET_COUNT];
}

static struct memory_file *find(const char *path)
{
    struct memory_file *file = *bucket_of(path);
    while (file && strcmp(file->path, path) != 0) file = file->next;
    return file;
}

static bw_err add(const char *path, struct memory_file **out_file)
{
    struct memory_file *file = bw_new(sizeof(*file));
    char *copy = bw_copy_text(path);
    if (!file || !copy) {
        bw_free(file);
        bw_free(copy);
        return fail_no_memory();
    }
    struct memory_file **bucket = bucket_of(path);
    file->path = copy;
    file->next = *bucket;
    file->inode = ++names.inode_count;
    file->user_count = 1;
    *bucket = file;
    *out_file = file;
    return BW_OK;
}

static void leave(struct memory_file *file)
{
    if (--file->user_count > 0) return; // F1
    for (size_t i = 0; i < file->chunk_count; i++) {
        if (file->chunks[i]) bw_pages_release(file->chunks[i], CHUNK_SIZE);
    }
    bw_free(file->chunks);
    bw_free(file);
}

static void unlink_name(struct memory_file *file)
{
    struct memory_file **at = bucket_of(file->path);
    while (*at != file) at = &(*at)->next;
    *at = file->next;
    bw_free(file->path);
    file->path = NULL;
    leave(file);
}

// ---- locks: under the file's mutex ----

static bool change_lock(struct memory_open *open, enum lock_kind kind)
{
    struct memory_file *file = open->file;
    const size_t others = file->shared_count - (open->lock == LOCK_SHARED);
    const bool is_held = file->is_exclusive && open->lock != LOCK_EXCLUSIVE;
    if (kind != LOCK_NONE && is_held) return false;
    if (kind == LOCK_EXCLUSIVE && others > 0) return false;
    file->shared_count = others + (kind == LOCK_SHARED);
    file->is_exclusive = kind == LOCK_EXCLUSIVE || is_held;
    open->lock = kind;
    return true;
}

static bw_err memory_lock(struct file file, enum lock_kind kind, bool *out_got)
{
    struct memory_open *open = open_of(file);
    bw_mutex_lock(&open->file->mutex);
    *out_got = change_lock(open, kind);
    bw_mutex_unlock(&open->file->mutex);
    return BW_OK;
}

// ---- opening and closing ----

static bw_err open_file(const char *path, enum open_mode mode, struct memory_open *open)
{
    struct memory_file *file = find(path);
    if (!file && mode == OPEN_CREATE) {
        bw_err err = add(path, &file);
        if (err) return err;
    }
    if (file) file->user_count++;
    open->file = file;
    return BW_OK;
}

static bw_err memory_open(struct disk *disk, const char *path, enum open_mode mode,
                          unsigned permissions, struct file *out_file, bool *out_found)
{
    (void)permissions;
    struct memory_open *open = bw_new(sizeof(*open));
    if (!open) return fail_no_memory();
    bw_mutex_lock(&names.mutex);
    bw_err err = open_file(path, mode, open);
    bw_mutex_unlock(&names.mutex);
    if (err || !open->file) {
        bw_free(open);
        if (!err) *out_found = false;
        return err;
    }
    *out_file = (struct file){.disk = disk, .handle = (intptr_t)open};
    *out_found = true;
    return BW_OK;
}

static void memory_close(struct file file)
{
    struct memory_open *open = open_of(file);
    bw_mutex_lock(&open->file->mutex);
    (void)change_lock(open, LOCK_NONE); // F4
    bw_mutex_unlock(&open->file->mutex);
    bw_mutex_lock(&names.mutex);
    leave(open->file);
    bw_mutex_unlock(&names.mutex);
    bw_free(open);
}

// ---- bytes ----

static uint64_t size_of(struct memory_file *file)
{
    bw_mutex_lock(&file->mutex);
    const uint64_t size = file->size;
    bw_mutex_unlock(&file->mutex);
    return size;
}

static bw_err memory_info(struct file file, struct file_info *out_info)
{
    struct memory_file *found = file_of(file);
    *out_info = (struct file_info){.size = size_of(found), .inode = found->inode};
    return BW_OK;
}

/* The chunk that holds an offset, made if it is not there. NULL: no memory. */
static uint8_t *make_chunk(struct memory_file *file, uint64_t at)
{
    if (at / CHUNK_SIZE >= CHUNKS_MAX) return NULL;
    const size_t no = (size_t)(at / CHUNK_SIZE);
    if (no >= file->chunk_count) {
        uint8_t **chunks = bw_resize(file->chunks, (no + 1) * sizeof(*chunks));
        if (!chunks) return NULL;
        memset(&chunks[file->chunk_count], 0, (no + 1 - file->chunk_count) * sizeof(*chunks));
        file->chunks = chunks;
        file->chunk_count = no + 1;
    }
    if (!file->chunks[no]) file->chunks[no] = bw_pages_reserve(CHUNK_SIZE);
    return file->chunks[no];
}

static uint8_t *get_chunk(struct memory_file *file, uint64_t at, bool is_made)
{
    bw_mutex_lock(&file->mutex);
    const uint64_t no = at / CHUNK_SIZE;
    uint8_t *chunk = is_made                  ? make_chunk(file, at)
                     : no < file->chunk_count ? file->chunks[no]
                                              : NULL;
    bw_mutex_unlock(&file->mutex);
    return chunk;
}

/* The part of [at, at + size) that lies in the first chunk it touches. */
static size_t part_of(uint64_t at, size_t size)
{
    const size_t left = CHUNK_SIZE - (size_t)(at % CHUNK_SIZE);
    return size < left ? size : left;
}

static bw_err memory_read(struct file file, uint64_t at, void *to, size_t size, size_t *out_read)
{
    struct memory_file *found = file_of(file);
    const uint64_t end = size_of(found);
    if (at > end) at = end;
    if (size > end - at) size = (size_t)(end - at);
    for (size_t done = 0; done < size;) {
        const size_t part = part_of(at + done, size - done);
        const uint8_t *chunk = get_chunk(found, at + done, false);
        uint8_t *target = (uint8_t *)to + done;
        if (chunk) {
            memcpy(target, chunk + (at + done) % CHUNK_SIZE, part); // F3
        } else {
            memset(target, 0, part);
        }
        done += part;
    }
    *out_read = size;
    return BW_OK;
}

static bw_err write_bytes(struct memory_file *file, uint64_t at, const void *data, size_t size)
{
    size_t done = 0;
    while (done < size) {
        const size_t part = part_of(at + done, size - done);
        uint8_t *chunk = get_chunk(file, at + done, true);
        if (!chunk) break;
        memcpy(chunk + (at + done) % CHUNK_SIZE, (const uint8_t *)data + done, part); // F3
        done += part;
    }
    bw_mutex_lock(&file->mutex);
    if (done && file->size < at + done) file->size = at + done; // F2, also of half a write
    bw_mutex_unlock(&file->mutex);
    if (done == size) return BW_OK;
    return bw_fail_system(BW_ERR_DB_FULL, ENOMEM, "Could not write a file in memory: no memory");
}

static bw_err memory_write(struct file file, uint64_t at, const struct span *spans,
                           size_t span_count)
{
    for (size_t i = 0; i < span_count; i++) {
        if (!spans[i].size) continue;
        bw_err err = write_bytes(file_of(file), at, spans[i].data, spans[i].size);
        if (err) return err;
        at += spans[i].size;
    }
    return BW_OK;
}

static bw_err memory_resize(struct file file, uint64_t size)
{
    struct memory_file *found = file_of(file);
    bw_mutex_lock(&found->mutex);
    for (uint64_t at = size; at < found->size;) { // F2
        const uint64_t left = found->size - at;
        const size_t part = part_of(at, left < CHUNK_SIZE ? (size_t)left : CHUNK_SIZE);
        const size_t no = (size_t)(at / CHUNK_SIZE);
        uint8_t *chunk = no < found->chunk_count ? found->chunks[no] : NULL;
        if (chunk) bw_pages_clear(chunk + at % CHUNK_SIZE, part);
        at += part;
    }
    found->size = size;
    bw_mutex_unlock(&found->mutex);
    return BW_OK;
}

static bw_err memory_flush(struct file file, enum flush_kind kind)
{
    (void)file;
    (void)kind;
    return BW_OK;
}

static bw_err memory_map(struct file file, uint64_t at, size_t size, const uint8_t **out_window)
{
    struct memory_file *found = file_of(file);
    if (part_of(at, size) < size) {
        return bw_fail_system(BW_ERR_STORAGE_GENERAL, EINVAL,
                              "Could not map a file in memory: the window crosses a chunk of %d",
                              CHUNK_SIZE);
    }
    const uint8_t *chunk = get_chunk(found, at, true);
    if (!chunk) {
        return bw_fail_system(BW_ERR_STORAGE_GENERAL, ENOMEM,
                              "Could not map a file in memory: no memory");
    }
    bw_mutex_lock(&names.mutex);
    found->user_count++;
    bw_mutex_unlock(&names.mutex);
    *out_window = chunk + at % CHUNK_SIZE;
    return BW_OK;
}

static void memory_unmap(struct file file, const uint8_t *window, size_t size)
{
    (void)window;
    (void)size;
    bw_mutex_lock(&names.mutex);
    leave(file_of(file));
    bw_mutex_unlock(&names.mutex);
}

// ---- calls on names ----

static bw_err memory_make_directory(struct disk *disk, const char *path, unsigned permissions,
                                    bool *out_made)
{
    (void)disk;
    (void)path;
    (void)permissions;
    *out_made = false;
    return BW_OK;
}

static bw_err memory_flush_directory(struct disk *disk, const char *path)
{
    (void)disk;
    (void)path;
    return BW_OK;
}

static bw_err rename_file(const char *from, const char *to)
{
    struct memory_file *file = find(from);
    if (!file) {
        return bw_fail_system(BW_ERR_STORAGE_GENERAL, ENOENT,
                              "Could not rename: %s: no such file in memory", from);
    }
    if (strcmp(from, to) == 0) return BW_OK;
    char *copy = bw_copy_text(to);
    if (!copy) return fail_no_memory();
    struct memory_file *replaced = find(to);
    if (replaced) unlink_name(replaced);
    file->user_count++; // it has no name for a moment
    unlink_name(file);
    struct memory_file **bucket = bucket_of(to);
    file->path = copy;
    file->next = *bucket;
    *bucket = file;
    return BW_OK;
}

static bw_err memory_rename(struct disk *disk, const char *from, const char *to)
{
    (void)disk;
    bw_mutex_lock(&names.mutex);
    bw_err err = rename_file(from, to);
    bw_mutex_unlock(&names.mutex);
    return err;
}

static bw_err memory_remove(struct disk *disk, const char *path, bool *out_found)
{
    (void)disk;
    bw_mutex_lock(&names.mutex);
    struct memory_file *file = find(path);
    if (file) unlink_name(file);
    bw_mutex_unlock(&names.mutex);
    *out_found = file != NULL;
    return BW_OK;
}

static bool is_directory(const char *path)
{
    const size_t size = strlen(path);
    for (size_t i = 0; i < BUCKET_COUNT; i++) {
        for (const struct memory_file *file = names.buckets[i]; file; file = file->next) {
            if (strncmp(file->path, path, size) == 0 && file->path[size] == '/') return true;
        }
    }
    return false;
}

static bw_err memory_look_up(struct disk *disk, const char *path, struct file_info *out_info,
                             bool *out_is_directory, bool *out_found)
{
    (void)disk;
    bw_mutex_lock(&names.mutex);
    struct memory_file *file = find(path);
    const bool below = !file && is_directory(path);
    if (file) *out_info = (struct file_info){.size = size_of(file), .inode = file->inode};
    bw_mutex_unlock(&names.mutex);
    if (below) *out_info = (struct file_info){0};
    if (out_is_directory) *out_is_directory = below;
    *out_found = file || below;
    return BW_OK;
}

struct disk *bw_disk_memory(void)
{
    static struct disk disk = {
        .open = memory_open,
        .close = memory_close,
        .info = memory_info,
        .read = memory_read,
        .write = memory_write,
        .resize = memory_resize,
        .flush = memory_flush,
        .lock = memory_lock,
        .map = memory_map,
        .unmap = memory_unmap,
        .make_directory = memory_make_directory,
        .flush_directory = memory_flush_directory,
        .rename = memory_rename,
        .remove = memory_remove,
        .look_up = memory_look_up,
    };
    return &disk;
}
