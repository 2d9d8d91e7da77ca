# SPDX-License-Identifier: GPL-2.0-or-later
"""Imports Python packages that some commands need, from this Python or from an environment of the clone."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

from . import paths
from .errors import SlateError

SCIPY = "Debian's python3-scipy"


def load(name: str, venv: str = "venv", elsewhere: str = "") -> ModuleType:
    """Import a package, of this Python or of build/VENV; `elsewhere`: where an installed Slate's users find it."""
    try:
        return importlib.import_module(name)
    except ImportError:
        for site in sorted((paths.BUILD / venv / "lib").glob("python3*/site-packages")):
            if str(site) not in sys.path:
                sys.path.append(str(site))
        try:
            return importlib.import_module(name)
        except ImportError:
            installs = paths.INSTALLED and elsewhere
            fix = f"install it for python3: {elsewhere}" if installs else paths.make(venv)
            raise SlateError(f"the Python package {name.partition('.')[0]} is not there", fix) from None
