/* SPDX-License-Identifier: Apache-2.0 */
#include "api/builder.h"

#include "api/handles.h"

bw_err bw_builder_fail(OBX_query_builder *builder, bw_err err)
{
    if (builder->err) return builder->err;
    builder->err = err;
    builder->error_text = bw_copy_text(bw_reason_text());
    return err;
}

bw_err bw_builder_stuck(const OBX_query_builder *builder)
{
    if (!builder->err) return BW_OK;
    bw_reason_set(builder->err, 0, builder->error_text);
    return builder->err;
}
