# SPDX-License-Identifier: Apache-2.0
"""The two numbers by which a model knows an entity, property or index."""


class IdUid:
    """An id, the place in the model, and a uid, which outlives names. 0: not assigned."""

    __slots__ = ("id", "uid")

    def __init__(self, id_, uid):
        self.id = id_
        self.uid = uid

    def is_assigned(self):
        return self.id != 0 and self.uid != 0

    __bool__ = is_assigned

    def __eq__(self, other):
        return (
            (self.id, self.uid) == (other.id, other.uid)
            if isinstance(other, IdUid)
            else NotImplemented
        )

    def __hash__(self):
        return hash((self.id, self.uid))

    def __str__(self):
        return "%d:%d" % (self.id, self.uid)

    __repr__ = __str__

    @staticmethod
    def from_str(text):
        """From "id:uid"; an empty text is unassigned."""
        if not text:
            return IdUid(0, 0)
        id_, _, uid = text.partition(":")
        return IdUid(int(id_), int(uid))

    @staticmethod
    def unassigned():
        return IdUid(0, 0)
