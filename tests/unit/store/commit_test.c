/* SPDX-License-Identifier: Apache-2.0 */
/* What commits cost and write, and what becomes of a store when they fail. */
#include "harness/check.h"
#include "harness/relay.h"
#include "harness/sample.h"
#include "harness/sim_disk.h"
#include "store/slot.h"

static struct sim_disk sim;
static struct relay relay;
static struct store *store;

/* So small that a store of some dozen pages has regions and large commits. */
static const struct geometry small = {
    .inline_pages = 22,
    .region_pages = 34,
    .bitmap_copies = 4,
    .manifest_runs = 12,
    .manifest_pages = 12,
};

static void open_with(const struct store_options *options)
{
    CHECK_OK(bw_store_open(options, &store));
}

static void begin_with(uint64_t size_max, const struct geometry *geometry)
{
    sim_disk_init(&sim, 1);
    relay_init(&relay, &sim.disk);
    struct store_options options = sample_options(&relay.disk);
    options.size_max = size_max;
    options.geometry = geometry;
    open_with(&options);
}

static void begin(void) { begin_with(0, NULL); }

static void end(void)
{
    bw_store_close(store);
    sim_disk_deinit(&sim);
    sample_expect_nothing_left();
}

static uint64_t pages_of_file(void) { return sim_disk_find(&sim, SAMPLE_FILE)->size / PAGE_SIZE; }

static uint64_t count_of(uint32_t tree_id)
{
    struct tree_stat stat;
    struct txn *txn = sample_begin(store, TXN_READ);
    CHECK_OK(bw_tree_stat(txn, tree_id, &stat));
    bw_txn_abort(txn);
    return stat.count;
}

static void expect(uint32_t tree_id, uint64_t first, uint64_t count, size_t size, unsigned version)
{
    struct txn *txn = sample_begin(store, TXN_READ);
    sample_expect(txn, tree_id, first, count, size, version);
    bw_txn_abort(txn);
}

/* The valid slots of the file, newest first. Their pointers lead into the simulated disk. */
static unsigned read_slots(struct slot slots[2])
{
    const uint8_t *bytes = sim_disk_find(&sim, SAMPLE_FILE)->cache;
    unsigned count = 0;
    for (int i = 0; i < 2; i++)
        count += bw_slot_decode(bytes + (size_t)i * PAGE_SIZE, &slots[count]) == SLOT_GOOD;
    if (count == 2 && slots[0].txn_id < slots[1].txn_id) {
        const struct slot older = slots[0];
        slots[0] = slots[1];
        slots[1] = older;
    }
    return count;
}

static uint32_t pages_of_manifest(const struct slot *slot)
{
    uint32_t pages = 0;
    for (uint32_t i = 0; i < slot->run_count; i++)
        pages += bw_get_u32(slot->runs + (size_t)i * RUN_SIZE + 4);
    return pages;
}

/* ---- what they cost ---- */

static void a_small_commit_costs_two_writes_and_one_flush(void)
{
    begin();
    sample_commit(store, 1, 1, 1000, 352, 1);
    expect(1, 1, 1, 352, 1); // mapped
    for (unsigned i = 1; i <= 20; i++) {
        relay_reset(&relay);
        sample_commit(store, 1, 1000 + i, 1, 352, 1);
        CHECK_EQ(relay.counts[CALL_FLUSH], 1);
        CHECK_EQ(relay_total(&relay) - relay.counts[CALL_WRITE], 1);
        CHECK(relay.written_bytes <= 4 * PAGE_SIZE); // the leaf or two, the root, the slot
    }
    for (unsigned i = 1; i <= 20; i++) {
        relay_reset(&relay);
        sample_commit(store, 1, 40 * i, 1, 352, i);
        CHECK_EQ(relay.counts[CALL_FLUSH], 1);
        CHECK_EQ(relay_total(&relay) - relay.counts[CALL_WRITE], 1);
    }
    end();
}

static void adding_an_object_writes_one_leaf_and_the_slot(void)
{
    begin();
    sample_commit(store, 1, 1, 3, 100, 1);
    for (unsigned i = 4; i <= 30; i++) {
        relay_reset(&relay);
        sample_commit(store, 1, i, 1, 100, 1);
        CHECK_EQ(relay.written_bytes, 2 * PAGE_SIZE);
    }
    end();
}

static void a_large_commit_is_flushed_before_its_slot(void)
{
    begin();
    sample_commit(store, 1, 1, 1500, 1000, 1);
    CHECK(pages_of_file() > 300);
    CHECK_EQ(relay.counts[CALL_FLUSH], 2);
    CHECK_EQ(relay.counts[CALL_FLUSH_DIRECTORY], 2);
    expect(1, 1, 1, 1000, 1);
    relay_reset(&relay);
    sample_commit(store, 2, 1, 1500, 1000, 1);
    CHECK_EQ(relay.counts[CALL_FLUSH], 2);
    CHECK_EQ(relay.log[relay.log_size - 1], 'f');
    CHECK_EQ(relay.log[relay.log_size - 2], 'w');
    CHECK_EQ(relay.log[relay.log_size - 3], 'f');
    struct slot slots[2];
    CHECK_EQ(read_slots(slots), 2);
    CHECK_EQ(slots[0].run_count, 0); // it vouches for itself
    sample_prove_store(store);
    end();
}

static void a_commit_of_256_pages_is_not_large(void)
{
    begin();
    // One value: 254 pages and its leaf, and the same again.
    sample_commit(store, 1, 1, 1, 255 * PAGE_SIZE - PAGE_HEADER_SIZE, 1);
    CHECK_EQ(relay.counts[CALL_FLUSH], 1);
    relay_reset(&relay);
    sample_commit(store, 1, 2, 1, 256 * PAGE_SIZE - PAGE_HEADER_SIZE, 1);
    CHECK_EQ(relay.counts[CALL_FLUSH], 2);
    end();
}

static void the_manifest_names_the_pages_of_two_flushes(void)
{
    begin();
    struct slot slots[2];
    sample_commit(store, 1, 1, 10, 300, 1);
    CHECK_EQ(read_slots(slots), 1);
    CHECK_EQ(pages_of_manifest(&slots[0]), 1);
    sample_commit(store, 2, 1, 10, 300, 1);
    CHECK_EQ(read_slots(slots), 2);
    CHECK_EQ(pages_of_manifest(&slots[0]), 2); // its own leaf, and the one before
    CHECK_EQ(slots[0].base, slots[1].txn_id);
    sample_commit(store, 2, 1, 10, 300, 2);
    CHECK_EQ(read_slots(slots), 2);
    CHECK_EQ(pages_of_manifest(&slots[0]), 1); // the one before is gone
    end();
}

static void without_durability_nothing_is_flushed(void)
{
    begin();
    bw_store_close(store);
    relay_reset(&relay);
    struct store_options options = sample_options(&relay.disk);
    options.durability = DURABLE_NONE;
    open_with(&options);
    sample_commit(store, 1, 1, 10, 300, 1);
    sample_commit(store, 1, 1, 2000, 1000, 2);
    sample_prove_store(store);
    CHECK_EQ(relay.counts[CALL_FLUSH], 0);
    CHECK_EQ(relay.counts[CALL_FLUSH_DIRECTORY], 0);
    end();
}

/* ---- space ---- */

static void a_store_that_is_only_changed_does_not_grow(void)
{
    begin();
    sample_commit(store, 1, 1, 400, 352, 1);
    for (unsigned i = 0; i < 50; i++) sample_commit(store, 1, i * 7 % 400 + 1, 1, 352, i);
    const uint64_t pages = pages_of_file();
    for (unsigned i = 0; i < 300; i++) sample_commit(store, 1, i * 7 % 400 + 1, 1, 352, i);
    CHECK(pages_of_file() <= pages + pages / 4);
    sample_prove_store(store);
    end();
}

static void a_reader_that_stays_keeps_only_what_it_sees(void)
{
    begin();
    sample_commit(store, 1, 1, 3000, 352, 1);
    const uint64_t pages = pages_of_file();
    CHECK(pages > 250);
    struct txn *reader = sample_begin(store, TXN_READ);
    for (unsigned i = 0; i < 500; i++) sample_commit(store, 1, i * 37 % 3000 + 1, 1, 352, i + 2);
    CHECK(pages_of_file() < 3 * pages);
    sample_expect(reader, 1, 1, 3000, 352, 1);
    sample_prove(reader);
    bw_txn_abort(reader);
    sample_prove_store(store);
    end();
}

static void closing_gives_back_the_tail(void)
{
    begin();
    sample_commit(store, 1, 1, 800, 352, 1);
    sample_commit(store, 2, 1, 1, 10, 1);
    const uint64_t pages = pages_of_file();
    struct txn *txn = sample_begin(store, TXN_WRITE);
    CHECK_OK(bw_tree_clear(txn, 1));
    CHECK_OK(bw_txn_commit(txn));
    for (unsigned i = 0; i < 4; i++) sample_commit(store, 2, 1, 1, 10, i); // moves down
    CHECK(pages_of_file() >= pages);
    bw_store_close(store);
    CHECK(pages_of_file() <= 6);
    store = sample_open(&sim.disk);
    expect(2, 1, 1, 10, 3);
    sample_prove_store(store);
    end();
}

/* Is the commit before the newest one whole, in a copy of the disk? */
static void expect_previous(const struct geometry *geometry, uint64_t digest)
{
    struct sim_disk copy;
    struct store *newest = store;
    sim_disk_copy(&sim, &copy);
    struct store_options options = sample_options(&copy.disk);
    options.geometry = geometry;
    options.use_previous = true;
    options.read_only = true;
    open_with(&options);
    struct store_info info;
    bw_store_info(store, &info);
    CHECK(info.opened_previous);
    CHECK_EQ(sample_digest_of(store), digest);
    sample_prove_store(store);
    bw_store_close(store);
    sim_disk_deinit(&copy);
    store = newest;
}

static void the_commit_before_stays_whole(void)
{
    for (int i = 0; i < 2; i++) {
        const struct geometry *geometry = i ? &small : NULL;
        begin_with(0, geometry);
        sample_commit(store, 1, 1, 300, 400, 1);
        for (unsigned n = 2; n < 20; n++) {
            const uint64_t digest = sample_digest_of(store);
            sample_commit(store, n % 3 + 1, n * 20, n % 2 ? 3 : 60, 400, n);
            expect_previous(geometry, digest);
        }
        end();
    }
}

/* Cut the seventh commit off after so many calls. True: its slot was written. */
static bool cut_off(int64_t steps, const struct geometry *geometry)
{
    uint64_t digest = 0;
    begin_with(0, geometry);
    for (unsigned n = 1; n <= 6; n++) {
        sample_commit(store, 1, 1, 200, 400, n);
        if (n == 5) digest = sample_digest_of(store);
    }
    struct txn *txn = sample_begin(store, TXN_WRITE);
    CHECK_OK(sample_put(txn, 1, 1, 200, 400, 7));
    sim.steps_left = steps;
    CHECK(bw_txn_commit(txn) != BW_OK);
    bw_store_close(store);
    sim_disk_restart(&sim);
    struct slot slots[2];
    CHECK(read_slots(slots) >= 1);
    const bool has_slot = slots[0].txn_id == 7 || read_slots(slots) == 1;
    const bool has_twin = slots[0].txn_id == slots[1].txn_id; // R22: it gave up the one before
    store = NULL;
    if (!has_slot && !has_twin) expect_previous(geometry, digest);
    end();
    return has_slot;
}

static void a_commit_that_is_cut_off_leaves_the_two_before(void)
{
    for (int i = 0; i < 2; i++) {
        int64_t steps = 0;
        while (!cut_off(steps, i ? &small : NULL)) steps++;
        CHECK(steps > 1);
    }
}

static void closing_keeps_what_the_commit_before_needs(void)
{
    begin();
    sample_commit(store, 2, 1, 1, 10, 1);
    sample_commit(store, 1, 1, 800, 352, 1);
    const uint64_t digest = sample_digest_of(store);
    struct txn *txn = sample_begin(store, TXN_WRITE);
    CHECK_OK(bw_tree_clear(txn, 1));
    CHECK_OK(bw_txn_commit(txn));
    bw_store_close(store);
    store = NULL;
    expect_previous(NULL, digest);
    store = sample_open(&sim.disk);
    end();
}

static void a_large_file_grows_in_steps(void)
{
    begin();
    sample_commit(store, 1, 1, 3000, 352, 1);
    uint64_t last = pages_of_file();
    unsigned grown = 0;
    for (unsigned i = 0; i < 100; i++) {
        sample_commit(store, 1, 3001 + i, 1, 4000, 1);
        grown += pages_of_file() != last;
        last = pages_of_file();
    }
    CHECK(grown > 0 && grown <= 8);
    bw_store_close(store);
    struct slot slots[2];
    CHECK_EQ(read_slots(slots), 2);
    CHECK(pages_of_file() < slots[0].hwm + 25); // most of the last step is given back
    store = sample_open(&sim.disk);
    end();
}

static void a_file_of_many_regions_keeps_its_bitmaps(void)
{
    begin_with(0, &small);
    struct slot slots[2];
    for (unsigned i = 0; i < 12; i++) {
        sample_commit(store, 1, 1 + 60 * i, 60, 600, 1);
        sample_prove_store(store);
    }
    CHECK_EQ(read_slots(slots), 2);
    CHECK(slots[0].region_count >= 3);
    for (unsigned i = 0; i < 40; i++) {
        sample_commit(store, 1, i * 17 + 1, 1, 600, 2);
        if (i % 8 == 0) sample_prove_store(store);
    }
    const uint64_t digest = sample_digest_of(store);
    bw_store_close(store);
    struct store_options options = sample_options(&relay.disk);
    options.geometry = &small;
    open_with(&options);
    CHECK_EQ(sample_digest_of(store), digest);
    sample_commit(store, 1, 1, 1, 600, 3);
    sample_prove_store(store);
    end();
}

static void a_file_that_gets_small_again_has_its_bitmap_in_the_slot(void)
{
    begin_with(0, &small);
    struct slot slots[2];
    sample_commit(store, 1, 1, 500, 600, 1);
    CHECK_EQ(read_slots(slots), 1);
    CHECK(slots[0].region_count > 2);
    struct txn *txn = sample_begin(store, TXN_WRITE);
    CHECK_OK(sample_remove(txn, 1, 4, 497));
    CHECK_OK(bw_txn_commit(txn));
    for (unsigned i = 0; i < 6; i++) sample_commit(store, 1, 1, 1, 600, i);
    CHECK_EQ(read_slots(slots), 2);
    CHECK_EQ(slots[0].region_count, 0);
    CHECK(slots[0].hwm <= small.inline_pages);
    sample_prove_store(store);
    sample_commit(store, 1, 1, 500, 600, 7); // and out again
    CHECK_EQ(read_slots(slots), 2);
    CHECK(slots[0].region_count > 2);
    expect(1, 1, 500, 600, 7);
    sample_prove_store(store);
    end();
}

/* ---- a store that is full ---- */

enum { LIMIT = 64 * PAGE_SIZE };

/* Put into tree 1 until the limit is reached, first ten at once, then one by one. Returns how many
 * are in. */
static uint64_t fill_up(void)
{
    uint64_t count = 0;
    for (uint64_t at_once = 10; at_once; at_once = at_once == 10 ? 1 : 0) {
        bw_err err = BW_OK;
        while (!err) {
            struct txn *txn = sample_begin(store, TXN_WRITE);
            err = sample_put(txn, 1, count + 1, at_once, 352, 1);
            if (err) bw_txn_abort(txn);
            else err = bw_txn_commit(txn); // which may need a page for the catalogue
            if (!err) count += at_once;
        }
        CHECK_EQ(err, BW_ERR_DB_FULL);
        CHECK_TEXT(bw_reason_text(), "Could not put");
    }
    return count;
}

static void a_full_store_says_so_and_goes_on(void)
{
    begin_with(LIMIT, NULL);
    const uint64_t count = fill_up();
    CHECK(count > 300);
    CHECK(pages_of_file() <= 64);
    CHECK_EQ(count_of(1), count);
    expect(1, 1, count, 352, 1);
    sample_prove_store(store);
    end();
}

static void a_put_that_does_not_fit_leaves_the_transaction_usable(void)
{
    begin_with(LIMIT, NULL);
    sample_commit(store, 1, 1, 20, 352, 1);
    struct txn *txn = sample_begin(store, TXN_WRITE);
    CHECK_OK(sample_put(txn, 1, 21, 20, 352, 1));
    CHECK_ERR(sample_put(txn, 1, 50, 1, LIMIT, 1), BW_ERR_DB_FULL);
    CHECK_TEXT(bw_reason_text(), "Could not put");
    CHECK_ERR(sample_put(txn, 1, 3, 1, LIMIT, 1), BW_ERR_DB_FULL); // replacing
    CHECK_OK(sample_put(txn, 1, 41, 1, 352, 1));
    sample_prove(txn);
    CHECK_OK(bw_txn_commit(txn));
    CHECK_EQ(count_of(1), 41);
    expect(1, 1, 41, 352, 1);
    sample_prove_store(store);
    end();
}

static void removing_works_in_a_full_store(void)
{
    begin_with(LIMIT, NULL);
    const uint64_t count = fill_up();
    for (uint64_t key = 1; key <= count; key++) {
        struct txn *txn = sample_begin(store, TXN_WRITE);
        CHECK_OK(sample_remove(txn, 1, key, 1));
        CHECK_OK(bw_txn_commit(txn));
        if (key % 50 == 0) sample_prove_store(store);
    }
    CHECK_EQ(count_of(1), 0);
    CHECK(pages_of_file() <= 64 + 16);
    sample_commit(store, 1, 1, count / 2, 352, 2);
    expect(1, 1, count / 2, 352, 2);
    sample_prove_store(store);
    end();
}

static void removing_works_in_a_full_store_of_many_trees(void)
{
    begin_with(LIMIT, NULL);
    for (uint32_t tree = 2; tree <= SAMPLE_TREES - 10; tree++)
        sample_commit(store, tree, 1, 1, 40, 1); // more than the slot can name
    const uint64_t count = fill_up();
    for (uint64_t key = 1; key <= count; key++) {
        struct txn *txn = sample_begin(store, TXN_WRITE);
        CHECK_OK(sample_remove(txn, 1, key, 1));
        CHECK_OK(bw_txn_commit(txn));
    }
    CHECK_EQ(count_of(1), 0);
    sample_prove_store(store);
    end();
}

static void clearing_works_in_a_full_store(void)
{
    begin_with(LIMIT, NULL);
    for (unsigned round = 0; round < 5; round++) {
        const uint64_t count = fill_up();
        CHECK(count > 250);
        struct txn *txn = sample_begin(store, TXN_WRITE);
        CHECK_OK(bw_tree_clear(txn, 1));
        CHECK_OK(bw_txn_commit(txn));
        for (unsigned i = 0; i < 2; i++) sample_commit(store, 2, 1, 1, 10, i); // pins go on
        sample_prove_store(store);
    }
    end();
}

static void a_limit_below_what_is_there_still_lets_remove(void)
{
    begin();
    sample_commit(store, 1, 1, 500, 352, 1);
    bw_store_close(store);
    struct store_options options = sample_options(&relay.disk);
    options.size_max = 20 * PAGE_SIZE;
    open_with(&options);
    expect(1, 1, 500, 352, 1);
    struct txn *txn = sample_begin(store, TXN_WRITE);
    CHECK_ERR(sample_put(txn, 1, 501, 1, 9000, 1), BW_ERR_DB_FULL);
    bw_txn_abort(txn);
    txn = sample_begin(store, TXN_WRITE);
    CHECK_OK(bw_tree_clear(txn, 1));
    CHECK_OK(bw_txn_commit(txn));
    CHECK_EQ(count_of(1), 0);
    end();
}

/* ---- a device that is full ---- */

static void a_full_device_aborts_the_transaction_only(void)
{
    begin();
    sample_commit(store, 1, 1, 300, 352, 1);
    sim.page_max = pages_of_file() + 5;
    const uint64_t digest = sample_digest_of(store);
    for (int i = 0; i < 3; i++) {
        struct txn *txn = sample_begin(store, TXN_WRITE);
        CHECK_OK(sample_put(txn, 1, 301, 300, 352, 1));
        CHECK_ERR(bw_txn_commit(txn), BW_ERR_DB_FULL);
        CHECK(!bw_store_is_poisoned(store));
        CHECK_EQ(sample_digest_of(store), digest);
    }
    sample_commit(store, 1, 301, 3, 352, 1); // what fits goes in
    sim.page_max = 0;
    sample_commit(store, 1, 304, 300, 352, 1);
    expect(1, 1, 603, 352, 1);
    sample_prove_store(store);
    end();
}

static void a_first_commit_that_fails_can_be_tried_again(void)
{
    begin();
    sim.page_max = 10;
    struct txn *txn = sample_begin(store, TXN_WRITE);
    CHECK_OK(sample_put(txn, 1, 1, 300, 352, 1));
    CHECK_ERR(bw_txn_commit(txn), BW_ERR_DB_FULL);
    CHECK_EQ(count_of(1), 0);
    sim.page_max = 0;
    sample_commit(store, 1, 1, 10, 352, 2);
    CHECK_EQ(relay.counts[CALL_FLUSH], 2); // the size that the first attempt left, too
    expect(1, 1, 10, 352, 2);
    bw_store_close(store);
    store = sample_open(&sim.disk);
    expect(1, 1, 10, 352, 2);
    sample_prove_store(store);
    end();
}

/* ---- what fails after the data ---- */

/* The second commit of a store: the call with this letter fails, the last one of its kind or the
 * first. calls: what the commit would do, to know its place. */
static bw_err second_commit(enum relay_loss loss, int64_t fail_after)
{
    begin();
    sample_commit(store, 1, 1, 20, 352, 1);
    expect(1, 1, 20, 352, 1); // mapped
    struct txn *txn = sample_begin(store, TXN_WRITE);
    CHECK_OK(sample_put(txn, 1, 1, 20, 352, 2));
    relay_reset(&relay);
    relay.fail_after = fail_after;
    relay.loss = loss;
    bw_err err = bw_txn_commit(txn);
    relay.fail_after = -1;
    return err;
}

static bw_err fail_in_commit(char letter, bool last, enum relay_loss loss)
{
    CHECK_OK(second_commit(loss, -1));
    const char *place = last ? strrchr(relay.log, letter) : strchr(relay.log, letter);
    CHECK(place != NULL);
    const int64_t calls = place - relay.log;
    end();
    bw_err err = second_commit(loss, calls);
    CHECK(relay.has_failed);
    CHECK_EQ(relay_letters[relay.failed], letter);
    return err;
}

static void a_failed_write_of_data_is_a_clean_abort(void)
{
    for (enum relay_loss loss = LOSS_ALL; loss <= LOSS_NONE; loss++) {
        CHECK_EQ(fail_in_commit('w', false, loss), BW_ERR_STORAGE_GENERAL);
        CHECK(!bw_store_is_poisoned(store));
        expect(1, 1, 20, 352, 1);
        sample_commit(store, 1, 1, 20, 352, 3);
        expect(1, 1, 20, 352, 3);
        sample_prove_store(store);
        end();
    }
}

/* The outcome is unknown: reading goes on, writing does not, closing writes nothing. */
static void expect_poisoned(void)
{
    struct txn *txn = NULL;
    CHECK(strstr(bw_reason_text(), "The store must be closed") != NULL);
    CHECK(strstr(bw_reason_text(), "a call that the test lets fail") != NULL);
    CHECK_EQ(bw_reason_secondary(), 5);
    CHECK(bw_store_is_poisoned(store));
    expect(1, 1, 20, 352, 1);
    CHECK_ERR(bw_txn_begin(store, TXN_WRITE, -1, &txn), BW_ERR_STORE_MUST_SHUTDOWN);
    CHECK_ERR(bw_txn_begin(store, TXN_WRITE, 0, &txn), BW_ERR_STORE_MUST_SHUTDOWN);
    relay_reset(&relay);
    bw_store_close(store);
    CHECK_TEXT(relay.log, "uc");
    store = sample_open(&sim.disk);
    struct bytes value;
    bool found = false;
    txn = sample_begin(store, TXN_READ);
    CHECK_OK(bw_tree_get(txn, 1, 1, &value, &found));
    CHECK(found);
    sample_prove(txn);
    bw_txn_abort(txn);
    sample_commit(store, 1, 1, 20, 352, 4);
    sample_prove_store(store);
}

static void a_failed_write_of_the_slot_poisons(void)
{
    for (enum relay_loss loss = LOSS_ALL; loss <= LOSS_NONE; loss++) {
        CHECK_EQ(fail_in_commit('w', true, loss), BW_ERR_STORE_MUST_SHUTDOWN);
        expect_poisoned();
        end();
    }
}

static void a_failed_flush_poisons(void)
{
    CHECK_EQ(fail_in_commit('f', false, LOSS_ALL), BW_ERR_STORE_MUST_SHUTDOWN);
    expect_poisoned();
    end();
}

static void a_failed_flush_of_names_poisons(void)
{
    for (int64_t call = 4; call <= 5; call++) {
        begin();
        struct txn *txn = sample_begin(store, TXN_WRITE);
        CHECK_OK(sample_put(txn, 1, 1, 20, 352, 1));
        relay.fail_after = call;
        CHECK_ERR(bw_txn_commit(txn), BW_ERR_STORE_MUST_SHUTDOWN);
        relay.fail_after = -1;
        CHECK_EQ(relay.failed, CALL_FLUSH_DIRECTORY);
        CHECK(bw_store_is_poisoned(store));
        CHECK_EQ(count_of(1), 0);
        end();
    }
}

static void a_waiting_writer_of_a_poisoned_store_is_told(void)
{
    struct txn *next = NULL;
    CHECK_EQ(fail_in_commit('f', false, LOSS_ALL), BW_ERR_STORE_MUST_SHUTDOWN);
    CHECK_ERR(bw_txn_begin(store, TXN_WRITE, -1, &next), BW_ERR_STORE_MUST_SHUTDOWN);
    CHECK(next == NULL);
    end();
}

/* ---- closing ---- */

static void closing_seals_what_was_written(void)
{
    begin();
    sample_commit(store, 1, 1, 20, 352, 1);
    relay_reset(&relay);
    bw_store_close(store);
    CHECK_TEXT(relay.log, "wc"); // no flush
    CHECK_EQ(relay.written_bytes, 512);
    store = sample_open(&relay.disk);
    relay_reset(&relay);
    bw_txn_abort(sample_begin(store, TXN_WRITE)); // what is sealed needs no fence
    CHECK_EQ(relay.counts[CALL_WRITE], 0);
    bw_store_close(store);
    CHECK_EQ(relay.counts[CALL_WRITE], 0); // and is sealed already
    store = sample_open(&relay.disk);
    end();
}

static void a_seal_that_cannot_be_written_is_no_loss(void)
{
    begin();
    sample_commit(store, 1, 1, 20, 352, 1);
    relay.fail_after = 0;
    bw_store_close(store);
    relay.fail_after = -1;
    store = sample_open(&relay.disk);
    expect(1, 1, 20, 352, 1);
    sample_commit(store, 1, 1, 20, 352, 2);
    sample_prove_store(store);
    end();
}

RUN_TESTS(TEST(a_small_commit_costs_two_writes_and_one_flush),
          TEST(adding_an_object_writes_one_leaf_and_the_slot),
          TEST(a_large_commit_is_flushed_before_its_slot), TEST(a_commit_of_256_pages_is_not_large),
          TEST(the_manifest_names_the_pages_of_two_flushes),
          TEST(without_durability_nothing_is_flushed),
          TEST(a_store_that_is_only_changed_does_not_grow),
          TEST(a_reader_that_stays_keeps_only_what_it_sees), TEST(closing_gives_back_the_tail),
          TEST(the_commit_before_stays_whole), TEST(a_commit_that_is_cut_off_leaves_the_two_before),
          TEST(closing_keeps_what_the_commit_before_needs), TEST(a_large_file_grows_in_steps),
          TEST(a_file_of_many_regions_keeps_its_bitmaps),
          TEST(a_file_that_gets_small_again_has_its_bitmap_in_the_slot),
          TEST(a_full_store_says_so_and_goes_on),
          TEST(a_put_that_does_not_fit_leaves_the_transaction_usable),
          TEST(removing_works_in_a_full_store), TEST(removing_works_in_a_full_store_of_many_trees),
          TEST(clearing_works_in_a_full_store), TEST(a_limit_below_what_is_there_still_lets_remove),
          TEST(a_full_device_aborts_the_transaction_only),
          TEST(a_first_commit_that_fails_can_be_tried_again),
          TEST(a_failed_write_of_data_is_a_clean_abort), TEST(a_failed_write_of_the_slot_poisons),
          TEST(a_failed_flush_poisons), TEST(a_failed_flush_of_names_poisons),
          TEST(a_waiting_writer_of_a_poisoned_store_is_told), TEST(closing_seals_what_was_written),
          TEST(a_seal_that_cannot_be_written_is_no_loss))
