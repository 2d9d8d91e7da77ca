# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes the cuts of a campaign, in groups.

A group is one guest: an aged drive as the work's 'make' left it, and the work, recorded with its content up to the
group's latest cut, which QEMU makes. Each cut is then made on a copy of that first drive by slate-replay, which replays
the recording up to the cut's nanosecond of the drive's clock; for the latest cut the two files must be equal, byte for
byte. There is no recording of a drive with zones, nor of several drives, so QEMU makes each of their cuts, in a guest
of its own. Then a guest runs the work's 'check' on the drives, as many in a boot as ROOM has space for (of several
drives, those of one cut), with what the work had announced before each cut.

If the user named the times (--cut-at, times.py), they may be relative to an announcement. So the guest runs to the end
of the span, and its recording tells when the announcement was made.
"""

from __future__ import annotations

import csv
import random
import time
from collections.abc import Iterator
from pathlib import Path

from ..errors import naming
from ..shape import Json
from . import onhost, states, vanish
from .campaign import Campaign, Moment, Recorded
from .files import BY_CLOCK, content_of, copy_sparse, drives_at_once, replayed, with_room
from .times import announced


def group(campaign: Campaign, number: int, indices: range) -> Iterator[Json]:
    """Return the log's lines for some cuts of a group."""
    if campaign.at:
        work = campaign.work(number, campaign.end())
        events = campaign.events(work)
        times = {index: campaign.time(campaign.when(index), work, events) for index in indices}
        wanted = [campaign.moment(*one) for one in times.items()]
    elif campaign.kind.lives or not campaign.recorded:  # each of its cuts has a guest of its own
        work = Recorded(campaign.seed_of(number), campaign.folder / "none", b"")
        wanted = [campaign.moment(index) for index in indices]
    else:
        work = campaign.work(number, last(campaign, number))
        wanted = [campaign.moment(index) for index in indices]
    most = 1 if campaign.base.more else campaign.workload.per_boot
    step = min(most, drives_at_once(campaign.origin.stat().st_blocks * 512))
    for at in range(0, len(wanted), step):
        yield from batch(campaign, work, wanted[at : at + step])


def last(campaign: Campaign, number: int) -> Moment:
    """Return the latest cut of a group."""
    moments = (campaign.moment(index) for index in range(number * campaign.group, (number + 1) * campaign.group))
    return max(moments, key=lambda moment: moment.at_ns)


def lines(campaign: Campaign, begin: int, end: int) -> Iterator[Json]:
    """Return the log's lines for these cuts."""
    for number in range(begin // campaign.group, (end + campaign.group - 1) // campaign.group):
        first = number * campaign.group
        with naming(campaign.folder):
            yield from group(campaign, number, range(max(begin, first), min(end, first + campaign.group)))


def cut(campaign: Campaign, work: Recorded, moment: Moment, name: str) -> tuple[Path, Json, list[bytes]]:
    """Make a drive as a cut of this kind leaves it. Returns it, the account of the cut, and what was announced."""
    kind, durable = campaign.kind, announced(work.report, moment.at_ns)
    if kind.lives:
        return vanish.cut(campaign, work.seed, moment, name)
    if not campaign.recorded:
        drive = campaign.folder / f"{name}.slate"
        found = campaign.cut(work.seed, moment, drive)
        return drive, found.power | {"gc-runs": 0}, announced(found.results, found.power["cut-ns"])
    if not kind.choose:
        return *campaign.replay(work, moment, name, *kind.replay), durable
    _, power = campaign.replay(work, moment, name, "--unflushed", *campaign.lies())
    chance = random.Random(f"slate cuts {moment.plan.seed} takes")
    losses = kind.choose(chance, power["unflushed"], power["atomic_bytes"])
    drive = campaign.take(work, moment, losses, name)
    return drive, power | {"unflushed": len(power["unflushed"]), "taken": len(losses)}, durable


def batch(campaign: Campaign, work: Recorded, moments: list[Moment]) -> list[Json]:
    """Check some cuts, in one guest or here."""
    if campaign.workload.on_host:
        return onhost.lines(campaign, work, moments)
    if campaign.states > 1:
        return [states.line(campaign, work, moment) for moment in moments]
    began = time.monotonic()
    cuts = [cut(campaign, work, moment, f"cut{at}") for at, moment in enumerate(moments)]
    drives, lists = [drive for drive, _, _ in cuts], [lines for _, _, lines in cuts]
    if campaign.kind.twice:
        for (_, power, _), second in zip(cuts, cut_checks(campaign, work, moments, drives, lists)):
            power["second_cut_ns"] = second
    said = campaign.check(work, drives, lists, f"in the check of cut {moments[0].id}")
    seconds = (time.monotonic() - began) / len(moments)
    return [
        moment.line(power, lines, words, seconds)
        for moment, (_, power, lines), words in zip(moments, cuts, said)
    ]


def cut_checks(
    campaign: Campaign, work: Recorded, moments: list[Moment], drives: list[Path], lists: list[list[bytes]]
) -> list[int | None]:
    """Let the check write to the drives, and cut each within one of these writes; returns the times.

    None: the check did not write.
    """
    before = [drive.with_suffix(".before") for drive in drives]
    for drive, copy in zip(drives, before):
        copy_sparse(drive, copy)
    campaign.check(work, drives, lists, f"in the first check of cut {moments[0].id}", recorded=True)
    return [_cut_check(*one) for one in zip(moments, drives, before)]


def _cut_check(moment: Moment, drive: Path, before: Path) -> int | None:
    trace, rows = content_of(drive), drive.with_suffix(".csv")
    replayed(f"cut {moment.id}", "--drive", before, *BY_CLOCK, "--csv", rows, trace)
    with open(rows, encoding="utf-8") as file:
        writes = [row for row in csv.DictReader(file) if row["op"] == "write"]
    before.replace(drive)
    if not writes:
        return None
    chance = random.Random(f"slate cuts {moment.plan.seed} again")
    write = chance.choice(writes)
    at_ns = int(write["submit_ns"]) + chance.randint(0, int(write["latency_ns"]))
    with with_room(drive.parent):
        replayed(f"cut {moment.id}", "--drive", drive, "--open", "--cut-at", at_ns,
                 "--cut-seed", chance.randrange(1 << 32), trace)  # fmt: skip
    trace.unlink()
    return at_ns
