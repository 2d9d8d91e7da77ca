# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds what limited each job: how busy each resource was in its time, and how many I/Os were in flight.

The rules, in order:

1. A resource limits a job if it was busy for 90 % of the job's time (BUSY): without any other
   limit the job could then be a ninth faster at most. Of several, the busiest is named.
   - Processor: the busiest vCPU. It is not considered for jobs that poll, or that fio holds back
     (rule 3): these may ask for the time again and again while they wait.
   - Link: each way apart, because it carries data both ways at once.
   - Controller: its cores on average (controller.cores), with all that they execute.
   - Dies and channels: all of them on average; or the busiest one, by the rows of the series
     inside the job's time if there are MIN_ROWS. They limit only jobs that had to do with the
     flash: a write buffer can keep dies busy while no I/O waits for them. So a tenth of the
     drive's latency (FLASH) must be spent in cells, on channels or in waiting for them.
   - GC: dies limit, and half of their busy time or of the waiting in queues was GC's or wear
     levelling's.
2. No resource was that busy, and the job kept all its I/Os in flight: its depth limits it. By
   Little's law the mean number in flight is the rate times the mean latency; 90 % of the depth
   (FULL) count as all, because fio fills and drains the queue. At depth 1 the controller limits
   if its constant times (map and other, ftl.map_ns and ftl.overhead_ns) are the largest part of
   the latency and half of it or more: no faster flash could then double the rate.
3. Fewer were in flight. fio's options say if a think time held the job back, or a rate that was
   reached (90 % of it). If not, depth still limits jobs of one I/O at a time, which between two
   I/Os do only work of their own.
4. Otherwise it is unclear, and the report says so. Without fio.json (scripts, applications) the
   depth is not known, and only rule 1 can tell.

Busy times are of the time between the job's marks, which includes fio's start: shares of jobs
below some 10 ms are too low.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from . import rows as job_rows
from . import units
from .account import PARTS, Device, JobAccount
from .fioresult import GuestRow
from .rows import WHOLE_RUN, Row
from .series import Series
from .shape import Json

BUSY, FULL, REACHED, FLASH, MOST = 0.9, 0.9, 0.9, 0.1, 0.5
ALARM = 0.95  # If no resource of the drive is busy, a processor that is busy for this share of the time is the limit.
MIN_ROWS = 4
_AT_ONCE = ("libaio", "io_uring", "io_uring_cmd", "posixaio")  # engines with an iodepth
_POLLS = ("hipri", "sqthread_poll")
_CONTROLLER = "map + other"
_AT_FLASH = ("cell", "bus", "host-queue", "gc-queue", "namespace-queue")
_PART_NAMES = {  # names of parts, as in the report's table of parts
    "path": "path",
    "cell": "cell",
    "bus": "bus",
    "host-queue": "host-q",
    "gc-queue": "GC-q",
    "buffer": "buffer",
    "map": _CONTROLLER,
    "other": _CONTROLLER,
    "link": "link",
    "controller": "core-q",
    "namespace-queue": "ns-q",
}



@dataclass
class Use:
    """Holds the shares of a job's time in which each resource was busy; None: unknown."""

    processors: list[float] = field(default_factory=list)
    dies: float | None = None
    busiest_die: float | None = None
    channels: float | None = None
    busiest_channel: float | None = None
    link_to_host: float | None = None
    link_to_drive: float | None = None
    cores: float | None = None

    def processor(self) -> float | None:
        """Return the busy share of the busiest vCPU."""
        return max(self.processors, default=None)

    def all(self) -> list[tuple[str, str, float]]:
        """Return the kind of resource, its number and its share; the busiest first."""
        known = (
            ("processor", "processor", self.processor()),
            ("link", "link to host", self.link_to_host),
            ("link", "link to drive", self.link_to_drive),
            ("controller", "controller's cores", self.cores),
            ("die", *_mean_or_most(self.dies, self.busiest_die, "die")),
            ("channel", *_mean_or_most(self.channels, self.busiest_channel, "channel")),
        )
        found = [(kind, name, share) for kind, name, share in known if share is not None]
        return sorted(found, key=lambda one: -one[2])

    def drive(self) -> float:
        """Return the busiest of the drive's resources."""
        return max((share for kind, _, share in self.all() if kind != "processor"), default=0.0)


@dataclass
class Limit:
    """What limited a job."""

    name: str  # processor, link, channel, die, GC, controller, depth, rate limit, think time, unclear
    why: str
    use: Use
    depth: int | None = None  # how many I/Os in flight the job allows
    guest: float | None = None  # I/Os in flight on average, by fio's latency
    drive: float | None = None  # the same, by the drive's latency
    polls: bool = False  # the job polls for completions, or fio holds it to a rate

    def alarm(self) -> bool:
        """Did the job measure the guest instead of the drive?"""
        return not self.polls and (self.use.processor() or 0) > ALARM >= self.use.drive()


def _mean_or_most(mean: float | None, most: float | None, name: str) -> tuple[str, float | None]:
    """Return the mean use of a kind of resource if all of them limit together, else that of the busiest one."""
    if most is None or (mean is not None and (mean >= BUSY or mean >= most)):
        return f"{name}s", mean
    return f"busiest {name}", most


class Asked:
    """Holds the options of a section of fio's job file."""

    def __init__(self, fio: Json | None, section: str):
        shared = (fio or {}).get("global options", {})
        found = [job for job in (fio or {}).get("jobs", ()) if job["jobname"] == section]
        self.options: list[dict[str, str]] = [{**shared, **job.get("job options", {})} for job in found]

    def told(self, key: str) -> str | None:
        """Return the value of an option; None if it is not given or 0."""
        return next((one[key] for one in self.options if one.get(key, "0") != "0"), None)

    def polls(self) -> bool:
        """Does the job poll for completions?"""
        return any(self.told(key) is not None for key in _POLLS)

    def verifies_later(self) -> bool:
        """Does the job write first and read its data afterwards?"""
        writes = self.told("rw") in ("write", "randwrite")
        return writes and any("verify" in one and one.get("do_verify") != "0" for one in self.options)

    def one_at_a_time(self) -> bool:
        """Does each process have one I/O in flight?"""
        return bool(self.options) and all(_iodepth(one) == 1 for one in self.options)

    def depth(self) -> int | None:
        """Return the depth of all processes. fio reports each clone, or with group_reporting all as one."""
        known = [_iodepth(one) for one in self.options]
        depths = [depth for depth in known if depth is not None]
        if not depths or len(depths) != len(known):
            return None
        clones = units.whole(self.options[0].get("numjobs", "1")) if len(depths) == 1 else 1
        return sum(depths) * clones if clones else None

    def held(self, rows: list[Row]) -> tuple[str, str] | None:
        """Return the option that limited the job, and its name."""
        clones = len(self.options) if len(self.options) > 1 else units.whole(self.told("numjobs") or "1") or 1
        for key in ("rate_iops", "rate"):
            for row in rows:
                asked = _rate_of(self.told(key), row.op) * clones
                got = (row.guest.iops if key == "rate_iops" else row.guest.bytes_per_s) if row.guest else 0.0
                if asked and got >= REACHED * asked:
                    return "rate limit", f"{key}={self.told(key)}"
        think = self.told("thinktime")
        return ("think time", f"thinktime={think}") if think else None


def _rate_of(told: str | None, op: str) -> int:
    """Return the rate of a kind of I/O in '1000', '4m,1m' (reads, writes) or ',4m' (only writes); 0: none."""
    rates = (told or "").split(",")
    number = ("read", "write", "trim").index(op) if op in ("read", "write", "trim") else 0
    try:
        return units.parse_size(rates[0] if len(rates) == 1 else rates[number] if number < len(rates) else "")
    except ValueError:
        return 0


def _guests(rows: list[Row]) -> list[GuestRow]:
    return [row.guest for row in rows if row.guest]


def _iodepth(options: dict[str, str]) -> int | None:
    """Return the I/Os in flight. For trims it is one, because fio 3.33 waits for each."""
    if options.get("ioengine", "psync") not in _AT_ONCE or options.get("rw") in ("trim", "randtrim"):
        return 1
    return units.whole(options.get("iodepth", "1"))


# ---- how busy


def use(device: Device, row: Row, series: Series | None) -> Use | None:
    """Return how busy resources were in the time of the row's job; None: its time is unknown."""
    account = row.account
    if account is None or account.end_ns <= account.begin_ns:
        return None
    elapsed = account.end_ns - account.begin_ns
    dies, channels = job_rows.busy(device, row)
    linked = any(device.total.ftl.get(f"link-to-{way}-busy-ns") for way in ("host", "drive"))
    to_host, to_drive = (account.account.ftl.get(f"link-to-{way}-busy-ns", 0) / elapsed for way in ("host", "drive"))
    return Use(
        [ns / elapsed for ns in account.processors],
        _at_most_all(dies),
        _busiest(series, "dies", account),
        _at_most_all(channels),
        _busiest(series, "channels", account),
        to_host if linked else None,
        to_drive if linked else None,
        _at_most_all(device.cores_busy(account.account, elapsed)),
    )


def _at_most_all(share: float | None) -> float | None:
    """Limit to 100 %: a command's whole time counts when it is issued, even if it ends after the job."""
    return None if share is None else min(share, 1.0)


def _busiest(series: Series | None, what: str, account: JobAccount) -> float | None:
    """Return the share of the busiest one, over the rows inside the job."""
    if series is None:
        return None
    inside = [
        (row, series.edge(row + 1) - series.edge(row))
        for row in range(series.rows)
        if account.begin_ns <= series.edge(row) and series.edge(row + 1) <= account.end_ns
    ]
    total = sum(length for _, length in inside)
    if len(inside) < MIN_ROWS or not total:
        return None
    shares = (math.fsum(one[row] * length for row, length in inside) / total for one in series.busy(what))
    return max(shares, default=None)


# ---- in flight


def _guest_in_flight(rows: list[Row], one_after_another: bool) -> float | None:
    """Return rate x mean latency, over the job's kinds of I/O. For flushes fio gives a number, but no rate.

    Each kind has its own time; the time of all is the longest, or the sum if one kind follows another.
    """
    guest = _guests(rows)
    times = [one.ios / one.iops for one in guest if one.iops]
    seconds = math.fsum(times) if one_after_another else max(times, default=0.0)
    return math.fsum(one.ios * one.mean_ns for one in guest) / 1e9 / seconds if seconds else None


def _drive_in_flight(account: JobAccount) -> float:
    elapsed = account.end_ns - account.begin_ns
    return sum(op.latency_sum_ns for op in account.account.op.values()) / elapsed


# ---- where the time went


def _largest_part(rows: list[Row]) -> tuple[str, float] | None:
    """Return name and share of the largest part of the job's latency, with the guest's path if it is known."""
    parts: dict[str, float] = {}
    for row in rows:
        if row.drive:
            for part in PARTS:
                name = _PART_NAMES[part]
                parts[name] = parts.get(name, 0) + row.drive.parts_ns[part]
    measured = [row for row in rows if row.drive]
    if measured and all(row.path_ns() is not None for row in measured):
        parts[_PART_NAMES["path"]] = sum((row.path_ns() or 0) * row.drive.ios for row in measured if row.drive)
    total = sum(parts.values())
    if not total:
        return None
    name = max(parts, key=lambda one: parts[one])
    return name, parts[name] / total


def _meets_flash(device: Device, account: JobAccount) -> bool:
    """Is so large a part of the latency spent at the flash that no write buffer hides it?"""
    ops = account.account.op.values()
    total = sum(op.latency_sum_ns for op in ops)
    at_once = (device.setting("buffer_ns") or 0) * account.account.op["write"].ios
    waits = max(sum(op.parts_ns["buffer"] for op in ops) - at_once, 0)
    waits += sum(op.parts_ns[part] for op in ops for part in _AT_FLASH)
    return waits >= FLASH * total


def _gc_share(account: JobAccount) -> tuple[float, str]:
    """Return GC's share of the dies' time or of the waiting, whichever is larger, and which of the two it is."""
    counters, ops = account.account, account.account.op.values()
    dies = counters.nand_total("die-busy-ns")
    moved = sum(counters.sources.get(name, {}).get("die-busy-ns", 0) for name in ("gc", "wl"))
    behind_gc, behind_host, behind_others = (
        sum(op.parts_ns[f"{who}-queue"] for op in ops) for who in ("gc", "host", "namespace")
    )
    waited = behind_gc + behind_host + behind_others
    return max(
        (moved / dies if dies else 0.0, "it"),
        (behind_gc / waited if waited else 0.0, "the waiting"),
    )


# ---- the limit of each job


def of(device: Device, fio: Json | None, rows: list[Row], series: Series | None = None) -> dict[str, Limit]:
    """Return what limited each job whose time is known, by the job's name."""
    found = {}
    for job in dict.fromkeys(row.job for row in rows if row.job != WHOLE_RUN):
        mine = [row for row in rows if row.job == job]
        known = use(device, mine[0], series)
        if known:
            found[job] = _limit(device, Asked(fio, job), mine, known)
    return found


def _limit(device: Device, asked: Asked, rows: list[Row], known: Use) -> Limit:
    account = rows[0].account
    assert account
    guest = _guest_in_flight(rows, asked.verifies_later())
    found = Limit("unclear", "", known, asked.depth(), guest, _drive_in_flight(account))
    full = bool(found.depth) and (found.guest or 0) >= FULL * (found.depth or 0)
    held = None if full else asked.held(rows)
    found.polls = asked.polls() or bool(held)
    busy = list(_saturated(device, account, found))
    nearest = _nearest(known)
    if busy:
        found.name, name, share = busy[0]
        also = "".join(f", {other} {_percent(its)}" for _, other, its in busy[1:2])
        found.why = f"{name} {_percent(share)} busy{also}"
        gc, of_what = _gc_share(account)
        if found.name == "die" and gc >= MOST:
            found.name, found.why = "GC", f"{name} {_percent(share)} busy, {_percent(gc)} of {of_what} GC's"
        return found
    if held:
        found.name, found.why = held[0], f"{held[1]}; {nearest}"
    elif full or asked.one_at_a_time():
        _by_depth(found, rows, nearest)
    else:
        found.why = nearest
    return found


def _nearest(known: Use) -> str:
    """Return the busiest resource, for a job that no resource limits."""
    for kind, name, share in known.all():
        hidden = kind in ("die", "channel") and share >= BUSY
        return f"{name} {_percent(share)} {'behind buffer' if hidden else 'busy'}"
    return "no resource is known"


def _saturated(device: Device, account: JobAccount, found: Limit) -> Iterator[tuple[str, str, float]]:
    """Return the resources that limit, the busiest first."""
    flash = _meets_flash(device, account)
    for kind, name, share in found.use.all():
        if (kind == "processor" and found.polls) or (kind in ("die", "channel") and not flash):
            continue
        if share >= BUSY:
            yield kind, name, share


def _by_depth(found: Limit, rows: list[Row], nearest: str) -> None:
    found.name = "depth"
    largest = _largest_part(rows)
    if not largest:
        found.why = nearest
        return
    part, share = largest
    found.why = f"latency {_percent(share)} {part}; {nearest}"
    if found.depth == 1 and part == _CONTROLLER and share >= MOST:
        found.name = "controller"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def alarms(found: dict[str, Limit]) -> Iterable[str]:
    """Return warnings about jobs that measured the guest instead of the drive."""
    for job, limit in found.items():
        if limit.alarm():
            yield (
                f"{job}: a processor of the guest was busy for {_percent(limit.use.processor() or 0)} of the time, "
                f"and the drive for {_percent(limit.use.drive())} at most: the drive was not what was measured. Use "
                "more jobs and vCPUs (numjobs, --smp), or faster ones (--cpu-rate)."
            )
