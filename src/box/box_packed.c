/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batches packed into one buffer, as bindings send them.
 *
 * Invariants:
 *   K1  The whole batch is checked before its first write: layout, buffers, ids, in this order.
 *   K2  New objects get consecutive ids, reserved when the checks are done. Given ids of the batch
 *       are taken out of the sequence first, so that no new object gets one of them.
 *   K3  ids is written when all is stored, and not before.
 *
 * Nothing is allocated for objects that are new; a set of ids for INSERT with given ids that do not
 * ascend, and a bitmap once an object is left out.
 */
#include "box/id_set.h"
#include "box/object.h"

enum {
    COUNT_MAX = 1 << 24,
    ALIGNMENT = 8,
    KNOWN_FLAGS = PACKED_INSERT | PACKED_UPDATE | PACKED_SKIP_FAILED,
};

struct batch {
    struct box *box; /* borrowed, as all but what is said to be owned */
    struct txn *txn;
    const struct packed *objects;
    const uint64_t *ids;
    uint32_t flags;
    uint64_t max_key; /* the highest stored id */
    uint64_t new_count, given_max;
    bool has_strangers;
    struct id_set seen; /* owned: given ids of an INSERT that do not ascend */
    uint8_t *left_out;  /* owned: a bit an object; NULL: none */
    size_t left_out_count;
};

static bool is_new(uint64_t id) { return id == 0 || id == BOX_ID_NEW; }

static bool is_left_out(const struct batch *batch, size_t i)
{
    return batch->left_out && batch->left_out[i / 8] >> i % 8 & 1;
}

static bw_err at_index(const struct batch *batch, size_t i, bw_err err)
{
    struct reason_place *place = bw_reason_place();
    place->entity_id = batch->box->entity->id;
    place->index = i;
    if (!is_new(batch->ids[i])) place->id = batch->ids[i];
    return err;
}

// ---- layout ----

static struct bytes object_at(const struct packed *objects, size_t i)
{
    size_t begin = i ? bw_round_up(objects->ends[i - 1], ALIGNMENT) : 0;
    return (struct bytes){objects->data + begin, objects->ends[i] - begin};
}

static bw_err check_layout(const struct batch *batch)
{
    const struct packed *objects = batch->objects;
    const uint32_t both = PACKED_INSERT | PACKED_UPDATE;
    if (batch->flags & ~(uint32_t)KNOWN_FLAGS || (batch->flags & both) == both)
        return bw_fail(BW_ERR_ILLEGAL_ARGUMENT, "Illegal flags for packed objects: %u",
                       batch->flags);
    if (objects->count > COUNT_MAX)
        return bw_fail(BW_ERR_ILLEGAL_ARGUMENT, "Too many packed objects: %zu (at most %d)",
                       objects->count, COUNT_MAX);
    if (objects->size > UINT32_MAX)
        return bw_fail(BW_ERR_ILLEGAL_ARGUMENT, "Packed objects must be smaller than 4 GB");
    if ((uintptr_t)objects->data % ALIGNMENT)
        return bw_fail(BW_ERR_ILLEGAL_ARGUMENT, "Packed objects are not aligned to 8");
    uint64_t begin = 0;
    for (size_t i = 0; i < objects->count; i++) {
        uint32_t end = objects->ends[i];
        if (end <= begin || end > objects->size) {
            bw_err err =
                bw_fail(BW_ERR_ILLEGAL_ARGUMENT,
                        "Packed object %zu has an impossible end: %u (begin: %llu, size of "
                        "all: %zu)",
                        i, end, (unsigned long long)begin, objects->size);
            return at_index(batch, i, err);
        }
        begin = ((uint64_t)end + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
    return BW_OK;
}

static bw_err check_buffers(struct batch *batch)
{
    struct flat_pattern pattern = {0};
    for (size_t i = 0; i < batch->objects->count; i++) {
        const struct bytes bytes = object_at(batch->objects, i);
        bw_err err = bw_object_check(batch->box, bytes, &pattern);
        if (!err && !bw_object_of(batch->box, bytes).id_at) err = bw_object_no_id(batch->box);
        if (UNLIKELY(err)) return at_index(batch, i, err);
    }
    return BW_OK;
}

// ---- ids ----

static bw_err check_stored(struct batch *batch, uint64_t id)
{
    struct bytes stored;
    bool is_found = false;
    bool is_insert = batch->flags & PACKED_INSERT;
    bool is_repeated = is_insert && batch->seen.slots && !bw_id_set_add(&batch->seen, id);
    bw_err err = id > batch->max_key
                     ? BW_OK
                     : bw_tree_get(batch->txn, batch->box->tree_id, id, &stored, &is_found);
    if (err) return err;
    if (is_insert && (is_found || is_repeated)) return bw_box_id_exists(batch->box, id);
    if (!is_insert && !is_found) return bw_box_id_missing(batch->box, id);
    return BW_OK;
}

static bw_err check_id(struct batch *batch, uint64_t id)
{
    bool is_update = batch->flags & PACKED_UPDATE;
    if (is_new(id)) {
        if (is_update)
            return bw_fail(
                BW_ERR_ILLEGAL_ARGUMENT,
                "Putting object failed because ID is not set (zero) for object to update");
        batch->new_count++;
        return BW_OK;
    }
    bw_err err = bw_box_check_given_id(batch->box, batch->txn, id,
                                       is_update ? BW_ERR_ID_NOT_FOUND : BW_ERR_ILLEGAL_ARGUMENT);
    if (!err && batch->flags & (PACKED_INSERT | PACKED_UPDATE)) err = check_stored(batch, id);
    if (!err && id > batch->given_max) batch->given_max = id;
    return err;
}

static bw_err leave_out(struct batch *batch, size_t i)
{
    if (!batch->left_out) {
        batch->left_out = bw_new(batch->objects->count / 8 + 1);
        if (!batch->left_out)
            return bw_fail(BW_ERR_NO_MEMORY, "Could not get memory for objects that are left out");
    }
    batch->left_out[i / 8] |= (uint8_t)(1u << i % 8);
    batch->left_out_count++;
    return BW_OK;
}

static bool is_refusal(bw_err err)
{
    return err == BW_ERR_ILLEGAL_ARGUMENT || err == BW_ERR_ID_NOT_FOUND ||
           err == BW_ERR_ID_ALREADY_EXISTS;
}

/* Left-out objects: the reason that stays is that of the first. */
static bw_err check_ids(struct batch *batch)
{
    struct reason_place first_place = {0};
    bw_err first = BW_OK;
    char first_text[256] = "";
    for (size_t i = 0; i < batch->objects->count; i++) {
        bw_err err = check_id(batch, batch->ids[i]);
        if (LIKELY(!err)) continue;
        err = at_index(batch, i, err);
        if (!(batch->flags & PACKED_SKIP_FAILED) || !is_refusal(err)) return err;
        if (!first) {
            first = err;
            first_place = *bw_reason_place();
            memcpy(first_text, bw_reason_text(),
                   bw_text_size(bw_reason_text(), sizeof(first_text) - 1));
        }
        err = leave_out(batch, i);
        if (err) return err;
    }
    if (first) {
        bw_reason_set(first, 0, first_text);
        *bw_reason_place() = first_place;
    }
    return BW_OK;
}

static bool ids_ascend(const struct batch *batch)
{
    uint64_t before = 0;
    for (size_t i = 0; i < batch->objects->count; i++) {
        uint64_t id = batch->ids[i];
        if (is_new(id)) continue;
        if (id <= before) return false;
        before = id;
    }
    return true;
}

static bw_err check(struct batch *batch)
{
    bw_err err = check_layout(batch);
    if (!err) err = check_buffers(batch);
    if (err) return err;
    struct tree_stat stat;
    err = bw_tree_stat(batch->txn, batch->box->tree_id, &stat);
    if (err) return err;
    batch->max_key = stat.max_key;
    if (batch->flags & PACKED_INSERT && !ids_ascend(batch))
        err = bw_id_set_init(&batch->seen, batch->objects->count);
    return err ? err : check_ids(batch);
}

// ---- writing ----

static bw_err write_one(const struct batch *batch, size_t i, uint64_t id)
{
    const struct bytes bytes = object_at(batch->objects, i);
    const struct object object = bw_object_of(batch->box, bytes);
    if (id <= batch->max_key) {
        struct bytes stored;
        bool is_found;
        bw_err err = bw_tree_get(batch->txn, batch->box->tree_id, id, &stored, &is_found);
        if (err || (is_found && bw_object_is_stored(&object, id, stored))) return err;
    }
    size_t end = (size_t)(bytes.data - batch->objects->data) + bw_round_up(bytes.size, 4);
    return bw_object_store(batch->box, batch->txn, id, &object, end <= batch->objects->size);
}

static bw_err write_all(const struct batch *batch, uint64_t next_id)
{
    for (size_t i = 0; i < batch->objects->count; i++) {
        if (is_left_out(batch, i)) continue;
        bw_err err = write_one(batch, i, is_new(batch->ids[i]) ? next_id++ : batch->ids[i]);
        if (UNLIKELY(err)) return at_index(batch, i, err);
    }
    return BW_OK;
}

static void give_ids(const struct batch *batch, uint64_t next_id, uint64_t *ids)
{
    for (size_t i = 0; i < batch->objects->count; i++) {
        if (is_left_out(batch, i)) ids[i] = 0;
        else if (is_new(ids[i])) ids[i] = next_id++;
    }
}

static bw_err put(struct batch *batch, uint64_t *ids, bool *out_began)
{
    bw_err err = bw_box_touch(batch->box, batch->txn);
    if (!err) err = check(batch);
    if (err) return err;
    if (batch->box->is_self_assignable) bw_box_raise_sequence(batch->box, batch->given_max); // K2
    uint64_t first_id = 0;
    if (batch->new_count) err = bw_box_reserve(batch->box, batch->txn, batch->new_count, &first_id);
    if (err) return err;
    bw_box_note_id(batch->box, batch->given_max);
    if (batch->new_count) bw_box_note_id(batch->box, first_id + batch->new_count - 1);
    *out_began = true; // K1
    err = write_all(batch, first_id);
    if (err) return err;
    give_ids(batch, first_id, ids); // K3
    return batch->left_out_count ? BW_ERR_NO_SUCCESS : BW_OK;
}

bw_err bw_box_put_packed(struct box *box, struct txn *txn, const struct packed *objects,
                         uint64_t *ids, uint32_t flags, bool *out_began)
{
    ASSERT(bw_txn_writes(txn));
    struct batch batch = {.box = box, .txn = txn, .objects = objects, .ids = ids, .flags = flags};
    *out_began = false;
    bw_err err = put(&batch, ids, out_began);
    bw_id_set_deinit(&batch.seen);
    bw_free(batch.left_out);
    return err;
}
