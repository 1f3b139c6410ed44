/* SPDX-License-Identifier: Apache-2.0 */
#include "api/model_handle.h"

#include "api/argument.h"

OBX_model *obx_model(void)
{
    OBX_model *model = bw_pool_take(SLOT_MODEL);
    if (!model) return NULL;
    bw_err err = bw_model_new(&model->model);
    if (err) {
        bw_pool_give(model);
        return NULL;
    }
    bw_slot_open(model);
    return model;
}

obx_err obx_model_free(OBX_model *model)
{
    if (!model) return OBX_SUCCESS;
    struct model *inner = NULL;
    bw_err err = bw_model_handle_take(model, __LINE__, &inner);
    bw_model_free(inner);
    return err;
}

obx_err obx_model_error_code(OBX_model *model)
{
    bw_err err = CHECK_HANDLE(model, SLOT_MODEL);
    if (!err) err = bw_model_error(model->model);
    return err;
}

const char *obx_model_error_message(OBX_model *model)
{
    bw_err err = CHECK_HANDLE(model, SLOT_MODEL);
    return err ? NULL : bw_model_error_text(model->model);
}

// ---- entities ----

obx_err obx_model_entity(OBX_model *model, const char *name, obx_schema_id entity_id,
                         obx_uid entity_uid)
{
    bw_err err = CHECK_HANDLE(model, SLOT_MODEL);
    if (!err) err = bw_model_entity(model->model, name, entity_id, entity_uid);
    return err;
}

obx_err obx_model_entity_flags(OBX_model *model, uint32_t flags)
{
    bw_err err = CHECK_HANDLE(model, SLOT_MODEL);
    if (!err) err = bw_model_entity_flags(model->model, flags);
    return err;
}

obx_err obx_model_entity_last_property_id(OBX_model *model, obx_schema_id property_id,
                                          obx_uid property_uid)
{
    bw_err err = CHECK_HANDLE(model, SLOT_MODEL);
    if (!err) err = bw_model_entity_last_property(model->model, property_id, property_uid);
    return err;
}

obx_err obx_model_entity_external_name(OBX_model *model, const char *external_name)
{
    bw_err err = CHECK_HANDLE(model, SLOT_MODEL);
    if (!err) err = bw_model_entity_external_name(model->model, external_name);
    return err;
}

// ---- properties ----

obx_err obx_model_property(OBX_model *model, const char *name, OBXPropertyType type,
                           obx_schema_id property_id, obx_uid property_uid)
{
    bw_err err = CHECK_HANDLE(model, SLOT_MODEL);
    if (!err) err = bw_model_property(model->model, name, (int)type, property_id, property_uid);
    return err;
}

obx_err obx_model_property_flags(OBX_model *model, uint32_t flags)
{
    bw_err err = CHECK_HANDLE(model, SLOT_MODEL);
    if (!err) err = bw_model_property_flags(model->model, flags);
    return err;
}

obx_err obx_model_property_relation(OBX_model *model, const char *target_entity,
                                    obx_schema_id index_id, obx_uid index_uid)
{
    bw_err err = CHECK_HANDLE(model, SLOT_MODEL);
    if (!err) err = bw_model_property_relation(model->model, target_entity, index_id, index_uid);
    return err;
}

obx_err obx_model_property_index_id(OBX_model *model, obx_schema_id index_id, obx_uid index_uid)
{
    bw_err err = CHECK_HANDLE(model, SLOT_MODEL);
    if (!err) err = bw_model_property_index(model->model, index_id, index_uid);
    return err;
}

obx_err obx_model_property_external_name(OBX_model *model, const char *external_name)
{
    bw_err err = CHECK_HANDLE(model, SLOT_MODEL);
    if (!err) err = bw_model_property_external_name(model->model, external_name);
    return err;
}

obx_err obx_model_property_external_type(OBX_model *model, OBXExternalPropertyType external_type)
{
    bw_err err = CHECK_HANDLE(model, SLOT_MODEL);
    if (!err) err = bw_model_property_external_type(model->model, (int)external_type);
    return err;
}

// ---- vector indexes ----

obx_err obx_model_property_index_hnsw_dimensions(OBX_model *model, size_t value)
{
    bw_err err = CHECK_HANDLE(model, SLOT_MODEL);
    if (!err) err = bw_model_property_hnsw(model->model, HNSW_DIMENSIONS, value);
    return err;
}

obx_err obx_model_property_index_hnsw_neighbors_per_node(OBX_model *model, uint32_t value)
{
    bw_err err = CHECK_HANDLE(model, SLOT_MODEL);
    if (!err) err = bw_model_property_hnsw(model->model, HNSW_NEIGHBORS_PER_NODE, value);
    return err;
}

obx_err obx_model_property_index_hnsw_indexing_search_count(OBX_model *model, uint32_t value)
{
    bw_err err = CHECK_HANDLE(model, SLOT_MODEL);
    if (!err) err = bw_model_property_hnsw(model->model, HNSW_INDEXING_SEARCH_COUNT, value);
    return err;
}

obx_err obx_model_property_index_hnsw_flags(OBX_model *model, uint32_t flags)
{
    bw_err err = CHECK_HANDLE(model, SLOT_MODEL);
    if (!err) err = bw_model_property_hnsw(model->model, HNSW_FLAGS, flags);
    return err;
}

obx_err obx_model_property_index_hnsw_distance_type(OBX_model *model, OBXVectorDistanceType value)
{
    bw_err err = CHECK_HANDLE(model, SLOT_MODEL);
    if (!err) err = bw_model_property_hnsw(model->model, HNSW_DISTANCE_TYPE, (uint64_t)value);
    return err;
}

obx_err obx_model_property_index_hnsw_reparation_backlink_probability(OBX_model *model, float value)
{
    bw_err err = CHECK_HANDLE(model, SLOT_MODEL);
    if (!err) err = bw_model_property_hnsw_backlink_probability(model->model, value);
    return err;
}

obx_err obx_model_property_index_hnsw_vector_cache_hint_size_kb(OBX_model *model, size_t value)
{
    bw_err err = CHECK_HANDLE(model, SLOT_MODEL);
    if (!err) err = bw_model_property_hnsw(model->model, HNSW_VECTOR_CACHE_HINT_KB, value);
    return err;
}

// ---- relations ----

obx_err obx_model_relation(OBX_model *model, obx_schema_id relation_id, obx_uid relation_uid,
                           obx_schema_id target_id, obx_uid target_uid)
{
    bw_err err = CHECK_HANDLE(model, SLOT_MODEL);
    if (!err)
        err = bw_model_relation(model->model, relation_id, relation_uid, target_id, target_uid);
    return err;
}

obx_err obx_model_relation_name(OBX_model *model, const char *name)
{
    bw_err err = CHECK_HANDLE(model, SLOT_MODEL);
    if (!err) err = bw_model_relation_name(model->model, name);
    return err;
}

obx_err obx_model_relation_external_name(OBX_model *model, const char *external_name)
{
    bw_err err = CHECK_HANDLE(model, SLOT_MODEL);
    if (!err) err = bw_model_relation_external_name(model->model, external_name);
    return err;
}

obx_err obx_model_relation_external_type(OBX_model *model, OBXExternalPropertyType external_type)
{
    bw_err err = CHECK_HANDLE(model, SLOT_MODEL);
    if (!err) err = bw_model_relation_external_type(model->model, (int)external_type);
    return err;
}

// ---- the highest ids ----

void obx_model_last_entity_id(OBX_model *model, obx_schema_id entity_id, obx_uid entity_uid)
{
    if (!CHECK_HANDLE(model, SLOT_MODEL)) bw_model_last_entity(model->model, entity_id, entity_uid);
}

void obx_model_last_index_id(OBX_model *model, obx_schema_id index_id, obx_uid index_uid)
{
    if (!CHECK_HANDLE(model, SLOT_MODEL)) bw_model_last_index(model->model, index_id, index_uid);
}

void obx_model_last_relation_id(OBX_model *model, obx_schema_id relation_id, obx_uid relation_uid)
{
    if (!CHECK_HANDLE(model, SLOT_MODEL)) {
        bw_model_last_relation(model->model, relation_id, relation_uid);
    }
}
