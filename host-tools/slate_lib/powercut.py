# SPDX-License-Identifier: GPL-2.0-or-later
"""'slate run --cut-at' cuts the power during a run, and boots again after a cut.

A run with cuts is a list of boots: the job's, which the first cut ends, and, with
--after-cut, another one after each cut. With 'off' each boot is a QEMU of its own, and
the drive passes from one to the next as a file. Several drives all lose their power at the same
nanosecond; or one does (--cut-drive) and vanishes, and the guest continues.

A time is one of the drive's clock, or relative to a mark that the guest sets (slate-mark point NAME; fio's jobs have
marks with their names). The drive itself plans the cut when the mark comes, so any guest may set it. In the user's own
guest (--image) there is one boot with one cut.
"""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

from . import jobfile, paths
from .commands import Option
from .cuts import times
from .errors import MachineError, SlateError
from .shape import Json
from .values import number
from .work import Script

if TYPE_CHECKING:
    from .drives import Drive
    from .options import RunOptions

THEN = {"off": "shutdown", "vanish": "vanish", "reset": "reset"}
LABEL_BYTES = 16  # of a mark (slate.h)
ENDED, CUT = "guest-shutdown", "host-error"


@dataclasses.dataclass(frozen=True)
class Plan:
    """Names the time at which the drive loses its power."""

    at_ns: int | None = None
    after_commands: int | None = None
    seed: int = 0
    then: str = "shutdown"
    mark: str = ""  # at_ns counts from the first mark with this label

    def arguments(self) -> Json:
        """Return the arguments of the QMP command."""
        words: Json = {"seed": self.seed, "then": self.then}
        if self.at_ns is not None:
            words["at-ns"] = self.at_ns
        if self.mark:
            words["mark"] = self.mark
        if self.after_commands is not None:
            words["after-commands"] = self.after_commands
        return words

    def time(self) -> str:
        """Return the time as --cut-at takes it."""
        return f"mark:{self.mark}+{self.at_ns}ns" if self.mark else f"{self.at_ns}ns"


@dataclasses.dataclass(frozen=True)
class Cuts:
    """Holds the cuts that the user requested."""

    plans: tuple[Plan, ...]
    then: str
    script: Path | None = None
    script_text: str = ""
    drive: int | None = None  # number of the only drive that loses its power; None: all drives do

    def words(self) -> list[str]:
        """Return the options as words."""
        first = self.plans[0]
        if first.after_commands is not None:
            words = ["--cut-after-commands", str(first.after_commands)]
        else:
            words = ["--cut-at", ",".join(plan.time() for plan in self.plans)]
        words += ["--cut-seed", str(first.seed), "--cut-then", self.then]
        words += [] if self.drive is None else ["--cut-drive", str(self.drive)]
        return words + (["--after-cut", paths.short(self.script)] if self.script else [])


OPTIONS = (
    Option("--cut-at", "T[,T...]", "cut the drive's power at this time since its boot began, such as 1.5s, 800ms, "
           "1500000001ns; the second T counts from the second boot, and so on; or so long after a mark that the guest "
           "sets, as mark:NAME+200ms (slate-mark point NAME; fio's jobs set marks with their names)"),
    Option("--cut-after-commands", "N", "cut the power when the N-th NAND command of the boot has ended"),
    Option("--cut-seed", "N", "seed of the content of torn cells (default: --seed)"),
    Option("--cut-then", about="off (default): the machine loses its power, too; vanish: only the drive does, and the "
           "guest goes on without it; reset: the machine is reset, and runs its job again from the start",
           choices=tuple(THEN)),
    Option("--cut-drive", "N", "with several drives, cut the power of nvmeN alone, and remove it (default: of all at "
           "once)"),
    Option("--after-cut", "SCRIPT", "boot again on the drive as the cut left it, and run SCRIPT in the guest"),
)  # fmt: skip


def _time(text: str) -> tuple[int, str]:
    """Return a time of 'slate run --cut-at' with the mark from which it counts, or without one."""
    (when,) = times.parse(text, 1)
    if when.ns < 0:
        raise SlateError(f"--cut-at {text}: before a mark, which this run cannot know",
                         "give a time after the mark; or the drive's time of the mark, as an earlier run's device.json "
                         "has it, less that time")  # fmt: skip
    if len(when.mark.encode()) > LABEL_BYTES:
        raise SlateError(f"--cut-at {text}: a mark's label has at most {LABEL_BYTES} bytes", "use a shorter one")
    return when.ns, when.mark


def from_arguments(args: argparse.Namespace, seed: int, drives: int = 1) -> Cuts | None:
    """Check the options; None: no cut is requested."""
    if not args.cut_at and args.cut_after_commands is None:
        for name in ("cut_seed", "cut_then", "cut_drive", "after_cut"):
            if getattr(args, name) is not None:
                option = "--" + name.replace("_", "-")
                raise SlateError(f"{option} without a cut", "say when, with --cut-at or --cut-after-commands")
        return None
    if args.cut_at and args.cut_after_commands is not None:
        raise SlateError("--cut-at and --cut-after-commands exclude each other", "give one of them")
    for name in ("shell", "record", "record_content"):
        if getattr(args, name):
            raise SlateError(
                f"--{name.replace('_', '-')} does not go with a power cut", "leave one of them out"
            )
    if args.cut_drive is not None and args.one_controller:
        raise SlateError(
            f"--cut-drive {args.cut_drive} with --one-controller: its drives lose their power together",
            "leave --cut-drive out",
        )
    drive = _drive(args, drives)
    then = args.cut_then or ("off" if drive is None else "vanish")
    if args.cut_seed is not None:
        seed = int(number("cut-seed", args.cut_seed, 0, 2**63 - 1))
    if args.cut_at:
        times = [_time(word) for word in args.cut_at.split(",")]
        plans = [Plan(at_ns=ns, seed=seed, then=THEN[then], mark=mark) for ns, mark in times]
        if drives > 1 and drive is None and any(mark for _, mark in times):
            raise SlateError(f"--cut-at {args.cut_at} with {drives} drives: each gets the mark at another time",
                             "say which one loses its power, with --cut-drive N")  # fmt: skip
    else:
        after = int(number("cut-after-commands", args.cut_after_commands, 1, 2**63 - 1))
        plans = [Plan(after_commands=after, seed=seed, then=THEN[then])]
    if len(plans) > 1 and (then != "off" or not args.after_cut):
        raise SlateError(
            f"--cut-at {args.cut_at}: a cut after the first is one of a further boot",
            "give --after-cut, and leave --cut-then out",
        )
    if then == "reset" and args.after_cut:
        raise SlateError("--after-cut with --cut-then reset: the job runs again", "use --cut-then off")
    if args.ephemeral and args.after_cut:
        raise SlateError("--after-cut with --ephemeral: nothing of the drive is kept", "leave --ephemeral out")
    if args.print_libvirt:
        raise SlateError("--print-libvirt with a cut: libvirt plans none", "leave one of them out")
    script = Path(args.after_cut) if args.after_cut else None
    return Cuts(tuple(plans), then, script, jobfile.read(script) if script else "", drive)


def _drive(args: argparse.Namespace, drives: int) -> int | None:
    """Return which of several drives loses its power; None: all of them, and the machine."""
    if drives == 1:
        if args.cut_drive is not None:
            raise SlateError(f"--cut-drive {args.cut_drive}: this run has one drive", "leave it out")
        return None
    then = args.cut_then
    if args.cut_drive is None:
        if then in ("vanish", "reset"):
            one = "say which one vanishes, with --cut-drive N" if then == "vanish" else "use --cut-then off"
            raise SlateError(f"--cut-then {then} does not go with the power of all {drives} drives", one)
        return None
    if then not in (None, "vanish"):
        raise SlateError(
            f"--cut-drive {args.cut_drive} with --cut-then {then}: the machine goes on when one drive loses its power",
            "use --cut-then vanish, or leave --cut-drive out: then all drives lose it",
        )
    return int(number("cut-drive", args.cut_drive, 0, drives - 1))


def boots(options: RunOptions) -> list[tuple[RunOptions, Plan | None]]:
    """Return the boots in order, each with its cut."""
    cuts: Cuts | None = options.cuts
    if not cuts:
        return [(options, None)]
    found: list[tuple[RunOptions, Plan | None]] = [(options, cuts.plans[0])]
    if cuts.script:
        after = dataclasses.replace(
            options,
            work=Script(cuts.script, cuts.script_text),
            environment=options.environment | options.work.environment(),
            precondition="instant",
        )
        found += [(after, plan) for plan in (*cuts.plans[1:], None)]
    return found


def drives_of(options: RunOptions) -> list[Drive]:
    """Return the drives that lose their power."""
    if not options.cuts:
        return []
    one = options.cuts.drive
    return options.drives if one is None else [options.drives[one]]


def of_all(powers: list[Json]) -> Json:
    """Return the account of a cut of several drives: what all of them lost."""
    counts = ("lost-requests", "torn-programs", "torn-erases")
    return powers[0] | {key: sum(power[key] for power in powers) for key in counts if key in powers[0]}


def came_too_late(plan: Plan) -> MachineError:
    """Return the error of a run whose guest ended before the cut."""
    early = "no power cut: the guest had powered off before its moment"
    if not plan.mark:
        return MachineError(early, "name an earlier one (the guest's phases are shown above)")
    return MachineError(f"{early}, which is {plan.at_ns} ns after the mark '{plan.mark}'",
                        f"let the guest set the mark (slate-mark point {plan.mark}; fio's jobs set marks with their "
                        "names), or give a shorter time after it")  # fmt: skip


def add_mount(cut: Json, power: Json) -> None:
    """Add the cost of mounting after a cut, which only the next boot reports."""
    if power.get("mounts"):
        cut |= {key: power[key] for key in power if key.startswith("mount")}
        cut["mount-ns"] = power["ready-ns"] - power["on-ns"]


def text(cuts: list[Json]) -> str:
    """Return the report's lines: commands in flight, and the cost of mounting."""
    lines = []
    for nth, power in enumerate(cuts, 1):
        of = f" of {power['drive']}" if "drive" in power else ""
        lines.append(
            f"power cut {nth}{of}  at {power['cut-ns'] / 1e6:.6f} ms: {power['lost-requests']} requests in flight, "
            f"{power['torn-programs']} programs and {power['torn-erases']} erases torn, "
            f"{power['undone']} commands not begun"
        )
        if power.get("saved-ns") or power.get("unsaved-pages"):
            left = power["unsaved-pages"]
            lines.append(
                f"             capacitors: {power['saved-programs']} programs in {power['saved-ns'] / 1e6:.6f} ms, "
                + (f"{left} pages of the write buffer lost" if left else "the write buffer saved")
            )
        if "mount-ns" in power:
            lines.append(
                f"             mounted in {power['mount-ns'] / 1e6:.6f} ms: "
                f"{power['mount-reads']} reads, {power['mount-programs']} programs, "
                f"{power['mount-erases']} erases"
            )
    return "\n".join(lines) + "\n" if lines else ""
