/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of a POSIX system behind struct disk. A file's handle is its descriptor.
 *
 * Nothing is kept beside the descriptor, and no call makes more system calls than it names: opening
 * an existing store is open, fstat, fcntl, pread and close, each once.
 *
 * Invariants:
 *   D1  Every descriptor is closed by exec and is none of the standard three: what a program prints
 *       after closing its stderr must not end up in a database.
 *   D2  The lock belongs to the open file. Locks of the process would end when any other descriptor
 *       of the same file is closed, by whatever library.
 *   D3  Writing goes on after an interruption or a short write. A flush never does: after a failed
 *       one the system may call lost pages clean, and a second one would succeed for nothing.
 *   D4  An errno is read before anything else can change it, and is in the text and the secondary
 *       code; the file's path is in the text. Finding the path costs nothing while nothing fails.
 */
#include "os/posix/platform.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

_Static_assert(sizeof(off_t) == 8, "files beyond 2 GB");

enum {
#ifdef IOV_MAX
    SPANS_MAX = IOV_MAX,
#else
    SPANS_MAX = 16,
#endif
    TRANSFER_MAX = 1 << 30, /* bytes in one call; some systems refuse 2 GB and more */
    PATH_ROOM = 512,        /* of a path in a text */
    DESCRIPTOR_MIN = 3,     /* D1 */
};

#define LOCK_AT ((off_t)1 << 62)
#define OPEN_FAILED "Could not open database environment; please check options and file system"

// ---- errors ----

static bw_err fail(int number, const char *what, const char *path)
{
    char text[SYSTEM_TEXT_ROOM];
    return bw_fail_system(bw_platform_code(number), number, "%s: %s (%d: %s)", what, path, number,
                          bw_platform_text(number, text));
}

static bw_err fail_open(int number, enum open_mode mode, const char *path)
{
    char text[SYSTEM_TEXT_ROOM];
    const bool is_refused = number == EACCES || number == EPERM || number == EROFS;
    const char *hint = is_refused && mode != OPEN_READ
                           ? "; opening it read-only needs no permission to write"
                           : "";
    return bw_fail_system(bw_platform_code(number), number, OPEN_FAILED " (%d: %s) (%s%s)", number,
                          bw_platform_text(number, text), path, hint);
}

/* A failure of a call on an open file: what it is called is asked of the system only here. */
static bw_err fail_file(int number, const char *what, struct file file)
{
    char path[PATH_ROOM];
    (void)snprintf(path, sizeof(path), "descriptor %d", (int)file.handle);
#if defined(__linux__)
    char link[64];
    (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", (int)file.handle);
    const ssize_t size = readlink(link, path, sizeof(path) - 1);
    if (size > 0) path[size] = 0;
#elif defined(__APPLE__)
    char whole[PATH_MAX];
    if (fcntl((int)file.handle, F_GETPATH, whole) == 0)
        (void)snprintf(path, sizeof(path), "%s", whole);
#endif
    return fail(number, what, path);
}

static bool is_missing(int number) { return number == ENOENT || number == ENOTDIR; }

// ---- open files ----

static int open_descriptor(const char *path, int flags, mode_t permissions)
{
    int descriptor;
    do {
        descriptor = open(path, flags | O_CLOEXEC, permissions);
    } while (descriptor < 0 && errno == EINTR);
    if (descriptor < 0 || descriptor >= DESCRIPTOR_MIN) return descriptor;
    const int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, DESCRIPTOR_MIN); // D1
    const int number = errno;
    (void)close(descriptor);
    errno = number;
    return moved;
}

static bw_err posix_open(struct disk *disk, const char *path, enum open_mode mode,
                         unsigned permissions, struct file *out_file, bool *out_found)
{
    int flags = mode == OPEN_READ ? O_RDONLY : O_RDWR;
    if (mode == OPEN_CREATE) flags |= O_CREAT;
    const int descriptor = open_descriptor(path, flags, (mode_t)permissions);
    if (descriptor < 0) {
        // A file in the place of a directory is the caller's mistake, not an absence.
        if (errno != ENOENT) return fail_open(errno, mode, path);
        *out_found = false;
        return BW_OK;
    }
    *out_file = (struct file){.disk = disk, .handle = descriptor};
    *out_found = true;
    return BW_OK;
}

static void posix_close(struct file file)
{
    // Not repeated after an interruption: the descriptor is gone, and its number may be another's.
    (void)close((int)file.handle);
}

static bw_err posix_info(struct file file, struct file_info *out_info)
{
    struct stat found;
    if (fstat((int)file.handle, &found) != 0) {
        return fail_file(errno, "Could not get the size of a file", file);
    }
    *out_info = (struct file_info){
        .size = (uint64_t)found.st_size,
        .device = (uint64_t)found.st_dev,
        .inode = (uint64_t)found.st_ino,
    };
    return BW_OK;
}

static bw_err posix_read(struct file file, uint64_t at, void *to, size_t size, size_t *out_read)
{
    size_t done = 0;
    while (done < size) {
        const size_t part = size - done < TRANSFER_MAX ? size - done : TRANSFER_MAX;
        const ssize_t got = pread((int)file.handle, (uint8_t *)to + done, part, (off_t)(at + done));
        if (got == 0) break;
        if (got > 0) {
            done += (size_t)got;
        } else if (errno != EINTR) {
            return fail_file(errno, "Could not read", file);
        }
    }
    *out_read = done;
    return BW_OK;
}

// ---- writing ----

/* How far a gathered write has come. */
struct transfer {
    const struct span *spans; /* borrowed */
    size_t span_count;
    size_t next;    /* the first span that is not written whole */
    size_t written; /* bytes of it that are */
};

static int gather(const struct transfer *progress, struct iovec *vectors)
{
    int count = 0;
    size_t room = TRANSFER_MAX, skip = progress->written;
    for (size_t i = progress->next; i < progress->span_count && count < SPANS_MAX && room; i++) {
        const struct span *span = &progress->spans[i];
        const size_t left = span->size - skip;
        const size_t size = left < room ? left : room;
        vectors[count++] = (struct iovec){
            .iov_base = (uint8_t *)(uintptr_t)span->data + skip, // only read from
            .iov_len = size,
        };
        room -= size;
        skip = 0;
    }
    return count;
}

static void advance(struct transfer *progress, size_t size)
{
    progress->written += size;
    while (progress->next < progress->span_count) {
        const size_t span_size = progress->spans[progress->next].size;
        if (progress->written < span_size) return;
        progress->written -= span_size;
        progress->next++;
    }
}

static ssize_t write_vectors(int descriptor, const struct iovec *vectors, int count, off_t at)
{
#if defined(__linux__) || defined(__FreeBSD__) || defined(__OpenBSD__) || defined(__NetBSD__)
    return pwritev(descriptor, vectors, count, at);
#else
    (void)count;
    return pwrite(descriptor, vectors[0].iov_base, vectors[0].iov_len, at);
#endif
}

static bw_err posix_write(struct file file, uint64_t at, const struct span *spans,
                          size_t span_count)
{
    struct transfer progress = {.spans = spans, .span_count = span_count};
    advance(&progress, 0); // over empty spans: a call for no bytes would look like no progress
    while (progress.next < span_count) {
        struct iovec vectors[SPANS_MAX];
        const int count = gather(&progress, vectors);
        const ssize_t got = write_vectors((int)file.handle, vectors, count, (off_t)at);
        if (got > 0) {
            at += (uint64_t)got;
            advance(&progress, (size_t)got); // D3
        } else if (got == 0) {
            return fail_file(EIO, "Could not write", file);
        } else if (errno != EINTR) {
            return fail_file(errno, "Could not write", file);
        }
    }
    return BW_OK;
}

static bw_err posix_resize(struct file file, uint64_t size)
{
    int result;
    do {
        result = ftruncate((int)file.handle, (off_t)size);
    } while (result != 0 && errno == EINTR);
    if (result != 0) return fail_file(errno, "Could not set the size of a file", file);
    return BW_OK;
}

static int flush_descriptor(int descriptor, enum flush_kind kind)
{
#if defined(__APPLE__)
    // fsync only hands the data to the device there. A disk that cannot do more answers ENOTSUP.
    if (fcntl(descriptor, kind == FLUSH_ORDER ? F_BARRIERFSYNC : F_FULLFSYNC) == 0) return 0;
    return errno == ENOTSUP || errno == EINVAL || errno == ENOTTY ? fsync(descriptor) : -1;
#elif defined(__linux__)
    (void)kind;
    return fdatasync(descriptor); // the size is flushed too: without it the data could not be read
#else
    (void)kind;
    return fsync(descriptor);
#endif
}

static bw_err posix_flush(struct file file, enum flush_kind kind)
{
    if (flush_descriptor((int)file.handle, kind) != 0) { // D3
        return fail_file(errno, "Could not flush to the device", file);
    }
    return BW_OK;
}

// ---- locks ----

static int lock_whole(int descriptor, enum lock_kind kind)
{
    const int operation = kind == LOCK_NONE     ? LOCK_UN
                          : kind == LOCK_SHARED ? LOCK_SH | LOCK_NB
                                                : LOCK_EX | LOCK_NB;
    return flock(descriptor, operation);
}

static int lock_descriptor(int descriptor, enum lock_kind kind)
{
#ifdef F_OFD_SETLK
    struct flock range = {
        .l_type = kind == LOCK_NONE     ? F_UNLCK
                  : kind == LOCK_SHARED ? F_RDLCK
                                        : F_WRLCK,
        .l_whence = SEEK_SET,
        .l_start = LOCK_AT,
        .l_len = 1,
    };
    const int result = fcntl(descriptor, F_OFD_SETLK, &range); // D2
    if (result == 0 || errno != EINVAL) return result;
    // A kernel without such locks has those of flock, which belong to the open file as well.
#endif
    return lock_whole(descriptor, kind);
}

static bw_err posix_lock(struct file file, enum lock_kind kind, bool *out_got)
{
    int result;
    do {
        result = lock_descriptor((int)file.handle, kind);
    } while (result != 0 && errno == EINTR);
    if (result != 0 && errno != EAGAIN && errno != EACCES && errno != EWOULDBLOCK) {
        return fail_file(errno, "Could not lock", file);
    }
    *out_got = result == 0;
    return BW_OK;
}

// ---- maps ----

static bw_err posix_map(struct file file, uint64_t at, size_t size, const uint8_t **out_window)
{
    void *window = mmap(NULL, size, PROT_READ, MAP_SHARED, (int)file.handle, (off_t)at);
    if (window == MAP_FAILED && errno == ENOMEM) {
        // All of what is mapped stays so until its store is closed: bytes handed out lie there.
        return fail_file(ENOMEM,
                         sizeof(void *) == 4
                             ? "Could not map: all files that a process of 32 bits has open share "
                               "an address space of 2 to 4 GB, and none is left"
                             : "Could not map: no address space is left",
                         file);
    }
    if (window == MAP_FAILED) return fail_file(errno, "Could not map", file);
    *out_window = window;
    return BW_OK;
}

static void posix_unmap(struct file file, const uint8_t *window, size_t size)
{
    (void)file;
    (void)munmap((void *)(uintptr_t)window, size);
}

// ---- names ----

static bw_err posix_look_up(struct disk *disk, const char *path, struct file_info *out_info,
                            bool *out_is_directory, bool *out_found)
{
    (void)disk;
    struct stat found;
    if (stat(path, &found) != 0) {
        if (!is_missing(errno)) return fail(errno, "Could not look up", path);
        *out_found = false;
        return BW_OK;
    }
    *out_info = (struct file_info){
        .size = (uint64_t)found.st_size,
        .device = (uint64_t)found.st_dev,
        .inode = (uint64_t)found.st_ino,
    };
    if (out_is_directory) *out_is_directory = S_ISDIR(found.st_mode);
    *out_found = true;
    return BW_OK;
}

static bw_err posix_make_directory(struct disk *disk, const char *path, unsigned permissions,
                                   bool *out_made)
{
    (void)disk;
    const bool made = mkdir(path, (mode_t)permissions) == 0;
    // What exists may also be a file: whoever opens a name below it will be told.
    if (!made && errno != EEXIST) return fail(errno, "Could not prepare directory", path);
    *out_made = made;
    return BW_OK;
}

/* Not every file system flushes directories, and not every directory may be looked into. */
static bool is_refusal(int number)
{
    return number == EINVAL || number == ENOTSUP || number == EOPNOTSUPP || number == ENOSYS ||
           number == EROFS || number == EBADF || number == EACCES || number == EPERM;
}

static bw_err posix_flush_directory(struct disk *disk, const char *path)
{
    (void)disk;
    if (!*path) path = ".";
    const int descriptor = open_descriptor(path, O_RDONLY | O_DIRECTORY, 0);
    if (descriptor < 0) {
        if (is_refusal(errno)) return BW_OK;
        return fail(errno, "Could not open directory", path);
    }
    const int number = fsync(descriptor) == 0 ? 0 : errno;
    (void)close(descriptor);
    if (number && !is_refusal(number)) return fail(number, "Could not flush directory", path);
    return BW_OK;
}

static bw_err posix_rename(struct disk *disk, const char *from, const char *to)
{
    (void)disk;
    if (rename(from, to) != 0) return fail(errno, "Could not rename", from);
    return BW_OK;
}

static bw_err posix_remove(struct disk *disk, const char *path, bool *out_found)
{
    (void)disk;
    if (unlink(path) == 0) {
        *out_found = true;
        return BW_OK;
    }
    if (!is_missing(errno)) return fail(errno, "Could not remove", path);
    *out_found = false;
    return BW_OK;
}

struct disk *bw_disk_posix(void)
{
    static struct disk disk = {
        .open = posix_open,
        .close = posix_close,
        .info = posix_info,
        .read = posix_read,
        .write = posix_write,
        .resize = posix_resize,
        .flush = posix_flush,
        .lock = posix_lock,
        .map = posix_map,
        .unmap = posix_unmap,
        .make_directory = posix_make_directory,
        .flush_directory = posix_flush_directory,
        .rename = posix_rename,
        .remove = posix_remove,
        .look_up = posix_look_up,
    };
    return &disk;
}
