/* SPDX-License-Identifier: Apache-2.0 */
/* The builder: what it refuses, that it can be used again, and that lack of memory is reported. */
#include "flat/flat.h"
#include "harness/check.h"

#include <string.h>

static void slots_that_were_not_announced_are_refused(void)
{
    struct flat_builder builder = {0};
    bw_flat_begin(&builder, 2);
    bw_flat_add_scalar(&builder, 2, 1, 8);
    struct bytes made;
    CHECK_ERR(bw_flat_finish(&builder, &made), BW_ERR_ILLEGAL_ARGUMENT);
    bw_flat_begin(&builder, 9000);
    CHECK_ERR(bw_flat_finish(&builder, &made), BW_ERR_ILLEGAL_ARGUMENT);
    bw_flat_begin(&builder, 2); // and good again
    CHECK_OK(bw_flat_finish(&builder, &made));
    bw_flat_deinit(&builder);
}

static void a_builder_can_be_used_again(void)
{
    struct flat_builder builder = {0};
    const struct bytes value = {(const uint8_t *)"abc", 3};
    uint8_t first[256];
    size_t first_size = 0;
    for (int round = 0; round < 3; round++) {
        bw_flat_begin(&builder, 3);
        bw_flat_add_scalar(&builder, 0, 9, 8);
        bw_flat_add_bytes(&builder, 2, value, FLAT_STRING);
        struct bytes made;
        CHECK_OK(bw_flat_finish(&builder, &made));
        if (round == 0) {
            CHECK(made.size <= sizeof(first));
            memcpy(first, made.data, made.size);
            first_size = made.size;
        }
        CHECK_EQ(made.size, first_size);
        CHECK_BYTES(made.data, first, first_size);
    }
    bw_flat_deinit(&builder);
    bw_flat_deinit(&builder);
}

static void running_out_of_memory_is_reported_at_the_end(void)
{
    int64_t blocks = bw_memory_blocks();
    static const uint8_t big[3000];
    const struct bytes items[2] = {{big, sizeof(big)}, {big, 1}};
    for (int64_t allowed = 0;; allowed++) {
        struct flat_builder builder = {0};
        struct bytes made;
        bw_memory_fail_after(allowed);
        bw_flat_begin(&builder, 4);
        bw_flat_add_scalar(&builder, 0, 1, 8);
        bw_flat_add_bytes(&builder, 1, items[0], FLAT_VECTOR_8);
        bw_flat_add_strings(&builder, 2, items, 2);
        bw_err err = bw_flat_finish(&builder, &made);
        bw_memory_fail_after(-1);
        bw_flat_deinit(&builder);
        CHECK_EQ(bw_memory_blocks(), blocks);
        if (!err) break;
        CHECK_EQ(err, BW_ERR_NO_MEMORY);
        CHECK(allowed < 20);
    }
}

RUN_TESTS(TEST(slots_that_were_not_announced_are_refused), TEST(a_builder_can_be_used_again),
          TEST(running_out_of_memory_is_reported_at_the_end))
