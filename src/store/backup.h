/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of a backup file: 8 bytes of magic, then blocks. Layout: docs/format.md, "Backup".
 *
 * Invariants:
 *   U1  Each block's checksum also covers, as its seed, that of the block before: the one of the
 *       last block is one over the whole file.
 *   U2  The first block is the head, the last one the slot, and nothing follows it.
 */
#pragma once

#include "store/pack.h"

enum {
    BACKUP_VERSION = 1,

    BLOCK_AT_CHECKSUM = 0, /* u64 of all that follows in the block; U1 */
    BLOCK_AT_KIND = 8,     /* u32 */
    BLOCK_AT_SIZE = 12,    /* u32 bytes behind the header */
    BLOCK_HEADER_SIZE = 16,

    HEAD_AT_VERSION = 0,    /* u16 of this layout, then u16: the oldest that may read it */
    HEAD_AT_FEATURES = 4,   /* u32: an unknown bit refuses the file */
    HEAD_AT_UUID = 8,       /* 16 bytes, of the store */
    HEAD_AT_TXN = 24,       /* u64: the commit, as the restored store will count it */
    HEAD_AT_SALT = 32,      /* u64 random, 0: left out */
    HEAD_AT_TIME = 40,      /* i64 ns since 1970, 0: left out */
    HEAD_AT_PAGES_MAX = 48, /* u64: no more pages follow */
    HEAD_AT_SCHEMA = 56,    /* 16 bytes: identity of the schema */
    HEAD_SIZE = 72,

    PAGES_AT_FIRST = 0, /* u32: place of the first page */
    PAGES_AT_COUNT = 4, /* u32: 1 to PACK_RUN_PAGES */
    PAGES_HEADER_SIZE = 8,

    TAIL_AT_PAGES = 0, /* u64: pages in all blocks */
    TAIL_AT_SLOT = 8,  /* a page */
    TAIL_SIZE = TAIL_AT_SLOT + PAGE_SIZE,

    BLOCK_SIZE_MAX = BLOCK_HEADER_SIZE + PAGES_HEADER_SIZE + PACK_RUN_PAGES * PAGE_SIZE,
};

enum block_kind { BLOCK_HEAD = 1, BLOCK_PAGES = 2, BLOCK_TAIL = 3 };

/* "Boxwood" and another byte than a store has. */
extern const uint8_t bw_backup_magic[8];

/* The checksum of a block whose header tells its size, behind a block with the checksum `before`,
 * 0: none. */
static inline uint64_t bw_backup_checksum(const uint8_t *block, uint64_t before)
{
    const size_t size = BLOCK_HEADER_SIZE + bw_get_u32(block + BLOCK_AT_SIZE);
    return bw_hash64(block + BLOCK_AT_KIND, size - BLOCK_AT_KIND, before);
}
