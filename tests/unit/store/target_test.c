/* SPDX-License-Identifier: Apache-2.0 */
#include "store/target.h"

#include <stdio.h>

#include "harness/check.h"
#include "harness/copies.h"
#include "harness/relay.h"
#include "harness/sample.h"
#include "harness/sim_disk.h"
#include "store/names.h"

static struct sim_disk sim;
static struct relay relay;

static void begin(void)
{
    sim_disk_init(&sim, 1);
    relay_init(&relay, &sim.disk);
}

static void end(void)
{
    sim_disk_deinit(&sim);
    sample_expect_nothing_left();
}

static void it_gets_its_name_at_the_end(void)
{
    struct target target;
    begin();
    CHECK_OK(bw_target_open(&target, &sim.disk, "a", 0644));
    CHECK_OK(bw_target_append(&target, "one", 3));
    CHECK(copies_has(&sim.disk, "a.part"));
    CHECK(!copies_has(&sim.disk, "a"));
    CHECK_OK(bw_target_finish(&target));
    CHECK(!copies_has(&sim.disk, "a.part"));
    CHECK_BYTES(sim_disk_find(&sim, "a")->cache, "one", 3);
    bw_target_close(&target);
    CHECK(copies_has(&sim.disk, "a"));
    end();
}

static void what_is_not_finished_is_removed(void)
{
    struct target target;
    begin();
    CHECK_OK(bw_target_open(&target, &sim.disk, "a", 0644));
    bw_target_close(&target);
    CHECK(!copies_has(&sim.disk, "a.part"));
    CHECK_OK(bw_target_open_store(&target, &sim.disk, "d", 0644, false));
    CHECK(copies_has(&sim.disk, "d/data.mdb"));
    bw_target_close(&target);
    CHECK(!copies_has(&sim.disk, "d/data.mdb"));
    CHECK(!copies_has(&sim.disk, "d/data.mdb.part"));
    CHECK(copies_has(&sim.disk, "d"));
    end();
}

static void gaps_are_filled_with_zeros(void)
{
    static const uint8_t zeros[300000];
    struct target target;
    begin();
    CHECK_OK(bw_target_open(&target, &sim.disk, "a", 0644));
    CHECK_OK(bw_target_write(&target, 200000, "there", 5));
    CHECK_OK(bw_target_write(&target, 3, "here", 4));
    CHECK_EQ(target.end, 200005);
    CHECK_OK(bw_target_append(&target, "!", 1));
    CHECK_OK(bw_target_finish(&target));
    const struct sim_file *file = sim_disk_find(&sim, "a");
    CHECK_EQ(file->size, 200006);
    CHECK_BYTES(file->cache + 3, "here", 4);
    CHECK_BYTES(file->cache + 7, zeros, 200000 - 7);
    CHECK_BYTES(file->cache + 200000, "there!", 6);
    bw_target_close(&target);
    end();
}

/* Data, then the name, then the directory, and the one above where it may be new. */
static void it_is_durable_before_it_is_named(void)
{
    struct target target;
    begin();
    CHECK_OK(bw_target_open_store(&target, &relay.disk, "d", 0644, false));
    CHECK_OK(bw_target_append(&target, "x", 1));
    relay_reset(&relay);
    CHECK_OK(bw_target_finish(&target));
    CHECK_TEXT(relay.log, "fnFFs");
    bw_target_close(&target);

    CHECK_OK(bw_target_open_store(&target, &relay.disk, "d", 0644, true));
    relay_reset(&relay);
    CHECK_OK(bw_target_finish(&target));
    CHECK_TEXT(relay.log, "fnFs"); // the directory was there
    bw_target_close(&target);
    end();
}

static void a_slot_that_is_none_is_refused(void)
{
    static const uint8_t nothing[PAGE_SIZE];
    struct target target;
    begin();
    CHECK_OK(bw_target_open(&target, &sim.disk, "a", 0644));
    CHECK_ERR(bw_target_write_slots(&target, nothing), BW_ERR_FILE_CORRUPT);
    bw_target_close(&target);
    end();
}

static void a_path_that_is_too_long_is_refused(void)
{
    struct target target;
    char path[DIRECTORY_ROOM + 10];
    memset(path, 'a', sizeof(path));
    path[sizeof(path) - 1] = 0;
    begin();
    CHECK_ERR(bw_target_open(&target, &sim.disk, path, 0644), BW_ERR_STORAGE_GENERAL);
    CHECK_ERR(bw_target_open_store(&target, &sim.disk, path, 0644, false), BW_ERR_STORAGE_GENERAL);
    end();
}

/* ---- who comes in between ---- */

static unsigned moves;

/* As another process that finishes a file of the same name between opening and locking. */
static void move_away(enum relay_call call)
{
    if (call != CALL_LOCK || !moves) return;
    moves--;
    CHECK_OK(sim.disk.rename(&sim.disk, "a.part", "a"));
}

static void a_file_that_was_renamed_before_it_was_locked_is_left(void)
{
    struct target target;
    begin();
    relay.hook = move_away;
    moves = 1;
    CHECK_OK(bw_target_open(&target, &relay.disk, "a", 0644));
    CHECK_OK(bw_target_append(&target, "mine", 4));
    CHECK_EQ(sim_disk_find(&sim, "a")->size, 0);
    CHECK_OK(bw_target_finish(&target));
    CHECK_EQ(sim_disk_find(&sim, "a")->size, 4);
    bw_target_close(&target);
    moves = 1000;
    CHECK_ERR(bw_target_open(&target, &relay.disk, "a", 0644), BW_ERR_ILLEGAL_STATE);
    end();
}

static const struct copies_kind *const few = &copies_kinds[COPIES_SMALL];
static bool is_replaced;

/* As another process that replaces the store between opening and locking its file. */
static void replace_store(enum relay_call call)
{
    struct file file;
    bool found = false;
    if (call != CALL_LOCK || is_replaced) return;
    is_replaced = true;
    CHECK_OK(sim.disk.open(&sim.disk, COPIES_FILE, OPEN_WRITE, 0, &file, &found));
    CHECK_OK(sim.disk.rename(&sim.disk, SAMPLE_FILE, COPIES_FILE));
    CHECK_OK(sim.disk.resize(file, 0)); // Q3
    sim.disk.close(file);
}

static void who_opens_a_store_while_it_is_replaced_gets_the_new_one(void)
{
    for (int read_only = 0; read_only <= 1; read_only++) {
        begin();
        struct store *store = copies_make(&sim.disk, SAMPLE_DIRECTORY, few);
        sample_commit(store, 1, 5, 5, 100, 1);
        const uint64_t digest = sample_digest_of(store);
        bw_store_close(store);
        bw_store_close(copies_make(&sim.disk, COPIES_DIRECTORY, few));
        relay.hook = replace_store;
        is_replaced = false;
        struct store_options options = sample_options(&relay.disk);
        options.directory = COPIES_DIRECTORY;
        options.read_only = read_only != 0;
        CHECK_OK(bw_store_open(&options, &store));
        CHECK(is_replaced);
        CHECK_EQ(sample_digest_of(store), digest);
        bw_store_close(store);
        CHECK(!copies_has(&sim.disk, COPIES_FILE ".unfinished"));
        end();
    }
}

static void who_has_a_store_to_replace_meets_the_newer_one(void)
{
    struct target target;
    begin();
    bw_store_close(copies_make(&sim.disk, SAMPLE_DIRECTORY, few));
    bw_store_close(copies_make(&sim.disk, COPIES_DIRECTORY, few));
    const uint64_t inode = sim_disk_find(&sim, SAMPLE_FILE)->inode;
    relay.hook = replace_store;
    is_replaced = false;
    CHECK_OK(bw_target_open_store(&target, &relay.disk, COPIES_DIRECTORY, 0644, true));
    struct file_info info;
    CHECK_OK(sim.disk.info((struct file){&sim.disk, target.old.handle}, &info));
    CHECK_EQ(info.inode, inode);
    bw_target_close(&target);
    CHECK_EQ(sim_disk_find(&sim, COPIES_FILE)->inode, inode);
    end();
}

RUN_TESTS(TEST(it_gets_its_name_at_the_end), TEST(what_is_not_finished_is_removed),
          TEST(gaps_are_filled_with_zeros), TEST(it_is_durable_before_it_is_named),
          TEST(a_slot_that_is_none_is_refused), TEST(a_path_that_is_too_long_is_refused),
          TEST(a_file_that_was_renamed_before_it_was_locked_is_left),
          TEST(who_opens_a_store_while_it_is_replaced_gets_the_new_one),
          TEST(who_has_a_store_to_replace_meets_the_newer_one))
