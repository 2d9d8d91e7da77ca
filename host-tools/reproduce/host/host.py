# SPDX-License-Identifier: GPL-2.0-or-later
"""host.py - what the programs of the long recordings share (record.py starts them)."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path

DRIVE = Path(os.environ.get("RECORD_DRIVE", "drive"))  # the mounted file system
SCRATCH = Path(os.environ.get("RECORD_SCRATCH", "scratch"))  # elsewhere: inputs, which are not recorded
DEVICE = os.environ.get("RECORD_DEVICE", "loop0")
BEFORE = int(os.environ.get("RECORD_BEFORE", "0"))  # sectors that the device's statistics begin with
WANTED_MIB = int(os.environ.get("RECORD_MIB", "0"))
SEED = os.environ.get("RECORD_SEED", "1")
SYLLABLES = "ka lo mi ren tas vu per sin dol am bra chi eth gor hul ist jen".split()
ENDS = time.monotonic() + 60 * float(os.environ.get("RECORD_MINUTES", "60"))


def generator(name: str) -> random.Random:
    """Return the random number generator for a part of a workload."""
    return random.Random(f"{SEED} {name}")


def words(rng: random.Random, count: int) -> str:
    """Return words of syllables, of which some are common and most are rare."""
    lengths = [rng.randint(1, 4) for _ in range(count)]
    return " ".join("".join(SYLLABLES[int(17 * rng.random() ** 2)] for _ in range(length)) for length in lengths)


def say(text: str) -> None:
    """Print progress."""
    print(f"  {text}: {written_mib()} of {WANTED_MIB} MiB written", flush=True)


def run(*words: object, cwd: Path | None = None, env: dict[str, str] | None = None) -> None:
    """Run a program, which must succeed; its output is shown only if it fails."""
    done = subprocess.run(
        [str(word) for word in words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        check=False, cwd=cwd, env={**os.environ, **(env or {})},
    )  # fmt: skip
    if done.returncode:
        sys.stderr.buffer.write(done.stdout[-4000:])
        sys.exit(f"{words[0]}: status {done.returncode}")


def written_mib() -> int:
    """Return the MiB that the kernel has written to the device: the seventh number of its statistics, in sectors."""
    return (int(Path(f"/sys/class/block/{DEVICE}/stat").read_text(encoding="ascii").split()[6]) - BEFORE) >> 11


def more() -> bool:
    """Write back what the kernel keeps in memory. Returns True if more is to be written and time is left."""
    subprocess.run(["sync", "-f", str(DRIVE)], check=True)
    return written_mib() < WANTED_MIB and time.monotonic() < ENDS
