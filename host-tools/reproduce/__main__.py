# SPDX-License-Identifier: GPL-2.0-or-later
"""Start a part of the studies: python3 host-tools/reproduce NAME ..., where 'NAME --help' shows its arguments.

The targets of 'make' and the Snakefile call these. The head of a part's module says what it does.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

sys.dont_write_bytecode = True

PARTS = {
    "run": "studies.run",
    "tables": "pages.tables",
    "pictures": "pages.pictures",
    "summary": "pages.summary",
    "holdouts": "pages.holdouts",
    "standin": "traces.standin",
    "mix": "traces.mix",
    "fit": "traces.fit",
    "tracestats": "traces.tracestats",
    "record": "traces.record",
    "guest": "rows.guest",
    "validate": "real.validate",
    "superblock": "real.superblock",
    "unfolded": "real.unfolded",
    "mapcache": "real.mapcache",
    "pen-trials": "real.trials",
    "patched": "real.patched",
    "spread-standins": "studies.spread_standins",
    "responses": "studies.responses",
    "scale": "studies.scale",
    "causes": "studies.causes",
    "dac-long": "studies.dac_long",
    "placement": "studies.placement",
    "baseline": "models.baseline",
    "shipped": "models.shipped",
    "host-pc": "host.host_pc",
    "host-synth": "host.host_synth",
    "host-web": "host.host_web",
    "host-iot": "host.host_iot",
}


def main(argv: list[str]) -> int:
    """Run a part. Returns its exit status, or 2 with a sentence on stderr if there is none of that name."""
    if not argv or argv[0] not in PARTS:
        said = f"unknown part '{argv[0]}'" if argv else "which part?"
        expected = ", ".join(part for part in PARTS if not part.startswith("host-"))  # record alone starts these
        print(f"reproduce: {said}; expected one of {expected}", file=sys.stderr)
        return 2
    name, *rest = argv
    sys.argv[0] = f"reproduce {name}"  # argparse shows it
    status: int = importlib.import_module(f"reproduce.{PARTS[name]}").main(rest)
    return status


if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[1])  # in place of this folder, whose name the package has
    sys.exit(main(sys.argv[1:]))
