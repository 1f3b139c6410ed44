/* SPDX-License-Identifier: Apache-2.0 */
/* Changing the three arrays of a branch together; see branch.h for its invariants. */
#include "store/branch.h"

static const struct {
    unsigned at, width;
} arrays[] = {{BRANCH_KEYS_AT, 8}, {BRANCH_REFS_AT, 4}, {BRANCH_COUNTS_AT, 4}};

enum { ARRAYS = sizeof(arrays) / sizeof(arrays[0]) };

void bw_branch_note_damaged(page_ref ref, unsigned level)
{
    const bw_err err =
        bw_fail(BW_ERR_FILE_PAGES_CORRUPT, "page %u: this is not a branch of level %u of its tree",
                bw_ref_page(ref), level);
    (void)err; // the caller returns it
}

bw_err bw_branch_check_children(const struct txn *txn, const uint8_t *branch)
{
    for (unsigned at = 0; at < bw_branch_children(branch); at++) {
        const page_ref ref = bw_branch_ref(branch, at);
        if (LIKELY(bw_page_is_kept(txn, bw_ref_page(ref), bw_ref_pages(ref)))) continue;
        return bw_fail(BW_ERR_FILE_PAGES_CORRUPT,
                       "page %u: a branch has page %u, which is called free",
                       bw_get_u32(branch + PAGE_AT_NUMBER), bw_ref_page(ref));
    }
    return BW_OK;
}

static void set_children(uint8_t *branch, unsigned children)
{
    bw_put_u16(branch + PAGE_AT_COUNT, (uint16_t)children);
}

void bw_branch_begin(uint8_t *branch, unsigned level)
{
    set_children(branch, 0);
    bw_put_u16(branch + PAGE_AT_LOWER, (uint16_t)level);
    bw_put_u16(branch + PAGE_AT_UPPER, 0);
}

// Make the run of old_count entries at `at` one of new_count entries, whose contents are to be set.
static void resize_run(uint8_t *branch, unsigned at, unsigned old_count, unsigned new_count)
{
    const unsigned children = bw_branch_children(branch), behind = children - at - old_count;
    const unsigned left = children - old_count + new_count;
    ASSERT(at + old_count <= children && left <= BRANCH_CHILDREN_MAX);
    for (int i = 0; i < ARRAYS; i++) {
        const size_t width = arrays[i].width;
        uint8_t *run = branch + arrays[i].at + at * width;
        memmove(run + new_count * width, run + old_count * width, behind * width);
        if (left < children) { // B4
            memset(branch + arrays[i].at + left * width, 0, (children - left) * width);
        }
    }
    set_children(branch, left);
}

void bw_branch_splice(uint8_t *branch, unsigned at, unsigned old_count,
                      const struct branch_child *children, unsigned child_count)
{
    resize_run(branch, at, old_count, child_count);
    for (unsigned i = 0; i < child_count; i++) {
        bw_branch_set_key(branch, at + i, children[i].key);
        bw_branch_set_ref(branch, at + i, children[i].ref);
        bw_branch_set_count(branch, at + i, children[i].count);
    }
}

void bw_branch_copy(uint8_t *branch, unsigned at, const uint8_t *from, unsigned first,
                    unsigned count)
{
    ASSERT(first + count <= bw_branch_children(from));
    resize_run(branch, at, 0, count);
    for (int i = 0; i < ARRAYS; i++) {
        const size_t width = arrays[i].width;
        memcpy(branch + arrays[i].at + at * width, from + arrays[i].at + first * width,
               count * width);
    }
}

uint32_t bw_branch_total(const uint8_t *branch)
{
    uint32_t total = 0;
    for (unsigned at = 0; at < bw_branch_children(branch); at++)
        total += bw_branch_count(branch, at);
    return total;
}

bool bw_branch_has_overflow(const uint8_t *branch)
{
    for (unsigned at = 0; at < bw_branch_children(branch); at++) {
        if (bw_ref_has_overflow(bw_branch_ref(branch, at))) return true;
    }
    return false;
}

static bool is_clean(const uint8_t *branch)
{
    for (unsigned at = bw_branch_children(branch); at < BRANCH_CHILDREN_MAX; at++) {
        if (bw_branch_key(branch, at) || bw_branch_ref(branch, at) || bw_branch_count(branch, at)) {
            return false;
        }
    }
    return true;
}

const char *bw_branch_problem(const uint8_t *branch, uint64_t low, uint64_t high)
{
    for (unsigned at = 1; at < bw_branch_children(branch); at++) {
        const uint64_t key = bw_branch_key(branch, at);
        const bool ascends = at == 1 ? key >= low : key > bw_branch_key(branch, at - 1);
        if (!ascends || key > high) return "has keys out of order"; // B1, B2
    }
    return is_clean(branch) ? NULL : "unused bytes of a branch are not zero"; // B4
}
