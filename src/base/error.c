/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reason of a thread's last failure.
 *
 * A fixed buffer per thread, so that saying why something failed can itself not fail, and costs
 * nothing while nothing fails.
 *
 * Invariants:
 *   E1  The text is never longer than its buffer and never ends in the middle of a character:
 *       bindings decode it as UTF-8.
 *   E2  A reason may be built from the one before it: the old text is read, then replaced.
 *   E3  A place belongs to one failure: the next one starts without.
 */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_ROOM = 1024 };

struct reason {
    bw_err err;
    int32_t secondary;
    char text[TEXT_ROOM];
    struct reason_place place;
};

static _Thread_local struct reason last = {.place = {.index = UINT64_MAX}};

static void keep(bw_err err, int32_t secondary, const char *text)
{
    size_t size = strlen(text);
    if (size >= TEXT_ROOM) {
        size = TEXT_ROOM - 1;
        while (size > 0 && ((unsigned char)text[size] & 0xC0) == 0x80) size--; // E1
    }
    memmove(last.text, text, size); // E2
    last.text[size] = 0;
    last.err = err;
    last.secondary = secondary;
    last.place = (struct reason_place){.index = UINT64_MAX}; // E3
}

static void keep_formatted(bw_err err, int32_t secondary, const char *format, va_list arguments)
    PRINTF_LIKE(3, 0);

static void keep_formatted(bw_err err, int32_t secondary, const char *format, va_list arguments)
{
    char text[TEXT_ROOM + 4]; // room to see that it is too long, and where a character begins
    int size = vsnprintf(text, sizeof(text), format, arguments);
    keep(err, secondary, size < 0 ? format : text);
}

#undef bw_fail // error.h has more to say to the analyzer
#undef bw_fail_system

bw_err bw_fail(bw_err err, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    keep_formatted(err, 0, format, arguments);
    va_end(arguments);
    return err;
}

bw_err bw_fail_system(bw_err err, int32_t secondary, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    keep_formatted(err, secondary, format, arguments);
    va_end(arguments);
    return err;
}

bw_err bw_reason_code(void) { return last.err; }

int32_t bw_reason_secondary(void) { return last.secondary; }

const char *bw_reason_text(void) { return last.text; }

void bw_reason_set(bw_err err, int32_t secondary, const char *text)
{
    keep(err, secondary, text ? text : "");
}

void bw_reason_clear(void) { keep(BW_OK, 0, ""); }

struct reason_place *bw_reason_place(void) { return &last.place; }
