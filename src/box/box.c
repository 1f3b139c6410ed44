/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and removing objects of one entity. */
#include "box/db.h"

struct db *bw_box_db(const struct box *box) { return box->db; }

const struct entity *bw_box_entity(const struct box *box) { return box->entity; }

static bw_err check_id(const struct box *box, uint64_t id)
{
    if (LIKELY(id != 0)) return BW_OK;
    bw_err err = bw_fail(BW_ERR_ILLEGAL_ARGUMENT, "Illegal ID value: 0");
    bw_reason_place()->entity_id = box->entity->id;
    return err;
}

bw_err bw_box_get(struct box *box, struct txn *txn, uint64_t id, struct bytes *out_object,
                  bool *out_found)
{
    bw_err err = check_id(box, id);
    return err ? err : bw_tree_get(txn, box->tree_id, id, out_object, out_found);
}

bw_err bw_box_get_many(struct box *box, struct txn *txn, const uint64_t *ids, size_t count,
                       struct bytes *out_objects)
{
    for (size_t i = 0; i < count; i++) {
        bw_err err = check_id(box, ids[i]);
        if (err) return err;
    }
    return bw_tree_get_many(txn, box->tree_id, ids, count, out_objects);
}

bw_err bw_box_contains(struct box *box, struct txn *txn, uint64_t id, bool *out_found)
{
    struct bytes ignored;
    return bw_box_get(box, txn, id, &ignored, out_found);
}

static bw_err remove_one(struct box *box, struct txn *txn, uint64_t id, bool *out_removed)
{
    bw_err err = bw_tree_remove(txn, box->tree_id, id, out_removed);
    if (!err && *out_removed) box->is_changed = true;
    return err;
}

bw_err bw_box_remove(struct box *box, struct txn *txn, uint64_t id, bool *out_removed)
{
    ASSERT(bw_txn_writes(txn));
    bw_err err = check_id(box, id);
    if (!err) err = bw_box_touch(box, txn);
    return err ? err : remove_one(box, txn, id, out_removed);
}

bw_err bw_box_remove_many(struct box *box, struct txn *txn, const uint64_t *ids, size_t count,
                          uint64_t *out_removed)
{
    ASSERT(bw_txn_writes(txn));
    bw_err err = bw_box_touch(box, txn);
    for (size_t i = 0; i < count && !err; i++) err = check_id(box, ids[i]);
    uint64_t removed = 0;
    for (size_t i = 0; i < count && !err; i++) {
        bool is_removed;
        err = remove_one(box, txn, ids[i], &is_removed);
        if (!err) removed += is_removed;
    }
    if (!err) *out_removed = removed;
    return err;
}

bw_err bw_box_remove_all(struct box *box, struct txn *txn, uint64_t *out_removed)
{
    ASSERT(bw_txn_writes(txn));
    struct tree_stat stat;
    bw_err err = bw_box_touch(box, txn);
    if (!err) err = bw_tree_stat(txn, box->tree_id, &stat);
    if (!err && stat.count) {
        err = bw_tree_clear(txn, box->tree_id);
        if (!err) box->is_changed = true;
    }
    if (!err) *out_removed = stat.count;
    return err;
}

bw_err bw_box_count(struct box *box, struct txn *txn, uint64_t limit, uint64_t *out_count)
{
    struct tree_stat stat;
    bw_err err = bw_tree_stat(txn, box->tree_id, &stat);
    if (err) return err;
    *out_count = limit && stat.count > limit ? limit : stat.count;
    return BW_OK;
}

void bw_box_cursor(struct box *box, struct txn *txn, struct cursor *out_cursor)
{
    bw_cursor_init(out_cursor, txn, box->tree_id);
}
