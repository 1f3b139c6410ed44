/* SPDX-License-Identifier: Apache-2.0 */
/* What queries are made of and this build does not serve. See missing.h. */
#include "api/missing.h"

// What they get is not looked at, and how much of it there is was not for us to say.
#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif
// NOLINTBEGIN(misc-unused-parameters,readability-function-size)

// ---- conditions ----

MISSING_CONDITION(obx_qb_null, (OBX_query_builder * builder, obx_schema_id property_id))
MISSING_CONDITION(obx_qb_not_null, (OBX_query_builder * builder, obx_schema_id property_id))
MISSING_CONDITION(obx_qb_equals_string, (OBX_query_builder * builder, obx_schema_id property_id,
                                         const char *value, bool case_sensitive))
MISSING_CONDITION(obx_qb_not_equals_string, (OBX_query_builder * builder, obx_schema_id property_id,
                                             const char *value, bool case_sensitive))
MISSING_CONDITION(obx_qb_contains_string, (OBX_query_builder * builder, obx_schema_id property_id,
                                           const char *value, bool case_sensitive))
MISSING_CONDITION(obx_qb_contains_element_string,
                  (OBX_query_builder * builder, obx_schema_id property_id, const char *value,
                   bool case_sensitive))
MISSING_CONDITION(obx_qb_contains_key_value_string,
                  (OBX_query_builder * builder, obx_schema_id property_id, const char *key,
                   const char *value, bool case_sensitive))
MISSING_CONDITION(obx_qb_starts_with_string,
                  (OBX_query_builder * builder, obx_schema_id property_id, const char *value,
                   bool case_sensitive))
MISSING_CONDITION(obx_qb_ends_with_string, (OBX_query_builder * builder, obx_schema_id property_id,
                                            const char *value, bool case_sensitive))
MISSING_CONDITION(obx_qb_greater_than_string,
                  (OBX_query_builder * builder, obx_schema_id property_id, const char *value,
                   bool case_sensitive))
MISSING_CONDITION(obx_qb_greater_or_equal_string,
                  (OBX_query_builder * builder, obx_schema_id property_id, const char *value,
                   bool case_sensitive))
MISSING_CONDITION(obx_qb_less_than_string, (OBX_query_builder * builder, obx_schema_id property_id,
                                            const char *value, bool case_sensitive))
MISSING_CONDITION(obx_qb_less_or_equal_string,
                  (OBX_query_builder * builder, obx_schema_id property_id, const char *value,
                   bool case_sensitive))
MISSING_CONDITION(obx_qb_in_strings,
                  (OBX_query_builder * builder, obx_schema_id property_id,
                   const char *const values[], size_t count, bool case_sensitive))
MISSING_CONDITION(obx_qb_any_equals_string, (OBX_query_builder * builder, obx_schema_id property_id,
                                             const char *value, bool case_sensitive))

// ---- conditions on flexible maps ----

MISSING_CONDITION(obx_qb_equals_key_value_string,
                  (OBX_query_builder * builder, obx_schema_id property_id, const char *key,
                   const char *value, bool case_sensitive))
MISSING_CONDITION(obx_qb_equals_key_value_int,
                  (OBX_query_builder * builder, obx_schema_id property_id, const char *key,
                   int64_t value))
MISSING_CONDITION(obx_qb_equals_key_value_double,
                  (OBX_query_builder * builder, obx_schema_id property_id, const char *key,
                   double value))
MISSING_CONDITION(obx_qb_greater_key_value_string,
                  (OBX_query_builder * builder, obx_schema_id property_id, const char *key,
                   const char *value, bool case_sensitive))
MISSING_CONDITION(obx_qb_greater_key_value_int,
                  (OBX_query_builder * builder, obx_schema_id property_id, const char *key,
                   int64_t value))
MISSING_CONDITION(obx_qb_greater_key_value_double,
                  (OBX_query_builder * builder, obx_schema_id property_id, const char *key,
                   double value))
MISSING_CONDITION(obx_qb_greater_or_equal_key_value_string,
                  (OBX_query_builder * builder, obx_schema_id property_id, const char *key,
                   const char *value, bool case_sensitive))
MISSING_CONDITION(obx_qb_greater_or_equal_key_value_int,
                  (OBX_query_builder * builder, obx_schema_id property_id, const char *key,
                   int64_t value))
MISSING_CONDITION(obx_qb_greater_or_equal_key_value_double,
                  (OBX_query_builder * builder, obx_schema_id property_id, const char *key,
                   double value))
MISSING_CONDITION(obx_qb_less_than_key_value_string,
                  (OBX_query_builder * builder, obx_schema_id property_id, const char *key,
                   const char *value, bool case_sensitive))
MISSING_CONDITION(obx_qb_less_than_key_value_int,
                  (OBX_query_builder * builder, obx_schema_id property_id, const char *key,
                   int64_t value))
MISSING_CONDITION(obx_qb_less_than_key_value_double,
                  (OBX_query_builder * builder, obx_schema_id property_id, const char *key,
                   double value))
MISSING_CONDITION(obx_qb_less_or_equal_key_value_string,
                  (OBX_query_builder * builder, obx_schema_id property_id, const char *key,
                   const char *value, bool case_sensitive))
MISSING_CONDITION(obx_qb_less_or_equal_key_value_int,
                  (OBX_query_builder * builder, obx_schema_id property_id, const char *key,
                   int64_t value))
MISSING_CONDITION(obx_qb_less_or_equal_key_value_double,
                  (OBX_query_builder * builder, obx_schema_id property_id, const char *key,
                   double value))

// ---- conditions on integers ----

MISSING_CONDITION(obx_qb_equals_int,
                  (OBX_query_builder * builder, obx_schema_id property_id, int64_t value))
MISSING_CONDITION(obx_qb_not_equals_int,
                  (OBX_query_builder * builder, obx_schema_id property_id, int64_t value))
MISSING_CONDITION(obx_qb_greater_than_int,
                  (OBX_query_builder * builder, obx_schema_id property_id, int64_t value))
MISSING_CONDITION(obx_qb_greater_or_equal_int,
                  (OBX_query_builder * builder, obx_schema_id property_id, int64_t value))
MISSING_CONDITION(obx_qb_less_than_int,
                  (OBX_query_builder * builder, obx_schema_id property_id, int64_t value))
MISSING_CONDITION(obx_qb_less_or_equal_int,
                  (OBX_query_builder * builder, obx_schema_id property_id, int64_t value))
MISSING_CONDITION(obx_qb_between_2ints, (OBX_query_builder * builder, obx_schema_id property_id,
                                         int64_t value_a, int64_t value_b))
MISSING_CONDITION(obx_qb_in_int64s, (OBX_query_builder * builder, obx_schema_id property_id,
                                     const int64_t values[], size_t count))
MISSING_CONDITION(obx_qb_not_in_int64s, (OBX_query_builder * builder, obx_schema_id property_id,
                                         const int64_t values[], size_t count))
MISSING_CONDITION(obx_qb_in_int32s, (OBX_query_builder * builder, obx_schema_id property_id,
                                     const int32_t values[], size_t count))
MISSING_CONDITION(obx_qb_not_in_int32s, (OBX_query_builder * builder, obx_schema_id property_id,
                                         const int32_t values[], size_t count))

// ---- conditions on floating point ----

MISSING_CONDITION(obx_qb_greater_than_double,
                  (OBX_query_builder * builder, obx_schema_id property_id, double value))
MISSING_CONDITION(obx_qb_greater_or_equal_double,
                  (OBX_query_builder * builder, obx_schema_id property_id, double value))
MISSING_CONDITION(obx_qb_less_than_double,
                  (OBX_query_builder * builder, obx_schema_id property_id, double value))
MISSING_CONDITION(obx_qb_less_or_equal_double,
                  (OBX_query_builder * builder, obx_schema_id property_id, double value))
MISSING_CONDITION(obx_qb_between_2doubles, (OBX_query_builder * builder, obx_schema_id property_id,
                                            double value_a, double value_b))

// ---- conditions on bytes ----

MISSING_CONDITION(obx_qb_equals_bytes, (OBX_query_builder * builder, obx_schema_id property_id,
                                        const uint8_t *value, size_t size))
MISSING_CONDITION(obx_qb_greater_than_bytes,
                  (OBX_query_builder * builder, obx_schema_id property_id, const uint8_t *value,
                   size_t size))
MISSING_CONDITION(obx_qb_greater_or_equal_bytes,
                  (OBX_query_builder * builder, obx_schema_id property_id, const uint8_t *value,
                   size_t size))
MISSING_CONDITION(obx_qb_less_than_bytes, (OBX_query_builder * builder, obx_schema_id property_id,
                                           const uint8_t *value, size_t size))
MISSING_CONDITION(obx_qb_less_or_equal_bytes,
                  (OBX_query_builder * builder, obx_schema_id property_id, const uint8_t *value,
                   size_t size))

// ---- relation counts, neighbours, groups, order ----

MISSING_CONDITION(obx_qb_relation_count_property,
                  (OBX_query_builder * builder, obx_schema_id relation_entity_id,
                   obx_schema_id relation_property_id, uint32_t relation_count))
MISSING_CONDITION(obx_qb_nearest_neighbors_f32,
                  (OBX_query_builder * builder, obx_schema_id vector_property_id,
                   const float *query_vector, size_t max_result_count))
MISSING_CONDITION(obx_qb_all,
                  (OBX_query_builder * builder, const obx_qb_cond conditions[], size_t count))
MISSING_CONDITION(obx_qb_any,
                  (OBX_query_builder * builder, const obx_qb_cond conditions[], size_t count))
MISSING_BUILDER_ERR(obx_qb_param_alias, (OBX_query_builder * builder, const char *alias))
MISSING_BUILDER_ERR(obx_qb_order,
                    (OBX_query_builder * builder, obx_schema_id property_id, uint32_t flags))

// ---- links ----

MISSING_LINK(OBX_query_builder *, obx_qb_link_property,
             (OBX_query_builder * builder, obx_schema_id property_id))
MISSING_LINK(OBX_query_builder *, obx_qb_backlink_property,
             (OBX_query_builder * builder, obx_schema_id source_entity_id,
              obx_schema_id source_property_id))
MISSING_LINK(OBX_query_builder *, obx_qb_link_standalone,
             (OBX_query_builder * builder, obx_schema_id relation_id))
MISSING_LINK(OBX_query_builder *, obx_qb_backlink_standalone,
             (OBX_query_builder * builder, obx_schema_id relation_id))
MISSING_LINK(OBX_query_builder *, obx_qb_link_time,
             (OBX_query_builder * builder, obx_schema_id linked_entity_id,
              obx_schema_id begin_property_id, obx_schema_id end_property_id))

// ---- parameters ----

MISSING_ERR(obx_query_param_string,
            (OBX_query * query, obx_schema_id entity_id, obx_schema_id property_id,
             const char *value),
            query, PARAMETERS)
MISSING_ERR(obx_query_param_2strings,
            (OBX_query * query, obx_schema_id entity_id, obx_schema_id property_id,
             const char *value, const char *value2),
            query, PARAMETERS)
MISSING_ERR(obx_query_param_strings,
            (OBX_query * query, obx_schema_id entity_id, obx_schema_id property_id,
             const char *const values[], size_t count),
            query, PARAMETERS)
MISSING_ERR(obx_query_param_int,
            (OBX_query * query, obx_schema_id entity_id, obx_schema_id property_id, int64_t value),
            query, PARAMETERS)
MISSING_ERR(obx_query_param_2ints,
            (OBX_query * query, obx_schema_id entity_id, obx_schema_id property_id, int64_t value_a,
             int64_t value_b),
            query, PARAMETERS)
MISSING_ERR(obx_query_param_int64s,
            (OBX_query * query, obx_schema_id entity_id, obx_schema_id property_id,
             const int64_t values[], size_t count),
            query, PARAMETERS)
MISSING_ERR(obx_query_param_int32s,
            (OBX_query * query, obx_schema_id entity_id, obx_schema_id property_id,
             const int32_t values[], size_t count),
            query, PARAMETERS)
MISSING_ERR(obx_query_param_double,
            (OBX_query * query, obx_schema_id entity_id, obx_schema_id property_id, double value),
            query, PARAMETERS)
MISSING_ERR(obx_query_param_2doubles,
            (OBX_query * query, obx_schema_id entity_id, obx_schema_id property_id, double value_a,
             double value_b),
            query, PARAMETERS)
MISSING_ERR(obx_query_param_bytes,
            (OBX_query * query, obx_schema_id entity_id, obx_schema_id property_id,
             const uint8_t *value, size_t size),
            query, PARAMETERS)
MISSING_ERR(obx_query_param_vector_float32,
            (OBX_query * query, obx_schema_id entity_id, obx_schema_id property_id,
             const float *value, size_t element_count),
            query, PARAMETERS)
MISSING_NUMBER(size_t, obx_query_param_get_type_size,
               (OBX_query * query, obx_schema_id entity_id, obx_schema_id property_id), query,
               PARAMETERS)

// ---- parameters by alias ----

MISSING_ERR(obx_query_param_alias_string, (OBX_query * query, const char *alias, const char *value),
            query, PARAMETERS)
MISSING_ERR(obx_query_param_alias_strings,
            (OBX_query * query, const char *alias, const char *const values[], size_t count), query,
            PARAMETERS)
MISSING_ERR(obx_query_param_alias_int, (OBX_query * query, const char *alias, int64_t value), query,
            PARAMETERS)
MISSING_ERR(obx_query_param_alias_2ints,
            (OBX_query * query, const char *alias, int64_t value_a, int64_t value_b), query,
            PARAMETERS)
MISSING_ERR(obx_query_param_alias_int64s,
            (OBX_query * query, const char *alias, const int64_t values[], size_t count), query,
            PARAMETERS)
MISSING_ERR(obx_query_param_alias_int32s,
            (OBX_query * query, const char *alias, const int32_t values[], size_t count), query,
            PARAMETERS)
MISSING_ERR(obx_query_param_alias_double, (OBX_query * query, const char *alias, double value),
            query, PARAMETERS)
MISSING_ERR(obx_query_param_alias_2doubles,
            (OBX_query * query, const char *alias, double value_a, double value_b), query,
            PARAMETERS)
MISSING_ERR(obx_query_param_alias_bytes,
            (OBX_query * query, const char *alias, const uint8_t *value, size_t size), query,
            PARAMETERS)
MISSING_ERR(obx_query_param_alias_vector_float32,
            (OBX_query * query, const char *alias, const float *value, size_t element_count), query,
            PARAMETERS)
MISSING_NUMBER(size_t, obx_query_param_alias_get_type_size, (OBX_query * query, const char *alias),
               query, PARAMETERS)

// ---- property queries ----

MISSING_POINTER(OBX_query_prop *, obx_query_prop, (OBX_query * query, obx_schema_id property_id),
                query, PROPERTY_QUERIES)
MISSING_CLOSE(obx_query_prop_close, (OBX_query_prop * query), query, PROPERTY_QUERIES)
MISSING_ERR(obx_query_prop_distinct, (OBX_query_prop * query, bool distinct), query,
            PROPERTY_QUERIES)
MISSING_ERR(obx_query_prop_distinct_case,
            (OBX_query_prop * query, bool distinct, bool case_sensitive), query, PROPERTY_QUERIES)
MISSING_ERR(obx_query_prop_count, (OBX_query_prop * query, uint64_t *out_count), query,
            PROPERTY_QUERIES)
MISSING_ERR(obx_query_prop_avg, (OBX_query_prop * query, double *out_average, int64_t *out_count),
            query, PROPERTY_QUERIES)
MISSING_ERR(obx_query_prop_avg_int,
            (OBX_query_prop * query, int64_t *out_average, int64_t *out_count), query,
            PROPERTY_QUERIES)
MISSING_ERR(obx_query_prop_min, (OBX_query_prop * query, double *out_minimum, int64_t *out_count),
            query, PROPERTY_QUERIES)
MISSING_ERR(obx_query_prop_max, (OBX_query_prop * query, double *out_maximum, int64_t *out_count),
            query, PROPERTY_QUERIES)
MISSING_ERR(obx_query_prop_sum, (OBX_query_prop * query, double *out_sum, int64_t *out_count),
            query, PROPERTY_QUERIES)
MISSING_ERR(obx_query_prop_min_int,
            (OBX_query_prop * query, int64_t *out_minimum, int64_t *out_count), query,
            PROPERTY_QUERIES)
MISSING_ERR(obx_query_prop_max_int,
            (OBX_query_prop * query, int64_t *out_maximum, int64_t *out_count), query,
            PROPERTY_QUERIES)
MISSING_ERR(obx_query_prop_sum_int, (OBX_query_prop * query, int64_t *out_sum, int64_t *out_count),
            query, PROPERTY_QUERIES)
MISSING_POINTER(OBX_string_array *, obx_query_prop_find_strings,
                (OBX_query_prop * query, const char *value_if_null), query, PROPERTY_QUERIES)
MISSING_POINTER(OBX_int64_array *, obx_query_prop_find_int64s,
                (OBX_query_prop * query, const int64_t *value_if_null), query, PROPERTY_QUERIES)
MISSING_POINTER(OBX_int32_array *, obx_query_prop_find_int32s,
                (OBX_query_prop * query, const int32_t *value_if_null), query, PROPERTY_QUERIES)
MISSING_POINTER(OBX_int16_array *, obx_query_prop_find_int16s,
                (OBX_query_prop * query, const int16_t *value_if_null), query, PROPERTY_QUERIES)
MISSING_POINTER(OBX_int8_array *, obx_query_prop_find_int8s,
                (OBX_query_prop * query, const int8_t *value_if_null), query, PROPERTY_QUERIES)
MISSING_POINTER(OBX_double_array *, obx_query_prop_find_doubles,
                (OBX_query_prop * query, const double *value_if_null), query, PROPERTY_QUERIES)
MISSING_POINTER(OBX_float_array *, obx_query_prop_find_floats,
                (OBX_query_prop * query, const float *value_if_null), query, PROPERTY_QUERIES)

// NOLINTEND(misc-unused-parameters,readability-function-size)
