/* SPDX-License-Identifier: Apache-2.0 */
/* Pins: what they keep, and where the file ends for it. */
#include "harness/check.h"
#include "harness/relay.h"
#include "harness/sample.h"
#include "harness/sim_disk.h"
#include "store/engine.h"

static struct sim_disk sim;
static struct store *store;

static void begin(void)
{
    sim_disk_init(&sim, 1);
    store = sample_open(&sim.disk);
}

static void end(void)
{
    bw_store_close(store);
    sim_disk_deinit(&sim);
    sample_expect_nothing_left();
}

static uint64_t file_pages(void) { return sim_disk_find(&sim, SAMPLE_FILE)->size / PAGE_SIZE; }

static void clear(uint32_t tree_id)
{
    struct txn *txn = sample_begin(store, TXN_WRITE);
    CHECK_OK(bw_tree_clear(txn, tree_id));
    CHECK_OK(bw_txn_commit(txn));
}

static void the_tail_goes_while_the_store_is_open(void)
{
    begin();
    sample_commit(store, 2, 1, 1, 10, 1);
    sample_commit(store, 1, 1, 20000, 352, 1);
    const uint64_t full = file_pages();
    CHECK(full > 1500);
    clear(1);
    for (unsigned i = 0; i < 4; i++) sample_commit(store, 2, 1, 1, 10, i);
    CHECK(file_pages() < full / 4);
    sample_prove_store(store);
    end();
}

static void a_reader_keeps_the_tail(void)
{
    begin();
    sample_commit(store, 2, 1, 1, 10, 1);
    sample_commit(store, 1, 1, 20000, 352, 1);
    const uint64_t full = file_pages();
    struct txn *reader = sample_begin(store, TXN_READ);
    clear(1);
    for (unsigned i = 0; i < 4; i++) sample_commit(store, 2, 1, 1, 10, i);
    CHECK(file_pages() >= full);
    sample_expect(reader, 1, 1, 20000, 352, 1);
    bw_txn_abort(reader);
    for (unsigned i = 0; i < 4; i++) sample_commit(store, 2, 1, 1, 10, i);
    CHECK(file_pages() < full / 4);
    end();
}

static void a_file_that_cannot_shrink_stays(void)
{
    struct relay relay;
    sim_disk_init(&sim, 1);
    relay_init(&relay, &sim.disk);
    store = sample_open(&relay.disk);
    sample_commit(store, 2, 1, 1, 10, 1);
    sample_commit(store, 1, 1, 20000, 352, 1);
    const uint64_t full = file_pages();
    clear(1);
    struct txn *txn = NULL;
    for (int tries = 0; tries < 8 && !txn; tries++) {
        sample_commit(store, 2, 1, 1, 10, 1);
        relay.fail_after = 0; // of a transaction that has something to give back
        txn = sample_begin(store, TXN_WRITE);
        relay.fail_after = -1;
        if (relay.has_failed) break;
        bw_txn_abort(txn);
        txn = NULL;
    }
    CHECK(txn != NULL);
    CHECK_EQ(relay.failed, CALL_RESIZE);
    CHECK_OK(sample_put(txn, 2, 1, 1, 10, 2));
    CHECK_OK(bw_txn_commit(txn));
    CHECK(file_pages() >= full);
    sample_commit(store, 2, 1, 1, 10, 1);
    CHECK(file_pages() < full / 4);
    end();
}

RUN_TESTS(TEST(the_tail_goes_while_the_store_is_open), TEST(a_reader_keeps_the_tail),
          TEST(a_file_that_cannot_shrink_stays))
