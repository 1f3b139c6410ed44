/* SPDX-License-Identifier: Apache-2.0 */
/* Errors of query builders: the first one stays. */
#pragma once

#include "api/exported.h"
#include "base/base.h"

/* Keep the thread's last failure as the builder's, unless it has one. Hands on the builder's. */
MUST_CHECK bw_err bw_builder_fail(OBX_query_builder *builder, bw_err err);

/* Report what stuck, if anything did. */
MUST_CHECK bw_err bw_builder_stuck(const OBX_query_builder *builder);
