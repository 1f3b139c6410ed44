#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Install what building and checking need: system packages (when root on Debian or Ubuntu; otherwise
# the command is printed) and a Python environment in .venv. Costs half a second when all is there.
# `tools/setup.sh full` adds what fuzzing needs; `long` also, on x86-64, what 32 bits need.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."

missing=()
command_of() { command -v "$1" >/dev/null 2>&1 || missing+=("$2"); }
header_of() { echo "#include <$1>" | cc -M -x c - >/dev/null 2>&1 || missing+=("$2"); }
command_of git git
command_of cmake cmake
command_of ninja ninja-build
command_of pkg-config pkg-config
command_of strace strace
command_of setarch util-linux
command_of g++ g++
case ${1:-} in full | long) command_of clang "clang libclang-rt-14-dev" ;; esac
if command -v cc >/dev/null 2>&1; then
    header_of stdio.h libc6-dev
    header_of xxhash.h libxxhash-dev
    header_of lmdb.h liblmdb-dev
    header_of cmocka.h libcmocka-dev
else
    missing+=(gcc libc6-dev libxxhash-dev liblmdb-dev libcmocka-dev)
fi
if command -v python3 >/dev/null 2>&1; then
    python3 -c 'import ensurepip, venv' 2>/dev/null || missing+=(python3-venv)
    include=$(python3 -c 'import sysconfig; print(sysconfig.get_paths()["include"])')
    [ -e "$include/Python.h" ] || missing+=(python3-dev)
else
    missing+=(python3 python3-venv python3-dev)
fi

if [ "${1:-}" = long ] && [ "$(uname -m)" = x86_64 ]; then
    echo '#include <stdio.h>' | cc -m32 -M -x c - >/dev/null 2>&1 || missing+=(gcc-multilib)
    [ -e /usr/lib/i386-linux-gnu/libcmocka.so ] || missing+=(libcmocka-dev:i386)
fi

if [ ${#missing[@]} -gt 0 ]; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        echo "installing ${missing[*]}"
        [[ ${missing[*]} != *:i386* ]] || dpkg --add-architecture i386
        apt-get update -qq
        export DEBIAN_FRONTEND=noninteractive
        # shellcheck disable=SC2086 # some entries are several packages
        apt-get install -qq -y --no-install-recommends ${missing[*]} >/dev/null
    else
        [[ ${missing[*]} != *:i386* ]] || echo "First, as root: dpkg --add-architecture i386" >&2
        echo "Missing. On Debian or Ubuntu, as root: apt-get install ${missing[*]}" >&2
        exit 1
    fi
fi

# The stamp changes with the list, with the interpreter, and with the place of the tree.
stamp=.venv/.stamp-$( (cat tools/requirements.txt; python3 --version; pwd) | cksum | cut -d' ' -f1)
if [ ! -e "$stamp" ]; then
    echo "making .venv"
    rm -rf .venv
    python3 -m venv .venv
    .venv/bin/python -m pip install -q --disable-pip-version-check -r tools/requirements.txt
    touch "$stamp"
fi
