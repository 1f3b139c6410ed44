/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base - what every layer stands on: errors, memory, byte order, hashes, random numbers,
 * assertions.
 *
 * Pure: nothing here knows an operating system beyond the C library's allocator.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"

#include "base/assert.h"
#include "base/bug.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/random.h"
