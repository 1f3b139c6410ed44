/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening, sharing and closing of stores.
 *
 * Closing by polling: who waits is the last handle's closer, seldom and for short, while those it
 * waits for would have to look for a waiter at the end of every call.
 */
#include "api/core.h"

#include <stdio.h>
#include <string.h>

#include "api/argument.h"
#include "api/store_handle.h"
#include "api/version.h"

enum {
    WRITER_WAIT_MS = 50, /* how long a writer waits before it looks whether the store closes */
    READERS_LEAST = 125, /* always allowed, as bindings expect */
};

static const char memory_prefix[] = "memory:";

static struct {
    struct mutex mutex;
    struct core *first; /* of all cores that have a handle */
    uint64_t last_id;
} registry;

static _Atomic uint32_t default_type = OBXStoreTypeId_LMDB;
static _Atomic uint32_t fork_count;
static _Thread_local struct inside *insides;

static void after_fork(void)
{
    atomic_fetch_add(&fork_count, 1);
    registry.mutex = (struct mutex){0};
    bw_pool_after_fork();
    bw_store_handle_after_fork();
}

bw_err bw_core_set_default_type(uint32_t store_type)
{
    switch (store_type) {
    case OBXStoreTypeId_LMDB:
    case OBXStoreTypeId_InMemory:
        atomic_store(&default_type, store_type);
        return BW_OK;
    case OBXStoreTypeId_InMemoryWal:
        return bw_fail(BW_ERR_FEATURE_NOT_AVAILABLE,
                       "Stores in memory with a log are not available in this build");
    default:
        return bw_fail(BW_ERR_ILLEGAL_ARGUMENT, "Unknown store type: %u", store_type);
    }
}

struct disk *bw_core_disk(const char *directory, uint32_t *out_store_type)
{
    const bool in_memory = strncmp(directory, memory_prefix, sizeof(memory_prefix) - 1) == 0;
    const uint32_t type = in_memory ? OBXStoreTypeId_InMemory : atomic_load(&default_type);
    if (out_store_type) *out_store_type = type;
    return type == OBXStoreTypeId_LMDB ? bw_disk_posix() : bw_disk_memory();
}

struct disk *bw_core_disk_of_file(const char *path)
{
    const bool in_memory = strncmp(path, memory_prefix, sizeof(memory_prefix) - 1) == 0;
    return in_memory ? bw_disk_memory() : bw_disk_posix();
}

struct disk *bw_core_disk_of(const struct core *core)
{
    return core->store_type == OBXStoreTypeId_LMDB ? bw_disk_posix() : bw_disk_memory();
}

// ---- opening ----

static bw_err check_options(const struct options *options, uint32_t store_type)
{
    if (options->has_failed) {
        return bw_fail(BW_ERR_ILLEGAL_ARGUMENT,
                       "An error had occurred before during setting options");
    }
    if (options->ignores_schema && (options->schema || options->model_failure.err)) {
        return bw_fail(BW_ERR_ILLEGAL_ARGUMENT,
                       "Read schema option must be set when using a model");
    }
    if (options->size_max_kb && options->data_max_kb > options->size_max_kb) {
        return bw_fail(BW_ERR_ILLEGAL_ARGUMENT,
                       "Maximum data size option must not exceed the maximum DB size");
    }
    if (options->has_model_bytes) {
        return bw_fail(BW_ERR_FEATURE_NOT_AVAILABLE,
                       "Models in serialized form are not available in this build; declare the "
                       "model with obx_model_*()");
    }
    if (options->wal_flags && store_type == OBXStoreTypeId_LMDB) {
        return bw_fail(BW_ERR_ILLEGAL_ARGUMENT,
                       "WAL is not yet supported by disk based DB provider");
    }
    if (options->wal_flags) {
        return bw_fail(BW_ERR_FEATURE_NOT_AVAILABLE,
                       "Stores in memory with a log are not available in this build");
    }
    return bw_open_options_report(&options->model_failure);
}

/* What is there already stays, unless it is to be replaced: a program may ask for the same each
 * time it starts. */
static bw_err restore(const struct options *options, struct disk *disk, const char *directory)
{
    const char *file = options->backup_file;
    if (!file) return BW_OK;
    if (!options->backup_replaces && bw_store_file_size(disk, directory) > 0) return BW_OK;
    const struct restore_options restore_options = {.file_disk = bw_core_disk_of_file(file),
                                                    .file = file,
                                                    .disk = disk,
                                                    .directory = directory,
                                                    .file_mode = options->file_mode,
                                                    .replaces = options->backup_replaces};
    return bw_store_restore(&restore_options);
}

static uint64_t bytes_of_kb(uint64_t kb) { return kb > UINT64_MAX >> 10 ? UINT64_MAX : kb << 10; }

static bw_err open_db(const struct options *options, uint32_t *out_type, struct db **out_db)
{
    const char *directory = options->directory ? options->directory : OPTIONS_DIRECTORY;
    struct disk *disk = bw_core_disk(directory, out_type);
    bw_err err = check_options(options, *out_type);
    if (!err) err = restore(options, disk, directory);
    if (err) return err;

    uint32_t readers_max = options->readers_max;
    if (readers_max > 0) {
        readers_max = readers_max <= READERS_LEAST ? READERS_LEAST : readers_max;
    }
    const bool is_file = *out_type == OBXStoreTypeId_LMDB;
    const struct db_options db_options = {
        .store = {.disk = disk,
                  .directory = directory,
                  .file_mode = options->file_mode,
                  .size_max = bytes_of_kb(options->size_max_kb),
                  .readers_max = readers_max,
                  .read_only = options->read_only,
                  .use_previous = options->use_previous_commit,
                  .must_exist = !options->schema,
                  .durability = is_file ? options->durability : DURABLE_NONE,
                  .verify_manifest = options->validate_page_limit > 0},
        .schema = options->schema,
        .data_max = bytes_of_kb(options->data_max_kb),
        .padding = (enum padding_mode)options->padding,
    };
    return bw_db_open(&db_options, out_db);
}

static bw_err check_all(struct db *db, struct txn *txn)
{
    struct check_report report = {0};
    bw_err err = bw_db_check(db, txn, NULL, &report);
    if (err || report.problems == 0) return err;
    const bw_err code = report.pages_are_sound ? BW_ERR_FILE_CORRUPT : BW_ERR_FILE_PAGES_CORRUPT;
    return bw_fail(code, "The data file is damaged: %s", report.first_problem);
}

static bw_err probe(struct txn *txn, const struct options *options)
{
    const bool with_leaves =
        options->validate_page_flags & OBXValidateOnOpenPagesFlags_VisitLeafPages;
    char why[CHECK_TEXT_ROOM];
    bw_err err = bw_store_probe(txn, options->validate_page_limit, with_leaves);
    if (err != BW_ERR_FILE_PAGES_CORRUPT) return err;
    (void)snprintf(why, sizeof(why), "%s", bw_reason_text());
    return bw_fail(err, "The data file is damaged: %s", why);
}

// What obx_opt_validate_on_open_pages and obx_opt_validate_on_open_kv ask for.
static bw_err validate(struct db *db, const struct options *options)
{
    if (options->validate_page_limit == 0 && !options->validates_values) return BW_OK;
    struct txn *txn = NULL;
    bw_err err = bw_db_begin(db, TXN_READ, 0, &txn);
    if (err) return err;
    err = options->validates_values ? check_all(db, txn) : probe(txn, options);
    bw_txn_abort(txn);
    return err;
}

static void warn_of_loss(struct db *db, const struct options *options)
{
    struct store_info info = {0};
    bw_store_info(bw_db_store(db), &info);
    if (!info.opened_older || !options->log_callback) return;
    static const char text[] = "The newest commit in the data file is damaged; the one before it "
                               "was opened";
    options->log_callback((OBXLogLevel)bw_version_log_level(OBXLogLevel_Warn), text,
                          sizeof(text) - 1, options->log_user_data);
}

static void enlist(struct core *core)
{
    bw_mutex_lock(&registry.mutex);
    atomic_store_explicit(&core->id, ++registry.last_id, memory_order_relaxed);
    core->next = registry.first;
    if (core->next) core->next->previous = core;
    registry.first = core;
    bw_mutex_unlock(&registry.mutex);
}

static struct core *new_core(const struct options *options, uint32_t store_type, struct db *db)
{
    struct core *core = bw_pool_take(SLOT_CORE);
    if (!core) return NULL;
    core->db = db;
    core->handle_count = 1;
    core->fork_count = atomic_load(&fork_count);
    core->store_type = store_type;
    core->read_only = options->read_only;
    core->padding = (uint8_t)options->padding;
    core->size_max_kb = options->size_max_kb;
    core->data_max_kb = options->data_max_kb;
    core->log_callback = options->log_callback;
    core->log_user_data = options->log_user_data;
    atomic_init(&core->debug_flags, options->debug_flags);
    bw_slot_open(core);
    enlist(core);
    atomic_store(&core->refs, 1); // C2: from here on it can be held
    return core;
}

bw_err bw_core_open(const struct options *options, struct core **out_core)
{
    bw_err err = bw_on_fork(after_fork);
    if (err) return err;
    uint32_t store_type = 0;
    struct db *db = NULL;
    err = open_db(options, &store_type, &db);
    if (err) return err;
    err = validate(db, options);
    if (err) goto out;
    warn_of_loss(db, options);

    *out_core = new_core(options, store_type, db);
    if (!*out_core) {
        err = BW_ERR_NO_MEMORY;
        goto out;
    }
    db = NULL;
out:
    bw_db_close(db);
    return err;
}

// ---- sharing ----

// registry.mutex
static struct core *with_path(const char *directory)
{
    if (!registry.first) return NULL;
    const struct store *store = bw_store_find(bw_core_disk(directory, NULL), directory);
    if (!store) return NULL;
    for (struct core *core = registry.first; core; core = core->next) {
        if (bw_db_store(core->db) == store) return core;
    }
    return NULL;
}

struct core *bw_core_attach(const char *directory)
{
    bw_mutex_lock(&registry.mutex);
    struct core *core = with_path(directory);
    if (core) core->handle_count++;
    bw_mutex_unlock(&registry.mutex);
    return core;
}

struct core *bw_core_attach_id(uint64_t id)
{
    bw_mutex_lock(&registry.mutex);
    struct core *core = registry.first;
    while (core && atomic_load_explicit(&core->id, memory_order_relaxed) != id) core = core->next;
    if (core) core->handle_count++;
    bw_mutex_unlock(&registry.mutex);
    return core;
}

bool bw_core_is_open(const char *directory)
{
    bw_mutex_lock(&registry.mutex);
    const bool is_open = with_path(directory) != NULL;
    bw_mutex_unlock(&registry.mutex);
    return is_open;
}

bw_err bw_core_compare(const struct core *core, const struct options *options)
{
    const char *differs = NULL;
    if (core->size_max_kb != options->size_max_kb) differs = "max. DB size";
    else if (core->data_max_kb != options->data_max_kb) differs = "max. data size";
    else if (core->read_only != options->read_only) differs = "read-only";
    else if (core->padding != options->padding) differs = "put padding mode";
    else if (options->schema &&
             memcmp(options->schema->hash, bw_db_schema(core->db)->hash, 16) != 0) {
        differs = "model";
    }
    if (!differs) return BW_OK;
    return bw_fail(BW_ERR_ILLEGAL_STATE,
                   "Given options do not match the existing open store at the same path: %s",
                   differs);
}

uint32_t bw_core_handles(struct core *core)
{
    bw_mutex_lock(&registry.mutex);
    const uint32_t count = core->handle_count;
    bw_mutex_unlock(&registry.mutex);
    return count;
}

// ---- calls ----

static bw_err refuse_state(uint32_t state)
{
    if (state == CORE_CLOSING) return bw_fail(BW_ERR_SHUTTING_DOWN, "Store is closing");
    return bw_argument_dead_store();
}

bw_err bw_core_enter(struct core *core, uint64_t id)
{
    if (!core || !bw_core_hold(core, id)) return bw_argument_dead_store();
    const uint32_t state = atomic_load(&core->state);
    if (LIKELY(state == CORE_OPEN)) return BW_OK;
    bw_core_leave(core);
    return refuse_state(state);
}

bw_err bw_core_enter_closing(struct core *core, uint64_t id)
{
    if (!core || !bw_core_hold(core, id)) return bw_argument_dead_store();
    if (atomic_load(&core->state) != CORE_CLOSED) return BW_OK;
    bw_core_leave(core);
    return bw_argument_dead_store();
}

void bw_core_leave(struct core *core)
{
    if (LIKELY(atomic_fetch_sub(&core->refs, 1) > 1)) return;
    struct db *db = core->db;
    bw_store_handle_free_tables(core);
    core->db = NULL;
    bw_pool_give(core); // it can be taken anew from here on
    bw_db_close(db);
}

bw_err bw_core_begin(struct core *core, enum txn_mode mode, int64_t wait_ms, struct txn **out_txn)
{
    if (mode == TXN_READ) return bw_db_begin(core->db, TXN_READ, 0, out_txn);
    for (;;) {
        const bool is_short = wait_ms >= 0 && wait_ms < WRITER_WAIT_MS;
        const int64_t slice_ms = is_short ? wait_ms : WRITER_WAIT_MS;
        bw_err err = bw_db_begin(core->db, TXN_WRITE, slice_ms, out_txn);
        if (err && err != BW_ERR_TIMEOUT) return err;
        const uint32_t state = atomic_load(&core->state);
        if (state != CORE_OPEN) {
            if (!err) bw_txn_abort(*out_txn);
            return refuse_state(state);
        }
        if (!err || is_short) return err;
        if (wait_ms > 0) wait_ms -= slice_ms;
    }
}

// ---- closing ----

void bw_core_note_inside(struct inside *inside, const struct core *core)
{
    *inside = (struct inside){.core = core, .next = insides};
    insides = inside;
}

void bw_core_forget_inside(struct inside *inside)
{
    insides = inside->next; // they end in the order opposite to that of their beginning
}

static uint32_t own_calls(const struct core *core)
{
    uint32_t count = 0;
    for (const struct inside *inside = insides; inside; inside = inside->next) {
        if (inside->core == core) count++;
    }
    return count;
}

// Until no other thread is inside a call. A child of a fork would wait for threads it has not got.
static void wait_for_calls(struct core *core)
{
    struct mutex mutex = {0};
    struct condition nobody_signals = {0};
    const uint32_t own = 1 + own_calls(core);
    while (core->fork_count == atomic_load(&fork_count)) {
        const uint32_t refs = atomic_load(&core->refs); // C3: before txn_count
        if (refs <= own + atomic_load(&core->txn_count)) return;
        bw_mutex_lock(&mutex);
        (void)bw_condition_wait_for(&nobody_signals, &mutex, 1);
        bw_mutex_unlock(&mutex);
    }
}

void bw_core_prepare(struct core *core)
{
    uint32_t state = CORE_OPEN;
    (void)atomic_compare_exchange_strong(&core->state, &state, CORE_CLOSING);
}

void bw_core_drop(struct core *core)
{
    bw_mutex_lock(&registry.mutex);
    const bool is_last = --core->handle_count == 0;
    if (is_last) {
        atomic_store(&core->state, CORE_CLOSED);
        if (core->next) core->next->previous = core->previous;
        if (core->previous) core->previous->next = core->next;
        else registry.first = core->next;
    }
    bw_mutex_unlock(&registry.mutex);
    if (!is_last) return;
    wait_for_calls(core);
    bw_core_leave(core); // C1: what all handles together held
}
