/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/damage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/slot.h"

enum {
    PROBLEM_ROOM = 300,
    SINGLES = 12, /* of all single damages, so many are tried each time */
    PAIRS = 4,    /* and so many pairs */
    SLOT_SECTORS = SIM_SECTORS - 1,
};

enum damage_kind {
    CUT_PAGES,        /* the file ends after `at` pages, 0 included */
    CUT_IN_SLOT,      /* it ends in a slot, after `at` sectors of the file */
    ZERO_SLOT,        /* slot `at` */
    ZERO_SLOTS,       /* both */
    ZERO_SECTOR,      /* the first of the file */
    ZERO_PAGE,        /* page `at` */
    FOREIGN_SECTOR,   /* the first of the file */
    FOREIGN_AND_ZERO, /* the first sector, and slot 1 zeroed */
    FOREIGN_SLOT,     /* slot 0 */
    FOREIGN_FILE,
    DAMAGE_KINDS,
};

struct damage {
    enum damage_kind kind;
    uint64_t at;
};

/* A copy of the store's disk, damaged, and what it was then. */
struct patient {
    struct sim_disk sim;
    struct world world;
    uint8_t *image; /* owned */
    uint64_t size, inode;
    bool had_later_page; /* before the damage: one that only a later commit can have written */
};

static bool fail(char *problem, const char *name, const char *why)
{
    (void)snprintf(problem, PROBLEM_ROOM, "%s: %s", name, why);
    return false;
}

// ---- doing it ----

static void overwrite(struct sim_disk *sim, uint64_t at, uint64_t size, int byte)
{
    const struct sim_file *file = sim_disk_find(sim, STORE_FILE);
    if (at >= file->size) return;
    if (size > file->size - at) size = file->size - at;
    uint8_t *bytes = malloc((size_t)size);
    ASSERT(bytes != NULL);
    memset(bytes, byte, (size_t)size);
    sim_disk_poke(sim, STORE_FILE, at, bytes, (size_t)size);
    free(bytes);
}

static void cut(struct sim_disk *sim, uint64_t size)
{
    if (size < sim_disk_find(sim, STORE_FILE)->size) sim_disk_cut_file(sim, STORE_FILE, size);
}

static void do_damage(struct sim_disk *sim, struct damage damage)
{
    enum { FOREIGN = 0xf1 };
    switch (damage.kind) {
    case CUT_PAGES:
        cut(sim, damage.at * SIM_PAGE);
        break;
    case CUT_IN_SLOT:
        cut(sim, damage.at * SIM_SECTOR);
        break;
    case ZERO_SLOT:
        overwrite(sim, damage.at * SIM_PAGE, SIM_PAGE, 0);
        break;
    case ZERO_SLOTS:
        overwrite(sim, 0, (uint64_t)2 * SIM_PAGE, 0);
        break;
    case ZERO_SECTOR:
        overwrite(sim, 0, SIM_SECTOR, 0);
        break;
    case ZERO_PAGE:
        overwrite(sim, damage.at * SIM_PAGE, SIM_PAGE, 0);
        break;
    case FOREIGN_SECTOR:
        overwrite(sim, 0, SIM_SECTOR, FOREIGN);
        break;
    case FOREIGN_AND_ZERO:
        overwrite(sim, 0, SIM_SECTOR, FOREIGN);
        overwrite(sim, SIM_PAGE, SIM_PAGE, 0);
        break;
    case FOREIGN_SLOT:
        overwrite(sim, 0, SIM_PAGE, FOREIGN);
        break;
    case FOREIGN_FILE:
        overwrite(sim, 0, UINT64_MAX, FOREIGN);
        break;
    case DAMAGE_KINDS:
        break;
    }
}

static struct damage pick(const struct damage_case *damage, uint64_t size)
{
    const uint64_t pages = size / SIM_PAGE;
    struct damage picked = {(enum damage_kind)bw_random_below(damage->random, DAMAGE_KINDS), 0};
    if (bw_random_percent(damage->random, 40)) picked.kind = CUT_PAGES;
    switch (picked.kind) {
    case CUT_PAGES:
        picked.at = bw_random_below(damage->random, pages + 1);
        break;
    case CUT_IN_SLOT:
        picked.at = bw_random_below(damage->random, 2) * SIM_SECTORS + 1 +
                    bw_random_below(damage->random, SLOT_SECTORS);
        break;
    case ZERO_SLOT:
        picked.at = bw_random_below(damage->random, 2);
        break;
    case ZERO_PAGE:
        picked.at = bw_random_below(damage->random, pages + 1);
        break;
    default:
        break;
    }
    return picked;
}

// ---- what is left ----

static const struct sim_file *find_inode(struct sim_disk *sim, uint64_t inode,
                                         const char **out_name)
{
    for (size_t i = 0; i < sim->names.count; i++) {
        const struct sim_file *file = sim->names.items[i].file;
        if (!file || file->inode != inode) continue;
        *out_name = sim->names.items[i].path;
        return file;
    }
    return NULL;
}

static bool has_later_page(const uint8_t *image, uint64_t size)
{
    for (uint64_t page = 2; (page + 1) * SIM_PAGE <= size; page++) {
        const uint8_t *header = image + page * SIM_PAGE;
        if (bw_get_u32(header + PAGE_AT_NUMBER) == page && header[PAGE_AT_KIND] >= PAGE_BRANCH &&
            header[PAGE_AT_KIND] <= PAGE_BITMAP && bw_page_born(header) > 1) {
            return true;
        }
    }
    return false;
}

/* Is there anything that only a commit after the first can have written? */
static bool has_later(const struct patient *patient)
{
    const uint8_t *image = patient->image;
    for (uint64_t at = SIM_PAGE; at < patient->size && at < 2 * SIM_PAGE; at++) {
        if (image[at]) return true;
    }
    if (patient->size >= SIM_SECTOR && memcmp(image, bw_slot_magic, sizeof(bw_slot_magic)) == 0 &&
        bw_get_u64(image + SLOT_AT_TXN) > 1) {
        return true;
    }
    return has_later_page(image, patient->size);
}

/* Nothing of the file itself may have changed, whatever became of its name. */
static bool is_untouched(struct patient *patient, const char *name, bool may_be_renamed,
                         char *problem)
{
    const char *path = "";
    const struct sim_file *file = find_inode(&patient->sim, patient->inode, &path);
    if (!file) return fail(problem, name, "the file is gone");
    if (file->size != patient->size ||
        (file->size && memcmp(file->cache, patient->image, (size_t)file->size) != 0)) {
        return fail(problem, name, "bytes of the file were changed");
    }
    if (!may_be_renamed && strcmp(path, STORE_FILE) != 0) {
        return fail(problem, name, "the file was renamed");
    }
    return true;
}

/* A store that opened: whatever can be read of it is a state that was. */
static bool is_some_state(struct patient *patient, struct store *store, const char *name,
                          char *problem)
{
    struct txn *txn = NULL;
    uint64_t serial = 0;
    char difference[WORLD_TEXT_ROOM] = "";
    bw_err err = bw_txn_begin(store, TXN_READ, 0, &txn);
    if (!err) err = world_serial(txn, &serial);
    const struct world_state *state = world_find(&patient->world, serial);
    if (!err && !state) (void)snprintf(difference, sizeof(difference), "a state that never was");
    if (!err && state) err = world_compare(&patient->world, txn, state, difference);
    bw_txn_abort(txn);
    if (err == BW_ERR_FILE_CORRUPT || err == BW_ERR_FILE_PAGES_CORRUPT) return true; // noticed
    if (err) return fail(problem, name, bw_reason_text());
    return *difference ? fail(problem, name, difference) : true;
}

/* A new store in the place of a damaged one: was that allowed? */
static bool may_be_new(const struct patient *patient, bool is_pair, bool is_cut, const char *name,
                       char *problem)
{
    const bool is_durable = patient->world.acked != 0;
    if (patient->size && patient->image[0] == 0xf1) {
        return fail(problem, name, "a foreign file was set aside");
    }
    if (!is_pair && patient->size && is_durable && (patient->had_later_page || is_cut)) {
        return fail(problem, name, "a store with durable commits opened as a new one");
    }
    if (is_durable && has_later(patient)) {
        return fail(problem, name, "opened as a new store, though later commits are in the file");
    }
    return true;
}

/* What was set aside stays, also when the same happens to the new store. */
static bool stays_aside(struct patient *patient, const struct store_options *options,
                        const char *name, char *problem)
{
    struct store *store = NULL;
    struct world_state state = {.serial = patient->world.serial_count + 1, .values = {1}};
    const struct world_state nothing = {0};
    struct txn *txn = NULL;
    bw_err err = bw_store_open(options, &store);
    if (!err) err = bw_txn_begin(store, TXN_WRITE, 0, &txn);
    if (!err) err = world_apply(&patient->world, txn, &nothing, &state);
    if (!err) err = bw_txn_commit(txn);
    bw_store_close(store);
    if (err) return fail(problem, name, bw_reason_text());
    sim_disk_settle(&patient->sim);
    const uint64_t inode = sim_disk_find(&patient->sim, STORE_FILE)->inode;
    overwrite(&patient->sim, 0, (uint64_t)2 * SIM_PAGE, 0);
    store = NULL;
    err = bw_store_open(options, &store);
    bw_store_close(store);
    if (err) return fail(problem, name, bw_reason_text());
    const char *path = "";
    if (!find_inode(&patient->sim, inode, &path)) {
        return fail(problem, name, "remains were replaced by later remains");
    }
    return is_untouched(patient, name, true, problem);
}

// ---- one copy ----

static void begin_patient(const struct damage_case *damage, const struct damage *what, size_t count,
                          struct patient *patient)
{
    sim_disk_copy(damage->sim, &patient->sim);
    sim_disk_settle(&patient->sim);
    world_copy(damage->world, &patient->world);
    const struct sim_file *file = sim_disk_find(&patient->sim, STORE_FILE);
    patient->had_later_page = has_later_page(file->cache, file->size);
    for (size_t i = 0; i < count; i++) do_damage(&patient->sim, what[i]);
    patient->inode = file->inode;
    patient->size = file->size;
    patient->image = malloc((size_t)file->size + 1);
    ASSERT(patient->image != NULL);
    if (file->size) memcpy(patient->image, file->cache, (size_t)file->size);
}

static bool examine(const struct damage_case *damage, struct patient *patient,
                    const struct damage *what, size_t count, char *problem)
{
    char name[64];
    (void)snprintf(name, sizeof(name), "damage %d at %u, %d at %u", (int)what[0].kind,
                   (unsigned)what[0].at, count > 1 ? (int)what[1].kind : -1,
                   count > 1 ? (unsigned)what[1].at : 0);
    const struct store_options options = inspect_options(&patient->sim, damage->geometry);
    struct store *store = NULL;
    bw_err err = bw_store_open(&options, &store);
    if (err && err != BW_ERR_FILE_CORRUPT && err != BW_ERR_FILE_PAGES_CORRUPT) {
        return fail(problem, name, bw_reason_text());
    }
    bool is_new = false, is_good = true;
    if (!err) {
        struct store_info info;
        bw_store_info(store, &info);
        is_new = !info.has_commit;
        if (!is_new) is_good = is_some_state(patient, store, name, problem);
    }
    bw_store_close(store);
    const bool is_cut = what[0].kind == CUT_PAGES || what[0].kind == CUT_IN_SLOT;
    if (is_good) is_good = is_untouched(patient, name, is_new && patient->size, problem);
    if (is_good && is_new) is_good = may_be_new(patient, count > 1, is_cut, name, problem);
    if (is_good && is_new && patient->size && bw_random_percent(damage->random, 30)) {
        is_good = stays_aside(patient, &options, name, problem);
    }
    return is_good;
}

bool damage_copies(const struct damage_case *damage, unsigned *in_out_count, char *out_problem)
{
    const struct sim_file *file = sim_disk_find(damage->sim, STORE_FILE);
    if (!file || !file->size) return true;
    for (int i = 0; i < SINGLES + PAIRS; i++) {
        const struct damage what[2] = {pick(damage, file->size), pick(damage, file->size)};
        const size_t count = i < SINGLES ? 1 : 2;
        struct patient patient;
        begin_patient(damage, what, count, &patient);
        const bool is_good = examine(damage, &patient, what, count, out_problem);
        world_deinit(&patient.world);
        sim_disk_deinit(&patient.sim);
        free(patient.image);
        if (!is_good) return false;
        (*in_out_count)++;
    }
    return true;
}
