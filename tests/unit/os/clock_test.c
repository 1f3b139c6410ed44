/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/check.h"
#include "os/os.h"

static void clocks_go_forward(void)
{
    int64_t before = bw_clock_ms();
    for (int i = 0; i < 1000; i++) {
        const int64_t now = bw_clock_ms();
        CHECK(now >= before);
        before = now;
    }
    CHECK(bw_clock_unix_ns() > (int64_t)1500000000 * 1000000000);
}

RUN_TESTS(TEST(clocks_go_forward))
