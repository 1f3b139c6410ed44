/* SPDX-License-Identifier: Apache-2.0 */
#include "os/posix/platform.h"

#include <errno.h>
#include <unistd.h>
#ifdef __APPLE__
#include <sys/random.h>
#endif

enum { PART_MAX = 256 }; /* getentropy gives no more at once */

bw_err bw_entropy(void *to, size_t size)
{
    for (size_t done = 0; done < size;) {
        const size_t part = size - done < PART_MAX ? size - done : PART_MAX;
        if (getentropy((uint8_t *)to + done, part) != 0) {
            const int number = errno;
            char text[SYSTEM_TEXT_ROOM];
            return bw_fail_system(BW_ERR_GENERAL, number, "Could not get random bytes (%d: %s)",
                                  number, bw_platform_text(number, text));
        }
        done += part;
    }
    return BW_OK;
}
