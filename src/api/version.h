/* SPDX-License-Identifier: Apache-2.0 */
/*
 * version - the version that the library reports, and what depends on it.
 *
 * Bindings insist on exact versions, so the environment's OBX_REPORT_VERSION may name another one.
 * It is read once.
 */
#pragma once

#include "base/base.h"

struct version {
    int major, minor, patch;
};

struct version bw_version_reported(void);

/* The number of a log level (of today's set) in the set of the reported version, and back. */
int bw_version_log_level(int level);

/* "MAJOR.MINOR.PATCH" and nothing else. */
bool bw_version_parse(const char *text, struct version *out_version);
