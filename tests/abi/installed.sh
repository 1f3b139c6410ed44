#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# installed.sh BUILD CMAKE: install the build into an empty folder, move that, use it as strangers
# do: C11 and C++17, by pkg-config and by find_package, shared and static, and under the name for
# which bindings of the ABI look. Then look at the symbols.
set -euo pipefail
build=$1 cmake=$2 here=$(dirname "$(readlink -f "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failed() { echo "installed: $*" >&2; exit 1; }

"$cmake" --install "$build" --prefix "$work/first" --component boxwood >/dev/null
mv first moved
lib=$(dirname "$(find moved -name libboxwood.a)")
alias=$lib/boxwood/objectbox/libobjectbox.so
[ -e "$alias" ] || failed "$alias does not lead to the library"
export PKG_CONFIG_PATH=$work/$lib/pkgconfig LD_LIBRARY_PATH=$work/$lib

use() { mkdir store && "./$1" store >version || failed "$1 failed"; rm -r store; }
flags=$(pkg-config --cflags --libs boxwood)
strict="-Wall -Wextra -Werror"
cc -std=c11 -pedantic $strict "$here/consumer.c" -o c11 $flags
use c11
g++ -x c++ -std=c++17 $strict "$here/consumer.c" -o cpp17 $flags
use cpp17
headers=$(pkg-config --cflags boxwood)
cc -std=c11 $strict "$here/consumer.c" -o static "$lib/libboxwood.a" $headers -pthread
use static
ldd static | grep -q boxwood && failed "the static program needs the shared library"
cc -std=c11 $strict "$here/consumer.c" -o alias $headers \
    -L"$(dirname "$alias")" -lobjectbox
use alias

mkdir package
cat >package/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES C)
find_package(boxwood 0.1 REQUIRED)
add_executable(packaged ${SOURCE})
target_link_libraries(packaged PRIVATE boxwood::boxwood)
add_executable(packaged_static ${SOURCE})
target_link_libraries(packaged_static PRIVATE boxwood::boxwood_static)
END
"$cmake" -S package -B . -DSOURCE="$here/consumer.c" -DCMAKE_PREFIX_PATH="$work/moved" >/dev/null
"$cmake" --build . >/dev/null
use packaged
use packaged_static

# The shared library exports every name that the headers declare, and nothing else.
nm -D --defined-only "$lib/libboxwood.so" | awk '{print $3}' | sort >exported
strange=$(grep -Ev '^(obx|boxwood)_' exported || true)
[ -z "$strange" ] || failed "exported: $strange"
cat moved/include/*.h | cc -E -P -x c -I moved/include - 2>/dev/null | tr '\n' ' ' | tr ';' '\n' |
    grep -v typedef | grep -oE '\b(obx|boxwood)_[a-z0-9_]+ ?\(' | grep -oE '^\w+' |
    sort -u >declared
missing=$(comm -13 exported declared)
[ -z "$missing" ] || failed "declared and not exported: $missing"
# In the static library everything global has a prefix, or it would meet the application's names.
strange=$(nm -g --defined-only "$lib/libboxwood.a" 2>/dev/null | awk 'NF == 3 {print $3}' |
    grep -Ev '^(obx|boxwood|bw)_' || true)
[ -z "$strange" ] || failed "global without a prefix: $strange"
echo "installed: used by C11, C++17, pkg-config, find_package; $(wc -l <exported) names exported"
