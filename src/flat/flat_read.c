/* SPDX-License-Identifier: Apache-2.0 */
/* Reading bytes that flat_verify.c accepted: pointers without checks. */
#include "flat/flat.h"

struct bytes bw_flat_target(const uint8_t *field)
{
    const uint8_t *target = field + bw_get_u32(field);
    return (struct bytes){.data = target + 4, .size = bw_get_u32(target)};
}
