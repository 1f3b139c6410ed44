/* SPDX-License-Identifier: Apache-2.0 */
/* Ids that were seen in a batch. Private to the layer. */
#pragma once

#include "base/base.h"

struct id_set {
    uint64_t *slots; /* owned; 0: free */
    size_t mask;
};

/* Room for so many ids. */
MUST_CHECK bw_err bw_id_set_init(struct id_set *set, size_t count);
void bw_id_set_deinit(struct id_set *set);

/* False if it was there already. id: not 0. */
bool bw_id_set_add(struct id_set *set, uint64_t id);
