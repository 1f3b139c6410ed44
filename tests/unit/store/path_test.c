/* SPDX-License-Identifier: Apache-2.0 */
#include "store/path.h"

#include "harness/check.h"
#include "harness/fake_pager.h"
#include "harness/tree_kit.h"

// Values of which one page holds one, so that few keys make many leaves.
enum { BIG = 4000 };

static const uint8_t *root_of(struct txn *txn)
{
    const uint8_t *root = NULL;
    const struct tree *tree = bw_kit_tree(txn);
    CHECK_OK(bw_branch_read(txn, KIT_TREE, tree->root, tree->depth - 1u, &root));
    return root;
}

// Ascending keys that do not make long leaves: each of a transaction of its own.
static struct txn *tree_of(uint64_t keys)
{
    struct txn *txn = bw_fake_pager_new();
    for (uint64_t key = 1; key <= keys; key++) {
        bw_kit_put(txn, 10 * key, 10 * key, BIG);
        bw_fake_pager_commit(txn);
    }
    return txn;
}

static void owning_a_path_changes_no_key(void)
{
    struct txn *txn = tree_of(300);
    struct tree *tree = bw_kit_tree(txn);
    CHECK_EQ(tree->depth, 3);
    const page_ref root = tree->root;
    struct path path;
    CHECK_OK(bw_path_own(&path, txn, tree, 1500));
    CHECK_EQ(path.levels, 2); // P1
    CHECK(tree->root != root && tree->is_changed);
    CHECK(path.step[0].branch == bw_page_owned(txn, bw_ref_page(tree->root)));
    CHECK(!path.owned_leaf);
    uint8_t *leaf;
    CHECK_OK(bw_path_own_leaf(&path, &leaf));
    CHECK(bw_page_owned(txn, bw_ref_page(path.leaf_ref)) == leaf);
    bw_fake_pager_check(txn);
    bw_kit_check(txn, 1500, BIG);
    bw_fake_pager_free(txn);
}

static void a_copy_that_fails_leaves_the_tree_whole(void)
{
    struct txn *txn = tree_of(300);
    struct path path;
    for (int successes = 0; successes < 2; successes++) {
        bw_fake_pager_fail_pages(txn, successes, BW_ERR_DB_FULL);
        CHECK_ERR(bw_path_own(&path, txn, bw_kit_tree(txn), 1500), BW_ERR_DB_FULL);
        bw_fake_pager_check(txn);
    }
    bw_fake_pager_fail_pages(txn, -1, BW_OK);
    CHECK_OK(bw_path_own(&path, txn, bw_kit_tree(txn), 1500));
    bw_fake_pager_free(txn);
}

static void appending_fills_branches_and_inserting_halves_them(void)
{
    struct txn *txn = tree_of(BRANCH_CHILDREN_MAX);
    CHECK_EQ(bw_branch_children(root_of(txn)), BRANCH_CHILDREN_MAX);
    bw_kit_put(txn, 9990, 9990, BIG);
    CHECK_EQ(bw_kit_tree(txn)->depth, 3);
    const uint8_t *root = root_of(txn);
    CHECK_EQ(bw_branch_count(root, 0), BRANCH_CHILDREN_MAX - 1);
    CHECK_EQ(bw_branch_count(root, 1), 2); // B3
    bw_fake_pager_check(txn);
    bw_fake_pager_free(txn);

    txn = tree_of(BRANCH_CHILDREN_MAX);
    bw_kit_put(txn, 55, 55, BIG);
    CHECK_EQ(bw_branch_count(root_of(txn), 0), BRANCH_CHILDREN_MAX / 2 + 1);
    bw_fake_pager_check(txn);
    bw_fake_pager_free(txn);
}

static void a_split_that_fails_leaves_the_tree_whole(void)
{
    struct txn *txn = tree_of(BRANCH_CHILDREN_MAX);
    struct bytes value = bw_kit_value(55, BIG);
    int failed = 0;
    for (int successes = 0;; successes++) {
        bw_fake_pager_fail_pages(txn, successes, BW_ERR_NO_MEMORY);
        const bw_err err = bw_tree_put(txn, KIT_TREE, 55, value, NULL);
        bw_fake_pager_check(txn); // T2
        if (!err) break;
        CHECK_EQ(err, BW_ERR_NO_MEMORY);
        failed++;
    }
    CHECK(failed >= 3); // what was done before a failure, as copying the root, stays done
    bw_fake_pager_free(txn);
}

static void small_branches_merge_and_the_root_gives_way(void)
{
    struct txn *txn = tree_of(400);
    CHECK_EQ(bw_kit_tree(txn)->depth, 3);
    for (uint64_t key = 400; key > 100; key--) bw_kit_remove(txn, 10 * key);
    bw_fake_pager_check(txn);
    CHECK_EQ(bw_kit_tree(txn)->depth, 2);
    for (uint64_t key = 2; key <= 100; key++) bw_kit_remove(txn, 10 * key);
    CHECK_EQ(bw_kit_tree(txn)->depth, 1);
    bw_kit_check(txn, 10, BIG);
    bw_fake_pager_check(txn);
    bw_kit_remove(txn, 10);
    CHECK_EQ(bw_kit_tree(txn)->depth, 0);
    CHECK_EQ(bw_fake_pager_pages(txn), 0);
    bw_fake_pager_free(txn);
}

static void a_branch_merges_with_its_left_sibling_too(void)
{
    struct txn *txn = tree_of(400);
    for (uint64_t key = 10; key <= 240; key++)
        bw_kit_remove(txn, 10 * key); // the left one: 12 keys
    CHECK_EQ(bw_kit_tree(txn)->depth, 2);
    bw_fake_pager_check(txn);
    for (uint64_t key = 241; key <= 400; key++) bw_kit_check(txn, 10 * key, BIG);
    bw_fake_pager_free(txn);
}

static void an_empty_branch_goes_with_its_last_leaf(void)
{
    // A right branch of two leaves beside a left one that is too full to merge with.
    struct txn *txn = tree_of(BRANCH_CHILDREN_MAX + 1);
    bw_kit_remove(txn, 10 * (BRANCH_CHILDREN_MAX + 1));
    CHECK_EQ(bw_kit_tree(txn)->depth, 2); // 253 + 1 fit in one
    bw_fake_pager_check(txn);
    bw_fake_pager_free(txn);

    txn = tree_of(BRANCH_CHILDREN_MAX + 1);
    bw_kit_put(txn, 11, 11, BIG); // the left one is full
    CHECK_EQ(bw_branch_count(root_of(txn), 0), BRANCH_CHILDREN_MAX);
    bw_kit_remove(txn, 10 * (BRANCH_CHILDREN_MAX + 1));
    CHECK_EQ(bw_kit_tree(txn)->depth, 3);
    bw_fake_pager_check(txn);
    bw_kit_remove(txn, 10 * BRANCH_CHILDREN_MAX);
    CHECK_EQ(bw_kit_tree(txn)->depth, 2);
    CHECK_EQ(bw_kit_tree(txn)->max_key, 10 * (BRANCH_CHILDREN_MAX - 1));
    bw_fake_pager_check(txn);
    bw_fake_pager_free(txn);
}

static void what_merging_branches_puts_in_the_middle_is_found(void)
{
    struct txn *txn = tree_of(400);
    const uint64_t first = bw_branch_key(root_of(txn), 1); // of the right branch
    bw_kit_remove(txn, first); // its bound is not its first key any more
    bw_kit_put(txn, first + 1, first + 1, 9000);
    for (uint64_t key = first + 60; key <= 4000; key += 10) bw_kit_remove(txn, key);
    for (uint64_t key = 10; key < first - 500; key += 10) bw_kit_remove(txn, key);
    CHECK_EQ(bw_kit_tree(txn)->depth, 2);
    bw_kit_check(txn, first + 1, 9000); // B2, and the overflow bit came along: P2
    bw_fake_pager_check(txn);
    bw_fake_pager_free(txn);
}

static void appending_goes_on_after_a_split_that_failed(void)
{
    struct txn *txn = bw_fake_pager_new();
    bw_kit_put(txn, 1, 8 * BRANCH_CHILDREN_MAX, BIG); // long leaves of 8
    CHECK_EQ(bw_branch_children(root_of(txn)), BRANCH_CHILDREN_MAX);
    for (int round = 0;; round++) { // twice with each number: a root above stays from the first
        bw_fake_pager_fail_pages(txn, round / 2, BW_ERR_DB_FULL);
        const bw_err err = bw_tree_put(txn, KIT_TREE, 9000, bw_kit_value(9000, BIG), NULL);
        bw_fake_pager_check(txn); // T4
        if (!err) break;
    }
    bw_fake_pager_fail_pages(txn, -1, BW_OK);
    bw_kit_put(txn, 9001, 9100, BIG);
    bw_fake_pager_check(txn);
    bw_fake_pager_free(txn);
}

static void impossible_depths_are_refused(void)
{
    struct txn *txn = tree_of(3);
    struct tree *tree = bw_kit_tree(txn);
    struct path path;
    const uint8_t depths[] = {0, 3, TREE_DEPTH_MAX, TREE_DEPTH_MAX + 1, 255};
    for (size_t i = 0; i < sizeof(depths); i++) {
        tree->depth = depths[i];
        struct bytes value;
        bool found;
        CHECK_ERR(bw_path_own(&path, txn, tree, 5), BW_ERR_FILE_PAGES_CORRUPT);
        CHECK_ERR(bw_tree_get(txn, KIT_TREE, 5, &value, &found), BW_ERR_FILE_PAGES_CORRUPT);
    }
    bw_fake_pager_free(txn);
}

RUN_TESTS(TEST(owning_a_path_changes_no_key), TEST(a_copy_that_fails_leaves_the_tree_whole),
          TEST(appending_fills_branches_and_inserting_halves_them),
          TEST(a_split_that_fails_leaves_the_tree_whole),
          TEST(small_branches_merge_and_the_root_gives_way),
          TEST(a_branch_merges_with_its_left_sibling_too),
          TEST(an_empty_branch_goes_with_its_last_leaf),
          TEST(what_merging_branches_puts_in_the_middle_is_found),
          TEST(appending_goes_on_after_a_split_that_failed), TEST(impossible_depths_are_refused))
