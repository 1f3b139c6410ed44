/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/check.h"
#include "model/arena.h"

#include <string.h>

static void pieces_are_aligned_and_do_not_overlap(void)
{
    uint64_t room[8];
    struct arena arena;
    bw_arena_init(&arena, room, sizeof(room));
    static uint8_t *pieces[200];
    for (size_t i = 0; i < 200; i++) {
        size_t size = i * i % 1500;
        pieces[i] = bw_arena_take(&arena, size);
        CHECK(pieces[i]);
        CHECK_EQ((uintptr_t)pieces[i] % 8, 0);
        memset(pieces[i], (int)(i % 251), size);
    }
    for (size_t i = 0; i < 200; i++)
        for (size_t k = 0; k < i * i % 1500; k++) CHECK_EQ(pieces[i][k], i % 251);
    bw_arena_deinit(&arena);
}

static void the_owners_room_is_used_first(void)
{
    uint64_t room[8];
    struct arena arena;
    bw_arena_init(&arena, room, sizeof(room));
    int64_t blocks = bw_memory_blocks();
    CHECK_EQ(bw_arena_take(&arena, 60), (void *)room);
    CHECK_EQ(bw_memory_blocks(), blocks);
    CHECK(bw_arena_take(&arena, 1));
    bw_arena_deinit(&arena);
    CHECK_EQ(bw_memory_blocks(), blocks);
}

static void what_cannot_be_had_is_null(void)
{
    struct arena arena;
    bw_arena_init(&arena, NULL, 0);
    CHECK_EQ(bw_arena_take(&arena, SIZE_MAX), NULL);
    bw_memory_fail_after(0);
    CHECK_EQ(bw_arena_take(&arena, 1), NULL);
    bw_memory_fail_after(-1);
    CHECK(bw_arena_take(&arena, 1));
    bw_arena_deinit(&arena);
}

RUN_TESTS(TEST(pieces_are_aligned_and_do_not_overlap), TEST(the_owners_room_is_used_first),
          TEST(what_cannot_be_had_is_null))
