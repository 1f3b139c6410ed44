# SPDX-License-Identifier: Apache-2.0
"""Query builders and how results are ordered."""

from enum import IntEnum

from boxwood._boxwood import QueryBuilder

__all__ = ["OrderFlags", "QueryBuilder"]


class OrderFlags(IntEnum):
    """How QueryBuilder.order() orders; combine with |."""

    DESCENDING = 1
    CASE_SENSITIVE = 2
    """Capitals before small letters; by default case does not count."""
    UNSIGNED = 4
    NULLS_LAST = 8
    """Objects without a value come last; by default first."""
    NULLS_ZERO = 16
    """Objects without a value count as zero."""
