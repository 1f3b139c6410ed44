/* SPDX-License-Identifier: Apache-2.0 */
/* Which commit an opening finds, what is refused, and what the first write of a session does. */
#include <stdio.h>

#include "harness/check.h"
#include "harness/relay.h"
#include "harness/sample.h"
#include "harness/sim_disk.h"
#include "store/slot.h"

static struct sim_disk sim;
static struct relay relay;
static struct store *store;

enum { VALUES = 30, VALUE = 300 };

static void begin(void)
{
    sim_disk_init(&sim, 1);
    relay_init(&relay, &sim.disk);
    store = NULL;
}

static void end(void)
{
    bw_store_close(store);
    sim_disk_deinit(&sim);
    sample_expect_nothing_left();
}

/* Close as a process that ends: nothing more reaches the file. */
static void stop(void)
{
    sim.is_stopped = true;
    bw_store_close(store);
    store = NULL;
    sim_disk_restart(&sim);
}

/* Commits `first` to `last`, each of which changes all values, and stop. */
static void make_commits(unsigned first, unsigned last)
{
    store = sample_open(&sim.disk);
    for (unsigned i = first; i <= last; i++) sample_commit(store, 1, 1, VALUES, VALUE, i);
    stop();
}

static uint8_t *file_bytes(void) { return sim_disk_find(&sim, SAMPLE_FILE)->cache; }
static uint64_t file_size(void) { return sim_disk_find(&sim, SAMPLE_FILE)->size; }

static void poke(uint64_t at, const void *data, size_t size)
{
    sim_disk_poke(&sim, SAMPLE_FILE, at, data, size);
}

/* A file with these bytes in the place of a store's. */
static void make_file(const void *data, size_t size)
{
    struct file file;
    bool done = false;
    CHECK_OK(sim.disk.make_directory(&sim.disk, SAMPLE_DIRECTORY, 0755, &done));
    CHECK_OK(sim.disk.open(&sim.disk, SAMPLE_FILE, OPEN_CREATE, 0644, &file, &done));
    const struct span span = {data, size};
    CHECK_OK(sim.disk.resize(file, 0));
    CHECK_OK(sim.disk.write(file, 0, &span, 1));
    sim.disk.close(file);
}

static bw_err open_with(const struct store_options *options)
{
    bw_store_close(store);
    store = NULL;
    return bw_store_open(options, &store);
}

static bw_err open_it(bool read_only)
{
    struct store_options options = sample_options(&relay.disk);
    options.read_only = read_only;
    relay_reset(&relay);
    return open_with(&options);
}

/* The newest state is that of this commit, whole. */
static void expect(unsigned version)
{
    struct txn *txn = sample_begin(store, TXN_READ);
    sample_expect(txn, 1, 1, VALUES, VALUE, version);
    sample_prove(txn);
    bw_txn_abort(txn);
}

static bool reason_has(const char *text) { return strstr(bw_reason_text(), text) != NULL; }

static struct store_info info_of(void)
{
    struct store_info info;
    bw_store_info(store, &info);
    return info;
}

/* Offset of the slot with the newest or the older commit. */
static uint64_t slot_at(bool newest)
{
    const uint8_t *bytes = file_bytes();
    const bool first_is_newer =
        bw_get_u64(bytes + SLOT_AT_TXN) > bw_get_u64(bytes + PAGE_SIZE + SLOT_AT_TXN);
    return first_is_newer == newest ? 0 : PAGE_SIZE;
}

/* The first page that the manifest of the newest slot names. */
static uint64_t manifest_page(void)
{
    struct slot slot;
    CHECK_EQ(bw_slot_decode(file_bytes() + slot_at(true), &slot), SLOT_GOOD);
    CHECK(slot.run_count > 0);
    return bw_get_u32(slot.runs);
}

static void mend_slot(uint8_t *image)
{
    bw_put_u64(image + SLOT_AT_CHECKSUM,
               bw_hash64(image + SLOT_AT_VERSION, SLOT_CHECKED_SIZE - SLOT_AT_VERSION, 0));
}

/* ---- choosing ---- */

static void what_was_not_closed_is_verified(void)
{
    begin();
    make_commits(1, 3);
    CHECK_OK(open_it(true));
    CHECK_EQ(strncmp(relay.log, "Oilrr", 5), 0); // the slots, then what the manifest names
    CHECK_EQ(relay.counts[CALL_MAP], 0);
    expect(3);
    CHECK_EQ(relay.counts[CALL_WRITE], 0);
    CHECK(!info_of().opened_older);
    end();
}

static void a_torn_newest_slot_leaves_the_commit_before(void)
{
    for (uint64_t sector = 0; sector < 7; sector++) {
        begin();
        make_commits(1, 3);
        const uint8_t garbage[512] = {0xaa, 0xbb};
        poke(slot_at(true) + sector * 512, garbage, sizeof(garbage));
        CHECK_OK(open_it(true));
        expect(2);
        if (sector > 0) CHECK(info_of().opened_older); // or nothing tells that there was more
        CHECK_OK(open_it(false));
        sample_commit(store, 1, 1, VALUES, VALUE, 7);
        expect(7);
        stop();
        CHECK_OK(open_it(false));
        expect(7);
        end();
    }
}

static void a_commit_of_which_a_page_is_missing_is_not_taken(void)
{
    for (size_t at = 0; at < PAGE_SIZE; at += 101) {
        begin();
        make_commits(1, 3);
        const uint64_t place = manifest_page() * PAGE_SIZE + at;
        const uint8_t other = file_bytes()[place] ^ 1;
        poke(place, &other, 1);
        CHECK_OK(open_it(at % 2 == 0));
        CHECK(info_of().opened_older);
        expect(2);
        end();
    }
}

static void one_that_was_given_up_never_comes_back(void)
{
    begin();
    make_commits(1, 3);
    uint8_t lost[PAGE_SIZE], zeros[PAGE_SIZE] = {0};
    const uint64_t page = manifest_page() * PAGE_SIZE;
    memcpy(lost, file_bytes() + page, sizeof(lost));
    poke(page, zeros, sizeof(zeros));
    CHECK_OK(open_it(false));
    struct txn *txn = sample_begin(store, TXN_WRITE);
    CHECK_EQ(bw_txn_id(txn), 5); // 3 was given up, 4 is the twin of 2
    bw_txn_abort(txn);
    CHECK_EQ(info_of().txn_id, 4);
    expect(2);
    stop();
    poke(page, lost, sizeof(lost)); // as if it had only been late
    CHECK_OK(open_it(false));
    CHECK(!info_of().opened_older);
    expect(2);
    sample_commit(store, 1, 1, VALUES, VALUE, 9);
    expect(9);
    end();
}

static void a_durable_commit_that_is_missing_is_damage(void)
{
    begin();
    make_commits(1, 5);
    uint8_t image[PAGE_SIZE];
    const uint64_t place = manifest_page() * PAGE_SIZE + 200;
    memcpy(image, file_bytes() + slot_at(true), sizeof(image));
    bw_put_u64(image + SLOT_AT_BASE, 3); // R11: and the other slot holds 4
    mend_slot(image);
    poke(slot_at(true), image, sizeof(image));
    CHECK_OK(open_it(true)); // as long as the newest is whole
    expect(5);
    bw_store_close(store);
    store = NULL;
    const uint8_t other = file_bytes()[place] ^ 1;
    poke(place, &other, 1);
    for (int i = 0; i < 2; i++) {
        CHECK_ERR(open_it(i == 0), BW_ERR_FILE_CORRUPT); // R14
        CHECK(reason_has("a commit that was durable is missing"));
    }
    end();
}

static void a_closed_file_that_got_shorter_is_damage(void)
{
    begin();
    store = sample_open(&sim.disk);
    for (unsigned i = 1; i <= 2; i++) sample_commit(store, 1, 1, VALUES * i, VALUE, i);
    bw_store_close(store);
    store = NULL;
    sim_disk_cut_file(&sim, SAMPLE_FILE, file_size() - PAGE_SIZE);
    CHECK_ERR(open_it(true), BW_ERR_FILE_CORRUPT); // not the commit before
    CHECK(reason_has("shorter than when it was closed"));
    CHECK_ERR(open_it(false), BW_ERR_FILE_CORRUPT);
    end();
}

static void slots_of_two_stores_are_damage(void)
{
    begin();
    make_commits(1, 3);
    uint8_t image[PAGE_SIZE];
    memcpy(image, file_bytes() + slot_at(false), sizeof(image));
    image[SLOT_AT_UUID] ^= 1;
    mend_slot(image);
    poke(slot_at(false), image, sizeof(image));
    CHECK_ERR(open_it(true), BW_ERR_FILE_CORRUPT);
    CHECK(reason_has("different stores"));
    end();
}

static void a_slot_of_a_newer_version_is_not_ignored(void)
{
    for (int newest = 0; newest < 2; newest++)
        for (int both = 0; both < 2; both++) {
            begin();
            make_commits(1, 3);
            for (int slot = 0; slot < 2; slot++) {
                if (!both && slot != newest) continue;
                uint8_t image[PAGE_SIZE];
                memcpy(image, file_bytes() + slot_at(slot), sizeof(image));
                bw_put_u16(image + SLOT_AT_VERSION, 2);
                mend_slot(image);
                poke(slot_at(slot), image, sizeof(image));
            }
            CHECK_ERR(open_it(true), BW_ERR_STORAGE_GENERAL);
            CHECK(reason_has("newer version"));
            CHECK_ERR(open_it(false), BW_ERR_STORAGE_GENERAL);
            end();
        }
}

static void the_seal_is_trusted_unless_the_disk_is_not(void)
{
    begin();
    store = sample_open(&sim.disk);
    for (unsigned i = 1; i <= 2; i++) sample_commit(store, 1, 1, VALUES, VALUE, i);
    bw_store_close(store);
    store = NULL;
    const uint64_t place = manifest_page() * PAGE_SIZE + 200;
    const uint8_t other = file_bytes()[place] ^ 1;
    poke(place, &other, 1);
    struct store_options options = sample_options(&sim.disk);
    CHECK_OK(open_with(&options));
    CHECK_EQ(info_of().txn_id, 2);
    struct txn *txn = sample_begin(store, TXN_READ);
    uint64_t digest;
    CHECK_ERR(sample_digest(txn, &digest), BW_ERR_FILE_PAGES_CORRUPT);
    bw_txn_abort(txn);
    options.verify_manifest = true;
    CHECK_OK(open_with(&options));
    CHECK(info_of().opened_older);
    expect(1);
    end();
}

static void a_previous_commit_that_is_gone_is_not_asked_for(void)
{
    begin();
    make_commits(1, 3);
    struct slot slot;
    CHECK_EQ(bw_slot_decode(file_bytes() + slot_at(false), &slot), SLOT_GOOD);
    const uint64_t place = (uint64_t)bw_get_u32(slot.runs) * PAGE_SIZE + 200;
    const uint8_t other = file_bytes()[place] ^ 1;
    poke(place, &other, 1);
    struct store_options options = sample_options(&sim.disk);
    options.use_previous = true;
    CHECK_OK(open_with(&options));
    CHECK(!info_of().opened_previous);
    expect(3);
    end();
}

static void the_previous_commit_outlives_a_new_session(void)
{
    begin();
    make_commits(1, 5);
    make_commits(6, 6);
    struct store_options options = sample_options(&sim.disk);
    options.use_previous = true;
    options.read_only = true;
    CHECK_OK(open_with(&options));
    expect(5);
    end();
}

static void a_session_that_is_cut_off_leaves_the_previous_commit(void)
{
    for (int64_t steps = 0;; steps++) {
        begin();
        make_commits(1, 5);
        CHECK_OK(open_it(false));
        struct txn *txn = sample_begin(store, TXN_WRITE);
        CHECK_OK(sample_put(txn, 1, 1, VALUES, VALUE, 50));
        CHECK_OK(sample_put(txn, 2, 1, 40, 3000, 1)); // wherever there is room (R9)
        sim.steps_left = steps;
        CHECK(bw_txn_commit(txn) != BW_OK);
        bw_store_close(store);
        store = NULL;
        sim_disk_restart(&sim);
        const bool has_slot = bw_get_u64(file_bytes() + slot_at(true) + SLOT_AT_TXN) > 5;
        if (!has_slot) {
            struct store_options options = sample_options(&sim.disk);
            options.use_previous = true;
            options.read_only = true;
            CHECK_OK(open_with(&options));
            CHECK(info_of().opened_previous);
            expect(4);
        }
        end();
        if (!has_slot) continue;
        CHECK(steps > 1); // pages were written before
        return;
    }
}

static const struct geometry small = {
    .inline_pages = 22,
    .region_pages = 34,
    .bitmap_copies = 4,
    .manifest_runs = 12,
    .manifest_pages = 12,
};

/* A store of several regions whose newest or older commit has lost its bitmap of the second one. */
static bw_err open_with_damaged_region(bool newest)
{
    struct store_options options = sample_options(&sim.disk);
    options.geometry = &small;
    CHECK_OK(open_with(&options));
    for (unsigned i = 1; i <= 3; i++) sample_commit(store, 1, 1, 10 * VALUES, VALUE, i);
    bw_store_close(store);
    store = NULL;
    struct slot slot;
    CHECK_EQ(bw_slot_decode(file_bytes() + slot_at(newest), &slot), SLOT_GOOD);
    CHECK(slot.region_count >= 2);
    const page_no page = bw_space_region_start(&small, 1) + (slot.bits[0] >> 2 & 3u);
    const uint8_t zeros[100] = {0};
    poke((uint64_t)page * PAGE_SIZE, zeros, sizeof(zeros));
    return open_with(&options);
}

static void without_its_bitmap_a_store_can_be_read(void)
{
    begin();
    CHECK_OK(open_with_damaged_region(true));
    struct txn *txn = NULL;
    for (int i = 0; i < 2; i++) {
        CHECK_ERR(bw_txn_begin(store, TXN_WRITE, 0, &txn), BW_ERR_FILE_PAGES_CORRUPT);
        CHECK(reason_has("map of free pages"));
    }
    CHECK(!bw_store_is_poisoned(store));
    txn = sample_begin(store, TXN_READ);
    sample_expect(txn, 1, 1, 10 * VALUES, VALUE, 3);
    bw_txn_abort(txn);
    end();
}

static void a_previous_commit_without_its_bitmap_is_given_up(void)
{
    begin();
    CHECK_OK(open_with_damaged_region(false));
    for (unsigned i = 4; i < 9; i++) {
        sample_commit(store, 1, 1, 10 * VALUES, VALUE, i);
        sample_prove_store(store);
    }
    end();
}

/* The power leaves the first sector of each page as it was before, and the rest of the last write.
 * */
static void keep_first_sector(void *argument, size_t page, const uint8_t *const *versions,
                              size_t count, uint8_t *out)
{
    (void)argument;
    memcpy(out, versions[count - 1], PAGE_SIZE);
    if (page >= SLOT_COUNT) memcpy(out, versions[0], SIM_SECTOR);
}

/* Begin the commit that gives key 1 this version, and end the process after so many calls. */
static void begin_commit(unsigned version, int64_t steps)
{
    CHECK_OK(open_it(false));
    struct txn *txn = sample_begin(store, TXN_WRITE);
    CHECK_OK(sample_put(txn, 1, 1, 1, VALUE, version));
    sim.steps_left = steps;
    CHECK_ERR(bw_txn_commit(txn), BW_ERR_STORE_MUST_SHUTDOWN);
    bw_store_close(store);
    store = NULL;
    sim_disk_restart(&sim);
}

static void a_page_that_mixes_two_attempts_is_noticed(void)
{
    begin();
    store = sample_open(&sim.disk);
    sample_commit(store, 1, 1, 5, VALUE, 1); // one leaf; the value of key 1 lies at its end
    bw_store_close(store);
    store = NULL;
    begin_commit(2, 1); // the page was written, the slot was not
    sim_disk_settle(&sim);
    begin_commit(3, 2); // the same transaction into the same page, and the slot
    const struct sim_outcome outcome = {.choose = keep_first_sector, .size_at = SIZE_MAX};
    sim_disk_cut_power(&sim, &outcome);
    CHECK_OK(open_it(false));
    CHECK_EQ(info_of().txn_id, 1); // the page is the second attempt's but for its checksum
    struct txn *txn = sample_begin(store, TXN_READ);
    sample_expect(txn, 1, 1, 5, VALUE, 1);
    bw_txn_abort(txn);
    end();
}

/* ---- files that are no stores ---- */

struct stranger {
    const char *name;
    size_t size;
    bw_err code;
    const char *text;
};

static uint8_t strange[8 * PAGE_SIZE];

/* Refused with this, for reading and writing, and left as it is. */
static void expect_refused(const struct stranger *stranger)
{
    begin();
    make_file(strange, stranger->size);
    for (int i = 0; i < 2; i++) {
        bw_err err = open_it(i == 0);
        if (err != stranger->code) (void)fprintf(stderr, "%s\n", stranger->name);
        CHECK_EQ(err, stranger->code);
        CHECK(reason_has(stranger->text));
        CHECK(reason_has("db/data.mdb"));
    }
    CHECK_EQ(file_size(), stranger->size);
    CHECK_BYTES(file_bytes(), strange, stranger->size);
    CHECK_EQ(sim.names.count, 2);
    end();
}

static void files_of_others_are_refused_and_left_alone(void)
{
    static const struct stranger table[] = {
        {"one byte", 1, BW_ERR_FILE_CORRUPT, "Not a database file"},
        {"text", 100, BW_ERR_FILE_CORRUPT, "Not a database file"},
        {"two slots of text", 2 * PAGE_SIZE, BW_ERR_FILE_CORRUPT, "Not a database file"},
        {"pages of text", sizeof(strange), BW_ERR_FILE_CORRUPT, "Not a database file"},
    };
    memset(strange, 'x', sizeof(strange));
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) expect_refused(&table[i]);
}

static void an_lmdb_file_is_known_as_one(void)
{
    static const struct stranger table[] = {
        {"a page of LMDB", PAGE_SIZE, BW_ERR_STORAGE_GENERAL, "LMDB"},
        {"a file of LMDB", sizeof(strange), BW_ERR_STORAGE_GENERAL, "LMDB"},
    };
    memset(strange, 0, sizeof(strange));
    for (size_t page = 0; page < 2; page++) { // both meta pages, as LMDB writes them
        uint8_t *at = strange + page * PAGE_SIZE;
        bw_put_u64(at, page);
        bw_put_u16(at + 10, 8); // a meta page
        bw_put_u32(at + 16, 0xbeefc0de);
        bw_put_u32(at + 20, 1);
    }
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) expect_refused(&table[i]);
}

static void zeros_and_remains_of_slots_are_damage(void)
{
    static const struct stranger table[] = {
        {"a zero", 1, BW_ERR_FILE_CORRUPT, "damaged"},
        {"a page of zeros", PAGE_SIZE, BW_ERR_FILE_CORRUPT, "damaged"},
        {"two pages of zeros", 2 * PAGE_SIZE, BW_ERR_FILE_CORRUPT, "damaged"},
    };
    memset(strange, 0, sizeof(strange));
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) expect_refused(&table[i]);
    memcpy(strange, bw_slot_magic, sizeof(bw_slot_magic));
    for (size_t i = 1; i < sizeof(table) / sizeof(table[0]); i++) expect_refused(&table[i]);
    const struct stranger later = {"a later commit", 4 * PAGE_SIZE, BW_ERR_FILE_CORRUPT, "damaged"};
    bw_put_u64(strange + SLOT_AT_TXN, 2);
    expect_refused(&later);
    bw_put_u64(strange + SLOT_AT_TXN, 1);
    bw_put_u32(strange + SLOT_AT_HWM, 5); // shorter than it was to become
    expect_refused(&later);
    bw_put_u32(strange + SLOT_AT_HWM, 4);
    strange[2 * PAGE_SIZE - 1] = 1; // something in the second slot
    expect_refused(&later);
    strange[2 * PAGE_SIZE - 1] = 0;
    uint8_t *page = strange + 3 * PAGE_SIZE; // a page of a second commit
    bw_put_u32(page + PAGE_AT_NUMBER, 3);
    page[PAGE_AT_KIND] = PAGE_LEAF;
    bw_put_u64(page + PAGE_AT_BORN, 2);
    expect_refused(&later);
}

static void an_empty_file_is_a_new_store(void)
{
    begin();
    make_file("", 0);
    CHECK_OK(open_it(false));
    CHECK(!info_of().has_commit);
    sample_commit(store, 1, 1, VALUES, VALUE, 1);
    expect(1);
    end();
}

/* ---- creations that never finished ---- */

/* What the power leaves of a first commit: its size, and a torn first slot. */
static void make_unfinished(uint8_t filling)
{
    memset(strange, 0, sizeof(strange));
    memcpy(strange, bw_slot_magic, sizeof(bw_slot_magic));
    bw_put_u64(strange + SLOT_AT_TXN, 1);
    bw_put_u32(strange + SLOT_AT_HWM, 5);
    memset(strange + 512, filling, 512);
    make_file(strange, 5 * PAGE_SIZE);
}

static void the_remains_of_a_creation_are_set_aside(void)
{
    begin();
    static const char *const names[] = {"db/data.mdb.unfinished", "db/data.mdb.unfinished.1",
                                        "db/data.mdb.unfinished.2"};
    for (uint8_t i = 0; i < 3; i++) {
        make_unfinished((uint8_t)(i + 1));
        CHECK_OK(open_it(false));
        CHECK(!info_of().has_commit);
        CHECK_EQ(file_size(), 0);
        bw_store_close(store);
        store = NULL;
        for (uint8_t j = 0; j <= i; j++) { // nobody's bytes are lost
            const struct sim_file *aside = sim_disk_find(&sim, names[j]);
            CHECK(aside != NULL);
            CHECK_EQ(aside->size, 5 * PAGE_SIZE);
            CHECK_EQ(aside->cache[600], j + 1);
        }
        CHECK_EQ(sim.names.count, i + 3u);
    }
    make_commits(1, 1);
    CHECK_OK(open_it(false));
    expect(1);
    end();
}

static void who_does_not_create_leaves_them(void)
{
    begin();
    make_unfinished(1);
    CHECK_ERR(open_it(true), BW_ERR_STORAGE_GENERAL);
    CHECK_EQ(bw_reason_secondary(), 2);
    struct store_options options = sample_options(&sim.disk);
    options.must_exist = true;
    CHECK_ERR(open_with(&options), BW_ERR_ILLEGAL_STATE);
    CHECK_TEXT(bw_reason_text(), "No DB catalog present");
    CHECK_EQ(sim.names.count, 2);
    CHECK_EQ(file_size(), 5 * PAGE_SIZE);
    CHECK_BYTES(file_bytes(), strange, 5 * PAGE_SIZE);
    end();
}

/* The first commit of a store, cut off at every call and by the power: opening must go on. */
static void cut_creation(bool with_values, unsigned seed)
{
    for (int64_t steps = 0;; steps++) {
        sim_disk_init(&sim, seed * 1000 + (uint64_t)steps);
        relay_init(&relay, &sim.disk);
        store = sample_open(&sim.disk);
        struct txn *txn = sample_begin(store, TXN_WRITE);
        uint8_t bytes[100] = {5};
        CHECK_OK(bw_txn_set_schema(txn, bytes, (struct bytes){bytes, sizeof(bytes)}));
        if (with_values) CHECK_OK(sample_put(txn, 1, 1, VALUES, VALUE, 1));
        sim.steps_left = steps;
        const bool is_done = bw_txn_commit(txn) == BW_OK;
        bw_store_close(store);
        store = NULL;
        sim_disk_restart(&sim);
        sim_disk_cut_power(&sim, NULL);
        bw_err err = open_it(false);
        if (err) (void)fprintf(stderr, "seed %u, %d calls\n", seed, (int)steps);
        CHECK_OK(err);
        if (info_of().has_commit) sample_prove_store(store);
        CHECK(info_of().has_commit || !is_done);
        end();
        store = NULL;
        if (is_done) return;
    }
}

static void a_creation_can_be_cut_off_anywhere(void)
{
    for (unsigned seed = 1; seed <= 40; seed++) cut_creation(true, seed);
}

static void a_creation_with_only_a_schema_too(void)
{
    for (unsigned seed = 1; seed <= 40; seed++) cut_creation(false, seed);
}

/* ---- the first write of a session ---- */

static void it_makes_the_newest_commit_durable(void)
{
    begin();
    make_commits(1, 3);
    CHECK_OK(open_it(false));
    relay_reset(&relay);
    bw_txn_abort(sample_begin(store, TXN_WRITE));
    CHECK_EQ(relay.counts[CALL_FLUSH], 1);
    CHECK_EQ(relay.counts[CALL_FLUSH_DIRECTORY], 2);
    struct slot slot;
    CHECK_EQ(bw_slot_decode(file_bytes() + slot_at(true), &slot), SLOT_GOOD);
    uint64_t pages = 1; // the slot
    for (uint32_t i = 0; i < slot.run_count; i++)
        pages += bw_get_u32(slot.runs + (size_t)i * RUN_SIZE + 4);
    CHECK_EQ(relay.written_bytes, pages * PAGE_SIZE);
    relay_reset(&relay);
    bw_txn_abort(sample_begin(store, TXN_WRITE));
    CHECK_TEXT(relay.log, ""); // once
    expect(3);
    end();
}

static void what_a_failed_flush_lost_is_written_again(void)
{
    begin();
    make_commits(1, 2);
    for (unsigned seed = 1; seed <= 20; seed++) {
        CHECK_OK(open_it(false));
        struct txn *txn = sample_begin(store, TXN_WRITE);
        CHECK_OK(sample_put(txn, 1, 1, VALUES, VALUE, 100 + seed));
        sim.flush_fails = 100;
        CHECK_ERR(bw_txn_commit(txn), BW_ERR_STORE_MUST_SHUTDOWN);
        stop(); // the pages are in the cache, perhaps called clean
        CHECK_OK(open_it(false));
        struct txn *reader = sample_begin(store, TXN_READ);
        uint64_t before, after;
        CHECK_OK(sample_digest(reader, &before));
        bw_txn_abort(reader);
        bw_txn_abort(sample_begin(store, TXN_WRITE)); // the fence
        stop();
        sim_disk_cut_power(&sim, NULL);
        CHECK_OK(open_it(false));
        after = sample_digest_of(store);
        CHECK_EQ(after, before);
        sample_prove_store(store);
    }
    end();
}

static void a_fence_that_fails_poisons_or_is_tried_again(void)
{
    for (int64_t calls = 0;; calls++) {
        begin();
        make_commits(1, 3);
        CHECK_OK(open_it(false));
        struct txn *txn = NULL;
        relay.fail_after = calls;
        bw_err err = bw_txn_begin(store, TXN_WRITE, 0, &txn);
        relay.fail_after = -1;
        bw_txn_abort(txn);
        expect(3);
        if (relay.has_failed) CHECK(err != BW_OK);
        txn = NULL;
        const bw_err again = bw_txn_begin(store, TXN_WRITE, 0, &txn);
        CHECK_EQ(again, err == BW_ERR_STORE_MUST_SHUTDOWN ? err : BW_OK);
        bw_txn_abort(txn);
        const bool is_done = !relay.has_failed;
        end();
        if (is_done) return;
        CHECK(calls < 100);
    }
}

static void a_file_that_another_program_changed_is_not_written(void)
{
    for (int i = 0; i < 2; i++) {
        begin();
        make_commits(1, 3);
        CHECK_OK(open_it(false));
        struct txn *txn = NULL;
        const uint64_t place = i ? slot_at(true) + 300 : manifest_page() * PAGE_SIZE + 300;
        const uint8_t other = file_bytes()[place] ^ 1;
        poke(place, &other, 1);
        relay_reset(&relay);
        CHECK_ERR(bw_txn_begin(store, TXN_WRITE, 0, &txn),
                  i ? BW_ERR_FILE_CORRUPT : BW_ERR_STORE_MUST_SHUTDOWN);
        CHECK(reason_has("while it was open"));
        CHECK_EQ(relay.counts[CALL_WRITE], 0);
        end();
    }
}

RUN_TESTS(TEST(what_was_not_closed_is_verified), TEST(a_torn_newest_slot_leaves_the_commit_before),
          TEST(a_commit_of_which_a_page_is_missing_is_not_taken),
          TEST(one_that_was_given_up_never_comes_back),
          TEST(a_durable_commit_that_is_missing_is_damage),
          TEST(a_closed_file_that_got_shorter_is_damage), TEST(slots_of_two_stores_are_damage),
          TEST(a_slot_of_a_newer_version_is_not_ignored),
          TEST(the_seal_is_trusted_unless_the_disk_is_not),
          TEST(a_previous_commit_that_is_gone_is_not_asked_for),
          TEST(the_previous_commit_outlives_a_new_session),
          TEST(a_session_that_is_cut_off_leaves_the_previous_commit),
          TEST(without_its_bitmap_a_store_can_be_read),
          TEST(a_previous_commit_without_its_bitmap_is_given_up),
          TEST(a_page_that_mixes_two_attempts_is_noticed),
          TEST(files_of_others_are_refused_and_left_alone), TEST(an_lmdb_file_is_known_as_one),
          TEST(zeros_and_remains_of_slots_are_damage), TEST(an_empty_file_is_a_new_store),
          TEST(the_remains_of_a_creation_are_set_aside), TEST(who_does_not_create_leaves_them),
          TEST(a_creation_can_be_cut_off_anywhere), TEST(a_creation_with_only_a_schema_too),
          TEST(it_makes_the_newest_commit_durable), TEST(what_a_failed_flush_lost_is_written_again),
          TEST(a_fence_that_fails_poisons_or_is_tried_again),
          TEST(a_file_that_another_program_changed_is_not_written))
