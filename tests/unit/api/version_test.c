/* SPDX-License-Identifier: Apache-2.0 */
#include "api/version.h"

#include "unit/api/pair_store.h"

static void only_three_numbers_are_a_version(void)
{
    struct version version = {0};
    CHECK(bw_version_parse("4.0.12", &version));
    CHECK_EQ(version.major, 4);
    CHECK_EQ(version.minor, 0);
    CHECK_EQ(version.patch, 12);
    static const char *const others[] = {
        "",       "5",      "5.3",    "5.3.2 ", " 5.3.2", "5.3.2.1",  "5.3.x",          "5..2",
        "-5.3.2", "5.3.2-", "v5.3.2", ".5.3.2", "5.3.",   "1000.0.0", "5.99999999999.2"};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        CHECK(!bw_version_parse(others[i], &version));
    }
    CHECK_EQ(version.patch, 12); // unchanged
}

// The test runs without OBX_REPORT_VERSION in its environment, or whatever it says is reported.
static void one_version_is_reported_everywhere(void)
{
    const struct version version = bw_version_reported();
    int major = 0, minor = 0, patch = 0;
    obx_version(&major, &minor, &patch);
    CHECK_EQ(major, version.major);
    CHECK_EQ(minor, version.minor);
    CHECK_EQ(patch, version.patch);
    obx_version(NULL, NULL, NULL);
    CHECK(obx_version_is_at_least(major, minor, patch));
    CHECK(obx_version_is_at_least(major - 1, 99, 99));
    CHECK(!obx_version_is_at_least(major, minor, patch + 1));
    CHECK(!obx_version_is_at_least(major, minor + 1, 0));
    CHECK(!obx_version_is_at_least(major + 1, 0, 0));
    const char *text = obx_version_string();
    CHECK(strncmp(obx_version_core_string(), text, strlen(text)) == 0);
    CHECK(strcmp(obx_version_core_string(), "5.3.2-2026-05-05") >= 0 || major < 5);
    CHECK_EQ(strlen(obx_version_date_string()), 10u);
}

static void log_levels_have_the_numbers_of_the_reported_version(void)
{
    const bool is_old = !obx_version_is_at_least(5, 3, 0);
    CHECK_EQ(bw_version_log_level(OBXLogLevel_Info), is_old ? 30 : 4);
    CHECK_EQ(bw_version_log_level(OBXLogLevel_Warn), is_old ? 40 : 6);
    CHECK_EQ((int)obx_log_level_get(), is_old ? 30 : 4);
    CHECK_OK(obx_log_level_set(OBXLogLevel_Debug));
    CHECK_EQ((int)obx_log_level_get(), (int)OBXLogLevel_Debug);
}

static void features_are_what_this_build_has(void)
{
    obx_last_error_clear();
    CHECK_EQ(obx_has_feature(OBXFeature_ResultArray), sizeof(void *) == 8);
    CHECK(obx_has_feature(OBXFeature_Backup));
    CHECK(!obx_has_feature(OBXFeature_Sync));
    CHECK(!obx_has_feature((OBXFeature)99));
    CHECK_EQ(obx_last_error_code(), 0);
    CHECK(!obx_has_feature((OBXFeature)0));
    CHECK_EQ(obx_last_error_code(), OBX_ERROR_ILLEGAL_ARGUMENT);
    CHECK_REASON("Illegal feature (zero)");
    CHECK_OK(obx_debug_log(false));
    CHECK_ERR(obx_debug_log(true), OBX_ERROR_FEATURE_NOT_AVAILABLE);
    CHECK(!obx_debug_log_enabled());
}

static void the_last_error_is_kept_popped_and_set(void)
{
    obx_last_error_clear();
    obx_err code = 1;
    const char *message = NULL;
    CHECK(!obx_last_error_pop(NULL, NULL));
    CHECK_TEXT(obx_last_error_message(), "");
    CHECK(obx_last_error_set(OBX_ERROR_IO, 7, "mine"));
    CHECK_EQ(obx_last_error_code(), OBX_ERROR_IO);
    CHECK_EQ(obx_last_error_secondary(), 7);
    CHECK(obx_last_error_pop(&code, &message));
    CHECK_EQ(code, OBX_ERROR_IO);
    CHECK_TEXT(message, "mine");
    CHECK_EQ(obx_last_error_code(), 0);
    CHECK(obx_last_error_set(OBX_ERROR_IO, 0, NULL));
    CHECK_TEXT(obx_last_error_message(), "");
    CHECK(obx_last_error_set(0, 0, "m"));
    CHECK_EQ(obx_last_error_code(), 0);
}

RUN_TESTS(TEST(only_three_numbers_are_a_version), TEST(one_version_is_reported_everywhere),
          TEST(log_levels_have_the_numbers_of_the_reported_version),
          TEST(features_are_what_this_build_has), TEST(the_last_error_is_kept_popped_and_set))
