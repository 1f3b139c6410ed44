/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Salvage: what can be had of a damaged store goes into a new one.
 *
 * First the whole file is looked through for extents that are whole. Then every tree whose root is
 * known is walked; what is reached that way is certain, it is the state of the slot. Where the walk
 * finds a hole, and in trees without a root, leaves that nothing leads to are asked: what nothing
 * contradicts is a guess. The source is never written.
 *
 * When both slots are gone nobody knows the roots. The youngest page of a tree, if there is only
 * one of its height, is taken for its root, provided that every page of the file is accounted for:
 * then none is lost. Otherwise such a root might be a part, and the rest would be dropped.
 *
 * Not here: whether values mean anything; the layer above says which trees and values it takes.
 */
#include "store/salvage.h"

#include <stdio.h>
#include <stdlib.h>

#include "store/names.h"

struct salvage {
    const struct salvage_options *options; // borrowed
    struct salvage_report report;
    struct source source;
    struct salvage_tree *trees; // owned; by ascending id
    size_t tree_count, tree_room;
    struct holes holes;
    bool knows_all_trees; // what is not in trees was dropped
    bool is_walk;         // values come from a walk, not from orphans
    bool is_certain;      // of the values that come now

    struct store *store; // the new one
    struct txn *txn;
    uint64_t txn_bytes;
    uint8_t *value;  // owned
    uint8_t *schema; // owned; NULL: none was found
    size_t schema_size;
    uint8_t schema_hash[16];
    bool makes_store;
};

static bw_err no_memory(void) { return bw_fail(BW_ERR_NO_MEMORY, "Out of memory: salvaging"); }

// ---- trees ----

static size_t tree_place(const struct salvage *salvage, uint32_t tree_id)
{
    size_t from = 0, to = salvage->tree_count;
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        if (salvage->trees[middle].entry.id < tree_id) from = middle + 1;
        else to = middle;
    }
    return from;
}

static struct salvage_tree *find_tree(const struct salvage *salvage, uint32_t tree_id)
{
    const size_t at = tree_place(salvage, tree_id);
    if (at == salvage->tree_count || salvage->trees[at].entry.id != tree_id) return NULL;
    return &salvage->trees[at];
}

// One more tree, unless it is there or the layer above does not want it.
static bw_err add_tree(struct salvage *salvage, const struct tree_entry *entry, bool is_rooted)
{
    const struct salvage_options *options = salvage->options;
    if (!entry->id || entry->id >= TREE_SCHEMA || find_tree(salvage, entry->id)) return BW_OK;
    if (options->takes_tree && !options->takes_tree(options->user, entry->id)) return BW_OK;
    if (salvage->tree_count == salvage->tree_room) {
        const size_t room = salvage->tree_room ? salvage->tree_room * 2 : 16;
        struct salvage_tree *trees = bw_resize(salvage->trees, room * sizeof(*trees));
        if (!trees) return no_memory();
        salvage->trees = trees;
        salvage->tree_room = room;
    }
    const size_t at = tree_place(salvage, entry->id);
    memmove(salvage->trees + at + 1, salvage->trees + at,
            (salvage->tree_count - at) * sizeof(*salvage->trees));
    salvage->trees[at] = (struct salvage_tree){.entry = *entry, .is_rooted = is_rooted};
    salvage->tree_count++;
    return BW_OK;
}

static bw_err take_catalog_entry(void *user, uint32_t tree_id, const struct leaf_entry *found)
{
    struct tree_entry entry;
    (void)tree_id;
    if (found->is_overflow || found->size != TREE_ENTRY_SIZE) return BW_OK;
    bw_catalog_decode(found->data, &entry);
    return entry.id == found->key ? add_tree(user, &entry, true) : BW_OK;
}

static bw_err trees_of_slot(struct salvage *salvage)
{
    const struct slot *slot = &salvage->source.slot;
    const struct sink catalog = {.take = take_catalog_entry, .user = salvage};
    struct holes holes = {0};
    bw_err err = BW_OK;
    for (uint16_t i = 0; i < slot->tree_count && !err; i++) {
        struct tree_entry entry;
        bw_catalog_decode(slot->trees + (size_t)i * TREE_ENTRY_SIZE, &entry);
        if (entry.id == TREE_CATALOG) err = bw_walk_tree(&salvage->source, &entry, catalog, &holes);
        else err = add_tree(salvage, &entry, true);
    }
    salvage->knows_all_trees = holes.count == 0;
    salvage->report.pages_lost += holes.count;
    bw_free(holes.items);
    return err;
}

// What may be the root of a tree of which there is no entry: see above.
struct candidate {
    struct tree_entry entry;
    uint64_t born;
    unsigned equals; // others as old and as high
};

static void consider(struct candidate *candidate, const struct remain *remain)
{
    const uint8_t depth = (uint8_t)(remain->level + 1);
    const bool is_equal = remain->born == candidate->born && depth == candidate->entry.depth;
    if (is_equal) candidate->equals++;
    if (is_equal || remain->born < candidate->born ||
        (remain->born == candidate->born && depth < candidate->entry.depth))
        return;
    candidate->born = remain->born;
    candidate->entry.depth = depth;
    candidate->entry.root = bw_ref_make(remain->page, remain->pages, false);
    candidate->equals = 0;
}

// Trees that nothing but their pages tells of; remains are still in the order of pages.
static bw_err trees_of_remains(struct salvage *salvage)
{
    struct source *source = &salvage->source;
    bw_err err = BW_OK;
    for (size_t i = 0; i < source->count && !err; i++) {
        const struct tree_entry entry = {.id = source->remains[i].tree_id};
        err = add_tree(salvage, &entry, false);
    }
    if (err || salvage->source.has_slot || source->unexplained) return err;
    struct candidate *candidates = bw_new((salvage->tree_count + 1) * sizeof(*candidates));
    if (!candidates) return no_memory();
    for (size_t i = 0; i < source->count; i++) {
        const struct salvage_tree *tree = find_tree(salvage, source->remains[i].tree_id);
        if (tree) consider(&candidates[tree - salvage->trees], &source->remains[i]);
    }
    for (size_t i = 0; i < salvage->tree_count; i++) {
        struct salvage_tree *tree = &salvage->trees[i];
        tree->is_rooted = candidates[i].entry.root && !candidates[i].equals;
        tree->entry.root = candidates[i].entry.root;
        tree->entry.depth = candidates[i].entry.depth;
    }
    bw_free(candidates);
    return BW_OK;
}

// ---- the new store ----

static bw_err begin(struct salvage *salvage)
{
    salvage->txn_bytes = 0;
    return bw_txn_begin(salvage->store, TXN_WRITE, 0, &salvage->txn);
}

static bw_err commit(struct salvage *salvage)
{
    struct txn *txn = salvage->txn;
    salvage->txn = NULL;
    return bw_txn_commit(txn);
}

static bw_err put(struct salvage *salvage, struct salvage_tree *tree, uint64_t key,
                  struct bytes value)
{
    enum { TXN_BYTES_MAX = 8 << 20 };
    bw_err err = bw_tree_put(salvage->txn, tree->entry.id, key, value, NULL);
    if (err) return err;
    if (salvage->is_certain) tree->certain++;
    else tree->guessed++;
    if (key > tree->highest) tree->highest = key;
    salvage->txn_bytes += value.size;
    if (salvage->txn_bytes < TXN_BYTES_MAX) return BW_OK;
    err = commit(salvage);
    return err ? err : begin(salvage);
}

static bw_err take_value(void *user, uint32_t tree_id, const struct leaf_entry *entry)
{
    struct salvage *salvage = user;
    const struct salvage_options *options = salvage->options;
    struct salvage_tree *tree = find_tree(salvage, tree_id);
    struct bytes value = {entry->data, entry->size};
    bool is_there = !salvage->is_walk, is_whole = true;
    struct bytes ignored;
    bw_err err = BW_OK;
    if (is_there) err = bw_tree_get(salvage->txn, tree_id, entry->key, &ignored, &is_there);
    if (err || is_there) return err; // what is certain, or younger, came first
    if (entry->is_overflow) {
        err = bw_source_value(&salvage->source, tree_id, entry->data, &salvage->value, &is_whole);
        value = (struct bytes){salvage->value, (size_t)bw_value_length(entry->data)};
    }
    if (err) return err;
    if (!is_whole) {
        tree->lost += salvage->is_walk; // what holes lack is counted with them
        salvage->report.pages_lost += salvage->is_walk;
        return BW_OK;
    }
    if (options->takes_value && !options->takes_value(options->user, tree_id, entry->key, value)) {
        tree->refused++;
        return BW_OK;
    }
    return put(salvage, tree, entry->key, value);
}

// ---- values ----

static bw_err walk_trees(struct salvage *salvage)
{
    const struct sink sink = {.take = take_value, .user = salvage};
    salvage->is_walk = true;
    salvage->is_certain = salvage->source.has_slot;
    bw_err err = BW_OK;
    for (size_t i = 0; i < salvage->tree_count && !err; i++) {
        const struct salvage_tree *tree = &salvage->trees[i];
        if (tree->is_rooted)
            err = bw_walk_tree(&salvage->source, &tree->entry, sink, &salvage->holes);
    }
    return err;
}

// What a tree's holes should hold is lost, as far as orphans do not make up for it.
static void count_lost(struct salvage_tree *tree, const struct orphans *orphans, uint64_t guessed)
{
    uint64_t missing = 0;
    for (size_t i = 0; i < orphans->hole_count; i++) missing += orphans->holes[i].count;
    if (missing > guessed) tree->lost += missing - guessed;
}

static bw_err give_orphans(struct salvage *salvage, struct salvage_tree *tree,
                           struct orphans *orphans)
{
    const struct sink sink = {.take = take_value, .user = salvage};
    const uint64_t before = tree->guessed;
    const struct hole *holes = salvage->holes.items;
    while (orphans->hole_count < salvage->holes.count &&
           holes[orphans->hole_count].tree_id != tree->entry.id)
        orphans->hole_count++;
    orphans->holes = holes + orphans->hole_count;
    size_t end = orphans->hole_count;
    while (end < salvage->holes.count && holes[end].tree_id == tree->entry.id) end++;
    orphans->hole_count = end - orphans->hole_count;
    bw_err err = BW_OK;
    if (!tree->is_rooted || orphans->hole_count)
        err = bw_orphans_give(&salvage->source, orphans, sink);
    count_lost(tree, orphans, tree->guessed - before);
    return err;
}

static bw_err walk_orphans(struct salvage *salvage)
{
    struct source *source = &salvage->source;
    salvage->is_walk = salvage->is_certain = false;
    salvage->report.pages_lost += salvage->holes.count;
    bw_orphans_sort(source);
    bw_err err = BW_OK;
    size_t first = 0;
    for (size_t i = 0; i < salvage->tree_count && !err; i++) {
        struct salvage_tree *tree = &salvage->trees[i];
        while (first < source->count && source->remains[first].tree_id < tree->entry.id) first++;
        struct orphans orphans = {.first = first, .end = first, .is_rooted = tree->is_rooted};
        if (first < source->count && source->remains[first].tree_id == tree->entry.id)
            orphans.end = bw_orphans_group(source, first);
        err = give_orphans(salvage, tree, &orphans);
        first = orphans.end;
    }
    return err;
}

// ---- the schema ----

static bw_err offer(struct salvage *salvage, struct bytes blob)
{
    const struct salvage_options *options = salvage->options;
    if (!blob.size || !options->takes_schema(options->user, blob, salvage->schema_hash))
        return BW_OK;
    salvage->schema = bw_new_raw(blob.size);
    if (!salvage->schema) return no_memory();
    memcpy(salvage->schema, blob.data, blob.size);
    salvage->schema_size = blob.size;
    return BW_OK;
}

// size 0: nobody knows it. The zeros behind a blob do not belong to it, but for a few that may.
static bw_err offer_extent(struct salvage *salvage, const struct blob_place *place, size_t size)
{
    enum { ZEROS_MAX = 16 };
    uint8_t *bytes = bw_new_raw((size_t)place->pages * PAGE_SIZE);
    if (!bytes) return no_memory();
    const size_t room = (size_t)place->pages * PAGE_SIZE - PAGE_HEADER_SIZE;
    bw_err err = bw_source_read(&salvage->source, place->page, place->pages, bytes);
    struct bytes blob = {bytes + PAGE_HEADER_SIZE, size && size < room ? size : room};
    while (!size && blob.size && blob.data[blob.size - 1] == 0) blob.size--;
    const size_t end = size ? blob.size : blob.size + ZEROS_MAX;
    for (; !err && !salvage->schema && blob.size <= end && blob.size <= room; blob.size++)
        err = offer(salvage, blob);
    bw_free(bytes);
    return err;
}

static int compare_blobs(const void *a, const void *b)
{
    const struct blob_place *left = a, *right = b;
    if (left->born != right->born) return left->born > right->born ? -1 : 1;
    return left->page < right->page ? -1 : left->page > right->page;
}

static bw_err schema_of_slots(struct salvage *salvage)
{
    struct source *source = &salvage->source;
    uint8_t image[PAGE_SIZE];
    struct slot slot = source->slot;
    if (source->has_slot)
        return slot.schema_page ? BW_OK
                                : offer(salvage, (struct bytes){slot.schema, slot.schema_size});
    bw_err err = BW_OK;
    for (int i = 0; i < SLOT_COUNT && !err && !salvage->schema; i++)
        if (bw_source_damaged_slot(source, i, image, &slot) && !slot.schema_page)
            err = offer(salvage, (struct bytes){slot.schema, slot.schema_size});
    return err;
}

static bw_err find_schema(struct salvage *salvage)
{
    struct source *source = &salvage->source;
    bw_err err = schema_of_slots(salvage);
    if (source->blob_count)
        qsort(source->blobs, source->blob_count, sizeof(*source->blobs), compare_blobs);
    for (int pass = 0; pass < 2; pass++) // the slot's own first
        for (size_t i = 0; i < source->blob_count && !err && !salvage->schema; i++) {
            const struct blob_place *place = &source->blobs[i];
            const bool is_own = source->has_slot && place->page == source->slot.schema_page;
            if (is_own == (pass == 0))
                err = offer_extent(salvage, place, is_own ? source->slot.schema_size : 0);
        }
    salvage->report.has_schema = salvage->schema != NULL;
    return err;
}

// ---- all of it ----

static bw_err check_target(const struct salvage_options *options)
{
    struct file_info info;
    bool found = false;
    char *path = bw_names_join(options->to_directory, "data.mdb");
    if (!path) return no_memory();
    bw_err err = options->disk->look_up(options->disk, path, &info, NULL, &found);
    if (!err && found)
        err = bw_fail(BW_ERR_ILLEGAL_STATE, "There is a database file already: %s", path);
    bw_free(path);
    return err;
}

static bw_err open_target(struct salvage *salvage)
{
    const struct salvage_options *options = salvage->options;
    const struct store_options store_options = {.disk = options->disk,
                                                .directory = options->to_directory,
                                                .file_mode = options->file_mode,
                                                .durability = options->durability,
                                                .geometry = options->geometry};
    struct store_info info;
    bw_err err = bw_store_open(&store_options, &salvage->store);
    if (err) { // what opening may have made is empty
        salvage->makes_store = !bw_store_file_size(options->disk, options->to_directory);
        return err;
    }
    bw_store_info(salvage->store, &info);
    if (info.has_commit)
        return bw_fail(BW_ERR_ILLEGAL_STATE, "Somebody else has made a store meanwhile: %s",
                       options->to_directory);
    salvage->makes_store = true;
    return begin(salvage);
}

static bw_err finish_trees(struct salvage *salvage)
{
    const struct salvage_options *options = salvage->options;
    struct salvage_report *report = &salvage->report;
    bw_err err = BW_OK;
    for (size_t i = 0; i < salvage->tree_count && !err; i++) {
        const struct salvage_tree *tree = &salvage->trees[i];
        const uint64_t highest =
            tree->entry.max_key > tree->highest ? tree->entry.max_key : tree->highest;
        const uint64_t sequence = tree->entry.sequence > highest ? tree->entry.sequence : highest;
        report->certain += tree->certain;
        report->guessed += tree->guessed;
        report->lost += tree->lost;
        report->refused += tree->refused;
        report->trees_without_root += !tree->is_rooted;
        if (options->tell_tree) {
            const struct salvage_count count = {.certain = tree->certain,
                                                .guessed = tree->guessed,
                                                .lost = tree->lost,
                                                .refused = tree->refused};
            options->tell_tree(options->user, tree->entry.id, &count);
        }
        // No id that was ever handed out is handed out again.
        if (sequence) err = bw_tree_set_sequence(salvage->txn, tree->entry.id, sequence);
    }
    return err;
}

static bw_err read_source(struct salvage *salvage)
{
    struct source *source = &salvage->source;
    bw_err err = bw_source_open(source, salvage->options->disk, salvage->options->from_directory);
    if (!err) err = bw_source_scan(source);
    if (err) return err;
    if (!source->has_slot && source->count == 0)
        return bw_fail(BW_ERR_FILE_CORRUPT, "Nothing of a store is left in this file: %s/data.mdb",
                       salvage->options->from_directory);
    salvage->report.txn_id = source->has_slot ? source->slot.txn_id : 0;
    salvage->report.has_checksums = source->has_salt;
    salvage->report.file_pages = source->file_pages;
    err = find_schema(salvage);
    if (!err && source->has_slot) err = trees_of_slot(salvage);
    if (!err && !salvage->knows_all_trees) err = trees_of_remains(salvage);
    return err;
}

static bw_err rescue(struct salvage *salvage)
{
    bw_err err = open_target(salvage);
    if (!err) err = walk_trees(salvage);
    if (!err) err = walk_orphans(salvage);
    if (!err) err = finish_trees(salvage);
    // It comes last, so that half a store has none and is not taken for a whole one.
    if (!err && salvage->schema)
        err = bw_txn_set_schema(salvage->txn, salvage->schema_hash,
                                (struct bytes){salvage->schema, salvage->schema_size});
    if (!err) err = commit(salvage);
    return err;
}

static void clean_up(struct salvage *salvage, bool has_failed)
{
    const struct salvage_options *options = salvage->options;
    bw_txn_abort(salvage->txn);
    bw_store_close(salvage->store);
    bw_source_close(&salvage->source);
    bw_free(salvage->trees);
    bw_free(salvage->holes.items);
    bw_free(salvage->value);
    bw_free(salvage->schema);
    if (!has_failed || !salvage->makes_store) return;
    char why[CHECK_TEXT_ROOM]; // of the failure, which removing must not change
    const bw_err code = bw_reason_code();
    const int32_t secondary = bw_reason_secondary();
    (void)snprintf(why, sizeof(why), "%s", bw_reason_text());
    bw_err ignored =
        bw_store_remove(options->disk, options->to_directory); // half of it is no store
    (void)ignored;
    bw_reason_set(code, secondary, why);
}

bw_err bw_store_salvage(const struct salvage_options *options, struct salvage_report *out_report)
{
    struct salvage *salvage = bw_new(sizeof(*salvage));
    if (!salvage) return no_memory();
    salvage->options = options;
    salvage->source.geometry = options->geometry ? options->geometry : &bw_geometry_default;
    salvage->source.progress = options->progress;
    bw_err err = check_target(options);
    if (!err) err = read_source(salvage);
    if (!err) err = rescue(salvage);
    const uint64_t total = 2 * salvage->source.file_pages;
    if (!err) err = bw_progress_report(options->progress, total, total);
    salvage->report.pages_unreadable = salvage->source.unreadable;
    salvage->report.extents_younger = salvage->source.younger;
    if (!err) *out_report = salvage->report;
    clean_up(salvage, err != BW_OK);
    bw_free(salvage);
    return err;
}
