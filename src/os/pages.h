/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Address space from the system, whose pages cost memory only once they are touched. Private to os:
 * the disk in memory keeps its files there.
 */
#pragma once

#include "os/os.h"

/* size bytes that read as zero, or NULL. */
MUST_CHECK uint8_t *bw_pages_reserve(size_t size);
void bw_pages_release(uint8_t *pages, size_t size);

/* Make size bytes anywhere in a reservation read as zero, and give their memory back. */
void bw_pages_clear(uint8_t *from, size_t size);
