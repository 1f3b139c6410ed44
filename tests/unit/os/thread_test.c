/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/check.h"
#include "os/os.h"

static void keep_number(void *argument) { *(uint64_t *)argument = bw_thread_number(); }

static void threads_have_numbers_of_their_own(void)
{
    const uint64_t own = bw_thread_number();
    CHECK(own >= 1);
    CHECK_EQ(own, bw_thread_number());
    uint64_t numbers[3] = {0};
    for (int i = 0; i < 3; i++) {
        struct thread thread;
        CHECK_OK(bw_thread_start(&thread, keep_number, &numbers[i]));
        bw_thread_join(&thread);
    }
    CHECK(numbers[0] != own && numbers[1] > numbers[0] && numbers[2] > numbers[1]);
}

static void note_run(void *argument) { *(bool *)argument = true; }

static void a_started_thread_has_run_when_joined(void)
{
    bool has_run = false;
    struct thread thread;
    CHECK_OK(bw_thread_start(&thread, note_run, &has_run));
    bw_thread_join(&thread);
    CHECK(has_run);
}

static void starting_without_memory_is_an_error(void)
{
    struct thread thread;
    const int64_t before = bw_memory_blocks();
    bw_memory_fail_after(0);
    bw_err err = bw_thread_start(&thread, note_run, NULL);
    bw_memory_fail_after(-1);
    CHECK_EQ(err, BW_ERR_NO_MEMORY);
    CHECK_EQ(bw_memory_blocks(), before);
}

RUN_TESTS(TEST(threads_have_numbers_of_their_own), TEST(a_started_thread_has_run_when_joined),
          TEST(starting_without_memory_is_an_error))
