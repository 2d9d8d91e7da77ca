# SPDX-License-Identifier: GPL-2.0-or-later
"""'slate study FILE': what is known is looked up, what is not is executed, and what was found is written.

All is checked before the first run: the file, its options and settings, its measures, SciPy. A run's result is stored
as soon as the run ends, so a study that is ended in any way goes on with the runs that are left. If neither the file
nor a result nor this program has changed since the last time (.made), its report is printed again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import re
import shutil
import sys
from pathlib import Path

from .. import facts, paths, signals, units
from ..errors import INTERRUPTED, JOB_FAILED, OK, SlateError
from ..values import number
from . import arguments, cluster, figures, file, jobs, pool, stats, store
from .jobs import Job
from .outputs import Outputs, write
from .stats import Group, Row
from .store import Store

MADE = ".made"
RECHECK = 100  # of so many imported results, one is made again
_UNTIL = re.compile(r"(.+):([0-9]{1,6}(?:\.[0-9]{1,9})?) ?%")


class Work:
    """Holds a study at work."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self.until = _until(args.until) if args.until else None
        if args.most and not self.until:
            raise SlateError("--most without --until: only that adds seeds", "leave --most out, or give --until, too")
        self.most = int(number("most", args.most or str(arguments.MOST_SEEDS), 2, file.MOST))
        self.count = int(number("jobs", args.jobs, 1, 10_000)) if args.jobs else None
        self.study = file.read(file.find(args.study))
        figures.check(self.study.measures)
        if self.until and self.until[0] not in [one.name for one in self.study.measures]:
            told = ", ".join(one.name for one in self.study.measures)
            raise SlateError(f"--until {args.until}: there is no measure {self.until[0]}", f"use one of: {told}")
        if self.until and file.SEED not in self.study.over:
            raise SlateError("--until: the study has no axis seed to repeat over", 'give it one: seed = "1..3"')
        if self.until and not self.study.has_own_seeds:
            raise SlateError(
                "--until: the seeds stand in [[pairs]] or [[points]], or are no whole numbers: there are no more",
                'make them an axis: seed = "1..3"',
            )
        if args.export and not Path(args.export).name:
            raise SlateError(f"--export {args.export}: is no name of a file", "name a file to write")
        if args.executor:
            cluster.check()
        if args.pages and jobs.kind_of(self.study) == jobs.CUT:
            raise SlateError("--pages: power cuts have none", "leave it out; 'slate cuts report' makes one of a log")
        self.jobs = jobs.prepare(self.study)
        self.store = Store()
        self.reasons: dict[str, str] = {}
        self.known: set[str] = set()
        self.folder = Path(args.out) if args.out else paths.OUT / f"study-{self.study.name}"

    def left(self) -> list[Job]:
        """Return the jobs whose results are not there."""
        found = []
        for job in self.jobs:
            if job.hash in self.known:
                continue
            if self.store.lookup(job.hash):
                self.known.add(job.hash)
            else:
                found.append(job)
        for one in self.store.damaged:
            print(f"study  a stored result was damaged and is made again: {one}", file=sys.stderr)
        self.store.damaged = []
        return found

    # ---- the steps

    def dry_run(self) -> int:
        """Say what would run."""
        left = self.left()
        study = self.study
        sizes = " x ".join(
            f"{len(choices)} {file.LABEL if file.LABEL in choices[0] else ' and '.join(choices[0])}"
            for choices in study.dimensions
        ) or "one"  # fmt: skip
        out = f", {study.left_out_count} left out" if study.left_out_count else ""
        runs = units.many(len(self.jobs), "run")
        print(f"{study.title}\n{runs} ({sizes}{out}), {len(self.known)} known, {len(left)} to make")
        warm = {job.warm.hash: job.warm for job in left if job.warm and not self.store.lookup(job.warm.hash)}
        if warm:
            print(f"{units.many(len(warm), 'drive')} to make first")
        if left:
            count, why = pool.limit(self.store, left, self.count)
            seconds = pool.total([self.store.seconds(job.family) for job in [*warm.values(), *left]], count)
            told = "not known: no such run was measured yet" if seconds is None else f"about {pool.duration(seconds)}"
            print(f"{count} at once{f' ({why})' if why else ''}; time: {told}")
        return OK

    def execute(self) -> int:
        """Run the study."""
        if self.args.import_:
            self._import(Path(self.args.import_))
        if self._is_made():
            print((self.folder / "report.txt").read_text(encoding="utf-8"), end="")
            return self._end()
        stats.scipy_stats()
        _check_folder(self.folder)
        left = self.left()
        print(f"study  {self.study.title}: {len(self.jobs)} runs, {len(self.known)} known", file=sys.stderr)
        while True:
            self._run(left)
            rows = self._rows()
            found = stats.groups(self.study, rows)
            if not self.until or not (more := self._more(found)):
                break
            self.study.add_seeds(more)
            self.jobs = jobs.prepare(self.study)
            left = self.left()
            print(f"study  {more} more seeds: {len(self.jobs)} runs", file=sys.stderr)
        outputs = Outputs(self.study, rows, found, self.store, self.args.pages)
        text = outputs.text()
        write(outputs, self.folder, text)
        lacks = any(row.lacks for row in rows)
        if not self.reasons and not lacks:
            (self.folder / MADE).write_text(self._state(), encoding="ascii")
        print(text, end="")
        return self._end(lacks)

    def _end(self, lacks: bool = False) -> int:
        if self.args.export:
            hashes = [job.hash for job in self.jobs if job.hash not in self.reasons]
            count = store.export(self.store, hashes, Path(self.args.export))
            print(f"study  {count} results are in {self.args.export}", file=sys.stderr)
        print(f"study  {paths.short(self.folder)}/index.html has the charts", file=sys.stderr)
        return JOB_FAILED if self.reasons or lacks else OK

    def _run(self, left: list[Job]) -> None:
        if not left:
            return
        count, why = pool.limit(self.store, left, self.count)
        progress = pool.Progress(len(self.jobs) - len(left), left, count, lambda job: self.store.seconds(job.family))
        if why and not self.args.executor:
            print(f"study  {why}", file=sys.stderr)

        def done(job: Job, reason: str) -> None:
            if reason:
                self.reasons[job.hash] = reason
            progress.step(job, reason)

        progress.tell()
        try:
            if self.args.executor:
                at_once = self.count or count
                cluster.run_all(self.store, left, self.folder / "cluster", self.args.executor, at_once, done)
            else:
                pool.run_all(self.store, left, count, done)
        except KeyboardInterrupt:
            progress.clear()
            stored = sum((self.store.root / job.hash).is_dir() for job in self.jobs)
            raise KeyboardInterrupt(
                f"{stored} of {len(self.jobs)} results are stored, and the same command goes on from there"
            ) from None
        progress.clear()

    def _rows(self) -> list[Row]:
        """Read the measures of all runs."""
        rows = []
        for point, job in zip(self.study.points, self.jobs):
            row = Row(point, job.hash, {}, {}, self.reasons.get(job.hash, ""))
            if not row.reason:
                result = figures.Result(self.store.root / job.hash)
                row.values, row.lacks = result.values(self.study.measures, point)
                row.latencies = result.latencies
            rows.append(row)
        return rows

    def _more(self, found: list[Group]) -> int:
        """Return how many seeds to add; 0: the intervals are narrow enough, or there may be no more."""
        assert self.until
        name, share = self.until
        wide = stats.wider(found, name, share)
        have = len(self.study.axes[file.SEED])
        if not wide or self.reasons:
            return 0
        if have >= self.most:
            widest = max(wide, key=lambda group: group.intervals[name].half_share or 0)
            print(
                f"study  {have} seeds, and {len(wide)} intervals of {name} are still wider than {100 * share:g} % "
                f"(the widest: {file.words(widest.at)}): raise --most", file=sys.stderr,
            )  # fmt: skip
            return 0
        return min(stats.more_seeds(found, name, share), self.most - have)

    # ---- what was made before

    def _state(self) -> str:
        """Return a hash of all that the outputs depend on."""
        parts = [self.study.text, json.dumps(self.study.points), str(self.until), str(self.args.pages)]
        parts += [_code(), facts.describe()]
        parts += [(self.store.root / job.hash / store.SUMS).read_text(encoding="utf-8") for job in self.jobs]
        return hashlib.sha256("\0".join([*parts, *(job.hash for job in self.jobs)]).encode()).hexdigest()

    def _is_made(self) -> bool:
        try:
            made = (self.folder / MADE).read_text(encoding="ascii")
        except (OSError, UnicodeDecodeError):
            return False
        whole = all((self.folder / name).is_file() for name in ("report.txt", "index.html", "runs.csv", "groups.csv"))
        return not self.until and not self.left() and whole and made == self._state()

    # ---- results of another machine

    def _import(self, source: Path) -> None:
        """Take results from an archive: all of them if those that are made again are equal, else none."""
        wanted = {job.hash: job for job in self.left()}
        found = store.unpack(self.store, source, set(wanted))
        try:
            if not found:
                print(f"study  {source} has no result that is wanted here", file=sys.stderr)
                return
            count = -(-len(found) // RECHECK)
            for name in random.sample(sorted(found), count):
                reason = pool.run_one(self.store, wanted[name])
                made = self.store.root / name
                differs = "" if reason else store.same(found[name], made)
                if reason or differs:
                    shutil.rmtree(made, ignore_errors=True)
                    raise SlateError(
                        f"{source}: the result {name[:12]}, made again here, "
                        + (f"failed: {reason}" if reason else f"differs in {differs}") + ": none of them is taken",
                        "run the study without --import",
                    )
            for name, folder in found.items():
                if not (self.store.root / name).exists():
                    os.rename(folder, self.store.root / name)
            print(f"study  {len(found)} results taken; {count} of them made again, with equal bytes", file=sys.stderr)
        finally:
            for folder in found.values():
                shutil.rmtree(folder.parent, ignore_errors=True)


def _until(text: str) -> tuple[str, float]:
    match = _UNTIL.fullmatch(text)
    if not match or not 0 < float(match[2]) <= 100:
        raise SlateError(f"--until {text}: not MEASURE:PERCENT", "for instance --until p99:2%")
    return match[1], float(match[2]) / 100


def _code() -> str:
    """Return a hash of this package, of which the outputs are made."""
    found = hashlib.sha256()
    for path in sorted(Path(__file__).parents[1].rglob("*.py")):
        found.update(path.read_bytes())
    return found.hexdigest()


def _check_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / MADE).unlink(missing_ok=True)
    except OSError as error:
        raise SlateError(
            f"--out {folder}: {(error.strerror or str(error)).lower()}", "name a folder that can be written"
        ) from None


def _one_job(path: Path) -> int:
    """Execute one job, and print why it failed."""
    try:
        job = jobs.parsed(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        raise SlateError(f"--job {path}: is no job of a study", "'slate study FILE' runs a study") from None
    kept = Store()
    reason = "" if kept.lookup(job.hash) else pool.run_one(kept, job)
    print(reason, end="")
    return OK


def run(args: argparse.Namespace) -> int:
    """Execute 'slate study'."""
    with signals.Signals():
        try:
            if args.job:
                return _one_job(Path(args.job))
            if not args.study:
                raise SlateError("a study's file is missing", "slate study FILE; docs/studies.md has a first one")
            work = Work(args)
            return work.dry_run() if args.dry_run else work.execute()
        except KeyboardInterrupt as error:
            print("\nslate: " + "; ".join(["interrupted", *map(str, error.args)]), file=sys.stderr)
            return INTERRUPTED


