/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/sim_disk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a handle points to. */
struct sim_open {
    struct sim_file *file;
    enum open_mode mode;
    enum lock_kind lock;
};

static struct sim_disk *sim_of(struct disk *disk) { return (struct sim_disk *)disk; }
static struct sim_open *open_of(struct file file) { return (struct sim_open *)file.handle; }

static void *resize(void *memory, size_t size)
{
    void *moved = realloc(memory, size ? size : 1);
    ASSERT(moved != NULL);
    return moved;
}

static char *copy_text(const char *text)
{
    const size_t size = strlen(text) + 1;
    return memcpy(resize(NULL, size), text, size);
}

static bw_err fail(int number, const char *what)
{
    const bw_err err = number == ENOSPC ? BW_ERR_DB_FULL : BW_ERR_STORAGE_GENERAL;
    return bw_fail_system(err, number, "%s (%d, simulated)", what, number);
}

// ---- steps ----

static bw_err stopped(void) { return bw_fail(SIM_STOPPED, "the simulated process has ended"); }

/* N4. True: go on; false: the disk is stopped. */
static bool step(struct sim_disk *sim, const char *what)
{
    if (sim->is_stopped) return false;
    if (sim->is_in_hook) return true;
    if (sim->hook) {
        sim->is_in_hook = true;
        sim->hook(sim->hook_argument);
        sim->is_in_hook = false;
    }
    if (sim->steps_left == 0) sim->is_stopped = true;
    if (sim->steps_left > 0) sim->steps_left--;
    if (!sim->is_stopped) sim->step_count++;
    if (sim->is_traced) {
        (void)fprintf(stderr, "sim: %s%s\n", what, sim->is_stopped ? ": stops here" : "");
    }
    return !sim->is_stopped;
}

// ---- files ----

static struct sim_file *add_file(struct sim_disk *sim, struct sim_file *file)
{
    file->next = sim->files;
    sim->files = file;
    return file;
}

static void leave_file(struct sim_disk *sim, struct sim_file *file)
{
    if (!file || --file->uses > 0) return; // N3
    struct sim_file **at = &sim->files;
    while (*at != file) at = &(*at)->next;
    *at = file->next;
    sim_file_free(file);
}

// ---- names ----

/* Is `path` an entry of the directory `parent` ("" and "." are the same)? */
static bool is_entry_of(const char *path, const char *parent)
{
    if (strcmp(parent, ".") == 0) parent = "";
    const char *slash = strrchr(path, '/');
    const size_t size = slash ? (size_t)(slash - path) : 0;
    return strlen(parent) == size && strncmp(path, parent, size) == 0;
}

static struct sim_name *find(const struct sim_names *names, const char *path)
{
    for (size_t i = 0; i < names->count; i++) {
        if (strcmp(names->items[i].path, path) == 0) return &names->items[i];
    }
    return NULL;
}

static bool is_directory(const struct sim_names *names, const char *path)
{
    if (!*path || strcmp(path, ".") == 0) return true;
    const struct sim_name *name = find(names, path);
    return name && !name->file;
}

static bool has_parent(const struct sim_names *names, const char *path)
{
    char parent[512];
    const char *slash = strrchr(path, '/');
    const size_t size = slash ? (size_t)(slash - path) : 0;
    ASSERT(size < sizeof(parent));
    memcpy(parent, path, size);
    parent[size] = 0;
    return is_directory(names, parent);
}

static void add_name(struct sim_names *names, const char *path, struct sim_file *file)
{
    names->items = resize(names->items, (names->count + 1) * sizeof(struct sim_name));
    names->items[names->count++] = (struct sim_name){copy_text(path), file};
    if (file) file->uses++;
}

static void drop_name(struct sim_disk *sim, struct sim_names *names, struct sim_name *name)
{
    leave_file(sim, name->file);
    free(name->path);
    *name = names->items[--names->count];
}

static void drop_names(struct sim_disk *sim, struct sim_names *names)
{
    while (names->count) drop_name(sim, names, &names->items[names->count - 1]);
    free(names->items);
    *names = (struct sim_names){0};
}

/* A change of which the one before it may be lost can refer to nothing; then it does nothing. */
static void apply(struct sim_disk *sim, struct sim_names *names, const struct sim_change *change)
{
    struct sim_name *name = find(names, change->path);
    switch (change->kind) {
    case SIM_MAKE:
    case SIM_CREATE:
        if (!name) add_name(names, change->path, change->file);
        break;
    case SIM_REMOVE:
        if (name) drop_name(sim, names, name);
        break;
    case SIM_RENAME: {
        if (!name) break;
        struct sim_file *file = name->file;
        if (file) file->uses++;
        drop_name(sim, names, name);
        struct sim_name *replaced = find(names, change->to);
        if (replaced) drop_name(sim, names, replaced);
        add_name(names, change->to, file);
        leave_file(sim, file);
        break;
    }
    }
}

static void add_change(struct sim_disk *sim, struct sim_change change)
{
    change.path = copy_text(change.path);
    if (change.to) change.to = copy_text(change.to);
    if (change.file) change.file->uses++;
    sim->changes = resize(sim->changes, (sim->change_count + 1) * sizeof(struct sim_change));
    sim->changes[sim->change_count++] = change;
}

static void change_names(struct sim_disk *sim, struct sim_change change)
{
    add_change(sim, change);
    apply(sim, &sim->names, &change); // N2
}

static void drop_change(struct sim_disk *sim, size_t at)
{
    struct sim_change *change = &sim->changes[at];
    leave_file(sim, change->file);
    free(change->path);
    free(change->to);
    sim->change_count--;
    memmove(change, change + 1, (sim->change_count - at) * sizeof(*change));
}

static const char *changed_path(const struct sim_change *change)
{
    return change->kind == SIM_RENAME ? change->to : change->path;
}

/* Make the first `count` pending changes of a directory durable; forget the others if asked to. */
static void persist_names(struct sim_disk *sim, const char *directory, size_t count, bool is_cut)
{
    size_t at = 0;
    while (at < sim->change_count) {
        const struct sim_change *change = &sim->changes[at];
        if (!is_entry_of(changed_path(change), directory)) {
            at++;
            continue;
        }
        if (count) {
            apply(sim, &sim->durable_names, change);
            count--;
        } else if (!is_cut) {
            break;
        }
        drop_change(sim, at);
    }
}

// ---- opening and closing ----

static bw_err sim_open(struct disk *disk, const char *path, enum open_mode mode,
                       unsigned permissions, struct file *out_file, bool *out_found)
{
    (void)permissions;
    struct sim_disk *sim = sim_of(disk);
    if (sim->is_stopped) return stopped();
    struct sim_name *name = find(&sim->names, path);
    if (name && !name->file) return fail(EISDIR, "Could not open a directory");
    if (!name && (mode != OPEN_CREATE || !has_parent(&sim->names, path))) {
        *out_found = false;
        return BW_OK;
    }
    if (!name) {
        if (!step(sim, "create")) return stopped();
        struct sim_file *made = add_file(sim, sim_file_new(++sim->inode_count));
        change_names(sim, (struct sim_change){SIM_CREATE, (char *)(uintptr_t)path, NULL, made});
        name = find(&sim->names, path);
    }
    struct sim_open *open = resize(NULL, sizeof(*open));
    *open = (struct sim_open){.file = name->file, .mode = mode};
    open->file->uses++;
    sim->open_count++;
    sim->counts.opens++;
    *out_file = (struct file){.disk = disk, .handle = (intptr_t)open};
    *out_found = true;
    return BW_OK;
}

static bool change_lock(struct sim_open *open, enum lock_kind kind)
{
    struct sim_file *file = open->file;
    const size_t others = file->shared_count - (open->lock == LOCK_SHARED);
    const bool is_held = file->is_exclusive && open->lock != LOCK_EXCLUSIVE;
    if (kind != LOCK_NONE && is_held) return false;
    if (kind == LOCK_EXCLUSIVE && others > 0) return false;
    file->shared_count = others + (kind == LOCK_SHARED);
    file->is_exclusive = kind == LOCK_EXCLUSIVE || is_held;
    open->lock = kind;
    return true;
}

static void sim_close(struct file file)
{
    struct sim_disk *sim = sim_of(file.disk);
    struct sim_open *open = open_of(file);
    (void)change_lock(open, LOCK_NONE);
    leave_file(sim, open->file);
    free(open);
    sim->open_count--;
}

static bw_err sim_lock(struct file file, enum lock_kind kind, bool *out_got)
{
    struct sim_disk *sim = sim_of(file.disk);
    if (sim->is_stopped && kind != LOCK_NONE) return stopped();
    *out_got = change_lock(open_of(file), kind);
    sim->counts.locks++;
    return BW_OK;
}

static bw_err sim_info(struct file file, struct file_info *out_info)
{
    struct sim_disk *sim = sim_of(file.disk);
    if (sim->is_stopped) return stopped();
    const struct sim_file *found = open_of(file)->file;
    *out_info = (struct file_info){found->size, sim->device, found->inode};
    sim->counts.infos++;
    return BW_OK;
}

static bw_err sim_read(struct file file, uint64_t at, void *to, size_t size, size_t *out_read)
{
    struct sim_disk *sim = sim_of(file.disk);
    if (sim->is_stopped) return stopped();
    const struct sim_file *found = open_of(file)->file;
    if (at > found->size) at = found->size;
    if (size > found->size - at) size = (size_t)(found->size - at);
    if (size) memcpy(to, found->cache + at, size);
    *out_read = size;
    sim->counts.reads++;
    sim->counts.read_bytes += size;
    return BW_OK;
}

// ---- writing ----

/* How many bytes of a write there is room for. */
static uint64_t room_of(const struct sim_disk *sim, const struct sim_file *file, uint64_t at,
                        uint64_t size)
{
    const uint64_t page_max = sim->page_max ? sim->page_max : SIM_FILE_MAX / SIM_PAGE;
    uint64_t done = 0;
    while (done < size) {
        const uint64_t page = (at + done) / SIM_PAGE;
        if (page >= SIM_FILE_MAX / SIM_PAGE) break;
        if (page >= page_max && !sim_file_has_page(file, (size_t)page)) break;
        done = (page + 1) * SIM_PAGE - at;
    }
    return done < size ? done : size;
}

/* The first `size` bytes of the spans. */
static void write_spans(struct sim_file *file, uint64_t at, const struct span *spans, uint64_t size)
{
    uint8_t *gathered = resize(NULL, (size_t)size);
    uint64_t done = 0;
    for (size_t i = 0; done < size; i++) {
        const uint64_t left = size - done;
        const size_t part = spans[i].size < left ? spans[i].size : (size_t)left;
        if (part) memcpy(gathered + done, spans[i].data, part);
        done += part;
    }
    sim_file_write(file, at, gathered, (size_t)size);
    free(gathered);
}

/* Some pages of a write, from its start: what it had done when it was stopped. */
static uint64_t part_of(struct sim_disk *sim, uint64_t at, uint64_t size)
{
    if (!size) return 0;
    const uint64_t first = at / SIM_PAGE, end = (at + size + SIM_PAGE - 1) / SIM_PAGE;
    const uint64_t page = first + bw_random_below(&sim->random, end - first + 1);
    if (page == first) return 0;
    return page == end ? size : page * SIM_PAGE - at;
}

static bw_err sim_write(struct file file, uint64_t at, const struct span *spans, size_t span_count)
{
    struct sim_disk *sim = sim_of(file.disk);
    struct sim_file *target = open_of(file)->file;
    uint64_t size = 0;
    for (size_t i = 0; i < span_count; i++) size += spans[i].size;
    if (open_of(file)->mode == OPEN_READ) return fail(EBADF, "Could not write");
    const uint64_t room = room_of(sim, target, at, size);
    const bool was_stopped = sim->is_stopped;
    char what[64];
    (void)snprintf(what, sizeof(what), "write %.0f bytes at %.0f", (double)size, (double)at);
    if (!step(sim, what)) {
        if (!was_stopped) write_spans(target, at, spans, part_of(sim, at, room));
        return stopped(); // N1
    }
    sim->counts.writes++;
    if (!sim->is_in_hook && bw_random_percent(&sim->random, sim->write_fails)) {
        write_spans(target, at, spans, part_of(sim, at, room));
        return fail(EIO, "Could not write");
    }
    write_spans(target, at, spans, room);
    sim->counts.written_bytes += room;
    return room < size ? fail(ENOSPC, "Could not write") : BW_OK;
}

static bw_err sim_resize(struct file file, uint64_t size)
{
    struct sim_disk *sim = sim_of(file.disk);
    if (open_of(file)->mode == OPEN_READ) return fail(EINVAL, "Could not set the size");
    if (!step(sim, "resize")) return stopped();
    if (size > SIM_FILE_MAX) return fail(ENOSPC, "Could not set the size");
    sim_file_resize(open_of(file)->file, size);
    sim->counts.resizes++;
    return BW_OK;
}

static bw_err sim_flush(struct file file, enum flush_kind kind)
{
    struct sim_disk *sim = sim_of(file.disk);
    struct sim_file *target = open_of(file)->file;
    (void)kind; // the weaker one may do no more than the stronger one, and here it does no less
    if (sim->has_lied && !sim->is_in_hook) sim->is_stopped = true;
    if (!step(sim, "flush")) return stopped();
    sim->counts.flushes++;
    if (sim->may_lie && bw_random_percent(&sim->random, 30)) {
        sim->has_lied = true;
        return BW_OK;
    }
    if (bw_random_percent(&sim->random, sim->flush_fails)) {
        sim->failed_flush_count++;
        sim_file_settle_badly(target, &sim->random);
        return fail(EIO, "Could not flush to the device");
    }
    sim_file_settle(target);
    if (sim->during_flush) sim->during_flush(sim->during_flush_argument);
    return sim->is_stopped ? stopped() : BW_OK;
}

static bw_err sim_map(struct file file, uint64_t at, size_t size, const uint8_t **out_window)
{
    struct sim_disk *sim = sim_of(file.disk);
    (void)size; // may reach beyond what the file can ever be
    if (sim->is_stopped) return stopped();
    if (at % sim_os_page() != 0) return fail(EINVAL, "Could not map");
    if (at >= SIM_FILE_MAX) return fail(ENOMEM, "Could not map");
    struct sim_file *found = open_of(file)->file;
    found->uses++;
    sim->window_count++;
    sim->counts.maps++;
    *out_window = found->cache + at;
    return BW_OK;
}

static void sim_unmap(struct file file, const uint8_t *window, size_t size)
{
    (void)size;
    struct sim_disk *sim = sim_of(file.disk);
    struct sim_file *found = sim->files;
    while (found && (window < found->cache || window >= found->cache + SIM_FILE_MAX)) {
        found = found->next;
    }
    ASSERT(found != NULL);
    leave_file(sim, found);
    sim->window_count--;
}

// ---- calls on names ----

static bw_err sim_make_directory(struct disk *disk, const char *path, unsigned permissions,
                                 bool *out_made)
{
    (void)permissions;
    struct sim_disk *sim = sim_of(disk);
    if (!step(sim, "make directory")) return stopped();
    const bool is_there = is_directory(&sim->names, path);
    if (!is_there) {
        if (find(&sim->names, path)) return fail(ENOTDIR, "Could not prepare directory");
        if (!has_parent(&sim->names, path)) return fail(ENOENT, "Could not prepare directory");
        change_names(sim, (struct sim_change){SIM_MAKE, (char *)(uintptr_t)path, NULL, NULL});
    }
    sim->counts.makes++;
    *out_made = !is_there;
    return BW_OK;
}

static bw_err sim_flush_directory(struct disk *disk, const char *path)
{
    struct sim_disk *sim = sim_of(disk);
    if (!step(sim, "flush directory")) return stopped();
    if (!is_directory(&sim->names, path)) return fail(ENOENT, "Could not open directory");
    persist_names(sim, path, SIZE_MAX, false);
    sim->counts.directory_flushes++;
    return BW_OK;
}

static bw_err sim_rename(struct disk *disk, const char *from, const char *to)
{
    struct sim_disk *sim = sim_of(disk);
    if (!step(sim, "rename")) return stopped();
    struct sim_name *name = find(&sim->names, from);
    if (!name || !has_parent(&sim->names, to)) return fail(ENOENT, "Could not rename");
    sim->counts.renames++;
    if (strcmp(from, to) == 0) return BW_OK;
    change_names(
        sim, (struct sim_change){SIM_RENAME, (char *)(uintptr_t)from, (char *)(uintptr_t)to, NULL});
    return BW_OK;
}

static bw_err sim_remove(struct disk *disk, const char *path, bool *out_found)
{
    struct sim_disk *sim = sim_of(disk);
    if (!step(sim, "remove")) return stopped();
    struct sim_name *name = find(&sim->names, path);
    if (name && !name->file) return fail(EISDIR, "Could not remove");
    *out_found = name != NULL;
    if (name)
        change_names(sim, (struct sim_change){SIM_REMOVE, (char *)(uintptr_t)path, NULL, NULL});
    sim->counts.removes++;
    return BW_OK;
}

static bw_err sim_look_up(struct disk *disk, const char *path, struct file_info *out_info,
                          bool *out_is_directory, bool *out_found)
{
    struct sim_disk *sim = sim_of(disk);
    if (sim->is_stopped) return stopped();
    const struct sim_name *name = find(&sim->names, path);
    const bool is_folder = is_directory(&sim->names, path);
    *out_found = name || is_folder;
    if (name && name->file) {
        *out_info = (struct file_info){name->file->size, sim->device, name->file->inode};
    } else if (is_folder) {
        *out_info = (struct file_info){.device = sim->device};
    }
    if (out_is_directory) *out_is_directory = is_folder;
    sim->counts.look_ups++;
    return BW_OK;
}

// ---- for the test ----

static const struct disk functions = {
    .open = sim_open,
    .close = sim_close,
    .info = sim_info,
    .read = sim_read,
    .write = sim_write,
    .resize = sim_resize,
    .flush = sim_flush,
    .lock = sim_lock,
    .map = sim_map,
    .unmap = sim_unmap,
    .make_directory = sim_make_directory,
    .flush_directory = sim_flush_directory,
    .rename = sim_rename,
    .remove = sim_remove,
    .look_up = sim_look_up,
};

/* A copy of a file is another file to the engine, which knows open files by their identity. */
static uint64_t next_device(void)
{
    static uint64_t device = 1000;
    return ++device;
}

void sim_disk_init(struct sim_disk *sim, uint64_t seed)
{
    *sim = (struct sim_disk){.disk = functions, .device = next_device(), .steps_left = -1};
    bw_random_seed(&sim->random, seed);
}

void sim_disk_deinit(struct sim_disk *sim)
{
    ASSERT(!sim->open_count && !sim->window_count);
    while (sim->change_count) drop_change(sim, sim->change_count - 1);
    free(sim->changes);
    drop_names(sim, &sim->names);
    drop_names(sim, &sim->durable_names);
    ASSERT(!sim->files); // N3
}

static struct sim_file *copied(struct sim_file *file) { return file ? file->copied : NULL; }

void sim_disk_copy(const struct sim_disk *from, struct sim_disk *to)
{
    *to = *from;
    to->device = next_device();
    bw_random_seed(&to->random, from->random.state[0]);
    to->files = NULL;
    to->names = to->durable_names = (struct sim_names){0};
    to->changes = NULL;
    to->change_count = to->open_count = to->window_count = 0;
    to->hook = NULL;
    to->is_in_hook = false;
    for (struct sim_file *file = from->files; file; file = file->next) {
        file->copied = add_file(to, sim_file_copy(file));
        file->copied->uses = 1; // until all that have it are copied
    }
    for (size_t i = 0; i < from->names.count; i++) {
        add_name(&to->names, from->names.items[i].path, copied(from->names.items[i].file));
    }
    for (size_t i = 0; i < from->durable_names.count; i++) {
        const struct sim_name *name = &from->durable_names.items[i];
        add_name(&to->durable_names, name->path, copied(name->file));
    }
    for (size_t i = 0; i < from->change_count; i++) {
        struct sim_change change = from->changes[i];
        change.file = copied(change.file);
        add_change(to, change);
    }
    for (struct sim_file *file = from->files; file; file = file->next) {
        leave_file(to, file->copied);
        file->copied = NULL;
    }
}

void sim_disk_restart(struct sim_disk *sim)
{
    ASSERT(!sim->open_count && !sim->window_count);
    sim->is_stopped = sim->has_lied = sim->may_lie = false;
    sim->steps_left = -1;
    sim->flush_fails = sim->write_fails = 0;
}

static bool is_bare(const struct sim_disk *sim, const char *directory)
{
    for (size_t i = 0; i < sim->names.count; i++) {
        if (is_entry_of(sim->names.items[i].path, directory)) return false;
    }
    return true;
}

void sim_disk_keep_bare_directories(struct sim_disk *sim)
{
    for (size_t at = sim->change_count; at-- > 0;) {
        const struct sim_change *change = &sim->changes[at];
        if (change->kind != SIM_MAKE || !is_bare(sim, change->path)) continue;
        apply(sim, &sim->durable_names, change);
        drop_change(sim, at);
    }
}

/* The directory of the first pending change, in `directory`. */
static void first_directory(const struct sim_disk *sim, char *directory, size_t room)
{
    const char *path = changed_path(&sim->changes[0]);
    const char *slash = strrchr(path, '/');
    const size_t size = slash ? (size_t)(slash - path) : 0;
    ASSERT(size < room);
    memcpy(directory, path, size);
    directory[size] = 0;
}

static size_t count_changes(const struct sim_disk *sim, const char *directory)
{
    size_t count = 0;
    for (size_t i = 0; i < sim->change_count; i++) {
        count += is_entry_of(changed_path(&sim->changes[i]), directory);
    }
    return count;
}

/* Each directory keeps some of its changes, from the first on. */
static void cut_names(struct sim_disk *sim, bool keeps_all)
{
    while (sim->change_count) {
        char directory[512];
        first_directory(sim, directory, sizeof(directory));
        size_t count = count_changes(sim, directory);
        switch (keeps_all ? 0 : bw_random_below(&sim->random, 3)) {
        case 1:
            count = 0;
            break;
        case 2:
            count = (size_t)bw_random_below(&sim->random, count + 1);
            break;
        default:
            break;
        }
        persist_names(sim, directory, count, true);
    }
    for (size_t i = 0; i < sim->durable_names.count;) { // what has lost its directory
        struct sim_name *name = &sim->durable_names.items[i];
        if (has_parent(&sim->durable_names, name->path)) {
            i++;
        } else {
            drop_name(sim, &sim->durable_names, name);
            i = 0;
        }
    }
}

static void show_durable_names(struct sim_disk *sim)
{
    drop_names(sim, &sim->names);
    for (size_t i = 0; i < sim->durable_names.count; i++) {
        const struct sim_name *name = &sim->durable_names.items[i];
        add_name(&sim->names, name->path, name->file);
    }
}

void sim_disk_cut_power(struct sim_disk *sim, const struct sim_outcome *outcome)
{
    ASSERT(!sim->open_count && !sim->window_count);
    cut_names(sim, outcome != NULL);
    show_durable_names(sim);
    const struct sim_weather weather = {&sim->random, sim->atomic_slots, sim->torn_slots};
    for (struct sim_file *file = sim->files; file; file = file->next) {
        sim_file_cut_power(file, &weather, outcome);
    }
}

void sim_disk_settle(struct sim_disk *sim)
{
    while (sim->change_count) {
        apply(sim, &sim->durable_names, &sim->changes[0]);
        drop_change(sim, 0);
    }
    for (struct sim_file *file = sim->files; file; file = file->next) sim_file_settle(file);
    sim_disk_evict(sim);
}

void sim_disk_evict(struct sim_disk *sim)
{
    for (struct sim_file *file = sim->files; file; file = file->next) sim_file_evict(file);
}

struct sim_file *sim_disk_find(struct sim_disk *sim, const char *path)
{
    const struct sim_name *name = find(&sim->names, path);
    return name ? name->file : NULL;
}

void sim_disk_poke(struct sim_disk *sim, const char *path, uint64_t at, const void *data,
                   size_t size)
{
    struct sim_file *file = sim_disk_find(sim, path);
    ASSERT(file && at + size <= file->size);
    sim_file_write(file, at, data, size);
    sim_file_settle(file);
}

void sim_disk_cut_file(struct sim_disk *sim, const char *path, uint64_t size)
{
    struct sim_file *file = sim_disk_find(sim, path);
    ASSERT(file && size <= file->size);
    sim_file_resize(file, size);
    sim_file_settle(file);
}
