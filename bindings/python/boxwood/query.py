# SPDX-License-Identifier: Apache-2.0
"""Queries and what they give when scores are asked for."""

from collections import namedtuple

from boxwood._boxwood import Query

__all__ = ["IdWithScore", "ObjectWithScore", "Query"]

ObjectWithScore = namedtuple("ObjectWithScore", ("object", "score"))
ObjectWithScore.__doc__ = "An object and its score, as the distance of a nearest neighbour."

IdWithScore = namedtuple("IdWithScore", ("id", "score"))
IdWithScore.__doc__ = "An id and the score of its object, as the distance of a nearest neighbour."
