# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes device.json, the drive's statistics in a canonical form.

Equal runs give equal files, so the file has no host data: no paths, and an order that depends only on the
content.
"""

from __future__ import annotations

import json
import re

from .shape import Json

_BUCKET = re.compile(r'\{\s+"count": (\d+),\s+"floor-ns": (\d+)\s+\}')


def canonical(raw: Json) -> Json:
    """Return the statistics without host data."""
    clean = dict(raw)
    clean.pop("driver", None)
    if isinstance(clean.get("profile"), str):
        clean["profile"] = clean["profile"].rpartition("/")[2]
    return clean


def text(raw: Json) -> str:
    """Return the file's content with one bucket of a histogram per line."""
    lines = json.dumps(canonical(raw), sort_keys=True, indent=1)
    return _BUCKET.sub(r'{"count": \1, "floor-ns": \2}', lines) + "\n"
