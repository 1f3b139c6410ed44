/* SPDX-License-Identifier: Apache-2.0 */
#include "box/id_set.h"
#include "harness/check.h"

static void each_id_is_new_once(void)
{
    struct id_set set = {0};
    CHECK_OK(bw_id_set_init(&set, 2000));
    for (uint64_t id = 1; id <= 1000; id++) CHECK(bw_id_set_add(&set, id << 20));
    for (uint64_t id = 1; id <= 1000; id++) CHECK(bw_id_set_add(&set, UINT64_MAX - id));
    for (uint64_t id = 1; id <= 1000; id++) CHECK(!bw_id_set_add(&set, id << 20));
    CHECK(!bw_id_set_add(&set, UINT64_MAX - 1));
    bw_id_set_deinit(&set);
}

static void lack_of_memory_is_reported(void)
{
    struct id_set set = {0};
    bw_memory_fail_after(0);
    CHECK_ERR(bw_id_set_init(&set, 1), BW_ERR_NO_MEMORY);
    bw_memory_fail_after(-1);
    bw_id_set_deinit(&set);
}

RUN_TESTS(TEST(each_id_is_new_once), TEST(lack_of_memory_is_reported))
