/* SPDX-License-Identifier: Apache-2.0 */
/* A database in memory with one entity, Note {id Long 1, text String 2, n Long 3}, and objects for
 * it. */
#pragma once

#include "box/box.h"
#include "unit/model/sample_model.h"

#include <stdio.h>
#include <string.h>

#define NOTE                                                                              \
    {                                                                                     \
        .name = "Note", .id = 1, .properties = {SAMPLE_ID, {"text", STRING, 2}, SAMPLE_N} \
    }

static const struct sample_model note_model = {.entities = {NOTE}};

static inline struct db_options sample_options(const char *name)
{
    return (struct db_options){.store = {.disk = bw_disk_memory(),
                                         .directory = name,
                                         .file_mode = 0644,
                                         .durability = DURABLE_NONE},
                               .padding = PADDING_AUTOMATIC};
}

/* model NULL: the stored one. */
static inline bw_err sample_try_open(const struct db_options *options,
                                     const struct sample_model *model, struct db **out_db)
{
    struct db_options complete = *options;
    complete.schema = model ? sample_schema(model) : NULL;
    bw_err err = bw_db_open(&complete, out_db);
    bw_schema_release(complete.schema);
    return err;
}

static inline struct db *sample_open(const char *name, const struct sample_model *model)
{
    struct db_options options = sample_options(name);
    struct db *db = NULL;
    CHECK_OK(sample_try_open(&options, model, &db));
    return db;
}

/* A new database. */
static inline struct db *sample_create(const char *name, const struct sample_model *model)
{
    CHECK_OK(bw_store_remove(bw_disk_memory(), name));
    return sample_open(name, model);
}

static inline struct box *sample_box(struct db *db, uint32_t entity_id)
{
    struct box *box = NULL;
    CHECK_OK(bw_db_box(db, entity_id, &box));
    return box;
}

static inline struct txn *sample_begin(struct db *db, enum txn_mode mode)
{
    struct txn *txn = NULL;
    CHECK_OK(bw_db_begin(db, mode, 0, &txn));
    return txn;
}

/* A note in static memory, good until the next call. text NULL: absent. */
static inline struct bytes sample_note(uint64_t id, const char *text, uint64_t n)
{
    static struct flat_builder builder;
    bw_flat_begin(&builder, 3);
    bw_flat_add_scalar(&builder, 0, id, 8);
    if (text)
        bw_flat_add_bytes(&builder, 1, (struct bytes){(const uint8_t *)text, strlen(text)},
                          FLAT_STRING);
    bw_flat_add_scalar(&builder, 2, n, 8);
    struct bytes made = {0};
    CHECK_OK(bw_flat_finish(&builder, &made));
    static uint8_t copy[8192];
    CHECK(made.size <= sizeof(copy));
    memcpy(copy, made.data, made.size);
    made.data = copy;
    bw_flat_deinit(&builder);
    return made;
}

/* The id and n of a stored object. */
static inline uint64_t sample_field(struct bytes object, uint16_t slot)
{
    struct flat_table table = bw_flat_open(object.data);
    const uint8_t *field = bw_flat_field(&table, slot);
    return field ? bw_get_u64(field) : UINT64_MAX;
}

/* Put in a transaction of its own. */
static inline bw_err sample_put(struct box *box, uint64_t id, uint64_t n, enum put_mode mode)
{
    struct txn *txn = sample_begin(bw_box_db(box), TXN_WRITE);
    bw_err err = bw_box_put(box, txn, id, sample_note(id, "text", n), mode);
    if (!err) return bw_db_commit(bw_box_db(box), txn);
    bw_txn_abort(txn);
    return err;
}

static inline uint64_t sample_next_id(struct box *box)
{
    uint64_t id = 0;
    CHECK_OK(bw_box_id_for_put(box, NULL, 0, &id));
    return id;
}

static inline uint64_t sample_count(struct box *box)
{
    struct txn *txn = sample_begin(bw_box_db(box), TXN_READ);
    uint64_t count = 0;
    CHECK_OK(bw_box_count(box, txn, 0, &count));
    bw_txn_abort(txn);
    return count;
}
