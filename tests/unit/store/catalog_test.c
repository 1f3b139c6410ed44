/* SPDX-License-Identifier: Apache-2.0 */
/* Which trees there are, in the slot and beyond it. */
#include "harness/check.h"
#include "harness/relay.h"
#include "harness/sample.h"
#include "harness/sim_disk.h"
#include "store/slot.h"

static struct sim_disk sim;
static struct relay relay;
static struct store *store;

static void begin(void)
{
    sim_disk_init(&sim, 1);
    relay_init(&relay, &sim.disk);
    store = sample_open(&relay.disk);
}

static void end(void)
{
    bw_store_close(store);
    sim_disk_deinit(&sim);
    sample_expect_nothing_left();
}

static void reopen(void)
{
    bw_store_close(store);
    store = sample_open(&relay.disk);
}

static struct tree_stat stat_of(uint32_t tree_id)
{
    struct tree_stat stat;
    struct txn *txn = sample_begin(store, TXN_READ);
    CHECK_OK(bw_tree_stat(txn, tree_id, &stat));
    bw_txn_abort(txn);
    return stat;
}

/* The newest slot; its pointers lead into the simulated disk. */
static struct slot newest_slot(void)
{
    const uint8_t *bytes = sim_disk_find(&sim, SAMPLE_FILE)->cache;
    struct slot slots[2] = {{0}, {0}};
    for (int i = 0; i < 2; i++) (void)bw_slot_decode(bytes + (size_t)i * PAGE_SIZE, &slots[i]);
    return slots[0].txn_id > slots[1].txn_id ? slots[0] : slots[1];
}

/* Trees `first` to `last`, one value each, in one transaction. */
static void make_trees(uint32_t first, uint32_t last, unsigned version)
{
    struct txn *txn = sample_begin(store, TXN_WRITE);
    for (uint32_t tree = last; tree >= first; tree--) {
        CHECK_OK(sample_put(txn, tree, tree, 1, 50, version));
        CHECK_OK(bw_tree_set_sequence(txn, tree, tree * 100));
    }
    CHECK_OK(bw_txn_commit(txn));
}

static void expect_trees(uint32_t first, uint32_t last, unsigned version)
{
    struct txn *txn = sample_begin(store, TXN_READ);
    for (uint32_t tree = first; tree <= last; tree++) {
        struct tree_stat stat;
        CHECK_OK(bw_tree_stat(txn, tree, &stat));
        CHECK_EQ(stat.count, 1);
        CHECK_EQ(stat.max_key, tree);
        CHECK_EQ(stat.sequence, tree * 100);
        sample_expect(txn, tree, tree, 1, 50, version);
    }
    sample_prove(txn);
    bw_txn_abort(txn);
}

static void an_entry_is_read_as_it_was_written(void)
{
    const struct tree_entry entry = {.id = 0x01020304,
                                     .kind = 1,
                                     .depth = 3,
                                     .root = 0x81234567,
                                     .count = UINT32_MAX,
                                     .max_key = UINT64_MAX,
                                     .sequence = 1ull << 63,
                                     .bytes = 0x0102030405060708};
    uint8_t bytes[TREE_ENTRY_SIZE];
    struct tree_entry found;
    memset(bytes, 0xee, sizeof(bytes));
    bw_catalog_encode(bytes, &entry);
    bw_catalog_decode(bytes, &found);
    CHECK_EQ(found.id, entry.id);
    CHECK_EQ(found.kind, entry.kind);
    CHECK_EQ(found.depth, entry.depth);
    CHECK_EQ(found.root, entry.root);
    CHECK_EQ(found.count, entry.count);
    CHECK_EQ(found.max_key, entry.max_key);
    CHECK_EQ(found.sequence, entry.sequence);
    CHECK_EQ(found.bytes, entry.bytes);
    CHECK_EQ(bw_get_u16(bytes + 6), 0);
}

static void forty_trees_are_named_by_the_slot(void)
{
    begin();
    make_trees(1, 40, 1);
    struct slot slot = newest_slot();
    CHECK_EQ(slot.tree_count, 40);
    CHECK(!slot.has_catalog);
    for (uint32_t i = 0; i < 40; i++) // C1: ascending, whatever the order of making
        CHECK_EQ(bw_get_u32(slot.trees + (size_t)i * TREE_ENTRY_SIZE), i + 1);
    reopen();
    relay_reset(&relay);
    for (uint32_t tree = 1; tree <= 41; tree++) CHECK_EQ(stat_of(tree).count, tree < 41);
    CHECK_EQ(relay_total(&relay), 0); // no page is read for that
    expect_trees(1, 40, 1);
    end();
}

static void the_forty_first_moves_them_into_a_tree(void)
{
    begin();
    make_trees(1, 40, 1);
    make_trees(41, 41, 1);
    struct slot slot = newest_slot();
    CHECK(slot.has_catalog);
    CHECK_EQ(slot.tree_count, 1);
    expect_trees(1, 41, 1);
    reopen();
    expect_trees(1, 41, 1);
    make_trees(20, 60, 2);
    expect_trees(1, 19, 1);
    expect_trees(20, 60, 2);
    reopen();
    expect_trees(20, 60, 2);
    CHECK_EQ(stat_of(61).count, 0);
    end();
}

static void many_trees_at_once_begin_with_a_catalogue(void)
{
    begin();
    make_trees(1, 400, 1);
    expect_trees(1, 400, 1);
    reopen();
    expect_trees(1, 400, 1);
    make_trees(7, 7, 2); // one of them changes, the others stay
    expect_trees(1, 6, 1);
    expect_trees(7, 7, 2);
    expect_trees(8, 400, 1);
    end();
}

static void ids_may_be_any_numbers(void)
{
    static const uint32_t ids[] = {1, 77, 0x10000, 0x7fffffff, 0x80000000, 0xfffffffc};
    begin();
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
        sample_commit(store, ids[i], 5, 3, 30, 1);
    make_trees(100, 160, 1);
    reopen();
    struct txn *txn = sample_begin(store, TXN_READ);
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
        sample_expect(txn, ids[i], 5, 3, 30, 1);
    sample_prove(txn);
    bw_txn_abort(txn);
    end();
}

static void a_sequence_alone_makes_a_tree(void)
{
    begin();
    struct txn *txn = sample_begin(store, TXN_WRITE);
    CHECK_OK(bw_tree_set_sequence(txn, 3, 999));
    CHECK_OK(bw_txn_commit(txn));
    reopen();
    CHECK_EQ(stat_of(3).sequence, 999);
    CHECK_EQ(stat_of(3).count, 0);
    sample_prove_store(store);
    end();
}

static void clearing_keeps_the_sequence_and_dropping_does_not(void)
{
    for (uint32_t trees = 10; trees <= 60; trees += 50) {
        begin();
        make_trees(1, trees, 1);
        struct txn *txn = sample_begin(store, TXN_WRITE);
        CHECK_OK(bw_tree_clear(txn, 4));
        CHECK_OK(bw_tree_drop(txn, 5));
        CHECK_OK(bw_txn_commit(txn));
        for (int i = 0; i < 2; i++) {
            CHECK_EQ(stat_of(4).count, 0);
            CHECK_EQ(stat_of(4).max_key, 0);
            CHECK_EQ(stat_of(4).sequence, 400);
            CHECK_EQ(stat_of(5).sequence, 0);
            expect_trees(6, trees, 1);
            reopen();
        }
        end();
    }
}

static void a_dropped_tree_can_be_made_again_at_once(void)
{
    for (uint32_t trees = 10; trees <= 60; trees += 50) {
        begin();
        make_trees(1, trees, 1);
        struct txn *txn = sample_begin(store, TXN_WRITE);
        CHECK_OK(bw_tree_drop(txn, 5));
        CHECK_OK(sample_put(txn, 5, 8, 2, 70, 3));
        CHECK_OK(bw_tree_drop(txn, 6));
        CHECK_OK(bw_tree_drop(txn, 6));
        CHECK_OK(sample_put(txn, trees + 1, 1, 1, 10, 1)); // made and dropped in one
        CHECK_OK(bw_tree_drop(txn, trees + 1));
        sample_prove(txn);
        CHECK_OK(bw_txn_commit(txn));
        CHECK_EQ(stat_of(5).count, 2);
        CHECK_EQ(stat_of(5).sequence, 0);
        CHECK_EQ(stat_of(6).sequence, 0);
        CHECK_EQ(stat_of(trees + 1).count, 0);
        reopen();
        txn = sample_begin(store, TXN_READ);
        sample_expect(txn, 5, 8, 2, 70, 3);
        sample_prove(txn);
        bw_txn_abort(txn);
        end();
    }
}

static void dropping_gives_the_pages_back(void)
{
    begin();
    sample_commit(store, 1, 1, 1, 10, 1);
    for (unsigned round = 0; round < 10; round++) {
        struct txn *txn = sample_begin(store, TXN_WRITE);
        CHECK_OK(sample_put(txn, 2, 1, 100, 1000, round));
        CHECK_OK(sample_put(txn, 2, 101, 2, 30000, round));
        CHECK_OK(bw_txn_commit(txn));
        txn = sample_begin(store, TXN_WRITE);
        CHECK_OK(bw_tree_drop(txn, 2));
        CHECK_OK(bw_txn_commit(txn));
        sample_commit(store, 1, 1, 1, 10, round);
    }
    struct store_info info;
    bw_store_info(store, &info);
    CHECK_EQ(info.used_pages, 3);
    CHECK(sim_disk_find(&sim, SAMPLE_FILE)->size < 150 * PAGE_SIZE);
    sample_prove_store(store);
    end();
}

static void all_trees_can_be_dropped(void)
{
    begin();
    make_trees(1, 60, 1);
    struct txn *txn = sample_begin(store, TXN_WRITE);
    for (uint32_t tree = 1; tree <= 60; tree++) CHECK_OK(bw_tree_drop(txn, tree));
    CHECK_OK(bw_txn_commit(txn));
    reopen();
    for (uint32_t tree = 1; tree <= 60; tree++) CHECK_EQ(stat_of(tree).sequence, 0);
    sample_prove_store(store);
    make_trees(1, 3, 2); // a store that once has a catalogue keeps it
    CHECK(newest_slot().has_catalog);
    expect_trees(1, 3, 2);
    end();
}

static void readers_keep_the_trees_they_knew(void)
{
    begin();
    make_trees(1, 30, 1);
    struct txn *few = sample_begin(store, TXN_READ);
    make_trees(1, 80, 2);
    struct txn *many = sample_begin(store, TXN_READ);
    struct txn *txn = sample_begin(store, TXN_WRITE);
    for (uint32_t tree = 2; tree <= 80; tree++) CHECK_OK(bw_tree_drop(txn, tree));
    CHECK_OK(bw_txn_commit(txn));
    for (unsigned i = 0; i < 5; i++) make_trees(1, 1, 3);
    for (uint32_t tree = 1; tree <= 80; tree++) {
        struct tree_stat stat;
        CHECK_OK(bw_tree_stat(few, tree, &stat));
        CHECK_EQ(stat.count, tree <= 30);
        if (tree <= 30) sample_expect(few, tree, tree, 1, 50, 1);
        sample_expect(many, tree, tree, 1, 50, 2);
    }
    sample_prove(few);
    sample_prove(many);
    bw_txn_abort(few);
    bw_txn_abort(many);
    end();
}

static void a_damaged_entry_is_refused(void)
{
    begin();
    struct txn *txn = sample_begin(store, TXN_WRITE);
    for (uint32_t tree = 1; tree <= 50; tree++) CHECK_OK(sample_put(txn, tree, 1, 1, 20, 1));
    CHECK_OK(bw_txn_commit(txn));
    txn = sample_begin(store, TXN_WRITE); // what no commit of ours would write
    const uint8_t entry[TREE_ENTRY_SIZE] = {7, 0, 0, 0, 1, TREE_DEPTH_MAX + 1};
    CHECK_OK(bw_tree_put(txn, TREE_CATALOG, 5, (struct bytes){entry, 39}, NULL));
    CHECK_OK(bw_tree_put(txn, TREE_CATALOG, 6, (struct bytes){entry, 40}, NULL));
    CHECK_OK(bw_tree_put(txn, TREE_CATALOG, 7, (struct bytes){entry, 40}, NULL));
    CHECK_OK(bw_txn_commit(txn));
    txn = sample_begin(store, TXN_READ);
    for (uint32_t tree = 5; tree <= 7; tree++) {
        struct tree_stat stat;
        CHECK_ERR(bw_tree_stat(txn, tree, &stat), BW_ERR_FILE_PAGES_CORRUPT);
        CHECK(strstr(bw_reason_text(), "catalogue") != NULL);
    }
    sample_expect(txn, 4, 1, 1, 20, 1);
    sample_expect(txn, 8, 1, 1, 20, 1);
    bw_txn_abort(txn);
    end();
}

static void dropping_needs_memory_and_a_tree(void)
{
    begin();
    make_trees(1, 2, 1);
    struct txn *txn = sample_begin(store, TXN_WRITE);
    struct tree_stat stat;
    CHECK_OK(bw_txn_tree_drop(txn, 99));
    CHECK_OK(bw_tree_stat(txn, 1, &stat)); // in the one block that needs no memory
    bw_memory_fail_after(0);
    CHECK_ERR(bw_txn_tree_drop(txn, 2), BW_ERR_NO_MEMORY);
    bw_memory_fail_after(-1);
    CHECK_OK(bw_tree_stat(txn, 2, &stat));
    CHECK_EQ(stat.count, 1);
    bw_txn_abort(txn);
    expect_trees(1, 2, 1);
    end();
}

RUN_TESTS(TEST(an_entry_is_read_as_it_was_written), TEST(forty_trees_are_named_by_the_slot),
          TEST(the_forty_first_moves_them_into_a_tree),
          TEST(many_trees_at_once_begin_with_a_catalogue), TEST(ids_may_be_any_numbers),
          TEST(a_sequence_alone_makes_a_tree),
          TEST(clearing_keeps_the_sequence_and_dropping_does_not),
          TEST(a_dropped_tree_can_be_made_again_at_once), TEST(dropping_gives_the_pages_back),
          TEST(all_trees_can_be_dropped), TEST(readers_keep_the_trees_they_knew),
          TEST(a_damaged_entry_is_refused), TEST(dropping_needs_memory_and_a_tree))
