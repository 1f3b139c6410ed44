/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files made by somebody who knows the format and means harm: the file of a sound store, some of
 * its numbers changed, all sums made to fit again (refix.h).
 */
#pragma once

#include "harness/refix.h"
#include "store/page.h"

/* The sound stores: each has a layout that the others have not. */
enum hostile_base {
    HOSTILE_LEAF,    /* one tree, one leaf */
    HOSTILE_FORMS,   /* trees with leaves that are dense, sparse, wide, long; overflow values */
    HOSTILE_DEEP,    /* two levels of branches; hundreds of pages */
    HOSTILE_CATALOG, /* so many trees that they have a tree of their own; a schema on a page */
    HOSTILE_REGIONS, /* a small geometry: bitmaps on pages */
    HOSTILE_OPEN,    /* never closed: no seal, a manifest */
    HOSTILE_BASES
};

struct hostile_store {
    const struct geometry *geometry; /* NULL: the product's */
    const uint8_t *bytes;
    uint32_t page_count;
};

/* Made when first asked for, the same in every process, kept until it ends. */
const struct hostile_store *hostile_store(enum hostile_base base);

/* One change to such a file. What a field means depends on the kind; all values are possible. */
enum hostile_kind {
    HOSTILE_RAW,      /* 1, 2, 4 or 8 bytes of a page */
    HOSTILE_CHILD,    /* a branch's key, reference or count */
    HOSTILE_SLOT,     /* an offset, length or distance in a leaf */
    HOSTILE_HEADER,   /* a field of an extent's header */
    HOSTILE_META,     /* a field of a slot of the file */
    HOSTILE_ENTRY,    /* a field of a tree entry in a slot of the file */
    HOSTILE_BIT,      /* pages that the bitmaps call free, or used */
    HOSTILE_COPY,     /* an extent once more, at another place */
    HOSTILE_VALUE,    /* bytes of a value in a leaf: catalogue entries, overflow references */
    HOSTILE_RUN,      /* a run of a manifest */
    HOSTILE_SELECTOR, /* bytes where a slot keeps its bitmap or selectors */
    HOSTILE_SEAL,     /* a seal taken away */
    HOSTILE_CUT,      /* the file ends elsewhere */
    HOSTILE_KINDS
};

struct hostile_change {
    uint8_t kind, how, word;
    uint16_t page, at;
    uint64_t value;
};

/* image->changed must be there. The length may shrink: image->page_count. */
void hostile_apply(struct image *image, const struct geometry *geometry,
                   const struct hostile_change *change);
