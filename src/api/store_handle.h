/* SPDX-License-Identifier: Apache-2.0 */
/* Store handles and the boxes that belong to them. */
#pragma once

#include "api/handles.h"

/* A handle for a core, whose one more handle it becomes; NULL core: NULL. NULL: no memory. */
OBX_store *bw_store_handle_new(struct core *core);

/* Open a store as obx_store_open() does; options stay the caller's. */
MUST_CHECK bw_err bw_store_handle_open(const struct options *options, OBX_store **out_store);

/* Close the handle and its boxes; the last one closes the store. name and line: as in texts. */
MUST_CHECK bw_err bw_store_handle_close(OBX_store *store, const char *name, int line);

/* The handle's box of an entity, the same each time. */
MUST_CHECK bw_err bw_store_handle_box(OBX_store *store, uint32_t entity_id, OBX_box **out_box);

/* Free what boxes of closed handles left behind. */
void bw_store_handle_free_tables(struct core *core);

/* In the child of a fork no other thread is left that could hold a lock. */
void bw_store_handle_after_fork(void);
