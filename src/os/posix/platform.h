/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What POSIX systems are asked to show, and how their numbers are explained. To be included before
 * any other header.
 */
#pragma once

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif
#ifdef __APPLE__
#define _DARWIN_C_SOURCE
#endif

#include "os/os.h"

enum { SYSTEM_TEXT_ROOM = 128 };

/* What the system says about an errno, in text or in memory of the C library. */
const char *bw_platform_text(int number, char text[SYSTEM_TEXT_ROOM]);

/* The code for an errno: DB_FULL when there is no room for the data, else STORAGE_GENERAL. */
bw_err bw_platform_code(int number);
