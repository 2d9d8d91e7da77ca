# SPDX-License-Identifier: GPL-2.0-or-later
"""device.json: the drive's statistics in one canonical form.

Equal runs are equal files, so nothing of the host may stay in it: no paths, no
order that depends on anything but the content.
"""

from __future__ import annotations

import json
import re

from .shape import Json

_BUCKET = re.compile(r'\{\s+"count": (\d+),\s+"floor-ns": (\d+)\s+\}')


def canonical(raw: Json) -> Json:
    """The statistics without host facts."""
    clean = dict(raw)
    clean.pop("driver", None)
    if isinstance(clean.get("profile"), str):
        clean["profile"] = clean["profile"].rpartition("/")[2]
    return clean


def text(raw: Json) -> str:
    """The file's content; a bucket of a histogram is a line."""
    lines = json.dumps(canonical(raw), sort_keys=True, indent=1)
    return _BUCKET.sub(r'{"count": \1, "floor-ns": \2}', lines) + "\n"
