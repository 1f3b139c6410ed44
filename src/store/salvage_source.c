/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading a damaged file: slots, salt, and every extent that is whole.
 *
 * Pages are read, not mapped: a page that a device has lost is then an answer and no signal.
 */
#include "store/salvage.h"

#include "store/names.h"

enum { PIECE_PAGES = 64 };
_Static_assert((int)PIECE_PAGES > (int)EXTENT_PAGES_MAX, "a piece holds any extent of a tree");

// ---- pages ----

// H3
static void read_single(struct source *source, page_no page, uint8_t *to)
{
    size_t got = 0;
    bw_err err =
        source->file.disk->read(source->file, (uint64_t)page * PAGE_SIZE, to, PAGE_SIZE, &got);
    if (err) source->unreadable++;
    if (err || got < PAGE_SIZE) memset(to, 0, PAGE_SIZE);
}

bw_err bw_source_read(struct source *source, page_no page, uint32_t pages, uint8_t *to)
{
    const size_t size = (size_t)pages * PAGE_SIZE;
    size_t got = 0;
    bw_err err = source->file.disk->read(source->file, (uint64_t)page * PAGE_SIZE, to, size, &got);
    for (uint32_t i = 0; err && i < pages; i++)
        read_single(source, page + i, to + (size_t)i * PAGE_SIZE);
    if (!err) memset(to + got, 0, size - got);
    source->pages_read += pages;
    const uint64_t total = 2 * source->file_pages;
    const uint64_t done =
        source->pages_read < source->file_pages ? source->pages_read : source->file_pages;
    return bw_progress_report(source->progress, source->file_pages + done, total);
}

static bool has_header(const struct source *source, const uint8_t *page, page_no number)
{
    const uint8_t kind = page[PAGE_AT_KIND];
    const uint64_t pages = bw_page_extent(page);
    return bw_get_u32(page + PAGE_AT_NUMBER) == number && kind >= PAGE_BRANCH &&
           kind <= PAGE_BITMAP && bw_page_born(page) && pages &&
           number + pages <= source->file_pages && number % WINDOW_PAGES + pages <= WINDOW_PAGES;
}

// The structure of a leaf is so strict that hardly anything else looks like one.
static bool is_whole_leaf(const struct source *source, const uint8_t *leaf)
{
    const uint32_t pages = leaf[PAGE_AT_PAGES];
    if (pages > EXTENT_PAGES_MAX || !bw_leaf_is_sound(leaf)) return false;
    if (source->has_salt && !bw_page_fits(leaf, pages, source->salt)) return false;
    return bw_leaf_problem(leaf) == NULL;
}

static bool is_whole_branch(const struct source *source, const uint8_t *branch)
{
    if (branch[PAGE_AT_PAGES] != 1 || !bw_branch_is_sound(branch)) return false;
    if (bw_branch_level(branch) >= TREE_DEPTH_MAX) return false;
    if (source->has_salt && !bw_page_fits(branch, 1, source->salt)) return false;
    return bw_branch_problem(branch, 1, UINT64_MAX) == NULL;
}

bool bw_source_is_whole(const struct source *source, const uint8_t *extent, page_no page)
{
    if (!has_header(source, extent, page)) return false;
    if (extent[PAGE_AT_KIND] == PAGE_LEAF) return is_whole_leaf(source, extent);
    return extent[PAGE_AT_KIND] == PAGE_BRANCH && is_whole_branch(source, extent);
}

// ---- the scan ----

static bw_err no_memory(void)
{
    return bw_fail(BW_ERR_NO_MEMORY, "Out of memory: looking through the file");
}

static bw_err add_remain(struct source *source, const uint8_t *extent, page_no page)
{
    if (source->count == source->room) {
        const size_t room = source->room ? source->room * 2 : 256;
        struct remain *remains = bw_resize(source->remains, room * sizeof(*remains));
        if (!remains) return no_memory();
        source->remains = remains;
        source->room = room;
    }
    const bool is_leaf = extent[PAGE_AT_KIND] == PAGE_LEAF;
    const unsigned last = is_leaf ? bw_leaf_slots(extent) - 1 : bw_branch_children(extent) - 1;
    source->remains[source->count++] = (struct remain){
        .tree_id = bw_get_u32(extent + PAGE_AT_TREE),
        .page = page,
        .born = bw_page_born(extent),
        .first = is_leaf ? bw_leaf_key(extent, 0) : bw_branch_key(extent, last ? 1 : 0),
        .last = is_leaf ? bw_leaf_key(extent, last) : bw_branch_key(extent, last),
        .level = is_leaf ? 0 : (uint8_t)bw_branch_level(extent),
        .pages = extent[PAGE_AT_PAGES],
    };
    return BW_OK;
}

static bw_err add_blob(struct source *source, struct blob_place place)
{
    if (source->blob_count == source->blob_room) {
        const size_t room = source->blob_room ? source->blob_room * 2 : 8;
        struct blob_place *blobs = bw_resize(source->blobs, room * sizeof(*blobs));
        if (!blobs) return no_memory();
        source->blobs = blobs;
        source->blob_room = room;
    }
    source->blobs[source->blob_count++] = place;
    return BW_OK;
}

// The checksum of an overflow extent of any length, piece by piece.
static bw_err overflow_fits(struct source *source, page_no page, uint32_t pages, bool *out_fits)
{
    uint8_t *piece = bw_new_raw(PIECE_PAGES * PAGE_SIZE);
    if (!piece) return no_memory();
    struct page_checksum checksum;
    bw_page_checksum_begin(&checksum, source->salt);
    uint64_t wanted = 0, sums[PIECE_PAGES];
    for (uint32_t done = 0; done < pages;) {
        const uint32_t now = pages - done < PIECE_PAGES ? pages - done : PIECE_PAGES;
        size_t got = 0;
        bw_err err = source->file.disk->read(source->file, (uint64_t)(page + done) * PAGE_SIZE,
                                             piece, (size_t)now * PAGE_SIZE, &got);
        if (err || got < (size_t)now * PAGE_SIZE) memset(piece, 0, (size_t)now * PAGE_SIZE); // H3
        if (!done) wanted = bw_get_u64(piece + PAGE_AT_CHECKSUM);
        bw_page_sums(piece, now, source->salt, sums);
        if (done) sums[0] = bw_hash64(piece, PAGE_SIZE, source->salt);
        for (uint32_t i = 0; i < now; i++) bw_page_checksum_add(&checksum, sums[i]);
        done += now;
    }
    bw_free(piece);
    *out_fits = bw_page_checksum_end(&checksum) == wanted;
    return BW_OK;
}

// *out_pages: how far the extent reaches, 0: it is not one.
static bw_err examine_overflow(struct source *source, const uint8_t *header, page_no page,
                               uint32_t *out_pages)
{
    const struct blob_place place = {page, bw_page_extent(header), bw_page_born(header)};
    bool fits = place.pages <= OVERFLOW_PAGES_MAX;
    bw_err err = BW_OK;
    *out_pages = 0;
    if (fits && source->has_salt) err = overflow_fits(source, page, place.pages, &fits);
    if (err || !fits) return err;
    // Without a checksum nobody knows how much of it is there.
    if (source->has_salt) *out_pages = place.pages;
    if (bw_get_u32(header + PAGE_AT_TREE) == TREE_SCHEMA) err = add_blob(source, place);
    return err;
}

static bool is_zero(const uint8_t *page)
{
    return page[0] == 0 && memcmp(page, page + 1, PAGE_SIZE - 1) == 0;
}

// What begins at this page: how many pages it explains, 0 none.
static bw_err examine(struct source *source, const uint8_t *bytes, page_no page,
                      uint32_t *out_pages)
{
    *out_pages = 0;
    if (bw_space_is_reserved(source->geometry, page)) {
        *out_pages = 1;
        return BW_OK;
    }
    if (!has_header(source, bytes, page)) return BW_OK;
    if (bytes[PAGE_AT_KIND] == PAGE_OVERFLOW)
        return examine_overflow(source, bytes, page, out_pages);
    if (!bw_source_is_whole(source, bytes, page)) return BW_OK;
    *out_pages = bytes[PAGE_AT_PAGES];
    if (bw_page_born(bytes) <= source->born_max) return add_remain(source, bytes, page);
    source->younger++;
    return BW_OK;
}

struct scan {
    struct source *source;
    uint8_t *piece;
    uint64_t page;  // the next one
    uint64_t blank; // unexplained zero pages just before it: they may be the file's end
};

// The pages of a piece, but those at its end that an extent may reach beyond.
static bw_err scan_piece(struct scan *scan, uint64_t first, uint32_t pages)
{
    struct source *source = scan->source;
    const bool is_last = first + pages >= source->file_pages;
    while (scan->page < first + pages) {
        const uint32_t at = (uint32_t)(scan->page - first);
        if (!is_last && at && at + EXTENT_PAGES_MAX > pages) return BW_OK;
        const uint8_t *bytes = scan->piece + (size_t)at * PAGE_SIZE;
        uint32_t explained = 0;
        bw_err err = examine(source, bytes, (page_no)scan->page, &explained);
        if (err) return err;
        if (explained) {
            source->unexplained += scan->blank;
            scan->blank = 0;
        } else if (is_zero(bytes)) {
            scan->blank++;
        } else {
            source->unexplained += scan->blank + 1;
            scan->blank = 0;
        }
        scan->page += explained ? explained : 1;
    }
    return BW_OK;
}

bw_err bw_source_scan(struct source *source)
{
    struct scan scan = {.source = source, .page = SLOT_COUNT};
    scan.piece = bw_new_raw(PIECE_PAGES * PAGE_SIZE);
    bw_err err = scan.piece ? BW_OK : no_memory();
    while (!err && scan.page < source->file_pages) {
        const uint64_t first = scan.page, left = source->file_pages - first;
        const uint32_t pages = left < PIECE_PAGES ? (uint32_t)left : PIECE_PAGES;
        size_t got = 0;
        if (source->file.disk->read(source->file, first * PAGE_SIZE, scan.piece,
                                    (size_t)pages * PAGE_SIZE, &got)) {
            for (uint32_t i = 0; i < pages; i++)
                read_single(source, (page_no)(first + i), scan.piece + (size_t)i * PAGE_SIZE);
        } else {
            memset(scan.piece + got, 0, (size_t)pages * PAGE_SIZE - got);
        }
        err = scan_piece(&scan, first, pages);
        if (!err) err = bw_progress_report(source->progress, scan.page, 2 * source->file_pages);
    }
    bw_free(scan.piece);
    return err;
}

struct remain *bw_source_find(struct source *source, page_no page)
{
    size_t from = 0, to = source->count;
    while (from < to) { // H1
        const size_t middle = from + (to - from) / 2;
        if (source->remains[middle].page < page) from = middle + 1;
        else to = middle;
    }
    struct remain *found = source->remains + from;
    return from < source->count && found->page == page ? found : NULL;
}

// ---- values ----

static bool is_part(const struct source *source, const uint8_t *header,
                    const struct value_part *part, uint32_t tree_id)
{
    return has_header(source, header, part->page) && header[PAGE_AT_KIND] == PAGE_OVERFLOW &&
           bw_page_extent(header) == part->pages && bw_get_u32(header + PAGE_AT_TREE) == tree_id;
}

// Read a part and move its bytes to `to`, which has room for whole pages.
static bw_err read_part(struct source *source, uint32_t tree_id, const struct value_part *part,
                        uint8_t *to, bool *out_is)
{
    *out_is = false;
    if ((uint64_t)part->page + part->pages > source->file_pages) return BW_OK;
    bw_err err = bw_source_read(source, part->page, part->pages, to);
    if (err || !is_part(source, to, part, tree_id)) return err;
    memmove(to, to + VALUE_PAGE_HEADER, part->size);
    *out_is = true;
    return BW_OK;
}

bw_err bw_source_value(struct source *source, uint32_t tree_id, const uint8_t *reference,
                       uint8_t **in_out_bytes, bool *out_whole)
{
    const uint64_t length = bw_value_length(reference);
    *out_whole = false;
    if (bw_value_check_reference(reference) || length / PAGE_SIZE > source->file_pages)
        return BW_OK;
    uint8_t *bytes = bw_resize(*in_out_bytes, (size_t)length + (size_t)2 * PAGE_SIZE);
    if (!bytes) return bw_fail(BW_ERR_NO_MEMORY, "Out of memory: a value");
    *in_out_bytes = bytes;
    uint64_t sum = 0, at = 0;
    for (uint32_t i = 0; at < length; i++) {
        const struct value_part part = bw_value_part(reference, i);
        bool is = false;
        bw_err err = read_part(source, tree_id, &part, bytes + at, &is);
        if (err || !is) return err;
        sum = bw_hash64(bytes + at, part.size, sum);
        at += part.size;
    }
    *out_whole = bw_value_sum_fits(reference, sum);
    return BW_OK;
}

// ---- slots and salt ----

bool bw_source_damaged_slot(const struct source *source, int index, uint8_t image[PAGE_SIZE],
                            struct slot *out_slot)
{
    memcpy(image, source->image[index], PAGE_SIZE);
    bw_put_u64(image + SLOT_AT_CHECKSUM,
               bw_hash64(image + SLOT_AT_VERSION, SLOT_CHECKED_SIZE - SLOT_AT_VERSION, 0));
    return bw_slot_decode(image, out_slot) == SLOT_GOOD;
}

// Is the slot as good as recovery would have it?
static bool is_accepted(const struct source *source, const struct slot *slot, int index)
{
    if (bw_slot_is_sealed(slot, source->image[1 - index])) return true;
    const struct run_check check = {.file = source->file, .salt = bw_get_u64(slot->uuid)};
    bool matches = false;
    return slot->hwm <= source->file_pages &&
           !bw_manifest_check(&check, slot->runs, slot->run_count, &matches) && matches;
}

// The newest slot, unless its commit never was completed and the one before it is there.
static void choose_slot(struct source *source)
{
    struct slot slot[SLOT_COUNT];
    bool good[SLOT_COUNT];
    for (int i = 0; i < SLOT_COUNT; i++)
        good[i] = bw_slot_decode(source->image[i], &slot[i]) == SLOT_GOOD;
    source->has_slot = good[0] || good[1];
    if (!source->has_slot) return;
    int chosen = good[0] && (!good[1] || slot[0].txn_id > slot[1].txn_id) ? 0 : 1;
    const int other = 1 - chosen;
    if (good[other] && slot[chosen].base == slot[other].txn_id &&
        memcmp(slot[0].uuid, slot[1].uuid, 16) == 0 &&
        !is_accepted(source, &slot[chosen], chosen) && is_accepted(source, &slot[other], other))
        chosen = other;
    source->slot = slot[chosen];
    source->salt = bw_get_u64(source->slot.uuid);
    source->has_salt = true;
    source->born_max = source->slot.txn_id;
}

// Is there a page whose checksum fits with this salt?
static bool salt_fits(struct source *source, uint64_t salt)
{
    uint8_t page[PAGE_SIZE];
    source->salt = salt;
    for (uint64_t i = SLOT_COUNT; i < source->file_pages; i++) {
        read_single(source, (page_no)i, page);
        if (has_header(source, page, (page_no)i) && page[PAGE_AT_KIND] != PAGE_OVERFLOW &&
            page[PAGE_AT_PAGES] == 1 && bw_page_fits(page, 1, source->salt))
            return true;
    }
    return false;
}

// Half of the uuid is the salt: what a damaged slot has there is right if any page agrees.
static void find_salt(struct source *source)
{
    source->born_max = UINT64_MAX;
    for (int i = 0; i < SLOT_COUNT && !source->has_salt; i++)
        source->has_salt = salt_fits(source, bw_get_u64(source->image[i] + SLOT_AT_UUID));
}

static bw_err open_file(struct source *source, struct disk *disk, const char *directory)
{
    char *path = bw_names_join(directory, "data.mdb");
    if (!path) return bw_fail(BW_ERR_NO_MEMORY, "Out of memory: a path");
    bool found = false, got = false;
    struct file_info info;
    bw_err err = disk->open(disk, path, OPEN_READ, 0, &source->file, &found);
    if (!err && !found)
        err = bw_fail(BW_ERR_STORAGE_GENERAL, "There is no database file: %s", path);
    if (!err) err = disk->lock(source->file, LOCK_SHARED, &got);
    if (!err && !got)
        err = bw_fail(BW_ERR_ILLEGAL_STATE, "The store is open: close it before it is salvaged: %s",
                      directory);
    if (!err) err = disk->info(source->file, &info);
    if (!err) source->file_pages = info.size / PAGE_SIZE;
    if (source->file_pages > REF_PAGE_MAX) source->file_pages = REF_PAGE_MAX;
    bw_free(path);
    return err;
}

bw_err bw_source_open(struct source *source, struct disk *disk, const char *directory)
{
    bw_err err = open_file(source, disk, directory);
    if (err) return err;
    for (page_no i = 0; i < SLOT_COUNT; i++) read_single(source, i, source->image[i]);
    choose_slot(source);
    if (!source->has_slot) find_salt(source);
    return BW_OK;
}

void bw_source_close(struct source *source)
{
    if (source->file.disk) source->file.disk->close(source->file);
    bw_free(source->remains);
    bw_free(source->blobs);
    *source = (struct source){0};
}
