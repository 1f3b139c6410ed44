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

/* ---- what a transaction has of its own ---- */

enum { TREE = 9 };

static uint8_t *new_extent(struct txn *txn, enum page_kind kind, uint32_t pages, page_no *out_page)
{
    uint8_t *extent = NULL;
    CHECK_OK(bw_page_new(txn, kind, TREE, pages, out_page, &extent));
    return extent;
}

static void expect_called_free(bw_err err)
{
    CHECK_EQ(err, BW_ERR_FILE_PAGES_CORRUPT);
    CHECK(strstr(bw_reason_text(), "called free") != NULL);
}

static void an_own_extent_is_what_the_reference_says(void)
{
    begin();
    struct txn *txn = sample_begin(store, TXN_WRITE);
    const uint8_t *read = NULL;
    uint8_t *owned = NULL;
    page_no page = 0;
    uint8_t *extent = new_extent(txn, PAGE_LEAF, 2, &page);
    page_ref ref = bw_ref_make(page, 2, false), longer = bw_ref_make(page, 3, false);
    CHECK_OK(bw_page_read(txn, ref, PAGE_LEAF, TREE, &read));
    CHECK(read == extent);
    expect_called_free(bw_page_read(txn, longer, PAGE_LEAF, TREE, &read));
    expect_called_free(bw_page_read(txn, ref, PAGE_BRANCH, TREE, &read));
    expect_called_free(bw_page_read(txn, ref, PAGE_LEAF, TREE + 1, &read));
    expect_called_free(bw_page_own(txn, &longer, PAGE_LEAF, TREE, &owned));
    CHECK_OK(bw_page_own(txn, &ref, PAGE_LEAF, TREE, &owned));
    CHECK(owned == extent);
    CHECK_EQ(ref, bw_ref_make(page, 2, false));
    expect_called_free(bw_page_free(txn, page, 1, 0));
    CHECK_OK(bw_page_free(txn, page, 2, 0));
    CHECK(bw_page_owned(txn, page) == NULL);
    bw_txn_abort(txn);
    end();
}

static void a_reader_owns_nothing(void)
{
    begin();
    struct txn *txn = sample_begin(store, TXN_READ);
    CHECK(bw_page_owned(txn, 2) == NULL);
    bw_txn_abort(txn);
    end();
}

static void an_extent_is_shrunk_from_its_end(void)
{
    begin();
    struct txn *txn = sample_begin(store, TXN_WRITE);
    page_no leaf_page = 0, value_page = 0, next = 0;
    const uint8_t *leaf_bytes = new_extent(txn, PAGE_LEAF, 3, &leaf_page);
    const uint8_t *value_bytes = new_extent(txn, PAGE_OVERFLOW, 3, &value_page);
    bw_page_shrink(txn, leaf_page, 3); // nothing to give
    CHECK_EQ(leaf_bytes[PAGE_AT_PAGES], 3);
    bw_page_shrink(txn, leaf_page, 2);
    CHECK_EQ(leaf_bytes[PAGE_AT_PAGES], 2);
    bw_page_shrink(txn, value_page, 1);
    CHECK_EQ(value_bytes[PAGE_AT_PAGES], 0); // the length of these lies elsewhere
    (void)new_extent(txn, PAGE_LEAF, 1, &next);
    CHECK_EQ(next, leaf_page + 2);
    (void)new_extent(txn, PAGE_LEAF, 2, &next);
    CHECK_EQ(next, value_page + 1);
    bw_txn_abort(txn);
    end();
}

static void only_pages_of_the_store_are_freed(void)
{
    static const struct {
        page_no page;
        uint32_t pages;
    } table[] = {{0, 1}, {1, 1}, {2, 2000}, {UINT32_MAX, 1}, {900, 1}};
    begin();
    struct txn *txn = sample_begin(store, TXN_WRITE);
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        CHECK_ERR(bw_page_free(txn, table[i].page, table[i].pages, 0), BW_ERR_FILE_PAGES_CORRUPT);
        CHECK(strstr(bw_reason_text(), "a reference to a page that is free") != NULL);
    }
    CHECK_OK(bw_page_free(txn, 2, 1, 1));
    CHECK_ERR(bw_page_free(txn, 2, 1, 1), BW_ERR_FILE_PAGES_CORRUPT); // twice
    bw_txn_abort(txn);
    sample_prove_store(store);
    end();
}

/* As a reference in a leaf could say it. */
static void values_lead_into_the_file(void)
{
    static const struct {
        page_no page;
        uint32_t pages;
    } table[] = {{2, 0}, {0, 1}, {1, 1}, {3, OVERFLOW_PAGES_MAX + 1}, {3, UINT32_MAX}, {900, 1}};
    begin();
    struct txn *txn = sample_begin(store, TXN_READ);
    const uint8_t *extent = NULL;
    ((struct snapshot *)txn->snapshot)->hwm += 3 * WINDOW_PAGES;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (table[i].page == 900) ((struct snapshot *)txn->snapshot)->hwm -= 3 * WINDOW_PAGES;
        CHECK_ERR(bw_page_read_overflow(txn, table[i].page, table[i].pages, 1, &extent),
                  BW_ERR_FILE_PAGES_CORRUPT);
        CHECK(strstr(bw_reason_text(), "a reference leads outside the file") != NULL);
    }
    ((struct snapshot *)txn->snapshot)->hwm += 3 * WINDOW_PAGES;
    CHECK_ERR(bw_page_read_overflow(txn, WINDOW_PAGES - 1, 2, 1, &extent),
              BW_ERR_FILE_PAGES_CORRUPT); // no extent crosses a window
    CHECK(strstr(bw_reason_text(), "a reference leads outside the file") != NULL);
    ((struct snapshot *)txn->snapshot)->hwm -= 3 * WINDOW_PAGES;
    bw_txn_abort(txn);
    end();
}

static void a_store_without_a_commit_has_no_pages(void)
{
    sim_disk_init(&sim, 1);
    store = sample_open(&sim.disk);
    struct txn *txn = sample_begin(store, TXN_WRITE);
    const uint8_t *extent = NULL;
    CHECK_ERR(bw_page_read(txn, bw_ref_make(2, 1, false), PAGE_LEAF, 1, &extent),
              BW_ERR_FILE_PAGES_CORRUPT);
    bw_txn_abort(txn);
    end();
}

static void pages_beyond_the_largest_file_have_no_window(void)
{
    const page_no beyond = REF_PAGE_MAX + 1;
    const uint8_t *bytes = NULL;
    begin();
    CHECK_ERR(bw_pager_view(store, beyond, 1, &bytes), BW_ERR_FILE_PAGES_CORRUPT);
    // The simulated disk maps one window; the table of the others is made all the same.
    CHECK_ERR(bw_pager_view(store, WINDOW_PAGES, 1, &bytes), BW_ERR_STORAGE_GENERAL);
    bw_pager_mark_verified(store, beyond);
    bw_pager_mark_verified(store, WINDOW_PAGES); // not mapped: nothing is kept
    end();
}

static void a_page_that_cannot_be_owned_stays_as_it_is(void)
{
    begin();
    struct txn *txn = sample_begin(store, TXN_WRITE);
    const page_ref root = store->cur->trees[0].root;
    page_ref ref = root;
    uint8_t *owned = NULL;
    leaf()[PAGE_SIZE - 1] ^= 1;
    CHECK_ERR(bw_page_own(txn, &ref, PAGE_LEAF, 1, &owned), BW_ERR_FILE_PAGES_CORRUPT);
    leaf()[PAGE_SIZE - 1] ^= 1;
    for (int allowed = 0;; allowed++) {
        CHECK_EQ(ref, root);
        bw_memory_fail_after(allowed);
        bw_err err = bw_page_own(txn, &ref, PAGE_LEAF, 1, &owned);
        bw_memory_fail_after(-1);
        if (!err) break;
        CHECK_EQ(err, BW_ERR_NO_MEMORY);
        CHECK(allowed < 10);
    }
    CHECK(ref != root);
    bw_txn_abort(txn);
    sample_prove_store(store);
    end();
}

static void notes_and_scratch_need_memory(void)
{
    begin();
    struct txn *txn = sample_begin(store, TXN_WRITE);
    uint8_t *bytes = NULL;
    bw_memory_fail_after(0);
    CHECK_ERR(bw_page_free(txn, 2, 1, 1), BW_ERR_NO_MEMORY);
    CHECK_ERR(bw_page_make_room(txn, 3), BW_ERR_NO_MEMORY);
    CHECK_ERR(bw_txn_scratch(txn, 100, &bytes), BW_ERR_NO_MEMORY);
    bw_memory_fail_after(-1);
    CHECK_OK(bw_page_make_room(txn, 1));
    bw_memory_fail_after(0);
    CHECK_OK(bw_page_free(txn, 2, 1, 1));
    bw_memory_fail_after(-1);
    bw_txn_abort(txn);
    sample_prove_store(store);
    end();
}

/* The map of free pages covers 1,024 pages at first. */
static void growing_the_map_of_free_pages_needs_memory(void)
{
    begin();
    struct txn *txn = sample_begin(store, TXN_WRITE);
    page_no page = 0;
    uint8_t *extent = NULL;
    bw_memory_fail_after(0);
    CHECK_ERR(bw_page_new(txn, PAGE_OVERFLOW, TREE, 1100, &page, &extent), BW_ERR_NO_MEMORY);
    bw_memory_fail_after(-1);
    CHECK_OK(bw_page_new(txn, PAGE_OVERFLOW, TREE, 1100, &page, &extent));
    bw_txn_abort(txn);
    end();
}

/* Take pages one by one until there are no more. */
static uint32_t count_pages(struct txn *txn, uint32_t count_max)
{
    uint32_t count = 0;
    page_no page = 0;
    uint8_t *extent = NULL;
    while (count < count_max) {
        bw_err err = bw_page_new(txn, PAGE_LEAF, TREE, 1, &page, &extent);
        if (err) CHECK_EQ(err, BW_ERR_DB_FULL);
        if (err) break;
        count++;
    }
    return count;
}

static void expect_pages(uint64_t size_max, const struct geometry *geometry, uint32_t count,
                         uint32_t reserve)
{
    struct store_options options = sample_options(&sim.disk);
    sim_disk_init(&sim, 1);
    options.size_max = size_max;
    options.geometry = geometry;
    CHECK_OK(bw_store_open(&options, &store));
    struct txn *txn = sample_begin(store, TXN_WRITE);
    CHECK_EQ(count_pages(txn, count), count);
    if (reserve) CHECK_EQ(count_pages(txn, 1), 0);
    bw_txn_use_reserve(txn, true);
    if (reserve) CHECK_EQ(count_pages(txn, UINT32_MAX), reserve);
    bw_txn_use_reserve(txn, false);
    bw_txn_abort(txn);
    end();
}

static void removals_may_pass_the_size_limit_by_a_reserve(void)
{
    expect_pages(100 * PAGE_SIZE, NULL, 98, 16);
    expect_pages(400 * PAGE_SIZE, NULL, 398, 50); // an eighth
}

static void limits_beyond_the_formats_are_no_limits(void)
{
    struct geometry wide = bw_geometry_default;
    wide.region_pages = REF_PAGE_MAX / 1000; // 1,024 of these are more pages than there are numbers
    expect_pages(UINT64_C(1) << 50, NULL, 100, 0);
    expect_pages(0, &wide, 100, 0);
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
          TEST(an_own_extent_is_what_the_reference_says), TEST(a_reader_owns_nothing),
          TEST(an_extent_is_shrunk_from_its_end), TEST(only_pages_of_the_store_are_freed),
          TEST(values_lead_into_the_file), TEST(a_store_without_a_commit_has_no_pages),
          TEST(pages_beyond_the_largest_file_have_no_window),
          TEST(a_page_that_cannot_be_owned_stays_as_it_is), TEST(notes_and_scratch_need_memory),
          TEST(growing_the_map_of_free_pages_needs_memory),
          TEST(removals_may_pass_the_size_limit_by_a_reserve),
          TEST(limits_beyond_the_formats_are_no_limits),
          TEST(bytes_stay_where_they_are_while_the_file_grows),
          TEST(a_file_of_several_windows_is_read_and_written),
          TEST(a_value_of_several_extents_is_joined))
