/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One body of tests over the disk of POSIX and the disk in memory: whatever the engine may rely on
 * must hold on both. What only one of them has is in disk_posix_test.c and disk_memory_test.c.
 */
#include <stdio.h>

#include "harness/check.h"
#include "harness/scratch.h"
#include "os/os.h"

static struct disk *disk;
static char directory[256]; /* of the running test */

static const char *path_of(const char *name)
{
    static char paths[4][512];
    static unsigned turn;
    char *path = paths[turn++ % 4];
    (void)snprintf(path, sizeof(paths[0]), "%s/%s", directory, name);
    return path;
}

static struct file open_file(const char *name, enum open_mode mode)
{
    struct file file = {0};
    bool found = false;
    CHECK_OK(disk->open(disk, path_of(name), mode, 0644, &file, &found));
    CHECK(found);
    CHECK(file.disk == disk);
    return file;
}

static bool exists(const char *name)
{
    struct file_info info;
    bool found = false;
    CHECK_OK(disk->look_up(disk, path_of(name), &info, NULL, &found));
    return found;
}

static void put_text(struct file file, uint64_t at, const char *text)
{
    const struct span span = {text, strlen(text)};
    CHECK_OK(disk->write(file, at, &span, 1));
}

static void check_text(struct file file, uint64_t at, const char *text)
{
    char found[256] = {0};
    size_t size = 0;
    CHECK_OK(disk->read(file, at, found, strlen(text), &size));
    CHECK_EQ(size, strlen(text));
    CHECK_TEXT(found, text);
}

static uint64_t size_of(struct file file)
{
    struct file_info info = {0};
    CHECK_OK(disk->info(file, &info));
    return info.size;
}

static void a_missing_file_is_an_answer(void)
{
    struct file file = {.handle = 77};
    bool found = true;
    CHECK_OK(disk->open(disk, path_of("none"), OPEN_READ, 0, &file, &found));
    CHECK(!found);
    found = true;
    CHECK_OK(disk->open(disk, path_of("none"), OPEN_WRITE, 0, &file, &found));
    CHECK(!found);
    CHECK_EQ(file.handle, 77);
    found = true;
    CHECK_OK(disk->remove(disk, path_of("none"), &found));
    CHECK(!found);
    CHECK(!exists("none"));
}

static void what_is_written_is_read(void)
{
    struct file file = open_file("a", OPEN_CREATE);
    CHECK_EQ(size_of(file), 0);
    put_text(file, 0, "hello");
    put_text(file, 5, " world");
    check_text(file, 0, "hello world");
    put_text(file, 1, "E");
    check_text(file, 0, "hEllo world");
    CHECK_EQ(size_of(file), 11);
    CHECK_OK(disk->flush(file, FLUSH_DEVICE));
    disk->close(file);

    file = open_file("a", OPEN_READ);
    check_text(file, 6, "world");
    disk->close(file);
    file = open_file("a", OPEN_CREATE); // never truncates
    check_text(file, 6, "world");
    disk->close(file);
}

static void reading_ends_at_the_end(void)
{
    struct file file = open_file("a", OPEN_CREATE);
    put_text(file, 0, "0123456789");
    char room[32];
    size_t size = 99;
    CHECK_OK(disk->read(file, 7, room, sizeof(room), &size));
    CHECK_EQ(size, 3);
    CHECK_BYTES(room, "789", 3);
    CHECK_OK(disk->read(file, 10, room, 1, &size));
    CHECK_EQ(size, 0);
    CHECK_OK(disk->read(file, 1000, room, 1, &size));
    CHECK_EQ(size, 0);
    CHECK_OK(disk->read(file, 0, room, 0, &size));
    CHECK_EQ(size, 0);
    disk->close(file);
}

static void writing_beyond_the_end_leaves_zeros(void)
{
    struct file file = open_file("a", OPEN_CREATE);
    put_text(file, 10000, "x");
    CHECK_EQ(size_of(file), 10001);
    uint8_t room[10001];
    size_t size = 0;
    CHECK_OK(disk->read(file, 0, room, sizeof(room), &size));
    CHECK_EQ(size, 10001);
    for (size_t i = 0; i < 10000; i++) CHECK_EQ(room[i], 0);
    CHECK_EQ(room[10000], 'x');
    disk->close(file);
}

/* More spans than a system takes at once, some of them empty, sizes all different. */
static void many_spans_are_one_write(void)
{
    enum { COUNT = 2500 };
    static uint8_t data[COUNT * 9], found[COUNT * 9];
    static struct span spans[COUNT];
    for (size_t i = 0; i < sizeof(data); i++) data[i] = (uint8_t)(i * 7 + i / 256);
    size_t size = 0;
    for (size_t i = 0; i < COUNT; i++) {
        spans[i] = (struct span){data + size, i % 9};
        size += i % 9;
    }
    struct file file = open_file("a", OPEN_CREATE);
    CHECK_OK(disk->write(file, 4095, spans, COUNT));
    CHECK_EQ(size_of(file), 4095 + size);
    size_t got = 0;
    CHECK_OK(disk->read(file, 4095, found, sizeof(found), &got));
    CHECK_EQ(got, size);
    CHECK_BYTES(found, data, size);
    CHECK_OK(disk->write(file, 0, spans, 0));
    CHECK_OK(disk->write(file, 0, spans, 1)); // of no bytes
    disk->close(file);
}

static void resizing_cuts_and_grows_with_zeros(void)
{
    struct file file = open_file("a", OPEN_CREATE);
    CHECK_OK(disk->resize(file, 100000));
    CHECK_EQ(size_of(file), 100000);
    for (uint64_t at = 0; at < 100000; at += 10) put_text(file, at, "ABCDEFGHIJ");
    CHECK_OK(disk->resize(file, 12345));
    CHECK_EQ(size_of(file), 12345);
    CHECK_OK(disk->resize(file, 50000));
    static uint8_t room[50000];
    size_t size = 0;
    CHECK_OK(disk->read(file, 0, room, sizeof(room), &size));
    CHECK_EQ(size, 50000);
    CHECK_EQ(room[12344], 'E');
    for (size_t i = 12345; i < 50000; i++) CHECK_EQ(room[i], 0);
    CHECK_OK(disk->resize(file, 0));
    CHECK_EQ(size_of(file), 0);
    disk->close(file);
}

static void a_window_shows_what_is_written_later(void)
{
    struct file file = open_file("a", OPEN_CREATE);
    put_text(file, 0, "first");
    const uint8_t *window = NULL;
    const size_t window_size = 1 << 20;
    CHECK_OK(disk->map(file, 0, window_size, &window));
    CHECK_EQ((uintptr_t)window % 4096, 0);
    CHECK_BYTES(window, "first", 5);
    put_text(file, 0, "other");
    CHECK_BYTES(window, "other", 5);
    put_text(file, 700000, "behind the old end");
    CHECK_BYTES(window + 700000, "behind the old end", 18);

    const uint8_t *second = NULL;
    CHECK_OK(disk->map(file, 655360, 65536, &second));
    CHECK_BYTES(second + 700000 - 655360, "behind", 6);
    disk->unmap(file, second, 65536);
    disk->unmap(file, window, window_size);
    disk->close(file);
}

static void locks_of_two_opens_exclude_each_other(void)
{
    struct file a = open_file("a", OPEN_CREATE), b = open_file("a", OPEN_WRITE);
    bool got = false;
    CHECK_OK(disk->lock(a, LOCK_EXCLUSIVE, &got));
    CHECK(got);
    CHECK_OK(disk->lock(a, LOCK_EXCLUSIVE, &got)); // again: has it
    CHECK(got);
    CHECK_OK(disk->lock(b, LOCK_EXCLUSIVE, &got));
    CHECK(!got);
    CHECK_OK(disk->lock(b, LOCK_SHARED, &got));
    CHECK(!got);
    CHECK_OK(disk->lock(b, LOCK_NONE, &got)); // gives up nothing of a's
    CHECK_OK(disk->lock(b, LOCK_SHARED, &got));
    CHECK(!got);

    CHECK_OK(disk->lock(a, LOCK_SHARED, &got));
    CHECK(got);
    CHECK_OK(disk->lock(b, LOCK_SHARED, &got));
    CHECK(got);
    CHECK_OK(disk->lock(a, LOCK_EXCLUSIVE, &got));
    CHECK(!got);
    CHECK_OK(disk->lock(b, LOCK_NONE, &got));
    CHECK(got);
    CHECK_OK(disk->lock(a, LOCK_EXCLUSIVE, &got));
    CHECK(got);
    CHECK_OK(disk->lock(b, LOCK_SHARED, &got));
    CHECK(!got);
    disk->close(a);
    CHECK_OK(disk->lock(b, LOCK_EXCLUSIVE, &got));
    CHECK(got);
    disk->close(b);
}

static void closing_another_open_keeps_a_lock(void)
{
    struct file a = open_file("a", OPEN_CREATE), b = open_file("a", OPEN_READ);
    struct file c = open_file("a", OPEN_WRITE);
    bool got = false;
    CHECK_OK(disk->lock(a, LOCK_EXCLUSIVE, &got));
    CHECK(got);
    disk->close(b);
    CHECK_OK(disk->lock(c, LOCK_SHARED, &got));
    CHECK(!got);
    disk->close(c);
    disk->close(a);
}

static void a_removed_file_lives_until_its_last_use(void)
{
    struct file file = open_file("a", OPEN_CREATE);
    put_text(file, 0, "still here");
    const uint8_t *window = NULL;
    CHECK_OK(disk->map(file, 0, 65536, &window));
    struct file_info old = {0};
    CHECK_OK(disk->info(file, &old));

    bool found = false;
    CHECK_OK(disk->remove(disk, path_of("a"), &found));
    CHECK(found);
    CHECK(!exists("a"));
    check_text(file, 0, "still here");
    CHECK_BYTES(window, "still here", 10);
    put_text(file, 0, "STILL");
    CHECK_BYTES(window, "STILL", 5);

    struct file next = open_file("a", OPEN_CREATE); // another file under the old name
    CHECK_EQ(size_of(next), 0);
    struct file_info info = {0};
    CHECK_OK(disk->info(next, &info));
    CHECK(info.inode != old.inode);
    disk->close(next);
    disk->unmap(file, window, 65536);
    disk->close(file);
}

static void renaming_moves_and_replaces(void)
{
    struct file a = open_file("a", OPEN_CREATE), b = open_file("b", OPEN_CREATE);
    put_text(a, 0, "from a");
    put_text(b, 0, "from b");
    CHECK_OK(disk->rename(disk, path_of("a"), path_of("b")));
    CHECK(!exists("a"));
    struct file now = open_file("b", OPEN_READ);
    check_text(now, 0, "from a");
    check_text(b, 0, "from b");
    disk->close(now);
    CHECK_OK(disk->rename(disk, path_of("b"), path_of("b")));
    CHECK(exists("b"));
    disk->close(a);
    disk->close(b);
}

static void renaming_nothing_is_an_error_that_names_it(void)
{
    CHECK_ERR(disk->rename(disk, path_of("none"), path_of("b")), BW_ERR_STORAGE_GENERAL);
    CHECK_EQ(bw_reason_secondary(), 2);
    CHECK(strstr(bw_reason_text(), path_of("none")) != NULL);
}

static void a_name_tells_what_it_refers_to(void)
{
    struct file file = open_file("a", OPEN_CREATE);
    put_text(file, 0, "12345");
    struct file_info by_name = {0}, by_file = {0};
    bool is_directory = true, found = false;
    CHECK_OK(disk->look_up(disk, path_of("a"), &by_name, &is_directory, &found));
    CHECK(found && !is_directory);
    CHECK_OK(disk->info(file, &by_file));
    CHECK_EQ(by_name.size, 5);
    CHECK_EQ(by_name.inode, by_file.inode);
    CHECK_EQ(by_name.device, by_file.device);
    CHECK_OK(disk->look_up(disk, directory, &by_name, &is_directory, &found));
    CHECK(found && is_directory);
    disk->close(file);
}

static void directories_are_made_once_and_flushed(void)
{
    bool made = true;
    CHECK_OK(disk->make_directory(disk, directory, 0755, &made));
    CHECK(!made);
    CHECK_OK(disk->make_directory(disk, path_of("sub"), 0755, &made));
    struct file file = open_file("sub/a", OPEN_CREATE);
    disk->close(file);
    CHECK_OK(disk->flush_directory(disk, path_of("sub")));
    CHECK_OK(disk->flush_directory(disk, directory));
    bool found = false;
    CHECK_OK(disk->remove(disk, path_of("sub/a"), &found));
    CHECK(found);
}

#define BOTH(name)                                           \
    static void name##_on_posix(void)                        \
    {                                                        \
        disk = bw_disk_posix();                              \
        bw_scratch_make(directory, sizeof(directory));       \
        name();                                              \
        bw_scratch_remove(directory);                        \
    }                                                        \
    static void name##_in_memory(void)                       \
    {                                                        \
        disk = bw_disk_memory();                             \
        (void)snprintf(directory, sizeof(directory), #name); \
        name();                                              \
    }

#define ALL(X)                                    \
    X(a_missing_file_is_an_answer)                \
    X(what_is_written_is_read)                    \
    X(reading_ends_at_the_end)                    \
    X(writing_beyond_the_end_leaves_zeros)        \
    X(many_spans_are_one_write)                   \
    X(resizing_cuts_and_grows_with_zeros)         \
    X(a_window_shows_what_is_written_later)       \
    X(locks_of_two_opens_exclude_each_other)      \
    X(closing_another_open_keeps_a_lock)          \
    X(a_removed_file_lives_until_its_last_use)    \
    X(renaming_moves_and_replaces)                \
    X(renaming_nothing_is_an_error_that_names_it) \
    X(a_name_tells_what_it_refers_to)             \
    X(directories_are_made_once_and_flushed)

ALL(BOTH)

#define LISTED(name) TEST(name##_on_posix), TEST(name##_in_memory),

RUN_TESTS(ALL(LISTED))
