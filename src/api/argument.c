/* SPDX-License-Identifier: Apache-2.0 */
#include "api/argument.h"

#include "api/thread_txn.h"

void bw_argument_note_null(const char *name, int line)
{
    bw_err err =
        bw_fail(BW_ERR_ILLEGAL_ARGUMENT, "Argument \"%s\" must not be null (L%d)", name, line);
    (void)err; // the caller returns it
}

void bw_argument_note_condition(const char *condition, int line)
{
    bw_err err = bw_fail(BW_ERR_ILLEGAL_ARGUMENT, "Argument condition \"%s\" not met (L%d)",
                         condition, line);
    (void)err; // the caller returns it
}

bw_err bw_argument_dead_store(void)
{
    return bw_fail(BW_ERR_SHUTTING_DOWN, "Illegal Store instance detected! This is a severe usage "
                                         "error that must be fixed. State: dead");
}

static bw_err refuse_closed(const void *slot, enum slot_kind kind, const char *name, int line)
{
    switch (kind) {
    case SLOT_STORE:
    case SLOT_BOX:
        return bw_argument_dead_store();
    case SLOT_TXN:
        return bw_thread_txn_refuse(slot);
    default:
        return bw_fail(BW_ERR_ILLEGAL_ARGUMENT, "Argument \"%s\" was closed before (L%d)", name,
                       line);
    }
}

bw_err bw_argument_note_handle(const void *pointer, enum slot_kind kind, const char *name, int line)
{
    if (!pointer) return bw_argument_null(name, line);
    if (bw_pool_owns(bw_pool_of(kind), pointer)) {
        const uint32_t tag = bw_slot_tag(pointer);
        if (bw_tag_kind(tag) == kind) {
            if (bw_tag_state(tag) == SLOT_CLOSED) return refuse_closed(pointer, kind, name, line);
            return bw_fail(BW_ERR_ILLEGAL_STATE,
                           "Argument \"%s\" is being used by another call (L%d)", name, line);
        }
    }
    return bw_fail(BW_ERR_ILLEGAL_ARGUMENT, "Argument \"%s\" is not a handle of its type (L%d)",
                   name, line);
}
