/* SPDX-License-Identifier: Apache-2.0 */
/* Writing a backup: the packed pages, one block after the other, and never a step back. */
#include "store/backup.h"

#include "store/slot.h"
#include "store/target.h"

const uint8_t bw_backup_magic[8] = {'B', 'o', 'x', 'w', 'o', 'o', 'd', 0x1b};

struct backup {
    struct target target;
    uint64_t checksum; /* of the block before */
    uint64_t pages;    /* so far */
    uint8_t block[BLOCK_SIZE_MAX];
};

/* What the block holds behind its header is there already. */
static bw_err write_block(struct backup *backup, enum block_kind kind, uint32_t size)
{
    uint8_t *block = backup->block;
    bw_put_u32(block + BLOCK_AT_KIND, kind);
    bw_put_u32(block + BLOCK_AT_SIZE, size);
    backup->checksum = bw_backup_checksum(block, backup->checksum); // U1
    bw_put_u64(block + BLOCK_AT_CHECKSUM, backup->checksum);
    return bw_target_append(&backup->target, block, BLOCK_HEADER_SIZE + size);
}

static bw_err put(void *context, page_no first, const uint8_t *bytes, uint32_t pages)
{
    struct backup *backup = context;
    uint8_t *at = backup->block + BLOCK_HEADER_SIZE;
    bw_put_u32(at + PAGES_AT_FIRST, first);
    bw_put_u32(at + PAGES_AT_COUNT, pages);
    memcpy(at + PAGES_HEADER_SIZE, bytes, (size_t)pages * PAGE_SIZE);
    backup->pages += pages;
    return write_block(backup, BLOCK_PAGES, PAGES_HEADER_SIZE + pages * PAGE_SIZE);
}

static bw_err finish(void *context, const uint8_t *slot)
{
    struct backup *backup = context;
    uint8_t *at = backup->block + BLOCK_HEADER_SIZE;
    bw_put_u64(at + TAIL_AT_PAGES, backup->pages);
    memcpy(at + TAIL_AT_SLOT, slot, PAGE_SIZE);
    return write_block(backup, BLOCK_TAIL, TAIL_SIZE); // U2
}

static bw_err write_head(struct backup *backup, const struct txn *txn, uint32_t flags)
{
    const struct snapshot *snapshot = txn->snapshot;
    uint8_t *at = backup->block + BLOCK_HEADER_SIZE, salt[8] = {0};
    const int64_t now = flags & BACKUP_EXCLUDE_TIMESTAMP ? 0 : bw_clock_unix_ns();
    bw_err err = flags & BACKUP_EXCLUDE_SALT ? BW_OK : bw_entropy(salt, sizeof(salt));
    if (!err) err = bw_target_append(&backup->target, bw_backup_magic, sizeof(bw_backup_magic));
    if (err) return err;
    memset(at, 0, HEAD_SIZE);
    bw_put_u16(at + HEAD_AT_VERSION, BACKUP_VERSION);
    bw_put_u16(at + HEAD_AT_VERSION + 2, BACKUP_VERSION);
    memcpy(at + HEAD_AT_UUID, txn->store->uuid, 16);
    bw_put_u64(at + HEAD_AT_TXN, bw_pack_txn_id(snapshot));
    memcpy(at + HEAD_AT_SALT, salt, sizeof(salt));
    bw_put_u64(at + HEAD_AT_TIME, (uint64_t)now);
    bw_put_u64(at + HEAD_AT_PAGES_MAX, (uint64_t)snapshot->hwm + REGIONS_MAX);
    memcpy(at + HEAD_AT_SCHEMA, snapshot->schema_hash, 16);
    return write_block(backup, BLOCK_HEAD, HEAD_SIZE);
}

/* A backup takes the place of an older one, and of nothing else: a path typed wrongly costs no
 * data. */
static bw_err check_replaceable(struct disk *disk, const char *path)
{
    struct file file = {0};
    uint8_t magic[sizeof(bw_backup_magic)];
    bool found = false;
    size_t got = 0;
    bw_err err = disk->open(disk, path, OPEN_READ, 0, &file, &found);
    if (err || !found) return err;
    err = disk->read(file, 0, magic, sizeof(magic), &got);
    disk->close(file);
    if (err || !got) return err;
    if (got == sizeof(magic) && memcmp(magic, bw_backup_magic, sizeof(magic)) == 0) return BW_OK;
    return bw_fail(BW_ERR_ILLEGAL_STATE, "This file exists and is no backup: %s", path);
}

bw_err bw_store_backup(struct txn *txn, const struct backup_options *options)
{
    bw_err err = bw_pack_check(txn);
    if (!err) err = check_replaceable(options->disk, options->file);
    if (err) return err;
    struct backup *backup = bw_new(sizeof(*backup));
    if (!backup) return bw_fail(BW_ERR_NO_MEMORY, "Out of memory: a backup");
    err = bw_target_open(&backup->target, options->disk, options->file, txn->store->file_mode);
    if (err) {
        bw_free(backup);
        return err;
    }
    err = write_head(backup, txn, options->flags);
    const struct pack_output output = {.put = put, .finish = finish, .context = backup};
    if (!err) err = bw_pack(txn, txn->store->uuid, &output, options->progress);
    if (!err) err = bw_target_finish(&backup->target);
    bw_target_close(&backup->target);
    bw_free(backup);
    return err;
}
