# SPDX-License-Identifier: Apache-2.0
"""The enumerations of models, with the numbers of the C library."""

from enum import IntEnum


class PropertyType(IntEnum):
    bool = 1
    byte = 2
    short = 3
    char = 4
    int = 5
    long = 6
    float = 7
    double = 8
    string = 9
    date = 10
    relation = 11
    dateNano = 12
    flex = 13
    boolVector = 22
    byteVector = 23
    shortVector = 24
    charVector = 25
    intVector = 26
    longVector = 27
    floatVector = 28
    doubleVector = 29


class IndexType(IntEnum):
    """How values are kept in an index: as they are, or as hashes (strings only; equality only)."""

    VALUE = 8
    HASH = 2048
    HASH64 = 4096


class ConflictStrategy(IntEnum):
    """What happens when an object brings a value that is unique and taken."""

    FAIL = 0
    """The put fails with UniqueViolatedError."""
    REPLACE = 1
    """The other object is removed. One property of an entity at most can ask for it."""


class HnswFlags(IntEnum):
    """Flags of a vector index."""

    NONE = 0
    DEBUG_LOGS = 1
    DEBUG_LOGS_DETAILED = 2
    VECTOR_CACHE_SIMD_PADDING_OFF = 4
    REPARATION_LIMIT_CANDIDATES = 8


class VectorDistanceType(IntEnum):
    """What "near" means for vectors."""

    UNKNOWN = 0
    EUCLIDEAN = 1
    """The square of the Euclidean distance; the default."""
    COSINE = 2
    """0: same direction, 1: at right angles, 2: opposite; lengths do not matter."""
    DOT_PRODUCT = 3
    """As COSINE, for vectors of length 1, and quicker."""
    DOT_PRODUCT_NON_NORMALIZED = 10
    """The greater the dot product, the nearer; vectors of any length. 0 to 2, not linear."""
