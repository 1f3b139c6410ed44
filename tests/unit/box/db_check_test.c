/* SPDX-License-Identifier: Apache-2.0 */
/* The check of a whole database: objects that no put of ours would store are found. */
#include "harness/check.h"
#include "unit/box/sample_db.h"

enum { NOTES = 3000 };

static const char name[] = "check";
static struct db *db;

static void begin(void)
{
    db = sample_create(name, &note_model);
    struct txn *txn = sample_begin(db, TXN_WRITE);
    for (uint64_t id = 1; id <= NOTES; id++) {
        uint64_t got = 0;
        struct bytes note = sample_note(0, "text", id);
        CHECK_OK(bw_box_put_object(sample_box(db, 1), txn, (uint8_t *)(uintptr_t)note.data,
                                   note.size, PUT_NEW, &got));
    }
    CHECK_OK(bw_db_commit(db, txn));
}

static void end(void)
{
    bw_db_close(db);
    CHECK_OK(bw_store_remove(bw_disk_memory(), name));
}

static struct check_report report_of(void)
{
    struct check_report report;
    struct txn *txn = sample_begin(db, TXN_READ);
    CHECK_OK(bw_db_check(db, txn, NULL, &report));
    bw_txn_abort(txn);
    return report;
}

/* Below the box layer, where nobody verifies. */
static void store_bytes(uint64_t id, struct bytes bytes)
{
    struct txn *txn = sample_begin(db, TXN_WRITE);
    CHECK_OK(bw_tree_put(txn, 1, id, bytes, NULL));
    CHECK_OK(bw_db_commit(db, txn));
}

static void a_sound_database_has_no_problems(void)
{
    begin();
    const struct check_report report = report_of();
    CHECK_TEXT(report.first_problem, "");
    CHECK_EQ(report.problems, 0);
    CHECK_EQ(report.keys, NOTES);
    CHECK_EQ(report.trees, 1);
    CHECK(report.pages_are_sound);
    end();
}

static void wrong_objects_are_told_with_entity_and_id(void)
{
    static const uint8_t rubbish[16] = {0xff, 0xff, 0xff, 0xff};
    begin();
    store_bytes(17, (struct bytes){rubbish, sizeof(rubbish)});
    store_bytes(2000, sample_note(1999, "text", 1));
    const struct check_report report = report_of();
    CHECK_EQ(report.problems, 2);
    CHECK(report.pages_are_sound); // whoever wrote this wrote proper pages
    CHECK_BYTES(report.first_problem, "entity Note (1), object 17: ", 28);
    CHECK_TEXT(report.next_problems[0], "entity Note (1), object 2000: it holds another id");
    end();
}

struct listener {
    uint64_t calls, last, total, stop_after;
};

static bool listen_to(void *user, uint64_t done, uint64_t total)
{
    struct listener *listener = user;
    CHECK(done <= total && done >= listener->last);
    listener->last = done;
    listener->total = total;
    return ++listener->calls != listener->stop_after;
}

static void progress_counts_pages_and_objects(void)
{
    begin();
    struct txn *txn = sample_begin(db, TXN_READ);
    struct listener listener = {0};
    const struct progress progress = {listen_to, &listener};
    struct check_report report;
    CHECK_OK(bw_db_check(db, txn, &progress, &report));
    CHECK_EQ(listener.last, report.pages + NOTES);
    CHECK_EQ(listener.last, listener.total);
    const uint64_t calls = listener.calls;
    CHECK(calls >= 4);
    for (uint64_t stop = 1; stop <= calls; stop++) {
        listener = (struct listener){.stop_after = stop};
        CHECK_ERR(bw_db_check(db, txn, &progress, &report), BW_ERR_CANCELLED);
        CHECK_EQ(listener.calls, stop);
    }
    bw_txn_abort(txn);
    end();
}

RUN_TESTS(TEST(a_sound_database_has_no_problems), TEST(wrong_objects_are_told_with_entity_and_id),
          TEST(progress_counts_pages_and_objects))
