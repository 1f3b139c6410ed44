/* SPDX-License-Identifier: Apache-2.0 */
/*
 * box - objects in, objects out: an open database of typed objects over one store.
 *
 * A struct db is a store with its schema and id sequences; a struct box is one entity of it. All
 * work happens in a transaction of the store that the caller began. What bytes come in are verified
 * against the entity once; what goes out is borrowed from the transaction (store.h).
 *
 * Ids: two numbers per entity, the highest stored id and the sequence (the last id handed out),
 * both saved with each commit. An id that is stored is never handed out.
 */
#pragma once

#include "flat/flat.h"
#include "model/model.h"
#include "store/store.h"

struct db;
struct box;

enum padding_mode { PADDING_AUTOMATIC = 1, PADDING_BY_BUFFER = 2, PADDING_BY_CALLER = 3 };

struct db_options {
    struct store_options store;
    struct schema *schema; /* declared; NULL: use the stored one. Held by the db while open. */
    uint64_t data_max; /* bytes of all objects, checked when a transaction commits; 0: no limit */
    enum padding_mode padding;
};

/*
 * Open the store, then its schema: equal to the declared one (nothing more is read), changed
 * (checked and, when allowed, committed at once), or new (kept for the first commit, or for close).
 * Errors of the store and of bw_schema_adopt; read-only with a schema that differs: ILLEGAL_STATE
 * "Can not update schema when opening in read-only mode".
 */
MUST_CHECK bw_err bw_db_open(const struct db_options *options, struct db **out_db);

/* Close; a schema that no commit has carried yet is committed first. All transactions have ended.
 * NULL is allowed. */
void bw_db_close(struct db *db);

struct store *bw_db_store(struct db *db);
/* Borrowed; it does not change while the db is open. */
const struct schema *bw_db_schema(struct db *db);

/* The box of an entity, the same each time, alive until the db closes. ILLEGAL_ARGUMENT
 * "Entity type ID not found in schema: N". */
MUST_CHECK bw_err bw_db_box(struct db *db, uint32_t entity_id, struct box **out_box);

/* ---- transactions: the store's, with what the schema and the data limit ask for at begin and
 * commit ---- */

MUST_CHECK bw_err bw_db_begin(struct db *db, enum txn_mode mode, int64_t wait_ms,
                              struct txn **out_txn);
/* Ends txn in every case. MAX_DATA_SIZE_EXCEEDED "Exceeded user-set maximum by [bytes]: N" stores
 * nothing. */
MUST_CHECK bw_err bw_db_commit(struct db *db, struct txn *txn);
/* Sum of the stored object bytes as of the last commit, and by how much this transaction changes
 * it. */
MUST_CHECK bw_err bw_db_data_size(struct db *db, struct txn *txn, uint64_t *out_committed,
                                  int64_t *out_change);

/*
 * bw_store_check, and every object against its entity. Problems are reported; an object's text
 * names entity and id. progress counts pages and objects; it may be NULL.
 */
MUST_CHECK bw_err bw_db_check(struct db *db, struct txn *txn, const struct progress *progress,
                              struct check_report *out_report);

/* bw_store_salvage of a database. tell is called for each entity at the end; its entity is NULL
 * when the schema is lost. A new database without a schema has to be opened with a model. */
struct db_salvage_options {
    struct disk *disk; /* borrowed, as all here */
    const char *from_directory, *to_directory;
    unsigned file_mode;
    enum durability durability;
    const struct progress *progress; /* may be NULL */
    void (*tell)(void *user, uint32_t entity_id, const struct entity *entity,
                 const struct salvage_count *count); /* may be NULL */
    void *user;
};
MUST_CHECK bw_err bw_db_salvage(const struct db_salvage_options *options,
                                struct salvage_report *out_report);

/*
 * ---- copies: bw_store_backup and bw_store_copy of the last commit ----
 *
 * A schema that no commit has carried yet is committed first, so that also an empty database has
 * copies; ILLEGAL_STATE when somebody writes just then. Otherwise nobody waits for anybody.
 */
MUST_CHECK bw_err bw_db_back_up(struct db *db, const struct backup_options *options);
MUST_CHECK bw_err bw_db_copy(struct db *db, const struct copy_options *options);

/* ---- one entity ---- */

struct db *bw_box_db(const struct box *box);
const struct entity *bw_box_entity(const struct box *box);

enum put_mode { PUT_ANY = 1, PUT_INSERT = 2, PUT_UPDATE = 3, PUT_NEW = 4 };

/*
 * Reserve the next id (candidate 0) or check a given one: it must have been handed out or be
 * stored, unless ids are self-assignable; then the sequence goes on behind it. txn: the caller's if
 * it has one open on this db, else NULL.
 */
MUST_CHECK bw_err bw_box_id_for_put(struct box *box, struct txn *txn, uint64_t candidate,
                                    uint64_t *out_id);
/* Reserve `count` (1 to 10,000) consecutive ids; 0: show the next one. */
MUST_CHECK bw_err bw_box_ids_for_put(struct box *box, struct txn *txn, uint64_t count,
                                     uint64_t *out_first);

/* Put under an explicit id; the stored copy carries that id. The transaction stays usable after a
 * refusal. */
MUST_CHECK bw_err bw_box_put(struct box *box, struct txn *txn, uint64_t id, struct bytes object,
                             enum put_mode mode);

/* Put with the id in the object: 0 or all ones is new, and the final id is written into `object`.
 * INSERT of an existing id: *out_id 0 and BW_OK. */
MUST_CHECK bw_err bw_box_put_object(struct box *box, struct txn *txn, uint8_t *object, size_t size,
                                    enum put_mode mode, uint64_t *out_id);

/*
 * All or nothing, checked before the first write. keep_going: id failures skip their object and the
 * first one's code is returned at the end, the rest stored. ID_ALREADY_EXISTS and ID_NOT_FOUND come
 * without a reason here.
 */
MUST_CHECK bw_err bw_box_put_many(struct box *box, struct txn *txn, const struct bytes *objects,
                                  const uint64_t *ids, size_t count, enum put_mode mode,
                                  bool keep_going);

/*
 * Objects packed into one buffer. Object i ends at ends[i] and begins at ends[i - 1] rounded up to
 * 8; the bytes between are ignored. ids: 0 or all ones in is new; out all ids, on success only. The
 * id inside the bytes is ignored. Checked as a whole before the first write: what fails there
 * leaves txn usable and names its index in bw_reason_place(). *out_began says whether writing had
 * begun.
 *
 * PACKED_SKIP_FAILED: objects refused for their ids are left out, their ids become 0, and
 * NO_SUCCESS is returned; the thread's reason is that of the first of them.
 */
struct packed {
    const uint8_t *data; /* borrowed; aligned to 8 */
    size_t size;
    const uint32_t *ends; /* borrowed */
    size_t count;
};
enum { PACKED_PUT = 0, PACKED_INSERT = 1, PACKED_UPDATE = 2, PACKED_SKIP_FAILED = 4 };
MUST_CHECK bw_err bw_box_put_packed(struct box *box, struct txn *txn, const struct packed *objects,
                                    uint64_t *ids, uint32_t flags, bool *out_began);

MUST_CHECK bw_err bw_box_get(struct box *box, struct txn *txn, uint64_t id,
                             struct bytes *out_object, bool *out_found);
/* Many, in any order; {NULL, 0}: there is no such object. */
MUST_CHECK bw_err bw_box_get_many(struct box *box, struct txn *txn, const uint64_t *ids,
                                  size_t count, struct bytes *out_objects);
MUST_CHECK bw_err bw_box_contains(struct box *box, struct txn *txn, uint64_t id, bool *out_found);
MUST_CHECK bw_err bw_box_remove(struct box *box, struct txn *txn, uint64_t id, bool *out_removed);
MUST_CHECK bw_err bw_box_remove_many(struct box *box, struct txn *txn, const uint64_t *ids,
                                     size_t count, uint64_t *out_removed);
MUST_CHECK bw_err bw_box_remove_all(struct box *box, struct txn *txn, uint64_t *out_removed);
/* limit 0: no limit. */
MUST_CHECK bw_err bw_box_count(struct box *box, struct txn *txn, uint64_t limit,
                               uint64_t *out_count);
/* All objects by ascending id, with a store cursor. */
void bw_box_cursor(struct box *box, struct txn *txn, struct cursor *out_cursor);
