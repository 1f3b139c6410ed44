/* SPDX-License-Identifier: Apache-2.0 */
#include "os/posix/platform.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

// strerror_r answers with the text in one C library and with 0 in another.
static const char *text_or(const char *answer, const char *text)
{
    (void)text;
    return answer;
}

static const char *number_or(int answer, const char *text)
{
    return answer == 0 ? text : "unknown error";
}

const char *bw_platform_text(int number, char text[SYSTEM_TEXT_ROOM])
{
    text[0] = 0;
    return _Generic(strerror_r(number, text, SYSTEM_TEXT_ROOM), char *: text_or, int: number_or)(
        strerror_r(number, text, SYSTEM_TEXT_ROOM), text);
}

bw_err bw_platform_code(int number)
{
    switch (number) {
    case ENOSPC:
#ifdef EDQUOT
    case EDQUOT:
#endif
    case EFBIG:
        return BW_ERR_DB_FULL;
    default:
        return BW_ERR_STORAGE_GENERAL;
    }
}
