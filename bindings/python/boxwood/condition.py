# SPDX-License-Identifier: Apache-2.0
"""Conditions of queries: made by properties, combined by & and |, given to Box.query()."""

from enum import Enum


class QueryCondition:
    """What an object must meet."""

    def and_(self, other):
        """Both this and the other; also written as &."""
        return LogicQueryCondition(self, other, LogicQueryConditionOp.AND)

    def or_(self, other):
        """This or the other; also written as |."""
        return LogicQueryCondition(self, other, LogicQueryConditionOp.OR)

    __and__ = and_
    __or__ = or_

    def __bool__(self):
        raise TypeError("Conditions are combined by & and |, not by and, or and not")


class LogicQueryConditionOp(Enum):
    AND = 1
    OR = 2


class LogicQueryCondition(QueryCondition):
    """Two conditions, of which both or one must be met."""

    def __init__(self, cond1, cond2, op):
        for condition in (cond1, cond2):
            if not isinstance(condition, QueryCondition):
                raise TypeError("Expected a condition, got %r" % (condition,))
        self._cond1 = cond1
        self._cond2 = cond2
        self._op = op

    def __repr__(self):
        return "(%r %s %r)" % (self._cond1, self._op.name, self._cond2)


class PropertyQueryConditionOp(Enum):
    EQ = 1
    NOT_EQ = 2
    CONTAINS = 3
    STARTS_WITH = 4
    ENDS_WITH = 5
    GT = 6
    GTE = 7
    LT = 8
    LTE = 9
    BETWEEN = 10
    NEAREST_NEIGHBOR = 11
    CONTAINS_KEY_VALUE = 12
    IS_NULL = 13
    NOT_NULL = 14
    ONE_OF = 15
    NOT_ONE_OF = 16


class PropertyQueryCondition(QueryCondition):
    """What a property's value must meet."""

    def __init__(self, prop, op, args):
        self._property = prop
        self._op = PropertyQueryConditionOp[op] if isinstance(op, str) else op
        self._args = args
        self._alias = None

    @property
    def _property_id(self):
        return self._property.id

    def alias(self, value):
        """A name by which the built query knows the condition, to set its values anew."""
        self._alias = value
        return self

    def __repr__(self):
        args = ", ".join("%s=%r" % item for item in self._args.items())
        return "%s %s(%s)" % (self._property.name, self._op.name, args)
