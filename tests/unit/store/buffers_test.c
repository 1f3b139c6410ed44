/* SPDX-License-Identifier: Apache-2.0 */
#include "store/buffers.h"

#include "harness/check.h"

enum { SLABS_KEPT_MAX = 2 }; /* by the process, except in builds with slow checks */

static struct buffers buffers;
static int64_t blocks; /* of memory, before the test */

static uint8_t *take(uint32_t pages)
{
    uint8_t *bytes = NULL;
    CHECK_OK(bw_buffers_take(&buffers, pages, &bytes));
    return bytes;
}

static void begin(void)
{
    buffers = (struct buffers){0};
    blocks = bw_memory_blocks();
}

static void end(void)
{
    bw_buffers_deinit(&buffers);
    CHECK(bw_memory_blocks() <= blocks + SLABS_KEPT_MAX);
#ifdef BW_SLOW_CHECKS
    CHECK_EQ(bw_memory_blocks(), blocks);
#endif
}

static bool is_all(const uint8_t *bytes, uint32_t pages, uint8_t value)
{
    for (size_t i = 0; i < (size_t)pages * PAGE_SIZE; i++)
        if (bytes[i] != value) return false;
    return true;
}

static void pages_are_aligned(void)
{
    static const uint32_t lengths[] = {1, 8, 3, 1, 200, 2, 129, 1};
    begin();
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        uint8_t *bytes = take(lengths[i]);
        CHECK_EQ((uintptr_t)bytes % 16, 0);
        memset(bytes, 0xee, (size_t)lengths[i] * PAGE_SIZE);
    }
    end();
}

static void extents_neither_move_nor_overlap(void)
{
    enum { MANY = 300 };
    static uint8_t *extents[MANY];
    begin();
    for (uint32_t i = 0; i < MANY; i++) {
        extents[i] = take(i % 8 + 1);
        memset(extents[i], (int)(i % 251 + 1), (size_t)(i % 8 + 1) * PAGE_SIZE);
    }
    for (uint32_t i = 0; i < MANY; i++)
        CHECK(is_all(extents[i], i % 8 + 1, (uint8_t)(i % 251 + 1)));
    end();
}

static void what_is_given_back_is_used_for_the_same_length(void)
{
    begin();
    uint8_t *first = take(3), *second = take(3), *other = take(2);
    memset(first, 7, 3 * PAGE_SIZE);
    bw_buffers_give(&buffers, first, 3);
    bw_buffers_give(&buffers, second, 3);
    CHECK(take(2) != other);
    CHECK(take(4) != first);
    CHECK(take(3) == second);
    uint8_t *again = take(3);
    CHECK(again == first);
    CHECK(take(3) != first);
    end();
}

static void a_long_extent_given_back_stays_until_the_end(void)
{
    begin();
    uint8_t *bytes = take(100);
    bw_buffers_give(&buffers, bytes, 100);
    CHECK(take(100) != bytes);
    end();
}

static void many_small_transactions_ask_for_no_more_memory(void)
{
    begin();
    for (int round = 0; round < 100; round++) {
        for (int i = 0; i < 200; i++) memset(take(1), 9, PAGE_SIZE);
        end();
    }
}

static void running_out_of_memory_keeps_what_was_taken(void)
{
    begin();
    uint8_t *bytes = take(1), *more = NULL;
    memset(bytes, 5, PAGE_SIZE);
    bw_memory_fail_after(0);
    CHECK_ERR(bw_buffers_take(&buffers, 1000, &more), BW_ERR_NO_MEMORY);
    bw_memory_fail_after(-1);
    CHECK(more == NULL);
    CHECK(is_all(bytes, 1, 5));
    memset(take(1000), 6, 1000 * PAGE_SIZE);
    CHECK(is_all(bytes, 1, 5));
    end();
}

RUN_TESTS(TEST(pages_are_aligned), TEST(extents_neither_move_nor_overlap),
          TEST(what_is_given_back_is_used_for_the_same_length),
          TEST(a_long_extent_given_back_stays_until_the_end),
          TEST(many_small_transactions_ask_for_no_more_memory),
          TEST(running_out_of_memory_keeps_what_was_taken))
