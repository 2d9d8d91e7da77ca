# SPDX-License-Identifier: GPL-2.0-or-later
"""Executes 'slate cuts --id ID --shrink': makes the cuts and the states for the searches of shrink.py."""

from __future__ import annotations

import csv
import dataclasses
import random
import shlex

from ..errors import MachineError, plain
from ..shape import Json
from . import figures, groups, kinds, shrink
from .campaign import Campaign, Moment, Recorded
from .files import BY_CLOCK, copy_sparse, replayed
from .times import announced, lines
from .workload import VERDICTS, verdict_of


def run(campaign: Campaign, index: int, words: list[str]) -> shrink.Account | None:
    """Explain a cut whose check fails; None: its check does not fail. words: the campaign's options."""
    group = index // campaign.group
    last = campaign.end() if campaign.at else groups.last(campaign, group)
    work = campaign.work(group, last)
    at_ns = campaign.time(campaign.when(index), work, campaign.events(work)) if campaign.at else None
    bad = campaign.moment(index, at_ns)

    def verdicts(times: list[int]) -> list[bool]:
        moments = [dataclasses.replace(bad, plan=dataclasses.replace(bad.plan, at_ns=ns)) for ns in times]
        found = [not line["good"] for line in groups.batch(campaign, work, moments)]
        print(f"shrink    {times[0]} to {times[-1]} ns: {sum(found)} of {len(found)} bad", flush=True)
        return found

    begin_ns = campaign.job_start_ns
    (first, line) = (verdicts([begin_ns])[0], groups.batch(campaign, work, [bad])[0])
    if line["good"]:
        return None
    if first:
        raise MachineError(f"cut {bad.id}: the check fails at {begin_ns} ns, too, before the work has begun",
                           "let --check accept a drive as --make leaves it")  # fmt: skip
    found_ns = shrink.first_bad(begin_ns, bad.at_ns, verdicts)
    moment = dataclasses.replace(bad, plan=dataclasses.replace(bad.plan, at_ns=found_ns))
    return account(campaign, work, moment, words)


def account(campaign: Campaign, work: Recorded, moment: Moment, words: list[str]) -> shrink.Account:
    """Find the smallest loss that explains a bad cut."""
    (line,) = groups.batch(campaign, work, [moment])
    unflushed, lost = losses(campaign, work, moment)
    durable = announced(work.report, moment.at_ns)

    def are_bad(tried: list[list[Json]]) -> list[bool]:
        found: list[bool] = []
        for at in range(0, len(tried), shrink.WIDTH):
            part = tried[at : at + shrink.WIDTH]
            drives = [campaign.take(work, moment, [kinds.Loss(one["request"]) for one in losses], f"take{number}")
                      for number, losses in enumerate(part)]  # fmt: skip
            said = campaign.check(work, drives, [durable] * len(part), "while a cut is shrunk")
            found += [verdict_of(one) != VERDICTS[0] for one in said]
        print(f"shrink    {len(tried)} states with {min(map(len, tried))} to {max(map(len, tried))} lost: "
              f"{sum(found)} bad", flush=True)  # fmt: skip
        return found

    explained = bool(lost) and are_bad([lost])[0]
    least = shrink.smallest(lost, are_bad) if explained else None
    again = ["slate", "cuts", *words, "--id", moment.id, "--cut-at", f"{moment.at_ns}ns"]
    numbers = ",".join(str(one["request"]) for one in least or [])
    marks = [(plain(said.decode(errors="replace")), ns) for said, ns in lines(work.report)]
    return shrink.Account(
        moment.id, line["verdict"], line["said"], moment.at_ns, unflushed, lost, least, marks, shlex.join(again),
        shlex.join([*again, "--kind", "off", "--take", numbers]) if least else None,
        requests(campaign, work, moment),
    )  # fmt: skip


def requests(campaign: Campaign, work: Recorded, moment: Moment) -> list[Json]:
    """Return the last requests until a cut."""
    drive, rows = campaign.folder / "requests.slate", campaign.folder / "requests.csv"
    copy_sparse(campaign.origin, drive)
    replayed(f"cut {moment.id}", "--drive", drive, *BY_CLOCK, "--csv", rows, work.trace)
    drive.unlink()
    with open(rows, encoding="utf-8") as file:
        return figures.csv_rows(csv.DictReader(file), moment.at_ns, shrink.DRAWN)


def losses(campaign: Campaign, work: Recorded, moment: Moment) -> tuple[list[Json], list[Json]]:
    """Return the unflushed requests at a cut, and those of them that the kind of cut loses.

    A drive that ignores flushes has made nothing durable, so all requests count.
    """
    _, power = campaign.replay(work, moment, "look", "--survivors", *campaign.lies(), *campaign.kind.replay)
    unflushed = power["unflushed"]
    if not campaign.kind.choose:
        return unflushed, shrink.lost_of(unflushed)
    chance = random.Random(f"slate cuts {moment.plan.seed} takes")
    taken = {loss.request for loss in campaign.kind.choose(chance, unflushed, power["atomic_bytes"])}
    return unflushed, [one for one in unflushed if one["request"] in taken]
