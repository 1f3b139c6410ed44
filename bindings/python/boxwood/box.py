# SPDX-License-Identifier: Apache-2.0
"""Boxes: the objects of one entity in one store."""

from boxwood._boxwood import Box

__all__ = ["Box"]
