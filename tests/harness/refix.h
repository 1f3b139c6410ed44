/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The image of a store's file, changed by somebody who can write checksums: whatever was changed
 * gets sums that fit, so that what is behind the checksums is reached.
 *
 * Only sums are made again. What the file says with them is as good or bad as it was.
 */
#pragma once

#include "base/base.h"

struct image {
    uint8_t *bytes;      /* borrowed */
    uint32_t page_count; /* whole pages */
    uint8_t *changed;    /* borrowed: a byte a page, not 0: its sums may be wrong; NULL: all */
};

/* The extent that begins with this page, as its header tells: its length, 0 for none. */
uint32_t refix_extent(const struct image *image, uint32_t page);

/* Make sums anew: of each extent with a changed page, of the runs in the slots, of the slots, and
 * of the seals that were good for a slot's transaction. */
void refix_image(const struct image *image);

/* Give the store another uuid, and thereby another salt for all sums. */
void refix_set_uuid(const struct image *image, const uint8_t uuid[16]);
