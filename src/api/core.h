/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core - an open store of this process, shared by its handles and kept by what uses it.
 *
 * Invariants:
 *   C1  refs counts what keeps the store open below: 1 for all its handles together, 1 for each
 *       transaction that a program holds, 1 for each call inside the library that has neither. Who
 *       takes it to 0 closes the database.
 *   C2  refs never leaves 0 but by a new opening; the slot's memory stays, so that a late call may
 *       look at it, and the id, which is never used twice, tells that it is another store.
 *   C3  txn_count goes down before refs does, so that refs - txn_count never counts too few calls.
 *   C4  A short read inside a program's transaction counts nothing and writes nothing that threads
 *       share: the transaction keeps the store.
 */
#pragma once

#include "api/open_options.h"
#include "box/box.h"

enum core_state {
    CORE_OPEN = 0,
    CORE_CLOSING = 1, /* obx_store_prepare_to_close() */
    CORE_CLOSED = 2,  /* no handle is left */
};

struct core {
    struct slot slot;
    _Atomic uint32_t refs;
    _Atomic uint32_t txn_count; /* transactions that programs hold, both kinds, and scans */
    _Atomic uint32_t state;     /* enum core_state */
    uint32_t handle_count;      /* registry */
    _Atomic uint64_t id;
    struct db *db;                /* owned */
    struct core *next, *previous; /* registry; borrowed */
    uint32_t fork_count;          /* forks of the process when it was opened */
    uint32_t store_type;          /* OBXStoreTypeId */
    bool read_only;
    uint8_t padding;
    _Atomic uint32_t debug_flags;
    uint64_t size_max_kb, data_max_kb;
    obx_log_callback *log_callback; /* may be NULL */
    void *log_user_data;            /* borrowed */
    struct box_table *spare_tables; /* owned; store_handle.c's lock */
};
_Static_assert(sizeof(struct core) <= 128, "a core has to fit its slot");

/* Open or create, with one handle. */
MUST_CHECK bw_err bw_core_open(const struct options *options, struct core **out_core);

/* The disk and the store's type that a path means. */
struct disk *bw_core_disk(const char *directory, uint32_t *out_store_type);

struct disk *bw_core_disk_of(const struct core *core);

/* The disk that the path of a file means, whatever stores are by default. */
struct disk *bw_core_disk_of_file(const char *path);

/* One handle more of an open store, or NULL. */
struct core *bw_core_attach(const char *directory);
struct core *bw_core_attach_id(uint64_t id);
bool bw_core_is_open(const char *directory);

/* ILLEGAL_STATE naming the first option that differs from those the core was opened with. */
MUST_CHECK bw_err bw_core_compare(const struct core *core, const struct options *options);

/* From now on calls that need data answer SHUTTING_DOWN "Store is closing". */
void bw_core_prepare(struct core *core);

/* One handle less. The last one waits for the calls of other threads that are inside (C1). */
void bw_core_drop(struct core *core);

/* How many handles there are. */
uint32_t bw_core_handles(struct core *core);

/* End of what bw_core_hold or bw_core_enter began. */
void bw_core_leave(struct core *core);

/* Keep the store for a call. False: there is no store with that id here any more. */
static inline bool bw_core_hold(struct core *core, uint64_t id)
{
    uint32_t refs = atomic_load_explicit(&core->refs, memory_order_relaxed);
    do {
        if (refs == 0) return false; // C2
    } while (!atomic_compare_exchange_weak_explicit(&core->refs, &refs, refs + 1,
                                                    memory_order_seq_cst, memory_order_relaxed));
    if (LIKELY(atomic_load_explicit(&core->id, memory_order_relaxed) == id)) return true;
    bw_core_leave(core);
    return false;
}

/* Keep the store for a call that works on its data. SHUTTING_DOWN when it is closing or closed. */
MUST_CHECK bw_err bw_core_enter(struct core *core, uint64_t id);

/* The same while it is closing: for calls that only look at the schema. */
MUST_CHECK bw_err bw_core_enter_closing(struct core *core, uint64_t id);

/* Begin a transaction below, for a caller who holds the core; as bw_db_begin, but waiting ends when
 * the store closes. */
MUST_CHECK bw_err bw_core_begin(struct core *core, enum txn_mode mode, int64_t wait_ms,
                                struct txn **out_txn);

/* Which type a path without a prefix means; ILLEGAL_ARGUMENT for one that does not exist. */
MUST_CHECK bw_err bw_core_set_default_type(uint32_t store_type);

/* ---- calls that call back: their thread may close the store, and must not wait for itself ---- */

struct inside {
    const struct core *core; /* borrowed */
    struct inside *next;     /* borrowed */
};
void bw_core_note_inside(struct inside *inside, const struct core *core);
void bw_core_forget_inside(struct inside *inside);
