/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A harness that finds nothing proves nothing: each of these bugs, switched on in the engine, must
 * be found by histories of its flavour. Prints in which one.
 *
 * Each search is a process of its own, since a broken engine may also die of its bug: by an
 * assertion, or by reading beyond the end of the file. That counts as found.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/check.h"
#include "harness/trial.h"

enum { HISTORIES_MAX = 20000 };

/* What the searching process leaves to the one that waits. */
struct search {
    uint64_t count;
    struct trial_result result;
};

static void use_bug(const char *bug)
{
#ifdef BW_BUGS
    bw_bug = bug;
#else
    (void)bug;
    CHECK(false); // this test needs a library that is built with BW_BUGS
#endif
}

_Noreturn static void search_in_child(const struct flavour *flavour, uint64_t seed,
                                      struct search *search)
{
    static const int deaths[] = {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE};
    for (size_t i = 0; i < sizeof(deaths) / sizeof(deaths[0]); i++) {
        (void)signal(deaths[i], SIG_DFL);
    }
    while (!search->result.is_violated && search->count < HISTORIES_MAX) {
        trial_run(flavour, seed + search->count++, &search->result);
    }
    _exit(0);
}

static void find(const char *bug, const char *flavour_name)
{
    const struct flavour *flavour = trial_flavour(flavour_name);
    CHECK(flavour != NULL);
    const uint64_t seed = bw_test_seed();
    struct search *search =
        mmap(NULL, sizeof(*search), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(search != MAP_FAILED);
    use_bug(bug);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) search_in_child(flavour, seed, search);
    use_bug(NULL);
    int status = 0;
    CHECK_EQ(waitpid(child, &status, 0), child);
    const bool has_died = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    const bool is_found = has_died || search->result.is_violated;
    (void)fprintf(stderr, "%s: %s in history %" PRIu64 " of \"%s\": %s\n", bug,
                  is_found ? "found" : "NOT FOUND", search->count, flavour_name,
                  has_died ? "the process died" : search->result.violation);
    CHECK(is_found);
    CHECK_EQ(munmap(search, sizeof(*search)), 0);
}

#define BUG_TEST(bug, flavour) \
    static void bug##_is_found(void) { find(#bug, flavour); }

BUG_TEST(no_verify, "mixed")
BUG_TEST(page_checksum_only, "mixed")
BUG_TEST(large_without_flush, "regions")
BUG_TEST(ack_early, "mixed")
BUG_TEST(no_fence, "mixed")
BUG_TEST(no_twin, "twin")
BUG_TEST(reuse_previous, "mixed")
BUG_TEST(reuse_reader, "mixed")
BUG_TEST(retry_flush, "failing")
BUG_TEST(no_dirsync, "creation")
BUG_TEST(creation_too_eager, "damage")

RUN_TESTS(TEST(no_verify_is_found), TEST(page_checksum_only_is_found),
          TEST(large_without_flush_is_found), TEST(ack_early_is_found), TEST(no_fence_is_found),
          TEST(no_twin_is_found), TEST(reuse_previous_is_found), TEST(reuse_reader_is_found),
          TEST(retry_flush_is_found), TEST(no_dirsync_is_found), TEST(creation_too_eager_is_found))
