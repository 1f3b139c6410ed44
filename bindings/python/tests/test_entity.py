# SPDX-License-Identifier: Apache-2.0
"""Entity classes are classes: construction, inheritance, copying, and what a class attribute is."""

import abc
import copy
import gc
import inspect
import pickle
import weakref

import pytest

import boxwood
from boxwood import Bytes, Date, Entity, Flex, Float64, Id, Int64, Int64List, String
from boxwood.model import Property

from conftest import make_note


@Entity(model="tests")
class Thing:
    """A thing."""

    id = Id
    name = String
    size = Int64()
    tags = Int64List()
    kind = "plain"

    def shout(self):
        return self.name.upper()

    @property
    def double(self):
        return 2 * self.size

    @classmethod
    def small(cls):
        return cls(size=1)


class Part(Thing):
    def __init__(self, name):
        super().__init__(name=name)
        self.extra = "more"


def test_a_class_stays_a_class():
    thing = Thing(name="a", size=3)
    assert isinstance(thing, Thing) and type(thing) is Thing
    assert (thing.shout(), thing.double, Thing.small().size) == ("A", 6, 1)
    assert Thing.__doc__ == "A thing." and Thing.__qualname__ == "Thing"
    assert Thing.__module__ == __name__


def test_class_attributes_are_properties_and_instance_attributes_values():
    assert isinstance(Thing.name, Property) and Thing.name.name == "name"
    assert Thing(name="x").name == "x" and Thing.kind == "plain"
    assert repr(Thing.name) == "<String Thing.name>"


def test_unset_properties_have_their_default(stores):
    @Entity(model="tests")
    class All:
        id = Id()
        text = String()
        number = Int64()
        real = Float64()
        raw = Bytes()
        any = Flex()
        items = Int64List()
        maybe = String(nullable=True)
        when = Date()

    new = All()
    assert (new.id, new.text, new.number, new.real, new.raw, new.any, new.items, new.maybe) == (
        0,
        "",
        0,
        0.0,
        b"",
        None,
        [],
        None,
    )
    assert new.when.timestamp() == 0
    box = stores.box(All)
    read = box.get(box.put(new))
    assert (read.text, read.number, read.raw, read.any, read.items, read.maybe) == (
        "",
        0,
        b"",
        None,
        [],
        None,
    )


def test_lists_are_not_shared():
    first, second = Thing(), Thing()
    first.tags.append(1)
    assert second.tags == []


def test_a_deleted_value_counts_as_unset(box, Note):
    note = Note(text="a")
    del note.text
    with pytest.raises(AttributeError):
        note.text
    assert box.get(box.put(note)).text == ""


def test_unknown_keyword():
    with pytest.raises(TypeError, match='Entity Thing has no property "colour"'):
        Thing(colour="red")
    assert Thing(kind="special").kind == "special"  # any attribute of the class will do


def test_positional_arguments_are_refused():
    with pytest.raises(TypeError, match="keyword"):
        Thing("a")


def test_keywords_by_dict_and_by_equal_strings():
    assert Thing(**{"na" + "me": "a", "".join(["si", "ze"]): 2}).size == 2


def test_other_attributes_may_be_set():
    thing = Thing()
    thing.note = "mine"
    assert thing.note == "mine" and weakref.ref(thing)() is thing


def test_properties_of_the_class_cannot_be_replaced():
    with pytest.raises(AttributeError, match="cannot be replaced"):
        Thing.name = 5
    Thing.kind = "plain"


def test_init_that_wants_nothing_runs_before_the_keywords():
    @Entity(model="tests")
    class Noted:
        id = Id()
        text = String()
        seen = 0

        def __init__(self):
            self.text = "from init"
            self.seen = 1

    assert Noted().text == "from init" and Noted(text="given").text == "given"
    assert Noted(text="given").seen == 1


def test_init_with_arguments_is_called_with_them():
    @Entity(model="tests")
    class Noted:
        id = Id()
        text = String()

        def __init__(self, text, *, times):
            self.text = text * times

    assert Noted("ab", times=2).text == "abab"
    assert Noted(text="a", times=3).text == "aaa"


def test_reading_calls_init_only_when_asked(stores):
    for asked in (False, True):
        calls = []

        def init(self):
            calls.append(1)
            self.cache = "made"

        cls = Entity(model="tests", init_on_read=asked)(
            type("Read%s" % asked, (), {"id": Id(), "text": String(), "__init__": init})
        )
        box = stores.box(cls, name="db%s" % asked, json="%s.json" % asked)
        box.put([cls(text="a"), cls(text="b")])
        calls.clear()
        assert [o.text for o in box.get_all()] == ["a", "b"] and box.get(1).text == "a"
        assert [o.id for o in box.get_many([2, 1])] == [2, 1]
        assert len(calls) == (5 if asked else 0)
        assert hasattr(box.get(1), "cache") == asked


def test_subclasses_are_stored_and_read_as_the_entity(stores):
    box = stores.box(Thing)
    part = Part("wheel")
    assert part.name == "wheel" and part.extra == "more" and part.size == 0
    assert isinstance(Part.name, Property)
    assert type(box.get(box.put(part))) is Thing and part.id == 1


def test_a_subclass_is_no_entity(stores):
    with pytest.raises(TypeError, match="Expected an entity"):
        stores(Thing).box(Part)
    with pytest.raises(TypeError, match="derives from entity"):
        Entity(model="tests")(type("Sub", (Thing,), {}))


def test_properties_of_plain_bases_are_inherited(stores):
    class Dated:
        created = Int64()

        def __init__(self):
            self.created = 7

    @Entity(model="tests")
    class First(Dated):
        id = Id()

    @Entity(model="tests")
    class Second(Dated):
        id = Id()
        name = String()

    assert First().created == 7 and Second(created=8).created == 8
    assert First.created is not Second.created
    box = stores(First, Second).box(First)
    assert box.get(box.put(First())).created == 7


def test_metaclasses_and_super_survive():
    class Base(abc.ABC):
        @abc.abstractmethod
        def name(self):
            return "base"

    @Entity(model="tests")
    class Real(Base):
        id = Id()
        text = String()

        def name(self):
            return super().name() + __class__.__name__

    assert Real(text="x").name() == "baseReal" and isinstance(Real, abc.ABCMeta)


def test_init_subclass_and_set_name_run():
    seen = []

    class Base:
        def __init_subclass__(cls, **options):
            seen.append(cls.__name__)

    Entity(model="tests")(type("Child", (Base,), {"id": Id()}))
    assert seen == ["Child", "Child"]


def test_slots_of_the_user():
    @Entity(model="tests")
    class Tight:
        __slots__ = ("other",)
        id = Id()

    tight = Tight()
    tight.other = 1
    assert copy.copy(tight).id == 0
    with pytest.raises(AttributeError):
        tight.more = 2


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickle(protocol):
    thing = Thing(name="ä", size=5, tags=[1])
    thing.extra = "e"
    back = pickle.loads(pickle.dumps(thing, protocol))
    assert type(back) is Thing
    assert (back.name, back.size, back.tags, back.extra) == ("ä", 5, [1], "e")
    part = pickle.loads(pickle.dumps(Part("p"), protocol))
    assert type(part) is Part and (part.name, part.extra) == ("p", "more")


def test_copy_and_deepcopy():
    thing = Thing(name="a", tags=[1, 2])
    shallow, deep = copy.copy(thing), copy.deepcopy(thing)
    assert shallow.tags is thing.tags
    assert deep.tags == [1, 2] and deep.tags is not thing.tags


def test_objects_in_cycles_are_collected():
    thing = Thing()
    thing.name = [thing]
    watch = weakref.ref(thing)
    del thing
    gc.collect()
    assert watch() is None


def test_classes_are_collected():
    def make():
        cls = boxwood.Entity(model="passing")(type("Gone", (), {"id": Id(), "text": String()}))
        cls(text="a").me = cls
        return weakref.ref(cls)

    watch = make()
    del boxwood.model.entity.obx_models_by_name["passing"]
    boxwood._boxwood.forget()
    gc.collect()
    assert watch() is None


def test_what_an_entity_needs():
    with pytest.raises(ValueError, match="no ID property"):
        Entity(model="tests")(type("None_", (), {"text": String()}))
    with pytest.raises(ValueError, match="Duplicate ID"):
        Entity(model="tests")(type("Two", (), {"a": Id(), "b": Id()}))
    with pytest.raises(ValueError, match="stored as"):
        Entity(model="tests")(type("Same", (), {"id": Id(), "a_b": String(), "aB": String()}))
    with pytest.raises(TypeError):
        Entity(model="tests")(5)
    for wrong in (dict(id=5), dict(indexx=1), dict(index=5), dict(unique="yes")):
        with pytest.raises(TypeError):
            String(**wrong)


def test_the_storage_type_is_of_no_use_alone():
    storage = Thing.__mro__[1]
    with pytest.raises(TypeError):
        storage()
    with pytest.raises(TypeError):
        storage.__new__(storage)


def test_names_by_which_other_code_knows_entities(Note):
    assert Note._name == "Note" and Note._id == 0 and Note._user_type is Note
    assert Note._get_property("text") is Note.text and [p.name for p in Note._properties] == [
        "id",
        "text",
        "ts",
    ]
    with pytest.raises(boxwood.IllegalArgumentError, match="not found"):
        Note._get_property("none")


def test_stored_names_are_camel_case():
    cls = make_note(date_created=Int64(), _private_value=Int64())
    assert cls.date_created._db_name == "dateCreated"
    assert cls._private_value._db_name == "_privateValue"


def test_many_properties(stores):
    names = ["p%d" % i for i in range(150)]
    cls = Entity(model="tests")(
        type(
            "Wide",
            (),
            {"id": Id(), **{name: (Int64(), String())[i % 2] for i, name in enumerate(names)}},
        )
    )
    box = stores.box(cls)
    values = {name: (i, str(i))[i % 2] for i, name in enumerate(names)}
    for nothing in ([], ["p3", "p100"], names):
        want = {**values, **dict.fromkeys(nothing)}
        read = box.get(box.put(cls(**want)))
        for i, name in enumerate(names):
            assert getattr(read, name) == ((0, "")[i % 2] if want[name] is None else want[name])


def test_signatures_are_known():
    assert "skip_model_sync" in inspect.signature(boxwood.Store).parameters
    assert list(inspect.signature(boxwood.Box.count).parameters) == ["self", "limit"]
