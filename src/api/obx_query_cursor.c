/* SPDX-License-Identifier: Apache-2.0 */
/* Queries in a cursor's transaction: that of the thread, so the same calls do it. */
#include "api/argument.h"
#include "api/cursor_handle.h"

static bw_err check(OBX_query *query, OBX_cursor *cursor)
{
    bw_err err = CHECK_HANDLE(query, SLOT_QUERY);
    if (err) return err;
    struct access access;
    err = bw_cursor_handle_use(cursor, __LINE__, &access, false);
    if (err) return err;
    if (access.box == query->place.box) return BW_OK;
    return bw_fail(BW_ERR_ILLEGAL_ARGUMENT, "Query and cursor are of different entities or stores");
}

obx_err obx_query_cursor_visit(OBX_query *query, OBX_cursor *cursor, obx_data_visitor *visitor,
                               void *user_data)
{
    bw_err err = check(query, cursor);
    return err ? (obx_err)err : obx_query_visit(query, visitor, user_data);
}

OBX_bytes_array *obx_query_cursor_find(OBX_query *query, OBX_cursor *cursor)
{
    bw_err err = check(query, cursor);
    return err ? NULL : obx_query_find(query);
}

OBX_id_array *obx_query_cursor_find_ids(OBX_query *query, OBX_cursor *cursor)
{
    bw_err err = check(query, cursor);
    return err ? NULL : obx_query_find_ids(query);
}

obx_err obx_query_cursor_count(OBX_query *query, OBX_cursor *cursor, uint64_t *out_count)
{
    bw_err err = check(query, cursor);
    return err ? (obx_err)err : obx_query_count(query, out_count);
}

obx_err obx_query_cursor_remove(OBX_query *query, OBX_cursor *cursor, uint64_t *out_count)
{
    bw_err err = check(query, cursor);
    return err ? (obx_err)err : obx_query_remove(query, out_count);
}
