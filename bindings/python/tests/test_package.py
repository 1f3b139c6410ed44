# SPDX-License-Identifier: Apache-2.0
"""The package itself: what importing loads, which names it has, and being made twice."""

import pathlib
import subprocess
import sys
import textwrap

import pytest

import boxwood


def run(program):
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        cwd=pathlib.Path(__file__).parent,  # not beside the package's sources
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_loads_nothing_heavy():
    out = run("""
        import sys
        before = set(sys.modules)
        import boxwood
        print(*sorted(m for m in set(sys.modules) - before if not m.startswith("boxwood")))
        print(*sorted(m for m in sys.modules if m.startswith("boxwood")))
    """).splitlines()
    assert set(out[0].split()) <= {"_contextvars", "contextvars"}  # under the limited API
    for lazy in (
        "boxwood.exceptions",
        "boxwood.c",
        "boxwood.model.idsync",
        "boxwood.condition",
        "boxwood.model.enums",
    ):
        assert lazy not in out[1].split()


def test_every_name_is_there():
    for name in boxwood.__all__:
        assert getattr(boxwood, name) is not None
    assert set(boxwood.__all__) <= set(dir(boxwood))
    with pytest.raises(AttributeError):
        boxwood.nothing
    from boxwood import model
    from boxwood.model import properties

    for name in model.__all__:
        assert getattr(model, name) is not None
    assert properties.IndexType.HASH == 2048
    assert "Boxwood Python version 0.1.0" in boxwood.version_info()
    assert isinstance(boxwood.version, boxwood.Version) and str(boxwood.version) == "0.1.0"


def test_modules_by_which_others_import():
    out = run("""
        import importlib
        for name in ("box", "builder", "c", "condition", "exceptions", "experimental", "logger",
                     "model", "model.entity", "model.idsync", "model.iduid", "model.model",
                     "model.properties", "objectbox", "query", "query_builder", "store",
                     "transaction", "utils", "version"):
            importlib.import_module("boxwood." + name)
        from boxwood import *
        print(Store, Box, DbError, IndexType.HASH.name)
    """)
    assert "HASH" in out


def test_error_classes():
    from boxwood.exceptions import FeatureNotAvailable, class_of, create_db_error

    assert issubclass(boxwood.UniqueViolatedError, boxwood.ConstraintViolatedError)
    assert issubclass(boxwood.IllegalArgumentError, ValueError)
    assert issubclass(boxwood.IllegalStateError, RuntimeError)
    assert issubclass(boxwood.FilePagesCorruptError, boxwood.FileCorruptError)
    assert FeatureNotAvailable is boxwood.FeatureNotAvailableError
    assert class_of(10201) is boxwood.UniqueViolatedError and class_of(10101) is boxwood.DbFullError
    error = create_db_error(12345, "text")
    assert type(error) is boxwood.DbError and error.code == 12345 and str(error) == "12345 - text"
    assert str(boxwood.DbFullError("full")) == "10101 (OBX_ERROR_DB_FULL) - full"
    assert error.entity is error.property is error.index is None and error.id == error.other_id == 0
    import pickle

    assert pickle.loads(pickle.dumps(boxwood.DbFullError("full"))).message == "full"


def test_vector_helpers():
    from boxwood.utils import vector_distance_f32, vector_distance_to_relevance

    assert (
        vector_distance_f32(boxwood.VectorDistanceType.EUCLIDEAN, [1.0, 2.0], [1.0, 4.0], 2) == 4.0
    )
    assert 0 <= vector_distance_to_relevance(boxwood.VectorDistanceType.EUCLIDEAN, 1.0) <= 1
    with pytest.raises(boxwood.IllegalArgumentError):
        vector_distance_f32(1, [1.0], [1.0], 2)


def test_the_library_exports_nothing_else():
    import ctypes

    library = ctypes.CDLL(boxwood._boxwood.__file__)
    for name in ("obx_version", "boxwood_store_open", "bwpy_marshal"):
        with pytest.raises(AttributeError):
            getattr(library, name)


def test_the_module_can_be_made_twice():
    out = run("""
        import sys, tempfile, gc
        def use(tag):
            import boxwood
            from boxwood import Entity, Id, String, Store
            @Entity()
            class Note:
                id = Id()
                text = String()
            root = tempfile.mkdtemp()
            with Store(directory=root + "/db", model_json_file=root + "/m.json") as store:
                store.box(Note).put(Note(text=tag))
                print(store.box(Note).get(1).text)
            return Note
        first = use("one")
        for name in [m for m in sys.modules if m.startswith("boxwood")]:
            del sys.modules[name]
        second = use("two")
        assert first(text="a").text == "a" and type(first) is not type(second)
        del first
        gc.collect()
        print(second(text="b"))
    """)
    assert out.splitlines() == ["one", "two", "Note(id=0, text='b')"]


def test_without_numpy():
    out = run("""
        import sys, tempfile
        sys.modules["numpy"] = None
        from boxwood import *
        @Entity()
        class Row:
            id = Id()
            f = Float32Vector()
            b = BoolVector()
            c = CharVector()
        root = tempfile.mkdtemp()
        with Store(directory=root + "/db", model_json_file=root + "/m.json") as store:
            box = store.box(Row)
            box.put([Row(f=[1.5], b=[True, False], c=[65535]), Row(), Row(f=None)])
            for row in box.get_all():
                print(type(row.f).__name__, list(row.f), list(row.b), list(row.c))
        print(len(Row().f))
    """)
    assert out.splitlines() == ["array [1.5] [1, 0] [65535]"] + ["array [] [] []"] * 2 + ["0"]
