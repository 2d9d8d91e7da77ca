# SPDX-License-Identifier: GPL-2.0-or-later
"""A data sheet for 'slate fit': the numbers that a drive must reach, and the known properties of
its flash.

    [sheet]
    source         = where the numbers are from
    pcie           = 3x4
    seq_read_mb_s  = 3200        128 KiB, seq_qd in flight
    ...

    [flash]
    like           = tlc         a profile with all other settings
    geometry.dies_per_chip = 4   any key of a profile; it is not changed

Sizes are decimal: a MB is 10^6 bytes. Every target may be missing but one. With [sheet] fio = FILE
the targets are fio's results (fitfio.py).
"""

from __future__ import annotations

import configparser
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from . import fitfio, names, profiles, shape
from .errors import SlateError

IO_BYTES = 4096
MB = 1_000_000
# docs/results/bench/path.md: fio's libaio on Linux 6.1, no I/O scheduler, the default rate of the guest's processors.
READ_PATH_US, WRITE_PATH_US = 2.62, 2.69
# A lane of each generation carries so many GB/s, after line coding.
LANE_GB_S = {1: 0.25, 2: 0.5, 3: 8 * 128 / 130 / 8, 4: 16 * 128 / 130 / 8, 5: 32 * 128 / 130 / 8, 6: 64 / 8}
LEAST_CELL = 0.5  # of the read_ns of 'like': the shortest read of a cell that a fit tries
PAYLOAD_PERMILLE_MAX = 907  # the default of link.data_permille: 256 of 282 bytes of a packet


@dataclass(frozen=True)
class Target:
    """Describes a number of the sheet: its key, its words, its bounds, and whether it is a time."""

    key: str
    words: str
    unit: str
    low: float
    high: float


TARGETS = (
    Target("seq_read_mb_s", "sequential read", "MB/s", 1, 200_000),
    Target("seq_write_mb_s", "sequential write", "MB/s", 1, 200_000),
    Target("rand_read_iops", "random read", "IOPS", 10, 100_000_000),
    Target("full_write_mb_s", "seq. write, cache full", "MB/s", 1, 200_000),
    Target("sustained_write_iops", "sustained random write", "IOPS", 10, 100_000_000),
    Target("read_us", "random read, QD 1", "µs", 1, 100_000),
    Target("seq_read_us", "read in order, QD 1", "µs", 1, 100_000),
    Target("write_us", "random write, QD 1", "µs", 1, 100_000),
)
# The settings of the measurements are: key, default, least, most.
NUMBERS = (
    ("seq_qd", 32, 1, 1024),
    ("read_qd", 256, 1, 65_536),
    ("write_qd", 256, 1, 65_536),
)
# A cache has a key, a least and a most value, in thousandths: of the capacity that the empty drive writes in SLC mode,
# or of the map that is in memory.
CACHES = (("slc_cache_permille", 1, 300), ("map_cache_permille", 1, 999))
# The path of the host is a part of each of these latencies.
PATH_OF = {"read_us": "read", "seq_read_us": "read", "write_us": "write"}
PATHS = (("read_path_us", READ_PATH_US), ("write_path_us", WRITE_PATH_US))
TEXTS = ("about", "source")


@dataclass
class Sheet:
    """Holds the content of the file."""

    path: Path
    targets: dict[str, float]
    qd: dict[str, int]
    path_ns: dict[str, float]
    pcie: tuple[int, int] | None
    base: Path
    fixed: dict[str, str] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    caches: dict[str, float] = field(default_factory=dict)
    curve: dict[int, float] = field(default_factory=dict)  # random reads a second by queue depth; not fitted

    @property
    def name(self) -> str:
        """Return the name of the drive, which is that of the file."""
        return self.path.stem

    def settings(self) -> dict[str, str]:
        """Return the profile's keys that the sheet fixes."""
        link = {"link.generation": str(self.pcie[0]), "link.lanes": str(self.pcie[1])} if self.pcie else {}
        return {**link, **self.fixed}


def read(path: Path) -> Sheet:
    """Read a sheet. Raises a SlateError that names the key and its valid values."""
    parser = configparser.ConfigParser(interpolation=None, inline_comment_prefixes=(";",), comment_prefixes=(";", "#"))
    try:
        parser.read_string(path.read_text(encoding="utf-8"), source=str(path))
    except OSError as error:
        raise SlateError(f"can not read {path}: {(error.strerror or str(error)).lower()}", "name a sheet") from None
    except (configparser.Error, UnicodeDecodeError) as error:
        told = " ".join(shape.clean(str(error)).split())
        raise SlateError(f"{path} is not a sheet: {told}", "docs/fitting-a-drive.md has an example") from None
    for section in parser.sections():
        if section not in ("sheet", "flash"):
            raise SlateError(f"{path}: there is no section [{section}]", "a sheet has [sheet] and [flash]")
    if not parser.has_section("sheet"):
        raise SlateError(f"{path}: the section [sheet] is missing", "docs/fitting-a-drive.md has an example")
    return _Reader(path, parser).sheet()


class _Reader:
    """Checks and converts every value."""

    def __init__(self, path: Path, parser: configparser.ConfigParser):
        self.path = path
        self.given = dict(parser["sheet"])
        self.flash = dict(parser["flash"]) if parser.has_section("flash") else {}

    def sheet(self) -> Sheet:
        known = [target.key for target in TARGETS] + [key for key, *_ in NUMBERS] + [key for key, _ in PATHS]
        known += [*(key for key, *_ in CACHES), "pcie", "fio", *TEXTS]
        for key in self.given:
            if key not in known:
                raise SlateError(
                    f"{self.path}: [sheet] {key}: there is no such key{names.nearest(key, known)}",
                    f"use one of: {', '.join(known)}",
                )
        targets = {t.key: self._number(t.key, t.low, t.high) for t in TARGETS if t.key in self.given}
        curve: dict[int, float] = {}
        if "fio" in self.given:
            targets, curve = self._measured()
        if not targets:
            raise SlateError(f"{self.path}: no number of a data sheet is given", "give seq_read_mb_s, read_us, ...")
        path_us = {key: self._number(key, 0, 1000) if key in self.given else usual for key, usual in PATHS}
        return Sheet(
            path=self.path,
            targets=targets,
            qd={
                key: int(self._number(key, low, high)) if key in self.given else usual
                for key, usual, low, high in NUMBERS
            },
            path_ns={key.partition("_")[0]: 1000 * value for key, value in path_us.items()},
            pcie=self._pcie(),
            base=names.find(self.flash.pop("like", "tlc"), names.PROFILE),
            fixed=self._fixed(),
            texts={key: self.given[key] for key in TEXTS if key in self.given},
            caches={key: self._number(key, low, high) for key, low, high in CACHES if key in self.given},
            curve=curve,
        )

    def _measured(self) -> tuple[dict[str, float], dict[int, float]]:
        """Return the targets of fio's results, and the other points of their curve."""
        for key in [target.key for target in TARGETS] + [key for key, *_ in NUMBERS]:
            if key in self.given:
                raise SlateError(f"{self.path}: [sheet] has both fio and {key}", f"delete {key}: the results give it")
        return fitfio.read(self.path.parent / self.given["fio"])

    def _number(self, key: str, low: float, high: float) -> float:
        text = self.given[key]
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if not low <= value <= high or not re.fullmatch(r"[0-9]+(\.[0-9]+)?", text):
            raise SlateError(
                f"{self.path}: [sheet] {key} = '{text}': must be a number, {low:g} .. {high:,.0f}", "correct the sheet"
            )
        return value

    def _pcie(self) -> tuple[int, int] | None:
        text = self.given.get("pcie")
        if text is None:
            return None
        match = re.fullmatch(r"([1-6])\s*x\s*(1|2|4|8|16)", text)
        if not match:
            raise SlateError(
                f"{self.path}: [sheet] pcie = '{text}': must be the generation and the lanes, such as 4x4",
                "generations 1 to 6; 1, 2, 4, 8 or 16 lanes",
            )
        return int(match[1]), int(match[2])

    def _fixed(self) -> dict[str, str]:
        for key in self.flash:
            if not re.fullmatch(r"[a-z]+\.[a-z0-9_]+", key):
                raise SlateError(
                    f"{self.path}: [flash] {key}: must be 'like' or a key of a profile with its section",
                    "such as timing.read_ns",
                )
        return self.flash


# ---- numbers that contradict each other


def contradictions(sheet: Sheet) -> list[str]:
    """Return a sentence for each contradiction, which no drive can satisfy with any flash."""
    found = (check(sheet) for check in _CHECKS)
    return [sentence for sentence in found if sentence]


def _bytes_fit(sheet: Sheet, iops: str, rate: str, words: str) -> str:
    small, large = sheet.targets.get(iops), sheet.targets.get(rate)
    if small is None or large is None or small * IO_BYTES <= large * MB:
        return ""
    return (
        f"{iops} = {small:,.0f} are {small * IO_BYTES / MB:,.0f} MB/s, more than {rate} = {large:,.0f}: {words}"
    )


def _reads_fit(sheet: Sheet) -> str:
    return _bytes_fit(sheet, "rand_read_iops", "seq_read_mb_s", "4 KiB each pass the same link")


def _writes_fit(sheet: Sheet) -> str:
    return _bytes_fit(sheet, "sustained_write_iops", "seq_write_mb_s", "the flash programs no more for random writes")


def _link_fits(sheet: Sheet) -> str:
    if not sheet.pcie:
        return ""
    most = LANE_GB_S[sheet.pcie[0]] * sheet.pcie[1] * 1000 * PAYLOAD_PERMILLE_MAX / 1000
    for key in ("seq_read_mb_s", "seq_write_mb_s"):
        if sheet.targets.get(key, 0) > most:
            return (
                f"{key} = {sheet.targets[key]:,.0f} is more than {most:,.0f} MB/s, the payload of pcie = "
                f"{sheet.pcie[0]}x{sheet.pcie[1]}"
            )
    return ""


def _depth_fits(sheet: Sheet) -> str:
    iops, least = sheet.targets.get("rand_read_iops"), sheet.targets.get("read_us")
    if iops is None or least is None:
        return ""
    most = sheet.qd["read_qd"] / least * 1e6
    if iops <= most:
        return ""
    return (
        f"rand_read_iops = {iops:,.0f} needs more than {sheet.qd['read_qd']} in flight (read_qd): with read_us = "
        f"{least:g} they are at most {most:,.0f} (Little's law)"
    )


def _path_fits(sheet: Sheet) -> str:
    for key, op in PATH_OF.items():
        told = sheet.targets.get(key)
        if told is not None and told * 1000 <= sheet.path_ns[op]:
            return f"{key} = {told:g} is not above {op}_path_us = {sheet.path_ns[op] / 1000:g}, the host's own part"
    return ""


def _cell_fits(sheet: Sheet) -> str:
    told, fixed = sheet.targets.get("read_us"), sheet.fixed.get("timing.read_ns")
    if told is None:
        return ""
    settings = profiles.derive(sheet.base, [f"timing.read_ns={fixed}"] if fixed else [])["settings"]
    cell_us = min(map(int, settings["timing.read_ns"].split(","))) / 1000 * (1 if fixed else LEAST_CELL)
    path_us = sheet.path_ns["read"] / 1000
    if told > cell_us + path_us:
        return ""
    whose = "timing.read_ns in [flash]" if fixed else f"half the read_ns of {sheet.base.stem}, the least of a fit"
    return f"read_us = {told:g} is not above {cell_us:g} of the cell ({whose}) and read_path_us = {path_us:g}"


def _order_fits(sheet: Sheet) -> str:
    one, rate = sheet.targets.get("seq_read_us"), sheet.targets.get("seq_read_mb_s")
    if one is None or rate is None or IO_BYTES / one <= rate:
        return ""
    return (
        f"seq_read_us = {one:g} is {IO_BYTES / one:,.0f} MB/s in 4 KiB, more than seq_read_mb_s = {rate:,.0f}: one "
        "read at a time cannot be faster than many; correct one of them"
    )


def _caches_fit(sheet: Sheet) -> str:
    full, empty = sheet.targets.get("full_write_mb_s"), sheet.targets.get("seq_write_mb_s")
    if len(sheet.caches) == len(CACHES):
        return "slc_cache_permille and map_cache_permille: the page FTL has one of these caches at a time"
    if full is None:
        return ""
    if "slc_cache_permille" not in sheet.caches:
        return f"full_write_mb_s = {full:,.0f} needs slc_cache_permille, the size of the cache that is full"
    if empty is not None and full > empty:
        return f"full_write_mb_s = {full:,.0f} is more than seq_write_mb_s = {empty:,.0f}, the rate of the empty cache"
    return ""


_CHECKS: tuple[Callable[[Sheet], str], ...] = (
    _reads_fit,
    _writes_fit,
    _link_fits,
    _depth_fits,
    _path_fits,
    _cell_fits,
    _order_fits,
    _caches_fit,
)
