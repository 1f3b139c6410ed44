# SPDX-License-Identifier: Apache-2.0
"""A store's life: opening, options, closing, threads, fork."""

import gc
import os
import pathlib
import subprocess
import sys
import threading
import weakref

import pytest

import boxwood
from boxwood import *

from conftest import make_note


def test_data_survives(stores, Note):
    store = stores(Note)
    store.box(Note).put([Note(text=str(i)) for i in range(10)])
    store.close()
    assert [o.text for o in stores.box(Note).get_all()] == [str(i) for i in range(10)]


def test_closing(stores, Note):
    store = stores(Note)
    box = store.box(Note)
    query = box.query().build()
    assert not store.is_closed()
    store.close()
    store.close()
    assert store.is_closed() and query.is_closed()
    calls = [
        lambda: store.box(Note),
        lambda: box.get(1),
        lambda: box.put(Note()),
        box.get_all,
        box.count,
        lambda: box.get_many([1]),
        lambda: box.remove(1),
        box.remove_all,
        box.query,
        query.count,
        query.find,
        box.is_empty,
        lambda: box.contains(1),
        store.write_tx,
        store.read_tx,
        store.stats,
    ]
    for call in calls:
        with pytest.raises(IllegalStateError, match="Store is closed"):
            call()


def test_with_statement_and_end_of_life_close(stores, Note, tmp_path):
    with stores(Note) as store:
        assert not store.is_closed()
    assert store.is_closed()
    stores.opened.clear()
    box = stores.box(Note)
    stores.opened.clear()
    watch = weakref.ref(box.store)
    box.put(Note())
    assert watch() is not None
    del box
    assert watch() is None  # at once, not when the collector comes by
    stores(Note)  # and so the directory is free


def test_the_same_directory_twice(stores, Note):
    stores(Note)
    with pytest.raises(DbError, match="another store is still open using the same path"):
        stores(Note)


def test_in_memory(stores, Note, tmp_path):
    store = stores(Note, directory="memory:python-test")
    store.box(Note).put(Note(text="m"))
    assert store.box(Note).get(1).text == "m" and os.listdir(tmp_path) == ["model.json"]
    store.close()
    Store.remove_db_files("memory:python-test")


def test_remove_db_files(stores, Note, tmp_path):
    store = stores(Note)
    with pytest.raises(DbError):
        Store.remove_db_files(str(tmp_path / "db"))
    store.close()
    Store.remove_db_files(tmp_path / "db")
    assert not (tmp_path / "db" / "data.mdb").exists()
    Store.remove_db_files(str(tmp_path / "nowhere"))


def test_paths(stores, Note, tmp_path):
    for directory in (
        tmp_path / "as path",
        str(tmp_path / "ünïcode 漢"),
        os.fsencode(tmp_path / "bytes"),
    ):
        with stores(Note, directory=directory) as store:
            store.box(Note).put(Note())
        assert (pathlib.Path(os.fsdecode(directory)) / "data.mdb").exists()
    for wrong in (5, "a\0b"):
        with pytest.raises((TypeError, ValueError)):
            stores(Note, directory=wrong)


def test_default_directory_and_model_file(tmp_path):
    program = """if True:
        from boxwood import *
        @Entity()
        class Note:
            id = Id()
        with Store() as store:
            print(store.box(Note).put(Note()))
    """
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "program.py").write_text(program)
    run = subprocess.run(
        [sys.executable, str(tmp_path / "code" / "program.py")],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    )
    assert run.stdout == "1\n"
    assert sorted(os.listdir(tmp_path)) == ["code", "objectbox"]
    assert "objectbox-model.json" in os.listdir(tmp_path / "code")


def test_read_only(stores, Note):
    stores(Note).close()
    with stores(Note) as store:
        store.box(Note).put(Note(text="a"))
    box = stores.box(Note, read_only=True)
    assert box.get(1).text == "a"
    for write in (lambda: box.put(Note()), lambda: box.remove(1), box.store.write_tx().__enter__):
        with pytest.raises(DbError, match="read.only"):
            write()


def test_options(stores, Note):
    logs = []
    store = stores(
        Note,
        max_db_size_in_kb=100_000,
        max_data_size_in_kb=50_000,
        file_mode=0o600,
        max_readers=10,
        no_reader_thread_locals=True,
        read_schema=True,
        use_previous_commit=False,
        read_only=False,
        debug_flags=DebugFlags.LOG_TRANSACTIONS_WRITE,
        async_max_queue_length=10,
        async_throttle_at_queue_length=10,
        async_throttle_micros=1,
        async_max_in_tx_duration=1,
        async_max_in_tx_operations=1,
        async_pre_txn_delay=1,
        async_post_txn_delay=1,
        async_minor_refill_threshold=1,
        async_minor_refill_max_count=1,
        async_object_bytes_max_cache_size=1,
        async_object_bytes_max_size_to_cache=1,
        log_callback=lambda level, text: logs.append((level, text)),
        skip_model_sync=True,
        c_store=None,
        durability="full",
        write_timeout=2.5,
    )
    store.box(Note).put(Note())
    assert store.stats()["txn_id"] >= 1 and all(isinstance(text, str) for _, text in logs)


def test_wrong_options(stores, Note):
    for wrong in (
        dict(max_db_size_in_kb="5"),
        dict(max_readers=-1),
        dict(file_mode=2**40),
        dict(durability="maybe"),
        dict(write_timeout=-1),
        dict(write_timeout="a"),
        dict(log_callback=5),
        dict(model_bytes="a"),
        dict(c_store=5),
        dict(no_such_option=1),
    ):
        with pytest.raises((TypeError, ValueError)):
            stores(Note, **wrong)
    with pytest.raises(TypeError, match="multiple values"):
        Store("default", model="default")
    with pytest.raises(TypeError, match="at most"):
        Store(*range(60))
    with pytest.raises(TypeError):
        Store(model=5)
    with pytest.raises(ValueError, match="not found"):
        Store(model="nobody registered this")
    stores(Note)


def test_limits(stores, Note):
    box = stores.box(Note, max_db_size_in_kb=300)
    with pytest.raises(DbFullError, match="Could not put"):
        for _ in range(3000):
            box.put(Note(text="x" * 500))
    count = box.count()
    assert count > 5
    box.store.close()
    assert stores.box(Note).count() == count
    with pytest.raises(DbError, match="[Nn]o such file|Could not prepare|directory"):
        stores(Note, directory="/proc/nowhere/at all")


def test_subclass_of_store(stores, Note, tmp_path):
    class Mine(Store):
        def __init__(self, path, entity):
            self.entity = entity
            super().__init__(
                directory=str(path), model=self.model(), model_json_file=str(tmp_path / "mine.json")
            )

        def model(self):
            model = Model()
            model.entity(self.entity)
            return model

    with Mine(tmp_path / "mine", Note) as store:
        assert store.box(Note).put(Note()) == 1
        with pytest.raises(IllegalStateError, match="open already"):
            store.__init__(tmp_path / "other", Note)
    with pytest.raises(IllegalStateError):
        Store.__new__(Store).box(Note)


def test_without_a_model(stores, Note, tmp_path):
    with stores(Note) as store:
        store.box(Note).put(Note(text="a"))
    with Store(model=None, directory=str(tmp_path / "db")) as store:
        assert not store.is_closed()
    cls = boxwood.Entity(model="without")(type("Without", (), {"id": Id(), "text": String()}))
    with Store(
        model="without", directory=str(tmp_path / "w"), model_json_file=str(tmp_path / "w.json")
    ) as store:
        store.box(cls).put(cls(text="b"))
    with Store(model=None, directory=str(tmp_path / "w")) as store:
        assert store.box(cls).get(1).text == "b"


def test_deprecated_ways(Note, tmp_path):
    model = Model()
    model.entity(Note)
    with pytest.warns(DeprecationWarning):
        builder = Builder()
    old = os.getcwd()
    os.chdir(tmp_path)
    try:
        store = (
            builder.directory(str(tmp_path / "b")).model(model).max_db_size_in_kb(10_000).build()
        )
        store.close()
        with pytest.warns(DeprecationWarning):
            ObjectBox(model=model, directory=str(tmp_path / "o")).close()
    finally:
        os.chdir(old)
    for made in pathlib.Path(__file__).parent.glob("objectbox-model.json"):
        made.unlink()


def test_threads_put_and_read(stores, Note):
    box = stores.box(Note, durability="full")
    errors = []

    def work(thread):
        try:
            for i in range(25):
                box.put([Note(ts=thread, text="a" * i), Note(ts=thread)])
                assert len(box.get_all()) >= 2 * (i + 1)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors and box.count() == 300 and len({o.id for o in box.get_all()}) == 300


def test_threads_construct(Note):
    made = []

    def work():
        made.extend(Note(text=str(i), ts=i) for i in range(2000))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 8000 and all(note.text == str(note.ts) for note in made)


def test_closing_waits_for_commits_of_other_threads(stores, Note):
    box = stores.box(Note, durability="full")
    stop = threading.Event()
    errors = []

    def work():
        while not stop.is_set():
            try:
                box.put([Note() for _ in range(50)])
            except IllegalStateError as error:
                if "closed" not in str(error):
                    errors.append(error)
                return

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    while box.count() < 500:
        pass
    box.store.close()
    stop.set()
    for thread in threads:
        thread.join()
    assert not errors
    assert stores.box(Note).count() % 50 == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_is_refused(stores, Note):
    box = stores.box(Note)
    box.put(Note(text="parent"))
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        said = b""
        try:
            for call in (lambda: box.get(1), lambda: box.put(Note()), box.count, box.get_all):
                try:
                    call()
                    said += b"served "
                except IllegalStateError:
                    said += b"refused "
        except BaseException as error:
            said += repr(error).encode()
        os.write(writer, said)
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reader, 1000) == b"refused " * 4
    assert box.get(1).text == "parent" and box.put(Note()) == 2


def test_open_stores_need_little(tmp_path):
    assert Store.__basicsize__ <= 136 and Box.__basicsize__ <= 72
    options = dict(model="small", model_json_file=str(tmp_path / "small.json"), durability="none")
    Small = boxwood.Entity(model="small")(type("Small", (), {"id": Id()}))
    paths = [str(tmp_path / ("e%d" % i)) for i in range(100)]
    held = [Store(directory=paths.pop(), **options)]
    boxes = [held[0].box(Small)]
    import tracemalloc

    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for path in paths:
        held.append(Store(directory=path, **options))
        boxes.append(held[-1].box(Small))
    grown = (tracemalloc.get_traced_memory()[0] - before) / 99
    tracemalloc.stop()
    assert grown < 300, grown  # a store, a box, and a place for each in the lists
    assert boxes[-1].count() == 0
    for store in held:
        store.close()


def test_stores_in_cycles_are_closed(stores, Note):
    store = stores(Note)
    Note.keeper = [store]
    watch = weakref.ref(store)
    stores.opened.clear()
    del Note.keeper, store
    gc.collect()
    assert watch() is None


def test_a_class_that_keeps_its_own_query_is_collected(stores):
    cls = make_note()
    cls.query = stores.box(cls).query().build()
    watch = weakref.ref(stores.opened.pop())
    assert cls.query.count() == 0
    boxwood.model.entity.obx_models_by_name["tests"].remove(cls)
    boxwood._boxwood.forget()
    boxwood.store._compiled.clear()
    del cls
    gc.collect()
    assert watch() is None
