# SPDX-License-Identifier: Apache-2.0
"""Versions of the package and of the library inside it."""


class Version:
    """A version number with an optional alpha, beta or candidate number."""

    def __init__(self, major, minor, patch, alpha=None, beta=None, rc=None):
        self.major = major
        self.minor = minor
        self.patch = patch
        self.alpha = alpha
        self.beta = beta
        self.rc = rc

    def __str__(self):
        text = "%d.%d.%d" % (self.major, self.minor, self.patch)
        for letter, number in (("a", self.alpha), ("b", self.beta), ("rc", self.rc)):
            if number is not None:
                text += letter + str(number)
        return text

    def __repr__(self):
        return "Version(%s)" % self

    def _key(self):
        return self.major, self.minor, self.patch, self.alpha, self.beta, self.rc

    def __eq__(self, other):
        return self._key() == other._key() if isinstance(other, Version) else NotImplemented

    def __hash__(self):
        return hash(self._key())
