# SPDX-License-Identifier: Apache-2.0
"""The package's logger."""

import logging

logger = logging.getLogger("boxwood")
