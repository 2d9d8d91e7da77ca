# SPDX-License-Identifier: GPL-2.0-or-later
"""Holds what the cuts of a campaign share, and makes one cut: the guest that a cut interrupts, and its replay.

A cut is determined by the profile, the work, the seed and its number.
"""

from __future__ import annotations

import csv
import dataclasses
import hashlib
import random
import re
import shlex
from pathlib import Path

from .. import command, paths
from ..boot import SLATES, Boot, boot
from ..drives import Drive
from ..errors import MachineError, naming, plain
from ..options import RunOptions
from ..powercut import CUT, ENDED, Plan
from ..shape import Json
from ..work import Script
from . import counts, image, kinds, logfile
from .files import (
    BY_CLOCK,
    GROUP,
    GROUP_ON_HOST,
    beside,
    content_of,
    copy_sparse,
    keep_console,
    replayed,
    same_drives,
    with_room,
)
from .times import When, commands, ends, resolve, since
from .workload import VERDICTS, Workload, root_of, verdict_of

SCRIPTS = paths.GUEST_TOOLS / "jobs"
EARLIEST_NS = 20_000_000  # after the job's start, when the file system is mounted
CHECK_SECONDS = 60  # of guest time, for one drive; on the host: of CPU time
OPTIONAL = ("unflushed", "taken", "second_cut_ns", "announced_after", "states", "bad")  # in a line of some kinds
TYPE, ZONES = "ftl.type", "zns"
_JOB_START = re.compile(r"^SLATE-PHASE job-start ([0-9.]+)", re.MULTILINE)


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

    def line(self, power: Json, durable: list[bytes], said: str, seconds: float) -> Json:
        """Return the cut's line of the log. durable: what had been announced before the cut."""
        verdict = verdict_of(said)
        good = verdict == VERDICTS[0]
        counted = {"figures": counts.of_check(said), "announced": counts.of_announced(durable)}
        return {
            "id": self.id,
            "good": good,
            "verdict": verdict,
            "cut_ns": power["cut-ns"],
            "operations": len(durable),
            "lost_requests": power["lost-requests"],
            **{key: power[key] for key in OPTIONAL if key in power},
            **{key: found for key, found in counted.items() if found},
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
    end_ns: int = 0  # when its latest cut came


@dataclasses.dataclass
class Campaign:
    """Holds the properties shared by all cuts."""

    base: RunOptions
    workload: Workload
    seed: int
    span_ns: int
    folder: Path
    origin: Path  # the drive that 'make' left; further drives are beside it
    at: tuple[When, ...] = ()  # the user's times; else they are random
    kind: kinds.Kind = kinds.KINDS["off"]
    words: tuple[str, ...] = ()  # the options that repeat its cuts
    states: int = 1  # of each cut that are checked, with the kind subset
    own: image.Image | None = None  # the user's disk image, in which the scripts run; None: they run in Slate's guest
    check_in_slate: bool = False  # the check runs in Slate's guest nevertheless
    job_start_ns: int = 0

    @property
    def recorded(self) -> bool:
        """Tell whether one recording has the requests of all cuts of a group. If not, QEMU makes each cut."""
        return not unrecorded(self.base)

    @property
    def group(self) -> int:
        """Return how many cuts a recording has."""
        return GROUP_ON_HOST if self.workload.on_host or self.own else GROUP

    def options(self, name: str, drive: Path, files: dict[str, bytes], **environment: object) -> RunOptions:
        """Return the options of a boot with one of the scripts, and further files for it."""
        script = SCRIPTS / f"cuts-{name}.sh"
        return dataclasses.replace(
            self.base,
            drive=drive,
            more=[dataclasses.replace(one, drive=beside(drive, one.number)) for one in self.base.more],
            work=Script(script, script.read_text(encoding="utf-8")),
            programs=self.workload.programs | files,
            environment=self.workload.environment | {key: str(value) for key, value in environment.items()},
        )

    def boot(self, options: RunOptions, plan: Plan | None = None) -> Boot:
        """Boot a guest."""
        guest = self.own.guest() if self.own and (plan or not self.check_in_slate) else SLATES
        with with_room(self.folder):
            return boot(options, self.folder, plan, guest)

    def prepare(self) -> None:
        """Make the drive with which every cut begins."""
        if self.own:
            self.prepare_image(self.own)
            return
        with naming(self.folder):
            self.set_root()
            found = self.boot(self.options("make", self.origin, {}))
        files_of(found, "while the drive was prepared")
        start = _JOB_START.search(found.console)
        if not start:
            raise MachineError(f"the drive could not be prepared{found.last_words()}")
        self.job_start_ns = round(float(start[1]) * 1e9)

    def set_root(self) -> None:
        """Make the files of Slate's guest."""
        self.base.root = self.folder / "root"
        self.base.root.write_bytes(root_of(self.workload, self.base.kernel))

    def prepare_image(self, own: image.Image) -> None:
        """Copy the image, and make the drive without a boot; 'make' runs in the guest of the work, before it."""
        with naming(self.folder), with_room(self.folder):
            if self.check_in_slate:
                self.set_root()
            own.copy()
            sets = [word for setting in self.base.settings for word in ("--set", setting)]
            replayed("--image", "--profile", self.base.profile, *sets, "--set", "ftl.payload=yes", "--drive",
                     self.origin, "--fill", self.base.fill, "--age", self.base.age, "--limit", 1,
                     "gen:rand4k,foot=4KiB,n=1,read=1000")  # fmt: skip

    def moment(self, index: int, at_ns: int | None = None) -> Moment:
        """Return a cut, by number; at_ns None: at a random time."""
        chance = random.Random(f"slate cuts {self.seed}:{index}")
        by_chance = self.job_start_ns + EARLIEST_NS + chance.randrange(self.span_ns)
        seed = chance.randrange(1 << 32)
        return Moment(f"{self.seed}:{index}", Plan(at_ns=by_chance if at_ns is None else at_ns, seed=seed))

    def when(self, index: int) -> When:
        """Return the user's time of a cut. If there is one time, the number selects the content of torn cells alone."""
        return self.at[index if len(self.at) > 1 else 0]

    def end(self) -> Moment:
        """Return the cut that ends the guest if the user named the times of the others."""
        named = [when.ns for when in self.at if not when.mark and not self.own]
        end_ns = max([self.job_start_ns + EARLIEST_NS + self.span_ns, *named])
        return Moment("at the end of the span", Plan(at_ns=end_ns, seed=self.seed))

    def seed_of(self, group: int) -> int:
        """Return the seed of a group's work."""
        return random.Random(f"slate cuts {self.seed} group {group}").randrange(1 << 31)

    def work(self, group: int, last: Moment) -> Recorded:
        """Run the guest that the cuts of a group interrupt, up to the last of them."""
        seed = self.seed_of(group)
        trace, drive = self.folder / "work.content", self.folder / "work.slate"
        trace.unlink(missing_ok=True)
        found = self.cut(seed, last, drive, trace if self.recorded else None)
        last = self.timed(last, found)
        work = Recorded(seed, trace, found.results, last.at_ns)
        if not self.recorded:
            return work
        copy, power = self.replay(work, last, "last")
        keys = ("cut-ns", "lost-requests", "torn-programs", "torn-erases")
        if any(power[key] != found.power[key] for key in keys) or not same_drives(copy, drive):
            raise MachineError(
                f"cut {last.id}: the drive in QEMU and the replay of its recording differ: "
                f"{[found.power[key] for key in keys]}, {[power[key] for key in keys]} {keys}",
                f"report it; {paths.short(self.folder)} has both drives if --keep is given",
            )
        return work

    def plan(self, moment: Moment) -> Plan:
        """Return QEMU's plan of a cut. When an image begins the work, it sets a mark, from which the drive counts."""
        if not self.own:
            return moment.plan
        return dataclasses.replace(moment.plan, at_ns=moment.at_ns - self.job_start_ns, mark=image.START)

    def timed(self, moment: Moment, found: Boot) -> Moment:
        """Return the cut at the time when it came. Of an image, only the cut tells when the work began."""
        self.job_start_ns += (cut_ns := found.power["cut-ns"]) - moment.at_ns
        return dataclasses.replace(moment, plan=dataclasses.replace(moment.plan, at_ns=cut_ns))

    def cut(self, seed: int, moment: Moment, drive: Path, trace: Path | None = None) -> Boot:
        """Copy the first drives, and run the guest on the copies up to a cut by QEMU. trace: its recording."""
        for number in range(len(self.base.drives)):
            copy_sparse(beside(self.origin, number), beside(drive, number))
        mark = {"CUTS_MARK": image.START} if self.own else {}
        options = self.options("work", drive, {}, CUTS_SEED=seed, **mark)
        found = self.boot(dataclasses.replace(options, record_content=trace), self.plan(moment))
        keep_console(self.folder, "work")
        if found.reason != CUT:
            raise MachineError(
                f"cut {moment.id}: the guest ended by itself before it (reason: {found.reason}){found.last_words()}"
            )
        return found

    def replay(self, work: Recorded, moment: Moment, name: str, *more: str) -> tuple[Path, Json]:
        """Copy the first drive, and cut the copy. Returns it with the replay's account of the cut."""
        drive = self.folder / f"{name}.slate"
        copy_sparse(self.origin, drive)
        with with_room(self.folder):
            report = replayed(f"cut {moment.id}", "--drive", drive, "--open", "--cut-at", moment.at_ns,
                              "--cut-seed", moment.plan.seed, *more, work.trace)  # fmt: skip
        return drive, report["power"] | {"gc-runs": report["gc"]["calls"]}

    def events(self, work: Recorded) -> dict[str, list[int]]:
        """Return when the recording's requests and the drive's NAND commands ended, if --cut-at names any."""
        if not any(when.op for when in self.at):
            return {}
        rows, nand = self.folder / "ended.csv", self.folder / "commands.csv"
        replayed("--cut-at", "--drive", self.origin, *BY_CLOCK, "--csv", rows, "--commands", nand, work.trace)
        with open(rows, encoding="utf-8") as requests, open(nand, encoding="utf-8") as file:
            found = ends(csv.DictReader(requests)) | commands(csv.DictReader(file))
        return since(found, self.job_start_ns) if self.own else found  # an image's recording has its boot and 'make'

    def time(self, when: When, work: Recorded, events: dict[str, list[int]]) -> int:
        """Return the time of a cut on the drive's clock. Before an image begins the work there is none."""
        return resolve(when, work.report, work.end_ns, events, self.job_start_ns if self.own else 0)

    def take(self, work: Recorded, moment: Moment, losses: list[kinds.Loss], name: str) -> Path:
        """Copy the first drive, and make it as if, of all requests until the cut, only `losses` had been lost.

        All others are there, also on a drive that ignores flushes, which counts as an honest one meanwhile.
        """
        drive, lose = self.folder / f"{name}.slate", self.folder / f"{name}.lose"
        copy_sparse(self.origin, drive)
        lose.write_text(kinds.text(losses), encoding="utf-8")
        with with_room(self.folder):
            replayed(f"cut {moment.id}", "--drive", drive, "--set", "drive.ignore_flush=no", "--closed", 1,
                     "--until", moment.at_ns, "--lose", lose, work.trace)  # fmt: skip
        return drive

    def lies(self) -> tuple[str, ...]:
        """Return the option of slate-replay with which nothing is durable, if the drive ignores flushes."""
        return ("--no-flush",) if "drive.ignore_flush=yes" in self.base.settings else ()

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
        found = self.boot(options)
        keep_console(self.folder, "check")
        said = files_of(found, when)
        return [plain(said.get(f"check-{at}.txt", "the guest did not look at it")) for at in range(1, len(drives) + 1)]


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


def unrecorded(base: RunOptions) -> str:
    """Name the kind of drives that cannot be recorded, for a message; empty: these can be."""
    if base.more:
        return "several drives"
    return "a drive with zones (ftl.type = zns)" if base.setting(TYPE) == ZONES else ""


def header(campaign: Campaign) -> Json:
    """Return the properties shared by the cuts of a log. A campaign continues only its own log."""
    return {
        "slate_cuts": logfile.VERSION,
        **campaign.workload.facts,
        **_drive_facts(campaign.base),
        "age": campaign.base.age,
        "seed": campaign.seed,
        "span_ns": campaign.span_ns,
        **({"more": [_drive_facts(one) for one in campaign.base.more]} if campaign.base.more else {}),
        **({"cut_at": [str(when) for when in campaign.at]} if campaign.at else {}),
        **({"kind": kind_name(campaign.kind)} if campaign.kind is not kinds.KINDS["off"] else {}),
        **({"states": campaign.states} if campaign.states > 1 else {}),
        **({"guest": paths.GUEST.name} if paths.GUEST.name != paths.DEFAULT_GUEST else {}),
        **(_kernel_facts(campaign.base) if not campaign.own or campaign.check_in_slate else {}),
        **(campaign.own.facts if campaign.own else {}),
        **({"check_in_slate": True} if campaign.check_in_slate else {}),
        "repeat": shlex.join(["slate", "cuts", *campaign.words]),
    }


def _drive_facts(drive: Drive) -> Json:
    """Return what the header says of a drive."""
    profile = Path(drive.profile or "")
    return {"profile": paths.short(profile), "profile_sha256": hashlib.sha256(profile.read_bytes()).hexdigest(),
            "settings": drive.settings}  # fmt: skip


def _kernel_facts(base: RunOptions) -> Json:
    """Return what the header says of the kernel: nothing of the default."""
    if base.own_kernel:
        return {"kernel": base.own_kernel.image.release, "kernel_sha256": base.own_kernel.sha256}
    return {"kernel": base.kernel} if base.kernel != "small" else {}


def kind_name(kind: kinds.Kind) -> str:
    """Return the name of a kind."""
    return next((name for name, one in kinds.KINDS.items() if one is kind), kind.what)
