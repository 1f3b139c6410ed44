/* SPDX-License-Identifier: Apache-2.0 */
/* The public headers. What they declare is visible outside the library; all else is hidden. */
#pragma once

#if defined(__GNUC__) || defined(__clang__)
#pragma GCC visibility push(default)
#endif

// bw_err becomes obx_err at the end of every function; clang takes the enum for an unsigned one.
#ifdef __clang__
#pragma clang diagnostic ignored "-Wsign-conversion"
#endif

#include "boxwood.h"
#include "objectbox-dart.h"
#include "objectbox-sync.h"
#include "objectbox.h"

#if defined(__GNUC__) || defined(__clang__)
#pragma GCC visibility pop
#endif
