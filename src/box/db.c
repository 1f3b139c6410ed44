/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An open database: its store, its boxes, and what its transactions need beyond the store's.
 *
 * Boxes are made when they are first asked for, so that a store with a thousand entities opens like
 * one with a single one.
 *
 * Invariants:
 *   X1  Boxes are ordered by entity id and live until the db closes.
 *   X2  touched lists the boxes that the open write transaction may have changed; a box is on it
 *       before the first change. So bytes_before is the state of the last commit.
 *   X3  The sequence of each changed entity is saved by the commit that carries the change.
 */
#include "box/db.h"

#include "box/object.h"
#include "box/tree_ids.h"

// ---- open and close ----

bw_err bw_db_open(const struct db_options *options, struct db **out_db)
{
    struct db *db = bw_new(sizeof(*db));
    if (!db) return bw_fail(BW_ERR_NO_MEMORY, "Could not get memory for a store");
    db->data_max = options->data_max;
    db->padding = options->padding;
    db->is_read_only = options->store.read_only;
    struct store_options store_options = options->store;
    store_options.must_exist |= !options->schema;
    bw_err err = bw_store_open(&store_options, &db->store);
    if (err) {
        bw_free(db);
        return err;
    }
    err = bw_db_adopt_schema(db, options->schema);
    if (err) bw_db_close(db);
    else *out_db = db;
    return err;
}

bw_err bw_db_keep_schema(struct db *db)
{
    struct store_info info;
    bw_store_info(db->store, &info);
    if (!db->schema || info.has_commit || db->is_read_only) return BW_OK;
    struct txn *txn = NULL;
    bw_err err = bw_db_begin(db, TXN_WRITE, 0, &txn);
    if (err) return err;
    err = bw_db_carry_schema(db, txn);
    if (!err) return bw_txn_commit(txn);
    bw_txn_abort(txn);
    return err;
}

void bw_db_close(struct db *db)
{
    if (!db) return;
    if (!bw_store_is_poisoned(db->store)) {
        bw_err ignored = bw_db_keep_schema(db); // the model comes again with the next open
        (void)ignored;
    }
    bw_store_close(db->store);
    for (uint32_t i = 0; i < db->box_count; i++) bw_free(db->boxes[i]);
    bw_free(db->boxes);
    bw_schema_release(db->schema);
    bw_free(db);
}

struct store *bw_db_store(struct db *db) { return db->store; }

const struct schema *bw_db_schema(struct db *db) { return db->schema; }

// ---- boxes ----

/* Under the mutex. The place of the entity's box, there or not. */
static uint32_t find_box(const struct db *db, uint32_t entity_id)
{
    uint32_t from = 0, to = db->box_count;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (db->boxes[middle]->entity->id < entity_id) from = middle + 1;
        else to = middle;
    }
    return from;
}

static struct box *new_box(struct db *db, const struct entity *entity)
{
    struct box *box = bw_new(sizeof(*box));
    if (!box) return NULL;
    box->db = db;
    box->entity = entity;
    box->tree_id = bw_tree_id(TREES_OBJECTS, entity->id);
    box->is_self_assignable = entity->id_property->flags & FLAG_ID_SELF_ASSIGNABLE;
    box->fields = bw_object_fields(entity);
    for (uint32_t i = 0; i < entity->property_count; i++)
        if (entity->properties[i].flags & FLAG_UNIQUE) box->unique = &entity->properties[i];
    box->has_gaps = entity->fields[entity->property_count - 1].slot + 1u != entity->property_count;
    return box;
}

/* Under the mutex. */
static bw_err add_box(struct db *db, const struct entity *entity, uint32_t at)
{
    if (db->box_count == db->box_room) {
        uint32_t room = db->box_room ? db->box_room * 2 : 1;
        struct box **boxes = bw_resize(db->boxes, room * sizeof(struct box *));
        if (!boxes) return bw_fail(BW_ERR_NO_MEMORY, "Could not get memory for a box");
        db->boxes = boxes;
        db->box_room = room;
    }
    struct box *box = new_box(db, entity);
    if (!box) return bw_fail(BW_ERR_NO_MEMORY, "Could not get memory for a box");
    memmove(db->boxes + at + 1, db->boxes + at, (db->box_count - at) * sizeof(struct box *));
    db->boxes[at] = box;
    db->box_count++;
    return BW_OK;
}

bw_err bw_db_box(struct db *db, uint32_t entity_id, struct box **out_box)
{
    const struct entity *entity = bw_schema_entity(db->schema, entity_id);
    if (!entity)
        return bw_fail(BW_ERR_ILLEGAL_ARGUMENT, "Entity type ID not found in schema: %u",
                       entity_id);
    bw_err err = BW_OK;
    bw_mutex_lock(&db->mutex);
    uint32_t at = find_box(db, entity_id);
    if (at == db->box_count || db->boxes[at]->entity != entity) err = add_box(db, entity, at); // X1
    if (!err) *out_box = db->boxes[at];
    bw_mutex_unlock(&db->mutex);
    return err;
}

// ---- transactions ----

bw_err bw_db_begin(struct db *db, enum txn_mode mode, int64_t wait_ms, struct txn **out_txn)
{
    if (mode == TXN_WRITE && db->is_read_only)
        return bw_fail(BW_ERR_ILLEGAL_STATE,
                       "Cannot start a write transaction from read only store");
    bw_err err = bw_txn_begin(db->store, mode, wait_ms, out_txn);
    if (err || mode != TXN_WRITE) return err;
    db->write_no++;
    db->touched = NULL;
    return BW_OK;
}

bw_err bw_box_touch(struct box *box, struct txn *txn)
{
    struct db *db = box->db;
    if (LIKELY(box->touched_no == db->write_no)) return BW_OK;
    bw_err err = bw_box_load_ids(box, txn);
    if (err) return err;
    struct tree_stat stat;
    err = bw_tree_stat(txn, box->tree_id, &stat);
    if (err) return err;
    box->bytes_before = stat.bytes; // X2
    box->is_changed = false;
    box->touched_no = db->write_no;
    box->next_touched = db->touched;
    db->touched = box;
    return BW_OK;
}

bw_err bw_db_data_size(struct db *db, struct txn *txn, uint64_t *out_committed, int64_t *out_change)
{
    uint64_t total = 0, change = 0; // modulo 2^64, like the difference
    struct tree_stat stat;
    for (uint32_t i = 0; i < db->schema->entity_count; i++) {
        uint32_t tree_id = bw_tree_id(TREES_OBJECTS, db->schema->entities[i].id);
        bw_err err = bw_tree_stat(txn, tree_id, &stat);
        if (err) return err;
        total += stat.bytes;
    }
    for (struct box *box = bw_txn_writes(txn) ? db->touched : NULL; box; box = box->next_touched) {
        bw_err err = bw_tree_stat(txn, box->tree_id, &stat);
        if (err) return err;
        change += stat.bytes - box->bytes_before;
    }
    *out_committed = total - change;
    *out_change = (int64_t)change;
    return BW_OK;
}

/* What lowers the sum passes, also while it is above the limit. */
static bw_err check_data_max(struct db *db, struct txn *txn)
{
    if (!db->data_max) return BW_OK;
    uint64_t committed;
    int64_t change;
    bw_err err = bw_db_data_size(db, txn, &committed, &change);
    if (err || change <= 0) return err;
    uint64_t total = committed + (uint64_t)change;
    if (total <= db->data_max) return BW_OK;
    return bw_fail(BW_ERR_MAX_DATA_SIZE_EXCEEDED, "Exceeded user-set maximum by [bytes]: %llu",
                   (unsigned long long)(total - db->data_max));
}

static bw_err save_sequences(struct db *db, struct txn *txn)
{
    for (struct box *box = db->touched; box; box = box->next_touched) {
        if (!box->is_changed) continue;
        struct tree_stat stat;
        bw_err err = bw_tree_stat(txn, box->tree_id, &stat);
        uint64_t last_id = atomic_load(&box->last_id);
        if (!err && last_id > stat.sequence)
            err = bw_tree_set_sequence(txn, box->tree_id, last_id); // X3
        if (err) return err;
    }
    return BW_OK;
}

bw_err bw_db_commit(struct db *db, struct txn *txn)
{
    if (!bw_txn_writes(txn) || !bw_txn_changed(txn)) return bw_txn_commit(txn);
    bw_err err = check_data_max(db, txn);
    if (!err) err = save_sequences(db, txn);
    if (!err) err = bw_db_carry_schema(db, txn);
    if (err) {
        bw_txn_abort(txn);
        return err;
    }
    return bw_txn_commit(txn);
}
