/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that were cut, zeroed, overwritten, or of which one bit has changed. Opening them for
 * reading and for writing gives an error with a meaning, or a state that was committed; what is
 * read is what was committed, or an error. A file that is refused keeps each of its bytes, and its
 * name.
 */
#include <stdio.h>
#include <stdlib.h>

#include "harness/check.h"
#include "harness/sample.h"
#include "harness/sim_disk.h"
#include "store/slot.h"

enum { COMMITS_MAX = 6, IMAGE_MAX = 64 * PAGE_SIZE, SECTOR = 512 };
enum { VALUES = 12, VALUE = 300, LARGE_VALUE = 6000, SCHEMA_MAX = 900 };
#ifdef __SANITIZE_THREAD__
enum { SPARSE = 37 }; /* one thread, and slow: that sanitizer has little to find */
#else
enum { SPARSE = 1 };
#endif
enum ending { IS_CLOSED, IS_STOPPED, IS_TORN, ENDINGS };

/* A store's file, and what each of its commits had. */
struct original {
    uint8_t bytes[IMAGE_MAX];
    size_t size;
    unsigned commits;
    enum ending ending;
    uint64_t digests[COMMITS_MAX + 1]; /* by number of the commit */
};

static struct original original;
static uint8_t damaged[IMAGE_MAX];
static size_t damaged_size;
static unsigned opened, refused, began_anew, damage_read; /* outcomes */

/* ---- making the store ---- */

/* Commit number n changes everything, or only a part. */
static void commit(struct store *store, unsigned n)
{
    struct txn *txn = sample_begin(store, TXN_WRITE);
    CHECK_OK(sample_put(txn, 1, 1, n % 2 ? VALUES : VALUES / 2, VALUE, n));
    CHECK_OK(sample_put(txn, 2, 1, 1, LARGE_VALUE, n));
    CHECK_OK(bw_tree_set_sequence(txn, 1, n));
    uint8_t schema[SCHEMA_MAX] = {(uint8_t)n};
    if (n != 2) CHECK_OK(bw_txn_set_schema(txn, schema, (struct bytes){schema, n * 150}));
    CHECK_OK(bw_txn_commit(txn));
}

static uint8_t *slot_of(uint8_t *bytes, bool newest)
{
    const bool first_is_newer =
        bw_get_u64(bytes + SLOT_AT_TXN) > bw_get_u64(bytes + PAGE_SIZE + SLOT_AT_TXN);
    return first_is_newer == newest ? bytes : bytes + PAGE_SIZE;
}

static void make_original(unsigned commits, enum ending ending)
{
    struct sim_disk sim;
    sim_disk_init(&sim, 1);
    struct store *store = sample_open(&sim.disk);
    for (unsigned n = 1; n <= commits; n++) {
        commit(store, n);
        original.digests[n] = sample_digest_of(store);
    }
    sim.is_stopped = ending != IS_CLOSED; // then closing writes nothing
    bw_store_close(store);
    const struct sim_file *file = sim_disk_find(&sim, SAMPLE_FILE);
    CHECK(file->size <= IMAGE_MAX);
    original.size = (size_t)file->size;
    original.commits = commits;
    original.ending = ending;
    memcpy(original.bytes, file->cache, original.size);
    if (ending == IS_TORN) memset(slot_of(original.bytes, true) + 1024, 0x5a, SECTOR);
    sim.is_stopped = false;
    sim_disk_deinit(&sim);
}

/* ---- looking at a damaged one ---- */

static void make_disk(struct sim_disk *sim)
{
    struct file file;
    bool done = false;
    sim_disk_init(sim, 1);
    CHECK_OK(sim->disk.make_directory(&sim->disk, SAMPLE_DIRECTORY, 0755, &done));
    CHECK_OK(sim->disk.open(&sim->disk, SAMPLE_FILE, OPEN_CREATE, 0644, &file, &done));
    const struct span span = {damaged, damaged_size};
    CHECK_OK(sim->disk.write(file, 0, &span, 1));
    sim->disk.close(file);
    sim_disk_settle(sim);
}

static bool is_untouched(struct sim_disk *sim, const char *path)
{
    const struct sim_file *file = sim_disk_find(sim, path);
    return file && file->size == damaged_size && memcmp(file->cache, damaged, damaged_size) == 0;
}

/* Each value is that of the commit, or cannot be read. */
static void read_values(struct txn *txn, unsigned n)
{
    for (uint64_t key = 1; key <= VALUES + 1; key++) {
        struct bytes value;
        bool found = false;
        bw_err err = bw_tree_get(txn, key > VALUES ? 2 : 1, key > VALUES ? 1 : key, &value, &found);
        if (err) {
            CHECK_EQ(err, BW_ERR_FILE_PAGES_CORRUPT);
            continue;
        }
        CHECK(found);
        const bool is_full = n % 2 || key <= VALUES / 2 || key > VALUES;
        if (key > VALUES) sample_expect(txn, 2, 1, 1, LARGE_VALUE, n);
        else sample_expect(txn, 1, key, 1, VALUE, is_full ? n : n - 1);
    }
}

/* What an open store holds is a state that was, as far as it can be read. True: all of it can. */
static bool is_a_state_that_was(struct store *store)
{
    uint64_t digest = 0;
    struct check_report report;
    struct txn *txn = sample_begin(store, TXN_READ);
    const unsigned n = (unsigned)bw_txn_id(txn);
    CHECK(n >= 1 && n <= original.commits);
    bw_err err = sample_digest(txn, &digest);
    if (err) CHECK_EQ(err, BW_ERR_FILE_PAGES_CORRUPT);
    else CHECK_EQ(digest, original.digests[n]);
    read_values(txn, n);
    CHECK_OK(bw_store_check(txn, NULL, &report));
    if (err) CHECK(report.problems > 0);
    bw_txn_abort(txn);
    damage_read += err != 0;
    return !err && !report.problems;
}

/* May this file be taken for a store that was never finished? */
static bool may_begin_anew(void) { return damaged_size == 0 || original.commits == 1; }

static void check_refusal(bw_err err, bool read_only)
{
    refused++;
    if (err == BW_ERR_STORAGE_GENERAL) { // not found
        CHECK(read_only && may_begin_anew());
        CHECK_EQ(bw_reason_secondary(), 2);
    } else {
        CHECK(err == BW_ERR_FILE_CORRUPT || err == BW_ERR_FILE_PAGES_CORRUPT);
        CHECK(strstr(bw_reason_text(), SAMPLE_FILE) != NULL);
    }
}

/* A new store in the place of a damaged one: whose bytes are all there, under another name. */
static void check_anew(struct sim_disk *sim)
{
    began_anew++;
    CHECK(may_begin_anew());
    if (damaged_size) CHECK(is_untouched(sim, SAMPLE_FILE ".unfinished"));
}

/* Go on with what was opened, as an application would. */
static void write_on(struct sim_disk *sim, struct store *store)
{
    const uint64_t before = sample_digest_of(store);
    sample_commit(store, 50, 1, 3, 400, 9);
    struct txn *txn = sample_begin(store, TXN_WRITE);
    CHECK_OK(bw_tree_drop(txn, 50));
    CHECK_OK(bw_txn_commit(txn));
    CHECK_EQ(sample_digest_of(store), before);
    sample_prove_store(store);
    bw_store_close(store);
    store = sample_open(&sim->disk);
    CHECK_EQ(sample_digest_of(store), before);
    bw_store_close(store);
}

static void look_at(struct sim_disk *sim, bool read_only, bool writes_on)
{
    struct store *store = NULL;
    struct store_info info = {0};
    struct store_options options = sample_options(&sim->disk);
    options.read_only = read_only;
    bw_err err = bw_store_open(&options, &store);
    if (err) check_refusal(err, read_only);
    else bw_store_info(store, &info);
    if (!err && !info.has_commit) check_anew(sim);
    else CHECK(is_untouched(sim, SAMPLE_FILE));
    if (info.has_commit) {
        opened++;
        const bool is_whole = is_a_state_that_was(store);
        CHECK(is_untouched(sim, SAMPLE_FILE));
        if (is_whole && writes_on && !read_only) {
            write_on(sim, store);
            store = NULL;
        }
    }
    bw_store_close(store);
}

static void look(bool read_only, bool writes_on)
{
    struct sim_disk sim;
    make_disk(&sim);
    look_at(&sim, read_only, writes_on);
    sim_disk_deinit(&sim);
}

static void look_both_ways(void)
{
    look(true, false);
    look(false, true);
}

static void restore(void)
{
    memcpy(damaged, original.bytes, original.size);
    damaged_size = original.size;
}

/* ---- the damages ---- */

static void begin_counting(void) { opened = refused = began_anew = damage_read = 0; }

static void cut_everywhere(void)
{
    for (size_t size = 0; size < original.size; size += size < 2 * PAGE_SIZE ? SECTOR : PAGE_SIZE) {
        restore();
        damaged_size = size;
        look_both_ways();
        damaged_size = size + 1; // and within a page
        look_both_ways();
    }
}

static void overwrite_slots(void)
{
    static const uint8_t fillings[] = {0, 0xff, 'x'};
    for (size_t i = 0; i < sizeof(fillings); i++)
        for (unsigned which = 1; which <= 3; which++) {
            restore();
            if (which & 1) memset(damaged, fillings[i], PAGE_SIZE);
            if (which & 2) memset(damaged + PAGE_SIZE, fillings[i], PAGE_SIZE);
            look_both_ways();
        }
    for (size_t at = 0; at < 2 * PAGE_SIZE; at += SECTOR) {
        restore();
        memset(damaged + at, 0, SECTOR);
        look_both_ways();
        restore();
        memcpy(damaged + at, damaged + (at ^ PAGE_SIZE), SECTOR); // the other slot's
        look_both_ways();
    }
}

static void overwrite_pages(void)
{
    for (size_t page = 2; page < original.size / PAGE_SIZE; page++) {
        restore();
        memset(damaged + page * PAGE_SIZE, 0, PAGE_SIZE);
        look_both_ways();
        restore();
        memcpy(damaged + page * PAGE_SIZE, original.bytes + 2 * PAGE_SIZE, PAGE_SIZE);
        look_both_ways();
    }
}

static void damage_all(void (*damage)(void))
{
    begin_counting();
    for (unsigned commits = 1; commits <= COMMITS_MAX; commits++)
        for (enum ending ending = IS_CLOSED; ending < ENDINGS; ending++) {
            make_original(commits, ending);
            damage();
        }
    CHECK(opened > 0 && refused > 0); // or nothing was tried
    sample_expect_nothing_left();
}

static void a_file_that_was_cut_is_refused_or_older(void) { damage_all(cut_everywhere); }
static void damaged_slots_are_refused_or_older(void) { damage_all(overwrite_slots); }
static void damaged_pages_are_noticed(void) { damage_all(overwrite_pages); }

/* Flip a bit in every step-th byte of the file, of which no opening may change any. */
static void flip_bits(size_t step)
{
    struct sim_disk sim;
    restore();
    make_disk(&sim);
    uint8_t *bytes = sim_disk_find(&sim, SAMPLE_FILE)->cache;
    for (size_t at = 0; at < original.size; at += step * SPARSE) {
        const uint8_t bit = (uint8_t)(1u << at % 8);
        damaged[at] ^= bit;
        bytes[at] ^= bit;
        look_at(&sim, true, false);
        if (!may_begin_anew()) look_at(&sim, false, false);
        else if (at % 16 == 0) look(false, true); // which may rename it
        damaged[at] ^= bit;
        bytes[at] ^= bit;
    }
    sim_disk_deinit(&sim);
}

static void a_flipped_bit_is_noticed_or_without_meaning(void)
{
    begin_counting();
    for (enum ending ending = IS_CLOSED; ending <= IS_STOPPED; ending++) {
        make_original(1, ending);
        flip_bits(ending == IS_CLOSED ? 1 : 7);
        make_original(2, ending);
        flip_bits(ending == IS_CLOSED ? 11 : 3);
    }
    CHECK(opened > 0 && refused > 0 && damage_read > 0);
    sample_expect_nothing_left();
}

static void rubbish_is_refused(void)
{
    struct random random;
    bw_random_seed(&random, bw_test_seed());
    make_original(2, IS_CLOSED);
    for (int round = 0; round < 300; round++) {
        damaged_size = (size_t)bw_random_below(&random, IMAGE_MAX) + 1;
        for (size_t at = 0; at < damaged_size; at++) damaged[at] = (uint8_t)bw_random_next(&random);
        if (round % 2) memcpy(damaged, bw_slot_magic, damaged_size < 8 ? damaged_size : 8);
        if (round % 4 == 3) // slots whose checksum fits
            for (size_t slot = 0; slot < 2 * PAGE_SIZE && slot + PAGE_SIZE < damaged_size;
                 slot += PAGE_SIZE) {
                memcpy(damaged + slot, bw_slot_magic, 8);
                bw_put_u32(damaged + slot + SLOT_AT_VERSION, 0x10001);
                bw_put_u32(damaged + slot + SLOT_AT_FEATURES, 0);
                bw_put_u64(damaged + slot + SLOT_AT_CHECKSUM,
                           bw_hash64(damaged + slot + SLOT_AT_VERSION,
                                     SLOT_CHECKED_SIZE - SLOT_AT_VERSION, 0));
            }
        const unsigned before = refused;
        look(true, false);
        look(false, false);
        CHECK_EQ(refused, before + 2);
    }
    sample_expect_nothing_left();
}

RUN_TESTS(TEST(a_file_that_was_cut_is_refused_or_older), TEST(damaged_slots_are_refused_or_older),
          TEST(damaged_pages_are_noticed), TEST(a_flipped_bit_is_noticed_or_without_meaning),
          TEST(rubbish_is_refused))
