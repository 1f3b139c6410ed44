/* SPDX-License-Identifier: Apache-2.0 */
#include "store/manifest.h"

#include "harness/check.h"
#include "harness/sim_disk.h"

enum { SALT = 991, RUNS_MAX = 32, PAGES_MAX = 64 };

/* A file of pages, the manifest that names some of them, and its runs. */
static struct sim_disk sim;
static struct file file;
static struct manifest manifest;
static uint8_t runs[RUNS_MAX * RUN_SIZE];
static uint32_t run_count;
static int64_t blocks; /* of memory, before the test */

static void begin(void)
{
    bool found = false;
    blocks = bw_memory_blocks();
    sim_disk_init(&sim, 1);
    CHECK_OK(sim.disk.open(&sim.disk, "a", OPEN_CREATE, 0644, &file, &found));
    manifest = (struct manifest){0};
}

static void end(void)
{
    bw_manifest_deinit(&manifest);
    sim.disk.close(file);
    sim_disk_deinit(&sim);
    CHECK_EQ(bw_memory_blocks(), blocks);
}

static void add(page_no page, uint64_t sum)
{
    CHECK_OK(bw_manifest_reserve(&manifest, 1));
    bw_manifest_add(&manifest, page, sum);
}

/* Write an extent as a commit does, and name it. */
static void write_extent(page_no page, enum page_kind kind, uint32_t pages)
{
    static uint8_t bytes[PAGES_MAX * PAGE_SIZE];
    uint64_t sums[PAGES_MAX];
    const size_t size = (size_t)pages * PAGE_SIZE;
    memset(bytes, 0, PAGE_HEADER_SIZE);
    for (size_t i = PAGE_HEADER_SIZE; i < size; i++) bytes[i] = (uint8_t)(i * 13 + page + i / 256);
    bw_put_u32(bytes + PAGE_AT_NUMBER, page);
    bytes[PAGE_AT_KIND] = (uint8_t)kind;
    bw_put_u64(bytes + PAGE_AT_BORN, 5);
    if (kind == PAGE_OVERFLOW) bw_put_u32(bytes + PAGE_AT_EXTENT, pages);
    else bytes[PAGE_AT_PAGES] = (uint8_t)pages;
    bw_page_sums(bytes, pages, SALT, sums);
    bw_put_u64(bytes, bw_page_checksum(sums, pages, SALT));
    const struct span span = {bytes, size};
    CHECK_OK(sim.disk.write(file, (uint64_t)page * PAGE_SIZE, &span, 1));
    for (uint32_t i = 0; i < pages; i++) add(page + i, sums[i]);
}

static void make_runs(void)
{
    bw_manifest_sort(&manifest);
    run_count = bw_manifest_run_count(&manifest);
    CHECK(run_count <= RUNS_MAX);
    bw_manifest_write_runs(&manifest, SALT, runs);
}

static bool matches(void)
{
    const struct run_check check = {.file = file, .salt = SALT};
    bool fits = false;
    CHECK_OK(bw_manifest_check(&check, runs, run_count, &fits));
    return fits;
}

static void flip(uint64_t at)
{
    uint8_t byte = 0;
    size_t got = 0;
    CHECK_OK(sim.disk.read(file, at, &byte, 1, &got));
    CHECK_EQ(got, 1);
    byte ^= 0x10;
    const struct span span = {&byte, 1};
    CHECK_OK(sim.disk.write(file, at, &span, 1));
}

/* A leaf, a branch, a value of more than one piece and something behind it, in two runs. */
static void write_some(void)
{
    write_extent(9, PAGE_OVERFLOW, 40);
    write_extent(49, PAGE_LEAF, 8);
    write_extent(3, PAGE_LEAF, 1);
    write_extent(4, PAGE_BRANCH, 1);
    write_extent(57, PAGE_BITMAP, 1);
    make_runs();
    CHECK_EQ(run_count, 2);
}

static void neighbours_are_one_run(void)
{
    begin();
    static const page_no pages[] = {7, 3, 9, 8, 2, 20};
    for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) add(pages[i], pages[i]);
    make_runs();
    CHECK_EQ(run_count, 3);
    static const uint32_t wanted[] = {2, 2, 7, 3, 20, 1};
    for (unsigned i = 0; i < 3; i++) {
        CHECK_EQ(bw_get_u32(runs + (size_t)i * RUN_SIZE), wanted[2 * i]);
        CHECK_EQ(bw_get_u32(runs + (size_t)i * RUN_SIZE + 4), wanted[2 * i + 1]);
    }
    end();
}

static void an_empty_manifest_has_no_runs_and_matches(void)
{
    begin();
    make_runs();
    CHECK_EQ(run_count, 0);
    CHECK(matches());
    end();
}

static void pages_are_cut_out_where_they_are_named(void)
{
    begin();
    for (page_no page = 10; page < 20; page++) add(page, page);
    bw_manifest_cut(&manifest, 12, 3);
    bw_manifest_cut(&manifest, 19, 5);
    bw_manifest_cut(&manifest, 2, 8);
    bw_manifest_cut(&manifest, 30, 1);
    static const page_no wanted[] = {10, 11, 15, 16, 17, 18};
    CHECK_EQ(manifest.count, 6);
    for (unsigned i = 0; i < 6; i++) CHECK_EQ(manifest.sums[i].page, wanted[i]);
    bw_manifest_clear(&manifest);
    make_runs();
    CHECK_EQ(run_count, 0);
    end();
}

static void what_was_written_matches(void)
{
    begin();
    write_some();
    CHECK(matches());
    end();
}

static void checking_can_tell_the_pages_and_their_sums(void)
{
    begin();
    write_some();
    struct manifest found = {0};
    const struct run_check check = {.file = file, .salt = SALT, .read = &found};
    bool fits = false;
    CHECK_OK(bw_manifest_check(&check, runs, run_count, &fits));
    CHECK(fits);
    CHECK_EQ(found.count, manifest.count);
    for (uint32_t i = 0; i < found.count; i++) {
        CHECK_EQ(found.sums[i].page, manifest.sums[i].page);
        CHECK_EQ(found.sums[i].sum, manifest.sums[i].sum);
    }
    bw_manifest_deinit(&found);
    end();
}

static void any_changed_byte_of_a_named_page_is_noticed(void)
{
    begin();
    write_some();
    for (uint32_t named = 0; named < manifest.count; named++)
        for (uint64_t i = 0; i < PAGE_SIZE; i += i < 48 ? 1 : 509) {
            const uint64_t at = (uint64_t)manifest.sums[named].page * PAGE_SIZE + i;
            flip(at);
            CHECK(!matches());
            flip(at);
        }
    CHECK(matches());
    end();
}

static void a_page_that_is_not_named_does_not_matter(void)
{
    begin();
    write_extent(5, PAGE_LEAF, 1);
    bw_manifest_clear(&manifest);
    write_some();
    flip(5 * PAGE_SIZE + 100);
    CHECK(matches());
    end();
}

static void any_changed_byte_of_a_run_is_noticed(void)
{
    begin();
    write_some();
    for (uint32_t i = 0; i < run_count * RUN_SIZE; i++) {
        if (i % RUN_SIZE == 7) continue; // 2^24 pages: what a slot says is bounded before
        runs[i] ^= 1;
        CHECK(!matches());
        runs[i] ^= 1;
    }
    CHECK(matches());
    end();
}

static void another_store_s_pages_do_not_match(void)
{
    begin();
    write_some();
    const struct run_check check = {.file = file, .salt = SALT + 1};
    bool fits = true;
    CHECK_OK(bw_manifest_check(&check, runs, run_count, &fits));
    CHECK(!fits);
    end();
}

static void a_file_that_ends_too_early_does_not_match(void)
{
    begin();
    write_some();
    for (uint64_t size = 58 * PAGE_SIZE - 1; size > 0; size -= size > 30000 ? 30000 : size) {
        CHECK_OK(sim.disk.resize(file, size));
        CHECK(!matches());
    }
    end();
}

static void a_header_that_tells_nonsense_does_not_match(void)
{
    static const uint32_t lengths[] = {0, 1, 39, 41, 49, 50, 0x7fffffff, UINT32_MAX};
    begin();
    write_some();
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        uint8_t length[4];
        bw_put_u32(length, lengths[i]);
        const struct span span = {length, 4};
        CHECK_OK(sim.disk.write(file, 9 * PAGE_SIZE + PAGE_AT_EXTENT, &span, 1));
        CHECK(!matches());
    }
    end();
}

static void rewriting_writes_the_same_bytes_again(void)
{
    begin();
    write_some();
    sim_disk_settle(&sim);
    const uint64_t before = sim.counts.written_bytes;
    CHECK_OK(bw_manifest_rewrite(file, runs, run_count));
    CHECK_EQ(sim.counts.written_bytes - before, (uint64_t)manifest.count * PAGE_SIZE);
    CHECK(matches());
    size_t last = 0;
    struct sim_file *found = sim_disk_find(&sim, "a");
    CHECK_EQ(sim_file_dirty_count(found, &last), manifest.count);
    for (uint32_t i = 0; i < manifest.count; i++)
        CHECK(found->pages[manifest.sums[i].page].version_count > 0);
    end();
}

static void rewriting_a_file_that_got_shorter_is_refused(void)
{
    begin();
    write_some();
    CHECK_OK(sim.disk.resize(file, 20 * PAGE_SIZE));
    CHECK_ERR(bw_manifest_rewrite(file, runs, run_count), BW_ERR_FILE_CORRUPT);
    end();
}

static void failing_reads_and_writes_are_passed_on(void)
{
    begin();
    write_some();
    sim.write_fails = 100;
    CHECK_ERR(bw_manifest_rewrite(file, runs, run_count), BW_ERR_STORAGE_GENERAL);
    sim.write_fails = 0;
    sim.is_stopped = true;
    const struct run_check check = {.file = file, .salt = SALT};
    bool fits = true;
    CHECK_ERR(bw_manifest_check(&check, runs, run_count, &fits), SIM_STOPPED);
    CHECK_ERR(bw_manifest_rewrite(file, runs, run_count), SIM_STOPPED);
    sim.is_stopped = false;
    end();
}

static void running_out_of_memory_is_an_error(void)
{
    begin();
    write_some();
    struct manifest found = {0};
    const struct run_check check = {.file = file, .salt = SALT, .read = &found};
    bool fits = false;
    for (int allowed = 0;; allowed++) {
        bw_memory_fail_after(allowed);
        bw_err err = bw_manifest_check(&check, runs, run_count, &fits);
        bw_memory_fail_after(-1);
        bw_manifest_deinit(&found);
        if (!err) break;
        CHECK_EQ(err, BW_ERR_NO_MEMORY);
        CHECK(allowed < 100);
    }
    bw_memory_fail_after(0);
    CHECK_ERR(bw_manifest_rewrite(file, runs, run_count), BW_ERR_NO_MEMORY);
    CHECK_ERR(bw_manifest_reserve(&manifest, 1000), BW_ERR_NO_MEMORY);
    bw_memory_fail_after(-1);
    CHECK(matches());
    end();
}

RUN_TESTS(TEST(neighbours_are_one_run), TEST(an_empty_manifest_has_no_runs_and_matches),
          TEST(pages_are_cut_out_where_they_are_named), TEST(what_was_written_matches),
          TEST(checking_can_tell_the_pages_and_their_sums),
          TEST(any_changed_byte_of_a_named_page_is_noticed),
          TEST(a_page_that_is_not_named_does_not_matter),
          TEST(any_changed_byte_of_a_run_is_noticed), TEST(another_store_s_pages_do_not_match),
          TEST(a_file_that_ends_too_early_does_not_match),
          TEST(a_header_that_tells_nonsense_does_not_match),
          TEST(rewriting_writes_the_same_bytes_again),
          TEST(rewriting_a_file_that_got_shorter_is_refused),
          TEST(failing_reads_and_writes_are_passed_on), TEST(running_out_of_memory_is_an_error))
