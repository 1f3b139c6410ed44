/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every call of the disk and every allocation fails once while a store is copied, backed up or
 * restored. Whatever it was: there is all of the result under its name or nothing, what was there
 * before is as it was, and the same succeeds when it is tried again.
 */
#include "harness/check.h"
#include "harness/copies.h"
#include "harness/relay.h"
#include "harness/sample.h"
#include "harness/sim_disk.h"

enum { FAULTS_MAX = 5000 };

static struct sim_disk sim;
static struct relay relay;
static struct store *store; /* opened through the relay */
static const struct copies_kind *kind;
static uint64_t digest, other; /* of the source, and of what is to be replaced; 0: nothing is */

struct work {
    bw_err (*run)(void);
    bool (*look)(uint64_t *out_digest); /* what is under the result's name; false: nothing */
    bool needs_backup, needs_other, is_offline;
};

static bw_err run_copy(void) { return copies_copy(store, &relay.disk, NULL); }
static bw_err run_backup(void) { return copies_back_up(store, &relay.disk, 0, NULL); }
static bw_err run_restore(void) { return copies_restore(&relay.disk, false, NULL); }
static bw_err run_replace(void) { return copies_restore(&relay.disk, true, NULL); }

static bool look_at_store(uint64_t *out_digest)
{
    return copies_look(&sim.disk, COPIES_DIRECTORY, kind, out_digest);
}

/* What a backup holds is seen by restoring it. */
static bool look_at_backup(uint64_t *out_digest)
{
    if (!copies_has(&sim.disk, COPIES_BACKUP)) return false;
    CHECK_OK(copies_restore(&sim.disk, false, NULL));
    CHECK(look_at_store(out_digest));
    CHECK_OK(bw_store_remove(&sim.disk, COPIES_DIRECTORY));
    return true;
}

static const struct work copying = {.run = run_copy, .look = look_at_store};
static const struct work backing_up = {.run = run_backup, .look = look_at_backup};
static const struct work restoring = {
    .run = run_restore, .look = look_at_store, .needs_backup = true};
static const struct work replacing = {
    .run = run_replace, .look = look_at_store, .needs_backup = true, .needs_other = true};

static void begin(const struct work *work)
{
    sim_disk_init(&sim, 1);
    relay_init(&relay, &sim.disk);
    store = copies_make(&sim.disk, SAMPLE_DIRECTORY, kind);
    digest = sample_digest_of(store);
    if (work->needs_backup) CHECK_OK(copies_back_up(store, &sim.disk, 0, NULL));
    bw_store_close(store);
    other = 0;
    if (work->needs_other) {
        struct store *made = copies_make(&sim.disk, COPIES_DIRECTORY, kind);
        sample_commit(made, 8, 1, 3, 100, 9);
        other = sample_digest_of(made);
        bw_store_close(made);
    }
    store = copies_open(&relay.disk, SAMPLE_DIRECTORY, kind);
}

static void check_result(const struct work *work, bw_err err)
{
    uint64_t found = 0;
    const bool is_there = work->look(&found);
    if (!err) CHECK(is_there);
    if (!err) CHECK_EQ(found, digest);
    if (err && is_there) CHECK(found == digest || found == other); // the last flush of names
    if (err && other) CHECK(is_there);
}

/* An empty file, when it could not be learned that it is the call's own; or a whole one. */
static bool may_leave_part(void)
{
    return relay.has_failed && (relay.failed == CALL_REMOVE || relay.failed == CALL_LOCK ||
                                relay.failed == CALL_INFO || relay.failed == CALL_LOOK_UP);
}

/* True: the fault was reached. */
static bool run(const struct work *work, int64_t after, bool of_memory, enum relay_loss loss)
{
    begin(work);
    relay.loss = loss;
    if (of_memory) bw_memory_fail_after(after);
    else relay.fail_after = after;
    bw_err err = work->run();
    void *probe = bw_new(1);
    const bool was_reached = of_memory ? !probe : relay.has_failed;
    bw_free(probe);
    bw_memory_fail_after(-1);
    relay.fail_after = -1;
    if (of_memory && err) CHECK_ERR(err, BW_ERR_NO_MEMORY);
    if (!was_reached) CHECK_OK(err);
    const bool is_left =
        copies_has(&sim.disk, COPIES_FILE ".part") || copies_has(&sim.disk, COPIES_BACKUP ".part");
    CHECK(!is_left || may_leave_part());
    check_result(work, err);
    if (err && !work->needs_other && copies_has(&sim.disk, COPIES_FILE))
        CHECK_OK(bw_store_remove(&sim.disk, COPIES_DIRECTORY)); // all but its durable name
    if (err) CHECK_OK(work->run());
    check_result(work, BW_OK);
    CHECK_EQ(sample_digest_of(store), digest);
    bw_store_close(store);
    sim_disk_deinit(&sim);
    sample_expect_nothing_left();
    return was_reached;
}

static void sweep(const struct work *work)
{
    static const int kinds[] = {1, 3, 5};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        kind = &copies_kinds[kinds[i]];
        for (int loss = LOSS_ALL; loss <= LOSS_NONE; loss++) {
            unsigned after = 0;
            while (run(work, after, false, (enum relay_loss)loss)) CHECK(++after < FAULTS_MAX);
            CHECK(after > 5);
        }
        unsigned after = 0;
        while (run(work, after, true, LOSS_ALL)) CHECK(++after < FAULTS_MAX);
        CHECK(after > 3);
    }
}

static void a_copy_survives_every_fault(void) { sweep(&copying); }
static void a_backup_survives_every_fault(void) { sweep(&backing_up); }
static void restoring_survives_every_fault(void) { sweep(&restoring); }
static void replacing_survives_every_fault(void) { sweep(&replacing); }

RUN_TESTS(TEST(a_copy_survives_every_fault), TEST(a_backup_survives_every_fault),
          TEST(restoring_survives_every_fault), TEST(replacing_survives_every_fault))
