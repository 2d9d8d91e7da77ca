# SPDX-License-Identifier: GPL-2.0-or-later
"""'slate cuts report' makes a text and a page of a campaign: its log, and the accounts that --shrink has added."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from .. import paths, units
from ..errors import OK, SlateError
from ..shape import Json
from . import kinds, logfile, shrink, workload

if TYPE_CHECKING:
    from ..charts import Charts
    from ..page import Section, Table

MOST = 12  # losses with a section of their own
SAID = 10  # lines of what a check said, on the page
MET = (
    ("lost_requests", "requests in flight"),
    ("torn_programs", "programs torn"),
    ("torn_erases", "erases torn"),
    ("unflushed", "writes and trims not flushed"),
    ("taken", "of these, taken by the cut"),
    ("announced_after", "announcements after the drive had gone"),
    ("gc_runs", "runs of GC"),
)


@dataclass
class Campaign:
    """Holds what a campaign's files say. accounts: those of --shrink, by the cut's id."""

    path: Path
    head: Json
    cuts: list[Json]
    accounts: dict[str, shrink.Account]

    @property
    def bad(self) -> list[Json]:
        """Return the cuts whose check did not accept the drive."""
        return [cut for cut in self.cuts if not cut["good"]]

    def command(self, cut: Json) -> str:
        """Return the command that repeats a cut; logs of earlier builds do not have it."""
        return f"{self.head.get('repeat', 'slate cuts ...')} --id {cut['id']}"

    def what(self) -> str:
        """Return the work's name."""
        if "fs" in self.head:
            return f"fsyncs on {self.head['fs']}"
        if "ready" in self.head:
            return str(self.head["ready"])
        scripts = self.head.get("work", {})
        return "a work of one's own" + (f" ({scripts['work'][:12]})" if "work" in scripts else "")

    def kind(self) -> tuple[str, kinds.Kind | None]:
        """Return the name of the kind of the cuts, and the kind if it has a name."""
        name = self.head.get("kind", "off")
        return name, kinds.KINDS.get(name)

    def facts(self) -> list[str]:
        """Return what the cuts have in common."""
        head = self.head
        name, _ = self.kind()
        found = [self.what()]
        for drive in (head, *head.get("more", [])):
            found += [f"drive {Path(drive['profile']).stem}", *drive["settings"]]
        found += [f"aged {head['age']:g}x"]
        found += [f"kernel {head['kernel']}"] if "kernel" in head else []
        found += [f"guest {head['guest']}"] if "guest" in head else []
        return [*found, f"seed {head['seed']}", f"kind {name}", units.many(len(self.cuts), "cut")]


def load(path: Path) -> Campaign:
    """Read a campaign's log, and the accounts beside it."""
    if not path.is_file():
        raise SlateError(f"{paths.short(path)}: there is no such log", "name the log of a campaign of 'slate cuts'")
    lines = logfile.lines(path)
    if not lines or not isinstance(lines[0], dict) or "slate_cuts" not in lines[0]:
        raise SlateError(f"{paths.short(path)}: is no log of 'slate cuts'", "name the log of a campaign")
    if lines[0]["slate_cuts"] != logfile.VERSION:
        raise SlateError(f"{paths.short(path)}: is a log of another version ({lines[0]['slate_cuts']})",
                         "make the cuts again with this build")  # fmt: skip
    logfile.checked(path, lines[:1], logfile.HEAD, 1)
    logfile.checked(path, lines[1:], logfile.CUT, 2)
    told = logfile.accounts_of(path)
    accounts = {one["id"]: shrink.Account(**{key: one[key] for key in logfile.ACCOUNT})
                for one in logfile.checked(told, logfile.lines(told), logfile.ACCOUNT, 1)}  # fmt: skip
    return Campaign(path, lines[0], lines[1:], accounts)


def cause(campaign: Campaign, cut: Json) -> str:
    """Return why a check did not accept a drive, as far as it is known."""
    if cut["verdict"] == workload.FAILED:
        return "the check gave no verdict"
    account = campaign.accounts.get(cut["id"])
    if not account:
        return "not explained yet"
    if account.smallest is None:
        return "a torn write, or durable data lost"
    flying = sum(one["done_ns"] is None for one in account.smallest)
    if not flying:
        return "completed writes lost that no flush had made durable"
    return "writes in flight lost" if flying == len(account.smallest) else "unflushed writes lost, some in flight"


def met(cuts: list[Json]) -> list[tuple[str, int, int, int]]:
    """Return, for each kind of event that cuts met, its name, the cuts that met any, the median and the most."""
    found = []
    for key, name in MET:
        values = sorted(cut[key] for cut in cuts if key in cut)
        if values:
            found.append((name, sum(value > 0 for value in values), values[len(values) // 2], values[-1]))
    return found


def verdicts(campaign: Campaign) -> list[tuple[str, int]]:
    """Return the number of cuts with each verdict."""
    counted = Counter(cut["verdict"] for cut in campaign.cuts)
    return [(name, counted[name]) for name in (*workload.VERDICTS, workload.FAILED) if counted[name]]


def causes(campaign: Campaign) -> list[tuple[str, int]]:
    """Return the number of bad cuts with each cause."""
    return Counter(cause(campaign, cut) for cut in campaign.bad).most_common()


def said(text: str) -> str:
    """Return what a check said, without its status."""
    return text.rpartition("\n\nstatus")[0].strip() or text.strip()


def shortly(text: str) -> str:
    """Return the first lines of a text, and how many follow."""
    lines = text.splitlines()
    more = len(lines) - SAID
    return "\n".join(lines[:SAID] + ([f"... and {more} more lines"] if more > 0 else []))


def text(campaign: Campaign) -> str:
    """Return the report as text."""
    _, kind = campaign.kind()
    lines = [f"power cuts: {', '.join(campaign.facts())}"]
    lines.append(f"promises   {kind.promises if kind else kinds.ALL}")
    checked = units.count(sum(cut["operations"] for cut in campaign.cuts))
    lines.append(f"checked    {checked} announcements that something is durable")
    lines += [f"{verdict:<42} {count:>7,}" for verdict, count in verdicts(campaign)]
    lines += ["", f"{'what the cuts met':<42} {'cuts':>7} {'median':>7} {'most':>7}"]
    lines += [f"{what:<42} {some:>7,} {middle:>7,} {most:>7,}" for what, some, middle, most in met(campaign.cuts)]
    if campaign.bad:
        lines += ["", *(f"{count:>7} {why}" for why, count in causes(campaign)), ""]
    for cut in campaign.bad:
        account = campaign.accounts.get(cut["id"])
        if account:
            lines.append(account.text())
        else:
            lines += [f"cut {cut['id']}: {cut['verdict']} at {cut['cut_ns']} ns; {cause(campaign, cut)}",
                      *(f"check     {line}" for line in said(cut["said"]).splitlines()[:4]),
                      f"repeat    {campaign.command(cut)}", ""]  # fmt: skip
    return "\n".join(lines).rstrip() + "\n"


# ---- the page


def _words(name: str, rows: list[tuple[str, str]]) -> Table:
    from ..page import Table

    table = Table(name, (), words=True)
    for row, words in rows:
        table.add(row, [words])
    return table


def _counts(name: str, head: tuple[str, ...], rows: Iterable[tuple[str, *tuple[int, ...]]]) -> Table:
    from ..page import Table

    table = Table(name, head)
    for words, *numbers in rows:
        table.add(words, [(units.count(number), number) for number in numbers])
    return table


def _loss(campaign: Campaign, cut: Json, made: Charts, number: int) -> Section:
    """Return the section of a bad cut."""
    from .. import page
    from . import figures

    account = campaign.accounts.get(cut["id"])
    rows = [("check", shortly(said(account.said if account else cut["said"]))), ("cause", cause(campaign, cut))]
    drawn: list[page.Figure] = []
    if account:
        least = account.smallest
        rows += [
            ("first bad time", f"{account.at_ns} ns of the drive's clock; good 1 ns earlier"),
            ("durable", account.durable()),
            ("unflushed", f"{len(account.unflushed)} writes and trims, of which the drive lost {len(account.lost)}"),
            ("least loss", "whole writes that are lost do not explain it" if least is None else
             ", ".join(map(shrink.name, least))),
            ("repeat", account.repeat),
            *([("repeat the least loss", account.repeat_loss)] if account.repeat_loss else []),
        ]  # fmt: skip
        about = "the last requests before the first bad cut"
        drawn = [page.Figure(svg, "Timeline", about, f"cut-{number}") for svg in figures.timeline(made, account)]
    else:
        rows += [("repeat", campaign.command(cut)), ("explain", f"{campaign.command(cut)} --shrink")]
    blocks: list[page.Block] = [_words(f"loss-{number}", rows), page.Charts(drawn)]
    return page.Section(f"Cut {cut['id']}: {cut['verdict']}", blocks=blocks)


def page_of(campaign: Campaign) -> str:
    """Return the page."""
    from .. import page
    from ..charts import Charts
    from . import figures

    made = Charts()
    name, kind = campaign.kind()
    announced = sum(cut["operations"] for cut in campaign.cuts)
    promised = _words("promises", [
        ("a cut", kind.what if kind else name),
        ("NVMe's promises", kind.promises if kind else kinds.ALL),
        ("checked", f"{units.many(announced, 'announcement')} of what is durable"),
        ("repeat all", campaign.head.get("repeat", "")),
    ])  # fmt: skip
    counts = [_counts("verdicts", ("verdict", "cuts"), verdicts(campaign))]
    if campaign.bad:
        counts.append(_counts("causes", ("cause", "cuts"), causes(campaign)))
    counts.append(_counts("met", ("what the cuts met", "cuts with any", "median", "most"), met(campaign.cuts)))
    drawn = [page.Figure(svg, "Cuts over the work's time", "by verdict", "cuts")
             for svg in figures.over_time(made, campaign.cuts)]  # fmt: skip
    sections = [page.Section("What was promised", blocks=[promised]),
                page.Section("What was found", blocks=[page.Tables(counts), page.Charts(drawn)])]  # fmt: skip
    shown = campaign.bad[:MOST]
    sections += [_loss(campaign, cut, made, number) for number, cut in enumerate(shown)]
    if rest := campaign.bad[MOST:]:
        table = page.Table("more", ("cut", "verdict", "at, ns", "cause"), lines=True)
        for cut in rest:
            table.add(cut["id"], [cut["verdict"], str(cut["cut_ns"]), cause(campaign, cut)])
        sections.append(page.Section("Further losses", f"the first {MOST} are above", [table]))
    alarms = [f"{len(campaign.bad)} of {len(campaign.cuts)} cuts lost something, or their check failed"]
    notes = ["times are of the drive's clock; an announcement is a line of 'slate-mark durable'"]
    return page.render(f"Power cuts: {campaign.what()}", campaign.facts()[1:], sections,
                       alarms if campaign.bad else [], notes)  # fmt: skip


def run(args: argparse.Namespace, default: Path) -> int:
    """Run 'slate cuts report [LOG]'."""
    words = args.report
    if words[0] != "report" or len(words) > 2:
        raise SlateError(f"{words[0] if words[0] != 'report' else words[2]}: nothing takes this argument",
                         "write 'slate cuts report [LOG]', or see 'slate cuts --help'")  # fmt: skip
    if len(words) > 1 and args.log:
        raise SlateError("--log with a LOG: both name the log", "leave one of them out")
    campaign = load(Path(words[1]) if len(words) > 1 else default)
    if args.html is None:
        print(text(campaign), end="")
        if args.text:
            return OK
    from .. import htmlreport  # loading charts takes time

    htmlreport.write(Path(args.html) if args.html else campaign.path.with_suffix(".html"), page_of(campaign))
    return OK
