/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leaves that no root leads to: which of them may be current, and what they hold.
 *
 * A sweep over the leaves in the order of their first keys finds those of which a younger leaf has
 * a part (H2). It keeps two heaps of what has begun: the youngest on top, which an older one that
 * begins now is beaten by; and the oldest on top, which is beaten by a younger one that begins now.
 * Then every branch that no root leads to either denies the leaves in whose place it has another.
 *
 * The order of work is n log n in the leaves, besides one look from each branch at the leaves of
 * its range. Memory: 8 bytes a leaf.
 */
#include "store/salvage.h"

#include <stdlib.h>

// ---- order ----

static int compare(const void *a, const void *b)
{
    const struct remain *left = a, *right = b;
    if (left->tree_id != right->tree_id) return left->tree_id < right->tree_id ? -1 : 1;
    if (left->level != right->level) return left->level < right->level ? -1 : 1;
    if (left->first != right->first) return left->first < right->first ? -1 : 1;
    if (left->born != right->born) return left->born > right->born ? -1 : 1;
    return left->page < right->page ? -1 : left->page > right->page;
}

void bw_orphans_sort(struct source *source)
{
    if (source->count) qsort(source->remains, source->count, sizeof(*source->remains), compare);
}

size_t bw_orphans_group(const struct source *source, size_t first)
{
    size_t end = first;
    while (end < source->count && source->remains[end].tree_id == source->remains[first].tree_id)
        end++;
    return end;
}

// ---- heaps of leaves by their age ----

struct heap {
    uint32_t *items; // owned with the sweep; indexes of remains from base on
    size_t count;
    const struct remain *base;
    bool is_youngest_first;
};

static bool goes_up(const struct heap *heap, uint32_t item, uint32_t above)
{
    const uint64_t a = heap->base[item].born, b = heap->base[above].born;
    return heap->is_youngest_first ? a > b : a < b;
}

static void push(struct heap *heap, uint32_t item)
{
    size_t at = heap->count++;
    while (at && goes_up(heap, item, heap->items[(at - 1) / 2])) {
        heap->items[at] = heap->items[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap->items[at] = item;
}

static void pop(struct heap *heap)
{
    const uint32_t item = heap->items[--heap->count];
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= heap->count) break;
        if (child + 1 < heap->count && goes_up(heap, heap->items[child + 1], heap->items[child]))
            child++;
        if (!goes_up(heap, heap->items[child], item)) break;
        heap->items[at] = heap->items[child];
        at = child;
    }
    heap->items[at] = item;
}

// ---- H2: leaves against leaves ----

static bool is_orphan(const struct remain *remain)
{
    return remain->level == 0 && !(remain->flags & IS_REACHED);
}

static void meet(struct heap *youngest, struct heap *oldest, struct remain *leaves, uint32_t at)
{
    struct remain *leaf = &leaves[at];
    while (youngest->count && leaves[youngest->items[0]].last < leaf->first) pop(youngest);
    if (youngest->count && leaves[youngest->items[0]].born > leaf->born)
        leaf->flags |= IS_SUPERSEDED;
    while (oldest->count && leaves[oldest->items[0]].born < leaf->born) {
        struct remain *other = &leaves[oldest->items[0]];
        if (other->last >= leaf->first) other->flags |= IS_SUPERSEDED;
        pop(oldest);
    }
    push(youngest, at);
    push(oldest, at);
}

static bw_err supersede(struct remain *leaves, size_t count)
{
    uint32_t *items = bw_new_raw((2 * count + 1) * sizeof(*items));
    if (!items) return bw_fail(BW_ERR_NO_MEMORY, "Out of memory: sorting what was found");
    struct heap youngest = {.items = items, .base = leaves, .is_youngest_first = true};
    struct heap oldest = {.items = items + count, .base = leaves};
    for (uint32_t at = 0; at < count; at++)
        if (is_orphan(&leaves[at])) meet(&youngest, &oldest, leaves, at);
    bw_free(items);
    return BW_OK;
}

// ---- H2: branches against leaves ----

static size_t lower_bound(const struct remain *leaves, size_t count, uint64_t key)
{
    size_t from = 0, to = count;
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        if (leaves[middle].first < key) from = middle + 1;
        else to = middle;
    }
    return from;
}

// Only what a branch says between its second child and its last one is exact without its parent.
static void deny(struct remain *leaves, size_t count, const struct remain *from,
                 const uint8_t *branch)
{
    if (bw_branch_children(branch) < 3) return;
    for (size_t at = lower_bound(leaves, count, from->first);
         at < count && leaves[at].first < from->last; at++) {
        const page_ref ref = bw_branch_ref(branch, bw_branch_find(branch, leaves[at].first));
        if (leaves[at].born < from->born && bw_ref_page(ref) != leaves[at].page)
            leaves[at].flags |= IS_DENIED;
    }
}

static bw_err deny_all(struct source *source, const struct orphans *orphans, size_t leaves_end)
{
    uint8_t branch[PAGE_SIZE];
    for (size_t at = leaves_end; at < orphans->end; at++) {
        const struct remain *remain = &source->remains[at];
        if (remain->level > 1) return BW_OK;
        bw_err err = bw_source_read(source, remain->page, 1, branch);
        if (err) return err;
        if (!bw_source_is_whole(source, branch, remain->page)) continue; // it was a moment ago
        deny(source->remains + orphans->first, leaves_end - orphans->first, remain, branch);
    }
    return BW_OK;
}

// ---- giving ----

static bw_err give_range(struct source *source, const struct remain *leaf, uint64_t low,
                         uint64_t high, struct sink sink)
{
    uint8_t *extent = bw_new_raw((size_t)leaf->pages * PAGE_SIZE);
    if (!extent) return bw_fail(BW_ERR_NO_MEMORY, "Out of memory: reading a leaf");
    bw_err err = bw_source_read(source, leaf->page, leaf->pages, extent);
    if (!err && bw_source_is_whole(source, extent, leaf->page))
        err = bw_walk_leaf(extent, leaf->tree_id, low, high, sink);
    bw_free(extent);
    return err;
}

/*
 * A lost leaf is made up for by what was in its place before. Below a lost branch leaves may be
 * current; one that reaches beyond its range cannot be.
 */
static bool fills(const struct remain *leaf, const struct hole *hole)
{
    if (leaf->last < hole->low || leaf->first > hole->high) return false;
    if (hole->level == 0) return true;
    return leaf->first >= hole->low && leaf->last <= hole->high && !(leaf->flags & IS_DENIED);
}

static bw_err give_leaf(struct source *source, const struct orphans *orphans,
                        const struct remain *leaf, size_t *in_out_hole, struct sink sink)
{
    if (!orphans->is_rooted) {
        if (leaf->flags & IS_DENIED) return BW_OK;
        return give_range(source, leaf, 1, UINT64_MAX, sink);
    }
    size_t at = *in_out_hole;
    while (at < orphans->hole_count && orphans->holes[at].high < leaf->first) at++;
    *in_out_hole = at; // leaves come in the order of their first keys
    bw_err err = BW_OK;
    for (; at < orphans->hole_count && orphans->holes[at].low <= leaf->last && !err; at++) {
        const struct hole *hole = &orphans->holes[at];
        if (fills(leaf, hole)) err = give_range(source, leaf, hole->low, hole->high, sink);
    }
    return err;
}

bw_err bw_orphans_give(struct source *source, const struct orphans *orphans, struct sink sink)
{
    struct remain *remains = source->remains;
    size_t leaves_end = orphans->first, hole = 0;
    while (leaves_end < orphans->end && remains[leaves_end].level == 0) leaves_end++;
    bw_err err = supersede(remains + orphans->first, leaves_end - orphans->first);
    if (!err) err = deny_all(source, orphans, leaves_end);
    for (size_t at = orphans->first; at < leaves_end && !err; at++) {
        const struct remain *leaf = &remains[at];
        if (is_orphan(leaf) && !(leaf->flags & IS_SUPERSEDED))
            err = give_leaf(source, orphans, leaf, &hole, sink);
    }
    return err;
}
