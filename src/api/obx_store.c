/* SPDX-License-Identifier: Apache-2.0 */
#include "api/handles.h"
#include "api/store_copies.h"
#include "api/store_handle.h"

// ---- opening ----

OBX_store *obx_store_open(OBX_store_options *opt)
{
    struct options *options = bw_open_options_consume(opt, __LINE__);
    if (!options) return NULL;
    OBX_store *store = NULL;
    bw_err err = bw_store_handle_open(options, &store);
    bw_open_options_free(options);
    return err ? NULL : store;
}

bool obx_store_is_open(const char *path)
{
    if (!path) return bw_argument_no_id(ARGUMENT_NULL(path));
    return bw_core_is_open(path);
}

OBX_store *obx_store_attach(const char *path)
{
    if (!path) return bw_argument_no_pointer(ARGUMENT_NULL(path));
    return bw_store_handle_new(bw_core_attach(path));
}

OBX_store *obx_store_attach_id(uint64_t store_id)
{
    return bw_store_handle_new(bw_core_attach_id(store_id));
}

static OBX_store *attach_or_open(const struct options *options, bool check, bool *out_attached)
{
    const char *directory = options->directory ? options->directory : OPTIONS_DIRECTORY;
    for (;;) {
        struct core *core = bw_core_attach(directory);
        *out_attached = core != NULL;
        if (core) {
            if (!check || !bw_core_compare(core, options)) return bw_store_handle_new(core);
            bw_core_drop(core);
            return NULL;
        }
        OBX_store *store = NULL;
        bw_err err = bw_store_handle_open(options, &store);
        if (!err) return store;
        if (err != BW_ERR_ILLEGAL_STATE || !bw_core_is_open(directory)) return NULL;
        bw_reason_clear(); // another thread was faster: attach to what it opened
    }
}

OBX_store *obx_store_attach_or_open(OBX_store_options *opt, bool check_matching_options,
                                    bool *out_attached)
{
    struct options *options = bw_open_options_consume(opt, __LINE__);
    if (!options) return NULL;
    bool attached = false;
    OBX_store *store = attach_or_open(options, check_matching_options, &attached);
    bw_open_options_free(options);
    if (store && out_attached) *out_attached = attached;
    return store;
}

OBX_store *obx_store_clone(OBX_store *store)
{
    struct core *core = NULL;
    uint64_t core_id = 0;
    bw_err err = CORE_OF_STORE(store, &core, &core_id);
    if (err) return NULL;
    OBX_store *clone = bw_store_handle_new(bw_core_attach_id(core_id));
    return clone ? clone : bw_argument_no_pointer(bw_argument_dead_store());
}

int obx_store_type_id_register_default(uint32_t store_type_id)
{
    return bw_core_set_default_type(store_type_id);
}

// ---- closing ----

obx_err obx_store_prepare_to_close(OBX_store *store)
{
    struct core *core = NULL;
    uint64_t core_id = 0;
    bw_err err = CORE_OF_STORE(store, &core, &core_id);
    if (!err) err = bw_core_enter_closing(core, core_id);
    if (err) return err;
    bw_core_prepare(core);
    bw_core_leave(core);
    return OBX_SUCCESS;
}

obx_err obx_store_close(OBX_store *store)
{
    if (!store) return OBX_SUCCESS;
    return bw_store_handle_close(store, "store", __LINE__);
}

// ---- backup ----

obx_err obx_store_back_up_to_file(OBX_store *store, const char *backup_file, uint32_t backup_flags)
{
    return bw_store_copies_back_up(store, backup_file, backup_flags, NULL);
}

// ---- what it is ----

/* Hold the store's core for a look at what does not change. NULL: the reason is set. */
static struct core *look_into(OBX_store *store, int line)
{
    struct core *core = NULL;
    uint64_t core_id = 0;
    bw_err err = bw_core_of_store(store, "store", line, &core, &core_id);
    if (!err) err = bw_core_enter_closing(core, core_id);
    return err ? NULL : core;
}

uint64_t obx_store_id(OBX_store *store)
{
    struct core *core = NULL;
    uint64_t core_id = 0;
    bw_err err = CORE_OF_STORE(store, &core, &core_id);
    return err ? 0 : core_id;
}

static uint64_t size_of(const struct core *core)
{
    struct store *store = bw_db_store(core->db);
    struct store_info info = {0};
    bw_store_info(store, &info);
    if (info.file_size > 0) return info.file_size;
    return bw_store_file_size(bw_core_disk_of(core), bw_store_directory(store));
}

uint64_t obx_store_size(OBX_store *store)
{
    struct core *core = look_into(store, __LINE__);
    if (!core) return 0;
    const uint64_t size = size_of(core);
    bw_core_leave(core);
    return size;
}

uint64_t obx_store_size_on_disk(OBX_store *store)
{
    struct core *core = look_into(store, __LINE__);
    if (!core) return 0;
    const uint64_t size = core->store_type == OBXStoreTypeId_LMDB ? size_of(core) : 0;
    bw_core_leave(core);
    return size;
}

uint32_t obx_store_type_id(OBX_store *store)
{
    struct core *core = look_into(store, __LINE__);
    if (!core) return 0;
    const uint32_t type = core->store_type;
    bw_core_leave(core);
    return type;
}

bool obx_store_opened_with_previous_commit(OBX_store *store)
{
    struct core *core = look_into(store, __LINE__);
    if (!core) return false;
    struct store_info info = {0};
    bw_store_info(bw_db_store(core->db), &info);
    bw_core_leave(core);
    return info.opened_previous;
}

obx_err obx_store_debug_flags(OBX_store *store, uint32_t flags)
{
    struct core *core = look_into(store, __LINE__);
    if (!core) return bw_reason_code();
    atomic_store(&core->debug_flags, flags);
    bw_core_leave(core);
    return OBX_SUCCESS;
}

// ---- its schema ----

obx_schema_id obx_store_entity_id(OBX_store *store, const char *entity_name)
{
    struct core *core = look_into(store, __LINE__);
    if (!core) return 0;
    obx_schema_id id = 0;
    bw_err err = entity_name ? BW_OK : ARGUMENT_NULL(entity_name);
    if (!err) {
        const struct entity *entity = bw_schema_entity_named(bw_db_schema(core->db), entity_name);
        if (entity) id = entity->id;
        else err = bw_fail(BW_ERR_SCHEMA_OBJECT_NOT_FOUND, "Entity '%s' not found", entity_name);
    }
    bw_core_leave(core);
    return err ? 0 : id;
}

static bw_err find_property(const struct schema *schema, obx_schema_id entity_id, const char *name,
                            obx_schema_id *out_id)
{
    if (!name) return bw_argument_null("property_name", __LINE__);
    const struct entity *entity = bw_schema_entity(schema, entity_id);
    if (!entity) {
        return bw_fail(BW_ERR_ILLEGAL_ARGUMENT, "Entity type ID not found in schema: %u",
                       entity_id);
    }
    const struct property *property = bw_entity_property_named(entity, name);
    if (!property) {
        return bw_fail(BW_ERR_SCHEMA_OBJECT_NOT_FOUND,
                       "Property '%s' not found in the given entity ID %u", name, entity_id);
    }
    *out_id = property->id;
    return BW_OK;
}

obx_schema_id obx_store_entity_property_id(OBX_store *store, obx_schema_id entity_id,
                                           const char *property_name)
{
    struct core *core = look_into(store, __LINE__);
    if (!core) return 0;
    obx_schema_id id = 0;
    bw_err err = find_property(bw_db_schema(core->db), entity_id, property_name, &id);
    bw_core_leave(core);
    return err ? 0 : id;
}

// ---- the asynchronous queue: nothing can have been queued ----

bool obx_store_await_async_completion(OBX_store *store) { return !CHECK_HANDLE(store, SLOT_STORE); }

bool obx_store_await_async_submitted(OBX_store *store) { return !CHECK_HANDLE(store, SLOT_STORE); }

// ---- weak references: an id and no more ----

struct OBX_weak_store {
    struct slot slot;
    uint64_t core_id;
};

static OBX_weak_store *new_weak(uint64_t core_id)
{
    OBX_weak_store *weak = bw_pool_take(SLOT_WEAK_STORE);
    if (!weak) return NULL;
    weak->core_id = core_id;
    bw_slot_open(weak);
    return weak;
}

OBX_weak_store *obx_weak_store(OBX_store *store)
{
    struct core *core = NULL;
    uint64_t core_id = 0;
    bw_err err = CORE_OF_STORE(store, &core, &core_id);
    return err ? NULL : new_weak(core_id);
}

OBX_weak_store *obx_weak_store_by_id(uint64_t store_id)
{
    struct core *core = bw_core_attach_id(store_id);
    if (!core) return NULL;
    bw_core_drop(core);
    return new_weak(store_id);
}

OBX_store *obx_weak_store_lock(OBX_weak_store *weak_store)
{
    bw_err err = CHECK_HANDLE(weak_store, SLOT_WEAK_STORE);
    return err ? NULL : bw_store_handle_new(bw_core_attach_id(weak_store->core_id));
}

void obx_weak_store_free(OBX_weak_store *weak_store)
{
    if (weak_store && !CHECK_HANDLE(weak_store, SLOT_WEAK_STORE)) bw_pool_give(weak_store);
}
