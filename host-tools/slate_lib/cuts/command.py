# SPDX-License-Identifier: GPL-2.0-or-later
"""'slate cuts' cuts the power under a work (workload.py), again and again, and checks the data afterwards.

A cut's id, SEED:NUMBER, repeats it. Its time is random, or the user's (--cut-at).

Cost: for each cut, a copy of the drive (0.2 s of CPU time for 300 MiB) and a check by the guest (0.1 s); for each group
(groups.py), two to five boots of 3 s. So cuts of small drives are cheap. onhost.py needs no boot for the check.

The log has a line of JSON for each cut. A run that was stopped goes on after the last one.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import re
import sys
from pathlib import Path

from .. import command, drives, guests, ownkernel, paths
from ..commands import SET, Option
from ..drives import check_profile
from ..errors import JOB_FAILED, OK, SlateError, naming, quoted
from ..options import APPS_MEM_MIN, RunOptions, set_kernel
from ..shape import Json
from ..values import check_settings, number, share
from . import counts, explain, groups, image, kinds, logfile, report, shrink, survey, times, workload
from .campaign import TYPE, ZONES, Campaign, header, unrecorded
from .files import GROUP, GROUP_ON_HOST, work_folder

IMAGE_MEM = 1 << 30  # bytes of a guest from an image
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


OPTIONS = (
    Option("report", "report [LOG]", "make a text and a page of a campaign's log (default: the one that --log, "
           "--profile and --seed name)", count="*"),
    Option("--html", "FILE", "with report: only the page (default: LOG's name with .html)", bare=""),
    Option("--text", about="with report: only the text"),
    Option("--count", "N", "number of cuts (default 100)"),
    Option("--seed", "N", "seed of the work and the cuts' times", default="1"),
    Option("--profile", "NAME|FILE", "the drive (default: small); once more for each further drive, "
           "/dev/nvme1n1 and so on, which all lose their power at once", repeat=True),
    Option("--kernel", "NAME|FILE", "small (default where it has the file system; boots in half the time, "
           "'make guest-kernel' builds it), debian, or a bzImage or vmlinux of your own; an id names a different cut "
           "with each"),
    *workload.OPTIONS,
    *image.OPTIONS,
    Option("--modules", "DIR", "modules of --kernel FILE (docs/kernels.md)"),
    Option("--guest", "NAME", "another guest than the default; it makes other cuts of an id"),
    dataclasses.replace(SET, about=f"{SET.about}; with several drives, N:SECTION.KEY=VALUE is for nvmeN only"),
    Option("--age", "N", "age the drive by N times its capacity first", default="1"),
    Option("--span", "SEC", "cut within this many seconds of guest time", default="1"),
    Option("--kind", "NAME", "what a cut takes: " + "; ".join(f"{name}: {kind.what}"
           for name, kind in kinds.KINDS.items()), default="off"),
    Option("--cut-at", "T[,T...]", "cut at these times in place of random ones: of the drive's clock, as 1.5s or "
           "1500000001ns; relative to the announcement WORDS, as mark:WORDS+200us or mark:WORDS-1ns; or to the ends of "
           "flushes (writes, trims, the NAND's programs and erases), as flush:3..7-1ns, or to the times just after "
           "which a cut tears a program (erase), as program-begin:3..40+1ns"),
    Option("--log", "FILE", "a line of JSON for each cut (default: out/cuts-PROFILE-SEED.jsonl)"),
    Option("--json", "FILE", "then write the campaign's counts to this file; the exit status is 0 also if a cut lost "
           "data"),
    Option("--stop", about="stop after a cut that lost data"),
    Option("--id", "SEED:NUMBER", "do this cut only, and keep no log"),
    Option("--shrink", about="with --id: find the first bad nanosecond, and the smallest set of lost writes that "
           "explains it"),
    Option("--take", "N[,N...]", "with --cut-at: lose the unflushed writes and trims with these numbers, as --shrink "
           "prints them"),
    Option("--states", "N", "with --kind subset: check up to N different states of each cut, all if it has no more; "
           "with --survey: cut so often at each time (2 to 4096)"),
    Option("--survey", "TRACE", "cut a replay of this content trace, and count which of the states that NVMe allows "
           "the drive leaves"),
    Option("--timeout", "SEC", "end a boot that takes longer, or a check on the host", default="900"),
    Option("--keep", "DIR", "with --id: keep the drive and the consoles in this folder"),
)  # fmt: skip


def times_of(args: argparse.Namespace) -> tuple[times.When, ...]:
    """Return the times of --cut-at; none: they are drawn."""
    return times.parse(args.cut_at, GROUP_ON_HOST if args.check_on_host else GROUP) if args.cut_at else ()


def campaign_of(args: argparse.Namespace, folder: Path) -> Campaign:
    """Check the arguments, then what is built, and return the campaign."""
    seed = int(number("seed", args.seed, 0, 2**31 - 1))
    span = round(number("span", args.span, 0.001, 1000, float) * 1e9)
    at, states = times_of(args), states_of(args)
    if args.guest is not None:
        guests.choose(args.guest)
    kind = kinds.given(args.take) if args.take else kinds.find(args.kind)
    if args.check_on_host and (kind.choose or kind.twice or kind.lives):
        raise SlateError(f"--check-on-host with --kind {args.kind}: makes cuts of the kinds off, controller and lying",
                         "leave one of them out")  # fmt: skip
    words = options_of(args)
    args.set = [*args.set, *kind.settings]
    base = drives_of(args)
    base.timeout = number("timeout", args.timeout, 1, 1e7, float)
    if without := unrecorded(base):
        check_unrecorded(args, kind, at, without)
    work = workload.from_arguments(args)
    zoned = [drive.setting(TYPE) == ZONES for drive in base.drives]
    work.check_drives(zoned)
    zones = any(zoned)
    own = image.from_arguments(args, folder)
    if own and (kind.lives or without):
        raise SlateError(f"{without or f'--kind {args.kind}'} with --image: each cut would take a boot of its own",
                         "use Slate's guest, or another drive or kind")  # fmt: skip
    if zones:
        set_zones(base, args, work)
    if not own or args.check_in_slate:
        set_guest(base, args, work, zones)
    else:
        command.check_qemu()
    if own:
        base.mem = IMAGE_MEM
    return Campaign(base, work, seed, span, folder, folder / "origin.slate", at, kind, tuple(words), states, own,
                    args.check_in_slate)  # fmt: skip


def set_guest(base: RunOptions, args: argparse.Namespace, work: workload.Workload, zones: bool) -> None:
    """Set what Slate's guest needs, and check that it is built."""
    base.mem = APPS_MEM_MIN if work.apps else 400 << 20
    base.apps = work.apps
    args.kernel = args.kernel or work.kernel
    set_kernel(base, args)
    work.check_kernel(base.own_kernel)
    if zones and base.own_kernel:
        ownkernel.check_zones(base.own_kernel)
    if base.kernel == "small" and not paths.KERNELS["small"].exists():
        raise SlateError(
            "the small kernel has not been built", f"{paths.make('guest-kernel')}, or use --kernel debian"
        )
    command.check_built(base)


def profiles_of(args: argparse.Namespace) -> list[str]:
    """Return the profiles of the drives."""
    return args.profile or ["small"]


def drives_of(args: argparse.Namespace) -> RunOptions:
    """Return the options of a boot with the drives: full and aged ones."""
    check_settings([drives.without_address(line) for line in args.set])
    first, *others = profiles_of(args)
    if len(others) >= drives.MOST:
        raise SlateError(f"{len(others) + 1} drives: a guest has {drives.MOST} at most", "leave some out")
    args.more, args.one_controller, args.ephemeral = [(name, None) for name in others], False, False
    base = RunOptions(**vars(drives.of(first, None, drives.settings_of(args.set, 0, args), args)))
    base.more = drives.others(args)
    for drive in base.drives:
        drive.fill, drive.age = 100, share("age", args.age, 1000, 3)
    return base


def check_unrecorded(args: argparse.Namespace, kind: kinds.Kind, at: tuple[times.When, ...], without: str) -> None:
    """Refuse what needs a recording: of these drives there is none."""
    for refused, option in (
        (kind.choose or kind.twice or kind.lives or kind.replay, "--take" if args.take else f"--kind {args.kind}"),
        (args.check_on_host, "--check-on-host"),
        (args.shrink, "--shrink"),
        (any(when.op for when in at), f"--cut-at {args.cut_at}"),
    ):
        if refused:
            raise SlateError(f"{option}: needs a recording, and of {without} there is none",
                             "leave it out; the kinds off and lying need none")  # fmt: skip


def set_zones(base: RunOptions, args: argparse.Namespace, work: workload.Workload) -> None:
    """Set what drives with zones need: they are empty, and the kernel has zones."""
    if work.fs:
        raise SlateError(f"--fs {work.fs}: the built-in work needs a drive without zones",
                         "use --ready calls:fsync-zonefs or calls:fsync-btrfs1, or a work of your own")  # fmt: skip
    zoned = [drive for drive in base.drives if drive.setting(TYPE) == ZONES]
    if base.age not in (0, 1) and len(zoned) == len(base.drives):
        raise SlateError(f"--age {args.age}: a drive with zones cannot be overwritten at random", "leave it out")
    for drive in zoned:
        drive.fill = drive.age = 0
    args.kernel = args.kernel or "debian"
    if args.kernel == "small":
        raise SlateError("--kernel small has no zones: its guest would not see the drive", "use --kernel debian")


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
    args.seed, index, named = match[1], int(match[2]), len(times_of(args))
    if named > 1 and index >= named:
        raise SlateError(f"--id {args.id}: --cut-at names {named} time(s), from {args.seed}:0 on", "name one of these")
    with contextlib.ExitStack() as stack:
        folder = Path(args.keep) if args.keep else stack.enter_context(work_folder())
        folder.mkdir(parents=True, exist_ok=True)
        campaign = campaign_of(args, folder)
        campaign.prepare()
        if args.shrink:
            account = explain.run(campaign, index, options_of(args))
            if account:
                keep_account(log_of(args), header(campaign), account)
            return explained(account, args.id)
        (line,) = groups.lines(campaign, index, index + 1)
    said = line.pop("said")
    print(json.dumps(line, indent=1))
    print(said, end="")
    return OK if line["good"] else JOB_FAILED


def log_of(args: argparse.Namespace) -> Path:
    """Return the name of a campaign's log."""
    names = "-".join(check_profile(name).stem for name in profiles_of(args))
    return Path(args.log or paths.OUT / f"cuts-{names}-{int(args.seed)}.jsonl")


def keep_account(log: Path, head: Json, account: shrink.Account) -> None:
    """Add an account to the file beside the campaign's log, if there is one."""
    if logfile.is_of(log, head):
        path = logfile.accounts_of(log)
        logfile.append(path, dataclasses.asdict(account))
        print(f"shrink    kept in {paths.short(path)} for 'slate cuts report'")


def explained(account: shrink.Account | None, cut: str) -> int:
    """Print the account of a cut."""
    if account is None:
        print(f"cut {cut} is good: there is nothing to explain")
        return OK
    print(account.text(), end="")
    return JOB_FAILED


def options_of(args: argparse.Namespace) -> list[str]:
    """Return the options that repeat a campaign's cuts, without those of their times."""
    names = ("kernel", "modules", "guest", "fs", "ready", "work", "check", "make", "image", "age", "span",
             "per_boot", "states")  # fmt: skip
    words = [word for name in args.profile for word in ("--profile", name)]
    words += [word for name in names if getattr(args, name)
              for word in (f"--{name.replace('_', '-')}", str(getattr(args, name)))]  # fmt: skip
    words += [word for name in args.file for word in ("--file", name)] + ["--apps"] * args.apps
    words += ["--check-on-host"] * args.check_on_host + ["--check-in-slate"] * args.check_in_slate
    words += [word for setting in args.set for word in ("--set", setting)]
    return [*words, "--seed", args.seed, *(["--take", args.take] if args.take else ["--kind", args.kind])]


def check_survey(args: argparse.Namespace) -> None:
    """Refuse the options that --survey would not heed."""
    for option in OPTIONS:
        if option.dest in survey.HEEDS or getattr(args, option.dest) in (None, False, [], option.default):
            continue
        heeds = ", ".join(f"--{name}" for name in survey.HEEDS[1:])
        raise SlateError(f"{option.name} with --survey: a survey replays a recording, and takes only {heeds}",
                         "leave one of them out")  # fmt: skip


def count_of(args: argparse.Namespace) -> int:
    """Return the number of cuts."""
    return int(number("count", args.count or "100", 1, 10**6))


def many(args: argparse.Namespace) -> int:
    """Make the campaign's cuts, except those that are in its log already."""
    if args.cut_at and args.count:
        raise SlateError("--count with --cut-at: there are as many cuts as times", "leave --count out")
    count = count_of(args)
    with work_folder() as folder:
        campaign = campaign_of(args, folder)
        count = len(campaign.at) or count
        log = log_of(args)
        cuts = logfile.read_log(log, header(campaign))
        if not cuts:
            logfile.begin(log, header(campaign))
        elif len(cuts) < count:
            print(f"cuts      {len(cuts)} are in {paths.short(log)} already")
        if len(cuts) < count:
            campaign.prepare()
        for line in groups.lines(campaign, len(cuts), count):
            logfile.append(log, line)
            cuts.append(line)
            show(line, count)
            if args.stop and not line["good"]:
                break
    print(logfile.summary(cuts[:count], campaign.kind), end="")
    if args.json:
        with naming(Path(args.json)):
            Path(args.json).write_text(json.dumps(counts.result(cuts[:count]), indent=1) + "\n", encoding="utf-8")
        return OK
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
        return report.run(args, log_of(args))
    if args.html is not None or args.text:
        raise SlateError("--html and --text are for 'slate cuts report'", "leave them out")
    if args.cut_at == "":
        raise SlateError("--cut-at is empty", "give times such as 120ms, or mark:WORDS+200us")
    if args.survey:
        check_survey(args)
        return survey.run(args, states_of(args))
    if args.stop and args.id:
        raise SlateError("--stop with --id: that is one cut alone", "leave one of them out")
    if args.json and args.id:
        raise SlateError("--json with --id: it is of all cuts", "leave one of them out")
    if args.check_on_host and args.shrink:
        raise SlateError("--check-on-host with --shrink: its states are checked in guests", "leave one of them out")
    if args.shrink and not args.id:
        raise SlateError("--shrink without --id", "name the cut whose check fails: --id SEED:NUMBER")
    if args.shrink and kinds.find(args.kind).lives:
        raise SlateError(f"--shrink with --kind {args.kind}: each cut has a guest of its own",
                         "use --kind off: the drive has lost the same")  # fmt: skip
    if args.take and not args.cut_at:
        raise SlateError("--take without --cut-at: its numbers are of one time", "name that time with --cut-at")
    if args.take and args.kind != "off":
        raise SlateError(f"--take with --kind {args.kind}: both say what is lost", "leave one of them out")
    if args.keep and not args.id:
        raise SlateError("--keep without --id", "name the cut that you want to look at: --id SEED:NUMBER")
    return one(args) if args.id else many(args)
