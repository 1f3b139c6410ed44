/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every call of the disk and every allocation of a scenario fails once. Whatever it was, the store
 * then holds a state that was committed: the last acknowledged one or, if it refuses further
 * writes, the one in flight. Reading goes on, the same change succeeds when it is tried again, and
 * nothing is left behind in memory.
 */
#include <stdio.h>

#include "harness/check.h"
#include "harness/relay.h"
#include "harness/sample.h"
#include "harness/sim_disk.h"
#include "store/slot.h"

enum { STEPS_MAX = 4, FAULTS_MAX = 20000 };
#ifdef __SANITIZE_THREAD__
enum { SPARSE = 5 }; /* one thread, and slow: that sanitizer has little to find */
#else
enum { SPARSE = 1 };
#endif

struct scenario {
    const char *name;
    void (*prepare)(void);                            /* NULL: there is no store yet */
    bw_err (*change)(struct txn *txn, unsigned step); /* what each transaction does, from 1 */
    unsigned steps;
    const struct geometry *geometry;
    bool use_previous;
};

/* So small that commits are large and files have regions. */
static const struct geometry small = {
    .inline_pages = 22,
    .region_pages = 34,
    .bitmap_copies = 4,
    .manifest_runs = 12,
    .manifest_pages = 12,
};

static const struct scenario *scenario; /* the one that runs */
static struct sim_disk sim;
static struct relay relay;
static struct store *store;
static uint64_t digests[STEPS_MAX + 1]; /* of the state after opening, and after each step */
static unsigned acked;                  /* steps that were acknowledged */
static bool is_unknown;                 /* the next one may be there, or not */
static enum relay_loss loss;            /* of writes that fail */
static bool goes_on, has_gone_on;       /* in the same transaction, when a change has failed */

/* ---- preparing ---- */

static bw_err open_on(struct disk *disk)
{
    struct store_options options = sample_options(disk);
    options.geometry = scenario->geometry;
    options.use_previous = scenario->use_previous;
    return bw_store_open(&options, &store);
}

static void close_it(void)
{
    bw_store_close(store);
    store = NULL;
}

/* End as a process does that is killed: closing writes nothing. */
static void stop(void)
{
    sim.is_stopped = true;
    close_it();
    sim_disk_restart(&sim);
}

static void commit_some(unsigned first, unsigned last)
{
    CHECK_OK(open_on(&sim.disk));
    for (unsigned i = first; i <= last; i++) {
        sample_commit(store, 1, 1, 60, 300, i);
        sample_commit(store, 2, i, 2, 9000, i);
    }
}

static void prepare_closed(void)
{
    commit_some(1, 2);
    close_it();
}

static void prepare_stopped(void)
{
    commit_some(1, 3);
    stop();
}

/* The newest slot is whole, but a page that its manifest names is not. */
static void prepare_rejected(void)
{
    prepare_stopped();
    const uint8_t *bytes = sim_disk_find(&sim, SAMPLE_FILE)->cache;
    struct slot slots[2];
    for (int i = 0; i < 2; i++)
        CHECK_EQ(bw_slot_decode(bytes + (size_t)i * PAGE_SIZE, &slots[i]), SLOT_GOOD);
    const struct slot *newest = &slots[slots[1].txn_id > slots[0].txn_id];
    CHECK(newest->run_count > 0);
    const uint8_t rubbish[100] = {1, 2, 3};
    sim_disk_poke(&sim, SAMPLE_FILE, (uint64_t)bw_get_u32(newest->runs) * PAGE_SIZE + 1000, rubbish,
                  sizeof(rubbish));
}

static void prepare_unfinished(void)
{
    static uint8_t remains[5 * PAGE_SIZE];
    struct file file;
    bool done = false;
    CHECK_OK(sim.disk.make_directory(&sim.disk, SAMPLE_DIRECTORY, 0755, &done));
    CHECK_OK(sim.disk.open(&sim.disk, SAMPLE_FILE, OPEN_CREATE, 0644, &file, &done));
    const struct span span = {remains, sizeof(remains)};
    CHECK_OK(sim.disk.write(file, 0, &span, 1));
    sim.disk.close(file);
}

static void prepare_many_trees(void)
{
    CHECK_OK(open_on(&sim.disk));
    struct txn *txn = sample_begin(store, TXN_WRITE);
    for (uint32_t tree = 1; tree <= TREES_INLINE_MAX + 5; tree++)
        CHECK_OK(sample_put(txn, tree, 1, 1, 60, 1));
    CHECK_OK(bw_txn_commit(txn));
    close_it();
}

/* ---- changing ---- */

static bw_err put_few(struct txn *txn, unsigned step)
{
    bw_err err = sample_put(txn, 1, 50, 30, 300, 10 + step);
    if (!err) err = sample_put(txn, 2, 1, 1, 5000 * step, 10 + step);
    if (!err) err = bw_tree_set_sequence(txn, 1, step);
    return err;
}

static bw_err put_schema(struct txn *txn, unsigned step)
{
    static const uint8_t schema[9000] = {7};
    bw_err err = bw_txn_set_schema(txn, schema, (struct bytes){schema, step % 2 ? 9000 : 300});
    if (!err) err = sample_put(txn, 1, 1, 1, 300, 10 + step);
    return err;
}

static bw_err put_many(struct txn *txn, unsigned step)
{
    bw_err err = sample_put(txn, 1, 1, 100, 600, 10 + step);
    if (!err) err = sample_put(txn, 3, 1, 2, 40000, 10 + step);
    return err;
}

static bw_err remove_all(struct txn *txn, unsigned step)
{
    bool removed = false;
    bw_err err = BW_OK;
    if (step == 1)
        for (uint64_t key = 60; key > 0 && !err; key--) err = bw_tree_remove(txn, 1, key, &removed);
    if (step == 2) err = bw_tree_clear(txn, 2);
    if (step == 3) err = bw_tree_drop(txn, 1);
    return err;
}

static bw_err change_trees(struct txn *txn, unsigned step)
{
    bw_err err = sample_put(txn, 7, 2, 3, 100, 10 + step);
    if (!err) err = bw_tree_drop(txn, 20 + step);
    if (!err) err = sample_put(txn, 44, 1, 12, 200, 10 + step);
    return err;
}

/* From the slot's entries to a catalogue. */
static bw_err add_trees(struct txn *txn, unsigned step)
{
    bw_err err = BW_OK;
    for (uint32_t tree = 21 * step; tree < 21 * step + 21 && !err; tree++)
        err = bw_tree_set_sequence(txn, tree, step); // two are there already
    return err;
}

/* ---- running ---- */

/* A change that failed has changed no key, and leaves the transaction usable. */
static bw_err change_again(struct txn *txn, unsigned step)
{
    has_gone_on = true;
    bw_memory_fail_after(-1);
    relay.fail_after = -1;
    sample_prove(txn);
    CHECK_OK(scenario->change(txn, step));
    sample_prove(txn);
    return BW_OK;
}

static bw_err one_step(unsigned step)
{
    struct txn *txn = NULL;
    bw_err err = bw_txn_begin(store, TXN_WRITE, 0, &txn);
    if (err) return err; // also of a fence: which changes nothing
    err = scenario->change(txn, step);
    if (err && goes_on) err = change_again(txn, step);
    if (err) {
        bw_txn_abort(txn);
        return err;
    }
    err = bw_txn_commit(txn);
    is_unknown = err == BW_ERR_STORE_MUST_SHUTDOWN;
    return err;
}

/* A reader that looks at everything. */
static bw_err read_all(void)
{
    uint64_t digest = 0;
    struct txn *txn = NULL;
    bw_err err = bw_txn_begin(store, TXN_READ, 0, &txn);
    if (err) return err;
    err = sample_digest(txn, &digest);
    if (!err) CHECK_EQ(digest, digests[acked]);
    bw_txn_abort(txn);
    return err;
}

static bw_err act(void)
{
    acked = 0;
    is_unknown = false;
    bw_err err = open_on(&relay.disk);
    if (!err) err = read_all();
    while (!err && acked < scenario->steps) {
        err = one_step(acked + 1);
        if (!err) acked++;
    }
    if (!err) err = read_all();
    if (!err) close_it(); // which may fail inside, and says nothing
    return err;
}

static void begin(void)
{
    sim_disk_init(&sim, 1);
    store = NULL;
    if (scenario->prepare) scenario->prepare();
    relay_init(&relay, &sim.disk);
    relay.loss = loss;
}

/* The states that there are, from a run without faults. */
static void learn(void)
{
    begin();
    CHECK_OK(open_on(&sim.disk));
    digests[0] = sample_digest_of(store);
    for (acked = 0; acked < scenario->steps; acked++) {
        CHECK_OK(one_step(acked + 1));
        digests[acked + 1] = sample_digest_of(store);
        sample_prove_store(store);
    }
    close_it();
    sim_disk_deinit(&sim);
}

/* After the fault, in the same session. */
static void check_session(void)
{
    struct txn *txn = NULL;
    CHECK_EQ(sample_digest_of(store), digests[acked]);
    sample_prove_store(store);
    if (bw_store_is_poisoned(store)) {
        CHECK_ERR(bw_txn_begin(store, TXN_WRITE, 0, &txn), BW_ERR_STORE_MUST_SHUTDOWN);
    } else {
        CHECK(!is_unknown);
        while (acked < scenario->steps) {
            CHECK_OK(one_step(acked + 1));
            CHECK_EQ(sample_digest_of(store), digests[++acked]);
        }
        sample_prove_store(store);
    }
    close_it();
}

/* And in the next one. */
static void check_next_session(void)
{
    const bool must_be_older = scenario->use_previous && acked > 0; // what it was given up for
    if (must_be_older) {
        struct store_options options = sample_options(&sim.disk);
        options.geometry = scenario->geometry;
        CHECK_OK(bw_store_open(&options, &store));
    } else {
        CHECK_OK(open_on(&sim.disk));
    }
    const uint64_t found = sample_digest_of(store);
    CHECK(found == digests[acked] || (is_unknown && found == digests[acked + 1]));
    sample_prove_store(store);
    sample_commit(store, 55, 1, 30, 500, 1);
    sample_prove_store(store);
    close_it();
}

/* Run with a fault after so many calls or allocations. True: it was reached. */
static bool run(int64_t after, bool of_memory, bw_err code)
{
    begin();
    has_gone_on = false;
    relay.fail_with = code;
    if (of_memory) bw_memory_fail_after(after);
    else relay.fail_after = after;
    bw_err err = act();
    void *probe = bw_new(1); // given only if all that was asked for before was
    const bool was_reached = has_gone_on || (of_memory ? !probe : relay.has_failed);
    bw_free(probe);
    bw_memory_fail_after(-1);
    relay.fail_after = -1;
    CHECK(!err || err == code || err == BW_ERR_STORE_MUST_SHUTDOWN);
    if (!was_reached) CHECK_OK(err);
    if (store) check_session();
    check_next_session();
    sim_disk_deinit(&sim);
    sample_expect_nothing_left();
    return was_reached;
}

/* Count up until the scenario passes untouched. Returns how many faults there were. */
static unsigned sweep(bool of_memory, bw_err code)
{
    unsigned after = 0;
    while (run(after, of_memory, code)) {
        after += SPARSE;
        CHECK(after < FAULTS_MAX);
    }
    return after;
}

static void sweep_all(const struct scenario *of)
{
    scenario = of;
    loss = LOSS_ALL;
    learn();
    goes_on = false;
    CHECK(sweep(true, BW_ERR_NO_MEMORY) > 0);
    CHECK(sweep(false, BW_ERR_STORAGE_GENERAL) > 0);
    goes_on = true;
    CHECK(sweep(true, BW_ERR_NO_MEMORY) > 0);
    loss = LOSS_NONE;
    CHECK(sweep(false, BW_ERR_STORAGE_GENERAL) > 0);
    loss = LOSS_HALF;
    CHECK(sweep(false, BW_ERR_DB_FULL) > 0);
}

static void a_store_being_made_survives_every_fault(void)
{
    static const struct scenario creating = {.change = put_few, .steps = 2};
    sweep_all(&creating);
}

static void a_store_being_made_large_survives_every_fault(void)
{
    static const struct scenario creating = {.change = put_many, .steps = 1, .geometry = &small};
    sweep_all(&creating);
}

static void small_commits_survive_every_fault(void)
{
    static const struct scenario committing = {
        .prepare = prepare_closed, .change = put_few, .steps = 3};
    sweep_all(&committing);
}

static void large_commits_survive_every_fault(void)
{
    static const struct scenario committing = {
        .prepare = prepare_closed, .change = put_many, .steps = 2, .geometry = &small};
    sweep_all(&committing);
}

static void small_commits_with_regions_survive_every_fault(void)
{
    static const struct scenario committing = {
        .prepare = prepare_closed, .change = put_few, .steps = 3, .geometry = &small};
    sweep_all(&committing);
}

static void commits_of_a_schema_survive_every_fault(void)
{
    static const struct scenario committing = {
        .prepare = prepare_closed, .change = put_schema, .steps = 3};
    sweep_all(&committing);
}

static void removing_everything_survives_every_fault(void)
{
    static const struct scenario removing = {
        .prepare = prepare_closed, .change = remove_all, .steps = 3};
    sweep_all(&removing);
}

static void changes_of_many_trees_survive_every_fault(void)
{
    static const struct scenario changing = {
        .prepare = prepare_many_trees, .change = change_trees, .steps = 2};
    sweep_all(&changing);
}

static void a_catalogue_that_begins_survives_every_fault(void)
{
    static const struct scenario adding = {
        .prepare = prepare_closed, .change = add_trees, .steps = 2};
    sweep_all(&adding);
}

static void the_fence_after_a_stop_survives_every_fault(void)
{
    static const struct scenario opening = {
        .prepare = prepare_stopped, .change = put_few, .steps = 2};
    sweep_all(&opening);
}

static void the_twin_of_a_rejected_commit_survives_every_fault(void)
{
    static const struct scenario opening = {
        .prepare = prepare_rejected, .change = put_few, .steps = 2};
    sweep_all(&opening);
}

static void the_twin_of_the_previous_commit_survives_every_fault(void)
{
    static const struct scenario opening = {
        .prepare = prepare_closed, .change = put_few, .steps = 2, .use_previous = true};
    sweep_all(&opening);
}

static void setting_remains_aside_survives_every_fault(void)
{
    static const struct scenario opening = {
        .prepare = prepare_unfinished, .change = put_few, .steps = 2};
    sweep_all(&opening);
}

RUN_TESTS(TEST(a_store_being_made_survives_every_fault),
          TEST(a_store_being_made_large_survives_every_fault),
          TEST(small_commits_survive_every_fault), TEST(large_commits_survive_every_fault),
          TEST(small_commits_with_regions_survive_every_fault),
          TEST(commits_of_a_schema_survive_every_fault),
          TEST(removing_everything_survives_every_fault),
          TEST(changes_of_many_trees_survive_every_fault),
          TEST(a_catalogue_that_begins_survives_every_fault),
          TEST(the_fence_after_a_stop_survives_every_fault),
          TEST(the_twin_of_a_rejected_commit_survives_every_fault),
          TEST(the_twin_of_the_previous_commit_survives_every_fault),
          TEST(setting_remains_aside_survives_every_fault))
