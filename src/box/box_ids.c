/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ids of objects: handing out new ones, judging given ones.
 *
 * Invariants:
 *   I1  last_id is the last id handed out: no id up to it is handed out again. It is saved with
 *       each commit that changes the entity's objects; after opening it is the higher of what was
 *       saved and the highest id that is stored.
 *   I2  high_id is at least the highest id under which anything is stored, committed or not. An id
 *       above it is free without looking.
 *   I3  An id that is stored is never handed out. Explicit puts may lie beyond the sequence: if the
 *       next id is taken, the sequence goes on behind the highest stored one.
 *
 * Both numbers only grow, so threads raise them without a lock.
 */
#include "box/db.h"

enum { RESERVE_MAX = 10000 };

static void raise_to(_Atomic uint64_t *number, uint64_t to)
{
    uint64_t seen = atomic_load_explicit(number, memory_order_relaxed);
    while (seen < to && !atomic_compare_exchange_weak(number, &seen, to)) {
    }
}

static bw_err place(const struct box *box, uint64_t id, bw_err err)
{
    bw_reason_place()->entity_id = box->entity->id;
    bw_reason_place()->id = id;
    return err;
}

void bw_box_note_id(struct box *box, uint64_t id) { raise_to(&box->high_id, id); }

void bw_box_raise_sequence(struct box *box, uint64_t id) { raise_to(&box->last_id, id); }

/*
 * A transaction that sees all that can be seen: the caller's write transaction, else a fresh one.
 */
static bw_err look(struct box *box, struct txn *txn, struct txn **out_txn)
{
    *out_txn = txn;
    if (txn && bw_txn_writes(txn)) return BW_OK;
    return bw_txn_begin(box->db->store, TXN_READ, 0, out_txn);
}

static void stop_looking(struct txn *look, const struct txn *given)
{
    if (look != given) bw_txn_abort(look);
}

bw_err bw_box_load_ids(struct box *box, struct txn *txn)
{
    if (LIKELY(atomic_load_explicit(&box->is_loaded, memory_order_acquire))) return BW_OK;
    struct txn *reader;
    bw_err err = look(box, txn, &reader);
    if (err) return err;
    struct tree_stat stat;
    err = bw_tree_stat(reader, box->tree_id, &stat);
    stop_looking(reader, txn);
    if (err) return err;
    raise_to(&box->last_id, stat.sequence > stat.max_key ? stat.sequence : stat.max_key); // I1
    raise_to(&box->high_id, stat.max_key);                                                // I2
    atomic_store_explicit(&box->is_loaded, true, memory_order_release);
    return BW_OK;
}

static bw_err contains(struct box *box, struct txn *txn, uint64_t id, bool *out_found)
{
    *out_found = false;
    if (id > atomic_load(&box->high_id)) return BW_OK; // I2
    struct txn *reader;
    bw_err err = look(box, txn, &reader);
    if (err) return err;
    struct bytes ignored;
    err = bw_tree_get(reader, box->tree_id, id, &ignored, out_found);
    stop_looking(reader, txn);
    return err;
}

/* If an id from *in_out_first on is taken within `count`, move behind the highest stored one. */
static bw_err step_over(struct box *box, struct txn *txn, uint64_t count, uint64_t *in_out_first)
{
    struct txn *reader;
    bw_err err = look(box, txn, &reader);
    if (err) return err;
    struct cursor cursor;
    bool is_found;
    bw_cursor_init(&cursor, reader, box->tree_id);
    err = bw_cursor_seek(&cursor, *in_out_first, &is_found);
    if (!err && is_found && cursor.key - *in_out_first < count) {
        struct tree_stat stat;
        err = bw_tree_stat(reader, box->tree_id, &stat);
        if (!err) *in_out_first = stat.max_key + 1;
    }
    stop_looking(reader, txn);
    return err;
}

/* The first of `count` free ids behind `last`. */
static bw_err next_free(struct box *box, struct txn *txn, uint64_t last, uint64_t count,
                        uint64_t *out_first)
{
    uint64_t first = last + 1;
    if (last < BOX_ID_MAX && first <= atomic_load(&box->high_id)) { // I2, I3
        bw_err err = step_over(box, txn, count, &first);
        if (err) return err;
    }
    if (last >= BOX_ID_MAX || first > BOX_ID_MAX || count - 1 > BOX_ID_MAX - first) {
        bw_err err =
            bw_fail(BW_ERR_NUMERIC_OVERFLOW,
                    "The ID sequence of entity %s has no %llu IDs left (last ID: %llu)",
                    box->entity->name, (unsigned long long)count, (unsigned long long)last);
        return place(box, last, err);
    }
    *out_first = first;
    return BW_OK;
}

bw_err bw_box_reserve(struct box *box, struct txn *txn, uint64_t count, uint64_t *out_first)
{
    ASSERT(count > 0);
    bw_err err = bw_box_load_ids(box, txn);
    if (err) return err;
    uint64_t first = 0, last = atomic_load(&box->last_id);
    do {
        err = next_free(box, txn, last, count, &first);
        if (err) return err;
    } while (!atomic_compare_exchange_weak(&box->last_id, &last, first + count - 1));
    *out_first = first;
    return BW_OK;
}

bw_err bw_box_check_explicit_id(const struct box *box, uint64_t id)
{
    if (LIKELY(id != 0 && id != BOX_ID_NEW)) return BW_OK;
    return place(box, id,
                 bw_fail(BW_ERR_ILLEGAL_ARGUMENT, "Illegal ID value: %lld", (long long)id));
}

bw_err bw_box_id_exists(const struct box *box, uint64_t id)
{
    return place(box, id,
                 bw_fail(BW_ERR_ID_ALREADY_EXISTS, "Insert failed, given ID already exists: %llu",
                         (unsigned long long)id));
}

bw_err bw_box_id_missing(const struct box *box, uint64_t id)
{
    return place(box, id,
                 bw_fail(BW_ERR_ID_NOT_FOUND, "Update failed, given ID doesn't exist: %llu",
                         (unsigned long long)id));
}

bw_err bw_box_check_given_id(struct box *box, struct txn *txn, uint64_t id, bw_err if_unknown)
{
    bw_err err = bw_box_load_ids(box, txn);
    if (err) return err;
    uint64_t last = atomic_load(&box->last_id);
    if (id <= last && id != BOX_ID_NEW) return BW_OK;
    bool is_update = if_unknown == BW_ERR_ID_NOT_FOUND;
    if (box->is_self_assignable && !is_update) return bw_box_check_explicit_id(box, id);
    bool is_stored;
    err = contains(box, txn, id, &is_stored);
    if (err || is_stored) return err;
    err = bw_fail(if_unknown,
                  "ID is higher or equal to internal ID sequence: %llu (vs. %llu). Use ID 0 (zero) "
                  "to insert new objects.",
                  (unsigned long long)id, (unsigned long long)last + 1);
    return place(box, id, err);
}

bw_err bw_box_id_for_put(struct box *box, struct txn *txn, uint64_t candidate, uint64_t *out_id)
{
    if (candidate == 0) return bw_box_reserve(box, txn, 1, out_id);
    bw_err err = bw_box_check_given_id(box, txn, candidate, BW_ERR_ILLEGAL_ARGUMENT);
    if (err) return err;
    if (box->is_self_assignable) bw_box_raise_sequence(box, candidate);
    *out_id = candidate;
    return BW_OK;
}

bw_err bw_box_ids_for_put(struct box *box, struct txn *txn, uint64_t count, uint64_t *out_first)
{
    if (count > RESERVE_MAX) {
        bw_err err =
            bw_fail(BW_ERR_ILLEGAL_ARGUMENT, "Limit for getting IDs is 10,000, but requested: %llu",
                    (unsigned long long)count);
        return place(box, 0, err);
    }
    if (count > 0) return bw_box_reserve(box, txn, count, out_first);
    bw_err err = bw_box_load_ids(box, txn);
    return err ? err : next_free(box, txn, atomic_load(&box->last_id), 1, out_first);
}
