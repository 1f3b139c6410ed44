/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Good buffers are accepted, broken ones refused, and nothing outside a buffer is ever read: each
 * buffer lies in a block of exactly its size, so that a sanitizer build notices one byte too many.
 */
#include "flat/flat.h"
#include "harness/check.h"

#include <string.h>

static const struct flat_field fields[] = {
    {0, FLAT_64},        {1, FLAT_STRING},     {2, FLAT_32},        {3, FLAT_8},
    {4, FLAT_16},        {5, FLAT_VECTOR_8},   {6, FLAT_VECTOR_64}, {7, FLAT_VECTOR_STRING},
    {9, FLAT_VECTOR_16}, {11, FLAT_VECTOR_32},
};
enum { FIELD_COUNT = sizeof(fields) / sizeof(fields[0]), SLOT_COUNT = 12 };

static const struct flat_fields object_fields = {fields, FIELD_COUNT, 0};

static struct bytes text(const char *value)
{
    return (struct bytes){(const uint8_t *)value, strlen(value)};
}

static struct bytes build(struct flat_builder *builder)
{
    static const uint64_t numbers[3] = {1, 2, 3};
    const struct bytes strings[3] = {text("a"), text(""), text("longer than eight")};
    bw_flat_begin(builder, SLOT_COUNT);
    bw_flat_add_scalar(builder, 0, 77, 8);
    bw_flat_add_bytes(builder, 1, text("hello"), FLAT_STRING);
    bw_flat_add_scalar(builder, 2, 0x01020304, 4);
    bw_flat_add_scalar(builder, 3, 1, 1);
    bw_flat_add_scalar(builder, 4, 500, 2);
    bw_flat_add_bytes(builder, 5, text("bytes"), FLAT_VECTOR_8);
    bw_flat_add_bytes(builder, 6, (struct bytes){(const uint8_t *)numbers, sizeof(numbers)},
                      FLAT_VECTOR_64);
    bw_flat_add_strings(builder, 7, strings, 3);
    bw_flat_add_bytes(builder, 11, (struct bytes){(const uint8_t *)numbers, 8}, FLAT_VECTOR_32);
    struct bytes made = {0};
    CHECK_OK(bw_flat_finish(builder, &made));
    return made;
}

/* Read every field in every way, so that whatever verification let through is touched. */
static uint64_t read_all(const struct flat_table *table)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        const uint8_t *at = bw_flat_field(table, fields[i].slot);
        if (!at) continue;
        if (fields[i].kind < FLAT_STRING) {
            for (uint8_t k = 0; k < fields[i].kind; k++) sum += at[k];
            continue;
        }
        struct bytes target = bw_flat_target(at);
        size_t size = target.size;
        if (fields[i].kind == FLAT_VECTOR_STRING) {
            for (size_t k = 0; k < size; k++) {
                struct bytes item = bw_flat_target(target.data + 4 * k);
                for (size_t n = 0; n <= item.size; n++) sum += item.data[n];
            }
            continue;
        }
        if (fields[i].kind > FLAT_VECTOR_8) size <<= fields[i].kind - FLAT_VECTOR_8;
        for (size_t n = 0; n < size; n++) sum += target.data[n];
    }
    return sum;
}

/* Whatever was seen before, the answer is the same. */
static void check_similar(struct bytes buffer, bool accepted, size_t field, const char *why)
{
    static struct flat_pattern pattern; // of the last table that was accepted
    for (int times = 0; times < 2; times++) {
        struct flat_pattern none = {0};
        size_t its_field = 0;
        const char *its_why = NULL;
        CHECK_EQ(bw_flat_verify_similar(buffer, &object_fields, times ? &none : &pattern,
                                        &its_field, &its_why),
                 accepted);
        if (accepted) continue;
        CHECK_EQ(its_field, field);
        CHECK_TEXT(its_why, why);
    }
}

/* Verify a copy in a block of its own; whatever is accepted is read, then again after its id was
 * overwritten, which must not change what the rest means. */
static bool accepts(const uint8_t *data, size_t size)
{
    uint8_t *copy = bw_new_raw(size);
    CHECK(copy);
    if (size) memcpy(copy, data, size);
    struct flat_table table;
    size_t field = 0;
    const char *why = NULL;
    struct bytes buffer = {copy, size};
    bool accepted = bw_flat_verify_object(buffer, &object_fields, &table, &field, &why);
    check_similar(buffer, accepted, field, why);
    if (accepted) {
        read_all(&table);
        (void)bw_flat_has_strangers(&table, fields, FIELD_COUNT);
        const uint8_t *id = bw_flat_field(&table, 0);
        if (id) bw_put_u64(copy + (id - copy), UINT64_MAX - 7);
        CHECK(bw_flat_verify_object(buffer, &object_fields, &table, &field, &why));
        check_similar(buffer, true, field, why);
        struct flat_table opened = bw_flat_open(copy);
        CHECK_EQ(opened.table, table.table);
        CHECK_EQ(opened.vtable, table.vtable);
        CHECK_EQ(opened.vtable_size, table.vtable_size);
        read_all(&opened);
    } else {
        CHECK(why && *why);
        CHECK(field <= FIELD_COUNT);
    }
    bw_free(copy);
    return accepted;
}

static void what_was_built_is_accepted_and_reads_back(void)
{
    struct flat_builder builder = {0};
    struct bytes made = build(&builder);
    struct flat_table table;
    size_t field = 0;
    const char *why = NULL;
    CHECK(bw_flat_verify(made, fields, FIELD_COUNT, &table, &field, &why));
    CHECK_EQ(bw_get_u64(bw_flat_field(&table, 0)), 77);
    CHECK_EQ(bw_get_u32(bw_flat_field(&table, 2)), 0x01020304);
    CHECK_EQ(*bw_flat_field(&table, 3), 1);
    CHECK_EQ(bw_get_u16(bw_flat_field(&table, 4)), 500);
    struct bytes string = bw_flat_target(bw_flat_field(&table, 1));
    CHECK_EQ(string.size, 5);
    CHECK_BYTES(string.data, "hello", 6);
    struct bytes numbers = bw_flat_target(bw_flat_field(&table, 6));
    CHECK_EQ(numbers.size, 3);
    CHECK_EQ((uintptr_t)(numbers.data - made.data) % 8, 0);
    CHECK_EQ(bw_get_u64(numbers.data + 16), 3);
    struct bytes strings = bw_flat_target(bw_flat_field(&table, 7));
    CHECK_EQ(strings.size, 3);
    CHECK_EQ(bw_flat_target(strings.data + 8).size, 17);
    CHECK_EQ(bw_flat_field(&table, 8), NULL);  // never added
    CHECK_EQ(bw_flat_field(&table, 99), NULL); // beyond the vtable
    CHECK_EQ(made.size % 8, 0);
    bw_flat_deinit(&builder);
}

static void every_truncation_is_refused_or_harmless(void)
{
    struct flat_builder builder = {0};
    struct bytes made = build(&builder);
    size_t accepted = 0;
    for (size_t size = 0; size <= made.size; size++) accepted += accepts(made.data, size);
    CHECK(accepted >= 1);
    CHECK(accepted <= 8); // the padding at the end may be missing, nothing else
    bw_flat_deinit(&builder);
}

static void every_single_bit_flip_is_refused_or_harmless(void)
{
    struct flat_builder builder = {0};
    struct bytes made = build(&builder);
    uint8_t *flipped = bw_new_raw(made.size);
    CHECK(flipped);
    size_t refused = 0;
    for (size_t bit = 0; bit < made.size * 8; bit++) {
        memcpy(flipped, made.data, made.size);
        flipped[bit / 8] ^= (uint8_t)(1u << bit % 8);
        refused += !accepts(flipped, made.size);
    }
    CHECK(refused > made.size);
    bw_free(flipped);
    bw_flat_deinit(&builder);
}

static void random_damage_is_refused_or_harmless(void)
{
    struct random random;
    bw_random_seed(&random, bw_test_seed());
    struct flat_builder builder = {0};
    struct bytes made = build(&builder);
    uint8_t *damaged = bw_new_raw(made.size);
    CHECK(damaged);
    for (int round = 0; round < 20000; round++) {
        memcpy(damaged, made.data, made.size);
        for (uint64_t n = bw_random_below(&random, 6); n < 6; n++) {
            size_t at = (size_t)bw_random_below(&random, made.size / 2) * 2;
            // Small numbers and numbers near the end of the buffer are the interesting ones.
            bw_put_u16(damaged + at, bw_random_percent(&random, 80)
                                         ? (uint16_t)bw_random_below(&random, made.size + 4)
                                         : (uint16_t)bw_random_next(&random));
        }
        accepts(damaged, made.size);
    }
    for (int round = 0; round < 2000; round++) {
        size_t size = (size_t)bw_random_below(&random, 80);
        for (size_t i = 0; i < size; i++) damaged[i] = (uint8_t)bw_random_next(&random);
        accepts(damaged, size);
    }
    bw_free(damaged);
    bw_flat_deinit(&builder);
}

static void the_callers_address_may_be_odd(void)
{
    struct flat_builder builder = {0};
    struct bytes made = build(&builder);
    for (size_t shift = 0; shift < 8; shift++) {
        uint8_t *block = bw_new_raw(made.size + shift);
        CHECK(block);
        memcpy(block + shift, made.data, made.size);
        struct flat_table table;
        size_t field = 0;
        const char *why = NULL;
        struct bytes moved = {block + shift, made.size};
        CHECK(bw_flat_verify(moved, fields, FIELD_COUNT, &table, &field, &why));
        CHECK_EQ(bw_get_u64(bw_flat_field(&table, 0)), 77);
        bw_free(block);
    }
    bw_flat_deinit(&builder);
}

static void what_valid_writers_send_is_accepted(void)
{
    struct flat_builder builder = {0};
    struct bytes made = build(&builder);
    uint8_t *longer = bw_new(made.size + 1000);
    CHECK(longer);
    memcpy(longer, made.data, made.size);
    for (size_t extra = 0; extra <= 1000; extra += 125) CHECK(accepts(longer, made.size + extra));
    bw_free(longer);

    bw_flat_begin(&builder, 1); // a short vtable
    bw_flat_add_scalar(&builder, 0, 5, 8);
    CHECK_OK(bw_flat_finish(&builder, &made));
    CHECK(accepts(made.data, made.size));

    bw_flat_begin(&builder, 0); // no slot at all
    CHECK_OK(bw_flat_finish(&builder, &made));
    CHECK(accepts(made.data, made.size));
    bw_flat_deinit(&builder);
}

static void fields_that_nobody_names_are_noticed(void)
{
    struct flat_builder builder = {0};
    struct bytes made;
    struct flat_table table;
    size_t field = 0;
    const char *why = NULL;
    for (uint16_t slot = 0; slot < 16; slot++) {
        bw_flat_begin(&builder, 16);
        bw_flat_add_scalar(&builder, slot, 1, 1);
        CHECK_OK(bw_flat_finish(&builder, &made));
        CHECK(bw_flat_verify(made, fields, 0, &table, &field, &why));
        bool is_named = slot < 8 || slot == 9 || slot == 11;
        CHECK_EQ(bw_flat_has_strangers(&table, fields, FIELD_COUNT), !is_named);
    }
    bw_flat_deinit(&builder);
}

/* A table with an id in slot 0 and a string's offset in slot 1, made by hand. */
static void make_pair(uint8_t data[48], uint16_t id_offset, uint16_t string_offset, uint32_t target)
{
    memset(data, 0, 48);
    bw_put_u32(data, 16);
    bw_put_u16(data + 8, 8); // vtable at 8
    bw_put_u16(data + 10, 20);
    bw_put_u16(data + 12, id_offset);
    bw_put_u16(data + 14, string_offset);
    bw_put_u32(data + 16, 8);
    if (string_offset) bw_put_u32(data + 16 + string_offset, target);
}

static void nothing_may_overlap_the_id_or_the_table(void)
{
    uint8_t data[48];
    make_pair(data, 8, 16, 4);
    CHECK(accepts(data, 48));
    make_pair(data, 8, 8,
              28); // the offset is the id's low half: writing the id would move the string
    CHECK(!accepts(data, 48));
    make_pair(data, 8, 12, 24);
    CHECK(!accepts(data, 48));
    make_pair(data, 8, 4, 8); // beside the id, but the string begins inside the table
    CHECK(!accepts(data, 48));
    make_pair(data, 8, 4, 32); // ends outside
    bw_put_u32(data + 48 - 8, 100);
    bw_put_u32(data + 20, 20);
    CHECK(!accepts(data, 48));

    make_pair(data, 8, 0, 0);
    bw_put_u32(data + 16, (uint32_t)-4); // the vtable in the table
    bw_put_u16(data + 20, 6);
    bw_put_u16(data + 22, 16);
    CHECK(!accepts(data, 48));
}

static void strings_must_end_with_a_zero_byte(void)
{
    struct flat_builder builder = {0};
    bw_flat_begin(&builder, 2);
    bw_flat_add_bytes(&builder, 1, text("abc"), FLAT_STRING);
    struct bytes made;
    CHECK_OK(bw_flat_finish(&builder, &made));
    CHECK(accepts(made.data, made.size));
    struct flat_table table = bw_flat_open(made.data);
    struct bytes string = bw_flat_target(bw_flat_field(&table, 1));
    builder.data[(size_t)(string.data - made.data) + 3] = 'd';
    CHECK(!accepts(made.data, made.size));
    bw_flat_deinit(&builder);
}

static void shared_string_vectors_cannot_multiply_the_work(void)
{
    // 2,000 fields that all lead to one vector of 2,000 strings: 4 million steps from 32 KB.
    enum { MANY = 2000 };
    static struct flat_field many[MANY];
    static struct bytes items[MANY];
    for (uint16_t i = 0; i < MANY; i++) many[i] = (struct flat_field){i, FLAT_VECTOR_STRING};
    struct flat_builder builder = {0};
    bw_flat_begin(&builder, MANY);
    bw_flat_add_strings(&builder, 0, items, MANY);
    struct bytes made;
    CHECK_OK(bw_flat_finish(&builder, &made));
    struct flat_table table;
    size_t field = 0;
    const char *why = NULL;
    CHECK(bw_flat_verify(made, many, MANY, &table, &field, &why));

    table = bw_flat_open(made.data);
    const size_t vtable = (size_t)(table.vtable - made.data);
    const size_t cell = (size_t)(bw_flat_field(&table, 0) - made.data);
    const size_t target = cell + bw_get_u32(made.data + cell);
    const size_t first = cell - (size_t)(table.table - made.data);
    for (size_t i = 1; i < MANY; i++) {
        bw_put_u16(builder.data + vtable + 4 + 2 * i, (uint16_t)(first + 8 * i));
        bw_put_u32(builder.data + cell + 8 * i, (uint32_t)(target - cell - 8 * i));
    }
    CHECK(!bw_flat_verify(made, many, MANY, &table, &field, &why));
    CHECK(field < 50);
    bw_flat_deinit(&builder);
}

static void the_field_that_is_wrong_is_named(void)
{
    struct flat_builder builder = {0};
    struct bytes made = build(&builder);
    struct flat_table table = bw_flat_open(made.data);
    size_t at = (size_t)(bw_flat_field(&table, 6) - made.data);
    bw_put_u32(builder.data + at, (uint32_t)(0x7ffffff0 - at));
    size_t field = 0;
    const char *why = NULL;
    CHECK(!bw_flat_verify(made, fields, FIELD_COUNT, &table, &field, &why));
    CHECK_EQ(field, 6);
    CHECK_TEXT(why, "a vector lies outside the data");
    bw_put_u32(builder.data, 0x7fffffff);
    CHECK(!bw_flat_verify(made, fields, FIELD_COUNT, &table, &field, &why));
    CHECK_EQ(field, FIELD_COUNT);
    bw_flat_deinit(&builder);
}

RUN_TESTS(TEST(what_was_built_is_accepted_and_reads_back),
          TEST(every_truncation_is_refused_or_harmless),
          TEST(every_single_bit_flip_is_refused_or_harmless),
          TEST(random_damage_is_refused_or_harmless), TEST(the_callers_address_may_be_odd),
          TEST(what_valid_writers_send_is_accepted), TEST(fields_that_nobody_names_are_noticed),
          TEST(nothing_may_overlap_the_id_or_the_table), TEST(strings_must_end_with_a_zero_byte),
          TEST(shared_string_vectors_cannot_multiply_the_work),
          TEST(the_field_that_is_wrong_is_named))
