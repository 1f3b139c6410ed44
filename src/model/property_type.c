/* SPDX-License-Identifier: Apache-2.0 */
/* Names and field kinds of the property types. */
#include "model/property_type.h"

static const struct {
    const char *name;
    uint8_t kind; /* enum flat_kind; 0: no such type */
} types[] = {
    [0] = {"Unknown", 0},
    [TYPE_BOOL] = {"Bool", FLAT_8},
    [TYPE_BYTE] = {"Byte", FLAT_8},
    [TYPE_SHORT] = {"Short", FLAT_16},
    [TYPE_CHAR] = {"Char", FLAT_16},
    [TYPE_INT] = {"Int", FLAT_32},
    [TYPE_LONG] = {"Long", FLAT_64},
    [TYPE_FLOAT] = {"Float", FLAT_32},
    [TYPE_DOUBLE] = {"Double", FLAT_64},
    [TYPE_STRING] = {"String", FLAT_STRING},
    [TYPE_DATE] = {"Date", FLAT_64},
    [TYPE_RELATION] = {"Relation", FLAT_64},
    [TYPE_DATE_NANO] = {"DateNano", FLAT_64},
    [TYPE_FLEX] = {"Flex", FLAT_VECTOR_8},
    [TYPE_BOOL_VECTOR] = {"BoolVector", FLAT_VECTOR_8},
    [TYPE_BYTE_VECTOR] = {"ByteVector", FLAT_VECTOR_8},
    [TYPE_SHORT_VECTOR] = {"ShortVector", FLAT_VECTOR_16},
    [TYPE_CHAR_VECTOR] = {"CharVector", FLAT_VECTOR_16},
    [TYPE_INT_VECTOR] = {"IntVector", FLAT_VECTOR_32},
    [TYPE_LONG_VECTOR] = {"LongVector", FLAT_VECTOR_64},
    [TYPE_FLOAT_VECTOR] = {"FloatVector", FLAT_VECTOR_32},
    [TYPE_DOUBLE_VECTOR] = {"DoubleVector", FLAT_VECTOR_64},
    [TYPE_STRING_VECTOR] = {"StringVector", FLAT_VECTOR_STRING},
    [TYPE_DATE_VECTOR] = {"DateVector", FLAT_VECTOR_64},
    [TYPE_DATE_NANO_VECTOR] = {"DateNanoVector", FLAT_VECTOR_64},
};

enum { TYPE_COUNT = sizeof(types) / sizeof(types[0]) };

const char *bw_property_type_name(uint16_t type)
{
    return type < TYPE_COUNT && types[type].name ? types[type].name : "Unknown";
}

uint8_t bw_property_type_kind(uint16_t type) { return type < TYPE_COUNT ? types[type].kind : 0; }
