# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the guest's figures from fio's results."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from pathlib import Path

from . import shape
from .account import PERCENTILES, OpAccount, bucket_floor
from .errors import SlateError
from .shape import Json

SECTIONS = (("read", "read"), ("write", "write"), ("trim", "trim"), ("sync", "flush"))  # fio's name, the drive's
_LATENCY = {"mean?": float, "max?": float, "N?": int, "percentile?": {"*": float}, "bins?": {"*": int}}
_SIDE = {
    "total_ios?": int,
    "io_bytes?": int,
    "iops?": float,
    "bw_bytes?": float,
    "runtime?": float,
    "lat_ns?": {**_LATENCY, "mean": float, "max": float},
    "clat_ns?": _LATENCY,
}
# shape.check() compares the parts of fio's JSON that are read here with this.
SHAPE = {
    "global options?": {"*": str},
    "jobs": [
        {
            "jobname": str,
            "error?": int,
            "total_err?": int,
            "job_runtime?": float,
            "job options?": {"*": str},
            **{f"{name}?": _SIDE for name, _ in SECTIONS},
        }
    ],
}


def load(path: Path, where: str, again: str) -> Json:
    """Return fio's JSON. where: says which file to name if it is not there; again: how to make it anew."""
    try:
        fio: Json = shape.read(path)
        shape.check(fio, SHAPE)
    except OSError as error:
        raise SlateError(f"can not read {path}: {(error.strerror or str(error)).lower()}", where) from None
    except ValueError as error:  # and Misfit
        raise SlateError(f"{path} is not what fio writes with --output-format=json: {error}", again) from None
    return fio


@dataclass
class GuestRow:
    """Holds one kind of I/O of one job, over all its clones. All latencies are of one kind."""

    job: str
    op: str  # as the drive names it: read, write, trim, flush
    ios: int
    iops: float
    bytes_per_s: float
    mean_ns: float
    max_ns: int
    percentiles_ns: dict[float, float]  # by permille, as fio reports them; of several clones, the worst one's
    histogram: OpAccount | None  # from which percentiles are taken; None: fio wrote none
    which: str  # lat: from submission to completion; clat: from the end of the submission
    clones: int = 1

    def percentile_ns(self, permille: float) -> float | None:
        """Return the nearest-rank percentile, at most the maximum; None: unknown."""
        if self.histogram:
            return self.histogram.percentile_ns(permille)
        found = self.percentiles_ns.get(permille)
        return None if found is None else min(found, self.max_ns)

    def join(self, other: GuestRow) -> None:
        """Add the result of another clone of the job."""
        both = self.ios + other.ios
        self.mean_ns = (self.mean_ns * self.ios + other.mean_ns * other.ios) / both
        self.ios = both
        self.iops += other.iops
        self.bytes_per_s += other.bytes_per_s
        self.max_ns = max(self.max_ns, other.max_ns)
        for key, value in other.percentiles_ns.items():
            self.percentiles_ns[key] = max(value, self.percentiles_ns.get(key, 0))
        if self.histogram and other.histogram:
            self.histogram.latency_max_ns = self.max_ns
            for floor, count in other.histogram.histogram.items():
                self.histogram.histogram[floor] = self.histogram.histogram.get(floor, 0) + count
        else:
            self.histogram = None
        self.clones += other.clones


def rows(fio: Json | None) -> list[GuestRow]:
    """Return a row for every job and kind of I/O that it did."""
    found: dict[tuple[str, str], GuestRow] = {}
    for job in (fio or {}).get("jobs", ()):
        for section, op in SECTIONS:
            row = _row(job, section, op)
            if not row:
                continue
            if (row.job, op) in found:
                found[row.job, op].join(row)
            else:
                found[row.job, op] = row
    return list(found.values())


def _row(job: Json, section: str, op: str) -> GuestRow | None:
    data = job.get(section, {})
    ios = data.get("total_ios", 0)
    if section == "sync":  # fio counts fsync alone there; fdatasync has a latency, too
        ios = max(ios, data.get("lat_ns", {}).get("N", 0))
    if not ios or "lat_ns" not in data:
        return None
    which, latency = _latency(data)
    points = latency.get("percentile", {})
    seconds = data.get("runtime", 0) / 1000 or _seconds(job)
    return GuestRow(
        job=job["jobname"],
        op=op,
        ios=ios,
        iops=data.get("iops", ios / seconds if seconds else 0.0),
        bytes_per_s=data.get("bw_bytes", 0),
        mean_ns=latency["mean"],
        max_ns=latency["max"],
        which=which,
        histogram=_histogram(latency),
        percentiles_ns={
            permille: points[f"{permille / 10:.6f}"]
            for permille in PERCENTILES
            if f"{permille / 10:.6f}" in points
        },
    )


def _latency(data: Json) -> tuple[str, Json]:
    """Return the latency that has percentiles: lat, unless the results have only those of clat."""
    lat, clat = data["lat_ns"], data.get("clat_ns", {})
    if "percentile" not in lat and "percentile" in clat and {"mean", "max"} <= clat.keys():
        return "clat", clat
    return "lat", lat


def _seconds(job: Json) -> float:
    """Return how long the job ran; used for flushes, for which fio gives no time."""
    times = [job.get(section, {}).get("runtime", 0) for section, _ in SECTIONS]
    longest: float = max(times) or job.get("job_runtime", 0)
    return longest / 1000


def _histogram(latency: Json) -> OpAccount | None:
    """Return fio's bins as buckets; each bin is named by a value in it."""
    bins = latency.get("bins")
    if not bins:
        return None
    found = OpAccount(ios=sum(bins.values()), latency_max_ns=int(latency["max"]))
    for value, count in bins.items():
        if not value.isdecimal():
            return None
        floor = bucket_floor(int(value))
        found.histogram[floor] = found.histogram.get(floor, 0) + count
    return found


def sections(fio: Json | None) -> list[str]:
    """Return the names of the jobs, in order."""
    return list(dict.fromkeys(job["jobname"] for job in (fio or {}).get("jobs", ())))


def idle(fio: Json | None) -> list[str]:
    """Return the jobs that did no I/O: their job file is wrong, or their part of the drive is empty."""
    busy = {row.job for row in rows(fio)}
    return [name for name in sections(fio) if name not in busy]


def errors(fio: Json | None) -> list[str]:
    """Return the errors, one sentence for each."""
    found = []
    for job in (fio or {}).get("jobs", ()):
        if job.get("error"):
            known = job["error"] in errno.errorcode
            what = f" ({os.strerror(job['error'])})" if known else ""
            found.append(f"fio: job {job['jobname']} ended with error {job['error']}{what}")
        if job.get("total_err"):
            found.append(f"fio: job {job['jobname']} saw {job['total_err']} I/O errors")
    return list(dict.fromkeys(found))
