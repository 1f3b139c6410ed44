/* SPDX-License-Identifier: Apache-2.0 */
/* The record of a failure, for callers that do not read the thread's last error. */
#pragma once

#include "api/exported.h"
#include "base/base.h"

/* Fill the record (NULL: none wanted) if err is a failure and not an answer. Hands err on. */
bw_err bw_failure_note(boxwood_failure *out_failure, bw_err err);

/* Fill it from the thread's last failure, whatever is returned. */
void bw_failure_fill(boxwood_failure *out_failure);
