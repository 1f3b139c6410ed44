# SPDX-License-Identifier: Apache-2.0
"""What is put comes back: random objects of every type of property."""

import math
import struct
from array import array
from datetime import datetime, timedelta, timezone

import numpy
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import boxwood
from boxwood import *


def float32(value):
    return struct.unpack("f", struct.pack("f", value))[0]


@pytest.fixture(scope="module")
def every(tmp_path_factory):
    @Entity(model="tests")
    class Every:
        id = Id()
        text = String()
        flag = Bool()
        i8 = Int8()
        i16 = Int16()
        i32 = Int32()
        i64 = Int64()
        f32 = Float32()
        f64 = Float64()
        raw = Bytes()
        ms = Date(py_type=int)
        ns = DateNano(py_type=int)
        day = Date()
        fine_day = DateNano()
        seconds = Date(py_type=float)
        flex = Flex()
        vbool = BoolVector()
        vi8 = Int8Vector()
        vi16 = Int16Vector()
        vchar = CharVector()
        vi32 = Int32Vector()
        vi64 = Int64Vector()
        vf32 = Float32Vector()
        vf64 = Float64Vector()
        lbool = BoolList()
        li8 = Int8List()
        li16 = Int16List()
        lchar = CharList()
        li32 = Int32List()
        li64 = Int64List()
        lf32 = Float32List()
        lf64 = Float64List()

    root = tmp_path_factory.mktemp("every")
    model = Model()
    model.entity(Every)
    with Store(
        model=model,
        directory=str(root / "db"),
        model_json_file=str(root / "model.json"),
        durability="none",
    ) as store:
        yield store.box(Every)


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
flexes = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False)
    | texts
    | st.binary(max_size=40),
    lambda inner: st.lists(inner, max_size=6)
    | st.dictionaries(texts.filter(lambda t: "\0" not in t), inner, max_size=6),
    max_leaves=20,
)
utc = timezone.utc
days = st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59))


def integers(bits):
    return st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


FIELDS = dict(
    text=texts,
    flag=st.booleans(),
    i8=integers(8),
    i16=integers(16),
    i32=integers(32),
    i64=integers(64),
    f32=st.floats(width=32, allow_nan=False),
    f64=st.floats(allow_nan=False),
    raw=st.binary(max_size=50),
    ms=integers(64),
    ns=integers(64),
    day=days.map(lambda d: d.replace(microsecond=d.microsecond // 1000 * 1000, tzinfo=utc)),
    fine_day=st.datetimes(datetime(1678, 1, 1), datetime(2262, 1, 1)).map(
        lambda d: d.replace(tzinfo=utc)
    ),
    seconds=st.integers(-(2**40), 2**40).map(lambda ms: ms / 1000),
    flex=flexes,
    lbool=st.lists(st.booleans(), max_size=9),
    li8=st.lists(integers(8), max_size=9),
    li16=st.lists(integers(16), max_size=9),
    lchar=st.lists(st.integers(0, 65535), max_size=9),
    li32=st.lists(integers(32), max_size=9),
    li64=st.lists(integers(64), max_size=9),
    lf32=st.lists(st.floats(width=32, allow_nan=False), max_size=9),
    lf64=st.lists(st.floats(allow_nan=False), max_size=9),
    vi8=st.binary(max_size=9),
)
ARRAYS = dict(vbool="?", vi16="i2", vchar="u2", vi32="i4", vi64="i8", vf32="f4", vf64="f8")


@settings(
    max_examples=250, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(
        st.fixed_dictionaries({}, optional={k: v | st.none() for k, v in FIELDS.items()}),
        min_size=1,
        max_size=5,
    )
)
def test_random_objects(every, rows):
    cls = every.entity
    objects = [cls(**row) for row in rows]
    ids = every.put(objects)
    for row, made, read in zip(rows, objects, every.get_many(ids)):
        assert type(read) is cls and read.id == made.id
        for name in FIELDS:
            value = getattr(read, name)
            expected = row.get(name)
            if expected is None:
                expected = getattr(cls(), name)
            assert value == expected and type(value) is type(expected), name
    assert [o.id for o in every.get_many(list(reversed(ids)))] == list(reversed(ids))
    assert every.remove_many(ids) == len(ids)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.data())
def test_random_arrays(every, data):
    values = {}
    for name, dtype in ARRAYS.items():
        size = data.draw(st.integers(0, 12))
        raw = data.draw(st.binary(min_size=8 * size, max_size=8 * size))
        values[name] = numpy.frombuffer(raw, dtype="u1")[:size].astype(dtype)
        if data.draw(st.booleans()):
            values[name] = values[name][::-1]  # not contiguous
    read = every.get(every.put(every.entity(**values)))
    for name, value in values.items():
        got = getattr(read, name)
        assert isinstance(got, numpy.ndarray) and got.dtype == value.dtype, name
        assert numpy.array_equal(got, value), name
        got[:0] = got[:0]
        assert got.flags.writeable


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        "ab" * 5000,
        "ä",
        "aaaaaaaä",
        "äaaaaaaaaa" * 50,
        "€",
        "x" * 7 + "€" + "y" * 9,
        "😀",
        "a😀" * 100,
        "漢字" * 100 + "a" * 100,
        "\0",
        "a\0b",
        "\x7f\x80\xff\u0100\u07ff\u0800\uffff\U00010000\U0010ffff",
    ],
)
def test_texts(every, text):
    assert every.get(every.put(every.entity(text=text))).text == text


def test_every_character(every):
    text = "".join(chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000)
    assert every.get(every.put(every.entity(text=text))).text == text


def test_subclasses_of_plain_types(every):
    class Text(str):
        pass

    class Number(int):
        def __float__(self):
            raise AssertionError

    read = every.get(
        every.put(every.entity(text=Text("a"), i64=Number(5), f64=Number(6), raw=bytearray(b"x")))
    )
    assert (read.text, read.i64, read.f64, read.raw) == ("a", 5, 6.0, b"x") and type(
        read.text
    ) is str


def test_numpy_scalars(every):
    read = every.get(
        every.put(
            every.entity(
                flag=numpy.bool_(True),
                i8=numpy.int8(-3),
                i64=numpy.int64(2**62),
                f32=numpy.float32(1.5),
                f64=numpy.float64(math.pi),
                flex={"a": numpy.int32(4), "b": numpy.arange(3), "c": numpy.bool_(False)},
            )
        )
    )
    assert (read.flag, read.i8, read.i64, read.f32, read.f64) == (True, -3, 2**62, 1.5, math.pi)
    assert read.flex == {"a": 4, "b": [0, 1, 2], "c": False}


@pytest.mark.parametrize(
    "value",
    [
        [1, 2, 3],
        (1, 2, 3),
        array("q", [1, 2, 3]),
        array("f", [1, 2, 3]),
        range(1, 4),
        numpy.array([1, 2, 3], dtype="u1"),
        memoryview(array("h", [1, 2, 3])),
    ],
)
def test_vectors_from_anything(every, value):
    read = every.get(every.put(every.entity(vf32=value, vf64=value, lf32=value)))
    assert list(read.vf32) == list(read.vf64) == read.lf32 == [1.0, 2.0, 3.0]


def test_infinities_and_nan(every):
    read = every.get(
        every.put(
            every.entity(f32=math.inf, f64=-math.inf, lf32=[math.nan], flex=[math.inf, math.nan])
        )
    )
    assert (read.f32, read.f64) == (math.inf, -math.inf)
    assert math.isnan(read.lf32[0]) and read.flex[0] == math.inf and math.isnan(read.flex[1])


def test_dates(every):
    local = timezone(timedelta(hours=-7))
    when = datetime(2024, 5, 6, 7, 8, 9, 123456, tzinfo=local)
    read = every.get(
        every.put(every.entity(day=when, fine_day=when, seconds=when, ms=when, ns=when))
    )
    assert read.fine_day == when and read.fine_day.tzinfo is utc
    assert read.day == when.replace(microsecond=123000)
    assert read.seconds == pytest.approx(when.timestamp(), abs=1e-3)
    assert read.ns == read.ms * 10**6 + 456000
    naive = datetime(2024, 5, 6, 7, 8, 9, 250000)
    assert every.get(every.put(every.entity(day=naive))).day == naive.astimezone(utc)
    assert every.get(every.put(every.entity(ms=1.5, ns=2.5))).ms == 1500
    halves = [
        datetime.fromtimestamp(0, utc) + timedelta(microseconds=us) for us in (500, 1500, -500, 501)
    ]
    assert [every.get(every.put(every.entity(ms=half))).ms for half in halves] == [0, 2, 0, 1]


def test_dates_that_datetime_does_not_know(every):
    id = every.put(every.entity(day=2**60))
    with pytest.raises(ValueError, match="py_type=int") as error:
        every.get(id)
    assert any("Every.day of object %d" % id in note for note in error.value.__notes__)
    every.remove(id)


def test_absent_vectors_read_as_empty(every):
    read = every.get(every.put(every.entity(vf32=None, lf32=None, raw=None)))
    assert (
        read.vf32.shape == (0,)
        and read.vf32.dtype == numpy.float32
        and read.lf32 == []
        and read.raw == b""
    )


def test_large_values(every):
    big = every.entity(
        text="z" * 3_000_000,
        raw=bytes(2_000_000),
        flex=["x" * 70_000] * 20,
        li64=list(range(100_000)),
    )
    read = every.get(every.put(big))
    assert (read.text, read.raw, read.flex, read.li64) == (big.text, big.raw, big.flex, big.li64)


def test_flex_reads_what_others_write():
    from_flex = boxwood._boxwood.from_flex
    for data, value in [
        (b"\x03\x01\x02\x03\x03\x2c\x01", [1, 2, 3]),  # a typed vector of integers
        (b"\x01\x02\x02\x40\x01", [1, 2]),  # two integers of fixed count
        (b"\x02\x01\x00\x02\x90\x01", [True, False]),
        (b"hi\x00\x03\x10\x01", "hi"),  # a key
        (b"\x2a\x00\x02\x18\x01", 42),  # an indirect integer
        (b"\xff\x08\x01", 255),
    ]:
        assert from_flex(data) == value


@settings(max_examples=400, deadline=None)
@given(st.binary(max_size=80))
def test_damaged_flex_is_an_error_and_no_crash(data):
    try:
        boxwood._boxwood.from_flex(data)
    except (ValueError, RecursionError):
        pass


def test_flex_bombs_are_refused():
    # Each of 30 vectors refers twice to the one before.
    data = bytearray(b"\x01\x05")
    at, kind, before = 1, 4, 0
    for _ in range(30):
        start = len(data) + 1
        kind_byte = 0x04 if not before else 0x28
        data += bytes([2, start - at, start + 1 - at, kind_byte, kind_byte])
        at, before = start, 1
    data += bytes([len(data) - at, 0x28, 1])
    with pytest.raises(ValueError):
        boxwood._boxwood.from_flex(bytes(data))
