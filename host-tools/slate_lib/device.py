# SPDX-License-Identifier: GPL-2.0-or-later
"""device.json: the drive's statistics in one canonical form.

Equal runs are equal files, so nothing of the host may stay in it: no paths, no
order that depends on anything but the content.
"""

from __future__ import annotations

import json
from typing import Any


def canonical(raw: dict[str, Any]) -> dict[str, Any]:
    """The statistics without host facts."""
    clean = dict(raw)
    clean.pop("driver", None)
    if isinstance(clean.get("profile"), str):
        clean["profile"] = clean["profile"].rpartition("/")[2]
    return clean


def text(raw: dict[str, Any]) -> str:
    """The file's content."""
    return json.dumps(canonical(raw), sort_keys=True, indent=1) + "\n"
