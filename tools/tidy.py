#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Check what STYLE.md asks for and no compiler sees.

    tools/tidy.py              the tree this file lies in
    tools/tidy.py --self-test  plant one violation of each rule, see each found

Formatting is clang-format's business, function length and naming clang-tidy's, the order of layers
check_layers.py's.
"""

import collections
import pathlib
import re
import subprocess
import sys
import tempfile

from check_layers import code_lines

LINE_MAX = 100
FILE_MAX = 800

# Files of src/, or folders with a / at the end, that define bw_* functions and have no unit test
# of their own: why not, and where else they are tested.
TESTED_ELSEWHERE = {
    "api/": "through the ABI that they make: tests/abi, and the tests of the Python package",
}

# Parts of a name that are abbreviations outside the closed list, and what to write instead.
WORDS = {
    "addr": "address", "arr": "name what it holds", "cb": "callback or a verb", "cfg": "options",
    "cnt": "count", "ctx": "name the thing", "dst": "to", "elem": "element",
    "idx": "at, no or index", "msg": "message", "num": "count or no", "param": "parameter",
    "params": "parameters", "pos": "at", "prev": "previous", "prop": "property",
    "props": "properties", "ptr": "name what it points to", "res": "result or a noun",
    "ret": "err or a noun", "retval": "err or a noun", "src": "from", "str": "text", "sz": "size",
    "temp": "name what it holds", "tmp": "name what it holds", "util": "find its noun",
    "utils": "find its noun", "val": "value", "vals": "values",
}
# Calls that src/ does not make: C name -> what to use.
CALLS = {
    "malloc": "bw_new_raw", "calloc": "bw_new", "realloc": "bw_resize", "free": "bw_free",
    "strdup": "bw_copy_text", "strcpy": "memcpy of a known size", "strcat": "snprintf",
    "sprintf": "snprintf", "vsprintf": "vsnprintf", "strtok": "a loop", "gets": "nothing",
    "atoi": "strtol, checked", "atol": "strtol, checked", "alloca": "an arena",
    "setjmp": "an error code", "longjmp": "an error code", "assert": "ASSERT",
    "printf": "bw_fail", "fprintf": "bw_fail", "puts": "bw_fail", "perror": "bw_fail_system",
}
CALLS_ALLOWED = {"src/base/memory.c": {"malloc", "calloc", "realloc", "free"},
                 "src/base/assert.c": {"fprintf"}}
# Words of prose, anywhere, and why not.
PROSE = {
    r"\bFIXME\b|\bXXX\b|\bHACK\b": "mend it or file an issue",
    r"\bTODO\b(?!\(#\d+\))": "mend it, or name the issue: TODO(#12)",
    r"(?i)\butili[sz]e\b|\bleverage\b": "use",
    r"(?i)\bobviously\b|\bneedless to say\b": "leave it out",
    r"(?i)\bblazing(ly)?\b|\bseamless(ly)?\b|\bcutting.edge\b": "give a number",
    r"(?<![\w./~-])/(root|home)/": "a folder of one machine has no place here",
    r"\b(abi|rulings|storage|bindings|observed-behaviour)\.md\b|\bobserved-behaviour \d":
        "say it here, or in docs/",
}

CODE = {".c", ".h", ".py", ".go", ".sh", ".cmake"}
MARKED = CODE | {".map", ".in"}
# Names that tools give meaning to, so that nobody has to mention them; and those that may repeat.
KNOWN = {"README.md", "LICENSE", "CMakeLists.txt", "CMakePresets.json", ".clang-format",
         ".clang-tidy", ".gitignore", ".gitattributes", "check", "__init__.py", "__main__.py",
         "conftest.py", "py.typed", "pyproject.toml", "go.mod", "go.sum", "doc.go"}
REPEATED = KNOWN | {"requirements.txt", ".gitkeep"}


class Tree:
    """The files of a repository that are, or would be, committed."""

    def __init__(self, root):
        self.root = root
        self.paths = [p for p in self.names() if (root / p).is_file()]
        self.problems = []

    def names(self):
        git = subprocess.run(["git", "-C", self.root, "ls-files", "-co", "--exclude-standard"],
                             capture_output=True, text=True)
        if git.returncode == 0:
            return sorted(set(git.stdout.splitlines()))
        found = (p.relative_to(self.root) for p in self.root.rglob("*"))
        return sorted(str(p) for p in found if p.parts[0] not in ("build", ".venv", ".git"))

    def text(self, path):
        try:
            return (self.root / path).read_text()
        except UnicodeDecodeError:
            return ""

    def report(self, path, number, text):
        self.problems.append(f"{path}:{number}: {text}")


def suffix(path):
    return pathlib.PurePath(path).suffix


def name_of(path):
    return pathlib.PurePath(path).name


def check_form(tree, path, text):
    """Licence line, length of lines and file, white space."""
    lines = text.splitlines()
    script = text.startswith("#!")
    if suffix(path) in MARKED or name_of(path) == "CMakeLists.txt" or script:
        if not any("SPDX-License-Identifier: Apache-2.0" in line for line in lines[:2]):
            tree.report(path, 1, "has no line SPDX-License-Identifier: Apache-2.0")
    if suffix(path) not in CODE and name_of(path) != "CMakeLists.txt" and not script:
        return
    given = path.startswith("include/")  # the ABI is as long as it is
    if len(lines) > FILE_MAX and not given:
        tree.report(path, len(lines), f"has more than {FILE_MAX} lines")
    for number, line in enumerate(lines, 1):
        if len(line) > LINE_MAX and "http" not in line and suffix(path) != ".go":
            tree.report(path, number, f"has {len(line)} columns, {LINE_MAX} are allowed")
        if line != line.rstrip() or ("\t" in line and suffix(path) in (".c", ".h", ".py")):
            tree.report(path, number, "ends in a blank or holds a tab")
    if text and not text.endswith("\n"):
        tree.report(path, len(lines), "does not end with a line feed")


def check_words(tree, path, text):
    if name_of(path) in ("tidy.py", "LICENSE"):
        return
    for number, line in enumerate(text.splitlines(), 1):
        for pattern, instead in PROSE.items():
            found = re.search(pattern, line)
            if found:
                tree.report(path, number, f'"{found.group()}": {instead}')
    if suffix(path) not in (".c", ".h") or path.startswith(("include/", "bindings/")):
        return
    allowed = CALLS_ALLOWED.get(path, set())
    for number, _, code in code_lines(text):
        if code.lstrip().startswith("#include"):
            continue
        for word in {part for name in re.findall(r"\b[a-z][a-z0-9_]*\b", code)
                     if not name.startswith("obx_") for part in name.split("_")}:
            if word in WORDS and not path.startswith("src/os/"):
                tree.report(path, number, f"{word}: {WORDS[word]}")
        if path.startswith("src/"):
            for call in re.findall(r"(?<![\w.>])(\w+)\s*\(", code):
                if call in CALLS and call not in allowed:
                    tree.report(path, number, f"{call}(): {CALLS[call]}")


def check_names(tree):
    seen = collections.defaultdict(list)
    for path in tree.paths:
        mirrors = path.startswith("bindings/")  # a binding has the nouns of the library
        if suffix(path) in CODE and name_of(path) not in REPEATED and not mirrors:
            seen[name_of(path)].append(path)
        if path.startswith(("src/", "tests/")) and suffix(path) in (".c", ".h"):
            if not re.fullmatch(r"[a-z0-9_]+\.[ch]", name_of(path)):
                tree.report(path, 1, "is not named in lower case with underscores")
    for paths in seen.values():
        for path in paths[1:]:
            tree.report(path, 1, f"has the same name as {paths[0]}")


DEFINITION = re.compile(r"^(?!static\b|typedef\b)[A-Za-z_][\w \t*]*?\bbw_\w+\([^;{]*\)\s*\{",
                        re.MULTILINE)


def check_tests(tree):
    """Each file of src/ that other files call has a unit test, or a stated reason.

    The test of a noun serves its parts too: tree_test.c serves tree.c, tree_put.c, tree_remove.c.
    """
    tests = collections.defaultdict(set)  # layer -> stems
    for path in tree.paths:
        found = re.fullmatch(r"tests/unit/(\w+)/(?:\w+/)*(\w+)_test\.c", path)
        if found:
            tests[found[1]].add(found[2])
    files = {name: why for name, why in TESTED_ELSEWHERE.items() if not name.endswith("/")}
    folders = tuple(name for name in TESTED_ELSEWHERE if name.endswith("/"))
    for path in tree.paths:
        found = re.fullmatch(r"src/((\w+)/(?:\w+/)*(\w+)\.c)", path)
        if not found:
            continue
        has_test = any((found[3] + "_").startswith(stem + "_") for stem in tests[found[2]])
        excuse = files.pop(found[1], None)
        if excuse and has_test:
            tree.report("tools/tidy.py", 1, f"{path} has a unit test and needs no excuse")
        elif not (has_test or excuse or found[1].startswith(folders)) \
                and DEFINITION.search(tree.text(path)):
            tree.report(path, 1, f"has no tests/unit/{found[1][:-2]}_test.c")
    for name in files:
        tree.report("tools/tidy.py", 1, f"src/{name} is excused and does not exist")


def invariants(text):
    """(line number, id) of what a file's header numbers under `Invariants:`."""
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(r"\s*(/?\*+|#|//)\s*Invariants:", line):
            inside = True
        elif inside:
            found = re.match(r"\s*(?:\*|#|//)\s+([A-Z]{1,2}\d+)\s{2,}\S", line)
            if found:
                yield number, found[1]
            elif re.match(r"\s*(\*/|\*\s*$|\*\s?\S)", line):
                inside = False


def check_invariants(tree):
    """Each numbered invariant is cited elsewhere in its layer or in the tests; no number twice."""
    texts = {p: tree.text(p) for p in tree.paths
             if suffix(p) in (".c", ".h") and p.startswith(("src/", "tests/"))}
    owners = {}
    for path in texts:
        folder = "/".join(path.split("/")[:2])
        for number, name in invariants(texts[path]):
            first = owners.setdefault((folder, name), path)
            if first != path:
                tree.report(path, number, f"{name} is an invariant of {first} already")
            word = re.compile(rf"\b{name}\b")
            cited = sum(len(word.findall(text)) for other, text in texts.items()
                        if other.startswith((folder + "/", "tests/")))
            if cited < 2:
                tree.report(path, number, f"nothing cites {name}")


def is_found_by_folder(path):
    """Built, run or read because of where it lies."""
    return (re.fullmatch(r"src/\w+/.*\.c|bench/\w+\.c|bindings/.*\.c", path)
            or re.fullmatch(r"tests/harness/\w+\.c|tests/.*_test\.c", path)
            or re.fullmatch(r"tests/fuzz/(\w+_fuzz\.c|\w+/.*)|tests/(compat|gen)/.*", path)
            or re.fullmatch(r"bindings/.*(/test_\w+\.py|_test\.go|\.go)", path)
            or re.fullmatch(r"\.ci/passing/\w+\.txt", path)
            or re.fullmatch(r"bindings/python/boxwood/.*\.pyi?", path)
            or path.startswith("include/") or name_of(path) in KNOWN)


def check_references(tree):
    """No file that nothing mentions: by its name, or a Python module by its stem."""
    texts = {p: tree.text(p) for p in tree.paths}
    for path in tree.paths:
        if is_found_by_folder(path):
            continue
        name = name_of(path)
        stem = pathlib.PurePath(path).stem
        pattern = re.escape(name)
        if suffix(path) in (".py", ".pyi"):
            pattern += rf"|\b(import|from) [\w., ]*\b{re.escape(stem)}\b"
        if suffix(path) == ".in":
            pattern += "|" + re.escape(name.removesuffix(".in"))
        word = re.compile(rf"(?<![\w]){pattern}")
        if not any(word.search(text) for other, text in texts.items() if other != path):
            tree.report(path, 1, "is mentioned nowhere")


def check_links(tree):
    """Links of our documents to files lead somewhere."""
    for path in tree.paths:
        if suffix(path) != ".md":
            continue
        folder = (tree.root / path).parent
        for number, line in enumerate(tree.text(path).splitlines(), 1):
            for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", line):
                if not (folder / target).exists():
                    tree.report(path, number, f"links to {target}, which does not exist")


def check(root):
    tree = Tree(root)
    for path in tree.paths:
        text = tree.text(path)
        check_form(tree, path, text)
        check_words(tree, path, text)
    check_names(tree)
    check_tests(tree)
    check_invariants(tree)
    check_references(tree)
    check_links(tree)
    return tree.problems


C_LINE = "/* SPDX-License-Identifier: Apache-2.0 */\n"


def planted():
    """(path, text, word of the report): one for each rule."""
    header = C_LINE + "/*\n * One.\n *\n * Invariants:\n *   A1  Holds.\n *   A2  Holds too.\n */\n"
    return [
        ("src/one/b.c", "int a;\n", "SPDX"),
        ("tool", "#!/bin/sh\n", "SPDX"),
        ("src/one/b.c", C_LINE + f"int {'a' * 100};\n", "columns"),
        ("src/one/b.c", C_LINE + "int a;\n" * 800, "more than 800"),
        ("src/one/b.c", C_LINE + "int a; \n", "ends in a blank"),
        ("src/one/b.c", C_LINE + "int a;", "line feed"),
        ("src/one/b.c", C_LINE + "int row_cnt;\n", "cnt: count"),
        ("src/one/b.c", C_LINE + "void f(void) { free(0); }\n", "free(): bw_free"),
        ("src/one/b.c", C_LINE + "void f(char *a) { strcpy(a, a); }\n", "strcpy()"),
        ("src/one/b.c", C_LINE + "// FIXME later\n", "mend it"),
        ("notes.md", "one.md README.md TODO\n", "mend it"),
        ("src/one/B.c", C_LINE, "lower case"),
        ("src/two/one.h", C_LINE, "same name"),
        ("src/one/b.c", C_LINE + "int bw_b(void)\n{\n    return 1;\n}\n", "has no tests/unit"),
        ("src/one/b.c", header + "// A1\n", "nothing cites A2"),
        ("src/one/b.c", header.replace("A1", "Z1") + "// Z1 A2\n", "of src/one/a.c already"),
        ("src/one/b.h", C_LINE, "mentioned nowhere"),
        ("stray.md", "", "mentioned nowhere"),
        ("README.md", "See [one](one.md) and [two](two.md).\n", "links to two.md"),
        ("tests/unit/one/stray.c", C_LINE, "mentioned nowhere"),
    ]


def self_test():
    fine = {
        "README.md": "See one.md.\n", "one.md": "text\n",
        "src/one/one.h": C_LINE + "int bw_a(void);\n",
        "src/one/a.c": C_LINE + "/*\n * Invariants:\n *   Z1  Holds.\n */\n"
                       '#include "one/one.h"\n'
                       "int bw_a(void)\n{\n    return 1; // Z1, free() in a comment\n}\n",
        "src/one/a_part.c": C_LINE + "int bw_a_part(void)\n{\n    return 2;\n}\n",
        "tests/unit/one/a_test.c": C_LINE + 'const char *text = "free(";\n',
    }

    def run(extra):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {**fine, **extra}.items():
                path = pathlib.Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return check(pathlib.Path(folder))

    TESTED_ELSEWHERE.clear()
    assert run({}) == [], run({})
    cases = planted()
    for name, text, word in cases:
        problems = run({name: text})
        assert any(word in problem for problem in problems), (name, word, problems)
    TESTED_ELSEWHERE["one/gone.c"] = "a reason"
    assert any("does not exist" in problem for problem in run({}))
    print(f"tidy: {len(cases) + 1} planted violations found")


def main():
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        return
    problems = check(pathlib.Path(__file__).resolve().parent.parent)
    print("\n".join(problems) if problems else "nothing to say")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
