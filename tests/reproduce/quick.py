#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""quick.py pen|ippbe|spread|rps|dac ... - run a quick study and write its rows to expected-STUDY.csv.

For when a change of the numbers is meant: look at 'git diff' then.
"""

import subprocess
import sys
from pathlib import Path

import support

HERE = Path(__file__).resolve().parent


def run(study: str, out: str, *more: str) -> subprocess.CompletedProcess[str]:
    """Run a quick study."""
    command = [sys.executable, str(support.REPRODUCE), "run", study, "--quick", "--out", out, *more]
    return subprocess.run(command, cwd=support.ROOT, capture_output=True, text=True, check=False)


def rows(folder: Path) -> str:
    """Return every CSV of a study, joined."""
    return "".join(f"# {path.stem}\n{path.read_text(encoding='utf-8')}" for path in sorted(folder.glob("*.csv")))


def expected(study: str) -> Path:
    """Return the path of the file with the rows."""
    return HERE / f"expected-{study}.csv"


if __name__ == "__main__":
    for name in sys.argv[1:]:
        done = run(name, f"build/reproduce/expected-{name}")
        if done.returncode:
            sys.exit(done.stderr)
        expected(name).write_text(rows(support.ROOT / f"build/reproduce/expected-{name}"), encoding="utf-8")
