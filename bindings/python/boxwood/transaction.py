# SPDX-License-Identifier: Apache-2.0
"""Transactions by functions: the same as store.read_tx() and store.write_tx()."""

from boxwood._boxwood import Transaction

__all__ = ["Transaction", "read", "write"]


def read(store):
    """A read transaction for a with statement."""
    return store.read_tx()


def write(store):
    """A write transaction for a with statement; an exception that leaves it undoes it."""
    return store.write_tx()
