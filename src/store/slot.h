/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A meta slot: 4 KB that describe one snapshot. Layout: docs/format.md.
 *
 * The last sector lies outside the checksum and holds the seal of the OTHER slot (R20): its
 * checksum and transaction, written when that one is durable and verified.
 */
#pragma once

#include "store/engine.h"

enum {
    SLOT_CHECKED_SIZE = 3584, /* bytes under the checksum */
    SLOT_AT_MAGIC = 0,        /* 8 bytes */
    SLOT_AT_CHECKSUM = 8,     /* u64 over bytes 16 to SLOT_CHECKED_SIZE */
    SLOT_AT_VERSION = 16,     /* u16 of the format, then u16: the oldest that may write */
    SLOT_AT_FEATURES = 20,    /* u32: an unknown bit refuses the file */
    SLOT_AT_UUID = 24,        /* 16 bytes */
    SLOT_AT_TXN = 40,         /* u64 */
    SLOT_AT_BASE = 48,        /* u64: R11 */
    SLOT_AT_HWM = 56,         /* u32 pages */
    SLOT_AT_TREE_COUNT = 60,  /* u16 */
    SLOT_AT_RUN_COUNT = 62,   /* u16 */
    SLOT_AT_SCHEMA_HASH = 64, /* 16 bytes */
    SLOT_AT_SCHEMA_SIZE = 80, /* u32 */
    SLOT_AT_SCHEMA_PAGE = 84, /* u32, 0: inline */
    SLOT_AT_REGIONS = 88,     /* u32, 0: inline bitmap */
    SLOT_AT_FLAGS = 92,       /* u32 */
    SLOT_AT_BODY = 128,       /* trees, then bitmap or selectors, then schema, then runs */
    SLOT_AT_SEAL = 3584,      /* u64 checksum, u64 txn of the other slot */

    SLOT_VERSION = 1,
    SLOT_FLAG_CATALOG = 1, /* the one tree entry is the catalogue's */
};

/* "Boxwood" and a byte that no text has. */
extern const uint8_t bw_slot_magic[8];

/* A decoded slot; pointers lead into the image. */
struct slot {
    uint64_t checksum, txn_id, base;
    const uint8_t *uuid, *schema_hash;
    uint32_t hwm, schema_size, region_count;
    page_no schema_page;
    uint16_t tree_count, run_count;
    bool has_catalog;
    const uint8_t *trees, *bits, *schema, *runs;
};

/* Why an image is no slot. */
enum slot_problem { SLOT_GOOD, SLOT_DAMAGED, SLOT_FOREIGN, SLOT_TOO_NEW };

/* A commit every microsecond gets there in 290,000 years; what follows is no overflow. */
#define TXN_ID_MAX (UINT64_MAX / 2)

enum slot_problem bw_slot_decode(const uint8_t *image, struct slot *out_slot);

/* Why a writer must not go on from what a good slot says, or NULL: its entries or its bitmap are
 * not as a commit of this geometry makes them. */
const char *bw_slot_contradiction(const struct slot *slot, const struct geometry *geometry);

/* Does the other slot's image vouch for this one? */
bool bw_slot_is_sealed(const struct slot *slot, const uint8_t *other_image);

/* What a new slot says; bits: bitmap or selectors, as they go to disk. */
struct slot_content {
    const uint8_t *uuid; /* borrowed, as all here */
    uint64_t txn_id, base;
    uint32_t hwm, region_count;
    const struct snapshot *snapshot; /* trees and schema */
    const uint8_t *bits;
    const struct manifest *manifest; /* sorted */
    uint64_t salt;
};

/* Bytes of a bitmap for hwm pages, or of selectors for so many regions, in the slot. */
size_t bw_slot_bits_size(uint32_t hwm, uint32_t region_count);

/* Runs that fit beside the rest. */
uint32_t bw_slot_run_room(const struct snapshot *snapshot, size_t bits_size);

/* Fill a zeroed 4 KB image, checksum included. */
void bw_slot_encode(const struct slot_content *content, uint8_t *image);

/* Give a slot's image another number and base, and no seal. */
void bw_slot_rename(uint8_t *image, uint64_t txn_id, uint64_t base);
