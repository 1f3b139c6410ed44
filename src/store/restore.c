/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A store from a backup. Blocks are believed once their checksum fits, and then still looked at:
 * only the last one tells whether all before it belong together.
 */
#include "store/backup.h"

#include "store/slot.h"
#include "store/target.h"

struct restore {
    const struct restore_options *options; /* borrowed */
    struct file file;                      /* the backup; disk NULL: not open */
    struct target target;
    uint64_t at, size; /* bytes of the backup: those read, and all */
    uint64_t checksum; /* of the block before */
    uint64_t pages;    /* so far */
    uint64_t pages_max, txn_id;
    uint8_t uuid[16];
    uint8_t block[BLOCK_SIZE_MAX];
};

static bw_err refuse(const struct restore *restore, const char *why)
{
    return bw_fail(BW_ERR_BACKUP_FILE_INVALID, "The backup file cannot be used: %s: %s", why,
                   restore->options->file);
}

/* ---- blocks ---- */

static bw_err read_bytes(struct restore *restore, void *to, size_t size)
{
    size_t got = 0;
    bw_err err = restore->file.disk->read(restore->file, restore->at, to, size, &got);
    if (err) return err;
    if (got < size) return refuse(restore, "it ends too early");
    restore->at += size;
    return BW_OK;
}

static uint32_t kind_of(const struct restore *restore)
{
    return bw_get_u32(restore->block + BLOCK_AT_KIND);
}
static uint32_t size_of(const struct restore *restore)
{
    return bw_get_u32(restore->block + BLOCK_AT_SIZE);
}

static bw_err read_block(struct restore *restore)
{
    uint8_t *block = restore->block;
    bw_err err = read_bytes(restore, block, BLOCK_HEADER_SIZE);
    if (err) return err;
    if (size_of(restore) > BLOCK_SIZE_MAX - BLOCK_HEADER_SIZE)
        return refuse(restore, "it is damaged (the size of a block)");
    err = read_bytes(restore, block + BLOCK_HEADER_SIZE, size_of(restore));
    if (err) return err;
    const uint64_t checksum = bw_backup_checksum(block, restore->checksum); // U1
    if (checksum != bw_get_u64(block + BLOCK_AT_CHECKSUM))
        return refuse(restore, "it is damaged (the checksum of a block)");
    restore->checksum = checksum;
    return BW_OK;
}

/* ---- what they hold ---- */

static bw_err read_head(struct restore *restore)
{
    uint8_t magic[sizeof(bw_backup_magic)];
    const uint8_t *at = restore->block + BLOCK_HEADER_SIZE;
    bw_err err = read_bytes(restore, magic, sizeof(magic));
    if (err) return err;
    if (memcmp(magic, bw_backup_magic, sizeof(magic)) != 0)
        return refuse(restore, "it is none (it begins with other bytes)");
    err = read_block(restore);
    if (err) return err;
    if (kind_of(restore) != BLOCK_HEAD || size_of(restore) < HEAD_SIZE) // U2
        return refuse(restore, "it does not begin with a head");
    if (bw_get_u16(at + HEAD_AT_VERSION + 2) > BACKUP_VERSION || bw_get_u32(at + HEAD_AT_FEATURES))
        return refuse(restore, "it was written by a newer version");
    memcpy(restore->uuid, at + HEAD_AT_UUID, sizeof(restore->uuid));
    restore->txn_id = bw_get_u64(at + HEAD_AT_TXN);
    restore->pages_max = bw_get_u64(at + HEAD_AT_PAGES_MAX);
    return BW_OK;
}

static bw_err take_pages(struct restore *restore)
{
    const uint8_t *at = restore->block + BLOCK_HEADER_SIZE;
    const uint64_t first = bw_get_u32(at + PAGES_AT_FIRST), count = bw_get_u32(at + PAGES_AT_COUNT);
    restore->pages += count;
    if (!count || count > PACK_RUN_PAGES || restore->pages > restore->pages_max ||
        size_of(restore) != PAGES_HEADER_SIZE + count * PAGE_SIZE || first < SLOT_COUNT ||
        first + count > (uint64_t)REF_PAGE_MAX + 1)
        return refuse(restore, "it holds pages where none can be");
    return bw_target_write(&restore->target, first * PAGE_SIZE, at + PAGES_HEADER_SIZE,
                           (size_t)count * PAGE_SIZE);
}

static bw_err take_tail(struct restore *restore)
{
    const uint8_t *at = restore->block + BLOCK_HEADER_SIZE;
    struct slot slot;
    if (size_of(restore) != TAIL_SIZE || restore->at != restore->size) // U2
        return refuse(restore, "something follows its end");
    if (bw_get_u64(at + TAIL_AT_PAGES) != restore->pages)
        return refuse(restore, "it has lost pages");
    const enum slot_problem problem = bw_slot_decode(at + TAIL_AT_SLOT, &slot);
    if (problem == SLOT_TOO_NEW) return refuse(restore, "it was written by a newer version");
    if (problem != SLOT_GOOD || slot.txn_id != restore->txn_id || slot.txn_id < 2 ||
        slot.run_count || memcmp(slot.uuid, restore->uuid, sizeof(restore->uuid)) != 0 ||
        restore->target.end > (uint64_t)slot.hwm * PAGE_SIZE)
        return refuse(restore, "its end contradicts what comes before");
    return bw_target_write_slots(&restore->target, at + TAIL_AT_SLOT);
}

static bw_err take_blocks(struct restore *restore)
{
    const struct progress *progress = restore->options->progress;
    for (bool is_over = false; !is_over;) {
        bw_err err = bw_progress_report(progress, restore->at, restore->size);
        if (!err) err = read_block(restore);
        if (err) return err;
        is_over = kind_of(restore) == BLOCK_TAIL;
        if (is_over) err = take_tail(restore);
        else if (kind_of(restore) == BLOCK_PAGES) err = take_pages(restore);
        else err = refuse(restore, "it holds a block of an unknown kind");
        if (err) return err;
    }
    return bw_progress_report(progress, restore->size, restore->size);
}

/* ---- all of it ---- */

static bw_err open_backup(struct restore *restore)
{
    struct disk *disk = restore->options->file_disk;
    struct file_info info = {0};
    bool found = false;
    bw_err err = disk->open(disk, restore->options->file, OPEN_READ, 0, &restore->file, &found);
    if (!err && !found)
        err = bw_fail(BW_ERR_IO, "There is no such backup file: %s", restore->options->file);
    if (!err) err = disk->info(restore->file, &info);
    restore->size = info.size;
    return err;
}

bw_err bw_store_restore(const struct restore_options *options)
{
    struct restore *restore = bw_new(sizeof(*restore));
    if (!restore) return bw_fail(BW_ERR_NO_MEMORY, "Out of memory: a backup");
    restore->options = options;
    bw_err err = open_backup(restore);
    if (!err) err = read_head(restore); // before anything is made
    if (!err)
        err = bw_target_open_store(&restore->target, options->disk, options->directory,
                                   options->file_mode, options->replaces);
    if (!err) {
        err = take_blocks(restore);
        if (!err) err = bw_target_finish(&restore->target);
        bw_target_close(&restore->target);
    }
    if (restore->file.disk) restore->file.disk->close(restore->file);
    bw_free(restore);
    return err;
}
