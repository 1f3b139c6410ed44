/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/check.h"
#include "store/engine.h"

enum { STORES = 500 };

static struct store stores[STORES];

static void add(struct store *store, uint64_t device, uint64_t inode)
{
    store->disk = bw_disk_memory();
    store->device = device;
    store->inode = inode;
    bw_registry_lock();
    CHECK_OK(bw_registry_add(store));
    bw_registry_unlock();
}

static void drop(struct store *store)
{
    bw_registry_lock();
    bw_registry_remove(store);
    bw_registry_unlock();
}

static struct store *find(uint64_t device, uint64_t inode)
{
    bw_registry_lock();
    struct store *found = bw_registry_find(device, inode);
    bw_registry_unlock();
    return found;
}

static void an_empty_registry_finds_nothing(void)
{
    CHECK(find(1, 2) == NULL);
    struct store never = {.device = 1, .inode = 2};
    drop(&never);
    CHECK_EQ(bw_memory_blocks(), 0);
}

static void a_store_is_found_by_device_and_inode(void)
{
    struct store one = {0}, other = {0};
    add(&one, 1, 100);
    add(&other, 2, 100);
    CHECK(find(1, 100) == &one);
    CHECK(find(2, 100) == &other);
    CHECK(find(1, 101) == NULL);
    CHECK(find(3, 100) == NULL);
    drop(&one);
    CHECK(find(1, 100) == NULL);
    CHECK(find(2, 100) == &other);
    drop(&other);
    CHECK_EQ(bw_memory_blocks(), 0);
}

/* Other files at the same place of the table. */
static void the_same_inode_of_other_devices_is_another_file(void)
{
    struct store one = {0};
    add(&one, 1, 100);
    for (uint64_t device = 2; device < 1000; device++) CHECK(find(device, 100) == NULL);
    drop(&one);
    CHECK_EQ(bw_memory_blocks(), 0);
}

static void dropping_what_is_not_there_changes_nothing(void)
{
    struct store one = {0}, never = {.device = 1, .inode = 100};
    add(&one, 1, 100);
    drop(&never);
    CHECK(find(1, 100) == &one);
    drop(&one);
    drop(&one);
    CHECK_EQ(bw_memory_blocks(), 0);
}

static void many_come_and_go_in_any_order(void)
{
    struct random random;
    bool is_in[STORES] = {0};
    bw_random_seed(&random, bw_test_seed());
    for (int step = 0; step < 20000; step++) {
        // Few devices and inodes in a row: they share places in the table.
        const size_t i = (size_t)bw_random_below(&random, STORES);
        const uint64_t device = i % 3, inode = 1000 + i / 3;
        CHECK(find(device, inode) == (is_in[i] ? &stores[i] : NULL));
        if (is_in[i]) drop(&stores[i]);
        else add(&stores[i], device, inode);
        is_in[i] = !is_in[i];
    }
    for (size_t i = 0; i < STORES; i++) {
        CHECK(find(i % 3, 1000 + i / 3) == (is_in[i] ? &stores[i] : NULL));
        if (is_in[i]) drop(&stores[i]);
    }
    CHECK_EQ(bw_memory_blocks(), 0);
}

static void running_out_of_memory_adds_nothing(void)
{
    struct store one = {.device = 1, .inode = 5};
    bw_registry_lock();
    bw_memory_fail_after(0);
    CHECK_ERR(bw_registry_add(&one), BW_ERR_NO_MEMORY);
    bw_memory_fail_after(-1);
    CHECK(bw_registry_find(1, 5) == NULL);
    bw_registry_unlock();
    CHECK_EQ(bw_memory_blocks(), 0);
}

static void a_child_process_finds_its_stores_refused(void)
{
    struct store one = {0}, other = {0};
    add(&one, 1, 100);
    add(&other, 1, 200);
    (void)fflush(NULL);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) _exit(one.is_forked && other.is_forked && find(1, 100) == &one ? 7 : 1);
    int status = 0;
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status));
    CHECK_EQ(WEXITSTATUS(status), 7);
    CHECK(!one.is_forked);
    drop(&one);
    drop(&other);
}

static void a_lock_held_by_a_thread_of_the_parent_does_not_bind_the_child(void)
{
    struct store one = {0};
    add(&one, 1, 100);
    bw_registry_lock(); // as another thread might, just then
    bw_mutex_lock(&one.mutex);
    (void)fflush(NULL);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        (void)alarm(20);
        bw_mutex_lock(&one.mutex);
        _exit(find(1, 100) == &one ? 7 : 1);
    }
    bw_mutex_unlock(&one.mutex);
    bw_registry_unlock();
    int status = 0;
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status));
    CHECK_EQ(WEXITSTATUS(status), 7);
    drop(&one);
}

RUN_TESTS(TEST(an_empty_registry_finds_nothing), TEST(a_store_is_found_by_device_and_inode),
          TEST(the_same_inode_of_other_devices_is_another_file),
          TEST(dropping_what_is_not_there_changes_nothing), TEST(many_come_and_go_in_any_order),
          TEST(running_out_of_memory_adds_nothing), TEST(a_child_process_finds_its_stores_refused),
          TEST(a_lock_held_by_a_thread_of_the_parent_does_not_bind_the_child))
