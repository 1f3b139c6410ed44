/* SPDX-License-Identifier: Apache-2.0 */
#include "box/db.h"

#include "unit/box/sample_db.h"

static struct backup_options backup_to(const char *file)
{
    return (struct backup_options){.disk = bw_disk_memory(), .file = file};
}

static bw_err restore(const char *file, const char *name)
{
    const struct restore_options options = {.file_disk = bw_disk_memory(),
                                            .file = file,
                                            .disk = bw_disk_memory(),
                                            .directory = name,
                                            .file_mode = 0644};
    CHECK_OK(bw_store_remove(bw_disk_memory(), name));
    return bw_store_restore(&options);
}

static void forget(const char *file)
{
    bool found = false;
    CHECK_OK(bw_disk_memory()->remove(bw_disk_memory(), file, &found));
}

static void a_backup_holds_objects_ids_and_schema(void)
{
    const struct backup_options options = backup_to("a.bak");
    struct db *db = sample_create("db", &note_model);
    for (uint64_t i = 1; i <= 3; i++) CHECK_OK(sample_put(sample_box(db, 1), i, 10 * i, PUT_ANY));
    const uint64_t next = sample_next_id(sample_box(db, 1));
    CHECK_OK(bw_db_back_up(db, &options));
    CHECK_OK(sample_put(sample_box(db, 1), 4, 1, PUT_ANY));
    bw_db_close(db);
    CHECK_OK(restore("a.bak", "again"));
    db = sample_open("again", NULL);
    CHECK_EQ(sample_count(sample_box(db, 1)), 3);
    CHECK_EQ(sample_next_id(sample_box(db, 1)), next);
    CHECK_TEXT(bw_db_schema(db)->entities[0].name, "Note");
    bw_db_close(db);
    forget("a.bak");
}

static void a_database_without_a_commit_has_copies_too(void)
{
    const struct backup_options options = backup_to("a.bak");
    const struct copy_options copy = {.disk = bw_disk_memory(), .directory = "copy"};
    struct db *db = sample_create("db", &note_model);
    CHECK_OK(bw_store_remove(bw_disk_memory(), "copy"));
    CHECK_OK(bw_db_back_up(db, &options));
    CHECK_OK(bw_db_copy(db, &copy));
    bw_db_close(db);
    CHECK_OK(restore("a.bak", "again"));
    static const char *const names[] = {"again", "copy"};
    for (int i = 0; i < 2; i++) {
        db = sample_open(names[i], NULL);
        CHECK_EQ(sample_count(sample_box(db, 1)), 0);
        bw_db_close(db);
    }
    forget("a.bak");
}

static void a_first_write_that_is_under_way_is_not_waited_for(void)
{
    const struct backup_options options = backup_to("a.bak");
    const struct copy_options copy = {.disk = bw_disk_memory(), .directory = "copy"};
    struct db *db = sample_create("db", &note_model);
    CHECK_OK(bw_store_remove(bw_disk_memory(), "copy"));
    struct txn *txn = sample_begin(db, TXN_WRITE);
    CHECK_ERR(bw_db_back_up(db, &options), BW_ERR_ILLEGAL_STATE);
    CHECK_ERR(bw_db_copy(db, &copy), BW_ERR_ILLEGAL_STATE);
    CHECK_TEXT(bw_reason_text(), "The store has no commit yet: there is nothing to copy");
    CHECK_OK(bw_box_put(sample_box(db, 1), txn, 1, sample_note(1, "a", 1), PUT_ANY));
    CHECK_OK(bw_db_commit(db, txn));
    txn = sample_begin(db, TXN_WRITE);
    CHECK_OK(bw_db_back_up(db, &options));
    bw_txn_abort(txn);
    bw_db_close(db);
    forget("a.bak");
}

static void running_out_of_memory_leaves_nothing(void)
{
    const struct backup_options options = backup_to("a.bak");
    const struct copy_options copy = {.disk = bw_disk_memory(), .directory = "copy"};
    for (int which = 0; which < 2; which++) {
        bw_err err = BW_ERR_NO_MEMORY;
        for (int64_t allowed = 0; err; allowed++) {
            struct db *db = sample_create("db", &note_model);
            CHECK_OK(bw_store_remove(bw_disk_memory(), "copy"));
            bw_memory_fail_after(allowed);
            err = which ? bw_db_copy(db, &copy) : bw_db_back_up(db, &options);
            bw_memory_fail_after(-1);
            CHECK(!err || err == BW_ERR_NO_MEMORY || err == BW_ERR_DB_FULL);
            bw_db_close(db);
            CHECK(allowed < 500);
        }
    }
    forget("a.bak");
}

RUN_TESTS(TEST(a_backup_holds_objects_ids_and_schema),
          TEST(a_database_without_a_commit_has_copies_too),
          TEST(a_first_write_that_is_under_way_is_not_waited_for),
          TEST(running_out_of_memory_leaves_nothing))
