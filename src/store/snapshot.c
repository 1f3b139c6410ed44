/* SPDX-License-Identifier: Apache-2.0 */
#include "store/engine.h"

bw_err bw_snapshot_new(uint16_t tree_count, uint32_t inline_schema_size,
                       struct snapshot **out_snapshot)
{
    size_t trees_end = sizeof(struct snapshot) + tree_count * sizeof(struct tree_entry);
    struct snapshot *snapshot = bw_new(trees_end + inline_schema_size);
    if (!snapshot) return bw_fail(BW_ERR_NO_MEMORY, "Out of memory: a snapshot");
    snapshot->tree_count = tree_count;
    if (inline_schema_size) snapshot->schema = (const uint8_t *)snapshot + trees_end;
    *out_snapshot = snapshot;
    return BW_OK;
}

struct snapshot *bw_snapshot_hold(struct store *store)
{
    if (store->cur) store->cur->readers++;
    return store->cur;
}

void bw_snapshot_prune(struct store *store)
{
    struct snapshot **place = &store->cur;
    while (*place) {
        struct snapshot *snapshot = *place;
        if (snapshot == store->cur || snapshot->readers) {
            place = &snapshot->older;
            continue;
        }
        *place = snapshot->older;
        bw_free(snapshot);
    }
}

void bw_snapshot_release(struct store *store, struct snapshot *snapshot)
{
    if (!snapshot) return;
    ASSERT(snapshot->readers);
    snapshot->readers--;
    if (!snapshot->readers && snapshot != store->cur) bw_snapshot_prune(store);
}
