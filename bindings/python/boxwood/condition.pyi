# SPDX-License-Identifier: Apache-2.0
from enum import Enum
from typing import Any, NoReturn, Self

from boxwood.model.properties import Property

class QueryCondition:
    def and_(self, other: QueryCondition) -> LogicQueryCondition: ...
    def or_(self, other: QueryCondition) -> LogicQueryCondition: ...
    def __and__(self, other: QueryCondition) -> LogicQueryCondition: ...
    def __or__(self, other: QueryCondition) -> LogicQueryCondition: ...
    def __bool__(self) -> NoReturn: ...

class LogicQueryConditionOp(Enum):
    AND = 1
    OR = 2

class LogicQueryCondition(QueryCondition):
    def __init__(
        self, cond1: QueryCondition, cond2: QueryCondition, op: LogicQueryConditionOp
    ) -> None: ...

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
    def __init__(
        self, prop: Property[Any], op: str | PropertyQueryConditionOp, args: dict[str, Any]
    ) -> None: ...
    def alias(self, value: str) -> Self: ...
