/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes that a fuzzer invents, taken from the front; zeros when they have run out. */
#pragma once

#include "base/base.h"

struct input {
    const uint8_t *at; /* borrowed */
    size_t left;
};

/* What a target file has. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline uint64_t take_number(struct input *input, size_t bytes)
{
    uint64_t number = 0;
    for (size_t i = 0; i < bytes && input->left; i++, input->left--)
        number |= (uint64_t)*input->at++ << 8 * i;
    return number;
}

static inline uint8_t take_u8(struct input *input) { return (uint8_t)take_number(input, 1); }
static inline uint16_t take_u16(struct input *input) { return (uint16_t)take_number(input, 2); }
static inline uint32_t take_u32(struct input *input) { return (uint32_t)take_number(input, 4); }
static inline uint64_t take_u64(struct input *input) { return take_number(input, 8); }
