/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of our own, which take no signals: those are the application's, on its threads. */
#include "os/posix/platform.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

_Static_assert(sizeof(pthread_t) <= sizeof(struct thread), "room for the platform's thread");

struct start {
    void (*run)(void *);
    void *argument;
};

static void *run_thread(void *memory)
{
    const struct start start = *(struct start *)memory;
    bw_free(memory);
    start.run(start.argument);
    return NULL;
}

bw_err bw_thread_start(struct thread *thread, void (*run)(void *), void *argument)
{
    struct start *start = bw_new(sizeof(*start));
    if (!start) return bw_fail(BW_ERR_NO_MEMORY, "Could not start a thread: out of memory");
    start->run = run;
    start->argument = argument;

    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t platform;
    const int number = pthread_create(&platform, NULL, run_thread, start);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (number != 0) {
        bw_free(start);
        char text[SYSTEM_TEXT_ROOM];
        return bw_fail_system(BW_ERR_GENERAL, number, "Could not start a thread (%d: %s)", number,
                              bw_platform_text(number, text));
    }
    memcpy(thread->platform, &platform, sizeof(platform));
    return BW_OK;
}

void bw_thread_join(struct thread *thread)
{
    pthread_t platform;
    memcpy(&platform, thread->platform, sizeof(platform));
    const int number = pthread_join(platform, NULL);
    ASSERT(number == 0);
}

uint64_t bw_thread_number(void)
{
    static _Atomic uint64_t given;
    static _Thread_local uint64_t own;
    if (UNLIKELY(!own)) own = atomic_fetch_add_explicit(&given, 1, memory_order_relaxed) + 1;
    return own;
}
