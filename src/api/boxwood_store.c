/* SPDX-License-Identifier: Apache-2.0 */
/* Models, options and stores beyond the ABI. */
#include "api/failure.h"
#include "api/free_txn.h"
#include "api/model_handle.h"
#include "api/store_handle.h"

// ---- models ----

static bw_err compile(OBX_model *model, boxwood_model **out_model)
{
    struct model *taken = NULL;
    bw_err err = bw_model_handle_take(model, __LINE__, &taken);
    if (err) return err;
    struct schema *schema = NULL;
    boxwood_model *compiled = NULL;
    if (!out_model) err = ARGUMENT_NULL(out_model);
    if (!err) err = bw_model_compile(taken, &schema);
    bw_model_free(taken);
    if (!err) compiled = bw_pool_take(SLOT_SCHEMA);
    if (!compiled) {
        bw_schema_release(schema);
        return err ? err : BW_ERR_NO_MEMORY;
    }
    compiled->schema = schema;
    bw_slot_open(compiled);
    *out_model = compiled;
    return BW_OK;
}

obx_err boxwood_model_compile(OBX_model *model, boxwood_model **out_model,
                              boxwood_failure *out_failure)
{
    return bw_failure_note(out_failure, compile(model, out_model));
}

void boxwood_model_release(boxwood_model *model)
{
    if (!model || CHECK_HANDLE(model, SLOT_SCHEMA)) return;
    struct schema *schema = model->schema;
    bw_pool_give(model);
    bw_schema_release(schema);
}

// ---- options ----

obx_err boxwood_opt_model(OBX_store_options *options, boxwood_model *model)
{
    bw_err err = CHECK_HANDLE(options, SLOT_OPTIONS);
    if (err) return err;
    err = CHECK_HANDLE(model, SLOT_SCHEMA);
    if (err) {
        options->options->has_failed = true;
        return err;
    }
    bw_schema_release(options->options->schema);
    options->options->schema = bw_schema_hold(model->schema);
    return OBX_SUCCESS;
}

obx_err boxwood_opt_durability(OBX_store_options *options, BoxwoodDurability durability)
{
    bw_err err = CHECK_HANDLE(options, SLOT_OPTIONS);
    if (err) return err;
    switch ((int)durability) {
    case BoxwoodDurability_Full:
        options->options->durability = DURABLE_FULL;
        return OBX_SUCCESS;
    case BoxwoodDurability_Barrier:
        options->options->durability = DURABLE_BARRIER;
        return OBX_SUCCESS;
    case BoxwoodDurability_Lazy:
        options->options->durability = DURABLE_LAZY;
        return OBX_SUCCESS;
    case BoxwoodDurability_None:
        options->options->durability = DURABLE_NONE;
        return OBX_SUCCESS;
    default:
        break;
    }
    options->options->has_failed = true;
    return bw_fail(BW_ERR_ILLEGAL_ARGUMENT, "Unknown durability: %d", (int)durability);
}

// ---- stores ----

static bw_err open_store(OBX_store_options *opt, OBX_store **out_store)
{
    struct options *options = bw_open_options_consume(opt, __LINE__);
    if (!options) return bw_reason_code();
    bw_err err = out_store ? bw_store_handle_open(options, out_store) : ARGUMENT_NULL(out_store);
    bw_open_options_free(options);
    return err;
}

obx_err boxwood_store_open(OBX_store_options *options, OBX_store **out_store,
                           boxwood_failure *out_failure)
{
    return bw_failure_note(out_failure, open_store(options, out_store));
}

static bw_err check_no_txns(OBX_store *store)
{
    struct core *core = NULL;
    uint64_t core_id = 0;
    bw_err err = CORE_OF_STORE(store, &core, &core_id);
    if (!err) err = bw_core_enter_closing(core, core_id);
    if (err) return err;
    const uint32_t count = atomic_load(&core->txn_count);
    const bool is_last = bw_core_handles(core) == 1;
    bw_core_leave(core);
    if (!is_last || count == 0) return BW_OK;
    return bw_fail(BW_ERR_ILLEGAL_STATE, "store has %u open transaction%s", count,
                   count == 1 ? "" : "s");
}

static bw_err close_store(OBX_store *store, uint32_t flags)
{
    if (!store) return BW_OK;
    bw_err err = flags & BOXWOOD_CLOSE_FORCE ? BW_OK : check_no_txns(store);
    if (!err) err = bw_store_handle_close(store, "store", __LINE__);
    return err;
}

obx_err boxwood_store_close(OBX_store *store, uint32_t flags, boxwood_failure *out_failure)
{
    return bw_failure_note(out_failure, close_store(store, flags));
}

static bw_err stats(OBX_store *store, boxwood_store_stats_t *out_stats)
{
    struct core *core = NULL;
    uint64_t core_id = 0;
    bw_err err = CORE_OF_STORE(store, &core, &core_id);
    if (!err && !out_stats) err = ARGUMENT_NULL(out_stats);
    if (!err && out_stats->size < sizeof(*out_stats)) {
        err = ARGUMENT_CONDITION(out_stats->size >= sizeof(boxwood_store_stats_t));
    }
    if (!err) err = bw_core_enter_closing(core, core_id);
    if (err) return err;
    struct store_info info = {0};
    bw_store_info(bw_db_store(core->db), &info);
    bw_core_leave(core);
    out_stats->file_size = info.file_size;
    out_stats->used_size = info.used_pages * 4096;
    out_stats->txn_id = info.txn_id;
    out_stats->opened_previous = info.opened_previous;
    out_stats->opened_older = info.opened_older;
    return BW_OK;
}

obx_err boxwood_store_stats(OBX_store *store, boxwood_store_stats_t *out_stats,
                            boxwood_failure *out_failure)
{
    return bw_failure_note(out_failure, stats(store, out_stats));
}

static bw_err flush(OBX_store *store)
{
    struct core *core = NULL;
    uint64_t core_id = 0;
    boxwood_txn *txn = NULL;
    bw_err err = CORE_OF_STORE(store, &core, &core_id);
    if (!err) err = bw_free_txn_begin(core, core_id, TXN_WRITE, -1, &txn);
    if (err) return err;
    err = bw_txn_flush(txn->txn);
    boxwood_txn_abort(txn);
    return err;
}

obx_err boxwood_store_flush(OBX_store *store, boxwood_failure *out_failure)
{
    return bw_failure_note(out_failure, flush(store));
}

// ---- transactions ----

static bw_err begin(OBX_store *store, uint32_t flags, int64_t wait_ms, boxwood_txn **out_txn)
{
    struct core *core = NULL;
    uint64_t core_id = 0;
    bw_err err = CORE_OF_STORE(store, &core, &core_id);
    if (!err && !out_txn) err = ARGUMENT_NULL(out_txn);
    if (!err && flags > BOXWOOD_TXN_WRITE) err = ARGUMENT_CONDITION(flags <= BOXWOOD_TXN_WRITE);
    if (err) return err;
    const enum txn_mode mode = flags == BOXWOOD_TXN_WRITE ? TXN_WRITE : TXN_READ;
    return bw_free_txn_begin(core, core_id, mode, wait_ms, out_txn);
}

obx_err boxwood_txn_begin(OBX_store *store, uint32_t flags, int64_t wait_ms, boxwood_txn **out_txn,
                          boxwood_failure *out_failure)
{
    return bw_failure_note(out_failure, begin(store, flags, wait_ms, out_txn));
}

obx_err boxwood_txn_commit(boxwood_txn *txn, boxwood_failure *out_failure)
{
    bw_err err = ENTER(txn, SLOT_FREE_TXN);
    if (!err) err = bw_free_txn_commit(txn);
    return bw_failure_note(out_failure, err);
}

void boxwood_txn_abort(boxwood_txn *txn)
{
    if (txn && !ENTER(txn, SLOT_FREE_TXN)) bw_free_txn_abort(txn);
}
