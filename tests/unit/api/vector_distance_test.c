/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "unit/api/pair_store.h"

static float distance(OBXVectorDistanceType type, float a0, float a1, float b0, float b1)
{
    const float a[] = {a0, a1}, b[] = {b0, b1};
    return obx_vector_distance_float32(type, a, b, 2);
}

static void distances_are_those_of_their_type(void)
{
    CHECK_EQ(distance(OBXVectorDistanceType_Euclidean, 0, 0, 3, 4), 25.0);
    CHECK_EQ(distance(OBXVectorDistanceType_Cosine, 1, 0, 0, 1), 1.0);
    CHECK_EQ(distance(OBXVectorDistanceType_Cosine, 1, 0, -1, 0), 2.0);
    CHECK_EQ(distance(OBXVectorDistanceType_Cosine, 0, 0, 1, 0), 2.0);
    CHECK_EQ(distance(OBXVectorDistanceType_DotProduct, 1, 0, 1, 0), 0.0);
    CHECK_EQ(distance(OBXVectorDistanceType_DotProduct, 1, 2, 2, 4), 2.0);
    CHECK_EQ(distance(OBXVectorDistanceType_DotProduct, 1.5F, 0, 1, 0), 0.0);
    CHECK_EQ(distance(OBXVectorDistanceType_DotProductNonNormalized, 1, 0, 0, 1), 1.0);
    CHECK_EQ(distance(OBXVectorDistanceType_DotProductNonNormalized, 1, 0, 1, 0), 0.5);
    CHECK_EQ(distance(OBXVectorDistanceType_DotProductNonNormalized, 1, 0, -1, 0), 1.5);
    CHECK_EQ(distance(OBXVectorDistanceType_Geo, 1, 0, 1, 0), 0.0);
    const float berlin_munich =
        distance(OBXVectorDistanceType_Geo, 48.137F, 11.575F, 52.52F, 13.405F);
    CHECK(berlin_munich > 504.33F && berlin_munich < 504.34F);
}

static void what_is_not_a_number_is_farthest(void)
{
    CHECK(isnan(distance(OBXVectorDistanceType_Euclidean, NAN, 1, 1, 1)));
    CHECK_EQ(distance(OBXVectorDistanceType_Cosine, NAN, 1, 1, 1), 2.0);
    CHECK_EQ(distance(OBXVectorDistanceType_DotProduct, NAN, 1, 1, 1), 2.0);
    CHECK_EQ(distance(OBXVectorDistanceType_DotProductNonNormalized, NAN, 1, 1, 1), 2.0);
}

static void relevance_goes_from_one_to_zero(void)
{
    CHECK_EQ(obx_vector_distance_to_relevance(OBXVectorDistanceType_Euclidean, 0), 1.0);
    CHECK_EQ(obx_vector_distance_to_relevance(OBXVectorDistanceType_Euclidean, 1), 0.5);
    CHECK_EQ(obx_vector_distance_to_relevance(OBXVectorDistanceType_Euclidean, INFINITY), 0.0);
    CHECK_EQ(obx_vector_distance_to_relevance(OBXVectorDistanceType_Cosine, 0.5F), 0.75);
    CHECK_EQ(obx_vector_distance_to_relevance(OBXVectorDistanceType_DotProduct, 3), 0.0);
    CHECK(isnan(obx_vector_distance_to_relevance(OBXVectorDistanceType_Geo, 1)));
    CHECK(isnan(obx_vector_distance_to_relevance(OBXVectorDistanceType_Unknown, 1)));
    CHECK_REASON("Unsupported distance type: 0");
}

static void unknown_types_and_missing_vectors_are_refused(void)
{
    CHECK(isnan(distance((OBXVectorDistanceType)77, 1, 1, 1, 1)));
    CHECK_REASON("Unsupported distance type: 77");
    CHECK(isnan(obx_vector_distance_float32(OBXVectorDistanceType_Cosine, NULL, NULL, 2)));
    CHECK_EQ(obx_last_error_code(), OBX_ERROR_ILLEGAL_ARGUMENT);
}

RUN_TESTS(TEST(distances_are_those_of_their_type), TEST(what_is_not_a_number_is_farthest),
          TEST(relevance_goes_from_one_to_zero),
          TEST(unknown_types_and_missing_vectors_are_refused))
