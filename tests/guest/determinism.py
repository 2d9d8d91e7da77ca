#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Equal inputs, equal results, byte for byte, whatever the host is doing.

    determinism.py [--runs 20] [--job FILE]

Half of the runs have one vCPU and half have two; half of each run beside busy
loops on every processor. Each run is in a directory of its own.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import os
import pty
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

from support import JOBS, RESULTS, SLATE, SMALL  # noqa: E402

FILES = ("fio.json", "device.json", "series.json", "blocks.json", "console.log")


@contextlib.contextmanager
def hogs(wanted: bool) -> Iterator[None]:
    """Busy loops, one and a half for each processor."""
    count = (os.cpu_count() or 1) * 3 // 2 if wanted else 0
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def digests(folder: Path) -> dict[str, str]:
    """Of the files that must be equal."""
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in FILES}


def on_a_terminal(command: list[object]) -> tuple[int, str]:
    """Run it where it shows live figures, which it asks the drive for; status, and what it said."""
    master, slave = pty.openpty()
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=slave, stderr=slave) as process:
        os.close(slave)
        said = b""
        with contextlib.suppress(OSError):  # how a terminal ends
            while data := os.read(master, 65536):
                said += data
        os.close(master)
    return process.returncode, said.decode(errors="replace")


def one(folder: Path, smp: int, loaded: bool, job: Path) -> dict[str, str]:
    """A run; digests of its files. On a loaded host somebody watches it, too."""
    shutil.rmtree(folder, ignore_errors=True)
    command = [SLATE, "run", "--profile", SMALL, "--job", job, "--smp", str(smp), "--out", folder]
    if loaded:
        with hogs(True):
            status, said = on_a_terminal(command)
        if not status and " s virtual" not in said:
            raise RuntimeError(f"slate run showed no live figures:\n{said}")
    else:
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        status, said = done.returncode, done.stdout + done.stderr
    if status:
        raise RuntimeError(f"slate run failed ({status}):\n{said}")
    return digests(folder)


def compare(
    folder: Path, runs: int, job: Path, vcpus: tuple[int, ...] = (1, 2), say=lambda text: None
) -> dict[int, list[dict[str, str]]]:
    """All runs; digests by number of vCPUs."""
    found: dict[int, list[dict[str, str]]] = {smp: [] for smp in vcpus}
    for number in range(runs):
        smp, loaded = vcpus[number % len(vcpus)], number // len(vcpus) % 2 == 1
        began = time.monotonic()
        result = one(folder / f"{'deep/er/' if number % 3 else ''}run{number}", smp, loaded, job)
        found[smp].append(result)
        same = all(result == other for other in found[smp])
        say(
            f"run {number + 1:2}/{runs}  {smp} vCPU  {'busy' if loaded else 'idle'} host  "
            f"{time.monotonic() - began:5.1f} s  {'equal' if same else 'DIFFERENT'}"
        )
    return found


def main() -> int:
    """Returns 1 if any run differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--job", type=Path, default=JOBS / "quick.fio")
    args = parser.parse_args()
    found = compare(RESULTS / "determinism", args.runs, args.job, say=lambda text: print(text, flush=True))
    equal = 0
    for smp, results in found.items():
        for name in FILES:
            kinds = {result[name] for result in results}
            print(f"{smp} vCPU  {name:<12} {len(results)} runs, {len(kinds)} distinct")
        equal += sum(result == results[0] for result in results)
    print(f"{equal} of {args.runs} equal")
    return 0 if equal == args.runs else 1


if __name__ == "__main__":
    sys.exit(main())
