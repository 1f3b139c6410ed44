/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strings and byte strings. str is encoded straight into the batch in one pass: the interpreter's
 * own encoder would keep a second copy inside the string.
 */
#include "binding.h"

static void store_length(struct batch *batch, size_t at, size_t length)
{
    uint32_t number = (uint32_t)length;
    memcpy(batch->data + at, &number, sizeof(number));
}

#ifndef Py_LIMITED_API

static const uint64_t HIGH_BITS = 0x8080808080808080u;

static inline uint8_t *put_two(uint8_t *to, Py_UCS4 c)
{
    to[0] = (uint8_t)(0xC0 | c >> 6);
    to[1] = (uint8_t)(0x80 | (c & 0x3F));
    return to + 2;
}

static inline uint8_t *put_three(uint8_t *to, Py_UCS4 c)
{
    to[0] = (uint8_t)(0xE0 | c >> 12);
    to[1] = (uint8_t)(0x80 | (c >> 6 & 0x3F));
    to[2] = (uint8_t)(0x80 | (c & 0x3F));
    return to + 3;
}

static inline bool is_surrogate(Py_UCS4 c) { return (c & 0xFFFFF800u) == 0xD800; }

static uint8_t *encode_latin1(const Py_UCS1 *from, size_t length, uint8_t *to)
{
    const Py_UCS1 *end = from + length;
    while (from < end) {
        uint64_t word;
        while (end - from >= 8 && (memcpy(&word, from, 8), !(word & HIGH_BITS))) {
            memcpy(to, &word, 8);
            from += 8;
            to += 8;
        }
        // At most 8 single characters, then look for a run again.
        for (int i = 0; i < 8 && from < end; i++, from++) {
            if (*from < 0x80) *to++ = *from;
            else to = put_two(to, *from);
        }
    }
    return to;
}

static uint8_t *encode_ucs2(const Py_UCS2 *from, size_t length, uint8_t *to)
{
    const Py_UCS2 *end = from + length;
    while (from < end) {
        uint64_t word;
        while (end - from >= 4 && (memcpy(&word, from, 8), !(word & 0xFF80FF80FF80FF80u))) {
            for (int i = 0; i < 4; i++) to[i] = (uint8_t)from[i];
            from += 4;
            to += 4;
        }
        for (int i = 0; i < 8 && from < end; i++, from++) {
            if (*from < 0x80) *to++ = (uint8_t)*from;
            else if (*from < 0x800) to = put_two(to, *from);
            else if (is_surrogate(*from)) return NULL;
            else to = put_three(to, *from);
        }
    }
    return to;
}

static uint8_t *encode_ucs4(const Py_UCS4 *from, size_t length, uint8_t *to)
{
    for (const Py_UCS4 *end = from + length; from < end; from++) {
        Py_UCS4 c = *from;
        if (c < 0x80) {
            *to++ = (uint8_t)c;
        } else if (c < 0x800) {
            to = put_two(to, c);
        } else if (c < 0x10000) {
            if (is_surrogate(c)) return NULL;
            to = put_three(to, c);
        } else {
            *to++ = (uint8_t)(0xF0 | c >> 18);
            to = put_three(to, c & 0x3FFFF);
            to[-3] = (uint8_t)(0x80 | (c >> 12 & 0x3F));
        }
    }
    return to;
}

/* Encode at batch->used + 4; the end, or NULL with an exception. */
static uint8_t *encode(struct batch *batch, const struct place *place, PyObject *value)
{
    if (PyUnicode_READY(value)) return NULL;
    size_t length = (size_t)PyUnicode_GET_LENGTH(value);
    unsigned kind = PyUnicode_KIND(value);
    bool is_ascii = PyUnicode_IS_ASCII(value);
    size_t bound = is_ascii ? length
                            : length * (kind == PyUnicode_1BYTE_KIND   ? 2
                                        : kind == PyUnicode_2BYTE_KIND ? 3
                                                                       : 4);
    if (bwpy_batch_room(batch, bound + 16)) return NULL;
    uint8_t *to = batch->data + batch->used + 4, *end;
    const void *data = PyUnicode_DATA(value);
    if (is_ascii) {
        memcpy(to, data, length);
        return to + length;
    }
    if (kind == PyUnicode_1BYTE_KIND) end = encode_latin1(data, length, to);
    else if (kind == PyUnicode_2BYTE_KIND) end = encode_ucs2(data, length, to);
    else end = encode_ucs4(data, length, to);
    if (!end) bwpy_raise_value(place, value, WRONG_RANGE, "text without lone surrogates");
    return end;
}

#else

static uint8_t *encode(struct batch *batch, const struct place *place, PyObject *value)
{
    Py_ssize_t size;
    const char *text = PyUnicode_AsUTF8AndSize(value, &size);
    if (!text) {
        if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) return NULL;
        PyErr_Clear();
        bwpy_raise_value(place, value, WRONG_RANGE, "text without lone surrogates");
        return NULL;
    }
    if (bwpy_batch_room(batch, (size_t)size + 16)) return NULL;
    memcpy(batch->data + batch->used + 4, text, (size_t)size);
    return batch->data + batch->used + 4 + size;
}

#endif

int bwpy_text_append(struct batch *batch, const struct place *place, PyObject *value)
{
    if (!PyUnicode_Check(value)) return bwpy_raise_value(place, value, WRONG_TYPE, "a str");
    uint8_t *end = encode(batch, place, value);
    if (!end) return -1;
    *end = 0;
    size_t at = batch->used;
    batch->used = (size_t)(end + 1 - batch->data);
    store_length(batch, at, batch->used - at - 5);
    return 0;
}

static int append_bytes(struct batch *batch, const void *data, size_t size)
{
    if (size >= UINT32_MAX) {
        PyErr_SetString(PyExc_OverflowError, "a byte string of 4 GiB or more cannot be stored");
        return -1;
    }
    if (bwpy_batch_room(batch, size + 16)) return -1;
    store_length(batch, batch->used, size);
    if (size) memcpy(batch->data + batch->used + 4, data, size);
    batch->used += 4 + size;
    return 0;
}

int bwpy_bytes_append(struct batch *batch, const struct place *place, PyObject *value)
{
    if (PyBytes_Check(value)) {
        char *data;
        Py_ssize_t size;
        if (PyBytes_AsStringAndSize(value, &data, &size)) return -1;
        return append_bytes(batch, data, (size_t)size);
    }
    if (PyUnicode_Check(value) || !PyObject_CheckBuffer(value))
        return bwpy_raise_value(place, value, WRONG_TYPE, "bytes or an object with a buffer");
    Py_buffer view;
    if (PyObject_GetBuffer(value, &view, PyBUF_SIMPLE)) return bwpy_note_place(place);
    int err = append_bytes(batch, view.buf, (size_t)view.len);
    PyBuffer_Release(&view);
    return err;
}

PyObject *bwpy_text_read(const uint8_t *data, size_t size)
{
#ifndef Py_LIMITED_API
    uint64_t seen = 0, word;
    size_t at = 0;
    for (; size - at >= 8; at += 8) {
        memcpy(&word, data + at, 8);
        seen |= word;
    }
    for (; at < size; at++) seen |= data[at];
    if (!(seen & 0x8080808080808080u)) {
        PyObject *text = PyUnicode_New((Py_ssize_t)size, 127);
        if (text && size) memcpy(PyUnicode_DATA(text), data, size);
        return text;
    }
#endif
    return PyUnicode_DecodeUTF8((const char *)data, (Py_ssize_t)size, NULL);
}
