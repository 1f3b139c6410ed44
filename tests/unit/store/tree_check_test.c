/* SPDX-License-Identifier: Apache-2.0 */
#include "store/tree_check.h"

#include <stdio.h>

#include "harness/check.h"
#include "harness/fake_pager.h"
#include "harness/tree_kit.h"
#include "store/tree.h"

static struct txn *txn;
static struct check_report report;

struct visits {
    uint32_t extents, pages;
    page_no refused; // do not look into this one
    uint64_t born_max;
};

static bw_err visit(void *context, const struct met_extent *extent, bool *out_enters)
{
    struct visits *visits = context;
    visits->extents++;
    visits->pages += extent->pages;
    if (extent->born > visits->born_max) visits->born_max = extent->born;
    *out_enters = extent->page != visits->refused;
    return BW_OK;
}

static struct visits check_tree(void)
{
    struct visits visits = {0};
    report = (struct check_report){0};
    const struct tree_visitor visitor = {.visit = visit, .context = &visits};
    CHECK_OK(bw_tree_check(txn, bw_kit_tree(txn), visitor, &report));
    return visits;
}

static void begin(void)
{
    txn = bw_fake_pager_new();
    bw_kit_put(txn, 1, 1500, 100); // 41 leaves
    bw_kit_put(txn, 700, 700, 9000);
    bw_fake_pager_commit(txn);
}

// The page of the leaf with a key, or of the root, to be damaged.
static uint8_t *damage_leaf(uint64_t key)
{
    return bw_fake_pager_damage(txn, bw_ref_page(bw_kit_leaf_ref(txn, key)));
}

static uint8_t *damage_root(void)
{
    return bw_fake_pager_damage(txn, bw_ref_page(bw_kit_tree(txn)->root));
}

// The check must find one problem at least; the first one's text ends so.
static void check_problem(const char *text)
{
    (void)check_tree();
    CHECK(report.problems > 0);
    const size_t size = strlen(report.first_problem), wanted = strlen(text);
    CHECK(size >= wanted);
    CHECK_TEXT(report.first_problem + size - wanted, text);
    bw_fake_pager_free(txn);
    begin();
}

static void a_sound_tree_is_counted(void)
{
    begin();
    const struct visits visits = check_tree();
    CHECK_EQ(report.problems, 0);
    CHECK_TEXT(report.first_problem, "");
    CHECK_EQ(report.keys, 1500);
    CHECK_EQ(report.branches, 1);
    CHECK_EQ(report.overflow_pages, 3);
    CHECK_EQ(report.pages, report.leaves + 1 + 3);
    CHECK_EQ(visits.pages, report.pages);
    CHECK_EQ(visits.extents, report.leaves + 1 + 1);
    CHECK_EQ(visits.born_max, 1);
    bw_fake_pager_free(txn);
}

static void damage_in_branches_is_reported(void)
{
    begin();
    bw_branch_set_count(damage_root(), 5, 3);
    check_problem("counts the keys of a child wrongly"); // B3
    bw_branch_set_key(damage_root(), 5, bw_branch_key(damage_root(), 6) + 1);
    check_problem("has keys out of order"); // B1
    bw_branch_set_key(damage_root(), 5, bw_branch_key(damage_root(), 5) + 1);
    check_problem("holds a key that belongs elsewhere"); // B2
    bw_branch_set_ref(damage_root(), 200, 1);
    check_problem("unused bytes of a branch are not zero"); // B4
    bw_branch_set_ref(damage_root(), 5, 12345);
    check_problem("page 12345: not what was expected here");
    const unsigned at = bw_branch_find(damage_root(), 700);
    bw_branch_set_ref(damage_root(), at, bw_branch_ref(damage_root(), at) & ~REF_OVERFLOW);
    check_problem("does not tell that a child has overflow values"); // P2
    bw_put_u16(damage_root() + PAGE_AT_LOWER, 2);
    check_problem("this is not a branch of level 1 of its tree"); // P3
    bw_put_u64(damage_root() + PAGE_AT_BORN, 9);
    check_problem("is younger than what refers to it");
    bw_fake_pager_free(txn);
}

static void damage_in_leaves_is_reported(void)
{
    begin();
    damage_leaf(60)[PAGE_SIZE - 1] ^= 1; // in a value: only the checksum of its page tells that
    (void)check_tree();
    damage_leaf(60)[PAGE_SIZE - 100] ^= 1;
    check_problem("the padding of a value is not zero"); // L3
    bw_put_u64(damage_leaf(60) + LEAF_BASE_AT, 1);
    check_problem("holds a key that belongs elsewhere");
    bw_put_u64(damage_leaf(60) + PAGE_AT_BORN, 2);
    check_problem("is younger than what refers to it");
    bw_put_u16(damage_leaf(60) + PAGE_AT_UPPER, 8);
    check_problem("the header of this leaf contradicts itself");
    bw_put_u16(damage_leaf(60) + LEAF_SLOTS_AT + 2, 0);
    check_problem("a leaf's slots are out of bounds or order");
    bw_put_u16(damage_leaf(60) + LEAF_SLOTS_AT + 2, 104);
    check_problem("its count, bytes or highest key is wrong"); // T1
    bw_fake_pager_free(txn);
}

static void damage_in_overflow_values_is_reported(void)
{
    begin();
    const uint8_t *leaf = bw_kit_leaf(txn, 700);
    unsigned at;
    struct leaf_entry entry;
    CHECK(bw_leaf_find(leaf, 700, &at));
    CHECK(bw_leaf_entry(leaf, at, &entry) && entry.is_overflow);
    const page_no page = bw_get_u32(entry.data + REFERENCE_HEAD);
    bw_fake_pager_damage(txn, page)[5000] ^= 4;
    check_problem("the sum of this overflow value is wrong"); // W3
    bw_fake_pager_damage(txn, page)[3 * PAGE_SIZE - 1] = 4;
    check_problem("bytes behind an overflow value are not zero"); // W2
    bw_put_u64(bw_fake_pager_damage(txn, page) + PAGE_AT_BORN, 2);
    check_problem("is younger than what refers to it");
    bw_put_u32(bw_fake_pager_damage(txn, page) + PAGE_AT_TREE, 99);
    check_problem("not what was expected here");
    bw_fake_pager_free(txn);
}

static void damage_in_the_descriptor_is_reported(void)
{
    begin();
    bw_kit_tree(txn)->count++;
    check_problem("its count, bytes or highest key is wrong"); // T1
    bw_kit_tree(txn)->bytes--;
    check_problem("its count, bytes or highest key is wrong");
    bw_kit_tree(txn)->max_key++;
    check_problem("its count, bytes or highest key is wrong");
    bw_kit_tree(txn)->depth++;
    check_problem("this is not a branch of level 2 of its tree");
    bw_kit_tree(txn)->depth = 9;
    check_problem("tree 5 cannot have 9 levels");
    bw_kit_tree(txn)->root &= ~REF_OVERFLOW;
    check_problem("the tree does not tell that it has overflow values");
    bw_kit_tree(txn)->root = 0;
    check_problem("has levels, but no root");
    bw_fake_pager_free(txn);
}

static void what_the_visitor_has_met_is_not_looked_into(void)
{
    begin();
    struct visits visits = {.refused = bw_ref_page(bw_kit_tree(txn)->root)};
    report = (struct check_report){0};
    const struct tree_visitor visitor = {.visit = visit, .context = &visits};
    CHECK_OK(bw_tree_check(txn, bw_kit_tree(txn), visitor, &report));
    CHECK_EQ(visits.extents, 1);
    CHECK_EQ(report.problems, 0);
    visits.refused = bw_ref_page(bw_kit_leaf_ref(txn, 700));
    CHECK_OK(bw_tree_check(txn, bw_kit_tree(txn), visitor, &report));
    CHECK_EQ(report.overflow_pages, 0);
    CHECK_EQ(report.problems, 0);
    bw_fake_pager_free(txn);
}

RUN_TESTS(TEST(a_sound_tree_is_counted), TEST(damage_in_branches_is_reported),
          TEST(damage_in_leaves_is_reported), TEST(damage_in_overflow_values_is_reported),
          TEST(damage_in_the_descriptor_is_reported),
          TEST(what_the_visitor_has_met_is_not_looked_into))
