/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files whose checksums fit and whose contents lie (harness/hostile.h): each once was believed by a
 * process that wrote to it, or that only looked at it, to its harm. What is asked of the engine is
 * a typed error.
 */
#include <stdlib.h>

#include "harness/check.h"
#include "harness/hostile.h"
#include "harness/sample.h"
#include "harness/sim_disk.h"
#include "store/branch.h"
#include "store/leaf.h"
#include "store/slot.h"

static struct sim_disk sim;
static struct store *store;
static struct image image;
static const struct geometry *geometry;

static uint8_t *page_of(uint32_t page) { return image.bytes + (size_t)page * PAGE_SIZE; }

/* A sound file, to be changed. */
static void begin(enum hostile_base base)
{
    const struct hostile_store *sound = hostile_store(base);
    const size_t size = (size_t)sound->page_count * PAGE_SIZE;
    image = (struct image){.bytes = malloc(size), .page_count = sound->page_count};
    image.changed = calloc(1, sound->page_count);
    CHECK(image.bytes && image.changed);
    memcpy(image.bytes, sound->bytes, size);
    geometry = sound->geometry;
}

static bw_err open_image(void)
{
    struct file file;
    bool done = false;
    refix_image(&(struct image){.bytes = image.bytes, .page_count = image.page_count});
    sim_disk_init(&sim, 1);
    CHECK_OK(sim.disk.make_directory(&sim.disk, SAMPLE_DIRECTORY, 0755, &done));
    CHECK_OK(sim.disk.open(&sim.disk, SAMPLE_FILE, OPEN_CREATE, 0644, &file, &done));
    const struct span span = {image.bytes, (size_t)image.page_count * PAGE_SIZE};
    CHECK_OK(sim.disk.write(file, 0, &span, 1));
    sim.disk.close(file);
    sim_disk_settle(&sim);
    struct store_options options = sample_options(&sim.disk);
    options.geometry = geometry;
    store = NULL;
    return bw_store_open(&options, &store);
}

static void end(void)
{
    bw_store_close(store);
    sim_disk_deinit(&sim);
    free(image.bytes);
    free(image.changed);
    sample_expect_nothing_left();
}

static uint8_t *newest_slot(void)
{
    const bool is_first =
        bw_get_u64(page_of(0) + SLOT_AT_TXN) > bw_get_u64(page_of(1) + SLOT_AT_TXN);
    return page_of(is_first ? 0 : 1);
}

/* The tree's entry in the newest slot. */
static uint8_t *entry_of(uint32_t tree_id)
{
    uint8_t *slot = newest_slot();
    for (unsigned i = 0; i < bw_get_u16(slot + SLOT_AT_TREE_COUNT); i++) {
        uint8_t *entry = slot + SLOT_AT_BODY + (size_t)i * TREE_ENTRY_SIZE;
        if (bw_get_u32(entry) == tree_id) return entry;
    }
    CHECK(false);
    return NULL;
}

static page_ref root_of(uint32_t tree_id) { return bw_get_u32(entry_of(tree_id) + 8); }

/* Both slots call these pages free. */
static void call_free(uint32_t page, uint32_t pages)
{
    for (int i = 0; i < SLOT_COUNT; i++) {
        struct slot slot;
        uint8_t *bytes = page_of((uint32_t)i);
        CHECK_EQ(bw_slot_decode(bytes, &slot), SLOT_GOOD);
        uint8_t *bits = bytes + (slot.bits - bytes);
        for (uint32_t each = page; each < page + pages; each++)
            bits[each / 8] &= (uint8_t)~(1u << each % 8);
    }
}

/* Where the value of a tree of one leaf lies, or its reference. */
static uint8_t *value_at(uint32_t tree_id, uint64_t key)
{
    uint8_t *leaf = page_of(bw_ref_page(root_of(tree_id)));
    struct leaf_entry entry;
    unsigned at = 0;
    CHECK(bw_leaf_find(leaf, key, &at) && bw_leaf_entry(leaf, at, &entry));
    return leaf + (entry.data - leaf);
}

static bw_err put(struct txn *txn, uint32_t tree_id, uint64_t key, size_t size, uint8_t byte)
{
    uint8_t *bytes = malloc(size);
    CHECK(bytes != NULL);
    memset(bytes, byte, size);
    const bw_err err = bw_tree_put(txn, tree_id, key, (struct bytes){bytes, size}, NULL);
    free(bytes);
    return err;
}

/* ---- pages that are called free ---- */

/* The writer took them for a value of the same tree; removing the old one freed the new one. */
static void pages_of_a_value_that_are_called_free_get_no_second_owner(void)
{
    begin(HOSTILE_FORMS);
    const uint8_t *reference = value_at(5, 1);
    call_free(bw_get_u32(reference + REFERENCE_HEAD), bw_get_u32(reference + REFERENCE_HEAD + 4));
    CHECK_OK(open_image());
    struct txn *txn = sample_begin(store, TXN_WRITE);
    bool removed = false;
    CHECK_ERR(put(txn, 5, 9, 9000, 1), BW_ERR_FILE_PAGES_CORRUPT);
    CHECK_ERR(bw_tree_remove(txn, 5, 1, &removed), BW_ERR_FILE_PAGES_CORRUPT);
    CHECK_ERR(bw_tree_remove(txn, 5, 2, &removed), BW_ERR_FILE_PAGES_CORRUPT); // the same leaf
    CHECK_ERR(bw_tree_clear(txn, 5), BW_ERR_FILE_PAGES_CORRUPT);
    CHECK_OK(bw_txn_commit(txn));
    end();
}

/* The leaf below a branch became another tree's; the branch was copied with its reference. */
static void a_branch_with_a_leaf_that_was_given_out_is_not_changed(void)
{
    begin(HOSTILE_DEEP);
    const uint8_t *root = page_of(bw_ref_page(root_of(1)));
    CHECK_EQ(bw_branch_level(root), 2);
    const uint8_t *branch = page_of(bw_ref_page(bw_branch_ref(root, 0)));
    call_free(bw_ref_page(bw_branch_ref(branch, 3)), 1);
    CHECK_OK(open_image());
    struct txn *txn = sample_begin(store, TXN_WRITE);
    bool removed = false;
    CHECK_OK(put(txn, 2, 1, 100, 1));                             // there
    CHECK_ERR(put(txn, 1, 3, 100, 1), BW_ERR_FILE_PAGES_CORRUPT); // in the branch's first leaf
    CHECK_ERR(bw_tree_remove(txn, 1, 10, &removed), BW_ERR_FILE_PAGES_CORRUPT);
    CHECK_ERR(bw_tree_clear(txn, 1), BW_ERR_FILE_PAGES_CORRUPT);
    CHECK_OK(put(txn, 1, 10000, 100, 1)); // in another branch
    CHECK_OK(bw_txn_commit(txn));
    end();
}

/* Clearing freed the leaf of the tree that had got the page. */
static void a_root_that_was_given_out_is_not_cleared(void)
{
    enum { OTHERS = 30 };
    begin(HOSTILE_FORMS);
    call_free(bw_ref_page(root_of(1)), 1);
    CHECK_OK(open_image());
    struct txn *txn = sample_begin(store, TXN_WRITE);
    for (uint32_t id = 100; id < 100 + OTHERS; id++) CHECK_OK(put(txn, id, 1, 100, (uint8_t)id));
    CHECK_ERR(bw_tree_clear(txn, 1), BW_ERR_FILE_PAGES_CORRUPT);
    CHECK_ERR(bw_tree_drop(txn, 1), BW_ERR_FILE_PAGES_CORRUPT);
    CHECK_OK(bw_txn_commit(txn));
    txn = sample_begin(store, TXN_READ);
    for (uint32_t id = 100; id < 100 + OTHERS; id++) {
        struct bytes value;
        bool found = false;
        CHECK_OK(bw_tree_get(txn, id, 1, &value, &found));
        CHECK(found && value.data[50] == id);
    }
    bw_txn_abort(txn);
    end();
}

/* A cursor stood on it, and went on by what the new value said. */
static void a_page_that_a_reader_has_seen_is_not_written_over(void)
{
    begin(HOSTILE_LEAF);
    call_free(bw_ref_page(root_of(1)), 1);
    CHECK_OK(open_image());
    struct txn *reader = sample_begin(store, TXN_READ);
    struct cursor cursor;
    bool found = false;
    bw_cursor_init(&cursor, reader, 1);
    CHECK_OK(bw_cursor_next(&cursor, &found));
    CHECK(found);
    struct txn *txn = sample_begin(store, TXN_WRITE);
    CHECK_OK(put(txn, 2, 1, 9000, 0xff));
    CHECK_ERR(bw_txn_commit(txn), BW_ERR_FILE_PAGES_CORRUPT);
    while (found) CHECK_OK(bw_cursor_next(&cursor, &found));
    bw_txn_abort(reader);
    end();
}

static void a_schema_that_is_called_free_is_not_written_over(void)
{
    begin(HOSTILE_CATALOG);
    const page_no page = bw_get_u32(newest_slot() + SLOT_AT_SCHEMA_PAGE);
    CHECK(page != 0);
    call_free(page, 1);
    CHECK_OK(open_image());
    struct txn *txn = NULL;
    CHECK_ERR(bw_txn_begin(store, TXN_WRITE, 0, &txn), BW_ERR_FILE_PAGES_CORRUPT);
    end();
}

/* Readers hold only what they can see: a page that claims to be younger was given away too soon. */
static void a_page_that_is_younger_than_its_snapshot_is_refused(void)
{
    begin(HOSTILE_LEAF);
    bw_put_u64(page_of(bw_ref_page(root_of(1))) + PAGE_AT_BORN, 99);
    CHECK_OK(open_image());
    struct txn *txn = sample_begin(store, TXN_READ);
    struct bytes value;
    bool found = false;
    CHECK_ERR(bw_tree_get(txn, 1, 1, &value, &found), BW_ERR_FILE_PAGES_CORRUPT);
    bw_txn_abort(txn);
    end();
}

/* ---- values that overlap ---- */

/* Changing the value changed the reference: its count of extents was copied without a look. */
static void a_value_that_overlaps_a_reference_is_not_changed(void)
{
    begin(HOSTILE_FORMS);
    uint8_t *leaf = page_of(bw_ref_page(root_of(5)));
    unsigned small = 0, large = 0;
    CHECK(bw_leaf_find(leaf, 5, &small) && bw_leaf_find(leaf, 1, &large));
    uint64_t distance;
    uint8_t *slot = leaf + (bw_leaf_slot(leaf, small, &distance) - leaf);
    bw_put_u16(slot, bw_get_u16(bw_leaf_slot(leaf, large, &distance)));
    CHECK_OK(open_image());
    struct txn *txn = sample_begin(store, TXN_WRITE);
    CHECK_ERR(put(txn, 5, 5, 10, 0x7f), BW_ERR_FILE_PAGES_CORRUPT);
    CHECK_ERR(put(txn, 5, 9, 3000, 1), BW_ERR_FILE_PAGES_CORRUPT);
    bw_txn_abort(txn);
    end();
}

/* ---- branches that lead to the same place again and again ---- */

static void a_walk_over_the_same_leaf_ends(void)
{
    begin(HOSTILE_DEEP);
    uint8_t *root = page_of(bw_ref_page(root_of(1)));
    for (unsigned at = 1; at < bw_branch_children(root); at++)
        bw_branch_set_ref(root, at, bw_branch_ref(root, 0));
    uint8_t *branch = page_of(bw_ref_page(bw_branch_ref(root, 0)));
    for (unsigned at = 1; at < bw_branch_children(branch); at++)
        bw_branch_set_ref(branch, at, bw_branch_ref(branch, 0));
    CHECK_OK(open_image());
    struct txn *txn = sample_begin(store, TXN_WRITE);
    struct cursor cursor;
    bool found = true;
    unsigned count = 0;
    bw_err err = BW_OK;
    bw_cursor_init(&cursor, txn, 1);
    for (; !err && found; count++) err = bw_cursor_next(&cursor, &found);
    CHECK_EQ(err, BW_ERR_FILE_PAGES_CORRUPT);
    CHECK(count < 10);
    bw_txn_abort(txn);
    end();
}

/* ---- slots ---- */

static void a_map_of_more_regions_than_there_are_is_a_problem_and_no_walk_outside(void)
{
    begin(HOSTILE_REGIONS);
    uint8_t *slot = newest_slot();
    const uint32_t hwm = bw_get_u32(slot + SLOT_AT_HWM);
    bw_put_u32(slot + SLOT_AT_HWM, 40); // less than the regions hold
    CHECK(hwm > 68);
    bw_put_u16(slot + SLOT_AT_RUN_COUNT, 0);
    CHECK_OK(open_image());
    struct txn *txn = sample_begin(store, TXN_READ);
    struct check_report report = {0};
    CHECK_OK(bw_store_check(txn, NULL, &report));
    CHECK(report.problems > 0);
    bw_txn_abort(txn);
    CHECK_ERR(bw_txn_begin(store, TXN_WRITE, 0, &txn), BW_ERR_FILE_PAGES_CORRUPT);
    end();
}

static void the_number_of_a_commit_does_not_overflow(void)
{
    begin(HOSTILE_LEAF);
    uint8_t *slot = newest_slot();
    uint8_t *other = page_of(slot == page_of(0) ? 1 : 0);
    bw_put_u64(slot + SLOT_AT_TXN, UINT64_MAX);
    bw_put_u64(other + SLOT_AT_SEAL + 8, UINT64_MAX);
    CHECK_OK(open_image());
    struct txn *txn = sample_begin(store, TXN_READ);
    bw_txn_abort(txn);
    CHECK_ERR(bw_txn_begin(store, TXN_WRITE, 0, &txn), BW_ERR_FILE_PAGES_CORRUPT);
    end();
}

static void trees_of_the_engine_are_not_taken_from_a_slot(void)
{
    static const uint32_t ids[] = {0, TREE_SCHEMA, TREE_CATALOG};
    for (int i = 0; i < 3; i++) {
        begin(HOSTILE_LEAF);
        bw_put_u32(entry_of(1), ids[i]);
        CHECK_OK(open_image());
        struct txn *txn = NULL;
        CHECK_ERR(bw_txn_begin(store, TXN_WRITE, 0, &txn), BW_ERR_FILE_PAGES_CORRUPT);
        end();
    }
}

RUN_TESTS(TEST(pages_of_a_value_that_are_called_free_get_no_second_owner),
          TEST(a_branch_with_a_leaf_that_was_given_out_is_not_changed),
          TEST(a_root_that_was_given_out_is_not_cleared),
          TEST(a_page_that_a_reader_has_seen_is_not_written_over),
          TEST(a_schema_that_is_called_free_is_not_written_over),
          TEST(a_page_that_is_younger_than_its_snapshot_is_refused),
          TEST(a_value_that_overlaps_a_reference_is_not_changed),
          TEST(a_walk_over_the_same_leaf_ends),
          TEST(a_map_of_more_regions_than_there_are_is_a_problem_and_no_walk_outside),
          TEST(the_number_of_a_commit_does_not_overflow),
          TEST(trees_of_the_engine_are_not_taken_from_a_slot))
