/* SPDX-License-Identifier: Apache-2.0 */
#include "api/reading.h"

enum { TAKEN_MAX = 64 }; // entries that are taken from a cursor at once

bw_err bw_reading_count(struct box *box, struct txn *txn, uint64_t offset, uint64_t limit,
                        uint64_t *out_count)
{
    const uint64_t end = limit > 0 && limit < UINT64_MAX - offset ? offset + limit : 0;
    uint64_t count = 0;
    bw_err err = bw_box_count(box, txn, end, &count);
    if (err) return err;
    *out_count = count > offset ? count - offset : 0;
    return BW_OK;
}

/* Up to `count` objects from the `offset`th on, into one of the arrays; the other is NULL. */
static bw_err fill(struct box *box, struct txn *txn, uint64_t offset, uint64_t count,
                   OBX_bytes *objects, obx_id *ids)
{
    struct cursor cursor;
    struct cursor_entry entries[TAKEN_MAX];
    bw_box_cursor(box, txn, &cursor);
    const uint64_t end = count ? offset + count : 0;
    size_t taken = 0;
    for (uint64_t at = 0; at < end; at += taken) {
        const size_t max = end - at < TAKEN_MAX ? (size_t)(end - at) : TAKEN_MAX;
        bw_err err = bw_cursor_next_many(&cursor, entries, max, &taken);
        if (err || !taken) return err;
        for (size_t i = 0; i < taken; i++) {
            if (at + i < offset) continue;
            const struct cursor_entry *entry = &entries[i];
            if (ids) ids[at + i - offset] = entry->key;
            if (objects)
                objects[at + i - offset] = (OBX_bytes){entry->value.data, entry->value.size};
        }
    }
    return BW_OK;
}

bw_err bw_reading_objects(struct box *box, struct txn *txn, uint64_t offset, uint64_t limit,
                          OBX_bytes_array **out_array)
{
    uint64_t count = 0;
    bw_err err = bw_reading_count(box, txn, offset, limit, &count);
    if (err) return err;
    OBX_bytes_array *array = bw_array_bytes((size_t)count); // below 2^32
    if (!array) return BW_ERR_NO_MEMORY;
    err = fill(box, txn, offset, count, array->bytes, NULL);
    if (err) {
        obx_bytes_array_free(array);
        return err;
    }
    *out_array = array;
    return BW_OK;
}

bw_err bw_reading_ids(struct box *box, struct txn *txn, uint64_t offset, uint64_t limit,
                      OBX_id_array **out_array)
{
    uint64_t count = 0;
    bw_err err = bw_reading_count(box, txn, offset, limit, &count);
    if (err) return err;
    OBX_id_array *array = bw_array_ids((size_t)count); // below 2^32
    if (!array) return BW_ERR_NO_MEMORY;
    err = fill(box, txn, offset, count, NULL, array->ids);
    if (err) {
        obx_id_array_free(array);
        return err;
    }
    *out_array = array;
    return BW_OK;
}
