/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Real processes that are killed at any moment, on a real file, through the public ABI.
 *
 * The parent kills a child that commits after a random number of reports and a random while; the
 * next child checks what it finds. BW_SEED repeats the transactions and, as far as the machine
 * does, the moments.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <time.h>

#include "crash/numbered.h"

#ifndef KILLS
#define KILLS 500
#define MAKE_SCRATCH bw_scratch_make_in_memory
#endif

enum {
    KILLS_A_STORE = 500,
    READING_KILLS = 200,
    REPORTS_MAX = 8, /* before the kill */
    DELAY_MAX = 2000 /* microseconds after them */
};

/* Read in place, again and again. */
static void read_on(void *argument)
{
    (void)argument;
    OBX_store *store = open_proven();
    OBX_box *box = note_box(store, NOTE);
    OBX_txn *txn = obx_txn_read(store);
    CHECK(txn != NULL);
    const int64_t number = head_of(box);
    for (int64_t i = 0;; i++) {
        CHECK_EQ(head_of(box), number);
        if (i == 10) report(number);
    }
}

// ---- the parent ----

static void kill_and_read(pid_t process, int read_end, unsigned delay_us)
{
    const struct timespec while_it_works = {.tv_nsec = (long)delay_us * 1000};
    int64_t number;
    int status = 0;
    (void)nanosleep(&while_it_works, NULL);
    CHECK(kill(process, SIGKILL) == 0);
    CHECK(waitpid(process, &status, 0) == process);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL); // or a check in it did not hold
    while (read(read_end, &number, sizeof(number)) == sizeof(number)) child.reported = number;
    close(read_end);
}

static void kill_one(struct random *random)
{
    int read_end;
    const pid_t process = start(work, &read_end);
    const uint64_t reports = bw_random_below(random, REPORTS_MAX);
    for (uint64_t i = 0; i < reports; i++) {
        int64_t number;
        if (read(read_end, &number, sizeof(number)) != sizeof(number)) break;
        child.reported = number;
    }
    kill_and_read(process, read_end, (unsigned)bw_random_below(random, DELAY_MAX));
}

/* There is the data file and nothing else. */
static void expect_one_file(void)
{
    DIR *files = opendir(directory);
    CHECK(files != NULL);
    int others = 0, stores = 0;
    for (const struct dirent *file = readdir(files); file; file = readdir(files)) {
        if (strcmp(file->d_name, "data.mdb") == 0) stores++;
        else if (file->d_name[0] != '.') others++;
    }
    closedir(files);
    CHECK_EQ(stores, 1);
    CHECK_EQ(others, 0);
}

static void what_a_killed_process_reported_is_there_and_nothing_by_half(void)
{
    struct random random;
    bw_random_seed(&random, bw_test_seed());
    int64_t commits = 0;
    for (int kills = 0; kills < KILLS; kills++) {
        if (kills % KILLS_A_STORE == 0) {
            MAKE_SCRATCH(directory, sizeof(directory));
            child.seed = bw_random_next(&random);
            child.reported = 0;
        }
        kill_one(&random);
        if (kills % KILLS_A_STORE < KILLS_A_STORE - 1 && kills < KILLS - 1) continue;
        note_prove(directory);
        commits += child.reported;
        bw_scratch_remove(directory);
    }
    printf("%d kills, %lld commits\n", KILLS, (long long)commits);
    CHECK(commits > KILLS);
}

static void a_process_killed_while_reading_leaves_nothing_behind(void)
{
    bw_scratch_make(directory, sizeof(directory));
    child.seed = bw_test_seed();
    OBX_store *store = note_open(directory, 0, BoxwoodDurability_Full);
    for (int64_t i = 1; i <= 10; i++) commit(store, i);
    CHECK_OK(obx_store_close(store));
    const size_t size = obx_db_file_size(directory);
    for (int kills = 0; kills < READING_KILLS; kills++) {
        int read_end;
        int64_t number = 0;
        const pid_t process = start(read_on, &read_end);
        CHECK_EQ(read(read_end, &number, sizeof(number)), sizeof(number));
        CHECK_EQ(number, 10);
        kill_and_read(process, read_end, 0);
        expect_one_file();
        CHECK_EQ(obx_db_file_size(directory), size);
    }
    note_prove(directory);
    bw_scratch_remove(directory);
}

RUN_TESTS(TEST(what_a_killed_process_reported_is_there_and_nothing_by_half),
          TEST(a_process_killed_while_reading_leaves_nothing_behind))
