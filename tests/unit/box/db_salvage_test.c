/* SPDX-License-Identifier: Apache-2.0 */
/* Salvage of databases, and what becomes of one that has lost its schema. */
#include "harness/check.h"
#include "unit/box/sample_db.h"

enum { NOTES = 300, PAGE_BYTES = 4096 };

static const char from[] = "broken", to[] = "salvaged";
static struct db *db;

static struct {
    uint32_t calls, entity_id;
    bool has_entity;
    struct salvage_count count;
} told;

static void begin(void)
{
    db = sample_create(from, &note_model);
    for (uint64_t id = 1; id <= NOTES; id++) {
        struct box *box = sample_box(db, 1);
        struct txn *txn = sample_begin(db, TXN_WRITE);
        uint64_t got = 0;
        struct bytes note = sample_note(0, "text", id);
        CHECK_OK(
            bw_box_put_object(box, txn, (uint8_t *)(uintptr_t)note.data, note.size, PUT_NEW, &got));
        CHECK_OK(bw_db_commit(db, txn));
    }
}

static void close_it(void)
{
    bw_db_close(db);
    db = NULL;
}

static void end(void)
{
    close_it();
    CHECK_OK(bw_store_remove(bw_disk_memory(), from));
    CHECK_OK(bw_store_remove(bw_disk_memory(), to));
}

static void tell(void *user, uint32_t entity_id, const struct entity *entity,
                 const struct salvage_count *count)
{
    (void)user;
    told.calls++;
    told.entity_id = entity_id;
    told.has_entity = entity != NULL;
    told.count = *count;
}

static struct salvage_report salvage(void)
{
    const struct db_salvage_options options = {.disk = bw_disk_memory(),
                                               .from_directory = from,
                                               .to_directory = to,
                                               .file_mode = 0644,
                                               .durability = DURABLE_NONE,
                                               .tell = tell};
    struct salvage_report report;
    memset(&told, 0, sizeof(told));
    CHECK_OK(bw_db_salvage(&options, &report));
    return report;
}

static void zero_slots(void)
{
    static const uint8_t zeros[2 * PAGE_BYTES];
    struct disk *disk = bw_disk_memory();
    const struct span span = {zeros, sizeof(zeros)};
    struct file file;
    bool found = false;
    CHECK_OK(disk->open(disk, "broken/data.mdb", OPEN_WRITE, 0, &file, &found));
    CHECK(found);
    CHECK_OK(disk->write(file, 0, &span, 1));
    disk->close(file);
}

static void store_bytes(uint32_t tree_id, uint64_t id, struct bytes bytes)
{
    struct txn *txn = sample_begin(db, TXN_WRITE);
    CHECK_OK(bw_tree_put(txn, tree_id, id, bytes, NULL));
    CHECK_OK(bw_db_commit(db, txn));
}

static void objects_come_back_and_others_are_refused(void)
{
    static const uint8_t rubbish[16] = {0xff, 0xff, 0xff, 0xff};
    begin();
    store_bytes(1, NOTES + 1, (struct bytes){rubbish, sizeof(rubbish)});
    store_bytes(1, NOTES + 2, sample_note(5, "another's id", 1));
    store_bytes(77, 1, sample_note(1, "of no entity", 1));
    store_bytes(0x1000001, 1, (struct bytes){rubbish, sizeof(rubbish)}); // as an index may lie
    close_it();
    const struct salvage_report report = salvage();
    CHECK(report.has_schema);
    CHECK_EQ(report.certain, NOTES);
    CHECK_EQ(report.refused, 2);
    CHECK(told.calls == 1 && told.entity_id == 1 && told.has_entity);
    CHECK_EQ(told.count.certain, NOTES);
    CHECK_EQ(told.count.refused, 2);
    db = sample_open(to, NULL); // with the schema that was salvaged
    CHECK_EQ(sample_count(sample_box(db, 1)), NOTES);
    CHECK_EQ(sample_next_id(sample_box(db, 1)), NOTES + 3);
    struct txn *txn = sample_begin(db, TXN_READ);
    struct check_report check;
    CHECK_OK(bw_db_check(db, txn, NULL, &check));
    CHECK_TEXT(check.first_problem, "");
    bw_txn_abort(txn);
    end();
}

#define OTHER_NOTE                                                                             \
    {                                                                                          \
        .name = "Note", .id = 1, .properties = {SAMPLE_ID, {"text", LONG_VECTOR, 2}, SAMPLE_N} \
    }
#define SHORT_NOTE                                                   \
    {                                                                \
        .name = "Note", .id = 1, .properties = {SAMPLE_ID, SAMPLE_N} \
    }
static const struct sample_model other_model = {.entities = {OTHER_NOTE}};
static const struct sample_model short_model = {.entities = {SHORT_NOTE}};

static void lose_the_schema(void)
{
    begin();
    close_it();
    zero_slots();
    const struct salvage_report report = salvage();
    CHECK(!report.has_schema && !report.has_checksums);
    CHECK(report.guessed >= NOTES && told.calls == 1 && !told.has_entity);
}

static void a_lost_schema_is_replaced_by_a_model_that_fits(void)
{
    lose_the_schema();
    struct db_options options = sample_options(to);
    CHECK_ERR(sample_try_open(&options, NULL, &db), BW_ERR_ILLEGAL_STATE);
    CHECK_ERR(sample_try_open(&options, &other_model, &db), BW_ERR_SCHEMA);
    CHECK(strstr(bw_reason_text(), "does not fit its objects: entity Note, object 1: ") != NULL);
    options.store.read_only = true;
    CHECK_ERR(sample_try_open(&options, &note_model, &db), BW_ERR_ILLEGAL_STATE);
    db = sample_open(to, &note_model);
    CHECK_EQ(sample_count(sample_box(db, 1)), NOTES);
    CHECK_EQ(sample_next_id(sample_box(db, 1)), NOTES + 1);
    close_it();
    db = sample_open(to, NULL); // it is stored
    CHECK_EQ(sample_count(sample_box(db, 1)), NOTES);
    end();
}

/* Fields that the model does not name are noted, so that a property added later is verified. */
static void strangers_are_noted_with_the_model(void) // Y3
{
    lose_the_schema();
    db = sample_open(to, &short_model);
    close_it();
    db = sample_open(to, &other_model); // its type of the second property is wrong
    struct txn *txn = sample_begin(db, TXN_READ);
    struct bytes object;
    bool found = false;
    CHECK_OK(bw_box_get(sample_box(db, 1), txn, 1, &object, &found));
    CHECK(found);
    CHECK_EQ(sample_field(object, 1), UINT64_MAX); // taken out
    CHECK_EQ(sample_field(object, 2), 1);
    bw_txn_abort(txn);
    end();
}

RUN_TESTS(TEST(objects_come_back_and_others_are_refused),
          TEST(a_lost_schema_is_replaced_by_a_model_that_fits),
          TEST(strangers_are_noted_with_the_model))
