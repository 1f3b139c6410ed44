/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/check.h"
#include "store/engine.h"

/* Make a snapshot the newest one, as staging and publishing do. */
static struct snapshot *publish(struct store *store, uint64_t txn_id)
{
    struct snapshot *snapshot = NULL;
    CHECK_OK(bw_snapshot_new(1, 0, &snapshot));
    snapshot->txn_id = txn_id;
    snapshot->older = store->head;
    store->head = snapshot;
    store->cur = snapshot;
    bw_snapshot_prune(store);
    return snapshot;
}

static struct txn begin_reader(struct store *store)
{
    struct txn txn = {.store = store};
    CHECK_OK(bw_reader_begin(&txn));
    return txn;
}

static void end_reader(struct store *store, struct txn *txn)
{
    bw_reader_end(txn);
    bw_snapshot_prune(store);
}

static unsigned count(const struct store *store)
{
    unsigned found = 0;
    for (const struct snapshot *each = store->head; each; each = each->older) found++;
    return found;
}

static void end(struct store *store)
{
    bw_snapshot_prune(store);
    CHECK_EQ(count(store), 1);
    CHECK(!bw_reader_is_any(store));
    bw_free(store->head);
    CHECK_EQ(bw_memory_blocks(), 0);
}

static void a_snapshot_has_room_for_its_trees_and_schema(void)
{
    struct snapshot *snapshot = NULL;
    CHECK_OK(bw_snapshot_new(TREES_INLINE_MAX, 512, &snapshot));
    CHECK_EQ(snapshot->tree_count, TREES_INLINE_MAX);
    CHECK_EQ((uintptr_t)snapshot->schema % 8, 0);
    CHECK(snapshot->schema == (const uint8_t *)(snapshot->trees + TREES_INLINE_MAX));
    memset(snapshot->trees, 1, TREES_INLINE_MAX * sizeof(snapshot->trees[0]) + 512);
    bw_free(snapshot);
    CHECK_OK(bw_snapshot_new(0, 0, &snapshot));
    CHECK(snapshot->schema == NULL);
    bw_free(snapshot);
    CHECK_EQ(bw_memory_blocks(), 0);
}

static void a_store_without_a_commit_has_nothing_to_hold(void)
{
    struct store store = {0};
    struct txn txn = begin_reader(&store);
    CHECK(txn.snapshot == NULL);
    CHECK(!bw_reader_is_any(&store));
    end_reader(&store, &txn);
    CHECK(store.head == NULL);
}

static void the_newest_stays_without_readers(void)
{
    struct store store = {0};
    const struct snapshot *first = publish(&store, 1);
    bw_snapshot_prune(&store);
    CHECK(store.head == first);
    struct txn txn = begin_reader(&store);
    CHECK(txn.snapshot == first);
    CHECK_EQ(txn.id, 1);
    CHECK(bw_reader_is_any(&store));
    end_reader(&store, &txn);
    CHECK(store.head == first);
    end(&store);
}

static void an_older_one_goes_with_its_last_reader(void)
{
    struct store store = {0};
    publish(&store, 1);
    struct txn txn = begin_reader(&store), again = begin_reader(&store);
    CHECK(txn.place != again.place);
    publish(&store, 2);
    end_reader(&store, &txn);
    CHECK_EQ(count(&store), 2);
    end_reader(&store, &again);
    CHECK_EQ(count(&store), 1);
    end(&store);
}

static void one_between_two_that_are_held_goes_alone(void)
{
    struct store store = {0};
    struct txn txns[5];
    for (uint64_t txn = 1; txn <= 5; txn++) {
        publish(&store, txn);
        txns[txn - 1] = begin_reader(&store);
    }
    end_reader(&store, &txns[2]);
    CHECK_EQ(count(&store), 4);
    CHECK(txns[3].snapshot->older == txns[1].snapshot);
    end_reader(&store, &txns[0]);
    CHECK(txns[1].snapshot->older == NULL);
    end_reader(&store, &txns[4]);
    CHECK_EQ(count(&store), 3); // it is the newest
    end_reader(&store, &txns[3]);
    end_reader(&store, &txns[1]);
    end(&store);
}

// What is staged but not visible yet, and what a flush is going on for, stay without readers.
static void staged_and_flying_ones_stay(void)
{
    struct store store = {0};
    const struct snapshot *first = publish(&store, 1);
    const struct snapshot *second = publish(&store, 2);
    struct snapshot *third = publish(&store, 3);
    CHECK_EQ(count(&store), 1);
    CHECK(first != second);
    struct snapshot *staged = NULL;
    CHECK_OK(bw_snapshot_new(0, 0, &staged));
    staged->older = store.head;
    store.head = staged;
    bw_snapshot_prune(&store);
    CHECK_EQ(count(&store), 2);
    store.flying = third;
    store.cur = staged;
    bw_snapshot_prune(&store);
    CHECK_EQ(count(&store), 2);
    store.flying = NULL;
    end(&store);
}

static void running_out_of_memory_is_an_error(void)
{
    struct snapshot *snapshot = NULL;
    bw_memory_fail_after(0);
    CHECK_ERR(bw_snapshot_new(3, 10, &snapshot), BW_ERR_NO_MEMORY);
    bw_memory_fail_after(-1);
    CHECK(snapshot == NULL);
}

RUN_TESTS(TEST(a_snapshot_has_room_for_its_trees_and_schema),
          TEST(a_store_without_a_commit_has_nothing_to_hold),
          TEST(the_newest_stays_without_readers), TEST(an_older_one_goes_with_its_last_reader),
          TEST(one_between_two_that_are_held_goes_alone), TEST(staged_and_flying_ones_stay),
          TEST(running_out_of_memory_is_an_error))
