/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L // mkdtemp, fork

#include "api/core.h"

#include "api/handles.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/api/pair_store.h"

static const char here[] = "memory:core";

static void a_directory_is_opened_once_and_shared(void)
{
    CHECK(!obx_store_is_open(here));
    CHECK(!obx_store_attach(here));
    OBX_store *store = pair_open(here);
    CHECK(!obx_store_open(pair_options(here)));
    CHECK_EQ(obx_last_error_code(), OBX_ERROR_ILLEGAL_STATE);
    CHECK_REASON("Cannot open store: another store is still open using the same path: \"");
    CHECK(obx_store_is_open(here));
    OBX_store *attached = obx_store_attach(here);
    CHECK(attached && attached != store);
    CHECK_EQ(obx_store_id(attached), obx_store_id(store));
    OBX_store *by_id = obx_store_attach_id(obx_store_id(store));
    CHECK(by_id != NULL);
    CHECK(!obx_store_attach_id(UINT64_MAX));
    CHECK_OK(obx_store_close(store));
    CHECK_OK(obx_store_close(by_id));
    CHECK(obx_store_is_open(here));
    CHECK(obx_box(attached, PAIR) != NULL);
    pair_end(attached, here);
    CHECK(!obx_store_is_open(here));
}

static void attaching_or_opening_says_which(void)
{
    bool attached = true;
    OBX_store *store = obx_store_attach_or_open(pair_options(here), true, &attached);
    CHECK(store && !attached);
    OBX_store *second = obx_store_attach_or_open(pair_options(here), true, &attached);
    CHECK(second && attached);
    OBX_store_options *opt = pair_options(here);
    obx_opt_max_db_size_in_kb(opt, 5000);
    CHECK(!obx_store_attach_or_open(opt, true, &attached));
    CHECK_REASON("Given options do not match the existing open store at the same path: max. DB "
                 "size");
    opt = pair_options(here);
    obx_opt_max_db_size_in_kb(opt, 5000);
    OBX_store *third = obx_store_attach_or_open(opt, false, NULL);
    CHECK(third != NULL);
    CHECK_OK(obx_store_close(second));
    CHECK_OK(obx_store_close(third));
    pair_end(store, here);
}

static void a_closing_store_refuses_data_and_shows_its_schema(void)
{
    OBX_store *store = pair_open(here);
    OBX_box *box = obx_box(store, PAIR);
    CHECK_EQ(pair_put(box, 1), 1u);
    OBX_txn *txn = obx_txn_read(store);
    CHECK_OK(obx_store_prepare_to_close(store));
    uint64_t count = 0;
    const uint8_t *data = NULL;
    size_t size = 0;
    CHECK_ERR(obx_box_count(box, 0, &count), OBX_ERROR_SHUTTING_DOWN);
    CHECK_ERR(obx_box_get(box, 1, &data, &size), OBX_ERROR_SHUTTING_DOWN);
    CHECK_REASON("Store is closing");
    CHECK_OK(obx_txn_close(txn));
    CHECK_ERR(obx_box_count(box, 0, &count), OBX_ERROR_SHUTTING_DOWN);
    CHECK_EQ(pair_put(box, 2), 0u);
    CHECK_REASON("Store is closing");
    CHECK(!obx_txn_read(store) && !obx_txn_write(store));
    CHECK(obx_box(store, OTHER) != NULL);
    OBX_query_builder *builder = obx_query_builder(store, PAIR);
    CHECK(builder != NULL);
    CHECK_OK(obx_qb_close(builder));
    CHECK(obx_store_await_async_completion(store));
    pair_end(store, here);
}

static void a_late_call_finds_neither_the_store_nor_its_successor(void) // C2
{
    OBX_store *store = pair_open(here);
    struct core *core = atomic_load(&store->core);
    const uint64_t id = obx_store_id(store);
    pair_end(store, here);
    CHECK(!bw_core_hold(core, id));
    CHECK_ERR(bw_core_enter(core, id), BW_ERR_SHUTTING_DOWN);
    for (int i = 0; i < 40; i++) { // until the slot is taken again
        store = pair_open(here);
        CHECK(obx_store_id(store) != id);
        CHECK_ERR(bw_core_enter(core, id), BW_ERR_SHUTTING_DOWN);
        CHECK_ERR(bw_core_enter_closing(core, id), BW_ERR_SHUTTING_DOWN);
        pair_end(store, here);
    }
}

struct busy {
    OBX_box *box;
    struct mutex mutex;
    struct condition changed;
    bool is_inside, may_leave, has_left; /* mutex */
};

static bool stay(const uint8_t *data, size_t size, void *user_data)
{
    (void)data;
    (void)size;
    struct busy *busy = user_data;
    bw_mutex_lock(&busy->mutex);
    busy->is_inside = true;
    bw_condition_wake_all(&busy->changed);
    while (!busy->may_leave) bw_condition_wait(&busy->changed, &busy->mutex);
    bw_mutex_unlock(&busy->mutex);
    return true;
}

static void visit_all(void *argument)
{
    struct busy *busy = argument;
    (void)obx_box_visit_all(busy->box, stay, busy);
    bw_mutex_lock(&busy->mutex);
    busy->has_left = true;
    bw_mutex_unlock(&busy->mutex);
}

static void release(void *argument)
{
    struct busy *busy = argument;
    bw_mutex_lock(&busy->mutex);
    (void)bw_condition_wait_for(&busy->changed, &busy->mutex, 20);
    busy->may_leave = true;
    bw_condition_wake_all(&busy->changed);
    bw_mutex_unlock(&busy->mutex);
}

static void closing_waits_for_calls_of_other_threads(void) // C1, C3
{
    OBX_store *store = pair_open(here);
    struct busy busy = {.box = obx_box(store, PAIR)};
    CHECK_EQ(pair_put(busy.box, 1), 1u);
    struct thread visitor, releaser;
    CHECK_OK(bw_thread_start(&visitor, visit_all, &busy));
    bw_mutex_lock(&busy.mutex);
    while (!busy.is_inside) bw_condition_wait(&busy.changed, &busy.mutex);
    bw_mutex_unlock(&busy.mutex);
    CHECK_OK(bw_thread_start(&releaser, release, &busy));
    CHECK_OK(obx_store_close(store));
    CHECK(busy.may_leave); // closing came back only after the visitor did
    bw_thread_join(&visitor);
    bw_thread_join(&releaser);
    CHECK(!obx_store_is_open(here));
    CHECK_OK(obx_remove_db_files(here));
}

static void write_one(void *argument)
{
    struct busy *busy = argument;
    bw_mutex_lock(&busy->mutex);
    busy->is_inside = true;
    bw_condition_wake_all(&busy->changed);
    bw_mutex_unlock(&busy->mutex);
    busy->has_left = pair_put(busy->box, 2) == 0;
}

static void a_waiting_writer_gives_up_when_the_store_closes(void)
{
    OBX_store *store = pair_open(here);
    struct busy busy = {.box = obx_box(store, PAIR)};
    OBX_txn *txn = obx_txn_write(store);
    struct thread writer;
    CHECK_OK(bw_thread_start(&writer, write_one, &busy));
    bw_mutex_lock(&busy.mutex);
    while (!busy.is_inside) bw_condition_wait(&busy.changed, &busy.mutex);
    bw_mutex_unlock(&busy.mutex);
    CHECK_OK(obx_store_close(store));
    bw_thread_join(&writer);
    CHECK(busy.has_left);
    CHECK_ERR(obx_txn_success(txn), OBX_ERROR_ILLEGAL_STATE);
    CHECK_REASON("TX is not active anymore: #");
    CHECK_OK(obx_remove_db_files(here));
}

static void a_store_stays_until_its_last_transaction_is_closed(void)
{
    OBX_store *store = pair_open(here);
    OBX_box *box = obx_box(store, PAIR);
    CHECK_EQ(pair_put(box, 41), 1u);
    OBX_txn *txn = obx_txn_read(store);
    const uint8_t *data = NULL;
    size_t size = 0;
    CHECK_OK(obx_box_get(box, 1, &data, &size));
    CHECK_OK(obx_store_close(store));
    CHECK_EQ(pair_value(data), 41); // bytes live as long as the transaction
    CHECK(!obx_store_is_open(here));
    CHECK(!obx_store_open(pair_options(here)));
    CHECK_OK(obx_txn_close(txn));
    pair_end(pair_open(here), here);
}

static void a_weak_reference_does_not_keep_a_store(void)
{
    OBX_store *store = pair_open(here);
    OBX_weak_store *weak = obx_weak_store(store);
    OBX_weak_store *by_id = obx_weak_store_by_id(obx_store_id(store));
    OBX_store *locked = obx_weak_store_lock(weak);
    CHECK(locked && by_id);
    CHECK_OK(obx_store_close(locked));
    pair_end(store, here);
    CHECK(!obx_weak_store_lock(weak));
    CHECK(!obx_weak_store_by_id(12345));
    obx_weak_store_free(weak);
    obx_weak_store_free(by_id);
}

static void removing_an_open_store_is_refused(void)
{
    OBX_store *store = pair_open(here);
    CHECK_ERR(obx_remove_db_files(here), OBX_ERROR_ILLEGAL_STATE);
    CHECK(obx_db_file_size(here) > 0);
    CHECK(obx_store_size(store) > 0);
    CHECK_EQ(obx_store_size_on_disk(store), 0u);
    CHECK_EQ(obx_store_type_id(store), (uint32_t)OBXStoreTypeId_InMemory);
    pair_end(store, here);
    CHECK_OK(obx_remove_db_files("memory:never"));
}

// What the child finds wrong, or 0. It must not use checks, which end the test of the parent.
static int be_the_child(OBX_store *store, OBX_box *box, OBX_txn *txn)
{
    uint64_t count = 0;
    const uint8_t *data = NULL;
    size_t size = 0;
    if (obx_box_get(box, 1, &data, &size) == 0 && pair_value(data) != 1) return 1;
    if (obx_txn_success(txn) == 0) return 2;
    if (obx_box_count(box, 0, &count) == 0 && count != 1) return 3;
    if (pair_put(box, 3) != 0) return 4;
    if (obx_store_close(store) != 0) return 5;
    return 0;
}

static void a_child_of_a_fork_writes_nothing_and_does_not_hang(void)
{
    char folder[] = "/tmp/core_test_XXXXXX";
    CHECK(mkdtemp(folder) != NULL);
    OBX_store *store = pair_open(folder);
    OBX_box *box = obx_box(store, PAIR);
    CHECK_EQ(pair_put(box, 1), 1u);
    OBX_txn *txn = obx_txn_write(store);
    CHECK_EQ(pair_put(box, 2), 2u);
    const pid_t child = fork();
    if (child == 0) _exit(be_the_child(store, box, txn));
    int status = -1;
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status));
    CHECK_EQ(WEXITSTATUS(status), 0);
    CHECK_OK(obx_txn_success(txn));
    CHECK_EQ(pair_count(box), 2u);
    pair_end(store, folder);
    CHECK_EQ(rmdir(folder), 0);
}

static void a_path_without_prefix_means_the_default_type(void)
{
    uint32_t type = 0;
    CHECK(bw_core_disk("x", &type) == bw_disk_posix());
    CHECK_EQ(type, (uint32_t)OBXStoreTypeId_LMDB);
    CHECK_OK(obx_store_type_id_register_default(OBXStoreTypeId_InMemory));
    CHECK(bw_core_disk("x", &type) == bw_disk_memory());
    CHECK_ERR(obx_store_type_id_register_default(9), OBX_ERROR_ILLEGAL_ARGUMENT);
    CHECK_OK(obx_store_type_id_register_default(OBXStoreTypeId_LMDB));
}

RUN_TESTS(TEST(a_directory_is_opened_once_and_shared), TEST(attaching_or_opening_says_which),
          TEST(a_closing_store_refuses_data_and_shows_its_schema),
          TEST(a_late_call_finds_neither_the_store_nor_its_successor),
          TEST(closing_waits_for_calls_of_other_threads),
          TEST(a_waiting_writer_gives_up_when_the_store_closes),
          TEST(a_store_stays_until_its_last_transaction_is_closed),
          TEST(a_weak_reference_does_not_keep_a_store), TEST(removing_an_open_store_is_refused),
          TEST(a_child_of_a_fork_writes_nothing_and_does_not_hang),
          TEST(a_path_without_prefix_means_the_default_type))
