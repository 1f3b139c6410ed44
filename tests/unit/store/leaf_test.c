/* SPDX-License-Identifier: Apache-2.0 */
#include "store/leaf.h"

#include <stdlib.h>

#include "harness/check.h"
#include "harness/tree_kit.h"

static uint8_t *new_leaf(unsigned pages) { return bw_kit_extent(PAGE_LEAF, pages); }

static struct leaf_entry entry_of(uint64_t key, uint32_t size)
{
    return (struct leaf_entry){.key = key, .data = bw_kit_value(key, size).data, .size = size};
}

static uint8_t *push(uint8_t *leaf, uint64_t key, uint32_t size)
{
    const struct leaf_entry entry = entry_of(key, size);
    return bw_leaf_push(leaf, &entry);
}

static uint8_t *insert(uint8_t *leaf, uint64_t key, uint32_t size)
{
    const struct leaf_entry entry = entry_of(key, size);
    uint8_t *stored = bw_leaf_insert(leaf, &entry);
    CHECK_TEXT(bw_leaf_problem(leaf), NULL);
    return stored;
}

static struct leaf_fill remove_key(uint8_t *leaf, uint64_t key)
{
    unsigned at;
    CHECK(bw_leaf_find(leaf, key, &at));
    return bw_leaf_remove(leaf, at);
}

static void check_value(const uint8_t *leaf, uint64_t key, uint32_t size)
{
    unsigned at;
    struct leaf_entry entry;
    CHECK(bw_leaf_find(leaf, key, &at));
    CHECK_EQ(bw_leaf_key(leaf, at), key);
    CHECK(bw_leaf_entry(leaf, at, &entry));
    CHECK_EQ(entry.size, size);
    CHECK_EQ((entry.data - leaf) % 8, 0);
    CHECK_BYTES(entry.data, bw_kit_value(key, size).data, size);
}

// A dense leaf of the keys 10, 11, ...
static uint8_t *dense_leaf(unsigned keys, uint32_t size)
{
    uint8_t *leaf = new_leaf(1);
    bw_leaf_begin(leaf, LEAF_DENSE, 10);
    for (unsigned i = 0; i < keys; i++) CHECK(push(leaf, 10 + i, size));
    CHECK_TEXT(bw_leaf_problem(leaf), NULL);
    return leaf;
}

// A sparse leaf of the keys 1000, 2000, ...
static uint8_t *sparse_leaf(unsigned keys, uint32_t size)
{
    uint8_t *leaf = new_leaf(1);
    bw_leaf_begin(leaf, LEAF_SPARSE, 1000);
    for (uint64_t i = 1; i <= keys; i++) CHECK(push(leaf, 1000 * i, size));
    CHECK_TEXT(bw_leaf_problem(leaf), NULL);
    return leaf;
}

#define FAR (UINT64_C(1) << 33)

// A wide leaf of the keys 2^33, 2 x 2^33, ...
static uint8_t *wide_leaf(unsigned keys, uint32_t size)
{
    uint8_t *leaf = new_leaf(1);
    bw_leaf_begin(leaf, LEAF_WIDE, FAR);
    for (uint64_t i = 1; i <= keys; i++) CHECK(push(leaf, FAR * i, size));
    CHECK_TEXT(bw_leaf_problem(leaf), NULL);
    return leaf;
}

static void consecutive_keys_take_four_bytes_each(void)
{
    uint8_t *leaf = dense_leaf(1, 352);
    for (uint64_t key = 11; key < 21; key++) CHECK(insert(leaf, key, 352));
    CHECK(!insert(leaf, 21, 352));
    CHECK(bw_leaf_is_dense(leaf));
    CHECK_EQ(bw_leaf_slots(leaf), 11);
    CHECK_EQ(bw_leaf_fill(leaf).size, LEAF_SLOTS_AT + 11 * 356);
    for (uint64_t key = 10; key < 21; key++) check_value(leaf, key, 352);
    free(leaf);
}

static void the_largest_inline_value_fits_a_page_in_its_own_leaf(void)
{
    for (int is_dense = 0; is_dense < 2; is_dense++) {
        uint8_t *leaf = new_leaf(1);
        bw_leaf_begin(leaf, is_dense ? LEAF_DENSE : LEAF_SPARSE, 77);
        CHECK(push(leaf, 77, 4048));
        CHECK_TEXT(bw_leaf_problem(leaf), NULL);
        free(leaf);
    }
}

static void a_small_gap_is_padded_and_a_wide_one_is_not(void)
{
    uint8_t *leaf = dense_leaf(4, 20);
    CHECK(insert(leaf, 16, 20)); // 14 and 15 are not there
    CHECK_EQ(bw_leaf_slots(leaf), 7);
    unsigned at;
    CHECK(!bw_leaf_find(leaf, 15, &at));
    CHECK_EQ(at, 5);
    CHECK(!bw_leaf_find(leaf, 17, &at));
    CHECK_EQ(at, 7);
    CHECK_EQ(bw_leaf_fill(leaf).live, 5);
    CHECK(!insert(leaf, 22, 20)); // 13 slots for 6 values: L5
    CHECK(!insert(leaf, UINT64_MAX, 20));
    CHECK(insert(leaf, 21, 20));
    CHECK_EQ(bw_leaf_skip(leaf, 4), 6);
    free(leaf);
}

static void a_key_in_front_moves_the_slots_up(void)
{
    uint8_t *leaf = dense_leaf(5, 20);
    CHECK(insert(leaf, 8, 30));
    CHECK_EQ(bw_leaf_base(leaf), 8);
    CHECK_EQ(bw_leaf_slots(leaf), 7);
    for (uint64_t key = 10; key < 15; key++) check_value(leaf, key, 20);
    check_value(leaf, 8, 30);
    CHECK(!insert(leaf, 0, 30)); // 15 slots for 7 values: L5
    CHECK(insert(leaf, 9, 30));  // the empty slot between
    CHECK_EQ(bw_leaf_fill(leaf).live, 7);
    free(leaf);
}

static void keys_far_apart_are_found_among_each_other(void)
{
    uint8_t *leaf = sparse_leaf(20, 50);
    CHECK(insert(leaf, 4500, 60));
    CHECK(insert(leaf, 20001, 60));
    CHECK(!insert(leaf, 999, 60));                         // below the base
    CHECK(!insert(leaf, 1000 + UINT64_C(0x100000000), 1)); // more than 32 bits above it
    CHECK(insert(leaf, 999 + UINT64_C(0x100000000), 1));
    CHECK_EQ(bw_leaf_slots(leaf), 23);
    unsigned at;
    CHECK(!bw_leaf_find(leaf, 4499, &at));
    CHECK_EQ(at, 4);
    CHECK(!bw_leaf_find(leaf, 1, &at));
    CHECK_EQ(at, 0);
    CHECK(!bw_leaf_find(leaf, UINT64_MAX, &at));
    CHECK_EQ(at, 23);
    for (uint64_t i = 1; i <= 20; i++) check_value(leaf, 1000 * i, 50);
    check_value(leaf, 4500, 60);
    free(leaf);
}

static void keys_too_far_for_32_bits_are_found_in_a_wide_leaf(void)
{
    uint8_t *leaf = wide_leaf(20, 50);
    CHECK(bw_leaf_is_wide(leaf) && !bw_leaf_is_dense(leaf));
    CHECK_EQ(bw_leaf_slots(leaf), 20);
    CHECK_EQ(bw_leaf_fill(leaf).size, LEAF_SLOTS_AT + 20 * (12 + 56));
    CHECK(insert(leaf, 1, 60)); // in front of all others, without moving the base
    CHECK(insert(leaf, UINT64_MAX, 60));
    CHECK(insert(leaf, 4 * FAR + 1, 60)); // beside another one
    CHECK(insert(leaf, 7 * FAR - 1, 60));
    CHECK_EQ(bw_leaf_slots(leaf), 24);
    unsigned at;
    CHECK(!bw_leaf_find(leaf, 4 * FAR + 2, &at));
    CHECK_EQ(at, 6);
    CHECK(!bw_leaf_find(leaf, FAR - 1, &at));
    CHECK_EQ(at, 1);
    CHECK(!bw_leaf_find(leaf, 0, &at));
    CHECK_EQ(at, 0);
    CHECK(!bw_leaf_find(leaf, UINT64_MAX - 1, &at));
    CHECK_EQ(at, 23);
    CHECK(!bw_leaf_find(leaf, 3 * FAR + 0x80000000u, &at)); // equal low halves do not matter
    CHECK(!bw_leaf_find(leaf, 21 * FAR, &at));
    for (uint64_t i = 1; i <= 20; i++) check_value(leaf, FAR * i, 50);
    check_value(leaf, 1, 60);
    check_value(leaf, UINT64_MAX, 60);
    check_value(leaf, 4 * FAR + 1, 60);
    struct leaf_entry entry = entry_of(FAR, 90);
    CHECK(bw_leaf_replace(leaf, 1, &entry));
    CHECK_TEXT(bw_leaf_problem(leaf), NULL);
    check_value(leaf, FAR, 90);
    while (insert(leaf, 30 * FAR + bw_leaf_slots(leaf), 50)) {
    }
    CHECK(bw_leaf_lower(leaf) + LEAF_SLOT_WIDE + 56 > bw_leaf_upper(leaf));
    free(leaf);
}

static void a_wide_leaf_counts_from_its_base(void)
{
    uint8_t *leaf = wide_leaf(3, 40);
    bw_put_u64(leaf + LEAF_BASE_AT, 5); // by another writer
    CHECK_TEXT(bw_leaf_problem(leaf), NULL);
    CHECK_EQ(bw_leaf_key(leaf, 1), 2 * FAR + 5);
    CHECK(!insert(leaf, 4, 40)); // below the base
    CHECK(insert(leaf, 5, 40));
    check_value(leaf, 5, 40);
    unsigned at;
    CHECK(bw_leaf_find(leaf, 3 * FAR + 5, &at));
    CHECK_EQ(at, 3);
    CHECK(!bw_leaf_find(leaf, 4, &at));
    CHECK_EQ(at, 0);
    free(leaf);
}

static void the_longest_leaf_of_any_form_can_count_its_slots(void)
{
    static const enum leaf_form forms[] = {LEAF_DENSE, LEAF_SPARSE, LEAF_WIDE};
    for (size_t i = 0; i < 3; i++) {
        const uint64_t step = forms[i] == LEAF_WIDE ? FAR : forms[i] == LEAF_DENSE ? 1 : 1000;
        uint8_t *leaf = new_leaf(EXTENT_PAGES_MAX);
        bw_leaf_begin(leaf, forms[i], 1);
        CHECK(push(leaf, 1, 1));
        for (uint64_t n = 1; insert(leaf, 1 + n * step, 1); n++) check_value(leaf, 1, 1);
        const unsigned room = EXTENT_PAGES_MAX * PAGE_SIZE - LEAF_SLOTS_AT;
        CHECK_EQ(bw_leaf_slots(leaf), room / (bw_leaf_slot_size(leaf) + 8)); // L6
        free(leaf);
    }
    // Every other slot empty: as many slots as there can be.
    uint8_t *leaf = new_leaf(EXTENT_PAGES_MAX);
    bw_leaf_begin(leaf, LEAF_DENSE, 1);
    CHECK(push(leaf, 1, 1));
    for (uint64_t key = 3; insert(leaf, key, 1); key += 2) {
    }
    CHECK(bw_leaf_slots(leaf) > 4000 && bw_leaf_slots(leaf) < LEAF_WIDE);
    free(leaf);
}

static void a_value_is_replaced_where_it_lies_or_moves(void)
{
    uint8_t *leaf = dense_leaf(3, 100);
    const unsigned upper = bw_leaf_upper(leaf);
    struct leaf_entry entry = entry_of(11, 100);
    CHECK(bw_leaf_replace(leaf, 1, &entry));
    entry = entry_of(11, 90); // smaller: the rest is zero again
    CHECK(bw_leaf_replace(leaf, 1, &entry));
    CHECK_EQ(bw_leaf_upper(leaf), upper);
    CHECK_TEXT(bw_leaf_problem(leaf), NULL);
    check_value(leaf, 11, 90);
    entry = entry_of(11, 200);
    CHECK(bw_leaf_replace(leaf, 1, &entry));
    CHECK_TEXT(bw_leaf_problem(leaf), NULL);
    check_value(leaf, 11, 200);
    CHECK_EQ(bw_leaf_fill(leaf).size, LEAF_SLOTS_AT + 12 + 104 * 2 + 200);
    for (uint64_t key = 10; key < 13; key++) check_value(leaf, key, key == 11 ? 200 : 100);
    free(leaf);
}

static void a_value_that_does_not_fit_changes_nothing(void)
{
    uint8_t *leaf = dense_leaf(9, 400);
    uint8_t before[PAGE_SIZE];
    memcpy(before, leaf, PAGE_SIZE);
    struct leaf_entry entry = entry_of(12, 500);
    CHECK(!bw_leaf_replace(leaf, 2, &entry));
    CHECK(!insert(leaf, 19, 420));
    CHECK(!insert(leaf, 9, 420));
    CHECK_BYTES(leaf, before, PAGE_SIZE);
    free(leaf);
}

static void a_value_may_be_replaced_by_a_part_of_itself(void)
{
    uint8_t *leaf = dense_leaf(2, 80);
    unsigned at;
    struct leaf_entry entry;
    CHECK(bw_leaf_find(leaf, 10, &at));
    CHECK(bw_leaf_entry(leaf, at, &entry));
    uint8_t expected[40];
    memcpy(expected, entry.data + 16, sizeof(expected));
    entry.data += 16;
    entry.size = sizeof(expected);
    const uint8_t *stored = bw_leaf_replace(leaf, at, &entry);
    CHECK_BYTES(stored, expected, sizeof(expected));
    CHECK_TEXT(bw_leaf_problem(leaf), NULL);
    free(leaf);
}

static void removing_leaves_no_byte_behind(void)
{
    uint8_t *leaf = dense_leaf(6, 33);
    CHECK_EQ(remove_key(leaf, 12).live, 5);
    CHECK_EQ(bw_leaf_slots(leaf), 6);
    CHECK_EQ(remove_key(leaf, 10).live, 4); // the first slot always holds a value
    CHECK_EQ(bw_leaf_base(leaf), 11);
    CHECK_EQ(remove_key(leaf, 11).live, 3);
    CHECK_EQ(bw_leaf_base(leaf), 13);
    CHECK_EQ(remove_key(leaf, 15).live, 2); // and the last one
    CHECK_EQ(bw_leaf_slots(leaf), 2);
    CHECK_TEXT(bw_leaf_problem(leaf), NULL); // L3
    check_value(leaf, 13, 33);
    check_value(leaf, 14, 33);
    free(leaf);

    leaf = sparse_leaf(3, 33);
    CHECK_EQ(remove_key(leaf, 1000).live, 2);
    CHECK_EQ(remove_key(leaf, 3000).live, 1);
    CHECK_EQ(bw_leaf_fill(leaf).size, LEAF_SLOTS_AT + 8 + 40);
    CHECK_TEXT(bw_leaf_problem(leaf), NULL);
    free(leaf);
}

static void removing_from_a_wide_leaf_leaves_no_byte_behind(void)
{
    uint8_t *leaf = wide_leaf(4, 33);
    CHECK_EQ(remove_key(leaf, 2 * FAR).live, 3);
    CHECK_TEXT(bw_leaf_problem(leaf), NULL); // L3
    CHECK_EQ(remove_key(leaf, FAR).live, 2);
    const struct leaf_fill fill = remove_key(leaf, 4 * FAR);
    CHECK_EQ(fill.live, 1);
    CHECK_EQ(fill.size, LEAF_SLOTS_AT + 12 + 40);
    CHECK(!bw_leaf_is_thin(leaf, fill));
    CHECK(bw_leaf_is_wide(leaf)); // until it is laid out afresh
    CHECK_TEXT(bw_leaf_problem(leaf), NULL);
    check_value(leaf, 3 * FAR, 33);
    free(leaf);
}

static void a_dense_leaf_is_thin_when_more_than_half_is_empty(void)
{
    uint8_t *leaf = dense_leaf(8, 9);
    struct leaf_fill fill = {0};
    for (uint64_t key = 11; key < 15; key++) fill = remove_key(leaf, key);
    CHECK(!bw_leaf_is_thin(leaf, fill));
    fill = remove_key(leaf, 15);
    CHECK(bw_leaf_is_thin(leaf, fill)); // L5
    CHECK(!bw_leaf_is_safe(leaf, &(bool){false}));
    free(leaf);
}

static void the_room_of_the_lowest_value_is_free_at_once(void)
{
    uint8_t *leaf = dense_leaf(9, 400);
    CHECK(!insert(leaf, 19, 800));
    (void)remove_key(leaf, 18);
    CHECK(insert(leaf, 18, 800));
    (void)remove_key(leaf, 12); // a hole between others
    CHECK(!insert(leaf, 12, 40));
    free(leaf);
}

static void an_overflow_reference_tells_its_own_size(void)
{
    uint8_t *leaf = dense_leaf(2, 16);
    uint8_t reference[REFERENCE_HEAD + 3 * REFERENCE_EXTENT] = {1};
    bw_put_u32(reference + REFERENCE_AT_EXTENTS, 3);
    struct leaf_entry entry = {
        .key = 12, .data = reference, .size = sizeof(reference), .is_overflow = true};
    CHECK(bw_leaf_insert(leaf, &entry));
    CHECK_TEXT(bw_leaf_problem(leaf), NULL);
    CHECK(bw_leaf_entry(leaf, 2, &entry));
    CHECK(entry.is_overflow);
    CHECK_EQ(entry.size, sizeof(reference));
    CHECK_EQ(bw_leaf_fill(leaf).size, LEAF_SLOTS_AT + 12 + 32 + sizeof(reference));

    uint8_t *extents = leaf + (entry.data - leaf) + REFERENCE_AT_EXTENTS;
    bw_put_u32(extents, 0);
    CHECK(!bw_leaf_entry(leaf, 2, &entry));
    bw_put_u32(extents, UINT32_MAX);
    CHECK(!bw_leaf_entry(leaf, 2, &entry));
    free(leaf);
}

static void no_slot_leads_outside_the_leaf(void)
{
    uint8_t *leaf = dense_leaf(4, 64);
    uint8_t *slot = leaf + LEAF_SLOTS_AT + 4;
    for (uint32_t offset = 0; offset < 0x10000; offset += 1 + offset / 600) {
        for (uint32_t size = 0; size < 0x10000; size += 1 + size / 40) {
            bw_put_u16(slot, (uint16_t)offset);
            bw_put_u16(slot + 2, (uint16_t)(size > 0xFF00 ? LEAF_LENGTH_OVERFLOW : size));
            struct leaf_entry entry = {0};
            if (!bw_leaf_entry(leaf, 1, &entry) || !entry.data) continue;
            CHECK(entry.data >= leaf + bw_leaf_lower(leaf)); // L2
            CHECK(entry.size > 0 && entry.data + entry.size <= leaf + PAGE_SIZE);
        }
    }
    free(leaf);
}

static void check_refused(const uint8_t *leaf)
{
    CHECK(!bw_leaf_is_safe(leaf, &(bool){false}));
    CHECK(bw_leaf_problem(leaf) != NULL);
}

static void a_damaged_header_is_refused(void)
{
    static const struct {
        unsigned at;
        uint16_t value;
    } damage[] = {
        {PAGE_AT_COUNT, 0},
        {PAGE_AT_COUNT, LEAF_DENSE},
        {PAGE_AT_COUNT, 5},
        {PAGE_AT_COUNT, 0xFFFF},
        {PAGE_AT_LOWER, 0},
        {PAGE_AT_LOWER, 40},
        {PAGE_AT_LOWER, 0xFFFF},
        {PAGE_AT_UPPER, 0},
        {PAGE_AT_UPPER, 8},
        {PAGE_AT_UPPER, 4097},
        {PAGE_AT_UPPER, 4104},
        {PAGE_AT_UPPER, 0xFFF8},
        {PAGE_AT_COUNT, LEAF_DENSE | 4},
        {PAGE_AT_COUNT, LEAF_WIDE},
        {PAGE_AT_COUNT, LEAF_WIDE | 5},
        {PAGE_AT_COUNT, LEAF_WIDE | LEAF_DENSE | 5},
    };
    for (size_t i = 0; i < sizeof(damage) / sizeof(damage[0]); i++) {
        uint8_t *leaf = dense_leaf(5, 40);
        bw_put_u16(leaf + damage[i].at, damage[i].value);
        CHECK(!bw_leaf_is_sound(leaf));
        check_refused(leaf);
        free(leaf);
    }
    uint8_t *leaf = dense_leaf(5, 40);
    leaf[PAGE_AT_PAGES] = 9;
    CHECK(bw_leaf_problem(leaf) != NULL);
    leaf[PAGE_AT_PAGES] = 0;
    CHECK(bw_leaf_problem(leaf) != NULL);
    free(leaf);
}

static void a_damaged_header_of_a_wide_leaf_is_refused(void)
{
    static const uint16_t counts[] = {
        5,
        LEAF_DENSE | 5,
        LEAF_DENSE | LEAF_WIDE | 5,
        LEAF_WIDE,
        LEAF_WIDE | 4,
        LEAF_WIDE | 6,
        0xFFFF,
        LEAF_WIDE | 0x3FFF,
        LEAF_DENSE | LEAF_WIDE,
        LEAF_DENSE,
        0,
    };
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        for (unsigned slot_size = 0; slot_size <= 12; slot_size += 4) {
            uint8_t *leaf = wide_leaf(5, 40);
            const unsigned slots = counts[i] & (LEAF_WIDE - 1u);
            const bool is_both = counts[i] >= (LEAF_DENSE | LEAF_WIDE);
            bw_put_u16(leaf + PAGE_AT_COUNT, counts[i]);
            if (is_both || slots == 0) {
                bw_put_u16(leaf + PAGE_AT_LOWER, (uint16_t)(LEAF_SLOTS_AT + slots * slot_size));
            }
            CHECK(!bw_leaf_is_sound(leaf));
            check_refused(leaf);
            free(leaf);
        }
    }
}

static void damaged_slots_of_a_wide_leaf_are_refused(void)
{
    uint8_t *leaf = wide_leaf(5, 40);
    uint8_t *second = leaf + LEAF_SLOTS_AT + LEAF_SLOT_WIDE;
    static const uint64_t keys[] = {0, 1, FAR - 1, FAR, 3 * FAR, UINT64_MAX};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        bw_put_u64(second, keys[i]); // L1: out of order, or twice
        CHECK(bw_leaf_is_sound(leaf));
        check_refused(leaf);
    }
    bw_put_u64(second, 2 * FAR);
    CHECK_TEXT(bw_leaf_problem(leaf), NULL);
    bw_put_u64(leaf + LEAF_BASE_AT, UINT64_MAX - 4 * FAR); // the last key runs over
    check_refused(leaf);
    bw_put_u64(leaf + LEAF_BASE_AT, UINT64_MAX - 5 * FAR);
    CHECK_TEXT(bw_leaf_problem(leaf), NULL);
    bw_put_u16(second + 8, 0); // L1: an empty slot, with a length and without
    check_refused(leaf);
    bw_put_u16(second + 10, 0);
    check_refused(leaf);
    bw_put_u16(second + 8, (uint16_t)(LEAF_SLOTS_AT / 8)); // L2: among the slots
    bw_put_u16(second + 10, 8);
    check_refused(leaf);
    free(leaf);
}

static void damaged_slots_are_refused(void)
{
    uint8_t *leaf = dense_leaf(5, 40);
    bw_put_u32(leaf + LEAF_SLOTS_AT, 0); // L1: an empty first slot
    check_refused(leaf);
    free(leaf);

    leaf = dense_leaf(5, 40);
    bw_put_u32(leaf + LEAF_SLOTS_AT + 4, 0);
    bw_put_u16(leaf + LEAF_SLOTS_AT + 6, 7); // an empty slot with a length
    check_refused(leaf);
    free(leaf);

    leaf = dense_leaf(5, 40);
    bw_put_u64(leaf + LEAF_BASE_AT, UINT64_MAX - 2); // keys run over
    check_refused(leaf);
    free(leaf);

    leaf = sparse_leaf(5, 40);
    bw_put_u32(leaf + LEAF_SLOTS_AT + 16, 0); // L1: out of order
    check_refused(leaf);
    free(leaf);

    leaf = dense_leaf(5, 40); // all values at one place, too large together
    for (size_t i = 0; i < 5; i++) {
        bw_put_u16(leaf + LEAF_SLOTS_AT + 4 * i, 3000 / 8);
        bw_put_u16(leaf + LEAF_SLOTS_AT + 4 * i + 2, 1000);
    }
    check_refused(leaf);
    free(leaf);
}

static void the_proof_sees_overlaps_and_stray_bytes(void)
{
    uint8_t *leaf = dense_leaf(3, 41);
    bw_put_u16(leaf + LEAF_SLOTS_AT + 4, bw_get_u16(leaf + LEAF_SLOTS_AT)); // L2
    CHECK(!bw_leaf_is_safe(leaf, &(bool){false}));
    CHECK_TEXT(bw_leaf_problem(leaf), "two values overlap");
    free(leaf);

    leaf = dense_leaf(3, 41);
    leaf[PAGE_SIZE - 1] = 1; // L3
    CHECK_TEXT(bw_leaf_problem(leaf), "the padding of a value is not zero");
    leaf[PAGE_SIZE - 1] = 0;
    CHECK_TEXT(bw_leaf_problem(leaf), NULL);
    leaf[bw_leaf_lower(leaf)] = 1;
    CHECK_TEXT(bw_leaf_problem(leaf), "unused bytes of a leaf are not zero");
    leaf[bw_leaf_lower(leaf)] = 0;
    leaf[bw_leaf_upper(leaf) - 1] = 1;
    CHECK_TEXT(bw_leaf_problem(leaf), "unused bytes of a leaf are not zero");
    free(leaf);
}

RUN_TESTS(TEST(consecutive_keys_take_four_bytes_each),
          TEST(the_largest_inline_value_fits_a_page_in_its_own_leaf),
          TEST(a_small_gap_is_padded_and_a_wide_one_is_not),
          TEST(a_key_in_front_moves_the_slots_up), TEST(keys_far_apart_are_found_among_each_other),
          TEST(keys_too_far_for_32_bits_are_found_in_a_wide_leaf),
          TEST(a_wide_leaf_counts_from_its_base),
          TEST(the_longest_leaf_of_any_form_can_count_its_slots),
          TEST(a_value_is_replaced_where_it_lies_or_moves),
          TEST(a_value_that_does_not_fit_changes_nothing),
          TEST(a_value_may_be_replaced_by_a_part_of_itself), TEST(removing_leaves_no_byte_behind),
          TEST(removing_from_a_wide_leaf_leaves_no_byte_behind),
          TEST(a_dense_leaf_is_thin_when_more_than_half_is_empty),
          TEST(the_room_of_the_lowest_value_is_free_at_once),
          TEST(an_overflow_reference_tells_its_own_size), TEST(no_slot_leads_outside_the_leaf),
          TEST(a_damaged_header_is_refused), TEST(a_damaged_header_of_a_wide_leaf_is_refused),
          TEST(damaged_slots_of_a_wide_leaf_are_refused), TEST(damaged_slots_are_refused),
          TEST(the_proof_sees_overlaps_and_stray_bytes))
