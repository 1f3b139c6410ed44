# SPDX-License-Identifier: Apache-2.0
"""Queries without conditions, and conditions as far as they exist."""

import pytest

import boxwood
from boxwood import *

from conftest import make_note


@pytest.fixture
def full(box, Note):
    box.put([Note(text="n%d" % i, ts=i) for i in range(10)])
    return box


def test_find(full):
    query = full.query().build()
    assert query.count() == 10 and query.find_ids() == list(range(1, 11))
    assert [o.ts for o in query.find()] == list(range(10)) and query.find_first().id == 1


def test_offset_and_limit(full):
    query = full.query().build()
    assert query.offset(2).limit(3) is query and query.find_ids() == [3, 4, 5]
    assert [o.ts for o in query.find()] == [2, 3, 4]
    assert query.find_first().id == 1
    with pytest.raises(DbError, match="not supported"):
        query.count()
    with pytest.raises(DbError, match="not supported"):
        query.remove()
    query.offset(100)
    assert query.find_ids() == [] and query.find() == []
    assert query.offset(0).count() == 3 and query.limit(99).count() == 10
    assert query.limit(0).find_ids() == list(range(1, 11))
    for wrong in (-1, 2**70):
        with pytest.raises(IllegalArgumentError):
            query.limit(wrong)
    for wrong in ("1", 1.0, True, None):
        with pytest.raises(TypeError):
            query.offset(wrong)


def test_find_unique(box, Note):
    query = box.query().build()
    assert query.find_unique() is None and query.find_first() is None and query.find() == []
    box.put(Note())
    assert query.find_unique().id == 1
    box.put(Note())
    with pytest.raises(NonUniqueResultError, match="more than one"):
        query.find_unique()


def test_remove_and_later_puts(full, Note):
    query = full.query().build()
    assert query.remove() == 10 and query.count() == 0
    full.put(Note())
    assert query.find_ids() == [11]


def test_describe(full):
    query = full.query().build()
    assert query.describe() == "Query for entity Note with 1 conditions"
    assert query.describe_parameters() == "TRUE"


def test_closing(full):
    builder = full.query()
    with builder.build() as query:
        assert not query.is_closed()
    assert query.is_closed()
    query.close()
    with pytest.raises(IllegalStateError, match="query is closed"):
        query.count()
    with pytest.raises(IllegalStateError, match="builder is closed"):
        builder.build()
    with pytest.raises(IllegalStateError, match="builder is closed"):
        builder.order("text")


def test_what_needs_conditions(full, Note):
    query = full.query().build()
    with pytest.raises(IllegalArgumentError):
        query.set_parameter(Note.text, "a")
    with pytest.raises(IllegalStateError):
        query.find_with_scores()


def conditions(Note):
    return [
        Note.text.equals("a"),
        Note.text.starts_with("a", case_sensitive=False),
        Note.ts.between(1, 2),
        Note.id.one_of([1, 2]),
        Note.text.is_null(),
        Note.ts.not_one_of([5]),
        Note.text.contains("x") & (Note.ts.greater_than(1) | Note.ts.equals(9)),
        Note.ts.less_than(3).alias("a"),
    ]


def test_conditions_are_made_and_refused_with_the_librarys_code(full, Note):
    for condition in conditions(Note):
        assert isinstance(condition, boxwood.condition.QueryCondition) and repr(condition)
        with pytest.raises(FeatureNotAvailableError) as error:
            full.query(condition).build()
        assert error.value.code == 10005
    with pytest.raises(FeatureNotAvailableError):
        full.query().order(Note.text).order_desc(Note.ts, OrderFlags.NULLS_LAST).build()
    with pytest.raises(FeatureNotAvailableError):
        full.query().equals_string("text", "a")
    with pytest.raises(FeatureNotAvailableError):
        builder = full.query()
        builder.link(Note.ts, Note.text.equals("a"))
        builder.build()


def test_conditions_check_their_values(Note):
    with pytest.raises(TypeError, match="takes int values"):
        Note.ts.equals("a")
    with pytest.raises(TypeError, match="does not support"):
        make_note(small=Int8()).small.one_of([1])
    with pytest.raises(TypeError, match="combined by"):
        Note.ts.equals(1) and Note.ts.equals(2)
    with pytest.raises(TypeError):
        Note.ts.equals(1) & 5
    with pytest.warns(DeprecationWarning):
        make_note(v=Float32Vector(index=HnswIndex(2))).v.nearest_neighbor([1.0, 2.0], 3)


def test_dates_in_conditions():
    from datetime import datetime, timezone

    Note = make_note(day=Date(), fine=DateNano())
    when = datetime(2024, 1, 1, 0, 0, 0, 1500, tzinfo=timezone.utc)
    assert Note.day.equals(when)._args["value"] == 1704067200002
    assert Note.fine.equals(when)._args["value"] == 1704067200001500000
    assert Note.day.between(1.5, 7)._args == {"a": 1500, "b": 7}
    with pytest.raises(TypeError):
        Note.day.equals("today")
