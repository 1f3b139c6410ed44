/* SPDX-License-Identifier: Apache-2.0 */
/* labels: long */
/*
 * Sizes that a data center has: millions of objects, gigabytes in one file and in one object,
 * thousands of stores in one process, and more data than memory. Each test says what it did.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases/note_store.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { IS_SANITIZED = 1 };
#else
enum { IS_SANITIZED = 0 };
#endif

static char directory[256];
static OBX_store *store;
static OBX_box *notes;

static void begin(uint64_t limit_kb)
{
    bw_scratch_make_in_memory(directory, sizeof(directory));
    store = note_open(directory, limit_kb, BoxwoodDurability_None);
    notes = note_box(store, NOTE);
}

static void end(void)
{
    CHECK_OK(obx_store_close(store));
    note_prove(directory);
    bw_scratch_remove(directory);
}

/* ---- many objects ---- */

enum { BATCH = 10000 };

/* New objects first to first + count - 1, each with its id as number, in one transaction. */
static void put_packed(int64_t first, int64_t count, size_t bytes)
{
    const size_t size = note_size(bytes);
    uint8_t *data = malloc((size_t)count * size);
    uint32_t *ends = malloc((size_t)count * sizeof(*ends));
    obx_id *ids = malloc((size_t)count * sizeof(*ids));
    CHECK(data && ends && ids);
    for (int64_t i = 0; i < count; i++) {
        note_write(data + (size_t)i * size, (obx_id)(first + i), first + i, bytes);
        ends[i] = (uint32_t)((size_t)(i + 1) * size);
        ids[i] = OBX_ID_NEW;
    }
    CHECK_OK(boxwood_box_put_packed(notes, NULL, data, (size_t)count * size, ends, (size_t)count,
                                    ids, BOXWOOD_PUT, NULL));
    CHECK_EQ(ids[0], first);
    CHECK_EQ(ids[count - 1], first + count - 1);
    free(data);
    free(ends);
    free(ids);
}

static void scan_all(int64_t wanted, size_t bytes)
{
    boxwood_scan *scan = NULL;
    static boxwood_object objects[1000];
    size_t count = 1;
    int64_t seen = 0;
    CHECK_OK(boxwood_box_scan(notes, NULL, 0, &scan, NULL));
    while (count) {
        CHECK_OK(boxwood_scan_next(scan, objects, 1000, &count, NULL));
        for (size_t i = 0; i < count; i++) {
            CHECK_EQ(objects[i].id, ++seen);
            CHECK(note_is(objects[i].data, objects[i].size, seen, bytes));
        }
    }
    boxwood_scan_end(scan);
    CHECK_EQ(seen, wanted);
}

static void get_some(int64_t of, int64_t count, size_t bytes)
{
    struct random random;
    bw_random_seed(&random, bw_test_seed());
    OBX_txn *txn = obx_txn_read(store);
    for (int64_t i = 0; i < count; i++) {
        const int64_t id = 1 + (int64_t)bw_random_below(&random, (uint64_t)of);
        note_expect(notes, (obx_id)id, id, bytes);
    }
    CHECK_OK(obx_txn_close(txn));
}

static void ten_million_objects_are_loaded_scanned_and_got(void)
{
    enum { COUNT = 10000000, BYTES = 40 };
    begin(16u << 20); // 16 GB
    for (int64_t i = 1; i <= COUNT; i += BATCH) put_packed(i, BATCH, BYTES);
    CHECK_EQ(note_count(notes), COUNT);
    scan_all(COUNT, BYTES);
    get_some(COUNT, 1000000, BYTES);
    uint64_t removed = 0;
    obx_id ids[1000];
    for (size_t i = 0; i < 1000; i++) ids[i] = 5000000 + i * 7;
    CHECK_OK(boxwood_box_remove_packed(notes, NULL, ids, 1000, &removed, NULL));
    CHECK_EQ(removed, 1000);
    CHECK_EQ(note_count(notes), COUNT - 1000);
    printf("%d objects of %zu bytes: a file of %llu bytes\n", COUNT, note_size(BYTES),
           (unsigned long long)obx_db_file_size(directory));
    end();
}

/* ---- many stores ---- */

/* Anonymous memory of this process in bytes: the heap, and what is mapped without a file. */
static uint64_t anonymous_memory(void)
{
    char line[200];
    uint64_t kb = 0;
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    while (file && fgets(line, sizeof(line), file)) {
        if (strncmp(line, "Anonymous:", 10) == 0) kb = strtoull(line + 10, NULL, 10);
    }
    if (file) fclose(file);
    CHECK(kb > 0);
    return kb * 1024;
}

/* Each with a few objects, read once, so that its window is mapped. */
static void open_one(boxwood_model *model, int number, OBX_store **out_store)
{
    char path[300];
    (void)snprintf(path, sizeof(path), "%s/%d", directory, number);
    OBX_store_options *options = obx_opt();
    CHECK_OK(obx_opt_directory(options, path));
    CHECK_OK(boxwood_opt_model(options, model));
    CHECK_OK(boxwood_opt_durability(options, BoxwoodDurability_None));
    *out_store = obx_store_open(options);
    if (!*out_store) CHECK_TEXT(obx_last_error_message(), "no error");
}

static void ten_thousand_stores_are_open_at_once(void)
{
    enum { STORES = 10000, FILES = 20000, EACH_MAX = 4096 };
    static OBX_store *stores[STORES];
    const struct rlimit limit = {.rlim_cur = FILES, .rlim_max = FILES};
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) {
        printf("skipped: no %d open files are allowed here: %s\n", FILES, strerror(errno));
        return;
    }
    OBX_model *declared = obx_model();
    boxwood_model *model = NULL;
    note_declare(declared, "Note", NOTE);
    obx_model_last_entity_id(declared, NOTE, 100);
    CHECK_OK(boxwood_model_compile(declared, &model, NULL));
    bw_scratch_make_in_memory(directory, sizeof(directory));
    for (int i = 0; i < STORES; i++) {
        open_one(model, i, &stores[i]);
        CHECK_OK(note_put(note_box(stores[i], NOTE), 1, i, 100));
        CHECK_OK(obx_store_close(stores[i]));
    }
    const uint64_t before = anonymous_memory();
    for (int i = 0; i < STORES; i++) open_one(model, i, &stores[i]);
    const uint64_t opened = anonymous_memory() - before;
    for (int i = 0; i < STORES; i++) {
        OBX_box *box = note_box(stores[i], NOTE);
        OBX_txn *txn = obx_txn_read(stores[i]);
        CHECK_EQ(note_count(box), 1);
        CHECK_OK(obx_txn_close(txn));
    }
    const uint64_t counted = anonymous_memory() - before;
    for (int i = 0; i < STORES; i++) {
        OBX_txn *txn = obx_txn_read(stores[i]);
        note_expect(note_box(stores[i], NOTE), 1, i, 100);
        CHECK_OK(obx_txn_close(txn));
    }
    const uint64_t read = anonymous_memory() - before;
    printf("%d stores open at once: %llu anonymous bytes each when opened, %llu when counted, %llu "
           "when read\n",
           STORES, (unsigned long long)opened / STORES, (unsigned long long)counted / STORES,
           (unsigned long long)read / STORES);
    for (int i = 0; i < STORES; i++) CHECK_OK(obx_store_close(stores[i]));
    boxwood_model_release(model);
    bw_scratch_remove(directory);
    if (IS_SANITIZED) return; // whose memory it is cannot be told
    CHECK(counted / STORES <= EACH_MAX);
    CHECK(read / STORES <= EACH_MAX);
}

/* ---- large objects ---- */

static void put_get_and_remove(size_t bytes)
{
    uint8_t *object = malloc(note_size(bytes));
    if (!object) {
        printf("skipped: no memory for an object of %zu bytes\n", note_size(bytes));
        return;
    }
    const uint8_t *data = NULL;
    size_t size = 0;
    begin(16u << 20);
    note_write(object, 1, 77, bytes);
    CHECK_OK(obx_box_put(notes, 1, object, note_size(bytes)));
    OBX_txn *txn = obx_txn_read(store);
    CHECK_OK(obx_box_get(notes, 1, &data, &size));
    CHECK_EQ(size, note_size(bytes));
    CHECK(memcmp(data, object, size) == 0);
    CHECK_OK(obx_txn_close(txn));
    CHECK_OK(obx_store_close(store));
    free(object);
    note_prove(directory);
    store = note_open(directory, 16u << 20, BoxwoodDurability_None);
    notes = note_box(store, NOTE);
    txn = obx_txn_read(store);
    note_expect(notes, 1, 77, bytes);
    CHECK_OK(obx_txn_close(txn));
    printf("an object of %zu bytes: a file of %llu bytes\n", note_size(bytes),
           (unsigned long long)obx_db_file_size(directory));
    CHECK_OK(obx_box_remove(notes, 1));
    for (int64_t i = 2; i < 5; i++) CHECK_OK(note_put(notes, (obx_id)i, i, 10));
    end();
}

static void large_objects_are_kept(void)
{
    enum { LARGEST = 0x7ffffffc }; // the last multiple of 4 below 2 GB
    put_get_and_remove(100u << 20);
    put_get_and_remove(600u << 20);
    if (sizeof(void *) > 4) put_get_and_remove((LARGEST & ~7u) - NOTE_BYTES_AT);
}

static void an_object_of_2_gb_is_refused_and_the_limit_named(void)
{
    const size_t size = 0x80000000u;
    uint8_t *object = sizeof(void *) > 4 ? malloc(size) : NULL;
    if (!object) {
        printf("skipped: no memory for an object of 2 GB\n");
        return;
    }
    begin(16u << 20);
    note_write(object, 1, 1, 100);
    CHECK_ERR(obx_box_put(notes, 1, object, size), OBX_ERROR_ILLEGAL_ARGUMENT);
    CHECK(strstr(obx_last_error_message(), "2 GB") != NULL);
    CHECK_ERR(obx_box_put(notes, 1, object, size - 3), OBX_ERROR_ILLEGAL_ARGUMENT);
    CHECK(strstr(obx_last_error_message(), "2 GB") != NULL);
    CHECK_EQ(note_count(notes), 0);
    free(object);
    CHECK_OK(note_put(notes, 1, 1, 100));
    end();
}

/* ---- large files ---- */

static void a_file_beyond_a_gigabyte_lives_on_in_regions(void)
{
    enum { COUNT = 200000, BYTES = 6500 }; // two pages each: 1.6 GB
    begin(0);
    for (int64_t i = 1; i <= COUNT; i += 1000) put_packed(i, 1000, BYTES);
    CHECK(obx_db_file_size(directory) > 6u << 28);
    obx_id ids[1000];
    for (int64_t first = 1; first + 20000 <= COUNT; first += 20000) {
        uint64_t removed = 0; // holes in every region
        for (size_t i = 0; i < 1000; i++) ids[i] = (obx_id)first + i * 13;
        CHECK_OK(boxwood_box_remove_packed(notes, NULL, ids, 1000, &removed, NULL));
        CHECK_EQ(removed, 1000);
    }
    const uint64_t before = obx_db_file_size(directory);
    CHECK_OK(obx_store_close(store));
    note_prove(directory);
    store = note_open(directory, 0, BoxwoodDurability_Full);
    notes = note_box(store, NOTE);
    for (int64_t first = 1; first + 20000 <= COUNT; first += 20000) {
        for (int64_t i = 0; i < 1000; i++) {
            const int64_t id = first + i * 13;
            if (i % 10 == 0) CHECK_OK(note_put(notes, (obx_id)id, id, BYTES));
        }
    }
    printf("a file of %llu bytes, %llu after holes were filled\n", (unsigned long long)before,
           (unsigned long long)obx_db_file_size(directory));
    CHECK_EQ(obx_db_file_size(directory), before);
    CHECK_OK(obx_box_remove_all(notes, NULL)); // and down to the bitmap in the slot
    for (int64_t i = 1; i < 4; i++) CHECK_OK(note_put(notes, (obx_id)i, i, 10));
    CHECK_OK(obx_store_close(store));
    CHECK(obx_db_file_size(directory) < 1u << 20);
    store = note_open(directory, 0, BoxwoodDurability_Full);
    notes = note_box(store, NOTE);
    scan_all(3, 10);
    end();
}

/* ---- less memory than data ---- */

enum { PIECES = 2048, PIECE = 1000000, DATA_SHARE = 8 }; // 2 GB

static void read_with_little(void *argument)
{
    (void)argument;
    store = note_open(directory, 0, BoxwoodDurability_None);
    notes = note_box(store, NOTE);
    scan_all(PIECES, PIECE);
    for (int64_t i = 1; i <= 50; i++) CHECK_OK(note_put(notes, PIECES + 1, i, PIECE));
    CHECK_OK(obx_box_remove(notes, PIECES + 1));
    get_some(PIECES, 2000, PIECE);
    CHECK_OK(obx_store_close(store));
}

static bool write_text(const char *path, const char *text)
{
    const int file = open(path, O_WRONLY);
    const bool is_written = file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);
    if (file >= 0) close(file);
    return is_written;
}

/* In a child: go on within the group, and read everything there. */
static void read_within(const char *group, uint64_t limit)
{
    char path[300], text[32];
    struct thread thread;
    (void)snprintf(path, sizeof(path), "%s/memory.max", group);
    (void)snprintf(text, sizeof(text), "%llu", (unsigned long long)limit);
    if (!write_text(path, text)) _exit(9);
    (void)snprintf(path, sizeof(path), "%s/cgroup.procs", group);
    if (!write_text(path, "0")) _exit(9);
    if (bw_thread_start(&thread, read_with_little, NULL)) _exit(2);
    bw_thread_join(&thread);
    _exit(0);
}

static void data_eight_times_the_memory_is_read_and_written(void)
{
    static const char group[] = "/sys/fs/cgroup/boxwood-test";
    if (access("/sys/fs/cgroup/cgroup.controllers", R_OK) != 0 || mkdir(group, 0755) != 0) {
        printf("skipped: no control group of version 2 can be made here: %s\n", strerror(errno));
        return;
    }
    bw_scratch_make(directory, sizeof(directory)); // on the disk: memory would count
    store = note_open(directory, 0, BoxwoodDurability_None);
    notes = note_box(store, NOTE);
    for (int64_t i = 1; i <= PIECES; i += 32) put_packed(i, 32, PIECE);
    CHECK_OK(obx_store_close(store));
    const uint64_t limit = obx_db_file_size(directory) / DATA_SHARE;
    int status = 0;
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) read_within(group, limit);
    CHECK(waitpid(child, &status, 0) == child);
    (void)rmdir(group);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 9) {
        printf("skipped: the limit of memory cannot be set here\n");
    } else {
        CHECK_EQ(status, 0);
        printf("%d objects of %d bytes within %llu bytes of memory\n", PIECES, PIECE,
               (unsigned long long)limit);
    }
    bw_scratch_remove(directory);
}

/* What the engine itself keeps: the heap and other private memory may not grow with the data. */
static void limit_private_memory(void *argument)
{
    const uint64_t limit = *(const uint64_t *)argument;
    const struct rlimit limits = {.rlim_cur = (rlim_t)limit, .rlim_max = (rlim_t)limit};
    CHECK(setrlimit(RLIMIT_DATA, &limits) == 0);
    read_with_little(NULL);
}

static void data_eight_times_the_private_memory_is_read_and_written(void)
{
    if (IS_SANITIZED) {
        printf("skipped: the sanitizer's own memory is larger\n");
        return;
    }
    bw_scratch_make_in_memory(directory, sizeof(directory));
    store = note_open(directory, 0, BoxwoodDurability_None);
    notes = note_box(store, NOTE);
    for (int64_t i = 1; i <= PIECES; i += 32) put_packed(i, 32, PIECE);
    CHECK_OK(obx_store_close(store));
    uint64_t limit = obx_db_file_size(directory) / DATA_SHARE;
    int status = 0;
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        struct thread thread;
        if (bw_thread_start(&thread, limit_private_memory, &limit)) _exit(2);
        bw_thread_join(&thread);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_EQ(status, 0);
    printf("%d objects of %d bytes within %llu bytes of private memory\n", PIECES, PIECE,
           (unsigned long long)limit);
    note_prove(directory);
    bw_scratch_remove(directory);
}

RUN_TESTS(TEST(ten_million_objects_are_loaded_scanned_and_got),
          TEST(ten_thousand_stores_are_open_at_once), TEST(large_objects_are_kept),
          TEST(an_object_of_2_gb_is_refused_and_the_limit_named),
          TEST(a_file_beyond_a_gigabyte_lives_on_in_regions),
          TEST(data_eight_times_the_memory_is_read_and_written),
          TEST(data_eight_times_the_private_memory_is_read_and_written))
