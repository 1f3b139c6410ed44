/* SPDX-License-Identifier: Apache-2.0 */
#include "os/posix/platform.h"

#include <time.h>

static struct timespec read_clock(clockid_t clock)
{
    struct timespec now;
    const int result = clock_gettime(clock, &now);
    ASSERT(result == 0);
    return now;
}

int64_t bw_clock_ms(void)
{
    const struct timespec now = read_clock(CLOCK_MONOTONIC);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t bw_clock_coarse_ms(void)
{
#ifdef CLOCK_MONOTONIC_COARSE
    const struct timespec now = read_clock(CLOCK_MONOTONIC_COARSE);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
#else
    return bw_clock_ms();
#endif
}

int64_t bw_clock_unix_ns(void)
{
    const struct timespec now = read_clock(CLOCK_REALTIME);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
