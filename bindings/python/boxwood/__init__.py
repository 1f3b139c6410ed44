# SPDX-License-Identifier: Apache-2.0
"""Boxwood: an embedded object database.

    from boxwood import *

    @Entity()
    class Note:
        id = Id()
        text = String()

    store = Store(directory="notes")
    box = store.box(Note)
    box.put(Note(text="hello"))

The interface is that of objectbox-python 5. What importing does not need is loaded when it is first
asked for.
"""

from boxwood._boxwood import Box, Query, QueryBuilder, Store
from boxwood.model.entity import Entity, SyncEntity
from boxwood.model.properties import (
    Bool,
    BoolList,
    BoolVector,
    Bytes,
    CharList,
    CharVector,
    Date,
    DateNano,
    Flex,
    Float32,
    Float32List,
    Float32Vector,
    Float64,
    Float64List,
    Float64Vector,
    HnswIndex,
    Id,
    Index,
    Int8,
    Int8List,
    Int8Vector,
    Int16,
    Int16List,
    Int16Vector,
    Int32,
    Int32List,
    Int32Vector,
    Int64,
    Int64List,
    Int64Vector,
    Relation,
    String,
    SyncClock,
    SyncPrecedence,
    Unique,
)
from boxwood.model.model import Model
from boxwood.version import Version
import boxwood.store as _store_module  # tells the extension how models become schemas

version = Version(0, 1, 0)
"""The version of this package."""

_LAZY = {
    "boxwood.model.enums": ("ConflictStrategy", "HnswFlags", "IndexType", "VectorDistanceType"),
    "boxwood.exceptions": (
        "ConstraintViolatedError",
        "DbError",
        "DbFullError",
        "FeatureNotAvailableError",
        "FileCorruptError",
        "FilePagesCorruptError",
        "IdNotFoundError",
        "IllegalArgumentError",
        "IllegalStateError",
        "MaxDataSizeExceededError",
        "MaxReadersExceededError",
        "NonUniqueResultError",
        "NumericOverflowError",
        "SchemaError",
        "StoreMustShutdownError",
        "UniqueViolatedError",
    ),
    "boxwood.c": ("DebugFlags", "version_core"),
    "boxwood.condition": ("PropertyQueryCondition",),
    "boxwood.query": ("IdWithScore", "ObjectWithScore"),
    "boxwood.query_builder": ("OrderFlags",),
    "boxwood.builder": ("Builder",),
    "boxwood.objectbox": ("ObjectBox",),
}

__all__ = [
    "Bool",
    "BoolList",
    "BoolVector",
    "Box",
    "Bytes",
    "CharList",
    "CharVector",
    "Date",
    "DateNano",
    "Entity",
    "Flex",
    "Float32",
    "Float32List",
    "Float32Vector",
    "Float64",
    "Float64List",
    "Float64Vector",
    "HnswIndex",
    "Id",
    "Index",
    "Int16",
    "Int16List",
    "Int16Vector",
    "Int32",
    "Int32List",
    "Int32Vector",
    "Int64",
    "Int64List",
    "Int64Vector",
    "Int8",
    "Int8List",
    "Int8Vector",
    "Model",
    "Query",
    "QueryBuilder",
    "Relation",
    "Store",
    "String",
    "SyncClock",
    "SyncEntity",
    "SyncPrecedence",
    "Unique",
    "version",
    "version_info",
]
for _names in _LAZY.values():
    __all__.extend(name for name in _names if name != "version_core")
del _names


def __getattr__(name):
    for module, names in _LAZY.items():
        if name in names:
            import importlib

            value = getattr(importlib.import_module(module), name)
            globals()[name] = value
            return value
    raise AttributeError("module 'boxwood' has no attribute '%s'" % name)


def __dir__():
    return sorted(set(globals()) | set(__all__))


def version_info():
    """The versions of the package and of the library as a sentence."""
    return "Boxwood Python version %s using library version %s" % (
        version,
        __getattr__("version_core"),
    )
