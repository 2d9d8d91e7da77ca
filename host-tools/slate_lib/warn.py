# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes warnings that a reader needs before trusting the figures."""

from __future__ import annotations

from . import fioresult, fioseed, jobsizes, units
from .account import Account, Device
from .rows import Row
from .shape import Json

TRIMMED = "The drive was full, so they were trimmed since."
LATE_SHARE = 0.1  # warn if completions are late by more than this share of the drive's mean latency


def of_marks(device: Device) -> list[str]:
    """Return what is missing because a job's end was not marked, or the drive had no room for more marks."""
    found = [
        f"{label}: its begin was marked at {begin_ns / 1e9:.3f} s, and never its end, so it has no row of the drive, "
        f"and later jobs named {label} are part of it. Did the script end before its slate-mark end?"
        for label, begin_ns in device.never_ended()
    ]
    full = device.marks_full_ns()
    if full is not None:
        found.append(
            f"the drive keeps {len(device.marks)} marks, and they were used up after {full / 1e9:.3f} s: jobs that "
            "ended later have no row of the drive, no mean and no limit. Divide the job file."
        )
    return found


def of_the_map(device: Device) -> list[str]:
    """Warn of a cached map whose memory has room for fewer loads at a time than the drive has dies.

    As in ftl/page/map/map_size.c: reads may load one map page at a time, and one more for every two frames beyond the
    least number of frames (M4 of ftl/page/map/map.c).
    """
    frames, page_bytes, of_die = (device.setting(key) for key in ("map_cache_pages", "page_bytes", "planes_per_die"))
    dies = device.dies()
    if not frames or not page_bytes or not of_die or not dies:
        return []
    least = (of_die * dies + 1) * (page_bytes // device.unit_bytes) + 1
    loads = (frames - least) // 2 + 1
    if loads >= dies:
        return []
    return [
        f"map: ftl.map_cache_pages = {frames} lets reads load {units.many(loads, 'map page')} at a time, and the "
        f"drive has {dies} dies, so reads at random wait for the map, not for flash; from {least + 2 * dies - 2} on "
        "every die may load one"
    ]


def of_flushes(device: Device) -> list[str]:
    """Warn of a drive that lies about flushes."""
    if device.settings.get("drive.ignore_flush") != "yes":
        return []
    return [
        "THE DRIVE LIES: it ends flushes at once and ignores FUA (drive.ignore_flush = yes), so a loss of power takes "
        "data that it called durable, and flushes and synchronous writes are faster than an honest drive's"
    ]


def was_full(device: Device) -> bool:
    """Was all of the drive filled before the run? What then has no data was trimmed."""
    return (device.setting("fill_permille") or 0) >= 1000


def warnings(device: Device, fio: Json | None, rows: list[Row], to_fill: str) -> list[str]:
    """Return the warnings, each of one or two sentences. to_fill: what helps against reads of sectors without data."""
    found = fioresult.errors(fio)
    found += [
        f"{job}: fio did no I/O. Check its size and offset against the drive's {units.size(device.capacity)}."
        for job in fioresult.idle(fio)
    ]
    found += _repeated(fio, device.capacity)
    found += _cut_blocks(fio)
    found += _unwritten(device, rows, to_fill)
    found += _late(device)
    return found + of_the_drive(device.total)


def of_the_drive(total: Account) -> list[str]:
    """Return failures of the drive from all causes."""
    return _media(total) + _drive_errors(total)


def _unwritten(device: Device, rows: list[Row], to_fill: str) -> list[str]:
    """Warn of reads of pages that were never written: an emulated drive answers them without a flash read."""
    found = []
    for job in dict.fromkeys(row.job for row in rows):
        account = next((row.account for row in rows if row.job == job), None)
        if account is None:
            continue
        counters, reads = account.account.ftl, account.account.op["read"]
        ios, touched = counters.get("unwritten-reads", 0), counters.get("unwritten-units", 0)
        if not ios or not reads.ios:  # a read that found some data waited for the flash
            continue
        text = (
            f"{job}: {units.count(ios)} of {units.many(reads.ios, 'read')} ({units.percent(ios, reads.ios)}) found "
            f"only sectors that were never written or were trimmed ({units.many(touched, 'unit')} of "
            f"{units.size(device.unit_bytes)}): these cost only a look-up"
        )
        real = _real_read_ns(device, account.account)
        text += f"; real data would cost {units.us(real)} µs or more" if real else ""
        found.append(f"{text}. {to_fill}")
    return found


def _repeated(fio: Json | None, capacity: int) -> list[str]:
    """Warn of jobs that passed over their part of the drive in the same random order more than once.

    Writes in the order of the pass before find blocks whose pages are all invalid.
    """
    found = {}
    for job in (fio or {}).get("jobs", ()):
        options = {**(fio or {}).get("global options", {}), **job.get("job options", {})}
        name, size = job["jobname"], jobsizes.in_bytes(options.get("size", "100%"), capacity)
        threads = (units.whole(options.get("numjobs", "1")) or 1) if "group_reporting" in options else 1
        if size and _done_bytes(job, options) > size * threads and fioseed.repeats(options):
            lfsr = options.get("random_generator") == "lfsr"
            fix = "Leave random_generator=lfsr out" if lfsr else "Set randrepeat=0"
            found[name] = (
                f"{name}: fio repeated one order of addresses in each pass over {units.size(size)}, so garbage "
                f"collection finds blocks that are wholly invalid, and WAF is lower than in another order. {fix} "
                "(docs/time.md)."
            )
    return list(found.values())


def _cut_blocks(fio: Json | None) -> list[str]:
    """Warn of jobs of mixed block sizes in which fio's map of visited blocks cut the larger ones."""
    found = {}
    for job in (fio or {}).get("jobs", ()):
        options = {**(fio or {}).get("global options", {}), **job.get("job options", {})}
        if fioseed.cuts_blocks(options):
            found[job["jobname"]] = (
                f"{job['jobname']}: fio cuts a random block where it meets one that the job visited before, so there "
                "are fewer large requests than the job asks for, and sizes that it does not name. Set norandommap "
                "(docs/time.md)."
            )
    return list(found.values())


def _done_bytes(job: Json, options: dict[str, str]) -> int:
    """Return what a job's passes have moved: without the reads that verify, and trims or the writes after them."""
    reads, writes, trims = (job.get(op, {}).get("io_bytes", 0) for op in ("read", "write", "trim"))
    most: int = max(writes + (0 if "verify" in options else reads), trims)
    return most


def _late(device: Device) -> list[str]:
    """Warn, in real time, if lateness is a large part of the latencies that the guest measured."""
    late = device.late()
    ios = sum(op.ios for op in device.total.op.values())
    if not late or not ios:
        return []
    mean_ns = sum(op.latency_sum_ns for op in device.total.op.values()) / ios
    if late.mean_ns <= LATE_SHARE * mean_ns:
        return []
    return [
        f"real time: the guest received completions {units.us(late.mean_ns)} µs late on average, the drive's mean "
        f"latency being {units.us(mean_ns)} µs: the guest's latencies depend on this host. Raise --spin-ns, give "
        "the drive's thread a processor of its own, or measure in virtual time (docs/time.md)."
    ]


def _real_read_ns(device: Device, account: Account) -> float | None:
    """Return the time of a read of flash: from this job's own reads, or else computed from the profile."""
    reads = account.op["read"]
    flash = reads.ios - account.ftl.get("unwritten-reads", 0) - account.ftl.get("buffer-hit-units", 0)
    if flash > 0 and reads.parts_ns["cell"]:
        return (reads.parts_ns["cell"] + reads.parts_ns["bus"]) / flash
    cell, per_byte = device.setting("read_ns"), device.setting("bus_ps_per_byte")
    if cell is None:
        return None
    return cell + (device.setting("cmd_ns") or 0) + (per_byte or 0) * device.unit_bytes / 1000


def _media(total: Account) -> list[str]:
    found = []
    for key, what in (
        ("uncorrectable", "reads were uncorrectable"),
        (
            "damaged",
            "reads since the drive was opened met pages that do not match their checksums: the drive "
            "file was damaged; restore it from a copy",
        ),
        ("program-fails", "page programs failed"),
        ("erase-fails", "block erases failed"),
    ):
        if total.nand.get(key):
            found.append(f"media: {units.count(total.nand[key])} {what}")
    broken = total.violations()
    if broken:
        rules = ", ".join(
            f"{rule if str(rule).startswith('R') else f'R{rule}'}: {count}"
            for rule, count in total.nand["violations"].items()
            if count
        )
        found.append(
            f"the FTL broke NAND rules {broken} times ({rules}): this is a bug in Slate; the figures are void"
        )
    return found


def _drive_errors(total: Account) -> list[str]:
    found = []
    for name, op in total.op.items():
        if op.errors:
            found.append(f"the drive failed {units.count(op.errors)} of {units.count(op.ios)} {name}s")
    return found
