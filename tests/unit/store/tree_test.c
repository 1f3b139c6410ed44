/* SPDX-License-Identifier: Apache-2.0 */
#include "store/tree.h"

#include <stdio.h>

#include "harness/check.h"
#include "harness/fake_pager.h"
#include "harness/tree_kit.h"

static void a_tree_that_was_never_written_is_empty(void)
{
    struct txn *txn = bw_fake_pager_new();
    struct tree_stat stat;
    CHECK_OK(bw_tree_stat(txn, KIT_TREE, &stat));
    CHECK_EQ(stat.count + stat.max_key + stat.sequence + stat.bytes, 0);
    bw_kit_check(txn, 1, 0);
    bw_fake_pager_free(txn);
}

static void every_key_is_found_and_no_other(void)
{
    struct txn *txn = bw_fake_pager_new();
    for (uint64_t key = 3; key <= 3000; key += 3) bw_kit_put(txn, key, key, 200);
    for (uint64_t key = 0; key <= 3001; key++)
        bw_kit_check(txn, key, key && key % 3 == 0 ? 200 : 0);
    bw_kit_check(txn, UINT64_MAX, 0);
    bw_fake_pager_check(txn);
    bw_fake_pager_free(txn);
}

static void the_sequence_belongs_to_the_caller(void)
{
    struct txn *txn = bw_fake_pager_new();
    struct tree_stat stat;
    CHECK_OK(bw_tree_set_sequence(txn, KIT_TREE, 42));
    const uint64_t change = bw_txn_change(txn);
    CHECK_OK(bw_tree_set_sequence(txn, KIT_TREE, 42)); // no change
    CHECK_EQ(bw_txn_change(txn), change);
    bw_fake_pager_commit(txn);
    CHECK_OK(bw_tree_stat(txn, KIT_TREE, &stat));
    CHECK_EQ(stat.sequence, 42);
    CHECK_OK(bw_tree_set_sequence(txn, KIT_TREE, 43));
    bw_fake_pager_abort(txn);
    CHECK_OK(bw_tree_stat(txn, KIT_TREE, &stat));
    CHECK_EQ(stat.sequence, 42);
    bw_fake_pager_free(txn);
}

static void finishing_trims_the_last_leaf_although_it_was_forgotten(void)
{
    struct txn *txn = bw_fake_pager_new();
    bw_kit_put(txn, 1, 100, 352);
    bw_kit_remove(txn, 2);
    bw_kit_tree(txn)->tail.change = 0;
    CHECK_EQ(bw_ref_pages(bw_kit_leaf_ref(txn, 100)), 8);
    bw_fake_pager_commit(txn);
    CHECK_EQ(bw_ref_pages(bw_kit_leaf_ref(txn, 100)), 1); // T3
    CHECK_EQ(bw_ref_pages(bw_kit_leaf_ref(txn, 1)), 8);
    bw_fake_pager_check(txn);
    bw_fake_pager_free(txn);
}

static void damage_below_is_an_error_that_names_the_page(void)
{
    struct txn *txn = bw_fake_pager_new();
    bw_kit_put(txn, 1, 100, 100);
    bw_fake_pager_commit(txn);
    const page_no page = bw_ref_page(bw_kit_leaf_ref(txn, 50));
    uint8_t *leaf = bw_fake_pager_damage(txn, page);
    for (size_t at = 0; at < bw_leaf_slots(leaf); at++) {
        bw_put_u16(leaf + LEAF_SLOTS_AT + 4 * at, 0xFFF0);
    }
    struct bytes value;
    bool found;
    char text[100];
    CHECK_ERR(bw_tree_get(txn, KIT_TREE, 50, &value, &found), BW_ERR_FILE_PAGES_CORRUPT);
    (void)snprintf(text, sizeof(text), "page %u: slots of this leaf are out of bounds or order",
                   page);
    CHECK_TEXT(bw_reason_text(), text);
    CHECK_ERR(bw_tree_put(txn, KIT_TREE, 50, bw_kit_value(1, 9), NULL), BW_ERR_FILE_PAGES_CORRUPT);
    CHECK_ERR(bw_tree_remove(txn, KIT_TREE, 50, &found), BW_ERR_FILE_PAGES_CORRUPT);
    bw_kit_check(txn, 1, 100);
    bw_kit_check(txn, 100, 100);
    bw_fake_pager_free(txn);
}

RUN_TESTS(TEST(a_tree_that_was_never_written_is_empty), TEST(every_key_is_found_and_no_other),
          TEST(the_sequence_belongs_to_the_caller),
          TEST(finishing_trims_the_last_leaf_although_it_was_forgotten),
          TEST(damage_below_is_an_error_that_names_the_page))
