/* SPDX-License-Identifier: Apache-2.0 */
#include "base/base.h"
#include "harness/check.h"

static void equal_seeds_give_equal_numbers(void)
{
    struct random a, b, c;
    bw_random_seed(&a, 5);
    bw_random_seed(&b, 5);
    bw_random_seed(&c, 6);
    bool differs = false;
    for (int i = 0; i < 100; i++) {
        const uint64_t x = bw_random_next(&a);
        CHECK_EQ(x, bw_random_next(&b));
        differs |= x != bw_random_next(&c);
    }
    CHECK(differs);
}

static void numbers_are_those_of_the_published_generator(void)
{
    struct random random = {{1, 2, 3, 4}};
    CHECK_EQ(bw_random_next(&random), 11520u);
    CHECK_EQ(bw_random_next(&random), 0u);
    CHECK_EQ(bw_random_next(&random), 1509978240u);
    bw_random_seed(&random, 0);
    CHECK_EQ(random.state[0], 0xE220A8397B1DCDAFu); // splitmix64
}

static void numbers_below_a_limit_are_even(void)
{
    struct random random;
    bw_random_seed(&random, 7);
    unsigned counts[6] = {0};
    for (int i = 0; i < 60000; i++) {
        const uint64_t x = bw_random_below(&random, 6);
        CHECK(x < 6);
        counts[x]++;
    }
    for (int i = 0; i < 6; i++) CHECK(counts[i] > 9600 && counts[i] < 10400);
    CHECK_EQ(bw_random_below(&random, 1), 0);
    CHECK(bw_random_below(&random, UINT64_MAX) != UINT64_MAX);
}

static void percents_are_percents(void)
{
    struct random random;
    bw_random_seed(&random, 8);
    unsigned hits = 0;
    for (int i = 0; i < 10000; i++) {
        CHECK(!bw_random_percent(&random, 0));
        CHECK(bw_random_percent(&random, 100));
        hits += bw_random_percent(&random, 30);
    }
    CHECK(hits > 2800 && hits < 3200);
}

RUN_TESTS(TEST(equal_seeds_give_equal_numbers), TEST(numbers_are_those_of_the_published_generator),
          TEST(numbers_below_a_limit_are_even), TEST(percents_are_percents))
