/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects on their way into the store: checked, padded, their id written into the stored copy.
 *
 * Invariants:
 *   O1  What is stored was verified against the entity's properties, and its id field holds the id
 *       it is stored under, if it has one.
 *   O2  A stored size is a multiple of 4; what was added is zero.
 *   O3  The caller's bytes are read only, and never beyond their end unless the caller said so.
 */
#include "box/object.h"

enum {
    PADDING_UNIT = 4,
    COPY_SMALL = 1024,
};

struct flat_fields bw_object_fields(const struct entity *entity)
{
    return (struct flat_fields){.items = entity->fields,
                                .count = entity->property_count,
                                .id_slot = (uint16_t)(entity->id_property->id - 1)};
}

const char *bw_object_problem(const struct entity *entity, uint64_t id, struct bytes object)
{
    const struct flat_fields fields = bw_object_fields(entity);
    struct flat_table table;
    size_t field;
    const char *why;
    if (!bw_flat_verify_object(object, &fields, &table, &field, &why)) return why;
    const uint8_t *own = bw_flat_field(&table, fields.id_slot);
    return own && bw_get_u64(own) != id ? "it holds another id" : NULL; // O1
}

static size_t padded_size(const struct object *object)
{
    return bw_round_up(object->bytes.size, PADDING_UNIT);
}

bw_err bw_object_no_id(const struct box *box)
{
    bw_err err = bw_fail(BW_ERR_ILLEGAL_ARGUMENT,
                         "No ID value found in the given data - please prepare the ID field with a "
                         "value (use 0 or 0xFFFFFFFFFFFFFFFF for new objects) to make it mutable");
    bw_reason_place()->entity_id = box->entity->id;
    bw_reason_place()->property_id = box->entity->id_property->id;
    return err;
}

static bw_err refuse(const struct box *box, size_t field, const char *why)
{
    const struct entity *entity = box->entity;
    const struct property *property =
        field < entity->property_count ? &entity->properties[field] : NULL;
    bw_err err = bw_fail(BW_ERR_ILLEGAL_ARGUMENT, "Object data is not valid for %s%s%s: %s",
                         entity->name, property ? "." : "", property ? property->name : "", why);
    bw_reason_place()->entity_id = entity->id;
    bw_reason_place()->property_id = property ? property->id : 0;
    return err;
}

/* Better no object than two that promise to be one of a kind. */
static bw_err refuse_unique(const struct box *box)
{
    bw_err err = bw_fail(BW_ERR_FEATURE_NOT_AVAILABLE,
                         "Feature 'unique properties' is not available in this build, so that "
                         "objects of this type cannot be put: %s.%s",
                         box->entity->name, box->unique->name);
    bw_reason_place()->entity_id = box->entity->id;
    bw_reason_place()->property_id = box->unique->id;
    return err;
}

bw_err bw_object_check(const struct box *box, struct bytes bytes, struct flat_pattern *pattern)
{
    if (UNLIKELY(box->unique != NULL)) return refuse_unique(box);
    if (bytes.size == 0)
        return bw_fail(BW_ERR_ILLEGAL_ARGUMENT, "Argument condition \"size > 0\" not met");
    if (bytes.size % PADDING_UNIT && box->db->padding == PADDING_BY_CALLER) {
        bw_err err = bw_fail(BW_ERR_ILLEGAL_ARGUMENT,
                             "Object data is not correctly padded by caller: %zu", bytes.size);
        bw_reason_place()->entity_id = box->entity->id;
        return err;
    }
    if (bytes.size > BOX_OBJECT_MAX)
        return refuse(box, box->fields.count, "it is larger than 2 GB");

    size_t field;
    const char *why;
    if (LIKELY(bw_flat_verify_similar(bytes, &box->fields, pattern, &field, &why))) return BW_OK;
    return refuse(box, field, why);
}

uint64_t bw_object_id(const struct object *object)
{
    return bw_get_u64(object->bytes.data + object->id_at);
}

bool bw_object_is_stored(const struct object *object, uint64_t id, struct bytes stored)
{
    const struct bytes bytes = object->bytes;
    if (stored.size != padded_size(object)) return false;
    size_t behind = 0; // the id, as far as it has to be equal in the caller's bytes
    if (object->id_at) {
        behind = object->id_at + sizeof(uint64_t);
        if (bw_get_u64(stored.data + object->id_at) != id) return false;
        if (memcmp(stored.data, bytes.data, object->id_at) != 0) return false;
    }
    if (memcmp(stored.data + behind, bytes.data + behind, bytes.size - behind) != 0) return false;
    for (size_t i = bytes.size; i < stored.size; i++)
        if (stored.data[i]) return false;
    return true;
}

/*
 * Put a copy that is padded and has its id: for what the store cannot take from the caller's bytes.
 */
static bw_err store_copy(struct box *box, struct txn *txn, uint64_t id, const struct object *object)
{
    uint64_t small[COPY_SMALL / sizeof(uint64_t)];
    size_t size = padded_size(object);
    uint8_t *copy = (uint8_t *)small;
    if (size > sizeof(small)) {
        copy = bw_new_raw(size);
        if (!copy) return bw_fail(BW_ERR_NO_MEMORY, "Could not get memory to pad an object");
    }
    memcpy(copy, object->bytes.data, object->bytes.size);
    memset(copy + object->bytes.size, 0, size - object->bytes.size); // O2
    if (object->id_at) bw_put_u64(copy + object->id_at, id);         // O1
    bw_err err = bw_tree_put(txn, box->tree_id, id, (struct bytes){copy, size}, NULL);
    if (copy != (uint8_t *)small) bw_free(copy);
    return err;
}

bw_err bw_object_store(struct box *box, struct txn *txn, uint64_t id, const struct object *object,
                       bool has_room_behind)
{
    if (UNLIKELY(object->has_strangers)) {
        bw_err err = bw_box_note_strangers(box, txn);
        if (err) return err;
    }
    box->is_changed = true;
    size_t size = padded_size(object);
    bool has_padding = size != object->bytes.size;
    if ((has_padding && !has_room_behind) || size > VALUE_CONTIGUOUS_MAX) // O3
        return store_copy(box, txn, id, object);

    uint8_t *stored;
    struct bytes value = {object->bytes.data, size};
    bw_err err = bw_tree_put(txn, box->tree_id, id, value, &stored);
    if (err) return err;
    if (has_padding) memset(stored + object->bytes.size, 0, size - object->bytes.size); // O2
    if (object->id_at) bw_put_u64(stored + object->id_at, id);                          // O1
    return BW_OK;
}
