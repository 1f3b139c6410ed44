/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queries. Without conditions the result is a stretch of the entity's objects, by ascending id.
 *
 * A query is entered by each call, so that two threads at once are told and do no harm.
 */
#include <stdio.h>

#include "api/access.h"
#include "api/array.h"
#include "api/builder.h"
#include "api/cursor_handle.h"
#include "api/reading.h"
#include "api/visit.h"

OBX_query *obx_query(OBX_query_builder *builder)
{
    bw_err err = CHECK_HANDLE(builder, SLOT_BUILDER);
    if (!err) err = bw_builder_stuck(builder);
    OBX_query *query = err ? NULL : bw_pool_take(SLOT_QUERY);
    if (!query) return NULL;
    query->place = builder->place;
    bw_slot_open(query);
    return query;
}

obx_err obx_query_close(OBX_query *query)
{
    if (!query) return OBX_SUCCESS;
    bw_err err = ENTER(query, SLOT_QUERY);
    if (err) return err;
    bw_free(query->description);
    bw_pool_give(query);
    return OBX_SUCCESS;
}

OBX_query *obx_query_clone(OBX_query *query)
{
    bw_err err = ENTER(query, SLOT_QUERY);
    if (err) return NULL;
    OBX_query *clone = bw_pool_take(SLOT_QUERY);
    if (clone) {
        clone->place = query->place;
        clone->offset = query->offset;
        clone->limit = query->limit;
        bw_slot_open(clone);
    }
    LEAVE(query);
    return clone;
}

obx_err obx_query_offset(OBX_query *query, size_t offset)
{
    bw_err err = ENTER(query, SLOT_QUERY);
    if (err) return err;
    query->offset = offset;
    LEAVE(query);
    return OBX_SUCCESS;
}

obx_err obx_query_offset_limit(OBX_query *query, size_t offset, size_t limit)
{
    bw_err err = ENTER(query, SLOT_QUERY);
    if (err) return err;
    query->offset = offset;
    query->limit = limit;
    LEAVE(query);
    return OBX_SUCCESS;
}

obx_err obx_query_limit(OBX_query *query, size_t limit)
{
    bw_err err = ENTER(query, SLOT_QUERY);
    if (err) return err;
    query->limit = limit;
    LEAVE(query);
    return OBX_SUCCESS;
}

// ---- finding ----

static bw_err find(const OBX_query *query, OBX_bytes_array **out_array)
{
    struct access access;
    bw_err err = bw_access_begin(&access, &query->place, ACCESS_BYTES);
    if (err) return err;
    err = bw_reading_objects(access.box, access.txn, query->offset, query->limit, out_array);
    return bw_access_end(&access, err);
}

OBX_bytes_array *obx_query_find(OBX_query *query)
{
    OBX_bytes_array *array = NULL;
    bw_err err = ENTER(query, SLOT_QUERY);
    if (err) return NULL;
    err = find(query, &array);
    LEAVE(query);
    return err ? NULL : array;
}

static bw_err find_ids(const OBX_query *query, OBX_id_array **out_array)
{
    struct access access;
    bw_err err = bw_access_begin(&access, &query->place, ACCESS_READ);
    if (err) return err;
    err = bw_reading_ids(access.box, access.txn, query->offset, query->limit, out_array);
    return bw_access_end(&access, err);
}

OBX_id_array *obx_query_find_ids(OBX_query *query)
{
    OBX_id_array *array = NULL;
    bw_err err = ENTER(query, SLOT_QUERY);
    if (err) return NULL;
    err = find_ids(query, &array);
    LEAVE(query);
    return err ? NULL : array;
}

static bw_err find_first(const OBX_query *query, bool is_unique, struct bytes *out_object)
{
    struct access access;
    bw_err err = bw_access_begin(&access, &query->place, ACCESS_BYTES);
    if (err) return err;
    uint64_t count = 0;
    err = bw_box_count(access.box, access.txn, 0, &count);
    if (!err && is_unique && count > 1) {
        err = bw_fail(BW_ERR_NON_UNIQUE_RESULT,
                      "Query does not have a unique result (more than one result): %llu",
                      (unsigned long long)count);
    }
    if (!err && count == 0) err = BW_ERR_NOT_FOUND;
    if (err) return bw_access_end(&access, err);
    struct cursor cursor;
    bw_box_cursor(access.box, access.txn, &cursor);
    bool is_found = false;
    err = bw_cursor_next(&cursor, &is_found);
    if (!err && !is_found) err = BW_ERR_NOT_FOUND;
    if (!err) *out_object = cursor.value;
    return bw_access_end(&access, err);
}

static bw_err find_one(OBX_query *query, bool is_unique, const uint8_t **data, size_t *size)
{
    struct bytes object = {0};
    bw_err err = find_first(query, is_unique, &object);
    if (err) return err;
    *data = object.data;
    *size = object.size;
    return BW_OK;
}

obx_err obx_query_find_first(OBX_query *query, const uint8_t **data, size_t *size)
{
    bw_err err = ENTER(query, SLOT_QUERY);
    if (err) return err;
    if (!data || !size) err = data ? ARGUMENT_NULL(size) : ARGUMENT_NULL(data);
    if (!err) err = find_one(query, false, data, size);
    LEAVE(query);
    return err;
}

obx_err obx_query_find_unique(OBX_query *query, const uint8_t **data, size_t *size)
{
    bw_err err = ENTER(query, SLOT_QUERY);
    if (err) return err;
    if (!data || !size) err = data ? ARGUMENT_NULL(size) : ARGUMENT_NULL(data);
    if (!err) err = find_one(query, true, data, size);
    LEAVE(query);
    return err;
}

static bw_err visit(const OBX_query *query, obx_data_visitor *visitor, void *user_data)
{
    struct visit visit;
    bw_err err = bw_visit_begin(&visit, &query->place);
    if (err) return err;
    err = bw_visit_all(&visit, query->offset, query->limit, visitor, user_data);
    return bw_visit_end(&visit, err);
}

obx_err obx_query_visit(OBX_query *query, obx_data_visitor *visitor, void *user_data)
{
    bw_err err = ENTER(query, SLOT_QUERY);
    if (err) return err;
    err = visitor ? visit(query, visitor, user_data) : ARGUMENT_NULL(visitor);
    LEAVE(query);
    return err;
}

// ---- counting and removing ----

static bw_err check_no_offset(const OBX_query *query)
{
    if (query->offset == 0) return BW_OK;
    return bw_fail(BW_ERR_GENERAL, "Query offset is not supported by count() at this moment.");
}

static bw_err check_no_limits(const OBX_query *query)
{
    if (query->offset == 0 && query->limit == 0) return BW_OK;
    return bw_fail(BW_ERR_ILLEGAL_STATE,
                   "Query limit/offset are not supported by remove() at this moment.");
}

static bw_err count(const OBX_query *query, uint64_t *out_count)
{
    bw_err err = check_no_offset(query);
    if (err) return err;
    struct access access;
    err = bw_access_begin(&access, &query->place, ACCESS_READ);
    if (err) return err;
    err = bw_box_count(access.box, access.txn, query->limit, out_count);
    return bw_access_end(&access, err);
}

obx_err obx_query_count(OBX_query *query, uint64_t *out_count)
{
    bw_err err = ENTER(query, SLOT_QUERY);
    if (err) return err;
    err = out_count ? count(query, out_count) : ARGUMENT_NULL(out_count);
    LEAVE(query);
    return err;
}

static bw_err remove_found(const OBX_query *query, uint64_t *out_count)
{
    bw_err err = check_no_limits(query);
    if (err) return err;
    struct access access;
    err = bw_access_begin(&access, &query->place, ACCESS_WRITE);
    if (err) return err;
    uint64_t removed = 0;
    err = bw_box_remove_all(access.box, access.txn, &removed);
    err = bw_access_end(&access, err);
    if (!err && out_count) *out_count = removed;
    return err;
}

obx_err obx_query_remove(OBX_query *query, uint64_t *out_count)
{
    bw_err err = ENTER(query, SLOT_QUERY);
    if (err) return err;
    err = remove_found(query, out_count);
    LEAVE(query);
    return err;
}

// ---- with scores: only a condition of nearest neighbours gives any ----

static bw_err check_access(const OBX_query *query, enum access_mode mode)
{
    struct access access;
    bw_err err = bw_access_begin(&access, &query->place, mode);
    return err ? err : bw_access_end(&access, BW_OK);
}

OBX_bytes_score_array *obx_query_find_with_scores(OBX_query *query)
{
    bw_err err = ENTER(query, SLOT_QUERY);
    if (err) return NULL;
    err = check_access(query, ACCESS_BYTES);
    LEAVE(query);
    return err ? NULL : bw_array_bytes_scores(0);
}

OBX_id_score_array *obx_query_find_ids_with_scores(OBX_query *query)
{
    bw_err err = ENTER(query, SLOT_QUERY);
    if (err) return NULL;
    err = check_access(query, ACCESS_READ);
    LEAVE(query);
    return err ? NULL : bw_array_id_scores(0);
}

OBX_id_array *obx_query_find_ids_by_score(OBX_query *query)
{
    bw_err err = ENTER(query, SLOT_QUERY);
    if (err) return NULL;
    err = check_access(query, ACCESS_READ);
    LEAVE(query);
    return err ? NULL : bw_array_ids(0);
}

obx_err obx_query_visit_with_score(OBX_query *query, obx_data_score_visitor *visitor,
                                   void *user_data)
{
    (void)user_data;
    bw_err err = ENTER(query, SLOT_QUERY);
    if (err) return err;
    err = visitor ? check_access(query, ACCESS_READ) : ARGUMENT_NULL(visitor);
    LEAVE(query);
    return err;
}

// ---- describing ----

static bw_err describe(OBX_query *query)
{
    bw_err err = bw_core_enter_closing(query->place.core, query->place.core_id);
    if (err) return err;
    static const char format[] = "Query for entity %s with 1 conditions";
    const char *name = bw_box_entity(query->place.box)->name;
    const int size = snprintf(NULL, 0, format, name) + 1;
    char *text = bw_new_raw((size_t)size);
    if (text) (void)snprintf(text, (size_t)size, format, name);
    bw_core_leave(query->place.core);
    if (!text) return bw_fail(BW_ERR_NO_MEMORY, "No memory for a text");
    query->description = text;
    return BW_OK;
}

const char *obx_query_describe(OBX_query *query)
{
    bw_err err = ENTER(query, SLOT_QUERY);
    if (err) return NULL;
    if (!query->description) err = describe(query);
    const char *text = query->description;
    LEAVE(query);
    return err ? NULL : text;
}

const char *obx_query_describe_params(OBX_query *query)
{
    bw_err err = CHECK_HANDLE(query, SLOT_QUERY);
    return err ? NULL : "TRUE";
}
