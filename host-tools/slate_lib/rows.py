# SPDX-License-Identifier: GPL-2.0-or-later
"""Pairs the guest's figures and the drive's: one row per job and kind of I/O."""

from __future__ import annotations

from dataclasses import dataclass, field

from . import fioresult
from .account import OPS, Account, Device, JobAccount, OpAccount, label_of
from .fioresult import GuestRow
from .shape import Json

WHOLE_RUN = "whole run"


@dataclass
class Rate:
    """Holds the rate of I/Os, for results without figures of a guest."""

    iops: float
    bytes_per_s: float


@dataclass
class Row:
    """Holds a job's reads, writes, trims or flushes, as the guest and the drive saw them; either may be unknown."""

    job: str
    op: str
    guest: GuestRow | None
    drive: OpAccount | None
    account: JobAccount | None
    notes: list[str] = field(default_factory=list)
    rate: Rate | None = None

    @property
    def same_ios(self) -> bool:
        """Did both sides count the same I/Os, so that their means can be subtracted?"""
        return bool(self.guest and self.drive and self.drive.ios == self.guest.ios)

    def path_ns(self) -> float | None:
        """Return the time that the guest's own software adds to the drive's latency."""
        if not self.same_ios or self.account is None or self.account.shared:
            return None
        assert self.guest and self.drive
        mean = self.drive.mean_ns()
        return None if mean is None else self.guest.mean_ns - mean


def build(raw_device: Json, fio: Json | None, of_several: bool = False) -> list[Row]:
    """Return all rows in the order of the job file, then those that only the drive knows.

    of_several: drives of the run.
    """
    device = Device(raw_device)
    guest = fioresult.rows(fio)
    sections = fioresult.sections(fio)
    found: list[Row] = []
    names = {label: section for section in sections for label in (label_of(section), device.label(section))}
    for label in device.labels():
        if label not in names:
            found += _drive_rows(label, device.job(label))
    for section in sections:
        account = device.job(section) or _only(device, sections)
        mine = _job_rows(section, [row for row in guest if row.job == section], account)
        for row in mine:
            _annotate(row, of_several, names)
        found += mine
    return found or whole_run(device)


def _only(device: Device, sections: list[str]) -> JobAccount | None:
    """Return the account of a single job: without marks it is the whole run's."""
    if len(sections) == 1 and not device.marks:
        return JobAccount(device.total, 0, 0, ["boot"])
    return None


def whole_run(device: Device, begin_ns: int = 0, end_ns: int = 0) -> list[Row]:
    """Return all that the drive counted in the whole run."""
    return _drive_rows(WHOLE_RUN, JobAccount(device.total, begin_ns, end_ns, []))


def _drive_rows(name: str, account: JobAccount | None) -> list[Row]:
    if account is None:
        return []
    ops = [op for op in OPS if account.account.op[op].ios]
    return [Row(name, op, None, account.account.op[op], account) for op in ops]


def _job_rows(section: str, guest: list[GuestRow], account: JobAccount | None) -> list[Row]:
    found = []
    for mine in guest:
        drive = account.account.op[mine.op] if account else None
        found.append(Row(section, mine.op, mine, drive if drive and drive.ios else None, account))
    if account:
        seen = {row.op for row in found}
        found += [
            Row(section, op, None, account.account.op[op], account)
            for op in OPS
            if op not in seen and account.account.op[op].ios
        ]
    return found


def _annotate(row: Row, of_several: bool, names: dict[str, str]) -> None:
    """Say what a reader must know of a row. names: the jobs' names, by their labels."""
    if row.account and row.account.shared:
        others = ", ".join(names.get(label, label) for label in row.account.shared)
        row.notes.append(f"the drive's account is shared with {others}, which ran in the same time")
    elif of_several and row.guest and row.drive and not row.same_ios:
        row.notes.append(
            f"{row.op}: fio counted {row.guest.ios:,} I/Os on all drives, this one {row.drive.ios:,}: fio's figures "
            "are not of this drive alone"
        )
    elif row.guest and row.drive and not row.same_ios:
        row.notes.append(
            f"{row.op}: fio counted {row.guest.ios:,} I/Os, the drive {row.drive.ios:,} "
            "(split, merged, cached or made by the kernel), so their means do not compare"
        )
    if row.guest and row.guest.clones > 1 and row.guest.percentiles_ns and not row.guest.histogram:
        row.notes.append(
            f"{row.op}: percentiles are the worst of {row.guest.clones} clones' "
            "(group_reporting=1 gives their common ones)"
        )


def busy(device: Device, row: Row) -> tuple[float | None, float | None]:
    """Return the share of the job's time in which an average die, and channel, was busy."""
    if row.account is None or row.account.end_ns <= row.account.begin_ns:
        return None, None
    elapsed = row.account.end_ns - row.account.begin_ns
    dies, channels = device.dies(), device.setting("channels")
    totals: Account = row.account.account
    return (
        totals.nand_total("die-busy-ns") / (elapsed * dies) if dies else None,
        totals.nand_total("bus-busy-ns") / (elapsed * channels) if channels else None,
    )
