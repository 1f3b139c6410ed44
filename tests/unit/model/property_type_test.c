/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/check.h"
#include "model/property_type.h"

static void types_have_names_and_kinds(void)
{
    CHECK_TEXT(bw_property_type_name(TYPE_LONG), "Long");
    CHECK_TEXT(bw_property_type_name(TYPE_DATE_NANO_VECTOR), "DateNanoVector");
    CHECK_EQ(bw_property_type_kind(TYPE_BOOL), FLAT_8);
    CHECK_EQ(bw_property_type_kind(TYPE_CHAR), FLAT_16);
    CHECK_EQ(bw_property_type_kind(TYPE_FLOAT), FLAT_32);
    CHECK_EQ(bw_property_type_kind(TYPE_RELATION), FLAT_64);
    CHECK_EQ(bw_property_type_kind(TYPE_FLEX), FLAT_VECTOR_8);
    CHECK_EQ(bw_property_type_kind(TYPE_STRING_VECTOR), FLAT_VECTOR_STRING);
}

static void other_numbers_are_no_types(void)
{
    int known = 0;
    for (uint16_t type = 0; type < 200; type++) known += bw_property_type_kind(type) != 0;
    CHECK_EQ(known, 24);
    static const uint16_t none[] = {0, 14, 21, 33, UINT16_MAX};
    for (int i = 0; i < 5; i++) {
        CHECK_EQ(bw_property_type_kind(none[i]), 0);
        CHECK_TEXT(bw_property_type_name(none[i]), "Unknown");
    }
}

RUN_TESTS(TEST(types_have_names_and_kinds), TEST(other_numbers_are_no_types))
