/* SPDX-License-Identifier: Apache-2.0 */
/* labels: long */
/* The killed processes of kill_test.c, twenty times as many, and on the disk. */
#define KILLS 10000
#define MAKE_SCRATCH bw_scratch_make
#include "crash/kill_test.c"
