/* SPDX-License-Identifier: Apache-2.0 */
/* A compacted copy: what a read transaction sees, packed into another store. */
#include "store/pack.h"
#include "store/target.h"

static bw_err put(void *context, page_no first, const uint8_t *bytes, uint32_t pages)
{
    return bw_target_write(context, (uint64_t)first * PAGE_SIZE, bytes, (size_t)pages * PAGE_SIZE);
}

static bw_err finish(void *context, const uint8_t *slot)
{
    return bw_target_write_slots(context, slot);
}

bw_err bw_store_copy(struct txn *txn, const struct copy_options *options)
{
    uint8_t uuid[16];
    struct target target;
    bw_err err = bw_pack_check(txn);
    if (!err) err = bw_entropy(uuid, sizeof(uuid));
    if (!err)
        err = bw_target_open_store(&target, options->disk, options->directory,
                                   txn->store->file_mode, false);
    if (err) return err;
    const struct pack_output output = {.put = put, .finish = finish, .context = &target};
    err = bw_pack(txn, uuid, &output, options->progress);
    if (!err) err = bw_target_finish(&target);
    bw_target_close(&target);
    return err;
}
