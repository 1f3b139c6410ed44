/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash_avx2.h"

#if BW_HASH_AVX2
// Everything below may use the wider vectors; hash.c asks the processor before it calls.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#endif

#include <immintrin.h>

#define XXH_INLINE_ALL
#define XXH_VECTOR 2 /* XXH_AVX2 */
#include <xxhash.h>

uint64_t bw_hash64_avx2(const void *data, size_t size, uint64_t seed)
{
    const uint64_t hash = XXH3_64bits_withSeed(data, size, seed);
    // The compiler leaves this out here, and then every other vector instruction of the process is
    // slower from now on: those of its interpreter, say.
    _mm256_zeroupper();
    return hash;
}

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif
