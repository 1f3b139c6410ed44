/* SPDX-License-Identifier: Apache-2.0 */
/* Short words for tests of trees: values that follow from their key, and looks at pages. */
#pragma once

#include "store/txn.h"

enum { KIT_TREE = 5, KIT_VALUE_MAX = 1 << 20 };

/* The value of this size that belongs to a key; valid until the next call. */
struct bytes bw_kit_value(uint64_t key, size_t size);

/* Put the values of the keys first to last. */
void bw_kit_put(struct txn *txn, uint64_t first, uint64_t last, size_t size);

/* The key has the value of this size, 0: is not there. */
void bw_kit_check(struct txn *txn, uint64_t key, size_t size);

/* Remove a key that is there. */
void bw_kit_remove(struct txn *txn, uint64_t key);

struct tree *bw_kit_tree(struct txn *txn);

/* The reference to the leaf where a key belongs, and its bytes. */
page_ref bw_kit_leaf_ref(struct txn *txn, uint64_t key);
const uint8_t *bw_kit_leaf(struct txn *txn, uint64_t key);

/* An extent of a leaf or branch on the heap, zeroed but for kind and length. For free(). */
uint8_t *bw_kit_extent(enum page_kind kind, unsigned pages);
