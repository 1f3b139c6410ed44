/* SPDX-License-Identifier: Apache-2.0 */
#include "base/assert.h"

#include <stdio.h>
#include <stdlib.h>

void bw_assert_failed(const char *text, const char *file, int line)
{
    fprintf(stderr, "boxwood: %s:%d: this does not hold: %s\n", file, line, text);
    fflush(stderr);
    abort();
}
