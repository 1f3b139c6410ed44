/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Differences from the reference are named twice: as rows for the acceptance suite
 * (docs/differences.tsv: key, value, reason) and in words for people (docs/differences.md). Each
 * key of the rows stands in the words.
 */
#include <stdio.h>
#include <stdlib.h>

#include "harness/check.h"

enum { TEXT_MAX = 1 << 20, REASON_LEAST = 20 };

static const char root_mark[] = "tests/abi/differences_test.c";

static char *read_text(const char *path)
{
    char whole[1024];
    const size_t root_size = strlen(__FILE__) - strlen(root_mark);
    (void)snprintf(whole, sizeof(whole), "%.*s%s", (int)root_size, __FILE__, path);
    FILE *file = fopen(whole, "rb");
    CHECK(file != NULL);
    char *text = calloc(1, TEXT_MAX);
    CHECK(text != NULL);
    CHECK(fread(text, 1, TEXT_MAX - 1, file) < TEXT_MAX - 1);
    CHECK_EQ(fclose(file), 0);
    return text;
}

static void check_row(char *row, const char *words)
{
    char *value = strchr(row, '\t');
    CHECK(value != NULL);
    *value++ = 0;
    char *reason = strchr(value, '\t');
    CHECK(reason != NULL);
    *reason++ = 0;
    CHECK(strlen(reason) >= REASON_LEAST && !strchr(reason, '\t'));
    const char *key = strchr(row, ':');
    CHECK(key != NULL);
    char quoted[256];
    (void)snprintf(quoted, sizeof(quoted), "`%s`", row);
    if (!strstr(words, quoted)) CHECK_TEXT(row, "a key that docs/differences.md names");
}

static void each_row_is_named_in_words(void)
{
    char *rows = read_text("docs/differences.tsv"), *words = read_text("docs/differences.md");
    size_t count = 0;
    char *next = NULL;
    for (char *row = rows; row && *row; row = next) {
        next = strchr(row, '\n');
        if (next) *next++ = 0;
        if (!*row || *row == '#') continue;
        check_row(row, words);
        count++;
    }
    CHECK(count > 0);
    free(rows);
    free(words);
}

RUN_TESTS(TEST(each_row_is_named_in_words))
