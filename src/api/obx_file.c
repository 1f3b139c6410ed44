/* SPDX-License-Identifier: Apache-2.0 */
/* Files of stores that need not be open, and threads. */
#include "api/argument.h"
#include "api/core.h"

obx_err obx_remove_db_files(const char *directory)
{
    if (!directory) return ARGUMENT_NULL(directory);
    return bw_store_remove(bw_core_disk(directory, NULL), directory);
}

size_t obx_db_file_size(const char *directory)
{
    if (!directory) return (size_t)bw_argument_no_id(ARGUMENT_NULL(directory));
    const uint64_t size = bw_store_file_size(bw_core_disk(directory, NULL), directory);
    return size < SIZE_MAX ? (size_t)size : SIZE_MAX;
}

int obx_thread_number(void) { return (int)bw_thread_number(); }

obx_err obx_posix_sem_prefix_set(const char *prefix)
{
    (void)prefix; // for named semaphores, of which there are none
    return OBX_SUCCESS;
}
