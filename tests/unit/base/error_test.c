/* SPDX-License-Identifier: Apache-2.0 */
#include "base/base.h"
#include "harness/check.h"

static bw_err fail_with(const char *text) { return bw_fail(BW_ERR_IO, "%s", text); }

static void a_failure_is_its_code_and_leaves_code_and_text(void)
{
    CHECK_EQ(bw_fail(BW_ERR_DB_FULL, "page %d of \"%s\"", 7, "x"), BW_ERR_DB_FULL);
    CHECK_EQ(bw_reason_code(), BW_ERR_DB_FULL);
    CHECK_EQ(bw_reason_secondary(), 0);
    CHECK_TEXT(bw_reason_text(), "page 7 of \"x\"");
}

static void a_failure_of_the_system_keeps_its_number(void)
{
    CHECK_EQ(bw_fail_system(BW_ERR_STORAGE_GENERAL, 28, "no room (%d)", 28),
             BW_ERR_STORAGE_GENERAL);
    CHECK_EQ(bw_reason_secondary(), 28);
    CHECK_TEXT(bw_reason_text(), "no room (28)");
    CHECK_EQ(fail_with("another"), BW_ERR_IO); // E2: the number does not outlive its failure
    CHECK_EQ(bw_reason_secondary(), 0);
}

static void a_reason_can_be_set_and_cleared(void)
{
    bw_reason_set(BW_ERR_SCHEMA, 3, "from outside");
    CHECK_EQ(bw_reason_code(), BW_ERR_SCHEMA);
    CHECK_EQ(bw_reason_secondary(), 3);
    CHECK_TEXT(bw_reason_text(), "from outside");
    bw_reason_set(BW_ERR_SCHEMA, 0, NULL);
    CHECK_TEXT(bw_reason_text(), "");
    bw_reason_clear();
    CHECK_EQ(bw_reason_code(), BW_OK);
    CHECK_TEXT(bw_reason_text(), "");
}

static void a_reason_may_be_built_from_the_one_before(void)
{
    CHECK_EQ(fail_with("inner"), BW_ERR_IO);
    CHECK_EQ(bw_fail(BW_ERR_GENERAL, "outer: %s", bw_reason_text()), BW_ERR_GENERAL); // E2
    CHECK_TEXT(bw_reason_text(), "outer: inner");
    bw_reason_set(BW_ERR_GENERAL, 0, bw_reason_text() + 7);
    CHECK_TEXT(bw_reason_text(), "inner");
}

static void a_long_text_is_cut_between_characters(void)
{
    char text[4096];
    for (size_t before = 1015; before < 1030; before++) { // E1
        memset(text, 'a', before);
        strcpy(text + before, "\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC");
        CHECK_EQ(fail_with(text), BW_ERR_IO);
        const char *kept = bw_reason_text();
        const size_t size = strlen(kept);
        CHECK(size <= 1023 && size > 1020 - 3);
        CHECK_EQ(memcmp(kept, text, size), 0);
        CHECK(((unsigned char)text[size] & 0xC0) != 0x80);
    }
}

static void a_place_lasts_until_the_next_failure(void)
{
    CHECK_EQ(fail_with("here"), BW_ERR_IO);
    struct reason_place *place = bw_reason_place();
    CHECK_EQ(place->index, UINT64_MAX);
    CHECK_EQ(place->entity_id + place->property_id, 0);
    place->entity_id = 7;
    place->index = 3;
    CHECK_EQ(bw_reason_place()->entity_id, 7);
    CHECK_EQ(fail_with("elsewhere"), BW_ERR_IO); // E3
    CHECK_EQ(bw_reason_place()->entity_id, 0);
    CHECK_EQ(bw_reason_place()->index, UINT64_MAX);
}

static void every_code_has_the_number_of_the_abi(void)
{
    CHECK_EQ(BW_OK, 0);
    CHECK_EQ(BW_ERR_NOT_FOUND, 404);
    CHECK_EQ(BW_ERR_ILLEGAL_STATE, 10001);
    CHECK_EQ(BW_ERR_STORE_MUST_SHUTDOWN, 10103);
    CHECK_EQ(BW_ERR_STORAGE_GENERAL, 10199);
    CHECK_EQ(BW_ERR_FILE_PAGES_CORRUPT, 10503);
}

RUN_TESTS(TEST(a_failure_is_its_code_and_leaves_code_and_text),
          TEST(a_failure_of_the_system_keeps_its_number), TEST(a_reason_can_be_set_and_cleared),
          TEST(a_reason_may_be_built_from_the_one_before),
          TEST(a_long_text_is_cut_between_characters), TEST(a_place_lasts_until_the_next_failure),
          TEST(every_code_has_the_number_of_the_abi))
