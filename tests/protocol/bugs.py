# SPDX-License-Identifier: Apache-2.0
"""Injected bugs: {name: (what is wrong, flavour that must find it, seed that finds it)}.

A harness that finds nothing proves nothing."""
BUGS = {
    'no_verify': (
        'accept the newest slot without verifying its manifest',
        'mixed', 0),
    'page_checksum_only': (
        'verify pages by their own checksum only: stale but self-consistent pages pass',
        'mixed', 0),
    'manifest_forgets': (
        "manifest names only the last commit's pages, not those of earlier LAZY commits",
        'mixed', 11),
    'bitmap_not_in_manifest': (
        'region bitmap pages are left out of the manifest',
        'regions', 211),
    'forget_bitmap': (
        "a touched region's bitmap page is sometimes not written",
        'regions', 0),
    'two_copies': (
        'two bitmap copies per region (A/B), as the first design said',
        'regions', 1),
    'three_copies': (
        'three bitmap copies: those of a LAZY current snapshot get overwritten',
        'regions', 51),
    'leak': (
        'a freed page sometimes stays marked as used',
        'mixed', 0),
    'large_without_flush': (
        'commit beyond the manifest without the flush before the slot write',
        'mixed', 73),
    'lazy_large_one_flush': (
        'a large LAZY commit flushes its pages but not its slot (accepted unverified, '
        'yet not pinned)',
        'regions', 1163),
    'lazy_wrong_slot': (
        'LAZY sometimes overwrites the slot of the last durable snapshot',
        'mixed', 13),
    'ack_early': (
        'FULL acknowledged before the flush',
        'mixed', 6),
    'no_fence': (
        'open neither flushes nor twins',
        'mixed', 30),
    'fence_no_rewrite': (
        'the fence flushes but does not rewrite: pages marked clean by a failed flush '
        'are lost',
        'failing', 116),
    'fence_keeps_slot': (
        'the fence rewrites the pages but not the slot',
        'failing', 567),
    'no_twin': (
        'a rejected newer slot is left on disk',
        'twin', 2624),
    'reuse_current': (
        'pages freed by the running transaction are reused by it',
        'mixed', 0),
    'reuse_durable': (
        'pages of the last durable snapshot are reused while LAZY commits run',
        'mixed', 9),
    'reuse_previous': (
        'pages of the previous snapshot are reused while its slot is on disk',
        'mixed', 8),
    'reuse_reader': (
        'live readers are ignored by the allocator',
        'mixed', 0),
    'reuse_pending_lost': (
        'the pending list is sometimes forgotten',
        'mixed', 0),
    'born_off_by_one': (
        "a page born in the reader's own snapshot counts as invisible",
        'mixed', 0),
    'freed_off_by_one': (
        "a page freed right after the reader's snapshot counts as invisible",
        'mixed', 6),
    'no_dirsync': (
        'creation does not flush the directory',
        'creation', 0),
    'fence_no_dirsync': (
        'the fence does not flush the directory',
        'creation', 39),
    'creation_corrupt': (
        'an unfinished creation is FILE_CORRUPT',
        'creation', 1),
    'creation_in_place': (
        'an unfinished creation is continued in the same file with the same uuid',
        'creation', 4046),
    'creation_too_eager': (
        'slot 1 zero or missing is enough to take a store without an acceptable slot '
        'for an unfinished creation',
        'damage', 0),
    'creation_any_size': (
        'the file size is not looked at: a truncated store passes for an unfinished '
        'creation',
        'damage', 0),
    'creation_no_scan': (
        'pages born in a later commit are not looked for',
        'damage', 0),
    'creation_foreign': (
        'a file that starts with neither zeros nor our magic is set aside',
        'damage', 0),
    'creation_size_late': (
        'creation does not set the file size first',
        'creation', 440),
    'creation_size_unflushed': (
        'a second attempt at the first commit does not flush the size it set',
        'creation', 2002),
    'lazy_creation': (
        'a LAZY first commit is not flushed',
        'creation', 19),
    'aside_overwrites': (
        'remains are set aside under a name that is taken',
        'damage', 2),
    'trim_previous': (
        'truncation ignores the previous snapshot',
        'mixed', 150),
    'trim_reader': (
        'truncation ignores live readers',
        'mixed', 159),
    'trim_ro': (
        'truncation ignores read-only processes',
        'second', 3),
    'ro_ignored': (
        'the writer ignores the reader table',
        'second', 0),
    'ro_unknown': (
        "the writer reuses pages under a reader from an earlier writer's time",
        'second', 1),
    'ro_no_recheck': (
        'a read-only process does not look again after pinning',
        'second', 4),
    'retry_flush': (
        'a failed flush is retried and believed',
        'failing', 0),
    'write_error_ignored': (
        'a failed data write (ENOSPC, EIO) is ignored',
        'failing', 5),
    'slot_error_aborts': (
        'a failed slot write is reported as a clean abort',
        'failing', 141),
    'seal_early': (
        'the seal is written although the last commit is not durable',
        'mixed', 17),
    'seal_flag': (
        "the seal is a plain flag, not bound to the slot's checksum",
        'seal', 7527),
    'seal_own_slot': (
        'the seal lies in the slot it vouches for (a disk may destroy the block around '
        'a torn sector)',
        'mixed', 2),
    'no_base': (
        'recovery does not check which snapshot a rejected slot relied on',
        'lying', 3168),
    'one_generation': (
        'the manifest names only pages since the last flush (one dropped flush goes '
        'unnoticed)',
        'lying', 0),
    'no_extent_sum': (
        'recovery does not recompute the checksums of extents: a page mixed from two '
        'attempts passes',
        'retold', 792),
    'sealed_loss': (
        'a sealed slot beyond the end of the file is passed over for an older commit',
        'damage', 4),
    'table_before_pins': (
        'a write transaction reads the reader table before D, P and what is visible',
        'crowd', 1718),
    'ro_refresh_in_place': (
        'a refreshing process overwrites its entry while it still reads the older '
        'snapshot',
        'second', 0),
    'group_recent_lost': (
        'pages staged while a flush runs are left out of the next manifest',
        'group', 97),
    'group_pin_missing': (
        'the snapshot in flight is no pin',
        'group', 2),
    'group_cur_unpinned': (
        'the visible snapshot is no pin while newer ones are staged',
        'group', 18),
    'group_slot_during_flush': (
        'the next slot is written while the flush runs',
        'group', 2),
    'group_ack_all': (
        'a flush acknowledges what was staged after its start',
        'group', 0),
    'group_stage_early': (
        'a snapshot is staged before its data is written',
        'group', 2),
    'group_bitmap_early': (
        'the writer picks bitmap copies when it stages, not the flusher',
        'broad', 15),
    'trim_staged': (
        'truncation ignores what is staged or in flight',
        'broad', 20),
    'twin_unflushed': (
        'the space twin is not flushed before P is forgotten',
        'space', 2),
    'twin_drops_lazy': (
        'the space twin is written over a LAZY commit that is not durable yet',
        'space', 3),
    'twin_frees_own': (
        'after a space twin pages freed by the running transaction are given out again',
        'space', 0),
    'twin_table_stale': (
        'after a space twin the reader table is not read again',
        'crowd', 9),
    'fall_unnoticed': (
        'a transaction that is being built on a failed snapshot goes on',
        'broken', 43),
    'group_builds_on_cur': (
        'a writer builds on the visible snapshot instead of the newest staged one',
        'group', 0),
}
