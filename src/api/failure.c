/* SPDX-License-Identifier: Apache-2.0 */
#include "api/failure.h"

void bw_failure_fill(boxwood_failure *out_failure)
{
    if (!out_failure) return;
    const struct reason_place *place = bw_reason_place();
    *out_failure = (boxwood_failure){
        .code = (obx_err)bw_reason_code(),
        .secondary = bw_reason_secondary(),
        .entity_id = place->entity_id,
        .property_id = place->property_id,
        .index = place->index,
        .id = place->id,
        .other_id = place->other_id,
    };
    const char *text = bw_reason_text();
    size_t size = strlen(text);
    if (size >= sizeof(out_failure->message)) {
        size = sizeof(out_failure->message) - 1;
        while (size > 0 && ((unsigned char)text[size] & 0xC0) == 0x80) size--; // whole characters
    }
    memcpy(out_failure->message, text, size);
}

// Not every code comes with a reason: a position that is known then stays, the text is empty.
bw_err bw_failure_note(boxwood_failure *out_failure, bw_err err)
{
    if (!out_failure || (unsigned)err < BW_ERR_ILLEGAL_STATE) return err;
    if (bw_reason_code() == err) {
        bw_failure_fill(out_failure);
    } else {
        *out_failure = (boxwood_failure){.code = (obx_err)err, .index = UINT64_MAX};
    }
    return err;
}
