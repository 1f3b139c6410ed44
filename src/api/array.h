/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays that are handed out: a frame and its items in one block. NULL: no memory, reason set. */
#pragma once

#include "api/exported.h"

OBX_bytes_array *bw_array_bytes(size_t count);
OBX_id_array *bw_array_ids(size_t count);
OBX_bytes_score_array *bw_array_bytes_scores(size_t count);
OBX_id_score_array *bw_array_id_scores(size_t count);
