/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/check.h"
#include "harness/fake_pager.h"
#include "harness/tree_kit.h"
#include "store/tree.h"

static struct txn *txn;

static void begin(uint64_t keys, size_t size)
{
    txn = bw_fake_pager_new();
    bw_kit_put(txn, 1, keys, size);
    bw_fake_pager_commit(txn);
}

static void end(void)
{
    bw_fake_pager_check(txn);
    bw_fake_pager_free(txn);
}

static void a_key_that_is_not_there_changes_nothing(void)
{
    bool removed = true;
    txn = bw_fake_pager_new();
    CHECK_OK(bw_tree_remove(txn, KIT_TREE, 5, &removed));
    CHECK(!removed);
    bw_kit_put(txn, 10, 20, 30);
    bw_fake_pager_commit(txn);
    const uint64_t change = bw_txn_change(txn);
    const uint64_t keys[] = {0, 1, 9, 21, UINT64_MAX};
    for (int i = 0; i < 5; i++) {
        CHECK_OK(bw_tree_remove(txn, KIT_TREE, keys[i], &removed));
        CHECK(!removed);
    }
    CHECK_EQ(bw_txn_change(txn), change);
    CHECK_EQ(bw_fake_pager_owned_pages(txn), 0);
    end();
}

static void the_highest_key_is_found_again(void)
{
    begin(200, 100);
    for (uint64_t key = 200; key > 0; key--) {
        CHECK_EQ(bw_kit_tree(txn)->max_key, key); // T1
        bw_kit_remove(txn, key);
    }
    CHECK_EQ(bw_kit_tree(txn)->max_key, 0);
    CHECK_EQ(bw_fake_pager_pages(txn), 0);
    bw_kit_put(txn, 7, 7, 100);
    end();
}

static void the_highest_key_is_found_across_empty_slots(void)
{
    begin(30, 50);
    bw_kit_remove(txn, 29);
    bw_kit_remove(txn, 28);
    bw_kit_remove(txn, 30);
    CHECK_EQ(bw_kit_tree(txn)->max_key, 27); // T1
    end();
}

static void appending_goes_on_in_a_leaf_that_gave_pages_back(void)
{
    begin(1, 352);
    bw_kit_put(txn, 2, 102, 352); // the last leaf: 12 to 102
    for (uint64_t key = 30; key <= 102; key++) bw_kit_remove(txn, key);
    CHECK_EQ(bw_kit_tree(txn)->max_key, 29);
    bw_kit_put(txn, 30, 400, 352); // T4
    bw_fake_pager_check(txn);
    for (uint64_t key = 1; key <= 400; key++) bw_kit_check(txn, key, 352);
    end();
}

static void neighbours_of_emptying_leaves_take_them_in(void)
{
    begin(2000, 100);
    const uint32_t before = bw_fake_pager_pages(txn);
    for (uint64_t key = 1; key <= 2000; key++) {
        if (key % 8) bw_kit_remove(txn, key);
    }
    CHECK(bw_fake_pager_pages(txn) <= before / 2); // a quarter full at least, and not full any more
    for (uint64_t key = 8; key <= 2000; key += 8) bw_kit_check(txn, key, 100);
    end();
}

static void a_small_leaf_borrows_from_a_full_one(void)
{
    begin(74, 100); // two full leaves
    for (uint64_t key = 1; key <= 29; key++) bw_kit_remove(txn, key);
    const struct leaf_fill left = bw_leaf_fill(bw_kit_leaf(txn, 30));
    const struct leaf_fill right = bw_leaf_fill(bw_kit_leaf(txn, 74));
    CHECK_EQ(left.live + right.live, 45);
    CHECK(left.live > 15 && right.live > 15);
    end();
}

static void leaves_of_far_keys_become_one_as_they_empty(void)
{
    txn = bw_fake_pager_new();
    for (uint64_t i = 1; i <= 170; i++) bw_kit_put(txn, i << 33, i << 33, 100);
    bw_fake_pager_commit(txn);
    CHECK_EQ(bw_fake_pager_pages(txn), 5 + 1); // 34 in each
    for (uint64_t i = 1; i <= 170; i++) {
        if (i % 8 == 0) continue;
        bw_kit_remove(txn, i << 33);
        bw_fake_pager_check(txn);
    }
    CHECK(bw_fake_pager_pages(txn) <= 3);
    for (uint64_t i = 1; i <= 170; i++) bw_kit_check(txn, i << 33, i % 8 ? 0 : 100);
    for (uint64_t i = 8; i <= 170; i += 8) bw_kit_remove(txn, i << 33);
    CHECK_EQ(bw_fake_pager_pages(txn), 0);
    end();
}

static void a_far_leaf_is_taken_in_and_its_keys_are_near_again_without_it(void)
{
    begin(5, 30);
    for (uint64_t i = 0; i < 37; i++)
        bw_kit_put(txn, (UINT64_C(1) << 40) + i, (UINT64_C(1) << 40) + i, 100);
    const uint32_t pages = bw_fake_pager_pages(txn);
    CHECK_EQ(pages, 2 + 1);
    for (uint64_t i = 5; i < 37; i++) bw_kit_remove(txn, (UINT64_C(1) << 40) + i);
    CHECK_EQ(bw_fake_pager_pages(txn), 1); // the root, a wide leaf
    CHECK(bw_leaf_is_wide(bw_kit_leaf(txn, 1)));
    for (uint64_t i = 0; i < 5; i++) bw_kit_remove(txn, (UINT64_C(1) << 40) + i);
    bw_kit_put(txn, 6, 130, 30); // fills the leaf, which is laid out afresh
    CHECK_EQ(bw_fake_pager_pages(txn), 2 + 1);
    CHECK(bw_leaf_is_dense(bw_kit_leaf(txn, 1)));
    for (uint64_t key = 1; key <= 130; key++) bw_kit_check(txn, key, 30);
    end();
}

static void a_sparse_leaf_is_made_of_a_dense_one_in_place(void)
{
    begin(30, 100);
    for (uint64_t key = 2; key < 30; key++) {
        if (key % 3) bw_kit_remove(txn, key);
    }
    CHECK(!bw_leaf_is_dense(bw_kit_leaf(txn, 1))); // L5
    for (uint64_t key = 3; key <= 30; key += 3) bw_kit_check(txn, key, 100);
    end();
}

static void a_long_leaf_is_cut_or_gives_pages_back(void)
{
    begin(1000, 352);
    bw_kit_remove(txn, 5);
    CHECK_EQ(bw_ref_pages(bw_kit_leaf_ref(txn, 6)), 1);
    CHECK_EQ(bw_kit_tree(txn)->leaf_copies, 1);
    bw_kit_tree(txn)->leaf_copies = LEAF_COPIES_MAX;
    bw_kit_remove(txn, 900);
    CHECK_EQ(bw_ref_pages(bw_kit_leaf_ref(txn, 901)), 8);
    for (uint64_t key = 820; key < 900; key++) bw_kit_remove(txn, key);
    CHECK(bw_ref_pages(bw_kit_leaf_ref(txn, 901)) <= 2); // a quarter was left
    bw_fake_pager_check(txn);
    bw_fake_pager_commit(txn);
    // A root that is a long leaf stays the root.
    CHECK_OK(bw_tree_clear(txn, KIT_TREE));
    bw_kit_put(txn, 1, 12, 352);
    bw_fake_pager_commit(txn);
    CHECK_EQ(bw_ref_pages(bw_kit_tree(txn)->root), 2);
    bw_kit_remove(txn, 3);
    CHECK_EQ(bw_ref_pages(bw_kit_tree(txn)->root), 1);
    CHECK_EQ(bw_kit_tree(txn)->depth, 1);
    CHECK_EQ(bw_kit_tree(txn)->count, 11);
    end();
}

static void overflow_extents_go_with_their_value(void)
{
    begin(3, 100000);
    CHECK(bw_ref_has_overflow(bw_kit_tree(txn)->root)); // P2
    bw_kit_remove(txn, 2);
    bw_kit_remove(txn, 1);
    CHECK_EQ(bw_fake_pager_pages(txn), 25 + 1);
    bw_kit_remove(txn, 3);
    CHECK_EQ(bw_fake_pager_pages(txn), 0);
    end();
}

static void removing_works_in_a_full_store(void)
{
    txn = bw_fake_pager_new();
    bw_fake_pager_set_limit(txn, 300, 16);
    uint64_t keys = 0;
    bw_err err = BW_OK;
    while (!err) { // one commit each: nothing is left over
        err = bw_tree_put(txn, KIT_TREE, keys + 1, bw_kit_value(keys + 1, 352), NULL);
        if (err) break;
        keys++;
        if (keys % 50 == 0) bw_fake_pager_commit(txn);
    }
    CHECK_EQ(err, BW_ERR_DB_FULL);
    bw_fake_pager_commit(txn);
    for (uint64_t key = 1; key <= keys; key++) {
        bw_kit_remove(txn, (key * 7919) % keys + 1);
        if (key % 20 == 0) bw_fake_pager_commit(txn);
        if (key % 50 == 0) bw_fake_pager_check(txn);
    }
    CHECK_EQ(bw_fake_pager_pages(txn), 0);
    end();
}

// Fail at every page and every note in turn, until nothing fails.
static void remove_until_it_succeeds(uint64_t key, size_t size)
{
    for (int round = 0;; round++) {
        bool removed;
        bw_fake_pager_fail_pages(txn, round % 2 ? round / 2 : -1, BW_ERR_NO_MEMORY);
        bw_fake_pager_fail_notes(txn, round % 2 ? -1 : round / 2);
        const bw_err err = bw_tree_remove(txn, KIT_TREE, key, &removed);
        bw_fake_pager_fail_pages(txn, -1, BW_OK);
        bw_fake_pager_fail_notes(txn, -1);
        bw_fake_pager_check(txn);
        if (!err) return;
        CHECK_EQ(err, BW_ERR_NO_MEMORY);
        CHECK_EQ(bw_kit_tree(txn)->count, 150); // T2
        CHECK_EQ(bw_kit_tree(txn)->max_key, 150);
        CHECK_EQ(bw_kit_tree(txn)->bytes, 150 * size);
        bw_kit_check(txn, key, size);
    }
}

static void a_remove_that_fails_changes_nothing(void)
{
    static const size_t sizes[] = {100, 352, 9000};
    for (size_t i = 0; i < 3; i++) {
        for (uint64_t key = 1; key <= 150; key += 149) {
            begin(150, sizes[i]);
            remove_until_it_succeeds(key, sizes[i]);
            bw_kit_check(txn, key, 0);
            CHECK_EQ(bw_kit_tree(txn)->count, 149);
            end();
        }
    }
}

static void a_long_leaf_is_copied_when_there_is_no_room_to_cut_it(void)
{
    begin(91, 352);
    CHECK_EQ(bw_fake_pager_pages(txn), 8);
    bw_fake_pager_set_limit(txn, 8, 8); // old leaf and copy: 16 pages; 9 short ones: 17, and a root
    bw_kit_remove(txn, 40);
    CHECK_EQ(bw_ref_pages(bw_kit_tree(txn)->root), 8);
    CHECK_EQ(bw_kit_tree(txn)->leaf_copies, 0);
    end();
}

static void what_only_tidies_up_may_fail(void)
{
    begin(74, 100);
    for (uint64_t key = 1; key <= 28; key++) bw_kit_remove(txn, key);
    bw_fake_pager_fail_pages(txn, 0, BW_ERR_DB_FULL); // no page to borrow with
    bw_kit_remove(txn, 29);
    bw_kit_remove(txn, 30);
    bw_fake_pager_fail_pages(txn, -1, BW_OK);
    bw_fake_pager_check(txn);
    bw_kit_remove(txn, 31);
    CHECK_EQ(bw_kit_tree(txn)->count, 43);
    end();
}

RUN_TESTS(TEST(a_key_that_is_not_there_changes_nothing), TEST(the_highest_key_is_found_again),
          TEST(the_highest_key_is_found_across_empty_slots),
          TEST(appending_goes_on_in_a_leaf_that_gave_pages_back),
          TEST(neighbours_of_emptying_leaves_take_them_in),
          TEST(a_small_leaf_borrows_from_a_full_one),
          TEST(leaves_of_far_keys_become_one_as_they_empty),
          TEST(a_far_leaf_is_taken_in_and_its_keys_are_near_again_without_it),
          TEST(a_sparse_leaf_is_made_of_a_dense_one_in_place),
          TEST(a_long_leaf_is_cut_or_gives_pages_back), TEST(overflow_extents_go_with_their_value),
          TEST(removing_works_in_a_full_store), TEST(a_remove_that_fails_changes_nothing),
          TEST(a_long_leaf_is_copied_when_there_is_no_room_to_cut_it),
          TEST(what_only_tidies_up_may_fail))
