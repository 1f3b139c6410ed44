/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The check of a whole database: the store below proves its pages, then every object is read and
 * verified as what its entity says. A tree that cannot be read any further was reported by the
 * store; what lies behind that place is not looked at.
 */
#include "box/db.h"

#include "box/object.h"
#include "box/tree_ids.h"

// Pages and objects count as one number of units.
struct work {
    const struct progress *outer; // borrowed, may be NULL
    uint64_t pages, objects;      // in all
    uint64_t done;                // objects
};

static bool pages_done(void *user, uint64_t done, uint64_t total)
{
    struct work *work = user;
    work->pages = total;
    return !bw_progress_report(work->outer, done, total + work->objects);
}

static bw_err object_done(struct work *work)
{
    enum { OBJECTS_A_REPORT = 1024 };
    work->done++;
    if (work->done % OBJECTS_A_REPORT || work->done >= work->objects) return BW_OK;
    return bw_progress_report(work->outer, work->pages + work->done, work->pages + work->objects);
}

static bw_err count_objects(const struct db *db, struct txn *txn, uint64_t *out_count)
{
    *out_count = 0;
    for (uint32_t i = 0; i < db->schema->entity_count; i++) {
        struct tree_stat stat;
        bw_err err =
            bw_tree_stat(txn, bw_tree_id(TREES_OBJECTS, db->schema->entities[i].id), &stat);
        if (err == BW_ERR_FILE_PAGES_CORRUPT) continue; // the store reports it
        if (err) return err;
        *out_count += stat.count;
    }
    return BW_OK;
}

static bw_err check_objects(const struct entity *entity, struct txn *txn, struct work *work,
                            struct check_report *report)
{
    struct cursor cursor;
    bw_cursor_init(&cursor, txn, bw_tree_id(TREES_OBJECTS, entity->id));
    for (;;) {
        bool found = false;
        bw_err err = bw_cursor_next(&cursor, &found);
        if (err == BW_ERR_FILE_PAGES_CORRUPT) return BW_OK;
        if (err || !found) return err;
        const char *why = bw_object_problem(entity, cursor.key, cursor.value);
        if (why)
            bw_check_report_add(report, 0, "entity %s (%u), object %llu: %s", entity->name,
                                entity->id, (unsigned long long)cursor.key, why);
        err = object_done(work);
        if (err) return err;
    }
}

bw_err bw_db_check(struct db *db, struct txn *txn, const struct progress *progress,
                   struct check_report *out_report)
{
    struct work work = {.outer = progress};
    const struct progress pages = {.report = pages_done, .user = &work};
    struct check_report report = {0};
    bw_err err = count_objects(db, txn, &work.objects);
    if (!err) err = bw_store_check(txn, &pages, &report);
    for (uint32_t i = 0; i < db->schema->entity_count && !err; i++)
        err = check_objects(&db->schema->entities[i], txn, &work, &report);
    const uint64_t total = work.pages + work.objects;
    if (!err && work.objects) err = bw_progress_report(progress, total, total);
    if (!err) *out_report = report;
    return err;
}
