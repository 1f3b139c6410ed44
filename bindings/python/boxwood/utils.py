# SPDX-License-Identifier: Apache-2.0
"""Distances of vectors, and dates as the integers that are stored."""

from boxwood import _boxwood


def _floats(vector):
    """A vector as a buffer of 32-bit floats."""
    kind = getattr(getattr(vector, "dtype", None), "name", None)
    if kind is not None:
        if kind != "float32":
            raise TypeError("The vector's dtype must be float32, got %s" % kind)
        import numpy

        return numpy.ascontiguousarray(vector)
    from array import array

    return array("f", vector)


def vector_distance_f32(distance_type, vector1, vector2, dimension):
    """The distance of two vectors."""
    return _boxwood.vector_distance(
        int(distance_type), _floats(vector1), _floats(vector2), dimension
    )


def vector_distance_to_relevance(distance_type, distance):
    """A distance as a score from 0.0 to 1.0, the best."""
    return _boxwood.vector_relevance(int(distance_type), distance)


def date_value_to_int(value, multiplier):
    """A datetime, float (seconds) or int (as it is) in 1/multiplier seconds since 1970."""
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return round(value * multiplier)
    from datetime import datetime, timedelta, timezone

    if not isinstance(value, datetime):
        raise TypeError(
            "Unsupported date type: %s; use datetime, float (seconds) or int" % type(value).__name__
        )
    if value.tzinfo is None:
        value = value.astimezone()
    micros = (value - datetime(1970, 1, 1, tzinfo=timezone.utc)) // timedelta(microseconds=1)
    scaled, rest = divmod(micros * multiplier, 1000000)
    return scaled + (2 * rest > 1000000 or (2 * rest == 1000000 and scaled % 2))
