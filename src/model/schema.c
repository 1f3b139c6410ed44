/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiled schemas: who owns them, how they are shared, and looking things up in them.
 *
 * A program opens the same model again and again, and bindings declare it anew each time. One table
 * for the process, keyed by the hash of the declared part, makes all of them one schema. What a
 * store remembers beyond the declared part is not shared: it is needed only when a model changes.
 *
 * Invariants:
 *   S1  What is in the table has no memory of a store, has passed bw_schema_check, and has an
 *       owner.
 *   S2  No two in the table have equal declared parts.
 *   S3  The last owner's release unlinks under the mutex before it frees.
 */
#include "model/compiled.h"
#include "model/text.h"
#include "os/os.h"

enum { CHAINS = 256 };

static struct {
    struct mutex mutex;
    struct compiled *chains[CHAINS]; /* mutex */
    bool knows_forks;                /* mutex */
} table;

bw_err bw_schema_no_memory(void)
{
    return bw_fail(BW_ERR_NO_MEMORY, "Could not get memory for a schema");
}

bw_err bw_schema_place(bw_err err, uint32_t entity_id, uint32_t property_id)
{
    struct reason_place *place = bw_reason_place();
    place->entity_id = entity_id;
    place->property_id = property_id;
    return err;
}

// ---- sharing ----

/* The child of a fork starts anew: another thread may have held the mutex when it was made. */
static void forget_in_child(void)
{
    table.mutex = (struct mutex){0};
    memset(table.chains, 0, sizeof(table.chains));
}

static struct compiled **chain_of(const uint8_t hash[16]) { return &table.chains[hash[0]]; }

/* Under the mutex. declared NULL: any. */
static struct compiled *find(const uint8_t hash[16], const struct bytes *declared)
{
    struct compiled *one = *chain_of(hash);
    for (; one; one = one->next) {
        if (memcmp(one->schema.hash, hash, 16) != 0) continue;
        if (!declared) break;
        if (one->declared.size == declared->size &&
            memcmp(one->declared.data, declared->data, declared->size) == 0)
            break;
    }
    if (one) atomic_fetch_add_explicit(&one->owners, 1, memory_order_relaxed);
    return one;
}

/* Under the mutex. Not sharing costs memory and nothing else, so a failure is none. */
static void share(struct compiled *compiled)
{
    if (!table.knows_forks) table.knows_forks = bw_on_fork(forget_in_child) == BW_OK;
    if (!table.knows_forks) return;
    struct compiled **chain = chain_of(compiled->schema.hash);
    compiled->next = *chain;
    compiled->is_shared = true;
    *chain = compiled;
}

struct schema *bw_schema_shared(const uint8_t hash[16])
{
    bw_mutex_lock(&table.mutex);
    struct compiled *found = find(hash, NULL);
    bw_mutex_unlock(&table.mutex);
    return found ? &found->schema : NULL;
}

static struct compiled *find_declared(struct bytes declared)
{
    uint8_t hash[16];
    bw_hash128(declared.data, declared.size, hash);
    bw_mutex_lock(&table.mutex);
    struct compiled *found = find(hash, &declared);
    bw_mutex_unlock(&table.mutex);
    return found;
}

bw_err bw_schema_from_declared(struct bytes declared, struct schema **out_schema)
{
    struct compiled *compiled = find_declared(declared);
    if (!compiled) {
        bw_err err = bw_schema_build(declared, (struct bytes){0}, &compiled);
        if (err) return err;
        err = bw_schema_check(&compiled->schema); // S1
        if (err) {
            bw_free(compiled);
            return err;
        }
        bw_mutex_lock(&table.mutex);
        struct compiled *earlier = find(compiled->schema.hash, &declared); // S2
        if (!earlier) share(compiled);
        bw_mutex_unlock(&table.mutex);
        if (earlier) {
            bw_free(compiled);
            compiled = earlier;
        }
    }
    *out_schema = &compiled->schema;
    return BW_OK;
}

struct schema *bw_schema_hold(struct schema *schema)
{
    if (schema)
        atomic_fetch_add_explicit(&((struct compiled *)schema)->owners, 1, memory_order_relaxed);
    return schema;
}

static void unlink_shared(struct compiled *compiled)
{
    struct compiled **link = chain_of(compiled->schema.hash);
    while (*link && *link != compiled) link = &(*link)->next;
    if (*link) *link = compiled->next;
}

void bw_schema_release(struct schema *schema)
{
    if (!schema) return;
    struct compiled *compiled = (struct compiled *)schema;
    uint32_t owners = atomic_load_explicit(&compiled->owners, memory_order_relaxed);
    while (owners > 1) {
        if (atomic_compare_exchange_weak_explicit(&compiled->owners, &owners, owners - 1,
                                                  memory_order_release, memory_order_relaxed))
            return;
    }
    // S3: nobody can find it anew while the mutex is held, so a count of 0 is final.
    bw_mutex_lock(&table.mutex);
    bool is_last = atomic_fetch_sub_explicit(&compiled->owners, 1, memory_order_acq_rel) == 1;
    if (is_last && compiled->is_shared) unlink_shared(compiled);
    bw_mutex_unlock(&table.mutex);
    if (is_last) bw_free(compiled);
}

// ---- looking up ----

const struct entity *bw_schema_entity(const struct schema *schema, uint32_t entity_id)
{
    const struct entity *entities = schema->entities;
    uint32_t from = 0, to = schema->entity_count;
    if (entity_id - 1 < to && entities[entity_id - 1].id == entity_id) // ids without gaps
        return &entities[entity_id - 1];
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (entities[middle].id < entity_id) from = middle + 1;
        else to = middle;
    }
    return from < schema->entity_count && entities[from].id == entity_id ? &entities[from] : NULL;
}

const struct entity *bw_schema_entity_named(const struct schema *schema, const char *name)
{
    for (uint32_t i = 0; i < schema->entity_count; i++)
        if (bw_text_is_same(schema->entities[i].name, name)) return &schema->entities[i];
    return NULL;
}

const struct property *bw_entity_property(const struct entity *entity, uint32_t property_id)
{
    const struct property *properties = entity->properties;
    uint32_t from = 0, to = entity->property_count;
    if (property_id - 1 < to && properties[property_id - 1].id == property_id)
        return &properties[property_id - 1];
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (properties[middle].id < property_id) from = middle + 1;
        else to = middle;
    }
    return from < entity->property_count && properties[from].id == property_id ? &properties[from]
                                                                               : NULL;
}

const struct property *bw_entity_property_named(const struct entity *entity, const char *name)
{
    const struct property *found = NULL;
    for (uint32_t i = 0; i < entity->property_count; i++) {
        const struct property *property = &entity->properties[i];
        if (strcmp(property->name, name) == 0) return property; // names may differ in case only
        if (!found && bw_text_is_same(property->name, name)) found = property;
    }
    return found;
}
