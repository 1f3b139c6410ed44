/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The catalogue: which trees there are. Up to 40 entries lie in the slot; more of them in a tree of
 * their own (TREE_CATALOG: tree id -> entry), whose entry is then the only one in the slot. A store
 * that once has a catalogue tree keeps it.
 *
 * Invariants:
 *   C1  The entries of a snapshot ascend by id.
 *   C2  A transaction has at most one block per tree: what it changed is found again.
 */
#include "store/engine.h"

enum {
    ENTRY_AT_ID = 0,
    ENTRY_AT_KIND = 4,
    ENTRY_AT_DEPTH = 5,
    ENTRY_AT_ROOT = 8,
    ENTRY_AT_COUNT = 12,
    ENTRY_AT_MAX_KEY = 16,
    ENTRY_AT_SEQUENCE = 24,
    ENTRY_AT_BYTES = 32,
};

void bw_catalog_decode(const uint8_t *from, struct tree_entry *out_entry)
{
    *out_entry = (struct tree_entry){
        .id = bw_get_u32(from + ENTRY_AT_ID),
        .kind = from[ENTRY_AT_KIND],
        .depth = from[ENTRY_AT_DEPTH],
        .root = bw_get_u32(from + ENTRY_AT_ROOT),
        .count = bw_get_u32(from + ENTRY_AT_COUNT),
        .max_key = bw_get_u64(from + ENTRY_AT_MAX_KEY),
        .sequence = bw_get_u64(from + ENTRY_AT_SEQUENCE),
        .bytes = bw_get_u64(from + ENTRY_AT_BYTES),
    };
}

void bw_catalog_encode(uint8_t *to, const struct tree_entry *entry)
{
    memset(to, 0, TREE_ENTRY_SIZE);
    bw_put_u32(to + ENTRY_AT_ID, entry->id);
    to[ENTRY_AT_KIND] = entry->kind;
    to[ENTRY_AT_DEPTH] = entry->depth;
    bw_put_u32(to + ENTRY_AT_ROOT, entry->root);
    bw_put_u32(to + ENTRY_AT_COUNT, entry->count);
    bw_put_u64(to + ENTRY_AT_MAX_KEY, entry->max_key);
    bw_put_u64(to + ENTRY_AT_SEQUENCE, entry->sequence);
    bw_put_u64(to + ENTRY_AT_BYTES, entry->bytes);
}

static struct tree_entry entry_of(const struct tree *tree)
{
    return (struct tree_entry){
        .id = tree->id,
        .kind = tree->kind,
        .depth = tree->depth,
        .root = tree->root,
        .count = tree->count - BUG(count_stale),
        .max_key = tree->max_key,
        .sequence = BUG(sequence_lost) ? 0 : tree->sequence,
        .bytes = tree->bytes,
    };
}

/* ---- finding ---- */

static bool find_inline(const struct snapshot *snapshot, uint32_t tree_id,
                        struct tree_entry *out_entry)
{
    for (uint16_t i = 0; snapshot && i < snapshot->tree_count; i++) {
        if (snapshot->trees[i].id != tree_id) continue;
        *out_entry = snapshot->trees[i];
        return true;
    }
    return false;
}

static bw_err find_entry(struct txn *txn, uint32_t tree_id, struct tree_entry *out_entry,
                         bool *out_found)
{
    *out_found = find_inline(txn->snapshot, tree_id, out_entry);
    if (*out_found || tree_id == TREE_CATALOG || !txn->snapshot || !txn->snapshot->has_catalog)
        return BW_OK;
    struct bytes value;
    bw_err err = bw_tree_get(txn, TREE_CATALOG, tree_id, &value, out_found);
    if (err || !*out_found) return err;
    if (value.size != TREE_ENTRY_SIZE)
        return bw_fail(BW_ERR_FILE_PAGES_CORRUPT, "The catalogue's entry of tree %u is damaged",
                       tree_id);
    bw_catalog_decode(value.data, out_entry);
    if (out_entry->id != tree_id || out_entry->depth > TREE_DEPTH_MAX)
        return bw_fail(BW_ERR_FILE_PAGES_CORRUPT, "The catalogue's entry of tree %u is damaged",
                       tree_id);
    return BW_OK;
}

static struct tree_block *find_block(struct txn *txn, uint32_t tree_id)
{
    for (struct tree_block *block = txn->trees; block; block = block->next)
        if (block->tree.id == tree_id) return block;
    return NULL;
}

static bw_err add_block(struct txn *txn, const struct tree_entry *entry,
                        struct tree_block **out_block)
{
    struct tree_block *block = txn->first.tree.id ? bw_new(sizeof(*block)) : &txn->first;
    if (!block) return bw_fail(BW_ERR_NO_MEMORY, "Out of memory: a tree of a transaction");
    block->tree = (struct tree){
        .id = entry->id,
        .kind = entry->kind,
        .depth = entry->depth,
        .root = entry->root,
        .count = entry->count,
        .max_key = entry->max_key,
        .sequence = entry->sequence,
        .bytes = entry->bytes,
    };
    block->next = txn->trees;
    txn->trees = block; // C2
    *out_block = block;
    return BW_OK;
}

bw_err bw_txn_tree(struct txn *txn, uint32_t tree_id, struct tree **out_tree)
{
    struct tree_block *block = find_block(txn, tree_id);
    *out_tree = NULL;
    if (!block) {
        struct tree_entry entry;
        bool found = false;
        bw_err err = find_entry(txn, tree_id, &entry, &found);
        if (!err && found) err = add_block(txn, &entry, &block);
        if (err || !found) return err;
    }
    if (!block->is_dropped) *out_tree = &block->tree;
    return BW_OK;
}

bw_err bw_txn_tree_make(struct txn *txn, uint32_t tree_id, enum tree_kind kind,
                        struct tree **out_tree)
{
    ASSERT(txn->changes && tree_id);
    struct tree_block *block = find_block(txn, tree_id);
    if (LIKELY(block && !block->is_dropped)) {
        *out_tree = &block->tree;
        return BW_OK;
    }
    bw_err err = bw_txn_tree(txn, tree_id, out_tree);
    if (err || *out_tree) return err;
    struct tree_entry fresh = {.id = tree_id, .kind = (uint8_t)kind};
    if (block) {
        block->is_dropped = false;
        block->tree = (struct tree){.id = tree_id, .kind = (uint8_t)kind};
    } else {
        err = add_block(txn, &fresh, &block);
        if (err) return err;
    }
    *out_tree = &block->tree;
    return BW_OK;
}

bw_err bw_txn_tree_drop(struct txn *txn, uint32_t tree_id)
{
    struct tree *tree = NULL;
    bw_err err = bw_txn_tree(txn, tree_id, &tree);
    if (err || !tree) return err;
    ASSERT(!tree->root);
    struct tree_block *block = find_block(txn, tree_id);
    block->is_dropped = true;
    tree->is_changed = true;
    return BW_OK;
}

bw_err bw_catalog_next(struct txn *txn, uint32_t after, uint32_t *out_tree_id)
{
    const struct snapshot *snapshot = txn->snapshot;
    *out_tree_id = 0;
    if (!snapshot || after == UINT32_MAX) return BW_OK;
    for (uint16_t i = 0; i < snapshot->tree_count && !snapshot->has_catalog; i++) {
        if (snapshot->trees[i].id <= after) continue;
        *out_tree_id = snapshot->trees[i].id; // C1
        return BW_OK;
    }
    if (!snapshot->has_catalog || after >= TREE_CATALOG) return BW_OK;
    struct cursor cursor;
    bool found = false;
    bw_cursor_init(&cursor, txn, TREE_CATALOG);
    bw_err err = bw_cursor_seek(&cursor, (uint64_t)after + 1, &found);
    if (!err) *out_tree_id = found ? (uint32_t)cursor.key : TREE_CATALOG; // itself comes last
    return err;
}

/* ---- freezing ---- */

static void insert_entry(struct tree_entry *entries, uint16_t *count, struct tree_entry entry)
{
    uint16_t at = *count;
    while (at > 0 && entries[at - 1].id > entry.id) { // C1
        entries[at] = entries[at - 1];
        at--;
    }
    entries[at] = entry;
    ++*count;
}

/* Entries of all trees when they fit into the slot; false: too many. */
static bool gather_inline(struct txn *txn, struct tree_entry *entries, uint16_t *out_count)
{
    uint16_t count = 0;
    for (uint16_t i = 0; txn->snapshot && i < txn->snapshot->tree_count; i++)
        if (!find_block(txn, txn->snapshot->trees[i].id))
            entries[count++] = txn->snapshot->trees[i];
    for (struct tree_block *block = txn->trees; block; block = block->next) {
        if (block->is_dropped) continue;
        if (count == TREES_INLINE_MAX) return false;
        insert_entry(entries, &count, entry_of(&block->tree));
    }
    *out_count = count;
    return true;
}

static bw_err put_entry(struct txn *txn, struct tree_entry entry)
{
    uint8_t bytes[TREE_ENTRY_SIZE];
    bw_catalog_encode(bytes, &entry);
    return bw_tree_put(txn, TREE_CATALOG, entry.id, (struct bytes){bytes, sizeof(bytes)}, NULL);
}

/* Bring the catalogue tree up to date; it exists, or begins now with what the slot held. */
static bw_err update_catalog(struct txn *txn)
{
    bw_err err = BW_OK;
    bool existed = txn->snapshot && txn->snapshot->has_catalog;
    for (uint16_t i = 0; !existed && txn->snapshot && i < txn->snapshot->tree_count && !err; i++)
        if (!find_block(txn, txn->snapshot->trees[i].id) && !BUG(moved_entries_lost))
            err = put_entry(txn, txn->snapshot->trees[i]);
    for (struct tree_block *block = txn->trees; block && !err; block = block->next) {
        bool removed = false;
        if (block->tree.id == TREE_CATALOG || (existed && !block->tree.is_changed)) continue;
        if (block->is_dropped) err = bw_tree_remove(txn, TREE_CATALOG, block->tree.id, &removed);
        else err = put_entry(txn, entry_of(&block->tree));
    }
    return err;
}

bw_err bw_catalog_freeze(struct txn *txn, struct tree_entry *entries, uint16_t *out_count,
                         bool *out_has_catalog)
{
    for (struct tree_block *block = txn->trees; block; block = block->next)
        if (block->tree.is_changed && !block->is_dropped) bw_tree_finish(txn, &block->tree);
    *out_has_catalog = txn->snapshot && txn->snapshot->has_catalog;
    if (!*out_has_catalog && gather_inline(txn, entries, out_count)) return BW_OK;
    struct tree *catalog = NULL;
    bw_err err = bw_txn_tree_make(txn, TREE_CATALOG, TREE_OBJECTS, &catalog);
    if (err) return err;
    bw_txn_use_reserve(txn, true); // or a commit of removals would fail in a full store
    err = update_catalog(txn);
    bw_txn_use_reserve(txn, false);
    if (err) return err;
    bw_tree_finish(txn, catalog);
    *out_has_catalog = true;
    *out_count = 1;
    entries[0] = entry_of(catalog);
    return BW_OK;
}
