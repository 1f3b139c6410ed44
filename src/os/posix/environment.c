/* SPDX-License-Identifier: Apache-2.0 */
#include "os/os.h"

#include <stdlib.h>

const char *bw_environment(const char *name) { return getenv(name); }
