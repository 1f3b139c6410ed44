# SPDX-License-Identifier: Apache-2.0
"""The former name of Store."""

from warnings import warn

from boxwood._boxwood import Store


class ObjectBox(Store):
    """Deprecated: use Store."""

    def __init__(self, *args, **options):
        warn("ObjectBox is deprecated, use Store", DeprecationWarning, stacklevel=2)
        super().__init__(*args, **options)
