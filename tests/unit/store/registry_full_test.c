/* SPDX-License-Identifier: Apache-2.0 */
/* A process of its own: what is called after a fork is never taken back. */
#include "harness/check.h"
#include "store/engine.h"

static void one(void) {}
static void two(void) {}
static void three(void) {}
static void four(void) {}
static void five(void) {}
static void six(void) {}
static void seven(void) {}
static void eight(void) {}
static void nine(void) {}

static void a_store_that_would_survive_a_fork_is_not_opened(void)
{
    static void (*const functions[])(void) = {one, two, three, four, five, six, seven, eight, nine};
    struct store store = {.device = 1, .inode = 2};
    bw_err err = BW_OK;
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]) && !err; i++)
        err = bw_on_fork(functions[i]);
    CHECK_EQ(err, BW_ERR_GENERAL); // there is room for fewer
    bw_registry_lock();
    CHECK_ERR(bw_registry_add(&store), BW_ERR_GENERAL);
    CHECK(bw_registry_find(1, 2) == NULL);
    bw_registry_unlock();
    CHECK_EQ(bw_memory_blocks(), 0);
}

RUN_TESTS(TEST(a_store_that_would_survive_a_fork_is_not_opened))
