/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stores that are closed and opened again while other threads work with whatever handles they last
 * saw: each call succeeds or gives one of the answers for a store that is gone, and nothing else.
 */
#include <stdatomic.h>

#include "os/os.h"
#include "unit/api/pair_store.h"

enum { WORKERS = 3, ROUNDS = 60 };

static const char here[] = "memory:threads";

static struct {
    OBX_store *_Atomic store;
    OBX_box *_Atomic box;
    atomic_bool is_over;
    atomic_int strange; // a code that nobody should see
    atomic_int done;
} shared;

static void see(obx_err code)
{
    switch (code) {
    case OBX_SUCCESS:
    case OBX_NOT_FOUND:
    case OBX_ERROR_ILLEGAL_STATE:
    case OBX_ERROR_ILLEGAL_ARGUMENT: // its slot is a handle of another kind by now
    case OBX_ERROR_SHUTTING_DOWN:
        break;
    default:
        atomic_store(&shared.strange, code);
    }
    atomic_fetch_add(&shared.done, 1);
}

static bool go_on(const uint8_t *data, size_t size, void *user_data)
{
    (void)data;
    (void)user_data;
    return size == PAIR_SIZE;
}

static void use_transaction(OBX_store *store, OBX_box *box, bool to_write)
{
    OBX_txn *txn = to_write ? obx_txn_write(store) : obx_txn_read(store);
    if (!txn) {
        see(obx_last_error_code());
        return;
    }
    const uint8_t *data = NULL;
    size_t size = 0;
    see(obx_box_get(box, 1, &data, &size));
    if (to_write && pair_put(box, 1) == 0) see(obx_last_error_code());
    see(to_write ? obx_txn_success(txn) : obx_txn_close(txn));
}

static void work(void *argument)
{
    struct random random;
    bw_random_seed(&random, bw_test_seed() + (uintptr_t)argument);
    while (!atomic_load(&shared.is_over)) {
        OBX_store *store = atomic_load(&shared.store);
        OBX_box *box = atomic_load(&shared.box);
        uint64_t count = 0;
        switch (bw_random_below(&random, 7)) {
        case 0:
            see(obx_box_count(box, 0, &count));
            break;
        case 1:
            see(pair_put(box, 5) ? 0 : obx_last_error_code());
            break;
        case 2:
            see(obx_box_visit_all(box, go_on, NULL));
            break;
        case 3:
            use_transaction(store, box, false);
            break;
        case 4:
            use_transaction(store, box, true);
            break;
        case 5:
            see(obx_box(store, OTHER) ? 0 : obx_last_error_code());
            break;
        case 6:
            see(obx_box_remove(box, 1 + bw_random_below(&random, 4)));
            break;
        }
    }
}

// A transaction that is open keeps the store for a moment longer. The first write after opening may
// rewrite what it found; it is made before others look.
static void open_again(void)
{
    OBX_store *store = NULL;
    while (!store) {
        store = obx_store_open(pair_options(here));
        if (!store) CHECK_EQ(obx_last_error_code(), OBX_ERROR_ILLEGAL_STATE);
    }
    OBX_box *box = obx_box(store, PAIR);
    CHECK(pair_put(box, 0) != 0);
    atomic_store(&shared.store, store);
    atomic_store(&shared.box, box);
}

static void closing_and_opening_beside_busy_threads(void)
{
    (void)bw_test_seed(); // it is found out once, before there are threads
    open_again();
    struct thread threads[WORKERS];
    for (uintptr_t i = 0; i < WORKERS; i++) {
        CHECK_OK(bw_thread_start(&threads[i], work, (void *)i));
    }
    for (int round = 0; round < ROUNDS; round++) {
        const int before = atomic_load(&shared.done);
        while (atomic_load(&shared.done) < before + 20) {
        }
        CHECK_OK(obx_store_close(atomic_load(&shared.store)));
        open_again();
    }
    atomic_store(&shared.is_over, true);
    for (int i = 0; i < WORKERS; i++) bw_thread_join(&threads[i]);
    CHECK_EQ(atomic_load(&shared.strange), 0);
    pair_end(atomic_load(&shared.store), here);
}

RUN_TESTS(TEST(closing_and_opening_beside_busy_threads))
