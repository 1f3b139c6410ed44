#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tools/fuzz.sh [NAME...]: build the fuzz targets and let each of them, or those named, go on from
# its corpus for BW_FUZZ_SECONDS (60; 0: until one finds something or is stopped), two at a time.
# What they find lies in build/fuzz/found, what they learn in build/fuzz/corpus.
# tools/fuzz.sh keep [NAME...]: make what was learnt as small as it can be, and the new corpus.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
export seconds=${BW_FUZZ_SECONDS:-60}
export ASAN_OPTIONS=allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1

what=run
[ "${1:-}" != keep ] || { what=keep; shift; }
cmake --preset fuzz >/dev/null
cmake --build --preset fuzz
names=("$@")
targets() { for file in tests/fuzz/*_fuzz.c; do basename "$file" _fuzz.c; done; }
[ ${#names[@]} -gt 0 ] || mapfile -t names < <(targets)
mkdir -p build/fuzz/found

run() {
    local log=build/fuzz/$1.log corpus=build/fuzz/corpus/$1
    mkdir -p "$corpus"
    if build/fuzz/tests/"$1"_fuzz -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2560 \
        -max_len=700 -len_control=0 -artifact_prefix=build/fuzz/found/"$1"- \
        "$corpus" tests/fuzz/"$1" >"$log" 2>&1; then
        echo "$1: $(grep '^Done' "$log"), $(grep -o 'cov: [0-9]*' "$log" | tail -n 1)"
    else
        tail -n 60 "$log"
        echo "$1: found a fault"
        return 1
    fi
}
keep() { # inputs with names of their own stay
    local kept=build/fuzz/kept/$1 corpus=tests/fuzz/$1
    mkdir -p "$corpus" build/fuzz/corpus/"$1"
    rm -rf "$kept" && mkdir -p "$kept"
    build/fuzz/tests/"$1"_fuzz -merge=1 -use_counters=0 -max_len=700 \
        "$kept" "$corpus" build/fuzz/corpus/"$1"
    find "$corpus" -regextype posix-extended -regex '.*/[0-9a-f]{40}' -delete
    cp "$kept"/* "$corpus"/
}
export -f run keep
jobs=2
[ "$seconds" != 0 ] || jobs=${#names[@]}
printf '%s\n' "${names[@]}" | xargs -P"$jobs" -I{} bash -c "$what {}"
