# SPDX-License-Identifier: Apache-2.0
"""What goes wrong, as classes. Each exception tells more by attributes:

code      the number of the C library
entity    the name of the entity, or None
property  the name of the property, or None
index     the position in the list that was put, or None
id        the id of the object, 0: new or unknown
other_id  the id of the object that it collides with, or 0
"""

import builtins

from boxwood.c import DbErrorCode


class DbError(Exception):
    """The base of all."""

    code = DbErrorCode.OBX_NO_SUCCESS
    entity = property = index = None
    id = other_id = 0

    def __init__(self, message=None):
        self.message = message if message is not None else ""
        super().__init__(self.message)

    def __str__(self):
        code = self.code
        label = "%d (%s)" % (code, code.name) if isinstance(code, DbErrorCode) else str(code)
        return "%s - %s" % (label, self.message)

    @staticmethod
    def from_code(code, message=None):
        """The exception of a code."""
        return create_db_error(code, message)


class NotFoundError(DbError):
    code = DbErrorCode.OBX_NOT_FOUND


class NoSuccessError(DbError):
    code = DbErrorCode.OBX_NO_SUCCESS


class TimeoutError(DbError, builtins.TimeoutError):
    """Something else did not end in time."""

    code = DbErrorCode.OBX_TIMEOUT


class IllegalStateError(DbError, RuntimeError):
    """Not possible in this state, as with a closed store."""

    code = DbErrorCode.OBX_ERROR_ILLEGAL_STATE


class IllegalArgumentError(DbError, ValueError):
    """An argument cannot be right."""

    code = DbErrorCode.OBX_ERROR_ILLEGAL_ARGUMENT


class ValueTypeError(IllegalArgumentError, TypeError):
    """A value of the wrong type for its property."""


class ValueRangeError(IllegalArgumentError, OverflowError):
    """A value that its property cannot hold."""


class AllocationError(DbError):
    code = DbErrorCode.OBX_ERROR_ALLOCATION


class NumericOverflowError(DbError):
    code = DbErrorCode.OBX_ERROR_NUMERIC_OVERFLOW


class FeatureNotAvailableError(DbError, RuntimeError):
    """Not part of this library."""

    code = DbErrorCode.OBX_ERROR_FEATURE_NOT_AVAILABLE


FeatureNotAvailable = FeatureNotAvailableError


class ShuttingDownError(DbError):
    code = DbErrorCode.OBX_ERROR_SHUTTING_DOWN


class IoError(DbError):
    code = DbErrorCode.OBX_ERROR_IO


class BackupFileInvalidError(DbError):
    code = DbErrorCode.OBX_ERROR_BACKUP_FILE_INVALID


class NoErrorInfoError(DbError):
    code = DbErrorCode.OBX_ERROR_NO_ERROR_INFO


class GeneralError(DbError):
    code = DbErrorCode.OBX_ERROR_GENERAL


class UnknownError(DbError):
    code = DbErrorCode.OBX_ERROR_UNKNOWN


class DbFullError(DbError):
    """The store has reached its size limit."""

    code = DbErrorCode.OBX_ERROR_DB_FULL


class MaxReadersExceededError(DbError):
    code = DbErrorCode.OBX_ERROR_MAX_READERS_EXCEEDED


class StoreMustShutdownError(DbError):
    """After a failed write to the disk the store must be opened again."""

    code = DbErrorCode.OBX_ERROR_STORE_MUST_SHUTDOWN


class MaxDataSizeExceededError(DbError):
    code = DbErrorCode.OBX_ERROR_MAX_DATA_SIZE_EXCEEDED


class DbGeneralError(DbError):
    code = DbErrorCode.OBX_ERROR_DB_GENERAL


class GeneralStorageError(DbError):
    code = DbErrorCode.OBX_ERROR_STORAGE_GENERAL


class ConstraintViolatedError(DbError):
    code = DbErrorCode.OBX_ERROR_CONSTRAINT_VIOLATED


class UniqueViolatedError(ConstraintViolatedError):
    """A unique value is taken: property says which, other_id by whom."""

    code = DbErrorCode.OBX_ERROR_UNIQUE_VIOLATED


class NonUniqueResultError(DbError):
    code = DbErrorCode.OBX_ERROR_NON_UNIQUE_RESULT


class PropertyTypeMismatchError(DbError):
    code = DbErrorCode.OBX_ERROR_PROPERTY_TYPE_MISMATCH


class IdAlreadyExistsError(DbError):
    code = DbErrorCode.OBX_ERROR_ID_ALREADY_EXISTS


class IdNotFoundError(DbError):
    code = DbErrorCode.OBX_ERROR_ID_NOT_FOUND


class TimeSeriesError(DbError):
    code = DbErrorCode.OBX_ERROR_TIME_SERIES


class StdIllegalArgumentError(DbError):
    code = DbErrorCode.OBX_ERROR_STD_ILLEGAL_ARGUMENT


class StdOutOfRangeError(DbError):
    code = DbErrorCode.OBX_ERROR_STD_OUT_OF_RANGE


class StdLengthError(DbError):
    code = DbErrorCode.OBX_ERROR_STD_LENGTH


class StdBadAllocError(DbError):
    code = DbErrorCode.OBX_ERROR_STD_BAD_ALLOC


class StdRangeError(DbError):
    code = DbErrorCode.OBX_ERROR_STD_RANGE


class StdOverflowError(DbError):
    code = DbErrorCode.OBX_ERROR_STD_OVERFLOW


class StdOtherError(DbError):
    code = DbErrorCode.OBX_ERROR_STD_OTHER


class SchemaError(DbError):
    """Model and store do not fit."""

    code = DbErrorCode.OBX_ERROR_SCHEMA


class FileCorruptError(DbError):
    """The file holds what this library never wrote."""

    code = DbErrorCode.OBX_ERROR_FILE_CORRUPT


class FilePagesCorruptError(FileCorruptError):
    code = DbErrorCode.OBX_ERROR_FILE_PAGES_CORRUPT


class SchemaObjectNotFoundError(DbError):
    code = DbErrorCode.OBX_ERROR_SCHEMA_OBJECT_NOT_FOUND


class TreeModelInvalidError(DbError):
    code = DbErrorCode.OBX_ERROR_TREE_MODEL_INVALID


class TreeValueTypeMismatchError(DbError):
    code = DbErrorCode.OBX_ERROR_TREE_VALUE_TYPE_MISMATCH


class TreePathNonUniqueError(DbError):
    code = DbErrorCode.OBX_ERROR_TREE_PATH_NON_UNIQUE


class TreePathIllegalError(DbError):
    code = DbErrorCode.OBX_ERROR_TREE_PATH_ILLEGAL


class TreeOtherError(DbError):
    code = DbErrorCode.OBX_ERROR_TREE_OTHER


_classes = {}


def _collect(base):
    for cls in base.__subclasses__():
        if "code" in vars(cls):
            _classes[int(cls.code)] = cls
        _collect(cls)


_collect(DbError)


def class_of(code):
    """The class for a code; DbError when it has none of its own."""
    return _classes.get(code, DbError)


def create_db_error(code, message=None):
    if code == 0:
        raise ValueError("Can't create a DbError for code: OBX_SUCCESS")
    error = class_of(code)(message)
    if error.code != code:
        error.code = code
    return error
