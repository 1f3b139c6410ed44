/* SPDX-License-Identifier: Apache-2.0 */
/* Planning and building leaves out of the entries of others; see repack.h for the invariants. */
#include "store/repack.h"

// The entries of all leaves in order, the change applied. The leaves are safe: nothing is checked.
struct reader {
    const struct repack *repack;
    unsigned leaf;                           // leaves that were begun
    const uint8_t *bytes, *slot, *slots_end; // of the leaf being read
    unsigned slot_size;
    uint64_t base;
    bool edited;
};

static void begin_leaf(struct reader *reader)
{
    ASSERT(reader->leaf < 2);
    reader->bytes = reader->repack->leaf[reader->leaf++];
    reader->slot_size = bw_leaf_slot_size(reader->bytes);
    reader->base = bw_leaf_base(reader->bytes);
    reader->slot = reader->bytes + LEAF_SLOTS_AT;
    reader->slots_end = reader->bytes + bw_leaf_lower(reader->bytes);
    if (BUG(merge_loses_key) && reader->leaf == 2) reader->slot += reader->slot_size;
}

static uint64_t distance_of(const struct reader *reader)
{
    const uint8_t *slot = reader->slot;
    if (reader->slot_size == LEAF_SLOT_SPARSE) return bw_get_u32(slot);
    if (UNLIKELY(reader->slot_size == LEAF_SLOT_WIDE)) return bw_get_u64(slot);
    return (uint64_t)(slot - reader->bytes - LEAF_SLOTS_AT) / LEAF_SLOT_DENSE;
}

static void read_slot(const struct reader *reader, uint32_t offset, struct leaf_entry *out_entry)
{
    const uint8_t *slot = reader->slot;
    out_entry->key = reader->base + distance_of(reader);
    out_entry->data = reader->bytes + (size_t)offset * 8;
    out_entry->size = bw_get_u16(slot + reader->slot_size - 2);
    out_entry->is_overflow = out_entry->size == LEAF_LENGTH_OVERFLOW;
    if (UNLIKELY(out_entry->is_overflow)) {
        const uint32_t extents = bw_get_u32(out_entry->data + REFERENCE_AT_EXTENTS);
        out_entry->size = REFERENCE_HEAD + REFERENCE_EXTENT * extents;
    }
}

// The next entry as it stands in the leaves, without moving on.
static bool peek(struct reader *reader, struct leaf_entry *out_entry)
{
    for (;;) {
        for (; reader->slot < reader->slots_end; reader->slot += reader->slot_size) {
            const uint32_t offset = bw_get_u16(reader->slot + reader->slot_size - LEAF_SLOT_DENSE);
            if (!offset) continue;
            read_slot(reader, offset, out_entry);
            return true;
        }
        if (reader->leaf == reader->repack->leaves) return false;
        begin_leaf(reader);
    }
}

static bool next(struct reader *reader, struct leaf_entry *out_entry)
{
    const struct repack *repack = reader->repack;
    bool found = peek(reader, out_entry);
    if (repack->edit != EDIT_NONE && !reader->edited &&
        !(found && out_entry->key < repack->entry.key)) {
        reader->edited = true;
        const bool is_there = found && out_entry->key == repack->entry.key;
        if (is_there) reader->slot += reader->slot_size; // replaced or removed
        if (repack->edit == EDIT_PUT) {
            *out_entry = repack->entry;
            return true;
        }
        if (is_there) found = peek(reader, out_entry);
    }
    if (found) reader->slot += reader->slot_size;
    return found;
}

// ---- planning ----

// Bytes that so many entries take between the first and the last key, header and base included.
static size_t size_of(uint64_t first, uint64_t last, uint32_t count, uint32_t bytes)
{
    const uint64_t gaps = last - first - (count - 1); // keys between that are not there
    size_t slots = LEAF_SLOT_SPARSE * (size_t)count;
    if (gaps < count) {
        slots = LEAF_SLOT_DENSE * (size_t)(count + gaps);
    } else if (UNLIKELY(last - first > UINT32_MAX)) {
        slots = LEAF_SLOT_WIDE * (size_t)count;
    }
    return LEAF_SLOTS_AT + slots + bytes;
}

static enum leaf_form form_of(const struct leaf_piece *piece) // R2
{
    const uint64_t distance = piece->last - piece->first;
    if (distance - (piece->count - 1) <= piece->count) return LEAF_DENSE;
    return distance <= UINT32_MAX ? LEAF_SPARSE : LEAF_WIDE;
}

static size_t piece_size(const struct leaf_piece *piece)
{
    return size_of(piece->first, piece->last, piece->count, piece->bytes);
}

// The piece's size with one entry more.
static size_t size_with(const struct leaf_piece *piece, const struct leaf_entry *entry)
{
    return size_of(piece->count ? piece->first : entry->key, entry->key, piece->count + 1,
                   piece->bytes + bw_leaf_padded(entry->size));
}

static uint8_t pages_for(size_t size) { return (uint8_t)((size + PAGE_SIZE - 1) / PAGE_SIZE); }

static void add(struct leaf_piece *piece, const struct leaf_entry *entry)
{
    if (!piece->count) piece->first = entry->key;
    piece->last = entry->key;
    piece->count++;
    piece->bytes += bw_leaf_padded(entry->size);
    piece->has_overflow |= entry->is_overflow;
}

struct limits {
    size_t half;        // the first piece ends as near to this size as it can; 0: no matter
    uint64_t cut;       // the first piece ends behind this key; 0: no matter
    unsigned pages_max; // of a piece whose first entry needs less
};

// Does the last piece end before an entry, with which it would have the given size?
static bool is_full(const struct repack *repack, const struct limits *limits,
                    const struct leaf_entry *entry, size_t size)
{
    const struct leaf_piece *piece = &repack->piece[repack->pieces - 1];
    if (size > (size_t)piece->pages * PAGE_SIZE) return true;
    if (repack->pieces > 1) return false;
    if (limits->cut && entry->key > limits->cut) return true;
    return limits->half && size + piece_size(piece) > 2 * limits->half;
}

static void plan(struct repack *repack, const struct limits *limits)
{
    struct reader reader = {.repack = repack};
    struct leaf_entry entry;
    repack->pieces = 0;
    while (next(&reader, &entry)) {
        struct leaf_piece *piece = &repack->piece[repack->pieces ? repack->pieces - 1 : 0];
        if (!repack->pieces || is_full(repack, limits, &entry, size_with(piece, &entry))) {
            ASSERT(repack->pieces < REPACK_PIECES_MAX);
            piece = &repack->piece[repack->pieces++];
            *piece = (struct leaf_piece){0};
            const uint8_t needed = pages_for(size_with(piece, &entry));
            piece->pages = needed < limits->pages_max ? (uint8_t)limits->pages_max : needed;
        }
        add(piece, &entry);
    }
    for (unsigned i = 0; i < repack->pieces; i++) {
        repack->piece[i].pages = pages_for(piece_size(&repack->piece[i])); // R3
    }
}

void bw_repack_plan_full(struct repack *repack) { plan(repack, &(struct limits){.pages_max = 1}); }

void bw_repack_plan_split(struct repack *repack)
{
    const struct leaf_entry *entry = &repack->entry;
    bool has_before = false, has_after = false; // the next key on either side
    size_t size = LEAF_SLOTS_AT + bw_leaf_padded(entry->size);
    for (unsigned i = 0; i < repack->leaves; i++) {
        unsigned at;
        size += bw_leaf_fill(repack->leaf[i]).size - LEAF_SLOTS_AT;
        has_before |= bw_leaf_find(repack->leaf[i], entry->key - 1, &at);
        has_after |= bw_leaf_find(repack->leaf[i], entry->key + 1, &at);
    }
    if (repack->edit == EDIT_PUT && has_before != has_after) {
        plan(repack, &(struct limits){.cut = entry->key, .pages_max = 1});
    } else {
        plan(repack, &(struct limits){.half = size / 2, .pages_max = 1});
    }
}

bool bw_repack_fits(const uint8_t *leaf, struct leaf_fill fill, const struct leaf_entry *entry,
                    unsigned at, bool is_there)
{
    uint64_t first = bw_leaf_key(leaf, 0), last = bw_leaf_key(leaf, bw_leaf_slots(leaf) - 1);
    uint32_t count = fill.live, bytes = fill.size - bw_leaf_lower(leaf);
    bytes += bw_leaf_padded(entry->size);
    if (is_there) {
        struct leaf_entry old;
        if (!bw_leaf_entry(leaf, at, &old)) return false;
        bytes -= bw_leaf_padded(old.size);
    } else {
        count++;
        if (entry->key < first) first = entry->key;
        if (entry->key > last) last = entry->key;
    }
    return size_of(first, last, count, bytes) <= bw_leaf_size(leaf);
}

bool bw_repack_plan_one(struct repack *repack, unsigned pages)
{
    plan(repack, &(struct limits){.pages_max = pages});
    return repack->pieces == 1 && repack->piece[0].pages <= pages;
}

// ---- building ----

void bw_repack_build(struct repack *repack, uint8_t *const extent[])
{
    struct reader reader = {.repack = repack};
    struct leaf_entry entry;
    const unsigned pieces = repack->pieces;
    repack->stored = NULL;
    for (unsigned i = 0; i < pieces; i++) {
        const struct leaf_piece *piece = &repack->piece[i];
        bw_leaf_begin(extent[i], form_of(piece), piece->first);
        for (uint32_t n = 0; n < piece->count; n++) {
            const bool found = next(&reader, &entry);
            ASSERT(found);
            if (BUG(split_loses_key) && i && n + 1 == piece->count) continue;
            uint8_t *copy = bw_leaf_push(extent[i], &entry);
            if (repack->edit == EDIT_PUT && entry.key == repack->entry.key) repack->stored = copy;
        }
    }
}

bool bw_repack_into(struct repack *repack, uint8_t *leaf, unsigned pages)
{
    if (!bw_repack_plan_one(repack, pages)) return false;
    ASSERT(repack->pieces == 1);
    _Alignas(8) uint8_t built[EXTENT_PAGES_MAX * PAGE_SIZE];
    const size_t size = (size_t)pages * PAGE_SIZE;
    memset(built, 0, size);
    built[PAGE_AT_PAGES] = (uint8_t)pages;
    uint8_t *const extent[] = {built};
    bw_repack_build(repack, extent);

    memcpy(leaf + LEAF_BASE_AT, built + LEAF_BASE_AT, size - LEAF_BASE_AT);
    memcpy(leaf + PAGE_AT_COUNT, built + PAGE_AT_COUNT, 2);
    memcpy(leaf + PAGE_AT_LOWER, built + PAGE_AT_LOWER, 4);
    if (repack->stored) repack->stored = leaf + (repack->stored - built);
    return true;
}
