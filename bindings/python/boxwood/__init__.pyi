# SPDX-License-Identifier: Apache-2.0
from boxwood._boxwood import Box as Box, Query as Query, QueryBuilder as QueryBuilder
from boxwood._boxwood import Store as Store
from boxwood.builder import Builder as Builder
from boxwood.c import DebugFlags as DebugFlags
from boxwood.condition import PropertyQueryCondition as PropertyQueryCondition
from boxwood.exceptions import (
    ConstraintViolatedError as ConstraintViolatedError,
    DbError as DbError,
    DbFullError as DbFullError,
    FeatureNotAvailableError as FeatureNotAvailableError,
    FileCorruptError as FileCorruptError,
    FilePagesCorruptError as FilePagesCorruptError,
    IdNotFoundError as IdNotFoundError,
    IllegalArgumentError as IllegalArgumentError,
    IllegalStateError as IllegalStateError,
    MaxDataSizeExceededError as MaxDataSizeExceededError,
    MaxReadersExceededError as MaxReadersExceededError,
    NonUniqueResultError as NonUniqueResultError,
    NumericOverflowError as NumericOverflowError,
    SchemaError as SchemaError,
    StoreMustShutdownError as StoreMustShutdownError,
    UniqueViolatedError as UniqueViolatedError,
)
from boxwood.model.entity import Entity as Entity, SyncEntity as SyncEntity
from boxwood.model.enums import (
    ConflictStrategy as ConflictStrategy,
    HnswFlags as HnswFlags,
    IndexType as IndexType,
    VectorDistanceType as VectorDistanceType,
)
from boxwood.model.model import Model as Model
from boxwood.model.properties import (
    Bool as Bool,
    BoolList as BoolList,
    BoolVector as BoolVector,
    Bytes as Bytes,
    CharList as CharList,
    CharVector as CharVector,
    Date as Date,
    DateNano as DateNano,
    Flex as Flex,
    Float32 as Float32,
    Float32List as Float32List,
    Float32Vector as Float32Vector,
    Float64 as Float64,
    Float64List as Float64List,
    Float64Vector as Float64Vector,
    HnswIndex as HnswIndex,
    Id as Id,
    Index as Index,
    Int8 as Int8,
    Int8List as Int8List,
    Int8Vector as Int8Vector,
    Int16 as Int16,
    Int16List as Int16List,
    Int16Vector as Int16Vector,
    Int32 as Int32,
    Int32List as Int32List,
    Int32Vector as Int32Vector,
    Int64 as Int64,
    Int64List as Int64List,
    Int64Vector as Int64Vector,
    Relation as Relation,
    String as String,
    SyncClock as SyncClock,
    SyncPrecedence as SyncPrecedence,
    Unique as Unique,
)
from boxwood.objectbox import ObjectBox as ObjectBox
from boxwood.query import IdWithScore as IdWithScore, ObjectWithScore as ObjectWithScore
from boxwood.query_builder import OrderFlags as OrderFlags
from boxwood.version import Version as Version

version: Version
version_core: Version

def version_info() -> str: ...
