/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reading - a stretch of an entity's objects as an array: from the `offset`th on, up to `limit`
 * (0: no limit) of them. The arrays are the caller's.
 */
#pragma once

#include "api/array.h"
#include "box/box.h"

MUST_CHECK bw_err bw_reading_objects(struct box *box, struct txn *txn, uint64_t offset,
                                     uint64_t limit, OBX_bytes_array **out_array);
MUST_CHECK bw_err bw_reading_ids(struct box *box, struct txn *txn, uint64_t offset, uint64_t limit,
                                 OBX_id_array **out_array);

/* How many objects such a stretch has. */
MUST_CHECK bw_err bw_reading_count(struct box *box, struct txn *txn, uint64_t offset,
                                   uint64_t limit, uint64_t *out_count);
