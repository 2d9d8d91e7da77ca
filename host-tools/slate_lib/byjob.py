# SPDX-License-Identifier: GPL-2.0-or-later
"""What flash did in each job, and whether the job was steady.

The drive's marks divide a run: the time before the first job, each job, and the time after the last one, in which
the drive programs what its buffer still holds. A job is STEADY if its IOPS and its write amplification changed by at
most 5 % between its middle third and its last one. The thirds are made of the rows of series.json that lie wholly
within the job; a job of fewer than six such rows has no verdict.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from . import units
from .account import OPS, Account, Device, JobAccount, waf
from .fioresult import sections
from .series import Part, Series
from .shape import Json

STEADY = 0.05  # largest change between two thirds
ROWS_LEAST = 6
BEFORE, AFTER = "(before the jobs)", "(after the jobs)"
HEADS = ("written", "WAF", "GC runs", "GC moved", "erases", "flushes")
_CAUSES = ("host", "gc", "wl", "pad", "meta")


@dataclass
class Flash:
    """Holds what flash did in one part of the run."""

    name: str
    account: Account
    amplification: float | None  # None: the host wrote nothing
    steady: str = "-"  # "yes", or "no" and what changed; "-": no verdict

    def words(self, unit_bytes: int) -> tuple[str, ...]:
        """Return the figures of HEADS."""
        ftl = self.account.ftl
        return (
            units.size(self.account.op["write"].bytes),
            "-" if self.amplification is None else f"{self.amplification:.3f}",
            units.count(ftl.get("gc-runs", 0)),
            units.size(ftl.get("gc-units", 0) * unit_bytes),
            units.count(self.account.nand_total("erases")),
            units.count(self.account.op["flush"].ios),
        )


def of(device: Device, fio: Json | None, series: Series | None) -> list[Flash]:
    """Return the parts of a run with marks, in their order; [] if no job wrote to the drive or to flash."""
    if not device.marks or device.marks_full_ns() is not None:
        return []
    parts = [_flash(device, BEFORE, Account([device.marks[0]["account"]]))]
    names = {device.label(name): name for name in sections(fio)}
    for label in device.labels():
        job = device.job(names.get(label, label))
        if job and (_writes(job.account) or any(job.account.op[op].ios for op in OPS)):  # else a job of other drives
            found = _flash(device, names.get(label, label), job.account)
            found.steady = _fios(fio, found.name) or _steady(device, job, series)
            parts.append(found)
    parts.append(_flash(device, AFTER, _rest(device)))
    jobs = parts[1:-1]
    if not any(_writes(part.account) for part in jobs):
        return []
    return [part for part in parts if part in jobs or _writes(part.account)]


def _flash(device: Device, name: str, account: Account) -> Flash:
    found = waf(account, device.unit_bytes, device.setting("page_bytes") or 0, device.packed)
    return Flash(name, account, found["total"] if found else None)


def _rest(device: Device) -> Account:
    """Return what was counted after the last mark."""
    marked = Account(mark["account"] for mark in device.marks)
    rest = Account()
    for op in OPS:
        for key in ("ios", "bytes"):
            setattr(rest.op[op], key, getattr(device.total.op[op], key) - getattr(marked.op[op], key))
    rest.ftl = {key: value - marked.ftl.get(key, 0) for key, value in device.total.ftl.items()}
    for source, counted in device.total.sources.items():
        before = marked.sources.get(source, {})
        rest.sources[source] = {key: value - before.get(key, 0) for key, value in counted.items()}
    return rest


def _writes(account: Account) -> bool:
    """Was anything written in this part by the host, or programmed or erased on flash?"""
    return bool(account.op["write"].ios or account.nand_total("programs") or account.nand_total("erases"))


# ---- steadiness


def _fios(fio: Json | None, name: str) -> str:
    """Return fio's own verdict, if the job has the option steadystate."""
    for job in (fio or {}).get("jobs", ()):
        told = job.get("steadystate")
        if job["jobname"] == name and told:
            return f"{'yes' if told.get('attained') else 'no'}, says fio"
    return ""


def _steady(device: Device, job: JobAccount, series: Series | None) -> str:
    if series is None:
        return "-"
    inside = [
        row for row in range(series.rows) if job.begin_ns <= series.edge(row) and series.edge(row + 1) <= job.end_ns
    ]
    third = len(inside) // 3
    if len(inside) < ROWS_LEAST:
        return "-"
    last = Part(series, inside[-1] + 1 - third, inside[-1] + 1)
    middle = Part(series, inside[-1] + 1 - 2 * third, inside[-1] + 1 - third)
    changes = [(name, change) for name, change in _changes(device, middle, last) if abs(change) > STEADY]
    told = ", ".join(
        f"{name} {100 * change:+.0f} %" if change < math.inf else f"{name} from none" for name, change in changes
    )
    return f"no: {told}" if told else "yes"


def _changes(device: Device, middle: Part, last: Part) -> Iterator[tuple[str, float]]:
    """Return the relative changes of IOPS and WAF from one third to the next; infinity from none to some."""
    for name, figure in (("IOPS", _ios), ("WAF", _amplification)):
        before, after = figure(device, middle), figure(device, last)
        if before and after is not None:
            yield name, round(after / before - 1, 9)
        elif after:
            yield name, math.inf


def _ios(_: Device, part: Part) -> float | None:
    return float(sum(sum(part.column(op, "ios")) for op in OPS))


def _amplification(device: Device, part: Part) -> float | None:
    written = sum(part.column("write", "bytes"))
    if not written or device.packed:
        return None
    programmed = sum(sum(part.column("drive", f"{cause}-units")) for cause in _CAUSES)
    return programmed * device.unit_bytes / written
