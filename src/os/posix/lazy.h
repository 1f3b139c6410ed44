/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The platform's mutex and condition inside struct mutex and struct condition, valid when zeroed.
 *
 * With the C libraries of Linux a zeroed one is what their static initialisers give. Apple's begins
 * with a mark, followed by zeros: the first user sets it.
 */
#pragma once

#include <pthread.h>

#include "os/os.h"

#ifdef __APPLE__
static inline void bw_lazy_mark(uint64_t *platform, long mark)
{
    long none = 0;
    (void)__atomic_compare_exchange_n((long *)platform, &none, mark, false, __ATOMIC_ACQ_REL,
                                      __ATOMIC_ACQUIRE);
}

static inline pthread_mutex_t *bw_lazy_mutex(struct mutex *mutex)
{
    bw_lazy_mark(mutex->platform, _PTHREAD_MUTEX_SIG_init);
    return (pthread_mutex_t *)(void *)mutex->platform;
}

static inline pthread_cond_t *bw_lazy_condition(struct condition *condition)
{
    bw_lazy_mark(condition->platform, _PTHREAD_COND_SIG_init);
    return (pthread_cond_t *)(void *)condition->platform;
}
#else
static inline pthread_mutex_t *bw_lazy_mutex(struct mutex *mutex)
{
    return (pthread_mutex_t *)(void *)mutex->platform;
}

static inline pthread_cond_t *bw_lazy_condition(struct condition *condition)
{
    return (pthread_cond_t *)(void *)condition->platform;
}
#endif
