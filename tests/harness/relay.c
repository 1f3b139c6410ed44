/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/relay.h"

#include <string.h>

const char relay_letters[CALL_COUNT + 1] = "Ocirwsflmu"
                                           "DFndk";

static struct relay *relay_of(struct disk *disk) { return (struct relay *)disk; }

static void count(struct relay *relay, enum relay_call call)
{
    relay->counts[call]++;
    if (relay->log_size + 1 < sizeof(relay->log)) {
        relay->log[relay->log_size++] = relay_letters[call];
        relay->log[relay->log_size] = 0;
    }
}

/* Count a call that can fail. False: it does, and the reason is noted. */
static bool passes(struct relay *relay, enum relay_call call)
{
    count(relay, call);
    if (relay->hook) relay->hook(call);
    if (relay->fail_after < 0) return true;
    if (relay->fail_after-- > 0) return true;
    relay->has_failed = true;
    relay->failed = call;
    return false;
}

static bw_err failure(const struct relay *relay)
{
    const bw_err err = relay->fail_with ? relay->fail_with : BW_ERR_STORAGE_GENERAL;
    return bw_fail_system(err, 5, "a call that the test lets fail");
}

/* The file as the disk behind knows it. */
static struct file behind(struct file file)
{
    return (struct file){.disk = relay_of(file.disk)->to, .handle = file.handle};
}

static bw_err relay_open(struct disk *disk, const char *path, enum open_mode mode,
                         unsigned permissions, struct file *out_file, bool *out_found)
{
    struct relay *relay = relay_of(disk);
    if (!passes(relay, CALL_OPEN)) return failure(relay);
    bw_err err = relay->to->open(relay->to, path, mode, permissions, out_file, out_found);
    if (!err && *out_found) out_file->disk = disk;
    return err;
}

static void relay_close(struct file file)
{
    struct relay *relay = relay_of(file.disk);
    count(relay, CALL_CLOSE);
    relay->to->close(behind(file));
}

static bw_err relay_info(struct file file, struct file_info *out_info)
{
    struct relay *relay = relay_of(file.disk);
    if (!passes(relay, CALL_INFO)) return failure(relay);
    return relay->to->info(behind(file), out_info);
}

static bw_err relay_read(struct file file, uint64_t at, void *to, size_t size, size_t *out_read)
{
    struct relay *relay = relay_of(file.disk);
    if (!passes(relay, CALL_READ)) return failure(relay);
    return relay->to->read(behind(file), at, to, size, out_read);
}

/* The first half of the spans' bytes. */
static bw_err write_half(struct relay *relay, struct file file, uint64_t at,
                         const struct span *spans, size_t span_count)
{
    size_t left = 0;
    bw_err err = BW_OK;
    for (size_t i = 0; i < span_count; i++) left += spans[i].size;
    left /= 2;
    for (size_t i = 0; i < span_count && left && !err; i++) {
        const struct span part = {spans[i].data, spans[i].size < left ? spans[i].size : left};
        err = relay->to->write(behind(file), at, &part, 1);
        at += part.size;
        left -= part.size;
    }
    return err;
}

static bw_err relay_write(struct file file, uint64_t at, const struct span *spans,
                          size_t span_count)
{
    struct relay *relay = relay_of(file.disk);
    bw_err err = BW_OK;
    if (passes(relay, CALL_WRITE)) {
        for (size_t i = 0; i < span_count; i++) relay->written_bytes += spans[i].size;
        return relay->to->write(behind(file), at, spans, span_count);
    }
    if (relay->loss == LOSS_NONE) err = relay->to->write(behind(file), at, spans, span_count);
    if (relay->loss == LOSS_HALF) err = write_half(relay, file, at, spans, span_count);
    return err ? err : failure(relay);
}

static bw_err relay_resize(struct file file, uint64_t size)
{
    struct relay *relay = relay_of(file.disk);
    bw_err err = BW_OK;
    if (passes(relay, CALL_RESIZE)) return relay->to->resize(behind(file), size);
    if (relay->loss == LOSS_NONE) err = relay->to->resize(behind(file), size);
    return err ? err : failure(relay);
}

static bw_err relay_flush(struct file file, enum flush_kind kind)
{
    struct relay *relay = relay_of(file.disk);
    if (!passes(relay, CALL_FLUSH)) return failure(relay);
    return relay->to->flush(behind(file), kind);
}

static bw_err relay_lock(struct file file, enum lock_kind kind, bool *out_got)
{
    struct relay *relay = relay_of(file.disk);
    if (!passes(relay, CALL_LOCK)) return failure(relay);
    return relay->to->lock(behind(file), kind, out_got);
}

static bw_err relay_map(struct file file, uint64_t at, size_t size, const uint8_t **out_window)
{
    struct relay *relay = relay_of(file.disk);
    if (!passes(relay, CALL_MAP)) return failure(relay);
    return relay->to->map(behind(file), at, size, out_window);
}

static void relay_unmap(struct file file, const uint8_t *window, size_t size)
{
    struct relay *relay = relay_of(file.disk);
    count(relay, CALL_UNMAP);
    relay->to->unmap(behind(file), window, size);
}

static bw_err relay_make_directory(struct disk *disk, const char *path, unsigned permissions,
                                   bool *out_made)
{
    struct relay *relay = relay_of(disk);
    if (!passes(relay, CALL_MAKE_DIRECTORY)) return failure(relay);
    return relay->to->make_directory(relay->to, path, permissions, out_made);
}

static bw_err relay_flush_directory(struct disk *disk, const char *path)
{
    struct relay *relay = relay_of(disk);
    if (!passes(relay, CALL_FLUSH_DIRECTORY)) return failure(relay);
    return relay->to->flush_directory(relay->to, path);
}

static bw_err relay_rename(struct disk *disk, const char *from, const char *to)
{
    struct relay *relay = relay_of(disk);
    if (!passes(relay, CALL_RENAME)) return failure(relay);
    return relay->to->rename(relay->to, from, to);
}

static bw_err relay_remove(struct disk *disk, const char *path, bool *out_found)
{
    struct relay *relay = relay_of(disk);
    if (!passes(relay, CALL_REMOVE)) return failure(relay);
    return relay->to->remove(relay->to, path, out_found);
}

static bw_err relay_look_up(struct disk *disk, const char *path, struct file_info *out_info,
                            bool *out_is_directory, bool *out_found)
{
    struct relay *relay = relay_of(disk);
    if (!passes(relay, CALL_LOOK_UP)) return failure(relay);
    return relay->to->look_up(relay->to, path, out_info, out_is_directory, out_found);
}

void relay_init(struct relay *relay, struct disk *to)
{
    *relay = (struct relay){
        .disk =
            {
                .open = relay_open,
                .close = relay_close,
                .info = relay_info,
                .read = relay_read,
                .write = relay_write,
                .resize = relay_resize,
                .flush = relay_flush,
                .lock = relay_lock,
                .map = relay_map,
                .unmap = relay_unmap,
                .make_directory = relay_make_directory,
                .flush_directory = relay_flush_directory,
                .rename = relay_rename,
                .remove = relay_remove,
                .look_up = relay_look_up,
            },
        .to = to,
        .fail_after = -1,
    };
}

void relay_reset(struct relay *relay)
{
    memset(relay->counts, 0, sizeof(relay->counts));
    relay->written_bytes = 0;
    relay->log_size = 0;
    relay->log[0] = 0;
}

uint64_t relay_total(const struct relay *relay)
{
    uint64_t total = 0;
    for (int call = 0; call < CALL_COUNT; call++) total += relay->counts[call];
    return total;
}
