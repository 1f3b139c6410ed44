/* SPDX-License-Identifier: Apache-2.0 */
#include "os/posix/platform.h"

#include "os/posix/lazy.h"

_Static_assert(sizeof(pthread_mutex_t) <= sizeof(struct mutex), "room for the platform's mutex");

void bw_mutex_lock(struct mutex *mutex)
{
    const int number = pthread_mutex_lock(bw_lazy_mutex(mutex));
    ASSERT(number == 0);
}

void bw_mutex_unlock(struct mutex *mutex)
{
    const int number = pthread_mutex_unlock(bw_lazy_mutex(mutex));
    ASSERT(number == 0);
}
