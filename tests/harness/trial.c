/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/damage.h"
#include "store/engine.h"

enum { READERS_MAX = 3, STAGED_MAX = 4 };

const struct flavour trial_flavours[FLAVOUR_COUNT] = {
    {.name = "mixed", .keys_min = 3, .keys_max = 9, .lazy = 30},
    {.name = "lazy", .keys_min = 3, .keys_max = 16, .lazy = 90},
    {.name = "group", .keys_min = 3, .keys_max = 20, .lazy = 20, .is_group = true},
    {.name = "regions", .keys_min = 16, .keys_max = 28, .lazy = 40},
    {.name = "failing",
     .keys_min = 3,
     .keys_max = 9,
     .lazy = 30,
     .flush_fails = 8,
     .write_fails = 2,
     .full = 30},
    {.name = "creation",
     .keys_min = 3,
     .keys_max = 9,
     .write_fails = 8,
     .is_short = true,
     .lazy = 40},
    {.name = "twin", .keys_min = 3, .keys_max = 9, .is_twin = true, .lazy = 20},
    {.name = "seal", .keys_min = 2, .keys_max = 4, .is_seal = true, .lazy = 20},
    {.name = "lying", .keys_min = 3, .keys_max = 9, .is_lying = true},
    {.name = "bulk", .keys_min = 40, .keys_max = WORLD_ITEMS, .is_bulk = true, .lazy = 30},
    {.name = "damage", .keys_min = 2, .keys_max = 6, .is_damage = true, .lazy = 20},
};

const struct flavour *trial_flavour(const char *name)
{
    for (int i = 0; i < FLAVOUR_COUNT; i++) {
        if (strcmp(trial_flavours[i].name, name) == 0) return &trial_flavours[i];
    }
    return NULL;
}

struct trial {
    const struct flavour *flavour;
    struct random random;
    struct geometry scaled;
    const struct geometry *geometry; /* &scaled, or NULL: the product's */
    struct sim_disk sim;
    struct world world;
    struct trial_result *result;

    uint64_t opened; /* what the last inspection found */
    uint64_t older;  /* and what use_previous would have opened */
    /* A newer state than the opened one, given up by use_previous: it may still be on the platter,
     * and comes back if the power fails before a commit on the older one is durable. 0: none. */
    uint64_t given_up;

    /* The running process. */
    struct store *store;
    uint64_t current;  /* serial of its newest state */
    uint64_t flushing; /* of the one whose flush is going on */
    bool is_poisoned, is_lazy;
    struct txn *readers[READERS_MAX];
    uint64_t reader_serials[READERS_MAX];
    unsigned reader_count;

    /* Commits that were staged while another one flushed, oldest first. */
    struct {
        uint64_t serial, txn_id;
    } staged[STAGED_MAX];
    unsigned staged_count;

    /* The changes that were tried last, to be tried again. */
    bool has_plan;
    struct world_state plan;
};

static bool violate(struct trial *trial, const char *what, const char *why)
{
    struct trial_result *result = trial->result;
    if (!result->is_violated) {
        (void)snprintf(result->violation, sizeof(result->violation), "%s: %s", what, why);
    }
    result->is_violated = true;
    return false;
}

static bool violate_code(struct trial *trial, const char *what, bw_err err)
{
    char text[300];
    (void)snprintf(text, sizeof(text), "error %d, %s", (int)err, bw_reason_text());
    return violate(trial, what, text);
}

/* With BW_TRACE in the environment a trial tells what it does; for one seed at a time. */
static void tell(const struct trial *trial, const char *what, uint64_t number)
{
    if (!trial->sim.is_traced) return;
    (void)fprintf(stderr, "trial: %s %u (newest %u, acknowledged %u)\n", what, (unsigned)number,
                  (unsigned)trial->current, (unsigned)trial->world.acked);
}

static uint64_t below(struct trial *trial, uint64_t limit)
{
    return bw_random_below(&trial->random, limit);
}

static bool chance(struct trial *trial, unsigned percent)
{
    return bw_random_percent(&trial->random, percent);
}

/* A call failed: did the process end there? Otherwise the failure itself is the violation, except
 * that the store may say that it must be closed if the disk failed. */
static bool is_end(struct trial *trial, const char *what, bw_err err)
{
    if (trial->sim.is_stopped) return true;
    if (err == BW_ERR_STORE_MUST_SHUTDOWN &&
        (trial->sim.flush_fails || trial->sim.write_fails || trial->sim.page_max)) {
        trial->is_poisoned = true;
        return true;
    }
    return violate_code(trial, what, err);
}

static bool has_ended(const struct trial *trial)
{
    return trial->sim.is_stopped || trial->is_poisoned || trial->result->is_violated;
}

// ---- what a process does ----

/* Empty what is there, or fill what is empty: leaves are written one after the other. */
static void plan_bulk(struct trial *trial, struct world_state *state)
{
    static const uint8_t none[WORLD_ITEMS];
    const bool is_empty = memcmp(state->values, none, sizeof(none)) == 0;
    for (unsigned i = 0; i < trial->world.item_count; i++) {
        state->values[i] = is_empty && chance(trial, 95) ? world_pick_value(&trial->random) : 0;
    }
}

static void plan_changes(struct trial *trial, struct world_state *state)
{
    const struct world *world = &trial->world;
    if (trial->flavour->is_bulk && chance(trial, 40)) {
        plan_bulk(trial, state);
        return;
    }
    const unsigned most = chance(trial, 10) ? world->item_count : 3;
    const uint64_t count = 1 + below(trial, most);
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t item = below(trial, world->item_count);
        state->values[item] = chance(trial, 20) ? 0 : world_pick_value(&trial->random);
    }
    if (chance(trial, 4)) memset(state->values, 0, sizeof(state->values));
    if (chance(trial, 6)) state->schema = (uint8_t)(1 + below(trial, WORLD_SCHEMAS));
}

/* The state that the next transaction begins with. */
static uint64_t head_of(const struct trial *trial)
{
    const unsigned count = trial->staged_count;
    return count ? trial->staged[count - 1].serial : trial->current;
}

/* The state that the next transaction makes: changes of its own, or those that failed before. */
static struct world_state next_state(struct trial *trial, uint64_t from)
{
    struct world_state state = *world_find(&trial->world, from);
    const struct flavour *flavour = trial->flavour;
    const bool again =
        trial->has_plan && (flavour->is_twin || (flavour->is_short && chance(trial, 60)));
    if (again) {
        memcpy(state.values, trial->plan.values, sizeof(state.values));
        state.schema = trial->plan.schema;
    } else {
        plan_changes(trial, &state);
    }
    trial->plan = state;
    trial->has_plan = true;
    state.serial = ++trial->world.serial_count;
    return state;
}

/* The transaction has ended well. */
static void note_commit(struct trial *trial, uint64_t serial)
{
    world_roll_back(&trial->world, trial->current, serial);
    trial->given_up = 0;
    trial->current = serial;
    trial->has_plan = false;
    trial->result->commits++;
    struct store_info info;
    bw_store_info(trial->store, &info);
    if (!trial->is_lazy || info.durable_txn_id == info.txn_id) {
        world_acknowledge(&trial->world, serial);
    }
}

static bool may_abort(const struct trial *trial)
{
    return trial->sim.write_fails || trial->sim.page_max;
}

static bool commit_staged(struct trial *trial);

/* Another writer, while a flush is going on. */
static void commit_meanwhile(void *argument)
{
    struct trial *trial = argument;
    if (!trial->store || trial->sim.is_stopped || trial->staged_count == STAGED_MAX) return;
    for (unsigned i = (unsigned)below(trial, 3); i && trial->staged_count < STAGED_MAX; i--) {
        const uint64_t from = trial->staged_count ? head_of(trial) : trial->flushing;
        struct txn *txn = NULL;
        if (bw_txn_begin(trial->store, TXN_WRITE, 0, &txn)) return; // the flush is the writer's own
        txn->changes->tried_twin = true; // it would wait for the flusher, which is this thread
        struct world_state state = next_state(trial, from);
        bw_err err = world_apply(&trial->world, txn, world_find(&trial->world, from), &state);
        if (err) {
            bw_txn_abort(txn);
            return;
        }
        world_attempt(&trial->world, &state);
        tell(trial, "stages", state.serial);
        const uint64_t txn_id = bw_txn_id(txn);
        if (bw_txn_stage(txn)) return;
        trial->staged[trial->staged_count].serial = state.serial;
        trial->staged[trial->staged_count++].txn_id = txn_id;
    }
}

/* Returns false when the process is over, by whatever cause. */
static bool commit(struct trial *trial)
{
    struct txn *txn = NULL;
    bw_err err = bw_txn_begin(trial->store, TXN_WRITE, 0, &txn);
    if (err) return is_end(trial, "begin", err), false;
    struct world_state state = next_state(trial, trial->current);
    err = world_apply(&trial->world, txn, world_find(&trial->world, trial->current), &state);
    if (err || chance(trial, 5)) { // no change without a commit
        bw_txn_abort(txn);
        return err ? (is_end(trial, "apply", err), false) : true;
    }
    world_attempt(&trial->world, &state);
    tell(trial, "commits", state.serial);
    trial->flushing = state.serial;
    err = bw_txn_commit(txn);
    if (!err && !trial->sim.is_stopped) {
        note_commit(trial, state.serial);
        return commit_staged(trial);
    }
    if (trial->sim.is_stopped || err == BW_ERR_STORE_MUST_SHUTDOWN || !may_abort(trial)) {
        return is_end(trial, "commit", err), false;
    }
    world_roll_back(&trial->world, state.serial - 1, state.serial + 1); // a clean abort
    return true;
}

/* The others wait for their commits, each in turn. */
static bool commit_staged(struct trial *trial)
{
    while (trial->staged_count) {
        const uint64_t serial = trial->staged[0].serial, txn_id = trial->staged[0].txn_id;
        trial->flushing = trial->staged[trial->staged_count - 1].serial;
        bw_err err = bw_group_finish(trial->store, txn_id);
        if (err || trial->sim.is_stopped) return is_end(trial, "finish", err), false;
        trial->staged_count--;
        memmove(trial->staged, trial->staged + 1, trial->staged_count * sizeof(trial->staged[0]));
        note_commit(trial, serial);
    }
    return true;
}

/* LAZY: what was committed so far becomes durable. */
static bool flush(struct trial *trial)
{
    struct txn *txn = NULL;
    bw_err err = bw_txn_begin(trial->store, TXN_WRITE, 0, &txn);
    if (!err) err = bw_txn_flush(txn);
    bw_txn_abort(txn);
    if (err) return is_end(trial, "flush", err), false;
    tell(trial, "flushed", trial->current);
    world_acknowledge(&trial->world, trial->current);
    return true;
}

static bool begin_reader(struct trial *trial)
{
    if (trial->reader_count == READERS_MAX) return true;
    struct txn *txn = NULL;
    bw_err err = bw_txn_begin(trial->store, TXN_READ, 0, &txn);
    if (err) return violate_code(trial, "begin to read", err);
    tell(trial, "a reader begins at", trial->current);
    trial->readers[trial->reader_count] = txn;
    trial->reader_serials[trial->reader_count++] = trial->current;
    return true;
}

static bool check_reader(struct trial *trial, unsigned reader)
{
    const struct world_state *state = world_find(&trial->world, trial->reader_serials[reader]);
    char difference[WORLD_TEXT_ROOM];
    bw_err err = world_compare(&trial->world, trial->readers[reader], state, difference);
    if (err) return violate_code(trial, "a reader", err);
    return *difference ? violate(trial, "a reader", difference) : true;
}

static void end_reader(struct trial *trial, unsigned reader)
{
    bw_txn_abort(trial->readers[reader]);
    trial->reader_count--;
    trial->readers[reader] = trial->readers[trial->reader_count];
    trial->reader_serials[reader] = trial->reader_serials[trial->reader_count];
}

/* What readers and the newest state see has not changed. */
static bool check_running(struct trial *trial)
{
    for (unsigned i = 0; i < trial->reader_count; i++) {
        if (!check_reader(trial, i)) return false;
    }
    char problem[300];
    if (inspect_open(trial->store, &trial->world, trial->current, chance(trial, 30), problem)) {
        return true;
    }
    return violate(trial, "the newest state", problem);
}

static bool open_store(struct trial *trial, bool use_previous)
{
    struct store_options options = inspect_options(&trial->sim, trial->geometry);
    options.use_previous = use_previous;
    if (trial->is_lazy) options.durability = DURABLE_LAZY;
    options.verify_manifest = trial->flavour->is_lying;
    sim_disk_keep_bare_directories(&trial->sim);
    bw_err err = bw_store_open(&options, &trial->store);
    if (err) return is_end(trial, "open for writing", err), false;
    struct txn *txn = NULL;
    err = bw_txn_begin(trial->store, TXN_READ, 0, &txn);
    if (!err) err = world_serial(txn, &trial->current);
    if (err) (void)violate_code(trial, "read after opening", err);
    bw_txn_abort(txn);
    if (err) return false;
    const uint64_t wanted = use_previous && trial->older ? trial->older : trial->opened;
    if (trial->current != wanted) {
        return violate(trial, "open for writing",
                       "not the state that an opening for reading found");
    }
    if (trial->current != trial->opened && !trial->given_up) trial->given_up = trial->opened;
    tell(trial, use_previous ? "opens, previous asked for," : "opens", trial->current);
    return true;
}

static void run_steps(struct trial *trial)
{
    const bool is_brief = trial->flavour->is_short || trial->flavour->is_seal;
    const uint64_t steps = is_brief ? 1 + below(trial, 4) : 2 + below(trial, 11);
    for (uint64_t i = 0; i < steps; i++) {
        const uint64_t what = below(trial, 100);
        if (what < 5 && trial->is_lazy) {
            (void)flush(trial);
        } else if (what < 80) {
            (void)commit(trial);
        } else if (what < 90) {
            (void)begin_reader(trial);
        } else if (trial->reader_count) {
            const unsigned reader = (unsigned)below(trial, trial->reader_count);
            if (check_reader(trial, reader)) end_reader(trial, reader);
        }
        if (has_ended(trial) || !check_running(trial)) return;
    }
}

/* One writing process, until it stops, closes, or is killed. */
static void run_process(struct trial *trial)
{
    const bool use_previous = !trial->flavour->is_lying && chance(trial, 5);
    if (use_previous && trial->older) trial->world.acked = trial->older; // asked for
    trial->is_poisoned = false;
    trial->current = 0; // until the store is open
    trial->is_lazy = chance(trial, trial->flavour->lazy);
    trial->sim.during_flush = trial->flavour->is_group ? commit_meanwhile : NULL;
    trial->sim.during_flush_argument = trial;
    if (open_store(trial, use_previous)) run_steps(trial);
    trial->sim.during_flush = NULL;
    trial->staged_count = 0;
    while (trial->reader_count) end_reader(trial, trial->reader_count - 1);
    if (!has_ended(trial) && chance(trial, 30)) trial->sim.is_stopped = true; // killed
    bw_store_close(trial->store);
    trial->store = NULL;
}

// ---- between processes ----

static bool look(struct trial *trial, bool has_lied)
{
    struct inspection inspection = {
        .sim = &trial->sim,
        .geometry = trial->geometry,
        .world = &trial->world,
        .verify_manifest = trial->flavour->is_lying,
        .newest_only = has_lied,
    };
    if (!inspect(&inspection)) return violate(trial, "recovered", inspection.problem);
    if (inspection.is_refused && !has_lied) return violate(trial, "lost", inspection.problem);
    tell(trial, "found after the process", inspection.serial);
    trial->opened = inspection.serial;
    trial->older = inspection.older;
    return true;
}

static void prepare_disk(struct trial *trial)
{
    const struct flavour *flavour = trial->flavour;
    struct sim_disk *sim = &trial->sim;
    const bool is_brief =
        flavour->is_short || flavour->is_twin || (flavour->is_seal && chance(trial, 70));
    sim->steps_left = (int64_t)below(trial, is_brief ? 16 : 46);
    sim->flush_fails = chance(trial, 50) ? flavour->flush_fails : 0;
    sim->write_fails = chance(trial, 50) ? flavour->write_fails : 0;
    sim->may_lie = flavour->is_lying && chance(trial, 50);
}

/* One process and what is found after it. False: the trial is over. */
static bool run_round(struct trial *trial)
{
    struct sim_disk *sim = &trial->sim;
    const uint64_t failed_before = sim->failed_flush_count;
    prepare_disk(trial);
    run_process(trial);
    if (trial->result->is_violated) return false;
    trial->result->crashes++;
    const bool has_lied = sim->has_lied, has_failed = sim->failed_flush_count > failed_before;
    sim_disk_restart(sim);
    const bool cuts_power = has_lied || chance(trial, 70);
    tell(trial, cuts_power ? "power fails" : "process ends", trial->current);
    if (cuts_power) {
        sim_disk_cut_power(sim, NULL);
    } else if (has_failed && chance(trial, 60)) {
        tell(trial, "clean pages are dropped", 0);
        sim_disk_evict(sim);
    }
    if (!look(trial, has_lied)) return false;
    if (has_lied) return false; // detected, or fallen back, or nothing was lost
    if (trial->opened < trial->world.acked) {
        return violate(trial, "lost", "an acknowledged commit is not there");
    }
    if (!cuts_power && !has_failed && trial->opened < trial->current) {
        return violate(trial, "lost", "a visible commit is not there after the process has ended");
    }
    if (cuts_power) { // all of it is on the platter
        trial->given_up = 0;
        world_acknowledge(&trial->world, trial->opened);
    }
    const uint64_t newest = trial->given_up > trial->opened ? trial->given_up : trial->opened;
    world_roll_back(&trial->world, newest, UINT64_MAX);
    if (!trial->flavour->is_damage) return true;
    const struct damage_case damage = {sim, trial->geometry, &trial->world, &trial->random};
    char problem[300];
    if (damage_copies(&damage, &trial->result->damages, problem)) return true;
    return violate(trial, "damaged", problem);
}

static void choose_sizes(struct trial *trial)
{
    static const uint32_t manifests[] = {8, 12, 20};
    const struct flavour *flavour = trial->flavour;
    struct world *world = &trial->world;
    const bool has_catalog =
        !flavour->is_damage && chance(trial, 10); // more trees than a slot holds
    const unsigned range = flavour->keys_max - flavour->keys_min + 1;
    world->item_count = flavour->keys_min + (unsigned)below(trial, range);
    world->tree_count = 1 + (unsigned)below(trial, 3);
    if (has_catalog) {
        world->item_count = WORLD_ITEMS - 10;
        world->tree_count = WORLD_ITEMS - 14;
    }
    world->key_step = chance(trial, 50) ? 1 : 1000;
    const uint32_t manifest = flavour->is_lying ? 60 : manifests[below(trial, 3)];
    trial->scaled = (struct geometry){
        .inline_pages = 22,
        .region_pages = 34,
        .bitmap_copies = 4,
        .manifest_runs = manifest,
        .manifest_pages = flavour->is_lying ? 120 : manifest * 2,
    };
    const bool is_product = flavour->keys_max < 10 && !flavour->is_lying && chance(trial, 10);
    trial->geometry = is_product ? NULL : &trial->scaled;
    if (flavour->is_bulk) {
        trial->scaled.inline_pages = 120;
        trial->scaled.region_pages = 160;
    }
    trial->sim.atomic_slots = flavour->is_lying;
    trial->sim.torn_slots = flavour->is_seal;
    if (chance(trial, flavour->full)) trial->sim.page_max = 10 + below(trial, 31);
}

void trial_run(const struct flavour *flavour, uint64_t seed, struct trial_result *out_result)
{
    *out_result = (struct trial_result){0};
    struct trial *trial = calloc(1, sizeof(*trial));
    ASSERT(trial != NULL);
    trial->flavour = flavour;
    trial->result = out_result;
    bw_random_seed(&trial->random, bw_hash64(flavour->name, strlen(flavour->name), seed));
    sim_disk_init(&trial->sim, bw_random_next(&trial->random));
    trial->sim.is_traced = getenv("BW_TRACE") != NULL;
    choose_sizes(trial);
    const uint64_t rounds = 3 + below(trial, 6);
    for (uint64_t i = 0; i < rounds && run_round(trial); i++) {
    }
    world_deinit(&trial->world);
    sim_disk_deinit(&trial->sim);
    free(trial);
}
