/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bug.h"

#ifdef BW_BUGS
#include <string.h>

const char *bw_bug;

bool bw_bug_is(const char *name) { return bw_bug && strcmp(bw_bug, name) == 0; }
#endif
