/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/bytes.h"
#include "base/hash_avx2.h"

uint64_t bw_hash64(const void *data, size_t size, uint64_t seed)
{
#if BW_HASH_AVX2
    // Short data takes no vectors. Support is a word that was filled in before main.
    if (size >= 512 && __builtin_cpu_supports("avx2")) return bw_hash64_avx2(data, size, seed);
#endif
    return XXH3_64bits_withSeed(data, size, seed);
}

void bw_hash128(const void *data, size_t size, uint8_t out[16])
{
    const XXH128_hash_t hash = XXH3_128bits(data, size);
    bw_put_u64(out, hash.low64);
    bw_put_u64(out + 8, hash.high64);
}
