/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Putting objects: one under an explicit id, one with the id in its bytes, many at once.
 *
 * Invariants:
 *   U1  What refuses an object comes before the first change for it, so that a transaction goes on
 *       after a refusal; of put_many, before the first change for any.
 *   U2  Equal bytes are not written again.
 *
 * Not here: batches packed into one buffer (box_packed.c).
 */
#include "box/id_set.h"
#include "box/object.h"

enum { AHEAD = 8 }; // objects of a batch that are on their way from memory

static bw_err check_mode(enum put_mode mode)
{
    if (mode >= PUT_ANY && mode <= PUT_NEW) return BW_OK;
    return bw_fail(BW_ERR_ILLEGAL_ARGUMENT, "Illegal put mode: %d", (int)mode);
}

/* Before the first put of a call, with ids up to id_max; gives the highest id that is stored. */
static bw_err begin(struct box *box, struct txn *txn, uint64_t id_max, uint64_t *out_stored_max)
{
    ASSERT(bw_txn_writes(txn));
    struct tree_stat stat;
    bw_err err = bw_box_touch(box, txn);
    if (!err) err = bw_tree_stat(txn, box->tree_id, &stat);
    if (err) return err;
    bw_box_note_id(box, id_max);
    *out_stored_max = stat.max_key;
    return BW_OK;
}

/* Nothing is looked up for an id behind *stored_max, the highest one that may be stored. */
static bw_err put_next(struct box *box, struct txn *txn, uint64_t id, const struct object *object,
                       enum put_mode mode, uint64_t *stored_max)
{
    struct bytes stored;
    bool is_found = false;
    bw_err err = id > *stored_max ? BW_OK : bw_tree_get(txn, box->tree_id, id, &stored, &is_found);
    if (err) return err;
    if (is_found && mode == PUT_INSERT) return BW_ERR_ID_ALREADY_EXISTS;
    if (!is_found && mode == PUT_UPDATE) return BW_ERR_ID_NOT_FOUND;
    if (is_found && bw_object_is_stored(object, id, stored)) return BW_OK; // U2
    err = bw_object_store(box, txn, id, object, false);
    if (!err && id > *stored_max) *stored_max = id;
    return err;
}

static bw_err put(struct box *box, struct txn *txn, uint64_t id, const struct object *object,
                  enum put_mode mode)
{
    uint64_t stored_max;
    bw_err err = begin(box, txn, id, &stored_max);
    return err ? err : put_next(box, txn, id, object, mode, &stored_max);
}

static bw_err explain(const struct box *box, uint64_t id, bw_err err)
{
    switch (err) {
    case BW_ERR_ID_ALREADY_EXISTS:
        return bw_box_id_exists(box, id);
    case BW_ERR_ID_NOT_FOUND:
        return bw_box_id_missing(box, id);
    default:
        return err;
    }
}

bw_err bw_box_put(struct box *box, struct txn *txn, uint64_t id, struct bytes object,
                  enum put_mode mode)
{
    bw_err err = check_mode(mode);
    if (!err) err = bw_box_check_explicit_id(box, id);
    if (err) return err;
    err = bw_object_check(box, object, &(struct flat_pattern){0});
    if (err) {
        bw_reason_place()->id = id;
        return err;
    }
    const struct object checked = bw_object_of(box, object);
    return explain(box, id, put(box, txn, id, &checked, mode));
}

// ---- the id in the bytes ----

static bw_err put_new(struct box *box, struct txn *txn, const struct object *object, uint8_t *bytes,
                      uint64_t *out_id)
{
    uint64_t id;
    bw_err err = bw_box_reserve(box, txn, 1, &id);
    if (err) return err;
    bw_put_u64(bytes + object->id_at, id);
    err = put(box, txn, id, object, PUT_NEW);
    if (!err) *out_id = id;
    return err;
}

bw_err bw_box_put_object(struct box *box, struct txn *txn, uint8_t *object, size_t size,
                         enum put_mode mode, uint64_t *out_id)
{
    const struct bytes bytes = {object, size};
    bw_err err = check_mode(mode);
    if (!err) err = bw_object_check(box, bytes, &(struct flat_pattern){0});
    if (err) return err;
    const struct object checked = bw_object_of(box, bytes);
    if (!checked.id_at) return bw_object_no_id(box);

    uint64_t id = bw_object_id(&checked);
    bool is_new = id == 0 || id == BOX_ID_NEW;
    if (is_new && mode == PUT_UPDATE)
        return bw_fail(BW_ERR_ILLEGAL_ARGUMENT,
                       "Putting object failed because ID is not set (zero) for object to update");
    if (is_new) return put_new(box, txn, &checked, object, out_id);

    err = bw_box_check_given_id(box, txn, id,
                                mode == PUT_UPDATE ? BW_ERR_ID_NOT_FOUND : BW_ERR_ILLEGAL_ARGUMENT);
    if (err) return err;
    err = put(box, txn, id, &checked, mode);
    if (err == BW_ERR_ID_ALREADY_EXISTS) {
        *out_id = 0;
        return BW_OK;
    }
    if (err) return explain(box, id, err);
    if (box->is_self_assignable) bw_box_raise_sequence(box, id);
    *out_id = id;
    return BW_OK;
}

// ---- many ----

static bw_err at_index(bw_err err, size_t index)
{
    bw_reason_place()->index = index;
    return err;
}

/* U1: everything but whether ids exist. */
static bw_err check_many(const struct box *box, const struct bytes *objects, const uint64_t *ids,
                         size_t count)
{
    struct flat_pattern pattern = {0};
    for (size_t i = 0; i < count; i++) {
        if (i + AHEAD < count) PREFETCH(objects[i + AHEAD].data);
        bw_err err = bw_box_check_explicit_id(box, ids[i]);
        if (!err) err = bw_object_check(box, objects[i], &pattern);
        if (err) return at_index(err, i);
    }
    return BW_OK;
}

/* U1: whether ids exist, in the store or, for INSERT, earlier in the batch. */
static bw_err check_existence(struct box *box, struct txn *txn, const uint64_t *ids, size_t count,
                              enum put_mode mode)
{
    struct id_set seen = {0};
    bw_err err = BW_OK;
    bool is_insert = mode == PUT_INSERT, is_ascending = true;
    for (size_t i = 1; i < count; i++) is_ascending &= ids[i - 1] < ids[i];
    if (is_insert && !is_ascending) err = bw_id_set_init(&seen, count);
    for (size_t i = 0; i < count && !err; i++) {
        struct bytes stored;
        bool is_found, is_repeated = seen.slots && !bw_id_set_add(&seen, ids[i]);
        err = bw_tree_get(txn, box->tree_id, ids[i], &stored, &is_found);
        if (!err && is_insert && (is_found || is_repeated)) err = BW_ERR_ID_ALREADY_EXISTS;
        if (!err && !is_insert && !is_found) err = BW_ERR_ID_NOT_FOUND;
    }
    bw_id_set_deinit(&seen);
    return err;
}

// Seven parameters: a struct for two arrays, their length and two choices would hide more than it
// holds together. NOLINTNEXTLINE(readability-function-size)
bw_err bw_box_put_many(struct box *box, struct txn *txn, const struct bytes *objects,
                       const uint64_t *ids, size_t count, enum put_mode mode, bool keep_going)
{
    bw_err err = check_mode(mode);
    if (!err) err = check_many(box, objects, ids, count);
    bool asks_existence = mode == PUT_INSERT || mode == PUT_UPDATE;
    if (!err && asks_existence && !keep_going) err = check_existence(box, txn, ids, count, mode);
    if (err) return err;

    bw_err first_refusal = BW_OK;
    uint64_t stored_max = 0, id_max = 0;
    for (size_t i = 0; i < count; i++) id_max = ids[i] > id_max ? ids[i] : id_max;
    if (count) err = begin(box, txn, id_max, &stored_max);
    if (err) return err;
    for (size_t i = 0; i < count; i++) {
        if (i + AHEAD < count) PREFETCH(objects[i + AHEAD].data);
        const struct object object = bw_object_of(box, objects[i]);
        err = put_next(box, txn, ids[i], &object, mode, &stored_max);
        bool is_refusal = err == BW_ERR_ID_ALREADY_EXISTS || err == BW_ERR_ID_NOT_FOUND;
        if (err && !is_refusal) return at_index(err, i);
        if (err && !first_refusal) first_refusal = err;
    }
    return first_refusal;
}
