/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which tree of the store holds what. Numbers are on disk: never change one.
 *
 * Ids of entities, indexes and relations have 24 bits (the model layer refuses larger ones), so
 * that the top byte tells what a tree is.
 */
#pragma once

#include <stdint.h>

enum tree_family {
    TREES_OBJECTS = 0,   /* objects of an entity, by id */
    TREES_INDEXES = 1,   /* of a property */
    TREES_RELATIONS = 2, /* of an n:m relation, forwards */
    TREES_BACKLINKS = 3, /* the same, backwards */
};

/* Never 0, since ids are not. */
static inline uint32_t bw_tree_id(enum tree_family family, uint32_t id)
{
    return (uint32_t)family << 24 | id;
}
