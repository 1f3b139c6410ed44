/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Store handles.
 *
 * Most programs use one box of a store, so that one lies in the handle and is found without a lock;
 * room for others is made when a second entity is asked for.
 */
#include "api/store_handle.h"

static struct mutex making; // one box at a time, in the process: they are made once and kept

OBX_store *bw_store_handle_new(struct core *core)
{
    if (!core) return NULL;
    OBX_store *store = bw_pool_take(SLOT_STORE);
    if (!store) {
        bw_core_drop(core);
        return NULL;
    }
    atomic_store_explicit(&store->core, core, memory_order_relaxed);
    const uint64_t id = atomic_load_explicit(&core->id, memory_order_relaxed);
    atomic_store_explicit(&store->core_id, id, memory_order_relaxed);
    bw_slot_open(store);
    return store;
}

bw_err bw_store_handle_open(const struct options *options, OBX_store **out_store)
{
    struct core *core = NULL;
    bw_err err = bw_core_open(options, &core);
    if (err) return err;
    OBX_store *store = bw_store_handle_new(core);
    if (!store) return BW_ERR_NO_MEMORY;
    *out_store = store;
    return BW_OK;
}

// making
static void give_boxes(OBX_store *store, struct core *core)
{
    OBX_box *first = atomic_load(&store->first_box);
    if (first) bw_pool_give(first);
    struct box_table *others = atomic_load(&store->others);
    if (!others) return;
    for (uint32_t i = 0; i < others->count; i++) {
        OBX_box *box = atomic_exchange(&others->boxes[i], NULL);
        if (box) bw_pool_give(box);
    }
    others->next = core->spare_tables;
    core->spare_tables = others;
}

bw_err bw_store_handle_close(OBX_store *store, const char *name, int line)
{
    if (!bw_pool_owns(&bw_pool_shared, store) ||
        !bw_slot_change(store, SLOT_STORE, SLOT_OPEN, SLOT_CLOSED)) {
        return bw_argument_refuse(store, SLOT_STORE, name, line);
    }
    struct core *core = atomic_load(&store->core);
    bw_mutex_lock(&making); // a box that is being made for it is finished first
    give_boxes(store, core);
    bw_mutex_unlock(&making);
    bw_core_drop(core);
    bw_pool_give(store);
    return BW_OK;
}

// ---- boxes ----

static OBX_box *find_box(OBX_store *store, const struct schema *schema, const struct entity *entity)
{
    OBX_box *box = atomic_load_explicit(&store->first_box, memory_order_acquire);
    if (box && atomic_load_explicit(&box->entity_id, memory_order_relaxed) == entity->id)
        return box;
    struct box_table *others = atomic_load_explicit(&store->others, memory_order_acquire);
    if (!others) return NULL;
    return atomic_load_explicit(&others->boxes[entity - schema->entities], memory_order_acquire);
}

static bw_err make_box(OBX_store *store, struct core *core, uint32_t entity_id, OBX_box **out_box)
{
    struct box *inner = NULL;
    bw_err err = bw_db_box(core->db, entity_id, &inner);
    if (err) return err;
    OBX_box *box = bw_pool_take(SLOT_BOX);
    if (!box) return BW_ERR_NO_MEMORY;
    atomic_store_explicit(&box->core, core, memory_order_relaxed);
    const uint64_t id = atomic_load_explicit(&core->id, memory_order_relaxed);
    atomic_store_explicit(&box->core_id, id, memory_order_relaxed);
    atomic_store_explicit(&box->box, inner, memory_order_relaxed);
    atomic_store_explicit(&box->store, store, memory_order_relaxed);
    atomic_store_explicit(&box->entity_id, entity_id, memory_order_relaxed);
    bw_slot_open(box);
    *out_box = box;
    return BW_OK;
}

// making
static struct box_table *take_table(struct core *core, uint32_t count)
{
    struct box_table *table = core->spare_tables;
    if (table) {
        core->spare_tables = table->next;
        return table;
    }
    table = bw_new(sizeof(*table) + count * sizeof(table->boxes[0]));
    if (table) table->count = count;
    return table;
}

void bw_store_handle_free_tables(struct core *core)
{
    while (core->spare_tables) {
        struct box_table *table = core->spare_tables;
        core->spare_tables = table->next;
        bw_free(table);
    }
}

void bw_store_handle_after_fork(void) { making = (struct mutex){0}; }

// making
static bw_err add_box(OBX_store *store, struct core *core, const struct entity *entity,
                      OBX_box **out_box)
{
    const struct schema *schema = bw_db_schema(core->db);
    *out_box = find_box(store, schema, entity); // another thread may have been faster
    if (*out_box) return BW_OK;
    if (bw_tag_state(bw_slot_tag(store)) != SLOT_OPEN) return bw_argument_dead_store();
    const bool is_first = !atomic_load(&store->first_box);
    struct box_table *others = atomic_load(&store->others);
    if (!is_first && !others) {
        others = take_table(core, schema->entity_count);
        if (!others) return bw_fail(BW_ERR_NO_MEMORY, "No memory for boxes");
        atomic_store_explicit(&store->others, others, memory_order_release);
    }
    bw_err err = make_box(store, core, entity->id, out_box);
    if (err) return err;
    OBX_box *_Atomic *at = &store->first_box;
    if (!is_first) at = &others->boxes[entity - schema->entities];
    atomic_store_explicit(at, *out_box, memory_order_release);
    return BW_OK;
}

static bw_err box_of(OBX_store *store, struct core *core, uint32_t entity_id, OBX_box **out_box)
{
    const struct schema *schema = bw_db_schema(core->db);
    const struct entity *entity = bw_schema_entity(schema, entity_id);
    if (!entity) {
        return bw_fail(BW_ERR_ILLEGAL_ARGUMENT, "Entity type ID not found in schema: %u",
                       entity_id);
    }
    *out_box = find_box(store, schema, entity);
    if (*out_box) return BW_OK;
    bw_mutex_lock(&making);
    bw_err err = add_box(store, core, entity, out_box);
    bw_mutex_unlock(&making);
    return err;
}

bw_err bw_store_handle_box(OBX_store *store, uint32_t entity_id, OBX_box **out_box)
{
    struct core *core = NULL;
    uint64_t core_id = 0;
    bw_err err = CORE_OF_STORE(store, &core, &core_id);
    if (!err) err = bw_core_enter_closing(core, core_id);
    if (err) return err;
    err = box_of(store, core, entity_id, out_box);
    bw_core_leave(core);
    return err;
}
