/* SPDX-License-Identifier: Apache-2.0 */
#include "base/base.h"
#include "harness/check.h"

static void numbers_are_little_endian_at_any_address(void)
{
    uint8_t room[16];
    for (size_t at = 0; at < 8; at++) {
        memset(room, 0, sizeof(room));
        bw_put_u64(room + at, 0x0807060504030201u);
        for (uint8_t i = 0; i < 8; i++) CHECK_EQ(room[at + i], i + 1);
        CHECK_EQ(bw_get_u64(room + at), 0x0807060504030201u);
        CHECK_EQ(bw_get_u32(room + at), 0x04030201u);
        CHECK_EQ(bw_get_u16(room + at), 0x0201u);
        bw_put_u32(room + at, 0xfffefdfcu);
        CHECK_EQ(room[at], 0xfc);
        bw_put_u16(room + at, 0xaabbu);
        CHECK_EQ(room[at], 0xbb);
        CHECK_EQ(bw_get_u32(room + at), 0xfffeaabbu);
    }
}

static void rounding_up_keeps_multiples(void)
{
    CHECK_EQ(bw_round_up(0, 8), 0);
    CHECK_EQ(bw_round_up(1, 8), 8);
    CHECK_EQ(bw_round_up(8, 8), 8);
    CHECK_EQ(bw_round_up(4097, 4096), 8192);
}

RUN_TESTS(TEST(numbers_are_little_endian_at_any_address), TEST(rounding_up_keeps_multiples))
