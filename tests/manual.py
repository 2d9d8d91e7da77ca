# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare a manual with --help, for the programs in C, which have no parser to ask."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path


def help_of(program: Path) -> str:
    """Return the --help text. The program must succeed and print no error."""
    done = subprocess.run([program, "--help"], capture_output=True, text=True, timeout=60, check=False)
    if done.returncode or done.stderr:
        raise AssertionError(f"{program} --help: {done.returncode}, {done.stderr}")
    return done.stdout


def told(text: str) -> dict[str, str]:
    """Return the options of a help text, and their arguments."""
    option = re.compile(r"^  (--[a-z-]+)((?: |\[=)\S.*?)?(?:  |$)", re.M)
    return {name: (value or "").strip("[]= ") for name, value in option.findall(text)}


def written(manual: Path) -> dict[str, str]:
    """Return the options of a manual and their arguments. Each has its own .TP."""
    found = {}
    for line in re.findall(r"^\.TP\n(\..*)$", manual.read_text(encoding="utf-8"), re.M):
        words = re.match(r'\.(?:B|BI|BR) (--[a-z-]+)(?: "([^"]*)"| \[=\\fI(\w+)\\fR\])?$', line)
        if not words:
            raise AssertionError(f"{manual.name}: {line}")
        found[words[1]] = (words[2] or words[3] or "").strip()
    return found


def entries(text: str) -> set[str]:
    """Return options and commands of a help text, unchanged."""
    return {re.sub(r"  +.*", "", line.strip()) for line in text.splitlines() if re.match(r"  (?! )[a-z-]", line)}


def written_entries(manual: Path) -> set[str]:
    """Return the options and commands of a manual."""
    found = set()
    for line in re.findall(r"^\.TP\n(\..*)$", manual.read_text(encoding="utf-8"), re.M):
        plain = re.sub(r"\\f.|\"", "", re.sub(r"^\.(BI|B) ", "", line))
        found.add(re.sub(r"  +", " ", plain).strip())
    return found
