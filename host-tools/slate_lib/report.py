# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes the report: the guest's figures beside those of the drive."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from . import byjob, counters, limits, profiles, rows, units, warn
from .account import LATE_US, NAND_OPS, PERCENTILES, SUB_BUCKETS, Device, points_ns, raf, raf_parts
from .rows import Row
from .series import Series
from .shape import Json

WIDTH = 100
RULE = "─" * WIDTH
BOLD, DIM, YELLOW, PLAIN = "\033[1m", "\033[2m", "\033[33m", "\033[0m"
# These counters of the array are reported if they are not 0.
MEDIA = (
    ("corrected", "reads with many errors"),
    ("retries", "retries"),
    ("uncorrectable", "uncorrectable"),
    ("paired-lost", "pages lost with a torn upper page"),
    ("damaged", "reads of damaged pages of the drive file"),
)
ABILITIES = (
    ("partial-erases", "partial erases"),
    ("parallel-erases", "parallel erases"),
    ("subpage-reads", "sub-page reads"),
    ("lower-reads", "reads of lower pages"),
    ("suspends", "suspensions"),
    # PEN may disturb pages without valid data; the loss of a valid page is reported as a media error
    ("disturb-lost", "pages disturbed past reading"),
)
# The table gives the heading and width of each part of the latency, in the order of account.PARTS.
PART_COLUMNS = (
    ("cell", "cell", 6),
    ("bus", "bus", 6),
    ("host-queue", "host-q", 7),
    ("gc-queue", "GC-q", 7),
    ("buffer", "buffer", 7),
    ("map", "map", 5),
    ("other", "other", 6),
    ("link", "link", 7),
    ("controller", "core-q", 7),
    ("namespace-queue", "ns-q", 7),
)
SELDOM = ("link", "controller", "namespace-queue")  # not every drive has such a part


@dataclass(frozen=True)
class Line:
    """Holds a line of the table of latencies."""

    label: str
    rate: tuple[str, ...]  # IOPS and MiB/s, or a text in place of both
    figures: list[float | None]
    whose: str
    style: str = ""


def rate(iops: float, bytes_per_s: float) -> tuple[str, str]:
    """Return the words for a rate."""
    return units.rate(iops), f"{bytes_per_s / (1 << 20):,.1f}"


def widths_of(least: Iterable[int], lines: Iterable[Iterable[str]]) -> list[int]:
    """Return the widths of columns, in which a blank is before each cell."""
    return [max(column) for column in zip(least, *([len(cell) + 1 for cell in line] for line in lines))]


class Report:
    """Makes the text of one run's report."""

    GUEST = True  # the results include a guest's
    SCOPE = "the whole run, boot included"
    PARTS_OF = "the guest's mean"

    def __init__(
        self,
        raw_device: Json,
        fio: Json | None,
        record: Json,
        app: Json | None = None,
        series: Series | None = None,
    ):
        self.device = Device(raw_device)
        self.fio = fio
        self.app = app
        self.record = record
        self.rows = rows.build(raw_device, fio, of_several=bool(record["settings"].get("drive_name")))
        self.limits = limits.of(self.device, fio, self.rows, series) if self.GUEST else {}
        self.flash = byjob.of(self.device, fio, series) if self.GUEST else []
        self._lines: list[str] = []
        self._pairs: list[tuple[str, str]] = []
        self._color = False

    def text(self, color: bool = False) -> str:
        """Return the whole text."""
        self._color = color
        self._lines = []
        self._head()
        if self.app:
            self._application()
        if any(row.guest or row.drive for row in self.rows):
            self._latencies()
            self._parts()
            self._limits()
        self._by_job()
        self._drive()
        self._notes()
        return "\n".join(line.rstrip() for line in self._lines) + "\n"

    def drive_lines(self) -> list[tuple[str, str]]:
        """Return the lines about the whole drive, as (name, text)."""
        self._color, self._lines, self._pairs = False, [], []
        self._drive()
        return self._pairs

    def alarms(self) -> list[str]:
        """Return warnings that a reader needs before trusting a figure."""
        return [
            *warn.of_marks(self.device),
            *warn.of_flushes(self.device),
            *warn.of_the_map(self.device),
            *warn.warnings(self.device, self.fio, self.rows, self._advice()),
            *limits.alarms(self.limits),
            *self.record.get("drives_said", ()),
        ]

    def _advice(self) -> str:
        """Return what helps against reads of sectors without data."""
        settings = self.record["settings"]
        by_io = settings.get("precondition") == "device" and (settings.get("fill_percent") or 0) >= 100
        if by_io or warn.was_full(self.device):
            return f"{warn.TRIMMED} mkfs trims unless told not to: mkfs.ext4 -E nodiscard, mkfs.xfs -K, mkfs.f2fs -t 0."
        kept = settings.get("drive") and not settings["drive"]["made_by_this_run"]
        return "Make the drive file anew, with --fill 100." if kept else "Fill the drive first (--fill 100)."

    # ---- pieces

    def _add(self, line: str = "", style: str = "") -> None:
        self._lines.append(f"{style}{line}{PLAIN}" if style and self._color else line)

    def title(self) -> tuple[str, list[str]]:
        """Return the job and the drive, and facts about the run."""
        settings = self.record["settings"]
        what = settings.get("app") or settings.get("job") or settings.get("script")
        what = what or ("a guest of your own" if settings.get("own_guest") else "shell")
        drive = settings.get("drive") or {}
        name = f"content {settings['content']}" if settings.get("content") else Path(what).name
        if settings.get("load"):
            name = f"slate-load {Path(settings['load']).name}"
        left = f"{name} on {Path(drive.get('path') or settings['profile']).name}"
        left += f" ({settings['drive_name']})" if settings.get("drive_name") else ""
        facts = [
            units.size(self.device.capacity),
            self._filled(settings),
            *([units.many(len(made), "namespace")] if (made := settings.get("namespaces")) else []),
            units.many(settings["smp"], "vCPU")
            + (f" at {settings['cpu_rate']} GIPS" if settings.get("cpu_rate") else ""),
            "virtual time" if settings["virtual_time"] else "real time",
            f"seed {settings['seed']}",
        ]
        if settings.get("set"):
            facts.insert(1, units.many(len(settings["set"]), "override"))
        return left, facts

    def _head(self) -> None:
        left, facts = self.title()
        right = " · ".join(facts)
        self._add(f"{left}{right:>{max(WIDTH - len(left), len(right) + 2)}}", BOLD)
        if guest := self.guest():
            self._add(f"{guest:>{WIDTH}}")
        self._add(RULE, DIM)

    def guest(self) -> str:
        """Return the guest with its kernel and fio. It is empty in a guest of the user's own, which tells neither."""
        settings, versions = self.record["settings"], self.record.get("versions", {})
        if settings.get("own_guest") or not versions.get("kernel"):
            return ""
        kernel = f"Linux {versions['kernel']}"
        if settings.get("modules") is not None:
            kernel += " (your own)"
        elif settings.get("kernel") == "small":
            kernel += " (small kernel)"
        guest = f"guest {settings['guest']}: " if settings.get("guest") else ""
        return f"{guest}{kernel}" + (f", fio {versions['fio']}" if versions.get("fio") else "")

    def _filled(self, settings: Json) -> str:
        drive = settings.get("drive")
        if drive and not drive["made_by_this_run"]:
            return "drive file, ephemeral" if drive["ephemeral"] else "drive file"
        fill, age = settings.get("fill_percent"), settings.get("age")
        for line in settings.get("set", []):
            name, _, value = line.partition("=")
            if name == "precondition.fill_permille" and units.whole(value) is not None:
                fill = int(value) / 10
        if fill is None:
            return "filled as the profile says"
        text = f"filled {fill:g} %" if fill else "EMPTY"
        text += f", aged {age:g}x" if age else ""
        return text + (" by I/O" if settings.get("precondition") == "device" else "")

    def _application(self) -> None:
        """Print the application's own results; those of the drive for the same time follow."""
        assert self.app
        self._add(
            f"{'application, µs':<22}{'operations':>12}{'per s':>10}{'mean':>11}{'p50':>11}{'p99':>11}{'max':>11}",
            BOLD,
        )
        for part in self.app["parts"]:
            latency = part["latency_ns"]
            figures = [latency[key] for key in ("mean", "p50", "p99", "max")]
            rate = part["operations"] / part["seconds"] if part["seconds"] else 0
            self._add(
                f"{part['name']:<22}{units.count(part['operations']):>12}{units.rate(rate):>10}"
                + "".join(f"{'-' if value is None else units.us(value):>11}" for value in figures)
            )
        self._add("  " + " ".join(f"{name}={value}" for name, value in self.app["parameters"].items()), DIM)
        self._add()

    def _names(self) -> int:
        """Return the width of the jobs' names in tables: all of each, because long names may begin alike."""
        return max([16, *(len(row.job) for row in self.rows)])

    def _latencies(self) -> None:
        lines: list[Line] = []
        before = None
        for row in self.rows:
            name = row.job if row.job != before else ""
            before = row.job
            if row.guest:
                lines.append(self._guest_line(row, name))
            if row.drive:
                lines.append(self._drive_line(row, "" if row.guest else name))
        self._add_latencies(lines)

    def _add_latencies(self, lines: list[Line]) -> None:
        widths = widths_of((9, 8), [line.rate for line in lines if len(line.rate) > 1])
        head = "".join(f"{title:>{width}}" for title, width in zip(("IOPS", "MiB/s"), widths))
        titles = "".join(f"{name:>9}" for name in ("mean", *PERCENTILES.values(), "max"))
        self._add(f"{'latency, µs':<{self._names() + 6}}{head}{titles}", BOLD)
        for line in lines:
            told = [sum(widths)] if len(line.rate) == 1 else widths
            cells = "".join(f"{cell:>{width}}" for cell, width in zip(line.rate, told))
            figures = "".join(f"{units.us(value):>9}" for value in line.figures)
            self._add(f"{line.label:<{self._names() + 6}}{cells}{figures}  {line.whose}", line.style)

    def _label(self, name: str, op: str) -> str:
        return f"{name:<{self._names()}} {op}"

    def _guest_line(self, row: Row, name: str) -> Line:
        guest = row.guest
        assert guest
        figures = [guest.mean_ns, *points_ns(guest), guest.max_ns]
        return Line(self._label(name, row.op), rate(guest.iops, guest.bytes_per_s), figures, "guest")

    def _drive_line(self, row: Row, name: str) -> Line:
        drive = row.drive
        assert drive
        figures = [drive.mean_ns(), *points_ns(drive), drive.latency_max_ns]
        label = "" if row.guest else self._label(name, row.op)
        told: tuple[str, ...] = ("" if row.guest else units.many(drive.ios, "I/O"),)
        if row.rate:
            told = rate(row.rate.iops, row.rate.bytes_per_s)
        return Line(label, told, figures, "drive", DIM if row.guest else "")

    def part_columns(self) -> tuple[tuple[str, str, int], ...]:
        """Return the parts of a latency; those of SELDOM only if the drive has them."""
        ops = self.device.total.op.values()
        return tuple(
            column for column in PART_COLUMNS if column[0] not in SELDOM or any(op.parts_ns[column[0]] for op in ops)
        )

    def _parts(self) -> None:
        shown = [row for row in self.rows if row.drive]
        if not shown:
            return
        self._add()
        cells = [self._part_cells(row) for row in shown]
        titles = ["guest" if self.GUEST else "drive", "path" if self.GUEST else ""]
        titles += [title for _, title, _ in self.part_columns()]
        least = [7, 6] + [width for _, _, width in self.part_columns()]
        # Wide figures, of 100 ms and more, make their column wider, so that none touches its neighbour.
        widths = [max(width, *(len(line[at]) + (at != 1) for line in cells)) for at, width in enumerate(least)]
        busy = "".join(f"{name:>5}" for name in self.busy_columns())
        signs = (" = ", " +") if self.GUEST else (" = ", "  ")
        self._add(f"{'mean, µs':<{self._names() + 6}}{_columns(titles, widths, *signs)}{busy}", BOLD)
        before = None
        for row, line in zip(shown, cells):
            name = row.job if row.job != before else ""
            before = row.job
            busy = "".join(
                f"{'-' if share is None else f'{100 * share:.0f}%':>5}" for share in self.busy_shares(row)
            )
            self._add(f"{name:<{self._names()}} {row.op:<5}{_columns(line, widths)}{busy}")

    def _part_cells(self, row: Row) -> list[str]:
        """Return a row's mean, path and parts."""
        drive = row.drive
        assert drive
        whole = units.us(row.guest.mean_ns if row.guest else None if self.GUEST else drive.mean_ns())
        path_ns = row.path_ns()
        path = "" if not self.GUEST else "-" if path_ns is None else _part(path_ns)
        return [whole, path, *(_part(drive.mean_part_ns(part)) for part, _, _ in self.part_columns())]

    def busy_columns(self) -> tuple[str, ...]:
        """Return the columns of busy times in the table of parts; with processors only if they are known."""
        return ("dies", "bus", "cpu") if self.device.processors() else ("dies", "bus")

    def busy_shares(self, row: Row) -> tuple[float | None, ...]:
        """Return the shares of the row's time, for each of busy_columns()."""
        limit = self.limits.get(row.job)
        shares = (*rows.busy(self.device, row), limit.use.processor() if limit else None)
        return shares[: len(self.busy_columns())]

    def _limits(self) -> None:
        """Print what limited each job, one line each."""
        if not self.limits:
            return
        self._add()
        self._add(f"{'limits':<{self._names() + 1}}{'limit':<11}{'depth':>6}{'guest':>7}{'drive':>7}", BOLD)
        for job, limit in self.limits.items():
            depth = "-" if limit.depth is None else str(limit.depth)
            flight = "".join(f"{units.in_flight(number):>7}" for number in (limit.guest, limit.drive))
            self._add(f"{job:<{self._names()}} {limit.name:<11}{depth:>6}{flight}  {limit.why}")

    def _by_job(self) -> None:
        """Print what flash did in each job, one line each."""
        if not self.flash:
            return
        self._add()
        lines = [part.words(self.device.unit_bytes) for part in self.flash]
        widths = widths_of((10, 8, 9, 10, 8, 9), lines)
        name = max([17, *(len(part.name) for part in self.flash)]) + 1
        heads = "".join(f"{word:>{width}}" for word, width in zip(byjob.HEADS, widths))
        self._add(f"{'flash':<{name}}{heads}  steady", BOLD)
        for part, line in zip(self.flash, lines):
            told = "".join(f"{word:>{width}}" for word, width in zip(line, widths))
            self._add(f"{part.name:<{name}}{told}  {part.steady}")

    def _drive(self) -> None:
        total = self.device.total
        ftl = total.ftl
        self._add()
        written, read = total.op["write"].bytes, total.op["read"].bytes
        amplification = self.device.waf()
        line = f"read {units.size(read)}, wrote {units.size(written)}"
        if total.op["trim"].bytes:
            line += f", trimmed {units.size(total.op['trim'].bytes)}"
        if total.op["flush"].ios:
            line += f", {units.many(total.op['flush'].ios, 'flush', 'flushes')}"
        self._pair("drive", f"{line}  ({self.SCOPE})")
        self._late()
        if amplification:
            levelling = f"wear levelling {amplification['wl']:.3f} + " if amplification["wl"] else ""
            parity = f" + parity {amplification['parity']:.3f}" if amplification["parity"] else ""
            self._pair(
                "WAF",
                f"{amplification['total']:.3f} = host {amplification['host']:.3f} + GC "
                f"{amplification['gc']:.3f} + {levelling}padding {amplification['pad']:.3f} + metadata "
                f"{amplification['meta']:.3f}{parity}   (programmed / written by the host)",
            )
        self._over_provisioning()
        runs, moved = ftl.get("gc-runs", 0), ftl.get("gc-units", 0)
        kinds = [("merges", "merge"), ("mmerges", "M-Merge"), ("second-victims", "second victim")]
        parts = [units.many(ftl[key], word) for key, word in kinds if ftl.get(key)]
        line = units.many(runs, "run") + (f" ({', '.join(parts)})" if parts else "")
        line += f" moved {units.size(moved * self.device.unit_bytes)}"
        if runs and ftl.get("gc-ns"):
            line += f" ({units.us(ftl['gc-ns'] / runs)} µs each)"
        policy = f", policy {self.device.gc_policy}" if self.device.gc_policy else ""
        self._pair("GC", (line if runs else "did not run") + policy)
        self._word_lines(ftl)
        self._reduction(ftl)
        self._wear()
        self._sources()
        self._processors()
        self._nand()
        self._counted()

    def _over_provisioning(self) -> None:
        """Print the over-provisioning, which decides how much GC has to move."""
        told = profiles.over_provisioning([f"{key}={value}" for key, value in self.device.settings.items()])
        if told and told["effective"] is not None:
            self._pair("OP", f"{100 * told['nominal']:.1f} %, effective {100 * told['effective']:.1f} %")

    def _processors(self) -> None:
        """Print how busy each of the guest's processors was."""
        each = self.device.processors()
        if each:
            rate = self.record["settings"].get("cpu_rate")
            told = ", ".join(f"{100 * share:.1f}" for share in each)
            self._pair("vCPUs", f"{told} % busy" + (f", each at {rate} GIPS" if rate else ""))

    def _pair(self, name: str, text: str) -> None:
        self._pairs.append((name, text))
        label = f"{BOLD}{name:<10}{PLAIN}" if self._color else f"{name:<10}"
        self._lines.append(label + text)

    def _late(self) -> None:
        """Print how late completions were in real time."""
        late, posted = self.device.late(), self.device.late("posted")
        if not late or not posted:
            return
        shares = ", ".join(f"{_percent(share)} by > {us}" for share, us in zip(late.shares, LATE_US))
        thread = " / ".join(_percent(share) for share in posted.shares)
        self._pair(
            "late",
            f"{shares} µs; mean {units.us(late.mean_ns)}, worst {units.us(late.max_ns)} µs   "
            f"(its own thread: {thread})",
        )

    def _word_lines(self, ftl: dict[str, int]) -> None:
        """Print which pages of word lines were programmed, if the FTL reports it."""
        fast, slow, backup = (ftl.get(f"{kind}-pages", 0) for kind in ("fast", "slow", "backup"))
        if fast or slow:
            line = f"{units.count(fast)} LSB, {units.count(slow)} MSB"
            self._pair("pages", line + (f", {units.count(backup)} of parity" if backup else ""))

    def _reduction(self, ftl: dict[str, int]) -> None:
        """Print how the DAC FTL stored its units."""
        kinds = [("raw", "raw"), ("comp", "compressed"), ("delta", "with a reference"), ("link", "links")]
        stored = sum(ftl.get(f"{kind}-units", 0) for kind, _ in kinds)
        if not stored:
            return
        parts = []
        for kind, word in kinds:
            count, size = ftl.get(f"{kind}-units", 0), ftl.get(f"{kind}-bytes", 0)
            ratio = f" to {size / count / self.device.unit_bytes:.3f}" if count and size else ""
            parts.append(f"{100 * count / stored:.1f} % {word}{ratio}")
        self._pair("reduction", ", ".join(parts))
        hits, reads = ftl.get("reference-hits", 0), ftl.get("reference-reads", 0)
        if hits or reads:
            self._pair("reference", f"{units.count(reads)} read from flash, {units.count(hits)} found in memory")

    def _wear(self) -> None:
        total = self.device.total
        erases = total.nand_total("erases")
        line = f"{units.count(erases)} in this run"
        most, pages = total.nand.get("erase-count-max"), self.device.erases_per_page()
        if most is not None and pages:
            line += f"; wear: mean {pages[0]:.2f} (AEP), variance {pages[1]:.2f} (VEP), most {most} erases of a page"
        for key, word in (("wl-runs", "levelled"), ("relocations", "relocated")):
            if total.ftl.get(key):
                line += f"; {units.many(total.ftl[key], 'block')} {word}"
        if total.ftl.get("retired-blocks"):
            line += f"; {units.many(total.ftl['retired-blocks'], 'block')} retired"
        self._pair("erases", line)

    def _sources(self) -> None:
        sources = self.device.total.sources
        used = [
            name
            for name in counters.sources(sources)
            if any(sources.get(name, {}).get(key) for key in ("reads", "programs", "erases", "copybacks"))
        ]
        parts = []
        for name in used:
            reads, programs, erases, copybacks = (
                units.count(sources[name].get(key, 0)) for key in ("reads", "programs", "erases", "copybacks")
            )
            parts.append(f"{name} {reads} r, {programs} p, {erases} e")
            parts[-1] += f", {copybacks} c" if copybacks != "0" else ""
        legend = "page reads, programs; block erases"
        legend += "; copybacks" if any(part.endswith(" c") for part in parts) else ""
        self._pair("NAND", "   ".join(parts) + f"   ({legend})" if parts else "no commands")

    def _nand(self) -> None:
        """Print how busy the array was, by cause, its reads, energy and errors."""
        total = self.device.total
        for what in ("dies", "channels"):
            busy = self.device.busy(what)
            if busy:
                shares = _sum((name, f"{100 * share:.1f}") for name, share in busy.by_source.items() if share)
                self._pair(
                    what, f"{100 * busy.mean:.1f} % busy{shares}, the busiest {100 * busy.busiest:.1f} %"
                )
        link = self.device.link_busy()
        if link:
            self._pair("link", f"{100 * link[0]:.1f} % busy to the host, {100 * link[1]:.1f} % to the drive")
        cores = self.device.cores_busy(total, self.device.at_ns)
        if cores is not None:
            self._pair("controller", f"{100 * cores:.1f} % busy, of {self.device.setting('cores')} cores")
        amplification = raf(total)
        if amplification is not None:
            parts = ", ".join(f"{name} {part:.3f}" for name, part in raf_parts(total).items() if part)
            alone = f"; data alone: {parts}" if parts else ""
            self._pair("RAF", f"{amplification:.3f}   (bytes that left the flash / read by the host{alone})")
        if total.energy_nj():
            shares = _sum(
                (name, units.energy(total.energy_nj((name,))))
                for name in counters.sources(total.sources)
                if total.energy_nj((name,))
            )
            ops = (
                f"{op} {units.energy(total.energy_nj(ops=(op,)))}"
                for op in NAND_OPS
                if total.energy_nj(ops=(op,))
            )
            self._pair("energy", f"{units.energy(total.energy_nj())}{shares}   ({', '.join(ops)})")
        for name, known in (("media", MEDIA), ("also", ABILITIES)):
            told = [f"{units.count(total.nand[key])} {what}" for key, what in known if total.nand.get(key)]
            if told:
                self._pair(name, ", ".join(told))

    def _counted(self) -> None:
        """Print the counters that have no line of their own, by their names, if they are not 0."""
        total = self.device.total
        told = [
            f"{key} {units.count(found[key])}"
            for group, last, found in (("ftl", "core-busy-ns", total.ftl), ("nand", "damaged", total.nand))
            for key in counters.after(group, last)
            if found.get(key)
        ]
        if told:
            self._pair("counted", ", ".join(told))

    def _notes(self) -> None:
        alarms = self.alarms()
        if alarms:
            self._add()
        for text in alarms:
            first, *rest = _wrap(text, WIDTH - 3)
            self._add(f" ! {first}", YELLOW)
            for line in rest:
                self._add(f"   {line}", YELLOW)
        self._add()
        for text in self.notes():
            for index, line in enumerate(_wrap(text, WIDTH - 2)):
                self._add(("  " if index else "· ") + line, DIM)

    def notes(self) -> list[str]:
        """Return explanations of the figures."""
        notes = []
        for row in self.rows:
            notes += [f"{row.job}: {note}" for note in row.notes]
        later = [row.job for row in self.rows if row.guest and row.guest.which == "clat"]
        if later:
            notes.append(
                f"guest: the latencies of {', '.join(dict.fromkeys(later))} begin at the end of the submission "
                "(fio's clat), for there are no percentiles of lat"
            )
        width = 100 / min((row.drive.sub_buckets for row in self.rows if row.drive), default=SUB_BUCKETS)
        queues = "host-q, GC-q: waiting behind other host I/O, behind GC"
        if any(key == "namespace-queue" for key, _, _ in self.part_columns()):
            queues = "host-q, GC-q, ns-q: waiting behind other I/O of the namespace, behind GC, behind other namespaces"
        notes.append(
            f"path = guest - drive: the guest's kernel and fio; {queues}; {', '.join(self.busy_columns())}: share of "
            f"the job's time they were busy{' (the busiest vCPU)' if self.device.processors() else ''}; percentiles "
            f"are upper bounds, at most {width:.2g} % above the exact ones"
        )
        if any(part.steady != "-" for part in self.flash):
            notes.append(
                f"steady: from the job's middle third to its last, IOPS and WAF changed by at most "
                f"{100 * byjob.STEADY:.0f} %; a figure of a job that is not steady is that of a transient"
            )
        if self.limits:
            notes.append(
                f"limits: what was busy for {100 * limits.BUSY:.0f} % of the job's time or more, or else its depth; "
                "depth: I/Os in flight that the job allows; guest, drive: that were, on average (rate x mean latency)"
            )
        return list(dict.fromkeys(notes))


def _sum(parts: Iterable[tuple[str, str]]) -> str:
    """Return the parts of a sum, such as ' = host 1 + GC 2'."""
    told = [f"{counters.source_label(name)} {value}" for name, value in parts]
    return f" = {' + '.join(told)}" if told else ""


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %" if 0 < share < 0.1 else f"{100 * share:.0f} %"


def _columns(cells: list[str], widths: list[int], equals: str = "   ", plus: str = "  ") -> str:
    """Format the mean, the path and the parts of a latency in their columns."""
    whole, path, *parts = (f"{cell:>{width}}" for cell, width in zip(cells, widths))
    return whole + equals + path + plus + "".join(parts)


def _part(ns: float) -> str:
    return "0" if ns == 0 else units.us(ns)


def _wrap(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, break_on_hyphens=False) or [""]
