/* SPDX-License-Identifier: Apache-2.0 */
#include "api/missing.h"

#include "api/argument.h"
#include "api/builder.h"

bw_err bw_missing_refuse(const void *handle, const char *name, int line, const char *text)
{
    if (!handle) return bw_argument_null(name, line);
    return bw_fail(BW_ERR_FEATURE_NOT_AVAILABLE, "%s", text);
}

bw_err bw_missing_condition(OBX_query_builder *builder, int line)
{
    if (!bw_pool_holds(builder, SLOT_BUILDER)) {
        return bw_argument_refuse(builder, SLOT_BUILDER, "builder", line);
    }
    bw_err err = bw_builder_stuck(builder);
    if (err) return err;
    return bw_builder_fail(builder,
                           bw_fail(BW_ERR_FEATURE_NOT_AVAILABLE, "%s", MISSING_CONDITIONS));
}
