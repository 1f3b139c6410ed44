/* SPDX-License-Identifier: Apache-2.0 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#ifndef BW_BUGS
#define BW_BUGS // the name of the bug that is on, of the library that the test is linked with
#endif
#include "harness/bug_search.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bug.h"
#include "harness/check.h"

/* What the searching process leaves to the one that waits. */
struct search {
    uint64_t count;
    char text[SEARCH_TEXT_ROOM];
};

_Noreturn static void search_in_child(const struct histories *histories, uint64_t seed,
                                      FILE *messages, struct search *search)
{
    static const int deaths[] = {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE};
    for (size_t i = 0; i < sizeof(deaths) / sizeof(deaths[0]); i++) {
        (void)signal(deaths[i], SIG_DFL);
    }
    (void)dup2(fileno(messages), STDERR_FILENO);
    bw_check_leave_test();
    while (!*search->text && search->count < histories->count_max) {
        histories->run(histories->argument, seed + search->count++, search->text);
    }
    _exit(0);
}

/* What the dead process wrote: a failed check's lines, or that in which a sanitizer says what it
 * saw. */
static void read_messages(FILE *messages, int status, char out_text[SEARCH_TEXT_ROOM])
{
    enum { LINES_MAX = 3 };
    char line[SEARCH_TEXT_ROOM];
    int size = snprintf(out_text, SEARCH_TEXT_ROOM, "the process died (%d): ", status);
    CHECK_EQ(fseek(messages, 0, SEEK_SET), 0);
    for (int i = 0; i < LINES_MAX && size < SEARCH_TEXT_ROOM; i++) {
        if (!fgets(line, sizeof(line), messages)) break;
        line[strcspn(line, "\n")] = 0;
        const char *error = strstr(line, "ERROR: "), *text = error ? error : line;
        if (!error) text += strspn(text, "= ");
        size += snprintf(out_text + size, (size_t)(SEARCH_TEXT_ROOM - size), "%s ", text);
        if (error) break;
    }
}

void bug_search(const char *bug, const struct histories *histories)
{
    const uint64_t seed = bw_test_seed();
    struct search *search =
        mmap(NULL, sizeof(*search), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    FILE *messages = tmpfile();
    CHECK(search != MAP_FAILED && messages);
    bw_bug = bug;
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) search_in_child(histories, seed, messages, search);
    bw_bug = NULL;
    int status = 0;
    CHECK_EQ(waitpid(child, &status, 0), child);
    const bool has_died = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    const bool is_found = has_died || *search->text;
    if (has_died) read_messages(messages, status, search->text);
    (void)fprintf(stderr, "%s: %s in %s%" PRIu64 " of \"%s\"%s%s\n", bug ? bug : "no bug",
                  is_found ? "found" : "nothing found", is_found ? "history " : "", search->count,
                  histories->name, is_found ? ": " : "", search->text);
    CHECK_EQ(is_found, bug != NULL);
    CHECK_EQ(fclose(messages), 0);
    CHECK_EQ(munmap(search, sizeof(*search)), 0);
}
