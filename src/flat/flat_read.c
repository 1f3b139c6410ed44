/* SPDX-License-Identifier: Apache-2.0 */
/* Reading bytes that flat_verify.c accepted: pointers without checks. */
#include "flat/flat.h"

struct flat_table bw_flat_open(const uint8_t *verified)
{
    const uint8_t *table = verified + bw_get_u32(verified);
    const uint8_t *vtable = table - (int32_t)bw_get_u32(table);
    return (struct flat_table){
        .start = verified, .table = table, .vtable = vtable, .vtable_size = bw_get_u16(vtable)};
}

struct bytes bw_flat_target(const uint8_t *field)
{
    const uint8_t *target = field + bw_get_u32(field);
    return (struct bytes){.data = target + 4, .size = bw_get_u32(target)};
}
