/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/check.h"
#include "model/encoding.h"

static struct decoder over(const uint8_t *bytes, size_t size)
{
    return (struct decoder){.at = bytes, .end = bytes + size};
}

static void numbers_come_back(void)
{
    for (unsigned bits = 0; bits <= 64; bits++) {
        for (uint64_t less = 0; less < 3; less++) {
            uint64_t number = (bits < 64 ? (uint64_t)1 << bits : 0) - less;
            uint8_t bytes[NUMBER_64_MAX];
            size_t size = (size_t)(bw_encode_number(bytes, number) - bytes);
            CHECK(size <= NUMBER_64_MAX);
            struct decoder decoder = over(bytes, size);
            CHECK_EQ(bw_decode_number(&decoder), number);
            CHECK(!decoder.has_failed);
            CHECK_EQ(decoder.at, decoder.end);
            decoder = over(bytes, size - 1);
            CHECK_EQ(bw_decode_number(&decoder), 0);
            CHECK(decoder.has_failed);
            decoder = over(bytes, size);
            CHECK_EQ(bw_decode_u32(&decoder), number <= UINT32_MAX ? number : 0);
            CHECK_EQ(decoder.has_failed, number > UINT32_MAX);
        }
    }
}

static void a_number_has_one_encoding(void)
{
    static const uint8_t longer[] = {0x81, 0}, zero[] = {0x80, 0},
                         beyond[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2},
                         endless[] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
                                      0x80, 0x80, 0x80, 0x80, 1};
    static const struct bytes wrong[] = {{longer, 2}, {zero, 2}, {beyond, 10}, {endless, 11}};
    for (int i = 0; i < 4; i++) {
        struct decoder decoder = over(wrong[i].data, wrong[i].size);
        CHECK_EQ(bw_decode_number(&decoder), 0);
        CHECK(decoder.has_failed);
    }
}

static void texts_come_back_without_a_copy(void)
{
    uint8_t bytes[16];
    CHECK_EQ(bw_encode_text(bytes, "hello") - bytes, 7);
    struct decoder decoder = over(bytes, 7);
    CHECK_EQ((const void *)bw_decode_text(&decoder), bytes + 1);
    CHECK_EQ(decoder.at, decoder.end);
    static const uint8_t empty[] = {0, 0}, open[] = {2, 'a', 'b'}, inner[] = {2, 0, 'b', 0},
                         far[] = {9, 'a', 0};
    static const struct bytes wrong[] = {{empty, 2}, {open, 3}, {inner, 4}, {far, 3}};
    for (int i = 0; i < 4; i++) {
        decoder = over(wrong[i].data, wrong[i].size);
        CHECK_EQ(bw_decode_text(&decoder), NULL);
        CHECK(decoder.has_failed);
    }
}

static void a_pair_of_id_0_has_no_uid(void)
{
    uint8_t bytes[16];
    uint64_t uid = 7;
    CHECK_EQ(bw_encode_pair(bytes, 0, 9) - bytes, 1);
    struct decoder decoder = over(bytes, 1);
    CHECK_EQ(bw_decode_pair(&decoder, &uid), 0);
    CHECK_EQ(uid, 0);
    CHECK_EQ(bw_encode_pair(bytes, 5, 9) - bytes, 9);
    decoder = over(bytes, 9);
    CHECK_EQ(bw_decode_pair(&decoder, &uid), 5);
    CHECK_EQ(uid, 9);
    decoder = over(bytes, 8);
    (void)bw_decode_pair(&decoder, &uid);
    CHECK(decoder.has_failed);
    CHECK_EQ(bw_decode_u8(&decoder), 0);
}

RUN_TESTS(TEST(numbers_come_back), TEST(a_number_has_one_encoding),
          TEST(texts_come_back_without_a_copy), TEST(a_pair_of_id_0_has_no_uid))
