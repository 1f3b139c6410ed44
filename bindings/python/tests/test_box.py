# SPDX-License-Identifier: Apache-2.0
"""Boxes: put, get, remove, count."""

import gc

import pytest

import boxwood
from boxwood import *

from conftest import make_note


def test_put_gives_ids(box, Note):
    one = Note(text="a")
    assert box.put(one) == 1 and one.id == 1
    assert box.put([Note(), Note()]) == [2, 3] and box.put((Note(),)) == [4]
    assert box.put(Note(), Note()) == [5, 6] and box.put() == [] and box.put([]) == []
    assert box.put([one, Note()]) == [1, 7]


def test_get(box, Note):
    box.put([Note(text=str(i), ts=i) for i in range(5)])
    assert box.get(3).text == "2" and box.get(99) is None
    assert [o and o.ts for o in box.get_many([5, 99, 1, 1])] == [4, None, 0, 0]
    assert box.get_many([]) == [] and [o.id for o in box.get_all()] == [1, 2, 3, 4, 5]
    assert box.get(box.get(2)).ts == 1 and [o.id for o in box.get_many(iter([box.get(4), 2]))] == [
        4,
        2,
    ]


def test_update_and_insert(box, Note):
    note = Note(text="a")
    box.put(note)
    note.text = "b"
    assert box.update(note) is None and box.get(1).text == "b"
    with pytest.raises(IdNotFoundError) as error:
        box.update([note, Note(id=77)])
    assert error.value.index == 1 and error.value.id == 77 and error.value.entity == "Note"
    with pytest.raises(IllegalArgumentError):
        box.update(Note())
    with pytest.raises(boxwood.exceptions.IdAlreadyExistsError):
        box.insert(note)
    assert box.insert(Note(text="c")) == 2


def test_ids_that_were_not_given_out(box, Note, stores):
    with pytest.raises(IllegalArgumentError, match="ID is higher or equal") as error:
        box.put([Note(), Note(id=50)])
    assert error.value.index == 1 and box.is_empty()
    own = Entity(model="tests")(type("Own", (), {"id": Id(assignable=True), "text": String()}))
    assigned = stores.box(own, name="own", json="own.json")
    assert assigned.put(own(id=50)) == 50 and assigned.put(own()) == 51


def test_remove(box, Note):
    notes = [Note() for _ in range(6)]
    box.put(notes)
    assert box.remove(1) is True and box.remove(1) is False and box.remove(notes[1]) is True
    assert box.remove_many([3, 99, notes[3]]) == 2 and box.remove_many([]) == 0
    assert box.count() == 2 and box.remove_all() == 2 and box.is_empty() and box.remove_all() == 0
    assert box.put(Note()) == 7
    with pytest.raises(TypeError, match="remove_many"):
        box.remove([1])


def test_count(box, Note):
    assert box.count() == 0 and box.is_empty()
    box.put([Note() for _ in range(5)])
    assert (box.count(), box.count(3), box.count(limit=9)) == (5, 3, 5) and not box.is_empty()
    assert box.contains(5) and not box.contains(6)
    for wrong in (dict(limits=1), dict(limit=-1), dict(limit="a")):
        with pytest.raises((TypeError, OverflowError)):
            box.count(**wrong)


def test_many_objects_in_several_chunks(box, Note):
    size = 40_000  # 12 MB: more than one batch
    notes = [Note(text="n%d " % i + "x" * 300, ts=i) for i in range(size)]
    assert box.put(notes) == list(range(1, size + 1)) and notes[-1].id == size
    read = box.get_all()
    assert len(read) == size and all(
        o.ts == i and o.text == notes[i].text for i, o in enumerate(read)
    )
    assert gc.isenabled() and box.remove_all() == size


def test_a_wrong_value_in_a_later_chunk_stores_nothing(box, Note):
    notes = [Note(text="x" * 1000) for _ in range(20_000)] + [Note(ts="wrong")]
    with pytest.raises(boxwood.exceptions.ValueTypeError) as error:
        box.put(notes)
    assert error.value.index == 20_000 and box.is_empty() and notes[0].id == 0
    with pytest.raises(IllegalArgumentError) as error:
        box.put(notes[:-1] + [Note(id=10**9)])
    assert error.value.index == 20_000 and box.is_empty() and notes[0].id == 0


def test_the_collector_is_left_as_it_was(box, Note):
    box.put([Note() for _ in range(2000)])
    gc.disable()
    try:
        box.get_all()
        assert not gc.isenabled()
    finally:
        gc.enable()
    box.get_all()
    assert gc.isenabled()


def test_boxes_are_shared_while_in_use(stores, Note):
    store = stores(Note)
    box = store.box(Note)
    assert store.box(Note) is box and Box(store, Note) is box
    assert box.store is store and box.entity is Note
    assert Box[Note] is Box and Query[Note] is Query


def test_two_entities(stores):
    first, second = make_note(), Entity(model="tests")(
        type("Other", (), {"id": Id(), "n": Int64()})
    )
    store = stores(first, second)
    store.box(first).put([first(), first()])
    store.box(second).put(second(n=5))
    assert (store.box(first).count(), store.box(second).count()) == (2, 1)
    with pytest.raises(TypeError):
        store.box(first).put(second())


def test_an_entity_that_is_not_in_the_model(stores, Note):
    store = stores(Note)
    with pytest.raises(IllegalArgumentError, match="not in the model"):
        store.box(make_note())
    for wrong in (5, int, "Note"):
        with pytest.raises(TypeError, match="Expected an entity"):
            store.box(wrong)


def test_nothing_leaks(box, Note):
    import tracemalloc

    def work():
        notes = [Note(text="x" * 50, ts=i) for i in range(100)]
        box.put(notes)
        box.get_all()
        box.get_many([n.id for n in notes] + [10**6])
        box.query().build().find_ids()
        with pytest.raises(ValueError):
            box.put([Note(), Note(ts="no")])
        with pytest.raises(TypeError):
            Note(nothing=1)
        box.remove_all()

    for _ in range(3):
        work()
    gc.collect()
    tracemalloc.start()
    work()
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(20):
        work()
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < 20_000, grown
