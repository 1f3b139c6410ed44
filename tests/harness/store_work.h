/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Histories of a whole store without crashes, each from a seed: what trees, pages, catalogue and
 * the space that a file takes must be however long a process runs. Crashes are harness/trial.h's.
 *
 * What is wrong ends the test: see harness/check.h.
 */
#pragma once

#include <stdint.h>

/* Work on a tree (harness/tree_work.h) in a store that is closed and opened again now and then,
 * beside other trees: some that nobody touches, sometimes more than a slot holds. */
void store_work(uint64_t seed, unsigned steps);

/*
 * The same few keys are written again and again, in many transactions, some of them aborted;
 * sometimes a reader is held all the time. The file must stay within a small multiple of what the
 * snapshots that are held reach.
 */
void store_churn(uint64_t seed);

/* One byte of a closed store is changed. Reading all of it must fail, or find what was there: some
 * pages are free. */
void store_flip(uint64_t seed);
