/* SPDX-License-Identifier: Apache-2.0 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdlib.h>

#include "harness/check.h"
#include "os/os.h"

static void the_environment_is_read(void)
{
    CHECK_EQ(setenv("BW_SYSTEM_TEST", "yes", 1), 0);
    CHECK_TEXT(bw_environment("BW_SYSTEM_TEST"), "yes");
    CHECK_EQ(unsetenv("BW_SYSTEM_TEST"), 0);
    CHECK(bw_environment("BW_SYSTEM_TEST") == NULL);
}

RUN_TESTS(TEST(the_environment_is_read))
