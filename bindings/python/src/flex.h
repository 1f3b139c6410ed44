/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of FlexBuffers' types, as its format defines them. */
#pragma once

enum flex_type {
    FLEX_NULL = 0,
    FLEX_INT = 1,
    FLEX_UINT = 2,
    FLEX_FLOAT = 3,
    FLEX_KEY = 4,
    FLEX_STRING = 5,
    FLEX_INDIRECT_INT = 6,
    FLEX_INDIRECT_UINT = 7,
    FLEX_INDIRECT_FLOAT = 8,
    FLEX_MAP = 9,
    FLEX_VECTOR = 10,
    FLEX_VECTOR_INT = 11,
    FLEX_VECTOR_UINT = 12,
    FLEX_VECTOR_FLOAT = 13,
    FLEX_VECTOR_KEY = 14,
    FLEX_VECTOR_STRING = 15, /* deprecated by the format, still read */
    FLEX_VECTOR_INT2 = 16,   /* up to VECTOR_FLOAT4: numbers of a fixed count */
    FLEX_VECTOR_FLOAT4 = 24,
    FLEX_BLOB = 25,
    FLEX_BOOL = 26,
    FLEX_VECTOR_BOOL = 36,
};
