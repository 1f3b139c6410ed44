/* SPDX-License-Identifier: Apache-2.0 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "harness/check.h"

static int how_it_ends(bool holds)
{
    (void)fflush(NULL);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        (void)signal(SIGABRT, SIG_DFL);
        (void)close(2); // what it prints is not for the log
        ASSERT(holds);
        _exit(0);
    }
    int status = 0;
    CHECK_EQ(waitpid(child, &status, 0), child);
    return status;
}

static void a_broken_assertion_aborts_in_every_build(void)
{
    const int broken = how_it_ends(false), held = how_it_ends(true);
    CHECK(WIFSIGNALED(broken));
    CHECK_EQ(WTERMSIG(broken), SIGABRT);
    CHECK(WIFEXITED(held));
    CHECK_EQ(WEXITSTATUS(held), 0);
}

RUN_TESTS(TEST(a_broken_assertion_aborts_in_every_build))
