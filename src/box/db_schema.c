/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The schema in the store: compared at open, changed there and then, carried by the first commit.
 *
 * Invariants:
 *   Y1  Every commit of a db leaves a schema in the store. So a store without one has no commit, or
 *       comes from a salvage; and a new store's schema costs no commit of its own unless nothing is
 *       ever put.
 *   Y2  A changed schema, the data that goes with what was removed, and fields that have to be
 *       verified once more are one commit.
 *   Y3  A stored object holds nothing in a property's slot, or what was verified as that property;
 *       a field in any other slot is noted in the schema's memory, by the same commit.
 */
#include "box/db.h"

#include "box/object.h"
#include "box/tree_ids.h"

static bool is_zero(const uint8_t hash[16])
{
    static const uint8_t zero[16];
    return memcmp(hash, zero, sizeof(zero)) == 0;
}

bw_err bw_db_carry_schema(struct db *db, struct txn *txn)
{
    uint8_t hash[16];
    bw_err err = bw_txn_schema_hash(txn, hash);
    if (err || !is_zero(hash)) return err;
    return bw_txn_set_schema(txn, db->schema->hash, db->schema->blob); // Y1
}

// ---- strangers: fields that no property names ----

bw_err bw_box_note_strangers(struct box *box, struct txn *txn)
{
    struct db *db = box->db;
    if (box->marked_no == db->write_no) return BW_OK;
    bw_err err = bw_db_carry_schema(db, txn);
    if (err) return err;
    struct bytes blob;
    struct schema *stored = NULL, *marked = NULL;
    err = bw_txn_schema(txn, &blob);
    if (!err) err = bw_schema_decode(blob, &stored);
    if (!err) err = bw_schema_mark_strangers(stored, box->entity->id, &marked);
    if (!err && marked) err = bw_txn_set_schema(txn, marked->hash, marked->blob); // Y3
    if (!err) box->marked_no = db->write_no;
    bw_schema_release(stored);
    bw_schema_release(marked);
    return err;
}

/* Take fields out of the object until what is left can be verified. */
static bw_err clean(const struct flat_fields *fields, uint8_t *object, size_t size)
{
    const struct bytes bytes = {object, size};
    struct flat_table table;
    size_t field;
    const char *why;
    while (!bw_flat_verify_object(bytes, fields, &table, &field, &why)) {
        bool is_table = bw_flat_verify(bytes, NULL, 0, &table, &(size_t){0}, &why);
        if (!is_table || field == fields->count)
            return bw_fail(BW_ERR_FILE_CORRUPT, "A stored object is damaged: %s", why);
        size_t at = (size_t)(table.vtable - object) + 4 + 2 * (size_t)fields->items[field].slot;
        bw_put_u16(object + at, 0);
    }
    return BW_OK;
}

static bw_err rewrite(struct txn *txn, uint32_t tree_id, const struct flat_fields *fields,
                      const struct cursor *cursor)
{
    size_t size = cursor->value.size;
    uint8_t *copy = bw_new_raw(size);
    if (!copy) return bw_fail(BW_ERR_NO_MEMORY, "Could not get memory to verify an object");
    memcpy(copy, cursor->value.data, size);
    bw_err err = clean(fields, copy, size);
    if (!err) err = bw_tree_put(txn, tree_id, cursor->key, (struct bytes){copy, size}, NULL);
    bw_free(copy);
    return err;
}

/* Verify all objects of an entity that got a property. */
static bw_err verify_objects(struct txn *txn, const struct entity *entity)
{
    const uint32_t tree_id = bw_tree_id(TREES_OBJECTS, entity->id);
    const struct flat_fields fields = bw_object_fields(entity);
    struct cursor cursor;
    bw_cursor_init(&cursor, txn, tree_id);
    for (;;) {
        bool is_found;
        bw_err err = bw_cursor_next(&cursor, &is_found);
        if (err || !is_found) return err;
        struct flat_table table;
        size_t field;
        const char *why;
        if (bw_flat_verify_object(cursor.value, &fields, &table, &field, &why)) continue;
        err = rewrite(txn, tree_id, &fields, &cursor);
        if (err) return err;
    }
}

// ---- a model that differs ----

// Y2
static bw_err carry_out(struct txn *txn, const struct schema_change *change)
{
    bw_err err = BW_OK;
    for (uint32_t i = 0; i < change->dropped_count && !err; i++)
        err = bw_tree_drop(txn, bw_tree_id(TREES_OBJECTS, change->dropped[i]));
    for (uint32_t i = 0; i < change->unverified_count && !err; i++)
        err = verify_objects(txn, bw_schema_entity(change->merged, change->unverified[i]));
    return err ? err : bw_txn_set_schema(txn, change->merged->hash, change->merged->blob);
}

static bw_err change_schema(struct db *db, const struct schema_change *change)
{
    struct txn *txn;
    bw_err err = bw_txn_begin(db->store, TXN_WRITE, 0, &txn);
    if (err) return err;
    err = carry_out(txn, change);
    if (!err) return bw_txn_commit(txn);
    bw_txn_abort(txn);
    return err;
}

static bw_err adopt_changed(struct db *db, const struct schema *stored, struct schema *declared)
{
    struct schema_change change = {0};
    bw_err err = bw_schema_adopt(stored, declared, &change);
    if (!err) err = change_schema(db, &change);
    bw_schema_change_deinit(&change);
    return err;
}

// ---- data without a schema, as salvage may leave it ----

/* Does an object hold what the model says? *in_out_strangers: and fields of no property. */
static bw_err compare_object(const struct entity *entity, const struct cursor *at,
                             bool *in_out_strangers)
{
    const char *why = bw_object_problem(entity, at->key, at->value);
    if (why)
        return bw_fail(BW_ERR_SCHEMA,
                       "The store has lost its schema, and this model does not fit its objects: "
                       "entity %s, object %llu: %s",
                       entity->name, (unsigned long long)at->key, why);
    const struct flat_table table = bw_flat_open(at->value.data);
    *in_out_strangers |= bw_flat_has_strangers(&table, entity->fields, entity->property_count);
    return BW_OK;
}

static bw_err compare_objects(struct txn *txn, const struct entity *entity,
                              struct schema **in_out_schema)
{
    struct cursor cursor;
    bool has_strangers = false, found = true;
    bw_err err = BW_OK;
    bw_cursor_init(&cursor, txn, bw_tree_id(TREES_OBJECTS, entity->id));
    while (!err && found) {
        err = bw_cursor_next(&cursor, &found);
        if (!err && found) err = compare_object(entity, &cursor, &has_strangers);
    }
    struct schema *marked = NULL;
    if (!err && has_strangers) err = bw_schema_mark_strangers(*in_out_schema, entity->id, &marked);
    if (err || !marked) return err;
    bw_schema_release(*in_out_schema);
    *in_out_schema = marked; // Y3
    return BW_OK;
}

/* Y3 must hold for every object before any is read. */
static bw_err adopt_unknown(struct db *db, const struct schema *declared)
{
    struct txn *txn;
    struct schema *schema = NULL;
    bw_err err = bw_schema_decode(declared->blob, &schema);
    if (!err) err = bw_txn_begin(db->store, TXN_WRITE, 0, &txn);
    if (err) {
        bw_schema_release(schema);
        return err;
    }
    for (uint32_t i = 0; i < declared->entity_count && !err; i++)
        err = compare_objects(txn, &declared->entities[i], &schema);
    if (!err) err = bw_txn_set_schema(txn, schema->hash, schema->blob);
    bw_schema_release(schema);
    if (!err) return bw_txn_commit(txn);
    bw_txn_abort(txn);
    return err;
}

// ---- opening ----

/* Without a model: what the store says. */
static bw_err use_stored(struct db *db, struct txn *reader, const uint8_t hash[16])
{
    if (is_zero(hash)) return bw_fail(BW_ERR_ILLEGAL_STATE, "No DB catalog present");
    db->schema = bw_schema_shared(hash);
    if (db->schema) return BW_OK;
    struct bytes blob;
    struct schema *stored = NULL;
    bw_err err = bw_txn_schema(reader, &blob);
    if (!err) err = bw_schema_decode_declared(blob, &stored);
    if (err) return err;
    if (memcmp(stored->hash, hash, sizeof(stored->hash)) != 0) {
        bw_schema_release(stored);
        return bw_fail(BW_ERR_FILE_CORRUPT, "The schema in the file is not the one it should be");
    }
    db->schema = stored;
    return BW_OK;
}

/* With a model that is not the stored one: what it would change. */
static bw_err read_stored(const struct db *db, struct txn *reader, struct schema **out_stored)
{
    if (db->is_read_only)
        return bw_fail(BW_ERR_ILLEGAL_STATE,
                       "Can not update schema when opening in read-only mode");
    struct bytes blob;
    bw_err err = bw_txn_schema(reader, &blob);
    return err ? err : bw_schema_decode(blob, out_stored);
}

bw_err bw_db_adopt_schema(struct db *db, struct schema *declared)
{
    struct txn *reader;
    uint8_t hash[16];
    struct schema *stored = NULL; // if it differs
    bw_err err = bw_txn_begin(db->store, TXN_READ, 0, &reader);
    if (err) return err;
    err = bw_txn_schema_hash(reader, hash);
    if (!err && !declared) err = use_stored(db, reader, hash);
    bool differs = declared && memcmp(hash, declared->hash, sizeof(hash)) != 0;
    if (!err && differs && !is_zero(hash)) err = read_stored(db, reader, &stored);
    const bool is_unknown = declared && is_zero(hash) && bw_txn_id(reader);
    bw_txn_abort(reader);

    if (!err && stored) err = adopt_changed(db, stored, declared);
    if (!err && is_unknown) err = adopt_unknown(db, declared);
    if (!err && declared) db->schema = bw_schema_hold(declared);
    bw_schema_release(stored);
    return err;
}
