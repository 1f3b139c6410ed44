/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding and changing single slots of a leaf; see leaf.h for its invariants.
 *
 * Changes are made where they are cheap: a value goes into the room between slots and values, a
 * removed one leaves a hole. When that does not do, the caller has the leaf laid out afresh.
 */
#include "store/leaf.h"

void bw_leaf_note_unsound(page_ref ref)
{
    const bw_err err =
        bw_fail(BW_ERR_FILE_PAGES_CORRUPT, "page %u: the header of this leaf contradicts itself",
                bw_ref_page(ref));
    (void)err; // the caller returns it
}

bw_err bw_leaf_damaged(const uint8_t *leaf)
{
    return bw_fail(BW_ERR_FILE_PAGES_CORRUPT,
                   "page %u: slots of this leaf are out of bounds or order",
                   bw_get_u32(leaf + PAGE_AT_NUMBER));
}

// The form is an argument here and below, so that each has code of its own.
static inline unsigned slot_size_of(enum leaf_form form)
{
    if (form == LEAF_DENSE) return LEAF_SLOT_DENSE;
    return form == LEAF_WIDE ? LEAF_SLOT_WIDE : LEAF_SLOT_SPARSE;
}

static inline uint64_t distance_at(const uint8_t *leaf, unsigned at, enum leaf_form form)
{
    const uint8_t *slot = leaf + LEAF_SLOTS_AT + (size_t)slot_size_of(form) * at;
    return form == LEAF_WIDE ? bw_get_u64(slot) : bw_get_u32(slot);
}

// Lower bound in a leaf that is not dense, without a branch that depends on what is read.
static inline bool find_distance(const uint8_t *leaf, uint64_t distance, unsigned *out_at,
                                 enum leaf_form form)
{
    const unsigned slots = bw_leaf_slots(leaf);
    unsigned at = 0, left = slots;
    while (left > 1) {
        const unsigned half = left / 2;
        const bool is_below = distance_at(leaf, at + half - 1, form) < distance;
        at += half & (0u - is_below);
        left -= half;
    }
    if (left && distance_at(leaf, at, form) < distance) at++;
    *out_at = at;
    return at < slots && distance_at(leaf, at, form) == distance;
}

bool bw_leaf_search(const uint8_t *leaf, uint64_t key, unsigned *out_at)
{
    const uint64_t base = bw_leaf_base(leaf), distance = key - base;
    if (key < base) {
        *out_at = 0;
        return false;
    }
    if (UNLIKELY(bw_leaf_is_wide(leaf))) return find_distance(leaf, distance, out_at, LEAF_WIDE);
    return find_distance(leaf, distance, out_at, LEAF_SPARSE);
}

// Which 8-byte units of a leaf belong to a value.
struct units {
    uint64_t taken[EXTENT_PAGES_MAX * PAGE_SIZE / 8 / 64];
};

// Mark the units of a value. False: one of them is taken.
static bool mark(struct units *units, size_t offset, uint32_t size)
{
    bool is_free = true;
    for (size_t unit = offset / 8, end = (offset + bw_leaf_padded(size)) / 8; unit < end;) {
        const size_t shift = unit % 64, count = end - unit < 64 - shift ? end - unit : 64 - shift;
        const uint64_t mask = ~(uint64_t)0 >> (64 - count) << shift;
        is_free &= !(units->taken[unit / 64] & mask);
        units->taken[unit / 64] |= mask;
        unit += count;
    }
    return is_free;
}

// Do the values of a leaf, whose slots are in bounds, share a byte?
static bool values_overlap(const uint8_t *leaf)
{
    struct units units = {{0}};
    for (unsigned at = 0; at < bw_leaf_slots(leaf); at++) {
        struct leaf_entry entry;
        if (!bw_leaf_entry(leaf, at, &entry) || !entry.data) continue;
        if (!mark(&units, (size_t)(entry.data - leaf), entry.size)) return true;
    }
    return false;
}

struct survey {
    bool descends; // each value lies below all before it
    bool has_overflow;
};

// Is every slot of a sound dense leaf in bounds?
static bool survey_dense(const uint8_t *leaf, struct survey *survey)
{
    const unsigned slots = bw_leaf_slots(leaf);
    const size_t upper = bw_leaf_upper(leaf), end = bw_leaf_size(leaf);
    if (bw_leaf_base(leaf) + (slots - 1) < bw_leaf_base(leaf)) return false;
    if (bw_leaf_is_empty_slot(leaf, 0) || bw_leaf_is_empty_slot(leaf, slots - 1))
        return false;    // L1
    size_t lowest = end; // of the values so far
    unsigned live = 0;
    for (unsigned at = 0; at < slots; at++) {
        const uint8_t *slot = leaf + LEAF_SLOTS_AT + (size_t)LEAF_SLOT_DENSE * at;
        const size_t offset = (size_t)bw_get_u16(slot) * 8;
        size_t length = bw_get_u16(slot + 2);
        struct leaf_entry entry;
        if (UNLIKELY(length == LEAF_LENGTH_OVERFLOW)) {
            if (!bw_leaf_entry(leaf, at, &entry)) return false;
            length = entry.size;
            survey->has_overflow = true;
        }
        if (!offset && !length) continue;
        if (offset < upper || !length || offset + length > end) return false; // L2
        survey->descends &= offset + bw_leaf_padded((uint32_t)length) <= lowest;
        if (offset < lowest) lowest = offset;
        live++;
    }
    return 2 * live >= slots; // L5
}

// The same for a leaf that is not dense, whose keys have an order of their own.
static bool survey_distant(const uint8_t *leaf, struct survey *survey)
{
    const unsigned slots = bw_leaf_slots(leaf), upper = bw_leaf_upper(leaf);
    const uint8_t *lowest = leaf + bw_leaf_size(leaf);
    uint64_t last_key = 0;
    for (unsigned at = 0; at < slots; at++) {
        struct leaf_entry entry;
        if (!bw_leaf_entry(leaf, at, &entry) || !entry.data) return false;
        if (entry.data < leaf + upper) return false; // L2
        if (entry.key < bw_leaf_base(leaf) || (at && entry.key <= last_key)) return false;
        last_key = entry.key;
        survey->descends &= entry.data + bw_leaf_padded(entry.size) <= lowest;
        if (entry.data < lowest) lowest = entry.data;
        survey->has_overflow |= entry.is_overflow;
    }
    return true;
}

static bool survey_slots(const uint8_t *leaf, struct survey *out_survey)
{
    *out_survey = (struct survey){.descends = true};
    if (!bw_leaf_is_sound(leaf)) return false;
    return bw_leaf_is_dense(leaf) ? survey_dense(leaf, out_survey)
                                  : survey_distant(leaf, out_survey);
}

bool bw_leaf_is_safe(const uint8_t *leaf, bool *out_has_overflow)
{
    struct survey survey;
    if (!survey_slots(leaf, &survey)) return false;
    *out_has_overflow = survey.has_overflow;
    return survey.descends || !values_overlap(leaf);
}

struct leaf_fill bw_leaf_fill(const uint8_t *leaf)
{
    const unsigned slots = bw_leaf_slots(leaf), slot_size = bw_leaf_slot_size(leaf);
    const uint8_t *slot = leaf + LEAF_SLOTS_AT + slot_size - LEAF_SLOT_DENSE;
    struct leaf_fill fill = {.size = bw_leaf_lower(leaf)};
    for (unsigned at = 0; at < slots; at++, slot += slot_size) {
        const uint32_t offset = bw_get_u16(slot), size = bw_get_u16(slot + 2);
        fill.live += offset != 0;
        if (LIKELY(size != LEAF_LENGTH_OVERFLOW)) {
            fill.size += bw_leaf_padded(size);
        } else {
            const uint8_t *reference = leaf + (size_t)offset * 8;
            fill.size +=
                REFERENCE_HEAD + REFERENCE_EXTENT * bw_get_u32(reference + REFERENCE_AT_EXTENTS);
        }
    }
    return fill;
}

// ---- changing ----

static inline void set_slots(uint8_t *leaf, unsigned slots, enum leaf_form form)
{
    ASSERT(slots < LEAF_WIDE); // L6
    bw_put_u16(leaf + PAGE_AT_COUNT, (uint16_t)(slots | form));
    bw_put_u16(leaf + PAGE_AT_LOWER, (uint16_t)(LEAF_SLOTS_AT + slots * slot_size_of(form)));
}

static inline void set_upper(uint8_t *leaf, unsigned upper)
{
    bw_put_u16(leaf + PAGE_AT_UPPER, (uint16_t)upper);
}

// Where slot `at` keeps offset and length.
static inline uint8_t *slot_of(uint8_t *leaf, unsigned at, enum leaf_form form)
{
    return leaf + LEAF_SLOTS_AT + (size_t)slot_size_of(form) * (at + 1) - LEAF_SLOT_DENSE;
}

static inline enum leaf_form form_of(const uint8_t *leaf)
{
    return (enum leaf_form)(bw_page_count(leaf) & (LEAF_DENSE | LEAF_WIDE));
}

static inline void set_distance(uint8_t *slot, uint64_t distance, enum leaf_form form)
{
    if (form == LEAF_WIDE) {
        bw_put_u64(slot, distance);
    } else {
        bw_put_u32(slot, (uint32_t)distance);
    }
}

static inline void set_length(uint8_t *slot, const struct leaf_entry *entry)
{
    bw_put_u16(slot + 2, entry->is_overflow ? LEAF_LENGTH_OVERFLOW : (uint16_t)entry->size);
}

// Lay the value down below all others and note it in a slot that exists. The room is checked. It is
// zero, so that padding needs no writing (L3).
static inline uint8_t *place(uint8_t *leaf, unsigned at, const struct leaf_entry *entry,
                             enum leaf_form form)
{
    const unsigned upper = bw_leaf_upper(leaf) - bw_leaf_padded(entry->size);
    uint8_t *slot = slot_of(leaf, at, form);
    memcpy(leaf + upper, entry->data, entry->size);
    set_upper(leaf, upper);
    bw_put_u16(slot, (uint16_t)(upper / 8));
    set_length(slot, entry);
    return leaf + upper;
}

static inline bool has_room(const uint8_t *leaf, unsigned slot_bytes, uint32_t size)
{
    return bw_leaf_lower(leaf) + slot_bytes + bw_leaf_padded(size) <= bw_leaf_upper(leaf);
}

void bw_leaf_begin(uint8_t *leaf, enum leaf_form form, uint64_t first)
{
    ASSERT(form == LEAF_DENSE || form == LEAF_SPARSE || form == LEAF_WIDE);
    set_slots(leaf, 0, form);
    set_upper(leaf, bw_leaf_size(leaf));
    // Wide slots can count from 0, so that keys in front of all others have a distance too.
    bw_put_u64(leaf + LEAF_BASE_AT, form == LEAF_WIDE ? 0 : first);
}

uint8_t *bw_leaf_push(uint8_t *leaf, const struct leaf_entry *entry)
{
    const uint64_t distance = entry->key - bw_leaf_base(leaf);
    unsigned at = bw_leaf_slots(leaf);
    if (bw_leaf_is_dense(leaf)) {
        ASSERT(distance >= at && distance < LEAF_WIDE);
        at = (unsigned)distance;
        set_slots(leaf, at + 1, LEAF_DENSE);
    } else if (LIKELY(!bw_leaf_is_wide(leaf))) {
        ASSERT(distance <= UINT32_MAX);
        set_slots(leaf, at + 1, LEAF_SPARSE);
        set_distance(leaf + LEAF_SLOTS_AT + (size_t)LEAF_SLOT_SPARSE * at, distance, LEAF_SPARSE);
    } else {
        set_slots(leaf, at + 1, LEAF_WIDE);
        set_distance(leaf + LEAF_SLOTS_AT + (size_t)LEAF_SLOT_WIDE * at, distance, LEAF_WIDE);
    }
    ASSERT(has_room(leaf, 0, entry->size));
    return place(leaf, at, entry, form_of(leaf));
}

uint8_t *bw_leaf_append(uint8_t *leaf, const struct leaf_entry *entry)
{
    const unsigned slots = bw_leaf_slots(leaf);
    if (!bw_leaf_is_dense(leaf) || entry->key - bw_leaf_base(leaf) != slots) return NULL;
    if (!has_room(leaf, LEAF_SLOT_DENSE, entry->size)) return NULL;
    set_slots(leaf, slots + 1, LEAF_DENSE);
    return place(leaf, slots, entry, LEAF_DENSE);
}

// May a dense leaf span so many keys with one entry more? (L5)
static bool may_span(const uint8_t *leaf, uint64_t span)
{
    const uint64_t slots = bw_leaf_slots(leaf);
    if (span <= slots + 1) return true;
    if (span > 2 * (slots + 1)) return false;
    return span <= 2 * ((uint64_t)bw_leaf_fill(leaf).live + 1);
}

static uint8_t *insert_dense(uint8_t *leaf, const struct leaf_entry *entry)
{
    const unsigned slots = bw_leaf_slots(leaf);
    const uint64_t base = bw_leaf_base(leaf);
    if (entry->key < base) { // slots move up
        const uint64_t before = base - entry->key;
        if (before > slots + 2u || !may_span(leaf, before + slots)) return NULL;
        const size_t grown = LEAF_SLOT_DENSE * (size_t)before;
        if (!has_room(leaf, (unsigned)grown, entry->size)) return NULL;
        uint8_t *first = leaf + LEAF_SLOTS_AT;
        memmove(first + grown, first, (size_t)slots * LEAF_SLOT_DENSE);
        memset(first, 0, grown);
        bw_put_u64(leaf + LEAF_BASE_AT, entry->key);
        set_slots(leaf, slots + (unsigned)before, LEAF_DENSE);
        return place(leaf, 0, entry, LEAF_DENSE);
    }
    const uint64_t at = entry->key - base;
    if (at >= slots) { // the slots between, if any, are zero already (L3)
        if (at > 2u * slots + 2u || !may_span(leaf, at + 1)) return NULL;
        const unsigned added = (unsigned)at + 1 - slots;
        if (!has_room(leaf, LEAF_SLOT_DENSE * added, entry->size)) return NULL;
        set_slots(leaf, slots + added, LEAF_DENSE);
    } else if (!has_room(leaf, 0, entry->size)) {
        return NULL;
    }
    return place(leaf, (unsigned)at, entry, LEAF_DENSE);
}

// Into a sparse leaf or a wide one.
static inline uint8_t *insert_distance(uint8_t *leaf, const struct leaf_entry *entry,
                                       enum leaf_form form)
{
    const unsigned slot_size = slot_size_of(form);
    const uint64_t distance = entry->key - bw_leaf_base(leaf);
    if (entry->key < bw_leaf_base(leaf)) return NULL;
    if (form == LEAF_SPARSE && distance > UINT32_MAX) return NULL;
    if (!has_room(leaf, slot_size, entry->size)) return NULL;
    const unsigned slots = bw_leaf_slots(leaf);
    unsigned at = slots;
    if (entry->key <= bw_leaf_key(leaf, slots - 1)) (void)bw_leaf_find(leaf, entry->key, &at);
    uint8_t *slot = leaf + LEAF_SLOTS_AT + (size_t)slot_size * at;
    memmove(slot + slot_size, slot, (size_t)(slots - at) * slot_size);
    set_distance(slot, distance, form);
    set_slots(leaf, slots + 1, form);
    return place(leaf, at, entry, form);
}

uint8_t *bw_leaf_insert(uint8_t *leaf, const struct leaf_entry *entry)
{
    ASSERT(bw_leaf_slots(leaf) > 0);
    if (bw_leaf_is_dense(leaf)) return insert_dense(leaf, entry);
    if (UNLIKELY(bw_leaf_is_wide(leaf))) return insert_distance(leaf, entry, LEAF_WIDE);
    return insert_distance(leaf, entry, LEAF_SPARSE);
}

// Zero a value that no slot points to any longer (L3).
static void erase(uint8_t *leaf, size_t offset, uint32_t size)
{
    if (!BUG(value_kept)) memset(leaf + offset, 0, bw_leaf_padded(size));
    if (offset == bw_leaf_upper(leaf)) set_upper(leaf, (unsigned)offset + bw_leaf_padded(size));
}

uint8_t *bw_leaf_replace(uint8_t *leaf, unsigned at, const struct leaf_entry *entry)
{
    struct leaf_entry old;
    const bool is_good = bw_leaf_entry(leaf, at, &old);
    ASSERT(is_good && old.data);
    const size_t offset = (size_t)(old.data - leaf);
    const uint32_t old_size = bw_leaf_padded(old.size), new_size = bw_leaf_padded(entry->size);
    if (new_size > old_size) {
        if (!has_room(leaf, 0, entry->size)) return NULL;
        uint8_t *copy = place(leaf, at, entry, form_of(leaf));
        erase(leaf, offset, old.size); // after the copy: the new value may be a part of the old one
        return copy;
    }
    memmove(leaf + offset, entry->data, entry->size);
    if (!BUG(padding_kept)) memset(leaf + offset + entry->size, 0, old_size - entry->size);
    set_length(slot_of(leaf, at, form_of(leaf)), entry);
    return leaf + offset;
}

static void remove_dense(uint8_t *leaf, unsigned at)
{
    unsigned slots = bw_leaf_slots(leaf), first = 0;
    bw_put_u32(slot_of(leaf, at, LEAF_DENSE), 0);
    while (bw_leaf_is_empty_slot(leaf, slots - 1)) slots--; // L1, as the next
    while (bw_leaf_is_empty_slot(leaf, first)) first++;
    if (first) {
        uint8_t *slot = leaf + LEAF_SLOTS_AT;
        slots -= first;
        memmove(slot, slot + (size_t)first * LEAF_SLOT_DENSE, (size_t)slots * LEAF_SLOT_DENSE);
        memset(slot + (size_t)slots * LEAF_SLOT_DENSE, 0, (size_t)first * LEAF_SLOT_DENSE);
        bw_put_u64(leaf + LEAF_BASE_AT, bw_leaf_base(leaf) + first);
    }
    set_slots(leaf, slots, LEAF_DENSE);
}

// From a sparse leaf or a wide one.
static void remove_distance(uint8_t *leaf, unsigned at)
{
    const enum leaf_form form = bw_leaf_is_wide(leaf) ? LEAF_WIDE : LEAF_SPARSE;
    const unsigned left = bw_leaf_slots(leaf) - 1, slot_size = slot_size_of(form);
    uint8_t *slot = leaf + LEAF_SLOTS_AT + (size_t)slot_size * at;
    memmove(slot, slot + slot_size, (size_t)(left - at) * slot_size);
    memset(leaf + LEAF_SLOTS_AT + (size_t)slot_size * left, 0, slot_size);
    set_slots(leaf, left, form);
}

struct leaf_fill bw_leaf_remove(uint8_t *leaf, unsigned at)
{
    struct leaf_entry old;
    const bool is_good = bw_leaf_entry(leaf, at, &old);
    ASSERT(is_good && old.data && bw_leaf_slots(leaf) > 1); // L4
    erase(leaf, (size_t)(old.data - leaf), old.size);
    if (bw_leaf_is_dense(leaf)) {
        remove_dense(leaf, at);
    } else {
        remove_distance(leaf, at);
    }
    return bw_leaf_fill(leaf);
}

// ---- proof ----

const char *bw_leaf_problem(const uint8_t *leaf)
{
    const unsigned pages = leaf[PAGE_AT_PAGES];
    if (pages < 1 || pages > EXTENT_PAGES_MAX) return "a leaf's length is not 1 to 8 pages";
    if (!bw_leaf_is_sound(leaf)) return "a leaf's header contradicts itself";
    struct survey survey;
    if (!survey_slots(leaf, &survey)) return "a leaf's slots are out of bounds or order";

    struct units units = {{0}};
    for (unsigned at = 0; at < bw_leaf_slots(leaf); at++) {
        struct leaf_entry entry;
        if (!bw_leaf_entry(leaf, at, &entry) || !entry.data) continue;
        if (!mark(&units, (size_t)(entry.data - leaf), entry.size))
            return "two values overlap"; // L2
        for (uint32_t i = entry.size; i % 8; i++) {
            if (entry.data[i]) return "the padding of a value is not zero"; // L3
        }
    }
    const size_t lower = bw_leaf_lower(leaf); // a multiple of 4
    bool is_clean = lower % 8 == 0 || bw_get_u32(leaf + lower) == 0;
    for (size_t i = (lower + 7) / 8; i < bw_leaf_size(leaf) / 8; i++) {
        is_clean &= (units.taken[i / 64] >> i % 64 & 1) || bw_get_u64(leaf + i * 8) == 0;
    }
    return is_clean ? NULL : "unused bytes of a leaf are not zero"; // L3
}
