# SPDX-License-Identifier: Apache-2.0
"""Values that do not fit are refused before anything is stored; the error says where they are."""

import math

import numpy
import pytest

import boxwood
from boxwood import *
from boxwood.exceptions import ValueRangeError, ValueTypeError

from conftest import make_note

RANGE = [
    (Int8, [128, -129, 2**70]),
    (Int16, [32768, -32769]),
    (Int32, [2**31, -(2**31) - 1]),
    (Int64, [2**63, -(2**63) - 1, 10**30]),
    (Float32, [1e39, -3.5e38]),
    (Float64, [10**400]),
    (String, ["\ud800", "a\udfff", "😀\ud83d"]),
    (Date, [2**63, math.inf, math.nan, 1e30]),
    (Int8List, [[128]]),
    (CharList, [[-1], [65536]]),
    (Int16Vector, [numpy.array([40000])]),
    (Int32Vector, [numpy.array([2**40]), [2**31]]),
    (Int64Vector, [numpy.array([2**64 - 1], dtype="u8"), numpy.array([0.5])]),
    (Float32Vector, [[1e39], numpy.array([1e39])]),
    (Flex, [2**64, [-(2**63) - 1], {"a": "\ud800"}]),
]
TYPE = [
    (Int64, ["1", 1.0, b"1", [1]]),
    (Bool, ["True", 1.0, [], object()]),
    (Float64, ["1.0", 1j, [1]]),
    (String, [1, b"a", ["a"]]),
    (Bytes, ["a", 1, [1]]),
    (Date, ["2024", [1], 1j]),
    (Int64List, [5, "ab", {1: 2}, None.__class__]),
    (Int64List, [["a"], [1.5], [None]]),
    (Float32Vector, [numpy.zeros((2, 2)), ["a"], numpy.array(["a"])]),
    (Flex, [object(), [object()], {1: 2}, {"a\0b": 1}, {"\ud800": 1}, 1j]),
]


def cases(table):
    return [(kind, value) for kind, values in table for value in values]


@pytest.mark.parametrize("table,error", [(RANGE, ValueRangeError), (TYPE, ValueTypeError)])
def test_wrong_values(stores, table, error):
    for at, (kind, value) in enumerate(cases(table)):
        cls = make_note(value=kind())
        box = stores.box(cls, name="db%d" % at, json="%d.json" % at)
        good = cls(text="good")
        with pytest.raises(error) as caught:
            box.put([good, cls(value=value)])
        assert (caught.value.entity, caught.value.property, caught.value.index) == (
            "Note",
            "value",
            1,
        )
        assert caught.value.code == 10002 and isinstance(
            caught.value, (boxwood.IllegalArgumentError, ValueError)
        )
        assert "Note.value of object 1 in the list" in str(caught.value)
        assert box.count() == 0 and good.id == 0
        with pytest.raises(error) as caught:
            box.put(cls(value=value))
        assert caught.value.index is None and "Note.value must be" in str(caught.value)


def test_the_value_is_shown_short(box, Note):
    with pytest.raises(ValueTypeError) as caught:
        box.put(Note(ts="x" * 1000))
    assert "'xxx" in str(caught.value) and len(str(caught.value)) < 250


def test_wrong_type_and_range_are_also_the_usual_exceptions():
    assert issubclass(ValueTypeError, TypeError) and issubclass(ValueTypeError, ValueError)
    assert issubclass(ValueRangeError, OverflowError) and issubclass(ValueRangeError, DbError)


def test_ids(box, Note):
    for wrong in (-1, 2**64 - 1, 2**70, "1", 1.0, [1]):
        with pytest.raises(boxwood.IllegalArgumentError):
            box.put(Note(id=wrong))
    assert box.put(Note(id=None)) == 1 and box.put(Note(id=numpy.int64(1), text="again")) == 1
    assert box.get(1).text == "again" and box.get(0) is None
    for call in (box.get, box.remove, box.contains):
        for wrong in ("1", 1.0, None, True, object()):
            with pytest.raises(TypeError):
                call(wrong)
        with pytest.raises(ValueError):
            call(-1)


def test_objects_of_other_classes(box, Note):
    class Other:
        pass

    for wrong in (Other(), 5, None, "text", make_note):
        with pytest.raises(TypeError, match="Expected an object of entity Note"):
            box.put(wrong)
        with pytest.raises(TypeError, match="Expected an object of entity Note"):
            box.put([Note(), wrong])
    assert box.is_empty()


def test_a_class_that_was_defined_again_is_known_by_its_name(box):
    again = make_note()
    note = again(text="from a notebook", ts=3)
    assert box.put(note) == 1 and note.id == 1
    assert box.put([note, again(text="b")]) == [1, 2]
    read = box.get(1)
    assert (read.text, read.ts) == ("from a notebook", 3) and box.remove(note)

    class Note:  # with fewer attributes
        text = "plain"

    plain = Note()
    box.put(plain)
    assert box.get(plain.id).text == "plain" and box.get(plain.id).ts == 0


def test_lists_that_change_while_they_are_stored(box, Note):
    notes = []

    class Sly:
        def __init__(self, act):
            self.act = act

        def __index__(self):
            self.act()
            return 7

    for act in (
        notes.clear,
        lambda: notes.append(Note(text="late")),
        lambda: notes.__setitem__(0, None),
    ):
        notes[:] = [
            Note(text="first", ts=Sly(act)),
            Note(text="second", ts=Sly(act)),
            Note(text="third"),
        ]
        before = list(notes)
        ids = box.put(notes)
        assert len(ids) == 3 and [note.id for note in before] == ids
        assert [o.text for o in box.get_many(ids)] == ["first", "second", "third"]
        assert box.get(ids[0]).ts == 7


def test_objects_that_change_while_they_are_stored(box, Note):
    note = Note(text="text")

    class Sly:
        def __index__(self):
            note.text = None
            note.ts = None
            del note.id
            return 8

    note.ts = Sly()
    box.put(note)
    read = box.get(note.id)
    assert (read.text, read.ts) == ("text", 8) and note.text is None


def test_lists_inside_objects_that_change(stores):
    cls = make_note(items=Int64List())
    box = stores.box(cls)
    items = []

    class Sly:
        def __index__(self):
            items.clear()
            return 1

    items.extend([Sly(), 2, 3])
    assert box.get(box.put(cls(items=items))).items == [1, 2, 3] and items == []


def test_putting_while_marshalling(box, Note):
    class Putting:
        def __index__(self):
            return box.put(Note(text="inner"))

    outer = Note(text="outer", ts=Putting())
    assert box.put([outer, Note(text="last", ts=Putting())]) == [3, 4]
    assert [o.text for o in box.get_all()] == ["inner", "inner", "outer", "last"]
    assert box.get(3).ts == 1 and box.get(4).ts == 2


def test_exceptions_of_values_pass_through_with_a_note(box, Note):
    class Failing:
        def __index__(self):
            raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine") as caught:
        box.put([Note(), Note(ts=Failing())])
    assert any("Note.ts of object 1" in note for note in caught.value.__notes__)
    assert box.is_empty()


def test_recursive_flex(stores):
    cls = make_note(any=Flex())
    box = stores.box(cls)
    loop = []
    loop.append(loop)
    with pytest.raises(RecursionError):
        box.put(cls(any=loop))
    deep = []
    for _ in range(200):
        deep = [deep]
    assert box.get(box.put(cls(any=deep))).any == deep
