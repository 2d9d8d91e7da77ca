# SPDX-License-Identifier: GPL-2.0-or-later
"""fits.py - fits.toml, which fit.py writes: the settings found for each real trace."""

from __future__ import annotations

import statistics
import tomllib
from pathlib import Path
from typing import Any

FITS = Path(__file__).resolve().parent / "fits.toml"
Fits = dict[str, dict[str, Any]]


def load(path: Path = FITS) -> Fits:
    """Load the fits, by trace."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


def settings_of(fits: Fits, name: str) -> dict[str, float]:
    """Return the settings of a trace: measured and fitted."""
    return {**fits[name]["measured"], **fits[name]["fitted"]}


def medians(fits: Fits, without: str = "") -> dict[str, float]:
    """Return the median of every setting over all traces but one; for an even number, the lower of the middle two."""
    others = [settings_of(fits, name) for name in fits if name != without]
    return {key: statistics.median_low(other[key] for other in others) for key in others[0]}
