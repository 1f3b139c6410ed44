/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated disk must be able to do everything that a disk can do, and nothing else. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "harness/sim_disk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "harness/check.h"

enum { SEEDS = 300 };

static struct sim_disk sim;
static struct disk *disk;
static struct file file; /* "a" */

static struct file open_path(const char *path, enum open_mode mode)
{
    struct file opened = {0};
    bool found = false;
    CHECK_OK(disk->open(disk, path, mode, 0644, &opened, &found));
    CHECK(found);
    return opened;
}

static void begin(uint64_t seed)
{
    sim_disk_init(&sim, seed);
    disk = &sim.disk;
    file = open_path("a", OPEN_CREATE);
}

/* Everything durable, the file open. */
static void begin_with(uint64_t seed, size_t page_count, uint8_t fill)
{
    begin(seed);
    CHECK_OK(disk->flush_directory(disk, ""));
    for (size_t i = 0; i < page_count; i++) {
        uint8_t page[SIM_PAGE];
        memset(page, fill, sizeof(page));
        const struct span span = {page, sizeof(page)};
        CHECK_OK(disk->write(file, i * SIM_PAGE, &span, 1));
    }
    CHECK_OK(disk->flush(file, FLUSH_DEVICE));
}

static bw_err try_write(uint64_t at, uint8_t fill, size_t size)
{
    uint8_t bytes[4 * SIM_PAGE];
    memset(bytes, fill, sizeof(bytes));
    const struct span spans[] = {{bytes, size / 3}, {bytes, 0}, {bytes, size - size / 3}};
    return disk->write(file, at, spans, 3);
}

static void put(uint64_t at, uint8_t fill, size_t size) { CHECK_OK(try_write(at, fill, size)); }

static uint8_t byte_at(uint64_t at)
{
    uint8_t byte = 0xff;
    size_t size = 0;
    CHECK_OK(disk->read(file, at, &byte, 1, &size));
    return size ? byte : 0xff;
}

static uint64_t size_now(void)
{
    struct file_info info = {0};
    CHECK_OK(disk->info(file, &info));
    return info.size;
}

static void cut_power(void)
{
    disk->close(file);
    sim_disk_restart(&sim);
    sim_disk_cut_power(&sim, NULL);
    file = open_path("a", OPEN_WRITE);
}

static void end(void)
{
    disk->close(file);
    sim_disk_deinit(&sim);
}

static void what_was_flushed_survives_every_power_cut(void)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        begin_with(seed, 3, 7);
        cut_power();
        CHECK_EQ(size_now(), 3 * SIM_PAGE);
        for (uint64_t at = 0; at < 3 * SIM_PAGE; at += 100) CHECK_EQ(byte_at(at), 7);
        end();
    }
}

static void what_was_not_flushed_persists_vanishes_or_persists_as_an_older_version(void)
{
    unsigned seen[4] = {0}, torn = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        begin_with(seed, 3, 0);
        for (uint8_t version = 1; version <= 3; version++) put(2 * SIM_PAGE, version, SIM_PAGE);
        cut_power();
        const uint8_t first = byte_at(2 * SIM_PAGE);
        CHECK(first <= 3);
        seen[first]++;
        for (size_t sector = 0; sector < SIM_SECTORS; sector++) {
            const uint64_t at = 2 * SIM_PAGE + sector * SIM_SECTOR;
            for (size_t i = 0; i < SIM_SECTOR; i += 511) CHECK_EQ(byte_at(at + i), byte_at(at));
            if (byte_at(at) != first) {
                torn++;
                break;
            }
        }
        CHECK_EQ(byte_at(SIM_PAGE), 0);
        end();
    }
    for (int i = 0; i < 4; i++) CHECK(seen[i] > SEEDS / 20);
    CHECK(torn > SEEDS / 50);
}

static void slots_of_a_disk_with_large_sectors_are_never_torn(void)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        begin_with(seed, 2, 0);
        sim.atomic_slots = true;
        for (uint8_t version = 1; version <= 3; version++) put(0, version, SIM_PAGE);
        cut_power();
        for (uint64_t at = 0; at < SIM_PAGE; at += SIM_SECTOR) CHECK_EQ(byte_at(at), byte_at(0));
        end();
    }
}

static void torn_slots_often_lose_one_sector(void)
{
    unsigned last_only = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        begin_with(seed, 2, 0);
        sim.torn_slots = true;
        put(0, 1, SIM_PAGE);
        cut_power();
        last_only += byte_at(0) == 1 && byte_at(SIM_PAGE - SIM_SECTOR - 1) == 1 &&
                     byte_at(SIM_PAGE - 1) == 0;
        end();
    }
    CHECK(last_only > SEEDS / 20);
}

static void a_process_that_ends_leaves_the_cache(void)
{
    begin_with(1, 2, 0);
    put(SIM_PAGE, 9, SIM_PAGE);
    disk->close(file);
    sim_disk_restart(&sim);
    file = open_path("a", OPEN_WRITE);
    CHECK_EQ(byte_at(SIM_PAGE), 9);
    end();
}

static void a_write_of_less_than_a_page_may_destroy_it(void)
{
    unsigned destroyed = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        begin_with(seed, 2, 5);
        put(SIM_PAGE - SIM_SECTOR, 6, SIM_SECTOR);
        cut_power();
        CHECK_EQ(byte_at(SIM_PAGE), 5);
        const uint8_t first = byte_at(0);
        CHECK(first == 5 || first == 0xee);
        destroyed += first == 0xee;
        end();
    }
    CHECK(destroyed > SEEDS / 40 && destroyed < SEEDS / 4);
}

static void the_size_persists_apart_from_the_data(void)
{
    unsigned short_files = 0, holes = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        begin_with(seed, 1, 5);
        put(SIM_PAGE, 6, SIM_PAGE);
        cut_power();
        CHECK(size_now() == SIM_PAGE || size_now() == 2 * SIM_PAGE);
        short_files += size_now() == SIM_PAGE;
        holes += size_now() > SIM_PAGE && byte_at(SIM_PAGE) == 0;
        end();
    }
    CHECK(short_files > SEEDS / 20 && holes > SEEDS / 20);
}

static void cutting_a_file_is_not_durable_either(void)
{
    unsigned whole = 0, zeros = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        begin_with(seed, 3, 5);
        CHECK_OK(disk->resize(file, SIM_PAGE));
        CHECK_OK(disk->resize(file, 3 * SIM_PAGE));
        CHECK_EQ(byte_at(SIM_PAGE), 0);
        cut_power();
        CHECK(size_now() == SIM_PAGE || size_now() == 3 * SIM_PAGE);
        if (size_now() > SIM_PAGE) {
            whole += byte_at(SIM_PAGE) == 5;
            zeros += byte_at(SIM_PAGE) == 0;
        }
        end();
    }
    CHECK(whole > SEEDS / 20 && zeros > SEEDS / 20);
    begin_with(1, 2, 5);
    CHECK_OK(disk->resize(file, 100)); // inside a page: S2, S4
    CHECK_OK(disk->flush(file, FLUSH_DEVICE));
    CHECK_OK(disk->resize(file, 200));
    cut_power();
    CHECK_EQ(byte_at(99), 5);
    CHECK(byte_at(100) == 0 || size_now() == 100);
    end();
}

static bool exists(const char *path) { return sim_disk_find(&sim, path) != NULL; }

static void names_persist_in_order(void)
{
    unsigned counts[4] = {0};
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        begin_with(seed, 1, 0);
        disk->close(open_path("b", OPEN_CREATE));
        CHECK_OK(disk->rename(disk, "b", "c"));
        bool found = false;
        CHECK_OK(disk->remove(disk, "c", &found));
        CHECK(found && !exists("b") && !exists("c"));
        cut_power();
        const bool b = exists("b"), c = exists("c");
        CHECK(!(b && c));
        counts[b + 2 * c]++;
        CHECK(exists("a"));
        end();
    }
    for (int i = 0; i < 3; i++) CHECK(counts[i] > SEEDS / 30);
}

static void a_flush_of_the_directory_keeps_its_names(void)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        begin_with(seed, 1, 0);
        disk->close(open_path("b", OPEN_CREATE));
        CHECK_OK(disk->rename(disk, "b", "c"));
        CHECK_OK(disk->flush_directory(disk, "."));
        cut_power();
        CHECK(exists("c") && !exists("b"));
        end();
    }
}

static void a_new_directory_needs_a_flush_of_its_parent(void)
{
    unsigned lost = 0, kept = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        begin_with(seed, 1, 0);
        bool made = false;
        CHECK_OK(disk->make_directory(disk, "d", 0755, &made));
        CHECK(made);
        CHECK_OK(disk->make_directory(disk, "d", 0755, &made));
        CHECK(!made);
        struct file below = open_path("d/x", OPEN_CREATE);
        CHECK_OK(disk->flush(below, FLUSH_DEVICE));
        disk->close(below);
        CHECK_OK(disk->flush_directory(disk, "d"));
        if (seed % 2) CHECK_OK(disk->flush_directory(disk, ""));
        cut_power();
        if (seed % 2) CHECK(exists("d/x"));
        lost += !exists("d/x");
        kept += seed % 2 == 0 && exists("d/x");
        end();
    }
    CHECK(lost > SEEDS / 20 && kept > SEEDS / 20);
}

static void a_failed_flush_may_lose_pages_that_it_calls_clean(void)
{
    unsigned written = 0, waiting = 0, lost = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        begin_with(seed, 1, 1);
        put(0, 2, SIM_PAGE);
        sim.flush_fails = 100;
        CHECK_ERR(disk->flush(file, FLUSH_DEVICE), BW_ERR_STORAGE_GENERAL);
        CHECK_EQ(bw_reason_secondary(), EIO);
        CHECK_EQ(sim.failed_flush_count, 1);
        sim.flush_fails = 0;
        CHECK_EQ(byte_at(0), 2); // everybody still sees it
        size_t last = 0;
        const bool is_waiting = sim_file_dirty_count(sim_disk_find(&sim, "a"), &last) > 0;
        CHECK_OK(disk->flush(file, FLUSH_DEVICE)); // the second one succeeds
        sim_disk_evict(&sim);
        const uint8_t now = byte_at(0); // S1
        lost += now == 1;
        waiting += now == 2 && is_waiting;
        written += now == 2 && !is_waiting;
        CHECK(!(is_waiting && now == 1));
        cut_power();
        CHECK_EQ(byte_at(0), now);
        end();
    }
    CHECK(written > SEEDS / 6 && waiting > SEEDS / 6 && lost > SEEDS / 6);
}

static void a_failed_write_may_have_done_a_part(void)
{
    unsigned counts[4] = {0};
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        begin_with(seed, 3, 1);
        sim.write_fails = 100;
        CHECK_ERR(try_write(0, 2, 3 * SIM_PAGE), BW_ERR_STORAGE_GENERAL);
        size_t done = 0;
        while (done < 3 && byte_at(done * SIM_PAGE) == 2) done++;
        for (size_t i = done; i < 3; i++) CHECK_EQ(byte_at(i * SIM_PAGE), 1);
        counts[done]++;
        end();
    }
    for (int i = 0; i < 4; i++) CHECK(counts[i] > SEEDS / 10);
}

static void a_full_disk_writes_what_fits(void)
{
    begin_with(1, 1, 1);
    sim.page_max = 2;
    CHECK_ERR(try_write(0, 2, 3 * SIM_PAGE), BW_ERR_DB_FULL);
    CHECK_EQ(bw_reason_secondary(), ENOSPC);
    CHECK_EQ(size_now(), 2 * SIM_PAGE);
    CHECK_EQ(byte_at(2 * SIM_PAGE - 1), 2);
    CHECK_OK(disk->resize(file, 5 * SIM_PAGE)); // a hole
    CHECK_ERR(try_write(3 * SIM_PAGE, 2, 10), BW_ERR_DB_FULL);
    sim.page_max = 4;
    put(3 * SIM_PAGE, 2, 10);
    sim.page_max = 2;
    put(3 * SIM_PAGE, 3, 10); // has its place
    CHECK_OK(disk->resize(file, 3 * SIM_PAGE));
    CHECK_ERR(try_write(3 * SIM_PAGE, 2, 10), BW_ERR_DB_FULL);
    sim.page_max = 0;
    CHECK_ERR(try_write(SIM_FILE_MAX, 2, 10), BW_ERR_DB_FULL);
    end();
}

static void one_flush_lies_and_the_next_one_never_returns(void)
{
    unsigned lies = 0, lost = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        begin_with(seed, 1, 1);
        put(0, 2, SIM_PAGE);
        sim.may_lie = true;
        CHECK_OK(disk->flush(file, FLUSH_DEVICE));
        if (sim.has_lied) {
            lies++;
            put(0, 3, SIM_PAGE);
            CHECK_ERR(disk->flush(file, FLUSH_DEVICE), SIM_STOPPED);
            CHECK_ERR(try_write(0, 4, 1), SIM_STOPPED);
            cut_power();
            lost += byte_at(0) == 1;
        }
        end();
    }
    CHECK(lies > SEEDS / 6 && lies < SEEDS / 2 && lost > 0);
}

static void the_disk_stops_at_the_step_it_was_told(void)
{
    begin_with(1, 2, 1);
    sim.steps_left = 2;
    char byte;
    size_t size;
    CHECK_OK(disk->read(file, 0, &byte, 1, &size)); // N4: no step
    put(0, 2, SIM_PAGE);
    CHECK_OK(disk->flush(file, FLUSH_DEVICE));
    CHECK(!sim.is_stopped);
    CHECK_ERR(try_write(SIM_PAGE, 3, SIM_PAGE), SIM_STOPPED);
    CHECK(sim.is_stopped);

    struct sim_disk copy;
    sim_disk_copy(&sim, &copy);
    bool flag = false; // N1
    struct file_info info;
    struct file other = {0};
    CHECK_ERR(try_write(0, 4, 1), SIM_STOPPED);
    CHECK_ERR(disk->resize(file, 0), SIM_STOPPED);
    CHECK_ERR(disk->flush(file, FLUSH_DEVICE), SIM_STOPPED);
    CHECK_ERR(disk->read(file, 0, &byte, 1, &size), SIM_STOPPED);
    CHECK_ERR(disk->info(file, &info), SIM_STOPPED);
    CHECK_ERR(disk->lock(file, LOCK_SHARED, &flag), SIM_STOPPED);
    CHECK_ERR(disk->open(disk, "b", OPEN_CREATE, 0, &other, &flag), SIM_STOPPED);
    CHECK_ERR(disk->rename(disk, "a", "b"), SIM_STOPPED);
    CHECK_ERR(disk->remove(disk, "a", &flag), SIM_STOPPED);
    CHECK_ERR(disk->make_directory(disk, "d", 0, &flag), SIM_STOPPED);
    CHECK_ERR(disk->flush_directory(disk, ""), SIM_STOPPED);
    CHECK_ERR(disk->look_up(disk, "a", &info, NULL, &flag), SIM_STOPPED);
    const struct sim_file *now = sim_disk_find(&sim, "a"), *then = sim_disk_find(&copy, "a");
    CHECK_EQ(now->size, then->size);
    CHECK_BYTES(now->cache, then->cache, (size_t)now->size);
    sim_disk_deinit(&copy);

    disk->close(file);
    sim_disk_restart(&sim);
    file = open_path("a", OPEN_WRITE);
    put(0, 5, SIM_PAGE);
    end();
}

static void a_copy_goes_its_own_way(void)
{
    begin_with(3, 2, 1);
    put(0, 2, SIM_PAGE);
    disk->close(open_path("b", OPEN_CREATE));
    struct sim_disk copy;
    sim_disk_copy(&sim, &copy);
    CHECK(copy.device != sim.device);
    put(SIM_PAGE, 3, SIM_PAGE);
    CHECK_EQ(sim_disk_find(&copy, "a")->cache[0], 2);
    CHECK_EQ(sim_disk_find(&copy, "a")->cache[SIM_PAGE], 1);
    CHECK(sim_disk_find(&copy, "b") != NULL);
    sim_disk_settle(&copy);
    sim_disk_cut_power(&copy, NULL);
    CHECK_EQ(sim_disk_find(&copy, "a")->cache[0], 2);
    CHECK(sim_disk_find(&copy, "b") != NULL);
    sim_disk_deinit(&copy);
    end();
}

static void a_window_is_the_cache(void)
{
    begin_with(1, 2, 1);
    const uint8_t *window = NULL;
    CHECK_OK(disk->map(file, 0, 64 << 20, &window));
    CHECK_EQ((uintptr_t)window % SIM_PAGE, 0);
    put(SIM_PAGE, 2, 2 * SIM_PAGE);
    CHECK_EQ(window[0], 1);
    CHECK_EQ(window[3 * SIM_PAGE - 1], 2);
    bool found = false;
    CHECK_OK(disk->remove(disk, "a", &found));
    disk->close(file);
    CHECK_EQ(window[SIM_PAGE], 2); // N3
    disk->unmap((struct file){.disk = disk}, window, 64 << 20);
    sim_disk_deinit(&sim);
}

/* The system looks itself, and does not fault. */
static bool can_be_touched(const uint8_t *byte)
{
    int ends[2];
    CHECK(pipe(ends) == 0);
    const ssize_t written = write(ends[1], byte, 1);
    CHECK(written == 1 || errno == EFAULT);
    close(ends[0]);
    close(ends[1]);
    return written == 1;
}

static void a_window_ends_with_the_page_of_the_system(void)
{
    static const char *const sizes[] = {"4096", "16384", "65536"};
    const char *before = getenv("BW_OS_PAGE");
    char kept[32] = "4096";
    if (before) (void)snprintf(kept, sizeof(kept), "%s", before);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        CHECK(setenv("BW_OS_PAGE", sizes[i], 1) == 0);
        const size_t os_page = strtoul(sizes[i], NULL, 10);
        begin_with(1, os_page / SIM_PAGE + 1, 1); // one page of 4 KB into a second one
        const uint8_t *window = NULL;
        CHECK_ERR(disk->map(file, os_page / 2, 64 << 20, &window), BW_ERR_STORAGE_GENERAL);
        CHECK_OK(disk->map(file, 0, 64 << 20, &window));
        CHECK_EQ(window[os_page + SIM_PAGE - 1], 1);
        CHECK(can_be_touched(window + 2 * os_page - 1));
        CHECK(!can_be_touched(window + 2 * os_page)); // S2
        put(2 * os_page, 2, SIM_PAGE);
        CHECK_EQ(window[2 * os_page], 2);
        CHECK_OK(disk->resize(file, SIM_PAGE));
        CHECK(!can_be_touched(window + os_page));
        if (os_page > SIM_PAGE) CHECK_EQ(window[SIM_PAGE], 0);
        disk->unmap(file, window, 64 << 20);
        end();
    }
    CHECK(setenv("BW_OS_PAGE", kept, 1) == 0);
}

static void locks_exclude(void)
{
    begin_with(1, 1, 1);
    struct file other = open_path("a", OPEN_READ);
    bool got = false;
    CHECK_OK(disk->lock(file, LOCK_EXCLUSIVE, &got));
    CHECK(got);
    CHECK_OK(disk->lock(other, LOCK_SHARED, &got));
    CHECK(!got);
    CHECK_OK(disk->lock(file, LOCK_NONE, &got));
    CHECK_OK(disk->lock(other, LOCK_SHARED, &got));
    CHECK(got);
    CHECK_OK(disk->lock(file, LOCK_EXCLUSIVE, &got));
    CHECK(!got);
    disk->close(other);
    CHECK_OK(disk->lock(file, LOCK_EXCLUSIVE, &got));
    CHECK(got);
    end();
}

static void calls_are_counted(void)
{
    begin_with(1, 2, 1);
    sim.counts = (struct sim_counts){0};
    put(0, 2, 100);
    CHECK_OK(disk->flush(file, FLUSH_DEVICE));
    (void)byte_at(0);
    CHECK_EQ(sim.counts.writes, 1);
    CHECK_EQ(sim.counts.written_bytes, 100);
    CHECK_EQ(sim.counts.flushes, 1);
    CHECK_EQ(sim.counts.reads, 1);
    CHECK_EQ(sim.counts.read_bytes, 1);
    CHECK_EQ(sim.counts.directory_flushes, 0);
    end();
}

static unsigned hook_calls;

static void write_in_hook(void *argument)
{
    (void)argument;
    hook_calls++;
    (void)byte_at(0);
    put(SIM_PAGE, 8, SIM_PAGE);
}

static void a_hook_runs_between_two_steps(void)
{
    begin_with(1, 2, 1);
    hook_calls = 0;
    sim.hook = write_in_hook;
    put(0, 2, 10);
    CHECK_EQ(byte_at(SIM_PAGE), 8);
    CHECK_OK(disk->flush(file, FLUSH_DEVICE));
    CHECK_EQ(hook_calls, 2);
    sim.hook = NULL;
    end();
}

static void choose_oldest(void *argument, size_t page, const uint8_t *const *versions, size_t count,
                          uint8_t *out)
{
    *(size_t *)argument += count;
    memcpy(out, versions[page == 0 ? 0 : count - 1], SIM_PAGE);
}

static void a_test_may_choose_the_outcome(void)
{
    begin_with(1, 2, 1);
    put(0, 2, SIM_PAGE);
    put(SIM_PAGE, 3, SIM_PAGE);
    put(SIM_PAGE, 4, 2 * SIM_PAGE);
    disk->close(file);
    size_t count = 0;
    const struct sim_outcome outcome = {choose_oldest, &count, 0};
    sim_disk_cut_power(&sim, &outcome);
    file = open_path("a", OPEN_WRITE);
    CHECK_EQ(count, 2 + 3 + 2);
    CHECK_EQ(byte_at(0), 1);
    CHECK_EQ(byte_at(SIM_PAGE), 4);
    CHECK_EQ(size_now(), 2 * SIM_PAGE);
    end();
}

static void damage_is_durable(void)
{
    begin_with(1, 3, 1);
    sim_disk_poke(&sim, "a", SIM_PAGE + 7, "x", 1);
    sim_disk_cut_file(&sim, "a", 2 * SIM_PAGE - 100);
    cut_power();
    CHECK_EQ(byte_at(SIM_PAGE + 7), 'x');
    CHECK_EQ(byte_at(SIM_PAGE + 8), 1);
    CHECK_EQ(size_now(), 2 * SIM_PAGE - 100);
    end();
}

static void equal_seeds_give_equal_disks(void)
{
    uint64_t sums[2];
    for (int turn = 0; turn < 2; turn++) {
        begin_with(17, 4, 1);
        for (uint8_t i = 0; i < 30; i++) put((i * 5u % 7) * SIM_SECTOR * 3, i, SIM_PAGE);
        cut_power();
        sums[turn] = bw_hash64(sim_disk_find(&sim, "a")->cache, (size_t)size_now(), 0);
        end();
    }
    CHECK_EQ(sums[0], sums[1]);
}

RUN_TESTS(TEST(what_was_flushed_survives_every_power_cut),
          TEST(what_was_not_flushed_persists_vanishes_or_persists_as_an_older_version),
          TEST(slots_of_a_disk_with_large_sectors_are_never_torn),
          TEST(torn_slots_often_lose_one_sector), TEST(a_process_that_ends_leaves_the_cache),
          TEST(a_write_of_less_than_a_page_may_destroy_it),
          TEST(the_size_persists_apart_from_the_data), TEST(cutting_a_file_is_not_durable_either),
          TEST(names_persist_in_order), TEST(a_flush_of_the_directory_keeps_its_names),
          TEST(a_new_directory_needs_a_flush_of_its_parent),
          TEST(a_failed_flush_may_lose_pages_that_it_calls_clean),
          TEST(a_failed_write_may_have_done_a_part), TEST(a_full_disk_writes_what_fits),
          TEST(one_flush_lies_and_the_next_one_never_returns),
          TEST(the_disk_stops_at_the_step_it_was_told), TEST(a_copy_goes_its_own_way),
          TEST(a_window_is_the_cache), TEST(a_window_ends_with_the_page_of_the_system),
          TEST(locks_exclude), TEST(calls_are_counted), TEST(a_hook_runs_between_two_steps),
          TEST(a_test_may_choose_the_outcome), TEST(damage_is_durable),
          TEST(equal_seeds_give_equal_disks))
