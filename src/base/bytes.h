/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Little-endian numbers at any address: the only way structures reach a disk or a wire. Compilers
 * turn each of these into one instruction on a little-endian machine.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Bytes somebody else owns. */
struct bytes {
    const uint8_t *data; /* borrowed */
    size_t size;
};

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define BW_LITTLE_16(x) __builtin_bswap16(x)
#define BW_LITTLE_32(x) __builtin_bswap32(x)
#define BW_LITTLE_64(x) __builtin_bswap64(x)
#else
#define BW_LITTLE_16(x) (x)
#define BW_LITTLE_32(x) (x)
#define BW_LITTLE_64(x) (x)
#endif

static inline uint16_t bw_get_u16(const void *from)
{
    uint16_t value;
    memcpy(&value, from, sizeof(value));
    return BW_LITTLE_16(value);
}

static inline uint32_t bw_get_u32(const void *from)
{
    uint32_t value;
    memcpy(&value, from, sizeof(value));
    return BW_LITTLE_32(value);
}

static inline uint64_t bw_get_u64(const void *from)
{
    uint64_t value;
    memcpy(&value, from, sizeof(value));
    return BW_LITTLE_64(value);
}

static inline void bw_put_u16(void *to, uint16_t value)
{
    value = BW_LITTLE_16(value);
    memcpy(to, &value, sizeof(value));
}

static inline void bw_put_u32(void *to, uint32_t value)
{
    value = BW_LITTLE_32(value);
    memcpy(to, &value, sizeof(value));
}

static inline void bw_put_u64(void *to, uint64_t value)
{
    value = BW_LITTLE_64(value);
    memcpy(to, &value, sizeof(value));
}

/* Round up to a multiple of a power of two. */
static inline size_t bw_round_up(size_t size, size_t unit)
{
    return (size + unit - 1) & ~(unit - 1);
}

/* Bytes before the NUL, `max` when there is none among the first `max`. */
static inline size_t bw_text_size(const char *text, size_t max)
{
    const char *end = memchr(text, 0, max);
    return end ? (size_t)(end - text) : max;
}
