/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checks themselves. A check that fails on another thread than its test's ends the program, so
 * each failing one runs on a thread of a child process and must end that.
 */
#define _GNU_SOURCE
#include "harness/check.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void *run(void *argument)
{
    const struct check_test *check = argument;
    check->run();
    return NULL;
}

static bool fails(struct check_test check)
{
    pid_t child = fork();
    if (child == 0) {
        (void)close(STDERR_FILENO);
        pthread_t thread;
        if (pthread_create(&thread, NULL, run, &check) != 0) _exit(1);
        (void)pthread_join(thread, NULL);
        _exit(0);
    }
    int status = 0;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    if (WIFSIGNALED(status)) CHECK_EQ(WTERMSIG(status), SIGABRT);
    else CHECK_EQ(WEXITSTATUS(status), 0);
    return WIFSIGNALED(status);
}

static void condition(void) { CHECK(1 == 2); }
static void numbers(void) { CHECK_EQ(7, 8u); }
static void a_sign(void) { CHECK_EQ(-1, UINT64_MAX); }
static void reals(void) { CHECK_EQ(0.1, 0.25); }
static void pointers(void) { CHECK_EQ((const char *)"a", NULL); }
static void texts(void) { CHECK_TEXT("one", "two"); }
static void a_missing_text(void) { CHECK_TEXT(NULL, ""); }
static void bytes(void) { CHECK_BYTES("abc", "abd", 3); }
static void a_failure(void) { CHECK_OK(bw_fail(BW_ERR_IO, "lost")); }
static void a_success(void) { CHECK_ERR(BW_OK, BW_ERR_IO); }
static void another_code(void) { CHECK_ERR(bw_fail(BW_ERR_IO, "lost"), BW_ERR_SCHEMA); }

static void what_does_not_hold_fails(void)
{
    const struct check_test checks[] = {
        TEST(condition), TEST(numbers),   TEST(a_sign),       TEST(reals),
        TEST(pointers),  TEST(texts),     TEST(bytes),        TEST(a_missing_text),
        TEST(a_failure), TEST(a_success), TEST(another_code),
    };
    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) CHECK(fails(checks[i]));
}

static void what_holds_passes(void)
{
    enum colour { RED, GREEN } colour = GREEN;
    uint8_t small = 200;
    int64_t large = 200;
    CHECK(colour);
    CHECK_EQ(colour, GREEN);
    CHECK_EQ(small, large);
    CHECK_EQ(small > 100, true);
    CHECK_EQ(UINT64_MAX, UINT64_MAX);
    CHECK_EQ(1.5, 1.5f);
    CHECK_EQ(&small, &small);
    CHECK_TEXT(NULL, NULL);
    CHECK_TEXT("one", "one");
    CHECK_BYTES("abc", "abd", 2);
    CHECK_OK(BW_OK);
    CHECK_ERR(bw_fail(BW_ERR_IO, "lost"), BW_ERR_IO);
}

static void the_seed_is_one_and_can_be_given(void)
{
    const char *given = getenv("BW_SEED");
    uint64_t seed = bw_test_seed();
    CHECK_EQ(seed, bw_test_seed());
    if (given && *given) CHECK_EQ(seed, strtoull(given, NULL, 0));
}

RUN_TESTS(TEST(what_does_not_hold_fails), TEST(what_holds_passes),
          TEST(the_seed_is_one_and_can_be_given))
