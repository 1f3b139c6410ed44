# SPDX-License-Identifier: Apache-2.0
"""Ids and uids between a model and its JSON file.

The file has the format that all bindings share. It is read when a model is first used with it, and
written, whole and at once, when the model says something else than it does. What only other
languages know (n:m relations, further top-level fields) is kept.
"""

import json
import os
import random

from boxwood.model.entity import camel_case, info_of
from boxwood.model.iduid import IdUid
from boxwood.model.properties import Relation

_NOTES = {
    "_note1": "KEEP THIS FILE! Check it into a version control system (VCS) like git.",
    "_note2": "ObjectBox manages crucial IDs for your object model. See docs for details.",
    "_note3": "If you have VCS merge conflicts, you must resolve them according to ObjectBox docs.",
}
_VERSION = 5
_RETIRED = ("retiredEntityUids", "retiredIndexUids", "retiredPropertyUids", "retiredRelationUids")
_KEPT = ("lastRelationId", "lastSequenceId", "modelVersion", "version")


class IdSync:
    """One synchronisation of a model with a file."""

    def __init__(self, model, path):
        if not model.entities:
            raise ValueError("A valid model must have at least one entity")
        self.model = model
        self.path = path
        self.file = self._load()
        self.retired = {key: [int(uid) for uid in self.file.get(key) or ()] for key in _RETIRED}
        self.taken = set()  # every uid of the file and of what was assigned since
        self.matched = set()  # uids of the file that the model still has
        self.relations = {}  # entity uid -> their JSON
        self._take_uids()

    # ---- the file ----

    def _load(self):
        try:
            with open(self.path, "rt", encoding="utf-8") as file:
                return json.load(file)
        except FileNotFoundError:
            return {}

    def _take(self, text, what):
        uid = IdUid.from_str(text).uid
        if uid in self.taken:
            raise ValueError(
                "%s UID %d has already been used elsewhere (%s)" % (what, uid, self.path)
            )
        self.taken.add(uid)

    def _take_uids(self):
        for uids in self.retired.values():
            self.taken.update(uids)
        for entity in self.file.get("entities", ()):
            self._take(entity["id"], "An entity's")
            for prop in entity["properties"]:
                self._take(prop["id"], "A property's")
                if "indexId" in prop:
                    self._take(prop["indexId"], "An index's")
            for relation in entity.get("relations") or ():
                self.taken.add(IdUid.from_str(relation["id"]).uid)

    def _text(self, iduid):
        """Unassigned ids are written as the file has them: Go and C++ want an empty text."""
        empty = any(
            self.file.get(key) == "" for key in ("lastEntityId", "lastIndexId", "lastRelationId")
        )
        return str(iduid) if iduid else "" if empty else "0:0"

    def _entity_json(self, info):
        entity = {
            "id": str(info.iduid),
            "name": info.name,
            "lastPropertyId": str(info.last_property_iduid),
            "properties": [],
        }
        if info.flags:
            entity["flags"] = info.flags
        for prop in info.properties:
            made = {"id": str(prop.iduid), "name": prop._db_name, "type": prop._ob_type}
            if prop._flags:
                made["flags"] = prop._flags
            if prop.index is not None:
                made["indexId"] = str(prop.index.iduid)
            if isinstance(prop, Relation):
                made["relationTarget"] = prop._target_name
            entity["properties"].append(made)
        if info.uid in self.relations:
            entity["relations"] = self.relations[info.uid]
        return entity

    def _model_json(self):
        model = self.model
        made = dict(_NOTES)
        made.update(
            {
                "modelVersionParserMinimum": _VERSION,
                "entities": [self._entity_json(info) for info in model._infos()],
                "lastEntityId": self._text(model.last_entity_iduid),
                "lastIndexId": self._text(model.last_index_iduid),
                "lastRelationId": self._text(model.last_relation_iduid),
                "modelVersion": _VERSION,
                "version": 1,
            }
        )
        made.update((key, self.file[key]) for key in _KEPT if key in self.file)
        made.update(self.retired)
        return made

    def _save(self, made):
        """Under another name first, so that nobody reads half a file."""
        text = json.dumps(made, indent=2)
        new = "%s.%d.new" % (os.path.realpath(self.path), os.getpid())
        try:
            with open(new, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.replace(new, os.path.realpath(self.path))
        except OSError:
            if os.path.exists(new):
                os.remove(new)
            raise

    # ---- uids ----

    def _check_free(self, uid):
        if any(uid in uids for uids in self.retired.values()):
            raise ValueError(
                "User supplied UID %d was used by something that was removed; it is not used again "
                "(see the retired uids in %s)" % (uid, self.path)
            )
        if uid in self.taken:
            raise ValueError("User supplied UID %d is already assigned elsewhere" % uid)

    def _new_uid(self, given, known):
        """For what the file does not have: the user's, that of another file, or a fresh one."""
        if given:
            self._check_free(given)
            uid = given
        elif known and known not in self.taken:
            uid = known
        else:
            uid = 0
            while not uid or uid in self.taken:
                uid = random.getrandbits(63)
        self.taken.add(uid)
        return uid

    # ---- matching ----

    def _find(self, items, given, *names):
        """Of the file: by the user's uid, otherwise by the first name that is known."""
        if given:
            return next((item for item in items if IdUid.from_str(item["id"]).uid == given), None)
        for name in names:
            for item in items:
                if item["name"] == name:
                    return item
        return None

    def _match(self, found):
        iduid = IdUid.from_str(found["id"])
        self.matched.add(iduid.uid)
        return iduid

    def _sync_index(self, index, found):
        text = found.get("indexId") if found else None
        iduid = IdUid.from_str(text)
        if iduid and index._given_uid in (0, iduid.uid):
            index.iduid = iduid
            self.matched.add(iduid.uid)
            return
        uid = self._new_uid(index._given_uid, index.uid)
        index.iduid = self.model.last_index_iduid = IdUid(self.model.last_index_iduid.id + 1, uid)

    def _sync_property(self, info, prop, items):
        other = camel_case(prop.name) if info.python_names else prop.name
        found = self._find(items, prop._given_uid, prop._db_name, other)
        if found is not None and IdUid.from_str(found["id"]).uid in self.matched:
            found = None  # the name's other form belongs to another property
        if found is not None:
            if found["type"] != prop._ob_type:
                raise ValueError(
                    "Property %s.%s mismatches property found in JSON file: type %s is not %s"
                    % (info.name, prop.name, prop._ob_type, found["type"])
                )
            prop.iduid = self._match(found)
        else:
            uid = self._new_uid(prop._given_uid, prop.uid)
            prop.iduid = info.last_property_iduid = IdUid(info.last_property_iduid.id + 1, uid)
        if prop.index is not None:
            self._sync_index(prop.index, found)

    def _sync_entity(self, info):
        found = self._find(self.file.get("entities", ()), info.given_uid, info.name)
        if found is not None:
            info.iduid = self._match(found)
            info.last_property_iduid = IdUid.from_str(found["lastPropertyId"])
            if "relations" in found:
                self.relations[info.uid] = found["relations"]
        else:
            uid = self._new_uid(info.given_uid, info.uid)
            info.iduid = self.model.last_entity_iduid = IdUid(
                self.model.last_entity_iduid.id + 1, uid
            )
            info.last_property_iduid = IdUid(0, 0)
        items = found["properties"] if found else ()
        # Names as they are stored come first: the other form of one must not take its property.
        exact = {item["name"] for item in items}
        for prop in sorted(info.properties, key=lambda p: p._db_name not in exact):
            self._sync_property(info, prop, items)

    def _retire(self, key, text):
        uid = IdUid.from_str(text).uid
        if uid and uid not in self.retired[key]:
            self.retired[key].append(uid)

    def _retire_unmatched(self):
        for entity in self.file.get("entities", ()):
            gone = IdUid.from_str(entity["id"]).uid not in self.matched
            if gone:
                self._retire("retiredEntityUids", entity["id"])
                for relation in entity.get("relations") or ():
                    self._retire("retiredRelationUids", relation["id"])
            for prop in entity["properties"]:
                if gone or IdUid.from_str(prop["id"]).uid not in self.matched:
                    self._retire("retiredPropertyUids", prop["id"])
                index = prop.get("indexId", "")
                if index and (gone or IdUid.from_str(index).uid not in self.matched):
                    self._retire("retiredIndexUids", index)

    def _pass_relations(self):
        """n:m relations of the file are declared as well, or the store would drop their pairs."""
        self.model._relations = {
            uid: tuple(
                (
                    *map(int, relation["id"].split(":")),
                    *map(int, relation["targetId"].split(":")),
                    relation.get("name"),
                )
                for relation in relations or ()
                if relation.get("targetId")
            )
            for uid, relations in self.relations.items()
        }

    def sync(self):
        """Assign all ids; True: the file was written."""
        model = self.model
        model._validate()
        model.last_entity_iduid = IdUid.from_str(self.file.get("lastEntityId"))
        model.last_index_iduid = IdUid.from_str(self.file.get("lastIndexId"))
        model.last_relation_iduid = IdUid.from_str(self.file.get("lastRelationId"))
        for info in model._infos():
            self._sync_entity(info)
        self._retire_unmatched()
        self._pass_relations()
        made = self._model_json()
        changed = not self.file or _essence(made) != _essence(self.file)
        if changed:
            self._save(made)
        return changed


def _essence(model):
    """What of a model's JSON matters, in one order."""
    entities = []
    for entity in model.get("entities", ()):
        properties = sorted(
            (
                prop["id"],
                prop["name"],
                prop["type"],
                prop.get("flags", 0),
                prop.get("indexId", ""),
                prop.get("relationTarget", ""),
            )
            for prop in entity["properties"]
        )
        entities.append(
            (
                entity["id"],
                entity["name"],
                entity.get("lastPropertyId"),
                entity.get("flags", 0),
                properties,
            )
        )
    retired = [set(model.get(key) or ()) for key in _RETIRED]
    last = [
        str(IdUid.from_str(model.get(key)))
        for key in ("lastEntityId", "lastIndexId", "lastRelationId")
    ]
    return sorted(entities), retired, last


def sync_model(model, model_filepath="objectbox-model.json"):
    """Give ids to a model and keep its JSON file; True: the file was written."""
    written = IdSync(model, model_filepath).sync()
    model._synced_json_file = os.path.realpath(model_filepath)
    model._synced_json_file_given = model_filepath
    model._schema = None
    return written
