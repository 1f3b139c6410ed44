/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The repository's own benchmark, for daily use: what many small stores and everyday calls cost,
 * through the public ABI, beside LMDB where that is installed.
 *
 *     bench [--stores 100] [--notes 1000] [--rounds 7] [--folder DIR]
 *
 * The engines take turns within each round. A row is the median of the rounds; its ratio the median
 * of the rounds' ratios, above 1 where Boxwood is cheaper. What is read is compared with what was
 * put, and a difference ends the program. On a disk the durable rows measure the disk: give a
 * folder in memory to measure the code.
 */
#define _POSIX_C_SOURCE 200809L
#include "bench.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    ENGINES_MAX = 2,
    ROUNDS_MAX = 99,
    GETS = 20000,
    VISITS = 20,
    UPDATES = 50,
    PATH_ROOM = 4096
};

enum row { ROW_CREATE, ROW_OPEN, ROW_VISIT, ROW_GET, ROW_UPDATE, ROW_COUNT };

static const struct {
    const char *title, *unit;
    double per_second; /* units in a second */
} rows[ROW_COUNT] = {
    [ROW_CREATE] = {"make a store, put the notes, close", "us", 1e6},
    [ROW_OPEN] = {"open, count, close", "us", 1e6},
    [ROW_VISIT] = {"visit all notes, each", "ns", 1e9},
    [ROW_GET] = {"get a note at random, each", "ns", 1e9},
    [ROW_UPDATE] = {"update a note, durable, each", "us", 1e6},
};

struct run {
    const struct engine *engines[ENGINES_MAX];
    size_t engine_count, store_count, note_count, round_count;
    const char *folder;
    struct note *notes;
    uint64_t sum; /* of all notes as they were put */
    uint64_t *ids;
    uint64_t ids_sum; /* of those at ids */
    double seconds[ROW_COUNT][ENGINES_MAX][ROUNDS_MAX];
};

void bench_fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vfprintf(stderr, format, arguments);
    va_end(arguments);
    (void)fputc('\n', stderr);
    exit(1);
}

static double now(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

// A generator of its own: the benchmark sees nothing of the library but its ABI.
static size_t random_below(uint64_t *state, size_t limit)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (size_t)(*state % limit);
}

static void store_path(const struct run *run, size_t engine, size_t no, char path[PATH_ROOM])
{
    if (snprintf(path, PATH_ROOM, "%s/%zu-%zu", run->folder, engine, no) >= PATH_ROOM) {
        bench_fail("the folder's name is too long");
    }
}

static void remove_store(const char *path)
{
    static const char *const names[] = {"data.mdb", "lock.mdb"};
    char file[PATH_ROOM + 16];
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        (void)snprintf(file, sizeof(file), "%s/%s", path, names[i]);
        (void)unlink(file);
    }
    (void)rmdir(path);
}

static void make_directory(const char *path)
{
    if (mkdir(path, 0755) != 0) bench_fail("%s: %s", path, strerror(errno));
}

static double create_stores(const struct run *run, size_t engine)
{
    const struct engine *driver = run->engines[engine];
    char path[PATH_ROOM];
    double seconds = 0;
    for (size_t no = 0; no < run->store_count; no++) {
        store_path(run, engine, no, path);
        remove_store(path);
        double begin = now();
        make_directory(path);
        void *store = driver->open(path);
        driver->put(store, run->notes, run->note_count);
        driver->close(store);
        seconds += now() - begin;
    }
    return seconds / (double)run->store_count;
}

static double open_stores(const struct run *run, size_t engine, uint64_t seed)
{
    const struct engine *driver = run->engines[engine];
    char path[PATH_ROOM];
    double seconds = 0;
    for (size_t i = 0; i < run->store_count; i++) {
        store_path(run, engine, random_below(&seed, run->store_count), path);
        double begin = now();
        void *store = driver->open(path);
        uint64_t count = driver->count(store);
        driver->close(store);
        seconds += now() - begin;
        if (count != run->note_count) {
            bench_fail("%s counts %llu notes", driver->title, (unsigned long long)count);
        }
    }
    return seconds / (double)run->store_count;
}

static void expect_sum(const struct engine *driver, const char *what, uint64_t found,
                       uint64_t wanted)
{
    if (found != wanted) bench_fail("%s: %s gives other notes than were put", driver->title, what);
}

static void use_store(struct run *run, size_t engine, size_t round)
{
    const struct engine *driver = run->engines[engine];
    char path[PATH_ROOM];
    store_path(run, engine, 0, path);
    void *store = driver->open(path);

    expect_sum(driver, "visit", driver->visit(store), run->sum); // also warms up
    double begin = now();
    uint64_t sum = 0;
    for (int i = 0; i < VISITS; i++) sum += driver->visit(store);
    run->seconds[ROW_VISIT][engine][round] = (now() - begin) / VISITS / (double)run->note_count;
    expect_sum(driver, "visit", sum, VISITS * run->sum);

    expect_sum(driver, "get", driver->get(store, run->ids, GETS), run->ids_sum);
    begin = now();
    sum = driver->get(store, run->ids, GETS);
    run->seconds[ROW_GET][engine][round] = (now() - begin) / GETS;
    expect_sum(driver, "get", sum, run->ids_sum);

    struct note *note = &run->notes[run->note_count / 2];
    begin = now();
    for (int i = 0; i < UPDATES; i++) {
        bench_note_touch(note, i);
        driver->update(store, note);
    }
    run->seconds[ROW_UPDATE][engine][round] = (now() - begin) / UPDATES;
    expect_sum(driver, "update", driver->get(store, &note->id, 1), bench_note_sum(note->bytes));
    bench_note_touch(note, (int64_t)note->id);
    driver->update(store, note);
    driver->close(store);
}

static void run_rounds(struct run *run)
{
    for (size_t round = 0; round < run->round_count; round++) {
        for (size_t turn = 0; turn < run->engine_count; turn++) {
            size_t engine = (turn + round) % run->engine_count;
            run->seconds[ROW_CREATE][engine][round] = create_stores(run, engine);
            run->seconds[ROW_OPEN][engine][round] = open_stores(run, engine, round + 1);
            use_store(run, engine, round);
        }
        (void)fprintf(stderr, "round %zu of %zu\n", round + 1, run->round_count);
    }
}

static int compare_doubles(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static double median(const double *values, size_t count)
{
    double sorted[ROUNDS_MAX];
    memcpy(sorted, values, count * sizeof(*values));
    qsort(sorted, count, sizeof(sorted[0]), compare_doubles);
    return count % 2 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
}

static void report(const struct run *run)
{
    (void)printf("%zu stores of %zu notes, %zu rounds, in %s\n\n|", run->store_count,
                 run->note_count, run->round_count, run->folder);
    for (size_t e = 0; e < run->engine_count; e++) (void)printf(" | %s", run->engines[e]->title);
    (void)printf("%s |\n|---", run->engine_count > 1 ? " | ratio (least to most)" : "");
    for (size_t e = 0; e < run->engine_count + (run->engine_count > 1); e++) (void)printf("|---");
    (void)printf("|\n");
    for (size_t row = 0; row < ROW_COUNT; row++) {
        (void)printf("| %s", rows[row].title);
        for (size_t e = 0; e < run->engine_count; e++) {
            (void)printf(" | %.2f %s",
                         median(run->seconds[row][e], run->round_count) * rows[row].per_second,
                         rows[row].unit);
        }
        if (run->engine_count > 1) {
            double ratios[ROUNDS_MAX];
            for (size_t i = 0; i < run->round_count; i++) {
                ratios[i] = run->seconds[row][1][i] / run->seconds[row][0][i];
            }
            double middle = median(ratios, run->round_count);
            qsort(ratios, run->round_count, sizeof(ratios[0]), compare_doubles);
            (void)printf(" | %.2f (%.2f to %.2f)", middle, ratios[0], ratios[run->round_count - 1]);
        }
        (void)printf(" |\n");
    }
}

static size_t number_of(const char *text, size_t limit)
{
    char *end = NULL;
    unsigned long number = text ? strtoul(text, &end, 10) : 0;
    if (number == 0 || *end || number > limit) bench_fail("a number from 1 to %zu, please", limit);
    return number;
}

static void read_options(struct run *run, int count, char **arguments)
{
    for (int i = 1; i < count; i += 2) {
        const char *name = arguments[i], *value = i + 1 < count ? arguments[i + 1] : NULL;
        if (strcmp(name, "--stores") == 0) run->store_count = number_of(value, 1000000);
        else if (strcmp(name, "--notes") == 0) run->note_count = number_of(value, 10000);
        else if (strcmp(name, "--rounds") == 0) run->round_count = number_of(value, ROUNDS_MAX);
        else if (strcmp(name, "--folder") == 0 && value) run->folder = value;
        else bench_fail("usage: bench [--stores N] [--notes N] [--rounds N] [--folder DIR]");
    }
}

int main(int argument_count, char **arguments)
{
    static struct run run = {.store_count = 100, .note_count = 1000, .round_count = 7};
    run.engines[run.engine_count++] = &bench_boxwood;
#ifdef BENCH_LMDB
    run.engines[run.engine_count++] = &bench_lmdb;
#endif
    run.folder = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
    read_options(&run, argument_count, arguments);

    char work[PATH_ROOM];
    if (snprintf(work, sizeof(work), "%s/boxwood-bench-XXXXXX", run.folder) >= PATH_ROOM) {
        bench_fail("the folder's name is too long");
    }
    if (!mkdtemp(work)) bench_fail("%s: %s", work, strerror(errno));
    run.folder = work;
    run.notes = bench_notes_make(run.note_count);
    for (size_t i = 0; i < run.note_count; i++) run.sum += bench_note_sum(run.notes[i].bytes);
    run.ids = malloc(GETS * sizeof(*run.ids));
    if (!run.ids) bench_fail("out of memory");
    uint64_t seed = 7;
    for (size_t i = 0; i < GETS; i++) {
        size_t no = random_below(&seed, run.note_count);
        run.ids[i] = run.notes[no].id;
        run.ids_sum += bench_note_sum(run.notes[no].bytes);
    }

    run_rounds(&run);
    report(&run);

    char path[PATH_ROOM];
    for (size_t engine = 0; engine < run.engine_count; engine++) {
        for (size_t no = 0; no < run.store_count; no++) {
            store_path(&run, engine, no, path);
            remove_store(path);
        }
    }
    (void)rmdir(work);
    return 0;
}
