/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes beyond the ABI: batches in one buffer, and calls that fill the record of a failure. */
#include "api/failure.h"
#include "api/free_txn.h"

/* Where a call works: a box of its own handle, in a transaction given or of its own. */
#define ACCESS(box, txn, to_write, access) access_box(box, txn, to_write, access, __LINE__)

static bw_err access_box(OBX_box *box, boxwood_txn *txn, bool to_write, struct access *access,
                         int line)
{
    struct place place;
    bw_err err = bw_place_of_box(box, "box", line, &place);
    if (!err) err = bw_free_txn_access(txn, &place, to_write, access);
    return err;
}

// ---- putting ----

static bw_err put_packed(OBX_box *box, boxwood_txn *txn, const struct packed *objects, obx_id *ids,
                         uint32_t flags)
{
    if (objects->count > 0 && !objects->data) return bw_argument_null("data", __LINE__);
    if (objects->count > 0 && !objects->ends) return bw_argument_null("ends", __LINE__);
    if (objects->count > 0 && !ids) return ARGUMENT_NULL(ids);
    struct access access;
    bw_err err = ACCESS(box, txn, true, &access);
    if (err) return err;
    bool has_begun = false;
    err = bw_box_put_packed(access.box, access.txn, objects, ids, flags, &has_begun);
    if (err != BW_ERR_NO_SUCCESS) return bw_free_txn_leave(&access, err, has_begun);
    err = bw_free_txn_leave(&access, BW_OK, has_begun); // some were left out, the others are kept
    return err ? err : BW_ERR_NO_SUCCESS;
}

// NOLINTNEXTLINE(readability-function-size): its parameters are those of boxwood.h
obx_err boxwood_box_put_packed(OBX_box *box, boxwood_txn *txn, const void *data, size_t size,
                               const uint32_t *ends, size_t count, obx_id *ids, uint32_t flags,
                               boxwood_failure *out_failure)
{
    const struct packed objects = {.data = data, .size = size, .ends = ends, .count = count};
    bw_err err = put_packed(box, txn, &objects, ids, flags);
    if (err == BW_ERR_NO_SUCCESS) bw_failure_fill(out_failure); // describes the first left out
    return bw_failure_note(out_failure, err);
}

// ---- removing ----

static bw_err remove_packed(OBX_box *box, boxwood_txn *txn, const obx_id *ids, size_t count,
                            uint64_t *out_removed)
{
    if (count > 0 && !ids) return ARGUMENT_NULL(ids);
    struct access access;
    bw_err err = ACCESS(box, txn, true, &access);
    if (err) return err;
    uint64_t removed = 0;
    err = bw_box_remove_many(access.box, access.txn, ids, count, &removed);
    err = bw_free_txn_leave(&access, err, bw_access_is_world_fault(err));
    if (!err && out_removed) *out_removed = removed;
    return err;
}

obx_err boxwood_box_remove_packed(OBX_box *box, boxwood_txn *txn, const obx_id *ids, size_t count,
                                  uint64_t *out_removed, boxwood_failure *out_failure)
{
    return bw_failure_note(out_failure, remove_packed(box, txn, ids, count, out_removed));
}

static bw_err remove_all(OBX_box *box, boxwood_txn *txn, uint64_t *out_removed)
{
    struct access access;
    bw_err err = ACCESS(box, txn, true, &access);
    if (err) return err;
    uint64_t removed = 0;
    err = bw_box_remove_all(access.box, access.txn, &removed);
    err = bw_free_txn_leave(&access, err, bw_access_is_world_fault(err));
    if (!err && out_removed) *out_removed = removed;
    return err;
}

obx_err boxwood_box_remove_all(OBX_box *box, boxwood_txn *txn, uint64_t *out_removed,
                               boxwood_failure *out_failure)
{
    return bw_failure_note(out_failure, remove_all(box, txn, out_removed));
}

// ---- looking ----

static bw_err copy_object(struct access *access, obx_id id, void *buffer, size_t *in_out_size)
{
    struct bytes object = {0};
    bool is_found = false;
    bw_err err = bw_box_get(access->box, access->txn, id, &object, &is_found);
    if (err) return err;
    if (!is_found) return BW_ERR_NOT_FOUND;
    const bool fits = object.size <= *in_out_size;
    *in_out_size = object.size;
    if (!fits) return BW_ERR_NO_SUCCESS;
    if (buffer) memcpy(buffer, object.data, object.size);
    return BW_OK;
}

static bw_err copy(OBX_box *box, boxwood_txn *txn, obx_id id, void *buffer, size_t *in_out_size)
{
    if (!in_out_size) return ARGUMENT_NULL(in_out_size);
    if (!buffer && *in_out_size > 0) return ARGUMENT_NULL(buffer);
    struct access access;
    bw_err err = ACCESS(box, txn, false, &access);
    if (err) return err;
    err = copy_object(&access, id, buffer, in_out_size);
    return bw_free_txn_leave(&access, err, false);
}

obx_err boxwood_box_copy(OBX_box *box, boxwood_txn *txn, obx_id id, void *buffer,
                         size_t *in_out_size, boxwood_failure *out_failure)
{
    return bw_failure_note(out_failure, copy(box, txn, id, buffer, in_out_size));
}

static bw_err contains(OBX_box *box, boxwood_txn *txn, obx_id id, bool *out_contains)
{
    if (!out_contains) return ARGUMENT_NULL(out_contains);
    struct access access;
    bw_err err = ACCESS(box, txn, false, &access);
    if (err) return err;
    err = bw_box_contains(access.box, access.txn, id, out_contains);
    return bw_free_txn_leave(&access, err, false);
}

obx_err boxwood_box_contains(OBX_box *box, boxwood_txn *txn, obx_id id, bool *out_contains,
                             boxwood_failure *out_failure)
{
    return bw_failure_note(out_failure, contains(box, txn, id, out_contains));
}

static bw_err count_objects(OBX_box *box, boxwood_txn *txn, uint64_t limit, uint64_t *out_count)
{
    if (!out_count) return ARGUMENT_NULL(out_count);
    struct access access;
    bw_err err = ACCESS(box, txn, false, &access);
    if (err) return err;
    err = bw_box_count(access.box, access.txn, limit, out_count);
    return bw_free_txn_leave(&access, err, false);
}

obx_err boxwood_box_count(OBX_box *box, boxwood_txn *txn, uint64_t limit, uint64_t *out_count,
                          boxwood_failure *out_failure)
{
    return bw_failure_note(out_failure, count_objects(box, txn, limit, out_count));
}
