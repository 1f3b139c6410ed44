# SPDX-License-Identifier: Apache-2.0
"""How entities are described: properties, entity classes, models."""

from boxwood.model.entity import Entity, Object, SyncEntity
from boxwood.model.iduid import IdUid
from boxwood.model.model import Model
from boxwood.model.properties import *
from boxwood.model.properties import Property, __all__ as _property_names

_LAZY = ("ConflictStrategy", "HnswFlags", "IndexType", "PropertyType", "VectorDistanceType")

__all__ = ["Entity", "IdUid", "Model", "Object", "Property", "SyncEntity", *_property_names, *_LAZY]


def __getattr__(name):
    if name in _LAZY:
        import boxwood.model.enums

        return getattr(boxwood.model.enums, name)
    raise AttributeError("module 'boxwood.model' has no attribute '%s'" % name)
