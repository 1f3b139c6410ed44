# SPDX-License-Identifier: Apache-2.0
"""The properties of entities.

A property is declared in the class body and later found on the class, where it makes conditions for
queries: Note.text.starts_with("a"). On objects the same name is the value.
"""

from boxwood.model.iduid import IdUid

__all__ = [
    "Bool",
    "BoolList",
    "BoolVector",
    "Bytes",
    "CharList",
    "CharVector",
    "Date",
    "DateNano",
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
    "Relation",
    "String",
    "SyncClock",
    "SyncPrecedence",
    "Unique",
]

_LAZY = ("ConflictStrategy", "HnswFlags", "IndexType", "PropertyType", "VectorDistanceType")

# Types and flags as the C library numbers them
BOOL, BYTE, SHORT, INT, LONG, FLOAT, DOUBLE, STRING, DATE, RELATION, DATE_NANO, FLEX = (
    1,
    2,
    3,
    5,
    6,
    7,
    8,
    9,
    10,
    11,
    12,
    13,
)
BOOLS, BYTES, SHORTS, CHARS, INTS, LONGS, FLOATS, DOUBLES = 22, 23, 24, 25, 26, 27, 28, 29
FLAG_ID, FLAG_INDEXED, FLAG_UNIQUE, FLAG_ASSIGNABLE, FLAG_SKIP_ZERO, FLAG_HASH = (
    1,
    8,
    32,
    128,
    512,
    2048,
)
FLAG_REPLACE, FLAG_CLOCK, FLAG_PRECEDENCE = 32768, 131072, 262144

# How values are converted; the numbers are those of enum kind, element and form in the extension
(
    KIND_BOOL,
    KIND_INT8,
    KIND_INT16,
    KIND_INT32,
    KIND_INT64,
    KIND_FLOAT32,
    KIND_FLOAT64,
    KIND_STRING,
    KIND_BYTES,
    KIND_DATE,
    KIND_DATE_NANO,
    KIND_FLEX,
    KIND_VECTOR,
) = range(13)
FORM_PLAIN, FORM_SECONDS, FORM_DATETIME, FORM_LIST, FORM_ARRAY = range(5)
_KINDS = {
    BOOL: KIND_BOOL,
    BYTE: KIND_INT8,
    SHORT: KIND_INT16,
    INT: KIND_INT32,
    LONG: KIND_INT64,
    RELATION: KIND_INT64,
    FLOAT: KIND_FLOAT32,
    DOUBLE: KIND_FLOAT64,
    STRING: KIND_STRING,
    DATE: KIND_DATE,
    DATE_NANO: KIND_DATE_NANO,
    FLEX: KIND_FLEX,
}
_ELEMENTS = {BOOLS: 0, BYTES: 1, SHORTS: 2, CHARS: 3, INTS: 4, LONGS: 5, FLOATS: 6, DOUBLES: 7}


def __getattr__(name):
    if name in _LAZY:
        import boxwood.model.enums

        return getattr(boxwood.model.enums, name)
    raise AttributeError("module 'boxwood.model.properties' has no attribute '%s'" % name)


class _Declared:
    """What has an id and a uid."""

    def __init__(self, uid):
        self.iduid = IdUid(0, uid)
        self._given_uid = uid  # by the user, to find it again under another name

    @property
    def id(self):
        return self.iduid.id

    @property
    def uid(self):
        return self.iduid.uid

    def has_uid(self):
        return self.iduid.uid != 0


class Index(_Declared):
    """An index: String(index=Index()). Strings are indexed by hash unless type says otherwise."""

    def __init__(self, type=None, uid=0):
        super().__init__(uid)
        self.type = type

    def _flag_for(self, ob_type):
        if self.type is not None:
            return int(self.type)
        return FLAG_HASH if ob_type == STRING else FLAG_INDEXED


class HnswIndex(_Declared):
    """An index for the search of nearest neighbours in a Float32Vector.

    dimensions                       elements that count; vectors with fewer are not indexed
    neighbors_per_node               connections of each vector; more find better and need more (30)
    indexing_search_count            effort when a vector is added; more find better (100)
    flags                            HnswFlags
    distance_type                    VectorDistanceType
    reparation_backlink_probability  of links in both directions when removals are repaired (1.0)
    vector_cache_hint_size_kb        memory that vectors may take
    """

    def __init__(
        self,
        dimensions,
        neighbors_per_node=None,
        indexing_search_count=None,
        flags=0,
        distance_type=1,
        reparation_backlink_probability=None,
        vector_cache_hint_size_kb=None,
        uid=0,
    ):
        super().__init__(uid)
        if vector_cache_hint_size_kb is not None and (
            not isinstance(vector_cache_hint_size_kb, int)
            or isinstance(vector_cache_hint_size_kb, bool)
        ):
            raise TypeError(
                "vector_cache_hint_size_kb must be an int (KB), got %r"
                % (vector_cache_hint_size_kb,)
            )
        self.dimensions = dimensions
        self.neighbors_per_node = neighbors_per_node
        self.indexing_search_count = indexing_search_count
        self.flags = flags
        self.distance_type = distance_type
        self.reparation_backlink_probability = reparation_backlink_probability
        self.vector_cache_hint_size_kb = vector_cache_hint_size_kb

    def _declaration(self):
        def number(value):
            return -1 if value is None else int(value)

        return (
            number(self.dimensions),
            number(self.neighbors_per_node),
            number(self.indexing_search_count),
            number(self.flags),
            number(self.distance_type),
            self.reparation_backlink_probability,
            number(self.vector_cache_hint_size_kb),
        )


class Unique:
    """No two objects have the same value: String(unique=Unique()). Brings an index along."""

    def __init__(self, on_conflict=0):
        self.on_conflict = on_conflict


def _instance(value, *classes, name):
    """A class given where an instance is meant is taken for its instance with defaults."""
    if value is classes[0]:
        return value()
    if value is not None and not isinstance(value, classes):
        raise TypeError(
            "%s must be %s, got %r"
            % (name, " or ".join(c.__name__ + "(...)" for c in classes), value)
        )
    return value


class Property(_Declared):
    """What properties have in common. nullable=True: what is stored as absent is read as None."""

    _ob_type = None
    _form = FORM_PLAIN
    _initial = None
    _py_type = None

    def __init__(self, *, uid=0, index=None, unique=None, nullable=False, **unknown):
        super().__init__(uid)
        if "id" in unknown:
            raise TypeError(
                "Properties take no id: ids are kept in the model JSON file (uid= names a property)"
            )
        if unknown:
            raise TypeError("Unexpected property argument(s): " + ", ".join(sorted(unknown)))
        self.name = ""  # in Python
        self._db_name = ""  # in the store and the model JSON file
        self._entity = None
        self.nullable = nullable
        self.index = _instance(index, Index, HnswIndex, name="index")
        self.unique = _instance(unique, Unique, name="unique")
        self._flags = 0
        if self.unique is not None:
            if isinstance(self.index, HnswIndex):
                raise TypeError("A unique property cannot have a HnswIndex")
            if self.index is None:
                self.index = Index()
            self._flags |= FLAG_UNIQUE | (FLAG_REPLACE if self.unique.on_conflict else 0)
        if self.index is not None:
            self._flags |= FLAG_INDEXED
            if isinstance(self.index, Index):
                self._flags |= self.index._flag_for(self._ob_type)

    def is_id(self):
        return isinstance(self, Id)

    def __repr__(self):
        owner = self._entity._name + "." if self._entity is not None else ""
        return "<%s %s%s>" % (type(self).__name__, owner, self.name)

    def _field(self):
        """How the extension converts values: (kind, element, form, nullable, initial value)."""
        element = _ELEMENTS.get(self._ob_type, 0)
        kind = _KINDS.get(self._ob_type, KIND_VECTOR)
        if self._ob_type == BYTES and self._form == FORM_PLAIN:
            kind = KIND_BYTES
        initial = None if self.nullable else self._initial_value()
        return kind, element, self._form, bool(self.nullable), initial

    def _initial_value(self):
        return self._initial

    def _copy(self):
        """For a class that inherits the declaration."""
        import copy

        made = copy.copy(self)
        made.iduid = IdUid(0, self._given_uid)
        made.index = copy.copy(self.index)
        if made.index is not None:
            made.index.iduid = IdUid(0, made.index._given_uid)
        return made

    def _condition_value(self, value):
        return value

    def _condition(self, op, **args):
        from boxwood.condition import PropertyQueryCondition

        return PropertyQueryCondition(self, op, args)

    def is_null(self):
        """Objects without a value."""
        return self._condition("IS_NULL")

    def is_not_null(self):
        """Objects with a value."""
        return self._condition("NOT_NULL")


class _Comparable(Property):
    def greater_than(self, value):
        """Values above this one."""
        return self._condition("GT", value=self._condition_value(value))

    def greater_or_equal(self, value):
        """This value and those above."""
        return self._condition("GTE", value=self._condition_value(value))

    def less_than(self, value):
        """Values below this one."""
        return self._condition("LT", value=self._condition_value(value))

    def less_or_equal(self, value):
        """This value and those below."""
        return self._condition("LTE", value=self._condition_value(value))

    def between(self, a, b):
        """Values from a to b, both included, in either order."""
        return self._condition("BETWEEN", a=self._condition_value(a), b=self._condition_value(b))


class _Integer(_Comparable):
    _initial = 0
    _py_type = int
    _in_lists = False  # whether the library takes lists of them

    def _condition_value(self, value):
        if not isinstance(value, int):
            raise TypeError(
                "Property %s takes int values in conditions, got %r" % (self.name, value)
            )
        return value

    def equals(self, value):
        """This value."""
        return self._condition("EQ", value=self._condition_value(value))

    def not_equals(self, value):
        """Any other value."""
        return self._condition("NOT_EQ", value=self._condition_value(value))

    def _list(self, op, values):
        if not self._in_lists:
            raise TypeError(
                'Property "%s" of type %s does not support one_of()/not_one_of(); integers of '
                "32 and 64 bits do" % (self.name, type(self).__name__)
            )
        return self._condition(op, values=[self._condition_value(value) for value in values])

    def one_of(self, values):
        """Any of these values."""
        return self._list("ONE_OF", values)

    def not_one_of(self, values):
        """None of these values."""
        return self._list("NOT_ONE_OF", values)


class Id(_Integer):
    """The object's id: 0 until a new object is put. assignable=True: ids of your own may be put."""

    _ob_type = LONG
    _in_lists = True

    def __init__(self, *, uid=0, py_type=int, assignable=False):
        super().__init__(uid=uid)
        self.assignable = assignable
        self._flags |= FLAG_ID | (FLAG_ASSIGNABLE if assignable else 0)


class Bool(_Integer):
    """True or False."""

    _ob_type, _initial, _py_type = BOOL, False, bool


class Int8(_Integer):
    """An integer of 8 bits."""

    _ob_type = BYTE


class Int16(_Integer):
    """An integer of 16 bits."""

    _ob_type = SHORT


class Int32(_Integer):
    """An integer of 32 bits."""

    _ob_type, _in_lists = INT, True


class Int64(_Integer):
    """An integer of 64 bits."""

    _ob_type, _in_lists = LONG, True


class SyncClock(Int64):
    """The clock of a synchronised entity, kept by Sync; put 0."""

    def __init__(self, *, uid=0):
        super().__init__(uid=uid)
        self._flags |= FLAG_CLOCK


class SyncPrecedence(Int64):
    """Which of two conflicting objects of a synchronised entity wins: the higher value."""

    def __init__(self, *, uid=0):
        super().__init__(uid=uid)
        self._flags |= FLAG_PRECEDENCE


class Relation(_Integer):
    """The id of an object of another entity, 0 for none; the target is that class or its name.

    Named with _id at its end (customer_id, stored as customerId) it is what other bindings expect.
    """

    _ob_type, _in_lists = RELATION, True

    def __init__(self, target, *, uid=0):
        from boxwood._boxwood import entity_info

        if not isinstance(target, str) and entity_info(target) is None:
            raise TypeError(
                "Relation target must be an entity (a class decorated with @Entity()) or its name, "
                "got %r" % (target,)
            )
        super().__init__(uid=uid, index=Index())
        self._flags |= FLAG_SKIP_ZERO
        self._target = target

    @property
    def _target_name(self):
        from boxwood._boxwood import entity_info

        return self._target if isinstance(self._target, str) else entity_info(self._target).name


class Float32(_Comparable):
    """A float of 32 bits."""

    _ob_type, _initial, _py_type = FLOAT, 0.0, float


class Float64(_Comparable):
    """A float of 64 bits."""

    _ob_type, _initial, _py_type = DOUBLE, 0.0, float


class String(Property):
    """Text."""

    _ob_type, _initial, _py_type = STRING, "", str

    def equals(self, value, case_sensitive=True):
        """This text."""
        return self._condition("EQ", value=value, case_sensitive=case_sensitive)

    def not_equals(self, value, case_sensitive=True):
        """Any other text."""
        return self._condition("NOT_EQ", value=value, case_sensitive=case_sensitive)

    def contains(self, value, case_sensitive=True):
        """Texts in which this one occurs."""
        return self._condition("CONTAINS", value=value, case_sensitive=case_sensitive)

    def starts_with(self, value, case_sensitive=True):
        """Texts that begin with this one."""
        return self._condition("STARTS_WITH", value=value, case_sensitive=case_sensitive)

    def ends_with(self, value, case_sensitive=True):
        """Texts that end with this one."""
        return self._condition("ENDS_WITH", value=value, case_sensitive=case_sensitive)

    def greater_than(self, value, case_sensitive=True):
        """Texts behind this one."""
        return self._condition("GT", value=value, case_sensitive=case_sensitive)

    def greater_or_equal(self, value, case_sensitive=True):
        """This text and those behind."""
        return self._condition("GTE", value=value, case_sensitive=case_sensitive)

    def less_than(self, value, case_sensitive=True):
        """Texts before this one."""
        return self._condition("LT", value=value, case_sensitive=case_sensitive)

    def less_or_equal(self, value, case_sensitive=True):
        """This text and those before."""
        return self._condition("LTE", value=value, case_sensitive=case_sensitive)

    def one_of(self, values, case_sensitive=True):
        """Any of these texts."""
        return self._condition("ONE_OF", values=list(values), case_sensitive=case_sensitive)


class Bytes(_Comparable):
    """A byte string."""

    _ob_type, _initial, _py_type = BYTES, b"", bytes

    def equals(self, value):
        """These bytes."""
        return self._condition("EQ", value=value)


class Date(_Integer):
    """A date in milliseconds: datetime, float (seconds) or int; py_type is what is read."""

    _ob_type, _in_lists, _per_second = DATE, True, 1000

    def __init__(self, py_type=None, *, uid=0, **options):
        name = "datetime" if py_type is None else py_type.__name__
        if name not in ("datetime", "float", "int"):
            raise TypeError("py_type must be datetime, float or int, got %r" % (py_type,))
        self._form = {"datetime": FORM_DATETIME, "float": FORM_SECONDS, "int": FORM_PLAIN}[name]
        super().__init__(uid=uid, **options)

    @property
    def _py_type(self):
        import datetime

        return {FORM_DATETIME: datetime.datetime, FORM_SECONDS: float, FORM_PLAIN: int}[self._form]

    def _initial_value(self):
        if self._form == FORM_DATETIME:
            import datetime

            return datetime.datetime.fromtimestamp(0, datetime.timezone.utc)
        return 0.0 if self._form == FORM_SECONDS else 0

    def _condition_value(self, value):
        from boxwood.utils import date_value_to_int

        return date_value_to_int(value, self._per_second)


class DateNano(Date):
    """As Date, in nanoseconds."""

    _ob_type, _per_second = DATE_NANO, 1000000000


class Flex(Property):
    """Any of None, bool, int, float, str, bytes, list and dict (with str keys), nested at will."""

    _ob_type = FLEX

    def contains_key_value(self, key, value, case_sensitive=True):
        """Maps in which the key has this text."""
        return self._condition(
            "CONTAINS_KEY_VALUE", key=key, value=value, case_sensitive=case_sensitive
        )


class _Vector(Property):
    """Read as numpy array."""

    _form = FORM_ARRAY

    @property
    def _py_type(self):
        import numpy

        return numpy.ndarray

    def _initial_value(self):
        import sys

        numpy = sys.modules.get("numpy")
        if numpy is None:
            return ()
        types = {
            BOOLS: "?",
            SHORTS: "<i2",
            CHARS: "<u2",
            INTS: "<i4",
            LONGS: "<i8",
            FLOATS: "<f4",
            DOUBLES: "<f8",
        }
        empty = numpy.empty(0, dtype=types[self._ob_type])
        empty.flags.writeable = False  # all objects share it
        return empty


class BoolVector(_Vector):
    """A vector of truth values."""

    _ob_type = BOOLS


class Int8Vector(Property):
    """A vector of bytes, read as bytes."""

    _ob_type, _initial, _py_type = BYTES, b"", bytes


class Int16Vector(_Vector):
    """A vector of 16-bit integers."""

    _ob_type = SHORTS


class CharVector(_Vector):
    """A vector of 16-bit characters (unsigned integers)."""

    _ob_type = CHARS


class Int32Vector(_Vector):
    """A vector of 32-bit integers."""

    _ob_type = INTS


class Int64Vector(_Vector):
    """A vector of 64-bit integers."""

    _ob_type = LONGS


class Float32Vector(_Vector):
    """A vector of 32-bit floats; may have a HnswIndex."""

    _ob_type = FLOATS

    def nearest_neighbors(self, query_vector, max_result_count):
        """The objects whose vectors are nearest to this one."""
        return self._condition(
            "NEAREST_NEIGHBOR", query_vector=query_vector, max_result_count=max_result_count
        )

    def nearest_neighbor(self, query_vector, element_count):
        """The former name of nearest_neighbors()."""
        import warnings

        warnings.warn(
            "nearest_neighbor() is now called nearest_neighbors()", DeprecationWarning, stacklevel=2
        )
        return self.nearest_neighbors(query_vector, element_count)


class Float64Vector(_Vector):
    """A vector of 64-bit floats."""

    _ob_type = DOUBLES


class _List(Property):
    """Read as list."""

    _form, _py_type = FORM_LIST, list

    def _initial_value(self):
        return []  # which tells the extension to make one for each object


class BoolList(_List):
    """A list of truth values."""

    _ob_type = BOOLS


class Int8List(_List):
    """A list of 8-bit integers."""

    _ob_type = BYTES


class Int16List(_List):
    """A list of 16-bit integers."""

    _ob_type = SHORTS


class CharList(_List):
    """A list of 16-bit characters (unsigned integers)."""

    _ob_type = CHARS


class Int32List(_List):
    """A list of 32-bit integers."""

    _ob_type = INTS


class Int64List(_List):
    """A list of 64-bit integers."""

    _ob_type = LONGS


class Float32List(_List):
    """A list of 32-bit floats."""

    _ob_type = FLOATS


class Float64List(_List):
    """A list of 64-bit floats."""

    _ob_type = DOUBLES
