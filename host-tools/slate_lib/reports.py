# SPDX-License-Identifier: GPL-2.0-or-later
"""'slate report' prints the report of a run, or of a replay."""

from __future__ import annotations

import sys
from pathlib import Path

from . import paths, runfiles
from .drivesreport import DrivesReport
from .errors import OK
from .replayreport import ReplayReport
from .report import Report
from .runfiles import RunFiles


def of(run: RunFiles) -> Report:
    """Return the report of a run or a replay."""
    return ReplayReport(run.replay) if run.replay else Report(run.device, run.fio, run.record, run.app, run.series)


def print_again(path: Path | None) -> int:
    """Execute 'slate report DIR' or 'slate report FILE'."""
    where = path or paths.OUT / "latest"
    if runfiles.drives(where):
        each, record, fio = runfiles.together(where)
        shown: Report = DrivesReport([of(one) for one in each], fio, record)
    else:
        shown = of(runfiles.load(where))
    print(shown.text(color=sys.stdout.isatty()), end="")
    return OK
