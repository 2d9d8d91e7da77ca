# SPDX-License-Identifier: GPL-2.0-or-later
"""places.py - where the tree and this package are."""

from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
ROOT = PACKAGE.parents[1]


def notes(name: str) -> Path:
    """Return the file with the text of the page NAME of docs/results."""
    return PACKAGE / f"{name}-notes.md"
