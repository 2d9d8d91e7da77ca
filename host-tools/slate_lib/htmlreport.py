# SPDX-License-Identifier: GPL-2.0-or-later
"""'slate report --html' makes one page of a run."""

from __future__ import annotations

import os
from pathlib import Path

from . import byjob, figures, fiolog, page, paths, reports, units
from .account import PERCENTILES, points_ns
from .charts import Charts
from .errors import OK, SlateError
from .page import Card, Cards, Figure, Section, Table
from .report import Report
from .rows import Row
from .runfiles import RunFiles

Cell = str | tuple[str, float | None]


def us(ns: float | None) -> Cell:
    """Format a latency."""
    return (units.us(ns), ns)


def latency_table(shown: Report) -> Table:
    """Return the table of the latencies seen by the guest and the drive."""
    heads = ("job", "", "by", "I/Os", "IOPS", "MiB/s", "mean, µs", *PERCENTILES.values(), "max")
    table = Table("latency", heads)
    before = None
    for row in shown.rows:
        name, new = (row.job, True) if row.job != before else ("", False)
        before = row.job
        if guest := row.guest:
            points = [guest.mean_ns, *points_ns(guest), guest.max_ns]
            latencies: list[Cell] = [us(ns) for ns in points]
            rate: list[Cell] = [
                (units.count(guest.ios), guest.ios),
                (units.rate(guest.iops), guest.iops),
                (f"{guest.bytes_per_s / (1 << 20):,.1f}", guest.bytes_per_s),
            ]
            table.add(name, [row.op, "guest", *rate, *latencies], new)
            name, new = "", False
        if drive := row.drive:
            shares = points_ns(drive)
            table.add(
                name,
                [
                    row.op,
                    "drive",
                    (units.count(drive.ios), drive.ios),
                    *_rate(row),
                    us(drive.mean_ns()),
                    *(us(ns) for ns in shares),
                    us(drive.latency_max_ns),
                ],
                new,
            )
    return table


def _rate(row: Row) -> list[Cell]:
    """Return IOPS and MiB/s by the drive, for results without figures of a guest."""
    if not row.rate:
        return ["", ""]
    rate = row.rate
    return [(units.rate(rate.iops), rate.iops), (f"{rate.bytes_per_s / (1 << 20):,.1f}", rate.bytes_per_s)]


def parts_table(shown: Report) -> Table:
    """Return the table of the parts of the guest's mean latency, or of the drive's if there is no guest."""
    heads = {key: title for key, title, _ in shown.part_columns()}
    parts = list(heads)
    whole = ("guest, µs", "path") if shown.GUEST else ("drive, µs",)
    table = Table("parts", ("job", "", *whole, *(heads[part] for part in parts), *shown.busy_columns()))
    before = None
    for row in shown.rows:
        if not row.drive:
            continue
        table.add(row.job if row.job != before else "", _part_cells(shown, row, parts), row.job != before)
        before = row.job
    return table


def _part_cells(shown: Report, row: Row, parts: list[str]) -> list[Cell]:
    assert row.drive
    busy: list[Cell] = [
        "-" if share is None else (f"{100 * share:.0f} %", share) for share in shown.busy_shares(row)
    ]
    whole = [us(row.guest.mean_ns) if row.guest else "-", us(row.path_ns())]
    return [
        row.op,
        *(whole if shown.GUEST else [us(row.drive.mean_ns())]),
        *(us(row.drive.mean_part_ns(part)) for part in parts),
        *busy,
    ]


def limits_table(shown: Report) -> Table:
    """Return the table of what limited each job."""
    table = Table("limits", ("job", "limit", "depth", "in flight: guest", "drive", "busiest vCPU", ""))
    for job, limit in shown.limits.items():
        cpu = limit.use.processor()
        table.add(
            job,
            [
                limit.name,
                ("-" if limit.depth is None else str(limit.depth), limit.depth),
                *((units.in_flight(number), number) for number in (limit.guest, limit.drive)),
                "-" if cpu is None else (f"{100 * cpu:.0f} %", cpu),
                limit.why,
            ],
        )
    return table


def flash_table(shown: Report) -> Table:
    """Return the table of what flash did in each job."""
    table = Table("flash", ("job", *byjob.HEADS, "steady"))
    for part in shown.flash:
        table.add(part.name, [*part.words(shown.device.unit_bytes), part.steady])
    return table


def drive_table(shown: Report) -> Table:
    """Return the figures of the whole run, as text."""
    table = Table("drive", (), words=True)
    for name, told in shown.drive_lines():
        table.add(name, [told])
    return table


def app_table(shown: Report) -> Table:
    """Return the table of the application's own results."""
    assert shown.app
    table = Table("application", ("application", "operations", "per s", "mean, µs", "p50", "p99", "max"))
    for part in shown.app["parts"]:
        rate = part["operations"] / part["seconds"] if part["seconds"] else 0
        table.add(
            part["name"],
            [
                (units.count(part["operations"]), part["operations"]),
                (units.rate(rate), rate),
                *(us(part["latency_ns"][key]) for key in ("mean", "p50", "p99", "max")),
            ],
        )
    return table


def _job_cards(made: Charts, shown: Report, run: RunFiles) -> Cards:
    """Return a card for each job, with all its charts."""
    found = []
    spans = {span.name: span for span in figures.spans(shown.rows)}
    logged = {} if run.replay else fiolog.of(run.path, run.fio)
    for job in dict.fromkeys(row.job for row in shown.rows):
        mine = [row for row in shown.rows if row.job == job]
        drawn = [(svg, "Share of I/Os up to a latency") for svg in figures.latency(made, job, mine, run.fio)]
        if job in spans and run.series:
            drawn += [(svg, "Over time, by the drive") for svg in figures.time_line(made, spans[job], run.series)]
        if job in logged:
            drawn += [(svg, "Percentiles over time, by the guest")
                      for svg in figures.percentiles(made, job, logged[job])]
        if drawn:
            found.append(Card(job, [Figure(svg, "", about, job) for svg, about in drawn]))
    return Cards(found)


def _time_charts(made: Charts, shown: Report, run: RunFiles) -> list[Figure]:
    if not run.series:
        return []
    jobs = figures.spans(shown.rows) if shown.GUEST else []
    line = "; a dotted line: a job begins" if jobs else ""
    wanted = (
        ("Programmed, and free blocks", f"by cause{line}",
         figures.programmed(made, run.series, shown.device, jobs)),
        ("WAF", f"programmed / written by the host, in each interval{line}",
         figures.amplification(made, run.series, shown.device, jobs)),
        ("Inside the drive", "I/Os at a time, by what they wait for",
         figures.where_over_time(made, run.series, jobs)),
        ("Caches", f"shares{line}", figures.caches(made, run.series, jobs)),
        ("Controller and link", f"share of the time busy{line}",
         figures.controller(made, run.series, shown.device, jobs)),
        ("Dies", "share of the time busy", figures.busy_map(made, run.series, "dies", "die")),
        ("Channels", "share of the time busy", figures.busy_map(made, run.series, "channels", "channel")),
        ("Guest's processors", "share of the time busy",
         figures.busy_map(made, run.series, "processors", "processor")),
    )
    return [Figure(svg, title, about) for title, about, svgs in wanted for svg in svgs]


def _busy_charts(made: Charts, shown: Report, run: RunFiles) -> list[Figure]:
    """Return charts of busy times if the run has no busy times over time."""
    if run.series and run.series.raw["dies"]:
        return []
    return [
        Figure(svg, f"{name}s", "share of the time busy, by cause")
        for what, name in (("dies", "Die"), ("channels", "Channel"))
        for svg in figures.busy_bars(made, shown.device, what, name.lower())
    ]


def _wear_charts(made: Charts, run: RunFiles) -> list[Figure]:
    if not run.blocks:
        return []
    found = [
        Figure(svg, "Erases", "of each block, at the end; white: bad blocks")
        for svg in figures.wear(made, run.blocks, "erases", "Erases")
    ]
    if run.blocks["valid-units"]:
        found += [
            Figure(svg, "Valid mapping units", "of each block, at the end")
            for svg in figures.wear(made, run.blocks, "valid-units", "Valid units")
        ]
    return found


def render(run: RunFiles) -> str:
    """Return the page of a run."""
    shown = reports.of(run)
    made = Charts()
    title, facts = shown.title()
    sections = []
    if shown.app:
        sections.append(Section("Application", blocks=[app_table(shown)]))
    if shown.rows:
        about = (
            "measured in the guest, and in the drive for the same I/Os"
            if shown.GUEST
            else "from the arrival at the drive to the completion"
        )
        sections.append(Section("Latency", about, [latency_table(shown), _job_cards(made, shown, run)]))
    if any(row.drive for row in shown.rows):
        bars = [Figure(svg, "Mean latency by cause", "shares") for svg in figures.where(made, shown.rows)]
        about = f"{shown.PARTS_OF}, in parts; µs"
        sections.append(Section("Where the time went", about, [parts_table(shown), page.Charts(bars)]))
    if shown.limits:
        sections.append(Section("What limited each job", blocks=[limits_table(shown)]))
    if shown.flash:
        sections.append(Section("What flash did in each job", blocks=[flash_table(shown)]))
    busy = page.Charts(_busy_charts(made, shown, run))
    sections.append(Section("The drive", shown.SCOPE, [drive_table(shown), busy]))
    if over_time := _time_charts(made, shown, run):
        sections.append(Section("Over time", blocks=[page.Charts(over_time)]))
    if wear := _wear_charts(made, run):
        sections.append(Section("Blocks", "a plane a row", [page.Charts(wear)]))
    facts = [*facts, guest] if (guest := shown.guest()) else facts
    return page.render(title, facts, sections, list(shown.alarms()), _notes(shown, run))


def _notes(shown: Report, run: RunFiles) -> list[str]:
    found = list(shown.notes())
    if run.series:
        found.append(
            f"over time: an interval is {run.series.interval_ns / 1e6:g} ms; an I/O counts when the drive knows "
            "its end; the time of a flash command that goes beyond its interval is carried over to the next"
        )
    if run.replay and not run.replay.get("timeline"):
        found.append("for free blocks, causes, dies and channels over time, replay with --timeline")
    elif not run.series:
        found.append("there is no time line: this run has no series.json (it is older, or was made by another QEMU)")
    return found


def _is_page(path: Path) -> bool:
    with open(path, "rb") as file:
        return file.read(len(page.BEGIN)) == page.BEGIN.encode()


def write(path: Path, text: str) -> None:
    """Write the file completely or not at all."""
    target = Path(os.path.realpath(path))
    if target.is_file() and target.stat().st_size and not _is_page(target):
        raise SlateError(
            f"{paths.short(path)} is there, and is no page",
            "choose another name after --html; only pages are overwritten",
        )
    plain = target.is_file() or not target.exists()  # a pipe or a device must not be replaced
    temporary = target.with_name(f".{target.name}.tmp") if plain else target
    try:
        temporary.write_text(text, encoding="utf-8", errors="replace")
        if plain:
            os.replace(temporary, target)
    except OSError as error:
        raise SlateError(
            f"can not write {paths.short(path)}: {(error.strerror or str(error)).lower()}",
            "name a file in a directory that is there and may be written to: --html FILE; or --text, without a page",
        ) from None
    finally:
        if plain:
            temporary.unlink(missing_ok=True)
    print(f"slate: wrote {paths.short(path)}")


def report(run: RunFiles, path: Path | None) -> int:
    """Execute 'slate report RUN [--html [FILE]]'."""
    write(path or (run.path.with_suffix(".html") if run.replay else run.path / "report.html"), render(run))
    return OK
