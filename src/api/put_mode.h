/* SPDX-License-Identifier: Apache-2.0 */
/* The put mode that a program asked for, checked: ILLEGAL_ARGUMENT "Illegal put mode: N". */
#pragma once

#include "box/box.h"

static inline MUST_CHECK bw_err bw_put_mode_check(int mode, enum put_mode *out_mode)
{
    if (mode < PUT_ANY || mode > PUT_NEW) {
        return bw_fail(BW_ERR_ILLEGAL_ARGUMENT, "Illegal put mode: %d", mode);
    }
    *out_mode = (enum put_mode)mode;
    return BW_OK;
}
