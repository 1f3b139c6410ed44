/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/store_work.h"

#include "harness/check.h"
#include "harness/inspect.h"
#include "harness/sample.h"
#include "harness/tree_work.h"

// Regions from 120 pages on; a value of the work's largest size fits between two places of bitmaps.
static const struct geometry geometry = {.inline_pages = 120,
                                         .region_pages = 160,
                                         .bitmap_copies = 4,
                                         .manifest_runs = 20,
                                         .manifest_pages = 40};

// ---- work on a tree ----

enum {
    OTHERS_MAX = 45,
    OTHER_TREE = 10, // the first of the trees beside the work's
    OTHER_KEYS = 3,
    OTHER_SIZE = 90,
    CHECK_EACH = 5, // calls of check for which one proves the whole store
};

struct store_stage {
    struct stage stage; // first: what the work gets
    struct sim_disk sim;
    struct store_options options;
    struct store *store;
    struct random random;
    unsigned readers, others, checks;
};

static void open_store(struct store_stage *stage)
{
    CHECK_OK(bw_store_open(&stage->options, &stage->store));
}

static void begin_write(struct store_stage *stage)
{
    stage->stage.txn = sample_begin(stage->store, TXN_WRITE);
}

static void check_others(struct store_stage *stage)
{
    for (uint32_t tree = OTHER_TREE; tree < OTHER_TREE + stage->others; tree++) {
        struct tree_stat stat;
        CHECK_OK(bw_tree_stat(stage->stage.txn, tree, &stat));
        CHECK_EQ(stat.count, OTHER_KEYS);
        CHECK_EQ(stat.sequence, tree);
        sample_expect(stage->stage.txn, tree, tree, OTHER_KEYS, OTHER_SIZE, 1);
    }
}

static void commit(struct stage *base)
{
    struct store_stage *stage = (struct store_stage *)base;
    CHECK_OK(bw_txn_commit(base->txn));
    sample_prove_store(stage->store);
    if (!stage->readers && bw_random_percent(&stage->random, 20)) {
        bw_store_close(stage->store);
        open_store(stage);
    }
    begin_write(stage);
    check_others(stage);
}

static void abort_txn(struct stage *base)
{
    struct store_stage *stage = (struct store_stage *)base;
    bw_txn_abort(base->txn);
    begin_write(stage);
    sample_prove(base->txn);
}

static void check(struct stage *base)
{
    struct store_stage *stage = (struct store_stage *)base;
    if (stage->checks++ % CHECK_EACH == 0) sample_prove(base->txn);
}

static bool fail(struct stage *base, enum stage_failure failure, int successes)
{
    (void)base;
    if (failure == STAGE_FAILS_FULL) return false;
    bw_memory_fail_after(failure == STAGE_FAILS_NOTHING ? -1 : successes);
    return true;
}

static struct txn *begin_reader(struct stage *base)
{
    struct store_stage *stage = (struct store_stage *)base;
    stage->readers++;
    return sample_begin(stage->store, TXN_READ);
}

static void end_reader(struct stage *base, struct txn *reader)
{
    ((struct store_stage *)base)->readers--;
    bw_txn_abort(reader);
}

// In a few commits, so that the catalogue's tree begins with what the slot held.
static void make_others(struct store_stage *stage)
{
    struct txn *txn = sample_begin(stage->store, TXN_WRITE);
    for (uint32_t tree = OTHER_TREE; tree < OTHER_TREE + stage->others; tree++) {
        CHECK_OK(sample_put(txn, tree, tree, OTHER_KEYS, OTHER_SIZE, 1));
        CHECK_OK(bw_tree_set_sequence(txn, tree, tree));
        if (bw_random_percent(&stage->random, 90)) continue;
        CHECK_OK(bw_txn_commit(txn));
        txn = sample_begin(stage->store, TXN_WRITE);
    }
    CHECK_OK(bw_txn_commit(txn));
}

void store_work(uint64_t seed, unsigned steps)
{
    static struct store_stage stage; // a test's own store and no more than one
    stage = (struct store_stage){.stage = {.commit = commit,
                                           .abort = abort_txn,
                                           .check = check,
                                           .fail = fail,
                                           .begin_reader = begin_reader,
                                           .end_reader = end_reader}};
    sim_disk_init(&stage.sim, seed);
    bw_random_seed(&stage.random, seed);
    stage.options = sample_options(&stage.sim.disk);
    stage.options.geometry = bw_random_percent(&stage.random, 80) ? &geometry : NULL;
    stage.others = bw_random_percent(&stage.random, 50) ? OTHERS_MAX : 2;
    open_store(&stage);
    make_others(&stage);
    begin_write(&stage);
    struct work *work = work_new(&stage.stage, seed);
    for (unsigned i = 0; i < steps; i++) work_step(work);
    work_check_all(work);
    work_free(work);
    commit(&stage.stage);
    bw_txn_abort(stage.stage.txn);
    bw_store_close(stage.store);
    sim_disk_deinit(&stage.sim);
}

// ---- space ----

enum {
    CHURN_TREE = 1,
    CHURN_KEYS = 60,
    CHURN_ROUNDS = 150,
    CHURN_SLACK = 40, // pages: of copies that wait for the commit before, and of their gaps
};

static uint64_t file_pages(struct store *store)
{
    struct store_info info;
    bw_store_info(store, &info);
    return info.file_size / PAGE_SIZE;
}

static uint64_t used_pages(struct store *store)
{
    struct store_info info;
    bw_store_info(store, &info);
    return info.used_pages;
}

static size_t draw_size(struct random *random)
{
    static const size_t sizes[] = {50, 400, 3000, 6000, 20000};
    return sizes[bw_random_below(random, sizeof(sizes) / sizeof(sizes[0]))];
}

// Each key twice, so that pages of the transaction itself are given up.
static bw_err rewrite_some(struct txn *txn, struct random *random, unsigned round)
{
    bw_err err = BW_OK;
    for (uint64_t left = 1 + bw_random_below(random, 4); left > 0 && !err; left--) {
        const uint64_t key = 1 + bw_random_below(random, CHURN_KEYS);
        err = sample_put(txn, CHURN_TREE, key, 1, draw_size(random), round + CHURN_ROUNDS);
        if (!err) err = sample_put(txn, CHURN_TREE, key, 1, draw_size(random), round);
    }
    return err;
}

void store_churn(uint64_t seed)
{
    struct sim_disk sim;
    struct random random;
    sim_disk_init(&sim, seed);
    bw_random_seed(&random, seed);
    struct store *store = sample_open(&sim.disk);
    sample_commit(store, CHURN_TREE, 1, CHURN_KEYS, 400, 0);
    struct txn *reader = bw_random_percent(&random, 50) ? sample_begin(store, TXN_READ) : NULL;
    const uint64_t held = reader ? used_pages(store) : 0;
    uint64_t most = 0;
    for (unsigned round = 1; round <= CHURN_ROUNDS; round++) {
        struct txn *txn = sample_begin(store, TXN_WRITE);
        CHECK_OK(rewrite_some(txn, &random, round));
        if (bw_random_percent(&random, 25)) bw_txn_abort(txn);
        else CHECK_OK(bw_txn_commit(txn));
        const uint64_t used = used_pages(store);
        if (used > most) most = used;
        CHECK(file_pages(store) <= most + held + most / 2 + CHURN_SLACK);
    }
    if (reader) sample_expect(reader, CHURN_TREE, 1, CHURN_KEYS, 400, 0);
    bw_txn_abort(reader);
    sample_prove_store(store);
    bw_store_close(store);
    sim_disk_deinit(&sim);
}

// ---- damage ----

void store_flip(uint64_t seed)
{
    struct sim_disk sim;
    struct random random;
    sim_disk_init(&sim, seed);
    bw_random_seed(&random, seed);
    struct store *store = sample_open(&sim.disk);
    sample_commit(store, 1, 1, 100, 300, 1);
    sample_commit(store, 2, 1, 3, 9000, 1);
    sample_commit(store, 1, 40, 10, 300, 2);
    const uint64_t digest = sample_digest_of(store), pages = file_pages(store);
    bw_store_close(store);

    const uint64_t at = 2 * PAGE_SIZE + bw_random_below(&random, (pages - 2) * PAGE_SIZE);
    uint8_t byte = sim_disk_find(&sim, SAMPLE_FILE)->cache[at];
    byte ^= (uint8_t)(1u << bw_random_below(&random, 8));
    sim_disk_poke(&sim, SAMPLE_FILE, at, &byte, 1);
    store = sample_open(&sim.disk);
    struct txn *txn = sample_begin(store, TXN_READ);
    uint64_t found = 0;
    const bw_err err = sample_digest(txn, &found);
    if (err) CHECK_EQ(err, BW_ERR_FILE_PAGES_CORRUPT);
    else CHECK_EQ(found, digest);
    bw_txn_abort(txn);
    bw_store_close(store);
    sim_disk_deinit(&sim);
}
