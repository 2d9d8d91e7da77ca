# SPDX-License-Identifier: GPL-2.0-or-later
"""Sets the rate of the guest's processors in virtual time, and how far their clocks may differ.

A processor executes a fixed number of instructions in each ns of its clock. The clocks of busy
processors differ by a quantum at most, and the time of one instruction (docs/notes/vcpus.md).
The drive's shortest command must take a quantum at least: the timer of its completion then runs
before any processor's clock passes the completion's time.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
from fractions import Fraction
from pathlib import Path

from . import paths, units
from .commands import Option
from .errors import SlateError

RATE = "4"
RATE_MIN, RATE_MAX = Fraction(1, 10), Fraction(32)
QUANTUM_NS = 1000
QUANTUM_MOST_NS = 1000000  # QEMU's
# A drive whose shortest command takes less has this quantum at most: completions may be this late.
QUANTUM_LEAST_NS = 100
_DECIMAL = re.compile(r"-?[0-9]{1,9}(\.[0-9]{1,9})?")
_RATE = re.compile(r"[0-9]{1,2}(\.[0-9]{1,3})?")
_SHORTEST = ("ftl.overhead_ns", "ftl.map_ns")


OPTIONS = (
    Option("--cpu-rate", "R", "speed of each processor, in 10^9 instructions per second of virtual time: 0.1 to 32, "
           f"such as 3.2 (default {RATE}; 'slate calibrate' finds that of a server)"),
    Option("--cpu-quantum", "NS", "the time by which the clocks of two busy processors may differ: at most the time of "
           f"the drive's shortest command, or {QUANTUM_LEAST_NS} if that is longer (default {QUANTUM_NS}, or the "
           "largest allowed; without effect with one processor)"),
)  # fmt: skip


def rate(text: str) -> str:
    """Return a rate, checked, in its shortest form."""
    span = "give 10^9 instructions a second: 0.1 to 32, with at most three decimals"
    if not _DECIMAL.fullmatch(text):
        raise SlateError(f"--cpu-rate {text}: not a decimal number", span)
    if not RATE_MIN <= Fraction(text) <= RATE_MAX:
        raise SlateError(f"--cpu-rate {text}: out of range", span)
    if not _RATE.fullmatch(text):
        raise SlateError(f"--cpu-rate {text}: too many digits", span)
    whole, _, decimals = text.partition(".")
    decimals = decimals.rstrip("0")
    return f"{int(whole)}.{decimals}" if decimals else str(int(whole))


def check_real_time(args: argparse.Namespace) -> None:
    """Refuse rates in real time, where processors run by the host's clock."""
    for name in ("cpu_rate", "cpu_quantum"):
        if getattr(args, name) is not None:
            raise SlateError(
                f"--{name.replace('_', '-')}: it has no effect in real time: the host determines the speed of the "
                "guest's processors",
                "leave it out, or leave out --realtime and --accel kvm",
            )


def shortest_ns(settings: dict[str, str]) -> int:
    """Return the duration of the drive's shortest command, by its settings: a read that finds no data."""
    return sum(int(settings.get(key, 0)) for key in _SHORTEST)


def profile_settings(profile: Path, overrides: list[str]) -> dict[str, str] | None:
    """Return all settings of a profile; None if it is invalid or not built (reported elsewhere)."""
    try:
        program = paths.program("slate-profile")
        done = subprocess.run([program, str(profile), *overrides], capture_output=True, text=True, check=False)
    except (SlateError, OSError):
        return None
    if done.returncode:
        return None
    settings: dict[str, str] = json.loads(done.stdout)["settings"]
    return settings


def quantum(text: str | None, settings: dict[str, str] | None, count: int) -> int:
    """Return a quantum. With several processors it is checked against the drive's shortest command."""
    most = max(QUANTUM_LEAST_NS, QUANTUM_NS if settings is None else shortest_ns(settings))
    if text is None:
        return min(QUANTUM_NS, most)
    if count == 1:
        most = QUANTUM_MOST_NS
    if not text.isascii() or not text.isdigit():
        raise SlateError(f"--cpu-quantum {text}: not a whole number of ns", f"give 1 to {most}")
    given = units.whole(text)  # None: more digits than any number of ns here
    if not given or given > (most if count == 1 else QUANTUM_MOST_NS):
        raise SlateError(f"--cpu-quantum {text}: out of range", f"give 1 to {most}")
    if given > most:
        shortest = f" ({' + '.join(_SHORTEST)} = {shortest_ns(settings)} ns)" if settings is not None else ""
        raise SlateError(
            f"--cpu-quantum {text}: longer than the drive's shortest command{shortest}, whose completion would be late",
            f"give 1 to {most}",
        )
    return given
