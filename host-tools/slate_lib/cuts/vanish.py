# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes the cuts of the kind 'vanish': the drive is pulled from a running machine, which goes on without it.

The drive keeps what a loss of its power leaves. The machine's requests end with errors once its kernel has waited for
the drive (here 1 s, see cuts-work.sh; by default Linux waits for 30 s). The work goes on until it fails, and at most 1
s after that, or LIVES seconds of guest time. What it announces as durable in this time counts as promised: software
that ignores the errors is found out. So each cut takes a guest of its own, some seconds of CPU time, in place of a
replay; a replay of its recording must leave the same drive.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

from ..errors import MachineError
from ..powercut import ENDED, THEN
from ..shape import Json
from .campaign import Campaign, Moment, Recorded
from .files import copy_sparse, keep_console, same_drives
from .times import lines

LIVES = 5


def cut(campaign: Campaign, seed: int, moment: Moment, name: str) -> tuple[Path, Json, list[bytes]]:
    """Pull the drive from a guest. Returns the drive, the account of the cut, and what the guest announced."""
    drive, trace = campaign.folder / f"{name}.slate", campaign.folder / "vanish.content"
    trace.unlink(missing_ok=True)
    copy_sparse(campaign.origin, drive)
    seconds = LIVES + round(campaign.span_ns / 1e9)
    options = campaign.options("work", drive, {}, CUTS_SEED=seed, CUTS_LIVES=seconds)
    plan = dataclasses.replace(moment.plan, then=THEN["vanish"])
    found = campaign.boot(dataclasses.replace(options, record_content=trace), plan)
    keep_console(campaign.folder, "work")
    if found.reason != ENDED or not found.power["cuts"]:
        when = "after the drive had vanished" if found.power["cuts"] else "before the drive vanished"
        raise MachineError(f"cut {moment.id}: the guest ended {when} (reason: {found.reason}){found.last_words()}")
    copy, power = campaign.replay(Recorded(seed, trace, b""), moment, f"{name}-replay")
    if not same_drives(copy, drive):
        raise MachineError(f"cut {moment.id}: the drive in QEMU and the replay of its recording differ",
                           "report it; --keep DIR keeps both drives")  # fmt: skip
    copy.unlink()
    told = [(words + b"\n", ns) for words, ns in lines(found.results)]
    power["announced_after"] = sum(ns > moment.at_ns for _, ns in told)
    return drive, power, [words for words, _ in told]
