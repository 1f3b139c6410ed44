/* SPDX-License-Identifier: Apache-2.0 */
/* Checking through the API: of an open store, and when one is opened. */
#include "unit/api/pair_store.h"

#include <stdio.h>

#include "harness/scratch.h"
#include "os/os.h"
#include "store/store.h"

static char here[200], file_name[220]; // real files: closing seals them

enum { PAIRS = 40000, PAGE_BYTES = 4096 }; // too many pages for a manifest

static OBX_store *begin(void)
{
    bw_scratch_make(here, sizeof(here));
    (void)snprintf(file_name, sizeof(file_name), "%s/data.mdb", here);
    OBX_store *store = pair_open(here);
    OBX_txn *txn = obx_txn_write(store);
    for (int64_t i = 1; i <= PAIRS; i++) CHECK_EQ(pair_put(obx_box(store, PAIR), i), (obx_id)i);
    CHECK_OK(obx_txn_success(txn));
    return store;
}

static void end(OBX_store *store)
{
    CHECK_OK(obx_store_close(store));
    bw_scratch_remove(here);
}

/* Change a byte of every page of this kind in the closed file. */
static void damage_pages(uint8_t kind, bool only_first)
{
    enum { AT_KIND = 12, AT = 3000 };
    struct disk *disk = bw_disk_posix();
    struct file file;
    bool found = false;
    CHECK_OK(disk->open(disk, file_name, OPEN_WRITE, 0, &file, &found));
    CHECK(found);
    uint8_t page[PAGE_BYTES];
    size_t got = PAGE_BYTES;
    bool is_done = false;
    for (uint64_t at = 2 * PAGE_BYTES; got == PAGE_BYTES && !is_done; at += PAGE_BYTES) {
        CHECK_OK(disk->read(file, at, page, sizeof(page), &got));
        if (got < PAGE_BYTES || page[AT_KIND] != kind) continue;
        page[AT] ^= 1;
        const struct span span = {page, sizeof(page)};
        CHECK_OK(disk->write(file, at, &span, 1));
        is_done = only_first;
    }
    disk->close(file);
}

enum { BRANCH = 1, LEAF = 2 };

static void an_open_store_is_checked(void)
{
    OBX_store *store = begin();
    boxwood_check_report report = {.size = sizeof(report)};
    CHECK_OK(boxwood_store_check(store, 0, &report, NULL, NULL, NULL));
    CHECK_EQ(report.problems, 0u);
    CHECK_EQ(report.objects, PAIRS);
    CHECK_EQ(report.trees, 1u);
    CHECK(report.leaves > 1 && report.branches == 3 && report.overflow_pages == 0);
    CHECK_EQ(report.txn_id, 1u);
    CHECK_EQ(report.first_page, 0u);
    CHECK_TEXT(report.texts[0], "");
    CHECK_OK(obx_store_close(store));

    damage_pages(LEAF, false);
    store = pair_open(here);
    for (uint32_t flags = 0; flags <= BOXWOOD_CHECK_PAGES_ONLY; flags++) {
        CHECK_OK(boxwood_store_check(store, flags, &report, NULL, NULL, NULL));
        CHECK(report.problems >= 2 && report.first_page >= 2);
        CHECK(strstr(report.texts[0], "checksum") != NULL);
        CHECK(strstr(report.texts[1], "checksum") != NULL);
    }
    end(store);
}

static void arguments_are_checked(void)
{
    OBX_store *store = begin();
    boxwood_check_report report = {.size = sizeof(report)};
    boxwood_failure failure;
    CHECK_ERR(boxwood_store_check(NULL, 0, &report, NULL, NULL, &failure),
              OBX_ERROR_ILLEGAL_ARGUMENT);
    CHECK(strstr(failure.message, "store") != NULL);
    CHECK_ERR(boxwood_store_check(store, 0, NULL, NULL, NULL, &failure),
              OBX_ERROR_ILLEGAL_ARGUMENT);
    CHECK_ERR(boxwood_store_check(store, 2, &report, NULL, NULL, &failure),
              OBX_ERROR_ILLEGAL_ARGUMENT);
    report.size--;
    CHECK_ERR(boxwood_store_check(store, 0, &report, NULL, NULL, &failure),
              OBX_ERROR_ILLEGAL_ARGUMENT);
    CHECK_OK(obx_store_prepare_to_close(store));
    report.size++;
    CHECK_ERR(boxwood_store_check(store, 0, &report, NULL, NULL, &failure),
              OBX_ERROR_SHUTTING_DOWN);
    end(store);
}

static bool refuse(void *user_data, uint64_t done, uint64_t total)
{
    uint64_t *calls = user_data;
    CHECK(done <= total);
    ++*calls;
    return false;
}

static void a_check_is_cancelled(void)
{
    OBX_store *store = begin();
    boxwood_check_report report = {.size = sizeof(report)};
    boxwood_failure failure;
    uint64_t calls = 0;
    CHECK_ERR(boxwood_store_check(store, 0, &report, refuse, &calls, &failure),
              BOXWOOD_ERROR_CANCELLED);
    CHECK_EQ(calls, 1u);
    CHECK_EQ(failure.code, BOXWOOD_ERROR_CANCELLED);
    end(store);
}

/* ---- when opening ---- */

static obx_err open_checked(size_t limit, uint32_t flags, bool values)
{
    OBX_store_options *opt = pair_options(here);
    obx_opt_validate_on_open_pages(opt, limit, flags);
    if (values) obx_opt_validate_on_open_kv(opt, OBXValidateOnOpenKvFlags_None);
    OBX_store *store = obx_store_open(opt);
    if (!store) return obx_last_error_code();
    CHECK_OK(obx_store_close(store));
    return 0;
}

static void forget(void) { bw_scratch_remove(here); }

static void opening_checks_what_it_is_told_to(void)
{
    CHECK_OK(obx_store_close(begin()));
    CHECK_OK(open_checked(5, OBXValidateOnOpenPagesFlags_VisitLeafPages, true));

    damage_pages(LEAF, true);
    CHECK_OK(open_checked(0, 0, false));
    CHECK_OK(open_checked(1, OBXValidateOnOpenPagesFlags_VisitLeafPages, false));
    CHECK_ERR(open_checked(SIZE_MAX, OBXValidateOnOpenPagesFlags_VisitLeafPages, false),
              OBX_ERROR_FILE_PAGES_CORRUPT);
    CHECK_REASON("The data file is damaged: tree 1: Page ");
    CHECK_ERR(open_checked(0, 0, true), OBX_ERROR_FILE_PAGES_CORRUPT);
    CHECK_REASON("The data file is damaged: tree 1: Page ");
    forget();

    CHECK_OK(obx_store_close(begin()));
    damage_pages(BRANCH, true);
    CHECK_OK(open_checked(0, 0, false));
    CHECK_ERR(open_checked(3, 0, false), OBX_ERROR_FILE_PAGES_CORRUPT);
    forget();
}

static void a_limit_lets_opening_verify_the_newest_commit(void)
{
    OBX_store *store = begin();
    CHECK_EQ(pair_put(obx_box(store, PAIR), 1), PAIRS + 1u); // small ones, named in their slots
    CHECK_EQ(pair_put(obx_box(store, PAIR), 1), PAIRS + 2u);
    CHECK_OK(obx_store_close(store));
    damage_pages(BRANCH, false);
    CHECK_OK(open_checked(0, 0, false));
    CHECK_ERR(open_checked(1, 0, false), OBX_ERROR_FILE_CORRUPT);
    CHECK_REASON("The database file is damaged: ");
    forget();
}

static void objects_are_verified_when_opening(void)
{
    static const uint8_t rubbish[16] = {0xff, 0xff, 0xff, 0xff};
    CHECK_OK(obx_store_close(begin()));
    const struct store_options options = {
        .disk = bw_disk_posix(), .directory = here, .durability = DURABLE_FULL};
    struct store *store = NULL;
    struct txn *txn = NULL;
    CHECK_OK(bw_store_open(&options, &store));
    CHECK_OK(bw_txn_begin(store, TXN_WRITE, 0, &txn));
    CHECK_OK(bw_tree_put(txn, PAIR, 7, (struct bytes){rubbish, sizeof(rubbish)}, NULL));
    CHECK_OK(bw_txn_commit(txn));
    bw_store_close(store);
    CHECK_OK(open_checked(SIZE_MAX, OBXValidateOnOpenPagesFlags_VisitLeafPages, false));
    CHECK_ERR(open_checked(0, 0, true), OBX_ERROR_FILE_CORRUPT);
    CHECK_REASON("The data file is damaged: entity Pair (1), object 7: ");
    forget();
}

RUN_TESTS(TEST(an_open_store_is_checked), TEST(arguments_are_checked), TEST(a_check_is_cancelled),
          TEST(opening_checks_what_it_is_told_to),
          TEST(a_limit_lets_opening_verify_the_newest_commit),
          TEST(objects_are_verified_when_opening))
