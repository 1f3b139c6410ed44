#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Check that src/ keeps to the order written in src/LAYERS.

    tools/check_layers.py              the tree this file lies in
    tools/check_layers.py --self-test  plant one violation of each rule, see each found

A layer includes its own files and the doors (x/x.h) of the layers it names; it can name only layers
above it in the list. Only api includes the public headers. Only os sees an operating system.
"""

import pathlib
import re
import sys
import tempfile

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
# What the C standard gives to everybody. Anything else in angle brackets belongs to a platform.
STANDARD = set("""assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp
    signal stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath
    threads time uchar wchar wctype""".split())
# Single headers that a layer may take from outside.
OUTSIDE = {"base": {"xxhash.h", "immintrin.h"}, "vector": {"immintrin.h", "arm_neon.h"}}
PLATFORM = re.compile(r"\b(_WIN32|_WIN64|__linux__|__APPLE__|__ANDROID__|__unix__|_POSIX_C_SOURCE|"
                      r"_GNU_SOURCE|_DEFAULT_SOURCE|_XOPEN_SOURCE)\b")
SYSTEM_CALL = re.compile(
    r"(?<![\w.>])(time|clock|rand|srand|getenv|setenv|system|fopen|fread|fwrite|fclose|"
    r"remove|rename|open|close|read|write|pread|pwrite|mmap|munmap|fork|getpid|usleep|nanosleep|"
    r"clock_gettime|timespec_get)\s*\(")
OWN_FUNCTION = re.compile(r"^static [^;=()]*?(\w+)\(", re.MULTILINE)


def without_text(line):
    """The line without string literals and without what a comment on it says."""
    line = re.sub(r'"(\\.|[^"\\])*"', '""', line)
    line = re.sub(r"/\*.*?\*/", " ", line)
    return re.split(r"//|/\*", line)[0]


def code_lines(text):
    """(number, line, code) of each line; code is empty inside block comments."""
    in_comment = False
    for number, line in enumerate(text.splitlines(), 1):
        if in_comment:
            before, end, rest = line.partition("*/")
            in_comment = not end
            yield number, line, without_text(rest) if end else ""
            continue
        code = without_text(line)
        opened = re.sub(r'"(\\.|[^"\\])*"|/\*.*?\*/|//.*', "", line)
        in_comment = "/*" in opened
        yield number, line, code


def read_layers(path, report):
    """name -> set of names it may use, in the file's order."""
    layers = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        name, colon, uses = line.partition(":")
        if not colon or not re.fullmatch("[a-z_]+", name):
            report(path, number, "not of the form `name: layer layer`")
            continue
        if name in layers:
            report(path, number, f"{name} is listed twice")
        for used in uses.split():
            if used not in layers:
                report(path, number, f"{name} names {used}, which is not above it")
        layers[name] = set(uses.split())
    return layers


def check_include(path, number, layer, uses, kind, name, report):
    head = name.split("/")[0]
    if kind == "<":
        stem = name.removesuffix(".h")
        if layer != "os" and stem not in STANDARD and name not in OUTSIDE.get(layer, ()):
            report(path, number, f"<{name}> belongs to a platform, and only os may see one")
    elif "/" not in name:
        if layer != "api":
            report(path, number, f'"{name}": public headers are the business of api; '
                                 "private ones are included as layer/file.h")
    elif head == layer:
        pass
    elif head not in uses:
        report(path, number, f"{layer} does not name {head} in src/LAYERS")
    elif name != f"{head}/{head}.h":
        report(path, number, f'"{name}" is private to {head}; its door is {head}/{head}.h')


def check(root):
    """All violations below root, as texts."""
    problems = []

    def report(path, number, text):
        problems.append(f"{path.relative_to(root)}:{number}: {text}")

    source = root / "src"
    layers = read_layers(source / "LAYERS", report)
    for folder in sorted(p for p in source.iterdir() if p.is_dir()):
        files = sorted(p for p in folder.rglob("*") if p.suffix in (".c", ".h"))
        if folder.name not in layers:
            report(folder, 1, "is not named in src/LAYERS")
            continue
        door = folder / f"{folder.name}.h"
        # api has no layer above it: its door is the ABI in include/.
        if files and not door.exists() and folder.name != "api":
            report(folder, 1, f"has no door {door.name}")
        for path in files:
            text = path.read_text()
            own = set(OWN_FUNCTION.findall(text))
            for number, line, code in code_lines(text):
                found = INCLUDE.match(line)
                if found:
                    check_include(path, number, folder.name, layers[folder.name], *found.groups(),
                                  report)
                elif folder.name != "os":
                    for word in PLATFORM.findall(code):
                        report(path, number, f"{word}: only os may see a platform")
                    for word in set(SYSTEM_CALL.findall(code)) - own:
                        report(path, number, f"{word}(): only os may ask the operating system")
    return problems


def self_test():
    """Each rule with one file that breaks it, and the word its report must contain."""
    cases = [
        ("two/a.c", '#include "one/private.h"\n', "private to one"),
        ("one/a.c", '#include "two/two.h"\n', "does not name two"),
        ("one/a.c", '#include "objectbox.h"\n', "business of api"),
        ("one/a.c", "#include <unistd.h>\n", "belongs to a platform"),
        ("one/a.c", "#ifdef _WIN32\n#endif\n", "only os may see a platform"),
        ("one/a.c", "int f(void) { return rand(); }\n", "rand()"),
        ("one/a.c", "/* a comment\n over lines */ long f(void) { return time(0); }\n", "time()"),
        ("three/a.c", "int a;\n", "not named in src/LAYERS"),
        ("four/a.c", "int a;\n", "has no door"),
        ("LAYERS", "one: two\ntwo:\nos:\napi:\nfour:\n", "not above it"),
        ("LAYERS", "one two\ntwo:\nos:\napi:\nfour:\n", "not of the form"),
    ]
    allowed = {
        "LAYERS": "# comment\none:\nos:  one\ntwo: one\nfour:\napi: one two\n",
        "one/one.h": "int a;\n", "two/two.h": '#include "one/one.h"\n',
        "two/fine.c": '#include "two/two.h"\n#include <string.h>\n'
                      '/* rand() in a comment */ const char *a = "time(0)"; // open()\n'
                      "int b(struct disk *disk) { return disk->open(1) + reopen(2); }\n"
                      "static int read(int a) { return a; }\nint c(void) { return read(1); }\n",
        "os/os.h": "#include <unistd.h>\n#ifdef _WIN32\n#endif\n",
        "api/a.c": '#include "objectbox.h"\n#include "two/two.h"\n',
    }

    def run(extra):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {**allowed, **extra}.items():
                path = pathlib.Path(folder, "src", name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return check(pathlib.Path(folder))

    assert run({}) == [], run({})
    for name, text, word in cases:
        problems = run({name: text})
        assert any(word in problem for problem in problems), (name, text, problems)
    print(f"layers: {len(cases)} planted violations found")


def main():
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        return
    root = pathlib.Path(__file__).resolve().parent.parent
    problems = check(root)
    print("\n".join(problems) if problems else "the order holds")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
