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

void bw_snapshot_prune(struct store *store)
{
    if (!store->head || !store->head->older) return;
    for (struct snapshot *each = store->head; each; each = each->older) each->is_held = false;
    bw_reader_mark_held(store);
    const struct snapshot *cur = atomic_load(&store->cur);
    struct snapshot **place = &store->head->older;
    while (*place) {
        struct snapshot *snapshot = *place;
        if (snapshot == cur || snapshot == store->flying || BUG(snapshot_kept) ||
            (snapshot->is_held && !BUG(reader_pruned))) {
            place = &snapshot->older;
            continue;
        }
        *place = snapshot->older;
        bw_free(snapshot);
    }
}
