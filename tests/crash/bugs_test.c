/* SPDX-License-Identifier: Apache-2.0 */
/* Bugs of the protocol: each must be found by histories of its flavour. */
#include <stdio.h>

#include "harness/bug_search.h"
#include "harness/check.h"
#include "harness/trial.h"

enum { HISTORIES_MAX = 20000, HISTORIES_WITHOUT = 20 };

static void run_trial(const void *flavour, uint64_t seed, char out_text[SEARCH_TEXT_ROOM])
{
    struct trial_result result;
    trial_run(flavour, seed, &result);
    (void)snprintf(out_text, SEARCH_TEXT_ROOM, "%s", result.violation);
}

static void find(const char *bug, const char *flavour)
{
    const struct histories histories = {
        .name = flavour,
        .count_max = bug ? HISTORIES_MAX : HISTORIES_WITHOUT,
        .run = run_trial,
        .argument = trial_flavour(flavour),
    };
    CHECK(histories.argument != NULL);
    bug_search(bug, &histories);
}

static void nothing_is_found_without_a_bug(void)
{
    for (int i = 0; i < FLAVOUR_COUNT; i++) find(NULL, trial_flavours[i].name);
}

#define BUG_TEST(bug, flavour) \
    static void bug##_is_found(void) { find(#bug, flavour); }

BUG_TEST(no_verify, "mixed")
BUG_TEST(page_checksum_only, "mixed")
BUG_TEST(large_without_flush, "regions")
BUG_TEST(ack_early, "mixed")
BUG_TEST(no_fence, "mixed")
BUG_TEST(no_twin, "twin")
BUG_TEST(reuse_previous, "mixed")
BUG_TEST(reuse_reader, "mixed")
BUG_TEST(retry_flush, "failing")
BUG_TEST(no_dirsync, "creation")
BUG_TEST(creation_too_eager, "damage")
BUG_TEST(previous_forgotten, "mixed")
BUG_TEST(previous_copy_reused, "regions")
BUG_TEST(previous_trimmed, "mixed")
BUG_TEST(schema_kept, "mixed")
BUG_TEST(manifest_short, "mixed")
BUG_TEST(reuse_durable, "lazy")
BUG_TEST(last_copy_reused, "lazy")
BUG_TEST(manifest_forgets, "lazy")
BUG_TEST(lazy_large_one_flush, "regions")
BUG_TEST(lazy_wrong_slot, "lazy")
BUG_TEST(seal_early, "lazy")
BUG_TEST(lazy_creation, "creation")
BUG_TEST(bitmap_not_in_manifest, "regions")
BUG_TEST(forget_bitmap, "regions")
BUG_TEST(one_generation, "lying")
BUG_TEST(no_base, "lying")
BUG_TEST(born_off_by_one, "mixed")
BUG_TEST(freed_early, "mixed")
BUG_TEST(write_error_ignored, "failing")
BUG_TEST(fence_no_rewrite, "failing")
BUG_TEST(fence_keeps_slot, "failing")
BUG_TEST(fence_no_dirsync, "creation")
BUG_TEST(creation_corrupt, "creation")
BUG_TEST(creation_foreign, "damage")
BUG_TEST(creation_no_scan, "damage")
BUG_TEST(creation_size_late, "creation")
BUG_TEST(aside_overwrites, "damage")
BUG_TEST(seal_flag, "seal")
BUG_TEST(group_recent_lost, "group")
BUG_TEST(group_ack_all, "group")
BUG_TEST(group_pin_missing, "group")

RUN_TESTS(TEST(nothing_is_found_without_a_bug), TEST(no_verify_is_found),
          TEST(page_checksum_only_is_found), TEST(large_without_flush_is_found),
          TEST(ack_early_is_found), TEST(no_fence_is_found), TEST(no_twin_is_found),
          TEST(reuse_previous_is_found), TEST(reuse_reader_is_found), TEST(retry_flush_is_found),
          TEST(no_dirsync_is_found), TEST(creation_too_eager_is_found),
          TEST(previous_forgotten_is_found), TEST(previous_copy_reused_is_found),
          TEST(previous_trimmed_is_found), TEST(schema_kept_is_found),
          TEST(manifest_short_is_found), TEST(reuse_durable_is_found),
          TEST(last_copy_reused_is_found), TEST(manifest_forgets_is_found),
          TEST(lazy_large_one_flush_is_found), TEST(lazy_wrong_slot_is_found),
          TEST(seal_early_is_found), TEST(lazy_creation_is_found),
          TEST(bitmap_not_in_manifest_is_found), TEST(forget_bitmap_is_found),
          TEST(one_generation_is_found), TEST(no_base_is_found), TEST(born_off_by_one_is_found),
          TEST(freed_early_is_found), TEST(write_error_ignored_is_found),
          TEST(fence_no_rewrite_is_found), TEST(fence_keeps_slot_is_found),
          TEST(fence_no_dirsync_is_found), TEST(creation_corrupt_is_found),
          TEST(creation_foreign_is_found), TEST(creation_no_scan_is_found),
          TEST(creation_size_late_is_found), TEST(aside_overwrites_is_found),
          TEST(seal_flag_is_found), TEST(group_recent_lost_is_found), TEST(group_ack_all_is_found),
          TEST(group_pin_missing_is_found))
