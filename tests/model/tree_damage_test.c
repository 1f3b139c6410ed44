/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trees whose pages lie: every operation must end with success or with an error, never in a crash
 * or outside the pages (which a sanitizer sees, since each extent is a block of its own). Pages are
 * damaged where checksums would have let it pass: by a hostile file, or a writer with a mistake.
 *
 * What the operations answer is not judged. BW_SEED repeats a run, BW_STEPS makes it longer.
 */
#include <stdlib.h>

#include "harness/check.h"
#include "harness/fake_pager.h"
#include "harness/tree_kit.h"
#include "store/branch.h"
#include "store/leaf.h"
#include "store/tree_check.h"

enum { ROUNDS = 400, OPERATIONS = 40, PAGES_MAX = 4000 };

static struct txn *txn;
static struct random source;
static uint64_t failures, successes, sum;
static uint64_t step; // between keys

static uint64_t below(uint64_t limit) { return bw_random_below(&source, limit); }

static void build(void)
{
    static const size_t sizes[] = {12, 100, 352, 1500, 4040, 5000, 12000};
    txn = bw_fake_pager_new();
    const uint64_t keys = 1 + below(below(4) ? 150 : 1200);
    step = below(3) ? 1 + below(4) : UINT64_C(1) << (30 + below(20)); // dense, sparse, wide
    const size_t size = sizes[below(7)];
    for (uint64_t key = 1; key <= keys; key++) {
        bw_kit_put(txn, key * step, key * step, below(20) ? size : sizes[below(7)]);
        if (below(40) == 0) bw_fake_pager_commit(txn);
        if (below(10) == 0) bw_kit_put(txn, 1 + below(key * step), 0, 50);
    }
    bw_fake_pager_commit(txn);
}

static uint32_t draw_number(void)
{
    static const uint32_t special[] = {0,    1,      8,      40,     254,    255,    4095,
                                       4096, 0x3FFF, 0x4000, 0x7FFF, 0x8000, 0xC000, 0xFFFF};
    return below(3) ? special[below(14)] : (uint32_t)bw_random_next(&source);
}

// The leaf says that it has another form, and, every other time, LOWER agrees.
static void change_form(uint8_t *leaf)
{
    leaf[PAGE_AT_COUNT + 1] ^= (uint8_t)((1 + below(3)) << 6);
    if (below(2)) return;
    const unsigned lower = LEAF_SLOTS_AT + bw_leaf_slots(leaf) * bw_leaf_slot_size(leaf);
    bw_put_u16(leaf + PAGE_AT_LOWER, (uint16_t)lower);
}

// Some number of a header, of slots, keys, references or values becomes another one.
static void damage_page(uint8_t *page, size_t size)
{
    static const unsigned fields[] = {PAGE_AT_COUNT, PAGE_AT_LOWER, PAGE_AT_UPPER};
    const bool is_branch = page[PAGE_AT_KIND] == PAGE_BRANCH;
    switch (below(7)) {
    case 0:
        bw_put_u16(page + fields[below(3)], (uint16_t)draw_number());
        break;
    case 1: // a slot, or the first keys
        bw_put_u16(page + PAGE_HEADER_SIZE + 2 * below(60), (uint16_t)draw_number());
        break;
    case 2:
        bw_put_u32(page + below(size - 3), draw_number());
        break;
    case 3:
        page[below(size)] ^= (uint8_t)(1u << below(8));
        break;
    case 4: // a reference to some other child, or to what is not there
        if (!is_branch) break;
        bw_branch_set_ref(page, (unsigned)below(bw_branch_children(page) % 254 + 1),
                          below(2) ? bw_branch_ref(page, (unsigned)below(254))
                                   : (page_ref)(below(PAGES_MAX) | below(8) << 28));
        break;
    case 5:
        if (!is_branch) change_form(page);
        break;
    default: // two neighbours change places
        if (!is_branch) break;
        for (unsigned at = 0; at < 2; at++)
            bw_branch_set_ref(page, at, bw_branch_ref(page, 1 - at));
        break;
    }
}

static void damage(void)
{
    for (uint64_t left = 1 + below(4); left > 0;) {
        const page_no no = (page_no)below(PAGES_MAX);
        uint8_t *page = bw_fake_pager_damage(txn, no);
        if (!page) continue;
        damage_page(page, (size_t)bw_fake_pager_extent(txn, no) * PAGE_SIZE);
        left--;
    }
    struct tree *tree = bw_kit_tree(txn);
    if (below(10) == 0) tree->depth = (uint8_t)below(12);
    if (below(10) == 0) tree->count = draw_number();
    if (below(10) == 0) tree->max_key = draw_number();
    if (below(20) == 0) tree->root = draw_number();
}

static void take(bw_err err)
{
    CHECK(!err || err == BW_ERR_FILE_PAGES_CORRUPT || err == BW_ERR_DB_FULL);
    if (err) {
        failures++;
    } else {
        successes++;
    }
}

// Reads every byte, so that a sanitizer sees where they lie.
static void use(struct bytes value) { sum += bw_hash64(value.data, value.size, 0); }

static void scan(uint64_t key)
{
    struct cursor cursor;
    bool found = true;
    bw_cursor_init(&cursor, txn, KIT_TREE);
    bw_err err = bw_cursor_seek(&cursor, key, &found);
    for (int i = 0; i < 300 && !err && found; i++) {
        use(cursor.value);
        err = bw_cursor_next(&cursor, &found);
    }
    take(err);
}

static bw_err visit(void *context, const struct met_extent *extent, bool *out_enters)
{
    (void)context, (void)extent;
    *out_enters = true;
    return BW_OK;
}

static void check(void)
{
    struct check_report report = {0};
    take(bw_tree_check(txn, bw_kit_tree(txn), (struct tree_visitor){.visit = visit}, &report));
}

static void operate(void)
{
    static const size_t sizes[] = {10, 100, 352, 360, 4000, 6000, 30000};
    struct bytes value;
    bool found;
    uint8_t *stored;
    const uint64_t key =
        below(20) ? (1 + below(1500)) * (below(2) ? step : 1) : 1 + bw_random_next(&source) / 2;
    switch (below(10)) {
    case 0:
        scan(key);
        break;
    case 1:
    case 2: {
        const bw_err err = bw_tree_get(txn, KIT_TREE, key, &value, &found);
        if (!err && found) use(value);
        take(err);
        break;
    }
    case 3:
    case 4:
    case 5: {
        value = bw_kit_value(key, sizes[below(7)]);
        const bw_err err = bw_tree_put(txn, KIT_TREE, key, value, &stored);
        if (!err) memset(stored, 1, value.size);
        take(err);
        break;
    }
    case 6:
    case 7:
    case 8:
        take(bw_tree_remove(txn, KIT_TREE, key, &found));
        break;
    default:
        if (below(10) == 0) {
            take(bw_tree_clear(txn, KIT_TREE));
        } else if (below(3)) {
            bw_fake_pager_commit(txn);
        } else {
            check();
        }
        break;
    }
}

static void damaged_trees_give_errors_and_nothing_worse(void)
{
    const char *given = getenv("BW_STEPS");
    const long rounds = given ? strtol(given, NULL, 0) : ROUNDS;
    bw_random_seed(&source, bw_test_seed());
    for (long i = 0; i < rounds; i++) {
        build();
        damage();
        for (int n = 0; n < OPERATIONS; n++) operate();
        check();
        bw_fake_pager_free(txn);
    }
    CHECK(failures > 0 && successes > 0 && sum > 0);
}

RUN_TESTS(TEST(damaged_trees_give_errors_and_nothing_worse))
