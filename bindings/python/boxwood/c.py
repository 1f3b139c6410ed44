# SPDX-License-Identifier: Apache-2.0
"""Numbers of the C library: error codes, debug flags, log levels, property types and flags."""

from enum import IntEnum

from boxwood import _boxwood
from boxwood.version import Version

version_core = Version(
    *(int(part) for part in _boxwood.core_version().split("-")[0].split(".")[:3])
)
"""The version of the library inside the package, as its C ABI reports it."""

DbErrorCode = IntEnum(
    "DbErrorCode",
    {
        "OBX_SUCCESS": 0,
        "OBX_NOT_FOUND": 404,
        "OBX_NO_SUCCESS": 1001,
        "OBX_TIMEOUT": 1002,
        "OBX_ERROR_ILLEGAL_STATE": 10001,
        "OBX_ERROR_ILLEGAL_ARGUMENT": 10002,
        "OBX_ERROR_ALLOCATION": 10003,
        "OBX_ERROR_NUMERIC_OVERFLOW": 10004,
        "OBX_ERROR_FEATURE_NOT_AVAILABLE": 10005,
        "OBX_ERROR_SHUTTING_DOWN": 10006,
        "OBX_ERROR_IO": 10007,
        "OBX_ERROR_BACKUP_FILE_INVALID": 10008,
        "OBX_ERROR_NO_ERROR_INFO": 10097,
        "OBX_ERROR_GENERAL": 10098,
        "OBX_ERROR_UNKNOWN": 10099,
        "OBX_ERROR_DB_FULL": 10101,
        "OBX_ERROR_MAX_READERS_EXCEEDED": 10102,
        "OBX_ERROR_STORE_MUST_SHUTDOWN": 10103,
        "OBX_ERROR_MAX_DATA_SIZE_EXCEEDED": 10104,
        "OBX_ERROR_DB_GENERAL": 10198,
        "OBX_ERROR_STORAGE_GENERAL": 10199,
        "OBX_ERROR_UNIQUE_VIOLATED": 10201,
        "OBX_ERROR_NON_UNIQUE_RESULT": 10202,
        "OBX_ERROR_PROPERTY_TYPE_MISMATCH": 10203,
        "OBX_ERROR_ID_ALREADY_EXISTS": 10210,
        "OBX_ERROR_ID_NOT_FOUND": 10211,
        "OBX_ERROR_TIME_SERIES": 10212,
        "OBX_ERROR_CONSTRAINT_VIOLATED": 10299,
        "OBX_ERROR_STD_ILLEGAL_ARGUMENT": 10301,
        "OBX_ERROR_STD_OUT_OF_RANGE": 10302,
        "OBX_ERROR_STD_LENGTH": 10303,
        "OBX_ERROR_STD_BAD_ALLOC": 10304,
        "OBX_ERROR_STD_RANGE": 10305,
        "OBX_ERROR_STD_OVERFLOW": 10306,
        "OBX_ERROR_STD_OTHER": 10399,
        "OBX_ERROR_SCHEMA": 10501,
        "OBX_ERROR_FILE_CORRUPT": 10502,
        "OBX_ERROR_FILE_PAGES_CORRUPT": 10503,
        "OBX_ERROR_SCHEMA_OBJECT_NOT_FOUND": 10504,
        "OBX_ERROR_TREE_MODEL_INVALID": 10601,
        "OBX_ERROR_TREE_VALUE_TYPE_MISMATCH": 10602,
        "OBX_ERROR_TREE_PATH_NON_UNIQUE": 10603,
        "OBX_ERROR_TREE_PATH_ILLEGAL": 10604,
        "OBX_ERROR_TREE_OTHER": 10699,
    },
    module=__name__,
)


class LogLevel(IntEnum):
    """What a log callback is given."""

    Trace = 1
    Verbose = 2
    Debug = 3
    Info = 4
    Warn = 6
    Error = 8


class DebugFlags(IntEnum):
    """What is logged; combine with |."""

    NONE = 0
    LOG_TRANSACTIONS_READ = 1
    LOG_TRANSACTIONS_WRITE = 2
    LOG_QUERIES = 4
    LOG_QUERY_PARAMETERS = 8
    LOG_ASYNC_QUEUE = 16
    LOG_CACHE_HITS = 32
    LOG_CACHE_ALL = 64
    LOG_TREE = 128
    LOG_EXCEPTION_STACK_TRACE = 256
    RUN_THREADING_SELF_TEST = 512


class OBXEntityFlags(IntEnum):
    SYNC_ENABLED = 2
    SHARED_GLOBAL_IDS = 4


_numbers = {
    "OBXPropertyType_": dict(
        Bool=1,
        Byte=2,
        Short=3,
        Char=4,
        Int=5,
        Long=6,
        Float=7,
        Double=8,
        String=9,
        Date=10,
        Relation=11,
        DateNano=12,
        Flex=13,
        BoolVector=22,
        ByteVector=23,
        ShortVector=24,
        CharVector=25,
        IntVector=26,
        LongVector=27,
        FloatVector=28,
        DoubleVector=29,
        StringVector=30,
    ),
    "OBXPropertyFlags_": dict(
        ID=1,
        NON_PRIMITIVE_TYPE=2,
        NOT_NULL=4,
        INDEXED=8,
        RESERVED=16,
        UNIQUE=32,
        ID_MONOTONIC_SEQUENCE=64,
        ID_SELF_ASSIGNABLE=128,
        INDEX_PARTIAL_SKIP_NULL=256,
        INDEX_PARTIAL_SKIP_ZERO=512,
        VIRTUAL=1024,
        INDEX_HASH=2048,
        INDEX_HASH64=4096,
        UNSIGNED=8192,
        UNIQUE_ON_CONFLICT_REPLACE=32768,
        SYNC_CLOCK=131072,
        SYNC_PRECEDENCE=262144,
    ),
    "OBXDebugFlags_": {flag.name: flag.value for flag in DebugFlags if flag},
    "OBXPutMode_": dict(PUT=1, INSERT=2, UPDATE=3, PUT_ID_GUARANTEED_TO_BE_NEW=4),
    "OBXOrderFlags_": dict(DESCENDING=1, CASE_SENSITIVE=2, UNSIGNED=4, NULLS_LAST=8, NULLS_ZERO=16),
    "OBXHnswFlags_": dict(
        NONE=0,
        DEBUG_LOGS=1,
        DEBUG_LOGS_DETAILED=2,
        VECTOR_CACHE_SIMD_PADDING_OFF=4,
        REPARATION_LIMIT_CANDIDATES=8,
    ),
    "OBXVectorDistanceType_": dict(
        UNKNOWN=0, EUCLIDEAN=1, COSINE=2, DOT_PRODUCT=3, DOT_PRODUCT_NON_NORMALIZED=10
    ),
}
for _prefix, _values in _numbers.items():
    globals().update({_prefix + _name: _value for _name, _value in _values.items()})
del _prefix, _values, _numbers
