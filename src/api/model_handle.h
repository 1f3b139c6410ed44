/* SPDX-License-Identifier: Apache-2.0 */
/* Models as handles, and how they are consumed. */
#pragma once

#include "api/exported.h"
#include "api/pool.h"
#include "model/model.h"

struct OBX_model {
    struct slot slot;
    struct model *model; // owned
};

/* A compiled model. */
struct boxwood_model {
    struct slot slot;
    struct schema *schema; // held
};

/* Close the handle and take what it owns; the argument is called "model". */
MUST_CHECK bw_err bw_model_handle_take(OBX_model *model, int line, struct model **out_model);
