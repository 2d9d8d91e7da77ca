# SPDX-License-Identifier: GPL-2.0-or-later
"""guest.py - the drive's figures of each fio job of a guest, in slate-replay's form.

    reproduce guest RUN [--record FILE --interval-ms N] JOB=RESULT ...

RUN is the folder of 'slate run'. For each JOB (a section of its job file) the file RESULT is
written. It has those keys of measures.py that are about bytes, times, commands of the array and
read amplification; with a recording of the run it also has the bytes in intervals, by the drive's
own times of completion.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from reproduce.rows.measures import Result
from slate_lib.account import Device, JobAccount, raf_parts

Done = tuple[int, str, int]  # ns, op, bytes


class GuestError(Exception):
    """Carries an error message for the user."""


def by_source(job: JobAccount, counter: str) -> dict[str, int]:
    """Return a counter of the array's commands, by source."""
    return {name: counts.get(counter, 0) for name, counts in job.account.sources.items()}


def result_of(job: JobAccount) -> Result:
    """Return the keys that the figures need."""
    host = {name: {"ios": op.ios, "bytes": op.bytes} for name, op in job.account.op.items()}
    ops = {name: by_source(job, f"{name}s") for name in ("read", "program", "erase", "copyback")}
    return {
        "time": {"begin_ns": job.begin_ns, "end_ns": job.end_ns},
        "host": host,
        "raf_by": raf_parts(job.account),
        "nand": {"ops": ops},
        "gc": {"blocks_erased": sum(ops["erase"].values())},
    }


def recorded(path: Path) -> list[Done]:
    """Return all completions of a recording."""
    with path.open(encoding="ascii") as lines:
        return list(completions(lines))


def completions(lines: Iterable[str]) -> Iterator[Done]:
    """Parse a recording (docs/replay.md): each request, and its completion later."""
    requests: list[Done] = []
    for line in lines:
        words = line.split()
        if line.startswith("#") or not words:
            continue
        if words[2] in ("read", "write", "trim"):
            requests.append((int(words[0]), words[2], int(words[4])))
        elif words[2] == "flush":
            requests.append((int(words[0]), "flush", 0))
        elif words[2] == "done":
            now, op, size = requests[int(words[3])]
            yield now + int(words[4]), op, size


def series_of(done: Iterable[Done], job: JobAccount, interval_ms: int) -> Result:
    """Return the bytes and I/Os of each interval with completions, from the beginning of the job."""
    width = interval_ms * 10**6
    rows: dict[int, Result] = {}
    for now, op, size in done:
        if job.begin_ns <= now <= job.end_ns:
            at = (now - job.begin_ns) // width * width
            sums = rows.setdefault(at, {"at_ns": at}).setdefault(op, {"ios": 0, "bytes": 0})
            sums["ios"] += 1
            sums["bytes"] += size
    return {"interval_ns": width, "rows": [rows[at] for at in sorted(rows)]}


def results(run: Path, jobs: Iterable[str], record: Path | None, interval_ms: int) -> dict[str, Result]:
    """Return the results by job. Raises GuestError if one is missing."""
    device = Device(json.loads((run / "device.json").read_text(encoding="utf-8")))
    done = recorded(record) if record else []
    made = {}
    for name in jobs:
        job = device.job(name)
        if job is None or job.shared:
            ran = ", ".join(device.labels()) or "none"
            raise GuestError(
                f"{run}: no job '{name}' that ran alone (there are: {ran}): name a section of the job file"
            )
        made[name] = result_of(job)
        if record:
            made[name]["series"] = series_of(done, job, interval_ms)
    return made


def main(argv: list[str]) -> int:
    """Run the command line. Returns 1 with a sentence on stderr if a job is missing."""
    parser = argparse.ArgumentParser(
        allow_abbrev=False, description="results of a guest's fio jobs in slate-replay's form"
    )
    parser.add_argument("run", type=Path, metavar="RUN")
    parser.add_argument("--record", type=Path, metavar="FILE")
    parser.add_argument("--interval-ms", type=int, default=10, metavar="N")
    parser.add_argument("jobs", nargs="+", metavar="JOB=RESULT")
    args = parser.parse_args(argv)
    wanted = dict(word.partition("=")[::2] for word in args.jobs)
    if not all(wanted.values()):
        parser.error("each JOB=RESULT needs a file to write: as su=points/su.json")
    if args.interval_ms < 1:
        parser.error(f"--interval-ms {args.interval_ms}: must be 1 or more")
    try:
        made = results(args.run, wanted, args.record, args.interval_ms)
        for name, result in made.items():
            path = Path(wanted[name])
            path.parent.mkdir(parents=True, exist_ok=True)
            part = path.with_suffix(".part")
            part.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
            os.replace(part, path)
    except (GuestError, OSError) as error:
        print(f"reproduce guest: {error}", file=sys.stderr)
        return 1
    return 0
