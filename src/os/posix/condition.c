/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting with a limit by the clock that never jumps. C libraries offer that in three ways; where
 * there is none, short waits by the clock that may jump are counted by the one that does not.
 */
#include "os/posix/platform.h"

#include <errno.h>
#include <time.h>

#include "os/posix/lazy.h"

_Static_assert(sizeof(pthread_cond_t) <= sizeof(struct condition), "room for the platform's own");

void bw_condition_wait(struct condition *condition, struct mutex *mutex)
{
    const int number = pthread_cond_wait(bw_lazy_condition(condition), bw_lazy_mutex(mutex));
    ASSERT(number == 0);
}

/* One wait until the monotonic clock shows end_ms, or earlier. 0, or ETIMEDOUT. */
static int wait_until(struct condition *condition, struct mutex *mutex, int64_t end_ms)
{
    pthread_cond_t *cond = bw_lazy_condition(condition);
    pthread_mutex_t *held = bw_lazy_mutex(mutex);
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 30)
    const struct timespec end = {
        .tv_sec = (time_t)(end_ms / 1000),
        .tv_nsec = (long)(end_ms % 1000) * 1000000,
    };
    return pthread_cond_clockwait(cond, held, CLOCK_MONOTONIC, &end);
#else
    int64_t left_ms = end_ms - bw_clock_ms();
    if (left_ms <= 0) return ETIMEDOUT;
    if (left_ms > 100) left_ms = 100;
#if defined(__APPLE__)
    const struct timespec span = {.tv_sec = 0, .tv_nsec = (long)left_ms * 1000000};
    return pthread_cond_timedwait_relative_np(cond, held, &span);
#else
    const int64_t end_ns = bw_clock_unix_ns() + left_ms * 1000000;
    const struct timespec end = {
        .tv_sec = (time_t)(end_ns / 1000000000),
        .tv_nsec = (long)(end_ns % 1000000000),
    };
    return pthread_cond_timedwait(cond, held, &end);
#endif
#endif
}

bool bw_condition_wait_for(struct condition *condition, struct mutex *mutex, int64_t wait_ms)
{
    ASSERT(wait_ms >= 0);
    const int64_t now_ms = bw_clock_ms();
    const int64_t most_ms = (int64_t)1 << 40; // 35 years: no sum overflows, no time_t either
    const int64_t end_ms = now_ms + (wait_ms < most_ms ? wait_ms : most_ms);
    int number;
    do {
        number = wait_until(condition, mutex, end_ms);
    } while (number == ETIMEDOUT && bw_clock_ms() < end_ms);
    ASSERT(number == 0 || number == ETIMEDOUT);
    return number == 0;
}

void bw_condition_wake_one(struct condition *condition)
{
    const int number = pthread_cond_signal(bw_lazy_condition(condition));
    ASSERT(number == 0);
}

void bw_condition_wake_all(struct condition *condition)
{
    const int number = pthread_cond_broadcast(bw_lazy_condition(condition));
    ASSERT(number == 0);
}
