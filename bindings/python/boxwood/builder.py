# SPDX-License-Identifier: Apache-2.0
"""The former way to open a store."""

from warnings import warn

from boxwood._boxwood import Store


class Builder:
    """Deprecated: use Store(...)."""

    def __init__(self):
        warn(
            "Builder is deprecated, use Store(model=..., directory=...)",
            DeprecationWarning,
            stacklevel=2,
        )
        self._options = {}

    def directory(self, path):
        self._options["directory"] = path
        return self

    def max_db_size_in_kb(self, size_in_kb):
        self._options["max_db_size_in_kb"] = size_in_kb
        return self

    def model(self, model):
        self._options["model"] = model
        return self

    def build(self):
        return Store(**self._options)
