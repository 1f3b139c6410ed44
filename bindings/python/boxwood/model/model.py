# SPDX-License-Identifier: Apache-2.0
"""Models: the entities of a store and the ids that they have in it."""

from boxwood import _boxwood
from boxwood.model.entity import info_of
from boxwood.model.iduid import IdUid
from boxwood.model.properties import HnswIndex, Relation


class Model:
    """A set of entity classes: Model() and then entity(Note) for each."""

    def __init__(self):
        self.entities = []
        self.last_entity_iduid = IdUid(0, 0)
        self.last_index_iduid = IdUid(0, 0)
        self.last_relation_iduid = IdUid(0, 0)
        self._relations = {}  # entity uid -> n:m relations that only the JSON file knows
        self._synced_json_file = None  # its real path
        self._synced_json_file_given = None
        self._schema = None

    def entity(self, entity):
        """Add an entity class."""
        name = info_of(entity).name
        if any(info_of(other).name == name for other in self.entities):
            raise ValueError('Duplicate entity: "%s"' % name)
        self.entities.append(entity)
        self._synced_json_file = self._synced_json_file_given = self._schema = None
        _boxwood.forget()

    def _infos(self):
        return [info_of(entity) for entity in self.entities]

    def validate_ids_assigned(self):
        """Raise ValueError for what has no id or uid."""
        for info in self._infos():
            if not info.iduid:
                raise ValueError('Entity "%s" ID/UID not assigned' % info.name)
            for prop in info.properties:
                if not prop.iduid:
                    raise ValueError(
                        'Property "%s.%s" ID/UID not assigned' % (info.name, prop.name)
                    )
                if prop.index is not None and not prop.index.iduid:
                    raise ValueError(
                        'Property index "%s.%s" ID/UID not assigned' % (info.name, prop.name)
                    )
            if not info.last_property_iduid:
                raise ValueError('Entity "%s" last property ID/UID not assigned' % info.name)

    def _validate(self):
        """What can only be checked when all entities are known."""
        names = {info.name for info in self._infos()}
        for info in self._infos():
            for prop in info.properties:
                if isinstance(prop, Relation) and prop._target_name not in names:
                    raise ValueError(
                        'Relation %s.%s targets entity "%s", which is not in the model'
                        % (info.name, prop.name, prop._target_name)
                    )
            unique = [prop for prop in info.properties if prop.unique is not None]
            replacing = [prop.name for prop in unique if prop.unique.on_conflict]
            if len(replacing) > 1:
                raise ValueError(
                    "Entity %s: only one property can use ConflictStrategy.REPLACE, here do %s"
                    % (info.name, ", ".join(replacing))
                )
            if info.flags & 2 and len(replacing) < len(unique):
                raise ValueError(
                    "Sync entity %s: unique properties must use Unique(ConflictStrategy.REPLACE)"
                    % info.name
                )

    def _declaration(self):
        """All entities as the extension wants them."""
        uids = {info.uid for info in self._infos()}
        return tuple(
            (
                entity,
                info.name,
                info.id,
                info.uid,
                info.flags,
                info.last_property_iduid.id,
                info.last_property_iduid.uid,
                tuple(prop.id for prop in info.properties),
                tuple(_declare_property(prop) for prop in info.properties),
                tuple(
                    relation
                    for relation in self._relations.get(info.uid, ())
                    if relation[3] in uids
                ),
            )
            for entity, info in zip(self.entities, self._infos())
        )

    def _compile(self, declare=True):
        """The schema with which stores are opened."""
        if declare:
            self._validate()
            self.validate_ids_assigned()
        last = tuple(
            (iduid.id, iduid.uid)
            for iduid in (self.last_entity_iduid, self.last_index_iduid, self.last_relation_iduid)
        )
        return _boxwood.compile(self._declaration(), last, declare)


def _declare_property(prop):
    index = prop.index
    hnsw = index._declaration() if isinstance(index, HnswIndex) else None
    target = prop._target_name if isinstance(prop, Relation) else None
    return (
        prop._db_name,
        prop._ob_type,
        prop.id,
        prop.uid,
        prop._flags,
        index.id if index is not None else 0,
        index.uid if index is not None else 0,
        target,
        hnsw,
    )
