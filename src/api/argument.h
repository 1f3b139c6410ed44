/* SPDX-License-Identifier: Apache-2.0 */
/*
 * argument - refusing what callers hand in, with texts that name the argument.
 *
 * The number behind a text is a line of our source; nobody may rely on it.
 */
#pragma once

#include "api/pool.h"

#define ARGUMENT_NULL(argument) bw_argument_null(#argument, __LINE__)
#define ARGUMENT_CONDITION(condition) bw_argument_condition(#condition, __LINE__)

/* An open handle of that kind? Handles that only one thread uses at a time are entered instead. */
#define CHECK_HANDLE(argument, kind)       \
    (LIKELY(bw_pool_holds(argument, kind)) \
         ? BW_OK                           \
         : bw_argument_refuse(argument, kind, #argument, __LINE__))

/* The same, and until LEAVE every other call that enters it is refused with ILLEGAL_STATE. */
#define ENTER(argument, kind)                                     \
    (LIKELY(bw_pool_owns(bw_pool_of(kind), argument) &&           \
            bw_slot_change(argument, kind, SLOT_OPEN, SLOT_BUSY)) \
         ? BW_OK                                                  \
         : bw_argument_refuse(argument, kind, #argument, __LINE__))
#define LEAVE(argument) bw_slot_open(argument)

/* The texts of the refusals below, which return codes that compilers can see. */
void bw_argument_note_null(const char *name, int line);
void bw_argument_note_condition(const char *condition, int line);
bw_err bw_argument_note_handle(const void *pointer, enum slot_kind kind, const char *name,
                               int line);

/* ILLEGAL_ARGUMENT 'Argument "box" must not be null (L12)' */
static inline MUST_CHECK bw_err bw_argument_null(const char *name, int line)
{
    bw_argument_note_null(name, line);
    return BW_ERR_ILLEGAL_ARGUMENT;
}

/* ILLEGAL_ARGUMENT 'Argument condition "size > 0" not met (L12)' */
static inline MUST_CHECK bw_err bw_argument_condition(const char *condition, int line)
{
    bw_argument_note_condition(condition, line);
    return BW_ERR_ILLEGAL_ARGUMENT;
}

/* Say why a pointer is not an open handle of that kind: NULL, closed, in use, something else. */
static inline MUST_CHECK bw_err bw_argument_refuse(const void *pointer, enum slot_kind kind,
                                                   const char *name, int line)
{
    const bw_err err = bw_argument_note_handle(pointer, kind, name, line);
    return err ? err : BW_ERR_ILLEGAL_ARGUMENT;
}

/* SHUTTING_DOWN, of a handle whose store is closed. */
MUST_CHECK bw_err bw_argument_dead_store(void);

/* For functions that return a pointer or an id: the failure is noted already. */
static inline void *bw_argument_no_pointer(bw_err err)
{
    (void)err;
    return NULL;
}
static inline uint64_t bw_argument_no_id(bw_err err)
{
    (void)err;
    return 0;
}
