/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Distances of vectors, and their relevance between 0 and 1.
 *
 * Sums of products are made in float, so that the results are those that existing programs compare
 * with. A sum that overflows counts as the farthest there is.
 */
#include <math.h>

#include "api/argument.h"
#include "api/exported.h"

static const double earth_radius_km = 6371;
static const double pi = 3.14159265358979323846;

static float euclidean(const float *a, const float *b, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        const double difference = (double)a[i] - (double)b[i];
        sum += difference * difference;
    }
    return (float)sum;
}

static float dot(const float *a, const float *b, size_t count)
{
    float sum = 0;
    for (size_t i = 0; i < count; i++) sum += a[i] * b[i];
    return sum;
}

static float cosine(const float *a, const float *b, size_t count)
{
    const double norms = sqrt((double)dot(a, a, count)) * sqrt((double)dot(b, b, count));
    const float distance = 1 - (float)((double)dot(a, b, count) / norms);
    if (!isfinite(distance)) return 2; // a zero vector, or one with elements that are not finite
    if (distance < 0) return 0;
    return distance > 2 ? 2 : distance;
}

static float dot_product(const float *a, const float *b, size_t count)
{
    const float product = dot(a, b, count);
    if (isnan(product) || product > 2) return 2;
    return product > 1 ? 0 : 1 - product;
}

// The bits of a positive float read as a number: a cheap logarithm that keeps the order.
static double log_by_bits(float value)
{
    int exponent = 0;
    const double mantissa = 2 * frexp((double)value, &exponent); // 1 to 2
    return exponent - 1 + mantissa - 1;
}

static float dot_product_of_any_length(const float *a, const float *b, size_t count)
{
    const float product = dot(a, b, count);
    if (!isfinite(product)) return 2;
    if (product > 0) return (float)(0.5 - log_by_bits(product) / 256);
    if (product < 0) return (float)(1.5 + log_by_bits(-product) / 256);
    return 1;
}

static double haversine(double angle)
{
    const double sine = sin(angle / 2);
    return sine * sine;
}

static float geo(const float *a, const float *b, size_t count)
{
    if (count < 2) return 0;
    const double radians = pi / 180;
    const double latitude_a = (double)a[0] * radians, latitude_b = (double)b[0] * radians;
    const double longitude = ((double)b[1] - (double)a[1]) * radians;
    const double h = haversine(latitude_b - latitude_a) +
                     cos(latitude_a) * cos(latitude_b) * haversine(longitude);
    return (float)(2 * earth_radius_km * asin(sqrt(h > 1 ? 1 : h)));
}

static float refuse(bw_err err)
{
    (void)err; // noted already
    return NAN;
}

static float refuse_type(int type)
{
    return refuse(bw_fail(BW_ERR_ILLEGAL_ARGUMENT, "Unsupported distance type: %d", type));
}

float obx_vector_distance_float32(OBXVectorDistanceType type, const float *vector1,
                                  const float *vector2, size_t dimension)
{
    if (!vector1 || !vector2)
        return refuse(vector1 ? ARGUMENT_NULL(vector2) : ARGUMENT_NULL(vector1));
    switch (type) {
    case OBXVectorDistanceType_Euclidean:
        return euclidean(vector1, vector2, dimension);
    case OBXVectorDistanceType_Cosine:
        return cosine(vector1, vector2, dimension);
    case OBXVectorDistanceType_DotProduct:
        return dot_product(vector1, vector2, dimension);
    case OBXVectorDistanceType_Geo:
        return geo(vector1, vector2, dimension);
    case OBXVectorDistanceType_DotProductNonNormalized:
        return dot_product_of_any_length(vector1, vector2, dimension);
    case OBXVectorDistanceType_Unknown:
    default:
        return refuse_type((int)type);
    }
}

static float half_of_range(float distance)
{
    const float relevance = 1 - distance / 2;
    if (relevance < 0) return 0;
    return relevance > 1 ? 1 : relevance;
}

float obx_vector_distance_to_relevance(OBXVectorDistanceType type, float distance)
{
    switch (type) {
    case OBXVectorDistanceType_Euclidean:
        if (distance <= 0) return 1;
        return isfinite(distance) ? (float)(0.5 - log_by_bits(distance) / 256) : 0;
    case OBXVectorDistanceType_Cosine:
    case OBXVectorDistanceType_DotProduct:
    case OBXVectorDistanceType_DotProductNonNormalized:
        return half_of_range(distance);
    case OBXVectorDistanceType_Geo:
        return NAN;
    case OBXVectorDistanceType_Unknown:
    default:
        return refuse_type((int)type);
    }
}
