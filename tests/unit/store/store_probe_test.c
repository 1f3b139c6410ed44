/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an opening looks at: as many pages as it may, the tops of all trees first. A page that is
 * read is verified, so the marks of the pager count them.
 */
#include "harness/check.h"
#include "harness/sample.h"
#include "harness/sim_disk.h"
#include "store/branch.h"
#include "store/leaf.h"
#include "store/slot.h"

static struct sim_disk sim;
static struct store *store;

enum { MANY = 20000, TREES = 3 };

/* Three trees with branches over many leaves of one page; the values of one lie in extents. */
static void begin(void)
{
    sim_disk_init(&sim, 1);
    store = sample_open(&sim.disk);
    for (uint32_t tree = 1; tree <= TREES; tree++) sample_commit(store, tree, 1, MANY, 100, 1);
    sample_commit(store, 2, MANY + 1, 4, 10000, 1);
}

static void reopen(void)
{
    bw_store_close(store);
    store = sample_open(&sim.disk);
}

static void end(void)
{
    bw_store_close(store);
    sim_disk_deinit(&sim);
    sample_expect_nothing_left();
}

/* What the probe says, and how many extents it verified. */
static bw_err probe(uint64_t limit, bool with_leaves, uint32_t *out_read)
{
    struct txn *txn = sample_begin(store, TXN_READ);
    bw_err err = bw_store_probe(txn, limit, with_leaves);
    bw_txn_abort(txn);
    *out_read = 0;
    for (uint32_t i = 0; i < WINDOW_PAGES / 32 && store->first.verified; i++)
        *out_read += (uint32_t)__builtin_popcount(atomic_load(&store->first.verified[i]));
    return err;
}

static uint8_t *page_bytes(page_no page)
{
    return sim_disk_find(&sim, SAMPLE_FILE)->cache + (size_t)page * PAGE_SIZE;
}

static page_ref root_of(uint32_t tree_id) { return store->cur->trees[tree_id - 1].root; }
static uint8_t *root_bytes(uint32_t tree_id) { return page_bytes(bw_ref_page(root_of(tree_id))); }

static void mend(uint8_t *page)
{
    uint64_t sum = 0;
    bw_page_sums(page, 1, store->salt, &sum);
    bw_put_u64(page, bw_page_checksum(&sum, 1, store->salt));
}

static void as_many_pages_are_read_as_the_limit_says(void)
{
    uint32_t read = 0, all = 0;
    begin();
    struct txn *txn = sample_begin(store, TXN_READ);
    struct check_report report;
    CHECK_OK(bw_store_check(txn, NULL, &report));
    bw_txn_abort(txn);
    for (uint64_t limit = 0; limit <= 40; limit++) {
        reopen();
        CHECK_OK(probe(limit, false, &read));
        CHECK_EQ(read, limit < report.branches ? limit : report.branches);
        reopen();
        CHECK_OK(probe(limit, true, &read));
        CHECK_EQ(read, limit);
    }
    reopen();
    CHECK_OK(probe(UINT64_MAX, true, &all));
    CHECK_EQ(all, report.branches + report.leaves); // and no value
    end();
}

static void the_tops_of_all_trees_come_first(void)
{
    uint32_t read = 0;
    for (uint32_t tree = 1; tree <= TREES; tree++) {
        begin();
        root_bytes(tree)[3000] ^= 1;
        reopen();
        CHECK_OK(probe(tree - 1, true, &read));
        CHECK_ERR(probe(tree, true, &read), BW_ERR_FILE_PAGES_CORRUPT);
        char start[20] = "tree 1: Page ";
        start[5] = (char)('0' + tree);
        CHECK_BYTES(bw_reason_text(), start, strlen(start));
        CHECK_ERR(probe(UINT64_MAX, false, &read), BW_ERR_FILE_PAGES_CORRUPT);
        end();
    }
}

static void be_young(void) { bw_put_u64(root_bytes(1) + PAGE_AT_BORN, 99); }
static void miscount(void) { bw_branch_set_count(root_bytes(1), 0, 7); }
static void turn_keys(void)
{
    bw_branch_set_key(root_bytes(1), 1, bw_branch_key(root_bytes(1), 2) + 1);
}
static void leave_rubbish(void) { root_bytes(1)[PAGE_SIZE - 1] = 1; }
static void be_elsewhere(void) { bw_put_u16(root_bytes(1) + PAGE_AT_LOWER, 7); }

static void branches_that_fit_their_checksums_are_compared(void)
{
    static const struct {
        void (*change)(void);
        const char *wanted;
    } table[] = {{be_young, "younger"},
                 {miscount, "counts its keys wrongly"},
                 {turn_keys, "keys out of order"},
                 {leave_rubbish, "not zero"},
                 {be_elsewhere, "level"}};
    uint32_t read = 0;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        begin();
        table[i].change();
        mend(root_bytes(1));
        reopen();
        CHECK_ERR(probe(1, false, &read), BW_ERR_FILE_PAGES_CORRUPT);
        CHECK(strstr(bw_reason_text(), table[i].wanted) != NULL);
        CHECK(strstr(bw_reason_text(), "tree 1") != NULL);
        end();
    }
}

/* The first leaf below a root of any depth. */
static uint8_t *first_leaf(uint32_t tree_id)
{
    uint8_t *page = root_bytes(tree_id);
    while (page[PAGE_AT_KIND] == PAGE_BRANCH)
        page = page_bytes(bw_ref_page(bw_branch_ref(page, 1)));
    return page;
}

static void leave_rubbish_in_leaf(uint8_t *leaf) { leaf[bw_leaf_lower(leaf) + 9] = 1; }
static void move_keys(uint8_t *leaf) { bw_put_u64(leaf + LEAF_BASE_AT, bw_leaf_base(leaf) + 3); }
static void be_young_leaf(uint8_t *leaf) { bw_put_u64(leaf + PAGE_AT_BORN, 99); }
static void lose_a_key(uint8_t *leaf) { (void)bw_leaf_remove(leaf, 1); }

static void leaves_are_compared_when_asked_for(void)
{
    static const struct {
        void (*change)(uint8_t *leaf);
        const char *wanted;
    } table[] = {{leave_rubbish_in_leaf, "not zero"},
                 {move_keys, "belongs elsewhere"},
                 {be_young_leaf, "younger"},
                 {lose_a_key, "another number of keys"}};
    uint32_t read = 0;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        begin();
        uint8_t *leaf = first_leaf(3);
        table[i].change(leaf);
        mend(leaf);
        reopen();
        CHECK_OK(probe(UINT64_MAX, false, &read));
        CHECK_ERR(probe(UINT64_MAX, true, &read), BW_ERR_FILE_PAGES_CORRUPT);
        CHECK(strstr(bw_reason_text(), table[i].wanted) != NULL);
        end();
    }
}

static void a_store_without_a_commit_has_nothing_to_look_at(void)
{
    uint32_t read = 0;
    sim_disk_init(&sim, 1);
    store = sample_open(&sim.disk);
    CHECK_OK(probe(10, true, &read));
    CHECK_EQ(read, 0);
    end();
}

static void trees_of_the_catalogue_are_looked_at(void)
{
    uint32_t read = 0;
    sim_disk_init(&sim, 1);
    store = sample_open(&sim.disk);
    struct txn *txn = sample_begin(store, TXN_WRITE);
    for (uint32_t tree = 1; tree <= SAMPLE_TREES; tree++)
        CHECK_OK(sample_put(txn, tree, 1, 1, 40, 1));
    CHECK_OK(bw_txn_commit(txn));
    reopen();
    CHECK_OK(probe(UINT64_MAX, true, &read));
    CHECK(store->cur->has_catalog);
    CHECK(read > SAMPLE_TREES);
    reopen();
    CHECK_OK(probe(5, true, &read));
    CHECK(read <= 5 + 1);
    end();
}

static void memory_may_run_out(void)
{
    uint32_t read = 0;
    begin();
    CHECK_OK(probe(10, true, &read));
    int failures = 0;
    for (int64_t count = 1;; count++) { // the first request is the transaction's
        struct txn *txn = sample_begin(store, TXN_READ);
        bw_memory_fail_after(count - 1);
        bw_err err = bw_store_probe(txn, 500, true);
        bw_memory_fail_after(-1);
        bw_txn_abort(txn);
        if (!err) break;
        CHECK_EQ(err, BW_ERR_NO_MEMORY);
        failures++;
    }
    CHECK(failures >= 2);
    end();
}

RUN_TESTS(TEST(as_many_pages_are_read_as_the_limit_says), TEST(the_tops_of_all_trees_come_first),
          TEST(branches_that_fit_their_checksums_are_compared),
          TEST(leaves_are_compared_when_asked_for),
          TEST(a_store_without_a_commit_has_nothing_to_look_at),
          TEST(trees_of_the_catalogue_are_looked_at), TEST(memory_may_run_out))
