#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# One acceptance suite over the library: tools/accept.sh LIST SUITE [ARGUMENT...]. Everything that
# .ci/passing/LIST.txt names must pass; what it does not name may fail: it waits for later work.
# BW_WRITE_PASSING=1 writes the list anew from what passes. Needs $SHARED and $LIB.
set -uo pipefail
export LC_ALL=C
cd "$(dirname "$(readlink -f "$0")")/.."
list=.ci/passing/$1.txt suite=$2
shift 2
export XDG_CACHE_HOME=${BW_ACCEPT_CACHE:-$PWD/build/acceptance-cache}
mkdir -p "$XDG_CACHE_HOME"
"$SHARED/acceptance/$suite/run" --lib "$LIB" "$@" >"$XDG_CACHE_HOME.$suite.log" 2>&1
result=$XDG_CACHE_HOME/odb-acceptance/$suite.result
passing() { sed -n 's/^PASSED //p' "$result" | sort -u; }
if [ -n "${BW_WRITE_PASSING:-}" ]; then
    mkdir -p .ci/passing
    passing >"$list"
fi
if [ ! -s "$list" ] || [ ! -s "$result" ]; then
    echo "$suite left no result"
    tail -n 5 "$XDG_CACHE_HOME.$suite.log"
    exit 1
fi
lost=$(comm -13 <(passing) "$list")
[ -z "$lost" ] || sed 's/^/no longer passes: /' <<<"$lost"
failed=$([ -z "$lost" ] && echo 0 || wc -l <<<"$lost")
echo "$suite: $(($(wc -l <"$list") - failed)) passed, $failed failed"
[ "$failed" = 0 ]
