/* SPDX-License-Identifier: Apache-2.0 */
/*
 * docs/abi-status.md says which functions of the ABI this build serves. It is made here, from the
 * headers and from the lists of what is missing, so that it cannot be wrong for long.
 *
 *     BW_WRITE_ABI_STATUS=1 ctest -R abi/abi_status     writes it anew
 */
#include <stdio.h>
#include <stdlib.h>

#include "harness/check.h"

enum { TEXT_MAX = 1 << 20, NAMES_MAX = 600, NAME_MAX_SIZE = 96, FUNCTIONS = 489 };

static const char root_mark[] = "tests/abi/abi_status_test.c";

static char *read_text(const char *path)
{
    char whole[1024];
    const size_t root_size = strlen(__FILE__) - strlen(root_mark);
    (void)snprintf(whole, sizeof(whole), "%.*s%s", (int)root_size, __FILE__, path);
    FILE *file = fopen(whole, "rb");
    if (!file) return NULL;
    char *text = calloc(1, TEXT_MAX);
    CHECK(text != NULL);
    CHECK(fread(text, 1, TEXT_MAX - 1, file) < TEXT_MAX - 1);
    CHECK_EQ(fclose(file), 0);
    return text;
}

static void write_text(const char *path, const char *text)
{
    char whole[1024];
    const size_t root_size = strlen(__FILE__) - strlen(root_mark);
    (void)snprintf(whole, sizeof(whole), "%.*s%s", (int)root_size, __FILE__, path);
    FILE *file = fopen(whole, "wb");
    CHECK(file != NULL);
    CHECK_EQ(fwrite(text, 1, strlen(text), file), strlen(text));
    CHECK_EQ(fclose(file), 0);
}

enum status { SERVED, KEPT, MISSING };

/* The names that are not served: whatever stands in a list of missing ones, or in its file. */
static struct {
    char names[NAMES_MAX][NAME_MAX_SIZE];
    enum status status[NAMES_MAX];
    size_t count;
} known;

static size_t name_size(const char *at)
{
    return strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789_");
}

static void collect(const char *path, enum status status)
{
    char *text = read_text(path);
    CHECK(text != NULL);
    for (char *at = strstr(text, "obx_"); at; at = strstr(at, "obx_")) {
        const size_t size = name_size(at);
        const bool is_whole = at[-1] == '(' || at[-1] == ' ' || at[-1] == '*' || at[-1] == '\n';
        if (is_whole && (at[size] == '(' || at[size] == ',')) {
            CHECK(known.count < NAMES_MAX && size < NAME_MAX_SIZE);
            memcpy(known.names[known.count], at, size);
            known.status[known.count++] = status;
        }
        at += size;
    }
    free(text);
}

static enum status status_of(const char *name, size_t size)
{
    for (size_t i = 0; i < known.count; i++) {
        if (strlen(known.names[i]) == size && memcmp(known.names[i], name, size) == 0) {
            return known.status[i];
        }
    }
    return SERVED;
}

/* The page in the making. */
static struct {
    char text[TEXT_MAX];
    size_t size;
    size_t counts[3];    /* by enum status */
    char names[3][8192]; /* of the group */
    char title[128];
} page;

static void add(const char *text)
{
    const size_t size = strlen(text);
    CHECK(page.size + size < TEXT_MAX);
    memcpy(page.text + page.size, text, size + 1);
    page.size += size;
}

static void end_group(void)
{
    static const char *const words[] = {
        "Served:", "Kept, without effect so far:", "Not available:"};
    bool has_title = false;
    for (int status = SERVED; status <= MISSING; status++) {
        if (!page.names[status][0]) continue;
        if (!has_title) {
            add("\n### ");
            add(page.title);
            add("\n");
        }
        has_title = true;
        add("\n");
        add(words[status]);
        add(page.names[status]);
        add(".\n");
        page.names[status][0] = 0;
    }
    page.title[0] = 0;
}

static void begin_group(const char *line)
{
    const char *start = strstr(line, "---- ");
    const char *end = start ? strstr(start + 5, " ----") : NULL;
    if (!end) return;
    end_group();
    (void)snprintf(page.title, sizeof(page.title), "%.*s", (int)(end - start - 5), start + 5);
}

static void add_function(const char *name, size_t size)
{
    const enum status status = status_of(name, size);
    char *names = page.names[status];
    const size_t used = strlen(names);
    // A new line for each third name keeps differences readable.
    size_t commas = 0;
    for (const char *at = names; *at; at++) commas += *at == ',';
    const char *space = used && commas % 3 == 2 ? "\n" : " ";
    (void)snprintf(names + used, sizeof(page.names[0]) - used, "%s%s`%.*s`", used ? "," : "", space,
                   (int)size, name);
    page.counts[status]++;
}

static void read_header(const char *path)
{
    char *text = read_text(path);
    CHECK(text != NULL);
    char *next = NULL;
    for (char *line = text; line; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = 0;
        begin_group(line);
        const bool is_comment = strncmp(line, " *", 2) == 0 || strncmp(line, "/*", 2) == 0;
        if (is_comment || strncmp(line, "typedef", 7) == 0) continue;
        for (char *at = strstr(line, "obx_"); at; at = strstr(at, "obx_")) {
            const size_t size = name_size(at);
            if (at[size] == '(') add_function(at, size);
            at += size;
        }
    }
    end_group();
    free(text);
}

static void make_page(void)
{
    collect("src/api/obx_missing.c", MISSING);
    collect("src/api/obx_missing_query.c", MISSING);
    collect("src/api/obx_missing_sync.c", MISSING);
    collect("src/api/obx_missing_dart.c", MISSING);
    collect("src/api/obx_options_kept.c", KEPT);
    add("# Status of the ABI\n\n"
        "Which functions of the published C interface (header 5.3.2) this build serves. All of\n"
        "them exist; those that are not available answer 10005. Made by\n"
        "`tests/abi/abi_status_test.c`, which fails when this page is not what it would make:\n"
        "run it with `BW_WRITE_ABI_STATUS=1` to write the page anew.\n");
    const size_t head_size = page.size;
    static char groups[TEXT_MAX];
    add("\n## objectbox.h\n");
    read_header("include/objectbox.h");
    add("\n## objectbox-sync.h\n");
    read_header("include/objectbox-sync.h");
    add("\n## objectbox-dart.h\n");
    read_header("include/objectbox-dart.h");
    memcpy(groups, page.text + head_size, page.size - head_size + 1);
    page.size = head_size;
    char total[200];
    (void)snprintf(total, sizeof(total),
                   "\n%d functions: %zu served, %zu kept without effect, %zu not available.\n",
                   FUNCTIONS, page.counts[SERVED], page.counts[KEPT], page.counts[MISSING]);
    add(total);
    add(groups);
}

static void the_page_is_what_the_sources_say(void)
{
    make_page();
    const size_t sum = page.counts[SERVED] + page.counts[KEPT] + page.counts[MISSING];
    CHECK_EQ(sum, (size_t)FUNCTIONS);
    const char *write = getenv("BW_WRITE_ABI_STATUS");
    if (write && *write) write_text("docs/abi-status.md", page.text);
    char *found = read_text("docs/abi-status.md");
    if (found) CHECK_TEXT(found, page.text);
    else CHECK_TEXT("docs/abi-status.md", "a file");
    free(found);
}

RUN_TESTS(TEST(the_page_is_what_the_sources_say))
