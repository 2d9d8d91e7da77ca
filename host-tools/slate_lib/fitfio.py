# SPDX-License-Identifier: GPL-2.0-or-later
"""Takes fio's results of a real drive as the targets of 'slate fit'.

The job is fio-jobs/fit.fio, which 'slate fit --job' prints. A job of it gives one target, or a point
of the curve of random reads over queue depth. The points between the first and the last are not
fitted: 'slate fit' prints them beside the fitted drive's.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from . import fioresult, paths, units
from .errors import SlateError
from .shape import Json

JOB = paths.JOBS / "fit.fio"
_AGAIN = "run the job that 'slate fit --job' prints again"


@dataclass(frozen=True)
class Job:
    """fit.fio asks for these options under a name, for a target of the fit; None: a point of the curve."""

    name: str
    rw: str
    block_bytes: int
    depth: int
    target: str | None


JOBS = (
    Job("seq-write", "write", 131_072, 32, "seq_write_mb_s"),
    Job("seq-read", "read", 131_072, 32, "seq_read_mb_s"),
    Job("read-qd1", "randread", 4096, 1, "read_us"),
    Job("seq-read-qd1", "read", 4096, 1, "seq_read_us"),
    Job("read-qd4", "randread", 4096, 4, None),
    Job("read-qd16", "randread", 4096, 16, None),
    Job("read-qd64", "randread", 4096, 64, None),
    Job("read-qd256", "randread", 4096, 256, "rand_read_iops"),
    Job("write-qd1", "randwrite", 4096, 1, "write_us"),
    Job("sustained", "randwrite", 4096, 256, "sustained_write_iops"),
)


def read(path: Path) -> tuple[dict[str, float], dict[int, float]]:
    """Return the targets, and the IOPS of the curve's other points by queue depth."""
    fio = fioresult.load(path, "[sheet] fio names fio's results", _AGAIN)
    if errors := fioresult.errors(fio):
        raise SlateError(f"{path}: {errors[0]}", f"correct that on the server, then {_AGAIN}")
    rows = {(row.job, row.op): row for row in fioresult.rows(fio)}
    targets: dict[str, float] = {}
    curve: dict[int, float] = {}
    for job in JOBS:
        row = rows.get((job.name, "read" if "read" in job.rw else "write"))
        if row is None:
            continue
        _check_options(path, job, fio)
        if job.target is None:
            curve[job.depth] = row.iops
        else:
            targets[job.target] = number(path, job.target, row)
    if not targets:
        names = ", ".join(job.name for job in JOBS if job.target)
        raise SlateError(f"{path}: it has results of no job that gives a target: {names}", _AGAIN)
    return targets, curve


def number(path: Path, target: str, row: fioresult.GuestRow) -> float:
    """Return the target's value in its unit."""
    if target.endswith("_mb_s"):
        value = row.bytes_per_s / 1e6
    elif target.endswith("_iops"):
        value = row.iops
    elif target in ("read_us", "seq_read_us"):
        value = row.mean_ns / 1000
    else:
        median = row.percentile_ns(500)
        if median is None:
            raise SlateError(f"{path}: job {row.job} has no percentiles", _AGAIN)
        value = median / 1000
    if value <= 0:
        raise SlateError(f"{path}: job {row.job} gives {target} = {value:g}", _AGAIN)
    return value


def _check_options(path: Path, job: Job, fio: Json) -> None:
    """Check that a job of the name did what the shipped one does."""
    for one in fio["jobs"]:
        if one["jobname"] != job.name:
            continue
        told = {**fio.get("global options", {}), **one.get("job options", {})}
        for key, wanted in (("rw", job.rw), ("bs", job.block_bytes), ("iodepth", job.depth)):
            text = told.get(key, "")
            try:
                found: str | int = units.parse_size(text) if key == "bs" else int(text) if key == "iodepth" else text
            except ValueError:
                found = text
            if found != wanted:
                raise SlateError(f"{path}: job {job.name} ran with {key}={text or 'nothing'}, not {wanted}", _AGAIN)
