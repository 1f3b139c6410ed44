/* SPDX-License-Identifier: Apache-2.0 */
#include "api/model_handle.h"

#include "api/argument.h"

bw_err bw_model_handle_take(OBX_model *model, int line, struct model **out_model)
{
    if (!bw_pool_holds(model, SLOT_MODEL)) {
        return bw_argument_refuse(model, SLOT_MODEL, "model", line);
    }
    *out_model = model->model;
    bw_pool_give(model);
    return BW_OK;
}
