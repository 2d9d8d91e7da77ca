# SPDX-License-Identifier: GPL-2.0-or-later
"""The report: what the guest saw, beside the drive's own account of it."""

from __future__ import annotations

import json
import sys
import textwrap
from pathlib import Path
from typing import Any

from . import paths, rows, units, warn
from .account import SOURCES, Device, waf
from .errors import OK, SlateError
from .rows import Row

WIDTH = 100
RULE = "─" * WIDTH
BOLD, DIM, YELLOW, PLAIN = "\033[1m", "\033[2m", "\033[33m", "\033[0m"
# Heading and width of each part of the latency, in the order of account.PARTS.
PART_COLUMNS = (
    ("cell", "cell", 7),
    ("bus", "bus", 7),
    ("host-queue", "host-q", 8),
    ("gc-queue", "GC-q", 8),
    ("buffer", "buffer", 8),
    ("map", "map", 6),
    ("other", "other", 6),
)


class Report:
    """The text of one run's report."""

    def __init__(self, raw_device: dict[str, Any], fio: dict[str, Any] | None, record: dict[str, Any]):
        self.device = Device(raw_device)
        self.fio = fio
        self.record = record
        self.rows = rows.build(raw_device, fio)
        self._lines: list[str] = []
        self._color = False

    def text(self, color: bool = False) -> str:
        """All of it."""
        self._color = color
        self._lines = []
        self._head()
        if any(row.guest or row.drive for row in self.rows):
            self._latencies()
            self._parts()
        self._drive()
        self._notes()
        return "\n".join(line.rstrip() for line in self._lines) + "\n"

    # ---- pieces

    def _add(self, line: str = "", style: str = "") -> None:
        self._lines.append(f"{style}{line}{PLAIN}" if style and self._color else line)

    def _head(self) -> None:
        settings = self.record["settings"]
        what = settings.get("job") or settings.get("script") or "shell"
        left = f"{Path(what).name} on {Path(settings['profile']).name}"
        facts = [
            units.size(self.device.capacity),
            self._filled(settings),
            f"{settings['smp']} vCPU" + (", small kernel" if settings.get("kernel") == "small" else ""),
            "virtual time" if settings["virtual_time"] else "real time",
            f"seed {settings['seed']}",
        ]
        if settings.get("set"):
            facts.insert(1, f"{len(settings['set'])} override{'s' * (len(settings['set']) > 1)}")
        right = " · ".join(facts)
        self._add(f"{left}{right:>{max(WIDTH - len(left), len(right) + 2)}}", BOLD)
        self._add(RULE, DIM)

    def _filled(self, settings: dict[str, Any]) -> str:
        fill, age = settings.get("fill_percent"), settings.get("age")
        overrides = dict(line.split("=", 1) for line in settings.get("set", []))
        permille = overrides.get("precondition.fill_permille")
        fill = float(permille) / 10 if permille else fill
        if fill is None:
            return "filled as the profile says"
        text = f"filled {fill:g} %" if fill else "EMPTY"
        text += f", aged {age:g}x" if age else ""
        return text + (" by I/O" if settings.get("precondition") == "device" else "")

    def _latencies(self) -> None:
        self._add(
            f"{'latency, µs':<22}{'IOPS':>10}{'MiB/s':>10}{'mean':>11}{'p50':>10}{'p99':>10}"
            f"{'p99.9':>10}{'max':>10}",
            BOLD,
        )
        before = None
        for row in self.rows:
            name = row.job if row.job != before else ""
            before = row.job
            if row.guest:
                self._guest_line(row, name)
            if row.drive:
                self._drive_line(row, "" if row.guest else name)

    def _guest_line(self, row: Row, name: str) -> None:
        guest = row.guest
        assert guest
        figures = (guest.mean_ns, guest.p50, guest.p99, guest.p999, guest.max_ns)
        self._add(
            f"{name[:16]:<16} {row.op:<5}{units.rate(guest.iops):>10}{guest.bytes_per_s / (1 << 20):>10,.1f}"
            f"{units.us(figures[0]):>11}"
            + "".join(f"{units.us(value):>10}" for value in figures[1:])
            + "  guest"
        )

    def _drive_line(self, row: Row, name: str) -> None:
        drive = row.drive
        assert drive
        figures = [drive.percentile_ns(permille) for permille in (500, 990, 999)] + [drive.latency_max_ns]
        label = f"{name[:16]:<16} {row.op:<5}" if name else " " * 22
        what = f"{units.count(drive.ios) + ' I/Os' if not row.guest else '':>20}"
        self._add(
            f"{label}{what}{units.us(drive.mean_ns()):>11}"
            + "".join(f"{units.us(value):>10}" for value in figures)
            + "  drive",
            DIM if row.guest else "",
        )

    def _parts(self) -> None:
        shown = [row for row in self.rows if row.drive]
        if not shown:
            return
        self._add()
        heading = "".join(f"{title:>{width}}" for _, title, width in PART_COLUMNS)
        self._add(f"{'mean, µs':<22}{'guest':>7} = {'path':>6} +{heading}{'dies':>5}{'bus':>5}", BOLD)
        before = None
        for row in shown:
            name = row.job if row.job != before else ""
            before = row.job
            self._part_line(row, name)

    def _part_line(self, row: Row, name: str) -> None:
        drive = row.drive
        assert drive
        guest = units.us(row.guest.mean_ns) if row.guest else "-"
        path = row.path_ns()
        parts = "".join(f"{_part(drive.mean_part_ns(part)):>{width}}" for part, _, width in PART_COLUMNS)
        busy = "".join(
            f"{'-' if share is None else f'{100 * share:.0f}%':>{width}}"
            for share, width in zip(rows.busy(self.device, row), (5, 5))
        )
        self._add(
            f"{name[:16]:<16} {row.op:<5}{guest:>7}   {'-' if path is None else _part(path):>6}  {parts}{busy}"
        )

    def _drive(self) -> None:
        total = self.device.total
        ftl = total.ftl
        self._add()
        written, read = total.op["write"].bytes, total.op["read"].bytes
        amplification = waf(total, self.device.unit_bytes)
        line = f"read {units.size(read)}, wrote {units.size(written)}"
        if total.op["trim"].bytes:
            line += f", trimmed {units.size(total.op['trim'].bytes)}"
        if total.op["flush"].ios:
            line += f", {units.count(total.op['flush'].ios)} flushes"
        self._pair("drive", line + "  (the whole run, boot included)")
        if amplification:
            self._pair(
                "WAF",
                f"{amplification['total']:.3f} = host {amplification['host']:.3f} + GC "
                f"{amplification['gc']:.3f} + padding {amplification['pad']:.3f} + metadata "
                f"{amplification['meta']:.3f}   (programmed / written by the host)",
            )
        runs, moved = ftl.get("gc-runs", 0), ftl.get("gc-units", 0)
        line = f"{units.count(runs)} runs moved {units.size(moved * self.device.unit_bytes)}"
        if runs and ftl.get("gc-ns"):
            line += f" ({units.us(ftl['gc-ns'] / runs)} µs each)"
        self._pair("GC", line if runs else "did not run")
        self._wear()
        self._sources()

    def _pair(self, name: str, text: str) -> None:
        label = f"{BOLD}{name:<10}{PLAIN}" if self._color else f"{name:<10}"
        self._lines.append(label + text)

    def _wear(self) -> None:
        total = self.device.total
        erases = total.nand_total("erases")
        line = f"{units.count(erases)} in this run"
        blocks = self.device.blocks()
        most, everything = total.nand.get("erase-count-max"), total.nand.get("erase-count-sum")
        if most is not None and everything is not None and blocks:
            least = total.nand.get("erase-count-min")
            line += "; wear: " + (f"least {least}, " if least is not None else "")
            line += f"mean {everything / blocks:.2f}, most {most} erases of a block"
        if total.ftl.get("retired-blocks"):
            line += f"; {total.ftl['retired-blocks']} blocks retired"
        self._pair("erases", line)

    def _sources(self) -> None:
        sources = self.device.total.sources
        used = [
            name
            for name in (*SOURCES, *sorted(set(sources) - set(SOURCES)))
            if any(sources.get(name, {}).get(key) for key in ("reads", "programs", "erases"))
        ]
        parts = []
        for name in used:
            reads, programs, erases = (
                units.count(sources[name].get(key, 0)) for key in ("reads", "programs", "erases")
            )
            parts.append(f"{name} {reads} r, {programs} p, {erases} e")
        self._pair(
            "NAND",
            ("   ".join(parts) if parts else "no commands") + "   (page reads, programs; block erases)"
            if parts
            else "no commands",
        )

    def _notes(self) -> None:
        alarms = warn.warnings(self.device, self.fio, self.rows)
        if alarms:
            self._add()
        for text in alarms:
            first, *rest = _wrap(text, WIDTH - 3)
            self._add(f" ! {first}", YELLOW)
            for line in rest:
                self._add(f"   {line}", YELLOW)
        notes = []
        for row in self.rows:
            notes += [f"{row.job}: {note}" for note in row.notes]
        which = sorted({row.guest.which for row in self.rows if row.guest and row.guest.percentiles_ns})
        if which == ["clat"]:
            notes.append(
                "guest: mean and max from submission (lat), percentiles from completion (clat), as fio has them"
            )
        notes.append(
            "path = guest - drive: the guest's kernel and fio; host-q, GC-q: waiting behind other host I/O, "
            "behind GC; dies, bus: share of the job's time they were busy; the drive's percentiles are upper "
            "bounds (≤ 6.25 %)"
        )
        self._add()
        for text in dict.fromkeys(notes):
            for index, line in enumerate(_wrap(text, WIDTH - 2)):
                self._add(("  " if index else "· ") + line, DIM)


def _part(ns: float) -> str:
    return "0" if ns == 0 else units.us(ns)


def _wrap(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width) or [""]


def print_again(folder: Path | None) -> int:
    """'slate report DIR'."""
    folder = folder or paths.OUT / "latest"
    files = {}
    for name in ("device.json", "run.json", "fio.json"):
        try:
            files[name] = json.loads((folder / name).read_text(encoding="utf-8"))
        except FileNotFoundError:
            if name != "fio.json":
                raise SlateError(
                    f"{folder} holds no finished run: {name} is not there",
                    "name a directory that 'slate run' wrote (default: out/latest)",
                ) from None
        except (OSError, ValueError) as error:
            raise SlateError(f"can not read {folder / name}: {error}", "run again") from None
    shown = Report(files["device.json"], files.get("fio.json"), files["run.json"])
    print(shown.text(color=sys.stdout.isatty()), end="")
    return OK
