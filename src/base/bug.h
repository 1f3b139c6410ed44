/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Injected bugs: a harness that finds nothing proves nothing. In the one test build with BW_BUGS a
 * named bug can be switched on at run time; in every other build BUG(name) is the constant 0.
 */
#pragma once

#ifdef BW_BUGS
#include <stdbool.h>
/* The name of the one bug that is on, or NULL. */
extern const char *bw_bug;
bool bw_bug_is(const char *name);
#define BUG(name) bw_bug_is(#name)
#else
#define BUG(name) 0
#endif
