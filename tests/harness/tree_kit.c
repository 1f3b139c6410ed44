/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/tree_kit.h"

#include <stdlib.h>

#include "harness/check.h"
#include "store/branch.h"
#include "store/leaf.h"

struct bytes bw_kit_value(uint64_t key, size_t size)
{
    static uint8_t buffer[KIT_VALUE_MAX];
    CHECK(size <= sizeof(buffer));
    for (size_t i = 0; i < size; i++) buffer[i] = (uint8_t)(key * 31 + i * 7 + size + 1);
    return (struct bytes){.data = buffer, .size = size};
}

void bw_kit_put(struct txn *txn, uint64_t first, uint64_t last, size_t size)
{
    for (uint64_t key = first; key <= last; key++) {
        CHECK_OK(bw_tree_put(txn, KIT_TREE, key, bw_kit_value(key, size), NULL));
    }
}

void bw_kit_check(struct txn *txn, uint64_t key, size_t size)
{
    struct bytes found = {0};
    bool is_there;
    CHECK_OK(bw_tree_get(txn, KIT_TREE, key, &found, &is_there));
    CHECK_EQ(is_there, size > 0);
    if (!is_there) return;
    CHECK_EQ(found.size, size);
    CHECK_EQ((uintptr_t)found.data % 8, 0);
    CHECK_BYTES(found.data, bw_kit_value(key, size).data, size);
}

void bw_kit_remove(struct txn *txn, uint64_t key)
{
    bool removed;
    CHECK_OK(bw_tree_remove(txn, KIT_TREE, key, &removed));
    CHECK(removed);
}

struct tree *bw_kit_tree(struct txn *txn)
{
    struct tree *tree;
    CHECK_OK(bw_txn_tree_make(txn, KIT_TREE, TREE_OBJECTS, &tree));
    return tree;
}

page_ref bw_kit_leaf_ref(struct txn *txn, uint64_t key)
{
    const struct tree *tree = bw_kit_tree(txn);
    page_ref ref = tree->root;
    for (unsigned level = tree->depth - 1u; level > 0; level--) {
        const uint8_t *branch = NULL;
        CHECK_OK(bw_branch_read(txn, KIT_TREE, ref, level, &branch));
        ref = bw_branch_ref(branch, bw_branch_find(branch, key));
    }
    return ref;
}

const uint8_t *bw_kit_leaf(struct txn *txn, uint64_t key)
{
    const uint8_t *leaf = NULL;
    CHECK_OK(bw_leaf_read(txn, KIT_TREE, bw_kit_leaf_ref(txn, key), &leaf));
    return leaf;
}

uint8_t *bw_kit_extent(enum page_kind kind, unsigned pages)
{
    uint8_t *extent = calloc(pages, PAGE_SIZE);
    if (!extent) abort();
    extent[PAGE_AT_KIND] = (uint8_t)kind;
    extent[PAGE_AT_PAGES] = (uint8_t)pages;
    return extent;
}
