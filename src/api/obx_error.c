/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "api/exported.h"
#include "base/base.h"

enum { TEXT_ROOM = 1024 };

bool obx_last_error_pop(obx_err *out_error, const char **out_message)
{
    static _Thread_local char popped[TEXT_ROOM];
    const bw_err err = bw_reason_code();
    if (out_error) *out_error = err;
    if (out_message) {
        const char *text = bw_reason_text();
        const size_t size = bw_text_size(text, sizeof(popped) - 1);
        memcpy(popped, text, size);
        popped[size] = 0;
        *out_message = popped;
    }
    bw_reason_clear();
    return err != BW_OK;
}

obx_err obx_last_error_code(void) { return bw_reason_code(); }

const char *obx_last_error_message(void) { return bw_reason_text(); }

obx_err obx_last_error_secondary(void) { return bw_reason_secondary(); }

void obx_last_error_clear(void) { bw_reason_clear(); }

bool obx_last_error_set(obx_err code, obx_err secondary, const char *message)
{
    if (code == OBX_SUCCESS) {
        bw_reason_clear();
    } else {
        bw_reason_set((bw_err)code, secondary, message);
    }
    return true;
}
