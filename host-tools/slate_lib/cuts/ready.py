# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds the works of 'slate cuts --ready NAME:VARIANT': scripts of host-tools/guest/cuts that make, work and check.

A script knows by its name in the guest (make, work, check) what it does, and by $CUTS_VARIANT how. Lines of its head
that begin with '#:' say which variants there are (in words), which of them need the image of applications or two
drives, and with which words the names of the variants end that jobs/cuts-host.sh can check on the host.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from .. import names, paths
from ..errors import SlateError

SCRIPTS = paths.GUEST_TOOLS / "cuts"
PROGRAM = "records"  # of calls.sh
_HEAD = re.compile(r"^#: (variants|apps|host|drives) (.*)$", re.MULTILINE)
_VARIANT = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+){0,2}")


@dataclass(frozen=True)
class Ready:
    """Describes a script. apps: the parts of a variant that need the image of applications; 'all': every variant."""

    path: Path
    text: str

    @property
    def variants(self) -> str:
        """Return which variants there are, for a person."""
        return " ".join(words for kind, words in _HEAD.findall(self.text) if kind == "variants")

    def needs_apps(self, variant: str) -> bool:
        """Does a variant need the image of applications?"""
        parts = self._words("apps")
        return "all" in parts or any(word.startswith(tuple(parts)) for word in variant.split("-"))

    def has_host_check(self, variant: str) -> bool:
        """Can a program of this machine check a variant's drives?"""
        return variant.endswith(tuple(self._words("host")))

    def drives(self, variant: str) -> int:
        """Return how many drives a variant has. Those with two have them in this order: without zones, with zones."""
        return 2 if set(variant.split("-")) & set(self._words("drives")) else 1

    def _words(self, kind: str) -> list[str]:
        return " ".join(words for name, words in _HEAD.findall(self.text) if name == kind).split()


def known() -> list[str]:
    """Return the names of the scripts."""
    return sorted(path.stem for path in SCRIPTS.glob("*.sh"))


def find(text: str) -> tuple[Ready, str]:
    """Return the script and the variant that NAME:VARIANT names."""
    name, _, variant = text.partition(":")
    path = SCRIPTS / f"{name}.sh"
    if name not in known():
        raise SlateError(f"--ready {text}: there is no {name}{names.nearest(name, known())}",
                         f"use one of: {', '.join(known())}")  # fmt: skip
    ready = Ready(path, path.read_text(encoding="utf-8"))
    wanted = set(re.findall(r"[a-z0-9]+", ready.variants))
    if not _VARIANT.fullmatch(variant) or not set(variant.split("-")) <= wanted:
        raise SlateError(f"--ready {text}: there is no such variant", f"write --ready {name}:VARIANT; {ready.variants}")
    return ready, variant
