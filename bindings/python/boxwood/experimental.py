# SPDX-License-Identifier: Apache-2.0
"""Switches of objectbox-python between ways to marshal. Here is one way: they change nothing."""

_modes = {"fast": False, "codegen": False}


def enable_fast_flatbuffers_builder(enabled=True, verify=False):
    """Remembered, without effect."""
    _modes["fast"] = enabled


def is_fast_flatbuffers_builder_enabled():
    return _modes["fast"]


def enable_flatbuffers_codegen(enabled=True, verify=False, cache_dir=None):
    """Remembered, without effect."""
    _modes["codegen"] = enabled


def is_flatbuffers_codegen_enabled():
    return _modes["codegen"]
