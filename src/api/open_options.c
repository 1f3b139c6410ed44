/* SPDX-License-Identifier: Apache-2.0 */
#include "api/open_options.h"

#include "api/argument.h"

struct options *bw_open_options_consume(OBX_store_options *opt, int line)
{
    if (!bw_pool_holds(opt, SLOT_OPTIONS)) {
        return bw_argument_no_pointer(bw_argument_refuse(opt, SLOT_OPTIONS, "opt", line));
    }
    struct options *options = opt->options;
    bw_pool_give(opt);
    return options;
}

void bw_open_options_free(struct options *options)
{
    if (!options) return;
    bw_free(options->directory);
    bw_free(options->backup_file);
    bw_free(options->model_failure.text);
    bw_schema_release(options->schema);
    bw_free(options);
}

void bw_open_options_keep(struct kept_failure *kept, bw_err err)
{
    if (kept->err) return;
    kept->err = err;
    kept->secondary = bw_reason_secondary();
    kept->text = bw_copy_text(bw_reason_text());
}

bw_err bw_open_options_report(const struct kept_failure *kept)
{
    if (!kept->err) return BW_OK;
    bw_reason_set(kept->err, kept->secondary, kept->text);
    return kept->err;
}
