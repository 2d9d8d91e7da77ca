# SPDX-License-Identifier: GPL-2.0-or-later
"""'slate cuts' cuts the power under a work (cutwork.py), again and again, and checks the data
afterwards.

Cuts come in groups of GROUP. A group is one guest: an aged drive as the work's 'make' left it, and
the work, recorded with its content up to the group's latest cut, which QEMU makes.
Each cut is then made on a copy of that first drive by slate-replay, which replays the recording
up to the cut's nanosecond of the drive's clock; for the latest cut the two files must be equal,
byte for byte. Then a guest runs the work's 'check' on the drives, as many in a boot as ROOM has
space for, with what the work had announced before each cut. A cut is determined by the profile,
the work, the seed and its number. Its id, SEED:NUMBER, repeats it.

The cuts' times are random, or the user's (--cut-at, cutwhen.py). The latter may be relative to an announcement, so
the guest then runs to the end of the span, and its recording tells when the announcement was made.

Cost: for each cut, a copy of the drive (0.2 s of CPU time for 300 MiB) and a check by the guest
(0.1 s); for each group, two to five boots of 3 s. So cuts of small drives are cheap.

The log has a line of JSON for each cut. A run that was stopped goes on after the last one.
"""

from __future__ import annotations

import argparse
import csv
import dataclasses
import json
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from . import (
    command,
    cutfigures,
    cutkinds,
    cutlog,
    cutreport,
    cutshrink,
    cutstates,
    cutsurvey,
    cutvanish,
    cutwhen,
    cutwork,
    guests,
    paths,
)
from .boot import Boot, boot
from .drives import check_profile
from .errors import JOB_FAILED, OK, MachineError, SlateError, plain, quoted
from .options import APPS_MEM_MIN, RunOptions, set_kernel
from .powercut import CUT, ENDED, Plan
from .shape import Json
from .values import add_set_argument, check_settings, number, share
from .work import Script

SCRIPTS = paths.GUEST_TOOLS / "jobs"
GROUP = 64
ROOM = 5 << 30  # bytes of drive files at once
EVENTS = (2 * 16384 + 96, 2 * 16384 + 4096)  # where a drive file has the persistent events (SPEC.md, "Image")
EARLIEST_NS = 20_000_000  # after the job's start, when the file system is mounted
CHECK_SECONDS = 60  # of guest time, for one drive
OPTIONAL = ("unflushed", "taken", "second_cut_ns", "announced_after", "states", "bad")  # in a line of some kinds
_SHELL_FAILED = re.compile(r"^(?:\./)?check: (?:line )?\d+: .*\n+status 2\n\Z", re.MULTILINE)
_STATUS = re.compile(r"^status (\d+)\n\Z", re.MULTILINE)
_JOB_START = re.compile(r"^SLATE-PHASE job-start ([0-9.]+)", re.MULTILINE)
_ID = re.compile(r"(\d+):(\d+)")

EXAMPLES = """\
examples:
  slate cuts --count 100 --seed 1                    a hundred cuts of the profile small
  slate cuts --fs xfs --profile default
  slate cuts --ready sqlite:wal-full                 SQLite; host-tools/guest/cuts has others
  slate cuts --work work.sh --check check.sh         a work of your own (docs/power-cuts.md)
  slate cuts --work work.sh --check check.sh --cut-at mark:commit-2+200us
  slate cuts --id 1:17                               repeats one cut
  slate cuts report                                  the latest campaign's log as a text and a page
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of 'slate cuts'."""
    parser.add_argument("report", nargs="*", metavar="report [LOG]", help="make a text and a page of a campaign's log "
                        "(default: the one that --log, --profile and --seed name)")  # fmt: skip
    parser.add_argument("--html", nargs="?", const="", metavar="FILE", help="with report: only the page (default: "
                        "LOG's name with .html)")  # fmt: skip
    parser.add_argument("--text", action="store_true", help="with report: only the text")
    parser.add_argument("--count", metavar="N", help="number of cuts (default 100)")
    parser.add_argument("--seed", metavar="N", default="1", help="seed of the work and the cuts' times (default 1)")
    parser.add_argument("--profile", metavar="NAME|FILE", help="the drive (default: small)")
    parser.add_argument(
        "--kernel",
        metavar="NAME|FILE",
        help="small (default with ext4; boots in half the time, 'make guest-kernel' builds it), debian, or a bzImage "
        "or vmlinux of your own; an id names a different cut with each",
    )
    cutwork.add_arguments(parser)
    parser.add_argument("--modules", metavar="DIR", help="modules of --kernel FILE (docs/kernels.md)")
    parser.add_argument("--guest", metavar="NAME", help="another guest than the default; it makes other cuts of an id")
    add_set_argument(parser)
    parser.add_argument(
        "--age", metavar="N", default="1", help="age the drive by N times its capacity first (default 1)"
    )
    parser.add_argument(
        "--span", metavar="SEC", default="1", help="cut within this many seconds of guest time (default 1)"
    )
    parser.add_argument(
        "--kind", metavar="NAME", default="off",
        help="what a cut takes: " + "; ".join(f"{name}: {kind.what}" for name, kind in cutkinds.KINDS.items()),
    )  # fmt: skip
    parser.add_argument(
        "--cut-at", metavar="T[,T...]",
        help="cut at these times in place of random ones: of the drive's clock, as 1.5s or 1500000001ns, or relative "
        "to the announcement WORDS, as mark:WORDS+200us or mark:WORDS-1ns",
    )  # fmt: skip
    parser.add_argument(
        "--log", metavar="FILE", help="a line of JSON for each cut (default: out/cuts-PROFILE-SEED.jsonl)"
    )
    parser.add_argument(
        "--stop", action="store_true", help="stop after a cut that lost data"
    )
    parser.add_argument("--id", metavar="SEED:NUMBER", help="do this cut only, and keep no log")
    parser.add_argument(
        "--shrink", action="store_true",
        help="with --id: find the first bad nanosecond, and the smallest set of lost writes that explains it",
    )  # fmt: skip
    parser.add_argument("--take", metavar="N[,N...]", help="with --cut-at: lose the unflushed writes and trims with "
                        "these numbers, as --shrink prints them")  # fmt: skip
    parser.add_argument("--states", metavar="N", help="with --kind subset: check up to N different states of each cut, "
                        "all if it has no more; with --survey: cut so often at each time (2 to 4096)")  # fmt: skip
    parser.add_argument("--survey", metavar="TRACE", help="cut a replay of this content trace, and count which "
                        "of the states that NVMe allows the drive leaves")  # fmt: skip
    parser.add_argument("--timeout", metavar="SEC", default="900", help="end a boot that takes longer (default 900)")
    parser.add_argument("--keep", metavar="DIR", help="with --id: keep the drive and the consoles in this folder")


@dataclasses.dataclass(frozen=True)
class Moment:
    """Holds a cut's id and its time."""

    id: str
    plan: Plan

    @property
    def at_ns(self) -> int:
        """Return the time of the cut on the drive's clock; the plans of a campaign have no other kind."""
        assert self.plan.at_ns is not None
        return self.plan.at_ns

    def line(self, power: Json, operations: int, said: str, seconds: float) -> Json:
        """Return the cut's line of the log."""
        verdict = verdict_of(said)
        good = verdict == cutwork.VERDICTS[0]
        return {
            "id": self.id,
            "good": good,
            "verdict": verdict,
            "cut_ns": power["cut-ns"],
            "operations": operations,
            "lost_requests": power["lost-requests"],
            **{key: power[key] for key in OPTIONAL if key in power},
            "torn_programs": power["torn-programs"],
            "torn_erases": power["torn-erases"],
            "gc_runs": power["gc-runs"],
            "said": "" if good else said[-2000:],
            "seconds": round(seconds, 1),
        }


@dataclasses.dataclass(frozen=True)
class Recorded:
    """Holds what a guest did: its seed, its requests, and what it announced."""

    seed: int
    trace: Path
    report: bytes


@dataclasses.dataclass
class Campaign:
    """Holds the properties shared by all cuts."""

    base: RunOptions
    workload: cutwork.Workload
    seed: int
    span_ns: int
    folder: Path
    origin: Path  # the drive that 'make' left
    at: tuple[cutwhen.When, ...] = ()  # the user's times; else they are random
    kind: cutkinds.Kind = cutkinds.KINDS["off"]
    words: tuple[str, ...] = ()  # the options that repeat its cuts
    states: int = 1  # of each cut that are checked, with the kind subset
    job_start_ns: int = 0

    def options(self, name: str, drive: Path, files: dict[str, bytes], **environment: object) -> RunOptions:
        """Return the options of a boot with one of the scripts, and further files for it."""
        script = SCRIPTS / f"cuts-{name}.sh"
        return dataclasses.replace(
            self.base,
            drive=drive,
            work=Script(script, script.read_text(encoding="utf-8")),
            programs=self.workload.programs | files,
            environment=self.workload.environment | {key: str(value) for key, value in environment.items()},
        )

    def prepare(self) -> None:
        """Make the drive with which every cut begins."""
        self.base.root = self.folder / "root"
        self.base.root.write_bytes(root_of(self.workload, self.base.kernel))
        found = boot(self.options("make", self.origin, {}), self.folder)
        files_of(found, "while the drive was prepared")
        start = _JOB_START.search(found.console)
        if not start:
            raise MachineError(f"the drive could not be prepared{found.last_words()}")
        self.job_start_ns = round(float(start[1]) * 1e9)

    def moment(self, index: int, at_ns: int | None = None) -> Moment:
        """Return a cut, by number; at_ns None: at a random time."""
        chance = random.Random(f"slate cuts {self.seed}:{index}")
        by_chance = self.job_start_ns + EARLIEST_NS + chance.randrange(self.span_ns)
        seed = chance.randrange(1 << 32)
        return Moment(f"{self.seed}:{index}", Plan(at_ns=by_chance if at_ns is None else at_ns, seed=seed))

    def when(self, index: int) -> cutwhen.When:
        """Return the user's time of a cut. If there is one time, the number selects the content of torn cells alone."""
        return self.at[index if len(self.at) > 1 else 0]

    def end(self) -> Moment:
        """Return the cut that ends the guest if the user named the times of the others."""
        named = [when.ns for when in self.at if not when.mark]
        end_ns = max([self.job_start_ns + EARLIEST_NS + self.span_ns, *named])
        return Moment("at the end of the span", Plan(at_ns=end_ns, seed=self.seed))

    def group(self, number: int, indices: range) -> Iterator[Json]:
        """Return the log's lines for some cuts of a group."""
        if self.at:
            end = self.end()
            work = self.work(number, end)
            times = {index: cutwhen.resolve(self.when(index), work.report, end.at_ns) for index in indices}
            wanted = [self.moment(*one) for one in times.items()]
        elif self.kind.lives:  # each of its cuts has a guest of its own
            work = Recorded(self.seed_of(number), self.folder / "none", b"")
            wanted = [self.moment(index) for index in indices]
        else:
            moments = [self.moment(index) for index in range(number * GROUP, (number + 1) * GROUP)]
            work = self.work(number, max(moments, key=lambda moment: moment.at_ns))
            wanted = [moments[index - number * GROUP] for index in indices]
        step = min(self.workload.per_boot, drives_at_once(self.origin.stat().st_blocks * 512))
        for at in range(0, len(wanted), step):
            yield from self.batch(work, wanted[at : at + step])

    def lines(self, begin: int, end: int) -> Iterator[Json]:
        """Return the log's lines for these cuts."""
        for group in range(begin // GROUP, (end + GROUP - 1) // GROUP):
            first = group * GROUP
            yield from self.group(group, range(max(begin, first), min(end, first + GROUP)))

    def seed_of(self, group: int) -> int:
        """Return the seed of a group's work."""
        return random.Random(f"slate cuts {self.seed} group {group}").randrange(1 << 31)

    def work(self, group: int, last: Moment) -> Recorded:
        """Run the guest that the cuts of a group interrupt, up to the last of them."""
        seed = self.seed_of(group)
        trace, drive = self.folder / "work.content", self.folder / "work.slate"
        trace.unlink(missing_ok=True)
        copy_sparse(self.origin, drive)
        options = self.options("work", drive, {}, CUTS_SEED=seed)
        found = boot(dataclasses.replace(options, record_content=trace), self.folder, last.plan)
        keep_console(self.folder, "work")
        if found.reason != CUT:
            raise MachineError(
                f"cut {last.id}: the guest ended by itself before it (reason: {found.reason}){found.last_words()}"
            )
        work = Recorded(seed, trace, found.results)
        copy, power = self.replay(work, last, "last")
        keys = ("cut-ns", "lost-requests", "torn-programs", "torn-erases")
        if any(power[key] != found.power[key] for key in keys) or not same_drives(copy, drive):
            raise MachineError(
                f"cut {last.id}: the drive in QEMU and the replay of its recording differ: "
                f"{[found.power[key] for key in keys]}, {[power[key] for key in keys]} {keys}",
                f"report it; {paths.short(self.folder)} has both drives if --keep is given",
            )
        return work

    def replay(self, work: Recorded, moment: Moment, name: str, *more: str) -> tuple[Path, Json]:
        """Copy the first drive, and cut the copy. Returns it with the replay's account of the cut."""
        drive = self.folder / f"{name}.slate"
        copy_sparse(self.origin, drive)
        report = replayed(moment, "--drive", drive, "--open", "--cut-at", moment.at_ns, "--cut-seed", moment.plan.seed,
                          *more, "--json", "-", work.trace)  # fmt: skip
        return drive, report["power"] | {"gc-runs": report["gc"]["calls"]}

    def take(self, work: Recorded, moment: Moment, losses: list[cutkinds.Loss], name: str) -> Path:
        """Copy the first drive, and make it as if, of all requests until the cut, only `losses` had been lost.

        All others are there, also on a drive that ignores flushes, which counts as an honest one meanwhile.
        """
        drive, lose = self.folder / f"{name}.slate", self.folder / f"{name}.lose"
        copy_sparse(self.origin, drive)
        lose.write_text(cutkinds.text(losses), encoding="utf-8")
        replayed(moment, "--drive", drive, "--set", "drive.ignore_flush=no", "--closed", 1, "--until", moment.at_ns,
                 "--lose", lose, "--json", "-", work.trace)  # fmt: skip
        return drive

    def cut(self, work: Recorded, moment: Moment, name: str) -> tuple[Path, Json, list[bytes]]:
        """Make a drive as a cut of this kind leaves it. Returns it, the account of the cut, and what was announced."""
        kind, lines = self.kind, cutwhen.announced(work.report, moment.at_ns)
        if kind.lives:
            return cutvanish.cut(self, work.seed, moment, name)
        if not kind.choose:
            return *self.replay(work, moment, name, *kind.replay), lines
        _, power = self.replay(work, moment, name, "--unflushed", *self.lies())
        chance = random.Random(f"slate cuts {moment.plan.seed} takes")
        losses = kind.choose(chance, power["unflushed"], power["atomic_bytes"])
        drive = self.take(work, moment, losses, name)
        return drive, power | {"unflushed": len(power["unflushed"]), "taken": len(losses)}, lines

    def batch(self, work: Recorded, moments: list[Moment]) -> list[Json]:
        """Check some cuts in one guest."""
        if self.states > 1:
            return [cutstates.line(self, work, moment) for moment in moments]
        began = time.monotonic()
        cuts = [self.cut(work, moment, f"cut{at}") for at, moment in enumerate(moments)]
        drives, lists = [drive for drive, _, _ in cuts], [lines for _, _, lines in cuts]
        if self.kind.twice:
            for (_, power, _), second in zip(cuts, self.cut_checks(work, moments, drives, lists)):
                power["second_cut_ns"] = second
        said = self.check(work, drives, lists, f"in the check of cut {moments[0].id}")
        seconds = (time.monotonic() - began) / len(moments)
        return [
            moment.line(power, len(lines), words, seconds)
            for moment, (_, power, lines), words in zip(moments, cuts, said)
        ]

    def shrink(self, index: int, words: list[str]) -> cutshrink.Account | None:
        """Explain a cut whose check fails; None: its check does not fail. words: the campaign's options."""
        last = self.end() if self.at else max((self.moment(at) for at in range(index // GROUP * GROUP,
                                               (index // GROUP + 1) * GROUP)), key=lambda one: one.at_ns)  # fmt: skip
        work = self.work(index // GROUP, last)
        at_ns = cutwhen.resolve(self.when(index), work.report, last.at_ns) if self.at else None
        bad = self.moment(index, at_ns)

        def verdicts(times: list[int]) -> list[bool]:
            moments = [dataclasses.replace(bad, plan=dataclasses.replace(bad.plan, at_ns=ns)) for ns in times]
            lines = self.batch(work, moments)
            found = [not line["good"] for line in lines]
            print(f"shrink    {times[0]} to {times[-1]} ns: {sum(found)} of {len(found)} bad", flush=True)
            return found

        begin_ns = self.job_start_ns
        (first, line) = (verdicts([begin_ns])[0], self.batch(work, [bad])[0])
        if line["good"]:
            return None
        if first:
            raise MachineError(f"cut {bad.id}: the check fails at {begin_ns} ns, too, before the work has begun",
                               "let --check accept a drive as --make leaves it")  # fmt: skip
        found_ns = cutshrink.first_bad(begin_ns, bad.at_ns, verdicts)
        moment = dataclasses.replace(bad, plan=dataclasses.replace(bad.plan, at_ns=found_ns))
        return self.explain(work, moment, words)

    def explain(self, work: Recorded, moment: Moment, words: list[str]) -> cutshrink.Account:
        """Find the smallest loss that explains a bad cut."""
        (line,) = self.batch(work, [moment])
        unflushed, lost = self.losses(work, moment)
        durable = cutwhen.announced(work.report, moment.at_ns)

        def are_bad(tried: list[list[Json]]) -> list[bool]:
            found: list[bool] = []
            for at in range(0, len(tried), cutshrink.WIDTH):
                part = tried[at : at + cutshrink.WIDTH]
                drives = [self.take(work, moment, [cutkinds.Loss(one["request"]) for one in losses], f"take{number}")
                          for number, losses in enumerate(part)]  # fmt: skip
                said = self.check(work, drives, [durable] * len(part), "while a cut is shrunk")
                found += [verdict_of(one) != cutwork.VERDICTS[0] for one in said]
            print(f"shrink    {len(tried)} states with {min(map(len, tried))} to {max(map(len, tried))} lost: "
                  f"{sum(found)} bad", flush=True)  # fmt: skip
            return found

        explained = bool(lost) and are_bad([lost])[0]
        least = cutshrink.smallest(lost, are_bad) if explained else None
        again = ["slate", "cuts", *words, "--id", moment.id, "--cut-at", f"{moment.at_ns}ns"]
        numbers = ",".join(str(one["request"]) for one in least or [])
        marks = [(plain(said.decode(errors="replace")), ns) for said, ns in cutwhen.lines(work.report)]
        return cutshrink.Account(
            moment.id, line["verdict"], line["said"], moment.at_ns, unflushed, lost, least, marks, shlex.join(again),
            shlex.join([*again, "--kind", "off", "--take", numbers]) if least else None,
            self.requests(work, moment),
        )  # fmt: skip

    def requests(self, work: Recorded, moment: Moment) -> list[Json]:
        """Return the last requests until a cut."""
        drive, rows = self.folder / "requests.slate", self.folder / "requests.csv"
        copy_sparse(self.origin, drive)
        replayed(moment, "--drive", drive, "--ephemeral", "--open", "--csv", rows, "--json", "-", work.trace)
        drive.unlink()
        with open(rows, encoding="utf-8") as file:
            return cutfigures.csv_rows(csv.DictReader(file), moment.at_ns, cutshrink.DRAWN)

    def lies(self) -> tuple[str, ...]:
        """Return the option of slate-replay with which nothing is durable, if the drive ignores flushes."""
        return ("--no-flush",) if "drive.ignore_flush=yes" in self.base.settings else ()

    def losses(self, work: Recorded, moment: Moment) -> tuple[list[Json], list[Json]]:
        """Return the unflushed requests at a cut, and those of them that the kind of cut loses.

        A drive that ignores flushes has made nothing durable, so all requests count.
        """
        _, power = self.replay(work, moment, "look", "--survivors", *self.lies(), *self.kind.replay)
        unflushed = power["unflushed"]
        if not self.kind.choose:
            return unflushed, cutshrink.lost_of(unflushed)
        chance = random.Random(f"slate cuts {moment.plan.seed} takes")
        taken = {loss.request for loss in self.kind.choose(chance, unflushed, power["atomic_bytes"])}
        return unflushed, [one for one in unflushed if one["request"] in taken]

    def check(
        self, work: Recorded, drives: list[Path], lists: list[list[bytes]], when: str, recorded: bool = False
    ) -> list[str]:
        """Run the work's check on drives, in one guest. Returns what it said of each.

        recorded: record the requests of each to DRIVE.content.
        """
        files = {f"durable-{at}": b"".join(lines) for at, lines in enumerate(lists, 1)}
        options = self.options("check", drives[0], files, CUTS_SEED=work.seed, CUTS_LIMIT=CHECK_SECONDS)
        options = dataclasses.replace(options, record_content=content_of(drives[0]) if recorded else None, qemu_args=[])
        for at, drive in enumerate(drives[1:], 2):
            node = {"driver": "nand-ssd", "node-name": f"ssd{at}", "drive-file": str(drive)}
            node |= {"record-content": str(content_of(drive))} if recorded else {}
            options.qemu_args += ["-blockdev", command.keyval(**node), "-device", f"nvme-ns,drive=ssd{at},nsid={at}"]
        found = boot(options, self.folder)
        keep_console(self.folder, "check")
        said = files_of(found, when)
        return [plain(said.get(f"check-{at}.txt", "the guest did not look at it")) for at in range(1, len(drives) + 1)]

    def cut_checks(
        self, work: Recorded, moments: list[Moment], drives: list[Path], lists: list[list[bytes]]
    ) -> list[int | None]:
        """Let the check write to the drives, and cut each within one of these writes; returns the times.

        None: the check did not write.
        """
        before = [drive.with_suffix(".before") for drive in drives]
        for drive, copy in zip(drives, before):
            copy_sparse(drive, copy)
        self.check(work, drives, lists, f"in the first check of cut {moments[0].id}", recorded=True)
        return [self._cut_check(*one) for one in zip(moments, drives, before)]

    def _cut_check(self, moment: Moment, drive: Path, before: Path) -> int | None:
        trace, rows = content_of(drive), drive.with_suffix(".csv")
        replayed(moment, "--drive", before, "--ephemeral", "--open", "--csv", rows, "--json", "-", trace)
        with open(rows, encoding="utf-8") as file:
            writes = [row for row in csv.DictReader(file) if row["op"] == "write"]
        before.replace(drive)
        if not writes:
            return None
        chance = random.Random(f"slate cuts {moment.plan.seed} again")
        write = chance.choice(writes)
        at_ns = int(write["submit_ns"]) + chance.randint(0, int(write["latency_ns"]))
        replayed(moment, "--drive", drive, "--open", "--cut-at", at_ns, "--cut-seed", chance.randrange(1 << 32),
                 "--json", "-", trace)  # fmt: skip
        trace.unlink()
        return at_ns


def content_of(drive: Path) -> Path:
    """Return the name of a drive's recording."""
    return drive.with_suffix(".content")


def replayed(moment: Moment, *words: object) -> Json:
    """Run slate-replay and return its report."""
    program = [str(paths.program("slate-replay")), *map(str, words)]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    if done.returncode:
        raise MachineError(f"cut {moment.id}: slate-replay failed: {done.stderr.strip()}")
    found: Json = json.loads(done.stdout)
    return found


def verdict_of(said: str) -> str:
    """Return the verdict of a check, by the status in the last line of what it said.

    A shell ends with status 2 when it cannot execute a script; its last line then begins with the script's name.
    """
    status = _STATUS.search(said)
    at = int(status[1]) if status else len(cutwork.VERDICTS)
    if at == 2 and _SHELL_FAILED.search(said):
        return cutwork.FAILED
    return cutwork.VERDICTS[at] if at < len(cutwork.VERDICTS) else cutwork.FAILED


def root_of(workload: cutwork.Workload, kernel: str) -> bytes:
    """Return the guest's files that a work needs, uncompressed: with few files a boot is a third cheaper."""
    return b"".join(needed(path, workload) for path in paths.archives(kernel))


def needed(archive: Path, workload: cutwork.Workload) -> bytes:
    """Return a cpio archive, uncompressed, without the files that a work does not need."""
    done = subprocess.run(["lz4", "-dc", archive], capture_output=True, check=False)
    if done.returncode:
        raise SlateError(f"lz4 can not unpack {paths.short(archive)}", paths.make("guest"))
    data, kept, at, name = done.stdout, [], 0, ""
    while name != "TRAILER!!!":  # "newc": a head of 110 bytes in hexadecimal, the name, the content
        size, name_size = int(data[at + 54 : at + 62], 16), int(data[at + 94 : at + 102], 16)
        name = data[at + 110 : at + 109 + name_size].decode()
        content = at + (110 + name_size + 3 & ~3)
        end = content + (size + 3 & ~3)
        if workload.needs(name):
            kept.append(data[at:end])
        at = end
    return b"".join(kept)


def drives_at_once(file_bytes: int) -> int:
    """Return how many drives one boot checks; file_bytes: size of a drive file on the disk."""
    return max(1, min(GROUP, ROOM // max(1, file_bytes)))


def keep_console(folder: Path, name: str) -> None:
    """Keep the console under another name, because the next boot makes a new one."""
    (folder / "console").replace(folder / f"{name}.console")


def copy_sparse(source: Path, target: Path) -> None:
    """Copy a drive file and keep its holes."""
    target.unlink(missing_ok=True)
    done = subprocess.run(
        ["cp", "--sparse=always", "--reflink=auto", source, target], stderr=subprocess.PIPE, text=True, check=False
    )
    if done.returncode:
        target.unlink(missing_ok=True)
        raise SlateError(f"the drive was not copied: {done.stderr.strip()}", "make room there, or set TMPDIR")


def same_drives(one: Path, other: Path) -> bool:
    """Are two drive files equal, apart from the events of the controller's log, which a replay does not have?"""
    parts = (["-n", str(EVENTS[0])], ["-i", str(EVENTS[1])])
    return not any(subprocess.run(["cmp", "-s", *part, one, other], check=False).returncode for part in parts)


def files_of(found: Boot, when: str) -> dict[str, str]:
    """Return the files that a guest sent at its end. Its script must have succeeded."""
    import results  # host-tools/guest

    if found.reason != ENDED:
        raise MachineError(f"the guest did not end well {when} (reason: {found.reason}){found.last_words()}")
    try:
        files, status = results.parse_results(found.results)
    except ValueError as error:
        raise MachineError(f"{error}, {when}{found.last_words()}") from None
    if status:
        raise MachineError(f"the guest's script failed with status {status} {when}{found.last_words()}")
    return {name: content.decode(errors="replace") for name, content in files.items()}


def header(campaign: Campaign) -> Json:
    """Return the properties shared by the cuts of a log. A campaign continues only its own log."""
    return {
        "slate_cuts": cutlog.VERSION,
        **campaign.workload.facts,
        "profile": paths.short(campaign.base.profile or ""),
        "settings": campaign.base.settings,
        "age": campaign.base.age,
        "seed": campaign.seed,
        "span_ns": campaign.span_ns,
        **({"cut_at": [str(when) for when in campaign.at]} if campaign.at else {}),
        **({"kind": kind_name(campaign.kind)} if campaign.kind is not cutkinds.KINDS["off"] else {}),
        **({"states": campaign.states} if campaign.states > 1 else {}),
        **({"guest": paths.GUEST.name} if paths.GUEST.name != paths.DEFAULT_GUEST else {}),
        **_kernel_facts(campaign.base),
        "repeat": shlex.join(["slate", "cuts", *campaign.words]),
    }


def _kernel_facts(base: RunOptions) -> Json:
    """Return what the header says of the kernel: nothing of the default."""
    if base.own_kernel:
        return {"kernel": base.own_kernel.image.release, "kernel_sha256": base.own_kernel.sha256}
    return {"kernel": base.kernel} if base.kernel != "small" else {}


def kind_name(kind: cutkinds.Kind) -> str:
    """Return the name of a kind."""
    return next((name for name, one in cutkinds.KINDS.items() if one is kind), kind.what)


# ---- the command


def times_of(args: argparse.Namespace) -> tuple[cutwhen.When, ...]:
    """Return the times of --cut-at; none: they are drawn."""
    return cutwhen.parse(args.cut_at, GROUP) if args.cut_at else ()


def campaign_of(args: argparse.Namespace, folder: Path) -> Campaign:
    """Check the arguments, then what is built, and return the campaign."""
    seed = int(number("seed", args.seed, 0, 2**31 - 1))
    span = round(number("span", args.span, 0.001, 1000, float) * 1e9)
    at, states = times_of(args), states_of(args)
    if args.guest is not None:
        guests.choose(args.guest)
    kind = cutkinds.given(args.take) if args.take else cutkinds.find(args.kind)
    words = options_of(args)
    args.set = [*args.set, *kind.settings]
    check_settings(args.set)
    base = RunOptions(
        profile=check_profile(args.profile or "small"),
        fill=100,
        age=share("age", args.age, 1000, 3),
        settings=args.set,
        timeout=number("timeout", args.timeout, 1, 1e7, float),
    )
    workload = cutwork.from_arguments(args)
    base.mem = APPS_MEM_MIN if workload.apps else 400 << 20
    base.apps = workload.apps
    args.kernel = args.kernel or workload.kernel
    set_kernel(base, args)
    workload.check_kernel(base.own_kernel)
    if base.kernel == "small" and not paths.KERNELS["small"].exists():
        raise SlateError(
            "the small kernel has not been built", f"{paths.make('guest-kernel')}, or use --kernel debian"
        )
    command.check_built(base)
    return Campaign(base, workload, seed, span, folder, folder / "origin.slate", at, kind, tuple(words),
                    states)  # fmt: skip


def states_of(args: argparse.Namespace) -> int:
    """Return how many states of each cut are checked."""
    if not args.states:
        return 1
    if not args.survey and (args.kind != "subset" or args.shrink):
        raise SlateError("--states: counts subsets of unflushed writes", "add --kind subset, and leave --shrink out")
    return int(number("states", args.states, 2, 4096))


def one(args: argparse.Namespace) -> int:
    """Repeat one cut by its id."""
    match = _ID.fullmatch(args.id)
    if not match:
        raise SlateError(f"--id {args.id}: not SEED:NUMBER", "for instance --id 1:17")
    args.seed, index, times = match[1], int(match[2]), len(times_of(args))
    if times > 1 and index >= times:
        raise SlateError(f"--id {args.id}: --cut-at names {times} time(s), from {args.seed}:0 on", "name one of these")
    folder = Path(args.keep) if args.keep else Path(tempfile.mkdtemp(prefix="slate-cuts-"))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        campaign = campaign_of(args, folder)
        campaign.prepare()
        if args.shrink:
            account = campaign.shrink(index, options_of(args))
            if account:
                keep_account(log_of(args), header(campaign), account)
            return explained(account, args.id)
        (line,) = campaign.group(index // GROUP, range(index, index + 1))
    finally:
        if not args.keep:
            shutil.rmtree(folder, ignore_errors=True)
    said = line.pop("said")
    print(json.dumps(line, indent=1))
    print(said, end="")
    return OK if line["good"] else JOB_FAILED


def log_of(args: argparse.Namespace) -> Path:
    """Return the name of a campaign's log."""
    return Path(args.log or paths.OUT / f"cuts-{check_profile(args.profile or 'small').stem}-{int(args.seed)}.jsonl")


def keep_account(log: Path, head: Json, account: cutshrink.Account) -> None:
    """Add an account to the file beside the campaign's log, if there is one."""
    if cutlog.is_of(log, head):
        path = cutlog.accounts_of(log)
        cutlog.append(path, dataclasses.asdict(account))
        print(f"shrink    kept in {paths.short(path)} for 'slate cuts report'")


def explained(account: cutshrink.Account | None, cut: str) -> int:
    """Print the account of a cut."""
    if account is None:
        print(f"cut {cut} is good: there is nothing to explain")
        return OK
    print(account.text(), end="")
    return JOB_FAILED


def options_of(args: argparse.Namespace) -> list[str]:
    """Return the options that repeat a campaign's cuts, without those of their times."""
    names = ("profile", "kernel", "modules", "guest", "fs", "ready", "work", "check", "make", "age", "span", "per_boot",
             "states")  # fmt: skip
    words = [word for name in names if getattr(args, name)
             for word in (f"--{name.replace('_', '-')}", str(getattr(args, name)))]  # fmt: skip
    words += [word for name in args.file for word in ("--file", name)] + ["--apps"] * args.apps
    words += [word for setting in args.set for word in ("--set", setting)]
    return [*words, "--seed", args.seed, *(["--take", args.take] if args.take else ["--kind", args.kind])]


def many(args: argparse.Namespace) -> int:
    """Make the campaign's cuts, except those that are in its log already."""
    if args.cut_at and args.count:
        raise SlateError("--count with --cut-at: there are as many cuts as times", "leave --count out")
    count = int(number("count", args.count or "100", 1, 10**6))
    with tempfile.TemporaryDirectory(prefix="slate-cuts-") as folder:
        campaign = campaign_of(args, Path(folder))
        count = len(campaign.at) or count
        log = log_of(args)
        cuts = cutlog.read_log(log, header(campaign))
        if not cuts:
            log.parent.mkdir(parents=True, exist_ok=True)
            log.write_text(json.dumps(header(campaign)) + "\n", encoding="utf-8")
        elif len(cuts) < count:
            print(f"cuts      {len(cuts)} are in {paths.short(log)} already")
        if len(cuts) < count:
            campaign.prepare()
        for line in campaign.lines(len(cuts), count):
            cutlog.append(log, line)
            cuts.append(line)
            show(line, count)
            if args.stop and not line["good"]:
                break
    print(cutlog.summary(cuts[:count], campaign.kind), end="")
    return OK if all(cut["good"] for cut in cuts[:count]) else JOB_FAILED


def show(line: Json, count: int) -> None:
    """Show progress with a line for each cut."""
    number_of = int(line["id"].partition(":")[2]) + 1
    verdict = "all there" if line["good"] else line["verdict"].upper()
    print(
        f"cuts      {number_of:>4}/{count}  {line['id']:<8} at {line['cut_ns'] / 1e6:11.6f} ms  "
        f"{line['operations']:>5} durable, {line['lost_requests']:>2} in flight, "
        f"{line['torn_programs']} torn  {verdict:<12} {line['seconds']:5.1f} s"
    )
    if not line["good"]:
        print(quoted(line["said"].rstrip().splitlines())[1:])
    sys.stdout.flush()


def run(args: argparse.Namespace) -> int:
    """Execute 'slate cuts'."""
    if args.report:
        return cutreport.run(args, log_of(args))
    if args.html is not None or args.text:
        raise SlateError("--html and --text are for 'slate cuts report'", "leave them out")
    if args.cut_at == "":
        raise SlateError("--cut-at is empty", "give times such as 120ms, or mark:WORDS+200us")
    if args.survey:
        for name in ("fs", "ready", "work", "check", "make", "id", "cut_at", "take", "keep", "log"):
            if getattr(args, name):
                raise SlateError(f"--{name.replace('_', '-')} with --survey: it replays a recording, without a guest",
                                 "leave one of them out")  # fmt: skip
        return cutsurvey.run(args, states_of(args))
    if args.stop and args.id:
        raise SlateError("--stop with --id: that is one cut alone", "leave one of them out")
    if args.shrink and not args.id:
        raise SlateError("--shrink without --id", "name the cut whose check fails: --id SEED:NUMBER")
    if args.shrink and cutkinds.find(args.kind).lives:
        raise SlateError(f"--shrink with --kind {args.kind}: each cut has a guest of its own",
                         "use --kind off: the drive has lost the same")  # fmt: skip
    if args.take and not args.cut_at:
        raise SlateError("--take without --cut-at: its numbers are of one time", "name that time with --cut-at")
    if args.take and args.kind != "off":
        raise SlateError(f"--take with --kind {args.kind}: both say what is lost", "leave one of them out")
    if args.keep and not args.id:
        raise SlateError("--keep without --id", "name the cut that you want to look at: --id SEED:NUMBER")
    return one(args) if args.id else many(args)
