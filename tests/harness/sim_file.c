/* SPDX-License-Identifier: Apache-2.0 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "harness/sim_file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

// ---- memory: blocks and caches are used again, since a run makes thousands of files ----

static struct sim_block **free_blocks;
static size_t free_block_count, free_block_room;

enum { FREE_CACHES_MAX = 64 };
static uint8_t *free_caches[FREE_CACHES_MAX];
static size_t free_cache_count;

static void *resize(void *memory, size_t size)
{
    void *moved = realloc(memory, size);
    ASSERT(moved != NULL);
    return moved;
}

static struct sim_block *new_block(void)
{
    struct sim_block *block =
        free_block_count ? free_blocks[--free_block_count] : resize(NULL, sizeof(*block));
    block->uses = 1;
    return block;
}

// S3
static struct sim_block *use_block(struct sim_block *block)
{
    if (block) block->uses++;
    return block;
}

static void leave_block(struct sim_block *block)
{
    if (!block || --block->uses > 0) return;
    if (free_block_count == free_block_room) {
        free_block_room = free_block_room * 2 + 256;
        free_blocks = resize(free_blocks, free_block_room * sizeof(struct sim_block *));
    }
    free_blocks[free_block_count++] = block;
}

static uint8_t *new_cache(void)
{
    if (free_cache_count) return free_caches[--free_cache_count];
    uint8_t *cache =
        mmap(NULL, SIM_FILE_MAX, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ASSERT(cache != MAP_FAILED);
    return cache;
}

// ---- the cache ----

size_t sim_os_page(void)
{
    const char *text = getenv("BW_OS_PAGE");
    const size_t size = text ? (size_t)strtoul(text, NULL, 10) : SIM_PAGE;
    ASSERT(size >= SIM_PAGE && SIM_FILE_MAX % size == 0);
    return size;
}

/* S2: zero beyond the size, and out of reach beyond the system's page. */
static void set_cache_size(struct sim_file *file, uint64_t size)
{
    const size_t os_page = sim_os_page();
    const size_t before = bw_round_up((size_t)file->size, os_page);
    const size_t after = bw_round_up((size_t)size, os_page);
    if (size < file->size) memset(file->cache + size, 0, (size_t)(file->size - size));
    int failed = 0;
    if (after > before) {
        failed = mprotect(file->cache + before, after - before, PROT_READ | PROT_WRITE);
    } else if (after < before) {
        failed = mprotect(file->cache + after, before - after, PROT_NONE);
    }
    ASSERT(!failed);
    file->size = size;
}

static void show(struct sim_file *file, size_t page, const struct sim_block *block)
{
    const uint64_t at = (uint64_t)page * SIM_PAGE;
    if (at >= file->size) return;
    const uint64_t left = file->size - at;
    const size_t size = left < SIM_PAGE ? (size_t)left : SIM_PAGE;
    if (block) {
        memcpy(file->cache + at, block->bytes, size);
    } else {
        memset(file->cache + at, 0, size);
    }
}

// ---- pages ----

static struct sim_page *page_of(struct sim_file *file, size_t page)
{
    if (page >= file->page_count) {
        const size_t count = page + 16;
        file->pages = resize(file->pages, count * sizeof(struct sim_page));
        memset(&file->pages[file->page_count], 0,
               (count - file->page_count) * sizeof(struct sim_page));
        file->page_count = count;
    }
    return &file->pages[page];
}

static void add_version(struct sim_page *page, struct sim_block *block)
{
    if (page->version_count == page->version_room) {
        page->version_room = page->version_room * 2 + 4;
        page->versions = resize(page->versions, page->version_room * sizeof(struct sim_block *));
    }
    page->versions[page->version_count++] = block;
    page->is_ghost = false;
}

static void forget_versions(struct sim_page *page)
{
    for (size_t i = 0; i < page->version_count; i++) leave_block(page->versions[i]);
    page->version_count = 0;
    page->is_partial = false;
}

static void set_durable(struct sim_page *page, struct sim_block *block)
{
    leave_block(page->durable);
    page->durable = block;
}

static struct sim_block *newest_of(const struct sim_page *page)
{
    return page->version_count ? page->versions[page->version_count - 1] : page->durable;
}

static void settle_page(struct sim_page *page)
{
    if (!page->version_count) return;
    set_durable(page, use_block(newest_of(page)));
    forget_versions(page);
}

static void add_size(struct sim_file *file, uint64_t size)
{
    if (file->size_count == file->size_room) {
        file->size_room = file->size_room * 2 + 4;
        file->sizes = resize(file->sizes, file->size_room * sizeof(uint64_t));
    }
    file->sizes[file->size_count++] = size;
}

/* S4 */
static void set_durable_size(struct sim_file *file, uint64_t size)
{
    file->durable_size = size;
    file->size_count = 0;
    for (size_t i = (size_t)(size / SIM_PAGE); i < file->page_count; i++) {
        struct sim_page *page = &file->pages[i];
        const uint64_t at = (uint64_t)i * SIM_PAGE;
        if (!page->durable) continue;
        if (at >= size) {
            set_durable(page, NULL);
        } else {
            struct sim_block *cut = new_block();
            memcpy(cut->bytes, page->durable->bytes, SIM_PAGE);
            memset(cut->bytes + (size - at), 0, SIM_PAGE - (size_t)(size - at));
            set_durable(page, cut);
        }
    }
}

// ---- files ----

struct sim_file *sim_file_new(uint64_t inode)
{
    struct sim_file *file = resize(NULL, sizeof(*file));
    *file = (struct sim_file){.inode = inode, .cache = new_cache()};
    return file;
}

void sim_file_free(struct sim_file *file)
{
    set_cache_size(file, 0);
    if (free_cache_count < FREE_CACHES_MAX) {
        free_caches[free_cache_count++] = file->cache;
    } else {
        (void)munmap(file->cache, SIM_FILE_MAX);
    }
    for (size_t i = 0; i < file->page_count; i++) {
        forget_versions(&file->pages[i]);
        leave_block(file->pages[i].durable);
        free(file->pages[i].versions);
    }
    free(file->pages);
    free(file->sizes);
    free(file);
}

struct sim_file *sim_file_copy(const struct sim_file *file)
{
    struct sim_file *copy = sim_file_new(file->inode);
    set_cache_size(copy, file->size);
    memcpy(copy->cache, file->cache, (size_t)file->size);
    copy->durable_size = file->durable_size;
    for (size_t i = 0; i < file->size_count; i++) add_size(copy, file->sizes[i]);
    copy->pages = resize(NULL, (file->page_count + 1) * sizeof(struct sim_page));
    copy->page_count = file->page_count;
    for (size_t i = 0; i < file->page_count; i++) {
        const struct sim_page *from = &file->pages[i];
        struct sim_page *to = &copy->pages[i];
        *to = (struct sim_page){.durable = use_block(from->durable)};
        for (size_t k = 0; k < from->version_count; k++) {
            add_version(to, use_block(from->versions[k]));
        }
        to->is_ghost = from->is_ghost;
        to->is_partial = from->is_partial;
    }
    return copy;
}

void sim_file_write(struct sim_file *file, uint64_t at, const uint8_t *data, size_t size)
{
    if (!size) return;
    ASSERT(at + size <= SIM_FILE_MAX);
    if (at + size > file->size) {
        set_cache_size(file, at + size);
        add_size(file, at + size);
    }
    memcpy(file->cache + at, data, size);
    const size_t last = (size_t)((at + size - 1) / SIM_PAGE);
    for (size_t i = (size_t)(at / SIM_PAGE); i <= last; i++) {
        const uint64_t start = (uint64_t)i * SIM_PAGE, end = start + SIM_PAGE;
        struct sim_block *block = new_block();
        memcpy(block->bytes, file->cache + start, SIM_PAGE); // S1; S2: reaches to the page's end
        struct sim_page *page = page_of(file, i);
        add_version(page, block);
        if (at > start || at + size < end) page->is_partial = true;
    }
}

void sim_file_resize(struct sim_file *file, uint64_t size)
{
    ASSERT(size <= SIM_FILE_MAX);
    const size_t end = (size_t)((file->size + SIM_PAGE - 1) / SIM_PAGE);
    const size_t first = (size_t)((size + SIM_PAGE - 1) / SIM_PAGE);
    const bool is_cut = size < file->size;
    set_cache_size(file, size);
    for (size_t i = first; is_cut && i < end; i++) add_version(page_of(file, i), NULL);
    if (is_cut && size % SIM_PAGE) { // the page it ends in keeps its first part
        struct sim_block *block = new_block();
        memcpy(block->bytes, file->cache + size / SIM_PAGE * SIM_PAGE, SIM_PAGE);
        add_version(page_of(file, (size_t)(size / SIM_PAGE)), block);
    }
    add_size(file, size);
}

bool sim_file_has_page(const struct sim_file *file, size_t page)
{
    return page < file->page_count && newest_of(&file->pages[page]);
}

void sim_file_settle(struct sim_file *file)
{
    for (size_t i = 0; i < file->page_count; i++) settle_page(&file->pages[i]);
    if (file->size_count) set_durable_size(file, file->size);
}

void sim_file_settle_badly(struct sim_file *file, struct random *random)
{
    for (size_t i = 0; i < file->page_count; i++) {
        struct sim_page *page = &file->pages[i];
        if (!page->version_count) continue;
        switch (bw_random_below(random, 3)) {
        case 0:
            settle_page(page);
            break;
        case 1:
            forget_versions(page);
            page->is_ghost = true;
            break;
        default:
            break; // still waiting
        }
    }
    // Sizes are in the file system's journal: they are not lost without a trace.
    if (file->size_count) set_durable_size(file, file->size);
}

void sim_file_evict(struct sim_file *file)
{
    for (size_t i = 0; i < file->page_count; i++) {
        struct sim_page *page = &file->pages[i];
        if (!page->is_ghost) continue;
        page->is_ghost = false;
        show(file, i, page->durable);
    }
}

// ---- power cuts ----

static size_t pick(struct random *random, size_t limit)
{
    return (size_t)bw_random_below(random, limit);
}

/* What a power cut can leave of one page: [0] is durable, the rest are its versions. */
struct remains {
    struct sim_block *const *versions; /* borrowed */
    struct sim_block *durable;         /* borrowed */
    size_t count;                      /* with the durable one */
};

static struct sim_block *remain(const struct remains *remains, size_t at)
{
    return at ? remains->versions[at - 1] : remains->durable;
}

static void copy_sector(struct sim_block *to, const struct sim_block *from, size_t sector)
{
    uint8_t *at = to->bytes + sector * SIM_SECTOR;
    if (from) {
        memcpy(at, from->bytes + sector * SIM_SECTOR, SIM_SECTOR);
    } else {
        memset(at, 0, SIM_SECTOR);
    }
}

/* `base` with one sector of `other`. */
static struct sim_block *patch(const struct sim_block *base, const struct sim_block *other,
                               size_t sector)
{
    struct sim_block *block = new_block();
    for (size_t i = 0; i < SIM_SECTORS; i++) copy_sector(block, i == sector ? other : base, i);
    return block;
}

static struct sim_block *tear(const struct remains *remains, struct random *random)
{
    if (bw_random_percent(random, 30)) { // all sectors of one version but one
        const struct sim_block *base = remain(remains, pick(random, remains->count));
        const struct sim_block *other = remain(remains, pick(random, remains->count));
        return patch(base, other, pick(random, SIM_SECTORS));
    }
    struct sim_block *block = new_block();
    for (size_t i = 0; i < SIM_SECTORS; i++) {
        copy_sector(block, remain(remains, pick(random, remains->count)), i);
    }
    return block;
}

/* The block that survives, with a use of its own. mood: 0 to 99, the same for a whole file. */
static struct sim_block *survivor(const struct remains *remains, const struct sim_weather *weather,
                                  uint64_t mood, bool is_slot)
{
    struct random *random = weather->random;
    const uint64_t luck = bw_random_below(random, 100);
    struct sim_block *newest = remain(remains, remains->count - 1);
    if (weather->torn_slots && is_slot && bw_random_percent(random, 50)) {
        const struct sim_block *other = remain(remains, pick(random, remains->count));
        const bool is_last = bw_random_percent(random, 50);
        return patch(newest, other, is_last ? SIM_SECTORS - 1 : pick(random, SIM_SECTORS));
    }
    if (mood < 10 || (mood >= 30 && luck >= 45 && luck < 70)) return use_block(remains->durable);
    if (mood < 30 || luck < 45) return use_block(newest);
    if (luck < 85 || (is_slot && weather->atomic_slots)) {
        return use_block(remain(remains, 1 + pick(random, remains->count - 1)));
    }
    return tear(remains, random);
}

static struct sim_block *chosen(const struct remains *remains, const struct sim_outcome *outcome,
                                size_t page)
{
    static const uint8_t zeros[SIM_PAGE];
    const uint8_t **contents = resize(NULL, remains->count * sizeof(*contents));
    for (size_t i = 0; i < remains->count; i++) {
        const struct sim_block *block = remain(remains, i);
        contents[i] = block ? block->bytes : zeros;
    }
    struct sim_block *block = new_block();
    outcome->choose(outcome->argument, page, contents, remains->count, block->bytes);
    free(contents);
    return block;
}

static uint64_t surviving_size(const struct sim_file *file, const struct sim_weather *weather,
                               const struct sim_outcome *outcome)
{
    size_t at = file->size_count;
    if (outcome) {
        if (outcome->size_at < at) at = outcome->size_at;
    } else if (at && bw_random_percent(weather->random, 40)) {
        at = pick(weather->random, at + 1);
    }
    return at ? file->sizes[at - 1] : file->durable_size;
}

void sim_file_cut_power(struct sim_file *file, const struct sim_weather *weather,
                        const struct sim_outcome *outcome)
{
    const uint64_t mood = outcome ? 0 : bw_random_below(weather->random, 100);
    for (size_t i = 0; i < file->page_count; i++) {
        struct sim_page *page = &file->pages[i];
        page->is_ghost = false;
        if (!page->version_count) continue;
        const struct remains remains = {page->versions, page->durable, page->version_count + 1};
        struct sim_block *block =
            outcome ? chosen(&remains, outcome, i) : survivor(&remains, weather, mood, i < 2);
        if (!outcome && page->is_partial && bw_random_percent(weather->random, 10)) {
            leave_block(block); // the write of a part destroyed the whole
            block = new_block();
            memset(block->bytes, 0xee, SIM_PAGE);
        }
        set_durable(page, block);
        forget_versions(page);
    }
    const uint64_t size = surviving_size(file, weather, outcome);
    set_durable_size(file, size);
    set_cache_size(file, size);
    for (size_t i = 0; (uint64_t)i * SIM_PAGE < size; i++) {
        show(file, i, i < file->page_count ? file->pages[i].durable : NULL);
    }
}

size_t sim_file_dirty_count(const struct sim_file *file, size_t *out_end)
{
    size_t count = 0;
    *out_end = 0;
    for (size_t i = 0; i < file->page_count; i++) {
        if (!file->pages[i].version_count) continue;
        count++;
        *out_end = i + 1;
    }
    return count;
}
