/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pieces of which a schema blob consists: numbers of variable length, uids, texts. Private to
 * the layer; docs/format.md has the layout.
 *
 * Numbers are 7 bits a byte, lowest first, the top bit set in all but the last. Each number has one
 * encoding only: no trailing zero byte. Writing needs room that was measured before.
 */
#pragma once

#include "base/base.h"

enum {
    NUMBER_32_MAX = 5, /* bytes of the longest u32 */
    NUMBER_64_MAX = 10,
    UID_SIZE = 8,
};

static inline uint8_t *bw_encode_number(uint8_t *to, uint64_t value)
{
    while (value > 0x7f) {
        *to++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *to++ = (uint8_t)value;
    return to;
}

static inline uint8_t *bw_encode_u64(uint8_t *to, uint64_t value)
{
    bw_put_u64(to, value);
    return to + UID_SIZE;
}

/* Length, bytes and a NUL. */
static inline uint8_t *bw_encode_text(uint8_t *to, const char *text)
{
    size_t size = strlen(text);
    to = bw_encode_number(to, size);
    memcpy(to, text, size + 1);
    return to + size + 1;
}

/* An id with its uid, which an id of 0 does not have. */
static inline uint8_t *bw_encode_pair(uint8_t *to, uint32_t id, uint64_t uid)
{
    to = bw_encode_number(to, id);
    return id ? bw_encode_u64(to, uid) : to;
}

struct decoder {
    const uint8_t *at, *end; /* borrowed */
    bool has_failed;         /* then everything that is taken is 0 or NULL */
};

uint64_t bw_decode_number(struct decoder *decoder);
uint32_t bw_decode_u32(struct decoder *decoder); /* a number that must fit */
uint64_t bw_decode_u64(struct decoder *decoder);
uint8_t bw_decode_u8(struct decoder *decoder);
/* Borrowed from the decoder's bytes; must not be empty. */
const char *bw_decode_text(struct decoder *decoder);
uint32_t bw_decode_pair(struct decoder *decoder, uint64_t *out_uid);
