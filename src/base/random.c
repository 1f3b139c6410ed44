/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xoshiro256** by Blackman and Vigna. splitmix64 spreads the seed, so that the state is never zero.
 */
#include "base/random.h"

#include "base/assert.h"

static uint64_t rotate(uint64_t value, unsigned bits)
{
    return (value << bits) | (value >> (64 - bits));
}

void bw_random_seed(struct random *random, uint64_t seed)
{
    for (int i = 0; i < 4; i++) {
        seed += 0x9e3779b97f4a7c15u;
        uint64_t mixed = seed;
        mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
        mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
        random->state[i] = mixed ^ (mixed >> 31);
    }
}

uint64_t bw_random_next(struct random *random)
{
    uint64_t *s = random->state;
    const uint64_t result = rotate(s[1] * 5, 7) * 9;
    const uint64_t shifted = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotate(s[3], 45);
    return result;
}

uint64_t bw_random_below(struct random *random, uint64_t limit)
{
    ASSERT(limit > 0);
    // The lowest few results are left out, so that what remains is a multiple of limit.
    const uint64_t uneven = (UINT64_MAX - limit + 1) % limit;
    uint64_t result;
    do {
        result = bw_random_next(random);
    } while (result < uneven);
    return result % limit;
}

bool bw_random_percent(struct random *random, unsigned percent)
{
    return bw_random_below(random, 100) < percent;
}
