/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file system that is really full: 16 MB of memory, mounted for the test. What fails says why and
 * leaves nothing behind, reading goes on, and so does writing once there is room again.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cases/note_store.h"

enum { BYTES = 3000, BATCH = 5000, LIMIT_KB = 1 << 20, ROOM = 4 << 20 };

static char mounted[256], directory[300], other[300];
static OBX_store *store;
static OBX_box *notes;

/* False: this machine does not let us, and it is said. */
static bool begin(BoxwoodDurability durability)
{
    bw_scratch_make(mounted, sizeof(mounted));
    // Seen by this process alone, and gone with it.
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", mounted, "tmpfs", 0, "size=16m") != 0) {
        printf("skipped: a file system cannot be mounted here: %s\n", strerror(errno));
        bw_scratch_remove(mounted);
        return false;
    }
    (void)snprintf(directory, sizeof(directory), "%s/store", mounted);
    (void)snprintf(other, sizeof(other), "%s/other", mounted);
    const int file = open(other, O_CREAT | O_WRONLY, 0600);
    CHECK(file >= 0 && posix_fallocate(file, 0, ROOM) == 0);
    close(file);
    store = note_open(directory, LIMIT_KB, durability);
    notes = note_box(store, NOTE);
    return true;
}

static void end(void)
{
    if (store) CHECK_OK(obx_store_close(store));
    note_prove(directory);
    CHECK(umount(mounted) == 0);
    bw_scratch_remove(mounted);
}

static void make_room(void) { CHECK(unlink(other) == 0); }

/* Exactly the objects 1 to count. */
static void expect_all(int64_t count)
{
    OBX_txn *txn = obx_txn_read(store);
    CHECK(txn != NULL);
    CHECK_EQ(note_count(notes), count);
    for (int64_t i = 1; i <= count; i++) note_expect(notes, (obx_id)i, i, BYTES);
    CHECK_OK(obx_txn_close(txn));
}

static void open_again(BoxwoodDurability durability)
{
    CHECK_OK(obx_store_close(store));
    store = NULL;
    store = note_open(directory, LIMIT_KB, durability);
    notes = note_box(store, NOTE);
}

static void expect_full(obx_err err)
{
    CHECK_EQ(err, OBX_ERROR_DB_FULL);
    CHECK_EQ(obx_last_error_secondary(), ENOSPC);
    CHECK(strstr(obx_last_error_message(), "No space left") != NULL);
}

/* One transaction each, until the disk is full; in all, how many objects there are. */
static int64_t fill_up(int64_t count)
{
    for (;; count++) {
        const obx_err err = note_put(notes, (obx_id)count + 1, count + 1, BYTES);
        if (!err) continue;
        expect_full(err);
        return count;
    }
}

static void go_on_once_there_is_room(BoxwoodDurability durability)
{
    if (!begin(durability)) return;
    const int64_t count = fill_up(0);
    CHECK(count > 1000);
    for (int i = 0; i < 20; i++) {
        expect_full(note_put(notes, (obx_id)count + 1, count + 1, BYTES));
    }
    expect_all(count);
    make_room();
    const int64_t more = fill_up(count);
    CHECK(more > count + 200);
    expect_all(more);
    open_again(durability);
    expect_all(more);
    end();
}

static void writing_goes_on_once_there_is_room(void)
{
    go_on_once_there_is_room(BoxwoodDurability_Full);
    go_on_once_there_is_room(BoxwoodDurability_None);
}

static obx_err put_batch(int64_t first)
{
    OBX_txn *txn = obx_txn_write(store);
    obx_err err = OBX_SUCCESS;
    for (int64_t i = first; i < first + BATCH && !err; i++)
        err = note_put(notes, (obx_id)i, i, BYTES);
    if (err) CHECK_OK(obx_txn_close(txn));
    return err ? err : obx_txn_success(txn);
}

static void a_batch_that_does_not_fit_is_rolled_back_whole(void)
{
    enum { BEFORE = 100 };
    if (!begin(BoxwoodDurability_Full)) return;
    for (int64_t i = 1; i <= BEFORE; i++) CHECK_OK(note_put(notes, (obx_id)i, i, BYTES));
    for (int i = 0; i < 3; i++) {
        expect_full(put_batch(BEFORE + 1));
        expect_all(BEFORE);
        CHECK_OK(note_put(notes, 1, 1, 5)); // a small commit finds its place
        CHECK_OK(note_put(notes, 1, 1, BYTES));
    }
    make_room();
    CHECK_OK(note_put(notes, BEFORE + 1, BEFORE + 1, BYTES));
    expect_all(BEFORE + 1);
    open_again(BoxwoodDurability_Full);
    expect_all(BEFORE + 1);
    end();
}

static void a_full_disk_lets_go_of_what_is_removed(void)
{
    if (!begin(BoxwoodDurability_Full)) return;
    const int64_t count = fill_up(0);
    int removed = 0;
    for (int64_t i = count; i > count - 200; i--) {
        const obx_err err = obx_box_remove(notes, (obx_id)i);
        if (err) expect_full(err);
        else removed++;
    }
    printf("%d of 200 objects were removed from a full disk\n", removed);
    CHECK_EQ(removed, 200);
    expect_all(count - 200);
    CHECK(fill_up(count - 200) > count - 20);
    end();
}

RUN_TESTS(TEST(writing_goes_on_once_there_is_room),
          TEST(a_batch_that_does_not_fit_is_rolled_back_whole),
          TEST(a_full_disk_lets_go_of_what_is_removed))
