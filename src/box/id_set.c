/* SPDX-License-Identifier: Apache-2.0 */
#include "box/id_set.h"

bw_err bw_id_set_init(struct id_set *set, size_t count)
{
    size_t size = 16;
    while (size / 2 < count) size *= 2;
    set->mask = size - 1;
    set->slots = bw_new(size * sizeof(uint64_t));
    return set->slots ? BW_OK
                      : bw_fail(BW_ERR_NO_MEMORY, "Could not get memory for %zu IDs", count);
}

void bw_id_set_deinit(struct id_set *set) { bw_free(set->slots); }

bool bw_id_set_add(struct id_set *set, uint64_t id)
{
    size_t at = (size_t)(id * 0x9e3779b97f4a7c15u >> 20) & set->mask;
    for (; set->slots[at]; at = (at + 1) & set->mask)
        if (set->slots[at] == id) return false;
    set->slots[at] = id;
    return true;
}
