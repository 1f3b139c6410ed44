/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Salvage of a database: the store below finds values, this layer knows which of them are objects.
 *
 * With the schema only objects of its entities are taken, if they are what their entity says and
 * hold their own id. Without it every table under an id that an entity may have is taken: opening
 * the new database asks for a model then, and compares.
 */
#include "box/db.h"

#include "box/object.h"
#include "box/tree_ids.h"

enum { ENTITY_ID_MAX = 0xffffff };

struct rescue {
    const struct db_salvage_options *options; // borrowed
    struct schema *schema;                    // owned; NULL: lost
};

static bool take_schema(void *user, struct bytes blob, uint8_t out_hash[16])
{
    struct rescue *rescue = user;
    if (bw_schema_decode(blob, &rescue->schema)) return false;
    memcpy(out_hash, rescue->schema->hash, sizeof(rescue->schema->hash));
    return true;
}

static bool take_tree(void *user, uint32_t tree_id)
{
    const struct rescue *rescue = user;
    if (tree_id > ENTITY_ID_MAX) return false;
    return !rescue->schema || bw_schema_entity(rescue->schema, tree_id);
}

static bool take_object(void *user, uint32_t tree_id, uint64_t key, struct bytes value)
{
    const struct rescue *rescue = user;
    struct flat_table table;
    size_t field;
    const char *why;
    if (!rescue->schema) return bw_flat_verify(value, NULL, 0, &table, &field, &why);
    return !bw_object_problem(bw_schema_entity(rescue->schema, tree_id), key, value);
}

static void tell_tree(void *user, uint32_t tree_id, const struct salvage_count *count)
{
    const struct rescue *rescue = user;
    const struct entity *entity = rescue->schema ? bw_schema_entity(rescue->schema, tree_id) : NULL;
    if (rescue->options->tell) rescue->options->tell(rescue->options->user, tree_id, entity, count);
}

_Static_assert(TREES_OBJECTS == 0, "the tree of an entity has its id");

bw_err bw_db_salvage(const struct db_salvage_options *options, struct salvage_report *out_report)
{
    struct rescue rescue = {.options = options};
    const struct salvage_options store_options = {.disk = options->disk,
                                                  .from_directory = options->from_directory,
                                                  .to_directory = options->to_directory,
                                                  .file_mode = options->file_mode,
                                                  .durability = options->durability,
                                                  .progress = options->progress,
                                                  .takes_schema = take_schema,
                                                  .takes_tree = take_tree,
                                                  .takes_value = take_object,
                                                  .tell_tree = tell_tree,
                                                  .user = &rescue};
    bw_err err = bw_store_salvage(&store_options, out_report);
    bw_schema_release(rescue.schema);
    return err;
}
