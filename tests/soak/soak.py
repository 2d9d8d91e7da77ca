#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Run long random work on every FTL: nothing is lost, and nothing is refused without a reason.

    soak.py [--hours H | --count N] [--seed S] [--log FILE] [--kernel small|debian]
    soak.py --id S:N [--kernel ...]         one case again

Case N of a seed is a function of both. It is one of

    guest  a guest's steps (soak.sh) on the drive or on a file system, in virtual or in real
           time: fio verify with trims and flushes, resets under load, blocks that go bad,
           settings that change
    cuts   four power cuts under ext4 (slate cuts)
    wear   slate-replay --check until a drive with few erases of endurance is read-only, and
           everything read back

The log has a line of JSON for each case; --hours and --count go on after its last one. A case
that fails leaves its files, and its line names the command that repeats it.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SLATE = ROOT / "host-tools" / "slate"
REPLAY = ROOT / "build" / "core" / "slate-replay"
PROFILES = ROOT / "nand-emu" / "profiles"
SCRIPT = Path(__file__).resolve().parent / "soak.sh"
LIMIT_S = 1800
MEDIA_READ_ONLY = 8  # in a health log's critical warning
# A kernel must not say this. A time-out has a comma ("I/O 5 QID 1 timeout, aborting"); "Shutdown timeout set to 8
# seconds" is no fault.
NEVER = r"\btimeout,|timed out|corrupt|call trace|\bbug:|blocked for more than|lockup|\bstall|page read|\breading\b"
COMPLAINT = (
    NEVER + r"|error, dev |i/o error|ext4-fs (error|warning)|jbd2.*(error|abort)|xfs .*(error|shut)|f2fs-fs.*stop"
)
# A kernel may say this of a read-only drive: a write failed, and a file system ended for this reason. ext4 says "Buffer
# I/O error on device" of writes alone (its page-io.c, Linux 6.12).
OF_READ_ONLY = (
    r"error, dev \w+, sector \d+ op 0x\w+:\((write|discard|write_zeroes|flush)\)|lost a?sync page write"
    r"|buffer i/o error on device \w+, logical block \d+$"
    r"|ext4-fs|jbd2|aborting journal|xfs \(|f2fs-fs"
)

# A case has one of these FTLs, policies of the page FTL or kinds of flash: (profile, settings).
DRIVES = (
    ("small", ()),
    ("tlc-small", ()),
    ("qlc-small", ()),
    ("znand-small", ()),
    ("spread-small", ()),
    ("ippbe-small", ()),
    ("rps-small", ()),
    ("rps-small", ("ftl.type=parity",)),
    ("rps-small", ("ftl.type=rtf",)),
    ("pen-small", ()),
    ("superblock-small", ()),
    ("dac-small", ()),
    ("dac-flex-small", ()),
    ("tlc-slc-small", ("geometry.blocks_per_plane=28", "geometry.pages_per_block=264", "ftl.capacity_mib=475")),
    ("small", ("geometry.page_bytes=4096", "geometry.oob_bytes=320", "geometry.blocks_per_plane=320",
               "ftl.map_cache_pages=12")),
)
STEPS = ("write", "write", "look", "mix", "mix", "trim", "reset", "bad", "set", "again")


@dataclasses.dataclass
class Case:
    """Runs the commands of one case."""

    id: str
    kind: str
    drive: str
    settings: tuple[str, ...]
    words: list[str]
    steps: tuple[str, ...] = ()
    kernel: str = "small"

    def sets(self) -> list[str]:
        """Return options for all programs."""
        return [word for setting in self.settings for word in ("--set", setting)]


def case(seed: int, number: int, kernel: str = "small") -> Case:
    """Return case number N of a seed, with one of the guest's kernels."""
    chance = random.Random(f"slate soak {seed}:{number}")
    kind = chance.choices(("guest", "cuts", "wear"), (6, 3, 1))[0]
    drive, settings = DRIVES[chance.randrange(len(DRIVES))]
    found = Case(f"{seed}:{number}", kind, drive, settings, [], kernel=kernel)
    own = str(chance.randrange(1, 1 << 30))
    if kind == "cuts":
        span = "10" if drive in ("pen-small", "superblock-small") else "1"
        found.words = ["--count", "4", "--seed", own, "--span", span, "--age", chance.choice(("0", "1"))]
    elif kind == "wear":
        found.words = [f"gen:rand4k,foot={chance.randrange(40, 120)}MiB,n=4000000,seed={own}"]
    else:
        found.steps = ("write", *chance.choices(STEPS, k=8))
        realtime = chance.random() < 0.25
        found.words = ["--env", f"SEED={own}", "--env", f"FS={chance.choice(('raw', 'ext4', 'xfs', 'f2fs'))}"]
        found.words += ["--env", f"STEPS={' '.join(found.steps)}", "--fill", chance.choice(("0", "90"))]
        found.words += ["--realtime"] if realtime else ["--smp", chance.choice(("1", "2", "4"))]
    return found


def run(line: list[Any]) -> tuple[int, str]:
    """Return status and output of a program; one that hangs ends with 124."""
    done = subprocess.run(
        ["timeout", "-k", "5", str(LIMIT_S), *map(str, line)], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


def judge(status: int, steps: str, kernel: str, warning: int) -> list[str]:
    """Return what is wrong with a guest's run: its status, its steps, the kernel's log, the critical warning."""
    worn = bool(warning & MEDIA_READ_ONLY)
    wrong = [] if status == 0 else [f"the guest ended with status {status}"]
    if re.search(r"^\d+ read-only", steps, re.MULTILINE) and not worn:
        wrong.append("the drive became read-only, and its health log does not say so")
    for line in kernel.splitlines():
        refused = worn and re.search(OF_READ_ONLY, line, re.IGNORECASE) and not re.search(NEVER, line, re.IGNORECASE)
        if re.search(COMPLAINT, line, re.IGNORECASE) and not refused:
            wrong.append(line.strip())
    return wrong


def guest(one: Case, folder: Path) -> dict[str, Any]:
    """Run the steps of a guest."""
    status, said = run(
        [SLATE, "run", "--profile", one.drive, *one.sets(), "--kernel", one.kernel, "--cmd", SCRIPT, "--timeout",
         "1500", "--mem", "2G", "--out", folder / "out", *one.words]
    )  # fmt: skip
    text = {}
    for name in ("soak.txt", "said.txt", "kernel.txt", "smart.json"):
        path = folder / "out" / name
        text[name] = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
    health = re.search(r'"critical_warning"\s*:\s*(\d+)', text["smart.json"])
    warning = int(health[1]) if health else 0
    wrong = judge(status, text["soak.txt"], text["kernel.txt"], warning) + ([] if health else ["no health log"])
    found: dict[str, Any] = {"good": not wrong, "said": "", "worn_out": bool(warning & MEDIA_READ_ONLY)}
    found["resets"] = len(re.findall(r"^\d+ reset 0$", text["soak.txt"], re.MULTILINE))
    found["bad_blocks"] = 2 * len(re.findall(r"^\d+ bad 0$", text["soak.txt"], re.MULTILINE))
    if wrong:
        found["said"] = "\n".join([said[-1500:], *wrong[:20], text["soak.txt"][-1000:], text["said.txt"][-1000:]])
    device = folder / "out" / "device.json"
    if device.exists():
        total = json.loads(device.read_text(encoding="utf-8"))["total"]
        found["gc_runs"] = total["ftl"]["gc-runs"]
        if any(total["nand"]["violations"]) or total["nand"]["uncorrectable"]:
            found |= {"good": False, "said": f"{found['said']}\nflash rules were broken, or pages were lost"}
    return found


def cuts(one: Case, folder: Path) -> dict[str, Any]:
    """Run power cuts."""
    log = folder / "cuts.jsonl"
    line = [SLATE, "cuts", "--profile", one.drive, *one.sets(), "--kernel", one.kernel, "--log", log, *one.words]
    status, said = run(line)
    lines = log.read_text(encoding="utf-8").splitlines()[1:] if log.exists() else []
    return {"good": status == 0 and len(lines) == 4, "cuts": len(lines), "said": said[-1500:] if status else ""}


def wear(one: Case, folder: Path) -> dict[str, Any]:
    """Run a drive that wears out."""
    status, said = run(
        [REPLAY, "--profile", PROFILES / f"{one.drive}.ini", *one.sets(), "--set", "reliability.endurance=12",
         "--check", "--read-back", "--limit", "600000", "--closed", "16", *one.words]
    )  # fmt: skip
    failed = re.search(r"the drive failed (\d+) requests", said)
    good = status == 0 and ", 0 wrong" in said
    return {"good": good, "worn_out": bool(failed), "said": "" if good else said[-1500:]}


def do(one: Case) -> dict[str, Any]:
    """Run the case and return its line of the log."""
    folder, began = Path(tempfile.mkdtemp(prefix="slate-soak-")), time.monotonic()
    found = {"guest": guest, "cuts": cuts, "wear": wear}[one.kind](one, folder)
    line: dict[str, Any] = {"id": one.id, "kind": one.kind, "kernel": one.kernel, "drive": one.drive}
    line |= {"settings": list(one.settings)} | found
    line["seconds"] = round(time.monotonic() - began, 1)
    if found["good"]:
        shutil.rmtree(folder)
    else:
        line["files"] = str(folder)
    return line


def show(line: dict[str, Any]) -> None:
    """A line for a person."""
    more = "  ".join(f"{line[key]} {key}" for key in ("resets", "bad_blocks", "cuts") if line.get(key))
    name = " ".join([line["drive"], *line["settings"]])
    print(f"soak      {line['id']:<8} {line['kind']:<6} {name:<28} {line['seconds']:6.1f} s  "
          f"{'good' if line['good'] else 'FAILED'}  {more}", flush=True)  # fmt: skip
    if not line["good"]:
        again = f"tests/soak/soak.py --id {line['id']} --kernel {line['kernel']}"
        print(f"  | {line['said'].strip()}\n  again: {again}   files: {line['files']}"
              .replace("\n", "\n  | "), flush=True)  # fmt: skip


def earlier(log: Path, seed: int) -> list[dict[str, Any]]:
    """Return the lines of the log of an earlier, interrupted run. Raises ValueError if it has another seed."""
    if not log.exists():
        return []
    lines: list[dict[str, Any]] = []
    for number, text in enumerate(log.read_text(encoding="utf-8", errors="replace").splitlines()):
        try:
            line = json.loads(text)
            right = line["id"] == f"{seed}:{number}" and {"drive", "settings", "seconds", "good"} <= line.keys()
        except (ValueError, KeyError, TypeError, AttributeError):
            right = False
        if not right:
            raise ValueError(
                f"{log}: line {number + 1} is not case {seed}:{number} of a soak; give another file as --log, "
                f"or the --seed that this one was written with"
            )
        lines.append(line)
    return lines


def summary(lines: list[dict[str, Any]]) -> str:
    """Return what the cases did to each drive."""
    rows = ["drive                        cases  hours  resets  bad blocks   cuts  worn out  failed"]
    names = sorted({" ".join([line["drive"], *line["settings"]]) for line in lines})
    for name in names:
        of = [line for line in lines if " ".join([line["drive"], *line["settings"]]) == name]
        total = {key: sum(int(line.get(key, 0)) for line in of) for key in ("resets", "bad_blocks", "cuts", "worn_out")}
        rows.append(
            f"{name:<28} {len(of):5} {sum(line['seconds'] for line in of) / 3600:6.2f} {total['resets']:7} "
            f"{total['bad_blocks']:11} {total['cuts']:6} {total['worn_out']:9} {sum(not line['good'] for line in of):7}"
        )
    return "\n".join(rows)


def main() -> int:
    """Returns 1 if a case failed."""
    parser = argparse.ArgumentParser(allow_abbrev=False, description=__doc__.splitlines()[0])
    parser.add_argument("--hours", type=float)
    parser.add_argument("--count", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--log", type=Path)
    parser.add_argument("--kernel", choices=("small", "debian"), default="small", help="of the guest (default: small)")
    parser.add_argument("--id")
    args = parser.parse_args()
    if args.id:
        match = re.fullmatch(r"(\d+):(\d+)", args.id)
        if not match:
            parser.error(f"--id {args.id}: give SEED:NUMBER, such as 1:17")
        line = do(case(int(match[1]), int(match[2]), args.kernel))
        show(line)
        return 0 if line["good"] else 1
    log = args.log or ROOT / "out" / f"soak-{args.seed}.jsonl"
    log.parent.mkdir(parents=True, exist_ok=True)
    try:
        lines = earlier(log, args.seed)
    except (ValueError, OSError) as err:
        parser.error(str(err))
    end = time.monotonic() + 3600 * (args.hours or 1e9)
    began = len(lines)
    while time.monotonic() < end and len(lines) < (args.count or 1 << 30):
        lines.append(do(case(args.seed, len(lines), args.kernel)))
        show(lines[-1])
        with open(log, "a", encoding="utf-8") as file:
            file.write(json.dumps(lines[-1]) + "\n")
    print(summary(lines))
    return 0 if all(line["good"] for line in lines[began:]) else 1


if __name__ == "__main__":
    sys.exit(main())
