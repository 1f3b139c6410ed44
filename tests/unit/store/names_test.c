/* SPDX-License-Identifier: Apache-2.0 */
#include "store/names.h"

#include <stdio.h>

#include "harness/check.h"

/* A disk that only notes which directories are flushed. */
static char flushed[256];
static int failing; /* the flush that fails, from 0; -1: none */

static bw_err note_flush(struct disk *disk, const char *path)
{
    (void)disk;
    if (failing == 0) return bw_fail(BW_ERR_STORAGE_GENERAL, "no");
    failing--;
    (void)snprintf(flushed + strlen(flushed), sizeof(flushed) - strlen(flushed), "[%s]", path);
    return BW_OK;
}

static bw_err flush(const char *directory, bool made_directory, int fails)
{
    struct disk disk = {.flush_directory = note_flush};
    char copy[64];
    (void)snprintf(copy, sizeof(copy), "%s", directory);
    struct store store = {.disk = &disk, .directory = copy, .made_directory = made_directory};
    flushed[0] = 0;
    failing = fails;
    return bw_names_flush(&store);
}

static void check_join(const char *directory, const char *wanted)
{
    char *path = bw_names_join(directory, "data.mdb");
    CHECK_TEXT(path, wanted);
    bw_free(path);
}

static void a_path_has_one_slash_between_its_parts(void)
{
    check_join("a", "a/data.mdb");
    check_join("a/", "a/data.mdb");
    check_join("/", "/data.mdb");
    check_join("", "data.mdb");
    check_join("../a b/ü", "../a b/ü/data.mdb");
}

static void a_directory_that_was_there_is_flushed_alone(void)
{
    CHECK_OK(flush("a/b", false, -1));
    CHECK_TEXT(flushed, "[a/b]");
}

static void the_directory_above_follows_where_it_may_be_new(void)
{
    static const char *const table[][2] = {
        {"a/b", "[a/b][a]"},       {"a", "[a][.]"},          {"/a", "[/a][/]"},
        {"a/b///", "[a/b///][a]"}, {"/a//b", "[/a//b][/a]"}, {"./a", "[./a][.]"},
        {"../a", "[../a][..]"},    {"a/", "[a/][.]"},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        CHECK_OK(flush(table[i][0], true, -1));
        CHECK_TEXT(flushed, table[i][1]);
    }
}

static void a_failing_flush_is_an_error(void)
{
    CHECK_ERR(flush("a/b", true, 0), BW_ERR_STORAGE_GENERAL);
    CHECK_TEXT(flushed, "");
    CHECK_ERR(flush("a/b", true, 1), BW_ERR_STORAGE_GENERAL);
    CHECK_TEXT(flushed, "[a/b]");
    CHECK_OK(flush("a/b", true, 2));
    CHECK_EQ(bw_memory_blocks(), 0);
}

static void without_memory_names_are_flushed_all_the_same(void)
{
    bw_memory_fail_after(0);
    CHECK(bw_names_join("a", "b") == NULL);
    CHECK_OK(flush("a/b", true, -1)); // a failure here would poison the store
    bw_memory_fail_after(-1);
    CHECK_TEXT(flushed, "[a/b][a]");
}

RUN_TESTS(TEST(a_path_has_one_slash_between_its_parts),
          TEST(a_directory_that_was_there_is_flushed_alone),
          TEST(the_directory_above_follows_where_it_may_be_new), TEST(a_failing_flush_is_an_error),
          TEST(without_memory_names_are_flushed_all_the_same))
