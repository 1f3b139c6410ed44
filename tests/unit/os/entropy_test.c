/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/check.h"
#include "os/os.h"

static void random_bytes_differ(void)
{
    uint8_t a[1000] = {0}, b[1000] = {0};
    CHECK_OK(bw_entropy(a, sizeof(a)));
    CHECK_OK(bw_entropy(b, sizeof(b)));
    CHECK(memcmp(a, b, sizeof(a)) != 0);
    CHECK(memcmp(a + 984, b + 984, 16) != 0); // beyond what one call of the system gives
    CHECK_OK(bw_entropy(a, 0));
}

RUN_TESTS(TEST(random_bytes_differ))
