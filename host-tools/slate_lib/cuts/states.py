# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks several states of a cut (--states N): subsets of its unflushed writes and trims, as NVMe allows any drive.

No FTL decides: the unflushed requests are what a replay lists, and each state is a replay without the lost ones. A cut
is as bad as the worst of its states. Its line has their number, and what each bad one has lost, for --take.
"""

from __future__ import annotations

import random
import time

from ..shape import Json
from . import kinds
from .campaign import Campaign, Moment, Recorded
from .files import drives_at_once
from .times import announced
from .workload import FAILED, VERDICTS, verdict_of

_ORDER = (*VERDICTS, FAILED)


def line(campaign: Campaign, work: Recorded, moment: Moment) -> Json:
    """Return a cut's line of the log."""
    began = time.monotonic()
    drive, power = campaign.replay(work, moment, "look", "--unflushed", *campaign.lies())
    drive.unlink()
    chance = random.Random(f"slate cuts {moment.plan.seed} states")
    states = kinds.states(chance, power["unflushed"], campaign.states)
    lines = announced(work.report, moment.at_ns)
    said: list[str] = []
    at_once = min(campaign.workload.per_boot, drives_at_once(campaign.origin.stat().st_blocks * 512))
    for at in range(0, len(states), at_once):
        part = states[at : at + at_once]
        drives = [campaign.take(work, moment, losses, f"state{number}") for number, losses in enumerate(part)]
        said += campaign.check(work, drives, [lines] * len(part), f"in the check of cut {moment.id}")
    verdicts = [verdict_of(one) for one in said]
    worst = max(range(len(said)), key=lambda at: _ORDER.index(verdicts[at]))
    bad = [[verdict, [loss.request for loss in losses]] for verdict, losses in zip(verdicts, states)
           if verdict != _ORDER[0]]  # fmt: skip
    power |= {"unflushed": len(power["unflushed"]), "states": len(states), "bad": bad}
    return moment.line(power, lines, said[worst], time.monotonic() - began)
