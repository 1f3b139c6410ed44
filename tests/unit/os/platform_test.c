/* SPDX-License-Identifier: Apache-2.0 */
#include "os/posix/platform.h"

#include <errno.h>

#include "harness/check.h"

static void no_room_is_a_full_store_and_anything_else_a_storage_error(void)
{
    CHECK_EQ(bw_platform_code(ENOSPC), BW_ERR_DB_FULL);
    CHECK_EQ(bw_platform_code(EDQUOT), BW_ERR_DB_FULL);
    CHECK_EQ(bw_platform_code(EFBIG), BW_ERR_DB_FULL);
    CHECK_EQ(bw_platform_code(EIO), BW_ERR_STORAGE_GENERAL);
    CHECK_EQ(bw_platform_code(ENOMEM), BW_ERR_STORAGE_GENERAL);
}

static void every_number_has_a_text(void)
{
    char room[SYSTEM_TEXT_ROOM];
    CHECK_TEXT(bw_platform_text(ENOENT, room), "No such file or directory");
    CHECK(*bw_platform_text(123456, room) != 0);
}

RUN_TESTS(TEST(no_room_is_a_full_store_and_anything_else_a_storage_error),
          TEST(every_number_has_a_text))
