/* SPDX-License-Identifier: Apache-2.0 */
/* Names are compared without case, of ASCII letters only. Private to the layer. */
#pragma once

#include "base/base.h"

static inline char bw_text_lower(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? (char)(letter + ('a' - 'A')) : letter;
}

static inline bool bw_text_is_same(const char *a, const char *b)
{
    while (*a && bw_text_lower(*a) == bw_text_lower(*b)) {
        a++;
        b++;
    }
    return bw_text_lower(*a) == bw_text_lower(*b);
}

/* Equal for texts that differ in case only; never 0. */
static inline uint64_t bw_text_hash(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325u; // FNV-1a
    for (; *text; text++) hash = (hash ^ (uint8_t)bw_text_lower(*text)) * 0x100000001b3u;
    hash ^= hash >> 32;
    return hash ? hash : 1;
}

/* Copy a text into room for a message; what does not fit is left out, by whole characters. */
static inline void bw_text_cut(char *to, size_t room, const char *from)
{
    size_t size = strlen(from);
    if (size >= room) {
        size = room - 1;
        while (size > 0 && ((unsigned char)from[size] & 0xC0) == 0x80) size--;
    }
    memcpy(to, from, size);
    to[size] = 0;
}
