# SPDX-License-Identifier: Apache-2.0
"""Many small stores: Boxwood beside the sqlite3 of Python's standard library.

Each engine makes N stores of M notes, then opens every one of them in random order, counts, and
closes. The two take turns in blocks of stores, so that whatever else the machine does hits both.
What comes back is verified. Then each holds stores open, in a process of its own, for the memory
they cost.

    quickstart [--stores 200] [--notes 1000] [--folder DIR]
"""

import argparse
import multiprocessing
import os
import pathlib
import random
import shutil
import sqlite3
import statistics
import sys
import tempfile
import time

SENTENCE = "The quick brown fox jumps over the lazy dog while five wizards box. "
TEXT_SIZE = 300
BLOCK = 20


def note_text(store_no, note_no):
    """TEXT_SIZE characters that differ from note to note."""
    return (f"store {store_no}, note {note_no}: " + SENTENCE * 5)[:TEXT_SIZE]


class Boxwood:
    title = "Boxwood"

    def __init__(self, folder):
        import boxwood
        self.boxwood = boxwood
        self.folder = folder
        self.model_file = str(folder / "model.json")

        @boxwood.Entity()
        class Note:
            id = boxwood.Id()
            text = boxwood.String()
            ts = boxwood.Int64()
        self.note = Note

    def place(self, no):
        return self.folder / str(no)

    def open(self, no):
        store = self.boxwood.Store(directory=str(self.place(no)), model_json_file=self.model_file)
        return store, store.box(self.note)

    def create(self, no, texts):
        self.place(no).mkdir()
        store, box = self.open(no)
        box.put([self.note(text=text, ts=at) for at, text in enumerate(texts)])
        store.close()

    def count(self, handle):
        return handle[1].query().build().count()

    def get(self, handle, note_no):
        note = handle[1].get(note_no + 1)
        return note.text, note.ts

    def close(self, handle):
        handle[0].close()


class Sqlite:
    title = "SQLite " + sqlite3.sqlite_version

    def __init__(self, folder):
        self.folder = folder

    def place(self, no):
        return self.folder / str(no)

    def open(self, no):
        return sqlite3.connect(self.place(no) / "notes.sqlite")

    def create(self, no, texts):
        self.place(no).mkdir()
        connection = self.open(no)
        connection.execute("CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT, ts INTEGER)")
        with connection:
            connection.executemany("INSERT INTO note (text, ts) VALUES (?, ?)",
                                   [(text, at) for at, text in enumerate(texts)])
        connection.close()

    def count(self, connection):
        return connection.execute("SELECT count(*) FROM note").fetchone()[0]

    def get(self, connection, note_no):
        return connection.execute("SELECT text, ts FROM note WHERE id = ?",
                                  (note_no + 1,)).fetchone()

    def close(self, connection):
        connection.close()


ENGINES = [Boxwood, Sqlite]


class Progress:
    """A bar on stderr where that is a terminal; elsewhere a line for each phase."""

    def __init__(self, total):
        self.total, self.done, self.phase = total, 0, ""
        self.drawn = sys.stderr.isatty()

    def step(self, phase, count=1):
        self.done += count
        if self.drawn:
            filled = 40 * self.done // self.total
            print(f"\r[{'#' * filled}{'.' * (40 - filled)}] {phase:<10}", end="", file=sys.stderr,
                  flush=True)
        elif phase != self.phase:
            print(f"{phase} ...", file=sys.stderr, flush=True)
        self.phase = phase

    def end(self):
        if self.drawn:
            print("\r" + " " * 60 + "\r", end="", file=sys.stderr, flush=True)


def timed(times, key, function, *arguments):
    begin = time.perf_counter_ns()
    result = function(*arguments)
    times[key].append((time.perf_counter_ns() - begin) / 1e6)
    return result


def expect(engine, what, found, wanted):
    if found != wanted:
        sys.exit(f"\n{engine.title}: {what} is {found!r}, not {wanted!r}")


def in_turns(engines, numbers):
    """(engine, block of store numbers), the first engine changing from block to block."""
    for turn, start in enumerate(range(0, len(numbers), BLOCK)):
        for engine in (engines if turn % 2 == 0 else engines[::-1]):
            yield engine, numbers[start:start + BLOCK]


def make_stores(engines, times, options, progress):
    for engine, block in in_turns(engines, range(options.stores)):
        for no in block:
            texts = [note_text(no, note_no) for note_no in range(options.notes)]
            timed(times[engine], "create", engine.create, no, texts)
            progress.step("create")


def open_stores(engines, times, options, progress):
    order = random.Random(1).sample(range(options.stores), options.stores)
    chosen = random.Random(2)
    for engine, block in in_turns(engines, order):
        for no in block:
            handle = timed(times[engine], "open", engine.open, no)
            count = timed(times[engine], "count", engine.count, handle)
            expect(engine, f"the count of store {no}", count, options.notes)
            timed(times[engine], "close", engine.close, handle)
            progress.step("open")
        for no in random.Random(no).sample(block, min(2, len(block))):
            handle = engine.open(no)
            for note_no in (0, chosen.randrange(options.notes), options.notes - 1):
                expect(engine, f"note {note_no} of store {no}", tuple(engine.get(handle, note_no)),
                       (note_text(no, note_no), note_no))
            engine.close(handle)


def anonymous_kb():
    with open("/proc/self/smaps_rollup") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("Anonymous:"))


def hold(engine_class, folder, numbers, pipe):
    """In a process of its own: what each open store costs, having been counted once."""
    engine = engine_class(folder)
    handles = [engine.open(numbers[0])]  # whatever the first one brings with it is not a store's
    engine.count(handles[0])
    before = anonymous_kb()
    for no in numbers[1:]:
        handles.append(engine.open(no))
        engine.count(handles[-1])
    pipe.send((anonymous_kb() - before) / max(1, len(numbers) - 1))


def memory_kb(engine, options):
    if not os.path.exists("/proc/self/smaps_rollup"):
        return None
    numbers = random.Random(3).sample(range(options.stores), options.stores)
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=hold, args=(type(engine), engine.folder, numbers, theirs))
    process.start()
    theirs.close()
    result = ours.recv()
    process.join()
    return result


def disk_kb(engine, options):
    files = [path.stat() for no in range(options.stores) for path in engine.place(no).iterdir()]
    return sum(file.st_blocks * 512 for file in files) / 1024 / options.stores


def report(engines, times, memory, options):
    rows = [(title, [statistics.median(times[e][key]) for e in engines], "{:.3f} ms")
            for title, key in (("create, put, close", "create"), ("open", "open"),
                               ("count", "count"), ("close", "close"))]
    sums = [statistics.median(map(sum, zip(times[e]["open"], times[e]["count"], times[e]["close"])))
            for e in engines]
    rows.append(("open, count, close", sums, "{:.3f} ms"))
    if None not in memory:
        rows.append(("anonymous memory per open store", memory, "{:.0f} KB"))
    rows.append(("disk per store", [disk_kb(e, options) for e in engines], "{:.0f} KB"))

    print(f"\n{options.stores:,} stores of {options.notes:,} notes of {TEXT_SIZE} characters; "
          "medians, verified\n")
    print("| | " + " | ".join(e.title for e in engines) + " | ratio |")
    print("|---" * (len(engines) + 2) + "|")
    for title, values, form in rows:
        ratio = f"{values[1] / values[0]:.1f}" if values[0] > 0 else ""
        print(f"| {title} | " + " | ".join(form.format(v) for v in values) + f" | {ratio} |")
    print("\nA ratio above 1 means that Boxwood is faster or smaller.")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--stores", type=int, default=200, help="stores of each engine")
    parser.add_argument("--notes", type=int, default=1000, help="notes in each store")
    parser.add_argument("--folder", help="where to make the stores (default: the temporary folder)")
    options = parser.parse_args()
    if options.stores < 1 or options.notes < 1:
        parser.error("at least one store and one note")

    root = pathlib.Path(tempfile.mkdtemp(prefix="boxwood-", dir=options.folder))
    try:
        engines = []
        for engine_class in ENGINES:
            folder = root / engine_class.__name__
            folder.mkdir()
            engines.append(engine_class(folder))
        times = {e: {key: [] for key in ("create", "open", "count", "close")} for e in engines}
        progress = Progress(4 * options.stores + len(engines))
        make_stores(engines, times, options, progress)
        open_stores(engines, times, options, progress)
        memory = []
        for engine in engines:
            memory.append(memory_kb(engine, options))
            progress.step("memory")
        progress.end()
        report(engines, times, memory, options)
    finally:
        shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    main()
