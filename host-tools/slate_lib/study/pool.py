# SPDX-License-Identifier: GPL-2.0-or-later
"""Executes jobs on this machine, several at once, and adds their results to the store.

A job's process is a child in a session of its own: Ctrl-C reaches the launcher alone, which then ends the children.
Where there is setpriv (util-linux), the kernel ends them when the launcher is killed. A job that fails leaves a REASON
and no result; the others go on. A full disk ends the study, because every later job would fail, too.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path

from ..shape import clean
from ..values import memory_available
from .jobs import DRIVE, SAID, Job
from .store import Store, no_room

PATIENCE_S = 20.0  # of an interrupted run, which removes what it made
LOW_BYTES = 1 << 20
LEAST_MIB = 100
_SETPRIV = shutil.which("setpriv")
Done = Callable[[Job, str], None]  # a job, and the reason of its failure or an empty text


class Runner:
    """Executes jobs, one at a time in each of the threads that call it."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._locks: dict[str, threading.Lock] = {}
        self._drives: set[str] = set()  # hashes of drives that were made or checked; a check reads the whole drive
        self._lock = threading.Lock()
        self._children: set[subprocess.Popen[bytes]] = set()
        self._stopped = False

    def run(self, job: Job) -> str:
        """Execute a job, and before it the one that makes its drive. Returns the reason of a failure."""
        if self._stopped:
            return "not started"
        if job.warm:
            with self._lock:
                lock = self._locks.setdefault(job.warm.hash, threading.Lock())
            with lock:
                reason = ""
                if job.warm.hash not in self._drives and not self.store.lookup(job.warm.hash):
                    reason = self.run(job.warm)
                if not reason:
                    self._drives.add(job.warm.hash)
            if reason:
                return f"the drive could not be made: {reason}"
        return self._execute(job)

    def _execute(self, job: Job) -> str:
        with self._lock:
            work = self.store.work()
        try:
            for name, target in job.links.items():
                (work / name).symlink_to(target)
            if job.warm:
                (work / DRIVE).symlink_to(self.store.root / job.warm.hash / DRIVE)
            began = time.monotonic()
            status, used = self._child(job.words, work)
            seconds = time.monotonic() - began
            if status:
                room = os.statvfs(work)
                if room.f_bavail * room.f_frsize < LOW_BYTES:
                    raise OSError(28, "no space left on device", str(self.store.root))
                return reason_of(work, status)
            missing = [name for name in job.keep if len(job.keep) == 1 and not (work / name).is_file()]
            if missing:
                return f"it ended well without {missing[0]}"
            self.store.add(job, work, {"seconds": round(seconds, 3), **used})
            self.store.learn(job.family, seconds, int(used["mib"]))
        except OSError as error:
            raise no_room(self.store.root, error) from None
        finally:
            shutil.rmtree(work, ignore_errors=True)
        return ""

    def _child(self, words: list[str], work: Path) -> tuple[int, dict[str, float]]:
        """Run a process. Returns its status, and the processor time and memory that it took."""
        guard = [_SETPRIV, "--pdeathsig", "TERM"] if _SETPRIV else []
        with open(work / SAID, "wb") as said:
            child = subprocess.Popen(
                [*guard, *words], cwd=work, stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True
            )  # fmt: skip
            with self._lock:
                self._children.add(child)
                if self._stopped:
                    child.terminate()
            try:
                _, status, usage = os.wait4(child.pid, 0)
            finally:
                with self._lock:
                    self._children.discard(child)
            child.returncode = os.waitstatus_to_exitcode(status)
        return child.returncode, {
            "cpu_seconds": round(usage.ru_utime + usage.ru_stime, 3), "mib": usage.ru_maxrss >> 10,
        }  # fmt: skip

    def stop(self) -> None:
        """End all children. run() then returns in the threads that wait for them."""
        with self._lock:
            self._stopped = True
            children = list(self._children)
        for child in children:
            _send(child.pid, signal.SIGTERM)
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            with self._lock:
                if not self._children:
                    return
            time.sleep(0.02)
        with self._lock:
            for child in self._children:  # of the others the process number may be another's by now
                _send(child.pid, signal.SIGKILL)


def _send(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, number)


def reason_of(work: Path, status: int) -> str:
    """Return why a run failed, in its own words."""
    text = (work / SAID).read_text(encoding="utf-8", errors="replace").replace("\r", "\n")
    lines = [clean(line.strip()) for line in text.splitlines() if line.strip()]
    own = [line for line in lines if line.startswith(("slate: ", "slate-replay: "))]
    said = (own or lines or ["it said nothing"])[-1]
    how = f"signal {-status} ({signal.Signals(-status).name})" if status < 0 else f"status {status}"
    return f"{said.partition(': ')[2] if own else said} ({how})"[:300]


def mib_of(store: Store, job: Job) -> int:
    """Return the memory that a job takes: a quarter more than the last one of its family, or an estimate."""
    taken = store.taken(job.family)
    return max(LEAST_MIB, taken[1] * 5 // 4) if taken else job.mem_mb


def limit(store: Store, jobs: Iterable[Job], asked: int | None) -> tuple[int, str]:
    """Return how many jobs may run at once, and why they are fewer than the processors."""
    count = asked or len(os.sched_getaffinity(0))
    most = max((mib_of(store, job) for job in jobs), default=1)
    free = memory_available()
    fit = max(1, (free >> 20) // most) if free is not None else count
    if fit < count:
        return fit, f"{fit} at once: one takes about {most} MiB, and {(free or 0) >> 20} are available"
    return count, ""


def run_all(store: Store, jobs: list[Job], count: int, done: Done) -> None:
    """Execute jobs, so many at once, and call done() for each as it ends."""
    runner = Runner(store)
    waiting = iter(jobs)
    running: dict[Future[str], Job] = {}
    with ThreadPoolExecutor(count) as threads:
        try:
            while True:
                while len(running) < count and (job := next(waiting, None)):
                    running[threads.submit(runner.run, job)] = job
                if not running:
                    return
                for future in wait(running, return_when=FIRST_COMPLETED)[0]:
                    done(running.pop(future), future.result())
        except BaseException:
            runner.stop()
            raise


def run_one(store: Store, job: Job) -> str:
    """Execute a job in this process's place of a cluster. Returns the reason of a failure."""
    runner = Runner(store)
    try:
        return runner.run(job)
    except BaseException:
        runner.stop()
        raise


class Progress:
    """Tells how far a study is: a line that is overwritten on a terminal, else one for each tenth."""

    def __init__(self, known: int, jobs: list[Job], count: int, guess: Callable[[Job], float | None]) -> None:
        self.all, self.known, self.count = known + len(jobs), known, count
        self.done = self.failed = self.tenth = 0
        self.began = time.monotonic()
        self.live = sys.stderr.isatty()
        self.left = {id(job): guess(job) for job in jobs}
        self.spent = 0.0

    def step(self, job: Job, reason: str) -> None:
        """Count a job that has ended."""
        self.done += 1
        self.failed += bool(reason)
        self.left.pop(id(job), None)
        self.tell()

    def tell(self) -> None:
        """Print the line."""
        tenth = 10 * self.done // max(1, self.all - self.known)
        if not self.live and tenth == self.tenth:
            return
        self.tenth = tenth
        text = f"study  {self.known + self.done} of {self.all} runs: {self.known} known, {self.done} made"
        text += f", {self.failed} failed" if self.failed else ""
        if self.left:
            text += f", {min(self.count, len(self.left))} running, {self._rest()}"
        print(f"\r\033[K{text}" if self.live else text, end="" if self.live else "\n", file=sys.stderr, flush=True)

    def _rest(self) -> str:
        if not self.done:
            return f"about {duration(whole)} left" if (whole := total(self.left.values(), self.count)) else ""
        each = (time.monotonic() - self.began) / self.done
        return f"about {duration(each * len(self.left))} left"

    def clear(self) -> None:
        """Remove the line from a terminal."""
        if self.live:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def total(seconds: Iterable[float | None], count: int) -> float | None:
    """Return how long jobs of these times take, so many at once; None: one is not known."""
    known = list(seconds)
    times = [one for one in known if one is not None]
    return max(sum(times) / count, max(times, default=0.0)) if len(times) == len(known) else None


def duration(seconds: float) -> str:
    """Format as '40 s', '12 min', '3.5 h'."""
    if seconds < 90:
        return f"{seconds:.0f} s" if seconds >= 1 else "1 s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


