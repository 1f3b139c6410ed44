/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small commits, stopped at each of their calls, and for each stop every outcome of a power cut:
 * for each page that was not flushed its old content, each version since, and torn mixtures of the
 * oldest and the newest; of slots also every single sector missing and every single sector alone.
 *
 * BW_OUTCOMES is how many outcomes of one stop are looked at (500); when there are more they are
 * drawn by BW_SEED, otherwise all are tried. After each seventh the store is written to again.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "harness/check.h"
#include "harness/inspect.h"

enum { OUTCOMES = 500, DIRTY_MAX = 64, CHANGES_MAX = 8 };

static const struct geometry wide = {40, 64, 4, 40, 80};
static const struct geometry tiny = {7, 14, 4, 40, 80};
static const struct geometry small_manifest = {40, 64, 4, 2, 2};

// Values: 1 a few bytes, 7 a quarter of a page, 10 one page of its own, 13 two, 16 three.
enum { SMALL = 1, MEDIUM = 7, ONE_PAGE = 10, TWO_PAGES = 13, THREE_PAGES = 16 };

/* A store in the middle of a scenario. */
struct scene {
    struct sim_disk sim;
    struct world world;
    const struct geometry *geometry;
    struct store *store;
    uint64_t current;
};

struct change {
    unsigned item;
    uint8_t value;
};

struct scenario {
    const char *name;
    const struct geometry *geometry;
    void (*prepare)(struct scene *scene);
    void (*run)(struct scene *scene);
};

// ---- acting; everything does nothing once the disk has stopped ----

static void open_scene(struct scene *scene, bool use_previous)
{
    if (scene->sim.is_stopped) return;
    struct store_options options = inspect_options(&scene->sim, scene->geometry);
    options.use_previous = use_previous;
    bw_err err = bw_store_open(&options, &scene->store);
    if (scene->sim.is_stopped) return;
    CHECK_OK(err);
    struct txn *txn = NULL;
    CHECK_OK(bw_txn_begin(scene->store, TXN_READ, 0, &txn));
    CHECK_OK(world_serial(txn, &scene->current));
    bw_txn_abort(txn);
}

static void close_scene(struct scene *scene)
{
    bw_store_close(scene->store);
    scene->store = NULL;
}

/* The process ends without closing. */
static void kill_scene(struct scene *scene)
{
    scene->sim.is_stopped = true;
    close_scene(scene);
    sim_disk_restart(&scene->sim);
}

static void commit(struct scene *scene, const struct change *changes, size_t count)
{
    if (scene->sim.is_stopped) return;
    struct txn *txn = NULL;
    bw_err err = bw_txn_begin(scene->store, TXN_WRITE, 0, &txn);
    if (scene->sim.is_stopped) return;
    CHECK_OK(err);
    const struct world_state *from = world_find(&scene->world, scene->current);
    struct world_state to = *from;
    to.serial = ++scene->world.serial_count;
    for (size_t i = 0; i < count; i++) to.values[changes[i].item] = changes[i].value;
    err = world_apply(&scene->world, txn, from, &to);
    if (scene->sim.is_stopped) bw_txn_abort(txn); // at a twin that makes room (R22)
    if (scene->sim.is_stopped) return;
    CHECK_OK(err);
    world_attempt(&scene->world, &to);
    err = bw_txn_commit(txn);
    if (scene->sim.is_stopped) return;
    CHECK_OK(err);
    world_roll_back(&scene->world, scene->current, to.serial);
    world_acknowledge(&scene->world, to.serial);
    scene->current = to.serial;
}

#define COMMIT(scene, ...)                              \
    commit(scene, (const struct change[]){__VA_ARGS__}, \
           sizeof((const struct change[]){__VA_ARGS__}) / sizeof(struct change))

static struct inspection look(struct scene *scene)
{
    struct inspection inspection = {
        .sim = &scene->sim, .geometry = scene->geometry, .world = &scene->world};
    const bool is_good = inspect(&inspection);
    if (!is_good || inspection.is_refused) (void)fprintf(stderr, "%s\n", inspection.problem);
    CHECK(is_good && !inspection.is_refused);
    return inspection;
}

// ---- outcomes ----

/* One outcome: what becomes of each page that is not flushed. */
struct choice {
    size_t pages[DIRTY_MAX];
    size_t limits[DIRTY_MAX]; /* ways for each of them */
    size_t picks[DIRTY_MAX];
    size_t count;
};

static size_t ways_of(size_t page, size_t version_count)
{
    return version_count + 2 + (page < 2 ? 2 * SIM_SECTORS : 0);
}

static void mix(uint8_t *out, const uint8_t *base, const uint8_t *other, size_t at, size_t size)
{
    memcpy(out, base, SIM_PAGE);
    memcpy(out + at, other + at, size);
}

static void choose(void *argument, size_t page, const uint8_t *const *versions, size_t count,
                   uint8_t *out)
{
    const struct choice *choice = argument;
    size_t i = 0;
    while (choice->pages[i] != page) i++;
    size_t pick = choice->picks[i];
    const uint8_t *old = versions[0], *new = versions[count - 1];
    if (pick < count) {
        memcpy(out, versions[pick], SIM_PAGE);
        return;
    }
    pick -= count;
    if (pick < 2) {
        mix(out, pick ? new : old, pick ? old : new, SIM_PAGE / 2, SIM_PAGE / 2);
    } else {
        pick -= 2;
        mix(out, pick % 2 ? new : old, pick % 2 ? old : new, pick / 2 * SIM_SECTOR, SIM_SECTOR);
    }
}

static void list_dirty(const struct sim_file *file, struct choice *choice, uint64_t *out_total)
{
    *choice = (struct choice){.count = 0};
    *out_total = 1;
    for (size_t page = 0; file && page < file->page_count; page++) {
        const size_t versions = file->pages[page].version_count;
        if (!versions) continue;
        CHECK(choice->count < DIRTY_MAX);
        choice->pages[choice->count] = page;
        choice->limits[choice->count] = ways_of(page, versions + 1);
        if (*out_total < UINT32_MAX) *out_total *= choice->limits[choice->count];
        choice->count++;
    }
}

/* The next outcome in turn; false after the last. */
static bool next(struct choice *choice)
{
    for (size_t i = 0; i < choice->count; i++) {
        if (++choice->picks[i] < choice->limits[i]) return true;
        choice->picks[i] = 0;
    }
    return false;
}

static void draw(struct choice *choice, struct random *random)
{
    for (size_t i = 0; i < choice->count; i++) {
        choice->picks[i] = (size_t)bw_random_below(random, choice->limits[i]);
    }
}

static void choose_newest(void *argument, size_t page, const uint8_t *const *versions, size_t count,
                          uint8_t *out)
{
    const size_t *lost = argument; // this page keeps its old content
    memcpy(out, versions[page == *lost ? 0 : count - 1], SIM_PAGE);
}

static void cut_power_keeping(struct scene *scene, size_t lost)
{
    const struct sim_outcome outcome = {choose_newest, &lost, SIZE_MAX};
    sim_disk_cut_power(&scene->sim, &outcome);
}

// ---- judging ----

static void copy_scene(const struct scene *from, struct scene *to)
{
    *to = *from;
    sim_disk_copy(&from->sim, &to->sim);
    world_copy(&from->world, &to->world);
}

static void end_scene(struct scene *scene)
{
    world_deinit(&scene->world);
    sim_disk_deinit(&scene->sim);
}

static void judge(struct scene *scene, bool follows)
{
    const struct inspection found = look(scene);
    CHECK(found.serial >= scene->world.acked);
    if (!follows) return;
    world_roll_back(&scene->world, found.serial, UINT64_MAX);
    open_scene(scene, false);
    CHECK_EQ(scene->current, found.serial);
    COMMIT(scene, {0, ONE_PAGE + 2});
    kill_scene(scene);
    cut_power_keeping(scene, SIZE_MAX);
    CHECK_EQ(look(scene).serial, scene->current);
}

static uint64_t outcomes_max(void)
{
    const char *given = getenv("BW_OUTCOMES");
    return given && *given ? strtoull(given, NULL, 10) : OUTCOMES;
}

static uint64_t judge_outcomes(struct scene *scene, struct random *random)
{
    struct choice choice;
    uint64_t total, done = 0;
    const uint64_t most = outcomes_max();
    list_dirty(sim_disk_find(&scene->sim, STORE_FILE), &choice, &total);
    bool goes_on = true;
    while (goes_on && done < most) {
        for (int keeps_size = 0; keeps_size < 2; keeps_size++) {
            struct scene copy;
            copy_scene(scene, &copy);
            if (total > most) draw(&choice, random);
            const struct sim_outcome outcome = {choose, &choice, keeps_size ? SIZE_MAX : 0};
            sim_disk_cut_power(&copy.sim, &outcome);
            judge(&copy, ++done % 7 == 0);
            end_scene(&copy);
        }
        goes_on = total > most || next(&choice);
    }
    return done;
}

static void begin_scene(struct scene *scene, const struct scenario *scenario)
{
    *scene = (struct scene){.geometry = scenario->geometry};
    sim_disk_init(&scene->sim, 2);
    scene->world.item_count = 12;
    scene->world.tree_count = 2;
    scene->world.key_step = 1;
    if (scenario->prepare) scenario->prepare(scene);
}

static void play(const struct scenario *scenario)
{
    struct random random;
    bw_random_seed(&random, bw_test_seed());
    uint64_t outcomes = 0;
    int64_t stop = 0;
    for (bool is_done = false; !is_done; stop++) {
        struct scene scene, ended;
        begin_scene(&scene, scenario);
        scene.sim.steps_left = stop;
        if (!scene.store) open_scene(&scene, false);
        scenario->run(&scene);
        is_done = !scene.sim.is_stopped;
        kill_scene(&scene);
        copy_scene(&scene, &ended);
        judge(&ended, true); // the process ends, the machine does not
        end_scene(&ended);
        outcomes += judge_outcomes(&scene, &random);
        end_scene(&scene);
    }
    (void)fprintf(stderr, "%s: %d stops, %" PRIu64 " outcomes\n", scenario->name, (int)stop,
                  outcomes);
}

// ---- scenarios ----

static void three_commits(struct scene *scene)
{
    open_scene(scene, false);
    for (uint8_t i = 0; i < 3; i++) {
        COMMIT(scene, {0, (uint8_t)(MEDIUM + i)}, {1, (uint8_t)(SMALL + i)}, {2, ONE_PAGE});
    }
}

static void three_commits_and_end(struct scene *scene)
{
    three_commits(scene);
    kill_scene(scene);
}

static void full_store(struct scene *scene)
{
    open_scene(scene, false);
    COMMIT(scene, {0, THREE_PAGES}, {1, TWO_PAGES}, {2, THREE_PAGES}, {3, TWO_PAGES}, {4, MEDIUM});
    COMMIT(scene, {4, MEDIUM + 1}, {5, THREE_PAGES});
}

/* A commit that is stopped at its flush. */
static void stop_at_flush(struct scene *scene)
{
    three_commits(scene);
    struct scene rehearsal;
    const uint64_t before = scene->sim.step_count;
    kill_scene(scene);
    copy_scene(scene, &rehearsal);
    open_scene(&rehearsal, false);
    COMMIT(&rehearsal, {0, THREE_PAGES});
    const uint64_t steps = rehearsal.sim.step_count - before;
    kill_scene(&rehearsal);
    end_scene(&rehearsal);
    open_scene(scene, false);
    scene->sim.steps_left = (int64_t)steps - 1;
    COMMIT(scene, {0, THREE_PAGES});
    CHECK(scene->sim.is_stopped);
    kill_scene(scene);
}

/* And then the power fails, and of its pages one is lost: its slot is rejected. */
static void rejected_slot(struct scene *scene)
{
    stop_at_flush(scene);
    struct choice choice;
    uint64_t total;
    list_dirty(sim_disk_find(&scene->sim, STORE_FILE), &choice, &total);
    size_t i = 0;
    while (choice.pages[i] < 2) i++;
    cut_power_keeping(scene, choice.pages[i]);
    world_roll_back(&scene->world, look(scene).serial, UINT64_MAX);
}

static void small_commit(struct scene *scene) { COMMIT(scene, {0, MEDIUM + 1}, {1, SMALL + 2}); }
static void first_commit(struct scene *scene) { COMMIT(scene, {0, SMALL}); }
static void extent_commit(struct scene *scene) { COMMIT(scene, {1, TWO_PAGES}); }
static void retried_commit(struct scene *scene) { COMMIT(scene, {0, THREE_PAGES}); }

static void two_commits(struct scene *scene)
{
    COMMIT(scene, {0, ONE_PAGE});
    COMMIT(scene, {0, ONE_PAGE + 1});
}

static void close_open_commit(struct scene *scene)
{
    close_scene(scene);
    open_scene(scene, false);
    COMMIT(scene, {0, SMALL});
}

static void trim_and_grow(struct scene *scene)
{
    COMMIT(scene, {0, 0}, {1, 0}, {2, 0}, {3, 0}, {5, 0});
    COMMIT(scene, {4, SMALL});
    close_scene(scene);
    open_scene(scene, false);
    COMMIT(scene, {1, THREE_PAGES});
}

static void previous_commit(struct scene *scene)
{
    close_scene(scene);
    if (!scene->sim.is_stopped) {
        const int64_t left = scene->sim.steps_left; // looking takes no steps, but a restart forgets
        scene->world.acked = look(scene).older;
        scene->sim.steps_left = left;
    }
    open_scene(scene, true);
    COMMIT(scene, {0, SMALL + 1});
}

static void grow_into_regions(struct scene *scene)
{
    COMMIT(scene, {4, THREE_PAGES}, {5, THREE_PAGES});
}

static void first_commits_whole_or_not_at_all(void)
{
    play(&(struct scenario){"creation", &wide, NULL, first_commit});
}

static void small_commits(void)
{
    play(&(struct scenario){"small commit", &wide, three_commits, small_commit});
    play(&(struct scenario){"extent commit", &wide, three_commits, extent_commit});
    play(&(struct scenario){"two commits", &wide, three_commits, two_commits});
}

static void large_commits(void)
{
    play(&(struct scenario){"large commit", &small_manifest, three_commits, extent_commit});
}

static void commits_after_a_close(void)
{
    play(&(struct scenario){"close, open, commit", &wide, three_commits, close_open_commit});
    play(&(struct scenario){"trim, regrow", &wide, full_store, trim_and_grow});
}

static void commits_after_a_crash(void)
{
    play(&(struct scenario){"first commit after a kill", &wide, three_commits_and_end,
                            small_commit});
    play(&(struct scenario){"fence after a stopped commit", &wide, stop_at_flush, small_commit});
    play(&(struct scenario){"twin after a rejected slot", &wide, rejected_slot, retried_commit});
    play(&(struct scenario){"previous commit", &wide, three_commits, previous_commit});
}

static void commits_with_regions(void)
{
    play(&(struct scenario){"inline to regions", &tiny, three_commits, grow_into_regions});
    play(&(struct scenario){"region commit", &tiny, full_store, small_commit});
}

RUN_TESTS(TEST(first_commits_whole_or_not_at_all), TEST(small_commits), TEST(large_commits),
          TEST(commits_after_a_close), TEST(commits_after_a_crash), TEST(commits_with_regions))
