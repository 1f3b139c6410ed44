/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/check.h"
#include "harness/fake_pager.h"
#include "harness/tree_kit.h"
#include "store/leaf.h"

static struct txn *txn;
static struct cursor cursor;

// The keys 10, 20, ..., 10 * keys.
static void begin(uint64_t keys, size_t size)
{
    txn = bw_fake_pager_new();
    for (uint64_t key = 1; key <= keys; key++) bw_kit_put(txn, 10 * key, 10 * key, size);
    bw_fake_pager_commit(txn);
    bw_cursor_init(&cursor, txn, KIT_TREE);
}

static void check_next(uint64_t key, size_t size)
{
    bool found;
    CHECK_OK(bw_cursor_next(&cursor, &found));
    CHECK_EQ(found, key != 0);
    if (!found) return;
    CHECK_EQ(cursor.key, key);
    CHECK_EQ(cursor.value.size, size);
    CHECK_BYTES(cursor.value.data, bw_kit_value(key, size).data, size);
}

static void check_seek(uint64_t key, uint64_t wanted)
{
    bool found;
    CHECK_OK(bw_cursor_seek(&cursor, key, &found));
    CHECK_EQ(found, wanted != 0);
    if (found) CHECK_EQ(cursor.key, wanted);
}

static void all_entries_come_in_order(void)
{
    static const size_t sizes[] = {9, 352, 4000, 20000};
    for (size_t i = 0; i < 4; i++) {
        begin(300, sizes[i]);
        for (uint64_t key = 10; key <= 3000; key += 10) check_next(key, sizes[i]);
        check_next(0, 0);
        check_next(0, 0);
        bw_fake_pager_free(txn);
    }
}

static void several_entries_at_once_are_the_same_ones(void)
{
    enum { MAX = 64 };
    static const size_t sizes[] = {9, 352, 4000, 20000};
    struct cursor_entry entries[MAX];
    for (size_t i = 0; i < 4 * MAX; i++) {
        const size_t size = sizes[i / MAX], max = i % MAX + 1;
        size_t count = 0;
        txn = bw_fake_pager_new();
        bw_kit_put(txn, 1, 90, size);
        for (uint64_t key = 3; key < 90; key += 3) bw_kit_remove(txn, key); // empty slots
        bw_cursor_init(&cursor, txn, KIT_TREE);
        for (uint64_t key = 0; key < 90;) {
            CHECK_OK(bw_cursor_next_many(&cursor, entries, max, &count));
            CHECK(count >= 1 && count <= max);
            CHECK_EQ(cursor.key, entries[count - 1].key);
            for (size_t n = 0; n < count; n++) {
                key += key % 3 == 2 && key < 89 ? 2 : 1;
                CHECK_EQ(entries[n].key, key);
                CHECK_EQ(entries[n].value.size, size);
                CHECK_BYTES(entries[n].value.data, bw_kit_value(key, size).data, size);
            }
            if (key == 70) bw_kit_put(txn, 70, 70, size); // a change on the way
        }
        check_next(0, 0);
        bw_fake_pager_free(txn);
    }
}

static void an_empty_tree_has_no_entry(void)
{
    begin(0, 1);
    size_t count = 1;
    struct cursor_entry entry;
    CHECK_OK(bw_cursor_next_many(&cursor, &entry, 1, &count));
    CHECK_EQ(count, 0);
    check_next(0, 0);
    check_seek(0, 0);
    check_seek(5, 0);
    bw_fake_pager_free(txn);
}

static void seeking_finds_the_first_key_that_is_not_below(void)
{
    begin(500, 100);
    for (uint64_t key = 0; key <= 5000; key++) check_seek(key, key ? (key + 9) / 10 * 10 : 10);
    check_seek(5001, 0);
    check_next(0, 0);
    check_seek(UINT64_MAX, 0);
    check_seek(4995, 5000); // an end is left by seeking
    check_next(0, 0);
    bw_fake_pager_free(txn);
}

static void empty_slots_are_passed_over(void)
{
    txn = bw_fake_pager_new();
    bw_kit_put(txn, 1, 30, 50);
    for (uint64_t key = 2; key < 30; key += 2) bw_kit_remove(txn, key);
    CHECK(bw_leaf_is_dense(bw_kit_leaf(txn, 1)));
    bw_cursor_init(&cursor, txn, KIT_TREE);
    for (uint64_t key = 1; key <= 29; key += 2) check_next(key, 50);
    check_next(30, 50);
    check_next(0, 0);
    check_seek(4, 5);
    bw_fake_pager_free(txn);
}

static void after_a_change_it_goes_on_behind_its_last_key(void)
{
    begin(200, 100);
    check_seek(500, 500);
    bw_kit_remove(txn, 510); // the next one
    check_next(520, 100);
    bw_kit_remove(txn, 520); // its own
    check_next(530, 100);
    bw_kit_put(txn, 531, 531, 100);
    check_next(531, 100);
    bw_kit_put(txn, 11, 60, 100); // splits in front of it
    check_next(540, 100);
    CHECK_OK(bw_tree_put(txn, KIT_TREE + 1, 1, bw_kit_value(1, 8), NULL)); // another tree
    check_next(550, 100);
    CHECK_OK(bw_tree_clear(txn, KIT_TREE));
    check_next(0, 0);
    bw_kit_put(txn, 600, 600, 100); // the end is the end
    check_next(0, 0);
    check_seek(1, 600);
    bw_fake_pager_check(txn);
    bw_fake_pager_free(txn);
}

static void the_highest_key_of_all_is_the_last(void)
{
    begin(2, 10);
    bw_kit_put(txn, UINT64_MAX - 1, UINT64_MAX - 1, 10);
    CHECK_OK(bw_tree_put(txn, KIT_TREE, UINT64_MAX, bw_kit_value(UINT64_MAX, 10), NULL));
    check_seek(UINT64_MAX, UINT64_MAX);
    bw_kit_remove(txn, 10);
    check_next(0, 0); // there is no key behind to search for
    bw_fake_pager_free(txn);
}

static void damage_is_an_error_again_and_again(void)
{
    begin(100, 100);
    const page_no page = bw_ref_page(bw_kit_leaf_ref(txn, 500));
    uint8_t *leaf = bw_fake_pager_damage(txn, page);
    const uint64_t first = bw_leaf_key(leaf, 0);
    bw_put_u16(leaf + PAGE_AT_LOWER, 7);
    bool found = true;
    bw_err err = BW_OK;
    uint64_t last = 0;
    while (!err) {
        err = bw_cursor_next(&cursor, &found);
        if (!err) last = cursor.key;
    }
    CHECK_EQ(last, first - 10);
    CHECK_EQ(err, BW_ERR_FILE_PAGES_CORRUPT);
    CHECK_ERR(bw_cursor_next(&cursor, &found), BW_ERR_FILE_PAGES_CORRUPT);
    CHECK_ERR(bw_cursor_seek(&cursor, 500, &found), BW_ERR_FILE_PAGES_CORRUPT);
    check_seek(1, 10);
    check_next(20, 100);
    bw_fake_pager_free(txn);
}

RUN_TESTS(TEST(all_entries_come_in_order), TEST(several_entries_at_once_are_the_same_ones),
          TEST(an_empty_tree_has_no_entry), TEST(seeking_finds_the_first_key_that_is_not_below),
          TEST(empty_slots_are_passed_over), TEST(after_a_change_it_goes_on_behind_its_last_key),
          TEST(the_highest_key_of_all_is_the_last), TEST(damage_is_an_error_again_and_again))
