/* SPDX-License-Identifier: Apache-2.0 */
#include "store/value.h"

#include <stdlib.h>

#include "harness/check.h"
#include "harness/fake_pager.h"
#include "harness/tree_kit.h"

enum { AT_SUM = 12, AT_FIRST_PAGE = 16, AT_FIRST_PAGES = 20 };

static struct txn *txn;
static uint8_t reference[VALUE_REFERENCE_MAX];
static uint32_t reference_size;

static void write_value(struct bytes value)
{
    txn = bw_fake_pager_new();
    memset(reference, 0, sizeof(reference));
    CHECK_OK(bw_value_write(txn, KIT_TREE, value, reference, &reference_size));
    bw_value_seal(txn, reference);
}

static void check_refused(void)
{
    struct bytes value;
    struct value_extents extents;
    CHECK_ERR(bw_value_read(txn, KIT_TREE, reference, &value), BW_ERR_FILE_PAGES_CORRUPT);
    CHECK_ERR(bw_value_extents(txn, KIT_TREE, reference, &extents), BW_ERR_FILE_PAGES_CORRUPT);
    CHECK_ERR(bw_value_check(txn, KIT_TREE, reference), BW_ERR_FILE_PAGES_CORRUPT);
}

static void a_value_lies_in_one_extent_behind_a_header(void)
{
    static const struct {
        size_t size;
        uint32_t pages;
    } sizes[] = {{1, 1}, {4049, 1}, {4064, 1}, {4065, 2}, {8160, 2}, {8161, 3}, {300000, 74}};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        const struct bytes value = bw_kit_value(i, sizes[i].size);
        write_value(value);
        CHECK_EQ(reference_size, REFERENCE_HEAD + REFERENCE_EXTENT);
        CHECK_EQ(bw_value_length(reference), value.size);
        CHECK_EQ(bw_fake_pager_pages(txn), sizes[i].pages); // W2
        struct bytes found;
        CHECK_OK(bw_value_read(txn, KIT_TREE, reference, &found));
        CHECK_EQ(found.size, value.size);
        CHECK_EQ((uintptr_t)found.data % 8, 0);
        CHECK_BYTES(found.data, value.data, value.size);
        CHECK(bw_value_stored(txn, reference) == found.data);
        CHECK_OK(bw_value_check(txn, KIT_TREE, reference));
        bw_fake_pager_free(txn);
    }
}

static void a_stored_value_may_be_written_until_it_is_sealed(void)
{
    write_value(bw_kit_value(1, 9000));
    bw_value_stored(txn, reference)[8999] ^= 1;
    CHECK_ERR(bw_value_check(txn, KIT_TREE, reference), BW_ERR_FILE_PAGES_CORRUPT); // W3
    bw_value_seal(txn, reference);
    CHECK_OK(bw_value_check(txn, KIT_TREE, reference));
    bw_fake_pager_free(txn);
}

static void a_huge_value_is_joined_from_its_extents(void)
{
    const size_t size = (size_t)VALUE_CONTIGUOUS_MAX + 5000;
    uint8_t *data = malloc(size);
    CHECK(data != NULL);
    for (size_t i = 0; i < size; i += 8) bw_put_u64(data + i, i * 2654435761u);
    write_value((struct bytes){.data = data, .size = size});
    CHECK_EQ(reference_size, REFERENCE_HEAD + 2 * REFERENCE_EXTENT);
    CHECK_EQ(bw_fake_pager_pages(txn), OVERFLOW_PAGES_MAX + 2); // W1
    struct bytes found;
    CHECK_OK(bw_value_read(txn, KIT_TREE, reference, &found));
    CHECK_EQ(found.size, size);
    CHECK(memcmp(found.data, data, size) == 0);
    CHECK_OK(bw_value_check(txn, KIT_TREE, reference));

    bw_put_u32(reference + AT_SUM, bw_get_u32(reference + AT_SUM) + 1);
    CHECK_ERR(bw_value_read(txn, KIT_TREE, reference, &found), BW_ERR_FILE_PAGES_CORRUPT);

    // Lengths that do not belong together must not make joining write behind its memory.
    uint8_t swapped[VALUE_REFERENCE_MAX];
    memcpy(swapped, reference, sizeof(swapped));
    bw_put_u64(swapped, 5000);
    memcpy(swapped + AT_FIRST_PAGE, reference + AT_FIRST_PAGE + REFERENCE_EXTENT, REFERENCE_EXTENT);
    memcpy(swapped + AT_FIRST_PAGE + REFERENCE_EXTENT, reference + AT_FIRST_PAGE, REFERENCE_EXTENT);
    CHECK_ERR(bw_value_read(txn, KIT_TREE, swapped, &found), BW_ERR_FILE_PAGES_CORRUPT);

    bw_value_unwrite(txn, reference);
    CHECK_EQ(bw_fake_pager_pages(txn), 0);

    bw_fake_pager_fail_pages(txn, 1, BW_ERR_DB_FULL); // the second extent
    const struct bytes value = {.data = data, .size = size};
    CHECK_ERR(bw_value_write(txn, KIT_TREE, value, reference, &reference_size), BW_ERR_DB_FULL);
    CHECK_EQ(bw_fake_pager_pages(txn), 0);
    bw_fake_pager_free(txn);
    free(data);
}

static void a_value_beyond_the_format_is_refused(void)
{
    txn = bw_fake_pager_new();
    const struct bytes value = {.data = reference,
                                .size = (size_t)REFERENCE_EXTENTS_MAX * VALUE_CONTIGUOUS_MAX + 1};
    CHECK_ERR(bw_value_write(txn, KIT_TREE, value, reference, &reference_size),
              BW_ERR_MAX_DATA_SIZE_EXCEEDED);
    bw_fake_pager_free(txn);
}

static void a_reference_that_contradicts_itself_is_refused(void)
{
    write_value(bw_kit_value(3, 9000));
    uint8_t good[VALUE_REFERENCE_MAX];
    memcpy(good, reference, sizeof(good));
    static const struct {
        unsigned at;
        uint32_t value;
    } damage[] = {{0, 0},
                  {0, 8160},
                  {0, 20000},
                  {4, 1},
                  {REFERENCE_AT_EXTENTS, 0},
                  {REFERENCE_AT_EXTENTS, 2},
                  {REFERENCE_AT_EXTENTS, UINT32_MAX},
                  {AT_FIRST_PAGE, 0},
                  {AT_FIRST_PAGE, UINT32_MAX},
                  {AT_FIRST_PAGES, 0},
                  {AT_FIRST_PAGES, 2},
                  {AT_FIRST_PAGES, UINT32_MAX}};
    for (size_t i = 0; i < sizeof(damage) / sizeof(damage[0]); i++) {
        memcpy(reference, good, sizeof(good));
        bw_put_u32(reference + damage[i].at, damage[i].value);
        check_refused();
    }
    bw_fake_pager_free(txn);
}

static void bytes_behind_a_value_are_a_problem(void)
{
    write_value(bw_kit_value(4, 5000));
    bw_value_stored(txn, reference)[5000] = 1;
    CHECK_ERR(bw_value_check(txn, KIT_TREE, reference), BW_ERR_FILE_PAGES_CORRUPT); // W2
    bw_fake_pager_free(txn);
}

static void extents_are_listed_first_and_given_up_later(void)
{
    write_value(bw_kit_value(5, 20000));
    bw_fake_pager_commit(txn);
    struct value_extents extents;
    CHECK_OK(bw_value_extents(txn, KIT_TREE, reference, &extents));
    CHECK_EQ(extents.count, 1);
    CHECK_EQ(extents.extent[0].pages, 5);
    CHECK_EQ(extents.extent[0].born, 1);
    CHECK_OK(bw_page_make_room(txn, extents.count));
    bw_fake_pager_fail_notes(txn, 0);
    bw_value_free(txn, &extents);
    CHECK_EQ(bw_fake_pager_pages(txn), 0);
    bw_fake_pager_free(txn);
}

RUN_TESTS(TEST(a_value_lies_in_one_extent_behind_a_header),
          TEST(a_stored_value_may_be_written_until_it_is_sealed),
          TEST(a_huge_value_is_joined_from_its_extents), TEST(a_value_beyond_the_format_is_refused),
          TEST(a_reference_that_contradicts_itself_is_refused),
          TEST(bytes_behind_a_value_are_a_problem),
          TEST(extents_are_listed_first_and_given_up_later))
