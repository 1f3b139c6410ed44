/* SPDX-License-Identifier: Apache-2.0 */
#include "base/base.h"
#include "harness/check.h"

static void new_memory_is_zero_and_aligned(void)
{
    for (size_t size = 0; size < 300; size += 7) {
        uint8_t *block = bw_new(size);
        CHECK(block != NULL);
        CHECK_EQ((uintptr_t)block % (2 * sizeof(void *)), 0);
        for (size_t i = 0; i < size; i++) CHECK_EQ(block[i], 0);
        memset(block, 1, size);
        bw_free(block);
    }
}

static void blocks_of_no_bytes_have_their_own_address(void)
{
    void *a = bw_new(0), *b = bw_new_raw(0); // M2
    CHECK(a && b && a != b);
    bw_free(a);
    bw_free(b);
    bw_free(NULL);
}

static void resizing_keeps_what_was_there(void)
{
    uint8_t *block = bw_resize(NULL, 10);
    CHECK(block != NULL);
    for (uint8_t i = 0; i < 10; i++) block[i] = i;
    block = bw_resize(block, 10000);
    CHECK(block != NULL);
    for (uint8_t i = 0; i < 10; i++) CHECK_EQ(block[i], i);
    block = bw_resize(block, 5);
    CHECK(block != NULL);
    for (uint8_t i = 0; i < 5; i++) CHECK_EQ(block[i], i);
    block = bw_resize(block, 0);
    CHECK(block != NULL);
    bw_free(block);
}

static void resizing_always_moves_in_hostile_builds(void)
{
#ifdef BW_SLOW_CHECKS
    uint8_t *block = bw_new(64);
    CHECK(block != NULL);
    const uintptr_t before = (uintptr_t)block;
    block = bw_resize(block, 65);
    CHECK(block != NULL);
    CHECK((uintptr_t)block != before);
    bw_free(block);
#endif
}

static void copies_of_text_are_equal(void)
{
    char *copy = bw_copy_text("to be or");
    CHECK(copy != NULL);
    CHECK_TEXT(copy, "to be or");
    bw_free(copy);
}

static void the_hook_fails_the_nth_request_and_all_after_it(void)
{
    void *kept = bw_new(8);
    CHECK(kept != NULL);
    const int64_t before = bw_memory_blocks();
    bw_memory_fail_after(2);
    void *a = bw_new(1), *b = bw_new_raw(1);
    CHECK(a && b);
    void *c = bw_new(1);
    CHECK(c == NULL); // M1
    CHECK(bw_resize(kept, 100) == NULL);
    CHECK(bw_copy_text("x") == NULL);
    bw_memory_fail_after(-1);
    bw_free(a);
    bw_free(b);
    CHECK_EQ(bw_memory_blocks(), before);
    kept = bw_resize(kept, 100);
    CHECK(kept != NULL);
    bw_free(kept);
}

static void requests_beyond_all_memory_fail(void)
{
#ifndef __SANITIZE_ADDRESS__ // which ends the program instead
    volatile size_t most = SIZE_MAX - 8;
    void *block = bw_new_raw(most);
    CHECK(block == NULL);
#endif
}

static void blocks_are_counted_in_test_builds(void)
{
#ifdef BW_TESTS
    const int64_t before = bw_memory_blocks();
    void *a = bw_new(1), *b = bw_new(1);
    CHECK_EQ(bw_memory_blocks(), before + 2);
    a = bw_resize(a, 1000);
    CHECK_EQ(bw_memory_blocks(), before + 2);
    bw_free(a);
    bw_free(b);
    CHECK_EQ(bw_memory_blocks(), before);
#endif
}

RUN_TESTS(TEST(new_memory_is_zero_and_aligned), TEST(blocks_of_no_bytes_have_their_own_address),
          TEST(resizing_keeps_what_was_there), TEST(resizing_always_moves_in_hostile_builds),
          TEST(copies_of_text_are_equal), TEST(the_hook_fails_the_nth_request_and_all_after_it),
          TEST(requests_beyond_all_memory_fail), TEST(blocks_are_counted_in_test_builds))
