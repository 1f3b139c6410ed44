/* SPDX-License-Identifier: Apache-2.0 */
/* No test waits longer than it must. */
#include "harness/check.h"
#include "os/os.h"

static struct {
    struct mutex mutex;
    struct condition condition;
    int turn, sum;
} shared;

static void take_turns(void *argument)
{
    const int own = *(const int *)argument;
    bw_mutex_lock(&shared.mutex);
    for (int i = 0; i < 200; i++) {
        while (shared.turn != own) bw_condition_wait(&shared.condition, &shared.mutex);
        shared.turn = 1 - own;
        bw_condition_wake_one(&shared.condition);
    }
    bw_mutex_unlock(&shared.mutex);
}

static void a_zeroed_condition_wakes_who_waits(void)
{
    shared.turn = 0;
    int ids[] = {0, 1};
    struct thread threads[2];
    for (int i = 0; i < 2; i++) CHECK_OK(bw_thread_start(&threads[i], take_turns, &ids[i]));
    for (int i = 0; i < 2; i++) bw_thread_join(&threads[i]);
    CHECK_EQ(shared.turn, 0);
}

static void wait_for_start(void *argument)
{
    (void)argument;
    bw_mutex_lock(&shared.mutex);
    while (shared.turn != 5) bw_condition_wait(&shared.condition, &shared.mutex);
    shared.sum++;
    bw_mutex_unlock(&shared.mutex);
}

static void waking_all_wakes_all(void)
{
    shared.turn = shared.sum = 0;
    struct thread threads[3];
    for (int i = 0; i < 3; i++) CHECK_OK(bw_thread_start(&threads[i], wait_for_start, NULL));
    bw_mutex_lock(&shared.mutex);
    shared.turn = 5;
    bw_condition_wake_all(&shared.condition);
    bw_mutex_unlock(&shared.mutex);
    for (int i = 0; i < 3; i++) bw_thread_join(&threads[i]);
    CHECK_EQ(shared.sum, 3);
}

static void waiting_ends_when_the_time_is_up(void)
{
    bw_mutex_lock(&shared.mutex);
    const int64_t start_ms = bw_clock_ms();
    CHECK(!bw_condition_wait_for(&shared.condition, &shared.mutex, 0));
    while (bw_condition_wait_for(&shared.condition, &shared.mutex, 20)) {
    } // woken by nobody
    CHECK(bw_clock_ms() >= start_ms + 20);
    bw_mutex_unlock(&shared.mutex);
}

static void set_turn(void *argument)
{
    (void)argument;
    bw_mutex_lock(&shared.mutex);
    shared.turn = 7;
    bw_condition_wake_one(&shared.condition);
    bw_mutex_unlock(&shared.mutex);
}

static void waiting_with_a_limit_is_woken_before_it(void)
{
    struct thread thread;
    shared.turn = 0;
    bw_mutex_lock(&shared.mutex);
    CHECK_OK(bw_thread_start(&thread, set_turn, NULL));
    while (shared.turn != 7) {
        CHECK(bw_condition_wait_for(&shared.condition, &shared.mutex, INT64_MAX));
    }
    bw_mutex_unlock(&shared.mutex);
    bw_thread_join(&thread);
}

RUN_TESTS(TEST(a_zeroed_condition_wakes_who_waits), TEST(waking_all_wakes_all),
          TEST(waiting_ends_when_the_time_is_up), TEST(waiting_with_a_limit_is_woken_before_it))
