# SPDX-License-Identifier: GPL-2.0-or-later
"""The report of a run with several drives: the guest's figures, those of each drive, and those of
all drives together.

A drive's own report is in its folder. It has the jobs that did I/O on this drive. This report has,
for each job, a line with the guest's figures, a line for each drive, and a line for all drives as
if they were one: counts and rates are sums, the mean is weighted by I/Os, percentiles are those of
the added histograms. The drives' figures of the whole run follow, side by side.
"""

from __future__ import annotations

import copy
from collections.abc import Callable

from . import fioresult, units
from .account import OPS, Device, JobAccount, OpAccount, points_ns
from .report import BOLD, DIM, Line, Report, rate
from .rows import WHOLE_RUN, Row
from .shape import Json

ALL = "all"
_CAUSES = ("host", "gc", "wl", "pad", "meta")
_FEW = 6  # drives whose columns may be wide


def record_of(record: Json, number: int) -> Json:
    """Return run.json with the drive's settings in place of the first drive's, for the report of one drive."""
    settings = record["settings"]
    return {**record, "settings": {**settings, **settings["drives"][number]}}


def fio_of(raw: Json, fio: Json | None) -> Json | None:
    """Return fio's results without the jobs that did no I/O on this drive. Without marks all jobs stay."""
    if not fio:
        return fio
    device = Device(raw)
    jobs = [job for job in fio["jobs"] if _touched(device.job(job["jobname"]))]
    return {**fio, "jobs": jobs}


def _touched(account: JobAccount | None) -> bool:
    return account is None or any(account.account.op[op].ios for op in OPS)


def together(accounts: list[OpAccount]) -> OpAccount:
    """Add the I/Os of one kind over several drives."""
    found = copy.deepcopy(accounts[0])
    for other in accounts[1:]:
        found.ios += other.ios
        found.bytes += other.bytes
        found.errors += other.errors
        found.latency_sum_ns += other.latency_sum_ns
        found.latency_max_ns = max(found.latency_max_ns, other.latency_max_ns)
        for part, ns in other.parts_ns.items():
            found.parts_ns[part] += ns
        for floor, count in other.histogram.items():
            found.histogram[floor] = found.histogram.get(floor, 0) + count
    return found


def programmed_bytes(device: Device) -> int:
    """Return the bytes that the drive programmed, as its WAF counts them."""
    counted = sum(device.total.ftl.get(f"{cause}-units", 0) for cause in _CAUSES) * device.unit_bytes
    parity = device.total.sources.get("backup", {}).get("programs", 0)
    return counted + parity * (device.setting("page_bytes") or 0)


class DrivesReport(Report):
    """Makes the text about all drives."""

    def __init__(self, each: list[Report], fio: Json | None, record: Json):
        self.each = each
        self.labels = [drive["drive_name"] for drive in record["settings"]["drives"]]
        self.device = each[0].device
        self.fio, self.app, self.record = fio, None, record
        self.rows: list[Row] = []
        self.limits = {}
        self._lines, self._pairs, self._color = [], [], False

    def text(self, color: bool = False) -> str:
        """Return the whole text."""
        self._color, self._lines = color, []
        self._head()
        self._jobs()
        self._side_by_side()
        self._notes()
        return "\n".join(line.rstrip() for line in self._lines) + "\n"

    def title(self) -> tuple[str, list[str]]:
        """Return the job and the drives, and facts about the run."""
        name = self.each[0].title()[0].partition(" on ")[0]
        drives = [one.title()[0].partition(" on ")[2].rpartition(" (")[0] for one in self.each]
        size = units.size(sum(one.device.capacity for one in self.each))
        facts = self.each[0].title()[1]
        kinds = list(dict.fromkeys(drives))
        return f"{name} on {len(drives)} x {kinds[0]}" if len(kinds) == 1 else f"{name} on {', '.join(drives)}", [
            size,
            *facts[-3:],
        ]

    # ---- jobs

    def _sections(self) -> list[str]:
        jobs = dict.fromkeys(job for one in self.each for job in one.device.labels())
        return fioresult.sections(self.fio) or list(jobs) or [WHOLE_RUN]

    def _names(self) -> int:
        return max([16, *(len(name) for name in self._sections())])

    def _jobs(self) -> None:
        """Add the table of latencies: for each job a line of the guest, of each drive, and of all drives."""
        guest = fioresult.rows(self.fio)
        lines: list[Line] = []
        for name in self._sections():
            accounts = [self._account(one.device, name) for one in self.each]
            shown = name
            for op in OPS:
                row = next((row for row in guest if (row.job, row.op) == (name, op)), None)
                if row:
                    lines.append(self._guest_line(Row(name, op, row, None, None), shown))
                    shown = ""
                found = self._drive_lines(shown, op, bool(row), accounts)
                shown = "" if found else shown
                lines += found
        self._add_latencies(lines)

    def _account(self, device: Device, job: str) -> JobAccount | None:
        return JobAccount(device.total, 0, 0, []) if job == WHOLE_RUN else device.job(job)

    def _drive_lines(self, name: str, op: str, told: bool, accounts: list[JobAccount | None]) -> list[Line]:
        """Return a line for each drive that had such I/Os, and one for all."""
        found = [
            (label, account.account.op[op], account.end_ns - account.begin_ns)
            for label, account in zip(self.labels, accounts)
            if account and account.account.op[op].ios
        ]
        if len(found) > 1:
            found.append((ALL, together([one for _, one, _ in found]), max(ns for _, _, ns in found)))
        lines: list[Line] = []
        for label, one, ns in found:
            first = not told and not lines
            rates = rate(one.ios / ns * 1e9, one.bytes / ns * 1e9) if ns else (units.many(one.ios, "I/O"),)
            figures = [one.mean_ns(), *points_ns(one), one.latency_max_ns]
            lines.append(Line(self._label(name, op) if first else "", rates, figures, label, "" if first else DIM))
        return lines

    # ---- the whole run

    def _side_by_side(self) -> None:
        devices = [one.device for one in self.each]
        table = self._table(devices)
        width = max(12 if len(devices) <= _FEW else 10, *(len(cell) + 1 for _, cells in table for cell in cells))
        self._add()
        self._add(f"{'drives':<16}" + "".join(f"{name:>{width}}" for name in (*self.labels, ALL)), BOLD)
        for name, cells in table:
            self._add(f"{name:<16}" + "".join(f"{cell:>{width}}" for cell in cells))

    def _table(self, devices: list[Device]) -> list[tuple[str, list[str]]]:
        """Return figures of each drive and of all drives, as words."""
        found = [("capacity", _sums([device.capacity for device in devices], units.size))]
        for op in OPS:
            accounts = [device.total.op[op] for device in devices]
            if not any(one.ios for one in accounts):
                continue
            found.append((f"{op}s" if op != "flush" else "flushes", _sums([one.ios for one in accounts], units.count)))
            if op != "flush":
                found.append((f"{op} bytes", _sums([one.bytes for one in accounts], units.size)))
            means = [one.mean_ns() for one in (*accounts, together(accounts))]
            found.append((f"{op} mean, µs", ["-" if ns is None else units.us(ns) for ns in means]))
            if any(one.errors for one in accounts):
                found.append((f"{op} errors", _sums([one.errors for one in accounts], units.count)))
        programmed = [programmed_bytes(device) for device in devices]
        written = [device.total.op["write"].bytes for device in devices]
        pairs = [*zip(programmed, written), (sum(programmed), sum(written))]
        found.append(("programmed", _sums(programmed, units.size)))
        found.append(("WAF", [f"{done / asked:.3f}" if asked else "-" for done, asked in pairs]))
        found.append(("GC runs", _sums([device.total.ftl.get("gc-runs", 0) for device in devices], units.count)))
        found.append(("erases", _sums([device.total.nand_total("erases") for device in devices], units.count)))
        late = [device.late() for device in devices]
        if any(late):
            found.append(("late mean, µs", [*("-" if one is None else units.us(one.mean_ns) for one in late), ""]))
        found.append(("dies busy", [*(_busy(device) for device in devices), ""]))
        return found

    # ---- alarms and notes

    def alarms(self) -> list[str]:
        """Return warnings that a reader needs before trusting a figure: of the jobs, then of each drive."""
        common: list[str] = [*fioresult.errors(self.fio), *self.record.get("drives_said", ())]
        found = common + [
            f"{job}: fio did no I/O. Check its size and offset against the drives' sizes."
            for job in fioresult.idle(self.fio)
        ]
        for label, one in zip(self.labels, self.each):
            found += [f"{label}: {alarm}" for alarm in one.alarms() if alarm not in common]
        return found

    def notes(self) -> list[str]:
        """Return explanations of the figures."""
        return [
            f"all: the I/Os of all drives as if they were one drive's; {self.labels[0]}/report.txt to "
            f"{self.labels[-1]}/report.txt have the parts of each latency, the limits and the wear of each drive",
            "drives: the whole run, boot included; WAF: programmed / written by the host; a RAID writes to several "
            "drives what the guest wrote once",
        ]


def _sums(values: list[int], told: Callable[[int], str]) -> list[str]:
    return [told(value) for value in (*values, sum(values))]


def _busy(device: Device) -> str:
    busy = device.busy("dies")
    return f"{100 * busy.mean:.1f} %" if busy else "-"
