/* SPDX-License-Identifier: Apache-2.0 */
/* labels: long */
/* The histories of power_test.c, twenty times as many. */
#define CRASHES 200000
#include "crash/power_test.c"
