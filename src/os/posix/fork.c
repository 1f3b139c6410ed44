/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a child process does first. The system is told once; what it then calls is kept in a table,
 * whose entries are only ever added, so that the child reads it without a lock that another thread
 * of the parent might have held.
 */
#include "os/posix/platform.h"

#include <pthread.h>
#include <stdatomic.h>

enum { FUNCTIONS_MAX = 8 };

static struct mutex adding;
static void (*functions[FUNCTIONS_MAX])(void); /* adding, up to function_count */
static atomic_size_t function_count;
static bool is_registered; /* adding */

static void run_in_child(void)
{
    const size_t count = atomic_load(&function_count);
    for (size_t i = 0; i < count; i++) functions[i]();
}

static bool is_known(void (*in_child)(void))
{
    const size_t count = atomic_load(&function_count);
    for (size_t i = 0; i < count; i++) {
        if (functions[i] == in_child) return true;
    }
    return false;
}

static bw_err add(void (*in_child)(void))
{
    if (is_known(in_child)) return BW_OK;
    const size_t count = atomic_load(&function_count);
    if (count == FUNCTIONS_MAX) {
        return bw_fail(BW_ERR_GENERAL, "Too many functions to call after a fork");
    }
    if (!is_registered) {
        const int number = pthread_atfork(NULL, NULL, run_in_child);
        if (number != 0) {
            return bw_fail_system(BW_ERR_NO_MEMORY, number, "Could not prepare for a fork");
        }
        is_registered = true;
    }
    functions[count] = in_child;
    atomic_store(&function_count, count + 1);
    return BW_OK;
}

bw_err bw_on_fork(void (*in_child)(void))
{
    if (is_known(in_child)) return BW_OK;
    bw_mutex_lock(&adding);
    bw_err err = add(in_child);
    bw_mutex_unlock(&adding);
    return err;
}
