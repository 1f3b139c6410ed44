/* SPDX-License-Identifier: Apache-2.0 */
/* Compiler attributes under portable names. */
#pragma once

#if defined(__GNUC__) || defined(__clang__)
#define MUST_CHECK __attribute__((warn_unused_result))
#define PRINTF_LIKE(format_at, first_at) __attribute__((format(printf, format_at, first_at)))
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#else
#define MUST_CHECK
#define PRINTF_LIKE(format_at, first_at)
#define LIKELY(x) (x)
#define UNLIKELY(x) (x)
#endif
