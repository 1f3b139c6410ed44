/* SPDX-License-Identifier: Apache-2.0 */
#include "store/slot.h"

#include <stdlib.h>

#include "harness/check.h"

enum { HWM = 200, TREES = 7, RUNS = 3, SCHEMA = 61, SALT = 4 };

static const uint8_t uuid[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
static uint8_t image[PAGE_SIZE];
static uint8_t bits[1024];

/* Write the slot of a snapshot with so many trees and a manifest of so many runs. */
static struct snapshot *encode(uint16_t tree_count, uint32_t schema_size, uint32_t runs)
{
    struct snapshot *snapshot = NULL;
    struct manifest manifest = {0};
    CHECK_OK(bw_snapshot_new(tree_count, schema_size, &snapshot));
    for (uint16_t i = 0; i < tree_count; i++)
        snapshot->trees[i] = (struct tree_entry){
            .id = i + 1u,
            .kind = 1,
            .depth = 2,
            .root = bw_ref_make(10u + i, 1, i % 2 == 0),
            .count = 100u + i,
            .max_key = UINT64_MAX - i,
            .sequence = (uint64_t)i << 40,
            .bytes = 1ull << (i + 30),
        };
    uint8_t *schema = (uint8_t *)(uintptr_t)snapshot->schema;
    for (uint32_t i = 0; i < schema_size; i++) schema[i] = (uint8_t)(i + 1);
    snapshot->schema_size = schema_size;
    snapshot->txn_id = 9;
    memset(snapshot->schema_hash, 0x5c, 16);
    CHECK_OK(bw_manifest_reserve(&manifest, runs));
    for (uint32_t i = 0; i < runs; i++) bw_manifest_add(&manifest, 20 + 2 * i, i);
    for (size_t i = 0; i < sizeof(bits); i++) bits[i] = (uint8_t)(i * 3 + 1);
    memset(image, 0, sizeof(image));
    const struct slot_content content = {
        .uuid = uuid,
        .txn_id = 9,
        .base = 8,
        .hwm = HWM,
        .snapshot = snapshot,
        .bits = bits,
        .manifest = &manifest,
        .salt = SALT,
    };
    bw_slot_encode(&content, image);
    bw_manifest_deinit(&manifest);
    return snapshot;
}

static void encode_one(void) { bw_free(encode(TREES, SCHEMA, RUNS)); }

static void mend_checksum(uint8_t *slot)
{
    bw_put_u64(slot + SLOT_AT_CHECKSUM,
               bw_hash64(slot + SLOT_AT_VERSION, SLOT_CHECKED_SIZE - SLOT_AT_VERSION, 0));
}

static enum slot_problem problem_of(const uint8_t *slot)
{
    struct slot decoded;
    return bw_slot_decode(slot, &decoded);
}

/* Put a number of so many bytes into the slot, with a checksum that fits. */
static enum slot_problem problem_with(size_t at, size_t size, uint64_t number)
{
    uint8_t changed[PAGE_SIZE], bytes[8];
    encode_one();
    memcpy(changed, image, sizeof(changed));
    bw_put_u64(bytes, number);
    memcpy(changed + at, bytes, size);
    mend_checksum(changed);
    return problem_of(changed);
}

static void a_slot_is_read_as_it_was_written(void)
{
    struct slot slot;
    struct snapshot *snapshot = encode(TREES, SCHEMA, RUNS);
    CHECK_EQ(bw_slot_decode(image, &slot), SLOT_GOOD);
    CHECK_EQ(slot.txn_id, 9);
    CHECK_EQ(slot.base, 8);
    CHECK_EQ(slot.hwm, HWM);
    CHECK_EQ(slot.tree_count, TREES);
    CHECK_EQ(slot.run_count, RUNS);
    CHECK_EQ(slot.schema_size, SCHEMA);
    CHECK_EQ(slot.schema_page, 0);
    CHECK_EQ(slot.region_count, 0);
    CHECK(!slot.has_catalog);
    CHECK_EQ(slot.checksum, bw_get_u64(image + SLOT_AT_CHECKSUM));
    CHECK_BYTES(slot.uuid, uuid, 16);
    CHECK_BYTES(slot.schema_hash, snapshot->schema_hash, 16);
    CHECK_BYTES(slot.bits, bits, HWM / 8);
    CHECK_BYTES(slot.schema, snapshot->schema, SCHEMA);
    for (uint16_t i = 0; i < TREES; i++) {
        struct tree_entry entry;
        bw_catalog_decode(slot.trees + (size_t)i * TREE_ENTRY_SIZE, &entry);
        CHECK_EQ(entry.id, snapshot->trees[i].id);
        CHECK_EQ(entry.depth, snapshot->trees[i].depth);
        CHECK_EQ(entry.root, snapshot->trees[i].root);
        CHECK_EQ(entry.count, snapshot->trees[i].count);
        CHECK_EQ(entry.max_key, snapshot->trees[i].max_key);
        CHECK_EQ(entry.sequence, snapshot->trees[i].sequence);
        CHECK_EQ(entry.bytes, snapshot->trees[i].bytes);
    }
    for (uint32_t i = 0; i < RUNS; i++) {
        CHECK_EQ(bw_get_u32(slot.runs + (size_t)i * RUN_SIZE), 20 + 2 * i);
        CHECK_EQ(bw_get_u32(slot.runs + (size_t)i * RUN_SIZE + 4), 1);
    }
    bw_free(snapshot);
    CHECK_EQ(bw_memory_blocks(), 0);
}

static void every_flipped_bit_under_the_checksum_is_refused(void)
{
    encode_one();
    for (size_t at = 0; at < SLOT_CHECKED_SIZE; at++)
        for (int bit = 0; bit < 8; bit++) {
            image[at] ^= (uint8_t)(1u << bit);
            CHECK_EQ(problem_of(image), at < 8 ? SLOT_FOREIGN : SLOT_DAMAGED);
            image[at] ^= (uint8_t)(1u << bit);
        }
    CHECK_EQ(problem_of(image), SLOT_GOOD);
}

static void the_last_sector_is_not_the_slot_s_own(void)
{
    encode_one();
    for (size_t at = SLOT_AT_SEAL; at < PAGE_SIZE; at++) CHECK_EQ(image[at], 0);
    memset(image + SLOT_AT_SEAL, 0xff, PAGE_SIZE - SLOT_AT_SEAL);
    CHECK_EQ(problem_of(image), SLOT_GOOD);
}

static void zeros_and_half_a_slot_are_damaged(void)
{
    uint8_t zeros[PAGE_SIZE] = {0};
    CHECK_EQ(problem_of(zeros), SLOT_DAMAGED);
    for (size_t sector = 1; sector < 7; sector++) {
        encode_one();
        memset(image + sector * 512, 0x77, SLOT_CHECKED_SIZE - sector * 512);
        CHECK_EQ(problem_of(image), SLOT_DAMAGED);
    }
}

static void other_first_bytes_are_foreign(void)
{
    encode_one();
    memcpy(image, "SQLite f", 8);
    CHECK_EQ(problem_of(image), SLOT_FOREIGN);
}

static void a_later_format_is_too_new(void)
{
    CHECK_EQ(problem_with(SLOT_AT_VERSION, 2, 2), SLOT_TOO_NEW);
    CHECK_EQ(problem_with(SLOT_AT_VERSION, 2, 0), SLOT_TOO_NEW);
    for (int bit = 0; bit < 32; bit++)
        CHECK_EQ(problem_with(SLOT_AT_FEATURES, 4, 1ull << bit), SLOT_TOO_NEW);
}

static void numbers_that_no_store_has_are_damage(void)
{
    static const struct {
        size_t at, size;
        uint64_t number;
    } table[] = {
        {SLOT_AT_TXN, 8, 0},
        {SLOT_AT_HWM, 4, 0},
        {SLOT_AT_HWM, 4, 1},
        {SLOT_AT_HWM, 4, 20}, // below the manifest's pages
        {SLOT_AT_HWM, 4, 60000},
        {SLOT_AT_HWM, 4, UINT32_MAX},
        {SLOT_AT_TREE_COUNT, 2, TREES_INLINE_MAX + 1},
        {SLOT_AT_TREE_COUNT, 2, UINT16_MAX},
        {SLOT_AT_RUN_COUNT, 2, 300},
        {SLOT_AT_RUN_COUNT, 2, UINT16_MAX},
        {SLOT_AT_SCHEMA_SIZE, 4, SCHEMA_INLINE_MAX + 1},
        {SLOT_AT_SCHEMA_SIZE, 4, UINT32_MAX},
        {SLOT_AT_SCHEMA_PAGE, 4, 1},
        {SLOT_AT_SCHEMA_PAGE, 4, HWM},
        {SLOT_AT_SCHEMA_PAGE, 4, UINT32_MAX},
        {SLOT_AT_REGIONS, 4, REGIONS_MAX + 1},
        {SLOT_AT_REGIONS, 4, UINT32_MAX},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        CHECK_EQ(problem_with(table[i].at, table[i].size, table[i].number), SLOT_DAMAGED);
}

static void a_schema_on_a_page_lies_in_the_file(void)
{
    static const struct {
        uint32_t page, size;
        bool is_good;
    } table[] = {
        {HWM - 1, 1, true},
        {HWM - 1, 4064, true},
        {HWM - 1, 4065, false},
        {HWM - 2, 8160, true},
        {2, 0, false},
        {2, UINT32_MAX, false},
        {2, UINT32_MAX - 4000, false},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        encode_one();
        bw_put_u32(image + SLOT_AT_SCHEMA_PAGE, table[i].page);
        bw_put_u32(image + SLOT_AT_SCHEMA_SIZE, table[i].size);
        bw_put_u16(image + SLOT_AT_RUN_COUNT, 0); // the runs lie elsewhere with such a schema
        mend_checksum(image);
        CHECK_EQ(problem_of(image), table[i].is_good ? SLOT_GOOD : SLOT_DAMAGED);
    }
}

static void runs_name_pages_of_the_file_only(void)
{
    static const uint32_t table[][2] = {
        {0, 1}, {1, 5}, {20, 0}, {HWM, 1}, {20, HWM - 19}, {UINT32_MAX, 1}, {20, UINT32_MAX},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct slot slot;
        encode_one();
        CHECK_EQ(bw_slot_decode(image, &slot), SLOT_GOOD);
        uint8_t *run = image + (slot.runs - image) + RUN_SIZE;
        bw_put_u32(run, table[i][0]);
        bw_put_u32(run + 4, table[i][1]);
        mend_checksum(image);
        CHECK_EQ(problem_of(image), SLOT_DAMAGED);
    }
}

/* Touch everything a good slot says it has: the sanitizer sees what lies outside. */
static uint64_t touch(const uint8_t *whole, const struct slot *slot)
{
    const struct {
        const uint8_t *from;
        size_t size;
    } parts[] = {
        {slot->trees, slot->tree_count * (size_t)TREE_ENTRY_SIZE},
        {slot->bits, bw_slot_bits_size(slot->hwm, slot->region_count)},
        {slot->schema, slot->schema_page ? 0 : slot->schema_size},
        {slot->runs, slot->run_count * (size_t)RUN_SIZE},
    };
    uint64_t sum = 0;
    for (size_t part = 0; part < sizeof(parts) / sizeof(parts[0]); part++) {
        CHECK(parts[part].from >= whole + SLOT_AT_BODY);
        CHECK(parts[part].from + parts[part].size <= whole + SLOT_CHECKED_SIZE);
        for (size_t i = 0; i < parts[part].size; i++) sum += parts[part].from[i];
    }
    return sum;
}

static void hostile_numbers_never_lead_outside(void)
{
    static const size_t fields[] = {SLOT_AT_HWM,         SLOT_AT_TREE_COUNT,  SLOT_AT_RUN_COUNT,
                                    SLOT_AT_SCHEMA_SIZE, SLOT_AT_SCHEMA_PAGE, SLOT_AT_REGIONS,
                                    SLOT_AT_TXN,         SLOT_AT_FLAGS};
    enum { FIELDS = sizeof(fields) / sizeof(fields[0]), ROUNDS = 20000 };
    uint8_t *whole = malloc(PAGE_SIZE);
    struct random random;
    unsigned good = 0;
    CHECK(whole != NULL);
    bw_random_seed(&random, bw_test_seed());
    encode_one();
    for (int round = 0; round < ROUNDS; round++) {
        memcpy(whole, image, PAGE_SIZE);
        for (uint64_t changes = bw_random_below(&random, 3) + 1; changes; changes--) {
            const uint64_t number = bw_random_next(&random) >> bw_random_below(&random, 64);
            const size_t at = fields[bw_random_below(&random, FIELDS)];
            if (at == SLOT_AT_TREE_COUNT || at == SLOT_AT_RUN_COUNT)
                bw_put_u16(whole + at, (uint16_t)number);
            else bw_put_u32(whole + at, (uint32_t)number);
        }
        mend_checksum(whole);
        struct slot slot;
        if (bw_slot_decode(whole, &slot) != SLOT_GOOD) continue;
        good++;
        (void)touch(whole, &slot);
    }
    CHECK(good > 0); // or nothing was tried
    free(whole);
}

static void a_seal_vouches_for_one_content_of_the_other_slot(void)
{
    struct slot slot;
    uint8_t other[PAGE_SIZE] = {0};
    encode_one();
    CHECK_EQ(bw_slot_decode(image, &slot), SLOT_GOOD);
    CHECK(!bw_slot_is_sealed(&slot, other));
    bw_put_u64(other + SLOT_AT_SEAL, slot.checksum);
    CHECK(!bw_slot_is_sealed(&slot, other));
    bw_put_u64(other + SLOT_AT_SEAL + 8, slot.txn_id);
    CHECK(bw_slot_is_sealed(&slot, other));
    for (size_t at = SLOT_AT_SEAL; at < SLOT_AT_SEAL + 16; at++) {
        other[at] ^= 1;
        CHECK(!bw_slot_is_sealed(&slot, other));
        other[at] ^= 1;
    }
    CHECK(!bw_slot_is_sealed(&slot, image)); // not its own last sector
}

static void the_fullest_slot_fits_exactly(void)
{
    struct snapshot *snapshot = NULL;
    CHECK_OK(bw_snapshot_new(TREES_INLINE_MAX, 0, &snapshot));
    CHECK_EQ(bw_slot_bits_size(8192, 0), 1024);
    CHECK_EQ(bw_slot_run_room(snapshot, 1024), 52);
    bw_free(snapshot);
    CHECK_OK(bw_snapshot_new(1, 512, &snapshot));
    snapshot->schema_size = 512;
    CHECK_EQ(bw_slot_run_room(snapshot, 8), (3584 - 128 - 40 - 8 - 512) / 16);
    CHECK_EQ(bw_slot_run_room(snapshot, 4000), 0);
    bw_free(snapshot);
}

static void the_allocation_bits_are_as_long_as_needed(void)
{
    CHECK_EQ(bw_slot_bits_size(2, 0), 8);
    CHECK_EQ(bw_slot_bits_size(64, 0), 8);
    CHECK_EQ(bw_slot_bits_size(65, 0), 16);
    CHECK_EQ(bw_slot_bits_size(100000, 1), 8);
    CHECK_EQ(bw_slot_bits_size(100000, 33), 16);
    CHECK_EQ(bw_slot_bits_size(0, REGIONS_MAX), 256);
}

RUN_TESTS(TEST(a_slot_is_read_as_it_was_written),
          TEST(every_flipped_bit_under_the_checksum_is_refused),
          TEST(the_last_sector_is_not_the_slot_s_own), TEST(zeros_and_half_a_slot_are_damaged),
          TEST(other_first_bytes_are_foreign), TEST(a_later_format_is_too_new),
          TEST(numbers_that_no_store_has_are_damage), TEST(a_schema_on_a_page_lies_in_the_file),
          TEST(runs_name_pages_of_the_file_only), TEST(hostile_numbers_never_lead_outside),
          TEST(a_seal_vouches_for_one_content_of_the_other_slot),
          TEST(the_fullest_slot_fits_exactly), TEST(the_allocation_bits_are_as_long_as_needed))
