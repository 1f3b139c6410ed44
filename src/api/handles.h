/* SPDX-License-Identifier: Apache-2.0 */
/* The handles that several files of this layer look into: stores, boxes, cursors, queries. */
#pragma once

#include "api/argument.h"
#include "api/core.h"

/* One entity of an open store, as a handle names it: a core, an id that says whether it is still
 * the same, and the box, valid while the core is held. */
struct place {
    struct core *core; /* borrowed */
    uint64_t core_id;
    struct box *box; /* borrowed */
};

/* Boxes by their entity's place in the schema. Its memory is the core's, so that a call that holds
 * the core may read it while another closes the handle. */
struct box_table {
    struct box_table *next; /* of those that no handle uses */
    uint32_t count;
    OBX_box *_Atomic boxes[];
};

struct OBX_store {
    struct slot slot;
    struct core *_Atomic core; /* shared; one of its handles */
    _Atomic uint64_t core_id;
    OBX_box *_Atomic first_box;       /* owned: the one box that most programs use */
    struct box_table *_Atomic others; /* the core's; NULL: there are none */
};
_Static_assert(sizeof(struct OBX_store) <= 64, "a store has to fit its slot");

struct OBX_box {
    struct slot slot;
    struct core *_Atomic core; /* borrowed from the store handle */
    _Atomic uint64_t core_id;
    struct box *_Atomic box;  /* borrowed from the core */
    OBX_store *_Atomic store; /* borrowed */
    _Atomic uint32_t entity_id;
};
_Static_assert(sizeof(struct OBX_box) <= 64, "a box has to fit its slot");

struct OBX_query_builder {
    struct slot slot;
    struct place place;
    bw_err err;       /* the first one */
    char *error_text; /* owned; NULL: none */
};
_Static_assert(sizeof(struct OBX_query_builder) <= 64, "a builder has to fit its slot");

struct OBX_query {
    struct slot slot;
    struct place place;
    size_t offset, limit; /* 0: none */
    char *description;    /* owned; NULL: not asked for yet */
};
_Static_assert(sizeof(struct OBX_query) <= 64, "a query has to fit its slot");

/*
 * Where a box handle leads, read without a lock: a handle that is closed meanwhile gives an error
 * or a place that cannot be entered. The tag is read before and after the rest, which is acquired
 * and so stays between. The macro's argument names the handle in texts.
 */
#define PLACE_OF_BOX(argument, out_place) bw_place_of_box(argument, #argument, __LINE__, out_place)

static inline bw_err bw_place_of_box(const OBX_box *box, const char *name, int line,
                                     struct place *out_place)
{
    if (LIKELY(bw_pool_owns(&bw_pool_shared, box))) {
        const uint32_t tag = bw_slot_tag(box);
        out_place->core = atomic_load_explicit(&box->core, memory_order_acquire);
        out_place->core_id = atomic_load_explicit(&box->core_id, memory_order_acquire);
        out_place->box = atomic_load_explicit(&box->box, memory_order_acquire);
        if (LIKELY(bw_tag_is_open(tag, SLOT_BOX) && bw_slot_tag(box) == tag)) return BW_OK; // P3
    }
    return bw_argument_refuse(box, SLOT_BOX, name, line);
}

/* The core of a store handle, to be entered. */
#define CORE_OF_STORE(argument, out_core, out_id) \
    bw_core_of_store(argument, #argument, __LINE__, out_core, out_id)

static inline bw_err bw_core_of_store(const OBX_store *store, const char *name, int line,
                                      struct core **out_core, uint64_t *out_id)
{
    if (LIKELY(bw_pool_owns(&bw_pool_shared, store))) {
        const uint32_t tag = bw_slot_tag(store);
        *out_core = atomic_load_explicit(&store->core, memory_order_acquire);
        *out_id = atomic_load_explicit(&store->core_id, memory_order_acquire);
        if (LIKELY(bw_tag_is_open(tag, SLOT_STORE) && bw_slot_tag(store) == tag)) return BW_OK;
    }
    return bw_argument_refuse(store, SLOT_STORE, name, line);
}
