/* SPDX-License-Identifier: Apache-2.0 */
#include "flat/flat.h"
#include "harness/check.h"

static void a_table_is_found_on_either_side_of_its_vtable(void)
{
    uint8_t data[40] = {0};
    for (int round = 0; round < 2; round++) {
        size_t table = round ? 8 : 24, vtable = round ? 24 : 8;
        bw_put_u32(data, (uint32_t)table);
        bw_put_u32(data + table, (uint32_t)(table - vtable));
        bw_put_u16(data + vtable, 6);
        bw_put_u16(data + vtable + 2, 8);
        bw_put_u16(data + vtable + 4, 4);
        bw_put_u32(data + table + 4, 99);
        struct flat_table opened = bw_flat_open(data);
        CHECK_EQ(opened.start, data);
        CHECK_EQ(opened.table, data + table);
        CHECK_EQ(opened.vtable, data + vtable);
        CHECK_EQ(opened.vtable_size, 6);
        CHECK_EQ(bw_get_u32(bw_flat_field(&opened, 0)), 99);
        CHECK_EQ(bw_flat_field(&opened, 1), NULL);
    }
}

static void a_target_is_its_size_and_the_bytes_behind(void)
{
    uint8_t data[16] = {0};
    bw_put_u32(data, 8);
    bw_put_u32(data + 8, 3);
    struct bytes target = bw_flat_target(data);
    CHECK_EQ(target.data, data + 12);
    CHECK_EQ(target.size, 3);
}

RUN_TESTS(TEST(a_table_is_found_on_either_side_of_its_vtable),
          TEST(a_target_is_its_size_and_the_bytes_behind))
