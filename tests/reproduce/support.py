# SPDX-License-Identifier: GPL-2.0-or-later
"""Name paths, and import the modules of host-tools/reproduce."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REPRODUCE = ROOT / "host-tools/reproduce"
sys.dont_write_bytecode = True
sys.path.insert(0, str(REPRODUCE))
