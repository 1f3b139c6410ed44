/* SPDX-License-Identifier: Apache-2.0 */
#include "os/posix/platform.h"

#include "os/pages.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MAP_NORESERVE
#define MAP_NORESERVE 0
#endif

uint8_t *bw_pages_reserve(size_t size)
{
    void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

void bw_pages_release(uint8_t *pages, size_t size) { (void)munmap(pages, size); }

void bw_pages_clear(uint8_t *from, size_t size)
{
#ifdef __linux__
    // Whole pages are handed back; elsewhere the advice does not promise zeros.
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t before = (size_t)(-(uintptr_t)from & (page - 1));
    if (size > before) {
        const size_t whole = (size - before) & ~(page - 1);
        if (whole && madvise(from + before, whole, MADV_DONTNEED) == 0) {
            memset(from, 0, before);
            memset(from + before + whole, 0, size - before - whole);
            return;
        }
    }
#endif
    memset(from, 0, size);
}
