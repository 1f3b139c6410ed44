/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a root down, over whatever is whole; what is not leaves a hole.
 *
 * The recursion is as deep as a tree may be. A branch is read once and kept while its children are
 * visited; the leaf has a place of its own.
 */
#include "store/salvage.h"

struct walk {
    struct source *source;
    struct sink sink;
    struct holes *holes;
    uint32_t tree_id;
    uint8_t branch[TREE_DEPTH_MAX][PAGE_SIZE]; // by level
    uint8_t leaf[EXTENT_PAGES_MAX * PAGE_SIZE];
};

// A reference, and what must hold below it.
struct way {
    page_ref ref;
    unsigned level;
    uint64_t low, high; // both inclusive
    uint64_t born_max;
    uint32_t count;
};

static bw_err add_hole(struct walk *walk, const struct way *way)
{
    struct holes *holes = walk->holes;
    if (holes->count == holes->room) {
        const size_t room = holes->room ? holes->room * 2 : 16;
        struct hole *items = bw_resize(holes->items, room * sizeof(*items));
        if (!items) return bw_fail(BW_ERR_NO_MEMORY, "Out of memory: list of what is lost");
        holes->items = items;
        holes->room = room;
    }
    holes->items[holes->count++] = (struct hole){.low = way->low,
                                                 .high = way->high,
                                                 .tree_id = walk->tree_id,
                                                 .count = way->count,
                                                 .level = (uint8_t)way->level};
    return BW_OK;
}

static bool is_wanted(const struct walk *walk, const struct way *way, const uint8_t *extent)
{
    const page_no page = bw_ref_page(way->ref);
    if (!bw_source_is_whole(walk->source, extent, page)) return false;
    if (bw_get_u32(extent + PAGE_AT_TREE) != walk->tree_id) return false;
    if (bw_page_born(extent) > way->born_max || extent[PAGE_AT_PAGES] != bw_ref_pages(way->ref))
        return false;
    if (way->level == 0) return extent[PAGE_AT_KIND] == PAGE_LEAF;
    return extent[PAGE_AT_KIND] == PAGE_BRANCH && bw_branch_level(extent) == way->level &&
           bw_branch_problem(extent, way->low, way->high) == NULL;
}

bw_err bw_walk_leaf(const uint8_t *leaf, uint32_t tree_id, uint64_t low, uint64_t high,
                    struct sink sink)
{
    bw_err err = BW_OK;
    for (unsigned at = bw_leaf_skip(leaf, 0); at < bw_leaf_slots(leaf) && !err;
         at = bw_leaf_skip(leaf, at + 1)) {
        struct leaf_entry entry;
        if (bw_leaf_entry(leaf, at, &entry) && entry.data && entry.key >= low && entry.key <= high)
            err = sink.take(sink.user, tree_id, &entry);
    }
    return err;
}

static bw_err follow(struct walk *walk, const struct way *way);

static bw_err follow_children(struct walk *walk, const struct way *way, const uint8_t *branch)
{
    const unsigned children = bw_branch_children(branch);
    bw_err err = BW_OK;
    for (unsigned at = 0; at < children && !err; at++) {
        const struct way child = {
            .ref = bw_branch_ref(branch, at),
            .level = way->level - 1,
            .low = at ? bw_branch_key(branch, at) : way->low,
            .high = at + 1 < children ? bw_branch_key(branch, at + 1) - 1 : way->high,
            .born_max = bw_page_born(branch),
            .count = bw_branch_count(branch, at),
        };
        err = follow(walk, &child);
    }
    return err;
}

static bw_err follow(struct walk *walk, const struct way *way)
{
    struct source *source = walk->source;
    const page_no page = bw_ref_page(way->ref);
    struct remain *remain = bw_source_find(source, page);
    if (!remain) return add_hole(walk, way);
    uint8_t *extent = way->level ? walk->branch[way->level] : walk->leaf;
    bw_err err = bw_source_read(source, page, remain->pages, extent);
    if (err) return err;
    if (!is_wanted(walk, way, extent)) return add_hole(walk, way);
    remain->flags |= IS_REACHED;
    if (way->level) return follow_children(walk, way, extent);
    return bw_walk_leaf(extent, walk->tree_id, way->low, way->high, walk->sink);
}

bw_err bw_walk_tree(struct source *source, const struct tree_entry *root, struct sink sink,
                    struct holes *holes)
{
    if (!root->root) return BW_OK;
    struct walk *walk = bw_new_raw(sizeof(*walk));
    if (!walk) return bw_fail(BW_ERR_NO_MEMORY, "Out of memory: walking a tree");
    walk->source = source;
    walk->sink = sink;
    walk->holes = holes;
    walk->tree_id = root->id;
    const bool is_possible = root->depth >= 1 && root->depth <= TREE_DEPTH_MAX;
    const struct way way = {.ref = root->root,
                            .level = is_possible ? root->depth - 1u : 0,
                            .low = 1,
                            .high = UINT64_MAX,
                            .born_max = source->born_max,
                            .count = root->count};
    bw_err err = follow(walk, &way);
    bw_free(walk);
    return err;
}
