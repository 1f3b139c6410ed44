/* SPDX-License-Identifier: Apache-2.0 */
#include "store/pack.h"

#include <stdlib.h>

#include "harness/check.h"
#include "harness/copies.h"
#include "harness/sample.h"
#include "harness/sim_disk.h"
#include "store/branch.h"
#include "store/leaf.h"
#include "store/slot.h"

/* What a pack hands on. */
static struct {
    uint8_t seen[1 << 16]; /* a byte a page */
    uint32_t pages, calls, longest, end;
    uint8_t slot[PAGE_SIZE];
    bool is_finished;
    int64_t fail_after; /* calls; -1: never */
} out;

static bw_err put(void *context, page_no first, const uint8_t *bytes, uint32_t pages)
{
    CHECK_EQ(context, &out);
    CHECK(!out.is_finished);
    CHECK(first >= SLOT_COUNT && first + pages <= sizeof(out.seen));
    if (out.fail_after >= 0 && out.fail_after-- == 0) return bw_fail(BW_ERR_DB_FULL, "full");
    for (uint32_t i = 0; i < pages; i++) CHECK_EQ(out.seen[first + i]++, 0); // J2
    CHECK(bytes != NULL);
    out.pages += pages;
    out.calls++;
    if (pages > out.longest) out.longest = pages;
    if (first + pages > out.end) out.end = first + pages;
    return BW_OK;
}

static bw_err finish(void *context, const uint8_t *slot)
{
    CHECK_EQ(context, &out);
    memcpy(out.slot, slot, PAGE_SIZE);
    out.is_finished = true;
    return BW_OK;
}

static struct sim_disk sim;
static struct store *store;
static const struct copies_kind *kind;

static void begin(int number)
{
    sim_disk_init(&sim, 1);
    kind = &copies_kinds[number];
    store = copies_make(&sim.disk, SAMPLE_DIRECTORY, kind);
    memset(&out, 0, sizeof(out));
    out.fail_after = -1;
}

static void end(void)
{
    bw_store_close(store);
    sim_disk_deinit(&sim);
    sample_expect_nothing_left();
}

static bw_err pack(void)
{
    static const uint8_t uuid[16] = {1, 2, 3};
    const struct pack_output output = {.put = put, .finish = finish, .context = &out};
    struct txn *txn = sample_begin(store, TXN_READ);
    bw_err err = bw_pack(txn, uuid, &output, NULL);
    bw_txn_abort(txn);
    return err;
}

static void every_page_is_handed_on_once(void)
{
    for (int i = 0; i < COPIES_KINDS; i++) {
        struct slot slot;
        begin(i);
        CHECK_OK(pack());
        CHECK(out.is_finished);
        CHECK_EQ(bw_slot_decode(out.slot, &slot), SLOT_GOOD);
        CHECK(out.longest <= PACK_RUN_PAGES);
        CHECK(out.end <= slot.hwm);
        CHECK_EQ(slot.run_count, 0);
        CHECK_EQ(slot.base, 0);
        if (!kind->geometry) CHECK_EQ(out.pages + SLOT_COUNT, slot.hwm);
        if (i == 2) CHECK_EQ(out.longest, PACK_RUN_PAGES);
        end();
    }
}

static void a_failing_output_ends_it(void)
{
    for (int64_t calls = 0, is_done = 0; !is_done; calls++) {
        begin(2);
        out.fail_after = calls;
        bw_err err = pack();
        is_done = !err;
        if (err) CHECK_ERR(err, BW_ERR_DB_FULL);
        CHECK_EQ(out.is_finished, !err);
        end();
    }
}

/* ---- files in which checksums fit and the rest does not ---- */

static uint8_t *page_of(page_no page)
{
    return sim_disk_find(&sim, SAMPLE_FILE)->cache + (size_t)page * PAGE_SIZE;
}

static void write_page(page_no number, uint8_t *page)
{
    uint64_t sum = 0;
    bw_page_sums(page, 1, store->salt, &sum);
    bw_put_u64(page, bw_page_checksum(&sum, 1, store->salt));
    sim_disk_poke(&sim, SAMPLE_FILE, (uint64_t)number * PAGE_SIZE, page, PAGE_SIZE);
}

static void references_that_run_together_are_refused(void)
{
    uint8_t page[PAGE_SIZE];
    begin(2);
    const struct tree_entry *entry = &store->cur->trees[0];
    CHECK_EQ(entry->depth, 3);
    const page_no root = bw_ref_page(entry->root);
    memcpy(page, page_of(root), PAGE_SIZE);
    bw_put_u16(page + PAGE_AT_COUNT, BRANCH_CHILDREN_MAX);
    for (unsigned i = 0; i < BRANCH_CHILDREN_MAX; i++)
        bw_branch_set_ref(page, i, bw_branch_ref(page, 0));
    write_page(root, page);
    CHECK_ERR(pack(), BW_ERR_FILE_PAGES_CORRUPT); // J3
    CHECK(out.pages <= store->cur->hwm);
    CHECK(strstr(bw_reason_text(), "reachable more than once"));
    end();
}

static void a_catalogue_that_lies_is_refused(void)
{
    uint8_t page[PAGE_SIZE];
    begin(3);
    const struct tree_entry *entry = &store->cur->trees[0];
    CHECK(store->cur->has_catalog);
    CHECK_EQ(entry->depth, 1);
    const page_no root = bw_ref_page(entry->root);
    CHECK_EQ(bw_ref_pages(entry->root), 1);
    struct leaf_entry value;
    memcpy(page, page_of(root), PAGE_SIZE);
    CHECK(bw_leaf_entry(page, 4, &value));
    page[value.data - page]++; // its id
    write_page(root, page);
    CHECK_ERR(pack(), BW_ERR_FILE_PAGES_CORRUPT);

    memcpy(page, page_of(root), PAGE_SIZE);
    page[value.data - page]--;
    page[value.data - page + 5] = 99; // its depth
    write_page(root, page);
    CHECK_ERR(pack(), BW_ERR_FILE_PAGES_CORRUPT);
    CHECK_TEXT(bw_reason_text(), "The depth of tree 5 is impossible");
    end();
}

static void a_leaf_that_points_outside_of_itself_is_refused(void)
{
    uint8_t page[PAGE_SIZE];
    begin(COPIES_SMALL);
    const page_no root = bw_ref_page(store->cur->trees[0].root);
    memcpy(page, page_of(root), PAGE_SIZE);
    bw_put_u16(page + LEAF_SLOTS_AT + 2, 9000); // the length of its first value
    write_page(root, page);
    CHECK_ERR(pack(), BW_ERR_FILE_PAGES_CORRUPT);
    end();
}

/* ---- extents that fill windows ---- */

static void long_values_are_packed_around_windows_and_bitmaps(void)
{
    static const size_t sizes[] = {40u << 20, 68u << 20, 30u << 20, 5000};
    enum { COUNT = sizeof(sizes) / sizeof(sizes[0]), LARGEST = 68u << 20 };
    uint8_t *bytes = malloc(LARGEST);
    CHECK(bytes != NULL);
    for (size_t at = 0; at < LARGEST; at += 4096) bytes[at] = (uint8_t)(at / 4096 * 7);
    struct store_options options = sample_options(bw_disk_memory());
    options.durability = DURABLE_NONE;
    struct store *copy = NULL;
    CHECK_OK(bw_store_open(&options, &store));
    struct txn *txn = sample_begin(store, TXN_WRITE);
    for (uint64_t i = 0; i < COUNT; i++)
        CHECK_OK(bw_tree_put(txn, 1, 1 + i, (struct bytes){bytes, sizes[i]}, NULL));
    CHECK_OK(sample_put(txn, 2, 1, 100, 300, 1));
    CHECK_OK(bw_txn_commit(txn));
    CHECK_OK(copies_copy(store, bw_disk_memory(), NULL));
    bw_store_close(store);
    CHECK_OK(bw_store_remove(bw_disk_memory(), SAMPLE_DIRECTORY));

    options.directory = COPIES_DIRECTORY;
    CHECK_OK(bw_store_open(&options, &copy));
    CHECK(copy->cur->hwm > 2 * WINDOW_PAGES);
    sample_prove_store(copy);
    txn = sample_begin(copy, TXN_READ);
    for (uint64_t i = 0; i < COUNT; i++) {
        struct bytes value;
        bool found = false;
        CHECK_OK(bw_tree_get(txn, 1, 1 + i, &value, &found));
        CHECK(found);
        CHECK_EQ(value.size, sizes[i]);
        CHECK_BYTES(value.data, bytes, sizes[i]);
    }
    sample_expect(txn, 2, 1, 100, 300, 1);
    bw_txn_abort(txn);
    sample_commit(copy, 2, 50, 100, 300, 2);
    sample_prove_store(copy);
    bw_store_close(copy);
    CHECK_OK(bw_store_remove(bw_disk_memory(), COPIES_DIRECTORY));
    free(bytes);
    sample_expect_nothing_left();
}

RUN_TESTS(TEST(every_page_is_handed_on_once), TEST(a_failing_output_ends_it),
          TEST(references_that_run_together_are_refused), TEST(a_catalogue_that_lies_is_refused),
          TEST(a_leaf_that_points_outside_of_itself_is_refused),
          TEST(long_values_are_packed_around_windows_and_bitmaps))
