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
    CHECK_OK(bw_tree_set_sequence(txn, KIT_TREE, 77));
    bw_fake_pager_commit(txn);
}

static void end(void)
{
    bw_fake_pager_check(txn);
    bw_fake_pager_free(txn);
    CHECK_EQ(bw_memory_blocks(), 0);
}

static void clearing_gives_up_every_page_and_keeps_the_sequence(void)
{
    static const size_t sizes[] = {20, 352, 4000, 9000};
    for (size_t i = 0; i < 4; i++) {
        begin(400, sizes[i]);
        CHECK_OK(bw_tree_clear(txn, KIT_TREE));
        struct tree_stat stat;
        CHECK_OK(bw_tree_stat(txn, KIT_TREE, &stat));
        CHECK_EQ(stat.count + stat.bytes + stat.max_key, 0);
        CHECK_EQ(stat.sequence, 77);
        CHECK_EQ(bw_fake_pager_pages(txn), 0);
        CHECK_OK(bw_tree_clear(txn, KIT_TREE)); // an empty one
        bw_kit_put(txn, 5, 9, 100);
        bw_kit_check(txn, 7, 100);
        end();
    }
}

static void leaves_without_overflow_values_are_not_read(void)
{
    begin(40, 4000);
    for (uint64_t key = 1; key <= 40; key++) {
        uint8_t *leaf = bw_fake_pager_damage(txn, bw_ref_page(bw_kit_leaf_ref(txn, key)));
        bw_put_u16(leaf + PAGE_AT_COUNT, 0xFFFF);
    }
    CHECK_OK(bw_tree_clear(txn, KIT_TREE)); // P2
    CHECK_EQ(bw_fake_pager_pages(txn), 0);
    bw_fake_pager_free(txn);
}

static void a_page_that_cannot_be_read_keeps_everything(void)
{
    begin(100, 5000); // in bulk: values in leaves
    bw_kit_put(txn, 50, 50, 100000);
    bw_fake_pager_commit(txn);
    const uint32_t pages = bw_fake_pager_pages(txn);
    const page_no page = bw_ref_page(bw_kit_leaf_ref(txn, 50));
    uint8_t *leaf = bw_fake_pager_damage(txn, page);
    leaf[PAGE_AT_LOWER] ^= 1;
    CHECK_ERR(bw_tree_clear(txn, KIT_TREE), BW_ERR_FILE_PAGES_CORRUPT);
    CHECK_ERR(bw_tree_drop(txn, KIT_TREE), BW_ERR_FILE_PAGES_CORRUPT);
    CHECK_EQ(bw_fake_pager_pages(txn), pages); // T2
    leaf[PAGE_AT_LOWER] ^= 1;
    bw_fake_pager_check(txn);
    CHECK_OK(bw_tree_clear(txn, KIT_TREE));
    end();
}

static void a_lack_of_memory_keeps_everything(void)
{
    begin(12000, 200); // 632 leaves
    for (int successes = 0; successes < 3; successes++) {
        bw_memory_fail_after(successes);
        CHECK_ERR(bw_tree_clear(txn, KIT_TREE), BW_ERR_NO_MEMORY); // T2
        bw_memory_fail_after(-1);
        bw_fake_pager_check(txn);
    }
    bw_fake_pager_fail_notes(txn, 0);
    CHECK_ERR(bw_tree_clear(txn, KIT_TREE), BW_ERR_NO_MEMORY);
    CHECK_ERR(bw_tree_drop(txn, KIT_TREE), BW_ERR_NO_MEMORY);
    bw_fake_pager_fail_notes(txn, -1);
    bw_kit_check(txn, 600, 200);
    bw_fake_pager_check(txn);
    CHECK_OK(bw_tree_clear(txn, KIT_TREE));
    end();
}

static void a_dropped_tree_is_forgotten(void)
{
    begin(300, 100);
    CHECK_OK(bw_tree_drop(txn, KIT_TREE));
    CHECK_EQ(bw_fake_pager_pages(txn), 0);
    CHECK_OK(bw_tree_drop(txn, KIT_TREE));
    struct tree_stat stat;
    CHECK_OK(bw_tree_stat(txn, KIT_TREE, &stat));
    CHECK_EQ(stat.count + stat.sequence, 0);
    end();
}

static void appending_begins_anew_after_clearing(void)
{
    begin(1, 10);
    bw_kit_put(txn, 2, 500, 352);
    CHECK(bw_kit_tree(txn)->is_bulk);
    CHECK_OK(bw_tree_clear(txn, KIT_TREE));
    bw_kit_put(txn, 1, 3, 352);
    CHECK_EQ(bw_ref_pages(bw_kit_tree(txn)->root), 1); // T4
    end();
}

static void a_tree_that_cannot_be_forgotten_keeps_everything(void)
{
    begin(300, 100);
    bw_fake_pager_fail_notes(txn, 1); // room for the frees, but none in the catalogue
    CHECK_ERR(bw_tree_drop(txn, KIT_TREE), BW_ERR_NO_MEMORY); // T2
    bw_fake_pager_fail_notes(txn, -1);
    for (uint64_t key = 1; key <= 300; key++) bw_kit_check(txn, key, 100);
    end();
}

static void clearing_can_be_undone(void)
{
    begin(300, 100);
    CHECK_OK(bw_tree_clear(txn, KIT_TREE));
    bw_kit_put(txn, 1, 10, 50);
    bw_fake_pager_abort(txn);
    for (uint64_t key = 1; key <= 300; key++) bw_kit_check(txn, key, 100);
    end();
}

RUN_TESTS(TEST(clearing_gives_up_every_page_and_keeps_the_sequence),
          TEST(leaves_without_overflow_values_are_not_read),
          TEST(a_page_that_cannot_be_read_keeps_everything),
          TEST(a_lack_of_memory_keeps_everything), TEST(a_dropped_tree_is_forgotten),
          TEST(appending_begins_anew_after_clearing),
          TEST(a_tree_that_cannot_be_forgotten_keeps_everything), TEST(clearing_can_be_undone))
