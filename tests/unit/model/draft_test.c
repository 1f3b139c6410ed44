/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/check.h"
#include "model/draft.h"

enum { DRAFTS = 100 };

static void lists_are_sorted_by_id_and_equal_ids_stay_in_order(void)
{
    struct random random;
    bw_random_seed(&random, bw_test_seed());
    for (uint32_t count = 0; count <= DRAFTS; count += count < 5 ? 1 : 19) {
        static struct draft drafts[DRAFTS];
        struct draft_list list = {.count = count, .is_unsorted = true};
        struct draft **end = &list.first;
        for (uint32_t i = 0; i < count; i++) {
            drafts[i] = (struct draft){.id = (uint32_t)bw_random_below(&random, 30)};
            *end = &drafts[i];
            end = &drafts[i].next;
        }
        if (!count) list.is_unsorted = false; // an empty list has nothing to sort
        bw_draft_sort(&list);
        uint32_t seen = 0;
        const struct draft *before = NULL;
        for (const struct draft *draft = list.first; draft; draft = draft->next) {
            if (before) CHECK(before->id <= draft->id);
            if (before && before->id == draft->id) CHECK(before < draft);
            before = draft;
            seen++;
        }
        CHECK_EQ(seen, count);
        CHECK_EQ(list.last, before);
    }
}

static void what_was_declared_is_written_byte_by_byte(void)
{
    struct model *model = NULL;
    CHECK_OK(bw_model_new(&model));
    CHECK_OK(bw_model_entity(model, "A", 1, 0x101));
    CHECK_OK(bw_model_property(model, "id", 6, 1, 0x102));
    CHECK_OK(bw_model_property_flags(model, 129));
    CHECK_OK(bw_model_entity_last_property(model, 1, 0x102));
    bw_model_last_entity(model, 300, 0x103);
    uint8_t room[512];
    size_t size = 0;
    CHECK(model->blob_max <= sizeof(room));
    CHECK_OK(bw_draft_encode(model, room, &size));
    static const uint8_t expected[] = {
        1,                                    // version
        0xac, 2,    3,   1, 0, 0, 0, 0, 0, 0, // last entity 300
        0,    0,                              // no last index or relation
        1,                                    // one entity
        1,    1,    1,   0, 0, 0, 0, 0, 0,    // 1:0x101
        1,    'A',  0,                        // its name
        0,                                    // flags
        1,    2,    1,   0, 0, 0, 0, 0, 0,    // last property 1:0x102
        0,                                    // no external name
        1,    0,                              // one property, no relation
        1,    2,    1,   0, 0, 0, 0, 0, 0,    // 1:0x102
        2,    'i',  'd', 0,                   // its name
        6,    0x81, 1,                        // Long, flags 129
        0,                                    // nothing else
    };
    CHECK_EQ(size, sizeof(expected));
    CHECK_BYTES(room, expected, sizeof(expected));
    bw_model_free(model);
}

RUN_TESTS(TEST(lists_are_sorted_by_id_and_equal_ids_stay_in_order),
          TEST(what_was_declared_is_written_byte_by_byte))
