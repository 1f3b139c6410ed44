/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The proof of a store finds each kind of damage. Files are changed as no commit of ours would,
 * with checksums that fit again, so that nothing but the proof can notice.
 */
#include <stdio.h>
#include <stdlib.h>

#include "harness/check.h"
#include "harness/relay.h"
#include "harness/sample.h"
#include "harness/sim_disk.h"
#include "store/branch.h"
#include "store/leaf.h"
#include "store/slot.h"

static struct sim_disk sim;
static struct relay relay;
static struct store *store;
static const struct geometry *geometry;

static const struct geometry small = {
    .inline_pages = 22,
    .region_pages = 34,
    .bitmap_copies = 4,
    .manifest_runs = 12,
    .manifest_pages = 12,
};

enum { MANY = 2000, SMALL_VALUE = 100, LARGE_VALUE = 10000, FEW = 5, SCHEMA = 5000 };

/* Tree 1 has branches, tree 2 values in extents of their own, tree 3 is one leaf. */
static void begin(bool many_trees)
{
    sim_disk_init(&sim, 1);
    relay_init(&relay, &sim.disk);
    struct store_options options = sample_options(&sim.disk);
    options.geometry = geometry;
    CHECK_OK(bw_store_open(&options, &store));
    sample_commit(store, 1, 1, MANY, SMALL_VALUE, 1);
    struct txn *txn = sample_begin(store, TXN_WRITE);
    static uint8_t schema[SCHEMA];
    CHECK_OK(bw_txn_set_schema(txn, schema, (struct bytes){schema, SCHEMA}));
    CHECK_OK(sample_put(txn, 2, 1, FEW, LARGE_VALUE, 1));
    for (uint64_t key = 10; key <= 50; key += 10) CHECK_OK(sample_put(txn, 3, key, 1, 40, 1));
    for (uint32_t tree = 4; many_trees && tree <= 60; tree++)
        CHECK_OK(sample_put(txn, tree, 1, 1, 40, 1));
    CHECK_OK(bw_txn_commit(txn));
    sample_prove_store(store);
    bw_store_close(store);
    store = NULL;
}

static void end(void)
{
    bw_store_close(store);
    sim_disk_deinit(&sim);
    sample_expect_nothing_left();
}

static void reopen(void)
{
    struct store_options options = sample_options(&relay.disk);
    options.geometry = geometry;
    bw_store_close(store);
    CHECK_OK(bw_store_open(&options, &store));
}

/* ---- changing a file ---- */

static uint8_t *file_bytes(void) { return sim_disk_find(&sim, SAMPLE_FILE)->cache; }
static uint8_t *page_bytes(page_no page) { return file_bytes() + (size_t)page * PAGE_SIZE; }

static uint8_t *newest_slot(void)
{
    uint8_t *bytes = file_bytes();
    return bw_get_u64(bytes + SLOT_AT_TXN) > bw_get_u64(bytes + PAGE_SIZE + SLOT_AT_TXN)
               ? bytes
               : bytes + PAGE_SIZE;
}

static struct slot decoded(void)
{
    struct slot slot;
    CHECK_EQ(bw_slot_decode(newest_slot(), &slot), SLOT_GOOD);
    return slot;
}

/* The entry of a tree in the slot, and the allocation bits there. */
static uint8_t *entry_of(uint32_t tree_id)
{
    const struct slot slot = decoded();
    uint8_t *entries = newest_slot() + SLOT_AT_BODY;
    for (uint16_t i = 0; i < slot.tree_count; i++)
        if (bw_get_u32(entries + (size_t)i * TREE_ENTRY_SIZE) == tree_id)
            return entries + (size_t)i * TREE_ENTRY_SIZE;
    bw_check_failed("the tree is in the slot", __FILE__, __LINE__);
}

static uint8_t *bits(void) { return newest_slot() + (decoded().bits - newest_slot()); }

static page_no root_of(uint32_t tree_id) { return bw_ref_page(bw_get_u32(entry_of(tree_id) + 8)); }

static uint64_t salt(void) { return bw_get_u64(newest_slot() + SLOT_AT_UUID); }

static void mend_page(page_no page)
{
    uint64_t sums[EXTENT_PAGES_MAX];
    uint8_t *bytes = page_bytes(page);
    const uint32_t pages = bw_page_extent(bytes);
    CHECK(pages <= EXTENT_PAGES_MAX);
    bw_page_sums(bytes, pages, salt(), sums);
    bw_put_u64(bytes, bw_page_checksum(sums, pages, salt()));
}

/* Let the newest slot be all there is, without a manifest to contradict. */
static void mend_slot(void)
{
    uint8_t *slot = newest_slot(), *other = file_bytes() + (slot == file_bytes() ? PAGE_SIZE : 0);
    bw_put_u16(slot + SLOT_AT_RUN_COUNT, 0);
    bw_put_u64(slot + SLOT_AT_CHECKSUM,
               bw_hash64(slot + SLOT_AT_VERSION, SLOT_CHECKED_SIZE - SLOT_AT_VERSION, 0));
    memset(other, 0, PAGE_SIZE);
}

/* The problem that the proof finds, or "". */
static const char *problem_of(struct txn *txn)
{
    static struct check_report report;
    CHECK_OK(bw_store_check(txn, NULL, &report));
    CHECK_EQ(report.problems != 0, report.first_problem[0] != 0);
    return report.first_problem;
}

static void expect_problem(struct txn *txn, const char *wanted)
{
    const char *found = problem_of(txn);
    if (!strstr(found, wanted)) (void)fprintf(stderr, "wanted: %s\nfound:  %s\n", wanted, found);
    CHECK(strstr(found, wanted) != NULL);
}

/* Change a fresh store and open it: the proof finds this, and nothing crashes. */
static void expect_found(void (*change)(void), bool many_trees, const char *wanted)
{
    begin(many_trees);
    change();
    mend_slot();
    reopen();
    struct txn *txn = sample_begin(store, TXN_READ);
    expect_problem(txn, wanted);
    bw_txn_abort(txn);
    const bw_err err = bw_txn_begin(store, TXN_WRITE, 0, &txn);
    if (err) CHECK_EQ(err, BW_ERR_FILE_PAGES_CORRUPT); // a writer may see it too
    else CHECK(*problem_of(txn));
    if (!err) bw_txn_abort(txn);
    end();
}

/* ---- stores as they should be ---- */

static void a_store_without_a_commit_is_whole(void)
{
    sim_disk_init(&sim, 1);
    store = sample_open(&sim.disk);
    struct check_report report;
    struct txn *txn = sample_begin(store, TXN_READ);
    CHECK_OK(bw_store_check(txn, NULL, &report));
    CHECK_EQ(report.problems, 0);
    CHECK_EQ(report.pages, 0);
    bw_txn_abort(txn);
    txn = sample_begin(store, TXN_WRITE);
    CHECK_TEXT(problem_of(txn), "");
    CHECK_OK(sample_put(txn, 1, 1, 100, 200, 1));
    CHECK_TEXT(problem_of(txn), "");
    bw_txn_abort(txn);
    end();
}

static void the_report_counts_what_is_there(void)
{
    begin(false);
    reopen();
    struct check_report report;
    struct store_info info;
    struct txn *txn = sample_begin(store, TXN_READ);
    CHECK_OK(bw_store_check(txn, NULL, &report));
    bw_txn_abort(txn);
    bw_store_info(store, &info);
    CHECK_EQ(report.keys, MANY + FEW + 5);
    CHECK_EQ(report.branches, 1);
    CHECK_EQ(report.overflow_pages, FEW * 3 + 2); // the values', and the schema's
    CHECK(report.leaves > 50);
    CHECK_EQ(report.pages, info.used_pages);
    CHECK_TEXT(report.first_problem, "");
    end();
}

static void a_store_is_whole_at_every_moment_of_a_transaction(void)
{
    geometry = &small;
    for (int many_trees = 0; many_trees < 2; many_trees++) {
        begin(many_trees);
        reopen();
        struct txn *reader = sample_begin(store, TXN_READ);
        struct txn *txn = sample_begin(store, TXN_WRITE);
        for (unsigned i = 0; i < 60; i++) {
            CHECK_OK(sample_put(txn, 1, i * 31 + 1, 3, SMALL_VALUE, i));
            CHECK_OK(sample_put(txn, 2, i % 7 + 1, 1, LARGE_VALUE + i * 300, i));
            CHECK_OK(sample_remove(txn, 1, i * 31 + 2, 1));
            CHECK_OK(sample_put(txn, 70 + i, 1, 1, 30, i));
            if (i % 9 == 3) CHECK_OK(bw_tree_drop(txn, 2));
            if (i % 9 == 5) CHECK_OK(bw_tree_clear(txn, 69 + i));
            sample_prove(txn);
        }
        sample_prove(reader);
        CHECK_OK(bw_txn_commit(txn));
        sample_prove(reader);
        sample_prove_store(store);
        for (unsigned i = 0; i < 5; i++) sample_commit(store, 3, 10, 1, 40, i);
        sample_prove(reader); // whose slot is gone
        bw_txn_abort(reader);
        sample_prove_store(store);
        end();
    }
    geometry = NULL;
}

/* ---- trees ---- */

static void break_checksum(void) { page_bytes(root_of(3))[3000] ^= 1; }
static void lead_outside(void) { bw_put_u32(entry_of(3) + 8, 0x0ffffff0); }
static void lead_to_slot(void) { bw_put_u32(entry_of(3) + 8, 1); }
static void lead_to_other_tree(void) { bw_put_u32(entry_of(3) + 8, bw_get_u32(entry_of(2) + 8)); }
static void count_more(void) { bw_put_u32(entry_of(1) + 12, MANY + 1); }
static void know_higher_key(void) { bw_put_u64(entry_of(1) + 16, MANY + 1); }
static void count_more_bytes(void) { bw_put_u64(entry_of(2) + 32, 1); }
static void forget_depth(void) { entry_of(1)[5] = 1; }
static void forget_overflow(void)
{
    bw_put_u32(entry_of(2) + 8, bw_get_u32(entry_of(2) + 8) & ~REF_OVERFLOW);
}
static void change_kind(void) { entry_of(3)[4] = 9; }

static void be_born_late(void)
{
    bw_put_u64(page_bytes(root_of(3)) + PAGE_AT_BORN, 99);
    mend_page(root_of(3));
}

static void miscount_child(void)
{
    bw_branch_set_count(page_bytes(root_of(1)), 1, 7);
    mend_page(root_of(1));
}

static void swap_children(void)
{
    uint8_t *branch = page_bytes(root_of(1));
    const page_ref ref = bw_branch_ref(branch, 1);
    bw_branch_set_ref(branch, 1, bw_branch_ref(branch, 2));
    bw_branch_set_ref(branch, 2, ref);
    mend_page(root_of(1));
}

static void have_a_child_twice(void)
{
    uint8_t *branch = page_bytes(root_of(1));
    bw_branch_set_ref(branch, 2, bw_branch_ref(branch, 1));
    mend_page(root_of(1));
}

static void move_bound(void)
{
    uint8_t *branch = page_bytes(root_of(1));
    bw_branch_set_key(branch, 2, bw_branch_key(branch, 2) + 1);
    mend_page(root_of(1));
}

/* The bytes of what a leaf's slot holds: a value, or a reference to one. */
static uint8_t *slot_bytes(page_no page, unsigned at)
{
    struct leaf_entry entry;
    CHECK(bw_leaf_entry(page_bytes(page), at, &entry));
    return page_bytes(page) + (entry.data - page_bytes(page));
}

static void have_a_value_twice(void)
{
    memcpy(slot_bytes(root_of(2), 1), slot_bytes(root_of(2), 0), REFERENCE_HEAD + REFERENCE_EXTENT);
    mend_page(root_of(2));
}

static page_no value_page(void) { return bw_get_u32(slot_bytes(root_of(2), 0) + REFERENCE_HEAD); }

static void pad_with_rubbish(void)
{
    page_bytes(value_page())[3 * PAGE_SIZE - 1] = 1;
    mend_page(value_page());
}

static void change_value(void)
{
    page_bytes(value_page())[500] ^= 1;
    mend_page(value_page());
}

static void break_value(void) { page_bytes(value_page())[2 * PAGE_SIZE + 5] ^= 1; }

static void turn_leaf(void)
{
    uint8_t *slots = page_bytes(root_of(3)) + LEAF_SLOTS_AT, slot[LEAF_SLOT_SPARSE];
    CHECK(!bw_leaf_is_dense(page_bytes(root_of(3))));
    memcpy(slot, slots, sizeof(slot));
    memcpy(slots, slots + sizeof(slot), sizeof(slot));
    memcpy(slots + sizeof(slot), slot, sizeof(slot));
    mend_page(root_of(3));
}

static void turn_branch(void)
{
    uint8_t *branch = page_bytes(root_of(1));
    bw_branch_set_key(branch, 2, bw_branch_key(branch, 3) + 1);
    mend_page(root_of(1));
}

static void let_value_be_born_late(void)
{
    bw_put_u64(page_bytes(value_page()) + PAGE_AT_BORN, 99);
    mend_page(value_page());
}

static void be_of_another_level(void)
{
    bw_put_u16(page_bytes(root_of(1)) + PAGE_AT_LOWER, 2);
    mend_page(root_of(1));
}

static void damage_of_trees_is_found(void)
{
    static const struct {
        void (*change)(void);
        const char *wanted;
    } table[] = {
        {break_checksum, "checksum does not fit"},
        {lead_outside, "outside"},
        {lead_to_slot, "outside"},
        {lead_to_other_tree, "reachable twice"},
        {count_more, "count, bytes or highest key"},
        {know_higher_key, "count, bytes or highest key"},
        {count_more_bytes, "count, bytes or highest key"},
        {forget_depth, "another kind"},
        {forget_overflow, "overflow"},
        {change_kind, "unknown kind"},
        {be_born_late, "younger"},
        {miscount_child, "counts the keys of a child wrongly"},
        {swap_children, "belongs elsewhere"},
        {have_a_child_twice, "reachable twice"},
        {move_bound, "belongs elsewhere"},
        {have_a_value_twice, "reachable twice"},
        {pad_with_rubbish, "not zero"},
        {change_value, "sum"},
        {break_value, "checksum does not fit"},
        {turn_leaf, "out of bounds or order"},
        {turn_branch, "keys out of order"},
        {let_value_be_born_late, "younger"},
        {be_of_another_level, "not a branch of level"},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        expect_found(table[i].change, false, table[i].wanted);
}

static void problems_are_counted_and_the_first_few_are_told(void)
{
    begin(false);
    break_checksum();
    change_value();
    miscount_child();
    count_more_bytes();
    mend_slot();
    reopen();
    struct txn *txn = sample_begin(store, TXN_READ);
    struct check_report report;
    CHECK_OK(bw_store_check(txn, NULL, &report));
    CHECK_EQ(report.first_page, root_of(1));
    CHECK(strstr(report.first_problem, "counts the keys of a child wrongly") != NULL);
    CHECK(strstr(report.next_problems[0], "sum") != NULL);
    CHECK(strstr(report.next_problems[1], "tree 2: its count, bytes") != NULL);
    CHECK(strstr(report.next_problems[2], "checksum does not fit") != NULL);
    CHECK(report.problems >= 4 && !report.pages_are_sound);
    bw_txn_abort(txn);
    end();
}

struct listener {
    uint64_t calls, last, total, stop_after;
};

static bool listen_to(void *user, uint64_t done, uint64_t total)
{
    struct listener *listener = user;
    CHECK(done <= total && done >= listener->last);
    CHECK(!listener->calls || total == listener->total);
    listener->last = done;
    listener->total = total;
    return ++listener->calls != listener->stop_after;
}

static void progress_is_told_and_may_cancel(void)
{
    begin(false);
    sample_commit(store = sample_open(&sim.disk), 1, MANY + 1, 20000, SMALL_VALUE, 1);
    struct txn *txn = sample_begin(store, TXN_READ);
    struct listener listener = {0};
    const struct progress progress = {listen_to, &listener};
    struct check_report report;
    CHECK_OK(bw_store_check(txn, &progress, &report));
    CHECK(listener.calls > 2);
    CHECK_EQ(listener.last, listener.total);
    CHECK_EQ(listener.total, report.pages);
    const uint64_t calls = listener.calls;
    for (uint64_t stop = 1; stop <= calls; stop++) {
        listener = (struct listener){.stop_after = stop};
        report.problems = 77;
        CHECK_ERR(bw_store_check(txn, &progress, &report), BW_ERR_CANCELLED);
        CHECK_EQ(report.problems, 77); // nothing is told of half a check
        CHECK_EQ(listener.calls, stop);
    }
    bw_txn_abort(txn);
    end();
}

static bool commit_meanwhile(void *user, uint64_t done, uint64_t total)
{
    unsigned *version = user;
    (void)done, (void)total;
    sample_commit(store, 1, 1, 50, SMALL_VALUE, ++*version);
    return true;
}

static void commits_go_on_while_a_snapshot_is_proved(void)
{
    begin(false);
    store = sample_open(&sim.disk);
    struct txn *txn = sample_begin(store, TXN_READ);
    unsigned version = 1;
    const struct progress progress = {commit_meanwhile, &version};
    struct check_report report;
    CHECK_OK(bw_store_check(txn, &progress, &report));
    CHECK_TEXT(report.first_problem, "");
    CHECK(version > 2); // both slots were written meanwhile
    bw_txn_abort(txn);
    sample_prove_store(store);
    end();
}

static void what_was_verified_before_is_not_believed(void)
{
    begin(false);
    reopen();
    sample_prove_store(store);
    page_bytes(root_of(3))[3000] ^= 1; // as memory or a disk may do at any time
    struct txn *txn = sample_begin(store, TXN_READ);
    expect_problem(txn, "checksum does not fit");
    bw_txn_abort(txn);
    end();
}

/* ---- the catalogue and the schema ---- */

static void swap_entries(void)
{
    uint8_t entry[TREE_ENTRY_SIZE], *first = entry_of(1), *second = entry_of(2);
    memcpy(entry, first, sizeof(entry));
    memcpy(first, second, sizeof(entry));
    memcpy(second, entry, sizeof(entry));
}

static void have_two_entries(void) { memcpy(entry_of(2), entry_of(1), TREE_ENTRY_SIZE); }
static void have_no_id(void) { bw_put_u32(entry_of(1), 0); }
static void have_id_of_catalog(void) { bw_put_u32(entry_of(3), TREE_CATALOG); }
static void have_id_of_schema(void) { bw_put_u32(entry_of(3), TREE_SCHEMA); }
static void deny_catalog(void) { bw_put_u32(newest_slot() + SLOT_AT_FLAGS, 0); }

static void change_catalog_entry(void)
{
    slot_bytes(root_of(TREE_CATALOG), 5)[0] ^= 0x20;
    mend_page(root_of(TREE_CATALOG));
}

static void change_catalog_count(void)
{
    slot_bytes(root_of(TREE_CATALOG), 5)[12]++;
    mend_page(root_of(TREE_CATALOG));
}

static page_no schema_page(void) { return bw_get_u32(newest_slot() + SLOT_AT_SCHEMA_PAGE); }
static void break_schema(void) { page_bytes(schema_page())[PAGE_SIZE + 9] ^= 1; }
static void shorten_schema(void) { bw_put_u32(newest_slot() + SLOT_AT_SCHEMA_SIZE, 50); }

static void let_schema_be_born_late(void)
{
    bw_put_u64(page_bytes(schema_page()) + PAGE_AT_BORN, 99);
    mend_page(schema_page());
}

static void let_schema_be_a_value(void)
{
    bw_put_u32(newest_slot() + SLOT_AT_SCHEMA_PAGE, value_page());
}

static void damage_of_the_catalogue_is_found(void)
{
    expect_found(swap_entries, false, "out of order");
    expect_found(have_two_entries, false, "out of order");
    expect_found(have_no_id, false, "out of order");
    expect_found(have_id_of_catalog, false, "wrong place");
    expect_found(have_id_of_schema, false, "wrong place");
    expect_found(deny_catalog, true, "wrong place");
    expect_found(change_catalog_entry, true, "catalogue's entry 6 is damaged");
    expect_found(change_catalog_count, true, "tree 6: its count");
}

static void damage_of_the_schema_is_found(void)
{
    expect_found(break_schema, false, "checksum does not fit");
    expect_found(shorten_schema, false, "another length");
    expect_found(let_schema_be_born_late, false, "younger");
    expect_found(let_schema_be_a_value, false, "reachable twice");
}

/* ---- the allocation state ---- */

static void call_free(void) { bits()[root_of(3) / 8] &= (uint8_t)~(1u << root_of(3) % 8); }

static void call_slot_free(void) { bits()[0] &= 0xfe; }

static void use_beyond_the_end(void)
{
    const uint32_t hwm = decoded().hwm;
    CHECK(hwm % 64 != 0);
    bits()[hwm / 8] |= (uint8_t)(1u << hwm % 8);
}

static void lose_a_tree(void) // its pages stay in use
{
    uint8_t *entry = entry_of(3);
    entry[5] = 0;
    memset(entry + 8, 0, 16); // root, count, highest key
    memset(entry + 32, 0, 8); // bytes
}

static void damage_of_the_bitmap_is_found(void)
{
    expect_found(call_free, false, "reachable, but called free");
    expect_found(lose_a_tree, false, "used, but not reachable");
    begin(false);
    use_beyond_the_end();
    mend_slot();
    reopen();
    struct txn *txn = sample_begin(store, TXN_READ);
    expect_problem(txn, "used, but beyond the end");
    bw_txn_abort(txn);
    end();
    begin(false);
    call_slot_free();
    mend_slot();
    reopen();
    txn = sample_begin(store, TXN_READ);
    expect_problem(txn, "reachable, but called free");
    bw_txn_abort(txn);
    end();
}

/* The bitmap of a region that the newest slot selects. */
static page_no region_page(uint32_t region)
{
    const uint32_t copy = (uint32_t)bits()[region / 4] >> region % 4 * 2 & 3;
    return bw_space_region_start(&small, region) + copy;
}

static uint8_t *region_bits(void) { return page_bytes(region_page(1)) + PAGE_HEADER_SIZE; }

static void use_one_more(void)
{
    for (unsigned i = 4; i < small.region_pages; i++) {
        uint8_t *byte = region_bits() + i / 8;
        if (*byte >> i % 8 & 1) *byte &= (uint8_t)~(1u << i % 8); // the first used one
        else continue;
        break;
    }
    mend_page(region_page(1));
}

static void give_place_away(void)
{
    region_bits()[0] &= 0xfd;
    mend_page(region_page(1));
}

static void break_region(void) { region_bits()[100] ^= 1; }

static void be_another_region(void)
{
    bw_put_u32(page_bytes(region_page(1)) + PAGE_AT_TREE, 2);
    mend_page(region_page(1));
}

static void select_another_copy(void) { bits()[0] ^= 0x8; }

/* As expect_found; a writer would not even begin. */
static void expect_region_problem(void (*change)(void), const char *wanted)
{
    geometry = &small;
    begin(false);
    CHECK(decoded().region_count > 2);
    change();
    mend_slot();
    reopen();
    struct txn *txn = sample_begin(store, TXN_READ);
    expect_problem(txn, wanted);
    bw_txn_abort(txn);
    end();
    geometry = NULL;
}

static void damage_of_regions_is_found(void)
{
    expect_region_problem(use_one_more, "reachable, but called free");
    expect_region_problem(give_place_away, "place is not kept");
    expect_region_problem(break_region, "damaged map of free pages");
    expect_region_problem(be_another_region, "damaged map of free pages");
    expect_region_problem(select_another_copy, "damaged map of free pages");
}

static void a_bit_of_the_last_region_beyond_the_end_is_found(void)
{
    geometry = &small;
    begin(false);
    reopen();
    const struct slot slot = decoded();
    const uint32_t last = slot.region_count - 1, at = slot.hwm - last * small.region_pages;
    CHECK(at < small.region_pages);
    page_bytes(region_page(last))[PAGE_HEADER_SIZE + at / 8] |= (uint8_t)(1u << at % 8);
    mend_page(region_page(last));
    struct txn *txn = sample_begin(store, TXN_READ);
    expect_problem(txn, "used, but beyond the end");
    bw_txn_abort(txn);
    end();
    geometry = NULL;
}

static void a_slot_of_another_store_is_found(void)
{
    begin(false);
    reopen();
    newest_slot()[SLOT_AT_UUID + 3] ^= 1;
    mend_slot();
    struct txn *txn = sample_begin(store, TXN_READ);
    expect_problem(txn, "another store");
    bw_txn_abort(txn);
    end();
}

static void a_file_that_was_cut_is_found(void)
{
    geometry = &small;
    begin(false);
    reopen();
    bw_txn_abort(sample_begin(store, TXN_WRITE));
    sample_commit(store, 9, 1, 1, 10, 1);
    bw_store_close(store);
    store = NULL;
    reopen();
    const uint32_t hwm = store->cur->hwm;
    store->cur->hwm = hwm + 500;
    struct txn *txn = sample_begin(store, TXN_READ);
    expect_problem(txn, "shorter than its newest commit");
    bw_txn_abort(txn);
    store->cur->hwm = hwm;
    end();
    geometry = NULL;
}

static void what_the_engine_believes_is_compared(void)
{
    begin(false);
    reopen();
    bw_txn_abort(sample_begin(store, TXN_WRITE));
    struct space *space = &store->writer->space;
    const page_no leaf = root_of(3), unused = store->cur->hwm + 3;
    struct txn *txn = sample_begin(store, TXN_WRITE);
    CHECK_TEXT(problem_of(txn), "");
    space->used[leaf / 64] ^= 1ull << leaf % 64;
    expect_problem(txn, "reachable, but called free");
    space->used[leaf / 64] ^= 1ull << leaf % 64;
    space->busy[leaf / 64] ^= 1ull << leaf % 64;
    expect_problem(txn, "may be given out");
    space->busy[leaf / 64] ^= 1ull << leaf % 64;
    bw_space_set_used(space, unused);
    expect_problem(txn, "used, but not reachable");
    space->used[unused / 64] ^= 1ull << unused % 64;
    CHECK_TEXT(problem_of(txn), "");
    bw_txn_abort(txn);
    sample_commit(store, 3, 10, 1, 40, 3);
    store->cur->used_pages++;
    txn = sample_begin(store, TXN_READ);
    expect_problem(txn, "count of used pages");
    bw_txn_abort(txn);
    end();
}

/* ---- what cannot be looked at ---- */

static void running_out_of_memory_is_an_error_and_no_verdict(void)
{
    begin(true);
    for (int allowed = 0;; allowed++) {
        reopen();
        struct check_report report = {.keys = 77};
        struct txn *txn = sample_begin(store, TXN_READ);
        bw_memory_fail_after(allowed);
        bw_err err = bw_store_check(txn, NULL, &report);
        bw_memory_fail_after(-1);
        bw_txn_abort(txn);
        if (!err) {
            CHECK_EQ(report.problems, 0);
            break;
        }
        CHECK_EQ(err, BW_ERR_NO_MEMORY);
        CHECK_EQ(report.keys, 77);
        CHECK(allowed < 1000);
    }
    end();
}

static void a_disk_that_does_not_read_is_an_error_or_a_problem(void)
{
    geometry = &small;
    begin(false);
    for (int64_t calls = 0;; calls++) {
        reopen();
        struct check_report report = {0};
        struct txn *txn = sample_begin(store, TXN_READ);
        relay.has_failed = false;
        relay.fail_after = calls;
        bw_err err = bw_store_check(txn, NULL, &report);
        relay.fail_after = -1;
        bw_txn_abort(txn);
        CHECK_EQ(err != 0 || report.problems > 0, relay.has_failed);
        if (!relay.has_failed) break;
        CHECK(calls < 1000);
    }
    end();
    geometry = NULL;
}

RUN_TESTS(TEST(a_store_without_a_commit_is_whole), TEST(the_report_counts_what_is_there),
          TEST(a_store_is_whole_at_every_moment_of_a_transaction), TEST(damage_of_trees_is_found),
          TEST(problems_are_counted_and_the_first_few_are_told),
          TEST(progress_is_told_and_may_cancel), TEST(commits_go_on_while_a_snapshot_is_proved),
          TEST(what_was_verified_before_is_not_believed), TEST(damage_of_the_catalogue_is_found),
          TEST(damage_of_the_schema_is_found), TEST(damage_of_the_bitmap_is_found),
          TEST(damage_of_regions_is_found), TEST(a_bit_of_the_last_region_beyond_the_end_is_found),
          TEST(a_slot_of_another_store_is_found), TEST(a_file_that_was_cut_is_found),
          TEST(what_the_engine_believes_is_compared),
          TEST(running_out_of_memory_is_an_error_and_no_verdict),
          TEST(a_disk_that_does_not_read_is_an_error_or_a_problem))
