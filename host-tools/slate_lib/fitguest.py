# SPDX-License-Identifier: GPL-2.0-or-later
"""'slate fit --guest' measures the numbers of a sheet in a guest, on the drive that was fitted to it.

Each number is measured by fio, at the sheet's queue depth, on a drive in one of three states. A
state that a number of the sheet needs is one boot of 'slate run' with a job file made here:

    empty   write_us, seq_write_mb_s, full_write_mb_s
    full    seq_read_mb_s, rand_read_iops, read_us, seq_read_us    filled in order
    aged    sustained_write_iops                         filled, and overwritten twice at random

A rate is that of a window of I/Os, in which the queue is always full. For writes it is the window
of fit.py's replay. fio can begin and end a window only by time, so the counts are divided by the
sheet's rate: a drive with that rate shows the replay's window. fio's times are whole ms.

A drive of millions of reads a second may be faster than the guest's processors with interrupts. With
--polled the rates are measured as such drives are: fio polls for completions, in batches (io_uring with
registered buffers and files), in queues without interrupts. Latencies at depth 1 are still libaio's,
whose path the sheet has.

Reads of a drive with a cached map are of half the range whose map fits the cache. The random reads
are before those at depth 1, so that the map is in memory.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import math
import sys
from dataclasses import dataclass
from pathlib import Path

from . import fioresult, fit, fitfio, fitsheet, launch, names, options, paths, runfiles
from .errors import MachineError, SlateError
from .fit import SEQ_BYTES, Drive
from .fitsheet import IO_BYTES, MB, Sheet
from .report import Report
from .rundir import RunDir
from .shape import Json
from .values import number

SMP = "4"
# A window of reads has at least so many ms, I/Os and full queues. fio's window ends with the last I/O in flight, when
# the queue is nearly empty, so the window must be long compared with the time of a full queue.
LEAST_MS, READ_IOS, QUEUES = 100, 2000, 50
RAMP_SHARE = 4  # part of a window of reads that passes before they count
QD1_IOS = {"randread": 1000, "read": 10_000, "randwrite": 200}
STATES = {"empty": ["--fill", "0"], "full": ["--fill", "100"], "aged": ["--fill", "100", "--age", "2"]}
HEAD = """\
[global]
filename=/dev/nvme0n1
direct=1
norandommap
lat_percentiles=1
clat_percentiles=0
stonewall
"""
ENGINE = ("ioengine=libaio",)
POLLED = (
    "ioengine=io_uring",
    "hipri=1",
    "fixedbufs=1",
    "registerfiles=1",
    "iodepth_batch_submit=16",
    "iodepth_batch_complete_min=1",
    "iodepth_batch_complete_max=16",
)


@dataclass(frozen=True)
class Guest:
    """Describes how the guest measures: its processors, and whether fio polls."""

    smp: int
    polled: bool = False

    def engine(self, one: Measure) -> tuple[str, ...]:
        """Return fio's options for the I/O engine that measures a value of the data sheet."""
        return POLLED if self.polled and one.depth else ENGINE

    def words(self) -> list[str]:
        """Return the options of 'slate run'."""
        queues = ["--kernel-arg", f"nvme.poll_queues={self.smp}"] if self.polled else []
        return ["--smp", str(self.smp), *queues]


@dataclass(frozen=True)
class Measure:
    """Describes how a value of a sheet is measured: the drive's state, fio's job (fitfio.JOBS), and the queue depth."""

    target: str
    state: str
    job: str
    rw: str
    depth: str | None  # key of the depth in [sheet]; None: 1


# fio runs the jobs of these numbers in this order.
MEASURES = (
    Measure("write_us", "empty", "write-qd1", "randwrite", None),
    Measure("seq_write_mb_s", "empty", "seq-write", "write", "seq_qd"),
    Measure("full_write_mb_s", "empty", "full-write", "write", "seq_qd"),
    Measure("seq_read_mb_s", "full", "seq-read", "read", "seq_qd"),
    Measure("rand_read_iops", "full", "rand-read", "randread", "read_qd"),
    Measure("read_us", "full", "read-qd1", "randread", None),
    Measure("seq_read_us", "full", "seq-read-qd1", "read", None),
    Measure("sustained_write_iops", "aged", "sustained", "randwrite", "write_qd"),
)


# ---- the job files


def measures(sheet: Sheet, state: str) -> list[Measure]:
    """Return the values of the data sheet that are measured in this state."""
    return [one for one in MEASURES if one.state == state and one.target in sheet.targets]


def processes(depth: int, smp: int) -> int:
    """Return the most processes that share a depth equally, one for each processor."""
    return max(count for count in range(1, smp + 1) if depth % count == 0)


def window_ms(sheet: Sheet, drive: Drive, one: Measure) -> tuple[int, int]:
    """Return fio's ramp time and run time in ms, for a drive that has the sheet's rate."""
    wanted = sheet.targets[one.target]
    iops = wanted * MB / SEQ_BYTES if one.target.endswith("_mb_s") else wanted
    if one.state == "full":
        ios = max(READ_IOS, QUEUES * depth_of(one, sheet))
        span = max(LEAST_MS, math.ceil(1000 * ios / iops))
        return span // RAMP_SHARE, span
    first, count = (math.ceil(1000 * ios / iops) for ios in drive.window(one.target))
    return first, count


def depth_of(one: Measure, sheet: Sheet) -> int:
    """Return the queue depth at which a value of the data sheet is measured."""
    return sheet.qd[one.depth] if one.depth else 1


def section(one: Measure, sheet: Sheet, drive: Drive, guest: Guest) -> str:
    """Return the section of fio's job that measures a value of the data sheet."""
    sequential = one.target.endswith("_mb_s")
    lines = [f"[{one.job}]", *guest.engine(one), f"rw={one.rw}", f"bs={(SEQ_BYTES if sequential else IO_BYTES) >> 10}k"]
    if one.depth is None:
        lines += ["iodepth=1", f"number_ios={QD1_IOS[one.rw]}"]
    else:
        depth = depth_of(one, sheet)
        count = 1 if sequential else processes(depth, guest.smp)
        lines.append(f"iodepth={depth // count}")
        if count > 1:
            lines += [f"numjobs={count}", "group_reporting", f"cpus_allowed=0-{guest.smp - 1}"]
            lines.append("cpus_allowed_policy=split")
        ramp, span = window_ms(sheet, drive, one)
        lines += [f"ramp_time={ramp}ms", "time_based", f"runtime={span}ms"]
    if "read" in one.rw and (size := mapped_bytes(drive)):
        lines.append(f"size={size}")
    if one.target == "full_write_mb_s":
        lines.append(f"offset={drive.slc_bytes() // SEQ_BYTES * SEQ_BYTES}")
    return "".join(f"{line}\n" for line in lines)


def mapped_bytes(drive: Drive) -> int:
    """Return the range of reads: half of what the cached map covers; 0 if all of the map is in memory."""
    settings = drive.facts()["settings"]
    entries = int(settings["ftl.map_cache_pages"]) * int(settings["geometry.page_bytes"]) // 4
    return entries * int(settings["ftl.unit_bytes"]) // 2 >> 20 << 20


def job_text(sheet: Sheet, state: str, drive: Drive, guest: Guest) -> str:
    """Return the job file of a state."""
    how = f"{guest.smp} processors" + (f" and nvme.poll_queues={guest.smp}" if guest.polled else "")
    what = f"# {state}: numbers of the sheet {sheet.name}, made by 'slate fit --guest'. Run it with {how}.\n"
    sections = [section(one, sheet, drive, guest) for one in measures(sheet, state)]
    return "\n".join([what, HEAD, *sections])


# ---- the results


@dataclass(frozen=True)
class Found:
    """Holds a number that the guest measured, and what limited its job."""

    measure: Measure
    value: float
    limit: str
    why: str


def results(sheet: Sheet, state: str, folder: Path) -> list[Found]:
    """Return the numbers of a finished run."""
    files = runfiles.load(folder)
    limits = Report(files.device, files.fio, files.record, None, files.series).limits
    guests = {row.job: row for row in fioresult.rows(files.fio)}
    found = []
    for one in measures(sheet, state):
        if one.job not in guests:
            raise SlateError(f"{folder}: fio has no results of its job {one.job}", "run again")
        limit = limits.get(one.job)
        value = fitfio.number(folder / "fio.json", one.target, guests[one.job])
        found.append(Found(one, value, limit.name if limit else "", limit.why if limit else ""))
    return found


def rows(sheet: Sheet, found: list[Found], guest: Guest) -> list[Json]:
    """Return the numbers in the sheet's order, for files."""
    by_target = {one.measure.target: one for one in found}
    made = []
    for target in fitsheet.TARGETS:
        if one := by_target.get(target.key):
            wanted = sheet.targets[target.key]
            made.append(
                {
                    "number": target.key,
                    "unit": target.unit,
                    "depth": depth_of(one.measure, sheet),
                    "sheet": wanted,
                    "guest": round(one.value, 3),
                    "error_percent": round(100 * (one.value / wanted - 1), 2),
                    "limit": one.limit,
                    "why": one.why,
                    "engine": engine_of(guest.engine(one.measure)),
                    "run": one.measure.state,
                    "job": one.measure.job,
                }
            )
    return made


def engine_of(options: tuple[str, ...]) -> str:
    """Return the engine's name."""
    return options[0].partition("=")[2] + (", polled" if "hipri=1" in options else "")


def csv_text(made: list[Json]) -> str:
    """Return the rows as CSV."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(made[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(made)
    return text.getvalue()


# ---- the command


def run_command(sheet: Sheet, args: argparse.Namespace) -> int:
    """Execute 'slate fit --guest'. Returns the exit code."""
    profile = _profile(sheet, args.profile)
    guest = Guest(int(number("smp", args.smp or SMP, 1, options.SMP_MAX)), args.polled)
    drive = Drive(profile, {"ftl.payload": "no"})
    _check_caches(sheet, drive, profile)
    folder = RunDir(Path(args.out) if args.out else None, f"fit-{sheet.name}")
    found: list[Found] = []
    try:
        for state, words in STATES.items():
            if wanted := [one.target for one in measures(sheet, state)]:
                print(f"slate: {state} drive: {', '.join(wanted)}", file=sys.stderr, flush=True)
                job = folder.write(f"{state}.fio", job_text(sheet, state, drive, guest))
                words = [*words, "--job", str(job), *guest.words(), "--out", str(folder.path / state)]
                if args.timeout is not None:
                    words += ["--timeout", args.timeout]
                launch.quietly(["--profile", str(profile), "--set", "ftl.payload=no", *words])
                found += results(sheet, state, folder.path / state)
    except (SlateError, KeyboardInterrupt) as error:
        if not found and not isinstance(error, MachineError):  # which leaves the guest's console
            folder.discard()
        raise
    made = rows(sheet, found, guest)
    record = {"sheet": sheet.name, "profile": paths.short(profile), "smp": guest.smp, "numbers": made}
    folder.write("numbers.json", json.dumps(record, indent=1) + "\n")
    folder.write("numbers.csv", csv_text(made))
    shown = {one.measure.target: one.value for one in found}
    notes = {one.measure.target: f"{one.limit}: {one.why}" for one in found if one.limit}
    print(fit.table(sheet, shown, notes, "guest"), end="")
    polled = ", rates polled (io_uring)" if guest.polled else ""
    print(f"slate: {guest.smp} vCPUs{polled}; results in {paths.short(folder.path)}/numbers.csv and .json")
    return fit.verdict(sheet, shown)


def _profile(sheet: Sheet, word: str | None) -> Path:
    """Return the drive's profile."""
    if word:
        return names.find(word, names.PROFILE)
    shipped = paths.PROFILES / "drives" / f"{sheet.name}.ini"
    if not shipped.is_file() or sheet.path.resolve().parent != (paths.PROFILES / "sheets").resolve():
        raise SlateError(
            f"no profile is shipped for the sheet {sheet.path}",
            f"make one: slate fit {sheet.path} -o FILE; then name it: --profile FILE",
        )
    return shipped


def _check_caches(sheet: Sheet, drive: Drive, profile: Path) -> None:
    """Refuse a profile without the sheet's cache: its numbers would be those of another drive."""
    for key, setting, has in (
        ("slc_cache_permille", "ftl.slc_blocks", drive.slc_bytes()),
        ("map_cache_permille", "ftl.map_cache_pages", mapped_bytes(drive)),
    ):
        if bool(has) != (key in sheet.caches):
            here, there = (f"{sheet.path.name} has {key}", f"{profile.name} has no such cache ({setting})")
            if has:
                here, there = (f"{profile.name} has {setting}", f"{sheet.path.name} does not have {key}")
            raise SlateError(f"{here}, but {there}", "name the profile that was fitted to this sheet: --profile FILE")
