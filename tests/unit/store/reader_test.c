/* SPDX-License-Identifier: Apache-2.0 */
/* Places of readers: as many as are wanted, on any thread, and what they hold stays. */
#include "harness/check.h"
#include "harness/sample.h"
#include "harness/sim_disk.h"
#include "store/engine.h"

static struct sim_disk sim;
static struct store *store;

static void begin(uint32_t readers_max)
{
    sim_disk_init(&sim, 1);
    struct store_options options = sample_options(&sim.disk);
    options.readers_max = readers_max;
    CHECK_OK(bw_store_open(&options, &store));
    sample_commit(store, 1, 1, 10, 100, 1);
}

static void end(void)
{
    bw_store_close(store);
    sim_disk_deinit(&sim);
}

static void a_thread_has_its_usual_place(void)
{
    begin(0);
    struct txn *txn = sample_begin(store, TXN_READ);
    const struct reader_place *place = txn->place;
    bw_txn_abort(txn);
    for (int i = 0; i < 10; i++) {
        txn = sample_begin(store, TXN_READ);
        CHECK(txn->place == place);
        bw_txn_abort(txn);
    }
    end();
}

static void places_are_lines_of_their_own(void)
{
    begin(0);
    struct txn *first = sample_begin(store, TXN_READ), *second = sample_begin(store, TXN_READ);
    CHECK_EQ((uintptr_t)first->place % 64, 0);
    CHECK_EQ((uintptr_t)second->place % 64, 0);
    CHECK(first->place != second->place);
    CHECK_EQ(atomic_load(&first->place->thread), bw_thread_number());
    bw_txn_abort(first);
    bw_txn_abort(second);
    end();
}

static void so_many_as_allowed_may_read(void)
{
    struct txn *readers[3], *txn = NULL;
    begin(3);
    for (int i = 0; i < 3; i++) readers[i] = sample_begin(store, TXN_READ);
    CHECK_ERR(bw_txn_begin(store, TXN_READ, 0, &txn), BW_ERR_MAX_READERS_EXCEEDED);
    bw_txn_abort(readers[1]);
    readers[1] = sample_begin(store, TXN_READ);
    CHECK_ERR(bw_txn_begin(store, TXN_READ, 0, &txn), BW_ERR_MAX_READERS_EXCEEDED);
    for (int i = 0; i < 3; i++) bw_txn_abort(readers[i]);
    end();
}

static void what_many_readers_hold_stays(void)
{
    enum { READERS = 300 };
    struct txn *readers[READERS];
    begin(0);
    for (unsigned i = 0; i < READERS; i++) {
        sample_commit(store, 1, 1, 3, 100, i + 1);
        readers[i] = sample_begin(store, TXN_READ);
    }
    for (unsigned i = 0; i < READERS; i++) {
        sample_expect(readers[i], 1, 1, 3, 100, i + 1);
        for (unsigned other = 0; other < i; other++)
            CHECK(readers[i]->place != readers[other]->place);
    }
    for (unsigned i = 0; i < READERS; i++) bw_txn_abort(readers[i]);
    end();
}

static void no_memory_for_more_places_is_an_error(void)
{
    enum { PLACES = 64 + 128 + 256 + 512 + 1 }; // one more than the tests before have asked for
    struct txn *readers[PLACES], *txn = NULL;
    begin(1000);
    unsigned count = 0;
    bw_err err = BW_OK;
    while (count < PLACES && !err) {
        bw_memory_fail_after(1); // the transaction's own memory is there
        err = bw_txn_begin(store, TXN_READ, 0, &txn);
        bw_memory_fail_after(-1);
        if (!err) readers[count++] = txn;
    }
    CHECK_ERR(err, BW_ERR_NO_MEMORY);
    for (unsigned i = 0; i < count; i++) bw_txn_abort(readers[i]);
    CHECK_EQ(atomic_load(&store->reader_count), 0);
    end();
}

RUN_TESTS(TEST(a_thread_has_its_usual_place), TEST(places_are_lines_of_their_own),
          TEST(so_many_as_allowed_may_read), TEST(what_many_readers_hold_stays),
          TEST(no_memory_for_more_places_is_an_error))
