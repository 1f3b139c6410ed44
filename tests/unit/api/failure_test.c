/* SPDX-License-Identifier: Apache-2.0 */
#include "api/failure.h"

#include "harness/check.h"

static void a_failure_is_noted_with_its_place(void)
{
    boxwood_failure failure;
    bw_err err = bw_fail_system(BW_ERR_UNIQUE_VIOLATED, 5, "taken");
    struct reason_place *place = bw_reason_place();
    place->entity_id = 1;
    place->property_id = 2;
    place->index = 3;
    place->id = 4;
    place->other_id = 6;
    CHECK_ERR(bw_failure_note(&failure, err), BW_ERR_UNIQUE_VIOLATED);
    CHECK_EQ(failure.code, OBX_ERROR_UNIQUE_VIOLATED);
    CHECK_EQ(failure.secondary, 5);
    CHECK_EQ(failure.entity_id, 1u);
    CHECK_EQ(failure.property_id, 2u);
    CHECK_EQ(failure.index, 3u);
    CHECK_EQ(failure.id, 4u);
    CHECK_EQ(failure.other_id, 6u);
    CHECK_TEXT(failure.message, "taken");

    err = bw_fail(BW_ERR_IO, "next"); // a later failure begins with nothing in particular
    CHECK_ERR(bw_failure_note(&failure, err), BW_ERR_IO);
    CHECK_EQ(failure.index, UINT64_MAX);
    CHECK_EQ(failure.id, 0u);
}

static void success_and_answers_leave_the_record_alone(void)
{
    boxwood_failure failure = {.code = 77};
    CHECK_OK(bw_failure_note(&failure, BW_OK));
    CHECK_ERR(bw_failure_note(&failure, BW_ERR_NOT_FOUND), BW_ERR_NOT_FOUND);
    CHECK_ERR(bw_failure_note(&failure, BW_ERR_TIMEOUT), BW_ERR_TIMEOUT);
    CHECK_EQ(failure.code, 77);
    CHECK_ERR(bw_failure_note(NULL, BW_ERR_IO), BW_ERR_IO);
}

static void a_code_without_a_reason_has_an_empty_text(void)
{
    boxwood_failure failure;
    bw_reason_clear();
    CHECK_ERR(bw_failure_note(&failure, BW_ERR_ID_ALREADY_EXISTS), BW_ERR_ID_ALREADY_EXISTS);
    CHECK_EQ(failure.code, OBX_ERROR_ID_ALREADY_EXISTS);
    CHECK_TEXT(failure.message, "");
}

static void long_texts_are_cut_at_a_character(void)
{
    boxwood_failure failure;
    char text[400];
    memset(text, 'a', sizeof(text));
    text[sizeof(text) - 1] = 0;
    memcpy(text + 230, "\xC3\xA4\xC3\xA4", 4); // two-byte letters across the end
    bw_err err = bw_fail(BW_ERR_IO, "%s", text);
    CHECK_ERR(bw_failure_note(&failure, err), BW_ERR_IO);
    CHECK_EQ(strlen(failure.message), 230u);
}

RUN_TESTS(TEST(a_failure_is_noted_with_its_place), TEST(success_and_answers_leave_the_record_alone),
          TEST(a_code_without_a_reason_has_an_empty_text), TEST(long_texts_are_cut_at_a_character))
