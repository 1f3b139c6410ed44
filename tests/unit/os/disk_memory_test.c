/* SPDX-License-Identifier: Apache-2.0 */
/* What only files in memory have: windows that are the bytes, chunks, one name space. */
#include "harness/check.h"
#include "os/os.h"

enum { CHUNK = 64 << 20 };

static struct file open_path(const char *path)
{
    struct disk *disk = bw_disk_memory();
    struct file file = {0};
    bool found = false;
    CHECK_OK(disk->open(disk, path, OPEN_CREATE, 0, &file, &found));
    CHECK(found);
    return file;
}

static void put(struct file file, uint64_t at, const char *text)
{
    const struct span span = {text, strlen(text)};
    CHECK_OK(file.disk->write(file, at, &span, 1));
}

static void drop(struct file file, const char *path)
{
    bool found = false;
    file.disk->close(file);
    CHECK_OK(file.disk->remove(file.disk, path, &found));
    CHECK(found);
}

static void two_windows_are_the_same_bytes(void)
{
    struct file file = open_path("m/a");
    const uint8_t *a = NULL, *b = NULL;
    CHECK_OK(file.disk->map(file, 0, CHUNK, &a)); // of an empty file
    put(file, 0, "x");
    CHECK_OK(file.disk->map(file, 0, 65536, &b));
    CHECK(a == b);
    CHECK_EQ(*a, 'x');
    file.disk->unmap(file, a, CHUNK);
    file.disk->unmap(file, b, 65536);
    drop(file, "m/a");
}

static void a_write_may_cross_chunks(void)
{
    struct file file = open_path("m/a");
    put(file, CHUNK - 3, "abcdef");
    char found[8] = {0};
    size_t size = 0;
    CHECK_OK(file.disk->read(file, CHUNK - 3, found, 7, &size));
    CHECK_EQ(size, 6);
    CHECK_TEXT(found, "abcdef");
    const uint8_t *second = NULL;
    CHECK_OK(file.disk->map(file, CHUNK, CHUNK, &second));
    CHECK_BYTES(second, "def", 4);
    file.disk->unmap(file, second, CHUNK);

    CHECK_OK(file.disk->resize(file, CHUNK - 2)); // F2, over both
    CHECK_OK(file.disk->resize(file, CHUNK + 9));
    CHECK_OK(file.disk->read(file, CHUNK - 3, found, 7, &size));
    CHECK_BYTES(found, "a\0\0\0\0\0\0", 7);
    drop(file, "m/a");
}

static void chunks_that_nobody_wrote_read_as_zero(void)
{
    struct file file = open_path("m/a");
    put(file, (uint64_t)CHUNK * 3, "x");
    char found[2] = {'?', '?'};
    size_t size = 0;
    CHECK_OK(file.disk->read(file, CHUNK, found, 2, &size));
    CHECK_BYTES(found, "\0\0", 2);
    drop(file, "m/a");
}

static void a_window_across_chunks_is_refused(void)
{
    struct file file = open_path("m/a");
    const uint8_t *window = NULL;
    CHECK_ERR(file.disk->map(file, 0, (size_t)CHUNK + 1, &window), BW_ERR_STORAGE_GENERAL);
    CHECK_ERR(file.disk->map(file, CHUNK / 2, CHUNK, &window), BW_ERR_STORAGE_GENERAL);
    drop(file, "m/a");
}

static void a_file_beyond_all_memory_is_full(void)
{
    struct file file = open_path("m/a");
    const struct span span = {"x", 1};
    CHECK_ERR(file.disk->write(file, (uint64_t)1 << 60, &span, 1), BW_ERR_DB_FULL);
    struct file_info info = {0};
    CHECK_OK(file.disk->info(file, &info));
    CHECK_EQ(info.size, 0);
    drop(file, "m/a");
}

static void identities_are_never_reused(void)
{
    struct file_info first = {0}, second = {0};
    struct file file = open_path("m/a");
    CHECK_OK(file.disk->info(file, &first));
    drop(file, "m/a");
    file = open_path("m/a");
    CHECK_OK(file.disk->info(file, &second));
    CHECK(second.inode > first.inode);
    CHECK_EQ(first.device, 0);
    drop(file, "m/a");
}

static void a_directory_is_there_while_a_file_is_below(void)
{
    struct disk *disk = bw_disk_memory();
    struct file_info info = {0};
    bool is_directory = false, found = true;
    CHECK_OK(disk->look_up(disk, "deep/er", &info, &is_directory, &found));
    CHECK(!found);
    struct file file = open_path("deep/er/a");
    CHECK_OK(disk->look_up(disk, "deep/er", &info, &is_directory, &found));
    CHECK(found && is_directory);
    CHECK_OK(disk->look_up(disk, "deep/e", &info, &is_directory, &found));
    CHECK(!found);
    drop(file, "deep/er/a");
    CHECK_OK(disk->look_up(disk, "deep/er", &info, &is_directory, &found));
    CHECK(!found);
}

static void nothing_is_left_when_memory_runs_out(void)
{
    struct disk *disk = bw_disk_memory();
    const int64_t before = bw_memory_blocks();
    bool done = false;
    for (int64_t n = 0; !done; n++) {
        struct file file = {0};
        bool found = false;
        bw_memory_fail_after(n);
        bw_err err = disk->open(disk, "m/a", OPEN_CREATE, 0, &file, &found);
        const struct span span = {"x", 1};
        if (!err) {
            err = disk->write(file, 0, &span, 1);
            if (!err) err = disk->rename(disk, "m/a", "m/b");
            disk->close(file);
        }
        bw_memory_fail_after(-1);
        done = err == BW_OK;
        CHECK(done || err == BW_ERR_NO_MEMORY || err == BW_ERR_DB_FULL);
        CHECK_OK(disk->remove(disk, "m/a", &found));
        CHECK_OK(disk->remove(disk, "m/b", &found));
        CHECK_EQ(found, done);
        CHECK_EQ(bw_memory_blocks(), before);
        CHECK(n < 100);
    }
}

RUN_TESTS(TEST(two_windows_are_the_same_bytes), TEST(a_write_may_cross_chunks),
          TEST(chunks_that_nobody_wrote_read_as_zero), TEST(a_window_across_chunks_is_refused),
          TEST(a_file_beyond_all_memory_is_full), TEST(identities_are_never_reused),
          TEST(a_directory_is_there_while_a_file_is_below),
          TEST(nothing_is_left_when_memory_runs_out))
