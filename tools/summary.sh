#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# One line for each log of ./check or .ci/run: what its test runner counted, or its last line.
for log in "$@"; do
    name=$(basename "$log" | sed 's/^[0-9]*-//')
    counted=$(sed -nE \
        -e 's/^[0-9]+% tests passed, ([0-9]+) tests? failed out of ([0-9]+).*/\2 \1/p' \
        -e 's/^([0-9]+) passed, ([0-9]+) failed.*/\1+\2 \2/p' \
        -e 's/^=* ?([0-9]+) passed(, [0-9]+ (skipped|deselected|warnings?|xfailed))* in .*/\1 0/p' \
        "$log" | tail -n 1)
    if [ -n "$counted" ]; then
        all=${counted% *} failed=${counted#* }
        echo "$name: $((all - failed)) passed, $failed failed"
    else
        echo "$name: $(tail -n 1 "$log" | grep . || echo fine)"
    fi
done
