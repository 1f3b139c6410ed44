/* SPDX-License-Identifier: Apache-2.0 */
#include "store/repack.h"

#include <stdlib.h>

#include "harness/check.h"
#include "harness/tree_kit.h"

#define FAR (UINT64_C(1) << 32)

static uint8_t *leaf_of(uint64_t first, uint64_t last, uint64_t step, uint32_t size, unsigned pages)
{
    uint8_t *leaf = bw_kit_extent(PAGE_LEAF, pages);
    bw_leaf_begin(leaf, step == 1 ? LEAF_DENSE : step < FAR ? LEAF_SPARSE : LEAF_WIDE, first);
    for (uint64_t key = first; key <= last; key += step) {
        const struct leaf_entry entry = {
            .key = key, .data = bw_kit_value(key, size).data, .size = size};
        (void)bw_leaf_push(leaf, &entry);
    }
    CHECK_TEXT(bw_leaf_problem(leaf), NULL);
    return leaf;
}

static struct repack repack_put(const uint8_t *leaf, uint64_t key, uint32_t size)
{
    return (struct repack){
        .leaf = {leaf},
        .leaves = 1,
        .edit = EDIT_PUT,
        .entry = {.key = key, .data = bw_kit_value(key, size).data, .size = size},
    };
}

// Build the pieces and check that they hold the keys that they should, in order (R1).
static void build(struct repack *repack, uint64_t first, uint64_t last, uint64_t step)
{
    uint8_t *extent[REPACK_PIECES_MAX];
    for (unsigned i = 0; i < repack->pieces; i++) {
        extent[i] = bw_kit_extent(PAGE_LEAF, repack->piece[i].pages);
    }
    bw_repack_build(repack, extent);
    uint64_t key = first;
    for (unsigned i = 0; i < repack->pieces; i++) {
        CHECK_TEXT(bw_leaf_problem(extent[i]), NULL);
        CHECK_EQ(bw_leaf_fill(extent[i]).live, repack->piece[i].count);
        CHECK_EQ(bw_leaf_key(extent[i], 0), repack->piece[i].first);
        for (unsigned at = bw_leaf_skip(extent[i], 0); at < bw_leaf_slots(extent[i]);
             at = bw_leaf_skip(extent[i], at + 1)) {
            CHECK_EQ(bw_leaf_key(extent[i], at), key);
            key += step;
        }
        free(extent[i]);
    }
    CHECK_EQ(key, last + step);
}

static void a_long_leaf_is_cut_into_full_pages(void)
{
    uint8_t *leaf = leaf_of(1, 91, 1, 352, 8);
    struct repack repack = {.leaf = {leaf}, .leaves = 1};
    bw_repack_plan_full(&repack);
    CHECK_EQ(repack.pieces, 9);
    for (unsigned i = 0; i < 8; i++) CHECK_EQ(repack.piece[i].count, 11);
    for (unsigned i = 0; i < 9; i++) CHECK_EQ(repack.piece[i].pages, 1); // R3
    build(&repack, 1, 91, 1);
    free(leaf);
}

static void a_large_value_gets_the_pages_it_needs(void)
{
    uint8_t *leaf = leaf_of(1, 5, 1, 5000, 8);
    struct repack repack = {.leaf = {leaf}, .leaves = 1};
    bw_repack_plan_full(&repack);
    CHECK_EQ(repack.pieces, 5);
    CHECK_EQ(repack.piece[0].pages, 2); // R3
    build(&repack, 1, 5, 1);
    free(leaf);
}

static void a_full_leaf_is_halved(void)
{
    uint8_t *leaf = leaf_of(100, 3600, 100, 100, 1);
    struct repack repack = repack_put(leaf, 450, 100);
    bw_repack_plan_split(&repack);
    CHECK_EQ(repack.pieces, 2);
    CHECK(repack.piece[0].count >= 18 && repack.piece[0].count <= 20);
    uint8_t *extent[] = {bw_kit_extent(PAGE_LEAF, 1), bw_kit_extent(PAGE_LEAF, 1)};
    bw_repack_build(&repack, extent);
    CHECK_BYTES(repack.stored, bw_kit_value(450, 100).data, 100);
    free(extent[0]);
    free(extent[1]);
    free(leaf);
}

static void a_run_in_the_middle_is_cut_behind_its_newest_key(void)
{
    // 1 to 20, and a far 1000 to 1014: the run goes on at 21.
    uint8_t *leaf = leaf_of(1, 20, 1, 100, 1), *far = leaf_of(1000, 1014, 1, 100, 1);
    struct repack repack = repack_put(leaf, 21, 100);
    repack.leaf[1] = far;
    repack.leaves = 2;
    bw_repack_plan_split(&repack);
    CHECK_EQ(repack.pieces, 2);
    CHECK_EQ(repack.piece[0].last, 21);
    CHECK_EQ(repack.piece[1].first, 1000);
    free(far);
    free(leaf);

    // What lies in front of it is too much for a page: it goes with those behind.
    leaf = leaf_of(1, 37, 1, 100, 1);
    repack = repack_put(leaf, 38, 700);
    uint8_t *behind = leaf_of(50, 50, 1, 100, 1);
    repack.leaf[1] = behind;
    repack.leaves = 2;
    bw_repack_plan_split(&repack);
    CHECK_EQ(repack.pieces, 2);
    CHECK_EQ(repack.piece[0].last, 37);
    free(behind);
    free(leaf);

    // Downward it leaves the keys behind it in a full leaf.
    leaf = leaf_of(50, 86, 1, 100, 1);
    repack = repack_put(leaf, 49, 100);
    bw_repack_plan_split(&repack);
    CHECK_EQ(repack.pieces, 2);
    CHECK_EQ(repack.piece[0].last, 49);
    CHECK_EQ(repack.piece[1].count, 37);
    free(leaf);

    // At the end of a full leaf it begins the next one.
    leaf = leaf_of(1, 37, 1, 100, 1);
    repack = repack_put(leaf, 38, 100);
    bw_repack_plan_split(&repack);
    CHECK_EQ(repack.pieces, 2);
    CHECK_EQ(repack.piece[0].count, 37);
    free(leaf);
}

static void a_large_value_in_the_middle_makes_three_of_one(void)
{
    uint8_t *leaf = leaf_of(10, 380, 10, 90, 1);
    struct repack repack = repack_put(leaf, 205, 4048);
    bw_repack_plan_split(&repack);
    CHECK_EQ(repack.pieces, 3);
    CHECK_EQ(repack.piece[1].count, 1);
    CHECK_EQ(repack.piece[1].first, 205);
    free(leaf);
}

static void the_form_follows_the_share_of_empty_slots(void)
{
    for (uint64_t step = 1; step <= 3; step++) {
        uint8_t *leaf = leaf_of(1, 1 + 20 * step, step, 8, 1);
        struct repack repack = {.leaf = {leaf}, .leaves = 1};
        CHECK(bw_repack_into(&repack, leaf, 1));
        CHECK_EQ(bw_leaf_is_dense(leaf), step <= 2); // R2
        CHECK(!bw_leaf_is_wide(leaf));
        CHECK_TEXT(bw_leaf_problem(leaf), NULL);
        CHECK_EQ(bw_leaf_fill(leaf).live, 21);
        free(leaf);
    }
}

static void keys_more_than_32_bits_apart_make_a_leaf_wide(void)
{
    for (uint64_t distance = FAR - 1; distance <= FAR; distance++) {
        uint8_t *leaf = leaf_of(5, 7, 1, 8, 1);
        struct repack repack = repack_put(leaf, 5 + distance, 8);
        CHECK(bw_repack_into(&repack, leaf, 1));
        CHECK_TEXT(bw_leaf_problem(leaf), NULL);
        CHECK_EQ(bw_leaf_is_wide(leaf), distance == FAR); // R2
        CHECK(!bw_leaf_is_dense(leaf));
        CHECK_EQ(bw_leaf_fill(leaf).size, LEAF_SLOTS_AT + 4 * (distance == FAR ? 12 + 8 : 8 + 8));
        CHECK_BYTES(repack.stored, bw_kit_value(5 + distance, 8).data, 8);
        free(leaf);
    }
}

static void a_leaf_is_near_again_without_its_far_key(void)
{
    uint8_t *leaf = leaf_of(5, 7, 1, 8, 1);
    struct repack repack = repack_put(leaf, UINT64_MAX, 8);
    CHECK(bw_repack_into(&repack, leaf, 1));
    CHECK(bw_leaf_is_wide(leaf));
    repack = (struct repack){
        .leaf = {leaf}, .leaves = 1, .edit = EDIT_REMOVE, .entry = {.key = UINT64_MAX}};
    CHECK(bw_repack_into(&repack, leaf, 1));
    CHECK(bw_leaf_is_dense(leaf)); // R2
    CHECK_EQ(bw_leaf_base(leaf), 5);
    CHECK_EQ(bw_leaf_fill(leaf).live, 3);
    CHECK_TEXT(bw_leaf_problem(leaf), NULL);
    free(leaf);
}

static void a_far_key_does_not_fit_where_wider_slots_do_not(void)
{
    uint8_t *leaf = leaf_of(1000, 1000 * 36, 1000, 100, 1); // 36 x 112 of 4056 bytes
    const struct leaf_fill fill = bw_leaf_fill(leaf);
    struct repack repack = repack_put(leaf, 500, 8);
    CHECK(bw_repack_fits(leaf, fill, &repack.entry, 0, false));
    repack = repack_put(leaf, FAR * 2, 8);
    CHECK(!bw_repack_fits(leaf, fill, &repack.entry, 36, false));
    CHECK(!bw_repack_into(&repack, leaf, 1));
    bw_repack_plan_full(&repack);
    CHECK_EQ(repack.pieces, 2);
    CHECK_EQ(repack.piece[0].count, 36); // sparse still
    bw_repack_plan_split(&repack);
    CHECK_EQ(repack.pieces, 2);
    free(leaf);
}

static void a_long_wide_leaf_is_cut_into_full_pages(void)
{
    uint8_t *leaf = leaf_of(FAR, FAR * 88, FAR, 352, 8);
    struct repack repack = {.leaf = {leaf}, .leaves = 1};
    bw_repack_plan_full(&repack);
    CHECK_EQ(repack.pieces, 8);
    for (unsigned i = 0; i < 8; i++) CHECK_EQ(repack.piece[i].count, 11);
    build(&repack, FAR, FAR * 88, FAR);
    free(leaf);

    // The smallest values, and a large one in front of them.
    leaf = leaf_of(FAR, FAR * 1600, FAR, 1, 8);
    repack = repack_put(leaf, 1, 4048);
    bw_repack_plan_full(&repack);
    CHECK(repack.pieces <= 10);
    free(leaf);
}

// Whatever leaves hold, full to the brim, there are not more pieces than there is room for.
static void pieces_of_any_leaf_are_few(void)
{
    struct random random;
    bw_random_seed(&random, bw_test_seed());
    for (int round = 0; round < 300; round++) {
        uint8_t *leaf = bw_kit_extent(PAGE_LEAF, EXTENT_PAGES_MAX);
        const enum leaf_form form = bw_random_below(&random, 2) ? LEAF_WIDE : LEAF_SPARSE;
        const uint64_t size_max = 1 + bw_random_below(&random, 3000);
        uint64_t key = 1 + bw_random_below(&random, 2) * FAR;
        bw_leaf_begin(leaf, form, key);
        struct leaf_entry entry = {.key = key, .data = bw_kit_value(1, 1).data, .size = 1};
        for (uint8_t *stored = bw_leaf_push(leaf, &entry); stored;) {
            const bool is_far = form == LEAF_WIDE && bw_random_below(&random, 20) == 0;
            entry.key += is_far ? FAR : 1 + bw_random_below(&random, 5);
            entry.size = (uint32_t)(1 + bw_random_below(&random, size_max));
            entry.data = bw_kit_value(1, entry.size).data;
            stored = bw_leaf_insert(leaf, &entry);
        }
        struct repack repack = repack_put(leaf, entry.key + FAR, 4048);
        if (bw_random_below(&random, 2)) repack.entry.key = 1 + bw_random_below(&random, 2 * FAR);
        bw_repack_plan_full(&repack);
        CHECK(repack.pieces <= 19);
        bw_repack_plan_split(&repack);
        CHECK(repack.pieces <= 19);
        free(leaf);
    }
}

static void a_leaf_is_laid_out_afresh_in_its_own_place(void)
{
    uint8_t *leaf = leaf_of(1, 9, 1, 400, 1);
    (void)bw_leaf_remove(leaf, 4);
    const struct leaf_fill fill = bw_leaf_remove(leaf, 6); // two holes; 440 fit into neither
    struct repack repack = repack_put(leaf, 5, 440);
    CHECK(bw_repack_fits(leaf, fill, &repack.entry, 4, false));
    CHECK(bw_repack_into(&repack, leaf, 1));
    CHECK_TEXT(bw_leaf_problem(leaf), NULL);
    CHECK_BYTES(repack.stored, bw_kit_value(5, 440).data, 440);
    CHECK_EQ(bw_leaf_upper(leaf), PAGE_SIZE - 7 * 400 - 440);

    uint8_t before[PAGE_SIZE];
    memcpy(before, leaf, PAGE_SIZE);
    repack = repack_put(leaf, 7, 900);
    CHECK(!bw_repack_fits(leaf, bw_leaf_fill(leaf), &repack.entry, 6, false));
    CHECK(!bw_repack_into(&repack, leaf, 1));
    CHECK_BYTES(leaf, before, PAGE_SIZE);
    free(leaf);
}

static void what_is_said_to_fit_fits(void)
{
    struct random random;
    bw_random_seed(&random, bw_test_seed());
    for (int round = 0; round < 3000; round++) {
        const uint64_t step = bw_random_below(&random, 4) ? 1 + bw_random_below(&random, 3) : FAR;
        const uint32_t size = (uint32_t)(1 + bw_random_below(&random, 180));
        uint8_t *leaf =
            leaf_of(100, 100 + step * (10 + bw_random_below(&random, 10)), step, size, 1);
        const uint64_t far = bw_random_below(&random, 4) ? 0 : FAR * bw_random_below(&random, 30);
        const uint64_t key = 80 + bw_random_below(&random, 100) + far;
        const uint32_t new_size = (uint32_t)(1 + bw_random_below(&random, 3000));
        struct repack repack = repack_put(leaf, key, new_size);
        unsigned at;
        const bool is_there = bw_leaf_find(leaf, key, &at);
        const bool fits = bw_repack_fits(leaf, bw_leaf_fill(leaf), &repack.entry, at, is_there);
        CHECK_EQ(fits, bw_repack_into(&repack, leaf, 1));
        CHECK_TEXT(bw_leaf_problem(leaf), NULL);
        free(leaf);
    }
}

static void an_entry_is_left_out(void)
{
    uint8_t *leaf = leaf_of(1, 30, 1, 20, 1);
    struct repack repack = {.leaf = {leaf}, .leaves = 1, .edit = EDIT_REMOVE, .entry = {.key = 30}};
    bw_repack_plan_full(&repack);
    CHECK_EQ(repack.pieces, 1);
    build(&repack, 1, 29, 1);
    repack.entry.key = 1;
    bw_repack_plan_full(&repack);
    build(&repack, 2, 30, 1);
    free(leaf);
}

static void neighbours_become_one(void)
{
    uint8_t *left = leaf_of(1, 10, 1, 100, 1), *right = leaf_of(11, 25, 1, 100, 1);
    struct repack repack = {.leaf = {left, right}, .leaves = 2};
    CHECK(bw_repack_into(&repack, right, 1));
    CHECK_TEXT(bw_leaf_problem(right), NULL);
    CHECK_EQ(bw_leaf_base(right), 1);
    CHECK_EQ(bw_leaf_fill(right).live, 25);
    free(left);
    free(right);
}

RUN_TESTS(TEST(a_long_leaf_is_cut_into_full_pages), TEST(a_large_value_gets_the_pages_it_needs),
          TEST(a_full_leaf_is_halved), TEST(a_run_in_the_middle_is_cut_behind_its_newest_key),
          TEST(a_large_value_in_the_middle_makes_three_of_one),
          TEST(the_form_follows_the_share_of_empty_slots),
          TEST(keys_more_than_32_bits_apart_make_a_leaf_wide),
          TEST(a_leaf_is_near_again_without_its_far_key),
          TEST(a_far_key_does_not_fit_where_wider_slots_do_not),
          TEST(a_long_wide_leaf_is_cut_into_full_pages), TEST(pieces_of_any_leaf_are_few),
          TEST(a_leaf_is_laid_out_afresh_in_its_own_place), TEST(what_is_said_to_fit_fits),
          TEST(an_entry_is_left_out), TEST(neighbours_become_one))
