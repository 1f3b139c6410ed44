/* SPDX-License-Identifier: Apache-2.0 */
#include "model/encoding.h"

static void fail(struct decoder *decoder)
{
    decoder->has_failed = true;
    decoder->at = decoder->end;
}

static size_t left(const struct decoder *decoder) { return (size_t)(decoder->end - decoder->at); }

uint8_t bw_decode_u8(struct decoder *decoder)
{
    if (left(decoder) < 1) {
        fail(decoder);
        return 0;
    }
    return *decoder->at++;
}

uint64_t bw_decode_number(struct decoder *decoder)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte = bw_decode_u8(decoder);
        if (decoder->has_failed) return 0;
        uint64_t part = byte & 0x7f;
        bool is_last = !(byte & 0x80);
        bool is_longer_than_needed = is_last && !part && shift;
        bool has_overflown = part << shift >> shift != part;
        if (is_longer_than_needed || has_overflown) break;
        value |= part << shift;
        if (is_last) return value;
    }
    fail(decoder);
    return 0;
}

uint32_t bw_decode_u32(struct decoder *decoder)
{
    uint64_t value = bw_decode_number(decoder);
    if (value > UINT32_MAX) {
        fail(decoder);
        return 0;
    }
    return (uint32_t)value;
}

uint64_t bw_decode_u64(struct decoder *decoder)
{
    if (left(decoder) < UID_SIZE) {
        fail(decoder);
        return 0;
    }
    uint64_t value = bw_get_u64(decoder->at);
    decoder->at += UID_SIZE;
    return value;
}

const char *bw_decode_text(struct decoder *decoder)
{
    uint64_t size = bw_decode_number(decoder);
    if (decoder->has_failed || size == 0 || size >= left(decoder)) {
        fail(decoder);
        return NULL;
    }
    const uint8_t *text = decoder->at;
    if (memchr(text, 0, (size_t)size) || text[size]) {
        fail(decoder);
        return NULL;
    }
    decoder->at += size + 1;
    return (const char *)text;
}

uint32_t bw_decode_pair(struct decoder *decoder, uint64_t *out_uid)
{
    uint32_t id = bw_decode_u32(decoder);
    *out_uid = id ? bw_decode_u64(decoder) : 0;
    return id;
}
