/* SPDX-License-Identifier: Apache-2.0 */
/* Writing JSON to stdout, one object a line. */
#include "tool.h"

#include <inttypes.h>

static bool is_first; // in the innermost object or array

static void separate(void)
{
    if (!is_first) (void)putchar(',');
    is_first = false;
}

static void open_with(char sign)
{
    (void)putchar(sign);
    is_first = true;
}

static void close_with(char sign)
{
    (void)putchar(sign);
    is_first = false;
}

static void put_text(const char *text)
{
    (void)putchar('"');
    for (const char *at = text; *at; at++) {
        const unsigned char byte = (unsigned char)*at;
        if (byte == '"' || byte == '\\') (void)printf("\\%c", byte);
        else if (byte < ' ') (void)printf("\\u%04x", byte);
        else (void)putchar(byte);
    }
    (void)putchar('"');
}

static void put_name(const char *name)
{
    separate();
    put_text(name);
    (void)putchar(':');
}

void json_begin(void) { open_with('{'); }

void json_text(const char *name, const char *text)
{
    put_name(name);
    put_text(text);
}

void json_number(const char *name, uint64_t number)
{
    put_name(name);
    (void)printf("%" PRIu64, number);
}

void json_bool(const char *name, bool value)
{
    put_name(name);
    (void)fputs(value ? "true" : "false", stdout);
}

void json_array(const char *name)
{
    put_name(name);
    open_with('[');
}

void json_item(const char *text)
{
    separate();
    put_text(text);
}

void json_object(void)
{
    separate();
    open_with('{');
}

void json_object_end(void) { close_with('}'); }
void json_array_end(void) { close_with(']'); }

void json_end(void)
{
    close_with('}');
    (void)putchar('\n');
}
