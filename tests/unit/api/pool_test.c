/* SPDX-License-Identifier: Apache-2.0 */
#include "api/pool.h"

#include "harness/check.h"

enum { MANY = 1000 };

static void *open_slot(enum slot_kind kind)
{
    void *slot = bw_pool_take(kind);
    CHECK(slot != NULL);
    bw_slot_open(slot);
    return slot;
}

static void a_slot_is_held_only_while_it_is_open_and_by_its_kind(void)
{
    void *slot = bw_pool_take(SLOT_MODEL);
    CHECK(!bw_pool_holds(slot, SLOT_MODEL));
    bw_slot_open(slot);
    CHECK(bw_pool_holds(slot, SLOT_MODEL));
    CHECK(!bw_pool_holds(slot, SLOT_QUERY));
    CHECK(!bw_pool_holds(slot, SLOT_TXN));
    bw_pool_give(slot);
    CHECK(!bw_pool_holds(slot, SLOT_MODEL));
}

static void foreign_pointers_are_told_without_touching_them(void)
{
    uint8_t *slot = open_slot(SLOT_MODEL);
    int local = 0;
    CHECK(!bw_pool_holds(NULL, SLOT_MODEL));
    CHECK(!bw_pool_holds(&local, SLOT_MODEL));
    volatile uintptr_t address = 8; // or the compiler would warn
    CHECK(!bw_pool_holds((const void *)address, SLOT_MODEL));
    address = UINTPTR_MAX;
    CHECK(!bw_pool_holds((const void *)address, SLOT_MODEL));
    CHECK(!bw_pool_holds(slot + 8, SLOT_MODEL));
    bw_pool_give(slot);
}

static void a_slot_comes_back_only_after_others(void) // P2
{
    void *first = open_slot(SLOT_QUERY);
    bw_pool_give(first);
    for (int i = 0; i < 16; i++) {
        void *slot = open_slot(SLOT_QUERY);
        CHECK(slot != first);
        bw_pool_give(slot);
    }
}

static void slots_are_distinct_and_zeroed_and_come_back_in_order(void)
{
    static uint64_t *slots[MANY];
    for (int i = 0; i < MANY; i++) {
        slots[i] = open_slot(SLOT_OPTIONS);
        for (int word = 1; word < 8; word++) {
            CHECK_EQ(slots[i][word], 0u);
            slots[i][word] = UINT64_MAX;
        }
        for (int j = 0; j < i; j += 97) CHECK(slots[i] != slots[j]);
    }
    for (int i = 0; i < MANY; i++) bw_pool_give(slots[i]);
    // All that were given back are taken again, first in first out, before the pool grows.
    const uint32_t room = bw_pool_handles.room;
    void *before = NULL;
    for (int i = 0; i < MANY; i++) {
        void *slot = open_slot(SLOT_MODEL);
        CHECK(slot != before);
        before = slot;
        bw_pool_give(slot);
    }
    CHECK_EQ(bw_pool_handles.room, room);
}

static void the_generation_tells_one_taking_from_the_next(void) // P3
{
    void *slot = open_slot(SLOT_CURSOR);
    const uint32_t tag = bw_slot_tag(slot);
    bw_pool_give(slot);
    void *again = NULL;
    do {
        if (again) bw_pool_give(again);
        again = open_slot(SLOT_CURSOR);
    } while (again != slot);
    CHECK(bw_slot_tag(again) != tag);
    CHECK_EQ(bw_tag_kind(bw_slot_tag(again)), SLOT_CURSOR);
    bw_pool_give(again);
}

static void a_slot_changes_state_only_from_the_one_expected(void)
{
    void *slot = open_slot(SLOT_QUERY);
    CHECK(bw_slot_change(slot, SLOT_QUERY, SLOT_OPEN, SLOT_BUSY));
    CHECK(!bw_slot_change(slot, SLOT_QUERY, SLOT_OPEN, SLOT_BUSY));
    CHECK(!bw_slot_change(slot, SLOT_MODEL, SLOT_BUSY, SLOT_OPEN));
    CHECK(!bw_pool_holds(slot, SLOT_QUERY));
    bw_slot_open(slot);
    CHECK(bw_slot_change(slot, SLOT_QUERY, SLOT_OPEN, SLOT_CLOSED));
    bw_pool_give(slot);
}

static void running_out_of_memory_is_said_and_harms_nothing(void)
{
    // Fill what there is, so that the next taking has to grow the pool.
    static void *slots[1 << 16];
    size_t count = 0;
    while (bw_pool_txns.used < bw_pool_txns.room || bw_pool_txns.free_count > 0 ||
           bw_pool_txns.room == 0) {
        slots[count++] = open_slot(SLOT_TXN);
    }
    bw_memory_fail_after(0);
    CHECK(bw_pool_take(SLOT_TXN) == NULL);
    CHECK_EQ(bw_reason_code(), BW_ERR_NO_MEMORY);
    bw_memory_fail_after(-1);
    void *slot = open_slot(SLOT_TXN);
    bw_pool_give(slot);
    while (count > 0) bw_pool_give(slots[--count]);
}

static void memory_of_slots_stays(void) // P1
{
    void *slot = open_slot(SLOT_CORE);
    bw_pool_give(slot);
    CHECK(bw_pool_owns(&bw_pool_cores, slot));
    CHECK_EQ(bw_tag_state(bw_slot_tag(slot)), SLOT_CLOSED);
    bw_pool_after_fork();
    CHECK(bw_pool_owns(&bw_pool_cores, slot));
}

RUN_TESTS(TEST(a_slot_is_held_only_while_it_is_open_and_by_its_kind),
          TEST(foreign_pointers_are_told_without_touching_them),
          TEST(a_slot_comes_back_only_after_others),
          TEST(slots_are_distinct_and_zeroed_and_come_back_in_order),
          TEST(the_generation_tells_one_taking_from_the_next),
          TEST(a_slot_changes_state_only_from_the_one_expected),
          TEST(running_out_of_memory_is_said_and_harms_nothing), TEST(memory_of_slots_stays))
