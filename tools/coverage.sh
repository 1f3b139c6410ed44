#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the last run of the coverage preset's tests has taken of src/store, a line a file: lines,
# branches, and each line with a branch that was never taken.
#
#     cmake --workflow --preset coverage && tools/coverage.sh [FILE...]
#
# tests/coverage.txt names the files in which every branch has to be taken, and the lines that are
# excused, with a reason. Fails when another branch of these files was not taken, and when an excuse
# is no longer needed. Branches of ASSERT do not count: they are there never to be taken.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
objects=build/coverage/CMakeFiles/boxwood_objects.dir/src/store
list=tests/coverage.txt status=0
[ $# -gt 0 ] || set -- $(cd src/store && ls ./*.c | sed 's|^\./||')

# One line for each source line of a file: number, runs, branches, branches not taken, text.
lines() {
    gcov -b -c -t -o "$objects/$1.gcda" "src/store/$1" | awk -v file="Source:.*/src/store/$1$" '
        function flush() { if (number) print number "\t" runs "\t" all "\t" missed "\t" text }
        /^ *-: *0:Source:/ { wanted = $0 ~ file }
        !wanted { next }
        /^ *[-#=0-9]+\*?: *[0-9]+:/ {
            flush()
            split($0, part, ":")
            number = part[2] + 0; runs = part[1]; all = missed = 0
            gsub(/[ *]/, "", runs)
            text = $0; sub(/^[^:]*:[^:]*:[ \t]*/, "", text)
        }
        /^branch +[0-9]+ / { all++; if (/never executed|taken 0( |$)/) missed++ }
        END { flush() }'
}

for file in "$@"; do
    if [ ! -e "$objects/$file.gcda" ]; then
        echo "$file: no counts; run cmake --workflow --preset coverage"
        status=1
        continue
    fi
    lines "$file" | awk -F '\t' -v file="$file" -v list="$list" '
        BEGIN {
            while ((getline line < list) > 0) {
                if (line ~ /^#/ || line == "") continue
                count = split(line, part, "\t")
                if (part[1] != file) continue
                if (count == 1) is_listed = 1
                else excuse[part[2]] = part[3]
            }
        }
        $5 ~ /^ASSERT(_SLOW)?\(/ { $3 = $4 = 0 }
        $2 != "-" { code++; if ($2 !~ /^[#=]/) run++ }
        { branches += $3; missed += $4 }
        $4 > 0 {
            is_excused = $5 in excuse
            found[$5]
            note = note sprintf("    %s:%d: %d of %d: %s\n", file, $1, $4, $3, $5)
            if (is_excused) note = note "        excused: " excuse[$5] "\n"
            else if (is_listed) { note = note "        NOT EXCUSED\n"; failed = 1 }
        }
        END {
            for (text in excuse) {
                if (text in found) continue
                note = note sprintf("    %s: an excuse that nothing needs: %s\n", file, text)
                failed = 1
            }
            printf "%s: %d of %d lines, %d of %d branches%s\n%s", file, run, code,
                   branches - missed, branches, is_listed ? ", all wanted" : "", note
            exit failed
        }' || status=1
done
exit $status
