/* SPDX-License-Identifier: Apache-2.0 */
/* labels: long */
/* The files of file_size_test.c after 25,000 transactions on a bounded live set. */
#define ROUNDS 20000
#include "cases/file_size_test.c"
