#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Check that equal inputs give equal results, byte for byte, whatever the host is doing.

    determinism.py [--runs 20] [--vcpus 1,2,4,8] [--record]

So many runs with each number of vCPUs, half of them beside processes that take every
processor by turns, each in a directory of its own. The first of each is also compared with
checksums.json, which has those of another machine; --record writes that file, and beside it
checksums.lock, which makes the same guest again ('slate guest make --lock') when Debian's
archive has moved on.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import pty
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

from support import HERE, RESULTS, SLATE, SMALL

from slate_lib import paths

FILES = ("raw.json", "fs.json", "facts.txt", "device.json", "series.json", "blocks.json", "console.log")
CHECKSUMS = HERE / "checksums.json"
LOCK = HERE / "checksums.lock"
RECORDED = "recorded"  # the guest that LOCK makes, where the default one has other packages
VCPUS = (1, 2, 4, 8)
# These inputs determine the results: if one of them differs, checksums cannot be compared. Their names in guest.json:
INPUTS = {"vmlinux": "vmlinux", "root": "root.lz4", "modules": "modules.lz4"} | {
    name: f"firmware/{name}.bin" for name in ("bios-256k", "kvmvapic", "pvh")
}
PARTS = ("build", "kernel", "firmware", "fio", "with")  # of a lock: what these inputs are made of


# Each process computes for 2 ms and sleeps for 6 ms: it takes a quarter of a processor from QEMU's threads, 125 times a
# second. The host is busy, but not full.
HOG = """
import time
while True:
    until = time.monotonic() + 0.002
    while time.monotonic() < until:
        pass
    time.sleep(0.006)
"""


@contextlib.contextmanager
def hogs(wanted: bool) -> Iterator[None]:
    """Start processes that compute by turns, one and a half for each processor."""
    count = (os.cpu_count() or 1) * 3 // 2 if wanted else 0
    loops = [subprocess.Popen([sys.executable, "-c", HOG]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def digests(folder: Path) -> dict[str, str]:
    """Return the checksums of the files that must be equal."""
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in FILES}


def on_a_terminal(command: list[str | Path]) -> tuple[int, str]:
    """Run a command on a terminal, where it shows live figures of the drive; return status and output."""
    master, slave = pty.openpty()
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=slave, stderr=slave) as process:
        os.close(slave)
        said = b""
        with contextlib.suppress(OSError):  # how a terminal ends
            while data := os.read(master, 65536):
                said += data
        os.close(master)
    return process.returncode, said.decode(errors="replace")


def one(folder: Path, smp: int, loaded: bool, guest: str = "") -> dict[str, str]:
    """Run once and return the digests of its files. On a loaded host a terminal also shows progress."""
    shutil.rmtree(folder, ignore_errors=True)
    command: list[str | Path] = [SLATE, "run", "--profile", SMALL, "--cmd", HERE / "determinism.sh", "--smp", str(smp)]
    command += ["--age", "1", "--out", folder, *(["--guest", guest] if guest else [])]
    if loaded:
        with hogs(True):
            status, said = on_a_terminal(command)
        if not status and " s of guest time (" not in said:
            raise RuntimeError(f"slate run showed no live figures:\n{said}")
    else:
        done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
        status, said = done.returncode, done.stdout + done.stderr
    if status:
        raise RuntimeError(f"slate run failed ({status}):\n{said}")
    return digests(folder)


def compare(folder: Path, runs: int, smp: int, say: Callable[[str], None] = lambda text: None) -> list[dict[str, str]]:
    """Run this many times, half of them on a busy host, and compare."""
    found: list[dict[str, str]] = []
    for number in range(runs):
        loaded, began = number % 2 == 1, time.monotonic()
        found.append(one(folder / f"{'deep/er/' if number % 3 else ''}smp{smp}-run{number}", smp, loaded))
        say(
            f"run {number + 1:2}/{runs}  {smp} vCPU  {'busy' if loaded else 'idle'} host  "
            f"{time.monotonic() - began:5.1f} s  {'equal' if found[-1] == found[0] else 'DIFFERENT'}"
        )
    return found


def made_of(folder: Path) -> dict[str, str]:
    """Return versions and checksums of the first run's inputs."""
    run = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    versions = {name: run["versions"][name] for name in ("kernel", "fio")}
    profile = hashlib.sha256(SMALL.read_bytes()).hexdigest()
    return versions | {name: run["sha256"][name] for name in INPUTS} | {"profile": profile}


def plans(lock: str) -> str:
    """Return the lines of a lock of which INPUTS are made, with those that say how."""
    words = [line.removeprefix("# ").partition(" ")[0].rstrip(":") for line in lock.splitlines()]
    kept = (*PARTS, "release", "also")
    return "".join(f"{line}\n" for line, word in zip(lock.splitlines(), words) if word in kept)


def packages(lock: str) -> list[str]:
    """Return the lines of a lock that name packages and sources."""
    return [line for line in lock.splitlines() if not line.startswith("#")]


def guest_of_checksums() -> tuple[str, str]:
    """Return the guest whose results checksums.json has: '' for the default one; else why that guest is not there.

    If the default guest has other packages, because the archive has moved on since, LOCK makes the recorded one.
    """
    kept = json.loads(CHECKSUMS.read_text(encoding="utf-8"))["made_of"]
    made = json.loads((paths.GUEST / "guest.json").read_text(encoding="utf-8"))["sha256"]
    lock = LOCK.read_text(encoding="utf-8")
    if all(kept[name] == made[file] for name, file in INPUTS.items()):
        return "", ""
    if packages(plans((paths.GUEST / "lock").read_text(encoding="utf-8"))) == packages(lock):
        return "", ""  # what differs is of our own making
    command = [str(word) for word in (SLATE, "guest", "make", "--lock", LOCK, "--name", RECORDED)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1800, check=False)
    if done.returncode:
        said = (done.stdout + done.stderr).splitlines()
        why = next((line for line in said if "the lock names" in line), said[-1] if said else "")
        return "", f"; the guest of {LOCK.name} can not be made: {why.strip(' |')[:200]}"
    return RECORDED, ""


def other_machine(made: dict[str, str], smp: int) -> dict[str, str] | str:
    """Return digests of a run on another machine, or the reason why there is none."""
    kept = json.loads(CHECKSUMS.read_text(encoding="utf-8"))
    differs = [name for name in made if kept["made_of"].get(name) != made[name]]
    if differs:
        return f"{CHECKSUMS.name} has runs of another {', '.join(differs)}: determinism.py --record makes it anew"
    found: dict[str, str] = kept["runs"][str(smp)]
    return found


def main() -> int:
    """Returns 1 if any run differs."""
    parser = argparse.ArgumentParser(allow_abbrev=False, description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--vcpus", default=",".join(map(str, VCPUS)))
    parser.add_argument("--record", action="store_true")
    args = parser.parse_args()
    folder = RESULTS / "determinism"
    equal = total = 0
    kept: dict[str, object] = {}
    first = folder / "none"
    for smp in map(int, args.vcpus.split(",")):
        results = compare(folder, args.runs, smp, lambda text: print(text, flush=True))
        for name in FILES:
            kinds = {result[name] for result in results}
            print(f"{smp} vCPU  {name:<12} {len(results)} runs, {len(kinds)} distinct")
        equal += sum(result == results[0] for result in results)
        total += len(results)
        first = folder / f"smp{smp}-run0"
        kept[str(smp)] = results[0]
        elsewhere = other_machine(made_of(first), smp)
        if not args.record:
            print(f"{smp} vCPU  {elsewhere if isinstance(elsewhere, str) else _verdict(elsewhere == results[0])}")
            equal -= not isinstance(elsewhere, str) and elsewhere != results[0]
    print(f"{equal} of {total} equal")
    if args.record and equal == total:
        text = json.dumps({"made_of": made_of(first), "runs": kept}, indent=1)
        CHECKSUMS.write_text(text + "\n", encoding="utf-8")
        LOCK.write_text(plans((paths.GUEST / "lock").read_text(encoding="utf-8")), encoding="utf-8")
    return 0 if equal == total else 1


def _verdict(equal: bool) -> str:
    return f"as in {CHECKSUMS.name}" if equal else f"DIFFERENT from {CHECKSUMS.name}"


if __name__ == "__main__":
    sys.exit(main())
