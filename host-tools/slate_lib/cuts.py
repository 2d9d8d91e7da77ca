# SPDX-License-Identifier: GPL-2.0-or-later
"""'slate cuts' cuts the power under a file system, again and again, and checks the data
afterwards.

Cuts come in groups of GROUP. A group is one guest: an aged drive with an empty ext4, and
fsync-heavy work, recorded with its content up to the group's latest cut, which QEMU makes.
Each cut is then made on a copy of that first drive by slate-replay, which replays the recording
up to the cut's nanosecond of the drive's clock; for the latest cut the two files must be equal,
byte for byte. Then a guest mounts the drives, as many in a boot as ROOM has space for: it replays
the journal, looks for everything that was fsynced before the cut, and runs fsck. A cut is
determined by the profile, the seed and its number. Its id, SEED:NUMBER, repeats it.

Cost: for each cut, a copy of the drive (0.2 s of CPU time for 300 MiB) and a check by the guest
(0.1 s); for each group, two to five boots of 3 s. So cuts of small drives are cheap.

The log has a line of JSON for each cut. A run that was stopped goes on after the last one.
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
from collections.abc import Iterator
from pathlib import Path

from . import command, guests, ownkernel, paths
from .boot import Boot, boot
from .drives import check_profile
from .errors import JOB_FAILED, OK, MachineError, SlateError, quoted
from .options import RunOptions, add_set_argument, check_settings, number, set_kernel, share
from .powercut import CUT, ENDED, Plan
from .shape import Json

SCRIPTS = paths.GUEST_TOOLS / "jobs"
PROGRAM = "fsyncs"
WORKERS = 3
GROUP = 64
ROOM = 5 << 30  # bytes of drive files at once
EARLIEST_NS = 20_000_000  # after the job's start, when the file system is mounted
_DONE = re.compile(rb"^w(\d+) (\d+) (\d+)\r?\n", re.MULTILINE)
_JOB_START = re.compile(r"^SLATE-PHASE job-start ([0-9.]+)", re.MULTILINE)
_UNUSED = re.compile(r"usr/bin/(fio|nvme|slate-mark|.*xfs.*|.*f2fs.*|blktrace)$")
_ID = re.compile(r"(\d+):(\d+)")

EXAMPLES = """\
examples:
  slate cuts --count 100 --seed 1                    a hundred cuts of the profile small
  slate cuts --profile rps-small
  slate cuts --id 1:17                               repeats one cut
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of 'slate cuts'."""
    parser.add_argument("--count", metavar="N", default="100", help="number of cuts (default 100)")
    parser.add_argument("--seed", metavar="N", default="1", help="seed of the work and the cuts' times (default 1)")
    parser.add_argument("--profile", metavar="NAME|FILE", help="the drive (default: small)")
    parser.add_argument(
        "--kernel",
        metavar="NAME|FILE",
        default="small",
        help="small (default; boots in half the time, 'make guest-kernel' builds it), debian, or a bzImage or vmlinux "
        "of your own; an id names a different cut with each",
    )
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
        "--log", metavar="FILE", help="a line of JSON for each cut (default: out/cuts-PROFILE-SEED.jsonl)"
    )
    parser.add_argument(
        "--stop", action="store_true", help="stop after a cut that lost data"
    )
    parser.add_argument("--id", metavar="SEED:NUMBER", help="do this cut only, and keep no log")
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
        good = said.endswith("status 0\n")
        return {
            "id": self.id,
            "good": good,
            "cut_ns": power["cut-ns"],
            "operations": operations,
            "lost_requests": power["lost-requests"],
            "torn_programs": power["torn-programs"],
            "torn_erases": power["torn-erases"],
            "gc_runs": power["gc-runs"],
            "said": "" if good else said[-2000:],
            "seconds": round(seconds, 1),
        }


@dataclasses.dataclass(frozen=True)
class Work:
    """Holds the work of a guest: its seed, its requests, and its report."""

    seed: int
    trace: Path
    report: bytes


@dataclasses.dataclass
class Campaign:
    """Holds the properties shared by all cuts."""

    base: RunOptions
    seed: int
    span_ns: int
    folder: Path
    origin: Path  # a drive with an empty file system
    job_start_ns: int = 0

    def options(self, name: str, drive: Path, **environment: object) -> RunOptions:
        """Return the options of a boot with one of the scripts."""
        script = SCRIPTS / f"cuts-{name}.sh"
        return dataclasses.replace(
            self.base,
            drive=drive,
            script=script,
            script_text=self._modules() + script.read_text(encoding="utf-8"),
            programs={"fsyncs": paths.guest_program(PROGRAM).read_bytes()},
            environment={key: str(value) for key, value in environment.items()},
        )

    def _modules(self) -> str:
        """Return the head of a script, which loads ext4 if it is not built into the kernel."""
        own = self.base.own_kernel
        needed = own.is_module(ownkernel.FILE_SYSTEMS["ext4"]) if own else self.base.kernel == "debian"
        return "#!/bin/sh\nmodprobe ext4\n" if needed else ""

    def prepare(self) -> None:
        """Make the drive with which every cut begins."""
        self.base.root = self.folder / "root"
        self.base.root.write_bytes(small_root(self.base.kernel))
        found = boot(self.options("make", self.origin), self.folder)
        files_of(found, "while the file system was made")
        start = _JOB_START.search(found.console)
        if not start:
            raise MachineError(f"no file system could be made{found.last_words()}")
        self.job_start_ns = round(float(start[1]) * 1e9)

    def moments(self, group: int) -> list[Moment]:
        """Return the cuts of a group, by number."""
        found = []
        for index in range(group * GROUP, (group + 1) * GROUP):
            chance = random.Random(f"slate cuts {self.seed}:{index}")
            at_ns = self.job_start_ns + EARLIEST_NS + chance.randrange(self.span_ns)
            found.append(Moment(f"{self.seed}:{index}", Plan(at_ns=at_ns, seed=chance.randrange(1 << 32))))
        return found

    def group(self, number: int, indices: range) -> Iterator[Json]:
        """Return the log's lines for some cuts of a group."""
        moments = self.moments(number)
        work = self.work(number, max(moments, key=lambda moment: moment.at_ns))
        wanted = [moments[index - number * GROUP] for index in indices]
        step = drives_at_once(self.origin.stat().st_blocks * 512)
        for at in range(0, len(wanted), step):
            yield from self.batch(work, wanted[at : at + step])

    def lines(self, begin: int, end: int) -> Iterator[Json]:
        """Return the log's lines for these cuts."""
        for group in range(begin // GROUP, (end + GROUP - 1) // GROUP):
            first = group * GROUP
            yield from self.group(group, range(max(begin, first), min(end, first + GROUP)))

    def work(self, group: int, last: Moment) -> Work:
        """Run the guest that the cuts of a group interrupt, up to the last of them."""
        seed = random.Random(f"slate cuts {self.seed} group {group}").randrange(1 << 31)
        trace, drive = self.folder / "work.content", self.folder / "work.slate"
        trace.unlink(missing_ok=True)
        copy_sparse(self.origin, drive)
        options = self.options("work", drive, CUTS_SEED=seed, CUTS_WORKERS=WORKERS)
        found = boot(dataclasses.replace(options, record_content=trace), self.folder, last.plan)
        keep_console(self.folder, "work")
        if found.reason != CUT:
            raise MachineError(
                f"cut {last.id}: the guest ended by itself before it (reason: {found.reason}){found.last_words()}"
            )
        work = Work(seed, trace, found.results)
        copy, power = self.replay(work, last, "last")
        keys = ("cut-ns", "lost-requests", "torn-programs", "torn-erases")
        if any(power[key] != found.power[key] for key in keys) or not same_bytes(copy, drive):
            raise MachineError(
                f"cut {last.id}: the drive in QEMU and the replay of its recording differ: "
                f"{[found.power[key] for key in keys]}, {[power[key] for key in keys]} {keys}",
                f"report it; {paths.short(self.folder)} has both drives if --keep is given",
            )
        return work

    def replay(self, work: Work, moment: Moment, name: str) -> tuple[Path, Json]:
        """Copy the first drive, and cut the copy. Returns it with the replay's account of the cut."""
        drive = self.folder / f"{name}.slate"
        copy_sparse(self.origin, drive)
        done = subprocess.run(
            [paths.program("slate-replay"), "--drive", drive, "--open", "--cut-at", str(moment.at_ns),
             "--cut-seed", str(moment.plan.seed), "--json", "-", work.trace],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            raise MachineError(f"cut {moment.id}: slate-replay failed: {done.stderr.strip()}")
        report = json.loads(done.stdout)
        return drive, report["power"] | {"gc-runs": report["gc"]["calls"]}

    def batch(self, work: Work, moments: list[Moment]) -> list[Json]:
        """Check some cuts in one guest."""
        began = time.monotonic()
        cuts = [self.replay(work, moment, f"cut{at}") for at, moment in enumerate(moments)]
        durables = [durable(work.report, moment.at_ns) for moment in moments]
        options = self.options(
            "check", cuts[0][0], CUTS_SEED=work.seed,
            CUTS_DONE=" ".join(",".join(map(str, done)) for done in durables),
        )  # fmt: skip
        options.qemu_args = []
        for at, (drive, _) in enumerate(cuts[1:], 2):
            node = command.keyval(**{"driver": "nand-ssd", "node-name": f"ssd{at}", "drive-file": str(drive)})
            options.qemu_args += ["-blockdev", node, "-device", f"nvme-ns,drive=ssd{at},nsid={at}"]
        found = boot(options, self.folder)
        keep_console(self.folder, "check")
        files = files_of(found, f"in the check of cut {moments[0].id}")
        seconds = (time.monotonic() - began) / len(moments)
        return [
            moment.line(power, sum(done), files.get(f"check-{at}.txt", "the guest did not look at it"), seconds)
            for at, (moment, (_, power), done) in enumerate(zip(moments, cuts, durables), 1)
        ]


def small_root(kernel: str) -> bytes:
    """Return the guest's files without those that cuts do not need, uncompressed: a boot is then a third cheaper."""
    return b"".join(without_unused(path) for path in paths.archives(kernel))


def without_unused(archive: Path) -> bytes:
    """Return a cpio archive, uncompressed, without the files that match."""
    done = subprocess.run(["lz4", "-dc", archive], capture_output=True, check=False)
    if done.returncode:
        raise SlateError(f"lz4 can not unpack {paths.short(archive)}", paths.make("guest"))
    data, kept, at, name = done.stdout, [], 0, ""
    while name != "TRAILER!!!":  # "newc": a head of 110 bytes in hexadecimal, the name, the content
        size, name_size = int(data[at + 54 : at + 62], 16), int(data[at + 94 : at + 102], 16)
        name = data[at + 110 : at + 109 + name_size].decode()
        content = at + (110 + name_size + 3 & ~3)
        end = content + (size + 3 & ~3)
        if not _UNUSED.match(name):
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


def same_bytes(one: Path, other: Path) -> bool:
    """Are two files equal?"""
    return not subprocess.run(["cmp", "-s", one, other], check=False).returncode


def durable(report: bytes, at_ns: int) -> list[int]:
    """Return, for each worker, the last operation that had ended by then. An incomplete line does not count."""
    done = [0] * WORKERS
    for match in _DONE.finditer(report):
        if int(match[3]) <= at_ns:
            done[int(match[1])] = int(match[2])
    return done


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


# ---- the campaign's log file, one line for each cut


def header(campaign: Campaign) -> Json:
    """Return the properties shared by the cuts of a log. A campaign continues only its own log."""
    return {
        "slate_cuts": 3,
        "profile": paths.short(campaign.base.profile or ""),
        "settings": campaign.base.settings,
        "age": campaign.base.age,
        "seed": campaign.seed,
        "span_ns": campaign.span_ns,
        **({"guest": paths.GUEST.name} if paths.GUEST.name != paths.DEFAULT_GUEST else {}),
        **_kernel_facts(campaign.base),
    }


def read_log(path: Path, wanted: Json) -> list[Json]:
    """Return the completed cuts; an incomplete last line is dropped."""
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8")
    whole = text[: text.rfind("\n") + 1]
    try:
        lines = [json.loads(line) for line in whole.splitlines()]
    except ValueError:
        lines = []
    if (lines and lines[0] != wanted) or (whole and not lines):
        raise SlateError(
            f"--log {path}: is of other cuts (or of something else)", "name another file, or delete it"
        )
    if whole != text:
        path.write_text(whole, encoding="utf-8")
    return lines[1:]


def _kernel_facts(base: RunOptions) -> Json:
    """Return what the header says of the kernel: nothing of the default."""
    if base.own_kernel:
        return {"kernel": base.own_kernel.image.release, "kernel_sha256": base.own_kernel.sha256}
    return {"kernel": base.kernel} if base.kernel != "small" else {}


def append(path: Path, line: Json) -> None:
    """Append a line."""
    with open(path, "a", encoding="utf-8") as log:
        log.write(json.dumps(line) + "\n")


def summary(cuts: list[Json]) -> str:
    """Return a summary for a person."""
    bad = [cut["id"] for cut in cuts if not cut["good"]]
    total = {key: sum(cut[key] for cut in cuts) for key in ("operations", "lost_requests", "torn_programs")}
    text = (
        f"{len(cuts)} power cuts: {len(cuts) - len(bad)} left a clean file system with everything that was "
        f"fsynced\n({total['operations']} durable operations before them; {total['lost_requests']} requests "
        f"in flight, {total['torn_programs']} programs torn)\n"
    )
    if cuts and not total["operations"]:
        text += "They show little: no cut came after the first fsync. Give more time to the work: --span SEC.\n"
    return text + (f"not so: {', '.join(bad)}\n" if bad else "")


# ---- the command


def campaign_of(args: argparse.Namespace, folder: Path) -> Campaign:
    """Check the arguments and return the campaign."""
    if args.guest is not None:
        guests.choose(args.guest)
    check_settings(args.set)
    seed = int(number("seed", args.seed, 0, 2**31 - 1))
    base = RunOptions(
        profile=check_profile(args.profile or "small"),
        fill=100,
        age=share("age", args.age, 1000, 3),
        settings=args.set,
        timeout=number("timeout", args.timeout, 1, 1e7, float),
        mem=400 << 20,
    )
    set_kernel(base, args)
    if base.own_kernel and not base.own_kernel.has(ext4 := ownkernel.FILE_SYSTEMS["ext4"]):
        raise ownkernel.lacks(base.own_kernel, [ext4])
    span = round(number("span", args.span, 0.001, 1000, float) * 1e9)
    if args.kernel == "small" and not paths.KERNELS["small"].exists():
        raise SlateError(
            "the small kernel has not been built", f"{paths.make('guest-kernel')}, or use --kernel debian"
        )
    command.check_built(base)
    paths.guest_program(PROGRAM)
    return Campaign(base, seed, span, folder, folder / "origin.slate")


def one(args: argparse.Namespace) -> int:
    """Repeat one cut by its id."""
    match = _ID.fullmatch(args.id)
    if not match:
        raise SlateError(f"--id {args.id}: not SEED:NUMBER", "for instance --id 1:17")
    args.seed = match[1]
    folder = Path(args.keep) if args.keep else Path(tempfile.mkdtemp(prefix="slate-cuts-"))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        campaign = campaign_of(args, folder)
        campaign.prepare()
        index = int(match[2])
        (line,) = campaign.group(index // GROUP, range(index, index + 1))
    finally:
        if not args.keep:
            shutil.rmtree(folder, ignore_errors=True)
    said = line.pop("said")
    print(json.dumps(line, indent=1))
    print(said, end="")
    return OK if line["good"] else JOB_FAILED


def many(args: argparse.Namespace) -> int:
    """Make the campaign's cuts, except those that are in its log already."""
    count = int(number("count", args.count, 1, 10**6))
    with tempfile.TemporaryDirectory(prefix="slate-cuts-") as folder:
        campaign = campaign_of(args, Path(folder))
        assert campaign.base.profile
        log = Path(args.log or paths.OUT / f"cuts-{campaign.base.profile.stem}-{campaign.seed}.jsonl")
        cuts = read_log(log, header(campaign))
        if not cuts:
            log.parent.mkdir(parents=True, exist_ok=True)
            log.write_text(json.dumps(header(campaign)) + "\n", encoding="utf-8")
        elif len(cuts) < count:
            print(f"cuts      {len(cuts)} are in {paths.short(log)} already")
        if len(cuts) < count:
            campaign.prepare()
        for line in campaign.lines(len(cuts), count):
            append(log, line)
            cuts.append(line)
            show(line, count)
            if args.stop and not line["good"]:
                break
    print(summary(cuts[:count]), end="")
    return OK if all(cut["good"] for cut in cuts[:count]) else JOB_FAILED


def show(line: Json, count: int) -> None:
    """Show progress with a line for each cut."""
    number_of = int(line["id"].partition(":")[2]) + 1
    verdict = "all there" if line["good"] else "LOST"
    print(
        f"cuts      {number_of:>4}/{count}  {line['id']:<8} at {line['cut_ns'] / 1e6:11.6f} ms  "
        f"{line['operations']:>5} durable, {line['lost_requests']:>2} in flight, "
        f"{line['torn_programs']} torn  {verdict:<9} {line['seconds']:5.1f} s"
    )
    if not line["good"]:
        print(quoted(line["said"].rstrip().splitlines())[1:])
    sys.stdout.flush()


def run(args: argparse.Namespace) -> int:
    """'slate cuts'."""
    if args.stop and args.id:
        raise SlateError("--stop with --id: that is one cut alone", "leave one of them out")
    if args.keep and not args.id:
        raise SlateError("--keep without --id", "name the cut that you want to look at: --id SEED:NUMBER")
    return one(args) if args.id else many(args)
