/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/check.h"
#include "os/os.h"

static struct mutex mutex;
static int sum; /* mutex */

static void add_many(void *argument)
{
    const int *count = argument;
    for (int i = 0; i < *count; i++) {
        bw_mutex_lock(&mutex);
        sum++;
        bw_mutex_unlock(&mutex);
    }
}

static void a_zeroed_mutex_excludes(void)
{
    int count = 20000;
    struct thread threads[4];
    for (int i = 0; i < 4; i++) CHECK_OK(bw_thread_start(&threads[i], add_many, &count));
    for (int i = 0; i < 4; i++) bw_thread_join(&threads[i]);
    CHECK_EQ(sum, 80000);
}

RUN_TESTS(TEST(a_zeroed_mutex_excludes))
