# SPDX-License-Identifier: GPL-2.0-or-later
"""Name paths, and import the package reproduce."""

import csv
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REPRODUCE = ROOT / "host-tools/reproduce"
sys.dont_write_bytecode = True
sys.path.insert(0, str(REPRODUCE.parent))


def stored(table: str) -> list[dict[str, str]]:
    """Return the rows of docs/results/TABLE.csv."""
    return list(csv.DictReader((ROOT / f"docs/results/{table}.csv").read_text(encoding="utf-8").splitlines()))
