/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Seeded pseudo-random numbers (xoshiro256**, seeded by splitmix64), the same on every platform.
 * Not for secrets.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct random {
    uint64_t state[4];
};

void bw_random_seed(struct random *random, uint64_t seed);
uint64_t bw_random_next(struct random *random);

/* Evenly from 0 to limit - 1; limit at least 1. */
uint64_t bw_random_below(struct random *random, uint64_t limit);

/* True with the probability of percent in 100. */
bool bw_random_percent(struct random *random, unsigned percent);
