#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Run the suites of KUnit in the guest: boot it with the modules, read the log, print TAP.

tests/kunit/run.py [--only WORD]

Two guests at a time: the core's tests in one; in the other the block layer's, a power
cut, and a second boot on the drive that it leaves. Logs are kept in build/test/kunit/.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "host-tools"), str(ROOT / "host-tools" / "guest"), str(HERE)]

import ktap
import results
from slate_lib import command, paths
from slate_lib.boot import boot
from slate_lib.errors import SlateError
from slate_lib.options import RunOptions
from slate_lib.work import Script

MODULES = paths.BUILD / "kunit"
KEEP = paths.BUILD / "test" / "kunit"
PROFILE = paths.PROFILES / "small.ini"
BLK = ["blk", "blk-fault", "blk-lost", "blk-healed", "blk-before-cut"]
LIMIT_S = 900.0
# Bios that end with a medium error in blk.c's suite blk-lost. The status says Do Not Retry, so Linux tries each once.
LOST_READS = 15


def programs() -> list[str]:
    """Return the core's tests that run in the kernel."""
    return re.findall(r"^PROGRAM\((\w+),", (HERE / "programs.h").read_text(encoding="utf-8"), re.M)


def check_built() -> None:
    """Check that the small kernel exists, and modules for it."""
    command.check_built(RunOptions(profile=None, kernel="small"))
    made_for, boots = MODULES / "kernel.json", paths.KERNELS["small"].with_name("kernel.json")
    if not made_for.exists():
        raise SlateError(f"{paths.short(MODULES)} has no modules", "run 'make kunit'")
    if made_for.read_bytes() != boots.read_bytes():
        got, wanted = (json.loads(path.read_text(encoding="utf-8"))["kernel"] for path in (made_for, boots))
        said = f"the modules are for a kernel {got}, and the guest boots {wanted}"
        raise SlateError(said if got != wanted else f"the modules are for another {got}", "run 'make kunit'")


def guest(what: list[str], module: str, drive: Path | None) -> tuple[str, dict[str, bytes]]:
    """Boot guest.sh; return the kernel's log and the guest's files."""
    folder = KEEP / what[0]
    folder.mkdir(parents=True)
    script = HERE / "guest.sh"
    options = RunOptions(
        kernel="small",
        profile=PROFILE if not (drive and drive.exists()) else None,
        drive=drive,
        fill=100 if drive and not drive.exists() else None,
        work=Script(script, script.read_text(encoding="utf-8"), what),
        programs={f"{name}.ko": (MODULES / f"{name}.ko").read_bytes() for name in ("kunit", module)},
        kernel_args=["log_buf_len=2M", "printk.time=1"],
        timeout=LIMIT_S,
    )
    end = boot(options, folder)
    try:
        files, status = results.parse_results(end.results)
    except ValueError as error:
        raise SlateError(f"{error}{end.last_words()}", f"look at {folder}/console") from None
    for name, data in files.items():
        (folder / name).write_bytes(data)
    if status:
        said = f"guest.sh {' '.join(what)} ended with status {status}{end.last_words()}"
        raise SlateError(said, f"look at {folder}")
    (folder / "initrd").unlink()
    return files["dmesg.txt"].decode(errors="replace"), files


def core(only: str) -> list[ktap.Case]:
    """Run the core's tests."""
    names = [only] if only else programs()
    log, _ = guest(["core", only] if only else ["core"], "slate_core_kunit", None)
    return ktap.parse(log, [f"core-{name}" for name in names])


def counted(name: str, counters: bytes, key: str, want: int) -> ktap.Case:
    """Return a case with the drive's counters of its array."""
    value = json.loads(counters)["nand"][key]
    return ktap.Case(name, value == want, said=[f"{key} = {value}, expected {want}"])


def blk() -> list[ktap.Case]:
    """Run the block layer's tests, and those after a power cut."""
    drive = KEEP / "drive.slate"
    log, files = guest(["blk"], "slate_blk_kunit", drive)
    cases = ktap.parse(log, BLK)
    fails, lost = files["fault.json"], files["lost.json"]
    cases.append(counted("blk-fault.the_drive_counted_it", fails, "program_fails", 1))
    cases.append(counted("blk-lost.the_drive_counted_them", lost, "uncorrectable", LOST_READS))
    said = re.search(r"durable=(\d+) written=(\d+)", log)
    if not said:
        return [*cases, ktap.Case("blk-after-cut: as a whole", False, said=["the log does not say what was written"])]
    log, _ = guest(["after-cut", *said.groups()], "slate_blk_kunit", drive)
    drive.unlink()
    return cases + ktap.parse(log, ["blk-after-cut"])


def tried(run: Callable[..., list[ktap.Case]], *args: str) -> list[ktap.Case]:
    """Return the cases of a guest; a guest that could not run is a failed case."""
    try:
        return run(*args)
    except (SlateError, KeyError, json.JSONDecodeError) as error:
        name = getattr(run, "__name__", "?")
        return [ktap.Case(f"{name}: the guest", False, said=str(error).splitlines())]


def say(cases: list[ktap.Case], first: int) -> None:
    """Print lines of TAP. Times are those of the guest's clock."""
    for number, case in enumerate(cases, first):
        skip = f" # SKIP {case.skipped}" if case.skipped else ""
        print(f"{'ok' if case.passed else 'not ok'} {number} - {case.name}{skip} # time={case.seconds:.2f}")
        if not case.passed:
            print("".join(f"# {line}\n" for line in case.said), end="")
    sys.stdout.flush()


def main() -> int:
    """Returns 1 if a case failed."""
    parser = argparse.ArgumentParser(allow_abbrev=False, description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", metavar="WORD", help="only cases whose name has WORD")
    word = parser.parse_args().only.lower()
    try:
        check_built()
    except SlateError as error:
        print(error, file=sys.stderr)
        return 1
    shutil.rmtree(KEEP, ignore_errors=True)
    suite = word.partition(".")[0]
    program = suite.removeprefix("core-") if suite.removeprefix("core-") in programs() else ""
    jobs = [(blk,)] * (not suite.startswith("core-")) + [(core, program)] * (not suite.startswith("blk"))
    number, good = 1, True
    with ThreadPoolExecutor(2) as pool:
        for cases in pool.map(lambda job: tried(*job), jobs):
            wanted = [case for case in cases if word in case.name.lower() or not case.passed]
            say(wanted, number)
            number += len(wanted)
            good &= all(case.passed for case in wanted)
    print(f"1..{number - 1}")
    if number == 1:
        print(f"no case has '{word}' in its name: see tests/kunit/programs.h and blk.c", file=sys.stderr)
        return 1
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
