/* SPDX-License-Identifier: Apache-2.0 */
/* What only files of a real system have: permissions, descriptors, errors with numbers. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/check.h"
#include "harness/scratch.h"
#include "os/os.h"

static char directory[256];
static char path[512];

static struct disk *begin(const char *name)
{
    bw_scratch_make(directory, sizeof(directory));
    (void)snprintf(path, sizeof(path), "%s/%s", directory, name);
    return bw_disk_posix();
}

static struct file open_path(struct disk *disk, enum open_mode mode)
{
    struct file file = {0};
    bool found = false;
    CHECK_OK(disk->open(disk, path, mode, 0640, &file, &found));
    CHECK(found);
    return file;
}

static void check_reason(int number, const char *part)
{
    CHECK_EQ(bw_reason_secondary(), number);
    CHECK(strstr(bw_reason_text(), part) != NULL);
}

static void descriptors_are_closed_by_exec(void)
{
    struct disk *disk = begin("a");
    struct file file = open_path(disk, OPEN_CREATE);
    CHECK(fcntl((int)file.handle, F_GETFD) & FD_CLOEXEC); // D1
    disk->close(file);
    bw_scratch_remove(directory);
}

static void a_database_never_becomes_the_standard_input(void)
{
    struct disk *disk = begin("a");
    const int saved = dup(0);
    CHECK(saved > 2);
    CHECK_EQ(close(0), 0);
    struct file file = {0};
    bool found = false;
    bw_err err = disk->open(disk, path, OPEN_CREATE, 0600, &file, &found);
    CHECK_EQ(dup2(saved, 0), 0);
    CHECK_EQ(close(saved), 0);
    CHECK_OK(err);
    CHECK(file.handle > 2); // D1
    CHECK(fcntl((int)file.handle, F_GETFD) & FD_CLOEXEC);
    disk->close(file);
    bw_scratch_remove(directory);
}

static void permissions_are_those_asked_for(void)
{
    struct disk *disk = begin("a");
    const mode_t mask = umask(0);
    disk->close(open_path(disk, OPEN_CREATE));
    umask(mask);
    struct stat found;
    CHECK_EQ(stat(path, &found), 0);
    CHECK_EQ(found.st_mode & 0777, 0640);
    bw_scratch_remove(directory);
}

static void opening_errors_name_the_path_and_the_number(void)
{
    struct disk *disk = begin("a");
    struct file file = {0};
    bool found = true;
    CHECK_ERR(disk->open(disk, directory, OPEN_WRITE, 0, &file, &found), BW_ERR_STORAGE_GENERAL);
    check_reason(EISDIR, directory);
    check_reason(EISDIR, "(21: Is a directory)");
    if (geteuid() != 0) { // root may do anything
        disk->close(open_path(disk, OPEN_CREATE));
        CHECK_EQ(chmod(path, 0400), 0);
        CHECK_ERR(disk->open(disk, path, OPEN_WRITE, 0, &file, &found), BW_ERR_STORAGE_GENERAL);
        check_reason(EACCES, "read-only");
    }
    bw_scratch_remove(directory);
}

static void a_file_in_the_place_of_a_directory_is_told_when_opening_below(void)
{
    struct disk *disk = begin("a");
    disk->close(open_path(disk, OPEN_CREATE));
    char below[600];
    (void)snprintf(below, sizeof(below), "%s/b", path);
    struct file file = {0};
    struct file_info info;
    bool found = true, made = true;
    CHECK_ERR(disk->open(disk, below, OPEN_CREATE, 0600, &file, &found), BW_ERR_STORAGE_GENERAL);
    check_reason(ENOTDIR, "Could not open database environment");
    CHECK_OK(disk->make_directory(disk, path, 0700, &made));
    CHECK(!made);
    CHECK_ERR(disk->make_directory(disk, below, 0700, &made), BW_ERR_STORAGE_GENERAL);
    check_reason(ENOTDIR, "Could not prepare directory: ");
    CHECK_OK(disk->look_up(disk, below, &info, NULL, &found));
    CHECK(!found);
    found = true;
    CHECK_OK(disk->remove(disk, below, &found));
    CHECK(!found);
    bw_scratch_remove(directory);
}

static void a_directory_below_nothing_is_an_error(void)
{
    struct disk *disk = begin("none/sub");
    bool made = true;
    CHECK_ERR(disk->make_directory(disk, path, 0700, &made), BW_ERR_STORAGE_GENERAL);
    check_reason(ENOENT, "Could not prepare directory: ");
    check_reason(ENOENT, path);
    check_reason(ENOENT, " (2: No such file or directory)");
    CHECK_ERR(disk->flush_directory(disk, path), BW_ERR_STORAGE_GENERAL);
    check_reason(ENOENT, path);
    bw_scratch_remove(directory);
}

/* The file may have one name when it is opened and another when it fails. */
static void errors_of_an_open_file_name_it(void)
{
    struct disk *disk = begin("a");
    disk->close(open_path(disk, OPEN_CREATE));
    struct file file = open_path(disk, OPEN_READ);
    const struct span span = {"x", 1};
    CHECK_ERR(disk->write(file, 0, &span, 1), BW_ERR_STORAGE_GENERAL);
    check_reason(EBADF, path); // D4
    CHECK_ERR(disk->resize(file, 10), BW_ERR_STORAGE_GENERAL);
    check_reason(EINVAL, path);
    bool got = false;
    CHECK_ERR(disk->lock(file, LOCK_EXCLUSIVE, &got), BW_ERR_STORAGE_GENERAL);
    check_reason(EBADF, path);
    const uint8_t *window = NULL;
    CHECK_ERR(disk->map(file, 1, 4096, &window), BW_ERR_STORAGE_GENERAL);
    check_reason(EINVAL, path);
    disk->close(file);

    struct file none = {.disk = disk, .handle = 1 << 20};
    struct file_info info;
    CHECK_ERR(disk->info(none, &info), BW_ERR_STORAGE_GENERAL);
    check_reason(EBADF, "descriptor 1048576");
    char room[1];
    size_t size = 0;
    CHECK_ERR(disk->read(none, 0, room, 1, &size), BW_ERR_STORAGE_GENERAL);
    CHECK_ERR(disk->flush(none, FLUSH_DEVICE), BW_ERR_STORAGE_GENERAL);
    bw_scratch_remove(directory);
}

/* A limit on the size of files stands for a full device: the write is short first, then fails. */
static void a_file_that_may_not_grow_is_full(void)
{
    struct disk *disk = begin("a");
    struct file file = open_path(disk, OPEN_CREATE);
    struct rlimit before, limit;
    CHECK_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = 10000;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    CHECK_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    static uint8_t data[8192];
    memset(data, 7, sizeof(data));
    const struct span spans[] = {{data, 8192}, {data, 8192}};
    bw_err err = disk->write(file, 0, spans, 2);
    CHECK_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    CHECK(signal(SIGXFSZ, handler) != SIG_ERR);
    CHECK_EQ(err, BW_ERR_DB_FULL);
    check_reason(EFBIG, path);
    uint8_t byte = 0;
    size_t size = 0;
    CHECK_OK(disk->read(file, 9999, &byte, 1, &size)); // D3: what fitted is there
    CHECK_EQ(size, 1);
    CHECK_EQ(byte, 7);
    disk->close(file);
    bw_scratch_remove(directory);
}

static void a_full_device_is_full(void)
{
    struct disk *disk = bw_disk_posix();
    struct file file = {0};
    bool found = false;
    CHECK_OK(disk->open(disk, "/dev/full", OPEN_WRITE, 0, &file, &found));
    if (!found) return;
    const struct span span = {"x", 1};
    CHECK_ERR(disk->write(file, 0, &span, 1), BW_ERR_DB_FULL);
    check_reason(ENOSPC, "/dev/full");
    disk->close(file);
}

static void names_that_cannot_be_are_errors(void)
{
    struct disk *disk = begin("a");
    char longest[5000];
    memset(longest, 'x', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = 0;
    struct file file;
    struct file_info info;
    bool found = false;
    CHECK_ERR(disk->open(disk, longest, OPEN_READ, 0, &file, &found), BW_ERR_STORAGE_GENERAL);
    CHECK_EQ(bw_reason_secondary(), ENAMETOOLONG);
    CHECK_ERR(disk->look_up(disk, longest, &info, NULL, &found), BW_ERR_STORAGE_GENERAL);
    CHECK_ERR(disk->remove(disk, longest, &found), BW_ERR_STORAGE_GENERAL);
    CHECK_ERR(disk->remove(disk, directory, &found), BW_ERR_STORAGE_GENERAL);
    check_reason(EISDIR, directory);
    bw_scratch_remove(directory);
}

static void the_directory_without_a_name_is_the_current_one(void)
{
    struct disk *disk = bw_disk_posix();
    CHECK_OK(disk->flush_directory(disk, ""));
    CHECK_OK(disk->flush_directory(disk, "/proc")); // which cannot
}

RUN_TESTS(TEST(descriptors_are_closed_by_exec), TEST(a_database_never_becomes_the_standard_input),
          TEST(permissions_are_those_asked_for), TEST(opening_errors_name_the_path_and_the_number),
          TEST(a_file_in_the_place_of_a_directory_is_told_when_opening_below),
          TEST(a_directory_below_nothing_is_an_error), TEST(errors_of_an_open_file_name_it),
          TEST(a_file_that_may_not_grow_is_full), TEST(a_full_device_is_full),
          TEST(names_that_cannot_be_are_errors),
          TEST(the_directory_without_a_name_is_the_current_one))
