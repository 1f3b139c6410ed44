/* SPDX-License-Identifier: Apache-2.0 */
#include "os/pages.h"

#include "harness/check.h"

static void fresh_pages_are_zero_and_writable(void)
{
    const size_t size = 64 << 20; // touched in three places only
    uint8_t *pages = bw_pages_reserve(size);
    CHECK(pages != NULL);
    CHECK_EQ((uintptr_t)pages % 4096, 0);
    CHECK_EQ(pages[0] + pages[size / 2] + pages[size - 1], 0);
    pages[0] = pages[size - 1] = 1;
    bw_pages_release(pages, size);
}

static void clearing_takes_exactly_what_was_asked(void)
{
    enum { SIZE = 10 * 4096 };
    static const struct {
        size_t at, size;
    } parts[] = {{0, SIZE}, {1, 10}, {4000, 200}, {4096, 4096}, {5000, 20000}, {100, 0}, {9, 4087}};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        uint8_t *pages = bw_pages_reserve(SIZE);
        CHECK(pages != NULL);
        memset(pages, 7, SIZE);
        bw_pages_clear(pages + parts[i].at, parts[i].size);
        for (size_t at = 0; at < SIZE; at++) {
            const bool is_inside = at >= parts[i].at && at < parts[i].at + parts[i].size;
            CHECK_EQ(pages[at], is_inside ? 0 : 7);
        }
        bw_pages_release(pages, SIZE);
    }
}

static void more_than_there_is_gives_nothing(void)
{
    uint8_t *pages = bw_pages_reserve(SIZE_MAX - 0xffff);
    CHECK(pages == NULL);
}

RUN_TESTS(TEST(fresh_pages_are_zero_and_writable), TEST(clearing_takes_exactly_what_was_asked),
          TEST(more_than_there_is_gives_nothing))
