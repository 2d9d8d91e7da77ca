#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Run QEMU's harness of libFuzzer on a controller with a nand-ssd (qemu-patches/fuzz.sh builds it).

    fuzz_qemu.py --program FILE --work FOLDER [SECONDS] [DRIVE:CLOCK ...]    fuzz, SECONDS shared among them
    fuzz_qemu.py --program FILE --work FOLDER --input FILE DRIVE:CLOCK      play one input

An input is a list of operations of QEMU's generic-fuzz, separated by "FUZZ"; here are the first ones,
which enable the controller and submit commands, so that mutations begin behind those registers.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import struct
import subprocess
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "qemu"))
# pylint: disable=wrong-import-position
from fuzz_guest import ADMIN_OPCODES, DRIVES, GEOMETRY, IO_OPCODES, PROFILES
from nvme import ACQ, ADMIN_CQ, ADMIN_SQ, AQA, ASQ, CC, CC_ENABLE, DEPTH, IO_CQ, IO_SQ

CLOCKS = ("stepped", "thread")
BUFFER = 0x200000
WRITE_OP, PATTERN_OP, CLEAR_OP, STEP_OP = 3, 7, 8, 9  # of generic-fuzz
INPUT_BYTES = 8192
CONTROLS = [(1, 0, 0), (2, 0, 0), (2, 8, 0), (4, 0, 0), (6, 0, 0)]
CONTROLS += [(3, kind | 1 << 16, 1) for kind in (1, 2, 3)]
CONTROLS += [(5, when | then << 8, 20) for when in (0, 1, 2) for then in (0, 1, 2)]
LOGS = (*range(10), 0x0D, 0x0E, 0x12, 0x13, 0x20, 0x81, 0xC0, *range(0xD0, 0xD8))
SETTINGS = (b"ftl.gc_slice_pages=8", b"ftl.gc_mode=blocking", b"ftl.gc_start_blocks=9")


class Input:
    """Builds an input: a sequence of operations."""

    def __init__(self) -> None:
        self.ops: list[bytes] = []
        self.tails = [0, 0]
        self.store(AQA, DEPTH - 1 | (DEPTH - 1) << 16)
        self.store(ASQ, ADMIN_SQ)
        self.store(ACQ, ADMIN_CQ)
        self.store(CC, CC_ENABLE)

    def store(self, at: int, value: int) -> None:
        """Write a register. The controller's registers are the first region."""
        size = 3 if at in (ASQ, ACQ) else 2
        self.ops.append(struct.pack("<BBBxxIQ", WRITE_OP, size, 0, at, value))

    def submit(self, queue: int, opcode: int, words: dict[int, int], data: bytes = b"", steps: int = 0) -> Input:
        """Write a command and its data to the memory that the controller reads next."""
        command = [opcode | len(self.ops) << 16, 1, 0, 0, 0, 0, BUFFER, 0, BUFFER + 4096, 0, *[0] * 6]
        for at, value in words.items():
            command[at] = value
        self.ops.append(bytes([CLEAR_OP]))
        for pattern in (struct.pack("<16I", *command), data):
            if pattern:
                self.ops.append(bytes([PATTERN_OP, 0, 0]) + pattern)
        self.tails[queue] = (self.tails[queue] + 1) % DEPTH
        self.store(0x1000 + 8 * queue, self.tails[queue])
        self.ops += [bytes([STEP_OP])] * steps
        return self

    def queues(self) -> Input:
        """Make the queues for I/O."""
        size = 1 | (DEPTH - 1) << 16
        self.submit(0, 5, {6: IO_CQ, 10: size, 11: 1})
        return self.submit(0, 1, {6: IO_SQ, 10: size, 11: 1 | 1 << 16})

    def write(self, lba: int, blocks: int) -> Input:
        """Write some data, and flush them to the drive."""
        return self.submit(1, 1, {10: lba, 12: blocks - 1}, b"contents", 3)

    def content(self) -> bytes:
        """Return the initial bytes for libFuzzer."""
        joined = b"FUZZ".join(self.ops)
        assert len(joined) <= INPUT_BYTES
        return joined


def seeds() -> dict[str, bytes]:
    """Return inputs with each admin and I/O command, logs, vendor commands, and work for the garbage collection."""
    found: dict[str, Input] = {}
    for opcode in ADMIN_OPCODES:
        found[f"admin-{opcode:02x}"] = Input().submit(0, opcode, {10: 1, 11: 1})
    for log in LOGS:
        page = {10: log | 255 << 16}
        found[f"log-{log:02x}"] = Input().queues().write(0, 8).submit(0, 2, page).submit(0, 2, page | {12: 64})
    for number, text in enumerate(SETTINGS):
        word = {10: (len(text) + 4) // 4}
        found[f"set-{number}"] = Input().queues().submit(0, 0xC1, word, text.ljust(4 * word[10], b"\0")).write(0, 8)
    for command, first, second in CONTROLS:
        words = {12: command, 13: first, 14: second}
        case = Input().queues().write(0, 8).submit(0, 0xC4, words, steps=4).write(8, 8)
        found[f"control-{command}-{first:x}-{second}"] = case.submit(1, 0, {}, steps=4)
    for opcode in IO_OPCODES:
        ranges = struct.pack("<IIQIIQ", 0, 8, 8, 0, 16, 24)
        words = {10: 0, 11: 4} if opcode == 9 else {10: 8, 12: 7}  # deallocate; blocks 8 to 15
        case = Input().queues().write(0, 16).submit(1, opcode, words, ranges, 4)
        found[f"io-{opcode:02x}"] = case.submit(1, 0, {}, steps=4)
    case = Input().queues()
    for lba in (0, 64, 128, 8, 0, 64, 8, 3, 0):
        case.write(lba, 64)
    found["overwrite"] = case.submit(0, 0xC4, {12: 2, 13: 8}, steps=4)
    found["format"] = Input().queues().write(0, 8).submit(0, 0x80, {}, steps=6).write(0, 8)
    found["sanitize"] = Input().queues().write(0, 8).submit(0, 0x84, {1: 0, 10: 2}, steps=8).write(0, 8)
    found["events"] = Input().queues().write(0, 8)
    for action in (0x10D, 0x0D, 0x20D):  # a context of the persistent event log is made, read, ended
        found["events"].submit(0, 2, {10: action | 255 << 16})
    found["telemetry"] = Input().queues().write(0, 8).submit(0, 2, {10: 0x107 | 255 << 16})
    found["self-test"] = Input().queues().write(0, 8).submit(0, 0x14, {10: 2}, steps=8)
    unreadable = Input().queues().write(0, 8).submit(1, 4, {10: 8, 12: 7}, steps=4)
    found["lba-status"] = unreadable.submit(0, 0x86, {12: 63, 13: 0x10 << 24 | 64}, steps=8)
    found["doorbells"] = Input().submit(0, 0x7C, {6: 0x300000, 8: 0x301000}).queues().write(0, 8)
    found["reset"] = Input().queues().write(0, 64)
    found["reset"].store(CC, CC_ENABLE & ~1)
    found["shutdown"] = Input().queues().write(0, 64)
    found["shutdown"].store(CC, CC_ENABLE | 1 << 14)
    return {name: case.content() for name, case in found.items()}


def environment(name: str) -> dict[str, str]:
    """Return the environment of the target and the sanitizers."""
    drive, clock = name.split(":")
    profile, *settings = DRIVES[drive]
    options = {"driver": "nand-ssd", "node-name": "ssd0", "profile": str(PROFILES / profile), "guest-control": "on"}
    if clock == "thread":
        options["thread"] = "on"
    config = {
        "drive": {**options, "set": [f"geometry.{key}" for key in GEOMETRY] + settings},
        "controller": {"serial": "slate"},
    }
    return {
        **os.environ,
        "NAND_SSD_FUZZ": json.dumps(config),
        "ASAN_OPTIONS": f"quarantine_size_mb=64:{os.environ.get('ASAN_OPTIONS', '')}",
        "UBSAN_OPTIONS": f"halt_on_error=1:print_stacktrace=1:{os.environ.get('UBSAN_OPTIONS', '')}",
    }


def fuzz(program: Path, work: Path, name: str, seconds: int) -> bool:
    """Fuzz one drive; return True if no fault was found."""
    corpus, found = work / f"qemu-{name.partition(':')[0]}", work / "found"
    for folder in (corpus, found):
        folder.mkdir(parents=True, exist_ok=True)
    for seed, content in seeds().items():
        (corpus / f"seed-{seed}").write_bytes(content)
    log = work / f"qemu-{name.replace(':', '-')}.log"
    options = [f"-max_total_time={seconds}", f"-max_len={INPUT_BYTES}", "-timeout=60", "-rss_limit_mb=3000"]
    options += ["-print_final_stats=1", "-use_value_profile=0", f"-artifact_prefix={found}/", str(corpus)]
    with open(log, "wb") as out:
        line = [str(program), "--fuzz-target=nand-ssd", *options]
        status = subprocess.run(
            line,
            env=environment(name),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            timeout=seconds + 600,
            check=False,
        ).returncode
    text = log.read_text(errors="replace")
    runs = re.findall(r"number_of_executed_units: (\d+)", text) or re.findall(r"^#(\d+)", text, re.M) or ["0"]
    rate = re.findall(r"average_exec_per_sec: +(\d+)", text) or ["?"]
    covered = re.findall(r"^#\d+.*? cov: (\d+).*? corp: (\d+)", text, re.M) or [("0", "0")]
    total = re.findall(r"inline 8-bit counters\): (\d+)|Loaded \d+ PC tables \((\d+) PCs", text)
    edges = next((first or second for first, second in total if first or second), "?")
    said = f"{runs[-1]} inputs, {rate[-1]} a second, {covered[-1][0]} edges of {edges}, {covered[-1][1]} kept"
    print(f"{name}: {said}", flush=True)
    if not status:
        return True
    for written in re.findall(r"Test unit written to (\S+)", text):
        print(f"again: {Path(__file__).relative_to(ROOT)} --program {program} --work {work} --input {written} {name}")
    print(f"{name}: exit status {status}, see {log}", flush=True)
    return False


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(allow_abbrev=False, description=(__doc__ or "").splitlines()[0])
    names = [f"{drive}:{clock}" for drive in DRIVES for clock in CLOCKS]
    parser.add_argument("words", nargs="*", metavar="SECONDS|DRIVE:CLOCK", help=", ".join(names))
    parser.add_argument("--program", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--input", type=Path)
    args = parser.parse_args()
    seconds = int(args.words.pop(0)) if args.words and args.words[0].isdigit() else 600
    unknown = [name for name in args.words if name not in names]
    if unknown:
        parser.error(f"no such drive and clock: {', '.join(unknown)}; there are {', '.join(names)}")
    chosen = args.words or names
    if args.input and not args.input.is_file():
        parser.error(f"no such file: {args.input}")
    if args.input:
        return subprocess.run(
            [args.program, "--fuzz-target=nand-ssd", args.input], env=environment(chosen[0]), check=False
        ).returncode
    began = time.monotonic()
    good = [fuzz(args.program, args.work, name, max(1, seconds // len(chosen))) for name in chosen]
    print(f"{len(chosen)} drives and clocks, {good.count(False)} with findings, {time.monotonic() - began:.0f} s")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
