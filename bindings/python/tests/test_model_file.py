# SPDX-License-Identifier: Apache-2.0
"""The model JSON file: ids and uids, renaming, removing, and what other languages keep in it."""

import json
import os

import pytest

import boxwood
from boxwood import *
from boxwood.model.entity import camel_case
from boxwood.model.idsync import sync_model

from conftest import make_note


def load(tmp_path, name="model.json"):
    return json.loads((tmp_path / name).read_text())


def sync(tmp_path, *entities, name="model.json"):
    model = Model()
    for entity in entities:
        model.entity(entity)
    return sync_model(model, str(tmp_path / name)), model


def uids(entity_json):
    return {p["name"]: int(p["id"].split(":")[1]) for p in entity_json["properties"]}


def test_a_new_file(tmp_path):
    Note = make_note(key=String(index=Index()), when=Date(), owner=Relation("Owner"))
    Owner = Entity(model="tests")(type("Owner", (), {"id": Id(assignable=True)}))
    written, model = sync(tmp_path, Note, Owner)
    assert written and not sync(tmp_path, Note, Owner)[0]
    found = load(tmp_path)
    note, owner = found["entities"]
    assert [p["name"] for p in note["properties"]] == ["id", "text", "ts", "key", "when", "owner"]
    assert [p["type"] for p in note["properties"]] == [6, 9, 6, 9, 10, 11]
    assert [p.get("flags", 0) for p in note["properties"]] == [1, 0, 0, 2056, 0, 520]
    assert (
        note["properties"][5]["relationTarget"] == "Owner"
        and owner["properties"][0]["flags"] == 129
    )
    assert (
        note["id"].startswith("1:")
        and owner["id"].startswith("2:")
        and found["lastEntityId"] == owner["id"]
    )
    assert note["lastPropertyId"] == note["properties"][5]["id"]
    assert (
        found["lastIndexId"] == note["properties"][5]["indexId"]
        and found["lastRelationId"] == "0:0"
    )
    assert (found["modelVersion"], found["modelVersionParserMinimum"], found["version"]) == (
        5,
        5,
        1,
    )
    assert all(
        found[key] == []
        for key in (
            "retiredEntityUids",
            "retiredIndexUids",
            "retiredPropertyUids",
            "retiredRelationUids",
        )
    )
    assert (
        Note._id == 1
        and Note.when.id == 5
        and Note.owner.index.id == 2
        and os.listdir(tmp_path) == ["model.json"]
    )


def test_adding_and_removing(tmp_path):
    sync(tmp_path, make_note(gone=String(index=Index()), stays=Int64()))
    first = load(tmp_path)["entities"][0]
    sync(tmp_path, make_note(stays=Int64(), more=Int32()))
    found = load(tmp_path)
    second = found["entities"][0]
    gone = first["properties"][3]
    assert [p["id"].split(":")[0] for p in second["properties"]] == ["1", "2", "3", "5", "6"]
    assert found["retiredPropertyUids"] == [uids(first)["gone"]]
    assert found["retiredIndexUids"] == [int(gone["indexId"].split(":")[1])]
    with pytest.raises(ValueError, match="removed"):
        sync(tmp_path, make_note(stays=Int64(), more=Int32(), back=String(uid=uids(first)["gone"])))


def test_removing_an_entity(tmp_path):
    Other = Entity(model="tests")(type("Other", (), {"id": Id(), "n": Int64(index=Index())}))
    sync(tmp_path, make_note(), Other)
    before = load(tmp_path)
    sync(tmp_path, make_note())
    found = load(tmp_path)
    assert found["retiredEntityUids"] == [int(before["entities"][1]["id"].split(":")[1])]
    assert found["retiredPropertyUids"] == list(uids(before["entities"][1]).values())
    assert found["lastEntityId"] == before["lastEntityId"]
    Third = Entity(model="tests")(type("Third", (), {"id": Id()}))
    sync(tmp_path, make_note(), Third)
    assert load(tmp_path)["entities"][1]["id"].startswith("3:")


def test_renaming_by_uid(tmp_path):
    sync(tmp_path, make_note())
    before = load(tmp_path)["entities"][0]
    renamed = Entity(uid=int(before["id"].split(":")[1]), model="tests")(
        type("Memo", (), {"id": Id(), "body": String(uid=uids(before)["text"]), "ts": Int64()})
    )
    assert sync(tmp_path, renamed)[0]
    found = load(tmp_path)["entities"][0]
    assert found["name"] == "Memo" and found["id"] == before["id"]
    assert uids(found)["body"] == uids(before)["text"] and renamed.body.id == 2


def test_wrong_uids(tmp_path):
    sync(tmp_path, make_note())
    taken = uids(load(tmp_path)["entities"][0])
    with pytest.raises(ValueError, match="assigned elsewhere"):
        sync(
            tmp_path,
            make_note(),
            Entity(uid=taken["text"], model="tests")(type("Other", (), {"id": Id()})),
        )
    with pytest.raises(ValueError, match="mismatches"):
        sync(
            tmp_path,
            Entity(model="tests")(
                type("Note", (), {"id": Id(), "text": String(), "ts": String(uid=taken["ts"])})
            ),
        )
    assert uids(load(tmp_path)["entities"][0]) == taken
    broken = load(tmp_path)
    broken["entities"][0]["properties"][1]["id"] = "2:%d" % taken["id"]
    (tmp_path / "model.json").write_text(json.dumps(broken))
    with pytest.raises(ValueError, match="already been used"):
        sync(tmp_path, make_note())


def test_new_uids_may_be_given(tmp_path):
    sync(
        tmp_path,
        Entity(uid=77, model="tests")(
            type("Note", (), {"id": Id(uid=78), "text": String(uid=79, index=Index(uid=80))})
        ),
    )
    assert load(tmp_path)["entities"][0]["id"] == "1:77"
    assert load(tmp_path)["entities"][0]["properties"][1]["indexId"] == "1:80"


def test_both_forms_of_a_name_are_known(tmp_path):
    def cls(python_names):
        return Entity(model="tests", python_names=python_names)(
            type("Note", (), {"id": Id(), "date_made": Int64()})
        )

    sync(tmp_path, cls(True))
    before = load(tmp_path)["entities"][0]
    assert before["properties"][1]["name"] == "date_made"
    sync(tmp_path, cls(False))
    after = load(tmp_path)["entities"][0]
    assert after["properties"][1] == {**before["properties"][1], "name": "dateMade"}
    sync(tmp_path, cls(True))
    assert load(tmp_path)["entities"][0] == before


@pytest.mark.parametrize(
    "name,stored",
    [
        ("a", "a"),
        ("date_created", "dateCreated"),
        ("_inner_value", "_innerValue"),
        ("vec_2d", "vec2d"),
        ("a__b", "aB"),
        ("trailing_", "trailing_"),
        ("__both_ends__", "__bothEnds__"),
        ("already_Camel", "alreadyCamel"),
        ("_", "_"),
    ],
)
def test_camel_case(name, stored):
    assert camel_case(name) == stored


def test_what_others_write_is_kept(tmp_path):
    sync(tmp_path, make_note())
    found = load(tmp_path)
    found["lastIndexId"] = ""
    found["lastRelationId"] = "1:555"
    found["lastSequenceId"] = "4:4"
    found["entities"][0]["relations"] = [
        {"id": "1:555", "name": "friends", "targetId": found["entities"][0]["id"]}
    ]
    (tmp_path / "model.json").write_text(json.dumps(found))
    written, model = sync(tmp_path, make_note(more=Int64()))
    after = load(tmp_path)
    assert written and after["lastSequenceId"] == "4:4" and after["lastRelationId"] == "1:555"
    assert (
        after["lastIndexId"] == ""
        and after["entities"][0]["relations"] == found["entities"][0]["relations"]
    )
    entity_id, entity_uid = map(int, found["entities"][0]["id"].split(":"))
    assert model._relations == {entity_uid: ((1, 555, entity_id, entity_uid, "friends"),)}
    assert model.last_relation_iduid.uid == 555


def test_an_equal_file_is_not_written(tmp_path):
    sync(tmp_path, make_note())
    path = tmp_path / "model.json"
    found = load(tmp_path)
    del found["retiredIndexUids"], found["_note1"]
    path.write_text(json.dumps(found))
    path.chmod(0o400)
    before = path.stat().st_mtime_ns
    assert not sync(tmp_path, make_note())[0] and path.stat().st_mtime_ns == before


def test_models_are_checked(tmp_path):
    with pytest.raises(ValueError, match="at least one entity"):
        sync(tmp_path)
    with pytest.raises(ValueError, match="not in the model"):
        sync(tmp_path, make_note(other=Relation("Nobody")))
    replace = boxwood.ConflictStrategy.REPLACE
    with pytest.raises(ValueError, match="only one property"):
        sync(
            tmp_path, make_note(a=String(unique=Unique(replace)), b=String(unique=Unique(replace)))
        )
    with pytest.raises(ValueError, match="REPLACE"):
        sync(tmp_path, SyncEntity(make_note(a=String(unique=Unique))))
    model = Model()
    model.entity(make_note())
    with pytest.raises(ValueError, match="Duplicate entity"):
        model.entity(make_note())
    with pytest.raises(TypeError, match="@Entity"):
        model.entity(int)
    with pytest.raises(ValueError, match="not assigned"):
        model.validate_ids_assigned()


def test_one_class_with_two_files(stores, tmp_path):
    Note = make_note()
    Other = Entity(model="tests")(type("Other", (), {"id": Id()}))
    first = stores(Note, json="one.json", name="one")
    second = stores(Other, Note, json="two.json", name="two")
    for store in (first, second):
        assert store.box(Note).put([Note(text="a"), Note(text="b")]) == [1, 2]
        assert [o.text for o in store.box(Note).get_all()] == ["a", "b"]
    assert load(tmp_path, "one.json")["entities"][0]["id"].startswith("1:")
    assert load(tmp_path, "two.json")["entities"][1]["id"].startswith("2:")
    first.close()
    second.close()
    assert stores.box(Note, json="one.json", name="one").count() == 2


def test_a_model_is_synchronised_once(stores, tmp_path, monkeypatch):
    import boxwood.model.idsync as idsync

    calls = []
    real = idsync.sync_model
    monkeypatch.setattr(idsync, "sync_model", lambda *args: calls.append(args) or real(*args))
    Note = make_note()
    for i in range(5):
        stores(Note, name="d%d" % i).close()
    assert len(calls) == 1
    os.utime(tmp_path / "model.json", ns=(1, 1))  # somebody wrote it
    stores(Note, name="more").close()
    assert len(calls) == 2


def test_a_named_model_and_classes_that_come_later(tmp_path):
    options = dict(model="named", model_json_file=str(tmp_path / "model.json"))
    First = Entity(model="named")(type("First", (), {"id": Id()}))
    with Store(directory=str(tmp_path / "a"), **options) as store:
        store.box(First).put(First())
    Second = Entity(model="named")(type("Second", (), {"id": Id()}))
    with Store(directory=str(tmp_path / "a"), **options) as store:
        assert store.box(First).count() == 1 and store.box(Second).put(Second()) == 1
    again = Entity(model="named")(type("First", (), {"id": Id(), "more": Int64()}))
    with Store(directory=str(tmp_path / "a"), **options) as store:
        assert store.box(again).get(1).more == 0
    assert len(load(tmp_path)["entities"]) == 2


def test_schema_changes_keep_the_data(stores):
    with stores(make_note(gone=String())) as store:
        cls = next(
            iter(store.box(e).entity for e in boxwood.model.entity.obx_models_by_name["tests"][-1:])
        )
        store.box(cls).put(cls(text="a", ts=1, gone="x"))
    box = stores.box(make_note(more=Int32()))
    read = box.get(1)
    assert (read.text, read.ts, read.more) == ("a", 1, 0)


def test_an_older_model_is_refused(stores, tmp_path):
    stores(make_note(), json="old.json").close()
    (tmp_path / "new.json").write_text((tmp_path / "old.json").read_text())
    stores(make_note(more=Int32()), json="new.json").close()
    with pytest.raises(SchemaError, match="last property ID"):
        stores(make_note(), json="old.json")
