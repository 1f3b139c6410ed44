/* SPDX-License-Identifier: Apache-2.0 */
/* An object on its way into the store: verified bytes, and where their id goes. Private to the
 * layer. */
#pragma once

#include "box/db.h"

struct object {
    struct bytes bytes; /* borrowed from the caller */
    uint32_t id_at;     /* where the 8 bytes of its id begin; 0: it has no room for one */
    bool has_strangers;
};

/* The fields of an entity, as FlatBuffers are verified against them. */
struct flat_fields bw_object_fields(const struct entity *entity);

/* What is wrong with a stored object of the entity under its id, or NULL. */
const char *bw_object_problem(const struct entity *entity, uint64_t id, struct bytes object);

/*
 * Size, padding and contents; ILLEGAL_ARGUMENT and a text that names entity, property and problem.
 * The pattern, zeroed at first, is for the objects of one call.
 */
MUST_CHECK bw_err bw_object_check(const struct box *box, struct bytes bytes,
                                  struct flat_pattern *pattern);

/* The object in bytes that were checked and have not changed. */
static inline struct object bw_object_of(const struct box *box, struct bytes bytes)
{
    const struct flat_table table = bw_flat_open(bytes.data);
    struct object object = {.bytes = bytes};
    const uint8_t *id = bw_flat_field(&table, box->fields.id_slot);
    if (id) object.id_at = (uint32_t)(id - bytes.data);
    // A table without a slot that is not named, the usual case, is recognized by its size.
    const size_t slot_count = (table.vtable_size - 4u) / 2u;
    const size_t named_count = (size_t)box->fields.items[box->fields.count - 1].slot + 1;
    if (UNLIKELY(box->has_gaps || slot_count > named_count))
        object.has_strangers = bw_flat_has_strangers(&table, box->fields.items, box->fields.count);
    return object;
}

/* The id in the object's bytes; id_at is not 0. */
uint64_t bw_object_id(const struct object *object);

/* Stored under id, would it give the bytes that are stored there? */
bool bw_object_is_stored(const struct object *object, uint64_t id, struct bytes stored);

/*
 * Store under id, with that id in its bytes. has_room_behind: up to 3 bytes behind the object may
 * be read. The box was touched, the id noted.
 */
MUST_CHECK bw_err bw_object_store(struct box *box, struct txn *txn, uint64_t id,
                                  const struct object *object, bool has_room_behind);

/* The failure of an object that has no id field. */
MUST_CHECK bw_err bw_object_no_id(const struct box *box);
