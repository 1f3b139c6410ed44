/* SPDX-License-Identifier: Apache-2.0 */
/* The structs of the layer, and what its files ask of each other. Private to the layer. */
#pragma once

#include <stdatomic.h>

#include "box/box.h"

#define BOX_ID_NEW UINT64_MAX       /* the placeholder of a new object, as 0 is */
#define BOX_ID_MAX (UINT64_MAX - 1) /* the highest id there is */
#define BOX_OBJECT_MAX 0x7ffffffcu  /* bytes of an object */

struct db {
    struct store *store;   /* owned */
    struct schema *schema; /* owned */
    uint64_t data_max;     /* 0: no limit */
    enum padding_mode padding;
    bool is_read_only;

    struct mutex mutex;
    struct box **boxes; /* owned, and what they point to; by ascending entity id; mutex */
    uint32_t box_count, box_room;

    /* Of the write transaction that is open. An aborted one is forgotten when the next begins. */
    uint64_t write_no;   /* from 1 */
    struct box *touched; /* borrowed; boxes that were or may be changed */
};

struct box {
    struct db *db;               /* borrowed */
    const struct entity *entity; /* borrowed from the schema */
    struct flat_fields fields;
    uint32_t tree_id;
    bool is_self_assignable;
    const struct property *unique; /* borrowed; a property that must be, or NULL */
    bool has_gaps; /* slots that no property names lie between those that one does */

    /* Ids: I1-I3 in box_ids.c. */
    _Atomic uint64_t last_id;
    _Atomic uint64_t high_id;
    _Atomic bool is_loaded;

    /* Of the write transaction with the number touched_no. */
    uint64_t touched_no;
    uint64_t marked_no;       /* the transaction in which the schema was told of strangers */
    uint64_t bytes_before;    /* of all objects, before the transaction */
    struct box *next_touched; /* borrowed */
    bool is_changed;
};

// ---- db_schema.c ----

/* Compare the declared schema, if any, with the stored one; take over or refuse. Sets schema. */
MUST_CHECK bw_err bw_db_adopt_schema(struct db *db, struct schema *declared);

/* If no commit has carried a schema yet, this transaction will. */
MUST_CHECK bw_err bw_db_carry_schema(struct db *db, struct txn *txn);

/* Note in the stored schema that the entity has objects with fields of no property. */
MUST_CHECK bw_err bw_box_note_strangers(struct box *box, struct txn *txn);

// ---- db.c ----

/* Commit the schema alone if no commit has carried one yet. TIMEOUT while somebody else writes. */
MUST_CHECK bw_err bw_db_keep_schema(struct db *db);

/* Before the first change in a transaction: what must be known of the state before it. */
MUST_CHECK bw_err bw_box_touch(struct box *box, struct txn *txn);

// ---- box_ids.c ----

/* Learn the sequence from the store, once. txn NULL: a read transaction of its own. */
MUST_CHECK bw_err bw_box_load_ids(struct box *box, struct txn *txn);

/* An object with this id is about to be stored. */
void bw_box_note_id(struct box *box, uint64_t id);

/* The sequence continues behind this id at the earliest. */
void bw_box_raise_sequence(struct box *box, uint64_t id);

/* `count` consecutive ids that no stored object has. */
MUST_CHECK bw_err bw_box_reserve(struct box *box, struct txn *txn, uint64_t count,
                                 uint64_t *out_first);

/*
 * May an object be put under this id, which is not 0? A self-assignable one may be any, unless the
 * object must exist; otherwise it must have been handed out or be stored. if_unknown: the code when
 * it may not; ID_NOT_FOUND says that the object must exist.
 */
MUST_CHECK bw_err bw_box_check_given_id(struct box *box, struct txn *txn, uint64_t id,
                                        bw_err if_unknown);

/* "Illegal ID value" for 0 and all ones. */
MUST_CHECK bw_err bw_box_check_explicit_id(const struct box *box, uint64_t id);

/* 10210 and 10211 with their texts. */
MUST_CHECK bw_err bw_box_id_exists(const struct box *box, uint64_t id);
MUST_CHECK bw_err bw_box_id_missing(const struct box *box, uint64_t id);
