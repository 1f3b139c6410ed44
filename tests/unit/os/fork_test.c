/* SPDX-License-Identifier: Apache-2.0 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sys/wait.h>
#include <unistd.h>

#include "harness/check.h"
#include "os/os.h"

static int first_calls, second_calls;
static void note_first(void) { first_calls++; }
static void note_second(void) { second_calls++; }

static void the_child_calls_each_function_once(void)
{
    CHECK_OK(bw_on_fork(note_first));
    CHECK_OK(bw_on_fork(note_second));
    CHECK_OK(bw_on_fork(note_first));
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) _exit(first_calls == 1 && second_calls == 1 ? 42 : 1);
    int status = 0;
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status));
    CHECK_EQ(WEXITSTATUS(status), 42);
    CHECK_EQ(first_calls + second_calls, 0);
}

RUN_TESTS(TEST(the_child_calls_each_function_once))
