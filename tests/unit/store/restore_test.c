/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "harness/check.h"
#include "harness/copies.h"
#include "harness/sample.h"
#include "harness/sim_disk.h"
#include "store/backup.h"
#include "store/slot.h"

static struct sim_disk sim;
static const struct copies_kind *kind;
static uint64_t digest;
static uint8_t whole[1 << 20]; /* the backup as it was made */
static size_t whole_size;

/* A backup, of a store that is closed and stays where it was. */
static void begin(int number)
{
    sim_disk_init(&sim, 1);
    kind = &copies_kinds[number];
    struct store *store = copies_make(&sim.disk, SAMPLE_DIRECTORY, kind);
    digest = sample_digest_of(store);
    CHECK_OK(copies_back_up(store, &sim.disk, 0, NULL));
    bw_store_close(store);
    const struct sim_file *file = sim_disk_find(&sim, COPIES_BACKUP);
    whole_size = file->size;
    CHECK(whole_size <= sizeof(whole));
    memcpy(whole, file->cache, whole_size);
}

static void end(void)
{
    sim_disk_deinit(&sim);
    sample_expect_nothing_left();
}

/* Another store in the target directory. */
static uint64_t make_other(void)
{
    struct store *store = copies_make(&sim.disk, COPIES_DIRECTORY, kind);
    sample_commit(store, 5, 1, 9, 500, 3);
    const uint64_t other = sample_digest_of(store);
    bw_store_close(store);
    return other;
}

static void a_restored_store_is_the_one_that_was_backed_up(void)
{
    begin(1);
    struct store *store = copies_open(&sim.disk, SAMPLE_DIRECTORY, kind);
    CHECK_OK(copies_restore(&sim.disk, false, NULL));
    struct store *restored = copies_open(&sim.disk, COPIES_DIRECTORY, kind);
    CHECK_BYTES(restored->uuid, store->uuid, 16);
    CHECK_EQ(restored->cur->txn_id, store->cur->txn_id);
    CHECK(restored->chosen_sealed);
    bw_store_close(restored);
    bw_store_close(store);
    copies_expect(&sim.disk, COPIES_DIRECTORY, kind, digest);
    end();
}

static void an_existing_store_is_replaced_only_on_request(void)
{
    begin(1);
    const uint64_t other = make_other();
    CHECK_ERR(copies_restore(&sim.disk, false, NULL), BW_ERR_ILLEGAL_STATE);
    CHECK_TEXT(bw_reason_text(), "There is a database already: \"copy/data.mdb\"");
    copies_expect(&sim.disk, COPIES_DIRECTORY, kind, other);
    CHECK_OK(copies_restore(&sim.disk, true, NULL));
    copies_expect(&sim.disk, COPIES_DIRECTORY, kind, digest);
    end();
}

static void an_empty_file_is_no_store(void)
{
    struct file file;
    bool done = false;
    begin(1);
    CHECK_OK(sim.disk.make_directory(&sim.disk, COPIES_DIRECTORY, 0755, &done));
    CHECK_OK(sim.disk.open(&sim.disk, COPIES_FILE, OPEN_CREATE, 0644, &file, &done));
    sim.disk.close(file);
    CHECK_OK(copies_restore(&sim.disk, false, NULL));
    copies_expect(&sim.disk, COPIES_DIRECTORY, kind, digest);
    end();
}

static void an_open_store_is_never_replaced(void)
{
    begin(1);
    const uint64_t other = make_other();
    struct store *store = copies_open(&sim.disk, COPIES_DIRECTORY, kind);
    CHECK_ERR(copies_restore(&sim.disk, true, NULL), BW_ERR_ILLEGAL_STATE);
    CHECK_TEXT(bw_reason_text(),
               "Cannot make a store here: the one in this directory is still open: \"copy\"");
    CHECK_EQ(sample_digest_of(store), other);
    bw_store_close(store);
    copies_expect(&sim.disk, COPIES_DIRECTORY, kind, other);
    end();
}

static void a_store_that_is_locked_is_never_replaced(void)
{
    struct file file;
    bool found = false, got = false;
    begin(1);
    const uint64_t other = make_other();
    for (int i = 0; i < 2; i++) {
        CHECK_OK(sim.disk.open(&sim.disk, COPIES_FILE, OPEN_WRITE, 0, &file, &found));
        CHECK_OK(sim.disk.lock(file, i ? LOCK_EXCLUSIVE : LOCK_SHARED, &got));
        CHECK(got);
        CHECK_ERR(copies_restore(&sim.disk, true, NULL), BW_ERR_ILLEGAL_STATE);
        CHECK_TEXT(bw_reason_text(), "Cannot make a store here: another process holds the lock of "
                                     "its file: \"copy/data.mdb\"");
        sim.disk.close(file);
    }
    copies_expect(&sim.disk, COPIES_DIRECTORY, kind, other);
    end();
}

static void a_backup_that_is_missing_makes_nothing(void)
{
    bool found = false;
    begin(1);
    CHECK_OK(sim.disk.remove(&sim.disk, COPIES_BACKUP, &found));
    CHECK_ERR(copies_restore(&sim.disk, true, NULL), BW_ERR_IO);
    CHECK_TEXT(bw_reason_text(), "There is no such backup file: " COPIES_BACKUP);
    CHECK(!copies_has(&sim.disk, COPIES_DIRECTORY));
    end();
}

/* Nobody can open the store, or make one, while it is being restored. */
static bool try_to_open(void *user, uint64_t done, uint64_t total)
{
    const bool *is_over = user;
    struct store_options options = sample_options(&sim.disk);
    struct store *store = NULL;
    (void)done;
    (void)total;
    options.directory = COPIES_DIRECTORY;
    if (!*is_over) CHECK_ERR(bw_store_open(&options, &store), BW_ERR_ILLEGAL_STATE);
    return true;
}

static void the_name_is_claimed_meanwhile(void)
{
    bool is_over = false;
    const struct progress progress = {try_to_open, &is_over};
    begin(COPIES_SMALL);
    CHECK_OK(copies_restore(&sim.disk, false, &progress));
    CHECK_OK(copies_restore(&sim.disk, true, &progress));
    copies_expect(&sim.disk, COPIES_DIRECTORY, kind, digest);
    end();
}

static bool stop(void *user, uint64_t done, uint64_t total)
{
    uint64_t *calls_left = user;
    CHECK(done <= total);
    return (*calls_left)-- > 1;
}

static void a_listener_that_has_enough_ends_it(void)
{
    for (uint64_t calls = 1, is_done = 0; !is_done; calls++) {
        begin(1);
        const uint64_t other = make_other();
        uint64_t calls_left = calls;
        const struct progress progress = {stop, &calls_left};
        bw_err err = copies_restore(&sim.disk, true, &progress);
        is_done = !err;
        if (err) CHECK_ERR(err, BW_ERR_CANCELLED);
        copies_expect(&sim.disk, COPIES_DIRECTORY, kind, err ? other : digest);
        CHECK(!copies_has(&sim.disk, COPIES_FILE ".part"));
        end();
    }
}

/* ---- damage ---- */

static void write_backup(const void *bytes, size_t size)
{
    struct file file;
    bool found = false;
    CHECK_OK(sim.disk.open(&sim.disk, COPIES_BACKUP, OPEN_WRITE, 0, &file, &found));
    const struct span span = {bytes, size};
    CHECK_OK(sim.disk.resize(file, 0));
    CHECK_OK(sim.disk.write(file, 0, &span, 1));
    sim.disk.close(file);
}

/* Into nothing, and over another store: 10008, and all is as it was. */
static void expect_refused(uint64_t other)
{
    CHECK_ERR(copies_restore(&sim.disk, true, NULL), BW_ERR_BACKUP_FILE_INVALID);
    CHECK(!copies_has(&sim.disk, COPIES_FILE ".part"));
    if (!other) {
        CHECK(!copies_has(&sim.disk, COPIES_FILE));
        return;
    }
    uint64_t found = 0;
    CHECK(copies_look(&sim.disk, COPIES_DIRECTORY, kind, &found));
    CHECK_EQ(found, other);
}

static void damage_everywhere(uint64_t other, size_t step)
{
    static uint8_t bytes[sizeof(whole)];
    for (size_t at = 0; at < whole_size;) { // every byte of the head, some of the rest
        memcpy(bytes, whole, whole_size);
        bytes[at] ^= (uint8_t)(1u << at % 8);
        write_backup(bytes, whole_size);
        expect_refused(other);
        at += at < 130 ? 1 : step;
    }
}

static void a_flipped_bit_is_noticed_wherever_it_is(void)
{
    begin(COPIES_SMALL);
    damage_everywhere(0, 47);
    end();
    begin(3);
    damage_everywhere(make_other(), 997);
    end();
}

static size_t next_block(size_t at)
{
    return at + BLOCK_HEADER_SIZE + bw_get_u32(whole + at + BLOCK_AT_SIZE);
}

static void a_backup_that_ends_too_early_is_refused(void)
{
    for (int i = 0; i < COPIES_KINDS; i++) {
        if (i == 2) continue; // long, and nothing else
        begin(i);
        unsigned blocks = 0;
        for (size_t at = 0; at < whole_size;
             at = at ? next_block(at) : sizeof(bw_backup_magic), blocks++) {
            const size_t sizes[] = {at, at + 1, at + BLOCK_HEADER_SIZE, at + BLOCK_HEADER_SIZE + 9};
            for (int each = 0; each < 4; each++) {
                if (sizes[each] >= whole_size) continue;
                write_backup(whole, sizes[each]);
                expect_refused(0);
            }
        }
        CHECK(blocks >= 4);
        write_backup(whole, whole_size - 1);
        expect_refused(0);
        write_backup(whole, whole_size);
        CHECK_OK(copies_restore(&sim.disk, false, NULL));
        end();
    }
}

static void a_backup_that_goes_on_is_refused(void)
{
    static uint8_t bytes[sizeof(whole)];
    begin(COPIES_SMALL);
    memcpy(bytes, whole, whole_size);
    write_backup(bytes, whole_size + 1);
    expect_refused(0);
    memcpy(bytes + whole_size, whole + sizeof(bw_backup_magic), 88);
    write_backup(bytes, whole_size + 88);
    expect_refused(0);
    end();
}

/* Each block's checksum fits what it holds, but not the block before it (U1). */
static void a_block_of_another_backup_is_noticed(void)
{
    static uint8_t mixed[sizeof(whole)];
    begin(1);
    memcpy(mixed, whole, whole_size);
    const size_t size = whole_size;
    struct store *store = copies_open(&sim.disk, SAMPLE_DIRECTORY, kind);
    sample_commit(store, 1, 1, 5, 300, 77);
    CHECK_OK(copies_back_up(store, &sim.disk, 0, NULL));
    bw_store_close(store);
    const struct sim_file *file = sim_disk_find(&sim, COPIES_BACKUP);
    CHECK_EQ(file->size, size);
    memcpy(whole, file->cache, size);
    const size_t pages = next_block(sizeof(bw_backup_magic)), tail = next_block(pages);
    CHECK(memcmp(mixed + pages + 100, whole + pages + 100, tail - pages - 100) != 0);
    memcpy(mixed + pages, whole + pages, tail - pages);
    write_backup(mixed, size);
    expect_refused(0);
    end();
}

/* ---- what fits its checksum and is wrong all the same ---- */

static uint8_t forged[sizeof(whole)];
static size_t forged_size;

static void forge(void)
{
    memcpy(forged, whole, whole_size);
    forged_size = whole_size;
}

/* Make all checksums fit again. */
static void seal_forged(void)
{
    uint64_t checksum = 0;
    for (size_t at = sizeof(bw_backup_magic); at < forged_size;) {
        checksum = bw_backup_checksum(forged + at, checksum);
        bw_put_u64(forged + at + BLOCK_AT_CHECKSUM, checksum);
        at += BLOCK_HEADER_SIZE + bw_get_u32(forged + at + BLOCK_AT_SIZE);
    }
    write_backup(forged, forged_size);
}

static void expect_forged_refused(const char *why)
{
    char text[200];
    seal_forged();
    expect_refused(0);
    (void)snprintf(text, sizeof(text), "The backup file cannot be used: %s: " COPIES_BACKUP, why);
    CHECK_TEXT(bw_reason_text(), text);
    forge();
}

static void what_contradicts_itself_is_refused(void)
{
    begin(1);
    const size_t head = sizeof(bw_backup_magic), pages = next_block(head);
    size_t tail = pages, last = 0;
    while (next_block(tail) < whole_size) tail = next_block(tail);
    last = tail + BLOCK_HEADER_SIZE;
    const char *const nowhere = "it holds pages where none can be";
    const char *const contradicts = "its end contradicts what comes before";
    uint8_t *in_pages = forged + pages + BLOCK_HEADER_SIZE;
    uint8_t *in_head = forged + head + BLOCK_HEADER_SIZE;
    forge();
    seal_forged();
    CHECK_OK(copies_restore(&sim.disk, false, NULL));
    CHECK_OK(bw_store_remove(&sim.disk, COPIES_DIRECTORY));

    bw_put_u16(in_head + HEAD_AT_VERSION + 2, 2);
    expect_forged_refused("it was written by a newer version");
    bw_put_u32(in_head + HEAD_AT_FEATURES, 1);
    expect_forged_refused("it was written by a newer version");
    bw_put_u32(forged + head + BLOCK_AT_KIND, BLOCK_TAIL);
    expect_forged_refused("it does not begin with a head");
    in_head[HEAD_AT_UUID]++;
    expect_forged_refused(contradicts);
    in_head[HEAD_AT_TXN]++;
    expect_forged_refused(contradicts);
    bw_put_u64(in_head + HEAD_AT_PAGES_MAX, 1);
    expect_forged_refused(nowhere);

    bw_put_u32(forged + pages + BLOCK_AT_KIND, 9);
    expect_forged_refused("it holds a block of an unknown kind");
    bw_put_u32(in_pages + PAGES_AT_FIRST, 1);
    expect_forged_refused(nowhere);
    bw_put_u32(in_pages + PAGES_AT_FIRST, 0xfffffff0u);
    expect_forged_refused(nowhere);
    bw_put_u32(in_pages + PAGES_AT_FIRST, 500);
    expect_forged_refused(contradicts);
    bw_put_u32(in_pages + PAGES_AT_COUNT, 0);
    expect_forged_refused(nowhere);
    bw_put_u32(in_pages + PAGES_AT_COUNT, PACK_RUN_PAGES + 1);
    expect_forged_refused(nowhere);

    forged[last + TAIL_AT_PAGES]++;
    expect_forged_refused("it has lost pages");
    forged[last + TAIL_AT_SLOT + SLOT_AT_TXN]++;
    expect_forged_refused(contradicts);
    end();
}

/* A size that no block has must not be believed before its checksum was seen. */
static void the_size_of_a_block_is_bounded(void)
{
    begin(COPIES_SMALL);
    forge();
    bw_put_u32(forged + sizeof(bw_backup_magic) + BLOCK_AT_SIZE, 0xffffffffu);
    write_backup(forged, forged_size);
    expect_refused(0);
    end();
}

static void a_store_is_no_backup(void)
{
    begin(COPIES_SMALL);
    const struct sim_file *file = sim_disk_find(&sim, SAMPLE_FILE);
    write_backup(file->cache, file->size);
    expect_refused(0);
    CHECK_TEXT(bw_reason_text(), "The backup file cannot be used: it is none (it begins with other "
                                 "bytes): " COPIES_BACKUP);
    write_backup("", 0);
    expect_refused(0);
    end();
}

static void a_store_in_memory_is_restored_from_a_file_elsewhere(void)
{
    begin(1);
    const struct restore_options options = {.file_disk = &sim.disk,
                                            .file = COPIES_BACKUP,
                                            .disk = bw_disk_memory(),
                                            .directory = COPIES_DIRECTORY,
                                            .file_mode = 0644};
    CHECK_OK(bw_store_restore(&options));
    copies_expect(bw_disk_memory(), COPIES_DIRECTORY, kind, digest);
    CHECK_OK(bw_store_remove(bw_disk_memory(), COPIES_DIRECTORY));
    end();
}

RUN_TESTS(TEST(a_restored_store_is_the_one_that_was_backed_up),
          TEST(an_existing_store_is_replaced_only_on_request), TEST(an_empty_file_is_no_store),
          TEST(an_open_store_is_never_replaced), TEST(a_store_that_is_locked_is_never_replaced),
          TEST(a_backup_that_is_missing_makes_nothing), TEST(the_name_is_claimed_meanwhile),
          TEST(a_listener_that_has_enough_ends_it), TEST(a_flipped_bit_is_noticed_wherever_it_is),
          TEST(a_backup_that_ends_too_early_is_refused), TEST(a_backup_that_goes_on_is_refused),
          TEST(a_block_of_another_backup_is_noticed), TEST(what_contradicts_itself_is_refused),
          TEST(the_size_of_a_block_is_bounded), TEST(a_store_is_no_backup),
          TEST(a_store_in_memory_is_restored_from_a_file_elsewhere))
