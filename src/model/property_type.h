/* SPDX-License-Identifier: Apache-2.0 */
/* What property types mean for the bytes of objects. Private to the layer. */
#pragma once

#include "model/model.h"

/* What a field of this type holds; 0: there is no such type. */
uint8_t bw_property_type_kind(uint16_t type);
