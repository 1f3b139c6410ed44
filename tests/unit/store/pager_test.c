/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of the file as transactions read them: windows, verification, what is refused. */
#include <stdlib.h>

#include "harness/check.h"
#include "harness/relay.h"
#include "harness/sample.h"
#include "harness/sim_disk.h"
#include "store/slot.h"

static struct sim_disk sim;
static struct relay relay;
static struct store *store;

enum { VALUES = 20, VALUE = 150 };

/* A store of one leaf at page 2, opened again, so that nothing of it was verified yet. */
static void begin(void)
{
    sim_disk_init(&sim, 1);
    relay_init(&relay, &sim.disk);
    store = sample_open(&relay.disk);
    sample_commit(store, 1, 1, VALUES, VALUE, 1);
    bw_store_close(store);
    store = sample_open(&relay.disk);
    relay_reset(&relay);
}

static void end(void)
{
    bw_store_close(store);
    sim_disk_deinit(&sim);
    sample_expect_nothing_left();
}

static bw_err get(uint64_t key)
{
    struct bytes value;
    bool found = false;
    struct txn *txn = sample_begin(store, TXN_READ);
    bw_err err = bw_tree_get(txn, 1, key, &value, &found);
    bw_txn_abort(txn);
    return err;
}

static uint8_t *leaf(void) { return sim_disk_find(&sim, SAMPLE_FILE)->cache + 2 * PAGE_SIZE; }

static void mend_checksum(uint8_t *page)
{
    uint64_t sum = 0;
    bw_page_sums(page, 1, store->salt, &sum);
    bw_put_u64(page, bw_page_checksum(&sum, 1, store->salt));
}

static void a_file_is_mapped_when_a_page_is_first_read(void)
{
    begin();
    CHECK_OK(get(1));
    CHECK_TEXT(relay.log, "m");
    CHECK_OK(get(2));
    CHECK_TEXT(relay.log, "m");
    end();
}

static void a_page_is_verified_before_it_is_first_used(void)
{
    for (size_t at = 0; at < PAGE_SIZE; at += 37) {
        begin();
        leaf()[at] ^= 4;
        CHECK_ERR(get(1), BW_ERR_FILE_PAGES_CORRUPT);
        CHECK(strstr(bw_reason_text(), "Page 2 of the file is damaged") != NULL);
        CHECK_ERR(get(1), BW_ERR_FILE_PAGES_CORRUPT); // and again
        leaf()[at] ^= 4;
        CHECK_OK(get(1));
        end();
    }
}

static void its_header_is_what_led_to_it(void)
{
    static const struct {
        size_t at, size;
        uint64_t number;
        const char *text;
    } table[] = {
        {PAGE_AT_NUMBER, 4, 3, "another page's number"},
        {PAGE_AT_KIND, 1, PAGE_BRANCH, "another kind"},
        {PAGE_AT_KIND, 1, PAGE_OVERFLOW, "another kind"},
        {PAGE_AT_TREE, 4, 2, "another tree's"},
        {PAGE_AT_PAGES, 1, 2, "another length"},
        {PAGE_AT_PAGES, 1, 0, "another length"},
        {PAGE_AT_LOWER, 2, 0, "bounds outside of it"},
        {PAGE_AT_LOWER, 2, 4090, "bounds outside of it"},
        {PAGE_AT_UPPER, 2, 4097, "bounds outside of it"},
        {PAGE_AT_UPPER, 2, UINT16_MAX, "bounds outside of it"},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        begin();
        uint8_t bytes[8];
        bw_put_u64(bytes, table[i].number);
        memcpy(leaf() + table[i].at, bytes, table[i].size);
        mend_checksum(leaf());
        CHECK_ERR(get(1), BW_ERR_FILE_PAGES_CORRUPT);
        CHECK(strstr(bw_reason_text(), table[i].text) != NULL);
        end();
    }
}

static void a_branch_has_a_possible_number_of_children(void)
{
    static const uint16_t counts[] = {0, 255, UINT16_MAX};
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        begin();
        sample_commit(store, 1, 1, 500, 100, 2);
        const page_no root = bw_ref_page(store->cur->trees[0].root);
        CHECK_EQ(store->cur->trees[0].depth, 2);
        bw_store_close(store);
        uint8_t *branch = sim_disk_find(&sim, SAMPLE_FILE)->cache + (size_t)root * PAGE_SIZE;
        store = sample_open(&relay.disk);
        bw_put_u16(branch + PAGE_AT_COUNT, counts[i]);
        mend_checksum(branch);
        CHECK_ERR(get(1), BW_ERR_FILE_PAGES_CORRUPT);
        CHECK(strstr(bw_reason_text(), "an impossible number of children") != NULL);
        end();
    }
}

static void references_lead_into_the_file(void)
{
    static const page_ref refs[] = {0x00000001, 0x00000003, 0x10000002, 0x0fffffff,
                                    0xffffffff, 0x70003fff, 0x00004000};
    for (size_t i = 0; i < sizeof(refs) / sizeof(refs[0]); i++) {
        begin();
        store->cur->trees[0].root = refs[i]; // as a slot could say it
        CHECK_ERR(get(1), BW_ERR_FILE_PAGES_CORRUPT);
        CHECK(strstr(bw_reason_text(), "a reference leads outside the file") != NULL);
        end();
    }
}

static void a_depth_that_no_tree_has_is_refused(void)
{
    static const uint8_t depths[] = {0, 2, TREE_DEPTH_MAX, TREE_DEPTH_MAX + 1, 255};
    for (size_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++) {
        begin();
        store->cur->trees[0].depth = depths[i];
        CHECK_ERR(get(1), BW_ERR_FILE_PAGES_CORRUPT);
        end();
    }
}

static void a_map_that_fails_is_tried_again(void)
{
    begin();
    relay.fail_after = 0;
    CHECK_ERR(get(1), BW_ERR_STORAGE_GENERAL);
    CHECK_EQ(relay.failed, CALL_MAP);
    relay.fail_after = -1;
    CHECK_OK(get(1));
    end();
}

static void running_out_of_memory_for_a_window_is_an_error(void)
{
    begin();
    struct txn *txn = sample_begin(store, TXN_READ);
    struct bytes value;
    bool found = false;
    for (int allowed = 0;; allowed++) {
        bw_memory_fail_after(allowed);
        bw_err err = bw_tree_get(txn, 1, 1, &value, &found);
        bw_memory_fail_after(-1);
        if (!err) break;
        CHECK_EQ(err, BW_ERR_NO_MEMORY);
        CHECK(allowed < 5);
    }
    bw_txn_abort(txn);
    end();
}

static void bytes_stay_where_they_are_while_the_file_grows(void)
{
    begin();
    struct txn *reader = sample_begin(store, TXN_READ);
    struct bytes before, after;
    bool found = false;
    CHECK_OK(bw_tree_get(reader, 1, 7, &before, &found));
    uint8_t copy[VALUE];
    memcpy(copy, before.data, VALUE);
    for (unsigned i = 0; i < 20; i++) sample_commit(store, 1, 1 + i * 50, 50, 2000, i);
    CHECK_BYTES(before.data, copy, VALUE);
    CHECK_OK(bw_tree_get(reader, 1, 7, &after, &found));
    CHECK(after.data == before.data); // G1
    bw_txn_abort(reader);
    end();
}

/* ---- a file that contradicts itself, with checksums that fit ---- */

/* Let the newest slot call a page free, and be all there is. */
static void call_free(page_no page)
{
    uint8_t *bytes = sim_disk_find(&sim, SAMPLE_FILE)->cache;
    const bool first_is_newer =
        bw_get_u64(bytes + SLOT_AT_TXN) > bw_get_u64(bytes + PAGE_SIZE + SLOT_AT_TXN);
    uint8_t *image = bytes + (first_is_newer ? 0 : PAGE_SIZE);
    struct slot slot;
    CHECK_EQ(bw_slot_decode(image, &slot), SLOT_GOOD);
    image[(size_t)(slot.bits - image) + page / 8] &= (uint8_t)~(1u << page % 8);
    bw_put_u16(image + SLOT_AT_RUN_COUNT, 0);
    bw_put_u64(image + SLOT_AT_CHECKSUM,
               bw_hash64(image + SLOT_AT_VERSION, SLOT_CHECKED_SIZE - SLOT_AT_VERSION, 0));
    memset(bytes + (first_is_newer ? PAGE_SIZE : 0), 0, PAGE_SIZE);
}

static void a_page_that_is_called_free_is_not_changed(void)
{
    begin();
    const uint32_t hwm = store->cur->hwm;
    bw_store_close(store);
    call_free(2);
    store = sample_open(&relay.disk);
    CHECK_OK(get(1)); // reading believes the tree
    struct txn *txn = sample_begin(store, TXN_WRITE);
    bool removed = false;
    CHECK_ERR(sample_put(txn, 1, 1, 1, VALUE, 2), BW_ERR_FILE_PAGES_CORRUPT);
    CHECK(strstr(bw_reason_text(), "Page 2 of the file is damaged: called free") != NULL);
    CHECK_ERR(bw_tree_remove(txn, 1, 1, &removed), BW_ERR_FILE_PAGES_CORRUPT);
    sample_expect(txn, 1, 1, VALUES, VALUE, 1);
    bw_txn_abort(txn);
    CHECK_EQ(store->cur->hwm, hwm);
    end();
}

static void a_page_that_was_given_out_again_is_not_read(void)
{
    begin();
    bw_store_close(store);
    call_free(2);
    store = sample_open(&relay.disk);
    struct txn *txn = sample_begin(store, TXN_WRITE);
    struct bytes value;
    bool found = false;
    CHECK_OK(sample_put(txn, 9, 1, 1, 20, 1)); // into page 2
    CHECK_ERR(bw_tree_get(txn, 1, 1, &value, &found), BW_ERR_FILE_PAGES_CORRUPT);
    CHECK_ERR(sample_put(txn, 1, 1, 1, VALUE, 2), BW_ERR_FILE_PAGES_CORRUPT);
    sample_expect(txn, 9, 1, 1, 20, 1);
    bw_txn_abort(txn);
    CHECK_OK(get(1)); // nothing was written
    end();
}

/* ---- beyond 64 MB; in memory, since the simulated disk is smaller ---- */

enum { LARGE = 40 << 20, LARGE_VALUES = 4 };

static void fill_large(uint8_t *bytes, unsigned i)
{
    for (size_t at = 0; at < LARGE; at += 4096) bw_put_u64(bytes + at, at * 31 + i);
}

static void expect_large(struct txn *txn, uint8_t *bytes, unsigned i)
{
    struct bytes value;
    bool found = false;
    CHECK_OK(bw_tree_get(txn, 1, i, &value, &found));
    CHECK(found);
    CHECK_EQ(value.size, LARGE);
    fill_large(bytes, i);
    CHECK(memcmp(value.data, bytes, LARGE) == 0);
}

static void a_file_of_several_windows_is_read_and_written(void)
{
    struct store_options options = sample_options(bw_disk_memory());
    uint8_t *bytes = calloc(1, LARGE);
    CHECK(bytes != NULL);
    options.durability = DURABLE_NONE;
    CHECK_OK(bw_store_open(&options, &store));
    for (unsigned i = 1; i <= LARGE_VALUES; i++) {
        struct txn *txn = sample_begin(store, TXN_WRITE);
        fill_large(bytes, i);
        CHECK_OK(bw_tree_put(txn, 1, i, (struct bytes){bytes, LARGE}, NULL));
        CHECK_OK(sample_put(txn, 2, i * 100, 100, 500, i));
        CHECK_OK(bw_txn_commit(txn));
    }
    for (int round = 0; round < 2; round++) {
        struct txn *txn = sample_begin(store, TXN_READ);
        for (unsigned i = 1; i <= LARGE_VALUES; i++) {
            expect_large(txn, bytes, i);
            sample_expect(txn, 2, i * 100, 100, 500, i);
        }
        sample_prove(txn); // the bitmaps of regions, too
        bw_txn_abort(txn);
        bw_store_close(store);
        CHECK_OK(bw_store_open(&options, &store));
    }
    struct store_info info;
    bw_store_info(store, &info);
    CHECK(info.file_size > 2ull * WINDOW_PAGES * PAGE_SIZE);
    struct txn *txn = sample_begin(store, TXN_WRITE);
    CHECK_OK(sample_remove(txn, 1, 2, 2));
    CHECK_OK(bw_txn_commit(txn));
    for (unsigned i = 0; i < 3; i++) sample_commit(store, 2, 1, 1, 10, i);
    txn = sample_begin(store, TXN_WRITE); // into the places that have come free
    fill_large(bytes, 9);
    CHECK_OK(bw_tree_put(txn, 1, 9, (struct bytes){bytes, LARGE}, NULL));
    CHECK_OK(bw_txn_commit(txn));
    txn = sample_begin(store, TXN_READ);
    expect_large(txn, bytes, 1);
    expect_large(txn, bytes, 4);
    expect_large(txn, bytes, 9);
    sample_prove(txn);
    bw_txn_abort(txn);
    bw_store_close(store);
    CHECK_OK(bw_store_remove(bw_disk_memory(), SAMPLE_DIRECTORY));
    free(bytes);
    sample_expect_nothing_left();
}

static void a_value_of_several_extents_is_joined(void)
{
    struct store_options options = sample_options(bw_disk_memory());
    const size_t size = VALUE_CONTIGUOUS_MAX + 100u;
    uint8_t *bytes = calloc(1, size);
    struct bytes value;
    bool found = false;
    CHECK(bytes != NULL);
    for (size_t at = 0; at + 8 < size; at += 4099) bw_put_u64(bytes + at, at * 31);
    options.durability = DURABLE_NONE;
    CHECK_OK(bw_store_open(&options, &store));
    struct txn *txn = sample_begin(store, TXN_WRITE);
    CHECK_OK(bw_tree_put(txn, 1, 1, (struct bytes){bytes, size}, NULL));
    CHECK_OK(bw_txn_commit(txn));
    txn = sample_begin(store, TXN_READ);
    bw_memory_fail_after(2);
    CHECK_ERR(bw_tree_get(txn, 1, 1, &value, &found), BW_ERR_NO_MEMORY);
    bw_memory_fail_after(-1);
    CHECK_OK(bw_tree_get(txn, 1, 1, &value, &found));
    CHECK(found);
    CHECK_EQ(value.size, size);
    CHECK_EQ((uintptr_t)value.data % 8, 0);
    CHECK(memcmp(value.data, bytes, size) == 0);
    bw_txn_abort(txn);
    bw_store_close(store);
    CHECK_OK(bw_store_remove(bw_disk_memory(), SAMPLE_DIRECTORY));
    free(bytes);
    sample_expect_nothing_left();
}

RUN_TESTS(TEST(a_file_is_mapped_when_a_page_is_first_read),
          TEST(a_page_is_verified_before_it_is_first_used), TEST(its_header_is_what_led_to_it),
          TEST(a_branch_has_a_possible_number_of_children), TEST(references_lead_into_the_file),
          TEST(a_depth_that_no_tree_has_is_refused), TEST(a_map_that_fails_is_tried_again),
          TEST(running_out_of_memory_for_a_window_is_an_error),
          TEST(a_page_that_is_called_free_is_not_changed),
          TEST(a_page_that_was_given_out_again_is_not_read),
          TEST(bytes_stay_where_they_are_while_the_file_grows),
          TEST(a_file_of_several_windows_is_read_and_written),
          TEST(a_value_of_several_extents_is_joined))
