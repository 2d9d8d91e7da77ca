# SPDX-License-Identifier: GPL-2.0-or-later
"""Make drives and guests with given figures, for the launcher's tests."""

from __future__ import annotations

import copy
import struct
import sys
import zlib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "host-tools"), str(ROOT / "tests")]

PARTS = ("cell", "bus", "host-queue", "gc-queue", "buffer", "map", "other", "link", "controller", "namespace-queue")


def op(latencies: list[int], size: int = 4096, **parts: int) -> dict[str, Any]:
    """Return the account of I/Os with these latencies (all below 16, or floors of buckets)."""
    account: dict[str, Any] = {
        "ios": len(latencies),
        "bytes": size * len(latencies),
        "errors": 0,
        "latency-sum-ns": sum(latencies),
        "latency-min-ns": min(latencies, default=2**64 - 1),
        "latency-max-ns": max(latencies, default=0),
        "histogram": [
            {"floor-ns": floor, "count": latencies.count(floor)} for floor in sorted(set(latencies))
        ],
    }
    for part in PARTS:
        account[f"{part}-ns"] = parts.get(part.replace("-", "_"), 0)
    return account


def account(
    ftl: dict[str, int] | None = None, nand: dict[str, Any] | None = None, **ops: Any
) -> dict[str, Any]:
    """Return an ACCOUNT; ops by name."""
    found: dict[str, Any] = {name: ops.get(name) or op([]) for name in ("read", "write", "trim", "flush")}
    found["ftl"] = ftl or {}
    found["nand"] = {"by-source": {}, "violations": [0] * 10, "uncorrectable": 0, **(nand or {})}
    return found


def mark(kind: str, label: str, at: int, interval: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return a mark and the account of the time before it."""
    return {"kind": kind, "label": label, "at-ns": at, "account": interval or account()}


SETTINGS = [
    "geometry.channels=2",
    "geometry.chips_per_channel=1",
    "geometry.dies_per_chip=2",
    "geometry.planes_per_die=1",
    "geometry.blocks_per_plane=10",
    "geometry.pages_per_block=8",
    "timing.read_ns=50000",
    "timing.cmd_ns=100",
    "timing.bus_ps_per_byte=1000",
    "ftl.unit_bytes=4096",
]


def device(total: dict[str, Any], marks: list[dict[str, Any]] | None = None, **more: Any) -> dict[str, Any]:
    """Return the driver-specific part of query-blockstats."""
    return copy.deepcopy(
        {
            "driver": "nand-ssd",
            "profile": "/some/where/small.ini",
            "capacity": 256 << 20,
            "settings": SETTINGS,
            "total": total,
            "marks": marks or [],
            **more,
        }
    )


def busy(**by_source: int) -> dict[str, int]:
    """Return the busy time of a die or a channel."""
    return {name: by_source.get(name, 0) for name in ("host", "gc", "wl", "meta", "backup")}


HEAD_BYTES = 16384
IMAGE_AT = 2 * HEAD_BYTES
# 2 dies of 4 blocks of 2 pages of 512 bytes, and tables of 8192 bytes
DRIVE_SETTINGS = (
    "drive.name=tiny\ngeometry.channels=1\ngeometry.chips_per_channel=1\ngeometry.dies_per_chip=2\n"
    "geometry.planes_per_die=1\ngeometry.blocks_per_plane=4\ngeometry.pages_per_block=2\n"
    "geometry.page_bytes=512\nftl.payload=yes\nprecondition.fill_permille=1000\n"
)


def drive_file(
    path: Path, version: int = 3, image_bytes: int = 20480, magic: bytes = b"SLATE\r\n\x1a"
) -> Path:
    """Make a drive file as defined in SPEC.md: 8 KiB of tables, 8 KiB of pages, a table of 4 KiB."""
    head = magic + struct.pack("<IIQ", version, HEAD_BYTES, image_bytes)
    head = head.ljust(1024, b"\0") + DRIVE_SETTINGS.encode()
    head = head.ljust(HEAD_BYTES - 4, b"\0")
    head += struct.pack("<I", zlib.crc32(head))
    path.write_bytes(2 * head + b"T" * 8192 + b"P" * 8192 + b"F" * 4096)
    return path


def fio(
    name: str, section: str, ios: int, mean: float, maximum: int = 0, options: dict[str, str] | None = None, **more: Any
) -> dict[str, Any]:
    """Return one job of fio's JSON."""
    points = {"50.000000": 11, "99.000000": 22, "99.900000": 33}
    data = {
        "total_ios": ios,
        "iops": 1000.0,
        "bw_bytes": 4096000,
        "runtime": 1000,
        "lat_ns": {"mean": mean, "max": maximum or int(mean), "min": 1, "N": ios},
        "clat_ns": {"mean": mean, "max": maximum or int(mean), "percentile": points},
    }
    return {
        "jobname": name,
        "error": 0,
        "read": {"total_ios": 0},
        "write": {"total_ios": 0},
        section: data,
        **({} if options is None else {"job options": options}),
        **more,
    }


def record(**settings: Any) -> dict[str, Any]:
    """Return the parts of run.json that the report reads."""
    base = {
        "profile": "nand-emu/profiles/small.ini",
        "job": "fio-jobs/quick.fio",
        "smp": 1,
        "virtual_time": True,
        "seed": 1,
        "set": [],
        "fill_percent": 100,
        "age": 0,
        "precondition": "instant",
    }
    return {"settings": {**base, **settings}}
