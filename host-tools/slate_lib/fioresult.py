# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest's figures: what fio wrote."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]
PERCENTILES = ("50", "99", "99.9")
SECTIONS = (("read", "read"), ("write", "write"), ("trim", "trim"), ("sync", "flush"))  # fio's name, the drive's
_SIDE = {
    "total_ios?": int,
    "iops?": float,
    "bw_bytes?": float,
    "runtime?": float,
    "lat_ns?": {"mean": float, "max": float, "percentile?": {"*": float}},
    "clat_ns?": {"percentile?": {"*": float}},
}
# What is read here of fio's JSON, for shape.check().
SHAPE = {
    "global options?": {"*": str},
    "jobs": [
        {
            "jobname": str,
            "error?": int,
            "total_err?": int,
            "job options?": {"*": str},
            **{f"{name}?": _SIDE for name, _ in SECTIONS},
        }
    ],
}


@dataclass
class GuestRow:
    """One kind of I/O of one job, all its clones together."""

    job: str
    op: str  # as the drive names it: read, write, trim, flush
    ios: int
    iops: float
    bytes_per_s: float
    mean_ns: float
    max_ns: int
    percentiles_ns: dict[str, float]  # of the worst clone, when there are several
    which: str  # latency that the percentiles are of: lat or clat
    clones: int = 1

    @property
    def p50(self) -> float | None:
        """Median."""
        return self.percentiles_ns.get("50")

    @property
    def p99(self) -> float | None:
        """99th percentile."""
        return self.percentiles_ns.get("99")

    @property
    def p999(self) -> float | None:
        """99.9th percentile."""
        return self.percentiles_ns.get("99.9")

    def join(self, other: GuestRow) -> None:
        """Add a clone."""
        both = self.ios + other.ios
        self.mean_ns = (self.mean_ns * self.ios + other.mean_ns * other.ios) / both
        self.ios = both
        self.iops += other.iops
        self.bytes_per_s += other.bytes_per_s
        self.max_ns = max(self.max_ns, other.max_ns)
        for key, value in other.percentiles_ns.items():
            self.percentiles_ns[key] = max(value, self.percentiles_ns.get(key, 0))
        self.clones += other.clones


def rows(fio: Json | None) -> list[GuestRow]:
    """A row for every job and kind of I/O that it did."""
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
    if not ios or "lat_ns" not in data:
        return None
    lat = data["lat_ns"]
    which, source = ("lat", lat) if "percentile" in lat else ("clat", data.get("clat_ns", {}))
    points = source.get("percentile", {})
    seconds = data.get("runtime", 0) / 1000
    return GuestRow(
        job=job["jobname"],
        op=op,
        ios=ios,
        iops=data.get("iops", ios / seconds if seconds else 0.0),
        bytes_per_s=data.get("bw_bytes", 0),
        mean_ns=lat["mean"],
        max_ns=lat["max"],
        which=which,
        percentiles_ns={
            key: points[f"{float(key):.6f}"] for key in PERCENTILES if f"{float(key):.6f}" in points
        },
    )


def sections(fio: Json | None) -> list[str]:
    """Names of the jobs, in order."""
    return list(dict.fromkeys(job["jobname"] for job in (fio or {}).get("jobs", ())))


def idle(fio: Json | None) -> list[str]:
    """Jobs that did nothing: their job file is wrong, or their part of the drive is empty."""
    busy = {row.job for row in rows(fio)}
    return [name for name in sections(fio) if name not in busy]


def errors(fio: Json | None) -> list[str]:
    """What went wrong, a sentence each."""
    found = []
    for job in (fio or {}).get("jobs", ()):
        if job.get("error"):
            known = job["error"] in errno.errorcode
            what = f" ({os.strerror(job['error'])})" if known else ""
            found.append(f"fio: job {job['jobname']} ended with error {job['error']}{what}")
        if job.get("total_err"):
            found.append(f"fio: job {job['jobname']} saw {job['total_err']} I/O errors")
    return list(dict.fromkeys(found))
