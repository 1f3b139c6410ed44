/* SPDX-License-Identifier: Apache-2.0 */
/* labels: long */
/*
 * Power failures of a real file system: ext4 on a loop device is told to shut down at any moment,
 * without writing what it holds back, while a child commits. Then it is mounted again and recovers
 * by its own journal: what nobody had flushed is gone. The next child must find all that was
 * reported. Needs root, loop devices and mkfs.ext4; where they are missing the test says so.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <time.h>

#include "crash/numbered.h"

enum { FAILURES = 200, REPORTS_MAX = 20, DELAY_MAX = 10000 /* microseconds */ };

/* ext4's ioctl, as its own tests use it: stop at once, and do not even write the journal. */
#define SHUT_DOWN _IOR('X', 125, uint32_t)
enum { WITHOUT_JOURNAL = 2 };

static char scratch[200], image[220], mounted[220];

static bool run(const char *format, const char *a, const char *b)
{
    char command[800];
    (void)snprintf(command, sizeof(command), format, a, b);
    return system(command) == 0;
}

static bool mount_image(void) { return run("mount -o loop %s %s 2>/dev/null", image, mounted); }

static bool prepare(void)
{
    bw_scratch_make(scratch, sizeof(scratch));
    (void)snprintf(image, sizeof(image), "%s/image", scratch);
    (void)snprintf(mounted, sizeof(mounted), "%s/mounted", scratch);
    (void)snprintf(directory, sizeof(directory), "%s/store", mounted);
    // Mounts are seen by this process alone, and gone with it.
    return run("mkdir %s && truncate -s 64M %s", mounted, image) &&
           run("mkfs.ext4 -q -F %s >/dev/null 2>&1%s", image, "") && unshare(CLONE_NEWNS) == 0 &&
           mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 && mount_image();
}

static bool shut_down(void)
{
    uint32_t how = WITHOUT_JOURNAL;
    const int root = open(mounted, O_RDONLY | O_DIRECTORY);
    const bool is_done = root >= 0 && ioctl(root, SHUT_DOWN, &how) == 0;
    if (root >= 0) close(root);
    return is_done;
}

/* The child's commits fail from the shutdown on, and it ends; what it says about that is nothing to
 * be seen. What it finds wrong when it opens is: then there is no first report. */
static void work_quietly(void *argument)
{
    child.is_quiet = true;
    work(argument);
}

static void fail_once(struct random *random)
{
    int read_end;
    int64_t number = 0;
    const pid_t process = start(work_quietly, &read_end);
    const uint64_t reports = 1 + bw_random_below(random, REPORTS_MAX);
    for (uint64_t i = 0; i < reports; i++) {
        CHECK_EQ(read(read_end, &number, sizeof(number)), sizeof(number));
        child.reported = number;
    }
    const struct timespec while_it_works = {.tv_nsec =
                                                (long)bw_random_below(random, DELAY_MAX) * 1000};
    (void)nanosleep(&while_it_works, NULL);
    CHECK(shut_down());
    CHECK(kill(process, SIGKILL) == 0);
    CHECK(waitpid(process, NULL, 0) == process);
    while (read(read_end, &number, sizeof(number)) == sizeof(number)) child.reported = number;
    close(read_end);
    CHECK(umount(mounted) == 0);
    CHECK(mount_image());
}

static void what_was_reported_survives_a_file_system_that_stops(void)
{
    if (!prepare()) {
        printf("skipped: ext4 on a loop device cannot be mounted here\n");
        bw_scratch_remove(scratch);
        return;
    }
    struct random random;
    bw_random_seed(&random, bw_test_seed());
    child.seed = bw_random_next(&random);
    for (int i = 0; i < FAILURES; i++) fail_once(&random);
    note_prove(directory);
    printf("%d power failures of a file system, %lld commits\n", FAILURES,
           (long long)child.reported);
    CHECK(child.reported > FAILURES);
    CHECK(umount(mounted) == 0);
    bw_scratch_remove(scratch);
}

RUN_TESTS(TEST(what_was_reported_survives_a_file_system_that_stops))
