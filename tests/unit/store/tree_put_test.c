/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "harness/check.h"
#include "harness/fake_pager.h"
#include "harness/tree_kit.h"
#include "store/tree.h"

static struct txn *txn;

static void begin(void) { txn = bw_fake_pager_new(); }

static void end(void)
{
    bw_fake_pager_check(txn);
    bw_fake_pager_free(txn);
}

static unsigned leaf_pages(uint64_t key) { return bw_ref_pages(bw_kit_leaf_ref(txn, key)); }

// ---- how much space appending takes ----

static void a_thousand_notes_of_352_bytes_take_89_pages(void)
{
    begin();
    bw_kit_put(txn, 1, 1000, 352);
    bw_fake_pager_commit(txn);
    CHECK_EQ(bw_fake_pager_pages(txn), 11 * 8 + 1);
    for (uint64_t key = 1; key <= 1000; key++) bw_kit_check(txn, key, 352);
    end();
}

static void a_thousand_notes_of_360_bytes_take_91_pages(void)
{
    begin();
    bw_kit_put(txn, 1, 1000, 360);
    bw_fake_pager_commit(txn);
    CHECK_EQ(bw_fake_pager_pages(txn), 11 * 8 + 2 + 1); // T3: the last leaf keeps two pages
    CHECK_EQ(leaf_pages(1000), 2);
    end();
}

static void ten_small_notes_take_one_page(void)
{
    begin();
    bw_kit_put(txn, 1, 10, 100);
    bw_fake_pager_commit(txn);
    CHECK_EQ(bw_fake_pager_pages(txn), 1);
    end();
}

static void small_objects_stay_in_leaves_of_one_page(void)
{
    begin();
    bw_kit_put(txn, 1, 1000, 100);
    CHECK_EQ(leaf_pages(1), 1);
    CHECK_EQ(leaf_pages(1000), 1);
    CHECK_EQ(bw_fake_pager_pages(txn), 28 + 1); // 37 in each leaf, full
    end();
}

static void large_objects_appended_in_bulk_lie_in_leaves(void)
{
    begin();
    bw_kit_put(txn, 1, 12, 5000);
    bw_fake_pager_commit(txn);
    CHECK_EQ(bw_fake_pager_pages(txn), 8 + 8 + 1);
    CHECK(!bw_ref_has_overflow(bw_kit_tree(txn)->root));
    bw_kit_put(txn, 13, 13, 5000); // not in bulk
    CHECK(bw_ref_has_overflow(bw_kit_tree(txn)->root));
    end();
}

static void a_leaf_gives_back_pages_when_the_next_one_begins(void)
{
    begin();
    bw_kit_put(txn, 1, 6, 4700);
    CHECK_EQ(leaf_pages(1), 8);
    bw_kit_put(txn, 7, 7, 8000); // does not fit, and a whole page of the leaf is unused
    CHECK_EQ(leaf_pages(1), 7);
    CHECK_EQ(leaf_pages(7), 8);
    bw_fake_pager_commit(txn);
    CHECK_EQ(leaf_pages(7), 2); // T3
    for (uint64_t key = 1; key <= 7; key++) bw_kit_check(txn, key, key == 7 ? 8000 : 4700);
    end();
}

static void leaves_are_short_again_when_objects_become_small(void)
{
    begin();
    bw_kit_put(txn, 1, 100, 352);
    CHECK_EQ(leaf_pages(100), 8);
    bw_kit_put(txn, 101, 2000, 20);
    CHECK_EQ(leaf_pages(2000), 1);
    end();
}

static void single_commits_go_on_in_the_last_leaf_and_write_one(void)
{
    begin();
    for (uint64_t key = 1; key <= 110; key++) {
        bw_kit_put(txn, key, key, 352);
        CHECK(bw_fake_pager_owned_pages(txn) <= (key > 11 ? 2u : 1u) + (key == 12));
        bw_fake_pager_commit(txn);
    }
    CHECK_EQ(bw_fake_pager_pages(txn), 10 + 1); // 11 in each: leaves are full
    end();
}

static void a_leaf_that_an_earlier_commit_began_stays_short(void)
{
    begin();
    bw_kit_put(txn, 1, 5, 352);
    bw_fake_pager_commit(txn);
    bw_kit_put(txn, 6, 12, 352); // fills it and begins the next
    CHECK_EQ(leaf_pages(1), 1);
    CHECK_EQ(leaf_pages(12), 1);
    bw_kit_put(txn, 13, 40, 352); // fills that, which is this transaction's
    CHECK_EQ(leaf_pages(1), 1);
    CHECK_EQ(leaf_pages(12), 8);
    end();
}

static void a_single_commit_behind_a_long_leaf_begins_another(void)
{
    begin();
    bw_kit_put(txn, 1, 20, 360);
    bw_fake_pager_commit(txn);
    CHECK_EQ(leaf_pages(20), 2);
    bw_kit_put(txn, 21, 21, 360);
    CHECK_EQ(leaf_pages(20), 2);
    CHECK_EQ(leaf_pages(21), 1);
    CHECK_EQ(bw_fake_pager_owned_pages(txn), 2); // that leaf, and a root above both
    end();
}

// ---- changing what is there ----

static void the_first_long_leaves_that_change_are_cut_up(void)
{
    begin();
    bw_kit_put(txn, 1, 1000, 352);
    bw_fake_pager_commit(txn);
    bw_kit_put(txn, 1, 1, 352);
    CHECK_EQ(leaf_pages(1), 1);
    CHECK_EQ(leaf_pages(91), 1);
    CHECK_EQ(leaf_pages(92), 8);
    CHECK_EQ(bw_fake_pager_owned_pages(txn), 9 + 1);
    bw_fake_pager_commit(txn);
    bw_kit_put(txn, 1, 1, 352);
    CHECK_EQ(bw_fake_pager_owned_pages(txn), 1 + 1);

    for (uint64_t key = 100; key <= 900; key += 100) bw_kit_put(txn, key, key, 360);
    unsigned cut = 0;
    for (uint64_t key = 100; key <= 900; key += 100) cut += leaf_pages(key) == 1;
    CHECK_EQ(cut, LEAF_COPIES_MAX);
    CHECK_EQ(leaf_pages(900), 8); // beyond that it is a bulk change
    bw_kit_check(txn, 900, 360);
    end();
}

static void a_large_value_in_a_leaf_stays_there_if_its_size_does(void)
{
    begin();
    bw_kit_put(txn, 1, 12, 5000);
    bw_fake_pager_commit(txn);
    bw_kit_put(txn, 3, 3, 4997);
    CHECK(!bw_ref_has_overflow(bw_kit_tree(txn)->root));
    CHECK_EQ(leaf_pages(3), 2);
    bw_kit_put(txn, 3, 3, 5001);
    CHECK(bw_ref_has_overflow(bw_kit_tree(txn)->root));
    bw_kit_check(txn, 3, 5001);
    end();
}

static void a_huge_value_is_read_back_before_its_sum_is_final(void)
{
    begin();
    const size_t size = (size_t)VALUE_CONTIGUOUS_MAX + 9;
    uint8_t *data = calloc(1, size), *stored;
    CHECK(data != NULL);
    CHECK_OK(bw_tree_put(txn, KIT_TREE, 1, (struct bytes){.data = data, .size = size}, &stored));
    stored[VALUE_CONTIGUOUS_MAX - 1] = 1;
    data[VALUE_CONTIGUOUS_MAX - 1] = 1;
    struct bytes value;
    bool found;
    CHECK_OK(bw_tree_get(txn, KIT_TREE, 1, &value, &found)); // T5
    CHECK(found && value.size == size && memcmp(value.data, data, size) == 0);
    bw_fake_pager_commit(txn);
    CHECK_OK(bw_tree_get(txn, KIT_TREE, 1, &value, &found));
    CHECK(found && value.size == size && memcmp(value.data, data, size) == 0);
    free(data);
    end();
}

static void a_new_size_moves_a_value_and_keeps_the_others(void)
{
    begin();
    bw_kit_put(txn, 1, 30, 100);
    static const size_t sizes[] = {100, 99, 104, 105, 1, 700, 3000, 4048, 4049, 9000, 200000, 12};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        bw_kit_put(txn, 15, 15, sizes[i]);
        bw_fake_pager_check(txn);
        for (uint64_t key = 1; key <= 30; key++) bw_kit_check(txn, key, key == 15 ? sizes[i] : 100);
        if (i % 3 == 0) bw_fake_pager_commit(txn);
    }
    struct tree_stat stat;
    CHECK_OK(bw_tree_stat(txn, KIT_TREE, &stat));
    CHECK_EQ(stat.bytes, 29 * 100 + 12); // T1
    CHECK_EQ(stat.count, 30);
    end();
}

static void the_stored_copy_may_be_written(void)
{
    static const size_t sizes[] = {5, 352, 4048, 4100, 100000};
    begin();
    for (uint64_t key = 1; key <= 5; key++) {
        uint8_t *stored;
        CHECK_OK(bw_tree_put(txn, KIT_TREE, key, bw_kit_value(9, sizes[key - 1]), &stored));
        memcpy(stored, bw_kit_value(key, sizes[key - 1]).data, sizes[key - 1]);
        bw_kit_check(txn, key, sizes[key - 1]);
        stored[0] ^= 0xFF; // also after it has been read, up to the next change
        stored[0] ^= 0xFF;
        bw_fake_pager_check(txn); // T5: the sum is right
    }
    bw_fake_pager_commit(txn);
    for (uint64_t key = 1; key <= 5; key++) bw_kit_check(txn, key, sizes[key - 1]);
    end();
}

static void a_value_of_the_same_tree_may_be_put_under_another_key(void)
{
    begin();
    bw_kit_put(txn, 1, 40, 90);
    for (uint64_t key = 1000; key > 100; key -= 3) { // through splits and compactions
        struct bytes value;
        bool found;
        CHECK_OK(bw_tree_get(txn, KIT_TREE, 1 + key % 40, &value, &found));
        CHECK_OK(bw_tree_put(txn, KIT_TREE, key, value, NULL));
        CHECK_OK(bw_tree_get(txn, KIT_TREE, key, &value, &found));
        CHECK_BYTES(value.data, bw_kit_value(1 + key % 40, 90).data, 90);
    }
    end();
}

static void random_order_fills_leaves_by_more_than_half(void)
{
    begin();
    struct random random;
    bw_random_seed(&random, 11);
    for (int i = 0; i < 20000; i++) {
        const uint64_t key = 1 + bw_random_below(&random, 100000);
        bw_kit_put(txn, key, key, 100);
    }
    struct tree_stat stat;
    CHECK_OK(bw_tree_stat(txn, KIT_TREE, &stat));
    CHECK(stat.count * 112 * 10 > (uint64_t)bw_fake_pager_pages(txn) * PAGE_SIZE * 6);
    end();
}

static void a_run_into_a_gap_fills_its_leaves(void)
{
    begin();
    bw_kit_put(txn, 1, 500, 100);
    bw_kit_put(txn, 100000, 100500, 100);
    const uint32_t before = bw_fake_pager_pages(txn);
    bw_kit_put(txn, 501, 4500, 100); // 37 in a page
    CHECK(bw_fake_pager_pages(txn) - before <= 4000 / 37 + 5);
    end();
}

static void descending_keys_fill_their_leaves(void)
{
    begin();
    for (uint64_t key = 5000; key > 0; key--) bw_kit_put(txn, key, key, 100);
    CHECK(bw_fake_pager_pages(txn) <= 5000 / 37 + 3);
    end();
}

// ---- keys far apart ----

enum { FAR_KEYS = 2000 };

// The pages of so many keys at equal distances, put in ascending order or, if not 0, by strides.
static uint32_t pages_of(uint64_t distance, uint32_t stride, uint32_t size)
{
    begin();
    for (uint64_t i = 0; i < FAR_KEYS; i++) {
        const uint64_t key = 1 + distance * (stride ? 1 + i * stride % 2003 : i);
        bw_kit_put(txn, key, key, size);
    }
    bw_fake_pager_commit(txn);
    const uint32_t pages = bw_fake_pager_pages(txn);
    for (uint64_t i = 0; i < FAR_KEYS; i++) {
        bw_kit_check(txn, 1 + distance * (stride ? 1 + i * stride % 2003 : i), size);
    }
    end();
    return pages;
}

static void keys_far_apart_take_hardly_more_pages_than_near_ones(void)
{
    static const uint32_t strides[] = {0, 1, 2002, 1237}; // 2002: descending
    for (size_t i = 0; i < sizeof(strides) / sizeof(strides[0]); i++) {
        const uint32_t near = pages_of(1000, strides[i], 100);
        const uint32_t far = pages_of(UINT64_C(1) << 33, strides[i], 100);
        CHECK(far * 10 <= near * 11);
    }
    CHECK(pages_of(UINT64_C(1) << 33, 0, 8) * 10 <= pages_of(1000, 0, 8) * 14);
    CHECK(pages_of(UINT64_C(1) << 50, 0, 352) <= pages_of(1000, 0, 352) + 8);
}

static void near_and_far_keys_share_leaves(void)
{
    begin();
    uint64_t key = 1;
    for (unsigned i = 0; i < FAR_KEYS; i++, key += i % 10 ? 1 : UINT64_C(1) << 40) {
        bw_kit_put(txn, key, key, 100);
    }
    bw_fake_pager_commit(txn);
    CHECK(bw_fake_pager_pages(txn) <= FAR_KEYS / 34 + 3);
    bw_kit_put(txn, 11, 500, 100); // behind the first run, up to the second
    bw_fake_pager_commit(txn);
    CHECK(bw_fake_pager_pages(txn) <= (FAR_KEYS + 490) / 34 + 5);
    for (uint64_t near = 1; near <= 500; near++) bw_kit_check(txn, near, 100);
    end();
}

// Put another value of this size under a key that is there.
static void update(uint64_t key, size_t size)
{
    struct bytes value;
    bool found;
    CHECK_OK(bw_tree_put(txn, KIT_TREE, key, bw_kit_value(key + 1, size), NULL));
    CHECK_OK(bw_tree_get(txn, KIT_TREE, key, &value, &found));
    CHECK(found);
    CHECK_EQ(value.size, size);
    CHECK_BYTES(value.data, bw_kit_value(key + 1, size).data, size);
    bw_kit_put(txn, key, key, size);
    bw_kit_check(txn, key, size);
}

static void updates_in_order_copy_each_leaf_once(void)
{
    begin();
    bw_kit_put(txn, 1, 2000, 80);
    bw_fake_pager_commit(txn);
    const uint32_t pages = bw_fake_pager_pages(txn);
    for (uint64_t key = 1; key <= 2000; key++) update(key, 77 + key % 4);
    CHECK_EQ(bw_fake_pager_pages(txn), pages);
    for (uint64_t key = 1; key <= 2000; key++) bw_kit_check(txn, key, 77 + key % 4);
    end();
}

static void an_update_finds_its_leaf_although_it_was_moved(void)
{
    begin();
    bw_kit_put(txn, 1, 8, 352);
    update(3, 352);
    bw_kit_put(txn, 9, 30, 352); // a longer leaf takes the place of the first
    CHECK_EQ(leaf_pages(3), 8);
    update(3, 352);
    bw_kit_put(txn, 31, 300, 352);
    update(150, 352);
    for (uint64_t key = 120; key < 180; key++) bw_kit_remove(txn, key); // with all its leaf
    update(119, 352);
    update(180, 352);
    CHECK_OK(bw_tree_clear(txn, KIT_TREE));
    bw_kit_put(txn, 180, 181, 352);
    update(180, 352);
    end();
}

static void other_trees_do_not_spoil_appending(void)
{
    begin();
    bw_kit_put(txn, 1, 50, 100);
    const uint64_t change = bw_kit_tree(txn)->tail.change;
    CHECK(change != 0);
    for (uint64_t key = 51; key <= 60; key++) {
        CHECK_OK(bw_tree_put(txn, KIT_TREE + 1, 1000 - key, bw_kit_value(key, 100), NULL));
        bw_kit_put(txn, key, key, 100);
    }
    CHECK_EQ(bw_kit_tree(txn)->tail.change, change); // T4
    bw_kit_put(txn, 3, 3, 104);                      // in place
    CHECK_EQ(bw_kit_tree(txn)->tail.change, change);
    end();
}

// ---- failures ----

static void check_unchanged(uint64_t count, uint64_t bytes)
{
    struct tree_stat stat;
    bw_fake_pager_check(txn);
    CHECK_OK(bw_tree_stat(txn, KIT_TREE, &stat));
    CHECK_EQ(stat.count, count);
    CHECK_EQ(stat.bytes, bytes);
    CHECK_EQ(stat.max_key, 300);
}

// Puts at every kind of place, each of which fails at every page that it asks for.
static void a_put_that_fails_changes_nothing(void)
{
    static const struct {
        uint64_t key;
        size_t size;
    } puts[] = {{301, 352},  {301, 4048}, {301, 30000}, {150, 352},   {150, 360},  {150, 4048},
                {150, 5000}, {1, 90000},  {300, 1},     {300, 70000}, {299, 4000}, {2, 353}};
    for (size_t i = 0; i < 2 * sizeof(puts) / sizeof(puts[0]); i++) {
        const uint64_t key = puts[i / 2].key;
        begin();
        bw_kit_put(txn, 1, 300, 352);
        if (i % 2) bw_fake_pager_commit(txn);
        for (int successes = 0;; successes++) {
            bw_fake_pager_fail_pages(txn, successes, BW_ERR_DB_FULL);
            const struct bytes value = bw_kit_value(key, puts[i / 2].size);
            const bw_err err = bw_tree_put(txn, KIT_TREE, key, value, NULL);
            if (!err) break;
            CHECK_EQ(err, BW_ERR_DB_FULL);
            CHECK_TEXT(bw_reason_text(), "Could not put");
            check_unchanged(300, 300 * 352); // T2
            bw_kit_check(txn, key, key > 300 ? 0 : 352);
        }
        bw_fake_pager_fail_pages(txn, -1, BW_OK);
        bw_kit_check(txn, key, puts[i / 2].size);
        end();
    }
}

static void a_tree_of_2_to_the_32_keys_is_full(void)
{
    begin();
    bw_kit_put(txn, 2, 4, 10);
    bw_kit_tree(txn)->count = UINT32_MAX;
    CHECK_ERR(bw_tree_put(txn, KIT_TREE, 5, bw_kit_value(5, 10), NULL), BW_ERR_DB_FULL);
    CHECK_ERR(bw_tree_put(txn, KIT_TREE, 1, bw_kit_value(1, 10), NULL), BW_ERR_DB_FULL);
    CHECK_OK(bw_tree_put(txn, KIT_TREE, 3, bw_kit_value(3, 10), NULL));
    bw_kit_tree(txn)->count = 3;
    end();
}

static void the_highest_key_of_all_can_be_put(void)
{
    begin();
    bw_kit_put(txn, UINT64_MAX - 1, UINT64_MAX - 1, 10);
    CHECK_OK(bw_tree_put(txn, KIT_TREE, UINT64_MAX, bw_kit_value(1, 10), NULL));
    CHECK_OK(bw_tree_put(txn, KIT_TREE, 1, bw_kit_value(1, 10), NULL));
    bw_kit_check(txn, UINT64_MAX - 1, 10);
    end();
}

RUN_TESTS(TEST(a_thousand_notes_of_352_bytes_take_89_pages),
          TEST(a_thousand_notes_of_360_bytes_take_91_pages), TEST(ten_small_notes_take_one_page),
          TEST(small_objects_stay_in_leaves_of_one_page),
          TEST(large_objects_appended_in_bulk_lie_in_leaves),
          TEST(a_leaf_gives_back_pages_when_the_next_one_begins),
          TEST(leaves_are_short_again_when_objects_become_small),
          TEST(single_commits_go_on_in_the_last_leaf_and_write_one),
          TEST(a_leaf_that_an_earlier_commit_began_stays_short),
          TEST(a_single_commit_behind_a_long_leaf_begins_another),
          TEST(the_first_long_leaves_that_change_are_cut_up),
          TEST(a_large_value_in_a_leaf_stays_there_if_its_size_does),
          TEST(a_huge_value_is_read_back_before_its_sum_is_final),
          TEST(a_new_size_moves_a_value_and_keeps_the_others), TEST(the_stored_copy_may_be_written),
          TEST(a_value_of_the_same_tree_may_be_put_under_another_key),
          TEST(random_order_fills_leaves_by_more_than_half),
          TEST(a_run_into_a_gap_fills_its_leaves), TEST(descending_keys_fill_their_leaves),
          TEST(keys_far_apart_take_hardly_more_pages_than_near_ones),
          TEST(near_and_far_keys_share_leaves), TEST(other_trees_do_not_spoil_appending),
          TEST(updates_in_order_copy_each_leaf_once),
          TEST(an_update_finds_its_leaf_although_it_was_moved),
          TEST(a_put_that_fails_changes_nothing), TEST(a_tree_of_2_to_the_32_keys_is_full),
          TEST(the_highest_key_of_all_can_be_put))
