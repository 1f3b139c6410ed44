/* SPDX-License-Identifier: Apache-2.0 */
#include "store/page.h"

#include "harness/check.h"

enum { SALT = 12345, MANY = 200 };

static void a_reference_keeps_page_length_and_overflow(void)
{
    static const page_no pages[] = {2, 77, 16383, 16384, REF_PAGE_MAX};
    for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++)
        for (unsigned length = 1; length <= EXTENT_PAGES_MAX; length++)
            for (int overflow = 0; overflow <= 1; overflow++) {
                const page_ref ref = bw_ref_make(pages[i], length, overflow != 0);
                CHECK(ref != 0);
                CHECK_EQ(bw_ref_page(ref), pages[i]);
                CHECK_EQ(bw_ref_pages(ref), length);
                CHECK_EQ(bw_ref_has_overflow(ref), overflow != 0);
            }
}

static void the_length_of_an_extent_is_where_its_kind_keeps_it(void)
{
    uint8_t page[PAGE_SIZE] = {0};
    page[PAGE_AT_KIND] = PAGE_LEAF;
    page[PAGE_AT_PAGES] = 7;
    CHECK_EQ(bw_page_extent(page), 7);
    page[PAGE_AT_KIND] = PAGE_OVERFLOW;
    page[PAGE_AT_PAGES] = 0;
    bw_put_u32(page + PAGE_AT_EXTENT, 70000);
    CHECK_EQ(bw_page_extent(page), 70000);
}

static void every_byte_but_the_checksum_changes_a_sum(void)
{
    static uint8_t extent[2 * PAGE_SIZE];
    uint64_t sums[2], again[2];
    for (size_t i = 0; i < sizeof(extent); i++) extent[i] = (uint8_t)(i * 7);
    bw_page_sums(extent, 2, SALT, sums);
    for (size_t at = 0; at < sizeof(extent); at++) {
        extent[at] ^= 1;
        bw_page_sums(extent, 2, SALT, again);
        CHECK_EQ(again[0] != sums[0], at >= 8 && at < PAGE_SIZE);
        CHECK_EQ(again[1] != sums[1], at >= PAGE_SIZE);
        extent[at] ^= 1;
    }
    bw_page_sums(extent, 2, SALT + 1, again);
    CHECK(again[0] != sums[0]);
    CHECK(again[1] != sums[1]);
}

static void every_sum_changes_the_checksum(void)
{
    uint64_t sums[MANY];
    for (unsigned i = 0; i < MANY; i++) sums[i] = i * 77;
    for (uint32_t count = 1; count <= MANY; count++) {
        const uint64_t checksum = bw_page_checksum(sums, count, SALT);
        CHECK(checksum != bw_page_checksum(sums, count - 1, SALT));
        CHECK(checksum != bw_page_checksum(sums, count, SALT + 1));
        sums[count - 1]++;
        CHECK(checksum != bw_page_checksum(sums, count, SALT));
        sums[0] ^= count > 1;
        CHECK(checksum != bw_page_checksum(sums, count, SALT));
    }
}

static void the_checksum_is_the_chained_hash_of_the_contract(void)
{
    uint64_t sums[65];
    uint8_t bytes[65 * 8];
    for (unsigned i = 0; i < 65; i++) {
        sums[i] = i * 1000003u;
        bw_put_u64(bytes + (size_t)8 * i, sums[i]);
    }
    CHECK_EQ(bw_page_checksum(sums, 1, SALT), bw_hash64(bytes, 8, SALT));
    const uint64_t first = bw_hash64(bytes, 64 * 8, SALT);
    CHECK_EQ(bw_page_checksum(sums, 64, SALT), first);
    CHECK_EQ(bw_page_checksum(sums, 65, SALT), bw_hash64(bytes + 64 * 8, 8, first));
}

static void an_extent_fits_its_checksum_as_it_is_and_not_otherwise(void)
{
    static uint8_t extent[70 * PAGE_SIZE];
    uint64_t sums[70];
    for (size_t i = 0; i < sizeof(extent); i++) extent[i] = (uint8_t)(i * 5);
    for (uint32_t pages = 1; pages <= 70; pages += 23) {
        bw_page_sums(extent, pages, SALT, sums);
        bw_put_u64(extent, bw_page_checksum(sums, pages, SALT));
        CHECK(bw_page_fits(extent, pages, SALT));
        CHECK(!bw_page_fits(extent, pages, SALT + 1));
        for (size_t at = 0; at < (size_t)pages * PAGE_SIZE; at += 509) {
            extent[at] ^= 16;
            CHECK(!bw_page_fits(extent, pages, SALT));
            extent[at] ^= 16;
        }
    }
}

RUN_TESTS(TEST(a_reference_keeps_page_length_and_overflow),
          TEST(the_length_of_an_extent_is_where_its_kind_keeps_it),
          TEST(every_byte_but_the_checksum_changes_a_sum), TEST(every_sum_changes_the_checksum),
          TEST(the_checksum_is_the_chained_hash_of_the_contract),
          TEST(an_extent_fits_its_checksum_as_it_is_and_not_otherwise))
