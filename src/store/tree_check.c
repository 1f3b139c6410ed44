/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walking a tree to prove it.
 *
 * Everything is read, nothing is believed: order, bounds, counts and byte totals are worked out
 * anew and compared. The walk keeps its own stack, one place for each level.
 */
#include "store/tree_check.h"

#include "store/tree.h"

// What the walk knows of a reference: where it stands, and what must hold below it.
struct place {
    page_ref ref;
    uint64_t low, high;   // keys below it, both inclusive
    uint64_t parent_born; // nothing below is younger
};

struct found {
    uint64_t keys;
    bool has_overflow;
    bool is_known; // everything below could be read
};

struct level {
    struct place place;
    const uint8_t *branch;
    unsigned next; // child
    struct found found;
};

struct check {
    struct txn *txn;
    struct tree *tree;
    struct tree_visitor visitor;
    struct check_report *report;
    uint64_t bytes, last_key;
    struct level level[TREE_DEPTH_MAX];
    unsigned depth; // levels in use
};

static void problem(struct check *check, page_no page, const char *text)
{
    bw_check_report_add(check->report, page, "tree %u, page %u: %s", check->tree->id, page, text);
}

// A page that cannot be read is a problem to report; a lack of memory or a failing disk is an
// error.
static bw_err read_failed(struct check *check, page_no page, bw_err err)
{
    if (err == BW_ERR_NO_MEMORY || err == BW_ERR_IO) return err;
    bw_check_report_add(check->report, page, "tree %u: %s", check->tree->id, bw_reason_text());
    return BW_OK;
}

static void check_born(struct check *check, page_no page, uint64_t born, uint64_t parent_born)
{
    if (born > parent_born) problem(check, page, "is younger than what refers to it");
}

// A reference to a leaf or branch; born 0: it cannot be read. What visit does then leaves the
// reason of the failure alone.
static bw_err met(struct check *check, page_ref ref, uint64_t born, bool *out_is_first)
{
    const struct met_extent extent = {bw_ref_page(ref), bw_ref_pages(ref), born};
    check->report->pages += extent.pages;
    return check->visitor.visit(check->visitor.context, &extent, out_is_first);
}

// ---- leaves ----

static bw_err check_value(struct check *check, const struct leaf_entry *entry, uint64_t leaf_born)
{
    struct value_extents extents;
    const page_no first = bw_get_u32(entry->data + REFERENCE_HEAD);
    bw_err err = bw_value_extents(check->txn, check->tree->id, entry->data, &extents);
    if (err) return read_failed(check, first, err);
    bool is_met = false;
    for (uint32_t i = 0; i < extents.count; i++) {
        const struct met_extent extent = {extents.extent[i].page, extents.extent[i].pages,
                                          extents.extent[i].born};
        bool enters = true;
        err = check->visitor.visit(check->visitor.context, &extent, &enters);
        if (err) return err;
        is_met |= !enters;
        check_born(check, extent.page, extent.born, leaf_born);
        check->report->pages += extent.pages;
        check->report->overflow_pages += extent.pages;
    }
    if (is_met) return BW_OK;
    err = bw_value_check(check->txn, check->tree->id, entry->data);
    return err ? read_failed(check, first, err) : BW_OK;
}

static bw_err check_entries(struct check *check, const struct place *place, const uint8_t *leaf,
                            struct found *found)
{
    const page_no page = bw_ref_page(place->ref);
    for (unsigned at = bw_leaf_skip(leaf, 0); at < bw_leaf_slots(leaf);
         at = bw_leaf_skip(leaf, at + 1)) {
        struct leaf_entry entry;
        if (!bw_leaf_entry(leaf, at, &entry))
            continue; // bw_leaf_problem has seen that there is none
        if (entry.key < place->low || entry.key > place->high) {
            problem(check, page, "holds a key that belongs elsewhere");
        }
        if (entry.key <= check->last_key) problem(check, page, "holds a key out of order");
        check->last_key = entry.key;
        found->keys++;
        found->has_overflow |= entry.is_overflow;
        check->bytes += entry.is_overflow ? bw_value_length(entry.data) : entry.size;
        if (!entry.is_overflow) continue;
        bw_err err = check_value(check, &entry, bw_page_born(leaf));
        if (err) return err;
    }
    return BW_OK;
}

static bw_err check_leaf(struct check *check, const struct place *place, struct found *out_found)
{
    const page_no page = bw_ref_page(place->ref);
    const uint8_t *leaf = NULL;
    *out_found = (struct found){0};
    bw_err err = bw_leaf_read(check->txn, check->tree->id, place->ref, &leaf);
    const uint64_t born = err ? 0 : bw_page_born(leaf);
    bool is_first = true;
    const bw_err ended = met(check, place->ref, born, &is_first);
    if (ended) return ended;
    check->report->leaves++;
    if (err) return read_failed(check, page, err);
    check_born(check, page, born, place->parent_born);
    const char *text = bw_leaf_problem(leaf);
    if (text) problem(check, page, text);
    if (text || !is_first) return BW_OK;
    out_found->is_known = true;
    return check_entries(check, place, leaf, out_found);
}

// ---- branches ----

// Begin with a branch. *out_entered false: it cannot be read, or was met before.
static bw_err enter(struct check *check, const struct place *place, unsigned level,
                    bool *out_entered)
{
    struct level *entered = &check->level[check->depth];
    *out_entered = false;
    bw_err err = bw_branch_read(check->txn, check->tree->id, place->ref, level, &entered->branch);
    const uint64_t born = err ? 0 : bw_page_born(entered->branch);
    bool is_first = true;
    const bw_err ended = met(check, place->ref, born, &is_first);
    if (ended) return ended;
    check->report->branches++;
    if (err) return read_failed(check, bw_ref_page(place->ref), err);
    check_born(check, bw_ref_page(place->ref), born, place->parent_born);
    const char *text = bw_branch_problem(entered->branch, place->low, place->high);
    if (text) problem(check, bw_ref_page(place->ref), text);
    if (!is_first) return BW_OK;
    entered->place = *place;
    entered->next = 0;
    entered->found = (struct found){.is_known = true};
    check->depth++;
    *out_entered = true;
    return BW_OK;
}

static struct place child_place(const struct level *parent)
{
    const unsigned at = parent->next, children = bw_branch_children(parent->branch);
    return (struct place){
        .ref = bw_branch_ref(parent->branch, at),
        .low = at ? bw_branch_key(parent->branch, at) : parent->place.low,
        .high = at + 1 < children ? bw_branch_key(parent->branch, at + 1) - 1 : parent->place.high,
        .parent_born = bw_page_born(parent->branch),
    };
}

// What was found below the child that the parent looked at last.
static void take(struct check *check, struct level *parent, const struct found *found)
{
    const page_no page = bw_ref_page(parent->place.ref);
    const unsigned at = parent->next++;
    const uint32_t count = bw_branch_count(parent->branch, at);
    if (found->is_known && count != found->keys) {
        problem(check, page, "counts the keys of a child wrongly"); // B3
    }
    if (found->has_overflow && !bw_ref_has_overflow(bw_branch_ref(parent->branch, at))) {
        problem(check, page, "does not tell that a child has overflow values"); // P2
    }
    parent->found.keys += found->is_known ? found->keys : count;
    parent->found.has_overflow |= found->has_overflow;
    parent->found.is_known &= found->is_known;
}

static bw_err walk(struct check *check, struct found *out_found)
{
    struct place place = {.ref = check->tree->root,
                          .low = 1,
                          .high = UINT64_MAX,
                          .parent_born = bw_txn_id(check->txn)};
    for (;;) {
        const unsigned level = check->tree->depth - 1u - check->depth;
        bool entered = false;
        struct found found = {0};
        bw_err err =
            level ? enter(check, &place, level, &entered) : check_leaf(check, &place, &found);
        if (err) return err;
        if (!entered) {
            // Up, as long as the branch above is done.
            while (check->depth > 0) {
                struct level *parent = &check->level[check->depth - 1];
                take(check, parent, &found);
                if (parent->next < bw_branch_children(parent->branch)) break;
                found = parent->found;
                check->depth--;
            }
            if (check->depth == 0) {
                *out_found = found;
                return BW_OK;
            }
        }
        place = child_place(&check->level[check->depth - 1]);
    }
}

bw_err bw_tree_check(struct txn *txn, struct tree *tree, struct tree_visitor visitor,
                     struct check_report *report)
{
    struct check check = {.txn = txn, .tree = tree, .visitor = visitor, .report = report};
    struct found found = {.is_known = true};
    if (tree->unsealed) bw_value_seal(txn, tree->unsealed);
    if (tree->root) {
        bw_err err = bw_path_check_depth(tree);
        if (err) return read_failed(&check, bw_ref_page(tree->root), err);
        err = walk(&check, &found);
        if (err) return err;
    } else if (tree->depth) {
        problem(&check, 0, "has levels, but no root");
    }
    report->keys += found.keys;
    if (found.has_overflow && !bw_ref_has_overflow(tree->root)) {
        problem(&check, bw_ref_page(tree->root),
                "the tree does not tell that it has overflow values");
    }
    if (!found.is_known) return BW_OK;
    if (found.keys != tree->count || check.bytes != tree->bytes ||
        check.last_key != tree->max_key) {
        bw_check_report_add(report, 0, "tree %u: its count, bytes or highest key is wrong",
                            tree->id);
    }
    return BW_OK;
}
