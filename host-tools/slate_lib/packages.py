# SPDX-License-Identifier: GPL-2.0-or-later
"""Imports Python packages that some commands need, from this Python or from the clone's environment."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

from . import paths
from .errors import SlateError


def load(name: str) -> ModuleType:
    """Import a package."""
    try:
        return importlib.import_module(name)
    except ImportError:
        for site in sorted((paths.VENV / "lib").glob("python3*/site-packages")):
            if str(site) not in sys.path:
                sys.path.append(str(site))
        try:
            return importlib.import_module(name)
        except ImportError:
            raise SlateError(f"the Python package {name} is not there", paths.make("venv")) from None
