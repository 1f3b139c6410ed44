/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builders of queries. A builder knows its entity and the first error; conditions are not served in
 * this build (obx_missing.c) and leave that error.
 */
#include "api/handles.h"

OBX_query_builder *obx_query_builder(OBX_store *store, obx_schema_id entity_id)
{
    struct place place = {0};
    bw_err err = CORE_OF_STORE(store, &place.core, &place.core_id);
    if (!err) err = bw_core_enter_closing(place.core, place.core_id);
    if (err) return NULL;
    OBX_query_builder *builder = NULL;
    err = bw_db_box(place.core->db, entity_id, &place.box);
    if (!err) builder = bw_pool_take(SLOT_BUILDER);
    bw_core_leave(place.core);
    if (!builder) return NULL;
    builder->place = place;
    bw_slot_open(builder);
    return builder;
}

obx_err obx_qb_close(OBX_query_builder *builder)
{
    if (!builder) return OBX_SUCCESS;
    bw_err err = ENTER(builder, SLOT_BUILDER);
    if (err) return err;
    bw_free(builder->error_text);
    bw_pool_give(builder);
    return OBX_SUCCESS;
}

obx_schema_id obx_qb_type_id(OBX_query_builder *builder)
{
    bw_err err = CHECK_HANDLE(builder, SLOT_BUILDER);
    if (!err) err = bw_core_enter_closing(builder->place.core, builder->place.core_id);
    if (err) return 0;
    const obx_schema_id id = bw_box_entity(builder->place.box)->id;
    bw_core_leave(builder->place.core);
    return id;
}

obx_err obx_qb_error_code(OBX_query_builder *builder)
{
    bw_err err = CHECK_HANDLE(builder, SLOT_BUILDER);
    if (!err) err = builder->err;
    return err;
}

const char *obx_qb_error_message(OBX_query_builder *builder)
{
    bw_err err = CHECK_HANDLE(builder, SLOT_BUILDER);
    if (err) return NULL;
    return builder->error_text ? builder->error_text : "";
}
