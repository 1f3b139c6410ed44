/* SPDX-License-Identifier: Apache-2.0 */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/base.h"
#include "harness/check.h"

/* Values of XXH3 as published with the algorithm: they are on disk, so they must never change. */
static void hashes_are_those_of_xxh3(void)
{
    CHECK_EQ(bw_hash64("", 0, 0), 0x2D06800538D394C2u);
    uint8_t wide[16];
    bw_hash128("", 0, wide);
    CHECK_EQ(bw_get_u64(wide), 0x6001C324468D497Fu);
    CHECK_EQ(bw_get_u64(wide + 8), 0x99AA06D3014798D8u);
}

static void the_salt_and_every_byte_count(void)
{
    uint8_t page[4096] = {0};
    const uint64_t plain = bw_hash64(page, sizeof(page), 0);
    CHECK(plain != bw_hash64(page, sizeof(page), 1));
    CHECK(plain != bw_hash64(page, sizeof(page) - 1, 0));
    for (size_t at = 0; at < sizeof(page); at += 97) {
        page[at] = 1;
        CHECK(plain != bw_hash64(page, sizeof(page), 0));
        page[at] = 0;
    }
    CHECK_EQ(plain, bw_hash64(page, sizeof(page), 0));
}

static void every_length_gives_the_same_sum_whatever_the_processor(void)
{
    uint8_t data[8192];
    for (size_t i = 0; i < sizeof(data); i++) data[i] = (uint8_t)(i * 131 + i / 256);
    for (size_t size = 0; size <= sizeof(data); size += size < 300 ? 1 : 61)
        CHECK_EQ(bw_hash64(data, size, size * 77), XXH3_64bits_withSeed(data, size, size * 77));
}

RUN_TESTS(TEST(hashes_are_those_of_xxh3),
          TEST(every_length_gives_the_same_sum_whatever_the_processor),
          TEST(the_salt_and_every_byte_count))
