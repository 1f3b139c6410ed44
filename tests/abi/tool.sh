#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tool.sh TOOL CONSUMER: the command-line tool on stores that the other program makes, sound and
# damaged: what it says, in which form, and its exit codes.
set -euo pipefail
tool=$1 consumer=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failed() { echo "tool: $*" >&2; exit 1; }

# expect CODE TEXT ARGUMENT...: exits so, and says so on stdout or stderr.
expect() {
    local wanted=$1 text=$2 code=0
    shift 2
    "$tool" "$@" >out 2>err || code=$?
    [ "$code" = "$wanted" ] || {
        cat out err >&2
        failed "boxwood $*: exit code $code, not $wanted"
    }
    grep -qF -- "$text" out err || { cat out err >&2; failed "boxwood $*: does not say: $text"; }
}
make() { rm -rf store new && mkdir store && "$consumer" "$work/store" >/dev/null; }
# zero FIRST COUNT: pages of the store's file
zero() { dd if=/dev/zero of=store/data.mdb bs=4096 seek="$1" count="$2" conv=notrunc status=none; }
page() { dd if=store/data.mdb bs=4096 skip="$1" count=1 status=none | od -An -tu1 -j12 -N1; }

expect 0 "exit codes:" --help
expect 0 "boxwood " --version
expect 2 "no verb given"
expect 2 "unknown verb dance" dance store
expect 2 "unknown option --fast" check --fast store
expect 2 "wrong number" check
expect 2 "wrong number" salvage store

make
before=$(cksum <store/data.mdb)
expect 0 "fine; commit" check store
expect 0 "1 objects" check --pages-only store store
expect 0 '"fine":true' check --json store
expect 0 '"problems":0' check --json store
expect 0 "in use; commit" stat store
expect 0 '"file_size":' stat --json store
expect 0 "100 %" check --progress store
[ "$(cksum <store/data.mdb)" = "$before" ] || failed "looking changes the store"
expect 0 "1 objects for certain, 0 guessed, 0 lost, 0 damaged" salvage store new
expect 3 "already" salvage store new
expect 0 "1 objects" check new
expect 3 "nowhere" check nowhere
expect 3 "nowhere" check nowhere store
expect 3 "nowhere" stat nowhere
expect 3 "nowhere" salvage nowhere other
[ ! -e other/data.mdb ] || failed "a failure leaves a store"
command -v python3 >/dev/null && { "$tool" check --json store; rm -r new
    "$tool" salvage --json store new; } | python3 -c 'import json, sys
for line in sys.stdin: json.loads(line)'

# Every leaf is damaged.
make
pages=$(($(wc -c <store/data.mdb) / 4096))
for number in $(seq 2 $((pages - 1))); do
    [ "$(page "$number")" -ne 2 ] || zero "$number" 1
done
expect 1 "PROBLEMS" check store
expect 1 '"fine":false' check --json store
expect 1 "1 lost" salvage store new
expect 0 "0 objects" check new

# Both slots are.
make
zero 0 2
expect 3 "store" check store
expect 1 "1 guessed" salvage store new
expect 1 "The schema is lost" salvage store newer
expect 3 "No DB catalog" check new
"$consumer" "$work/new" >/dev/null || failed "a salvaged store does not open with its model"
expect 0 "fine" check new

# Nothing is left.
make
zero 0 "$pages"
expect 3 "Nothing of a store" salvage store new
echo "tool: check, salvage and stat say what they find and exit as they promise"
