/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ASSERT: in every build, for cheap facts that guard the disk. ASSERT_SLOW: walks a page or a tree,
 * in builds with BW_SLOW_CHECKS. Neither depends on NDEBUG. Data from a file, a caller or a peer is
 * never asserted: it is checked and refused.
 */
#pragma once

#include "base/attributes.h"

/* Print where and what, then abort. */
_Noreturn void bw_assert_failed(const char *text, const char *file, int line);

#define ASSERT(condition) \
    (LIKELY(condition) ? (void)0 : bw_assert_failed(#condition, __FILE__, __LINE__))

#ifdef BW_SLOW_CHECKS
#define ASSERT_SLOW(condition) ASSERT(condition)
#else
#define ASSERT_SLOW(condition) ((void)0)
#endif
