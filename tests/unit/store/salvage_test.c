/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Salvage against a model of every value that was ever stored, and of the pages in which the newest
 * ones lie: whatever the damage, each value whose own pages are whole must come back as it was, and
 * nothing may come back that was never there.
 */
#include "store/salvage.h"

#include <stdio.h>
#include <stdlib.h>

#include "harness/check.h"
#include "harness/relay.h"
#include "harness/sample.h"
#include "harness/sim_disk.h"

#define NEW_DIRECTORY "new"
#define NEW_FILE "new/data.mdb"

enum { TREES = 3, KEYS = 1500, PAST_MAX = 12, SCHEMA = 700, VALUE_MAX = 9000 };

struct item {
    uint64_t now; // hash of the value; 0: there is none
    uint64_t past[PAST_MAX];
    unsigned past_count;
    page_no page, value_page; // of the leaf, and of the extent
    uint32_t pages, value_pages;
};

static struct sim_disk sim;
static struct store *store;
static struct item items[TREES + 1][KEYS + 1];
static uint8_t schema[SCHEMA];
static bool has_large_schema;
static uint64_t random_seed;

// ---- the store and its model ----

static void remember(struct item *item, uint64_t hash)
{
    CHECK(item->past_count < PAST_MAX);
    item->now = hash;
    item->past[item->past_count++] = hash;
}

static void put(struct txn *txn, uint32_t tree, uint64_t key, size_t size)
{
    static uint8_t bytes[VALUE_MAX];
    struct random random;
    bw_random_seed(&random, ++random_seed);
    for (size_t i = 0; i < size; i++) bytes[i] = (uint8_t)bw_random_next(&random);
    CHECK_OK(bw_tree_put(txn, tree, key, (struct bytes){bytes, size}, NULL));
    remember(&items[tree][key], bw_hash64(bytes, size, 0));
}

static void remove_key(struct txn *txn, uint32_t tree, uint64_t key)
{
    bool removed = false;
    CHECK_OK(bw_tree_remove(txn, tree, key, &removed));
    CHECK_EQ(removed, items[tree][key].now != 0);
    items[tree][key].now = 0;
}

static struct txn *write(void) { return sample_begin(store, TXN_WRITE); }
static void commit(struct txn *txn) { CHECK_OK(bw_txn_commit(txn)); }

/* Where every value lies. */
static void locate(void)
{
    struct txn *txn = sample_begin(store, TXN_READ);
    for (uint32_t tree = 1; tree <= TREES; tree++) {
        struct tree *found = NULL;
        CHECK_OK(bw_txn_tree(txn, tree, &found));
        for (uint64_t key = 1; key <= KEYS; key++) {
            struct item *item = &items[tree][key];
            const uint8_t *leaf = NULL;
            struct leaf_entry entry;
            unsigned at = 0;
            if (!item->now) continue;
            CHECK_OK(bw_tree_find_leaf(txn, found, key, &leaf));
            CHECK(bw_leaf_find(leaf, key, &at) && bw_leaf_entry(leaf, at, &entry));
            item->page = bw_get_u32(leaf + PAGE_AT_NUMBER);
            item->pages = leaf[PAGE_AT_PAGES];
            item->value_page = item->value_pages = 0;
            if (!entry.is_overflow) continue;
            item->value_page = bw_get_u32(entry.data + REFERENCE_HEAD);
            item->value_pages = bw_get_u32(entry.data + REFERENCE_HEAD + 4);
        }
    }
    bw_txn_abort(txn);
}

/* Tree 1 has small values and branches, tree 2 large values, tree 3 one leaf. All have a past. */
static void begin(void)
{
    sim_disk_init(&sim, 1);
    memset(items, 0, sizeof(items));
    for (size_t i = 0; i < SCHEMA; i++) schema[i] = (uint8_t)(i + 1);
    store = sample_open(&sim.disk);
    struct txn *txn = write();
    const size_t schema_size = has_large_schema ? SCHEMA : 200;
    CHECK_OK(bw_txn_set_schema(txn, schema, (struct bytes){schema, schema_size}));
    for (uint64_t key = 1; key <= KEYS; key++) put(txn, 1, key, 60 + key % 50);
    commit(txn);
    txn = write();
    for (uint64_t key = 1; key <= 12; key++) put(txn, 2, key, 4100 + key * 400);
    for (uint64_t key = 10; key <= 200; key += 10) put(txn, 3, key, 40);
    CHECK_OK(bw_tree_set_sequence(txn, 3, 5000));
    commit(txn);
    txn = write(); // the beginning goes, as in a queue; a hole in the middle; some change
    for (uint64_t key = 1; key <= 200; key++) remove_key(txn, 1, key);
    for (uint64_t key = 700; key <= 790; key++) remove_key(txn, 1, key);
    for (uint64_t key = 300; key <= 600; key += 10) put(txn, 1, key, 70);
    commit(txn);
    txn = write();
    for (uint64_t key = 3; key <= 6; key++) put(txn, 2, key, 5000);
    remove_key(txn, 2, 9);
    remove_key(txn, 3, 200);
    remove_key(txn, 3, 100);
    commit(txn);
    for (uint64_t key = 900; key <= 940; key += 20) {
        txn = write();
        put(txn, 1, key, 99);
        remove_key(txn, 1, key + 1);
        commit(txn);
    }
    sample_prove_store(store);
    locate();
    bw_store_close(store);
    store = NULL;
}

static void end(void)
{
    bw_store_close(store);
    store = NULL;
    sim_disk_deinit(&sim);
    sample_expect_nothing_left();
}

static uint64_t file_pages(void) { return sim_disk_find(&sim, SAMPLE_FILE)->size / PAGE_SIZE; }

static void zero_pages(struct sim_disk *disk, page_no page, uint32_t pages)
{
    static const uint8_t zeros[PAGE_SIZE];
    for (uint32_t i = 0; i < pages; i++)
        sim_disk_poke(disk, SAMPLE_FILE, (uint64_t)(page + i) * PAGE_SIZE, zeros, PAGE_SIZE);
}

// ---- salvaging a copy ----

struct patient {
    struct sim_disk sim;
    struct salvage_report report;
    bool is_lost[TREES + 1][KEYS + 1]; // the value's own pages are damaged
    bool is_older;                     // the last commit but one may be what comes back
    uint64_t stale, returned;          // values of the past; of keys that are no more
};

static bool take_schema(void *user, struct bytes blob, uint8_t out_hash[16])
{
    (void)user;
    const size_t size = has_large_schema ? SCHEMA : 200;
    memcpy(out_hash, schema, 16);
    return blob.size == size && memcmp(blob.data, schema, size) == 0;
}

static bool take_tree(void *user, uint32_t tree_id)
{
    (void)user;
    return tree_id <= TREES;
}

static bool take_value(void *user, uint32_t tree_id, uint64_t key, struct bytes value)
{
    (void)user;
    CHECK(tree_id <= TREES && key && key <= KEYS && value.size);
    return true;
}

static struct salvage_options options_for(struct disk *disk)
{
    return (struct salvage_options){.disk = disk,
                                    .from_directory = SAMPLE_DIRECTORY,
                                    .to_directory = NEW_DIRECTORY,
                                    .file_mode = 0644,
                                    .takes_schema = take_schema,
                                    .takes_tree = take_tree,
                                    .takes_value = take_value};
}

static void patient_init(struct patient *patient)
{
    memset(patient, 0, sizeof(*patient));
    sim_disk_copy(&sim, &patient->sim);
}

static bool is_zero(page_no page)
{
    const uint8_t *bytes = sim_disk_find(&sim, SAMPLE_FILE)->cache + (size_t)page * PAGE_SIZE;
    return bytes[0] == 0 && memcmp(bytes, bytes + 1, PAGE_SIZE - 1) == 0;
}

/* Zero pages, and note what is lost with them: nothing, when there was nothing. */
static void wound(struct patient *patient, page_no page, uint32_t pages)
{
    if (pages == 1 && is_zero(page)) return;
    zero_pages(&patient->sim, page, pages);
    for (uint32_t tree = 1; tree <= TREES; tree++)
        for (uint64_t key = 1; key <= KEYS; key++) {
            const struct item *item = &items[tree][key];
            const bool hits_leaf = item->page < page + pages && page < item->page + item->pages;
            const bool hits_value =
                item->value_page < page + pages && page < item->value_page + item->value_pages;
            if (item->now && (hits_leaf || hits_value)) patient->is_lost[tree][key] = true;
        }
}

static bool was(const struct item *item, uint64_t hash)
{
    for (unsigned i = 0; i < item->past_count; i++)
        if (item->past[i] == hash) return true;
    return false;
}

static void compare(struct patient *patient, struct txn *txn, uint32_t tree, uint64_t key)
{
    const struct item *item = &items[tree][key];
    struct bytes value = {0};
    bool found = false;
    CHECK_OK(bw_tree_get(txn, tree, key, &value, &found));
    const uint64_t hash = found ? bw_hash64(value.data, value.size, 0) : 0;
    if (item->now && !patient->is_lost[tree][key] && !patient->is_older) {
        if (hash != item->now)
            (void)fprintf(stderr, "tree %u, key %llu %s\n", tree, (unsigned long long)key,
                          found ? "is another" : "is missing");
        CHECK_EQ(hash, item->now);
    }
    if (!found || hash == item->now) return;
    // Nothing is invented; but without checksums nobody sees that a part of a value is zeros.
    if (!patient->is_lost[tree][key] || patient->report.has_checksums) CHECK(was(item, hash));
    if (item->now) patient->stale++;
    else patient->returned++;
}

static struct store *open_new(struct patient *patient)
{
    struct store_options options = sample_options(&patient->sim.disk);
    struct store *opened = NULL;
    options.directory = NEW_DIRECTORY;
    CHECK_OK(bw_store_open(&options, &opened));
    return opened;
}

/* Salvage, and compare. */
static void heal(struct patient *patient)
{
    const struct salvage_options options = options_for(&patient->sim.disk);
    const struct sim_file *file = sim_disk_find(&patient->sim, SAMPLE_FILE);
    const uint64_t before = bw_hash64(file->cache, file->size, file->size);
    CHECK_OK(bw_store_salvage(&options, &patient->report));
    CHECK_EQ(bw_hash64(file->cache, file->size, file->size), before); // H3
    struct store *opened = open_new(patient);
    sample_prove_store(opened);
    struct txn *txn = sample_begin(opened, TXN_READ);
    for (uint32_t tree = 1; tree <= TREES; tree++)
        for (uint64_t key = 1; key <= KEYS; key++) compare(patient, txn, tree, key);
    struct tree_stat stat;
    CHECK_OK(bw_tree_stat(txn, 3, &stat));
    if (patient->report.txn_id) CHECK_EQ(stat.sequence, 5000);
    else CHECK(stat.sequence >= stat.max_key);
    struct bytes blob;
    uint8_t hash[16] = {0};
    CHECK_OK(bw_txn_schema(txn, &blob));
    CHECK_OK(bw_txn_schema_hash(txn, hash));
    CHECK_EQ(patient->report.has_schema, blob.size != 0);
    if (blob.size) CHECK_BYTES(hash, schema, 16);
    bw_txn_abort(txn);
    bw_store_close(opened);
}

static void patient_deinit(struct patient *patient) { sim_disk_deinit(&patient->sim); }

static uint64_t total(void)
{
    uint64_t count = 0;
    for (uint32_t tree = 1; tree <= TREES; tree++)
        for (uint64_t key = 1; key <= KEYS; key++) count += items[tree][key].now != 0;
    return count;
}

static uint64_t count_lost(const struct patient *patient)
{
    uint64_t count = 0;
    for (uint32_t tree = 1; tree <= TREES; tree++)
        for (uint64_t key = 1; key <= KEYS; key++) count += patient->is_lost[tree][key];
    return count;
}

// ---- tests ----

static struct patient patient;

static void a_sound_store_comes_back_whole_and_certain(void)
{
    for (int large = 0; large < 2; large++) {
        has_large_schema = large;
        begin();
        patient_init(&patient);
        heal(&patient);
        CHECK_EQ(patient.report.certain, total());
        CHECK_EQ(patient.report.guessed + patient.report.lost + patient.report.refused, 0);
        CHECK_EQ(patient.report.pages_lost, 0);
        CHECK_EQ(patient.stale + patient.returned, 0);
        CHECK(patient.report.has_checksums && patient.report.has_schema);
        CHECK_EQ(patient.report.file_pages, file_pages());
        patient_deinit(&patient);
        end();
    }
    has_large_schema = false;
}

static page_no newest_slot(void)
{
    const uint8_t *bytes = sim_disk_find(&sim, SAMPLE_FILE)->cache;
    return bw_get_u64(bytes + SLOT_AT_TXN) < bw_get_u64(bytes + PAGE_SIZE + SLOT_AT_TXN);
}

static void any_page_may_be_lost(void)
{
    begin();
    uint64_t guessed = 0, lost = 0;
    for (page_no page = 0; page < file_pages(); page++) {
        patient_init(&patient);
        wound(&patient, page, 1);
        patient.is_older = page == newest_slot();
        heal(&patient);
        const struct salvage_report *report = &patient.report;
        CHECK(report->txn_id);
        CHECK_EQ(report->extents_younger != 0, patient.is_older);
        const uint64_t gone = count_lost(&patient);
        if (patient.is_older) {
            CHECK_EQ(patient.stale + patient.returned, 2); // what the last commit changed
        } else if (gone) {
            CHECK_EQ(report->certain + gone, total());
            CHECK_EQ(report->lost, gone > report->guessed ? gone - report->guessed : 0);
            CHECK_EQ(report->pages_lost, 1);
        } else { // a branch, or a page that is free
            CHECK_EQ(report->certain + report->guessed, total());
            CHECK_EQ(report->lost + patient.stale + patient.returned, 0);
        }
        guessed += report->guessed;
        lost += report->lost;
        patient_deinit(&patient);
    }
    CHECK(guessed && lost);
    end();
}

// ---- slots ----

static void both_slots_may_be_lost(void)
{
    for (int large = 0; large < 2; large++) {
        has_large_schema = large;
        begin();
        patient_init(&patient);
        wound(&patient, 0, SLOT_COUNT);
        heal(&patient);
        CHECK(!patient.report.has_checksums && !patient.report.txn_id);
        CHECK_EQ(patient.report.certain, 0); // nobody knows
        CHECK_EQ(patient.stale, 0);
        CHECK_EQ(patient.report.has_schema, has_large_schema); // a small one lay in the slot
        patient_deinit(&patient);
        end();
    }
    has_large_schema = false;
}

static void the_salt_is_found_in_what_is_left_of_a_slot(void)
{
    for (page_no which = 0; which < SLOT_COUNT; which++) {
        begin();
        patient_init(&patient);
        zero_pages(&patient.sim, 1 - which, 1);
        static const uint8_t wrong = 0x55; // one byte of a bitmap, under the checksum
        sim_disk_poke(&patient.sim, SAMPLE_FILE, which * PAGE_SIZE + SLOT_AT_BODY + 3 * 40 + 1,
                      &wrong, 1);
        heal(&patient);
        CHECK(patient.report.has_checksums && !patient.report.txn_id);
        CHECK(patient.report.has_schema);
        CHECK_EQ(patient.stale, 0);
        patient_deinit(&patient);
        end();
    }
}

static void without_slots_any_page_may_be_lost_too(void)
{
    begin();
    for (page_no page = SLOT_COUNT; page < file_pages(); page++) {
        patient_init(&patient);
        wound(&patient, 0, SLOT_COUNT);
        wound(&patient, page, 1);
        heal(&patient);
        patient_deinit(&patient);
    }
    end();
}

// ---- more than a page ----

static void a_file_may_be_cut_anywhere(void)
{
    begin();
    const uint64_t pages = file_pages();
    for (page_no left = 3; left < pages; left++) {
        patient_init(&patient);
        wound(&patient, left, (uint32_t)(pages - left)); // so that what is lost is known
        sim_disk_cut_file(&patient.sim, SAMPLE_FILE, (uint64_t)left * PAGE_SIZE + 100);
        patient.is_older = true; // the newest slot may name pages that are gone
        heal(&patient);
        patient_deinit(&patient);
    }
    end();
}

static void many_pages_may_be_lost(void)
{
    struct random random;
    bw_random_seed(&random, bw_test_seed());
    begin();
    const uint64_t pages = file_pages() - SLOT_COUNT;
    for (int round = 0; round < 60; round++) {
        patient_init(&patient);
        const uint64_t count = 2 + bw_random_below(&random, 12);
        for (uint64_t i = 0; i < count; i++)
            wound(&patient, SLOT_COUNT + (page_no)bw_random_below(&random, pages), 1);
        if (round % 4 == 0) wound(&patient, 0, SLOT_COUNT);
        heal(&patient);
        patient_deinit(&patient);
    }
    end();
}

/* Regions whose bitmaps are gone do not matter: nobody asks them. */
static void maps_of_free_pages_are_not_needed(void)
{
    static const struct geometry small = {.inline_pages = 22,
                                          .region_pages = 34,
                                          .bitmap_copies = 4,
                                          .manifest_runs = 12,
                                          .manifest_pages = 12};
    sim_disk_init(&sim, 1);
    struct store_options store_options = sample_options(&sim.disk);
    store_options.geometry = &small;
    CHECK_OK(bw_store_open(&store_options, &store));
    sample_commit(store, 1, 1, 3000, 100, 1);
    sample_commit(store, 1, 100, 5, 100, 2);
    bw_store_close(store);
    for (page_no page = SLOT_COUNT; page < file_pages(); page++)
        if (bw_space_is_reserved(&small, page)) zero_pages(&sim, page, 1);
    struct salvage_options options = options_for(&sim.disk);
    struct salvage_report report;
    options.geometry = &small;
    options.takes_value = NULL;
    CHECK_OK(bw_store_salvage(&options, &report));
    CHECK_EQ(report.certain, 3000);
    CHECK_EQ(report.pages_lost + report.guessed, 0);
    store_options.directory = NEW_DIRECTORY;
    CHECK_OK(bw_store_open(&store_options, &store));
    sample_prove_store(store);
    struct txn *txn = sample_begin(store, TXN_READ);
    sample_expect(txn, 1, 100, 5, 100, 2);
    sample_expect(txn, 1, 105, 2896, 100, 1);
    bw_txn_abort(txn);
    end();
}

/* More trees than a slot holds: their entries lie in a tree, which may be damaged too. */
static void trees_of_a_catalogue_come_back(void)
{
    for (int damage = 0; damage < 2; damage++) {
        sim_disk_init(&sim, 1);
        store = sample_open(&sim.disk);
        struct txn *txn = write();
        for (uint32_t tree = 1; tree <= SAMPLE_TREES; tree++)
            CHECK_OK(sample_put(txn, tree, 1, 3, 40, 1));
        CHECK_OK(bw_txn_commit(txn));
        txn = write();
        CHECK_OK(bw_tree_drop(txn, 60));
        CHECK_OK(bw_txn_commit(txn));
        const page_no catalog = bw_ref_page(store->cur->trees[0].root);
        CHECK(store->cur->has_catalog);
        bw_store_close(store);
        if (damage) zero_pages(&sim, catalog, 1);
        struct salvage_options options = options_for(&sim.disk);
        struct salvage_report report;
        options.takes_tree = NULL;
        options.takes_value = NULL;
        CHECK_OK(bw_store_salvage(&options, &report));
        CHECK_EQ(report.certain, damage ? 0 : 3 * (SAMPLE_TREES - 1));
        CHECK_EQ(report.guessed, damage ? 3 * SAMPLE_TREES : 0); // the dropped one is there again
        CHECK_EQ(report.trees_without_root, damage ? SAMPLE_TREES : 0);
        struct store_options store_options = sample_options(&sim.disk);
        store_options.directory = NEW_DIRECTORY;
        CHECK_OK(bw_store_open(&store_options, &store));
        txn = sample_begin(store, TXN_READ);
        for (uint32_t tree = 1; tree < SAMPLE_TREES; tree++) sample_expect(txn, tree, 1, 3, 40, 1);
        bw_txn_abort(txn);
        end();
    }
}

// ---- refusals ----

static void expect_no_target(struct sim_disk *disk)
{
    CHECK(sim_disk_find(disk, NEW_FILE) == NULL);
}

static void what_cannot_be_salvaged_is_refused(void)
{
    struct salvage_report report;
    begin();
    const struct salvage_options options = options_for(&sim.disk);
    struct salvage_options other = options;
    other.from_directory = "nowhere";
    CHECK_ERR(bw_store_salvage(&other, &report), BW_ERR_STORAGE_GENERAL);
    other = options;
    other.to_directory = SAMPLE_DIRECTORY;
    CHECK_ERR(bw_store_salvage(&other, &report), BW_ERR_ILLEGAL_STATE);
    CHECK(strstr(bw_reason_text(), "already") != NULL);
    store = sample_open(&sim.disk);
    CHECK_ERR(bw_store_salvage(&options, &report), BW_ERR_ILLEGAL_STATE);
    CHECK(strstr(bw_reason_text(), "is open") != NULL);
    bw_store_close(store);
    store = NULL;
    expect_no_target(&sim);
    zero_pages(&sim, 0, (uint32_t)file_pages());
    CHECK_ERR(bw_store_salvage(&options, &report), BW_ERR_FILE_CORRUPT);
    CHECK(strstr(bw_reason_text(), "Nothing of a store") != NULL);
    sim_disk_cut_file(&sim, SAMPLE_FILE, 0);
    CHECK_ERR(bw_store_salvage(&options, &report), BW_ERR_FILE_CORRUPT);
    expect_no_target(&sim);
    end();
}

static bool refuse_odd(void *user, uint32_t tree_id, uint64_t key, struct bytes value)
{
    (void)user, (void)tree_id, (void)value;
    return key % 2 == 0;
}

static uint64_t told;

static void tell(void *user, uint32_t tree_id, const struct salvage_count *count)
{
    (void)user;
    CHECK(tree_id == 1 || tree_id == 3);
    CHECK_EQ(count->guessed + count->lost, 0);
    told += count->certain + count->refused;
}

static bool refuse_tree_2(void *user, uint32_t tree_id)
{
    (void)user;
    return tree_id != 2;
}

static void the_layer_above_takes_what_it_wants(void)
{
    struct salvage_report report;
    begin();
    struct salvage_options options = options_for(&sim.disk);
    options.takes_value = refuse_odd;
    options.takes_tree = refuse_tree_2;
    options.tell_tree = tell;
    told = 0;
    CHECK_OK(bw_store_salvage(&options, &report));
    CHECK_EQ(told, report.certain + report.refused);
    CHECK_EQ(told, total() - 11); // tree 2 has 11
    CHECK(report.certain && report.refused);
    end();
}

struct listener {
    uint64_t calls, last, stop_after;
};

static bool listen_to(void *user, uint64_t done, uint64_t all)
{
    struct listener *listener = user;
    CHECK(done <= all && done >= listener->last);
    CHECK_EQ(all, 2 * file_pages());
    listener->last = done;
    return ++listener->calls != listener->stop_after;
}

static void a_cancelled_salvage_leaves_nothing(void)
{
    begin();
    struct listener listener = {0};
    const struct progress progress = {listen_to, &listener};
    patient_init(&patient);
    struct salvage_options options = options_for(&patient.sim.disk);
    options.progress = &progress;
    CHECK_OK(bw_store_salvage(&options, &patient.report));
    CHECK_EQ(listener.last, 2 * file_pages());
    patient_deinit(&patient);
    for (uint64_t stop = 1; stop <= listener.calls; stop += 1 + listener.calls / 20) {
        struct listener again = {.stop_after = stop};
        const struct progress stopping = {listen_to, &again};
        patient_init(&patient);
        options = options_for(&patient.sim.disk);
        options.progress = &stopping;
        CHECK_ERR(bw_store_salvage(&options, &patient.report), BW_ERR_CANCELLED);
        expect_no_target(&patient.sim);
        patient_deinit(&patient);
    }
    end();
}

static void memory_may_run_out_at_any_request(void)
{
    begin();
    zero_pages(&sim, 50, 3);
    int failures = 0;
    for (int64_t count = 0;; count++) {
        patient_init(&patient);
        const struct salvage_options options = options_for(&patient.sim.disk);
        bw_memory_fail_after(count);
        bw_err err = bw_store_salvage(&options, &patient.report);
        bw_memory_fail_after(-1);
        if (err) CHECK_EQ(err, BW_ERR_NO_MEMORY);
        patient_deinit(&patient); // removing a part of a new store takes memory, too
        if (!err) break;
        failures++;
    }
    CHECK(failures > 10);
    end();
}

/* Reads beyond this place fail, as of a device that has lost a part. */
static bw_err (*real_read)(struct file file, uint64_t at, void *to, size_t size, size_t *out_read);

static bw_err fail_in_part(struct file file, uint64_t at, void *to, size_t size, size_t *out_read)
{
    enum { BAD = 40 * PAGE_SIZE };
    if (at <= BAD && BAD < at + size) return bw_fail(BW_ERR_IO, "a bad sector");
    return real_read(file, at, to, size, out_read);
}

static void a_page_that_cannot_be_read_is_lost_alone(void)
{
    begin();
    patient_init(&patient);
    wound(&patient, 40, 1); // so that what is lost is known
    real_read = patient.sim.disk.read;
    patient.sim.disk.read = fail_in_part;
    const struct salvage_options options = options_for(&patient.sim.disk);
    CHECK_OK(bw_store_salvage(&options, &patient.report));
    CHECK(patient.report.pages_unreadable >= 1);
    CHECK_EQ(patient.report.certain + count_lost(&patient), total());
    patient_deinit(&patient);
    end();
}

static void every_call_of_the_disk_may_fail(void)
{
    struct relay relay;
    begin();
    for (int64_t count = 0;; count++) {
        patient_init(&patient);
        relay_init(&relay, &patient.sim.disk);
        relay.fail_after = count;
        const struct salvage_options options = options_for(&relay.disk);
        bw_err err = bw_store_salvage(&options, &patient.report);
        const bool has_failed = relay.has_failed;
        if (err) CHECK(has_failed);
        if (err && relay.failed != CALL_REMOVE && relay.failed != CALL_LOCK)
            expect_no_target(&patient.sim);
        patient_deinit(&patient);
        if (!has_failed) break;
    }
    end();
}

RUN_TESTS(TEST(a_sound_store_comes_back_whole_and_certain), TEST(any_page_may_be_lost),
          TEST(both_slots_may_be_lost), TEST(the_salt_is_found_in_what_is_left_of_a_slot),
          TEST(without_slots_any_page_may_be_lost_too), TEST(a_file_may_be_cut_anywhere),
          TEST(many_pages_may_be_lost), TEST(maps_of_free_pages_are_not_needed),
          TEST(trees_of_a_catalogue_come_back), TEST(what_cannot_be_salvaged_is_refused),
          TEST(the_layer_above_takes_what_it_wants), TEST(a_cancelled_salvage_leaves_nothing),
          TEST(memory_may_run_out_at_any_request), TEST(a_page_that_cannot_be_read_is_lost_alone),
          TEST(every_call_of_the_disk_may_fail))
