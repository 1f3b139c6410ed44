/* SPDX-License-Identifier: Apache-2.0 */
#include "store/branch.h"

#include <stdlib.h>

#include "harness/check.h"
#include "harness/fake_pager.h"
#include "harness/tree_kit.h"

// A branch with the keys 0, 10, 20, ...
static uint8_t *branch_of(unsigned children)
{
    uint8_t *branch = bw_kit_extent(PAGE_BRANCH, 1);
    bw_branch_begin(branch, 1);
    for (unsigned i = 0; i < children; i++) {
        const struct branch_child child = {.key = UINT64_C(10) * i, .ref = 100 + i, .count = i + 1};
        bw_branch_splice(branch, i, 0, &child, 1);
    }
    CHECK(bw_branch_is_sound(branch) && !bw_branch_problem(branch, 1, UINT64_MAX));
    return branch;
}

static void a_key_belongs_to_the_last_child_whose_bound_is_not_above_it(void)
{
    for (unsigned children = 1; children <= BRANCH_CHILDREN_MAX; children++) {
        uint8_t *branch = branch_of(children);
        for (uint64_t key = 0; key < 10 * children + 20; key++) {
            const unsigned wanted = key / 10 < children ? (unsigned)key / 10 : children - 1;
            CHECK_EQ(bw_branch_find(branch, key), wanted);
        }
        CHECK_EQ(bw_branch_find(branch, UINT64_MAX), children - 1);
        free(branch);
    }
}

static void the_first_key_is_not_looked_at(void)
{
    uint8_t *branch = branch_of(3);
    bw_branch_set_key(branch, 0, 12345); // B1
    CHECK_EQ(bw_branch_find(branch, 0), 0);
    CHECK_EQ(bw_branch_find(branch, 9), 0);
    CHECK_EQ(bw_branch_find(branch, 10), 1);
    CHECK_EQ(bw_branch_find(branch, 99), 2);
    free(branch);
}

static void a_run_of_children_becomes_another_run(void)
{
    uint8_t *branch = branch_of(6);
    const struct branch_child children[] = {{21, 7, 70}, {22, 8, 80}, {23, 9, 90}};
    bw_branch_splice(branch, 2, 1, children, 3);
    CHECK_EQ(bw_branch_children(branch), 8);
    CHECK_EQ(bw_branch_key(branch, 1), 10);
    CHECK_EQ(bw_branch_key(branch, 2), 21);
    CHECK_EQ(bw_branch_ref(branch, 4), 9);
    CHECK_EQ(bw_branch_count(branch, 3), 80);
    CHECK_EQ(bw_branch_key(branch, 5), 30);
    CHECK_EQ(bw_branch_total(branch), 1 + 2 + 70 + 80 + 90 + 4 + 5 + 6);

    bw_branch_splice(branch, 1, 6, NULL, 0);
    CHECK_EQ(bw_branch_children(branch), 2);
    CHECK_EQ(bw_branch_key(branch, 1), 50);
    CHECK_EQ(bw_branch_total(branch), 1 + 6); // B3
    CHECK(!bw_branch_problem(branch, 1, 50)); // B4
    bw_branch_set_count(branch, 2, 1);
    CHECK_TEXT(bw_branch_problem(branch, 1, 50), "unused bytes of a branch are not zero");
    free(branch);
}

static void keys_out_of_order_or_bounds_are_a_problem(void) // B1, B2
{
    const char *const wanted = "has keys out of order";
    uint8_t *branch = branch_of(5); // keys 0, 10, ... 40
    CHECK(!bw_branch_problem(branch, 10, 40));
    CHECK_TEXT(bw_branch_problem(branch, 11, UINT64_MAX), wanted);
    CHECK_TEXT(bw_branch_problem(branch, 1, 39), wanted);
    bw_branch_set_key(branch, 3, 20);
    CHECK_TEXT(bw_branch_problem(branch, 1, UINT64_MAX), wanted);
    bw_branch_set_key(branch, 2, UINT64_MAX);
    CHECK_TEXT(bw_branch_problem(branch, 1, UINT64_MAX), wanted);
    free(branch);
}

static void children_move_between_branches(void)
{
    uint8_t *left = branch_of(5), *right = branch_of(200);
    bw_branch_copy(left, 5, right, 100, 100);
    CHECK_EQ(bw_branch_children(left), 105);
    CHECK_EQ(bw_branch_key(left, 104), 1990);
    CHECK_EQ(bw_branch_ref(left, 5), 200);
    bw_branch_copy(left, 0, right, 0, 149);
    CHECK_EQ(bw_branch_children(left), BRANCH_CHILDREN_MAX);
    CHECK_EQ(bw_branch_count(left, 148), 149);
    CHECK_EQ(bw_branch_key(left, 149), 0);
    CHECK_EQ(bw_branch_children(right), 200);
    free(left);
    free(right);
}

static void the_overflow_bit_of_any_child_is_seen(void)
{
    uint8_t *branch = branch_of(9);
    CHECK(!bw_branch_has_overflow(branch));
    bw_branch_set_ref(branch, 8, 50 | REF_OVERFLOW);
    CHECK(bw_branch_has_overflow(branch)); // P2
    free(branch);
}

static void reading_refuses_another_level_and_impossible_headers(void)
{
    struct txn *txn = bw_fake_pager_new();
    page_no page;
    uint8_t *branch;
    const uint8_t *read;
    CHECK_OK(bw_page_new(txn, PAGE_BRANCH, KIT_TREE, 1, &page, &branch));
    const page_ref ref = bw_ref_make(page, 1, false);
    bw_branch_begin(branch, 2);
    CHECK_ERR(bw_branch_read(txn, KIT_TREE, ref, 2, &read), BW_ERR_FILE_PAGES_CORRUPT); // no child
    const struct branch_child child = {.ref = 9};
    bw_branch_splice(branch, 0, 0, &child, 1);
    CHECK_OK(bw_branch_read(txn, KIT_TREE, ref, 2, &read));
    CHECK_ERR(bw_branch_read(txn, KIT_TREE, ref, 1, &read), BW_ERR_FILE_PAGES_CORRUPT); // P3
    CHECK_TEXT(bw_reason_text(), "page 2: this is not a branch of level 1 of its tree");
    bw_put_u16(branch + PAGE_AT_COUNT, BRANCH_CHILDREN_MAX + 1);
    CHECK_ERR(bw_branch_read(txn, KIT_TREE, ref, 2, &read), BW_ERR_FILE_PAGES_CORRUPT);
    bw_fake_pager_free(txn);
}

RUN_TESTS(TEST(a_key_belongs_to_the_last_child_whose_bound_is_not_above_it),
          TEST(the_first_key_is_not_looked_at), TEST(a_run_of_children_becomes_another_run),
          TEST(keys_out_of_order_or_bounds_are_a_problem), TEST(children_move_between_branches),
          TEST(the_overflow_bit_of_any_child_is_seen),
          TEST(reading_refuses_another_level_and_impossible_headers))
