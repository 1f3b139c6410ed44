/* SPDX-License-Identifier: Apache-2.0 */
/* XXH3 (xxhash, header only): checksums of pages and slots, identity of schemas. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* 64-bit XXH3 of size bytes, salted with seed. */
uint64_t bw_hash64(const void *data, size_t size, uint64_t seed);

/* 128-bit XXH3, low half first, little-endian. */
void bw_hash128(const void *data, size_t size, uint8_t out[16]);
