/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/check.h"
#include "store/engine.h"

/* Make a snapshot the newest one, as publishing does. */
static struct snapshot *publish(struct store *store, uint64_t txn_id)
{
    struct snapshot *snapshot = NULL;
    CHECK_OK(bw_snapshot_new(1, 0, &snapshot));
    snapshot->txn_id = txn_id;
    snapshot->older = store->cur;
    store->cur = snapshot;
    return snapshot;
}

static unsigned count(const struct store *store)
{
    unsigned found = 0;
    for (const struct snapshot *each = store->cur; each; each = each->older) found++;
    return found;
}

static void end(struct store *store)
{
    bw_snapshot_prune(store);
    CHECK_EQ(count(store), 1);
    bw_free(store->cur);
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
    CHECK(bw_snapshot_hold(&store) == NULL);
    bw_snapshot_release(&store, NULL);
    bw_snapshot_prune(&store);
    CHECK(store.cur == NULL);
}

static void the_newest_stays_without_readers(void)
{
    struct store store = {0};
    const struct snapshot *first = publish(&store, 1);
    bw_snapshot_prune(&store);
    CHECK(store.cur == first);
    struct snapshot *held = bw_snapshot_hold(&store);
    CHECK(held == first);
    bw_snapshot_release(&store, held);
    CHECK(store.cur == first);
    end(&store);
}

static void an_older_one_goes_with_its_last_reader(void)
{
    struct store store = {0};
    publish(&store, 1);
    struct snapshot *held = bw_snapshot_hold(&store), *again = bw_snapshot_hold(&store);
    publish(&store, 2);
    bw_snapshot_release(&store, held);
    CHECK_EQ(count(&store), 2);
    bw_snapshot_release(&store, again);
    CHECK_EQ(count(&store), 1);
    end(&store);
}

static void one_between_two_that_are_held_goes_alone(void)
{
    struct store store = {0};
    struct snapshot *held[5];
    for (uint64_t txn = 1; txn <= 5; txn++) {
        publish(&store, txn);
        held[txn - 1] = bw_snapshot_hold(&store);
    }
    bw_snapshot_release(&store, held[2]);
    CHECK_EQ(count(&store), 4);
    CHECK(held[3]->older == held[1]);
    bw_snapshot_release(&store, held[0]);
    CHECK(held[1]->older == NULL);
    bw_snapshot_release(&store, held[4]);
    CHECK_EQ(count(&store), 3); // it is the newest
    bw_snapshot_release(&store, held[3]);
    bw_snapshot_release(&store, held[1]);
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
          TEST(one_between_two_that_are_held_goes_alone), TEST(running_out_of_memory_is_an_error))
